/* Numbers and the truth of conditions over a match. */
#include "match/conditions.h"

#include <math.h>

static condition_holds *const functions[CONDITIONS] = {
#define C(name, least, most, arguments, reach, says) condition_##name,
#include "lang/conditions.def"
#undef C
};

void evaluation_state(const struct evaluation *e, struct str text) {
    for (uint32_t i = 0; i < *e->npreconditions; i++)
        if (str_eq(e->preconditions[i], text))
            return;
    if (*e->npreconditions < e->max_preconditions)
        e->preconditions[(*e->npreconditions)++] = text;
}

void evaluation_tie(const struct evaluation *e, uint32_t value, double number, bool stated) {
    for (uint32_t i = 0; e->ties && i < *e->nties; i++)
        if (e->ties[i].value == value)
            return;
    if (e->ties && *e->nties < e->max_ties)
        e->ties[(*e->nties)++] = (struct tie){value, number, stated};
}

static double extent(const struct evaluation *e, const struct number *n) {
    const struct axes *axes = e->axes;
    if (n->slot != NONE) {
        if (e->bindings[n->slot].value == NONE)
            return NAN;
        axes = e->bindings[n->slot].axes;
    }
    return axes ? (double)axes_extent(axes, n->axis) : NAN;
}

/* NaN when it is absent or not known: every comparison with it is false. */
static double value_of(const struct evaluation *e, const struct number *n) {
    uint32_t v = e->bindings[n->slot].value;
    struct constant c = {false, 0, 0};
    if (v != NONE)
        c = graph_constant(e->graph, v);
    return c.known ? c.value : v != NONE && e->number_of ? e->number_of(e->self, v) : NAN;
}

/* A condition on nothing but the locations of the ops is remembered with what it told; others may look far. */
static void remember(const struct evaluation *e, const struct number *n, const struct binding *args, bool holds) {
    enum condition_reach reach = condition_table[n->call].reach;
    if (reach == REACH_LOCATIONS && e->told && e->told->n < MAX_TOLD) {
        e->told->condition[e->told->n] = n;
        e->told->holds[e->told->n++] = holds;
    } else if (e->far && !*e->far) {
        *e->far = !(reach == REACH_NEAR || (reach == REACH_USERS && (args[0].op != NONE || args[0].value == NONE)));
    }
}

static double call(const struct evaluation *e, const struct number *n) {
    struct binding args[4];
    for (uint32_t i = 0; i < n->nargs; i++)
        args[i] = e->bindings[n->args[i]];
    struct evaluation with = *e;
    with.regex = n->regex;
    with.number = n;
    bool holds = functions[n->call](&with, args, n->nargs);
    remember(e, n, args, holds);
    return holds;
}

static double binary(enum number_op op, double a, double b) {
    switch (op) {
    case NUM_ADD:
        return a + b;
    case NUM_SUB:
        return a - b;
    case NUM_MUL:
        return a * b;
    case NUM_DIV:
        return a / b;
    case NUM_MOD:
        return fmod(a, b);
    case NUM_EQ:
        return a == b;
    case NUM_NE:
        return a != b;
    case NUM_LT:
        return a < b;
    case NUM_LE:
        return a <= b;
    case NUM_GT:
        return a > b;
    case NUM_GE:
        return a >= b;
    default:
        return NAN;
    }
}

double evaluate(const struct evaluation *e, const struct number *n) {
    switch (n->op) {
    case NUM_VALUE:
        return n->value;
    case NUM_EXTENT:
        return extent(e, n);
    case NUM_NEG:
        return -evaluate(e, n->a);
    case NUM_SQRT:
        return sqrt(evaluate(e, n->a));
    case NUM_NOT:
        return evaluate(e, n->a) == 0;
    case NUM_AND:
        return evaluate(e, n->a) != 0 && evaluate(e, n->b) != 0;
    case NUM_OR:
        return evaluate(e, n->a) != 0 || evaluate(e, n->b) != 0;
    case NUM_VALUE_OF:
        return value_of(e, n);
    case NUM_CALL:
        return call(e, n);
    case NUM_MEASURE:
        return measure(e, n);
    default:
        return binary(n->op, evaluate(e, n->a), evaluate(e, n->b));
    }
}
