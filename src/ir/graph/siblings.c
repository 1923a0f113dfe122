/* Products that the compiler merges, counted once for all of them: a search asks it at each. */
#include "ir/graph/siblings.h"

#include <string.h>

static bool is_product(const struct graph *g, uint32_t op) {
    return graph_class(g, op) == OP_CONTRACT && graph_noperands(g, op) >= 2 && graph_operands(g, op)[0] != NONE;
}

/* A product that something is added to gets a bias before products are merged. */
static bool has_bias(const struct graph *g, uint32_t op) {
    uint32_t value = g->m->ops[op].first_result, first = g->first_use[value];
    return graph_count_operands(g, op) > 2 ||
           (graph_nuses(g, value) == 1 && op_is_all((enum op_kind)g->kind[g->uses[first]], ADDS | COMMUTES));
}

/* Of one left operand, alike in flags, in the rank of the right operands and in their batch, with a bias all of them or
 * none. */
static bool are_siblings(const struct graph *g, uint32_t p, uint32_t q) {
    const uint32_t *x = graph_operands(g, p), *y = graph_operands(g, q);
    uint32_t n, k;
    if (!is_product(g, q) || x[0] != y[0] || x[1] == NONE || y[1] == NONE)
        return false;
    const int64_t *shape = graph_shape(g, x[1], &n), *shape2 = graph_shape(g, y[1], &k);
    if (!shape || !shape2 || n != k || n < 2 || memcmp(shape, shape2, (n - 2) * sizeof *shape) != 0)
        return false;
    return attrs_flag(graph_attributes(g, p), "transpose_a") == attrs_flag(graph_attributes(g, q), "transpose_a") &&
           has_bias(g, p) == has_bias(g, q);
}

void siblings_build(struct graph *g) {
    g->siblings = xcalloc((size_t)g->m->nops + 1, sizeof *g->siblings);
    for (uint32_t op = 0; op < g->m->nops; op++) {
        if (!is_product(g, op) || g->siblings[op])
            continue;
        uint32_t left = graph_operands(g, op)[0], first = g->first_use[left], end = g->first_use[left + 1], n = 0;
        for (uint32_t u = first; u < end; u++)
            n += are_siblings(g, op, g->uses[u]);
        for (uint32_t u = first; u < end && n > 0; u++)
            if (are_siblings(g, op, g->uses[u]))
                g->siblings[g->uses[u]] = n;
    }
}
