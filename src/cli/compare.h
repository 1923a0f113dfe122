/* The commands `diff` and `summary`, which print to `out` and return the exit status. */
#ifndef FA_CLI_COMPARE_H
#define FA_CLI_COMPARE_H

#include <stdio.h>

#include "cli/options.h"
#include "fusion_audit.h"

enum fa_status run_diff(const struct options *o, FILE *out);
enum fa_status run_summary(const struct options *o, FILE *out);

#endif
