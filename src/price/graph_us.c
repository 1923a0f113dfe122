/* What a graph costs as it is. */
#include <stdlib.h>

#include "match/search_graph.h"
#include "price/perf.h"
#include "price/price.h"

double graph_us(struct pricer *p) {
    const struct mlir *m = p->graph->m;
    uint32_t *funcs = xrealloc(NULL, (m->nfuncs + (size_t)1) * sizeof *funcs), n = match_functions(p->graph, funcs);
    struct cost estimated = {0};
    double measured = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t op = funcs[i] == NONE ? 0 : m->funcs[funcs[i]].first_op;
        uint32_t end = funcs[i] == NONE ? m->nops : m->funcs[funcs[i]].end_op;
        for (struct work w; op < end; op++) {
            if (m->ops[op].func != funcs[i] || !op_is_launched(p, op))
                continue;
            double us = p->measured ? perf_of_ops(p->measured, &op, 1) : 0;
            measured += us;
            if (us <= 0 && work_of_op(p, op, &w))
                cost_add(p, &w, &estimated);
        }
    }
    free(funcs);
    return measured + estimated.estimated.us;
}
