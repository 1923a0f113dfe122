/* Evaluates the ops that compute a constant with the interpreter, after a walk over its operands has shown that no
 * function argument is among them. */
#include "proof/reduce/payload.h"

#include "proof/numeric/interpret_graph.h"
#include "proof/value/evaluate.h"

/* Limits of one constant, so that reading it costs little: ops that compute it, and elements that are read for each
 * element of its own. */
enum { MAX_OPS = 48, SLACK = 16 };

/* ---- computed from constants alone ---- */

struct constant_walk {
    const struct graph *g;
    uint32_t left; /* ops that may still be visited */
};

static bool is_source(const struct graph *g, uint32_t op) {
    return op_generates((enum op_kind)g->kind[op]);
}

static bool is_computed_from_constants(struct constant_walk *w, uint32_t value) {
    const struct graph *g = w->g;
    uint32_t op = value == NONE ? NONE : g->m->values[value].def;
    if (w->left == 0)
        return false;
    w->left--;
    if (op == NONE)
        return value != NONE && is_computed_from_constants(w, graph_caller_value(g, value));
    if (graph_class(g, op) == OP_CALL)
        return is_computed_from_constants(w, graph_callee_value(g, value));
    bool good = is_source(g, op) || (graph_noperands(g, op) > 0 && interpretable((enum op_kind)g->kind[op]));
    for (uint32_t i = 0; i < graph_noperands(g, op) && good; i++)
        good =
            !is_tensor_operand(g, graph_operands(g, op)[i]) || is_computed_from_constants(w, graph_operands(g, op)[i]);
    return good;
}

static const struct tensor *read_value(const struct graph *g, uint32_t value, struct arena *a) {
    struct constant_walk w = {g, MAX_OPS};
    struct lazies nodes = {0};
    struct eval_context b = {.arena = a, .nodes = &nodes};
    struct program program = {.graph = g};
    const struct tensor *t = NULL;
    if (is_computed_from_constants(&w, value) && interpret_values(&b, &program, &value, 1, &t))
        t = elements_read(&b, t, (double)graph_numel(g, value) * SLACK);
    lazies_free(&nodes);
    return t;
}

/* ---- constants that continue as they begin ---- */

/* 0, 1, 2, ... along one dimension, the same along the others. */
static bool is_iota_along(const struct tensor *t, uint32_t along) {
    struct index_walk w;
    int64_t i = 0;
    for (walk_begin(&w, &t->shape); walk_more(&w); walk_next(&w))
        if (t->x[i++] != (double)w.at[along])
            return false;
    return true;
}

/* A causal mask: one number where column - row >= from, another elsewhere, in each of the matrices. */
static bool is_triangular(const struct tensor *t, int64_t from) {
    uint32_t rank = t->shape.rank;
    struct index_walk w;
    int64_t i = 0, row = t->shape.dim[rank - 1];
    double above = t->x[row - 1], below = t->x[(t->shape.dim[rank - 2] - 1) * row];
    for (walk_begin(&w, &t->shape); walk_more(&w); walk_next(&w))
        if (t->x[i++] != (w.at[rank - 1] - w.at[rank - 2] >= from ? above : below))
            return false;
    return true;
}

/* Positions may be cut short, unless the subgraph compares them with a number that would then be out of reach. */
static bool is_regular(const struct subgraph *p, const struct tensor *t) {
    bool found = false, iota = !subgraph_has_thresholds(p);
    for (uint32_t d = 0; d < t->shape.rank && iota && !found; d++)
        found = is_iota_along(t, d);
    for (int64_t from = 0; from < 2 && t->shape.rank >= 2 && !found; from++)
        found = is_triangular(t, from);
    return found;
}

bool payload_read(const struct subgraph *p, int64_t max, struct arena *a, struct payloads *out) {
    *out = (struct payloads){.regular = true};
    for (uint32_t i = 0; i < p->ninputs; i++) {
        int64_t n = graph_numel(p->graph, p->inputs[i]);
        if (n < 2 || n > max - out->elements || graph_constant(p->graph, p->inputs[i]).known ||
            !(out->of[i] = read_value(p->graph, p->inputs[i], a)))
            continue;
        out->n++;
        out->elements += n;
        out->regular &= is_regular(p, out->of[i]);
    }
    return out->n > 0;
}
