/* Elements of tensors that are computed on demand.
 *
 * Two passes over the nodes: from the results back, which elements of each node are needed; then forward, their
 * numbers. Each kind of node is one function for both passes, so that what it reads is what it asked for. */
#ifndef FA_EVALUATE_LAZY_H
#define FA_EVALUATE_LAZY_H

#include "proof/value/lazy.h"

/* Elements of a view, by offset in its node. */
struct wanted_elements {
    const struct tensor *tensor;
    const int64_t *at; /* flat indices of the tensor */
    uint32_t n;
    double *out;
};

struct evaluating {
    /* Elements of an input: `n` from `from` on. */
    void (*draw)(const void *self, const struct lazy *input, int64_t from, int64_t n, double *out);
    const void *self;
    double jitter; /* what is computed is moved by up to so much of itself, */
    uint64_t jitter_seed;
    const struct lazy *shifted; /* the numbers of this table are others, by so much; NULL: of none are */
    double shift;
    double most; /* elements that may be read; beyond it there is a reason */
    double read; /* out: were */
};

/* False with a reason in the context. */
bool lazies_evaluate(struct eval_context *ctx, const struct lazies *all, struct evaluating *how,
                     const struct wanted_elements *asked, uint32_t n);

#endif
