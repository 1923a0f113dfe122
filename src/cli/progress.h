/* One line on standard error for work of more than a second, where that is a terminal. */
#ifndef FA_CLI_PROGRESS_H
#define FA_CLI_PROGRESS_H

#include <stdbool.h>

#include "fusion_audit.h"

struct progress {
    char before[48];        /* of what a call says of itself, "2 of 3, m: " */
    double begin, shown_at; /* seconds */
    bool wanted, shown;
};

/* Shows nothing when `quiet`. */
void progress_begin(struct progress *p, bool quiet);
/* What is being done from now on: shown once a second at most, and not in the first one. */
void progress_say(struct progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* For a call that says itself what it does; `before` is put before that. */
struct fa_progress progress_of_call(struct progress *p, const char *before);
/* Takes the line away, before something else is printed. */
void progress_hide(struct progress *p);

#endif
