/* Ops as nodes: a function for each evaluator of ops.def. What only moves data is what proof/numeric makes of it, on
 * views. */
#include "proof/value/lazy.h"

#include "ir/ops/infer.h"
#include "proof/numeric/elementwise.h"
#include "proof/numeric/evaluators.h"
#include "proof/value/fold.h"
#include "proof/value/window.h"

#include <math.h>
#include <stdlib.h>

/* ---- folds ---- */

static fold_function *fold_of(enum op_kind k) {
    switch (k) {
    case K_MAX:
        return fold_max;
    case K_MIN:
        return fold_min;
    case K_MEAN:
        return fold_mean;
    case K_PROD:
        return fold_prod;
    case K_REDUCE_OR:
        return fold_or;
    case K_REDUCE_AND:
        return fold_and;
    default:
        return fold_sum;
    }
}

static void lazy_reduction(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct view v = view_of(operand_needed(ctx, c, 0));
    uint32_t to[MAX_RANK] = {0}, at = 0, rank = v.shape.rank;
    struct shape kept = {0};
    bool reduced[MAX_RANK] = {false}, keep = attr_flag(ctx, c, "keep_dim", false);
    uint32_t n = reduced_dims(c->kind, c->attributes, rank, reduced);
    if (n == NONE)
        op_fails(ctx, "%s along no dimension of a tensor of rank %u", op_table[c->kind].name, rank);
    for (uint32_t d = 0; d < rank; d++) {
        if (!reduced[d])
            to[at++] = d;
        if (!reduced[d] || keep)
            kept.dim[kept.rank++] = reduced[d] ? 1 : v.shape.dim[d];
    }
    for (uint32_t d = 0; d < rank; d++)
        if (reduced[d])
            to[at++] = d;
    v = view_permuted(v, to);
    *out = tensor_reshape(ctx, lazy_fold(ctx, op_table[c->kind].name, fold_of(c->kind), &v, NULL, n), &kept);
}

/* So many times the element, where all along the dimension are the same. */
static const struct tensor *counted(struct eval_context *ctx, const struct tensor *x, uint32_t axis) {
    struct tensor *n = tensor_new(ctx, &(struct shape){1, {x->shape.dim[axis]}});
    struct shape column = {.rank = x->shape.rank - axis, .dim = {n->n}};
    for (int64_t i = 0; i < n->n; i++)
        n->x[i] = (double)(i + 1);
    for (uint32_t d = 1; d < column.rank; d++)
        column.dim[d] = 1;
    return lazy_binary(ctx, binary_MULTIPLY, x, tensor_reshape(ctx, n, &column));
}

/* A sum, or product, of all elements up to this one: of as many as there are, among others that change nothing. */
static void lazy_cumulative(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    uint32_t axis = axis_needed(ctx, c, "dim");
    bool product = c->kind == K_CUMPROD;
    const struct tensor *x = operand(c, 0);
    struct view v = view_of(x);
    struct shape s = x->shape;
    int64_t before[MAX_RANK] = {0}, n = s.dim[axis];
    if (s.rank == MAX_RANK)
        op_fails(ctx, "%s of rank %u", op_table[c->kind].name, s.rank);
    if (!product && v.stride[axis] == 0) {
        *out = counted(ctx, x, axis);
        return;
    }
    before[axis] = n - 1;
    s.dim[axis] += n - 1;
    v = view_of(lazy_place(ctx, &v, &s, before, NULL, product));
    v.shape = x->shape;
    v.stride[v.shape.rank] = v.stride[axis];
    v.shape.dim[v.shape.rank++] = n;
    *out = tensor_reshape(ctx, lazy_fold(ctx, op_table[c->kind].name, product ? fold_prod : fold_sum, &v, NULL, 1),
                          &x->shape);
}

static void lazy_argmax(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *x = operand_needed(ctx, c, 0);
    bool reduced[MAX_RANK] = {false};
    uint32_t order[MAX_RANK] = {0};
    struct shape s = argmax_shape(ctx, c, &x->shape, reduced, order);
    struct view v = view_permuted(view_of(x), order);
    uint32_t n = 0;
    for (uint32_t d = 0; d < x->shape.rank; d++)
        n += reduced[d];
    fold_function *f = ctx->equals == EQUALS_POINTED ? fold_max : fold_argmax;
    *out = tensor_reshape(ctx, lazy_fold(ctx, op_table[c->kind].name, f, &v, NULL, n), &s);
}

