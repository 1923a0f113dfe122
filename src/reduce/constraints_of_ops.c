/* The constraints that each kind of op puts on the extents of its operands and results. Ops whose operands and results
 * simply share dimensions need none, because equal dimensions are one variable; ops that are not known keep all of
 * their shapes. */
#include "numeric/tensor.h"
#include "reduce/constraints.h"

/* Splits both shapes into the smallest groups of dimensions with equal products, a constraint for each. */
static void constrain_reshape(struct constraints *c, const int64_t *a, uint32_t na, const int64_t *b, uint32_t nb) {
    uint32_t i = 0, j = 0;
    while (i < na || j < nb) {
        struct constraint *r = constraints_add(c, PRODUCT);
        int64_t left = 1, right = 1;
        do {
            bool take_left = i < na && (left <= right || j >= nb);
            int64_t x = take_left ? a[i++] : b[j++];
            constraint_add_term(c, r, take_left ? 0 : 1, x);
            if (x <= 0 || __builtin_mul_overflow(take_left ? left : right, x, take_left ? &left : &right)) {
                c->full = true;
                return;
            }
        } while (left != right && (i < na || j < nb));
        c->n -= !c->full && r->side[0].n + r->side[1].n == 0 && r->side[0].k == r->side[1].k;
    }
}

/* How often each dimension is repeated is a variable of its own; shapes are aligned from the right. */
static void add_repeat_extents(struct constraints *c, const int64_t *a, uint32_t na, const int64_t *b, uint32_t nb) {
    for (uint32_t d = 0; d < na && d < nb; d++) {
        int64_t from = a[na - 1 - d], to = b[nb - 1 - d];
        if (from == to || from < 1 || to % from != 0)
            continue;
        constraints_add_extent(c, to / from);
    }
}

/* from * times = to for each dimension that is repeated. */
static void constrain_repeat(struct constraints *c, const int64_t *a, uint32_t na, const int64_t *b, uint32_t nb) {
    for (uint32_t d = 0; d < na && d < nb; d++) {
        int64_t from = a[na - 1 - d], to = b[nb - 1 - d];
        if (from == to || from < 1 || to % from != 0)
            continue;
        struct constraint *r = constraints_add(c, PRODUCT);
        constraint_add_term(c, r, 0, from);
        constraint_add_term(c, r, 0, to / from);
        constraint_add_term(c, r, 1, to);
    }
}

/* begin + size = end along a dimension that is cut, and end <= the operand's; with a step: step * size = the operand's,
 * where the slice takes every so many elements of all of it. Other strided slices keep their sizes. */
static void constrain_slice(struct constraints *c, uint32_t op, const int64_t *a, const int64_t *b) {
    struct slice_bounds bounds;
    if (!slice_bounds(c->subgraph->graph, op, &bounds)) {
        constraints_fix_shape(c, graph_operands(c->subgraph->graph, op)[0]);
        constraints_fix_shape(c, c->subgraph->graph->m->ops[op].first_result);
        return;
    }
    for (uint32_t d = 0; d < bounds.rank; d++) {
        int64_t begin = bounds.begin[d], end = bounds.end[d], step = bounds.step[d];
        if (!bounds.cut[d])
            continue;
        if (step > 1 && (begin >= step || end > a[d] || b[d] * step != a[d])) {
            const int64_t sizes[] = {a[d], b[d], begin, end};
            for (int i = 0; i < 4; i++)
                constraints_fix(c, sizes[i]);
            continue;
        }
        struct constraint *size = constraints_add(c, step > 1 ? PRODUCT : SUM);
        constraint_add_term(c, size, 0, step > 1 ? step : begin);
        constraint_add_term(c, size, 0, b[d]);
        constraint_add_term(c, size, 1, step > 1 ? a[d] : end);
        if (step > 1) {
            constraints_fix(c, step);
            constraints_fix(c, begin);
        }
        struct constraint *within = constraints_add(c, AT_MOST);
        constraint_add_term(c, within, 0, end);
        constraint_add_term(c, within, 1, a[d]);
    }
}

