/* Ops that take elements by index, and those that order them. An index below 0 counts from the end. */
#include "numeric/evaluators.h"
#include "ops/scalar.h"

#include <math.h>
#include <stdlib.h>

static bool index_in(struct eval_context *b, const struct call *c, double index, int64_t size, int64_t *out) {
    double at = index < 0 ? index + (double)size : index;
    if (!(at >= 0 && at < (double)size) || at != floor(at))
        return eval_fail(b, "%s: index %g of %lld", op_table[c->kind].name, index, (long long)size);
    *out = (int64_t)at;
    return true;
}

/* Each index becomes the row of the table that it names; dimensions of the table before the last two are 1. */
bool evaluate_embedding(struct eval_context *b, const struct call *c, const struct tensor **out) {
    if (!operands_needed(b, c, 2))
        return false;
    const struct tensor *x = operand(c, 0), *w = operand(c, 1);
    uint32_t rank = w->shape.rank;
    if (rank < 2 || x->shape.rank == TENSOR_RANK || w->n != w->shape.dim[rank - 1] * w->shape.dim[rank - 2])
        return eval_fail(b, "embedding in %s", shape_text(b->arena, &w->shape).p);
    struct shape s = x->shape;
    int64_t row = 0, size = w->shape.dim[rank - 1];
    s.dim[s.rank++] = size;
    struct tensor *t = tensor_new(b, &s);
    for (int64_t i = 0; t && i < x->n; i++) {
        if (!index_in(b, c, x->x[i], w->shape.dim[rank - 2], &row))
            return false;
        memcpy(t->x + i * size, w->x + row * size, (size_t)size * sizeof *t->x);
    }
    *out = as_declared(b, c, 0, t);
    return *out != NULL;
}

/* Offset of the element whose index is that of the walk, but `index` along the axis. */
static int64_t offset_at(const struct view *v, const struct index_walk *w, uint32_t axis, int64_t index) {
    int64_t at = 0;
    for (uint32_t d = 0; d < v->shape.rank; d++)
        at += (d == axis ? index : w->at[d]) * v->stride[d];
    return at;
}

/* As in PyTorch: along every dimension but the axis the index tensor is at most as large as the other one. */
static bool indices_fit(struct eval_context *b, const struct call *c, const struct tensor *x,
                        const struct tensor *index, uint32_t axis) {
    bool fit = x->shape.rank == index->shape.rank;
    for (uint32_t d = 0; fit && d < x->shape.rank; d++)
        fit = d == axis || index->shape.dim[d] <= x->shape.dim[d];
    return fit || eval_fail(b, "%s: indices %s into %s", op_table[c->kind].name, shape_text(b->arena, &index->shape).p,
                            shape_text(b->arena, &x->shape).p);
}

bool evaluate_gather(struct eval_context *b, const struct call *c, const struct tensor **out) {
    uint32_t axis;
    if (!operands_needed(b, c, 2) || !axis_needed(b, c, "dim", &axis) ||
        !indices_fit(b, c, operand(c, 0), operand(c, 1), axis))
        return false;
    const struct tensor *x = operand(c, 0), *index = operand(c, 1);
    struct tensor *t = tensor_new(b, &index->shape);
    struct view v = view_of(x);
    struct index_walk w;
    if (!t)
        return false;
    walk_begin(&w, &index->shape);
    for (int64_t i = 0, at = 0; walk_more(&w); walk_next(&w), i++) {
        if (!index_in(b, c, index->x[i], x->shape.dim[axis], &at))
            return false;
        t->x[i] = x->x[offset_at(&v, &w, axis, at)];
    }
    *out = t;
    return true;
}

