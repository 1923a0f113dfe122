/* Rounding to number formats (sources: format.h). Floats are rounded in doubles: x is divided by the distance of its
 * neighbours, rounded to a whole number and multiplied again. Block floats are rounded on the bits of an f32, as the
 * converters of host and packer do it. */
#include "proof/value/format.h"

#include <math.h>

/* NULL: no float, or one that holds every double. */
static const struct dtype_info *float_format(enum dtype t) {
    return format_is_float(t) && t != DT_F64 ? &dtype_table[t] : NULL;
}

/* To a whole number. */
static double whole(double q, enum rounding r) {
    return r == ROUND_PACKER ? round(q) : r == ROUND_EVEN ? rint(q) : trunc(q);
}

/* 2^e of a normal double, made of its bits: ldexp is a tenth of a proof. */
static double power_of_two(int e) {
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Exponent of the last significant bit of the format at x. A subnormal double is far below the smallest number of any
 * format. */
static int step_exponent(double x, const struct dtype_info *f) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int e = (int)(bits >> 52 & 0x7ff) - 1023;
    return (e < f->emin ? f->emin : e) - (f->precision - 1);
}

static double round_float(double x, const struct dtype_info *f, enum rounding r) {
    if (isnan(x) || isinf(x) || x == 0)
        return x;
    int step = step_exponent(x, f);
    double v = whole(x * power_of_two(-step), r) * power_of_two(step);
    if (fabs(v) < power_of_two(f->emax + 1))
        return v;
    return copysign(r == ROUND_TRUNCATE ? ldexp(1, f->emax + 1) - ldexp(1, f->emax + 1 - f->precision) : INFINITY, x);
}

/* Dst, the register file that the packer reads, holds an f32; denormals are flushed. */
static double in_dst(double x) {
    double v = (double)(float)x;
    return fabs(v) < 0x1p-126 ? 0 : v;
}

/* An f32 as bf16, which is its upper half; not a NaN. */
static double upper_half(float x, enum rounding r) {
    uint32_t w;
    memcpy(&w, &x, sizeof w);
    if (!isinf(x))
        w += r == ROUND_PACKER ? 0x8000 : r == ROUND_EVEN ? 0x7fff + (w >> 16 & 1) : 0;
    w &= 0xffff0000u;
    memcpy(&x, &w, sizeof x);
    return x;
}

static double pack_float(double x, enum dtype t, const struct dtype_info *f, enum rounding r) {
    double v = in_dst(x);
    if (isnan(v) && t == DT_BF16 && r == ROUND_PACKER)
        return signbit(x) ? -INFINITY : INFINITY;
    if (fabs(v) < power_of_two(f->emin))
        return 0;
    if (t == DT_BF16 && !isnan(v))
        return upper_half((float)v, r);
    return t == DT_F32 ? v : round_float(v, f, r);
}

static double round_int(double x, enum dtype t) {
    if (t == DT_I1)
        return x != 0;
    double v = isnan(x) ? 0 : trunc(x), end = power_of_two(dtype_table[t].bits - dtype_table[t].is_signed);
    double low = dtype_table[t].is_signed ? -end : 0, high = end - 1;
    return v < low ? low : v > high ? high : v + 0.0;
}

/* A number as sign, exponent (biased by 127) and 24 bits of mantissa with the leading one. */
struct bits {
    uint32_t mantissa;
    int exponent;
    bool minus;
};

static struct bits bits_of(double x) {
    float f = (float)x;
    uint32_t w;
    memcpy(&w, &f, sizeof w);
    struct bits b = {(w & 0x7fffff) | 0x800000, (int)(w >> 23 & 255), w >> 31};
    if (b.exponent == 0)
        b.mantissa = 0;
    return b;
}

/* v / 2^n, rounded: ties to even (ROUND_EVEN) or up (ROUND_PACKER), or truncated. */
static uint32_t drop_bits(uint32_t v, int n, enum rounding r) {
    if (n <= 0)
        return v;
    if (n > 31)
        return 0;
    uint32_t half = 1u << (n - 1), kept = v >> n, rest = v & ((1u << n) - 1);
    if (r == ROUND_TRUNCATE || rest < half)
        return kept;
    return rest > half || r == ROUND_PACKER ? kept + 1 : kept + (kept & 1);
}

static uint32_t at_most(uint32_t v, int bits) {
    uint32_t most = (1u << bits) - 1;
    return v < most ? v : most;
}

/* Mantissa under a shared exponent. The host truncates the bits that the alignment shifts out and rounds the rest; the
 * packer rounds once, to 7 bits, and truncates that for narrower formats. */
