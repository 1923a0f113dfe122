/* Counts registers along a sequence of ops. */
#include "regions/regions.h"

#include <stdlib.h>

bool region_computes(const struct graph *g, const uint32_t *ops, uint32_t n, uint32_t value) {
    return find_id(ops, n, g->m->values[value].def) != NONE;
}

uint32_t region_registers(const struct graph *g, const uint32_t *order, uint32_t n) {
    uint32_t *ops = xcalloc(n + (size_t)1, sizeof *ops), live = 0, most = 0;
    memcpy(ops, order, n * sizeof *ops);
    sort_ids(ops, n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *in = graph_operands(g, order[i]);
        uint32_t slots = graph_noperands(g, order[i]), computed = 0, loaded = 0;
        for (uint32_t k = 0; k < slots; k++) {
            bool again = false;
            for (uint32_t j = 0; j < k; j++)
                again |= in[j] == in[k];
            bool inside = region_computes(g, ops, n, in[k]);
            computed += inside && !again;
            loaded += !inside;
        }
        bool apart = slots > 1 || graph_class(g, order[i]) == OP_REDUCE;
        uint32_t now = live + loaded + apart;
        most = now > most ? now : most;
        live = live + 1 - computed;
    }
    free(ops);
    return most;
}
