/* The number that a rounded constant of a subgraph was meant to be, and what it is in other extents.
 *
 * A model divides by 768 as it multiplies with 1/768 rounded to bf16. Evaluated in f64 that rounding would be a
 * difference between the ops and their fused form; evaluated in smaller extents the constant would be wrong. */
#ifndef FA_SCALE_CONSTANT_H
#define FA_SCALE_CONSTANT_H

#include "proof/reduce/shrink.h"

enum { MAX_LITERALS = 96, MAX_REDUCED = 32 };

struct constant_meanings {
    const struct extents *extents;
    bool scaled;                   /* constants that are functions of an extent are those of the new one */
    double literals[MAX_LITERALS]; /* numbers that the pattern states */
    uint32_t nliterals;
    double reduced[MAX_REDUCED][2]; /* elements that a reduction takes for one result, in the old and the new extents */
    uint32_t nreduced;
};

/* `e` has to outlive the result. */
void constant_meanings(struct constant_meanings *out, const struct subgraph *s, const struct extents *e, bool scaled);
/* The constant where it is no rounded function of an extent and no rounded number of the pattern. */
double scaled_constant(const struct constant_meanings *m, struct constant c);
/* It is a rounded function of an extent. */
bool constant_follows(const struct constant_meanings *m, struct constant c);
/* Of this one, or of the elements that a reduction takes, where these are a multiple of it. */
bool constant_follows_extent(const struct constant_meanings *m, struct constant c, int64_t extent);
/* The number that a constant among ops was meant to be: a function of what they reduce or of an extent of theirs, or a
 * number of the pattern, which it is rounded from. */
double meant_constant(const struct graph *g, const uint32_t *ops, uint32_t nops, const struct pattern *pattern,
                      struct constant c);
/* Elements of a value in these extents. */
double scaled_numel(const struct graph *g, const struct extents *e, uint32_t value);

#endif
