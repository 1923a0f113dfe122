/* An op of numbers takes of each operand the element that its index map says; all else that moves data does, too.
 * Functions that run once are followed. */
#include "ir/graph/elements.h"

#include <math.h>
#include <stdlib.h>

#include "ir/graph/index.h"
#include "ir/ops/scalar.h"

enum { MOST_ELEMENTS = 1 << 21, MOST_DEEP = 24 };

static double *elements(const struct graph *g, uint32_t v, int deep);

/* How many elements in a row are `stride` apart, from each multiple of that number on. */
static int64_t run_of(const struct imap *map, int64_t n, int64_t *stride) {
    int64_t run = n;
    *stride = 0;
    for (uint32_t k = 0; k < map->n; k++)
        if (map->t[k].lo == 1) {
            *stride = map->t[k].stride;
            return map->t[k].size;
        } else if (map->t[k].lo < run) {
            run = map->t[k].lo;
        }
    return run;
}

/* The element of an operand for each of a result. */
static double *gathered(const struct graph *g, uint32_t from, const struct imap *map, int64_t n, int deep) {
    struct imap same;
    imap_identity(&same, 0, n);
    double *all = elements(g, from, deep + 1);
    if (all && n == graph_numel(g, from) && imap_equal(map, &same))
        return all;
    double *out = all ? xcalloc((size_t)n, sizeof *out) : NULL;
    int64_t stride, run = run_of(map, n, &stride);
    for (int64_t i = 0; i < n && out; i += run) {
        int64_t first = imap_at(map, i);
        for (int64_t k = 0; k < run && i + k < n; k++)
            out[i + k] = all[first + k * stride];
    }
    free(all);
    return out;
}

static double *computed(const struct graph *g, uint32_t op, uint32_t v, int64_t n, int deep) {
    unary_function *one = unary_of((enum op_kind)g->kind[op]);
    binary_function *two = binary_of((enum op_kind)g->kind[op]);
    uint32_t count = graph_noperands(g, op);
    struct imap all, map;
    double *x[2] = {NULL, NULL};
    bool known = graph_plain(g, op) && ((one && count == 1) || (two && count == 2));
    imap_identity(&all, 0, n);
    for (uint32_t k = 0; k < count && known; k++) {
        uint32_t from = graph_operands(g, op)[k];
        known =
            from != NONE && imap_operand(g, v, from, &all, &map) && (x[k] = gathered(g, from, &map, n, deep)) != NULL;
    }
    for (int64_t i = 0; i < n && known; i++)
        x[0][i] = count == 1 ? one(x[0][i]) : two(x[0][i], x[1][i]);
    free(x[1]);
    if (!known)
        free(x[0]);
    return known ? x[0] : NULL;
}

static double *counted(const struct graph *g, uint32_t op, int64_t n) {
    const struct attr *start = attrs_find(graph_attributes(g, op), "start");
    const struct attr *step = attrs_find(graph_attributes(g, op), "step");
    uint16_t along = graph_dimensions(g, g->m->ops[op].first_result);
    double *out = start && step && (along & (along - 1)) == 0 ? xcalloc((size_t)n, sizeof *out) : NULL;
    for (int64_t i = 0; i < n && out; i++)
        out[i] = start->number + (double)i * step->number;
    return out;
}

static double *written(const struct graph *g, uint32_t op, int64_t n) {
    const struct attr *value = attrs_find(graph_attributes(g, op), "value");
    double *out = value ? xcalloc((size_t)n, sizeof *out) : NULL;
    if (!out || mlir_numbers(value->text, out, n) == n)
        return out;
    free(out);
    return NULL;
}

/* It only moves elements, which its type holds as they are. */
static bool keeps_numbers(const struct graph *g, uint32_t v) {
    uint32_t op = g->m->values[v].def;
    return op != NONE && graph_looks_through(g, op) && graph_dtype(g, graph_through(g, op)) == graph_dtype(g, v);
}

/* As the element type of the value holds them. */
static void round_all(enum dtype type, double *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (x[i] != 0 && x[i] != 1) /* which all formats hold, and most elements are */
            x[i] = format_is_integer(type) ? trunc(x[i]) : round_to_bits(x[i], dtype_table[type].precision);
}

static double *moved_or_made(const struct graph *g, uint32_t op, uint32_t v, int64_t n, int deep) {
    struct imap all, map;
    if (op == NONE || graph_class(g, op) == OP_CALL) {
        uint32_t other = op == NONE ? graph_caller_value(g, v) : graph_callee_value(g, v);
        return other != NONE && graph_numel(g, other) == n ? elements(g, other, deep + 1) : NULL;
    }
    if (graph_looks_through(g, op)) {
        imap_identity(&all, 0, n);
        return imap_through(g, op, &all, &map) ? gathered(g, graph_through(g, op), &map, n, deep) : NULL;
    }
    if (graph_class(g, op) == OP_CONSTANT)
        return written(g, op, n);
    return graph_op_is(g, op, COUNTS) ? counted(g, op, n) : computed(g, op, v, n, deep);
}

static double *elements(const struct graph *g, uint32_t v, int deep) {
    int64_t n = graph_numel(g, v);
    struct constant c = graph_constant(g, v);
    double *out = NULL;
    if (n <= 0 || n > MOST_ELEMENTS || deep == MOST_DEEP || !graph_is_parameter(g, v))
        return NULL;
    out = c.known ? xcalloc((size_t)n, sizeof *out) : moved_or_made(g, g->m->values[v].def, v, n, deep);
    for (int64_t i = 0; i < n && c.known; i++)
        out[i] = c.value;
    if (out && !keeps_numbers(g, v))
        round_all(graph_dtype(g, v), out, n);
    return out;
}

double *graph_elements(const struct graph *g, uint32_t value) {
    return elements(g, value, 0);
}
