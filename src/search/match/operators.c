/* How operators treat indices: from the elements of a result that are asked for to the elements of the operands that
 * they depend on. One function for each class of the operator table (ir/ops/ops.def). */
#include "search/match/matcher.h"

#include <math.h>
#include <string.h>

/* The roles of the operator table tell: "x,y,slope=parameter". */
bool match_setting(const struct matcher *m, uint32_t op, uint32_t role, char key[32], double *actual) {
    const char *r = op_table[m->g->kind[op]].roles;
    for (uint32_t i = 0; i < role; i++) {
        r += strcspn(r, ",");
        r += *r == ',';
    }
    size_t n = strcspn(r, ",");
    const char *eq = memchr(r, '=', n);
    if (!eq || n - (size_t)(eq + 1 - r) >= 32)
        return false;
    size_t len = n - (size_t)(eq + 1 - r);
    memcpy(key, eq + 1, len);
    key[len] = '\0';
    const struct attr *x = attrs_find(graph_attributes(m->g, op), key);
    *actual = x ? x->number : 0;
    return x && x->is_number;
}

/* The formula has a number where the op has an attribute. */
static bool attribute_is(struct matcher *m, const struct goal *g, uint32_t op, uint32_t role, const struct node *node) {
    char key[32];
    double actual;
    struct evaluation e = matcher_evaluation(m, g->axes);
    return node->kind == N_NUMBER && match_setting(m, op, role, key, &actual) &&
           close_to(actual, evaluate(&e, node->number), 24);
}

/* The axes of an op whose computation is not known are the dimensions of its result, channels last. */
static bool own_axes(const struct matcher *m, uint32_t op, uint32_t value, const struct imap *map, struct axes *out) {
    uint32_t rank;
    const int64_t *shape = graph_shape(m->g, value, &rank);
    struct axes c;
    if (!shape || !imap_coordinates(map, shape, rank, &c))
        return false;
    int64_t last = graph_channels(m->g, op, rank);
    axes_clear(out);
    for (uint32_t d = 0; d < rank; d++)
        if (d != last && !axes_add(out, c.t + axes_begin(&c, d), c.end[d] - axes_begin(&c, d)))
            return false;
    return last < 0 ||
           axes_add(out, c.t + axes_begin(&c, (uint32_t)last), c.end[last] - axes_begin(&c, (uint32_t)last));
}

/* A goal for an operand as a whole, where no map leads to it: over an index space of its own. */
static struct goal *whole_operand(struct matcher *m, const struct goal *g, uint32_t arg, uint32_t value,
                                  const struct goal *next) {
    uint32_t rank;
    const int64_t *shape = graph_shape(m->g, value, &rank);
    struct imap *map = matcher_scratch(m, sizeof *map);
    struct axes *axes = matcher_scratch(m, sizeof *axes);
    if (!shape || !map || !axes || rank > MAX_RANK || graph_numel(m->g, value) < 1)
        return NULL;
    imap_identity(map, WHOLE_SPACE + value, graph_numel(m->g, value));
    if (!imap_coordinates(map, shape, rank, axes))
        return NULL;
    struct goal *c = matcher_operand(m, g, arg, value, map, axes, next);
    if (c) {
        c->outer = NULL;
        c->inside = c->turned = false;
    }
    return c;
}

