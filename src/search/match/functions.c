/* function(f): ops that compute f of x, found by what they make of a few numbers. */
#include "search/match/matcher.h"

#include "search/automaton/computation.h"

/* The last op, of which the others are operands, in the order of the text. */
static void take_all(struct matcher *m, const struct goal *g, const struct computation *c) {
    struct goal of_last = {.parent = m->state.nmatched};
    matcher_take(m, c->ops[0], g);
    for (uint32_t i = c->nops; i-- > 1;)
        if (graph_looks_through(m->g, c->ops[i]))
            matcher_look_through(m, c->ops[i], true);
        else
            matcher_take(m, c->ops[i], &of_last);
    for (uint32_t i = 0; i < c->nconstants; i++)
        assume_constant(&m->state.assumed, c->constants[i], graph_constant(m->g, c->constants[i]).value, false);
}

/* x, then the numbers that are captured, of which one element tells all. */
static const struct goal *operand_goals(struct matcher *m, const struct goal *g, const struct computation *c) {
    uint32_t constants[MOST_CAPTURED];
    struct imap *of_x = matcher_scratch(m, sizeof *of_x), *of_number = matcher_scratch(m, sizeof *of_number);
    if (!of_x || !of_number || (g->node->nargs > 1 && !computation_captures(c, g->node, constants)))
        return NULL;
    const struct goal *next = g->next;
    of_number->n = 0;
    for (uint32_t i = g->node->nargs; i-- > 1;)
        if (!(next = matcher_operand(m, g, i, constants[i - 1], of_number, g->axes, next)))
            return NULL;
    imap_copy(of_x, &c->open[0].map);
    return matcher_operand(m, g, 0, c->open[0].value, of_x, g->axes, next);
}

/* The ops from the value back to an x of which they are the function, and all goals after it. */
static enum search_outcome match_computed(struct matcher *m, const struct goal *g, uint32_t value,
                                          const struct imap *map) {
    struct computation c;
    computation_begin(&c, m->g, value, map);
    while (computation_next(&c)) {
        if (!computation_finds(&c, &g->node->sub, 1))
            continue;
        struct mark k = matcher_mark(m);
        take_all(m, g, &c);
        m->state.functions++;
        if (g->slot != NONE)
            matcher_bind(m, g->slot,
                         (struct binding){.value = value, .op = c.ops[0], .map = map, .needed = map, .axes = g->axes});
        const struct goal *next = operand_goals(m, g, &c);
        if (next && matcher_solve(m, next) == MATCHED)
            return MATCHED;
        matcher_undo(m, k);
    }
    return MISSED;
}

enum search_outcome match_by_values(struct matcher *m, const struct goal *g) {
    uint32_t value = g->value;
    const struct imap *map = g->map;
    if (m->ops && !automaton_finds(m->ops, g->node->sub, value))
        return MISSED;
    for (uint32_t step = 0; map && step <= MAX_CHAIN; step++) {
        uint32_t op = m->g->m->values[value].def;
        if (op == NONE)
            return MISSED;
        struct mark k = matcher_mark(m);
        if ((g->parent == NONE || matcher_may_be_inside(m, op)) && computation_ends(m->g, op) &&
            match_computed(m, g, value, map))
            return MATCHED;
        matcher_undo(m, k);
        map = g->parent == NONE ? NULL : matcher_map_through(m, op, map);
        value = graph_through(m->g, op);
    }
    return MISSED;
}
