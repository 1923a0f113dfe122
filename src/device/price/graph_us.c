/* What a graph costs as it is. */
#include <stdlib.h>
#include <string.h>

#include "device/price/perf.h"
#include "device/price/price.h"
#include "search/match/search_graph.h"

/* Measured where all that runs at its location is, else estimated. */
static double op_us(struct pricer *p, uint32_t op) {
    struct cost estimated = {0};
    double measured = p->measured ? perf_of_ops(p->measured, &op, 1) : 0;
    if (measured <= 0)
        cost_add_op(p, op, &estimated);
    return measured > 0 ? measured : estimated.estimated.us;
}

/* Of one function, written to `of_ops`. */
static void price_function(struct pricer *p, uint32_t func, double *of_ops) {
    const struct mlir *m = p->graph->m;
    const struct mlir_func *f = func == NONE ? NULL : &m->funcs[func];
    for (uint32_t op = f ? f->first_op : 0, end = f ? f->end_op : m->nops; op < end; op++)
        of_ops[op] = m->ops[op].func == func && op_is_launched(p, op) ? op_us(p, op) : 0;
}

double graph_us(struct pricer *p, const uint64_t *alike, double *of_ops) {
    enum { KNOWN = 64 };
    const struct mlir *m = p->graph->m;
    uint32_t *funcs = xrealloc(NULL, (m->nfuncs + (size_t)1) * sizeof *funcs), n = match_functions(p->graph, funcs);
    uint32_t known[KNOWN] = {0}; /* functions that were priced, by the last bits of what is alike, plus 1 */
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct mlir_func *f = funcs[i] == NONE ? NULL : &m->funcs[funcs[i]];
        uint64_t key = f && alike && !p->measured ? alike[funcs[i]] : 0;
        uint32_t *like = &known[key % KNOWN];
        if (key && *like && alike[*like - 1] == key)
            memcpy(of_ops + f->first_op, of_ops + m->funcs[*like - 1].first_op,
                   (f->end_op - f->first_op) * sizeof *of_ops);
        else
            price_function(p, funcs[i], of_ops);
        if (key)
            *like = funcs[i] + 1;
        for (uint32_t op = f ? f->first_op : 0, end = f ? f->end_op : m->nops; op < end; op++)
            sum += m->ops[op].func == funcs[i] ? of_ops[op] : 0;
    }
    free(funcs);
    return sum;
}
