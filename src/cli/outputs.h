/* The files that are written: none may be an input. */
#ifndef FA_CLI_OUTPUTS_H
#define FA_CLI_OUTPUTS_H

#include "cli/options.h"

/* False with the error of `args`. */
bool output_check(struct args *args, const char *path);

#endif
