/* Collects the ops of a match, those looked through between them included, sorted by id so that membership is a binary
 * search. */
#include "proof/reduce/subgraph.h"

#include <math.h>
#include <stdlib.h>

#include "proof/value/tensor.h"

static int by_id(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

bool subgraph_has(const struct subgraph *p, uint32_t op) {
    return op != NONE && bsearch(&op, p->ops, p->nops, sizeof *p->ops, by_id);
}

bool subgraph_uses(const struct subgraph *p, uint32_t value) {
    const struct graph *g = p->graph;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1]; u++)
        if (subgraph_has(p, g->uses[u]))
            return true;
    return false;
}

static bool is_static(const struct graph *g, uint32_t value) {
    uint32_t rank;
    return graph_shape(g, value, &rank) && rank <= MAX_RANK && graph_numel(g, value) >= 0;
}

struct constant operand_constant(const struct graph *g, uint32_t value) {
    struct constant none = {0};
    return value == NONE ? none : graph_constant(g, value);
}

static bool add_input(struct subgraph *p, uint32_t value) {
    for (uint32_t i = 0; i < p->ninputs; i++)
        if (p->inputs[i] == value)
            return true;
    if (p->ninputs == MAX_SUBGRAPH_INPUTS)
        return false;
    p->inputs[p->ninputs++] = value;
    return true;
}

static bool add_operands(struct subgraph *p, uint32_t op, struct reason *why) {
    const struct graph *g = p->graph;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t v = graph_operands(g, op)[i];
        if (!is_tensor_operand(g, v) || subgraph_has(p, g->m->values[v].def))
            continue;
        if (!is_static(g, v)) {
            *why = (struct reason){STR("an operand has no static shape"), REASON_NOT_STATIC};
            return false;
        }
        if (!add_input(p, v)) {
            *why = (struct reason){STR("it has too many operands"), REASON_TOO_MANY};
            return false;
        }
    }
    return true;
}

/* The op computes something else on either side of a constant, or moves where another one does. */
static bool takes_threshold(const struct graph *g, uint32_t op) {
    enum op_kind k = (enum op_kind)g->kind[op];
    bool whole = g->m->ops[op].nresults && format_is_integer(graph_dtype(g, g->m->ops[op].first_result));
    return op_is(k, PIECEWISE) || k == K_ADD || k == K_SUBTRACT || (k == K_DIVIDE && whole);
}

bool subgraph_has_thresholds(const struct subgraph *p) {
    static const double far = 1e9; /* constants beyond this stand for infinity: the bounds of masks and clamps */
    const struct graph *g = p->graph;
    for (uint32_t i = 0; i < p->nops; i++)
        for (uint32_t k = 0; k < graph_noperands(g, p->ops[i]) && takes_threshold(g, p->ops[i]); k++) {
            uint32_t v = graph_operands(g, p->ops[i])[k];
            struct constant c = operand_constant(g, v);
            if (c.known && fabs(c.value) > 1 && fabs(c.value) < far)
                return true;
        }
    return false;
}

/* Of the first `n` ops, in any order. */
static bool collect(struct subgraph *out, uint32_t n, struct reason *why) {
    out->nops = out->ninputs = 0;
    qsort(out->ops, n, sizeof *out->ops, by_id);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || out->ops[i] != out->ops[i - 1])
            out->ops[out->nops++] = out->ops[i];
    for (uint32_t i = 0; i < out->nops; i++) {
        const struct mlir_op *op = &out->graph->m->ops[out->ops[i]];
        for (uint32_t r = 0; r < op->nresults; r++)
            if (!is_static(out->graph, op->first_result + r)) {
                *why = (struct reason){STR("a result has no static shape"), REASON_NOT_STATIC};
                return false;
            }
        if (!add_operands(out, out->ops[i], why))
            return false;
    }
    return true;
}

bool subgraph_of_match(const struct match *m, struct subgraph *out, struct reason *why) {
    *out = (struct subgraph){.graph = m->graph};
    if (m->nops + m->nthrough > MAX_SUBGRAPH_OPS) {
        *why = (struct reason){STR("it has too many ops"), REASON_TOO_MANY};
        return false;
    }
    memcpy(out->ops, m->ops, m->nops * sizeof *m->ops);
    if (m->nthrough)
        memcpy(out->ops + m->nops, m->through, m->nthrough * sizeof *m->through);
    return collect(out, m->nops + m->nthrough, why);
}
