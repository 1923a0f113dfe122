/* The texts of --help, one screen for each command: the same facts as fusion-audit(1). */
#ifndef FA_CLI_HELP_H
#define FA_CLI_HELP_H

#include "cli/options.h"

const char *help_of(const struct options *o);

#endif
