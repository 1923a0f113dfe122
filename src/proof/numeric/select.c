/* Ops that take elements by index, and those that order them. An index below 0 counts from the end. */
#include "ir/ops/scalar.h"
#include "proof/numeric/evaluators.h"

#include <math.h>
#include <stdlib.h>

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
    *out = as_declared(ctx, c, 0, lazy_take(ctx, &t));
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
    *out = lazy_take(ctx, &t);
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
    *out = lazy_take(ctx, &t);
}

/* Each place along the axis asks for the indices of its line: the last one that is its number has the element. */
void evaluate_scatter(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    static const char *const words[] = {"invalid", "sum", "prod", "min", "max", NULL};
    uint32_t axis = axis_needed(ctx, c, "dim");
    int how = attr_word(ctx, c, "scatter_reduce_type", words);
    const struct tensor *x = operand(c, 0), *index = operand_needed(ctx, c, 1), *source = operand_needed(ctx, c, 2);
    uint32_t rank = x->shape.rank;
    if (how > 1 || rank == MAX_RANK || index->shape.rank != rank || !shape_eq(&index->shape, &source->shape))
        op_unsupported(ctx, "no evaluator for %s of this kind", op_table[c->kind].name);
    int64_t size = x->shape.dim[axis], before[MAX_RANK] = {0};
    struct tensor *numbers = tensor_new(ctx, &(struct shape){1, {size}});
    struct view at = {.x = numbers->x}, where = view_of(index), from = view_of(source);
    for (int64_t i = 0; i < size; i++)
        numbers->x[i] = (double)i;
    for (struct view **v = (struct view *[]){&where, &from, NULL}; *v; v++) { /* for each place, along its line */
        (*v)->shape.dim[rank] = (*v)->shape.dim[axis];
        (*v)->stride[rank] = (*v)->stride[axis];
        (*v)->shape.dim[axis] = size;
        (*v)->stride[axis] = 0;
        (*v)->shape.rank++;
    }
    at.shape = where.shape;
    at.stride[axis] = 1;
    struct view here = view_of(lazy_binary(ctx, binary_EQ, lazy_of_view(ctx, where), lazy_of_view(ctx, at)));
    const struct tensor *any = lazy_fold(ctx, "scatter", fold_or, &here, NULL, 1);
    const struct tensor *put = lazy_fold(ctx, "scatter", how ? fold_dot : fold_last, &here, &from, 1);
    struct view parts[2] = {view_of(any), view_of(put)};
    any = lazy_place(ctx, &parts[0], &x->shape, before, NULL, 0);
    put = lazy_place(ctx, &parts[1], &x->shape, before, NULL, 0);
    *out = lazy_select(ctx, any, how ? lazy_binary(ctx, binary_ADD, x, put) : put, x);
}

/* ---- order ---- */

/* Each place along the axis is a fold of the whole axis, and of its number. */
void evaluate_sort(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    static fold_function *const folds[2][2][2] = {
        {{fold_ascending, fold_ascending_index}, {fold_ascending, fold_ascending_index_of_last}},
        {{fold_descending, fold_descending_index}, {fold_descending, fold_descending_index_of_last}}};
    const struct tensor *x = operand_needed(ctx, c, 0);
    bool down = attr_flag(ctx, c, "descending", false), stable = attr_flag(ctx, c, "stable", false);
    uint32_t axis = axis_attr(ctx, c, "dim", -1, x->shape.rank), rank = x->shape.rank;
    int64_t n = x->shape.dim[axis];
    struct view v = view_of(x), place = {.shape = x->shape};
    struct tensor *numbers = tensor_new(ctx, &(struct shape){1, {n}});
    if (rank == MAX_RANK)
        op_fails(ctx, "%s of rank %u", op_table[c->kind].name, rank);
    int64_t open = attr_int(ctx, c, "first", 0);
    bool sorted = attr_flag(ctx, c, "sorted", true);
    open = ctx->equals == EQUALS_UNSORTED && !sorted ? open : 0;
    for (int64_t i = 0; i < n; i++)
        numbers->x[i] = (double)(i < open ? open - 1 - i : i);
    place.x = numbers->x;
    place.stride[axis] = 1;
    v.stride[rank] = v.stride[axis];
    v.stride[axis] = 0;
    place.shape.dim[rank] = v.shape.dim[rank] = n;
    place.shape.rank = ++v.shape.rank;
    bool last = ctx->equals == EQUALS_LAST && !stable;
    for (int i = 0; i < 2; i++) {
        fold_function *f = folds[down][last][i && ctx->equals != EQUALS_POINTED];
        out[i] = tensor_reshape(ctx, lazy_fold(ctx, op_table[c->kind].name, f, &v, &place, 1), &x->shape);
    }
}
