/* Inputs of a problem as nodes whose elements are drawn when they are asked for (proof/value). */
#ifndef FA_TRIALS_DRAWN_H
#define FA_TRIALS_DRAWN_H

#include "proof/trials/mesh.h"
#include "proof/value/evaluate.h"

enum { NARROW = 8 };

struct drawn {
    const struct problem *p;
    struct arena arena;
    struct draw at;
    struct filling **fillings; /* by device and input, then by node */
};

/* How inputs are given to all devices. */
struct giving {
    uint64_t seed;
    uint32_t narrow; /* 0: they vary along all dimensions; else each along some, another choice for each up to NARROW */
    bool rounded;    /* as their element types hold them */
    bool fixed;      /* those of one number have it always */
};
/* How many numbers from 1 on, and from NARROW / 2 + 1 on, let inputs vary along something else. */
uint32_t narrow_parts(const struct problem *p);
/* False with a reason in `ctx`. */
bool drawn_give(struct lockstep *l, struct eval_context *ctx, const struct giving *how);
/* From now on nodes read something that is given, and varies as inputs do, where they would read a node; `turn`: the
 * how many-th of these. Returns how many choices there are for it, as narrow_parts; 0: too many, and nothing is done.
 * Within eval_attempt. */
uint32_t drawn_instead(struct eval_context *ctx, const struct problem *p, struct lazy *l, uint32_t turn,
                       uint32_t narrow);
/* The set of numbers that is drawn from now on; nodes of `all` that are given have some, too. */
void drawn_begin(struct drawn *n, struct draw at, const struct lazies *all);
/* For struct evaluating: `self` is a struct drawn. */
void drawn_numbers(const void *self, const struct lazy *input, const int64_t *at, int64_t n, double *out);

#endif
