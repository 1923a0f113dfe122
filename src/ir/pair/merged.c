#include "ir/pair/merged.h"

bool pair_computes(const struct graph *g, uint32_t op) {
    enum op_kind k = (enum op_kind)g->kind[op];
    enum op_class c = graph_class(g, op);
    return k != NO_OPERATOR && !class_moves(c) && c != OP_CONSTANT && c != OP_SLICE && c != OP_JOIN &&
           !op_generates(k) && !op_is(k, SHARDS) && !op_is(k, PARTIAL) && op_table[k].shrink != SHRINK_PAD;
}

uint32_t pair_cut_up(const struct graph *g, uint32_t op) {
    for (int step = 0;
         step < MAX_BEHIND && (step > 0 || graph_class(g, op) == OP_CONTRACT || graph_class(g, op) == OP_ELTWISE);
         step++) {
        uint32_t v = g->m->ops[op].first_result, n = graph_nuses(g, v), slices = 0;
        for (uint32_t u = g->first_use[v]; u < g->first_use[v + 1]; u++)
            slices += graph_class(g, g->uses[u]) == OP_SLICE;
        if (n > 0 && slices == n)
            return op;
        op = n == 1 ? g->uses[g->first_use[v]] : NONE;
        if (op == NONE || !(graph_class(g, op) == OP_ELTWISE || class_moves(graph_class(g, op))))
            break;
    }
    return NONE;
}

bool pair_is_merged(const struct graph *g, uint32_t op) {
    return graph_class(g, op) == OP_CONTRACT && pair_cut_up(g, op) != NONE;
}
