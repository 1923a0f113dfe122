/* Elements of tensors that are computed on demand.
 *
 * Two passes over the nodes: from the results back, which elements of each node are needed; then forward, their
 * numbers, which may be computed several times. Each kind of node is one function for both passes, so that what it
 * reads is what it asked for. */
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

struct lazy_demand;

struct evaluating {
    /* The elements of an input at `n` indices, which ascend. */
    void (*draw)(const void *self, const struct lazy *input, const int64_t *at, int64_t n, double *out);
    const void *self;
    double jitter; /* what is computed is moved by up to so much of itself, */
    uint64_t jitter_seed;
};

/* Which elements of each node those that are asked for are made of, whatever their numbers are. What is asked for stays
 * with the caller. NULL with a reason in the context, also where more than `most` elements are read. */
struct lazy_demand *demand_of(struct eval_context *ctx, const struct lazies *all, const struct wanted_elements *asked,
                              uint32_t n, double most);
/* How many elements are read. */
double demand_size(const struct lazy_demand *d);
/* How many inputs, or nodes that are given, are read of those that have more than one element. */
uint32_t demand_inputs(const struct lazy_demand *d);
/* Their numbers, as often as there are some. False with a reason in the context. */
bool demand_compute(struct lazy_demand *d, const struct evaluating *how);
void demand_free(struct lazy_demand *d);
/* All elements of a tensor that no input makes, in one that has them. NULL with a reason, as above. */
const struct tensor *elements_read(struct eval_context *ctx, const struct tensor *t, double most);

#endif
