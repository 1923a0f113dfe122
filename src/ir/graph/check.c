/* Attributes and types that mean nothing, and results whose shape is not what the op makes of its operands. Only static
 * shapes and ops whose indices are understood are judged. */
#include "ir/graph/index.h"
#include "ir/graph/operands.h"
#include "ir/ops/infer.h"

#include <stdlib.h>
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
    return g->kind[op] != NO_OPERATOR && o->func != NONE && mlir_is_module(m) &&
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

/* One op at a time. */
struct op_checker {
    struct graph *g;
    struct shape *shapes; /* of the operands; those that are not static have none */
    const struct shape **operands;
    uint32_t cap;
    uint32_t first_strange, nstrange; /* ops that are legal, and of which nothing is understood */
};

/* What the rule of its class makes of its operands. `nknown`: how many of them are static. */
static enum inferred infer_result(struct op_checker *c, uint32_t op, struct shape *out, uint32_t *nknown) {
    const struct graph *g = c->g;
    uint32_t n = graph_noperands(g, op), before = c->cap;
    c->shapes = grow(c->shapes, &c->cap, n, sizeof *c->shapes);
    if (c->cap != before)
        c->operands = xrealloc(c->operands, c->cap * sizeof *c->operands);
    *nknown = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t value = graph_operands(g, op)[i];
        bool known = value != NONE && shape_in_graph(g, value, &c->shapes[i]);
        c->operands[i] = known ? &c->shapes[i] : NULL;
        *nknown += known;
    }
    return infer_shape((enum op_kind)g->kind[op], graph_attributes(g, op), c->operands, n, out);
}

/* A shape of tiles counts in tiles. */
static bool is_in_tiles(const struct graph *g, uint32_t value) {
    struct str text = g->m->types[type_of(g, value)].text, encoding = g->m->types[type_of(g, value)].encoding;
    if (encoding.n && encoding.p > text.p && encoding.p < text.p + text.n)
        text.n = (size_t)(encoding.p - text.p);
    return str_find(text, STR("tile<")) != NULL;
}

/* Bounds that are printed as numbers; others are operands. */
static bool is_static_slice(const struct graph *g, uint32_t op, uint32_t rank) {
    const int64_t *list;
    return attrs_list(graph_attributes(g, op), "begins", &list) == (int)rank &&
           attrs_list(graph_attributes(g, op), "ends", &list) == (int)rank;
}

/* Operands whose shapes are not known may still broadcast to it. */
static bool broadcasts(struct op_checker *c, uint32_t op, const struct shape *result) {
    struct shape inferred, both;
    uint32_t known;
    enum inferred how = infer_result(c, op, &inferred, &known);
    if (how != INFER_SHAPE || known == graph_noperands(c->g, op))
        return how == INFER_SHAPE && shape_eq(&inferred, result);
    return infer_broadcast((const struct shape *const[]){&inferred, result}, 2, &both) == INFER_SHAPE &&
           shape_eq(&both, result);
}

/* The result, or with `any_rank` the number of its elements, is what the rule of the class says; or that says nothing.
 */
static bool is_inferred(struct op_checker *c, uint32_t op, const struct shape *result, bool any_rank) {
    struct shape inferred;
    uint32_t known;
    enum inferred how = infer_result(c, op, &inferred, &known);
    return how == INFER_UNKNOWN || (how == INFER_SHAPE && (any_rank ? shape_count(&inferred) == shape_count(result)
                                                                    : shape_eq(&inferred, result)));
}

/* What is wrong with the result; NULL: nothing that is known. */
static const char *contradiction(struct op_checker *c, uint32_t op, const struct shape *result) {
    const struct graph *g = c->g;
    uint32_t out = g->m->ops[op].first_result, n = graph_noperands(g, op);
    uint32_t first = n ? graph_operands(g, op)[0] : NONE;
    int64_t numel = shape_count(result);
    struct shape x, y;
    struct contraction product;
    struct imap whole, through;
    struct slice_bounds cut;
    if (first == NONE || !shape_in_graph(g, first, &x))
        return NULL;
    switch (graph_movement(g, op) == MOVEMENT_RESHAPE ? OP_LAYOUT : graph_class(g, op)) {
    case OP_ELTWISE:
        return broadcasts(c, op, result) ? NULL : "is not of the shape that its operands broadcast to";
    case OP_REDUCE:
        return is_inferred(c, op, result, true) ? NULL : "is not what is left of its operand's dimensions";
    case OP_CAST:
    case OP_LAYOUT:
        return graph_numel(g, first) == numel || is_in_tiles(g, first) != is_in_tiles(g, out)
                   ? NULL
                   : "has not as many elements as its operand";
    case OP_MOVE:
        imap_identity(&whole, 0, numel);
        return imap_moved(g, op, first, &whole, &through) ? NULL : "is not its operand moved";
    case OP_AXISWISE:
    case OP_ALIKE:
        return shape_eq(&x, result) ? NULL : "is not of the shape of its operand";
    case OP_JOIN:
        return is_inferred(c, op, result, false) ? NULL : "is not its operands side by side";
    case OP_SLICE:
        return slice_bounds(g, op, &cut) || !is_static_slice(g, op, x.rank) ? NULL
                                                                            : "is not of the extents that it cuts";
    case OP_CONTRACT:
        if (n < 2 || graph_operands(g, op)[1] == NONE || !shape_in_graph(g, graph_operands(g, op)[1], &y) ||
            (graph_op_is(g, op, NAMES_AXES) && !attrs_find(graph_attributes(g, op), "contract_dims_lhs")))
            return NULL; /* StableHLO prints its dimensions in a form of its own */
        return contraction_of(g, op, &product) ? NULL : "is not a product of its operands' shapes";
    default:
        return NULL;
    }
}

