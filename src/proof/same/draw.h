/* The numbers of inputs: each a function of the input, the place of the element, the kind of numbers and a seed, so
 * that nothing is ever dense. */
#ifndef FA_DRAW_H
#define FA_DRAW_H

#include "proof/value/lazy.h"

enum draw_kind {
    DRAW_PLAIN, /* both signs, rows of different size, some of zeros */
    DRAW_NEGATIVE,
    DRAW_POSITIVE, /* for roots and logarithms */
    DRAW_COARSE,   /* few different numbers: many are equal */
    DRAW_ZERO,     /* one input is 0, the others plain */
    DRAW_BENDS,    /* most elements of one input are at a number where ops bend or break, or a step beside it */
    DRAW_SMALL,    /* one input has rows of any size down to 1e-15 */
    DRAW_NAN,      /* one input has NaNs, too */
};

enum { MAX_BENDS = 96 };

struct drawing_numbers {
    enum draw_kind kind;
    uint32_t input; /* which one */
    uint64_t seed;
    double bend;
};

/* For struct evaluating: `self` is a struct drawing_numbers. */
void draw_numbers(const void *self, const struct lazy *input, int64_t from, int64_t n, double *out);

#endif
