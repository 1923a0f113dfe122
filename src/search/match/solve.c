/* The search: goals are worked off depth first. A goal either fails, which makes the nearest alternative before it try
 * its next way, or goes on with the goals after it; so a match is found where the innermost call succeeds. The number
 * of goals is bounded by max_steps. */
#include "search/match/matcher.h"

/* The op changes nothing, and the formula does not write the number by which. */
static bool is_neutral(const struct matcher *m, const struct goal *g, uint32_t op) {
    bool written = g->parent == NONE || graph_noperands(m->g, op) != 2;
    for (uint32_t i = 0; i < g->node->nargs; i++)
        written |= g->node->args[i]->kind == N_NUMBER;
    return !written && graph_class(m->g, op) == OP_ELTWISE && graph_looks_through(m->g, op);
}

/* An operator of the formula at the op that makes the value, or at one before it that movement leads to. */
static enum search_outcome match_operator(struct matcher *m, const struct goal *g) {
    const struct graph *gr = m->g;
    uint32_t value = g->value, op;
    const struct imap *map = g->map;
    for (uint32_t step = 0; step <= MAX_CHAIN && (op = gr->m->values[value].def) != NONE; step++) {
        struct mark k = matcher_mark(m);
        if (!is_neutral(m, g, op) && match_op(m, g, value, map) == MATCHED)
            return MATCHED;
        matcher_undo(m, k);
        const struct imap *next = g->parent == NONE ? NULL : matcher_map_through(m, op, map);
        if (!next)
            break;
        value = graph_through(gr, op);
        map = next;
    }
    return matcher_other_op(m, g, value, map);
}

static enum search_outcome solve(struct matcher *m, const struct goal *g) {
    if (m->full || m->refused)
        return MISSED;
    if (++m->steps > m->max_steps) {
        m->full = true;
        return MISSED;
    }
    if (!g)
        return match_secondary(m);
    switch (g->node->kind) {
    case N_OP:
    case N_OUTER:
        return match_operator(m, g);
    case N_FUNCTION:
        return match_by_values(m, g);
    case N_REARRANGED:
        return match_rearranged(m, g);
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
    return MISSED;
}

/* With one of the two ways to take the axes of the root. */
static enum search_outcome match_as(struct matcher *m, uint32_t op, bool ones_lead, bool again) {
    matcher_undo(m, (struct mark){0});
    m->ones_lead = ones_lead;
    m->ones_stay = again;
    m->refused = m->state.optional = false;
    m->state.line = m->fresh.n = m->nreduced = 0;
    struct goal *first = matcher_root_goal(m, m->pattern->formula.root, op, 0);
    m->root_axes = first ? first->axes : NULL;
    return first ? solve(m, first) : MISSED;
}

static bool ends_in_one(const struct graph *g, uint32_t value) {
    uint32_t rank;
    const int64_t *shape = graph_shape(g, value, &rank);
    return shape && rank > 1 && shape[rank - 1] == 1 && graph_numel(g, value) > 1;
}

bool match_at(struct matcher *m, const struct pattern *p, uint32_t op) {
    bool twice = ends_in_one(m->g, m->g->m->ops[op].first_result);
    m->solve = solve;
    m->pattern = p;
    m->steps = 0;
    m->full = false;
    m->found.nops = 0;
    return match_as(m, op, twice, false) == MATCHED || (twice && !m->full && match_as(m, op, false, true) == MATCHED);
}
