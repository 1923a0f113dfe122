/* The numbers at which a match does something else: what it compares with, clamps to or takes the remainder of, and the
 * small ones that it adds. Random numbers hardly ever come near them. */
#include "prove/numbers.h"
#include "reduce/subgraph.h"

#include <math.h>

static const double small = 1e-3, far = 1e18; /* an epsilon is at most that; squares of what is more are no f32 */

static void add_limit(struct limits *l, double x) {
    for (uint32_t i = 0; i < l->n; i++)
        if (l->at[i] == x)
            return;
    if (fabs(x) > small && fabs(x) < far && l->n < MAX_LIMITS)
        l->at[l->n++] = x;
}

static void add_small(struct limits *l, double x) {
    if (x > 0 && x <= small && (l->epsilon == 0 || x < l->epsilon))
        l->epsilon = x;
}

static void add_attribute(const struct graph *g, uint32_t op, const char *key, struct limits *l) {
    struct str text;
    double x;
    if (!mlir_attr(g->m, op, key, &text) || !mlir_float(text, &x))
        return;
    if (is_piecewise((enum op_kind)g->kind[op]))
        add_limit(l, x);
    add_small(l, x);
}

static void limits_of_op(const struct graph *g, uint32_t op, struct limits *l) {
    enum op_kind k = (enum op_kind)g->kind[op];
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        struct constant c = operand_constant(g, graph_operands(g, op)[i]);
        if (c.known && is_piecewise(k))
            add_limit(l, c.value);
        if (c.known && (k == K_ADD || k == K_MAXIMUM))
            add_small(l, c.value);
    }
    if (k == K_CLAMP) {
        add_attribute(g, op, "min", l);
        add_attribute(g, op, "max", l);
    }
    add_attribute(g, op, "epsilon", l);
}

/* A limit of what is multiplied with a number or divided by one is that of the operand times the number or by it. */
static void scaled_limits(const struct graph *g, uint32_t op, struct limits *l) {
    uint32_t n = l->n;
    if (g->kind[op] != K_MULTIPLY && g->kind[op] != K_DIVIDE)
        return;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        struct constant c = operand_constant(g, graph_operands(g, op)[i]);
        for (uint32_t k = 0; k < n && c.known && c.value != 0 && fabs(c.value) != 1; k++) {
            add_limit(l, l->at[k] / c.value);
            add_limit(l, l->at[k] * c.value);
        }
    }
}

bool limits_is_index(const struct proof *p, uint32_t value, int depth) {
    enum { DEEP = 8 };
    const struct graph *g = p->match->graph;
    bool found = false;
    if (!format_is_integer(graph_dtype(g, value)) || graph_dtype(g, value) == DT_I1)
        return false;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && depth < DEEP && !found; u++)
        if (proof_evaluates(p, g->uses[u]))
            found = graph_class(g, g->uses[u]) == OP_OPAQUE ||
                    limits_is_index(p, g->m->ops[g->uses[u]].first_result, depth + 1);
    return found;
}

struct limits limits_find(const struct proof *p) {
    struct limits l = {0};
    for (uint32_t i = 0; i < p->ninside; i++)
        limits_of_op(p->match->graph, p->inside[i], &l);
    for (uint32_t i = 0; i < p->ninside; i++)
        scaled_limits(p->match->graph, p->inside[i], &l);
    for (uint32_t i = 0; i < p->nleaves; i++) {
        enum dtype t = graph_dtype(p->match->graph, p->leaves[i].value);
        l.integers |= format_is_integer(t) && t != DT_I1 && !p->leaves[i].truth && !p->leaves[i].index;
    }
    return l;
}

static bool is_unsigned(enum dtype t) {
    return t == DT_U64 || t == DT_U32 || t == DT_U16 || t == DT_U8 || t == DT_INDEX;
}

/* Some of each: the limit itself, beside it, and far beyond on either side. */
static double near_limit(double limit, double a, double b) {
    return a < 0.4 ? limit : a < 0.7 ? limit * (0.5 + b) : limit * (16 * b - 8);
}

double limits_number(const struct limits *l, enum dtype type, double otherwise, const double u[3]) {
    enum { WIDE = 16, BELOW = 5 };
    double x = otherwise;
    if (l->n && u[0] < 0.5)
        x = near_limit(l->at[(uint32_t)(2 * u[0] * l->n)], u[1], u[2]);
    else if (format_is_integer(type))
        x = floor(u[1] * WIDE) - BELOW;
    if (format_is_integer(type) && is_unsigned(type))
        x = fabs(x);
    x = format_round(x, type, ROUND_EVEN);
    return isfinite(x) ? x : otherwise;
}
