/* Types that mean nothing, and results whose shape is not what the op makes of its operands. Only static shapes and ops
 * whose indices are understood are judged. */
#include "graph/index.h"
#include "graph/operands.h"

#include <string.h>

void check_aliases(struct graph *g, struct diags *d) {
    const struct mlir *m = g->m;
    struct str alias;
    for (uint32_t i = 0; i < m->nops; i++) {
        const struct mlir_op *o = &m->ops[i];
        if (g->kind[i] == K_UNKNOWN || o->func == NONE || m->funcs[o->func].module == NONE)
            continue; /* what is pasted may lack its aliases */
        if (mlir_unresolved(m, mlir_span(m, o->props), &alias) || mlir_unresolved(m, mlir_span(m, o->attrs), &alias))
            bad_op(g, i, d, "needs %.*s, which is not defined, or only by itself", (int)alias.n, alias.p);
    }
}

static bool has_impossible(const struct graph *g, const uint32_t *values, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (values[i] != NONE && g->m->types[g->m->values[values[i]].type].impossible)
            return true;
    return false;
}

void check_types(struct graph *g, struct diags *d) {
    const struct mlir *m = g->m;
    bool any = false;
    for (uint32_t i = 0; i < m->ntypes; i++)
        any |= m->types[i].impossible;
    for (uint32_t i = 0; any && i < m->nops; i++) {
        uint32_t result = m->ops[i].first_result;
        bool makes = m->ops[i].nresults && has_impossible(g, &result, 1);
        if (makes || has_impossible(g, m->operands + m->ops[i].first_operand, m->ops[i].noperands))
            bad_op(g, i, d, "%s a tensor that cannot be", makes ? "makes" : "takes");
    }
}

struct dims {
    const int64_t *at;
    uint32_t rank;
};

/* False where the shape is not known or has dynamic extents. */
static bool static_dims(const struct graph *g, uint32_t value, struct dims *out) {
    out->at = graph_shape(g, value, &out->rank);
    for (uint32_t i = 0; out->at && i < out->rank; i++)
        if (out->at[i] < 0)
            return false;
    return out->at != NULL;
}

/* Extent of dimension `i` of a result of rank `rank`, from the right; 1 where the operand has none. */
static int64_t extent_from_right(const struct dims *d, uint32_t i, uint32_t rank) {
    return i + d->rank >= rank ? d->at[i + d->rank - rank] : 1;
}

static bool broadcasts(const struct graph *g, uint32_t op, const struct dims *result) {
    int64_t widest[MAX_RANK];
    uint32_t n = graph_noperands(g, op), known = 0;
    for (uint32_t i = 0; i < result->rank; i++)
        widest[i] = 1;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t value = graph_operands(g, op)[k];
        struct dims d;
        if (value == NONE || !static_dims(g, value, &d))
            continue;
        if (d.rank > result->rank)
            return false;
        known++;
        for (uint32_t i = 0; i < result->rank; i++) {
            int64_t e = extent_from_right(&d, i, result->rank);
            if (e != 1 && e != result->at[i])
                return false;
            widest[i] = e == 1 ? widest[i] : e;
        }
    }
    return known < n || n == 0 || memcmp(widest, result->at, result->rank * sizeof *widest) == 0;
}

/* As many elements as the operand has along the dimensions that stay. */
static bool reduces(const struct graph *g, uint32_t op, const struct dims *x, int64_t numel) {
    const char *const *keys = op_table[g->kind[op]].axes;
    struct str text = {0};
    int64_t axes[MAX_RANK], left = 1;
    bool gone[MAX_RANK] = {false}, found = false;
    for (uint32_t k = 0; k < 4 && keys[k] && !found; k++)
        found = mlir_attr(g->m, op, keys[k], &text);
    int n = found ? mlir_ints(text, axes, MAX_RANK) : 0;
    if (n < 0 || n > MAX_RANK)
        return true;
    for (int i = 0; i < n; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + (int64_t)x->rank : axes[i];
        if (axis < 0 || axis >= (int64_t)x->rank)
            return false;
        gone[axis] = true;
    }
    for (uint32_t i = 0; i < x->rank; i++)
        if (n > 0 && !gone[i] && __builtin_mul_overflow(left, x->at[i], &left))
            return true;
    return left == numel;
}

