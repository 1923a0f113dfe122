#include "ir/graph/functions.h"

#include <stdlib.h>
#include <string.h>

/* ---- functions ---- */

bool *find_root_functions(const struct graph *g) {
    bool *root = xcalloc(g->m->nfuncs + (size_t)1, sizeof *root);
    for (uint32_t f = 0; f < g->m->nfuncs; f++)
        root[f] = g->func_kind[f] == FUNC_MAIN && g->m->funcs[f].complete;
    for (uint32_t op = 0; op < g->m->nops; op++) {
        uint32_t f = g->m->ops[op].callee == NONE ? NONE : mlir_find_func(g->m, g->m->ops[op].callee);
        if (f != NONE)
            root[f] = false;
    }
    return root;
}

static bool same_extents(const struct graph *g, uint32_t v, const struct graph *h, uint32_t w) {
    uint32_t n, m;
    const int64_t *x = graph_shape(g, v, &n), *y = graph_shape(h, w, &m);
    return (!x && !y) || (x && y && n == m && memcmp(x, y, n * sizeof *x) == 0);
}

static bool same_signature(const struct graph *g, uint32_t f, const struct graph *h, uint32_t k) {
    const struct mlir_func *a = &g->m->funcs[f], *b = &h->m->funcs[k];
    bool same = a->nargs == b->nargs;
    for (uint32_t i = 0; same && i < a->nargs; i++)
        same = same_extents(g, a->first_arg + i, h, b->first_arg + i);
    return same;
}

/* The only one of these functions, or of those with the signature of one of another module; NONE: there are others. */
static uint32_t only_function(const struct graph *g, const bool *of, const struct graph *other, uint32_t like) {
    uint32_t found = NONE, n = 0;
    for (uint32_t f = 0; f < g->m->nfuncs; f++)
        if (of[f] && (like == NONE || same_signature(g, f, other, like))) {
            found = f;
            n++;
        }
    return n == 1 ? found : NONE;
}

/* Functions of other names. */
static void pair_left(const struct graph *ttir, const struct graph *ttnn, uint32_t *same) {
    bool *left = find_root_functions(ttir), *left_ttnn = find_root_functions(ttnn);
    for (uint32_t f = 0; f < ttnn->m->nfuncs; f++)
        if (same[f] != NONE)
            left_ttnn[f] = left[same[f]] = false;
    for (uint32_t f = 0; f < ttnn->m->nfuncs; f++) {
        uint32_t other = left_ttnn[f] ? only_function(ttir, left, ttnn, f) : NONE;
        if (other == NONE || only_function(ttnn, left_ttnn, ttir, other) != f)
            continue;
        same[f] = other;
        left_ttnn[f] = left[other] = false;
    }
    uint32_t last = only_function(ttnn, left_ttnn, NULL, NONE);
    if (last != NONE)
        same[last] = only_function(ttir, left, NULL, NONE);
    free(left);
    free(left_ttnn);
}

uint32_t *pair_functions(const struct graph *ttir, const struct graph *ttnn) {
    uint32_t *same = xrealloc(NULL, ((size_t)ttnn->m->nfuncs + 1) * sizeof *same);
    for (uint32_t f = 0; f < ttnn->m->nfuncs; f++) {
        uint32_t named = mlir_func_named(ttir->m, ttnn->m->names[ttnn->m->funcs[f].name]);
        same[f] = named != NONE && ttir->func_kind[named] == FUNC_MAIN ? named : NONE;
    }
    pair_left(ttir, ttnn, same);
    return same;
}

/* ---- arguments ---- */

bool is_model_argument(const struct graph *g, uint32_t value) {
    return is_tensor_operand(g, value) && g->m->types[g->m->values[value].type].kind != TYPE_DEVICE;
}

/* Values, of which those that no op takes may be left out. To be freed. */
struct model_arguments {
    uint32_t *values, n;
};

static struct model_arguments arguments_of(const struct graph *g, uint32_t f) {
    const struct mlir_func *func = &g->m->funcs[f];
    struct model_arguments a = {.values = xrealloc(NULL, (func->nargs + (size_t)1) * sizeof *a.values)};
    for (uint32_t v = func->first_arg; v < func->first_arg + func->nargs; v++)
        if (is_model_argument(g, v))
            a.values[a.n++] = v;
    return a;
}

/* The only argument of a name; NONE: there is none, or several. */
static uint32_t find_named(const struct graph *g, const struct model_arguments *all, struct str name) {
    uint32_t found = NONE, n = 0;
    for (uint32_t i = 0; name.n && i < all->n; i++)
        if (str_eq(graph_argument_name(g, all->values[i]), name)) {
            found = i;
            n++;
        }
    return n == 1 ? found : NONE;
}

static bool pair_by_name(const struct graph *ttir, const struct model_arguments *of, const struct graph *ttnn,
                         const struct model_arguments *of_ttnn, uint32_t *same) {
    bool any = false;
    for (uint32_t i = 0; i < of_ttnn->n; i++) {
        struct str name = graph_argument_name(ttnn, of_ttnn->values[i]);
        same[i] = find_named(ttnn, of_ttnn, name) == i ? find_named(ttir, of, name) : NONE;
        if (same[i] != NONE && !same_extents(ttir, of->values[same[i]], ttnn, of_ttnn->values[i]))
            same[i] = NONE;
        any |= same[i] != NONE;
    }
    return any;
}

static void pair_those_taken(const struct graph *ttir, const struct model_arguments *of, const struct graph *ttnn,
                             const struct model_arguments *of_ttnn, uint32_t *same) {
    uint32_t n = 0;
    bool fit = true;
    for (uint32_t i = 0; i < of->n; i++) {
        if (graph_nuses(ttir, of->values[i]) == 0)
            continue;
        fit = fit && n < of_ttnn->n && same_extents(ttir, of->values[i], ttnn, of_ttnn->values[n]);
        if (fit)
            same[n++] = i;
    }
    for (uint32_t i = fit && n == of_ttnn->n ? n : 0; i < of_ttnn->n; i++)
        same[i] = NONE;
}

uint32_t *pair_arguments(const struct graph *ttir, uint32_t func, const struct graph *ttnn, uint32_t func_ttnn) {
    struct model_arguments of = arguments_of(ttir, func), of_ttnn = arguments_of(ttnn, func_ttnn);
    uint32_t *same = xrealloc(NULL, (of_ttnn.n + (size_t)1) * sizeof *same);
    for (uint32_t i = 0; i < of_ttnn.n; i++)
        same[i] = i;
    if (of.n != of_ttnn.n && !pair_by_name(ttir, &of, ttnn, &of_ttnn, same))
        pair_those_taken(ttir, &of, ttnn, &of_ttnn, same);
    free(of.values);
    free(of_ttnn.values);
    return same;
}
