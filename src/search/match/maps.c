/* Index maps of operands and of roots. */
#include "search/match/matcher.h"

#include <string.h>

enum { MOST_BEFORE = 8 }; /* ops between what is moved and a root: products, a sum, casts, a permute and a reshape */

const struct imap *matcher_operand_map(struct matcher *m, uint32_t op, uint32_t operand, const struct imap *map) {
    struct imap *to = matcher_scratch(m, sizeof *to);
    uint32_t value = operand == NONE ? NONE : graph_operands(m->g, op)[operand];
    bool found =
        to && (operand == NONE ? imap_through(m->g, op, map, to)
                               : value != NONE && imap_operand(m->g, m->g->m->ops[op].first_result, value, map, to));
    if (found)
        imap_canonical(to);
    return found ? to : NULL;
}

const struct imap *matcher_map_through(struct matcher *m, uint32_t op, const struct imap *map) {
    const struct imap *to = graph_looks_through(m->g, op) ? matcher_operand_map(m, op, NONE, map) : NULL;
    if (to)
        matcher_look_through(m, op, true);
    return to;
}

/* The formula's axes at a root are the dimensions of its tensor. In one reading trailing ones of a single element,
 * which a reshape put there, count as leading ones: the last axis is one along which something varies. */
static bool root_axes(const struct imap *map, const int64_t *shape, uint32_t rank, bool ones_lead, struct axes *out) {
    struct axes c;
    uint32_t last = rank;
    if (!imap_coordinates(map, shape, rank, &c))
        return false;
    while (ones_lead && last > 0 && shape[last - 1] == 1)
        last--;
    axes_clear(out);
    for (uint32_t d = last; d < rank; d++)
        if (!axes_add(out, NULL, 0))
            return false;
    for (uint32_t d = 0; d < last; d++)
        if (!axes_add(out, c.t + axes_begin(&c, d), c.end[d] - axes_begin(&c, d)))
            return false;
    return true;
}

/* Dimensions of more than one element. */
static uint32_t wide_dimensions(const struct graph *g, uint32_t value, int64_t *out) {
    uint32_t rank, n = 0;
    const int64_t *shape = graph_shape(g, value, &rank);
    for (uint32_t d = 0; shape && d < rank && d < MAX_RANK; d++)
        if (shape[d] > 1)
            out[n++] = shape[d];
    return n;
}

bool matcher_same_dimensions(const struct graph *g, uint32_t value, uint32_t other) {
    int64_t own[MAX_RANK], there[MAX_RANK];
    uint32_t n = wide_dimensions(g, value, own);
    return n == wide_dimensions(g, other, there) && memcmp(own, there, n * sizeof *own) == 0;
}

/* The dimensions of the value, in any order, are those of what it is moved to. */
static bool are_dimensions(const struct graph *g, uint32_t value, uint32_t to, const struct imap *map) {
    uint32_t rank, found = 0;
    int64_t own[MAX_RANK], stride = 1;
    struct imap back = *map; /* each digit of one index is a digit of the other */
    struct axes axes;
    for (uint32_t i = 0; i < map->n; i++)
        back.t[i] = (struct term){0, map->t[i].stride, map->t[i].size, map->t[i].lo};
    imap_canonical(&back);
    const int64_t *shape = graph_shape(g, to, &rank);
    if (!imap_coordinates(&back, shape, rank, &axes))
        return false;
    shape = graph_shape(g, value, &rank);
    for (uint32_t d = rank; d-- > 0; stride *= shape[d])
        for (uint32_t i = 0; i < axes.n; i++) {
            const struct term *t = &axes.t[axes_begin(&axes, i)];
            found += axes.end[i] - axes_begin(&axes, i) == 1 && t->lo == stride && t->size == shape[d];
        }
    return found == wide_dimensions(g, value, own);
}

/* What `value` is moved to and used as alone, where all of its elements are, and the map from there; NONE: it has the
 * same dimensions there, but for those of one element. */
static uint32_t moved_to(struct matcher *m, uint32_t value, uint32_t space, struct imap *map) {
    struct link links[MAX_CHAIN];
    uint32_t to = movement_result(m->g, value), n, at = 0;
    if (to == value || graph_numel(m->g, to) != graph_numel(m->g, value))
        return NONE;
    bool same = matcher_same_dimensions(m->g, value, to);
    imap_identity(map, space, graph_numel(m->g, to));
    for (n = movement_chain(m->g, to, map, links, MAX_CHAIN); at < n && links[at].value != value;)
        at++;
    if (at == n || (same && imap_equal(map, &links[at].map)))
        return NONE;
    imap_copy(map, &links[at].map);
    for (uint32_t i = 1; i <= at; i++)
        matcher_look_through(m, links[i].op, false);
    return to;
}

