/* Reductions, prefix sums and argmax. Sums are added in row-major order of the operand, without compensation. A maximum
 * or minimum over a NaN is a NaN. */
#include "numeric/evaluators.h"

#include <math.h>

/* The dimensions that are reduced; all where the attribute is absent. */
static bool reduced_dims(struct eval_context *b, const struct call *c, const char *key, uint32_t rank, bool *reduced) {
    int64_t dims[TENSOR_RANK];
    int n = -1;
    uint32_t d;
    if (!attr_list(b, c, key, dims, TENSOR_RANK, &n))
        return false;
    for (uint32_t i = 0; i < rank; i++)
        reduced[i] = n < 0;
    for (int i = 0; i < n; i++) {
        if (!axis_in(b, c, dims[i], rank, &d))
            return false;
        reduced[d] = true;
    }
    return true;
}

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
    double (*step)(double so_far, double x);
};

static double sum(double so_far, double x) {
    return so_far + x;
}
static double product(double so_far, double x) {
    return so_far * x;
}
static double largest(double so_far, double x) {
    return isnan(x) || x > so_far ? x : so_far;
}
static double smallest(double so_far, double x) {
    return isnan(x) || x < so_far ? x : so_far;
}
static double any(double so_far, double x) {
    return so_far != 0 || x != 0;
}
static double all(double so_far, double x) {
    return so_far != 0 && x != 0;
}

static struct reduction reduction_of(enum op_kind k) {
    switch (k) {
    case K_MAX:
        return (struct reduction){-INFINITY, largest};
    case K_MIN:
        return (struct reduction){INFINITY, smallest};
    case K_PROD:
        return (struct reduction){1, product};
    case K_REDUCE_OR:
        return (struct reduction){0, any};
    case K_REDUCE_AND:
        return (struct reduction){1, all};
    default:
        return (struct reduction){0, sum};
    }
}

/* The reduced dimensions stay, with an extent of 1. */
static struct tensor *reduce(struct eval_context *b, const struct tensor *x, const bool *reduced, struct reduction r) {
    struct shape kept = reduced_shape(&x->shape, reduced, true);
    struct tensor *t = tensor_new(b, &kept);
    struct index_walk w;
    if (!t)
        return NULL;
    for (int64_t i = 0; i < t->n; i++)
        t->x[i] = r.start;
    struct view into = view_expanded(t, &x->shape);
    const double *p = x->x;
    for (walk_views(&w, &into, 1); walk_more(&w); walk_next(&w))
        t->x[w.offset[0]] = r.step(t->x[w.offset[0]], *p++);
    return t;
}

/* Sums over as many elements of x as there are for one of t, to their mean. */
static void divide_by_count(struct tensor *t, const struct tensor *x) {
    int64_t count = t->n > 0 ? x->n / t->n : 0;
    for (int64_t i = 0; i < t->n; i++)
        t->x[i] /= (double)count;
}

bool evaluate_reduction(struct eval_context *b, const struct call *c, const struct tensor **out) {
    const struct tensor *x = operand(c, 0);
    bool reduced[TENSOR_RANK], keep = false, averages = c->kind == K_MEAN;
    if (!operands_needed(b, c, 1) || !reduced_dims(b, c, "dim_arg", x->shape.rank, reduced) ||
        !attr_flag(b, c, "keep_dim", &keep))
        return false;
    struct tensor *t = reduce(b, x, reduced, reduction_of(c->kind));
    if (!t)
        return false;
    if (x->n == 0 && t->n > 0 && (averages || c->kind == K_MAX || c->kind == K_MIN))
        return eval_fail(b, "%s of no elements", op_table[c->kind].name);
    if (averages)
        divide_by_count(t, x);
    struct shape s = reduced_shape(&x->shape, reduced, keep);
    *out = tensor_reshape(b, t, &s);
    return *out != NULL;
}

/* Inclusive prefix sums and products (cumsum, cumprod). */
bool evaluate_cumulative(struct eval_context *b, const struct call *c, const struct tensor **out) {
    const struct tensor *x = operand(c, 0);
    uint32_t axis;
    if (!axis_needed(b, c, "dim", &axis))
        return false;
    struct tensor *t = tensor_copy(b, x);
    int64_t stride = t ? view_of(t).stride[axis] : 1;
    struct index_walk w;
    if (!t)
        return false;
    walk_begin(&w, &t->shape);
    for (int64_t i = 0; walk_more(&w); walk_next(&w), i++)
        if (w.at[axis] > 0)
            t->x[i] = c->kind == K_CUMPROD ? t->x[i - stride] * t->x[i] : t->x[i - stride] + t->x[i];
    *out = t;
    return true;
}

/* Index of the largest element, the first one of equals (or that element, EQUALS_POINTED); a NaN counts as larger than
 * all numbers. Over several dimensions it is the index into them, flattened in the order in which the attribute names
 * them. */
bool evaluate_argmax(struct eval_context *b, const struct call *c, const struct tensor **out) {
    int64_t dims[TENSOR_RANK];
    int n = -1;
    bool reduced[TENSOR_RANK] = {false}, keep = false;
    if (!operands_needed(b, c, 1))
        return false;
    const struct tensor *x = c->operands[0];
    uint32_t order[TENSOR_RANK], rank = x->shape.rank, at = 0;
    if (!attr_list(b, c, c->ttnn ? "dim" : "dim_arg", dims, TENSOR_RANK, &n) || !attr_flag(b, c, "keep_dim", &keep))
        return false;
    for (uint32_t d = 0; n < 0 && d < rank; d++)
        dims[d] = d;
    n = n < 0 ? (int)rank : n;
    for (int i = 0; i < n; i++) {
        uint32_t d;
        if (!axis_in(b, c, dims[i], rank, &d))
            return false;
        if (reduced[d])
            return eval_fail(b, "argmax names a dimension twice");
        order[rank - (uint32_t)(n - i)] = d;
        reduced[d] = true;
    }
    for (uint32_t d = 0; d < rank; d++)
        if (!reduced[d])
            order[at++] = d;
    struct tensor *moved = view_copy(b, view_permuted(view_of(x), order)); /* reduced dimensions last */
    struct shape s = reduced_shape(&x->shape, reduced, keep);
    struct tensor *t = tensor_new(b, &s);
    int64_t group = t && t->n ? x->n / t->n : 0;
    if (!moved || !t)
        return false;
    for (int64_t i = 0; i < t->n; i++) {
        const double *g = moved->x + i * group;
        int64_t best = 0;
        for (int64_t k = 1; k < group; k++)
            if (g[k] > g[best] || (isnan(g[k]) && !isnan(g[best])))
                best = k;
        t->x[i] = b->equals == EQUALS_POINTED && group > 0 ? g[best] : (double)best;
    }
    *out = t;
    return true;
}
