/* What all commands say on standard error, and how. */
#ifndef FA_CLI_SAY_H
#define FA_CLI_SAY_H

#include <stdbool.h>
#include <stddef.h>

#include "fusion_audit.h"

/* Text out of an input or a file name: control characters as \xNN, so that a line stays a line
 * and no log drives the terminal. */
void say_clean(const char *text);
/* "fusion-audit: error: message"; gives the status back. */
enum fa_status complain(enum fa_status status, const char *message);
/* `status`, or FA_INPUT when standard output could not take everything. */
enum fa_status flush_output(enum fa_status status);
/* "file:line:column: error: message" and its hint. Sets *of_usage when it is about no file. */
void say_diagnostic(struct fa_diagnostic d, bool *of_usage);
/* After the last diagnostic: how many are not shown, and for wrong usage where help is. */
void say_rest(size_t dropped, bool usage);

#endif