/* Of an op that moves its operand, or works on elements: the operand that has all elements of the result; or NONE. */
static uint32_t element_operand(const struct graph *g, uint32_t op) {
    uint32_t from = graph_looks_through(g, op) ? graph_through(g, op) : NONE;
    for (uint32_t i = 0; from == NONE && graph_class(g, op) == OP_ELTWISE && i < graph_noperands(g, op); i++)
        if (graph_operands(g, op)[i] != NONE &&
            graph_numel(g, graph_operands(g, op)[i]) == graph_numel(g, g->m->ops[op].first_result))
            from = graph_operands(g, op)[i];
    return from;
}

/* What is used as it is and moved to where the ops before the root work, and has more dimensions or fewer there, as
 * heads that were split between the ops of a norm: its dimensions are the axes. */
static struct moved_value moved_from(const struct graph *g, uint32_t root) {
    int64_t dims[MAX_RANK];
    uint32_t value = g->m->ops[root].first_result, op = root, n = wide_dimensions(g, value, dims);
    int64_t numel = graph_numel(g, value);
    bool moved = false;
    for (uint32_t steps = 1; steps <= MOST_BEFORE && op != NONE; steps++) {
        value = moved && !graph_looks_through(g, op) ? NONE : element_operand(g, op);
        if (value == NONE || graph_numel(g, value) != numel)
            break;
        moved |= wide_dimensions(g, value, dims) != n;
        if (moved && graph_nuses(g, value) > 1)
            return (struct moved_value){root, value, steps};
        op = g->m->values[value].def;
    }
    return (struct moved_value){root, NONE, 0};
}

/* From the index of the value to that of what `steps` ops before it have all elements of. */
static bool map_before(const struct graph *g, uint32_t value, uint32_t steps, struct imap *map) {
    for (; steps > 0; steps--) {
        struct imap next;
        uint32_t op = g->m->values[value].def, from = element_operand(g, op);
        if (!(graph_looks_through(g, op) ? imap_through(g, op, map, &next) : imap_operand(g, value, from, map, &next)))
            return false;
        imap_canonical(&next);
        imap_copy(map, &next);
        value = from;
    }
    return true;
}

struct goal *matcher_root_goal(struct matcher *m, const struct node *node, uint32_t op, uint32_t space,
                               enum root_frame frame) {
    uint32_t rank, value = m->g->m->ops[op].first_result, framed = value;
    if (frame == FRAME_MOVED_FROM && m->moved_from.root != op)
        m->moved_from = moved_from(m->g, op);
    if (frame == FRAME_MOVED_FROM && m->moved_from.value == NONE)
        return NULL;
    int64_t numel = graph_numel(m->g, value);
    struct imap *map = matcher_scratch(m, sizeof *map), whole;
    struct axes *axes = matcher_scratch(m, sizeof *axes);
    struct goal *c = matcher_scratch(m, sizeof *c);
    if (numel < 1 || !map || !axes || !c || (frame != FRAME_RESULT && class_moves(graph_class(m->g, op))))
        return NULL;
    imap_identity(map, space, numel);
    imap_copy(&whole, map);
    if (frame == FRAME_MOVED_TO)
        framed = moved_to(m, value, space, map);
    if (frame == FRAME_MOVED_FROM)
        framed = map_before(m->g, value, m->moved_from.steps, &whole) ? m->moved_from.value : NONE;
    if (framed == NONE ||
        (frame == FRAME_MOVED_TO && !matcher_is_flat(m, op) && !are_dimensions(m->g, value, framed, map)))
        return NULL;
    const int64_t *shape = graph_shape(m->g, framed, &rank);
    *c = (struct goal){.node = node,
                       .value = value,
                       .map = map,
                       .axes = axes,
                       .slot = NONE,
                       .parent = NONE,
                       .moved_to = frame == FRAME_MOVED_TO ? framed : NONE};
    return root_axes(&whole, shape, rank, space ? !m->ones_stay : m->ones_lead, axes) ? c : NULL;
}

bool matcher_is_flat_of(const struct matcher *m, uint32_t value, uint32_t other) {
    int64_t own[MAX_RANK], there[MAX_RANK];
    return wide_dimensions(m->g, value, own) == 1 && wide_dimensions(m->g, other, there) > 1;
}

bool matcher_is_flat(const struct matcher *m, uint32_t op) {
    uint32_t value = m->g->m->ops[op].first_result;
    return matcher_is_flat_of(m, value, movement_result(m->g, value));
}
