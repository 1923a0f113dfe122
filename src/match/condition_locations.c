/* Conditions about where in the model something stands: locations of ops, names of arguments. */
#include "match/conditions.h"

enum { MAX_NAMES = 16 };

/* All ops carry one location: what is left of a fused op that the compiler took apart again. */
bool condition_one_location(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)b;
    (void)n;
    const struct mlir *m = e->graph->m;
    struct str first = {"", 0}, name;
    for (uint32_t i = 0; i < e->nops; i++) {
        if (mlir_loc_names(m, e->ops[i], &name, 1) < 1)
            return false;
        if (i == 0)
            first = name;
        else if (!str_eq(first, name))
            return false;
    }
    return e->nops > 1;
}

/* Some op's location has a name that the expression finds. */
bool condition_located(const struct evaluation *e, const struct binding *b, uint32_t n) {
    struct str names[MAX_NAMES];
    (void)b;
    (void)n;
    for (uint32_t i = 0; i < e->nops; i++) {
        int k = mlir_loc_names(e->graph->m, e->ops[i], names, MAX_NAMES);
        for (int j = 0; j < k && j < MAX_NAMES; j++)
            if (regex_finds(e->regex, names[j]))
                return true;
    }
    return false;
}

/* The value is an argument, seen through movement and calls, whose name the expression finds. */
bool condition_named(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    uint32_t argument = b[0].value == NONE ? NONE : graph_argument(e->graph, b[0].value);
    return argument != NONE && regex_finds(e->regex, graph_argument_name(e->graph, argument));
}
