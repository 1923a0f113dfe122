/* What --output, --format and the files of gates say together. */
#ifndef FA_CLI_OUTPUTS_H
#define FA_CLI_OUTPUTS_H

#include "cli/options.h"

/* Fills o->outputs. False with o->error. */
bool outputs_check(struct options *o);

#endif
