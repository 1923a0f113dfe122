/* Conditions about users and operands: who reads a value, which operand of an op it is, whether two values are one. */
#include "ir/graph/mesh.h"
#include "search/match/conditions.h"

/* Some op that uses the value is of an operator whose name the expression finds. */
bool condition_used_by(const struct condition_call *c) {
    const struct graph *g = c->graph;
    if (c->arg[0].value == NONE)
        return false;
    for (uint32_t u = g->first_use[c->arg[0].value]; u < g->first_use[c->arg[0].value + 1]; u++)
        if (regex_finds(c->number->regex, str_of(op_table[g->kind[g->uses[u]]].name)))
            return true;
    return false;
}

/* No op that uses the value, seen through movement and casts, has a name that the expression finds. */
bool condition_no_user(const struct condition_call *c) {
    const struct graph *g = c->graph;
    uint32_t seen[MAX_CHAIN], count = 0;
    if (c->arg[0].value != NONE)
        seen[count++] = c->arg[0].value;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t u = g->first_use[seen[i]]; u < g->first_use[seen[i] + 1]; u++) {
            uint32_t op = g->uses[u];
            if (regex_finds(c->number->regex, mlir_op_name(g->m, op)) || count == MAX_CHAIN)
                return false;
            if (graph_looks_through(g, op))
                seen[count++] = g->m->ops[op].first_result;
        }
    return true;
}

/* The link to x or another result of its op among the first n; n: there is none. */
static uint32_t link_to(const struct graph *g, const struct binding *x, const struct link *links, uint32_t n) {
    uint32_t i = 0;
    while (i < n && links[i].value != x->value && (x->op == NONE || g->m->values[links[i].value].def != x->op))
        i++;
    return i;
}

/* Whether the value is x or another result of its op, seen through movement and casts; unless `moved`, with each
 * element at its place. */
static bool comes_from(const struct graph *g, uint32_t value, const struct binding *x, bool moved) {
    struct link links[MAX_CHAIN];
    struct imap whole;
    int64_t numel = value == NONE ? 0 : graph_numel(g, value);
    if (numel < 1)
        return false;
    imap_identity(&whole, 0, numel);
    uint32_t n = movement_chain(g, value, &whole, links, MAX_CHAIN), i = link_to(g, x, links, n);
    return i < n && (moved || (graph_numel(g, links[i].value) == numel && imap_equal(&links[i].map, &links[0].map)));
}

/* `but_ones`: but for dimensions of one element. */
static bool same_shape(const struct graph *g, uint32_t a, uint32_t b, bool but_ones) {
    struct shape s[2];
    if (!shape_in_graph(g, a, &s[0]) || !shape_in_graph(g, b, &s[1]))
        return false;
    for (int i = 0; i < 2 && but_ones; i++) {
        uint32_t rank = s[i].rank;
        s[i].rank = 0;
        for (uint32_t d = 0; d < rank; d++)
            if (s[i].dim[d] != 1)
                s[i].dim[s[i].rank++] = s[i].dim[d];
    }
    return shape_eq(&s[0], &s[1]);
}

/* Nothing that moves data lies between x and the op that `of` names, or it is moved back again, also behind an
 * elementwise op. Before that the shape may be another, and before a reduction have other dimensions of one element. */
bool condition_adjacent(const struct condition_call *c) {
    const struct graph *g = c->graph;
    uint32_t of = c->arg[1].op;
    if (c->arg[0].value == NONE || c->arg[1].value == NONE)
        return true;
    bool reduces = of != NONE && graph_class(g, of) == OP_REDUCE, each = of != NONE && graph_class(g, of) == OP_ELTWISE,
         back = each && graph_numel(g, c->arg[0].value) == graph_numel(g, c->arg[1].value) &&
                imap_equal(c->arg[0].map, c->arg[1].map);
    for (uint32_t i = 0; of != NONE && i < graph_noperands(g, of); i++)
        if (comes_from(g, graph_operands(g, of)[i], &c->arg[0], back) &&
            (each || same_shape(g, graph_operands(g, of)[i], c->arg[0].value, reduces)))
            return true;
    return false;
}

/* An op between these two takes it, or what a reshape made of it, which may be a view. */
static bool is_taken_between(const struct graph *g, uint32_t value, uint32_t from, uint32_t to) {
    bool taken = false;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && !taken; u++) {
        uint32_t user = g->uses[u];
        taken = (user > from && user < to) || (user < from && graph_movement(g, user) == MOVEMENT_RESHAPE &&
                                               is_taken_between(g, g->m->ops[user].first_result, from, to));
    }
    return taken;
}

/* What reads it before is not changed by a write in its place; a return hands it to the caller. */
bool condition_last_use(const struct condition_call *c) {
    uint32_t x = c->arg[0].value, op = c->arg[1].op, other = c->nargs > 2 ? c->arg[2].op : NONE;
    uint32_t from = other < op ? other : op, to = other < op ? op : other;
    return x == NONE || (op != NONE ? !is_taken_between(c->graph, x, from, to) : graph_nuses(c->graph, x) == 0);
}

/* Of members of a series none is left out: y is there. */
bool condition_after(const struct condition_call *c) {
    uint32_t x = c->arg[0].op, y = c->arg[1].op;
    return x == NONE || (y != NONE && x > y);
}

enum { MAX_SAME = 8 }; /* movement that is looked through */

/* One value, read in the same way in two places, as two products read one operand; as of names, where lines with
 * indices of their own have them, nothing is said about which elements. */
bool condition_same(const struct condition_call *c) {
    struct link x[MAX_SAME], y[MAX_SAME];
    bool elsewhere = c->arg[0].line != c->arg[1].line;
    if (c->arg[0].value == NONE || c->arg[1].value == NONE)
        return true;
    uint32_t nx = movement_chain(c->graph, c->arg[0].value, c->arg[0].map, x, MAX_SAME);
    uint32_t ny = movement_chain(c->graph, c->arg[1].value, c->arg[1].map, y, MAX_SAME);
    for (uint32_t i = 0; i < nx; i++)
        for (uint32_t j = 0; j < ny; j++)
            if (x[i].value == y[j].value &&
                (elsewhere ||
                 match_same_elements(c->graph, x[i].value, &x[i].map, c->arg[0].axes, &y[j].map, c->arg[1].axes)))
                return true;
    return false;
}

/* Of the transfers into an operand, those of the first group of devices are made in all groups. */
static bool fills_every_group(const struct graph *g, uint32_t v) {
    struct transfer t;
    int64_t all = 0, first = 0, groups = 1;
    for (uint32_t op; v != NONE && (op = g->m->values[v].def) != NONE && graph_op_is(g, op, PARTIAL);
         v = graph_noperands(g, op) > 1 ? graph_operands(g, op)[1] : NONE) {
        if (!mesh_transfer(g, op, &t))
            continue;
        int64_t stated = mesh_devices(g->m, op, !t.axis);
        groups = stated > 0 ? stated : 1;
        all++;
        first += t.group == 0;
    }
    return all == first * groups;
}

bool condition_every_group(const struct condition_call *c) {
    bool all = c->arg[0].op != NONE;
    for (uint32_t i = 0; all && i < graph_noperands(c->graph, c->arg[0].op); i++)
        all = graph_operands(c->graph, c->arg[0].op)[i] != NONE &&
              fills_every_group(c->graph, graph_operands(c->graph, c->arg[0].op)[i]);
    return all;
}
