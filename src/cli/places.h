/* What an audit finds, place by place, for the commands that write something for each. */
#ifndef FA_CLI_PLACES_H
#define FA_CLI_PLACES_H

#include "cli/options.h"

typedef void each_finding(struct args *args, const struct fa_finding *f, FILE *out);

/* Audits, and hands over each different finding with its modules, until there is an error. */
enum fa_status each_place(struct args *args, each_finding *each, FILE *out);

#endif
