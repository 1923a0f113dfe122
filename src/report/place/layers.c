#include "report/place/layers.h"

#include <stdlib.h>

#include "ir/graph/movement.h"
#include "report/place/locate.h"

static uint32_t layer_named(struct layers *l, struct str name) {
    uint32_t i = l->n;
    while (i > 0 && !str_eq(l->names[i - 1], name)) /* most ops are of the layer that came last */
        i--;
    if (i > 0)
        return i - 1;
    l->names = grow(l->names, &l->cap, l->n + 1, sizeof *l->names);
    l->names[l->n] = name;
    return l->n++;
}

/* NONE: it has no weights, they are of several, or it prepares some. */
static uint32_t layer_of_weights(struct layers *l, const struct name_reader *r, const struct graph *g, uint32_t op) {
    const struct mlir_op *o = &g->m->ops[op];
    struct names names = {.n = 0};
    bool differ = false;
    if (!graph_is_audited(g, op) || (o->nresults && graph_is_parameter(g, o->first_result)) ||
        !operand_names(g, op, &names))
        return NONE;
    names_strip(r, &names);
    struct str says = names_agree(r, &names, &differ);
    return names.n && !differ ? layer_named(l, says) : NONE;
}

/* How an op came to its layer. */
enum { BEFORE_WEIGHTS, BY_WEIGHTS, BEHIND_WEIGHTS };

/* That of an op with weights right before it, which it moves or adds a residual to, or takes an activation of; 0: it
 * is none of these, or behind none. */
static uint32_t layer_behind(const struct layers *l, const uint8_t *how, const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    bool activates = op_table[g->kind[op]].flow == FLOW_ACTIVATION;
    uint32_t last = NONE;
    if (!activates && !graph_op_is(g, op, ADDS) && !class_moves(c) && c != OP_SLICE)
        return 0;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t v = graph_operands(g, op)[i], def = v == NONE ? NONE : g->m->values[movement_source(g, v)].def;
        bool behind = def != NONE && (how[def] == BY_WEIGHTS || (how[def] == BEHIND_WEIGHTS && activates));
        if (behind && g->m->ops[def].func == g->m->ops[op].func && (last == NONE || def > last))
            last = def;
    }
    return last == NONE ? 0 : l->of_op[last];
}

/* Those that are of none so far. */
static void fill(struct layers *l, uint32_t first, uint32_t end, uint32_t layer) {
    for (uint32_t op = first; op < end; op++)
        l->of_op[op] = l->of_op[op] ? l->of_op[op] : layer;
}

struct layers layers_new(const struct pattern_set *set, const struct graph *g, struct known_names *known,
                         struct arena *a) {
    struct layers l = {.of_op = xcalloc(g->m->nops + (size_t)1, sizeof *l.of_op)};
    struct name_reader reader;
    uint8_t *how = xcalloc(g->m->nops + (size_t)1, 1);
    uint32_t last = layer_named(&l, STR("")), waiting = 0;
    name_reader_begin(&reader, set, known, a);
    for (uint32_t op = 0; op < g->m->nops; op++) {
        if (op && g->m->ops[op].func != g->m->ops[op - 1].func) {
            fill(&l, waiting, op, last);
            waiting = op;
            last = 0;
        }
        uint32_t own = layer_of_weights(&l, &reader, g, op);
        if (own == NONE) {
            l.of_op[op] = layer_behind(&l, how, g, op);
            how[op] = l.of_op[op] ? BEHIND_WEIGHTS : BEFORE_WEIGHTS;
            continue;
        }
        how[op] = BY_WEIGHTS;
        last = own;
        fill(&l, waiting, op + 1, last);
        waiting = op + 1;
    }
    fill(&l, waiting, g->m->nops, last);
    name_reader_end(&reader);
    free(how);
    return l;
}

void layers_free(struct layers *l) {
    free(l->names);
    free(l->of_op);
}
