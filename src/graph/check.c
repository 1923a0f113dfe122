/* Attributes and types that mean nothing, and results whose shape is not what the op makes of its operands. Only static
 * shapes and ops whose indices are understood are judged. */
#include "graph/index.h"
#include "graph/operands.h"

#include <string.h>

static uint32_t type_of(const struct graph *g, uint32_t value) {
    return value == NONE ? NONE : g->m->values[value].type;
}

static uint32_t result_type(const struct graph *g, uint32_t op) {
    return g->m->ops[op].nresults ? type_of(g, g->m->ops[op].first_result) : NONE;
}

/* Of an op in a function of a module: what is pasted may lack its aliases. */
static bool needs_alias(const struct graph *g, uint32_t op, struct str *alias) {
    const struct mlir *m = g->m;
    const struct mlir_op *o = &m->ops[op];
    return g->kind[op] != K_UNKNOWN && o->func != NONE && mlir_is_module(m) &&
           (mlir_unresolved(m, mlir_span(m, o->props), alias) || mlir_unresolved(m, mlir_span(m, o->attrs), alias));
}

/* A type of no meaning: an extent below 0, an element that is no type, an alias that nothing defines. */
static uint32_t impossible_type(const struct graph *g, uint32_t op) {
    const struct mlir_type *types = g->m->types;
    uint32_t type = result_type(g, op);
    if (type != NONE && types[type].impossible)
        return type;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        type = type_of(g, graph_operands(g, op)[i]);
        if (type != NONE && types[type].impossible)
            return type;
    }
    return NONE;
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
        if (d.at == result->at) { /* as most are: of one type */
            memcpy(widest, d.at, d.rank * sizeof *widest);
            known++;
            continue;
        }
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
    bool gone[MAX_RANK] = {false};
    int64_t left = 1, axes[MAX_RANK];
    struct str text;
    if (graph_reduced_dims(g, op, x->rank, gone) == NONE) { /* a list that is not read, or an axis that is not there */
        int n = graph_axes(g, op, &text) ? mlir_ints(text, axes, MAX_RANK) : 0;
        return n < 0 || n > MAX_RANK;
    }
    for (uint32_t i = 0; i < x->rank; i++)
        if (!gone[i] && __builtin_mul_overflow(left, x->at[i], &left))
            return true;
    return left == numel;
}

/* Along `dim` the extents of the operands add up, elsewhere they are those of the result. */
static bool joins(const struct graph *g, uint32_t op, const struct dims *result) {
    struct str text;
    int64_t dim = 0, sum = 0;
    struct dims d;
    if (!graph_axes(g, op, &text) || !mlir_int(text, &dim))
        return true;
    dim += dim < 0 ? (int64_t)result->rank : 0;
    for (uint32_t k = 0; k < graph_noperands(g, op); k++) {
        uint32_t value = graph_operands(g, op)[k];
        if (value == NONE || !static_dims(g, value, &d))
            return true;
        for (uint32_t i = 0; i < result->rank && d.rank == result->rank; i++)
            if (i != dim && d.at[i] != result->at[i])
                return false;
        if (d.rank != result->rank || dim < 0 || dim >= (int64_t)d.rank || __builtin_add_overflow(sum, d.at[dim], &sum))
            return false;
    }
    return sum == result->at[dim];
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
    int64_t numel = graph_numel(g, out);
    switch (g->kind[op] == K_RESHAPE ? OP_LAYOUT : graph_class(g, op)) {
    case OP_ELTWISE:
        return broadcasts(g, op, result) ? NULL : "is not of the shape that its operands broadcast to";
    case OP_REDUCE:
        return reduces(g, op, &x, numel) ? NULL : "is not what is left of its operand's dimensions";
    case OP_CAST:
    case OP_LAYOUT:
        return graph_numel(g, first) == numel ? NULL : "has not as many elements as its operand";
    case OP_MOVE:
        imap_identity(&whole, 0, numel);
        return imap_moved(g, op, first, &whole, &through) ? NULL : "is not its operand moved";
    case OP_AXISWISE:
    case OP_ALIKE:
        return x.rank == result->rank && memcmp(x.at, result->at, x.rank * sizeof *x.at) == 0
                   ? NULL
                   : "is not of the shape of its operand";
    case OP_JOIN:
        return joins(g, op, result) ? NULL : "is not its operands side by side";
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

static bool holds_together(struct graph *g, uint32_t op, struct diags *d) {
    struct str alias = {0};
    struct dims result;
    uint32_t type = impossible_type(g, op);
    if (needs_alias(g, op, &alias) || (type != NONE && mlir_unresolved(g->m, g->m->types[type].text, &alias)))
        bad_op(g, op, d, "needs %.*s, which is not defined, or only by itself", (int)alias.n, alias.p);
    else if (type != NONE)
        bad_op(g, op, d, "%s a tensor that cannot be", type == result_type(g, op) ? "makes" : "takes");
    else if (result_type(g, op) == NONE || !static_dims(g, g->m->ops[op].first_result, &result) ||
             result.rank > MAX_RANK)
        return true;
    else {
        const char *what = contradiction(g, op, &result);
        if (!what)
            return true;
        bad_op(g, op, d, "has a result that %s", what);
    }
    return false;
}

static uint64_t mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 31;
}

/* Of all that the checks look at. */
static uint64_t hash_of(const struct graph *g, uint32_t op) {
    const struct mlir_op *o = &g->m->ops[op];
    uint64_t h = mix(g->kind[op], (uint64_t)o->props.begin << 32 | o->attrs.begin);
    h = mix(h, (uint64_t)o->nresults << 32 | result_type(g, op));
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        h = mix(h, type_of(g, graph_operands(g, op)[i]));
    return h;
}

void check_ops(struct graph *g, struct diags *d) {
    enum { SET_BITS = 8 };
    uint64_t good[1 << SET_BITS][2] = {0}; /* ops repeat with every layer: the last two of each set */
    for (uint32_t i = 0; i < g->m->nops; i++) {
        uint64_t hash = hash_of(g, i), *known = good[hash >> (64 - SET_BITS)];
        if (known[0] == hash || known[1] == hash || !holds_together(g, i, d))
            continue;
        known[1] = known[0];
        known[0] = hash;
    }
}
