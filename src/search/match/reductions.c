/* Reductions: the factors that are summed are an axis of the formula. They are those of the formula's axes that the
 * result does not depend on, so that x inside and x outside of the sum vary along the same axis. Where these do not
 * fit, as under a root that is reduced itself, they are an axis that the formula has below the reduction only, at the
 * place where it is printed. */
#include "search/match/matcher.h"

/* The dimensions of an operand that are reduced, and the factors along these. */
struct reduced_dims {
    const int64_t *shape;
    uint32_t rank, n;
    bool is[MAX_RANK];
    int64_t extents[MAX_RANK]; /* of those that are, in order */
    struct axes factors;
    bool own; /* they are no axes of the formula above the reduction */
};

/* The space of the factors of so many elements that the result does not depend on: the same for all reductions, so that
 * one value may be read in several. */
static uint32_t reduced_space(struct matcher *m, const struct imap *result, int64_t extent) {
    uint32_t i = 0;
    for (; i < m->nreduced; i++) {
        struct term t = {REDUCED_SPACE + i, 1, extent, 1};
        if (m->reduced[i] == extent && !imap_touches(result, &(struct imap){1, {t}}))
            return t.space;
    }
    if (i == MAX_REDUCED)
        m->full = true;
    else
        m->reduced[m->nreduced++] = extent;
    return REDUCED_SPACE + i;
}

static bool find_factors(struct matcher *m, const struct goal *g, const struct imap *map, struct reduced_dims *r) {
    int64_t lo = 1;
    for (uint32_t i = 0; i < r->n; i++)
        if (__builtin_mul_overflow(lo, r->extents[i], &lo))
            return false;
    r->own = !imap_complement(g->axes, map, r->extents, r->n, &r->factors);
    if (!r->own)
        return true;
    uint32_t space = reduced_space(m, map, lo);
    axes_clear(&r->factors);
    for (uint32_t i = 0; i < r->n; i++) {
        lo /= r->extents[i];
        struct term t = {space, lo, r->extents[i], 1};
        if (!axes_add(&r->factors, &t, r->extents[i] > 1))
            return false;
    }
    return !m->full;
}

/* The element of the operand has the coordinates of the result in the dimensions that stay, and the factors in those
 * that are reduced. */
static bool operand_map(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map,
                        struct reduced_dims *r, struct imap *x) {
    const struct graph *gr = m->g;
    uint32_t out_rank;
    const int64_t *out_shape = graph_shape(gr, gr->m->ops[op].first_result, &out_rank);
    struct axes c, mapped;
    r->shape = graph_shape(gr, graph_operands(gr, op)[0], &r->rank);
    r->n = 0;
    if (!r->shape || !out_shape || r->rank > MAX_RANK)
        return false;
    uint32_t count = graph_reduced_dims(gr, op, r->rank, r->is);
    bool stay = out_rank == r->rank;
    if (count == NONE || (!stay && out_rank + count != r->rank) || !imap_coordinates(map, out_shape, out_rank, &c))
        return false;
    for (uint32_t d = 0; d < r->rank; d++) {
        if (r->is[d] && r->shape[d] < 1)
            return false;
        if (r->is[d])
            r->extents[r->n++] = r->shape[d];
    }
    if (!find_factors(m, g, map, r))
        return false;
    axes_clear(&mapped);
    for (uint32_t d = 0, from = 0, reduced = 0; d < r->rank; d++) {
        const struct axes *src = r->is[d] ? &r->factors : &c;
        uint32_t at = r->is[d] ? reduced++ : from, begin = axes_begin(src, at);
        from += !r->is[d] || stay;
        if (!axes_add(&mapped, src->t + begin, src->end[at] - begin))
            return false;
    }
    return imap_of_coordinates(&mapped, r->shape, r->rank, x);
}

/* `dim=` names the dimensions that are printed, but for those of one element. */
static bool names_printed(const struct axis_spec *dim, const struct reduced_dims *r) {
    for (uint32_t d = 0; d < r->rank; d++) {
        bool named = dim->n == 0;
        for (uint32_t i = 0; i < dim->n; i++)
            named |= dim->axes[i] == (int)d - (int)r->rank || dim->axes[i] == (int)d;
        if (r->shape[d] > 1 && (r->is[d] ? !named : named && dim->n))
            return false;
    }
    return true;
}

static bool add_axis(const struct axes *from, uint32_t i, struct axes *to) {
    uint32_t begin = axes_begin(from, i);
    return axes_add(to, from->t + begin, from->end[i] - begin);
}

/* The axes with axis `k` of the factors as the one that is `back` from the end: in the place of one that the result
 * does not depend on, else between the others, where a leading one of a single element gives way. */
static bool put_axis(const struct axes *axes, const struct imap *result, const struct axes *factors, uint32_t k,
                     uint32_t back, struct axes *out) {
    struct imap there, first;
    axes_axis(axes, -(int)back, &there);
    axes_axis(axes, 0, &first);
    bool replaces = axes->n >= back && !imap_touches(result, &there), good = true;
    uint32_t behind = back - 1 < axes->n ? back - 1 : axes->n, before = axes->n - behind - replaces;
    axes_clear(out);
    for (uint32_t i = !replaces && first.n == 0; i < before && good; i++)
        good = add_axis(axes, i, out);
    good = good && add_axis(factors, k, out);
    for (uint32_t i = behind; i + 1 < back && good; i++)
        good = axes_add(out, NULL, 0);
    for (uint32_t i = axes->n - behind; i < axes->n && good; i++)
        good = add_axis(axes, i, out);
    return good;
}

/* The formula's axes below the reduction. NULL where there are too many. */
static const struct axes *axes_below(struct matcher *m, const struct goal *g, const struct imap *map,
                                     const struct reduced_dims *r) {
    struct axes *below = matcher_scratch(m, sizeof *below), next;
    if (!r->own)
        return g->axes;
    if (!below)
        return NULL;
    axes_copy(below, g->axes);
    for (uint32_t d = r->rank, k = r->n; d-- > 0;) {
        if (!r->is[d])
            continue;
        if (!put_axis(below, map, &r->factors, --k, r->rank - d, &next))
            return NULL;
        axes_copy(below, &next);
    }
    return below;
}

enum search_outcome match_reduction(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    uint32_t x = graph_operands(m->g, op)[0];
    if (g->node->nargs != 1 || !matcher_plausible(m, g->node->args[0], x))
        return MISSED;
    struct imap *of_x = matcher_scratch(m, sizeof *of_x), summed;
    struct reduced_dims r;
    const struct axes *below;
    if (!of_x || !operand_map(m, g, op, map, &r, of_x) || !(below = axes_below(m, g, map, &r)))
        return matcher_failed(m, FAILED_INDEX, g, op);
    axes_join(&r.factors, 0, r.factors.n, &summed);
    bool along = r.own ? names_printed(&g->node->dim, &r) : match_axis_fits(m, g, &summed);
    if (!along && matcher_wrong(m, FAILED_AXIS, g, op) == SEARCH_STOPS)
        return MISSED;
    matcher_take(m, op, g);
    const struct goal *next = matcher_operand(m, g, 0, x, of_x, below, g->next);
    return next ? matcher_solve(m, next) : MISSED;
}
