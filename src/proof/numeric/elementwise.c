/* Elementwise ops: operands broadcast from the right, as in NumPy.
 *
 * Constants of SELU: Klambauer et al. (2017). */
#include "proof/numeric/elementwise.h"

#include <math.h>
#include <string.h>

#include "ir/mlir/attributes.h"
#include "proof/numeric/evaluators.h"

/* ---- activations folded into other ops ---- */

bool is_activation_key(const char *key) {
    for (const char *const *k = activation_keys; *k; k++)
        if (strcmp(key, *k) == 0)
            return true;
    return false;
}

/* Numbers are printed behind the name: op_type = leaky_relu, params = [0.2 : f32]. */
static uint32_t numbers_behind(struct eval_context *ctx, struct str text, double number[2]) {
    const char *p = str_find(text, STR("[")), *end = p ? memchr(p, ']', (size_t)(text.p + text.n - p)) : NULL;
    uint32_t n = 0;
    while (end && p < end && n < 2) {
        p++;
        const char *comma = memchr(p, ',', (size_t)(end - p));
        struct str one = str_trim((struct str){p, (size_t)((comma ? comma : end) - p)});
        struct attr x = mlir_read_attr(STR(""), one, ctx->arena);
        if (!x.is_number)
            return 0;
        number[n++] = x.number;
        p = comma ? comma : end;
    }
    return n;
}

static double leaky(double x, double slope) {
    return x * (x < 0 ? slope : 1);
}

/* NULL: it is none of these. */
static const struct tensor *apply_with_numbers(struct eval_context *ctx, enum op_kind kind, struct str text,
                                               const struct tensor *x) {
    double number[2];
    if (numbers_behind(ctx, text, number) != (kind == K_CLAMP ? 2 : 1))
        return NULL;
    const struct tensor *first = tensor_scalar(ctx, number[0]);
    if (kind == K_CLAMP)
        return lazy_binary(ctx, binary_MINIMUM, lazy_binary(ctx, binary_MAXIMUM, x, first),
                           tensor_scalar(ctx, number[1]));
    return kind == K_LEAKY_RELU ? lazy_binary(ctx, leaky, x, first)
           : kind == K_POW      ? lazy_binary(ctx, binary_POW, x, first)
                                : NULL;
}

const struct tensor *apply_activation(struct eval_context *ctx, const struct call *c, const struct tensor *x) {
    for (const char *const *key = activation_keys; *key; key++) {
        const struct attr *given = attrs_find(c->attributes, *key);
        struct str name = given ? activation_name(*key, given->text) : STR("");
        if (!name.n)
            continue;
        unary_function *f = activation_of(name);
        const struct tensor *t =
            f ? lazy_unary(ctx, f, x) : apply_with_numbers(ctx, op_kind_of_name(name), given->text, x);
        if (!t)
            op_unsupported(ctx, "no evaluator for the activation %.*s", (int)name.n, name.p);
        x = t;
    }
    return x;
}

/* ---- unary and binary ops ---- */

/* The second operand, or the attribute that is printed in its place. */
static const struct tensor *second_operand(struct eval_context *ctx, const struct call *c) {
    return operand(c, 1) ? operand(c, 1) : tensor_scalar(ctx, attr_number_needed(ctx, c, "rhs"));
}

/* Integer quotients lose their fraction when they are stored; a division by 0 is an infinity or NaN. */
void evaluate_elementwise(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *x = operand_needed(ctx, c, 0);
    unary_function *unary = unary_of(c->kind);
    binary_function *binary = binary_of(c->kind);
    if (unary) {
        *out = lazy_unary(ctx, unary, x);
        return;
    }
    const struct tensor *y = second_operand(ctx, c);
    if (c->kind == K_MULTIPLY)
        binary = format_product(result_type(c, 0));
    *out = lazy_binary(ctx, binary, x, y);
}

void evaluate_where(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    *out = lazy_select(ctx, operand_needed(ctx, c, 0), operand_needed(ctx, c, 1), operand_needed(ctx, c, 2));
}

void evaluate_selu(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    double scale = attr_number(ctx, c, "scale", 1.0507009873390197);
    double alpha = attr_number(ctx, c, "alpha", 1.6732635498046875);
    const struct tensor *x = operand_needed(ctx, c, 0), *zero = tensor_scalar(ctx, 0);
    const struct tensor *below =
        lazy_binary(ctx, binary_MULTIPLY, lazy_unary(ctx, unary_EXPM1, x), tensor_scalar(ctx, alpha));
    const struct tensor *both = lazy_select(ctx, lazy_binary(ctx, binary_GT, x, zero), x, below);
    *out = lazy_binary(ctx, binary_MULTIPLY, both, tensor_scalar(ctx, scale));
}

/* Derivatives of the two forms of GELU (scalar.c). */
static double gelu_slope(double x) {
    return 0.5 * (1 + erf(x * M_SQRT1_2)) + x * exp(-x * x / 2) / sqrt(2 * M_PI);
}

static double gelu_tanh_slope(double x) {
    double k = sqrt(2 / M_PI), t = tanh(k * (x + 0.044715 * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x);
}

void evaluate_gelu_bw(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    static const char *const forms[] = {"none", "tanh", NULL};
    const struct tensor *gradient = operand_needed(ctx, c, 0), *x = operand_needed(ctx, c, 1);
    unary_function *slope = attr_word(ctx, c, "approximate", forms) == 1 ? gelu_tanh_slope : gelu_slope;
    *out = lazy_binary(ctx, binary_MULTIPLY, gradient, lazy_unary(ctx, slope, x));
}

/* ---- quantization ---- */

static double rounded_quotient(double x, double scale) {
    return rint(x / scale);
}

/* A scale or zero point: one number for the whole tensor. */
static const struct tensor *one_number(struct eval_context *ctx, const struct call *c, uint32_t i) {
    const struct tensor *t = operand_needed(ctx, c, i);
    if (t->n != 1)
        op_fails(ctx, "%s: a scale for each channel", op_table[c->kind].name);
    return tensor_reshape(ctx, t, &(struct shape){0});
}

/* round(x / scale) + zero point, ties to even, clamped to the integers of the result; a formula means signed bytes. */
void evaluate_quantize(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    enum dtype type = c->types ? result_type(c, 0) : DT_I8;
    if (!format_is_integer(type))
        op_unsupported(ctx, "no evaluator for %s to this type", op_table[c->kind].name);
    const struct tensor *t = lazy_binary(ctx, rounded_quotient, operand_needed(ctx, c, 0), one_number(ctx, c, 1));
    t = lazy_binary(ctx, binary_ADD, t, one_number(ctx, c, 2));
    *out = lazy_rounded(ctx, t, type, false);
}

/* (q - zero point) * scale */
void evaluate_dequantize(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *t = lazy_binary(ctx, binary_SUBTRACT, operand_needed(ctx, c, 0), one_number(ctx, c, 2));
    *out = lazy_binary(ctx, binary_MULTIPLY, t, one_number(ctx, c, 1));
}
