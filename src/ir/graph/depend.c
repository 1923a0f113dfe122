/* One rule for each class of operators: from the dimensions along which operands vary to those of the result. What no
 * rule knows varies along all of its dimensions, and so does an argument. */
#include "ir/graph/depend.h"

#include "ir/graph/index.h"

#include <string.h>

/* Aligned from the right. */
static unsigned broadcast(const struct graph *g, uint32_t operand, uint32_t rank) {
    uint32_t own;
    if (!graph_shape(g, operand, &own) || own > rank)
        return ALL_DIMENSIONS;
    return (unsigned)g->varies[operand] << (rank - own);
}

static unsigned of_operands(const struct graph *g, uint32_t op, uint32_t rank) {
    unsigned all = 0;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        if (graph_operands(g, op)[i] != NONE)
            all |= broadcast(g, graph_operands(g, op)[i], rank);
    return all;
}

static unsigned of_product(const struct graph *g, uint32_t op, uint32_t rank) {
    struct contraction c;
    if (!contraction_of(g, op, &c))
        return ALL_DIMENSIONS;
    unsigned all = 0;
    for (uint32_t d = 0; d < c.rank; d++)
        if ((c.a_dim[d] >= 0 && g->varies[c.a] >> c.a_dim[d] & 1) ||
            (c.b_dim[d] >= 0 && g->varies[c.b] >> c.b_dim[d] & 1))
            all |= 1u << d;
    for (uint32_t i = 2; i < graph_noperands(g, op); i++) /* the bias of a linear */
        if (graph_operands(g, op)[i] != NONE)
            all |= broadcast(g, graph_operands(g, op)[i], rank);
    return all;
}

static unsigned of_reduction(const struct graph *g, uint32_t op, uint32_t rank) {
    uint32_t x = graph_operands(g, op)[0], own, to = 0;
    bool reduced[MAX_RANK];
    if (!graph_shape(g, x, &own) || own > MAX_RANK || graph_reduced_dims(g, op, own, reduced) == NONE)
        return ALL_DIMENSIONS;
    unsigned all = 0;
    for (uint32_t d = 0; d < own; d++) {
        all |= !reduced[d] && g->varies[x] >> d & 1 ? 1u << to : 0;
        to += !reduced[d] || own == rank;
    }
    return to == rank ? all : ALL_DIMENSIONS;
}

/* Dimensions of equal products are taken together: where one of them varies all on the other side do. */
static unsigned of_reshape(const struct graph *g, uint32_t x, uint32_t result) {
    uint32_t na, nb, i = 0, j = 0;
    const int64_t *a = graph_shape(g, x, &na), *b = graph_shape(g, result, &nb);
    unsigned all = 0;
    if (!a || !b || na > MAX_RANK || nb > MAX_RANK || graph_numel(g, x) < 1 ||
        graph_numel(g, x) != graph_numel(g, result))
        return ALL_DIMENSIONS;
    while (i < na && j < nb) {
        int64_t left = a[i], right = b[j];
        unsigned varies = g->varies[x] >> i++ & 1, group = 1u << j++;
        while (left != right) {
            if (j == nb || (i < na && left < right)) {
                left *= a[i];
                varies |= g->varies[x] >> i++ & 1;
            } else {
                right *= b[j];
                group |= 1u << j++;
            }
        }
        all |= varies ? group : 0;
    }
    return all;
}

static unsigned of_permute(const struct graph *g, uint32_t op, uint32_t x, uint32_t rank) {
    uint32_t order[MAX_RANK];
    if (!permutation_of(g, op, rank, order))
        return ALL_DIMENSIONS;
    unsigned all = 0;
    for (uint32_t d = 0; d < rank; d++)
        all |= (g->varies[x] >> order[d] & 1u) << d;
    return all;
}

static unsigned of_movement(const struct graph *g, uint32_t op, uint32_t result, uint32_t rank) {
    uint32_t x = graph_operands(g, op)[0];
    enum op_movement how = graph_movement(g, op);
    return how == MOVEMENT_RESHAPE   ? of_reshape(g, x, result)
           : how == MOVEMENT_PERMUTE ? of_permute(g, op, x, rank)
                                     : broadcast(g, x, rank);
}

static bool dimension_attribute(const struct graph *g, uint32_t op, const char *key, uint32_t rank, int64_t *dim) {
    const struct attr *x = attrs_find(graph_attributes(g, op), key);
    if (x && !x->is_whole)
        return false;
    *dim = x ? x->whole : 0;
    *dim += *dim < 0 ? (int64_t)rank : 0;
    return *dim >= 0 && *dim < (int64_t)rank;
}

static uint16_t by_op(const struct graph *g, uint32_t v) {
    uint32_t op = g->m->values[v].def, rank;
    unsigned there = graph_dimensions(g, v), all = ALL_DIMENSIONS;
    int64_t dim;
    if (there == ALL_DIMENSIONS || g->m->ops[op].nresults != 1 || !graph_shape(g, v, &rank))
        return ALL_DIMENSIONS;
    switch (graph_class(g, op)) {
    case OP_ELTWISE:
    case OP_AXISWISE:
    case OP_SLICE:
        all = of_operands(g, op, rank);
        break;
    case OP_JOIN:
        if (dimension_attribute(g, op, "dim", rank, &dim))
            all = of_operands(g, op, rank) | 1u << dim;
        break;
    case OP_MOVE:
    case OP_CAST:
    case OP_LAYOUT:
        all = of_movement(g, op, v, rank);
        break;
    case OP_REDUCE:
        all = of_reduction(g, op, rank);
        break;
    case OP_CONTRACT:
        all = of_product(g, op, rank);
        break;
    default:
        if (graph_op_is(g, op, COUNTS) && dimension_attribute(g, op, "arange_dimension", rank, &dim))
            all = 1u << dim;
    }
    return (uint16_t)(all & there);
}

static uint16_t varies_along(const struct graph *g, uint32_t v) {
    uint32_t op = g->m->values[v].def, returned = graph_callee_value(g, v);
    if (graph_constant(g, v).known)
        return 0;
    if (returned != NONE && g->m->values[returned].type == g->m->values[v].type)
        return g->varies[returned];
    if (op != NONE && graph_class(g, op) == OP_CALL)
        return (uint16_t)(g->varies[v] & graph_dimensions(g, v));
    return op == NONE ? graph_dimensions(g, v) : by_op(g, v);
}

void dependence_spread(struct graph *g) {
    const struct mlir *m = g->m;
    for (int main = 0; main < 2; main++)
        for (uint32_t v = 0; v < m->nvalues; v++) {
            uint32_t op = m->values[v].def, func = op == NONE ? NONE : m->ops[op].func;
            if ((func == NONE || g->func_kind[func] == FUNC_MAIN) == main)
                g->varies[v] = varies_along(g, v);
        }
}

void dependence_build(struct graph *g) {
    size_t bytes = ((size_t)g->m->nvalues + 1) * sizeof *g->varies;
    g->varies = xrealloc(NULL, bytes);
    memset(g->varies, 0xff, bytes); /* what is used before it is defined, and what a call without a body returns */
    dependence_spread(g);
}
