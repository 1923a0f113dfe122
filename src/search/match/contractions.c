/* Matrix products: which operand has the rows and which the columns, also where the whole product is transposed, or
 * printed as a multiply. */
#include "search/match/matcher.h"

/* The same elements in any order: the rows of one product may be (head, query), those of another (query, head). */
static bool same_factors(const struct imap *a, const struct imap *b) {
    return imap_within(a, b) && imap_within(b, a);
}

/* Under transposed(), the outer product sums over axis -2: among the rows here, beside which may be a batch that the
 * outer product has among its own rows. */
static bool same_but_for_batch(const struct axes *axes, const struct imap *rows, const struct imap *columns) {
    struct imap summed, all;
    axes_axis(axes, -2, &summed);
    axes_join(axes, 0, axes->n, &all);
    return imap_within(&summed, rows) && imap_within(rows, &all) && imap_within(columns, &all) &&
           !imap_touches(&summed, columns);
}

/* Whether the op's rows and columns are those of the formula. Where its result is an operand of another product, as
 * the scores of an attention are, both have to be exact; `transposed`: they are exchanged. Elsewhere a result may have
 * been reshaped, and it is enough that its first operand does not vary along the last axis, or that it has one column;
 * if it is transposed, its rows are that axis, and weights do not become the left operand. */
static bool roles_fit(const struct graph *gr, const struct goal *g, const struct operand_maps *maps, bool *transposed) {
    struct imap rows, columns, last, before;
    axes_axis(&maps->result_axes, -2, &rows);
    axes_axis(&maps->result_axes, -1, &columns);
    axes_axis(g->axes, -1, &last);
    axes_axis(g->axes, -2, &before);
    *transposed = false;
    if (g->inside) {
        if (imap_equal(&columns, &last) && same_factors(&rows, &before))
            return true;
        if (g->turned && same_but_for_batch(g->axes, &rows, &columns))
            return true;
        *transposed = true;
        return imap_equal(&rows, &last) && same_factors(&columns, &before);
    }
    if (!imap_touches(&maps->a, &last) || g->turned)
        return !g->turned || !imap_touches(&maps->a, &last);
    *transposed = last.n > 0 && imap_within(&last, &rows) &&
                  (graph_is_parameter(gr, maps->of_a) || !graph_is_parameter(gr, maps->of_b));
    return *transposed || !columns.n;
}

/* The axes without their last two, and these. */
static bool with_last_two(struct axes *axes, const struct imap *before, const struct imap *last) {
    axes->n -= 2;
    return axes_add(axes, before->t, before->n) && axes_add(axes, last->t, last->n);
}

/* Of an op that computes the transpose, b^T a^T of the formula's a b: its operands and axes as the formula's. */
static const struct operand_maps *exchanged(struct matcher *m, const struct operand_maps *maps) {
    struct imap rows, summed, columns;
    struct operand_maps *out = matcher_scratch(m, sizeof *out);
    if (!out)
        return NULL;
    axes_axis(&maps->b_axes, -1, &rows);
    axes_axis(&maps->b_axes, -2, &summed);
    axes_axis(&maps->a_axes, -2, &columns);
    *out = *maps;
    out->a = maps->b;
    out->b = maps->a;
    out->of_a = maps->of_b;
    out->of_b = maps->of_a;
    bool fits = with_last_two(&out->a_axes, &rows, &summed) && with_last_two(&out->b_axes, &summed, &columns) &&
                with_last_two(&out->result_axes, &rows, &columns);
    return fits ? out : NULL;
}

/* Goals for the two factors of the op, and then `next`. */
static enum search_outcome match_factors(struct matcher *m, const struct goal *g, const struct operand_maps *maps,
                                         const struct goal *next) {
    struct goal *b = matcher_operand(m, g, 1, maps->of_b, &maps->b, &maps->b_axes, next);
    struct goal *a = b ? matcher_operand(m, g, 0, maps->of_a, &maps->a, &maps->a_axes, b) : NULL;
    if (!a)
        return MISSED;
    a->inside = b->inside = true;
    return matcher_solve(m, a);
}

