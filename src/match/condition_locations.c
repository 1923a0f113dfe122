/* Conditions about where in the model something is: locations of ops, names of arguments. */
#include "match/conditions.h"

enum { MAX_NAMES = 16 };

/* All ops have one location: they are the decomposition of one op of the model. */
bool condition_one_location(const struct condition_call *c) {
    const struct mlir *m = c->graph->m;
    struct str first = {"", 0}, name;
    for (uint32_t i = 0; i < c->e->nops; i++) {
        if (mlir_loc_names(m, c->e->ops[i], &name, 1) < 1)
            return false;
        if (i == 0)
            first = name;
        else if (!str_eq(first, name))
            return false;
    }
    return c->e->nops > 1;
}

static bool location_of(const struct graph *g, uint32_t value, struct str *name) {
    uint32_t op = value == NONE ? NONE : g->m->values[value].def;
    return op != NONE && mlir_loc_names(g->m, op, name, 1) > 0;
}

/* What one op became carries its location: also the movement that it swapped places with. */
bool condition_same_location(const struct condition_call *c) {
    struct str x, y;
    return location_of(c->graph, c->arg[0].value, &x) && location_of(c->graph, c->arg[1].value, &y) && str_eq(x, y);
}

/* Some op's location has a name that the expression finds. */
bool condition_located(const struct condition_call *c) {
    struct str names[MAX_NAMES];
    for (uint32_t i = 0; i < c->e->nops; i++) {
        int k = mlir_loc_names(c->graph->m, c->e->ops[i], names, MAX_NAMES);
        for (int j = 0; j < k && j < MAX_NAMES; j++)
            if (regex_finds(c->number->regex, names[j]))
                return true;
    }
    return false;
}

/* The value is an argument, seen through movement and calls, whose name the expression finds. */
bool condition_named(const struct condition_call *c) {
    uint32_t argument = c->arg[0].value == NONE ? NONE : graph_argument(c->graph, c->arg[0].value);
    return argument != NONE && regex_finds(c->number->regex, graph_argument_name(c->graph, argument));
}
