/* Reductions, prefix sums and argmax. A maximum or minimum over a NaN is a NaN. */
#include "ir/ops/infer.h"
#include "proof/numeric/evaluators.h"

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

void evaluate_reduction(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
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
void evaluate_cumulative(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
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

/* Index of the largest element, the first one of equals (or that element, EQUALS_POINTED); a NaN counts as larger than
 * all numbers. Over several dimensions it is the index into them, flattened. */
void evaluate_argmax(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *x = operand_needed(ctx, c, 0);
    bool reduced[MAX_RANK] = {false};
    uint32_t order[MAX_RANK] = {0};
    argmax_order(ctx, c, x->shape.rank, reduced, order);
    struct view v = view_permuted(view_of(x), order);
    bool keep = attr_flag(ctx, c, "keep_dim", false);
    struct shape s = {0};
    uint32_t n = 0;
    for (uint32_t d = 0; d < x->shape.rank; d++) {
        n += reduced[d];
        if (!reduced[d] || keep)
            s.dim[s.rank++] = reduced[d] ? 1 : x->shape.dim[d];
    }
    fold_function *f = ctx->equals == EQUALS_POINTED ? fold_max : fold_argmax;
    *out = tensor_reshape(ctx, lazy_fold(ctx, op_table[c->kind].name, f, &v, NULL, n), &s);
}
