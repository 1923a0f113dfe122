/* Finds inputs that hide scores from a softmax, by what the matched ops do with them and not by their names: a value
 * that is added to the operand of a softmax, and the condition of a choice between scores and a large negative number.
 */
#include "prove/reference.h"

enum { MAX_DEPTH = 16 };

static const double low = -10000; /* the bound that patterns use: exp(-10000) is 0 in f64, too */

static bool keeps_elements(const struct graph *g, uint32_t op) {
    return class_moves(graph_class(g, op));
}

static bool is_low(const struct graph *g, uint32_t value) {
    struct constant c = graph_constant(g, value);
    return c.known && c.value <= low;
}

/* ---- conditions ---- */

static enum predicate_use negated(enum predicate_use c) {
    return c == PREDICATE_HIDES_FALSE ? PREDICATE_HIDES_TRUE : c == PREDICATE_HIDES_TRUE ? PREDICATE_HIDES_FALSE : c;
}

static enum predicate_use use_of_where(const struct graph *g, uint32_t op) {
    const uint32_t *v = graph_operands(g, op);
    return is_low(g, v[1]) ? PREDICATE_HIDES_TRUE : is_low(g, v[2]) ? PREDICATE_HIDES_FALSE : PREDICATE_SELECTS;
}

static enum predicate_use predicate_use_at(const struct reference *r, uint32_t value, int depth) {
    const struct graph *g = reference_graph(r);
    enum predicate_use found = PREDICATE_NONE;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && depth < MAX_DEPTH && !found; u++) {
        uint32_t op = g->uses[u], result = g->m->ops[op].first_result;
        enum op_kind k = (enum op_kind)g->kind[op];
        bool logical = k == K_LOGICAL_NOT || k == K_LOGICAL_AND || k == K_LOGICAL_OR;
        if (!reference_evaluates(r, op))
            continue;
        if (k == K_WHERE && graph_operands(g, op)[0] == value)
            found = use_of_where(g, op);
        else if (logical || keeps_elements(g, op))
            found = predicate_use_at(r, result, depth + 1);
        if (k == K_LOGICAL_NOT)
            found = negated(found);
        if (logical && !found)
            found = PREDICATE_SELECTS;
    }
    return found;
}

enum predicate_use predicate_use_of(const struct reference *r, uint32_t value) {
    return predicate_use_at(r, value, 0);
}

/* ---- additive masks ---- */

/* What became of an input on the way to a softmax. */
struct score_path {
    int sign;   /* 1: it raises the scores, -1: it lowers them */
    bool added; /* it is one term of a sum, so it does not make the scores alone */
    int depth;
};

/* Exponentials are summed, as those of a decomposed softmax are. */
static bool is_summed(const struct reference *r, uint32_t value, int depth) {
    const struct graph *g = reference_graph(r);
    bool found = false;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && depth < MAX_DEPTH && !found; u++) {
        uint32_t op = g->uses[u];
        found =
            reference_evaluates(r, op) &&
            (g->kind[op] == K_SUM || (keeps_elements(g, op) && is_summed(r, g->m->ops[op].first_result, depth + 1)));
    }
    return found;
}

/* The sign of a factor; a single number that is not known is taken to be positive, since scales are. 0: it is no single
 * number. */
static int sign_of_factor(const struct graph *g, uint32_t value) {
    struct constant c = graph_constant(g, value);
    return c.known ? (c.value > 0) - (c.value < 0) : graph_numel(g, value) == 1;
}

/* Follows a value that is this operand through one op. False where the result is no sum of scores. */
static bool step(const struct graph *g, uint32_t op, uint32_t operand, struct score_path *at) {
    const uint32_t *v = graph_operands(g, op);
    switch ((enum op_kind)g->kind[op]) {
    case K_ADD:
        at->added = true;
        return true;
    case K_SUBTRACT:
        at->added |= operand == 1;
        at->sign = operand == 1 ? -at->sign : at->sign;
        return true;
    case K_MULTIPLY:
    case K_DIVIDE:
        at->sign *= operand == 1 && g->kind[op] == K_DIVIDE ? 0 : sign_of_factor(g, v[1 - operand]);
        return at->sign != 0;
    case K_LINEAR:
        at->added = true;
        return operand == 2;
    case K_WHERE:
        return operand > 0;
    case K_MAXIMUM:
    case K_MINIMUM:
        return true;
    default:
        return keeps_elements(g, op) || graph_class(g, op) == OP_SLICE || graph_class(g, op) == OP_JOIN;
    }
}

static bool is_mask_operand(const struct graph *g, uint32_t op, uint32_t operand) {
    return (g->kind[op] == K_SDPA || g->kind[op] == K_SDPA_DECODE) && operand == 3;
}

static int sign_along(const struct reference *r, uint32_t value, struct score_path at) {
    const struct graph *g = reference_graph(r);
    int found = 0;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && at.depth < MAX_DEPTH; u++) {
        uint32_t op = g->uses[u];
        for (uint32_t i = 0; i < graph_noperands(g, op) && reference_evaluates(r, op) && !found; i++) {
            struct score_path next = {at.sign, at.added, at.depth + 1};
            if (graph_operands(g, op)[i] != value)
                continue;
            if (is_mask_operand(g, op, i))
                found = at.sign;
            else if (g->kind[op] == K_SOFTMAX || (g->kind[op] == K_EXP && is_summed(r, g->m->ops[op].first_result, 0)))
                found = at.added ? at.sign : 0;
            else if (step(g, op, i, &next))
                found = sign_along(r, g->m->ops[op].first_result, next);
        }
    }
    return found;
}

int mask_sign_of(const struct reference *r, uint32_t value) {
    return sign_along(r, value, (struct score_path){.sign = 1});
}
