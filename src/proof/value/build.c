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

/* ---- elementwise ---- */

static void lazy_elementwise(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *x = operand_needed(ctx, c, 0);
    unary_function *unary = unary_of(c->kind);
    binary_function *binary = c->kind == K_MULTIPLY ? format_product(result_type(c, 0)) : binary_of(c->kind);
    if (unary)
        *out = lazy_unary(ctx, unary, x);
    else
        *out = lazy_binary(ctx, binary, x,
                           operand(c, 1) ? operand(c, 1) : tensor_scalar(ctx, attr_number_needed(ctx, c, "rhs")));
}

static void lazy_where(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    *out = lazy_select(ctx, operand_needed(ctx, c, 0), operand_needed(ctx, c, 1), operand_needed(ctx, c, 2));
}

static void lazy_selu(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    double scale = attr_number(ctx, c, "scale", 1.0507009873390197);
    double alpha = attr_number(ctx, c, "alpha", 1.6732635498046875);
    const struct tensor *x = operand_needed(ctx, c, 0), *zero = tensor_scalar(ctx, 0);
    const struct tensor *below = lazy_binary(ctx, binary_MULTIPLY, lazy_unary(ctx, unary_EXPM1, x),
                                             tensor_scalar(ctx, alpha)),
                        *both = lazy_select(ctx, lazy_binary(ctx, binary_GT, x, zero), x, below);
    *out = lazy_binary(ctx, binary_MULTIPLY, both, tensor_scalar(ctx, scale));
}

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

/* ---- parts of a tensor ---- */

static void lazy_pad(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *x = operand_needed(ctx, c, 0);
    int64_t p[2 * MAX_RANK], before[MAX_RANK] = {0};
    int n = attr_list_needed(ctx, c, "padding", p, 2 * MAX_RANK);
    struct shape s = x->shape;
    struct view v = view_of(x);
    if (n != 2 * (int)s.rank)
        op_fails(ctx, "%d paddings of a tensor of rank %u", n, s.rank);
    for (uint32_t d = 0; d < s.rank; d++) {
        if (p[2 * (size_t)d] < 0 || p[2 * (size_t)d + 1] < 0)
            op_fails(ctx, "a negative padding");
        before[d] = p[2 * (size_t)d];
        s.dim[d] += p[2 * (size_t)d] + p[2 * (size_t)d + 1];
    }
    *out = lazy_place(ctx, &v, &s, before, NULL, attr_number(ctx, c, "value", 0));
}

static void lazy_repeat(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    bool short_key = attrs_find(c->attributes, "repeat_dims") != NULL;
    const struct tensor *x = operand_needed(ctx, c, 0);
    int64_t times[MAX_RANK];
    int n = attr_list_needed(ctx, c, short_key ? "repeat_dims" : "repeat_dimensions", times, MAX_RANK);
    uint32_t lead = (uint32_t)n - x->shape.rank, at = 0;
    struct view from = view_of(x), v = {.x = from.x, .lazy = from.lazy, .offset = from.offset};
    struct shape s = {.rank = (uint32_t)n};
    if (n < (int)x->shape.rank)
        op_fails(ctx, "%s: %d numbers for rank %u", op_table[c->kind].name, n, x->shape.rank);
    for (uint32_t d = 0; d < (uint32_t)n; d++) {
        int64_t size = d >= lead ? from.shape.dim[d - lead] : 1;
        s.dim[d] = times[d] * size;
        if (at + 2 > MAX_RANK)
            op_fails(ctx, "repeat of rank %d", n);
        if (times[d] != 1) {
            v.shape.dim[at] = times[d];
            v.stride[at++] = 0;
        }
        v.shape.dim[at] = size;
        v.stride[at++] = d >= lead ? from.stride[d - lead] : 0;
    }
    v.shape.rank = at;
    *out = tensor_reshape(ctx, view_copy(ctx, v), &s);
}

/* ---- the table ---- */

/* What only moves data is what proof/numeric makes of it. */
static evaluator *lazy_evaluator(evaluator *f) {
    static const struct {
        evaluator *dense, *lazy;
    } all[] = {{evaluate_elementwise, lazy_elementwise},
               {evaluate_where, lazy_where},
               {evaluate_selu, lazy_selu},
               {evaluate_gelu_bw, evaluate_gelu_bw},
               {evaluate_reduction, lazy_reduction},
               {evaluate_matmul, evaluate_matmul},
               {evaluate_dot_general, evaluate_dot_general},
               {evaluate_constant, evaluate_constant},
               {evaluate_full, evaluate_full},
               {evaluate_zeros, evaluate_zeros},
               {evaluate_ones, evaluate_ones},
               {evaluate_dimension_size, evaluate_dimension_size},
               {evaluate_same, evaluate_same},
               {evaluate_reshape, evaluate_reshape},
               {evaluate_permute, evaluate_permute},
               {evaluate_broadcast, evaluate_broadcast},
               {evaluate_repeat, lazy_repeat},
               {evaluate_repeat_interleave, evaluate_repeat_interleave},
               {evaluate_concat, evaluate_concat},
               {evaluate_slice, evaluate_slice},
               {evaluate_index, evaluate_index},
               {evaluate_reverse, evaluate_reverse},
               {evaluate_pad, lazy_pad},
               {evaluate_convolution, lazy_convolution},
               {evaluate_max_pool, lazy_max_pool},
               {evaluate_avg_pool, lazy_avg_pool}};
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
    .product = lazy_product,
    .rounded = lazy_rounded,
    .round_constant = lazy_round_constant,
    .evaluator = lazy_evaluator,
};
