/* Slices and concatenations: an axis of the formula is a part of an axis of the operand, or is made of axes of several.
 * The other axes go on as they are. The one that changes is, below the op, an axis that the formula knows already (the
 * one that was cut above) or a fresh one, and the same fresh one wherever the same axis is a part of an axis of that
 * extent: so two halves of one tensor can meet again in one name. */
#include "search/match/matcher.h"

#include <string.h>

/* The space of the axis of `extent` elements that `part` is a part of. */
static uint32_t fresh_space(struct matcher *m, const struct imap *part, int64_t extent) {
    for (uint32_t i = 0; i < m->fresh.n; i++)
        if (m->fresh.axes[i].extent == extent && imap_equal(&m->fresh.axes[i].part, part))
            return FRESH_SPACE + i;
    if (m->fresh.n == MAX_FRESH) {
        m->full = true;
        return FRESH_SPACE;
    }
    m->fresh.axes[m->fresh.n] = (struct fresh_axis){*part, extent};
    return FRESH_SPACE + m->fresh.n++;
}

/* Replaces the axis of the formula that consists of these factors, if there is one, by others. Of those without
 * factors, which have one element, the one at `position`. */
static bool replace_axis(const struct axes *in, const struct imap *factors, uint32_t position, const struct term *t,
                         uint32_t n, struct axes *out) {
    bool done = false;
    axes_clear(out);
    for (uint32_t i = 0; i < in->n; i++) {
        struct imap axis;
        axes_axis(in, (int)i, &axis);
        bool here = !done && imap_equal(&axis, factors) && (axis.n || i == position);
        uint32_t begin = axes_begin(in, i);
        if (!axes_add(out, here ? t : in->t + begin, here ? n : in->end[i] - begin))
            return false;
        done |= here;
    }
    return true;
}

/* The operand of a slice or a concatenation, and along which dimensions the result has another extent. */
struct resized_operand {
    const int64_t *shape;
    uint32_t rank;
    bool dims[MAX_RANK]; /* those that differ */
};

/* The factors of `context` that the kept dimensions do not use: where an axis was cut above, the operand's dimension is
 * that axis. */
static bool known_factors(const struct axes *context, const struct axes *kept, const struct resized_operand *ch,
                          const int64_t *extents, uint32_t n, struct axes *factors) {
    struct imap rest;
    int64_t shape[MAX_RANK];
    for (uint32_t d = 0; d < ch->rank; d++)
        shape[d] = ch->shape[d];
    return imap_of_coordinates(kept, shape, ch->rank, &rest) && imap_complement(context, &rest, extents, n, factors);
}

/* Of the axes above, those furthest up first. */
static bool factors_above(const struct outer_axes *outer, const struct axes *kept, const struct resized_operand *ch,
                          const int64_t *extents, uint32_t n, struct axes *factors) {
    return outer && (factors_above(outer->before, kept, ch, extents, n, factors) ||
                     known_factors(outer->axes, kept, ch, extents, n, factors));
}

/* Else each of these dimensions is a fresh axis, of which the axis of the result is a part. */
static bool fresh_factors(struct matcher *m, const struct axes *result, const struct resized_operand *ch,
                          struct axes *factors) {
    axes_clear(factors);
    for (uint32_t d = 0; d < ch->rank; d++) {
        if (!ch->dims[d])
            continue;
        struct imap part;
        axes_axis(result, (int)d, &part);
        struct term t = {fresh_space(m, &part, ch->shape[d]), 1, ch->shape[d], 1};
        if (!axes_add(factors, &t, ch->shape[d] > 1))
            return false;
    }
    return !m->full;
}

/* The goal for such an operand. `result` has the coordinates of the op's result; the operand has the same ones in the
 * dimensions that stay, and `factors` in those that differ. There the formula's axis is replaced by these factors too.
 */