/* Goals for the operands in the formula's order; `order` maps a formula's argument to an operand. */
static enum search_outcome match_operands(struct matcher *m, const struct goal *g, uint32_t op, const uint32_t *order,
                                          const struct imap *map) {
    const struct node *node = g->node;
    const uint32_t *v = graph_operands(m->g, op);
    uint32_t n = graph_noperands(m->g, op), result = m->g->m->ops[op].first_result, rank;
    const struct mlir_value *values = m->g->m->values;
    bool is_static = graph_shape(m->g, result, &rank) && rank <= MAX_RANK;
    const struct goal *next = g->next;
    for (uint32_t i = 0; i < node->nargs; i++)
        if (order[i] < n && (v[order[i]] == NONE || !matcher_plausible(m, node->args[i], v[order[i]])))
            return MISSED;
    matcher_take(m, op, g);
    for (uint32_t i = node->nargs; i-- > 0;) {
        if (order[i] >= n) {
            if (!attribute_is(m, g, op, order[i], node->args[i]))
                return matcher_failed(m, FAILED_SETTING, g, op);
            continue;
        }
        bool same = is_static && values[result].type == values[v[order[i]]].type;
        const struct imap *mapped = same ? map : matcher_operand_map(m, op, order[i], map);
        /* no index map to a parameter of such an op (a weight in tiles of 32x32): it is matched as a whole */
        bool whole = !mapped && order[i] > 0 && graph_class(m->g, op) == OP_ALIKE;
        if (!mapped && !whole)
            return matcher_failed(m, FAILED_INDEX, g, op);
        next = whole ? whole_operand(m, g, i, v[order[i]], next)
                     : matcher_operand(m, g, i, v[order[i]], mapped, g->axes, next);
        if (!next)
            return MISSED;
    }
    return matcher_solve(m, next);
}

static enum search_outcome elementwise(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    uint32_t order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    uint32_t nargs = g->node->nargs;
    if (nargs > 8 || (graph_noperands(m->g, op) > nargs && graph_count_operands(m->g, op) > nargs))
        return matcher_failed(m, FAILED_OPERANDS, g, op);
    struct mark k = matcher_mark(m);
    if (match_operands(m, g, op, order, map) == MATCHED)
        return MATCHED;
    matcher_undo(m, k);
    const uint32_t *v = graph_operands(m->g, op);
    if (!op_is((enum op_kind)m->g->kind[op], COMMUTES) || nargs != 2 || graph_noperands(m->g, op) != 2 || v[0] == v[1])
        return MISSED;
    order[0] = 1;
    order[1] = 0;
    return match_operands(m, g, op, order, map);
}

/* The axis along which softmax or a norm works, as factors. */
static bool worked_axis(const struct matcher *m, uint32_t op, const struct imap *map, struct imap *axis) {
    uint32_t rank;
    const int64_t *shape = graph_shape(m->g, m->g->m->ops[op].first_result, &rank);
    struct axes c;
    if (!shape || !imap_coordinates(map, shape, rank, &c))
        return false;
    const struct attr *axis_given = graph_axes(m->g, op),
                      *normalized = attrs_find(graph_attributes(m->g, op), "normalized_shape");
    uint32_t count = 1;
    if ((axis_given && !axis_given->is_whole) || (normalized && (normalized->n < 1 || normalized->n > (int)rank)))
        return false;
    int64_t dim = axis_given ? axis_given->whole : -1;
    if (normalized) {
        count = (uint32_t)normalized->n;
        dim = -(int64_t)count;
    }
    dim += dim < 0 ? (int64_t)rank : 0;
    if (dim < 0 || dim >= (int64_t)rank)
        return false;
    axes_join(&c, (uint32_t)dim, count, axis);
    return true;
}

static enum search_outcome axiswise(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    struct imap axis;
    if ((!worked_axis(m, op, map, &axis) || !match_axis_fits(m, g, &axis)) &&
        matcher_wrong(m, FAILED_AXIS, g, op) == SEARCH_STOPS)
        return MISSED;
    return elementwise(m, g, op, map);
}

bool match_kind_fits(const struct node *node, enum op_kind kind) {
    return (node->kind == N_OP || node->kind == N_OUTER) && node_is(node, kind);
}

/* An op of which nothing is known but its operands. */
static enum search_outcome opaque(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    (void)map;
    const uint32_t *v = graph_operands(m->g, op);
    const struct goal *next = g->next;
    if (g->node->nargs != graph_count_operands(m->g, op) || g->node->dim.n)
        return matcher_failed(m, FAILED_OPERANDS, g, op);
    for (uint32_t i = 0; i < g->node->nargs; i++)
        if (v[i] == NONE || !matcher_plausible(m, g->node->args[i], v[i]))
            return MISSED;
    matcher_take(m, op, g);
    for (uint32_t i = g->node->nargs; i-- > 0;) {
        next = whole_operand(m, g, i, v[i], next);
        if (!next)
            return MISSED;
    }
    return matcher_solve(m, next);
}

