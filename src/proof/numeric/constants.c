/* Constants: their elements stand in the text. What a type cannot hold is rounded by interpret(). */
#include "proof/numeric/evaluators.h"

/* The declared shape, else that of the attribute `shape`. */
static struct shape shape_of_constant(struct eval_context *ctx, const struct call *c) {
    struct shape s = {0};
    if (declared_shape(c, 0))
        return *declared_shape(c, 0);
    int n = attr_list(ctx, c, "shape", s.dim, MAX_RANK);
    s.rank = n < 0 ? 0 : (uint32_t)n;
    return s;
}

static const struct tensor *filled(struct eval_context *ctx, const struct call *c, double value) {
    struct shape s = shape_of_constant(ctx, c);
    return lazy_of_view(ctx, view_expanded(tensor_scalar(ctx, value), &s));
}

void evaluate_zeros(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    *out = filled(ctx, c, 0);
}

void evaluate_ones(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    *out = filled(ctx, c, 1);
}

void evaluate_full(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    bool other = attrs_find(c->attributes, "value") && !attrs_find(c->attributes, "fill_value");
    const struct attr *x = attr_needed(ctx, c, other ? "value" : "fill_value");
    double value = x->number;
    if (!x->is_number && !mlir_splat(x->text, &value))
        op_fails(ctx, "full: %.*s is no number", (int)(x->text.n < 80 ? x->text.n : 80), x->text.p);
    *out = filled(ctx, c, value);
}

/* The elements in row-major order, or one for all. A proof may evaluate the op in a smaller shape than the one that is
 * printed, which only a splat can follow. */
void evaluate_constant(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct attr *x = attr_needed(ctx, c, "value");
    double value;
    if (mlir_splat(x->text, &value)) {
        *out = filled(ctx, c, value);
        return;
    }
    struct shape s = shape_of_constant(ctx, c);
    struct tensor *t = tensor_new(ctx, &s);
    int64_t n = mlir_numbers(x->text, t->x, t->n);
    *out = t;
    if (n == t->n)
        return;
    if (n < 0)
        op_fails(ctx, "the value of a constant cannot be read");
    else
        op_fails(ctx, "a constant has %lld elements, its type %lld", (long long)n, (long long)t->n);
}

void evaluate_arange(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    int64_t start = attr_int(ctx, c, "start", 0), end = attr_int_needed(ctx, c, "end");
    int64_t step = attr_int(ctx, c, "step", 1), along = attr_int(ctx, c, "arange_dimension", 0);
    int64_t count = 0;
    if (step > 0)
        count = (end - start + step - 1) / step;
    else if (step < 0)
        count = (start - end - step - 1) / -step;
    else
        op_fails(ctx, "arange with step 0");
    struct shape s = {1, {count > 0 ? count : 0}};
    if (declared_shape(c, 0))
        s = *declared_shape(c, 0);
    if (along < 0 || along >= s.rank || s.dim[along] != count)
        op_fails(ctx, "arange of %lld numbers along dimension %lld of %s", (long long)count, (long long)along,
                 shape_text(ctx->arena, &s).p);
    struct tensor *t = tensor_new(ctx, &(struct shape){1, {count > 0 ? count : 0}});
    struct shape column = {.rank = s.rank - (uint32_t)along, .dim = {t->n}};
    for (uint32_t d = 1; d < column.rank; d++)
        column.dim[d] = 1;
    for (int64_t i = 0; i < t->n; i++)
        t->x[i] = (double)(start + i * step);
    *out = lazy_of_view(ctx, view_expanded(tensor_reshape(ctx, t, &column), &s));
}

void evaluate_dimension_size(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    uint32_t d = axis_needed(ctx, c, "dimension");
    *out = as_declared(ctx, c, 0, tensor_scalar(ctx, (double)operand(c, 0)->shape.dim[d]));
}
