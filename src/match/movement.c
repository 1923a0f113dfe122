/* Values seen through movement, for the search and for conditions: which ops are movement, and how index maps go
 * through one, graph/ decides. And the comparison of a constant with a number of a formula, up to the rounding of the
 * formats that the constant went through. */
#include "match/movement.h"

#include <math.h>

enum { PRINTED_BITS = 16 }; /* of a number that people print: 0.166667 is 1/6 */

uint32_t movement_chain(const struct graph *g, uint32_t value, const struct imap *map, struct link *out, uint32_t max) {
    uint32_t n = 0;
    out[n].value = value;
    out[n].op = NONE;
    imap_copy(&out[n].map, map);
    imap_canonical(&out[n++].map);
    while (n < max) {
        uint32_t op = g->m->values[out[n - 1].value].def;
        if (op == NONE || !graph_looks_through(g, op) || !imap_through(g, op, &out[n - 1].map, &out[n].map))
            break;
        imap_canonical(&out[n].map);
        out[n].value = graph_through(g, op);
        out[n++].op = op;
    }
    return n;
}

uint32_t movement_source(const struct graph *g, uint32_t value) {
    uint32_t op = g->m->values[value].def;
    for (int n = 0; n < MAX_CHAIN && op != NONE && graph_looks_through(g, op); n++) {
        value = graph_through(g, op);
        op = g->m->values[value].def;
    }
    return value;
}

uint32_t movement_result(const struct graph *g, uint32_t value) {
    for (int n = 0; n < MAX_CHAIN && graph_nuses(g, value) == 1; n++) {
        uint32_t user = g->uses[g->first_use[value]];
        if (!graph_looks_through(g, user))
            break;
        value = g->m->ops[user].first_result;
    }
    return value;
}

/* The term of stride 1 tells which axis is innermost. */
bool last_axis_innermost(const struct imap *map, const struct axes *axes) {
    struct imap last;
    axes_axis(axes, -1, &last);
    for (uint32_t i = 0; i < map->n; i++)
        if (map->t[i].stride == 1)
            return imap_within(&(struct imap){1, {map->t[i]}}, &last);
    return true;
}

/* Half a unit in the last place of the narrowest format on the constant's way, doubled for a computation in between;
 * and never less than what people leave out when they print a number. */
bool close_to(double actual, double expected, int bits) {
    if (actual == expected)
        return true;
    double tolerance = ldexp(1, bits < 1 + PRINTED_BITS ? 1 - bits : -PRINTED_BITS);
    return isfinite(actual) && isfinite(expected) && fabs(actual - expected) <= fabs(expected) * tolerance;
}

static double rounded(double x, int bits) {
    int exponent;
    double fraction = frexp(x, &exponent);
    return ldexp(nearbyint(ldexp(fraction, bits)), exponent - bits);
}

/* In a narrow format 1/199 and 1/200 may be one number within its error. Where the constant is printed with more digits
 * than the format has, it has to be the right one; else both have to round to the same number of the format. */
bool count_close_to(double actual, double expected, double count, int bits) {
    if (!isfinite(actual) || !isfinite(expected))
        return false;
    double near = fmin(ldexp(1, -PRINTED_BITS), 1 / (16 * count));
    if (fabs(actual - expected) <= fabs(expected) * near)
        return true;
    if (bits < 8) /* a shared exponent: what it rounds to depends on other elements */
        return fabs(actual - expected) <= fabs(expected) * ldexp(1, -bits);
    double kept = rounded(actual, bits);
    return fabs(actual - kept) <= fabs(kept) * near && kept == rounded(expected, bits);
}
