/* Elementwise ops: functions of numbers by operator, broadcast from the right. */
#include "numeric/evaluators.h"

#include <math.h>

/* ---- functions of one number ---- */

static double reciprocal(double x) {
    return 1 / x;
}
static double rsqrt(double x) {
    return 1 / sqrt(x);
}
static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}
static double silu(double x) {
    return x * sigmoid(x);
}
static double gelu(double x) {
    return 0.5 * x * (1 + erf(x * M_SQRT1_2));
}
static double gelu_tanh(double x) {
    return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
static double mish(double x) {
    return x * tanh(log1p(exp(x)));
}
static double at_least(double x, double low) {
    return isnan(x) || x > low ? x : low;
}
static double at_most(double x, double high) {
    return isnan(x) || x < high ? x : high;
}
static double relu(double x) {
    return at_least(x, 0);
}
static double relu6(double x) {
    return at_most(relu(x), 6);
}
static double hardsigmoid(double x) {
    return relu6(x + 3) / 6;
}
static double sign(double x) {
    return isnan(x) ? x : (x > 0) - (x < 0);
}
static double negate(double x) {
    return -x;
}
static double is_finite(double x) {
    return isfinite(x);
}
static double logical_not(double x) {
    return x == 0;
}
static double square(double x) {
    return x * x;
}
static double fraction(double x) {
    return x - trunc(x);
}
static double sign_bit(double x) {
    return signbit(x) != 0;
}
static double softsign(double x) {
    return x / (1 + fabs(x));
}
static double bitwise_not(double x) {
    return (double)~(int64_t)x;
}

static unary_function *const unary[K_COUNT] = {
    [K_ABS] = fabs,
    [K_ACOS] = acos,
    [K_ASIN] = asin,
    [K_ASINH] = asinh,
    [K_ATAN] = atan,
    [K_BITWISE_NOT] = bitwise_not,
    [K_CBRT] = cbrt,
    [K_CEIL] = ceil,
    [K_COS] = cos,
    [K_ERF] = erf,
    [K_ERFC] = erfc,
    [K_EXP] = exp,
    [K_EXP2] = exp2,
    [K_EXPM1] = expm1,
    [K_FLOOR] = floor,
    [K_FRAC] = fraction,
    [K_GELU] = gelu,
    [K_HARDSIGMOID] = hardsigmoid,
    [K_ISFINITE] = is_finite,
    [K_LOG] = log,
    [K_LOG1P] = log1p,
    [K_LOGICAL_NOT] = logical_not,
    [K_MISH] = mish,
    [K_NEG] = negate,
    [K_RECIPROCAL] = reciprocal,
    [K_RELU] = relu,
    [K_RELU6] = relu6,
    [K_RSQRT] = rsqrt,
    [K_SIGMOID] = sigmoid,
    [K_SIGN] = sign,
    [K_SIGNBIT] = sign_bit,
    [K_SILU] = silu,
    [K_SIN] = sin,
    [K_SOFTSIGN] = softsign,
    [K_SQRT] = sqrt,
    [K_SQUARE] = square,
    [K_TAN] = tan,
    [K_TANH] = tanh,
    [K_TRUNC] = trunc,
};

unary_function *unary_of(enum op_kind k) {
    return unary[k];
}

unary_function *activation_of(struct str name) {
    static const struct {
        const char *name;
        unary_function *f;
    } others[] = {{"gelu_approx", gelu_tanh}, {"gelu_tanh", gelu_tanh}, {"hard_sigmoid", hardsigmoid}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_is(name, others[i].name))
            return others[i].f;
    return unary[op_kind_of_name(name)];
}

/* ---- functions of two numbers ---- */

static double add(double x, double y) {
    return x + y;
}
static double subtract(double x, double y) {
    return x - y;
}
static double multiply(double x, double y) {
    return x * y;
}
static double divide(double x, double y) {
    return x / y;
}
static double maximum(double x, double y) {
    return isnan(x) || x > y ? x : y;
}
static double minimum(double x, double y) {
    return isnan(x) || x < y ? x : y;
}
static double eq(double x, double y) {
    return x == y;
}
static double ne(double x, double y) {
    return x != y;
}
static double ge(double x, double y) {
    return x >= y;
}
static double gt(double x, double y) {
    return x > y;
}
static double le(double x, double y) {
    return x <= y;
}
static double lt(double x, double y) {
    return x < y;
}
static double logical_and(double x, double y) {
    return x != 0 && y != 0;
}
static double logical_or(double x, double y) {
    return x != 0 || y != 0;
}
static double logical_xor(double x, double y) {
    return (x != 0) != (y != 0);
}
/* Takes the sign of the divisor. */
static double remainder_of(double x, double y) {
    double r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
static double bitwise_and(double x, double y) {
    return (double)((int64_t)x & (int64_t)y);
}
static double bitwise_or(double x, double y) {
    return (double)((int64_t)x | (int64_t)y);
}
static double bitwise_xor(double x, double y) {
    return (double)((int64_t)x ^ (int64_t)y);
}
static bool shifts_out(double y) {
    return !(y >= 0 && y < 32);
}
static double shift_left(double x, double y) {
    return shifts_out(y) ? 0 : (double)((uint64_t)(int64_t)x << (int)y & UINT32_MAX);
}
static double shift_right(double x, double y) {
    return shifts_out(y) ? 0 : (double)((uint32_t)(int64_t)x >> (int)y);
}
static double shift_right_signed(double x, double y) {
    return shifts_out(y) ? (x < 0 ? -1 : 0) : floor(ldexp(trunc(x), -(int)y));
}

static binary_function *const binary[K_COUNT] = {
    [K_ADD] = add,
    [K_SUBTRACT] = subtract,
    [K_MULTIPLY] = multiply,
    [K_DIVIDE] = divide,
    [K_POW] = pow,
    [K_MAXIMUM] = maximum,
    [K_MINIMUM] = minimum,
    [K_EQ] = eq,
    [K_NE] = ne,
    [K_GE] = ge,
    [K_GT] = gt,
    [K_LE] = le,
    [K_LT] = lt,
    [K_LOGICAL_AND] = logical_and,
    [K_LOGICAL_OR] = logical_or,
    [K_LOGICAL_XOR] = logical_xor,
    [K_REMAINDER] = remainder_of,
    [K_ATAN2] = atan2,
    [K_BITWISE_AND] = bitwise_and,
    [K_BITWISE_OR] = bitwise_or,
    [K_BITWISE_XOR] = bitwise_xor,
    [K_LOGICAL_LEFT_SHIFT] = shift_left,
    [K_LOGICAL_RIGHT_SHIFT] = shift_right,
    [K_RIGHT_SHIFT] = shift_right_signed,
};

binary_function *binary_of(enum op_kind k) {
    return binary[k];
}

/* ---- evaluators ---- */

const struct tensor *apply_unary(struct bench *b, unary_function *f, const struct tensor *x) {
    struct tensor *t = tensor_new(b, &x->shape);
    for (int64_t i = 0; t && i < t->n; i++)
        t->x[i] = f(x->x[i]);
    return t;
}

const struct tensor *apply_binary(struct bench *b, binary_function *f, const struct tensor *x, const struct tensor *y) {
    struct shape s;
    struct walk w;
    struct tensor *t = shape_broadcast(b, &x->shape, &y->shape, &s) ? tensor_new(b, &s) : NULL;
    if (!t)
        return NULL;
    struct view vx = view_expanded(x, &s), vy = view_expanded(y, &s);
    walk_begin(&w, &s);
    walk_add(&w, &vx);
    walk_add(&w, &vy);
    for (double *out = t->x; walk_more(&w); walk_next(&w))
        *out++ = f(vx.x[w.offset[0]], vy.x[w.offset[1]]);
    return t;
}

/* Bits of an integer type; the operations on bits are done in 64 and wrap. */
static unsigned width_of(enum dtype t) {
    switch (t) {
    case DT_I32:
    case DT_U32:
        return 32;
    case DT_I16:
    case DT_U16:
        return 16;
    case DT_I8:
    case DT_U8:
        return 8;
    default:
        return 0;
    }
}

static double wrapped(double x, enum dtype t) {
    unsigned n = width_of(t);
    if (!n || !isfinite(x))
        return x;
    double size = ldexp(1, (int)n), y = remainder_of(trunc(x), size);
    bool is_signed = t == DT_I32 || t == DT_I16 || t == DT_I8;
    return is_signed && y >= size / 2 ? y - size : y;
}

static bool wraps(enum op_kind k) {
    switch (k) {
    case K_ADD:
    case K_SUBTRACT:
    case K_MULTIPLY:
    case K_NEG:
    case K_BITWISE_NOT:
    case K_BITWISE_AND:
    case K_BITWISE_OR:
    case K_BITWISE_XOR:
    case K_LOGICAL_LEFT_SHIFT:
    case K_LOGICAL_RIGHT_SHIFT:
        return true;
    default:
        return false;
    }
}

static const struct tensor *wrapped_all(struct bench *b, const struct call *c, const struct tensor *t) {
    enum dtype type = result_type(c, 0);
    struct tensor *copy = t && wraps(c->kind) && width_of(type) ? tensor_copy(b, t) : NULL;
    if (!copy)
        return t;
    for (int64_t i = 0; i < copy->n; i++)
        copy->x[i] = wrapped(copy->x[i], type);
    return copy;
}

/* The second operand, or the attribute that is printed in its place. */
static const struct tensor *operand_or_attribute(struct bench *b, const struct call *c, uint32_t i, const char *key) {
    double value = 0;
    if (operand(c, i))
        return operand(c, i);
    return attr_needed(b, c, key) && attr_number(b, c, key, &value) ? tensor_scalar(b, value) : NULL;
}

bool evaluate_elementwise(struct bench *b, const struct call *c, const struct tensor **out) {
    if (!operands_needed(b, c, 1))
        return false;
    if (unary[c->kind]) {
        *out = wrapped_all(b, c, apply_unary(b, unary[c->kind], operand(c, 0)));
        return *out != NULL;
    }
    const struct tensor *y = operand_or_attribute(b, c, 1, "rhs");
    *out = y ? wrapped_all(b, c, apply_binary(b, binary[c->kind], operand(c, 0), y)) : NULL;
    return *out != NULL;
}

/* Integers are divided toward zero; there is no quotient by 0. */
bool evaluate_divide(struct bench *b, const struct call *c, const struct tensor **out) {
    const struct tensor *y = operand(c, 1);
    for (int64_t i = 0; y && format_is_integer(result_type(c, 0)) && i < y->n; i++)
        if (y->x[i] == 0)
            return bench_fail(b, "an integer is divided by 0");
    return evaluate_elementwise(b, c, out);
}

bool evaluate_where(struct bench *b, const struct call *c, const struct tensor **out) {
    struct shape s;
    struct walk w;
    if (!operands_needed(b, c, 3))
        return false;
    const struct tensor *t[3] = {operand(c, 0), operand(c, 1), operand(c, 2)};
    if (!shape_broadcast(b, &t[0]->shape, &t[1]->shape, &s) || !shape_broadcast(b, &s, &t[2]->shape, &s))
        return false;
    struct tensor *r = tensor_new(b, &s);
    if (!r)
        return false;
    walk_begin(&w, &s);
    for (int i = 0; i < 3; i++) {
        struct view v = view_expanded(t[i], &s);
        walk_add(&w, &v);
    }
    for (double *x = r->x; walk_more(&w); walk_next(&w))
        *x++ = t[0]->x[w.offset[0]] != 0 ? t[1]->x[w.offset[1]] : t[2]->x[w.offset[2]];
    *out = r;
    return true;
}

bool evaluate_clamp(struct bench *b, const struct call *c, const struct tensor **out) {
    if (!operands_needed(b, c, 1))
        return false;
    const struct tensor *low = operand_or_attribute(b, c, 1, "min"), *high = operand_or_attribute(b, c, 2, "max");
    const struct tensor *x = low && high ? apply_binary(b, maximum, operand(c, 0), low) : NULL;
    *out = x ? apply_binary(b, minimum, x, high) : NULL;
    return *out != NULL;
}

bool evaluate_leaky_relu(struct bench *b, const struct call *c, const struct tensor **out) {
    double slope = 0;
    if (!operands_needed(b, c, 1) || !attr_needed(b, c, "parameter") || !attr_number(b, c, "parameter", &slope))
        return false;
    struct tensor *t = tensor_copy(b, operand(c, 0));
    for (int64_t i = 0; t && i < t->n; i++)
        t->x[i] *= t->x[i] < 0 ? slope : 1;
    *out = t;
    return t != NULL;
}

bool evaluate_selu(struct bench *b, const struct call *c, const struct tensor **out) {
    double scale = 1.0507009873390197, alpha = 1.6732635498046875;
    if (!operands_needed(b, c, 1) || !attr_number(b, c, "scale", &scale) || !attr_number(b, c, "alpha", &alpha))
        return false;
    struct tensor *t = tensor_copy(b, operand(c, 0));
    for (int64_t i = 0; t && i < t->n; i++)
        t->x[i] = scale * (t->x[i] > 0 ? t->x[i] : alpha * (exp(t->x[i]) - 1));
    *out = t;
    return t != NULL;
}

static double gelu_slope(double x) {
    return 0.5 * (1 + erf(x * M_SQRT1_2)) + x * exp(-x * x / 2) / sqrt(2 * M_PI);
}

static double gelu_tanh_slope(double x) {
    double k = sqrt(2 / M_PI), t = tanh(k * (x + 0.044715 * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x);
}

bool evaluate_gelu_bw(struct bench *b, const struct call *c, const struct tensor **out) {
    struct str how = STR("");
    if (!operands_needed(b, c, 2))
        return false;
    attr_text(c, "approximate", &how);
    const struct tensor *slope =
        apply_unary(b, str_find(how, STR("tanh")) ? gelu_tanh_slope : gelu_slope, operand(c, 1));
    *out = slope ? apply_binary(b, multiply, operand(c, 0), slope) : NULL;
    return *out != NULL;
}

/* ---- quantized numbers ---- */

static double rounded_quotient(double x, double scale) {
    return rint(x / scale);
}

static double kept_in_byte(double x) {
    return x < -128 ? -128 : x > 127 ? 127 : x;
}

/* One scale and one zero point for the whole tensor. */
static bool one_scale(struct bench *b, const struct call *c) {
    if (!operands_needed(b, c, 3))
        return false;
    return (operand(c, 1)->n == 1 && operand(c, 2)->n == 1) ||
           bench_fail(b, "%s: a scale for each channel", op_table[c->kind].name);
}

static const struct tensor *one_number(struct bench *b, const struct call *c, uint32_t i) {
    return tensor_scalar(b, operand(c, i)->x[0]);
}

/* round(x / scale) + zero, as a signed byte. */
bool evaluate_quantize(struct bench *b, const struct call *c, const struct tensor **out) {
    if (!one_scale(b, c))
        return false;
    const struct tensor *t = apply_binary(b, rounded_quotient, operand(c, 0), one_number(b, c, 1));
    t = t ? apply_binary(b, add, t, one_number(b, c, 2)) : NULL;
    *out = t ? apply_unary(b, kept_in_byte, t) : NULL;
    return *out != NULL;
}

/* (q - zero) * scale */
bool evaluate_dequantize(struct bench *b, const struct call *c, const struct tensor **out) {
    if (!one_scale(b, c))
        return false;
    const struct tensor *t = apply_binary(b, subtract, operand(c, 0), one_number(b, c, 2));
    *out = t ? apply_binary(b, multiply, t, one_number(b, c, 1)) : NULL;
    return *out != NULL;
}
