/* The texts of --help; fusion-audit(1) has the same facts. */
#ifndef FA_CLI_HELP_H
#define FA_CLI_HELP_H

#include <stdio.h>

#include "cli/options.h"

/* Of the command of the command line. */
void print_help(const struct options *o, FILE *out);

#endif
