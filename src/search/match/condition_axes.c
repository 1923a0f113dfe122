/* Conditions about the axes of the formula that a value varies along. An axis is a list of factors (ir/graph/index.h);
 * a value varies along it where its index map depends on one of them. */
#include "search/match/conditions.h"

#include <math.h>

/* Varies along the last two axes only. */
bool condition_matrix(const struct condition_call *c) {
    const struct axes *axes = c->arg[0].axes;
    struct imap both;
    if (c->arg[0].value == NONE)
        return true;
    uint32_t n = axes->n < 2 ? axes->n : 2;
    axes_join(axes, axes->n - n, n, &both);
    return imap_within(c->arg[0].needed, &both);
}

static bool one_divides_other(int64_t a, int64_t b) {
    return a > b ? a % b == 0 : b % a == 0;
}

/* Factors are intervals [lo, lo * size) of the index: the size of what both have in common. 0 where they are of
 * different radices: these depend on each other in another way, as I / 3 changes with I % 2. */
int64_t axis_shared_size(const struct imap *m, const struct imap *axis) {
    int64_t size = 1;
    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t j = 0; j < axis->n; j++) {
            const struct term *a = &m->t[i], *b = &axis->t[j];
            int64_t lo = a->lo > b->lo ? a->lo : b->lo;
            int64_t end = a->lo * a->size < b->lo * b->size ? a->lo * a->size : b->lo * b->size;
            if (a->space == b->space &&
                !(one_divides_other(a->lo, b->lo) && one_divides_other(a->lo * a->size, b->lo * b->size) &&
                  one_divides_other(a->lo, b->lo * b->size) && one_divides_other(b->lo, a->lo * a->size)))
                return 0;
            if (a->space == b->space && lo < end)
                size *= end / lo;
        }
    return size;
}

int64_t axis_size(const struct term *t, uint32_t n) {
    int64_t size = 1;
    for (uint32_t i = 0; i < n; i++)
        size *= t[i].size;
    return size;
}

/* The same all along an axis on which the formula has more than one element: a broadcast there. */
bool condition_repeated(const struct condition_call *c) {
    bool repeated = false;
    if (c->arg[0].value == NONE)
        return true;
    for (uint32_t i = 0; i < c->arg[0].axes->n; i++) {
        struct imap axis;
        axes_axis(c->arg[0].axes, (int)i, &axis);
        int64_t shared = axis_shared_size(c->arg[0].needed, &axis);
        if (shared == 0)
            return false;
        repeated |= shared < axis_size(axis.t, axis.n);
    }
    return repeated;
}

/* Both pick the same factors, in the same order; elements may be further apart in one. */
static bool same_order(const struct imap *a, const struct imap *b) {
    bool same = a->n == b->n;
    for (uint32_t i = 0; same && i < a->n; i++)
        same = a->t[i].space == b->t[i].space && a->t[i].lo == b->t[i].lo && a->t[i].size == b->t[i].size &&
               a->t[i].stride / a->t[0].stride == b->t[i].stride / b->t[0].stride &&
               a->t[i].stride % a->t[0].stride == b->t[i].stride % b->t[0].stride;
    return same;
}

/* Varies along one axis of another value only, element for element: along the last one, what a kernel reads as a row.
 */
bool condition_along_axis(const struct condition_call *c) {
    if (c->arg[0].value == NONE || c->arg[1].value == NONE)
        return true;
    struct imap axis, map = *c->arg[0].needed;
    axes_axis(c->arg[1].axes, c->number->given[0], &axis);
    imap_canonical(&map);
    return same_order(&map, &axis);
}

/* The same all along this axis of y. */
bool condition_same_along(const struct condition_call *c) {
    if (c->arg[0].value == NONE || c->arg[1].value == NONE)
        return true;
    struct imap axis;
    axes_axis(c->arg[1].axes, c->number->given[0], &axis);
    return axis_shared_size(c->arg[0].needed, &axis) == 1;
}

