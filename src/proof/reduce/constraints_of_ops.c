/* The constraints that each kind of op puts on the extents of its operands and results. Ops whose operands and results
 * simply share dimensions need none, because equal dimensions are one variable; ops that are not known keep all of
 * their shapes. */
#include "proof/reduce/constraints.h"
#include "proof/value/tensor.h"

/* Of an op with this first operand and first result. */
typedef void constrainer(struct constraints *c, uint32_t op, const struct shape *x, const struct shape *y);

static int64_t int_attribute(const struct constraints *c, uint32_t op, const char *key) {
    return attrs_int(graph_attributes(c->subgraph->graph, op), key, -1);
}

/* All operands and results keep their shapes. */
static void keep_op(struct constraints *c, uint32_t op) {
    const struct graph *g = c->subgraph->graph;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        constraints_fix_shape(c, graph_operands(g, op)[i]);
    for (uint32_t r = 0; r < g->m->ops[op].nresults; r++)
        constraints_fix_shape(c, g->m->ops[op].first_result + r);
}

/* ---- movement ---- */

/* Op number `i` is a slice of the shape x, and what it takes is known. */
static bool slice_at(const struct constraints *c, uint32_t i, struct slice_bounds *s, struct shape *x) {
    const struct graph *g = c->subgraph->graph;
    uint32_t op = c->subgraph->ops[i];
    return graph_class(g, op) == OP_SLICE && slice_bounds(g, op, s) && shape_in_graph(g, graph_operands(g, op)[0], x);
}

/* Slices stay as they are. */
static void keep_slices(struct constraints *c) {
    struct slice_bounds s;
    struct shape x;
    for (uint32_t i = 0; i < c->subgraph->nops; i++) {
        if (!slice_at(c, i, &s, &x))
            continue;
        keep_op(c, c->subgraph->ops[i]);
        for (uint32_t d = 0; d < s.rank; d++) {
            constraints_fix(c, s.begin[d]);
            constraints_fix(c, s.end[d]);
        }
    }
}

/* Extents of what a concatenation puts side by side, and of its result, along its dimension. */
struct joined_parts {
    int64_t of[MAX_TERMS_OF_SIDE], whole;
    uint32_t n;
};

/* False: the op is none, or has too many. */
static bool parts_of(const struct constraints *c, uint32_t op, struct joined_parts *out) {
    const struct graph *g = c->subgraph->graph;
    struct shape y, part;
    const struct attr *axis = graph_class(g, op) == OP_JOIN ? graph_axes(g, op) : NULL;
    if (!axis || !axis->is_whole || !shape_in_graph(g, g->m->ops[op].first_result, &y))
        return false;
    int64_t d = axis->whole + (axis->whole < 0 ? y.rank : 0);
    out->n = graph_noperands(g, op);
    bool known = d >= 0 && d < y.rank && out->n <= MAX_TERMS_OF_SIDE;
    for (uint32_t i = 0; i < out->n && known; i++) {
        uint32_t v = graph_operands(g, op)[i];
        known = v != NONE && shape_in_graph(g, v, &part) && d < part.rank;
        out->of[i] = known ? part.dim[d] : 0;
    }
    out->whole = known ? y.dim[d] : 0;
    return known;
}

/* The first parts, and so many more elements, are x. */
static void constrain_parts(struct constraints *c, const int64_t *parts, uint32_t n, int64_t more, int64_t x) {
    struct constraint *all = constraints_add(c, SUM);
    for (uint32_t i = 0; i < n; i++)
        constraint_add_term(c, all, 0, parts[i]);
    constraint_add_term(c, all, 0, more);
    constraint_add_term(c, all, 1, x);
}

/* Dimensions from..to of a shape that are one of another. */
struct joined {
    const struct shape *shape;
    uint32_t from, to;
    int64_t whole;
};

/* Rows of dimension `of` of a shape before so many elements of the whole; 0: none, or all. */
struct rows_before {
    uint32_t of;
    int64_t n;
    bool whole; /* it does not end within a row */
};

static struct rows_before rows_before(const struct joined *j, int64_t at) {
    int64_t inside = 1;
    uint32_t d = j->to;
    while (d > j->from && at % (inside * j->shape->dim[d - 1]) == 0)
        inside *= j->shape->dim[--d];
    if (at == 0 || d == j->from)
        return (struct rows_before){d, 0, true};
    return (struct rows_before){d - 1, at / inside, inside > 1 && at / inside <= j->shape->dim[d - 1]};
}

