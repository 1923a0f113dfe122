/* What a graph costs as it is. */
#include <stdlib.h>

#include "match/search_graph.h"
#include "price/perf.h"
#include "price/price.h"

/* Measured where all that runs at its location is, else estimated. */
static double op_us(struct pricer *p, uint32_t op) {
    struct cost estimated = {0};
    double measured = p->measured ? perf_of_ops(p->measured, &op, 1) : 0;
    if (measured <= 0)
        cost_add_op(p, op, &estimated);
    return measured > 0 ? measured : estimated.estimated.us;
}

double graph_us(struct pricer *p, double *of_ops) {
    const struct mlir *m = p->graph->m;
    uint32_t *funcs = xrealloc(NULL, (m->nfuncs + (size_t)1) * sizeof *funcs), n = match_functions(p->graph, funcs);
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t op = funcs[i] == NONE ? 0 : m->funcs[funcs[i]].first_op;
        uint32_t end = funcs[i] == NONE ? m->nops : m->funcs[funcs[i]].end_op;
        for (; op < end; op++) {
            double us = m->ops[op].func == funcs[i] && op_is_launched(p, op) ? op_us(p, op) : 0;
            sum += us;
            if (of_ops)
                of_ops[op] = us;
        }
    }
    free(funcs);
    return sum;
}
