/* The commands `patterns` and `lower`, which need no input. They print to `out`, and return the exit status. */
#ifndef FA_CLI_PATTERNS_H
#define FA_CLI_PATTERNS_H

#include <stdio.h>

#include "cli/options.h"
#include "fusion_audit.h"

enum fa_status run_patterns(const struct options *o, FILE *out);
enum fa_status run_lower(const struct options *o, FILE *out);

#endif
