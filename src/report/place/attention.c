/* Attentions that are spelled out: found at their second product, softmax(Q K^T) V, by following the dimension that it
 * contracts back to the first one. */
#include "report/place/flow.h"

enum { MAX_STEPS = 64, MAX_STEPS_TO_SUM = 8 };

/* The product that a value is made of; NONE: of none or of several. */
static uint32_t product_of(const struct flow *f, uint32_t v) {
    const struct flow_links *from = flow_from(f, v);
    uint32_t found = NONE;
    for (uint32_t i = 0; i < from->n; i++)
        if (from->items[i].kind == LINK_PRODUCT) {
            if (found != NONE)
                return NONE;
            found = from->items[i].at;
        }
    return found;
}

/* Dimensions are counted from the last one, 0, so that it does not matter how many come first. */
static bool works_along(const struct graph *g, uint32_t op, int dim) {
    const struct attr *axis = graph_axes(g, op);
    uint32_t rank;
    if (!graph_shape(g, graph_operands(g, op)[0], &rank) || !axis || axis->n != 1)
        return false;
    return axis->list[0] + (axis->list[0] < 0 ? rank : 0) == (int64_t)rank - 1 - dim;
}

/* The dimension of the operand with the same extent and as many elements behind it. */
static int before_reshape(const int64_t *of, uint32_t from, const int64_t *to, uint32_t rank, int dim) {
    int64_t behind = 1, n = 1;
    for (int d = 0; d < dim; d++)
        if (__builtin_mul_overflow(behind, to[rank - 1 - (uint32_t)d], &behind))
            return -1;
    for (uint32_t d = 0; d < from && n <= behind; d++) {
        int64_t extent = of[from - 1 - d];
        if (n == behind && extent == to[rank - 1 - (uint32_t)dim])
            return (int)d;
        if (__builtin_mul_overflow(n, extent, &n))
            return -1;
    }
    return -1;
}

/* The dimension of the operand that a dimension of the result is; -1: not known. */
static int before(const struct graph *g, uint32_t op, int dim) {
    uint32_t rank, from, order[MAX_RANK];
    const int64_t *to = graph_shape(g, g->m->ops[op].first_result, &rank);
    const int64_t *of = graph_shape(g, graph_operands(g, op)[0], &from);
    if (!to || !of || dim >= (int)rank)
        return -1;
    if (graph_movement(g, op) == MOVEMENT_PERMUTE)
        return permutation_of(g, op, rank, order) ? (int)(rank - 1 - order[rank - 1 - (uint32_t)dim]) : -1;
    return graph_movement(g, op) == MOVEMENT_RESHAPE ? before_reshape(of, from, to, rank, dim) : dim;
}

/* The sum that a statistic of scores is, or NONE. */
static uint32_t sum_behind(const struct flow *f, uint32_t v) {
    for (int step = 0; step < MAX_STEPS_TO_SUM && flow_def(f, v) != NONE; step++) {
        uint32_t op = flow_def(f, v);
        if (graph_class(f->g, op) == OP_REDUCE)
            return graph_op_is(f->g, op, TOTALS) && flow_flags(f, v) & WAS_EXP ? op : NONE;
        if (graph_noperands(f->g, op) == 0 || graph_operands(f->g, op)[0] == NONE)
            return NONE;
        v = graph_operands(f->g, op)[0];
    }
    return NONE;
}

/* The operand through which attention weights are made of scores, and whether the op divides by sums of them. */
static uint32_t operand_of_scores(const struct flow *f, uint32_t op, uint32_t scores, uint32_t *sum) {
    uint32_t found = NONE;
    *sum = NONE;
    for (uint32_t k = 0; k < graph_noperands(f->g, op); k++) {
        uint32_t v = graph_operands(f->g, op)[k];
        if (v == NONE || product_of(f, v) != scores)
            continue;
        if (flow_flags(f, v) & IS_STATISTIC)
            *sum = sum_behind(f, v);
        else if (found == NONE)
            found = v;
    }
    return found;
}

/* Follows a dimension of attention weights back to their scores, where it is *dim; -1: it cannot be followed. False: a
 * softmax is along another one, or there is none. */
static bool normalised_along(const struct flow *f, uint32_t weights, uint32_t scores, int *dim) {
    const struct graph *g = f->g;
    bool normalised = false;
    uint32_t v = weights;
    for (int step = 0; v != scores && step < MAX_STEPS && *dim >= 0 && flow_def(f, v) != NONE; step++) {
        uint32_t op = flow_def(f, v), sum;
        v = operand_of_scores(f, op, scores, &sum);
        uint32_t normalises =
            op_table[g->kind[op]].class == OP_AXISWISE && op_table[g->kind[op]].flow == FLOW_EXPONENTIAL ? op : sum;
        if (normalises != NONE && !works_along(g, normalises, *dim))
            return false;
        normalised |= normalises != NONE;
        *dim = v == NONE ? -1 : before(g, op, *dim);
    }
    *dim = v == scores ? *dim : -1;
    return normalised || *dim < 0;
}

bool flow_find_attention(const struct flow *f, uint32_t op, uint32_t weights, uint32_t values,
                         struct attention_site *out) {
    const struct graph *g = f->g;
    uint32_t scores = product_of(f, weights), rank;
    struct contraction c, s;
    if (scores == NONE || product_of(f, values) == scores || !(flow_flags(f, weights) & WAS_EXP) ||
        flow_flags(f, weights) & IS_STATISTIC || !contraction_of(g, op, &c) || c.nsummed != 1 ||
        !contraction_of(g, flow_def(f, scores), &s) || !graph_shape(g, weights, &rank))
        return false;
    int dim = (int)rank - 1 - (c.a == weights ? c.a_summed[0] : c.b_summed[0]);
    if (!normalised_along(f, weights, scores, &dim))
        return false;
    enum contraction_role role = dim < 0 || dim >= (int)s.rank ? ROLE_BATCH : s.role[s.rank - 1 - (uint32_t)dim];
    bool first = role == ROLE_ROWS; /* the dimension that is summed counts keys: those of the first operand */
    *out = (struct attention_site){op, scores, first ? s.b : s.a, first ? s.a : s.b, values, role != ROLE_BATCH};
    return true;
}