/* Movement that the formula names, rather than looks through. */
static enum search_outcome movement(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    struct imap *next = matcher_scratch(m, sizeof *next);
    if (g->node->nargs != 1 || !next || !imap_through(m->g, op, map, next))
        return matcher_failed(m, FAILED_INDEX, g, op);
    imap_canonical(next);
    matcher_take(m, op, g);
    struct goal *c = matcher_operand(m, g, 0, graph_operands(m->g, op)[0], next, g->axes, g->next);
    return c ? matcher_solve(m, c) : MISSED;
}

/* The name stands for this op from here on. */
static bool bind_op(struct matcher *m, const struct goal *g, uint32_t op, uint32_t value, const struct imap *map) {
    struct binding b = {.value = value, .op = op, .map = map, .axes = g->axes};
    if (graph_class(m->g, op) == OP_OPAQUE) {
        struct axes *axes = matcher_scratch(m, sizeof *axes);
        if (!axes || !own_axes(m, op, value, map, axes))
            return false;
        b.axes = axes;
    }
    b.needed = op_generates((enum op_kind)m->g->kind[op]) ? matcher_needed_map(m, g, value, map) : map;
    matcher_bind(m, g->slot, b);
    return b.needed != NULL;
}

/* How an op's operands are matched, by its class; those without a rule never match. */
typedef enum search_outcome operands_rule(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map);

static const struct {
    operands_rule *rule;
    bool stands_in; /* operands are what they are whatever the operator of the class is */
} classes[] = {
    [OP_ELTWISE] = {elementwise, true},
    [OP_ALIKE] = {elementwise, true},
    [OP_REDUCE] = {match_reduction, true},
    [OP_AXISWISE] = {axiswise, true},
    [OP_CONTRACT] = {match_contraction, false},
    [OP_SLICE] = {match_slice, false},
    [OP_JOIN] = {match_concat, false},
    [OP_MOVE] = {movement, false},
    [OP_CAST] = {movement, false},
    [OP_LAYOUT] = {movement, false},
    [OP_OPAQUE] = {opaque, false},
    [OP_STRUCTURE] = {NULL, false},
};

static enum search_outcome match_as_printed(struct matcher *m, const struct goal *g, uint32_t op, uint32_t value,
                                            const struct imap *map) {
    const struct graph *gr = m->g;
    bool elsewhere = gr->m->ops[op].func != m->func && !op_generates((enum op_kind)gr->kind[op]);
    if (!match_kind_fits(g->node, (enum op_kind)gr->kind[op]) || elsewhere)
        return MISSED;
    if (value != gr->m->ops[op].first_result)
        return matcher_failed(m, FAILED_RESULT, g, value);
    bool plain = (m->ops && automaton_plain(m->ops, op)) || graph_plain(gr, op) || node_says_folded(g->node);
    if (!plain && matcher_wrong(m, FAILED_FOLDED, g, op) == SEARCH_STOPS)
        return MISSED;
    if (node_wrong_attribute(g->node, gr, op) && matcher_wrong(m, FAILED_ATTRIBUTE, g, op) == SEARCH_STOPS)
        return MISSED;
    if (g->slot != NONE && !bind_op(m, g, op, value, map))
        return MISSED;
    if (g->node->kind == N_OUTER)
        return match_outer(m, g, op, map);
    operands_rule *rule = classes[graph_class(gr, op)].rule;
    return rule ? rule(m, g, op, map) : MISSED;
}

enum search_outcome match_op(struct matcher *m, const struct goal *g, uint32_t value, const struct imap *map) {
    uint32_t op = m->g->m->values[value].def;
    if (g->parent != NONE && !matcher_may_be_inside(m, op))
        return MISSED;
    return match_as_printed(m, g, op, value, map);
}

enum search_outcome match_stand_in(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    uint32_t result = m->g->m->ops[op].first_result;
    if (g->node->kind != N_OP || g->node->nargs != graph_count_operands(m->g, op) || m->g->m->ops[op].func != m->func)
        return MISSED;
    if (g->slot != NONE && !bind_op(m, g, op, result, map))
        return MISSED;
    enum op_class c = graph_class(m->g, op);
    return classes[c].stands_in ? classes[c].rule(m, g, op, map) : MISSED;
}
