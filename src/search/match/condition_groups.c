/* Conditions about heads of an attention and groups of channels of a norm: which of them share a value, and what they
 * are made of. */
#include "search/match/conditions.h"

/* Grouped-query attention: k and v are broadcast in the same way, each of their heads to neighbouring heads of q. So of
 * the factors of q before its last two axes their maps lack the least significant ones, or none. */
bool condition_grouped(const struct condition_call *c) {
    struct imap batch, lost[2];
    uint32_t naxes = c->arg[0].axes->n;
    if (naxes < 2)
        return false;
    axes_join(c->arg[0].axes, 0, naxes - 2, &batch);
    for (int k = 0; k < 2; k++) {
        struct axes all, missing;
        axes_clear(&all);
        int64_t lacking = 1;
        for (uint32_t i = 0; i < batch.n; i++)
            lacking *= batch.t[i].size;
        int64_t shared = axis_shared_size(c->arg[1 + k].map, &batch);
        lacking = shared ? lacking / shared : 0;
        if (lacking < 1 || !axes_add(&all, batch.t, batch.n) ||
            !imap_complement(&all, c->arg[1 + k].map, &lacking, 1, &missing))
            return false;
        axes_axis(&missing, 0, &lost[k]);
        if (lost[k].n > 1 || (lost[k].n == 1 && lost[k].t[0].lo != batch.t[0].lo))
            return false;
    }
    return imap_equal(&lost[0], &lost[1]);
}

/* Statistics of a group norm: one number for each batch element (axis 0) and group of neighbouring channels; all else
 * was reduced. Over one row of one channel it would be another norm. */
bool condition_channel_groups(const struct condition_call *c) {
    struct imap batch, channel, map;
    int64_t rows = 1, long_axes = 0;
    if (c->arg[0].value == NONE || c->e->axes->n < 3)
        return false;
    map = *c->arg[0].map;
    imap_canonical(&map);
    axes_axis(c->e->axes, 0, &batch);
    axes_axis(c->e->axes, c->number->given[0], &channel);
    for (uint32_t i = 0; i < c->e->axes->n; i++) {
        rows *= axes_extent(c->e->axes, (int)i);
        long_axes += axes_extent(c->e->axes, (int)i) > 1;
    }
    long_axes -= (batch.n > 0) + (channel.n > 0);
    int64_t groups = axis_size(map.t, map.n) / axis_size(batch.t, batch.n);
    int64_t channels = axis_size(channel.t, channel.n);
    if (batch.n > 1 || channel.n != 1 || groups < 1 || channels % groups != 0)
        return false;
    struct imap expected = batch;
    for (uint32_t i = 0; i < expected.n; i++)
        expected.t[i].stride *= groups;
    int64_t of_group = channels / groups;
    expected.t[expected.n++] = (struct term){channel.t[0].space, channel.t[0].lo * of_group, groups, 1};
    imap_canonical(&expected);
    return (of_group > 1 || long_axes > 1) && rows > channels && imap_equal(&expected, &map);
}

/* The operand whose elements go on in this value, and its map: through movement, elementwise ops, norms and slices.
 * NONE where there is none. */
static uint32_t upstream(const struct graph *g, uint32_t value, struct imap *map) {
    uint32_t op = g->m->values[value].def, rank;
    struct imap next;
    struct axes c, kept;
    struct slice_bounds s;
    if (op == NONE || g->m->ops[op].nresults != 1)
        return NONE;
    if (imap_through(g, op, map, &next)) {
        *map = next;
        return graph_through(g, op);
    }
    if (graph_class(g, op) == OP_ELTWISE || graph_class(g, op) == OP_AXISWISE || graph_class(g, op) == OP_ALIKE) {
        for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
            uint32_t x = graph_operands(g, op)[i];
            if (x != NONE && graph_numel(g, x) == graph_numel(g, value) && !graph_is_parameter(g, x))
                return x;
        }
        return NONE;
    }
    const int64_t *shape = graph_shape(g, value, &rank);
    if (!slice_bounds(g, op, &s) || !imap_coordinates(map, shape, rank, &c))
        return NONE;
    axes_clear(&kept);
    for (uint32_t d = 0; d < rank; d++)
        if (!axes_add(&kept, c.t + axes_begin(&c, d), s.cut[d] ? 0 : c.end[d] - axes_begin(&c, d)))
            return NONE;
    uint32_t x = graph_operands(g, op)[0];
    return imap_of_coordinates(&kept, graph_shape(g, x, &rank), s.rank, map) ? x : NONE;
}

/* This axis of x is made of the columns of a product: of features, so of heads rather than positions. */
bool condition_columns(const struct condition_call *c) {
    const struct graph *g = c->graph;
    struct imap axis, map;
    if (c->arg[0].value == NONE)
        return true;
    uint32_t value = c->arg[0].value;
    map = *c->arg[0].map;
    axes_axis(c->arg[0].axes, c->number->given[0], &axis);
    for (int hops = 0; axis.n > 0 && value != NONE && hops < MAX_CHAIN; hops++) {
        uint32_t op = g->m->values[value].def, rank;
        const int64_t *shape = graph_shape(g, value, &rank);
        struct axes at;
        struct imap last;
        if (op != NONE && graph_class(g, op) == OP_CONTRACT) {
            if (!shape || !imap_coordinates(&map, shape, rank, &at))
                return false;
            axes_axis(&at, -1, &last);
            return imap_within(&axis, &last);
        }
        value = upstream(g, value, &map);
    }
    return false;
}

/* How long rows are; 0: there are none. */
static int64_t row_length(const struct graph *g, uint32_t v) {
    uint32_t rank;
    const int64_t *shape = graph_shape(g, v, &rank);
    return shape && rank ? shape[rank - 1] : 0;
}

/* A reshape after which rows have another length. */
static bool changes_rows(const struct graph *g, uint32_t op) {
    int64_t before = row_length(g, graph_operands(g, op)[0]), after = row_length(g, g->m->ops[op].first_result);
    return graph_movement(g, op) == MOVEMENT_RESHAPE && before && after && before != after;
}

/* The op before v that moves it, or subtracts a mean from it. */
static uint32_t moved_from(const struct graph *g, uint32_t v) {
    uint32_t op = g->m->values[v].def;
    if (op == NONE || (!graph_looks_through(g, op) && (!graph_op_is(g, op, ADDS) || graph_op_is(g, op, COMMUTES))))
        return NONE;
    return op;
}

/* A reshape makes the rows of x of others, and one after `out` takes them apart again: groups of channels rather than
 * rows that a kernel is meant for. */
bool condition_regrouped(const struct condition_call *c) {
    const struct graph *g = c->graph;
    if (c->arg[0].value == NONE || c->arg[1].op == NONE)
        return false;
    uint32_t v = c->arg[0].value, op = moved_from(g, v);
    for (int step = 0; op != NONE && step < MAX_CHAIN && !changes_rows(g, op); step++) {
        v = graph_looks_through(g, op) ? graph_through(g, op) : graph_operands(g, op)[0];
        op = v == NONE ? NONE : moved_from(g, v);
    }
    if (op == NONE || !changes_rows(g, op))
        return false;
    v = g->m->ops[c->arg[1].op].first_result;
    for (int step = 0; step < MAX_CHAIN && graph_nuses(g, v) == 1; step++) {
        op = g->uses[g->first_use[v]];
        if (!graph_looks_through(g, op))
            return false;
        if (changes_rows(g, op))
            return true;
        v = g->m->ops[op].first_result;
    }
    return false;
}
