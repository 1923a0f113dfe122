/* A look ahead before any index map is computed. It never says no to what the search would find. */
#include "search/match/matcher.h"

enum { MOST_STEPS = 64 /* from meeting to meeting */ };

/* They may meet, farther than that; NONE: nowhere. */
static const uint32_t SOMEWHERE = UINT32_MAX - 1;

/* Without an automaton only the kinds of ops are looked at, through movement as the search does. */
static bool kinds_plausible(const struct matcher *m, const struct node *node, uint32_t value) {
    const struct graph *g = m->g;
    if (node->any || (node->kind == N_NAMED && m->state.slots[node->slot].value != NONE))
        return true;
    for (uint32_t step = 0; step <= MAX_CHAIN && value != NONE; step++) {
        uint32_t op = g->m->values[value].def;
        if (op == NONE || node_may_be(node, (enum op_kind)g->kind[op]))
            return op != NONE;
        value = graph_through(g, op);
    }
    return false;
}

/* The value that a variable comes to stand for may be before movement. */
static bool may_be_constant(const struct graph *g, uint32_t value) {
    for (uint32_t step = 0; step <= MAX_CHAIN && value != NONE; step++) {
        uint32_t op = g->m->values[value].def;
        if (graph_constant(g, value).known)
            return true;
        value = op == NONE ? NONE : graph_through(g, op);
    }
    return false;
}

bool matcher_may_match(const struct matcher *m, const struct node *node, uint32_t value) {
    if (m->ops)
        return automaton_finds(m->ops, node->sub, value);
    return node->kind == N_VARIABLE && m->pattern->formula.slots[node->slot].is_constant
               ? may_be_constant(m->g, value)
               : kinds_plausible(m, node, value);
}

bool matcher_plausible(const struct matcher *m, const struct node *node, uint32_t value) {
    return matcher_observer(m) || matcher_may_match(m, node, value); /* it is told where exactly the search fails */
}

bool matcher_root_plausible(const struct matcher *m, const struct node *node, uint32_t op) {
    return node_is(node, (enum op_kind)m->g->kind[op]) &&
           (matcher_observer(m) || !m->ops || automaton_finds_root(m->ops, node->sub, op));
}

/* Where the ways on from two ops meet, of which one may be the other. */
static uint32_t meeting_of(const uint32_t *meets, uint32_t a, uint32_t b) {
    for (uint32_t step = 0; a != b; step++) {
        uint32_t *behind = a < b ? &a : &b;
        *behind = meets[*behind];
        if (step == MOST_STEPS || a >= SOMEWHERE || b >= SOMEWHERE)
            return a == NONE || b == NONE ? NONE : SOMEWHERE;
    }
    return a;
}

void matcher_meetings(const struct graph *g, uint32_t first, uint32_t end, uint32_t *meets) {
    for (uint32_t op = end; op-- > first;) {
        const struct mlir_op *o = &g->m->ops[op];
        uint32_t from = g->first_use[o->first_result], to = g->first_use[o->first_result + o->nresults];
        meets[op] = from < to ? g->uses[from] : NONE;
        for (uint32_t u = from; u < to && meets[op] < SOMEWHERE; u++)
            meets[op] = g->uses[u] > op && g->uses[u] < end ? meeting_of(meets, meets[op], g->uses[u]) : SOMEWHERE;
    }
}

static bool is_bound(const struct matcher *m, const uint32_t *slots, uint32_t n) {
    bool bound = false;
    for (uint32_t i = 0; i < n && !bound; i++) {
        const struct node *line = m->pattern->formula.slots[slots[i]].named;
        bound = line && matcher_bound_name(m, line) != NONE;
    }
    return bound;
}

/* The op may stand below a value that the fused op yields, or others take, and have users behind that. */
static bool may_be_yielded(const struct matcher *m) {
    const struct pattern *p = m->pattern;
    return is_bound(m, p->escapes, p->nescapes) || is_bound(m, p->beside, p->nbeside);
}

bool matcher_may_be_inside(const struct matcher *m, uint32_t op) {
    uint32_t root = m->state.matched[0].op;
    if (!m->meets || m->observer || m->pattern->formula.nsecondary || m->g->m->ops[op].func != m->func)
        return true;
    for (uint32_t step = 0; op < root; step++) {
        op = m->meets[op];
        if (step == MOST_STEPS)
            return true;
    }
    return op == root || op == SOMEWHERE || may_be_yielded(m);
}