/* The extents of the operands add up to that of the result, along the dimension where they do. */
static void constrain_concat(struct constraints *c, uint32_t op) {
    const struct graph *g = c->subgraph->graph;
    uint32_t rank;
    const int64_t *to = graph_shape(g, g->m->ops[op].first_result, &rank);
    for (uint32_t d = 0; to && d < rank; d++) {
        int64_t sum = 0;
        bool along = true;
        for (uint32_t i = 0; i < graph_noperands(g, op) && along; i++) {
            uint32_t r;
            const int64_t *dims =
                graph_operands(g, op)[i] == NONE ? NULL : graph_shape(g, graph_operands(g, op)[i], &r);
            along = dims && r == rank && !__builtin_add_overflow(sum, dims[d], &sum);
        }
        if (!along || sum != to[d] || graph_noperands(g, op) < 2)
            continue;
        struct constraint *all = constraints_add(c, SUM);
        for (uint32_t i = 0; i < graph_noperands(g, op); i++)
            constraint_add_term(c, all, 0, graph_shape(g, graph_operands(g, op)[i], &rank)[d]);
        constraint_add_term(c, all, 1, to[d]);
    }
}

static enum shrink_rule rule_of(enum op_kind k) {
    static const bool is_free[] = {
        [OP_ELTWISE] = true, [OP_REDUCE] = true, [OP_AXISWISE] = true, [OP_CONTRACT] = true,  [OP_ALIKE] = true,
        [OP_CAST] = true,    [OP_LAYOUT] = true, [OP_CONSTANT] = true, [OP_STRUCTURE] = false};
    return op_table[k].shrink == SHRINK_BY_CLASS && is_free[op_table[k].class] ? SHRINK_FREE : op_table[k].shrink;
}

/* Whole numbers in attributes. */
static void add_counts(struct constraints *c, uint32_t op) {
    enum { MAX_ATTRS = 48 };
    const struct graph *g = c->subgraph->graph;
    struct str keys[MAX_ATTRS], values[MAX_ATTRS];
    int64_t x;
    int n = op_table[g->kind[op]].dims ? mlir_attrs(g->m, op, keys, values, MAX_ATTRS) : 0;
    for (int i = 0; i < n && i < MAX_ATTRS; i++)
        if (op_dims_role((enum op_kind)g->kind[op], keys[i]) == DIMS_COUNT && mlir_int(values[i], &x))
            constraints_add_extent(c, x);
}

void extents_of_op(struct constraints *c, uint32_t op) {
    const struct graph *g = c->subgraph->graph;
    uint32_t na = 0, nb = 0, x = graph_noperands(g, op) ? graph_operands(g, op)[0] : NONE;
    const int64_t *a = x == NONE ? NULL : graph_shape(g, x, &na);
    const int64_t *b = g->m->ops[op].nresults ? graph_shape(g, g->m->ops[op].first_result, &nb) : NULL;
    if (a && b && op_table[g->kind[op]].shrink == SHRINK_MULTIPLIES)
        add_repeat_extents(c, a, na, b, nb);
    if (a && b && op_table[g->kind[op]].shrink == SHRINK_DIVIDES)
        add_repeat_extents(c, b, nb, a, na);
    add_counts(c, op);
    extents_of_window(c, op);
}

/* A norm over the last dimension whose weights are folded to several dimensions: their product is that dimension. */
static void constrain_folded_rows(struct constraints *c, uint32_t op, const int64_t *x, uint32_t rank) {
    const struct graph *g = c->subgraph->graph;
    uint32_t n;
    for (uint32_t i = 1; x && rank && i < graph_noperands(g, op) && i < 3; i++) {
        uint32_t v = graph_operands(g, op)[i];
        const int64_t *dims = is_tensor_operand(g, v) ? graph_shape(g, v, &n) : NULL;
        if (dims && graph_numel(g, v) == x[rank - 1])
            constrain_reshape(c, dims, n, x + rank - 1, 1);
    }
}