/* Whether a result that does not follow from what is understood of an op is legal: a slice with steps of any sign or of
 * nothing, data moved to nothing, a product of vectors or one that its bias broadcasts to a larger shape. */
static bool is_legal(struct op_checker *c, uint32_t op, const struct shape *result) {
    const struct graph *g = c->g;
    const struct attr *axis = graph_axes(g, op);
    enum op_class class = graph_class(g, op);
    struct shape s, broadcast;
    uint32_t known;
    if (op_is((enum op_kind)g->kind[op], ANY_RESULT) && !graph_is_ttnn(g, op))
        return true;
    if ((class == OP_MOVE || class == OP_SLICE) && shape_count(result) == 0) /* of an extent of 0 */
        return true;
    if (class == OP_REDUCE) /* text with destinations is of any date: until 2025-03-06 (tt-mlir a255eee0) none asked */
        return infer_result(c, op, &s, &known) == INFER_SHAPE && g->m->ops[op].noperands > graph_noperands(g, op);
    if (class == OP_ELTWISE) /* of one operand TTNN does not ask */
        return graph_noperands(g, op) == 1 && graph_is_ttnn(g, op);
    if ((class != OP_SLICE && class != OP_JOIN && class != OP_CONTRACT) ||
        infer_result(c, op, &s, &known) != INFER_SHAPE)
        return false;
    if (class == OP_JOIN) { /* the other extents are not asked for */
        int64_t d = axis->whole + (axis->whole < 0 ? (int64_t)s.rank : 0);
        return d < (int64_t)result->rank && s.dim[d] == result->dim[d];
    }
    bool bias = graph_noperands(g, op) > 2 && graph_operands(g, op)[2] != NONE;
    if (class == OP_CONTRACT && !bias && g->m->ops[op].noperands > 2) /* taken for a destination */
        return infer_broadcast((const struct shape *const[]){&s, result}, 2, &broadcast) == INFER_SHAPE &&
               shape_eq(&broadcast, result);
    return shape_eq(&s, result);
}

static void strange_op(struct op_checker *c, uint32_t op) {
    c->g->kind[op] = NO_OPERATOR;
    c->first_strange = c->nstrange++ ? c->first_strange : op;
}

static void say_strange(const struct op_checker *c, struct diags *d) {
    const struct mlir *m = c->g->m;
    struct str name = c->nstrange ? mlir_op_name(m, c->first_strange) : STR("");
    if (c->nstrange && d)
        diag_add(d, SEV_NOTE, mlir_place(m, m->ops[c->first_strange].text.begin), NULL,
                 "%u op%s such as this %.*s %s legal, but not understood: nothing is found through %s", c->nstrange,
                 c->nstrange == 1 ? "" : "s", (int)name.n, name.p, c->nstrange == 1 ? "is" : "are",
                 c->nstrange == 1 ? "it" : "them");
}

static bool holds_together(struct op_checker *c, uint32_t op, struct diags *d) {
    struct graph *g = c->g;
    struct str alias = {0};
    struct shape result;
    uint32_t type = impossible_type(g, op);
    if (needs_alias(g, op, &alias) || (type != NONE && mlir_unresolved(g->m, g->m->types[type].text, &alias)))
        bad_op(g, op, d, "needs %.*s, which is not defined, or only by itself", (int)alias.n, alias.p);
    else if (type != NONE)
        bad_op(g, op, d, "%s a tensor that cannot be: %.*s", type == result_type(g, op) ? "makes" : "takes",
               (int)g->m->types[type].text.n, g->m->types[type].text.p);
    else if (result_type(g, op) == NONE || !shape_in_graph(g, g->m->ops[op].first_result, &result))
        return true;
    else {
        const char *what = contradiction(c, op, &result);
        if (!what)
            return true;
        if (is_legal(c, op, &result))
            strange_op(c, op);
        else
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
    struct op_checker c = {.g = g};
    uint64_t good[1 << SET_BITS][2] = {0}; /* ops repeat with every layer: the last two of each set */
    for (uint32_t i = 0; i < g->m->nops; i++) {
        uint64_t hash = hash_of(g, i), *known = good[hash >> (64 - SET_BITS)];
        if (known[0] == hash || known[1] == hash || !holds_together(&c, i, d))
            continue;
        known[1] = known[0];
        known[0] = hash;
    }
    say_strange(&c, d);
    free(c.shapes);
    free(c.operands);
}
