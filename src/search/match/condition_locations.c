/* Conditions about where in the model something is: locations of ops. */
#include "search/match/conditions.h"

enum { MAX_NAMES = 16 };

static bool have_one_location(const struct mlir *m, const uint32_t *ops, uint32_t n) {
    struct str first = {"", 0}, name;
    for (uint32_t i = 0; i < n; i++) {
        if (mlir_loc_names(m, ops[i], &name, 1) < 1)
            return false;
        if (i == 0)
            first = name;
        else if (!str_eq(first, name))
            return false;
    }
    return n > 1;
}

/* All ops have one location: they are the decomposition of one op of the model. */
bool condition_one_location(const struct condition_call *c) {
    return record_ops(c->e, c->number, have_one_location(c->graph->m, c->e->ops, c->e->nops));
}

static bool location_of(const struct graph *g, uint32_t value, struct str *name) {
    uint32_t op = value == NONE ? NONE : g->m->values[value].def;
    return op != NONE && mlir_loc_names(g->m, op, name, 1) > 0;
}

/* What one op became carries its location: also the movement that it swapped places with. */
bool condition_same_location(const struct condition_call *c) {
    struct str x, y;
    bool located = location_of(c->graph, c->arg[0].value, &x) && location_of(c->graph, c->arg[1].value, &y);
    return record_elsewhere(c->e, located && str_eq(x, y));
}

static bool is_located(const struct condition_call *c, uint32_t op) {
    struct str names[MAX_NAMES];
    int n = mlir_loc_names(c->graph->m, op, names, MAX_NAMES);
    for (int i = 0; i < n && i < MAX_NAMES; i++)
        if (regex_finds(c->number->regex, names[i]))
            return true;
    return false;
}

/* Some op's location has a name that the expression finds. */
bool condition_located(const struct condition_call *c) {
    bool holds = false;
    for (uint32_t i = 0; i < c->e->nops && !holds; i++)
        holds = is_located(c, c->e->ops[i]);
    return record_ops(c->e, c->number, holds);
}
