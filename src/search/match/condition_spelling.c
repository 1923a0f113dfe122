/* Conditions about how a match is printed: names and texts of its ops, and what was looked through between them. A
 * formula does not tell these apart, but patterns of the compiler do. */
#include "search/match/conditions.h"

#include <stdio.h>
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
    if (c->e->record)
        c->e->record->spelled = true;
    text.n = text.n > MAX_TEXT ? MAX_TEXT : text.n;
    return regex_finds(c->number->regex, text) && found(c, op);
}

/* The regular expression matches in the text of the op that x is the result of; without x in that of a matched op. */
bool condition_spelled(const struct condition_call *c) {
    if (c->nargs > 0) {
        uint32_t op = op_of(c->graph, &c->arg[0]);
        return op != NONE && is_spelled(c, op);
    }
    for (uint32_t i = 0; i < c->e->nops; i++)
        if (is_spelled(c, c->e->ops[i]))
            return true;
    return false;
}

static bool was_looked_through(const struct evaluation *e, uint32_t op) {
    for (uint32_t i = 0; i < e->nlooked_through; i++)
        if (e->looked_through[i].op == op)
            return true;
    return false;
}

/* The op that uses the value; NONE where none or several do. */
static uint32_t only_user(const struct graph *g, uint32_t value) {
    return graph_nuses(g, value) == 1 ? g->uses[g->first_use[value]] : NONE;
}

/* The reduction that makes the value, perhaps times a number: the compiler makes a mean of such a product. */
static uint32_t reduction_of(const struct graph *g, uint32_t value) {
    uint32_t op = g->m->values[value].def;
    if (op != NONE && op_is_all((enum op_kind)g->kind[op], SCALES | COMMUTES) && graph_noperands(g, op) == 2) {
        const uint32_t *v = graph_operands(g, op);
        op = g->m->values[v[graph_constant(g, v[0]).known]].def;
    }
    return op != NONE && graph_class(g, op) == OP_REDUCE ? op : NONE;
}

/* Keeping reduced dimensions is what the compiler makes of a reduction without them and a reshape that adds them. */
static bool restores_reduced(const struct graph *g, uint32_t op) {
    uint32_t value = graph_through(g, op), of = reduction_of(g, value), before, after;
    if (of == NONE || graph_nuses(g, value) != 1)
        return false;
    const int64_t *from = graph_shape(g, graph_operands(g, of)[0], &before);
    const int64_t *to = graph_shape(g, g->m->ops[op].first_result, &after);
    bool same = from && to && before == after && graph_numel(g, value) == graph_numel(g, g->m->ops[op].first_result);
    for (uint32_t d = 0; same && d < before; d++)
        same = to[d] == 1 || to[d] == from[d];
    return same;
}

/* Whether the op is left when the compiler has simplified the casts and the movement in a row that it is part of: two
 * casts there and back are none, nor are two reshapes or permutes. A factor of 1 stays, and a sum of one element. */
static bool remains(const struct graph *g, uint32_t op) {
    if (graph_class(g, op) == OP_ELTWISE || graph_class(g, op) == OP_REDUCE)
        return true;
    uint32_t last = g->m->ops[op].first_result, first = movement_source(g, last), rank, other;
    for (uint32_t user = only_user(g, last); user != NONE && graph_looks_through(g, user); user = only_user(g, last))
        last = g->m->ops[user].first_result;
    if (graph_class(g, op) == OP_CAST)
        return graph_dtype(g, first) != graph_dtype(g, last);
    const int64_t *from = graph_shape(g, first, &rank), *to = graph_shape(g, last, &other);
    struct link links[MAX_CHAIN];
    struct imap identity;
    if (!from || !to || rank != other || memcmp(from, to, rank * sizeof *from) != 0)
        return !restores_reduced(g, op);
    imap_identity(&identity, 0, graph_numel(g, first));
    uint32_t n = movement_chain(g, last, &identity, links, MAX_CHAIN);
    imap_canonical(&identity);
    return links[n - 1].value != first || !imap_equal(&links[n - 1].map, &identity);
}

/* The regular expression matches an op on the way up from an operand: to the op `to`, or, where that is NONE, as far as
 * the match looked through. */
static bool on_the_way(const struct condition_call *c, uint32_t value, uint32_t to) {
    const struct graph *g = c->graph;
    uint32_t first = NONE;
    for (int step = 0; value != NONE && step <= MAX_CHAIN; step++) {
        uint32_t op = g->m->values[value].def;
        if (op == to || op == NONE || !graph_looks_through(g, op) || (to == NONE && !was_looked_through(c->e, op)))
            return first != NONE && (to == NONE || op == to) && found(c, first);
        if (first == NONE && regex_finds(c->number->regex, mlir_op_name(g->m, op)) && remains(g, op))
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
        if (remains(g, c->e->looked_through[i].op) && is_called(c, c->e->looked_through[i].op))
            return true;
    uint32_t below = c->nargs == 2 ? c->arg[0].op : NONE, op = c->nargs > 0 ? c->arg[c->nargs - 1].op : NONE;
    if (op == NONE || (c->nargs == 2 && below == NONE))
        return false;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        if (on_the_way(c, graph_operands(g, op)[i], below))
            return true;
    return false;
}

static bool is_matched(const struct evaluation *e, uint32_t op) {
    for (uint32_t i = 0; i < e->nops; i++)
        if (e->ops[i] == op)
            return true;
    return false;
}

/* The regular expression matches "ttir.typecast -> ttir.div": what was looked through and a matched op that it leads
 * to, perhaps through more of the kind. */
bool condition_leads(const struct condition_call *c) {
    const struct graph *g = c->graph;
    char text[160];
    for (uint32_t i = 0; i < c->e->nlooked_through; i++) {
        uint32_t op = c->e->looked_through[i].op, values[MAX_CHAIN] = {g->m->ops[op].first_result}, n = 1;
        struct str name = mlir_op_name(g->m, op);
        for (uint32_t k = 0; k < n && remains(g, op); k++)
            for (uint32_t u = g->first_use[values[k]]; u < g->first_use[values[k] + 1]; u++) {
                uint32_t user = g->uses[u];
                struct str to = mlir_op_name(g->m, user);
                int length = snprintf(text, sizeof text, "%.*s -> %.*s", (int)name.n, name.p, (int)to.n, to.p);
                if (graph_looks_through(g, user) && n < MAX_CHAIN)
                    values[n++] = g->m->ops[user].first_result;
                else if (is_matched(c->e, user) && length < (int)sizeof text &&
                         regex_finds(c->number->regex, str_of(text)))
                    return found(c, op);
            }
    }
    return false;
}
