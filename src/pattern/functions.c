/* Which functions of a module are searched. */
#include "pattern/match.h"

uint32_t match_functions(const struct graph *g, uint32_t *funcs) {
    uint32_t n = 0;
    for (uint32_t op = 0; op < g->m->nops && n == 0; op++) {
        uint32_t f = g->m->ops[op].func;
        if (f != NONE && g->m->funcs[f].end_op > op) /* all ops up to there are of functions */
            op = g->m->funcs[f].end_op - 1;
        else if (f == NONE && g->kind[op] != K_UNKNOWN && graph_class(g, op) != OP_STRUCTURE)
            funcs[n++] = NONE;
    }
    for (uint32_t f = 0; f < g->m->nfuncs; f++)
        if (g->func_kind[f] == FUNC_MAIN && g->m->funcs[f].complete) /* of a cut one the last uses are unknown */
            funcs[n++] = f;
    return n;
}
