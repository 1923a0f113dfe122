/* Runs the examples of a pattern: each is made a module and searched for the pattern alone. */
#ifndef FA_EXAMPLES_H
#define FA_EXAMPLES_H

#include "match/match.h"

struct example_counts {
    uint32_t run, failed;
};

/* Judges the match of a `hit` further. Text: what is wrong with it; empty: nothing. */
struct example_judge {
    struct str (*judge)(void *self, const struct match *own, const struct example *e, struct arena *a);
    void *self;
};

/* Adds to the counts. What fails is an error at the example's place. `further` may be NULL. */
void examples_run(const struct pattern_set *set, const struct pattern *p, struct diags *d,
                  const struct example_judge *further, struct example_counts *out);

#endif
