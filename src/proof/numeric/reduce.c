/* Reductions, prefix sums and argmax. Sums are added in row-major order of the operand, without compensation. A maximum
 * or minimum over a NaN is a NaN. */
#include "ir/ops/infer.h"
#include "proof/numeric/evaluators.h"

#include <math.h>

/* Shape of a reduction: reduced dimensions are 1 (`keep`) or gone. */
static struct shape reduced_shape(const struct shape *s, const bool *reduced, bool keep) {
    struct shape r = {0};
    for (uint32_t d = 0; d < s->rank; d++)
        if (!reduced[d] || keep)
            r.dim[r.rank++] = reduced[d] ? 1 : s->dim[d];
    return r;
}

struct reduction {
    double start;
    binary_function *step;
};

static struct reduction reduction_of(const struct call *c) {
    switch (c->kind) {
    case K_MAX:
        return (struct reduction){-INFINITY, binary_MAXIMUM};
    case K_MIN:
        return (struct reduction){INFINITY, binary_MINIMUM};
    case K_PROD:
        return (struct reduction){1, format_product(result_type(c, 0))};
    case K_REDUCE_OR:
        return (struct reduction){0, binary_LOGICAL_OR};
    case K_REDUCE_AND:
        return (struct reduction){1, binary_LOGICAL_AND};
    default:
        return (struct reduction){0, binary_ADD};
    }
}

/* The reduced dimensions stay, with an extent of 1. */
static struct tensor *reduce(struct eval_context *ctx, const struct tensor *x, const bool *reduced,
                             struct reduction r) {
    struct shape kept = reduced_shape(&x->shape, reduced, true);
    struct tensor *t = tensor_new(ctx, &kept);
    struct index_walk w;
    for (int64_t i = 0; i < t->n; i++)
        t->x[i] = r.start;
    struct view into = view_expanded(t, &x->shape);
    const double *p = x->x;
    for (walk_views(&w, &into, 1); walk_more(&w); walk_next(&w))
        t->x[w.offset[0]] = r.step(t->x[w.offset[0]], *p++);
    return t;
}

void evaluate_reduction(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *x = operand_needed(ctx, c, 0);
    bool reduced[MAX_RANK], averages = c->kind == K_MEAN;
    if (reduced_dims(c->kind, c->attributes, x->shape.rank, reduced) == NONE)
        op_fails(ctx, "%s along no dimension of a tensor of rank %u", op_table[c->kind].name, x->shape.rank);
    struct tensor *t = reduce(ctx, x, reduced, reduction_of(c));
    if (x->n == 0 && t->n > 0 && (averages || c->kind == K_MAX || c->kind == K_MIN))
        op_fails(ctx, "%s of no elements", op_table[c->kind].name);
    int64_t each = t->n ? x->n / t->n : 0; /* elements of the operand in one of the result */
    for (int64_t i = 0; averages && i < t->n; i++)
        t->x[i] /= (double)each;
    struct shape s = reduced_shape(&x->shape, reduced, attr_flag(ctx, c, "keep_dim", false));
    *out = tensor_reshape(ctx, t, &s);
}

/* Inclusive prefix sums and products (cumsum, cumprod). */
void evaluate_cumulative(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    uint32_t axis = axis_needed(ctx, c, "dim");
    struct tensor *t = tensor_copy(ctx, operand(c, 0));
    binary_function *step = c->kind == K_CUMPROD ? format_product(result_type(c, 0)) : binary_ADD;
    int64_t stride = view_of(t).stride[axis];
    struct index_walk w;
    walk_begin(&w, &t->shape);
    for (int64_t i = 0; walk_more(&w); walk_next(&w), i++)
        if (w.at[axis] > 0)
            t->x[i] = step(t->x[i - stride], t->x[i]);
    *out = t;
}

/* The dimensions with those that argmax is over last, in the order in which it names them. */
static void argmax_order(struct eval_context *ctx, const struct call *c, uint32_t rank, bool *reduced,
                         uint32_t *order) {
    int64_t dims[MAX_RANK];
    int n = attr_list(ctx, c, c->ttnn ? "dim" : "dim_arg", dims, MAX_RANK);
    uint32_t at = 0;
    for (uint32_t d = 0; n < 0 && d < rank; d++)
        dims[d] = d;
    n = n < 0 ? (int)rank : n;
    for (int i = 0; i < n; i++) {
        uint32_t d = axis_in(ctx, c, dims[i], rank);
        if (reduced[d] || n > (int)rank)
            op_fails(ctx, "argmax names a dimension twice");
        order[rank - (uint32_t)(n - i)] = d;
        reduced[d] = true;
    }
    for (uint32_t d = 0; d < rank; d++)
        if (!reduced[d])
            order[at++] = d;
}

struct shape argmax_shape(struct eval_context *ctx, const struct call *c, const struct shape *x, bool *reduced,
                          uint32_t *order) {
    argmax_order(ctx, c, x->rank, reduced, order);
    return reduced_shape(x, reduced, attr_flag(ctx, c, "keep_dim", false));
}

/* Index of the largest element, the first one of equals (or that element, EQUALS_POINTED); a NaN counts as larger than
 * all numbers. Over several dimensions it is the index into them, flattened. */
void evaluate_argmax(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *x = operand_needed(ctx, c, 0);
    bool reduced[MAX_RANK] = {false};
    uint32_t order[MAX_RANK] = {0};
    struct shape s = argmax_shape(ctx, c, &x->shape, reduced, order);
    const struct tensor *moved = view_copy(ctx, view_permuted(view_of(x), order));
    struct tensor *t = tensor_new(ctx, &s);
    int64_t group = t->n ? x->n / t->n : 0;
    for (int64_t i = 0; i < t->n; i++) {
        const double *g = moved->x + i * group;
        int64_t best = 0;
        for (int64_t k = 1; k < group; k++)
            if (g[k] > g[best] || (isnan(g[k]) && !isnan(g[best])))
                best = k;
        t->x[i] = ctx->equals == EQUALS_POINTED && group > 0 ? g[best] : (double)best;
    }
    *out = t;
}
