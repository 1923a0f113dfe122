/* Index maps of operands and of roots. */
#include "search/match/matcher.h"

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

/* The formula's axes at a root are the dimensions of its tensor. At the first try trailing ones of a single element,
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

struct goal *matcher_root_goal(struct matcher *m, const struct node *node, uint32_t op, uint32_t space) {
    uint32_t rank, value = m->g->m->ops[op].first_result;
    const int64_t *shape = graph_shape(m->g, value, &rank);
    struct imap *map = matcher_scratch(m, sizeof *map);
    struct axes *axes = matcher_scratch(m, sizeof *axes);
    struct goal *c = matcher_scratch(m, sizeof *c);
    if (graph_numel(m->g, value) < 1 || !map || !axes || !c)
        return NULL;
    imap_identity(map, space, graph_numel(m->g, value));
    *c = (struct goal){.node = node, .value = value, .map = map, .axes = axes, .slot = NONE, .parent = NONE};
    return root_axes(map, shape, rank, space ? !m->ones_stay : m->ones_lead, axes) ? c : NULL;
}

/* The axes that `dim=` names, joined, are these; without it any are. An axis of one element is where it is printed. */
bool match_axis_fits(const struct matcher *m, const struct goal *g, const struct imap *axis) {
    const struct axis_spec *dim = &g->node->dim;
    struct axes named;
    struct imap meant;
    if (dim->n == 0 || (m->ones_lead && axis->n == 0))
        return dim->n == 0;
    axes_clear(&named);
    for (uint32_t i = 0; i < dim->n; i++) {
        axes_axis(g->axes, dim->axes[i], &meant);
        if (!axes_add(&named, meant.t, meant.n))
            return false;
    }
    axes_join(&named, 0, named.n, &meant);
    return imap_equal(axis, &meant);
}