/* Each place along the axis is a fold of the whole axis, and of its number. */
static void lazy_sort(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
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

/* Each place along the axis asks for the indices of its line: the last one that is its number has the element. */
static void lazy_scatter(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
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

/* ---- the table ---- */

/* What only moves data is what proof/numeric makes of it. */
static evaluator *lazy_evaluator(evaluator *f) {
    static const struct {
        evaluator *dense, *lazy;
    } all[] = {{evaluate_elementwise, evaluate_elementwise},
               {evaluate_where, evaluate_where},
               {evaluate_selu, evaluate_selu},
               {evaluate_gelu_bw, evaluate_gelu_bw},
               {evaluate_reduction, lazy_reduction},
               {evaluate_cumulative, lazy_cumulative},
               {evaluate_argmax, lazy_argmax},
               {evaluate_sort, lazy_sort},
               {evaluate_matmul, evaluate_matmul},
               {evaluate_dot_general, evaluate_dot_general},
               {evaluate_sparse_matmul, evaluate_sparse_matmul},
               {evaluate_constant, evaluate_constant},
               {evaluate_full, evaluate_full},
               {evaluate_zeros, evaluate_zeros},
               {evaluate_ones, evaluate_ones},
               {evaluate_arange, evaluate_arange},
               {evaluate_dimension_size, evaluate_dimension_size},
               {evaluate_same, evaluate_same},
               {evaluate_reshape, evaluate_reshape},
               {evaluate_permute, evaluate_permute},
               {evaluate_broadcast, evaluate_broadcast},
               {evaluate_repeat, evaluate_repeat},
               {evaluate_repeat_interleave, evaluate_repeat_interleave},
               {evaluate_concat, evaluate_concat},
               {evaluate_slice, evaluate_slice},
               {evaluate_index, evaluate_index},
               {evaluate_reverse, evaluate_reverse},
               {evaluate_pad, evaluate_pad},
               {evaluate_embedding, evaluate_embedding},
               {evaluate_gather, evaluate_gather},
               {evaluate_scatter, lazy_scatter},
               {evaluate_quantize, evaluate_quantize},
               {evaluate_dequantize, evaluate_dequantize},
               {evaluate_upsample, evaluate_upsample},
               {evaluate_update_cache, evaluate_update_cache},
               {evaluate_paged_update_cache, evaluate_paged_update_cache},
               {evaluate_fill_cache, evaluate_fill_cache},
               {evaluate_all_gather, evaluate_all_gather},
               {evaluate_all_reduce, evaluate_all_reduce},
               {evaluate_reduce_scatter, evaluate_reduce_scatter},
               {evaluate_all_to_all, evaluate_all_to_all},
               {evaluate_mesh_partition, evaluate_mesh_partition},
               {evaluate_collective_broadcast, evaluate_collective_broadcast},
               {evaluate_point_to_point, evaluate_point_to_point},
               {evaluate_collective_permute, evaluate_collective_permute},
               {evaluate_convolution, lazy_convolution},
               {evaluate_max_pool, lazy_max_pool},
               {evaluate_avg_pool, lazy_avg_pool},
               {evaluate_pooling, lazy_pooling},
               {evaluate_index_select, evaluate_index_select},
               {evaluate_slice_dynamic, evaluate_slice_dynamic}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].dense == f)
            return all[i].lazy;
    return NULL;
}

const struct lazy_maker lazy_maker = {
    .tensor = lazy_of_view,
    .reshape = lazy_reshaped,
    .concat = lazy_join,
    .unary = lazy_unary,
    .binary = lazy_binary,
    .select = lazy_select,
    .place = lazy_place,
    .take = lazy_take,
    .product = lazy_product,
    .rounded = lazy_rounded,
    .round_constant = lazy_round_constant,
    .evaluator = lazy_evaluator,
};
