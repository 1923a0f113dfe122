/* Ops that take elements by index, and those that order them. An index below 0 counts from the end. */
#include "ir/ops/scalar.h"
#include "proof/numeric/evaluators.h"

#include <math.h>
#include <stdlib.h>

static int64_t index_in(struct eval_context *ctx, const struct call *c, double index, int64_t size) {
    double at = index < 0 ? index + (double)size : index;
    if (!(at >= 0 && at < (double)size) || at != floor(at))
        op_fails(ctx, "%s: index %g of %lld", op_table[c->kind].name, index, (long long)size);
    return (int64_t)at;
}

/* Each index becomes the row of the table that it names; dimensions of the table before the last two are 1. */
void evaluate_embedding(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *x = operand_needed(ctx, c, 0), *w = operand_needed(ctx, c, 1);
    uint32_t rank = w->shape.rank;
    if (rank < 2 || x->shape.rank == MAX_RANK || w->n != w->shape.dim[rank - 1] * w->shape.dim[rank - 2])
        op_fails(ctx, "embedding in %s", shape_text(ctx->arena, &w->shape).p);
    struct taking t = {op_table[c->kind].name, .x = view_of(w), .index = view_of(x), .size = w->shape.dim[rank - 2]};
    t.step = t.x.stride[rank - 2];
    t.index.shape.dim[x->shape.rank] = w->shape.dim[rank - 1];
    t.index.shape.rank++;
    int64_t along = t.x.stride[rank - 1];
    memset(t.x.stride, 0, sizeof t.x.stride);
    t.index.stride[x->shape.rank] = 0;
    t.x.stride[x->shape.rank] = along;
    t.x.shape = t.index.shape;
    *out = as_declared(ctx, c, 0, tensor_take(ctx, &t));
}

/* Offset of the element whose index is that of the walk, but `index` along the axis. */
static int64_t offset_at(const struct view *v, const struct index_walk *w, uint32_t axis, int64_t index) {
    int64_t at = 0;
    for (uint32_t d = 0; d < v->shape.rank; d++)
        at += (d == axis ? index : w->at[d]) * v->stride[d];
    return at;
}

/* The indices. As in PyTorch: along every dimension but the axis they are at most as many as the elements. */
static const struct tensor *fitting_indices(struct eval_context *ctx, const struct call *c, uint32_t axis) {
    const struct tensor *x = operand_needed(ctx, c, 0), *index = operand_needed(ctx, c, 1);
    bool fit = x->shape.rank == index->shape.rank;
    for (uint32_t d = 0; fit && d < x->shape.rank; d++)
        fit = d == axis || index->shape.dim[d] <= x->shape.dim[d];
    if (!fit)
        op_fails(ctx, "%s: indices %s into %s", op_table[c->kind].name, shape_text(ctx->arena, &index->shape).p,
                 shape_text(ctx->arena, &x->shape).p);
    return index;
}

/* StableHLO's gather, of whole slices of the one dimension that the indices number: a slice for each index. The
 * dimensions of a slice are `offset_dims` of the result, the others are those of the indices. */
static void take_slices(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *x = operand_needed(ctx, c, 0), *index = operand_needed(ctx, c, 1);
    const struct shape *s = &x->shape, *to = declared_shape(c, 0);
    int64_t axis[2], collapsed[2], sizes[MAX_RANK], offsets[MAX_RANK], batch[MAX_RANK];
    int nsizes = attr_list_needed(ctx, c, "slice_sizes", sizes, MAX_RANK);
    int noffsets = attr_list_needed(ctx, c, "offset_dims", offsets, MAX_RANK);
    bool fits = to && attr_list_needed(ctx, c, "start_index_map", axis, 2) == 1 &&
                attr_list_needed(ctx, c, "collapsed_slice_dims", collapsed, 2) == 1 && axis[0] == collapsed[0] &&
                attr_list(ctx, c, "operand_batching_dims", batch, MAX_RANK) <= 0 && axis[0] >= 0 && axis[0] < s->rank &&
                nsizes == (int)s->rank && noffsets == (int)s->rank - 1;
    bool is_offset[MAX_RANK] = {false};
    for (int d = 0; fits && d < nsizes; d++)
        fits = sizes[d] == (d == axis[0] ? 1 : s->dim[d]);
    for (int i = 0; fits && i < noffsets; i++)
        if ((fits = offsets[i] >= 0 && offsets[i] < to->rank && to->dim[offsets[i]] == s->dim[i + (i >= axis[0])]))
            is_offset[offsets[i]] = true;
    int64_t slices = 1;
    for (uint32_t d = 0; fits && d < to->rank; d++)
        slices *= is_offset[d] ? 1 : to->dim[d];
    if (!fits || slices != index->n)
        op_fails(ctx, "gather of more than whole slices along one dimension");
    struct view from = view_of(x);
    struct taking t = {op_table[c->kind].name, .size = s->dim[axis[0]], .step = from.stride[axis[0]]};
    t.x = (struct view){.shape = *to, .x = from.x, .lazy = from.lazy, .offset = from.offset};
    t.index = view_of(tensor_reshape(ctx, index, &(struct shape){1, {index->n}}));
    int64_t stride = t.index.stride[0], dim = (int64_t)s->rank;
    t.index.shape = *to;
    for (uint32_t d = to->rank; d-- > 0;) {
        dim -= is_offset[d];
        dim -= is_offset[d] && dim == axis[0];
        t.x.stride[d] = is_offset[d] ? from.stride[dim] : 0;
        t.index.stride[d] = is_offset[d] ? 0 : stride;
        stride *= is_offset[d] ? 1 : to->dim[d];
    }
    *out = tensor_take(ctx, &t);
}