/* What is cut at so many elements of the whole is cut at a number of rows of one dimension: at = that * what is inside.
 * False where it is cut within a row. */
static bool constrain_cut_rows(struct constraints *c, const struct joined *j, int64_t at) {
    struct rows_before rows = rows_before(j, at);
    if (rows.n == 0 || !rows.whole)
        return rows.whole;
    constraints_add_extent(c, rows.n);
    struct constraint *r = constraints_add(c, PRODUCT);
    constraint_add_term(c, r, 0, at);
    constraint_add_term(c, r, 1, rows.n);
    for (uint32_t d = rows.of + 1; d < j->to; d++)
        constraint_add_term(c, r, 1, j->shape->dim[d]);
    return true;
}

static bool is_several(const struct joined *j) {
    bool several = false;
    for (uint32_t d = j->from; d < j->to; d++)
        several |= j->shape->dim[d] != 1 && j->shape->dim[d] != j->whole;
    return several;
}

static void keep_joined(struct constraints *c, const struct joined *j) {
    for (uint32_t d = j->from; d < j->to; d++)
        constraints_fix(c, j->shape->dim[d]);
}

enum { ANYWHERE = -1 };

/* Some slice along a dimension of this extent begins or ends there. */
static bool is_cut(const struct constraints *c, int64_t extent, int64_t at) {
    bool cut = false;
    for (uint32_t i = 0; i < c->subgraph->nops && !cut; i++) {
        struct slice_bounds s;
        struct shape x;
        bool known = slice_at(c, i, &s, &x);
        for (uint32_t d = 0; known && d < s.rank; d++)
            cut |= s.cut[d] && x.dim[d] == extent && (at == ANYWHERE || s.begin[d] == at || s.end[d] == at);
    }
    return cut;
}

/* Parts of the whole that stand side by side begin at rows, where slices of the rows take them apart. */
static void constrain_rows_of_parts(struct constraints *c, const struct joined *j) {
    for (uint32_t i = 0; i < c->subgraph->nops; i++) {
        struct joined_parts parts;
        bool known = parts_of(c, c->subgraph->ops[i], &parts) && parts.whole == j->whole;
        int64_t at = 0;
        for (uint32_t k = 0; known && k + 1 < parts.n; k++) {
            at += parts.of[k];
            struct rows_before rows = rows_before(j, at);
            if (!rows.whole || rows.n == 0 || !is_cut(c, j->shape->dim[rows.of], rows.n))
                continue;
            constraints_add_extent(c, at);
            constrain_parts(c, parts.of, k + 1, 0, at);
            constrain_cut_rows(c, j, at);
        }
    }
}

/* Slices of the whole cut rows; where they cut within one, the place is a number that no other extents have. */
static void constrain_joined(struct constraints *c, const struct joined *j) {
    struct slice_bounds s;
    bool rows = true, several = is_several(j);
    if (several)
        constrain_rows_of_parts(c, j);
    for (uint32_t i = 0; i < c->subgraph->nops && several; i++) {
        struct shape x;
        bool known = slice_at(c, i, &s, &x);
        for (uint32_t d = 0; known && d < s.rank; d++)
            if (s.cut[d] && x.dim[d] == j->whole)
                rows = constrain_cut_rows(c, j, s.begin[d]) && constrain_cut_rows(c, j, s.end[d]) && rows;
    }
    if (rows)
        return;
    constraints_fix(c, j->whole);
    keep_joined(c, j);
    keep_slices(c);
}

/* Splits both shapes into the smallest groups of dimensions with equal products, a constraint for each. */
static void constrain_reshape(struct constraints *c, uint32_t op, const struct shape *x, const struct shape *y) {
    uint32_t i = 0, j = 0;
    (void)op;
    while (i < x->rank || j < y->rank) {
        struct constraint *r = constraints_add(c, PRODUCT);
        uint32_t i0 = i, j0 = j;
        int64_t left = 1, right = 1;
        do {
            bool take_left = i < x->rank && (left <= right || j >= y->rank);
            int64_t extent = take_left ? x->dim[i++] : y->dim[j++];
            constraint_add_term(c, r, take_left ? 0 : 1, extent);
            if (extent <= 0 || __builtin_mul_overflow(take_left ? left : right, extent, take_left ? &left : &right)) {
                c->full = true;
                return;
            }
        } while (left != right && (i < x->rank || j < y->rank));
        struct joined of_x = {x, i0, i, left}, of_y = {y, j0, j, left};
        constrain_joined(c, &of_x);
        constrain_joined(c, &of_y);
        c->n -= !c->full && r->side[0].n + r->side[1].n == 0 && r->side[0].k == r->side[1].k;
    }
}

