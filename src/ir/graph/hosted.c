#include "ir/graph/hosted.h"

#include <stdlib.h>

#include "ir/graph/depend.h"
#include "ir/graph/functions.h"
#include "ir/ops/shape.h"

enum { MOST_ARGUMENTS = 63, MOST_VISITED = 512 };
static const uint64_t of_others = 1ull << MOST_ARGUMENTS;

/* The arguments of one audited function that a value is made of, by number. */
struct made_of {
    uint32_t func, number[MOST_ARGUMENTS], n;
};

static bool is_hosted(const struct graph *g, uint32_t v) {
    uint32_t op = g->m->values[v].def, func = op == NONE ? NONE : g->m->ops[op].func;
    return op != NONE && graph_class(g, op) == OP_CALL && g->m->ops[op].callee != NONE &&
           graph_callee_value(g, v) == NONE && func != NONE && g->func_kind[func] == FUNC_CONST_EVAL;
}

static bool add_argument(const struct graph *g, uint32_t v, struct made_of *m) {
    uint32_t func, number;
    if (!graph_argument_of(g, v, &func, &number) || g->func_kind[func] != FUNC_MAIN || m->n == MOST_ARGUMENTS ||
        (m->n && m->func != func))
        return false;
    m->func = func;
    m->number[m->n++] = number;
    return true;
}

static bool add_once(uint32_t *list, uint32_t *n, uint32_t v) {
    uint32_t at = 0;
    while (at < *n && list[at] != v)
        at++;
    if (at == *n && *n < MOST_VISITED)
        list[(*n)++] = v;
    return at < MOST_VISITED;
}

/* False where it is made of something else, too, or of too much. */
static bool find_arguments(const struct graph *g, uint32_t value, struct made_of *m) {
    uint32_t visited[MOST_VISITED] = {value}, n = 1;
    *m = (struct made_of){.n = 0};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = visited[i], op = g->m->values[v].def, inside = graph_callee_value(g, v);
        uint32_t from = op == NONE ? graph_caller_value(g, v) : inside;
        if (from != NONE) {
            if (!add_once(visited, &n, from))
                return false;
        } else if (op == NONE) {
            if (!add_argument(g, v, m))
                return false;
        } else {
            for (uint32_t k = 0; k < graph_noperands(g, op); k++)
                if (is_tensor_operand(g, graph_operands(g, op)[k]) && !add_once(visited, &n, graph_operands(g, op)[k]))
                    return false;
        }
    }
    return m->n > 0;
}

static bool same_shape(const struct graph *a, uint32_t v, const struct graph *b, uint32_t w) {
    struct shape x, y;
    return shape_in_graph(a, v, &x) && shape_in_graph(b, w, &y) && shape_eq(&x, &y);
}

/* Along which dimensions the values of a TTIR function vary that are made of these arguments alone and have the shape;
 * all, where there are none. `of` has room for all values. */
static unsigned found_in(const struct graph *ttir, uint32_t func, const struct made_of *m, const struct graph *ttnn,
                         uint32_t value, uint64_t *of) {
    const struct mlir_func *f = &ttir->m->funcs[func];
    uint64_t all = (of_others - 1) >> (MOST_ARGUMENTS - m->n);
    unsigned varies = 0;
    bool found = false;
    for (uint32_t i = 0; i < f->nargs; i++)
        of[f->first_arg + i] = of_others;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->number[i] < f->nargs)
            of[f->first_arg + m->number[i]] = 1ull << i;
    for (uint32_t op = f->first_op; op < f->end_op; op++) {
        const struct mlir_op *o = &ttir->m->ops[op];
        uint64_t made = o->func != func || graph_class(ttir, op) == OP_CALL ? of_others : 0;
        for (uint32_t k = 0; k < graph_noperands(ttir, op); k++)
            made |= graph_operands(ttir, op)[k] == NONE ? 0 : of[graph_operands(ttir, op)[k]];
        for (uint32_t v = o->first_result; v < o->first_result + o->nresults; v++) {
            of[v] = made;
            if (made == all && same_shape(ttir, v, ttnn, value)) {
                found = true;
                varies |= ttir->varies[v];
            }
        }
    }
    return found ? varies : ALL_DIMENSIONS;
}

void hosted_take(struct graph *ttnn, const struct graph *ttir) {
    uint64_t *of = NULL;
    uint32_t *same = NULL;
    struct made_of m;
    for (uint32_t v = 0; v < ttnn->m->nvalues; v++) {
        if (!is_hosted(ttnn, v) || !find_arguments(ttnn, v, &m))
            continue;
        same = same ? same : pair_functions(ttir, ttnn);
        of = of ? of : xcalloc(ttir->m->nvalues + (size_t)1, sizeof *of);
        if (same[m.func] != NONE && ttir->m->funcs[same[m.func]].nargs == ttnn->m->funcs[m.func].nargs)
            ttnn->varies[v] = (uint16_t)found_in(ttir, same[m.func], &m, ttnn, v, of);
    }
    if (same)
        dependence_spread(ttnn);
    free(same);
    free(of);
}