void evaluate_gather(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    if (attrs_find(c->attributes, "start_index_map")) {
        take_slices(ctx, c, out);
        return;
    }
    uint32_t axis = axis_needed(ctx, c, "dim");
    const struct tensor *x = operand(c, 0), *index = fitting_indices(ctx, c, axis);
    struct taking t = {op_table[c->kind].name, .x = view_of(x), .index = view_of(index), .size = x->shape.dim[axis]};
    t.step = t.x.stride[axis];
    t.x.stride[axis] = 0;
    t.x.shape = index->shape;
    *out = tensor_take(ctx, &t);
}

/* Where two elements go to one place and the op names no way to combine them, the last one in row-major order stays. */
void evaluate_scatter(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    static const char *const words[] = {"invalid", "sum", "prod", "min", "max", NULL};
    static binary_function *const functions[] = {NULL, binary_ADD, binary_MULTIPLY, binary_MINIMUM, binary_MAXIMUM};
    uint32_t axis = axis_needed(ctx, c, "dim");
    binary_function *f = functions[attr_word(ctx, c, "scatter_reduce_type", words)];
    const struct tensor *index = fitting_indices(ctx, c, axis), *source = operand_needed(ctx, c, 2);
    if (!shape_eq(&index->shape, &source->shape))
        op_fails(ctx, "scatter: indices and source differ in shape");
    struct tensor *t = tensor_copy(ctx, operand(c, 0));
    struct view v = view_of(t);
    struct index_walk w;
    walk_begin(&w, &index->shape);
    for (int64_t i = 0; walk_more(&w); walk_next(&w), i++) {
        double *to = &t->x[offset_at(&v, &w, axis, index_in(ctx, c, index->x[i], t->shape.dim[axis]))];
        *to = f ? f(*to, source->x[i]) : source->x[i];
    }
    *out = t;
}

/* ---- order ---- */

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

void sort_ranked(struct ranked *x, int64_t n, bool down) {
    qsort(x, (size_t)n, sizeof *x, down ? descending : ascending);
}

static void reverse(struct ranked *x, int64_t n) {
    for (int64_t i = 0; i < n / 2; i++) {
        struct ranked other = x[n - 1 - i];
        x[n - 1 - i] = x[i];
        x[i] = other;
    }
}

/* Sorted along a dimension, and the indices of what was sorted. The `first` elements may be in any order if they are
 * not `sorted`. */
void evaluate_sort(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *x = operand_needed(ctx, c, 0);
    bool down = attr_flag(ctx, c, "descending", false), stable = attr_flag(ctx, c, "stable", false);
    bool reversed = ctx->equals == EQUALS_LAST && !stable, pointed = ctx->equals == EQUALS_POINTED;
    int64_t open = attr_int(ctx, c, "first", 0);
    open = !attr_flag(ctx, c, "sorted", true) && ctx->equals == EQUALS_UNSORTED ? open : 0;
    uint32_t axis = axis_attr(ctx, c, "dim", -1, x->shape.rank);
    int64_t n = x->shape.dim[axis], stride = view_of(x).stride[axis];
    struct tensor *values = tensor_new(ctx, &x->shape), *indices = tensor_new(ctx, &x->shape);
    eval_steps(ctx, x->n, 1);
    struct ranked *row = arena_alloc(ctx->arena, (size_t)(n + 1) * sizeof *row);
    struct view firsts = view_cut(view_of(x), axis, 0, 1, x->n ? 1 : 0);
    struct index_walk w;
    for (walk_views(&w, &firsts, 1); walk_more(&w); walk_next(&w)) {
        for (int64_t i = 0; i < n; i++)
            row[i] = (struct ranked){x->x[w.offset[0] + i * stride], i, reversed ? -i : i};
        sort_ranked(row, n, down);
        reverse(row, open < n ? open : n);
        for (int64_t i = 0; i < n; i++) {
            values->x[w.offset[0] + i * stride] = row[i].x;
            indices->x[w.offset[0] + i * stride] = pointed ? row[i].x : (double)row[i].index;
        }
    }
    out[0] = values;
    out[1] = indices;
}