static struct goal *operand_goal(struct matcher *m, const struct goal *g, uint32_t arg, uint32_t value,
                                 const struct axes *result, const struct resized_operand *ch, const struct goal *next) {
    struct axes kept, factors, at;
    int64_t extents[MAX_RANK];
    uint32_t n = 0;
    axes_clear(&kept);
    for (uint32_t d = 0; d < ch->rank; d++) {
        uint32_t begin = axes_begin(result, d);
        axes_add(&kept, result->t + begin, ch->dims[d] ? 0 : result->end[d] - begin); /* a part of `result` */
        if (ch->dims[d])
            extents[n++] = ch->shape[d];
    }
    struct outer_axes *outer = matcher_scratch(m, sizeof *outer);
    struct axes *axes = matcher_scratch(m, sizeof *axes);
    struct imap *map = matcher_scratch(m, sizeof *map);
    if (!outer || !axes || !map)
        return NULL;
    *outer = (struct outer_axes){g->axes, g->outer};
    if (!factors_above(outer, &kept, ch, extents, n, &factors) && !fresh_factors(m, result, ch, &factors))
        return NULL;
    *axes = *g->axes;
    axes_clear(&at);
    int8_t dim = g->node->dim.axes[0];
    uint32_t named = (uint32_t)dim + (dim < 0 ? g->axes->n : 0);
    for (uint32_t d = 0, k = 0; d < ch->rank; d++) {
        const struct axes *from = ch->dims[d] ? &factors : &kept;
        uint32_t i = ch->dims[d] ? k++ : d, begin = axes_begin(from, i);
        struct axes changed;
        struct imap part;
        axes_axis(result, (int)d, &part);
        if (!axes_add(&at, from->t + begin, from->end[i] - begin) ||
            (ch->dims[d] && !replace_axis(axes, &part, g->node->dim.n ? named : d + g->axes->n - ch->rank,
                                          from->t + begin, from->end[i] - begin, &changed)))
            return NULL;
        if (ch->dims[d])
            *axes = changed;
    }
    if (!imap_of_coordinates(&at, ch->shape, ch->rank, map))
        return NULL;
    struct goal *c = matcher_operand(m, g, arg, value, map, axes, next);
    if (c)
        c->outer = outer;
    return c;
}

/* What is cut or joined is the axis that dim= names, or a part of it, as where pairs of neighbours are split. */
static bool cut_axis_fits(const struct goal *g, const struct imap *factors) {
    struct imap meant;
    if (g->node->dim.n == 0)
        return true;
    axes_axis(g->axes, g->node->dim.axes[0], &meant);
    return imap_within(factors, &meant);
}

/* part=0, of=2: the first half; part=1, every=2: the odd elements; begin=0, end=32: these. -1 when the key is not
 * given or is a name; false when it is no number. */
static bool part_key(const struct node *node, const char *key, int64_t *out) {
    *out = -1;
    for (uint32_t i = 0; i < node->nattrs; i++)
        if (strcmp(node->attrs[i].key, key) == 0)
            return node->attrs[i].word || mlir_int(node->attrs[i].value, out);
    return true;
}

/* Names among the bounds stand for what is there; false where one stands for another number already. */
static bool bind_bounds(struct matcher *m, const struct goal *g, const struct slice_bounds *s, uint32_t d) {
    bool same = true;
    for (uint32_t i = 0; i < g->node->nattrs && same; i++) {
        const struct attr_spec *a = &g->node->attrs[i];
        uint32_t slot = a->word ? formula_slot(&m->pattern->formula, a->value) : NONE;
        int64_t is = a->key[0] == 'b' ? s->begin[d] : a->key[0] == 'e' ? s->end[d] : s->step[d];
        if (slot == NONE)
            continue;
        const struct binding *b = &m->state.slots[slot];
        same = !b->is_number || b->number == (double)is;
        if (!b->is_number)
            matcher_bind(m, slot, (struct binding){.value = NONE, .op = NONE, .is_number = true, .number = (double)is});
    }
    return same;
}

/* Of x[..., begin:end:step] a bound that is left out is the first or the last one, and the step 1. */
static bool omitted_fit(const struct node *node, const struct slice_bounds *s, uint32_t d, int64_t extent) {
    bool begin = node_attribute(node, "begin").n, end = node_attribute(node, "end").n;
    bool step = node_attribute(node, "step").n;
    return !(begin || end || step) ||
           ((begin || s->begin[d] == 0) && (step || s->step[d] == 1) && (end || s->end[d] > extent - s->step[d]));
}

