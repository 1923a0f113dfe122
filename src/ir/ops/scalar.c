/* The functions of one and of two numbers in ops.def, by operator and by the names that attributes use.
 *
 * GELU is the exact form; its tanh approximation is that of Hendrycks and Gimpel (2016). A NaN operand makes the result
 * of RELU, SIGN, MAXIMUM and MINIMUM a NaN. REMAINDER has the sign of the divisor, as in NumPy. Bits are those of
 * 64-bit integers, shifts are of 32-bit ones: every bit is gone after 32. */
#include "ir/ops/scalar.h"

#include <math.h>
#include <string.h>

double round_to_bits(double x, int bits) {
    int exponent;
    double fraction = frexp(x, &exponent);
    return ldexp(nearbyint(ldexp(fraction, bits)), exponent - bits);
}

int64_t whole_of(double x) {
    return isnan(x) ? 0 : x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : (int64_t)x;
}

/* A NaN stays one. */
static double at_least(double x, double low) {
    return isnan(x) || x > low ? x : low;
}
static double at_most(double x, double high) {
    return isnan(x) || x < high ? x : high;
}
static double remainder_of(double x, double y) {
    double r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
static bool shifts_out(double y) {
    return !(y >= 0 && y < 32);
}
static double gelu_tanh(double x) {
    return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

#define UNARY(id, value)                                                                                               \
    double unary_##id(double x) {                                                                                      \
        return value;                                                                                                  \
    }
#define BINARY(id, value)                                                                                              \
    double binary_##id(double x, double y) {                                                                           \
        return value;                                                                                                  \
    }
#include "ir/ops/ops.def"

static unary_function *const unary[OPERATORS] = {
#define UNARY(id, value) [K_##id] = unary_##id,
#include "ir/ops/ops.def"
};

static binary_function *const binary[OPERATORS] = {
#define BINARY(id, value) [K_##id] = binary_##id,
#include "ir/ops/ops.def"
};

unary_function *unary_of(enum op_kind k) {
    return unary[k];
}

binary_function *binary_of(enum op_kind k) {
    return binary[k];
}

bool is_comparison(binary_function *f) {
    return f == binary_EQ || f == binary_NE || f == binary_LT || f == binary_LE || f == binary_GT || f == binary_GE;
}

unary_function *activation_of(struct str name) {
    if (str_is(name, "gelu_approx") || str_is(name, "gelu_tanh"))
        return gelu_tanh;
    return str_is(name, "hard_sigmoid") ? unary_HARDSIGMOID : unary[op_kind_of_name(name)];
}

const char *const activation_keys[] = {"activation", "matmul_program_config", "conv2d_config", NULL};
const char *const activation_numbers[] = {"parameter", "min", "max", "rhs", NULL};

/* The name in "relu", in "#ttnn.unary_with_param<op_type = relu>", or in a program or convolution config that has an
 * activation of one of these forms. */
struct str activation_name(const char *key, struct str text) {
    static const char *const before[] = {"fused_activation", "activation", "op_type"};
    struct str word;
    if (key != activation_keys[0] && !str_find_word(text, str_of(before[0])) && !str_find_word(text, str_of(before[1])))
        return STR("");
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        const char *p = str_find_word(text, str_of(before[i]));
        if (p)
            text = (struct str){p + strlen(before[i]), (size_t)(text.p + text.n - p) - strlen(before[i])};
    }
    while (text.n && strchr(" =<\"", text.p[0]))
        text.p++, text.n--;
    for (word = (struct str){text.p, 0}; word.n < text.n && !strchr(" ,>\"}", text.p[word.n]);)
        word.n++;
    return word;
}
