/* What hides scores from a softmax, told by what the matched ops make of it and not by its name: a value that is added
 * to what a softmax takes the exponentials of, and the condition of a choice between scores and a large negative
 * number. */
#include "prove/numbers.h"

enum { DEEP = 16 };

static const double low = -10000; /* as a floor that patterns take for one */

static bool keeps_elements(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    return c == OP_MOVE || c == OP_CAST || c == OP_LAYOUT;
}

static bool is_low(const struct graph *g, uint32_t value) {
    struct constant c = graph_constant(g, value);
    return c.known && c.value <= low;
}

/* ---- conditions ---- */

static enum truth turned(enum truth t) {
    return t == TRUTH_OPENS ? TRUTH_HIDES : t == TRUTH_HIDES ? TRUTH_OPENS : t;
}

static enum truth truth_of_choice(const struct graph *g, uint32_t op) {
    const uint32_t *v = graph_operands(g, op);
    return is_low(g, v[1]) ? TRUTH_HIDES : is_low(g, v[2]) ? TRUTH_OPENS : TRUTH_DECIDES;
}

enum truth mask_truth(const struct proof *p, uint32_t value, int depth) {
    const struct graph *g = p->match->graph;
    enum truth found = TRUTH_NONE;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && depth < DEEP && !found; u++) {
        uint32_t op = g->uses[u], result = g->m->ops[op].first_result;
        enum op_kind k = (enum op_kind)g->kind[op];
        bool logical = k == K_LOGICAL_NOT || k == K_LOGICAL_AND || k == K_LOGICAL_OR;
        if (!proof_evaluates(p, op))
            continue;
        if (k == K_WHERE && graph_operands(g, op)[0] == value)
            found = truth_of_choice(g, op);
        else if (logical || keeps_elements(g, op))
            found = mask_truth(p, result, depth + 1);
        if (k == K_LOGICAL_NOT)
            found = turned(found);
        if (logical && !found)
            found = TRUTH_DECIDES;
    }
    return found;
}

/* ---- what is added ---- */

struct path {
    int sign;   /* the value counts as it is, or negative */
    bool added; /* something was added to it, or it to something */
    int depth;
};

/* The exponentials are summed, as those of a softmax are. */
static bool is_summed(const struct proof *p, uint32_t value, int depth) {
    const struct graph *g = p->match->graph;
    bool found = false;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && depth < DEEP && !found; u++) {
        uint32_t op = g->uses[u];
        found =
            proof_evaluates(p, op) &&
            (g->kind[op] == K_SUM || (keeps_elements(g, op) && is_summed(p, g->m->ops[op].first_result, depth + 1)));
    }
    return found;
}

/* The sign of one number that a value is multiplied with or divided by; of one that is not known it is taken to be
 * positive. 0: it is no single number. */
static int sign_of_number(const struct graph *g, uint32_t value) {
    struct constant c = graph_constant(g, value);
    return c.known ? (c.value > 0) - (c.value < 0) : graph_numel(g, value) == 1;
}

/* One step: what becomes of a value that is this operand. False where that is no score any more. */
static bool step(const struct graph *g, uint32_t op, uint32_t operand, struct path *at) {
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
        at->sign *= operand == 1 && g->kind[op] == K_DIVIDE ? 0 : sign_of_number(g, v[1 - operand]);
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

static int sign_along(const struct proof *p, uint32_t value, struct path at) {
    const struct graph *g = p->match->graph;
    int found = 0;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && at.depth < DEEP; u++) {
        uint32_t op = g->uses[u];
        for (uint32_t i = 0; i < graph_noperands(g, op) && proof_evaluates(p, op) && !found; i++) {
            struct path next = {at.sign, at.added, at.depth + 1};
            if (graph_operands(g, op)[i] != value)
                continue;
            if (is_mask_operand(g, op, i))
                found = at.sign;
            else if (g->kind[op] == K_SOFTMAX || (g->kind[op] == K_EXP && is_summed(p, g->m->ops[op].first_result, 0)))
                found = at.added ? at.sign : 0;
            else if (step(g, op, i, &next))
                found = sign_along(p, g->m->ops[op].first_result, next);
        }
    }
    return found;
}

int mask_sign(const struct proof *p, uint32_t value) {
    return sign_along(p, value, (struct path){.sign = 1});
}
