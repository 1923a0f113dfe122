/* A look ahead before any index map is computed: by the kinds of the ops alone most roots and operands cannot be what
 * the formula wants. It never says no to what the search would find. */
#include "match/matcher.h"

/* Operators that are looked at below the one at hand: some before a search begins, none at each of its steps. */
enum { ROOT_AHEAD = 3, STEP_AHEAD = 0 };

static bool value_plausible(const struct matcher *m, const struct node *node, uint32_t value, int ahead);

static bool operands_plausible(const struct matcher *m, const struct node *n, uint32_t op, int ahead) {
    const uint32_t *v = graph_operands(m->g, op);
    uint32_t have = graph_noperands(m->g, op);
    bool either_way = op_is(n->op, COMMUTES);
    bool straight = true, crossed = n->nargs == 2 && have == 2 && either_way;
    for (uint32_t i = 0; straight && i < n->nargs && i < have; i++)
        straight = v[i] != NONE && value_plausible(m, n->args[i], v[i], ahead);
    if (straight)
        return true;
    for (uint32_t i = 0; crossed && i < 2; i++)
        crossed = v[1 - i] != NONE && value_plausible(m, n->args[i], v[1 - i], ahead);
    return crossed;
}

/* Whether the op can be what the node stands for, by its kind and those of `ahead` operators before it. */
static bool op_plausible(const struct matcher *m, const struct node *n, uint32_t op, int ahead) {
    if (n->kind == N_NAMED && m->state.slots[n->slot].value != NONE)
        return true;
    if (!node_may_be(n, (enum op_kind)m->g->kind[op]))
        return false;
    if (n->kind == N_NAMED || n->kind == N_EITHER || n->kind == N_TRANSPOSED || n->kind == N_RESULT) {
        for (uint32_t i = 0; i < n->nargs; i++)
            if (op_plausible(m, n->args[i], op, ahead))
                return true;
        return false;
    }
    /* the operands of a contraction may be exchanged: the transposed product */
    return ahead == 0 || graph_class(m->g, op) == OP_CONTRACT || operands_plausible(m, n, op, ahead - 1);
}

/* Looks through movement as the search does: the op at hand, or the first one before it that is no movement. */
static bool value_plausible(const struct matcher *m, const struct node *node, uint32_t value, int ahead) {
    const struct graph *g = m->g;
    if (node->kind == N_NUMBER)
        return node->given || graph_constant(g, value).known;
    if (node->any || (node->kind == N_NAMED && m->state.slots[node->slot].value != NONE))
        return true;
    for (uint32_t step = 0; step <= MAX_CHAIN; step++) {
        uint32_t op = g->m->values[value].def;
        if (op == NONE)
            return false;
        uint32_t next = graph_through(g, op);
        if (next == NONE || (!class_moves(graph_class(g, op)) && op_plausible(m, node, op, ahead)))
            return next != NONE || op_plausible(m, node, op, ahead);
        value = next;
    }
    return false; /* more movement than is looked through */
}

bool matcher_plausible(const struct matcher *m, const struct node *node, uint32_t value) {
    return m->observer || value_plausible(m, node, value, STEP_AHEAD); /* an observer is told where exactly it fails */
}

bool matcher_root_plausible(const struct matcher *m, const struct node *n, uint32_t op) {
    if (n->kind == N_NAMED || n->kind == N_EITHER || n->kind == N_TRANSPOSED || n->kind == N_RESULT) {
        for (uint32_t i = 0; i < n->nargs; i++)
            if (matcher_root_plausible(m, n->args[i], op))
                return true;
        return false;
    }
    if (n->kind != N_OP && n->kind != N_OUTER)
        return false;
    return node_is(n, (enum op_kind)m->g->kind[op]) && operands_plausible(m, n, op, ROOT_AHEAD);
}

uint32_t match_count_operands(const struct graph *g, uint32_t op) {
    const char *role = op_table[g->kind[op]].roles;
    uint32_t n = 0;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        n += graph_operands(g, op)[i] != NONE && *role != '_';
        role += strcspn(role, ",");
        role += *role == ',';
    }
    return n;
}