/* Bounds that are printed as numbers; others are operands. */
static bool is_static_slice(const struct graph *g, uint32_t op, uint32_t rank) {
    static const char *const keys[] = {"begins", "ends"};
    int64_t at[MAX_RANK];
    struct str text;
    for (size_t i = 0; i < 2; i++)
        if (!mlir_attr(g->m, op, keys[i], &text) || mlir_ints(text, at, MAX_RANK) != (int)rank)
            return false;
    return true;
}

/* What is wrong with the result; NULL: nothing that is known. */
static const char *contradiction(const struct graph *g, uint32_t op, const struct dims *result) {
    uint32_t out = g->m->ops[op].first_result, n = graph_noperands(g, op);
    uint32_t first = n > 0 ? graph_operands(g, op)[0] : NONE;
    struct dims x, y;
    struct contraction c;
    struct imap whole, through;
    struct slice_bounds cut;
    if (first == NONE || !static_dims(g, first, &x) || x.rank > MAX_RANK)
        return NULL;
    switch (graph_class(g, op)) {
    case OP_ELTWISE:
        return broadcasts(g, op, result) ? NULL : "is not of the shape that its operands broadcast to";
    case OP_REDUCE:
        return reduces(g, op, &x, graph_numel(g, out)) ? NULL : "is not what is left of its operand's dimensions";
    case OP_CAST:
    case OP_LAYOUT:
        return graph_numel(g, first) == graph_numel(g, out) ? NULL : "has not as many elements as its operand";
    case OP_MOVE:
        imap_identity(&whole, 0, graph_numel(g, out));
        return imap_through(g, op, &whole, &through) ? NULL : "is not its operand moved";
    case OP_SLICE:
        return slice_bounds(g, op, &cut) || !is_static_slice(g, op, x.rank) ? NULL
                                                                            : "is not of the extents that it cuts";
    case OP_CONTRACT:
        if (n < 2 || graph_operands(g, op)[1] == NONE || !static_dims(g, graph_operands(g, op)[1], &y))
            return NULL;
        return contraction_of(g, op, &c) ? NULL : "is not a product of its operands' shapes";
    default:
        return NULL;
    }
}

static bool same_span(struct span a, struct span b) {
    return a.begin == b.begin && a.end == b.end;
}

static uint32_t type_of(const struct graph *g, uint32_t value) {
    return value == NONE ? NONE : g->m->values[value].type;
}

/* Nothing that contradiction() looks at differs. */
static bool alike(const struct graph *g, uint32_t a, uint32_t b) {
    const struct mlir_op *x = &g->m->ops[a], *y = &g->m->ops[b];
    uint32_t n = graph_noperands(g, a);
    if (g->kind[a] != g->kind[b] || n != graph_noperands(g, b) || x->nresults != y->nresults ||
        !same_span(x->props, y->props) || !same_span(x->attrs, y->attrs) ||
        type_of(g, x->first_result) != type_of(g, y->first_result))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (type_of(g, graph_operands(g, a)[i]) != type_of(g, graph_operands(g, b)[i]))
            return false;
    return true;
}

void check_shapes(struct graph *g, struct diags *d) {
    enum { SEEN_BITS = 10 };
    /* Ops repeat with every layer: saves 62 of 403 million instructions of an audit of 10 MB (callgrind). A bad op is
     * never alike, since it has no kind. */
    uint32_t seen[1 << SEEN_BITS];
    memset(seen, 0xff, sizeof seen);
    const struct mlir *m = g->m;
    for (uint32_t i = 0; i < m->nops; i++) {
        struct dims result;
        if (!m->ops[i].nresults)
            continue;
        uint32_t key = (m->ops[i].props.begin * 31 + g->kind[i]) * 31 + type_of(g, m->ops[i].first_result);
        uint32_t *last = &seen[key * 0x9e3779b1u >> (32 - SEEN_BITS)];
        if (*last != NONE && alike(g, *last, i))
            continue;
        *last = i;
        if (!static_dims(g, m->ops[i].first_result, &result) || result.rank > MAX_RANK)
            continue;
        const char *what = contradiction(g, i, &result);
        if (what)
            bad_op(g, i, d, "has a result that %s", what);
    }
}
