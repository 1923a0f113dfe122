/* The command `explain`: prints, and returns the exit status. */
#ifndef FA_CLI_EXPLAIN_H
#define FA_CLI_EXPLAIN_H

#include "cli/options.h"
#include "fusion_audit.h"

enum fa_status run_explain(const struct options *o);

#endif
