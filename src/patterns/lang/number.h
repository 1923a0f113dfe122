/* The value of a number or a condition. What names, extents and measures are is known where it is asked for: in a match
 * or on tensors. */
#ifndef FA_NUMBER_H
#define FA_NUMBER_H

#include "patterns/lang/formula.h"

/* The value of a number that is no arithmetic (a leaf); also asked for a division by 0, which has none. */
typedef double number_leaf(void *self, const struct number *n);

/* NaN stands for what is not known, a division or remainder by 0 too: a comparison with it is false (`!=` is true). */
double number_evaluate(const struct number *n, number_leaf *leaf, void *self);

/* The names that have to be known before a condition can be decided. `late`: it is over the whole formula, or has no
 * names, and is left to the end. */
struct asked_names {
    uint64_t slots[(MAX_SLOTS + 63) / 64];
    bool late;
};
struct asked_names number_names(const struct number *n);

#endif
