/* Numbers that a matched value or its op has: sizes of its tensor, its users, bounds of a slice, attributes. */
#include "search/match/matcher.h"

#include <math.h>
#include <stdlib.h>

#include "ir/graph/elements.h"
#include "ir/graph/mesh.h"

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

/* Counted from the last one below 0. */
static double element_of(const struct evaluation *e, const struct binding *b, const struct number *n) {
    int64_t numel = graph_numel(e->graph, b->value), at = n->given[0] + (n->given[0] < 0 ? numel : 0);
    record_elsewhere(e, true);
    return graph_element(e->graph, b->value, at);
}

static double users_of(const struct evaluation *e, const struct binding *b, const struct number *n) {
    (void)n;
    return graph_nuses(e->graph, b->value);
}

static uint32_t op_of(const struct evaluation *e, const struct binding *b) {
    return b->op != NONE ? b->op : e->graph->m->values[b->value].def;
}

static double siblings_of(const struct evaluation *e, const struct binding *b, const struct number *n) {
    const struct graph *g = e->graph;
    uint32_t op = op_of(e, b);
    (void)n;
    return op == NONE || graph_class(g, op) != OP_CONTRACT || graph_noperands(g, op) < 2 ? NAN
                                                                                         : (double)g->siblings[op];
}

static double dtype_of(const struct evaluation *e, const struct binding *b, const struct number *n) {
    enum dtype t = graph_dtype(e->graph, b->value);
    (void)n;
    return t >= DT_F64 && t <= DT_BFP2 ? -(double)t : (double)t;
}

/* Counted from the last, which is -1: also where the value is the same all along each axis. */
static double innermost_of(const struct evaluation *e, const struct binding *b, const struct number *n) {
    const struct binding *bound = &e->bindings[n->slot];
    struct link links[MAX_CHAIN];
    uint32_t i = 0, before = 0;
    struct imap axis;
    if (b->value != bound->value)
        before = movement_chain(e->graph, bound->value, bound->map, links, MAX_CHAIN);
    const struct imap *map = before ? &links[before - 1].map : b->map;
    while (i < map->n && map->t[i].stride != 1)
        i++;
    if (i == map->n)
        return -1;
    for (int d = -1; d >= -(int)b->axes->n; d--) {
        axes_axis(b->axes, d, &axis);
        if (imap_within(&(struct imap){1, {map->t[i]}}, &axis))
            return d;
    }
    return NAN;
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

/* By the shapes of a gather or a scatter; else by the mesh, which the module may state. */
static double devices_of(const struct evaluation *e, const struct binding *b, const struct number *n) {
    const struct graph *g = e->graph;
    uint32_t op = op_of(e, b);
    (void)n;
    if (op == NONE || !op_is((enum op_kind)g->kind[op], COLLECTIVE) || graph_noperands(g, op) == 0)
        return NAN;
    double in = (double)graph_numel(g, graph_operands(g, op)[0]),
           out = (double)graph_numel(g, g->m->ops[op].first_result);
    if (in > 0 && out > 0 && in != out)
        return in < out ? out / in : in / out;
    int64_t stated = mesh_devices(g->m, op, attrs_int(graph_attributes(g, op), "cluster_axis", -1));
    return stated > 0 ? (double)stated : NAN;
}

/* A number, a truth value, or the one number that a list repeats. */
static double attribute_of(const struct evaluation *e, const struct binding *b, const struct number *n) {
    uint32_t op = op_of(e, b);
    const struct attr *x = op == NONE ? NULL : attrs_find(graph_attributes(e->graph, op), n->key);
    if (x && x->is_number)
        return x->number;
    for (int i = 1; x && i < x->n; i++)
        if (x->list[i] != x->list[0])
            return NAN;
    return x && x->n > 0 ? (double)x->list[0] : NAN;
}

static measured *const functions[MEASURES] = {
    [MEASURE_rank] = rank_of,           [MEASURE_size] = size_of,         [MEASURE_numel] = numel_of,
    [MEASURE_users] = users_of,         [MEASURE_siblings] = siblings_of, [MEASURE_dtype] = dtype_of,
    [MEASURE_innermost] = innermost_of, [MEASURE_begin] = slice_of,       [MEASURE_end] = slice_of,
    [MEASURE_step] = slice_of,          [MEASURE_cut] = slice_of,         [MEASURE_devices] = devices_of,
    [MEASURE_attribute] = attribute_of, [MEASURE_element] = element_of,
};

double measure(const struct evaluation *e, const struct number *n) {
    struct binding b = bound_to(e, n->slot, value_view_of(n, 0));
    return b.value == NONE ? NAN : functions[n->call](e, &b, n);
}