/* from * times = to for each dimension that is repeated; shapes are aligned from the right. */
static void constrain_repeat(struct constraints *c, uint32_t op, const struct shape *x, const struct shape *y) {
    (void)op;
    for (uint32_t d = 1; d <= x->rank && d <= y->rank; d++) {
        int64_t from = x->dim[x->rank - d], to = y->dim[y->rank - d];
        if (from != to && from > 0 && to % from == 0)
            constrain_product(c, from, to / from, to);
    }
}

static void constrain_split(struct constraints *c, uint32_t op, const struct shape *x, const struct shape *y) {
    constrain_repeat(c, op, y, x);
}

/* ---- what is cut, and what is side by side ---- */

/* What is cut in a part is cut there, so far behind its begin as what is cut of the part alone. */
static void constrain_cut(struct constraints *c, const int64_t *parts, uint32_t n, int64_t at) {
    int64_t more = at;
    uint32_t i = 0;
    while (i < n && parts[i] <= more)
        more -= parts[i++];
    if (at == 0 || i == n)
        return;
    constraints_add_extent(c, more);
    constrain_parts(c, parts, i, more, at);
    constrain_at_most(c, more, parts[i]);
}

/* The same of all slices along a dimension of these parts, which are none below 0. */
static void constrain_cuts(struct constraints *c, const int64_t *parts, uint32_t n, int64_t whole) {
    for (uint32_t i = 0; i < c->subgraph->nops; i++) {
        struct slice_bounds s;
        struct shape x;
        bool known = slice_at(c, i, &s, &x);
        for (uint32_t d = 0; known && d < s.rank; d++)
            if (s.cut[d] && x.dim[d] == whole) {
                constrain_cut(c, parts, n, s.begin[d]);
                constrain_cut(c, parts, n, s.end[d]);
            }
    }
}

/* begin + size = end along a dimension that is cut, and end <= the operand's. Strided slices keep their sizes. What is
 * cut once more is a part as of a concatenation. */
static void constrain_slice(struct constraints *c, uint32_t op, const struct shape *x, const struct shape *y) {
    struct slice_bounds s;
    if (!slice_bounds(c->subgraph->graph, op, &s)) {
        keep_op(c, op);
        return;
    }
    for (uint32_t d = 0; d < s.rank; d++) {
        int64_t begin = s.begin[d], end = s.end[d], step = s.step[d], size = y->dim[d];
        constraints_add_extent(c, begin);
        constraints_add_extent(c, end);
        if (!s.cut[d])
            continue;
        constraints_cut(c, begin);
        constraints_cut(c, end);
        if (step > 1) {
            const int64_t sizes[] = {x->dim[d], size, begin, end};
            for (int i = 0; i < 4; i++)
                constraints_fix(c, sizes[i]);
            continue;
        }
        constrain_sum(c, begin, size, end);
        constrain_at_most(c, end, x->dim[d]);
        if (is_cut(c, size, ANYWHERE))
            constrain_cuts(c, (const int64_t[]){begin, size}, 2, x->dim[d]);
    }
}

/* The extents of the operands add up to that of the result. */
static void constrain_concat(struct constraints *c, uint32_t op, const struct shape *x, const struct shape *y) {
    struct joined_parts parts;
    (void)x;
    (void)y;
    if (!parts_of(c, op, &parts)) {
        c->full = true;
        return;
    }
    constrain_parts(c, parts.of, parts.n, 0, parts.whole);
    constrain_cuts(c, parts.of, parts.n, parts.whole);
}