/* from + (elements added) = to, with the number of elements added kept. */
static void constrain_pad(struct constraints *c, int64_t from, int64_t to) {
    struct constraint *r = constraints_add(c, SUM);
    constraint_add_term(c, r, 0, from);
    constraint_add_term(c, r, 1, to);
    c->full |= __builtin_add_overflow(r->side[0].k, to - from, &r->side[0].k);
}

static void constrain_known(struct constraints *c, uint32_t op, enum shrink_rule rule, const int64_t *a, uint32_t na,
                            const int64_t *b, uint32_t nb) {
    if (rule == SHRINK_RESHAPE)
        constrain_reshape(c, a, na, b, nb);
    else if (rule == SHRINK_MULTIPLIES)
        constrain_repeat(c, a, na, b, nb);
    else if (rule == SHRINK_DIVIDES)
        constrain_repeat(c, b, nb, a, na);
    else if (rule == SHRINK_TAKES_K) {
        struct constraint *r = constraints_add(c, AT_MOST);
        constraint_add_term(c, r, 0, int_attribute(c->subgraph->graph, op, "k"));
        constraint_add_term(c, r, 1, na ? a[na - 1] : 1);
    } else if (rule == SHRINK_FILLS) {
        struct constraint *r = constraints_add(c, AT_MOST); /* batch_offset + 1 <= users */
        constraint_add_term(c, r, 0, int_attribute(c->subgraph->graph, op, "batch_offset"));
        constraint_add_constant(c, r, 0, 1);
        constraint_add_term(c, r, 1, na ? a[0] : 1);
        uint32_t n;
        const int64_t *rows = graph_shape(c->subgraph->graph, graph_operands(c->subgraph->graph, op)[1], &n);
        r = constraints_add(c, AT_MOST); /* the rows fit */
        constraint_add_term(c, r, 0, rows && n == 4 ? rows[2] : 1);
        constraint_add_term(c, r, 1, na == 4 ? a[2] : 1);
    } else if (rule == SHRINK_PAD)
        for (uint32_t d = 0; d < na && d < nb; d++)
            if (a[d] != b[d])
                constrain_pad(c, a[d], b[d]);
}

void constraints_of_op(struct constraints *c, uint32_t op) {
    const struct graph *g = c->subgraph->graph;
    enum op_kind k = (enum op_kind)g->kind[op];
    enum shrink_rule rule = rule_of(k);
    uint32_t na = 0, nb = 0, x = graph_noperands(g, op) ? graph_operands(g, op)[0] : NONE;
    const int64_t *a = x == NONE ? NULL : graph_shape(g, x, &na);
    const int64_t *b = g->m->ops[op].nresults ? graph_shape(g, g->m->ops[op].first_result, &nb) : NULL;
    if (op_is(k, FOLDED_WEIGHTS))
        constrain_folded_rows(c, op, a, na);
    if (op_generates(k) && graph_class(g, op) != OP_CONSTANT && subgraph_has_thresholds(c->subgraph))
        constraints_fix_shape(c, g->m->ops[op].first_result);
    if (rule == SHRINK_FREE)
        return;
    if (graph_class(g, op) == OP_JOIN) {
        constrain_concat(c, op);
    } else if (a && b && graph_class(g, op) == OP_SLICE) {
        constrain_slice(c, op, a, b);
    } else if (a && b && op_table[k].window.rank > 0) {
        constraints_of_window(c, op);
    } else if (a && b && rule != SHRINK_BY_CLASS) {
        constrain_known(c, op, rule, a, na, b, nb);
    } else {
        for (uint32_t i = 0; i < graph_noperands(g, op); i++)
            constraints_fix_shape(c, graph_operands(g, op)[i]);
        for (uint32_t r = 0; r < g->m->ops[op].nresults; r++)
            constraints_fix_shape(c, g->m->ops[op].first_result + r);
    }
}
