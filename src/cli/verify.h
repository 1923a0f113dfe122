/* The command `verify`: writes its report, and returns the exit status. */
#ifndef FA_CLI_VERIFY_H
#define FA_CLI_VERIFY_H

#include "cli/options.h"
#include "fusion_audit.h"

enum fa_status run_verify(const struct options *o);

#endif
