/* Conditions about what a value is by itself: a constant, a parameter, a number made of a count of elements, its
 * element type. Some hold for an argument of the model too, and then note what they assume of it. */
#include "search/match/conditions.h"

#include <math.h>

#include "ir/graph/elements.h"

bool condition_present(const struct condition_call *c) {
    return c->arg[0].value != NONE;
}

bool condition_constant(const struct condition_call *c) {
    return c->arg[0].value == NONE || graph_constant(c->graph, c->arg[0].value).known;
}

bool condition_scalar(const struct condition_call *c) {
    uint32_t v = c->arg[0].value;
    if (v != NONE && c->graph->varies[v])
        return false;
    if (v != NONE && graph_numel(c->graph, v) != 1 && !graph_constant(c->graph, v).known)
        assume_slice(c->e->assumed, v);
    return true;
}

bool condition_parameter(const struct condition_call *c) {
    return c->arg[0].value == NONE || graph_is_parameter(c->graph, c->arg[0].value) || condition_constant(c);
}

/* A parameter, or an argument of which nothing says what it is, which is then a precondition. */
bool condition_stored(const struct condition_call *c) {
    if (condition_parameter(c))
        return true;
    uint32_t argument = graph_argument(c->graph, c->arg[0].value);
    if (argument == NONE || str_is(graph_argument_type(c->graph, argument), "input"))
        return false;
    assume_precondition(c->e->assumed, (struct precondition){.argument = argument, .parameter = true});
    return true;
}

/* A known number; or an argument that may hold one number in every element, which is then a precondition. */
bool condition_stated_constant(const struct condition_call *c) {
    if (condition_constant(c))
        return true;
    uint32_t argument = graph_argument(c->graph, c->arg[0].value);
    if (argument == NONE || graph_argument_is_input(c->graph, argument))
        return false;
    assume_constant(c->e->assumed, c->arg[0].value, NAN, true);
    assume_precondition(c->e->assumed, (struct precondition){argument, NAN, false});
    return true;
}

/* How many elements a reduction sums into one; NaN when the op is none. */
static double summed(const struct graph *g, uint32_t op) {
    if (op == NONE || graph_class(g, op) != OP_REDUCE)
        return NAN;
    return (double)graph_numel(g, graph_operands(g, op)[0]) / (double)graph_numel(g, g->m->ops[op].first_result);
}

/* The first argument is a number made of the count of elements that the second one sums. */
static bool is_of_count(const struct condition_call *c, double number, double count) {
    if (c->arg[0].value == NONE || c->arg[1].value == NONE)
        return true;
    struct constant k = binding_constant(c->graph, &c->arg[0]);
    if (!k.known || !count_close_to(k.value, number, count, k.bits > 24 ? 24 : k.bits))
        return false;
    assume_constant(c->e->assumed, c->arg[0].value, number, false);
    return true;
}

/* c is the power p/q of the count. */
bool condition_count_power(const struct condition_call *c) {
    double count = summed(c->graph, c->arg[1].op);
    return is_of_count(c, pow(count, (double)c->number->given[0] / c->number->given[1]), count);
}

/* A matrix of constants with a 1 where its row is its column divided by the number, rounded down. */
bool condition_repeats_columns(const struct condition_call *c) {
    uint32_t v = c->arg[0].value, rank;
    const int64_t *shape = v == NONE ? NULL : graph_shape(c->graph, v, &rank), times = c->number->given[0];
    if (v == NONE)
        return true;
    if (!shape || rank < 2 || times < 2 || shape[rank - 1] != times * shape[rank - 2])
        return false;
    return record_elsewhere(c->e, graph_repeats_columns(c->graph, v));
}
