/* Finds the numbers at which a reference becomes another function: what it compares with, clamps to or takes the
 * remainder of, and the epsilons that it adds. Random numbers around 1 hardly ever come near them, so a fused form that
 * leaves a clamp out would look the same. */
#include <math.h>

#include "prove/reference.h"
#include "reduce/subgraph.h"

/* Epsilons are at most 1e-3. The square of a number beyond 1e18 is near the largest f32 (3.4e38): it stands for
 * infinity. */
static const double largest_epsilon = 1e-3, far = 1e18;

static void add_threshold(struct thresholds *t, double x) {
    for (uint32_t i = 0; i < t->n; i++)
        if (t->at[i] == x)
            return;
    if (fabs(x) > largest_epsilon && fabs(x) < far && t->n < MAX_THRESHOLDS)
        t->at[t->n++] = x;
}

static void add_epsilon(struct thresholds *t, double x) {
    if (x > 0 && x <= largest_epsilon && (t->epsilon == 0 || x < t->epsilon))
        t->epsilon = x;
}

static void add_attribute(const struct graph *g, uint32_t op, const char *key, struct thresholds *t) {
    struct str text;
    double x;
    if (!mlir_attr(g->m, op, key, &text) || !mlir_float(text, &x))
        return;
    if (op_is((enum op_kind)g->kind[op], PIECEWISE))
        add_threshold(t, x);
    add_epsilon(t, x);
}

static void add_op(const struct graph *g, uint32_t op, struct thresholds *t) {
    enum op_kind k = (enum op_kind)g->kind[op];
    if (k == K_RELU6 || k == K_HARDSIGMOID) /* of max(0, x), 6; of x + 3, 0 and 6 */
        add_threshold(t, k == K_RELU6 ? 6 : 3);
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        struct constant c = operand_constant(g, graph_operands(g, op)[i]);
        if (c.known && op_is(k, PIECEWISE))
            add_threshold(t, c.value);
        if (c.known && (k == K_ADD || k == K_MAXIMUM))
            add_epsilon(t, c.value);
    }
    if (k == K_CLAMP) {
        add_attribute(g, op, "min", t);
        add_attribute(g, op, "max", t);
    }
    add_attribute(g, op, "epsilon", t);
}

/* A threshold t of x * c is t / c for x, and t * c of x / c: both are added, one of them is met. */
static void add_scaled(const struct graph *g, uint32_t op, struct thresholds *t) {
    uint32_t n = t->n;
    if (g->kind[op] != K_MULTIPLY && g->kind[op] != K_DIVIDE)
        return;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        struct constant c = operand_constant(g, graph_operands(g, op)[i]);
        for (uint32_t k = 0; k < n && c.known && c.value != 0 && fabs(c.value) != 1; k++) {
            add_threshold(t, t->at[k] / c.value);
            add_threshold(t, t->at[k] * c.value);
        }
    }
}

/* Indices that an op takes: 0 or 1, since dimensions of small shapes may have two elements only; of a table of one row
 * 0. */
static uint32_t indices_of_op(const struct graph *g, uint32_t op) {
    uint32_t rank = 0, table = g->kind[op] == K_EMBEDDING ? graph_operands(g, op)[1] : NONE;
    const int64_t *shape = table == NONE ? NULL : graph_shape(g, table, &rank);
    return graph_class(g, op) != OP_OPAQUE ? 0 : shape && rank >= 2 && shape[rank - 2] == 1 ? 1 : 2;
}

/* Followed through elementwise ops on indices. */
static uint32_t indices_at(const struct reference *r, uint32_t value, int depth) {
    enum { MAX_DEPTH = 8 };
    const struct graph *g = reference_graph(r);
    uint32_t n = 0;
    if (!format_is_integer(graph_dtype(g, value)) || graph_dtype(g, value) == DT_I1)
        return 0;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && depth < MAX_DEPTH && !n; u++)
        if (reference_evaluates(r, g->uses[u])) {
            n = indices_of_op(g, g->uses[u]);
            n = n ? n : indices_at(r, g->m->ops[g->uses[u]].first_result, depth + 1);
        }
    return n;
}

uint32_t indices_of_input(const struct reference *r, uint32_t value) {
    return indices_at(r, value, 0);
}

struct thresholds thresholds_of(const struct reference *r) {
    struct thresholds t = {0};
    for (uint32_t i = 0; i < r->nops; i++)
        add_op(reference_graph(r), r->ops[i], &t);
    for (uint32_t i = 0; i < r->nops; i++)
        add_scaled(reference_graph(r), r->ops[i], &t);
    for (uint32_t i = 0; i < r->ninputs; i++) {
        const struct proof_input *in = &r->inputs[i];
        enum dtype type = graph_dtype(reference_graph(r), in->value);
        t.integers |= format_is_integer(type) && type != DT_I1 && !in->predicate && !in->indices;
    }
    return t;
}
