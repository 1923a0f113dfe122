/* Numbers that a matched value or its op has: sizes of its tensor, its users, bounds of a slice, attributes. */
#include "match/conditions.h"

#include <math.h>
#include <string.h>

typedef double measured(const struct evaluation *e, const struct binding *b, const struct number *n);

static double rank_of(const struct evaluation *e, const struct binding *b, const struct number *n) {
    uint32_t rank;
    (void)n;
    return graph_shape(e->graph, b->value, &rank) ? (double)rank : NAN;
}

static double size_of(const struct evaluation *e, const struct binding *b, const struct number *n) {
    uint32_t rank;
    const int64_t *shape = graph_shape(e->graph, b->value, &rank);
    int64_t d = n->given[0] + (n->given[0] < 0 ? (int64_t)rank : 0);
    return shape && d >= 0 && d < (int64_t)rank ? (double)shape[d] : NAN;
}

static double numel_of(const struct evaluation *e, const struct binding *b, const struct number *n) {
    (void)n;
    int64_t numel = graph_numel(e->graph, b->value);
    return numel < 0 ? NAN : (double)numel;
}

static double users_of(const struct evaluation *e, const struct binding *b, const struct number *n) {
    (void)n;
    return graph_nuses(e->graph, b->value);
}

static double dtype_of(const struct evaluation *e, const struct binding *b, const struct number *n) {
    enum dtype t = graph_dtype(e->graph, b->value);
    (void)n;
    return t >= DT_F64 && t <= DT_BFP2 ? -(double)t : (double)t;
}

/* Counted from the last, which is -1: also where the value is the same all along each axis. */
static double innermost_of(const struct evaluation *e, const struct binding *b, const struct number *n) {
    uint32_t i = 0;
    struct imap axis;
    (void)e, (void)n;
    while (i < b->map->n && b->map->t[i].stride != 1)
        i++;
    if (i == b->map->n)
        return -1;
    for (int d = -1; d >= -(int)b->axes->n; d--) {
        axes_axis(b->axes, d, &axis);
        if (imap_within(&(struct imap){1, {b->map->t[i]}}, &axis))
            return d;
    }
    return NAN;
}

static uint32_t op_of(const struct evaluation *e, const struct binding *b) {
    return b->op != NONE ? b->op : e->graph->m->values[b->value].def;
}

/* Of a slice that cuts one dimension; `cut` is that dimension, counted from the last, which is -1. */
static double slice_of(const struct evaluation *e, const struct binding *b, const struct number *n) {
    struct slice_bounds s;
    uint32_t op = op_of(e, b), d = 0;
    if (op == NONE || !slice_bounds(e->graph, op, &s) || s.ncut != 1)
        return NAN;
    while (!s.cut[d])
        d++;
    switch (n->call) {
    case MEASURE_begin:
        return (double)s.begin[d];
    case MEASURE_end:
        return (double)s.end[d];
    case MEASURE_step:
        return (double)s.step[d];
    default:
        return (double)d - s.rank;
    }
}

/* A number, a truth value, or the one number that a list repeats. */
static double attribute_of(const struct evaluation *e, const struct binding *b, const struct number *n) {
    struct str text;
    double value;
    int64_t list[16];
    uint32_t op = op_of(e, b);
    if (op == NONE || !mlir_attr(e->graph->m, op, n->key, &text))
        return NAN;
    if (str_is(text, "true") || str_is(text, "false"))
        return str_is(text, "true");
    if (mlir_float(text, &value))
        return value;
    int k = mlir_ints(text, list, 16);
    for (int i = 1; i < k; i++)
        if (k > 16 || list[i] != list[0])
            return NAN;
    return k > 0 ? (double)list[0] : NAN;
}

static measured *const functions[MEASURES] = {
    [MEASURE_rank] = rank_of,   [MEASURE_size] = size_of,           [MEASURE_numel] = numel_of,
    [MEASURE_users] = users_of, [MEASURE_dtype] = dtype_of,         [MEASURE_innermost] = innermost_of,
    [MEASURE_begin] = slice_of, [MEASURE_end] = slice_of,           [MEASURE_step] = slice_of,
    [MEASURE_cut] = slice_of,   [MEASURE_attribute] = attribute_of,
};

double measure(const struct evaluation *e, const struct number *n) {
    const struct binding *b = &e->bindings[n->slot];
    return b->value == NONE ? NAN : functions[n->call](e, b, n);
}
