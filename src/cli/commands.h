/* The commands. Each returns the exit status; those with `out` print to it, and all else goes to standard error. */
#ifndef FA_CLI_COMMANDS_H
#define FA_CLI_COMMANDS_H

#include <stdio.h>

#include "cli/options.h"
#include "fusion_audit.h"

/* Of one compile, or of each of many. */
enum fa_status run_audit(const struct options *o);
enum fa_status run_verify(const struct options *o);
enum fa_status run_explain(const struct options *o, FILE *out);
enum fa_status run_diff(const struct options *o, FILE *out);
enum fa_status run_summary(const struct options *o, FILE *out);
enum fa_status run_patterns(const struct options *o, FILE *out);
enum fa_status run_lower(const struct options *o, FILE *out);
/* For the shell that the first word names. FA_USAGE, with a message: no such shell. */
enum fa_status run_completion(const struct options *o, FILE *out);

/* --help of the command of the command line; fusion-audit(1) has the same facts. */
void print_help(const struct options *o, FILE *out);
/* Prints what an audit says on standard error. */
void say_audit(const struct fa_audit *a, const struct options *o);

#endif