static bool part_fits(const struct node *node, const struct slice_bounds *s, uint32_t d, int64_t extent) {
    int64_t part, of, every, begin, end, step;
    if (!omitted_fit(node, s, d, extent))
        return false;
    if (!part_key(node, "part", &part) || !part_key(node, "of", &of) || !part_key(node, "every", &every) ||
        !part_key(node, "begin", &begin) || !part_key(node, "end", &end) || !part_key(node, "step", &step))
        return false;
    if ((begin >= 0 && s->begin[d] != begin) || (end >= 0 && s->end[d] != end) || (step >= 0 && s->step[d] != step))
        return false;
    if (of > 0)
        return part >= 0 && part < of && extent % of == 0 && s->step[d] == 1 && s->begin[d] == part * (extent / of) &&
               s->end[d] == (part + 1) * (extent / of);
    if (every > 0)
        return extent % every == 0 && s->step[d] == every && s->begin[d] == part && s->end[d] > extent - every;
    return true;
}

/* The op as a slice of `x` with these bounds. */
static enum search_outcome match_bounds(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map,
                                        uint32_t x, const struct slice_bounds *s) {
    struct axes result;
    uint32_t rank;
    const int64_t *shape = graph_shape(m->g, m->g->m->ops[op].first_result, &rank);
    struct resized_operand ch = {graph_shape(m->g, x, &rank), s->rank, {false}};
    if (!shape || !ch.shape || s->ncut == 0 || !imap_coordinates(map, shape, rank, &result))
        return matcher_failed(m, FAILED_INDEX, g, op);
    if ((g->node->dim.n || g->node->nattrs) && s->ncut != 1)
        return matcher_failed(m, FAILED_PART, g, op);
    for (uint32_t d = 0; d < s->rank; d++) {
        struct imap axis;
        ch.dims[d] = s->cut[d];
        axes_axis(&result, (int)d, &axis);
        if (s->cut[d] && !cut_axis_fits(g, &axis) && matcher_wrong(m, FAILED_AXIS, g, op) == SEARCH_STOPS)
            return MISSED;
        if (s->cut[d] && (!part_fits(g->node, s, d, ch.shape[d]) || !bind_bounds(m, g, s, d)) &&
            matcher_wrong(m, FAILED_PART, g, op) == SEARCH_STOPS)
            return MISSED;
    }
    matcher_take(m, op, g);
    const struct goal *next = operand_goal(m, g, 0, x, &result, &ch, g->next);
    return next ? matcher_solve(m, next) : MISSED;
}

enum search_outcome match_slice(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    struct slice_bounds s;
    if (g->node->nargs != 1 || !slice_bounds(m->g, op, &s))
        return matcher_failed(m, FAILED_INDEX, g, op);
    return match_bounds(m, g, op, map, graph_operands(m->g, op)[0], &s);
}

enum search_outcome match_concat(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    const struct graph *gr = m->g;
    const uint32_t *v = graph_operands(gr, op);
    const struct attr *along = graph_axes(gr, op);
    struct axes result;
    struct imap axis;
    uint32_t rank, n = graph_noperands(gr, op);
    const int64_t *shape = graph_shape(gr, gr->m->ops[op].first_result, &rank);
    if (n != g->node->nargs)
        return matcher_failed(m, FAILED_OPERANDS, g, op);
    if (!shape || rank > MAX_RANK || !along || !along->is_whole || !imap_coordinates(map, shape, rank, &result))
        return matcher_failed(m, FAILED_INDEX, g, op);
    int64_t dim = along->whole;
    dim += dim < 0 ? (int64_t)rank : 0;
    if (dim < 0 || dim >= (int64_t)rank)
        return MISSED;
    axes_axis(&result, (int)dim, &axis);
    if (!cut_axis_fits(g, &axis) && matcher_wrong(m, FAILED_AXIS, g, op) == SEARCH_STOPS)
        return MISSED;
    matcher_take(m, op, g);
    const struct goal *next = g->next;
    for (uint32_t i = n; i-- > 0;) {
        struct resized_operand ch = {NULL, rank, {false}};
        uint32_t own;
        ch.shape = v[i] == NONE ? NULL : graph_shape(gr, v[i], &own);
        ch.dims[dim] = true;
        if (!ch.shape || own != rank || !matcher_plausible(m, g->node->args[i], v[i]))
            return MISSED;
        next = operand_goal(m, g, i, v[i], &result, &ch, next);
        if (!next)
            return MISSED;
    }
    return matcher_solve(m, next);
}
