/* The search: goals are worked off depth first. A goal either fails, which makes the nearest alternative before it try
 * its next way, or goes on with the goals after it; so a match is found where the innermost call succeeds. The number
 * of goals is bounded by max_steps. */
#include "match/matcher.h"

/* An operator of the formula at the op that makes the value, or at one before it that movement leads to. */
static bool match_operator(struct matcher *m, const struct goal *g) {
    const struct graph *gr = m->g;
    uint32_t value = g->value;
    const struct imap *map = g->map;
    for (uint32_t step = 0; step <= MAX_CHAIN; step++) {
        uint32_t op = gr->m->values[value].def;
        if (op == NONE)
            return matcher_failed_at(m, FAILED_OPERATOR, g, value, map);
        struct mark k = matcher_mark(m);
        if (match_op(m, g, value, map))
            return true;
        matcher_undo(m, k);
        bool root = g->parent == NONE;
        const struct imap *next = root ? NULL : matcher_map_through(m, op, map);
        if (!next)
            return matcher_failed_at(m, FAILED_OPERATOR, g, value, map);
        value = graph_through(gr, op);
        map = next;
    }
    return false;
}

static bool solve(struct matcher *m, const struct goal *g) {
    if (m->full || m->refused)
        return false;
    if (++m->steps > m->max_steps) {
        m->full = true;
        return false;
    }
    if (!g)
        return match_secondary(m);
    switch (g->node->kind) {
    case N_OP:
    case N_OUTER:
        return match_operator(m, g);
    case N_VARIABLE:
        return match_variable(m, g);
    case N_NAMED:
        return match_named(m, g);
    case N_NUMBER:
        return match_number(m, g);
    case N_EITHER:
        return match_either(m, g);
    case N_RESULT:
        return match_result(m, g);
    case N_TRANSPOSED:
        return match_transposed(m, g);
    }
    return false;
}

bool match_at(struct matcher *m, const struct pattern *p, uint32_t op) {
    matcher_undo(m, (struct mark){0});
    m->solve = solve;
    m->pattern = p;
    m->steps = 0;
    m->full = m->refused = false;
    m->state.line = m->fresh.n = 0;
    m->found.nops = 0;
    record_begin(&m->record, op);
    /* an observer wants the reason, and starts at roots of the right kind only */
    if (!m->observer && !matcher_root_plausible(m, p->formula.root, op))
        return false;
    struct goal *first = matcher_root_goal(m, p->formula.root, op, 0);
    if (!first)
        return false;
    m->root_axes = first->axes;
    return solve(m, first);
}