static uint32_t magnitude(struct bits b, int shared, int bits, enum rounding r) {
    int down = shared - b.exponent;
    if (r == ROUND_PACKER)
        return at_most(drop_bits(b.mantissa, 17 + down, r), 7) >> (7 - bits);
    uint32_t aligned = down > 31 ? 0 : b.mantissa >> down;
    return at_most(drop_bits(aligned, 24 - bits, r), bits);
}

static void round_block(double *x, size_t n, int bits, enum rounding r) {
    int shared = 0;
    struct bits b[BLOCK];
    for (size_t i = 0; i < n; i++) {
        b[i] = bits_of(r == ROUND_PACKER ? pack_float(x[i], DT_BF16, &dtype_table[DT_BF16], r) : x[i]);
        shared = b[i].exponent > shared ? b[i].exponent : shared;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t m = magnitude(b[i], shared, bits, r);
        double v = ldexp(m, shared - 127 - (bits - 1));
        if (v >= 0x1p128)
            v = INFINITY;
        x[i] = m && b[i].minus ? -v : v;
    }
}

double format_round(double x, enum dtype t, enum rounding r) {
    const struct dtype_info *f = float_format(t);
    if (format_is_block(t))
        round_block(&x, 1, f->precision, r);
    else if (f && r != ROUND_EVEN)
        return pack_float(x, t, f, r);
    else if (t == DT_F32)
        return (float)x;
    else if (t == DT_BF16 && x == (float)x)
        return upper_half((float)x, r);
    else if (f)
        return round_float(x, f, r);
    return format_is_integer(t) ? round_int(x, t) : x;
}

void format_round_row(double *x, size_t n, enum dtype t, enum rounding r) {
    const struct dtype_info *f = float_format(t);
    if (format_is_block(t))
        round_block(x, n, dtype_table[t].precision, r);
    else
        for (size_t i = 0; i < n; i++)
            x[i] = f && r != ROUND_EVEN ? pack_float(x[i], t, f, r) : format_round(x[i], t, r);
}

/* The low half of a product, which as a whole has more bits than a double. */
static double low_product(double x, double y) {
    return (double)(uint32_t)((uint64_t)whole_of(x) * (uint64_t)whole_of(y));
}

binary_function *format_product(enum dtype t) {
    return format_is_integer(t) && t != DT_I1 && dtype_table[t].bits <= 32 ? low_product : binary_MULTIPLY;
}

double format_ulp(double x, enum dtype t) {
    const struct dtype_info *f = float_format(t);
    if (isnan(x) || isinf(x) || (!f && !format_is_integer(t)))
        return NAN;
    return f ? ldexp(1, step_exponent(x, f)) : 1;
}

double format_unpack(double x, enum dtype t) {
    const struct dtype_info *to = &dtype_table[t == DT_F32 || t == DT_TF32 ? DT_TF32 : DT_BF16];
    uint64_t bits;
    if (fabs(x) < 0x1p-126)
        return 0;
    if (!(fabs(x) < 0x1p128))
        return round_float(x, to, ROUND_TRUNCATE);
    memcpy(&bits, &x, sizeof bits); /* of a number in their range the other bits are dropped */
    bits &= ~(((uint64_t)1 << (53 - to->precision)) - 1);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Neither storing nor unpacking changes it: it is a bf16, and no denormal. */
static bool stays(double x, enum dtype t) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint64_t exponent = bits >> 52 & 0x7ff;
    bool fits = !(bits << (64 - 45)) && exponent >= 1023 - 126 && exponent <= 1023 + 127;
    return (t == DT_BF16 || t == DT_F32) && (fits || bits == 0);
}

static double without_bits(double x, uint64_t mask) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= ~mask;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* As SrcASrcB.md has it: of SrcA the high part is the leading one and four bits, the low part the next five; of SrcB
 * the leading one and six bits, and the next four. Of a double they are the highest of the 52 behind the leading one.
 */
void format_source_row(const double *x, size_t n, enum dtype t, bool stored, bool a, double *high, double *low) {
    uint64_t not_high = ((uint64_t)1 << (a ? 48 : 46)) - 1, rest = ((uint64_t)1 << (a ? 43 : 42)) - 1;
    for (size_t i = 0; i < n; i++)
        high[i] = stays(x[i], t)
                      ? x[i]
                      : format_unpack(stored && !format_is_block(t) ? format_round(x[i], t, ROUND_PACKER) : x[i], t);
    for (size_t i = 0; i < n; i++) {
        low[i] = high[i] - without_bits(high[i], not_high & ~rest);
        high[i] = without_bits(high[i], not_high);
    }
}
