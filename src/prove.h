/* Compares what a match computes with the fused form of its pattern, on numbers. */
#ifndef FA_PROVE_H
#define FA_PROVE_H

#include "pattern/examples.h"

struct prover {
    const struct pattern_set *set; /* of the lowerings */
    struct diags *diags;
    bool say_unproved; /* a note for each example that cannot be compared */
    uint32_t proved, unproved, formless; /* formless: those of `unproved` whose pattern has no fused form */
};

/* For struct example_judge; `self` is a struct prover. Text where the fused form computes something else. */
struct str prove_example(void *self, const struct match *m, const struct example *e, struct arena *a);

#endif
