/* Runs the examples of a pattern (its key `tests`). */
#ifndef FA_EXAMPLES_H
#define FA_EXAMPLES_H

#include "search/match/match.h"

struct example_counts {
    uint32_t run, failed;
};

/* A further check of each match of a `hit`: a proof. */
struct example_judge {
    /* What is wrong with the match, in arena `a`; empty: nothing. */
    struct str (*judge)(void *self, const struct match *own, const struct example *e, struct arena *a);
    void *self;
    bool suggest; /* a note for each miss without `explains`: what that could say */
};

/* Adds to the counts, and for each failure an error at the position of the example. `judge` may be NULL. */
void examples_run(const struct pattern_set *set, const struct pattern *p, struct diags *d,
                  const struct example_judge *judge, struct example_counts *out);

/* The module that an example is tested as; empty with diagnostics. */
struct str example_module(const struct pattern *p, const struct example *e, struct arena *a, struct diags *d);

#endif