/* As many elements are added as were. */
static void constrain_pad(struct constraints *c, uint32_t op, const struct shape *x, const struct shape *y) {
    const struct attr *padding = attrs_find(graph_attributes(c->subgraph->graph, op), "padding");
    int64_t around[2 * MAX_RANK] = {0};
    bool known = padding && mlir_ints(padding->text, around, 2 * MAX_RANK) == 2 * (int)x->rank;
    for (uint32_t d = 0; d < x->rank && d < y->rank; d++) {
        int64_t added = y->dim[d] - x->dim[d], front = around[(size_t)2 * d];
        if (added == 0)
            continue;
        struct constraint *r = constraints_add(c, SUM);
        constraint_add_term(c, r, 0, x->dim[d]);
        constraint_add_term(c, r, 1, y->dim[d]);
        constraint_add_constant(c, r, 0, added);
        if (!known || front < 0 || front > added)
            continue;
        constraints_fix(c, front);
        constraints_fix(c, added - front);
        constrain_cuts(c, (const int64_t[]){front, x->dim[d], added - front}, 3, y->dim[d]);
    }
}

/* The least of the rows behind this one that are filled; NONE: there is none. */
static int64_t filled_next(const struct constraints *c, int64_t row) {
    const struct subgraph *s = c->subgraph;
    int64_t next = NONE;
    for (uint32_t i = 0; i < s->nops; i++) {
        int64_t other = s->graph->kind[s->ops[i]] == K_FILL_CACHE ? int_attribute(c, s->ops[i], "batch_offset") : row;
        next = other > row && other < next ? other : next;
    }
    return next;
}

/* batch_offset + 1 <= users, other rows stay others, and what fills them fits. */
static void constrain_fill(struct constraints *c, uint32_t op, const struct shape *x, const struct shape *y) {
    const struct graph *g = c->subgraph->graph;
    int64_t row = int_attribute(c, op, "batch_offset"), next = filled_next(c, row);
    struct constraint *user = constraints_add(c, AT_MOST);
    struct shape rows;
    (void)y;
    constraint_add_term(c, user, 0, row);
    constraint_add_constant(c, user, 0, 1);
    constraint_add_term(c, user, 1, next != NONE ? next : x->rank ? x->dim[0] : 1);
    if (x->rank == 4 && shape_in_graph(g, graph_operands(g, op)[1], &rows) && rows.rank == 4)
        constrain_at_most(c, rows.dim[2], x->dim[2]);
}

/* ---- heads ---- */

/* How many heads the result `r` has, queries, keys or values, and the elements of each. False where that is not known.
 */
static bool heads_of(const struct constraints *c, uint32_t op, uint32_t r, int64_t *heads, int64_t *size) {
    const struct graph *g = c->subgraph->graph;
    bool transposed = r == 1 && attrs_flag(graph_attributes(g, op), "transpose_key");
    struct shape y;
    *heads = int_attribute(c, op, r == 0 ? "num_heads" : "num_kv_heads");
    if (*heads < 0)
        *heads = int_attribute(c, op, "num_heads");
    *size = shape_in_graph(g, g->m->ops[op].first_result + r, &y) && y.rank == 4 ? y.dim[transposed ? 2 : 3] : 0;
    return *heads > 0 && *size > 0 && *heads < INT32_MAX && *size < INT32_MAX;
}

/* heads * size = rows of each result; those of all results, or without the queries where these are an operand of their
 * own, are the rows of the last operand. */
static void constrain_heads(struct constraints *c, uint32_t op, const struct shape *x, const struct shape *y) {
    const struct graph *g = c->subgraph->graph;
    uint32_t last = graph_noperands(g, op);
    struct shape rows = *x;
    struct constraint *sum = constraints_add(c, SUM);
    (void)y;
    while (last > 1 && !is_tensor_operand(g, graph_operands(g, op)[last - 1]))
        last--;
    if (last > 1)
        shape_in_graph(g, graph_operands(g, op)[last - 1], &rows);
    for (uint32_t r = 0; r < g->m->ops[op].nresults; r++) {
        int64_t heads, size;
        if (!heads_of(c, op, r, &heads, &size)) {
            c->full = true;
            return;
        }
        constrain_product(c, heads, size, heads * size);
        if (r > 0 || last < 2)
            constraint_add_term(c, sum, 0, heads * size);
    }
    constraint_add_term(c, sum, 1, rows.rank ? rows.dim[rows.rank - 1] : 1);
}