/* Varies along what the reduction reduces only, element for element. */
bool condition_along_reduced(const struct condition_call *c) {
    struct axes missing;
    struct imap axis, map;
    if (c->arg[0].value == NONE || c->arg[1].value == NONE)
        return true;
    int64_t kept = axis_size(c->arg[1].map->t, c->arg[1].map->n);
    int64_t size =
        axis_size(c->arg[1].axes->t, c->arg[1].axes->n ? c->arg[1].axes->end[c->arg[1].axes->n - 1] : 0) / kept;
    if (size < 2 || !imap_complement(c->arg[1].axes, c->arg[1].map, &size, 1, &missing))
        return false;
    axes_axis(&missing, 0, &axis);
    map = *c->arg[0].needed;
    imap_canonical(&map);
    return imap_equal(&map, &axis);
}

/* Of an axis the numbers of its pairs of neighbours. */
static void leave_pairs(struct imap *axis) {
    for (uint32_t i = 0; i < axis->n; i++)
        if (axis->t[i].stride == 1 && axis->t[i].size > 2 && axis->t[i].size % 2 == 0) {
            axis->t[i].lo *= 2;
            axis->t[i].size /= 2;
        }
}

/* One row for each element of one other axis, along the last axis element for element or pair for pair. */
static bool is_table_of_rows(const struct axes *axes, const struct imap *map) {
    struct imap last;
    axes_axis(axes, -1, &last);
    if (!imap_within(&last, map))
        leave_pairs(&last);
    if (!imap_within(&last, map))
        return false;
    if (imap_within(map, &last))
        return axes_extent(axes, -2) == 1;
    for (uint32_t i = 0; i + 1 < axes->n; i++) {
        struct imap both, axis;
        struct axes two;
        axes_axis(axes, (int)i, &axis);
        axes_clear(&two);
        if (!axes_add(&two, axis.t, axis.n) || !axes_add(&two, last.t, last.n))
            continue;
        axes_join(&two, 0, 2, &both);
        if (imap_within(map, &both) && imap_within(&both, map))
            return true;
    }
    return false;
}

/* The angles of a rotary embedding: a row for each position, or a single row where there is one position. They may have
 * been broadcast before they are used, also in a function that runs once. */
bool condition_positions(const struct condition_call *c) {
    struct link links[MAX_CHAIN];
    if (c->arg[0].value == NONE)
        return true;
    uint32_t value = c->arg[0].value;
    struct imap map = *c->arg[0].needed;
    for (int hops = 0; value != NONE && hops < 4; hops++) {
        uint32_t k = movement_chain(c->graph, value, &map, links, MAX_CHAIN);
        for (uint32_t i = 0; i < k; i++)
            if (is_table_of_rows(c->arg[0].axes, &links[i].map))
                return true;
        value = graph_callee_value(c->graph, links[k - 1].value); /* broadcast in a function that runs once */
        if (value != NONE)
            record_elsewhere(c->e, true);
        map = links[k - 1].map;
    }
    return false;
}

/* Positions from 0 on along one axis of the value, the same along the others; also where they are computed before the
 * first run. */
bool condition_counts(const struct condition_call *c) {
    const struct graph *g = c->graph;
    struct link links[MAX_CHAIN];
    struct imap map, axis;
    uint32_t value = c->arg[0].value, rank;
    const int64_t *shape = value == NONE ? NULL : graph_shape(g, value, &rank);
    struct axes axes;
    if (!shape || graph_numel(g, value) < 1)
        return value == NONE;
    imap_identity(&map, 0, graph_numel(g, value));
    if (!imap_coordinates(&map, shape, rank, &axes))
        return false;
    axes_axis(&axes, (int)c->number->given[0], &axis);
    for (int hops = 0; value != NONE && hops < 4; hops++) {
        const struct link *last = &links[movement_chain(g, value, &map, links, MAX_CHAIN) - 1];
        uint32_t op = g->m->values[last->value].def;
        if (op != NONE && graph_op_is(g, op, COUNTS))
            return imap_equal(&last->map, &axis) && axis.n &&
                   graph_numel(g, last->value) == axis_size(axis.t, axis.n) &&
                   attrs_number(graph_attributes(g, op), "start", NAN) == 0 &&
                   attrs_number(graph_attributes(g, op), "step", NAN) == 1;
        map = last->map;
        value = graph_callee_value(g, last->value);
        if (value != NONE)
            record_elsewhere(c->e, true);
    }
    return false;
}
