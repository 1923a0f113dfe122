/* The command `completion`. */
#ifndef FA_CLI_COMPLETION_H
#define FA_CLI_COMPLETION_H

#include <stdio.h>

#include "cli/options.h"

/* Prints the completion for the shell that the first word names. FA_USAGE, with a message: no such shell. */
enum fa_status run_completion(const struct options *o, FILE *out);

#endif
