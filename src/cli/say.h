/* Messages on standard error, in the same form for all commands. */
#ifndef FA_CLI_SAY_H
#define FA_CLI_SAY_H

#include <stdbool.h>
#include <stddef.h>

#include "fusion_audit.h"

/* Prints text from an input or a file name with control characters escaped: it cannot break the line or drive the
 * terminal. */
void say_clean(const char *text);
/* Columns of the terminal that a file descriptor is: what COLUMNS says, or the terminal, or 80. 0: it is none. */
unsigned terminal_width(int fd);
/* Prints what people read to standard output: its lines broken where that is a terminal. */
void print_for_people(const char *text, size_t n);
/* Prints "fusion-audit: error: message"; returns the status. */
enum fa_status complain(enum fa_status status, const char *message);
/* What could not be written, and the errno: FA_INPUT. For a closed pipe ends without a word, as SIGPIPE would. */
enum fa_status complain_of_output(const char *message, int reason);
/* Flushes standard output. `status`, or FA_INPUT with a message when something could not be written. */
enum fa_status flush_output(enum fa_status status);
/* Prints each. Returns the status. */
enum fa_status say_diagnostics(const struct fa_diagnostics *d, enum fa_status status);

#endif
