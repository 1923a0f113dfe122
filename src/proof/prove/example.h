/* Proves the examples of a pattern library (`patterns test`): each hit as it stands. */
#ifndef FA_PROVE_EXAMPLE_H
#define FA_PROVE_EXAMPLE_H

#include "search/match/match.h"

struct prover {
    const struct pattern_set *set; /* of the lowerings */
    uint64_t seed;                 /* of the numbers */
    struct diags *diags;
    bool say_unproved; /* a note for each example that cannot be compared */

    /* counts of the examples so far */
    uint32_t proved, unproved;
};

/* For struct example_judge; `self` is a struct prover. Text, in `a`, where the fused form computes something else, or
 * the pattern states more than is needed. */
struct str prove_example(void *self, const struct match *m, const struct example *e, struct arena *a);

#endif