/* groups * size = channels. */
static void constrain_groups(struct constraints *c, uint32_t op, const struct shape *x, const struct shape *y) {
    const struct graph *g = c->subgraph->graph;
    int64_t groups = int_attribute(c, op, "num_groups"),
            axis = int_attribute(c, op, op_table[g->kind[op]].channels.key);
    (void)y;
    axis += axis < 0 ? x->rank : 0; /* the last one where it is not said */
    if (axis < 0 || axis >= x->rank || groups < 1 || x->dim[axis] % groups) {
        c->full = true;
        return;
    }
    constrain_product(c, groups, x->dim[axis] / groups, x->dim[axis]);
}

/* Elements by index, as PyTorch takes them, keep their shapes; StableHLO's slices along one dimension are whole. */
static void constrain_gather(struct constraints *c, uint32_t op, const struct shape *x, const struct shape *y) {
    (void)x;
    (void)y;
    if (!attrs_find(graph_attributes(c->subgraph->graph, op), "start_index_map"))
        keep_op(c, op);
}

/* Windows begin by numbers of their own, where slices on the other side do. */
static void constrain_windows_selected(struct constraints *c, uint32_t op, const struct shape *x,
                                       const struct shape *y) {
    (void)x;
    (void)y;
    keep_op(c, op);
    keep_slices(c);
}

/* ---- by operator ---- */

static bool is_free(enum op_kind k) {
    static const bool classes[] = {
        [OP_ELTWISE] = true, [OP_REDUCE] = true, [OP_AXISWISE] = true, [OP_CONTRACT] = true,  [OP_ALIKE] = true,
        [OP_CAST] = true,    [OP_LAYOUT] = true, [OP_CONSTANT] = true, [OP_STRUCTURE] = false};
    enum shrink_rule rule = op_table[k].shrink;
    return rule == SHRINK_FREE || (rule == SHRINK_BY_CLASS && classes[op_table[k].class]);
}

/* NULL: nothing is known. */
static constrainer *constrainer_of(enum op_kind k) {
    static constrainer *const rules[] = {[SHRINK_RESHAPE] = constrain_reshape,
                                         [SHRINK_MULTIPLIES] = constrain_repeat,
                                         [SHRINK_DIVIDES] = constrain_split,
                                         [SHRINK_PAD] = constrain_pad,
                                         [SHRINK_FILLS] = constrain_fill,
                                         [SHRINK_TAKES_SLICES] = constrain_gather,
                                         [SHRINK_HEADS] = constrain_heads,
                                         [SHRINK_GROUPS] = constrain_groups,
                                         [SHRINK_SELECTS] = constrain_windows_selected};
    return op_table[k].class == OP_JOIN    ? constrain_concat
           : op_table[k].class == OP_SLICE ? constrain_slice
           : op_table[k].window.kind       ? constraints_of_window
                                           : rules[op_table[k].shrink];
}

/* Whole numbers in attributes. */
static void add_counts(struct constraints *c, uint32_t op) {
    const struct graph *g = c->subgraph->graph;
    enum op_kind k = (enum op_kind)g->kind[op];
    const struct attrs *a = op_table[k].dims ? graph_attributes(g, op) : NULL;
    for (uint32_t i = 0; a && i < a->n; i++)
        if (a->at[i].is_whole && op_dims_role(k, a->at[i].key) == DIMS_COUNT)
            constraints_add_extent(c, a->at[i].whole);
}

void constraints_of_op(struct constraints *c, uint32_t op) {
    const struct graph *g = c->subgraph->graph;
    enum op_kind k = (enum op_kind)g->kind[op];
    constrainer *f = constrainer_of(k);
    struct shape x, y;
    bool operand =
        graph_noperands(g, op) && graph_operands(g, op)[0] != NONE && shape_in_graph(g, graph_operands(g, op)[0], &x);
    add_counts(c, op);
    if (op_generates(k) && graph_class(g, op) != OP_CONSTANT && subgraph_has_thresholds(c->subgraph)) {
        constraints_fix_shape(c, g->m->ops[op].first_result);
        keep_slices(c); /* which may begin at the same constants */
    }
    if (is_free(k))
        return;
    if (f && operand && g->m->ops[op].nresults && shape_in_graph(g, g->m->ops[op].first_result, &y))
        f(c, op, &x, &y);
    else
        keep_op(c, op);
}
