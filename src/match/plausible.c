/* A look ahead before any index map is computed. It never says no to what the search would find. */
#include "match/matcher.h"

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

/* The op may be one whose result the fused op has too. */
static bool may_yield(const struct matcher *m, uint32_t op) {
    for (uint32_t i = 0; i < m->pattern->nescapes && op != NONE; i++) {
        const struct node *named = m->pattern->formula.named[m->pattern->escapes[i]];
        if (named && node_is(named, (enum op_kind)m->g->kind[op]))
            return true;
    }
    return false;
}

/* The node is an op inside of the match, and its result, or what is looked through on the way to it, is used where
 * nothing is matched: match_outside_user would find that in the end. */
static bool used_after_match(const struct matcher *m, const struct node *node, uint32_t value) {
    const struct graph *g = m->g;
    uint32_t op = g->m->values[value].def, end = g->first_use[value + 1];
    if (op == NONE || op == m->last || end == g->first_use[value] || g->uses[end - 1] <= m->last)
        return false;
    while (node->kind == N_NAMED || node->kind == N_TRANSPOSED)
        node = node->args[0];
    if (node->kind != N_OP && node->kind != N_OUTER)
        return false;
    return !may_yield(m, op) && !may_yield(m, g->m->values[movement_source(g, value)].def);
}

bool matcher_plausible(const struct matcher *m, const struct node *node, uint32_t value) {
    if (m->observer) /* it is told where exactly the search fails */
        return true;
    return (m->ops ? automaton_finds(m->ops, node->sub, value) : kinds_plausible(m, node, value)) &&
           !used_after_match(m, node, value);
}

bool matcher_root_plausible(const struct matcher *m, const struct node *node, uint32_t op) {
    return node_is(node, (enum op_kind)m->g->kind[op]) &&
           (m->observer || !m->ops || automaton_finds_root(m->ops, node->sub, op));
}
