/* Conditions about how a match is printed: names and texts of its ops. A formula does not tell these apart. */
#include "search/match/conditions.h"

#include <string.h>

enum { MAX_TEXT = 4096 }; /* bytes of an op that a regular expression is tried on: constants can be long */

static bool is_called(const struct condition_call *c, uint32_t op) {
    return regex_finds(c->number->regex, mlir_op_name(c->graph->m, op));
}

static uint32_t op_of(const struct graph *g, const struct binding *b) {
    return b->op != NONE || b->value == NONE ? b->op : g->m->values[b->value].def;
}

/* The name of a matched op matches the regular expression. */
bool condition_has_op(const struct condition_call *c) {
    for (uint32_t i = 0; i < c->e->nops; i++)
        if (is_called(c, c->e->ops[i]))
            return true;
    return false;
}

/* The op that x is the result of has such a name. For a variable it is the first one before movement and casts, also in
 * a function that runs once. */
bool condition_made_by(const struct condition_call *c) {
    const struct graph *g = c->graph;
    if (c->arg[0].value == NONE)
        return false;
    uint32_t op = op_of(g, &c->arg[0]);
    for (int hops = 0; op != NONE && hops < MAX_CHAIN; hops++) {
        uint32_t next = graph_callee_value(g, g->m->ops[op].first_result);
        if (next != NONE)
            record_elsewhere(c->e, true);
        if (c->arg[0].op == NONE && graph_looks_through(g, op))
            next = graph_through(g, op);
        if (next == NONE)
            return is_called(c, op);
        op = g->m->values[next].def;
    }
    return false;
}

static bool is_spelled(const struct condition_call *c, uint32_t op) {
    struct str text = mlir_op_spelling(c->graph->m, op);
    text.n = text.n > MAX_TEXT ? MAX_TEXT : text.n;
    return regex_finds(c->number->regex, text);
}

/* The regular expression matches in the text of the op that x is the result of; without x in that of a matched op. */
bool condition_spelled(const struct condition_call *c) {
    if (c->nargs > 0) {
        uint32_t op = op_of(c->graph, &c->arg[0]);
        if (c->e->record)
            c->e->record->spelled = true;
        return op != NONE && is_spelled(c, op);
    }
    bool spelled = false;
    for (uint32_t i = 0; i < c->e->nops && !spelled; i++)
        spelled = is_spelled(c, c->e->ops[i]);
    return record_ops(c->e, c->number, spelled);
}
