/* Numbers and conditions over a match. What a condition computes is in condition_*.c; here are extents and
 * constants, and which slices a match needs. */
#include "patterns/lang/number.h"
#include "search/match/conditions.h"

#include <math.h>

static condition_holds *const functions[CONDITIONS] = {
#define C(name, least, most, arguments, group, says) condition_##name,
#include "patterns/lang/conditions.def"
#undef C
};

static double extent(const struct evaluation *e, const struct number *n) {
    const struct axes *axes = e->axes;
    if (n->slot != NONE) {
        if (e->bindings[n->slot].value == NONE)
            return NAN;
        axes = e->bindings[n->slot].axes;
    }
    return axes ? (double)axes_extent(axes, n->axis) : NAN;
}

static double value_of(const struct evaluation *e, const struct number *n) {
    const struct binding *b = &e->bindings[n->slot];
    struct constant c = binding_constant(e->graph, b);
    return c.known ? c.value : b->value != NONE && e->numbers ? e->numbers[n->slot] : NAN;
}

static bool condition(struct evaluation *e, const struct number *n) {
    if (n->a) /* a definition */
        return evaluates_to_true(e, n->a);
    struct condition_call c = {.e = e, .graph = e->graph, .number = n, .nargs = n->nargs};
    for (uint32_t i = 0; i < n->nargs; i++)
        c.arg[i] = bound_to(e, n->args[i], value_view_of(n, i));
    bool holds = functions[n->call](&c);
    for (uint32_t i = 0; i < n->nargs; i++)
        if (c.arg[i].needed != c.arg[i].map) { /* does it hold of the whole value, too? */
            struct condition_call whole = c;
            whole.arg[i].needed = c.arg[i].map;
            if (functions[n->call](&whole) != holds)
                assume_slice(e->assumed, c.arg[i].value);
        }
    return holds;
}

static double leaf(void *self, const struct number *n) {
    struct evaluation *e = self;
    switch (n->op) {
    case NUM_EXTENT:
        return extent(e, n);
    case NUM_VALUE_OF:
        return value_of(e, n);
    case NUM_CALL:
        return condition(e, n);
    case NUM_MEASURE:
        return measure(e, n);
    default:
        return NAN;
    }
}

double evaluate(struct evaluation *e, const struct number *n) {
    return number_evaluate(n, leaf, e);
}
