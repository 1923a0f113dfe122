/* Conditions about what a value is by itself: a constant, a parameter, an argument of which something is said, a number
 * made of a count of elements, its element type. */
#include "match/conditions.h"

#include <math.h>

bool condition_present(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)e;
    (void)n;
    return b[0].value != NONE;
}

bool condition_constant(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    return b[0].value == NONE || graph_constant(e->graph, b[0].value).known;
}

bool condition_parameter(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    return b[0].value == NONE || graph_is_parameter(e->graph, b[0].value) || condition_constant(e, b, 1);
}

/* A parameter, or an argument of which nothing says what it is. */
bool condition_stored(const struct evaluation *e, const struct binding *b, uint32_t n) {
    if (condition_parameter(e, b, n))
        return true;
    uint32_t argument = graph_argument(e->graph, b[0].value);
    return argument != NONE && !str_is(graph_argument_type(e->graph, argument), "input");
}

/* One number for the whole tensor. */
bool condition_scalar(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    return b[0].value == NONE || graph_constant(e->graph, b[0].value).known || graph_numel(e->graph, b[0].value) == 1;
}

/* A known number; or an argument that may hold one number everywhere, which is then stated. */
bool condition_stated_constant(const struct evaluation *e, const struct binding *b, uint32_t n) {
    if (condition_constant(e, b, n))
        return true;
    uint32_t argument = graph_argument(e->graph, b[0].value);
    if (argument == NONE || graph_argument_is_input(e->graph, argument))
        return false;
    struct str label = precondition_label(e, argument);
    evaluation_tie(e, b[0].value, NAN, true);
    evaluation_state(
        e, e->brief ? label
                    : arena_printf(e->arena, "%.*s holds one known number in every element", (int)label.n, label.p));
    return true;
}

bool condition_floating(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    enum dtype t = b[0].value == NONE ? DT_F32 : graph_dtype(e->graph, b[0].value);
    return t >= DT_F64 && t <= DT_BFP2;
}

bool condition_same_dtype(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    return b[0].value == NONE || b[1].value == NONE ||
           graph_dtype(e->graph, b[0].value) == graph_dtype(e->graph, b[1].value);
}

/* How many elements the reduction sums into each of its own; NaN when the value is no reduction. */
static double summed(const struct graph *g, uint32_t op) {
    if (op == NONE || graph_class(g, op) != OP_REDUCE)
        return NAN;
    return (double)graph_numel(g, graph_operands(g, op)[0]) / (double)graph_numel(g, g->m->ops[op].first_result);
}

/* c is a number made of how many elements s sums: 1/199 is not 1/200 in bf16 either. */
static bool is_of_count(const struct evaluation *e, const struct binding *b, double number, double count) {
    if (b[0].value == NONE || b[1].value == NONE)
        return true;
    struct constant c = graph_constant(e->graph, b[0].value);
    if (!c.known || !counts_as(c.value, number, count, c.bits > 24 ? 24 : c.bits))
        return false;
    evaluation_tie(e, b[0].value, number, false);
    return true;
}

bool condition_count_of(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    double count = summed(e->graph, b[1].op);
    return is_of_count(e, b, count, count);
}

bool condition_one_over_count_of(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    double count = summed(e->graph, b[1].op);
    return is_of_count(e, b, 1 / count, count);
}

bool condition_root_count_of(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    double count = summed(e->graph, b[1].op);
    return is_of_count(e, b, sqrt(count), count);
}
