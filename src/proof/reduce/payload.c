/* Evaluates the ops that compute a constant with the interpreter, after a walk over its operands has shown that no
 * function argument is among them. */
#include "proof/reduce/payload.h"

#include "proof/numeric/interpret_graph.h"
#include "proof/value/evaluate.h"

/* Limits of one constant, so that reading it costs little: ops that compute it, and elements that are read for each
 * element of its own. */
enum { MAX_OPS = 48, SLACK = 16 };

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

bool payload_read(const struct subgraph *p, int64_t max, struct arena *a, struct payloads *out) {
    *out = (struct payloads){.n = 0};
    for (uint32_t i = 0; i < p->ninputs; i++) {
        int64_t n = graph_numel(p->graph, p->inputs[i]);
        if (n < 2 || n > max - out->elements || graph_constant(p->graph, p->inputs[i]).known ||
            !(out->of[i] = read_value(p->graph, p->inputs[i], a)))
            continue;
        out->n++;
        out->elements += n;
    }
    return out->n > 0;
}