/* The op as a product, with summed factors of a space of their own; NULL when it is none that is understood. */
static const struct operand_maps *product_maps(struct matcher *m, uint32_t op, const struct imap *map) {
    struct operand_maps *maps = matcher_scratch(m, sizeof *maps);
    struct contraction c;
    uint32_t space = ++m->state.spaces;
    return maps && contraction_of(m->g, op, &c) && contraction_maps(m->g, &c, map, space, maps) ? maps : NULL;
}

enum search_outcome match_contraction(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    bool transposed;
    if (g->node->nargs != graph_count_operands(m->g, op))
        return matcher_failed(m, FAILED_OPERANDS, g, op);
    const struct operand_maps *maps = product_maps(m, op, map);
    if (!maps || !roles_fit(m->g, g, maps, &transposed) ||
        (transposed && g->node->nargs > 2)) /* a bias is of columns */
        return matcher_failed(m, FAILED_ROLES, g, op);
    maps = transposed ? exchanged(m, maps) : maps;
    if (!maps)
        return MISSED;
    if (g->slot != NONE) {
        struct binding b = m->state.slots[g->slot];
        b.axes = &maps->result_axes;
        matcher_bind(m, g->slot, b);
    }
    matcher_take(m, op, g);
    const struct goal *next = g->next;
    if (g->node->nargs > 2) { /* the bias of a linear, which broadcasts */
        const struct imap *bias = matcher_operand_map(m, op, 2, map);
        next = bias ? matcher_operand(m, g, 2, graph_operands(m->g, op)[2], bias, &maps->result_axes, g->next) : NULL;
        if (!next)
            return MISSED;
    }
    struct goal factors = *g;
    factors.outer = NULL; /* the axes of the factors are their own */
    return match_factors(m, &factors, maps, next);
}

/* outer(p, v): a matmul that sums over one element, printed as a multiply that broadcasts p along the columns of v.
 * `p_at`: which operand is p. */
static enum search_outcome outer_order(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map,
                                       uint32_t p_at) {
    const uint32_t *v = graph_operands(m->g, op);
    uint32_t result = m->g->m->ops[op].first_result;
    struct operand_maps *maps = matcher_scratch(m, sizeof *maps);
    if (!maps || !imap_operand(m->g, result, v[p_at], map, &maps->a) ||
        !imap_operand(m->g, result, v[1 - p_at], map, &maps->b))
        return MISSED;
    imap_canonical(&maps->a);
    imap_canonical(&maps->b);
    /* p may be broadcast by an op of its own before the multiply: its source tells what it depends on */
    struct link *links = matcher_scratch(m, MAX_CHAIN * sizeof *links);
    if (!links)
        return MISSED;
    uint32_t n = movement_chain(m->g, v[p_at], &maps->a, links, MAX_CHAIN);
    const struct imap *source = &links[n - 1].map;
    struct axes columns;
    struct imap column;
    int64_t size = 1;
    for (uint32_t i = 0; i < maps->b.n; i++)
        size *= maps->b.t[i].size;
    for (uint32_t i = 0; i < source->n; i++)
        size /= source->t[i].size;
    if (size <= 1 || !imap_complement(g->axes, source, &size, 1, &columns) || !imap_within(source, &maps->b))
        return MISSED;
    axes_axis(&columns, 0, &column);
    axes_clear(&maps->a_axes);
    if (!axes_add(&maps->a_axes, source->t, source->n))
        return MISSED;
    maps->b_axes = maps->a_axes;
    /* p has one summed element, v one row: axes without factors */
    axes_add(&maps->a_axes, NULL, 0);
    axes_add(&maps->a_axes, NULL, 0);
    axes_add(&maps->b_axes, NULL, 0);
    if (!axes_add(&maps->b_axes, column.t, column.n))
        return MISSED;
    matcher_take(m, op, g);
    maps->of_a = v[p_at];
    maps->of_b = v[1 - p_at];
    return match_factors(m, g, maps, g->next);
}

enum search_outcome match_outer(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    if (graph_noperands(m->g, op) != 2)
        return MISSED;
    struct mark k = matcher_mark(m);
    if (outer_order(m, g, op, map, 0) == MATCHED)
        return MATCHED;
    matcher_undo(m, k);
    return outer_order(m, g, op, map, 1);
}
