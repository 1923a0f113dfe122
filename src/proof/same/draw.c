#include "proof/same/draw.h"

#include <math.h>

static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* In [0, 1). */
static double unit(uint64_t bits) {
    return (double)(bits >> 11) * 0x1p-53;
}

static double plain(const struct drawing_numbers *d, uint64_t row, uint64_t bits) {
    double x = 2 * unit(bits) - 1;
    x *= mix(bits) % 8 ? 1 : 8;
    if (d->kind == DRAW_POSITIVE || d->kind == DRAW_NEGATIVE)
        return (d->kind == DRAW_POSITIVE ? 1 : -1) * (0.01 + fabs(x));
    if (d->kind == DRAW_COARSE)
        return floor(unit(bits) * 9) - 4;
    return row % 16 == 0 ? 0 : row % 4 == 1 ? 3 * x : x;
}

static double number(const struct drawing_numbers *d, const struct lazy *l, uint64_t row, uint64_t bits) {
    bool own = d->input == l->input;
    if (d->kind == DRAW_ZERO && own)
        return 0;
    if (!format_is_float(l->type))
        return unit(bits) < 0.5;
    if (d->kind == DRAW_BENDS && own && bits % 4)
        return d->bend;
    if (d->kind == DRAW_NAN && own && bits % 4 == 0)
        return NAN;
    double x = plain(d, row, bits);
    static const double sizes[] = {1,    1e-2,  1e-3,  1e-4,  1e-5,  1e-6,  1e-7,  1e-8,
                                   1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 0.1};
    return d->kind == DRAW_SMALL && own ? x * sizes[mix(row) % 16] : x;
}

void draw_numbers(const void *self, const struct lazy *input, int64_t from, int64_t n, double *out) {
    const struct drawing_numbers *d = self;
    const struct shape *s = &input->shape;
    int64_t size = s->rank && s->dim[s->rank - 1] > 1 ? s->dim[s->rank - 1] : 1;
    uint64_t seed = mix(d->seed * 0x632be59bd9b4e019u + input->input + 1);
    for (int64_t i = 0; i < n; i++)
        out[i] = number(d, input, mix(seed ^ (uint64_t)((from + i) / size)), mix(seed + 3 * (uint64_t)(from + i)));
}
