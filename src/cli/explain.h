/* The command `explain`: prints to `out`, and returns the exit status. */
#ifndef FA_CLI_EXPLAIN_H
#define FA_CLI_EXPLAIN_H

#include <stdio.h>

#include "cli/options.h"
#include "fusion_audit.h"

enum fa_status run_explain(const struct options *o, FILE *out);

#endif
