/* Constants: their elements stand in the text. What a type cannot hold is rounded by interpret(). */
#include "numeric/evaluators.h"

/* The declared shape, else that of the attribute `shape`. */
static bool shape_of_constant(struct eval_context *b, const struct call *c, struct shape *s) {
    int n = 0;
    if (declared_shape(c, 0)) {
        *s = *declared_shape(c, 0);
        return true;
    }
    *s = (struct shape){0};
    if (!attr_list(b, c, "shape", s->dim, TENSOR_RANK, &n))
        return false;
    s->rank = (uint32_t)n;
    return true;
}

static bool filled(struct eval_context *b, const struct call *c, double value, const struct tensor **out) {
    struct shape s;
    struct tensor *t = shape_of_constant(b, c, &s) ? tensor_new(b, &s) : NULL;
    for (int64_t i = 0; t && i < t->n; i++)
        t->x[i] = value;
    *out = t;
    return t != NULL;
}

bool evaluate_zeros(struct eval_context *b, const struct call *c, const struct tensor **out) {
    return filled(b, c, 0, out);
}

bool evaluate_ones(struct eval_context *b, const struct call *c, const struct tensor **out) {
    return filled(b, c, 1, out);
}

bool evaluate_full(struct eval_context *b, const struct call *c, const struct tensor **out) {
    struct str text;
    double value;
    if (!attr_text(c, "fill_value", &text) && !attr_text(c, "value", &text))
        return eval_fail(b, "full has no fill_value");
    if (!mlir_float(text, &value) && !mlir_splat(text, &value))
        return eval_fail(b, "full: %.*s is no number", (int)(text.n < 80 ? text.n : 80), text.p);
    return filled(b, c, value, out);
}

/* The elements in row-major order, or one for all. A proof may evaluate the op in a smaller shape than the one that is
 * printed, which only a splat can follow. */
bool evaluate_constant(struct eval_context *b, const struct call *c, const struct tensor **out) {
    struct str text;
    struct shape s;
    double value;
    if (!attr_needed(b, c, "value") || !attr_text(c, "value", &text))
        return false;
    struct tensor *t = shape_of_constant(b, c, &s) ? tensor_new(b, &s) : NULL;
    if (!t)
        return false;
    int64_t n = mlir_numbers(text, t->x, t->n);
    if (n != t->n && mlir_splat(text, &value))
        return filled(b, c, value, out);
    if (n != t->n)
        return n < 0 ? eval_fail(b, "the value of a constant cannot be read")
                     : eval_fail(b, "a constant has %lld elements, its type %lld", (long long)n, (long long)t->n);
    *out = t;
    return true;
}

bool evaluate_arange(struct eval_context *b, const struct call *c, const struct tensor **out) {
    int64_t start = 0, end = 0, step = 1, along = 0;
    if (!attr_int(b, c, "start", &start) || !attr_int_needed(b, c, "end", &end) || !attr_int(b, c, "step", &step) ||
        !attr_int(b, c, "arange_dimension", &along))
        return false;
    if (step == 0)
        return eval_fail(b, "arange with step 0");
    int64_t count = step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
    struct shape s = {1, {count > 0 ? count : 0}};
    if (declared_shape(c, 0))
        s = *declared_shape(c, 0);
    if (along < 0 || along >= s.rank || s.dim[along] != count)
        return eval_fail(b, "arange of %lld numbers along dimension %lld of %s", (long long)count, (long long)along,
                         shape_text(b->arena, &s).p);
    struct tensor *t = tensor_new(b, &s);
    struct index_walk w;
    if (!t)
        return false;
    walk_begin(&w, &s);
    for (double *x = t->x; walk_more(&w); walk_next(&w))
        *x++ = (double)(start + w.at[along] * step);
    *out = t;
    return true;
}

bool evaluate_dimension_size(struct eval_context *b, const struct call *c, const struct tensor **out) {
    uint32_t d;
    if (!axis_needed(b, c, "dimension", &d))
        return false;
    const struct tensor *t = tensor_scalar(b, (double)operand(c, 0)->shape.dim[d]);
    *out = as_declared(b, c, 0, t);
    return *out != NULL;
}
