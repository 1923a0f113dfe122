/* The texts of --help, one screen for each command; fusion-audit(1) has the same facts. */
#ifndef FA_CLI_HELP_H
#define FA_CLI_HELP_H

#include "cli/options.h"

const char *help_of(const struct options *o);

#endif
