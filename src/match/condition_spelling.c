/* Conditions about how a match is printed: names and texts of its ops, and what was looked through between them. A
 * formula does not tell these apart, but patterns of the compiler do. */
#include "match/conditions.h"

#include <string.h>

enum { MAX_TEXT = 4096 }; /* bytes of an op that a regular expression is tried on: constants can be long */

/* {found} in a note is this op. */
static bool found(const struct condition_call *c, uint32_t op) {
    c->e->found = op;
    return true;
}

static bool is_called(const struct condition_call *c, uint32_t op) {
    return regex_finds(c->number->regex, mlir_op_name(c->graph->m, op)) && found(c, op);
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
        if (c->arg[0].op == NONE && graph_looks_through(g, op))
            next = graph_through(g, op);
        if (next == NONE)
            return is_called(c, op);
        op = g->m->values[next].def;
    }
    return false;
}

/* The regular expression matches in the text of the op that x is the result of. */
bool condition_spelled(const struct condition_call *c) {
    const struct mlir *m = c->graph->m;
    uint32_t op = op_of(c->graph, &c->arg[0]);
    if (op == NONE)
        return false;
    struct str text = mlir_span(m, m->ops[op].text);
    text.n = text.n > MAX_TEXT ? MAX_TEXT : text.n;
    return regex_finds(c->number->regex, text) && found(c, op);
}

static bool was_looked_through(const struct evaluation *e, uint32_t op) {
    for (uint32_t i = 0; i < e->nlooked_through; i++)
        if (e->looked_through[i].op == op)
            return true;
    return false;
}

/* The regular expression matches an op on the way up from an operand: to the op `to`, or, where that is NONE, as far as
 * the match looked through. */
static bool on_the_way(const struct condition_call *c, uint32_t value, uint32_t to) {
    const struct graph *g = c->graph;
    uint32_t first = NONE;
    for (int step = 0; value != NONE && step < MAX_CHAIN; step++) {
        uint32_t op = g->m->values[value].def;
        if (op == to || op == NONE || !graph_looks_through(g, op) || (to == NONE && !was_looked_through(c->e, op)))
            return first != NONE && (to == NONE || op == to) && found(c, first);
        if (first == NONE && regex_finds(c->number->regex, mlir_op_name(g->m, op)))
            first = op;
        value = graph_through(g, op);
    }
    return false;
}

/* between("r"): something of such a name was looked through; between(y, "r"): between the op y and its operands;
 * between(x, y, "r"): between the op x and the op y that uses it. */
bool condition_between(const struct condition_call *c) {
    const struct graph *g = c->graph;
    for (uint32_t i = 0; c->nargs == 0 && i < c->e->nlooked_through; i++)
        if (is_called(c, c->e->looked_through[i].op))
            return true;
    uint32_t below = c->nargs == 2 ? c->arg[0].op : NONE, op = c->nargs > 0 ? c->arg[c->nargs - 1].op : NONE;
    if (op == NONE || (c->nargs == 2 && below == NONE))
        return false;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        if (on_the_way(c, graph_operands(g, op)[i], below))
            return true;
    return false;
}
