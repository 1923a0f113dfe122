/* The files that are written: none may be an input. */
#ifndef FA_CLI_OUTPUTS_H
#define FA_CLI_OUTPUTS_H

#include "cli/options.h"

/* False with the error of `args`. */
bool output_check(struct args *args, const char *path);
/* Makes a directory where there is none. False with the error. */
bool output_directory(struct args *args, const char *path);
/* Writes a file into a directory; or the error. */
void output_write(struct args *args, const char *directory, const char *name, const char *content);

#endif
