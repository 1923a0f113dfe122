/* Compares a constant with functions of the extents of its module and with the numbers of the pattern: it means one of
 * these where it is that number rounded to the narrowest format that the constant went through. */
#include "proof/reduce/scale_constant.h"

#include <math.h>

#include "patterns/lang/number.h"

static double no_literal(void *depends, const struct number *n) {
    (void)n;
    *(bool *)depends = true;
    return NAN;
}

/* The value of a number of the formula that depends on no operand. */
static bool literal(const struct number *n, double *out) {
    bool depends = false;
    *out = number_evaluate(n, no_literal, &depends);
    return !depends;
}

static bool add_literal(const struct node *n, void *context) {
    struct constant_meanings *m = context;
    if (n->kind == N_NUMBER && m->nliterals < MAX_LITERALS && literal(n->number, &m->literals[m->nliterals]))
        m->nliterals++;
    return false;
}

double scaled_numel(const struct graph *g, const struct extents *e, uint32_t value) {
    uint32_t rank;
    const int64_t *dims = graph_shape(g, value, &rank);
    double n = 1;
    for (uint32_t d = 0; dims && d < rank; d++)
        n *= (double)extent_to(e, dims[d]);
    return n;
}

/* Elements that a reduction takes for one result; 0: it is none. */
static double reduced_by(const struct graph *g, uint32_t op) {
    bool reduces = graph_class(g, op) == OP_REDUCE && g->m->ops[op].nresults == 1;
    return reduces
               ? (double)graph_numel(g, graph_operands(g, op)[0]) / (double)graph_numel(g, g->m->ops[op].first_result)
               : 0;
}

static void find_reduced(struct constant_meanings *m, const struct subgraph *s) {
    const struct graph *g = s->graph;
    for (uint32_t i = 0; i < s->nops && m->nreduced < MAX_REDUCED; i++) {
        uint32_t op = s->ops[i];
        if (reduced_by(g, op) == 0)
            continue;
        uint32_t x = graph_operands(g, op)[0], y = g->m->ops[op].first_result;
        m->reduced[m->nreduced][0] = reduced_by(g, op);
        m->reduced[m->nreduced++][1] = scaled_numel(g, m->extents, x) / scaled_numel(g, m->extents, y);
    }
}

void constant_meanings(struct constant_meanings *out, const struct subgraph *s, const struct extents *e, bool scaled) {
    *out = (struct constant_meanings){.extents = e, .scaled = scaled};
    find_reduced(out, s);
}

/* The largest rounding error of x in a constant whose narrowest format had `bits` significant bits: half a unit of the
 * last place there, plus half a unit of the f32 that it was printed in before (2^-24 relative). Below 8 bits the format
 * is a block float, whose exponent is shared with larger elements: there the error is taken to be 2^-bits relative. */
static double rounding_error(double x, int bits) {
    enum { BLOCK_FLOAT = 8, PRINTED = 24 };
    int exponent;
    bits = bits > PRINTED ? PRINTED : bits;
    frexp(x, &exponent);
    return bits < BLOCK_FLOAT ? fabs(x) * ldexp(1, -bits)
                              : ldexp(1, exponent - 1 - bits) + fabs(x) * ldexp(1, -PRINTED);
}

static bool is_rounded(double c, double exact, int bits) {
    return c == exact ||
           (exact != 0 && isfinite(c) && isfinite(exact) && fabs(c - exact) <= rounding_error(exact, bits));
}

/* The constant is one of these functions of an extent n, up to its sign; then *out is that function of `to`. They are
 * what means, variances (n - 1) and the scales of attention (1 / sqrt(n), also split between both operands) use. A 2 is
 * an exponent, and 0.5 a half, more often than a root of 4 or 16 or made of 3. */
static bool is_function_of(double c, int bits, double n, double to, double *out) {
    const double forms[][2] = {{n, to},
                               {1 / n, 1 / to},
                               {sqrt(n), sqrt(to)},
                               {1 / sqrt(n), 1 / sqrt(to)},
                               {n - 1, to - 1},
                               {1 / (n - 1), 1 / (to - 1)},
                               {sqrt(sqrt(n)), sqrt(sqrt(to))},
                               {1 / sqrt(sqrt(n)), 1 / sqrt(sqrt(to))}};
    bool common = fabs(c) == 2 || fabs(c) == 0.5;
    for (size_t i = 0; n > 1 && i < sizeof forms / sizeof *forms; i++)
        if ((!common || i < 2) && is_rounded(fabs(c), forms[i][0], bits)) {
            *out = copysign(forms[i][1], c);
            return true;
        }
    return false;
}

/* False: it is none of an extent. */
static bool scale(const struct constant_meanings *m, struct constant c, double *out) {
    bool found = false;
    for (uint32_t i = 0; !found && i < m->nreduced; i++)
        found = is_function_of(c.value, c.bits, m->reduced[i][0], m->reduced[i][1], out);
    for (uint32_t i = m->extents->n; !found && i-- > 0;)
        found = is_function_of(c.value, c.bits, (double)m->extents->from[i], (double)m->extents->to[i], out);
    return found;
}

static bool is_plain(double x) {
    return x == 0 || fabs(x) == 1 || !isfinite(x);
}

bool constant_follows(const struct constant_meanings *m, struct constant c) {
    double out;
    return !is_plain(c.value) && scale(m, c, &out);
}

bool constant_follows_extent(const struct constant_meanings *m, struct constant c, int64_t extent) {
    double out, n = (double)extent;
    bool follows = is_function_of(c.value, c.bits, n, n, &out);
    for (uint32_t i = 0; i < m->nreduced && !follows; i++)
        follows =
            fmod(m->reduced[i][0], n) == 0 && is_function_of(c.value, c.bits, m->reduced[i][0], m->reduced[i][1], &out);
    return !is_plain(c.value) && follows;
}

double scaled_constant(const struct constant_meanings *m, struct constant c) {
    double out;
    if (is_plain(c.value))
        return c.value;
    if (m->scaled && scale(m, c, &out))
        return out;
    for (uint32_t i = 0; i < m->nliterals; i++)
        if (is_rounded(c.value, m->literals[i], c.bits))
            return m->literals[i];
    return c.value;
}

/* A function of an extent of an operand. */
static bool is_of_extent(const struct graph *g, uint32_t op, struct constant c, double *out) {
    bool found = false;
    for (uint32_t k = 0; k < graph_noperands(g, op); k++) {
        uint32_t rank = 0, v = graph_operands(g, op)[k];
        const int64_t *dims = v == NONE ? NULL : graph_shape(g, v, &rank);
        for (uint32_t d = 0; dims && d < rank && !found; d++)
            found = is_function_of(c.value, c.bits, (double)dims[d], (double)dims[d], out);
    }
    return found;
}

double meant_constant(const struct graph *g, const uint32_t *ops, uint32_t nops, const struct pattern *pattern,
                      struct constant c) {
    struct constant_meanings m = {.nliterals = 0};
    double out = c.value;
    bool found = is_plain(c.value);
    for (uint32_t i = 0; i < nops && !found; i++)
        found = is_function_of(c.value, c.bits, reduced_by(g, ops[i]), reduced_by(g, ops[i]), &out);
    for (uint32_t i = 0; i < nops && !found; i++)
        found = is_of_extent(g, ops[i], c, &out);
    if (found)
        return out;
    formula_find(pattern->is_variant ? &pattern->variant_of->formula : &pattern->formula, add_literal, &m);
    return scaled_constant(&m, c);
}