/* Where two elements go to one place and the op names no way to combine them, the last one in row-major order stays. */
bool evaluate_scatter(struct eval_context *b, const struct call *c, const struct tensor **out) {
    uint32_t axis;
    static const char *const words[] = {"invalid", "sum", "prod", "min", "max", NULL};
    static binary_function *const functions[] = {NULL, binary_ADD, binary_MULTIPLY, binary_MINIMUM, binary_MAXIMUM};
    int how;
    if (!operands_needed(b, c, 3) || !axis_needed(b, c, "dim", &axis) ||
        !attr_word(b, c, "scatter_reduce_type", words, &how) || !indices_fit(b, c, operand(c, 0), operand(c, 1), axis))
        return false;
    const struct tensor *index = operand(c, 1), *source = operand(c, 2);
    if (!shape_eq(&index->shape, &source->shape))
        return eval_fail(b, "scatter: indices and source differ in shape");
    struct tensor *t = tensor_copy(b, operand(c, 0));
    binary_function *f = functions[how];
    if (!t)
        return false;
    struct view v = view_of(t);
    struct index_walk w;
    walk_begin(&w, &index->shape);
    for (int64_t i = 0, at = 0; walk_more(&w); walk_next(&w), i++) {
        if (!index_in(b, c, index->x[i], t->shape.dim[axis], &at))
            return false;
        double *to = &t->x[offset_at(&v, &w, axis, at)];
        *to = f ? f(*to, source->x[i]) : source->x[i];
    }
    *out = t;
    return true;
}

/* ---- order ---- */

struct ranked {
    double x;
    int64_t index, order; /* order: among equal elements */
};

/* A NaN is larger than all numbers. */
static int by_value(const struct ranked *a, const struct ranked *b) {
    bool na = isnan(a->x), nb = isnan(b->x);
    if (na || nb)
        return na - nb;
    return (a->x > b->x) - (a->x < b->x);
}

static int by_order(const struct ranked *a, const struct ranked *b) {
    return (a->order > b->order) - (a->order < b->order);
}

static int ascending(const void *p, const void *q) {
    int value = by_value(p, q);
    return value ? value : by_order(p, q);
}

static int descending(const void *p, const void *q) {
    int value = by_value(q, p);
    return value ? value : by_order(p, q);
}

/* The first k elements along an axis once they are sorted, and their indices. */
static bool sorted(struct eval_context *b, const struct tensor *x, uint32_t axis, int64_t k, bool down, bool stable,
                   const struct tensor **out) {
    bool reversed = b->equals == EQUALS_LAST && !stable, pointed = b->equals == EQUALS_POINTED;
    struct shape s = x->shape;
    int64_t n = s.dim[axis];
    s.dim[axis] = k;
    struct tensor *values = tensor_new(b, &s), *indices = tensor_new(b, &s);
    if (!values || !indices || !eval_steps(b, x->n, 1))
        return false;
    struct ranked *row = arena_alloc(b->arena, (size_t)(n + 1) * sizeof *row);
    struct view from = view_cut(view_of(x), axis, 0, 1, x->n ? 1 : 0), to = view_cut(view_of(values), axis, 0, 1, 1);
    struct index_walk w;
    to.shape = from.shape;
    walk_begin(&w, &from.shape);
    walk_add(&w, &from);
    walk_add(&w, &to);
    for (; walk_more(&w); walk_next(&w)) {
        for (int64_t i = 0; i < n; i++)
            row[i] = (struct ranked){x->x[w.offset[0] + i * from.stride[axis]], i, reversed ? -i : i};
        qsort(row, (size_t)n, sizeof *row, down ? descending : ascending);
        for (int64_t i = 0; i < k; i++) {
            values->x[w.offset[1] + i * to.stride[axis]] = row[i].x;
            indices->x[w.offset[1] + i * to.stride[axis]] = pointed ? row[i].x : (double)row[i].index;
        }
    }
    out[0] = values;
    out[1] = indices;
    return true;
}

bool evaluate_sort(struct eval_context *b, const struct call *c, const struct tensor **out) {
    bool down = false, stable = false;
    uint32_t axis;
    return operands_needed(b, c, 1) && attr_flag(b, c, "descending", &down) && attr_flag(b, c, "stable", &stable) &&
           axis_attr(b, c, "dim", -1, operand(c, 0)->shape.rank, &axis) &&
           sorted(b, operand(c, 0), axis, operand(c, 0)->shape.dim[axis], down, stable, out);
}
