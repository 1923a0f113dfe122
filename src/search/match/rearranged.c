/* rearrange(x, "b s (h d) -> b h s d"): movement that puts the elements of x into this order, in whatever steps. */
#include "patterns/lang/rearrange.h"
#include "search/match/matcher.h"

/* Which element of x, by the index of what it is rearranged to. */
static void map_of(const struct rearrangement *r, const int64_t *extents, struct imap *out) {
    int64_t stride[MAX_RANK], lo = 1;
    for (uint32_t i = r->naxes; i-- > 0; lo *= extents[r->from.axes[i]])
        stride[r->from.axes[i]] = lo;
    out->n = 0;
    lo = 1;
    for (uint32_t i = r->naxes; i-- > 0;) {
        uint8_t axis = r->to.axes[i];
        out->t[out->n++] = (struct term){0, lo, extents[axis], stride[axis]};
        lo *= extents[axis];
    }
    imap_canonical(out);
}

/* The value is x rearranged, `by` being the map that the movement between them is. */
static bool is_rearranged(const struct graph *g, const struct rearrangement *r, uint32_t value, uint32_t x,
                          const struct imap *by) {
    uint32_t rank, of_rank;
    const int64_t *shape = graph_shape(g, value, &rank), *of = graph_shape(g, x, &of_rank);
    int64_t extents[MAX_RANK];
    struct imap meant;
    if (!shape || !of || rank != r->to.rank || of_rank != r->from.rank || !rearrangement_extents(r, of, shape, extents))
        return false;
    map_of(r, extents, &meant);
    return imap_equal(&meant, by);
}

/* The movement from x, link `x` of the chain, to link `at`. */
static enum search_outcome match_between(struct matcher *m, const struct goal *g, const struct link *chain, uint32_t at,
                                         uint32_t x) {
    struct goal of_last = {.parent = m->state.nmatched};
    matcher_take(m, chain[at + 1].op, g);
    for (uint32_t i = at + 2; i <= x; i++)
        if (graph_class(m->g, chain[i].op) == OP_MOVE)
            matcher_take(m, chain[i].op, &of_last);
        else
            matcher_look_through(m, chain[i].op, true);
    if (g->slot != NONE)
        matcher_bind(m, g->slot,
                     (struct binding){.value = chain[at].value,
                                      .op = chain[at + 1].op,
                                      .map = &chain[at].map,
                                      .needed = &chain[at].map,
                                      .axes = g->axes});
    const struct goal *next = matcher_operand(m, g, 0, chain[x].value, &chain[x].map, g->axes, g->next);
    return next ? matcher_solve(m, next) : MISSED;
}

enum search_outcome match_rearranged(struct matcher *m, const struct goal *g) {
    struct link *chain = matcher_scratch(m, MAX_CHAIN * sizeof *chain),
                *by = matcher_scratch(m, MAX_CHAIN * sizeof *by);
    struct imap own;
    if (!chain || !by)
        return MISSED;
    uint32_t n = movement_chain(m->g, g->value, g->map, chain, MAX_CHAIN);
    for (uint32_t at = 0; at + 1 < n && (at == 0 || g->parent != NONE); at++) {
        struct mark k = matcher_mark(m);
        imap_identity(&own, 0, graph_numel(m->g, chain[at].value));
        uint32_t nby = movement_chain(m->g, chain[at].value, &own, by, MAX_CHAIN - at);
        for (uint32_t i = 1; i < nby; i++) {
            if (is_rearranged(m->g, g->node->order, chain[at].value, by[i].value, &by[i].map) &&
                match_between(m, g, chain, at, at + i) == MATCHED)
                return MATCHED;
            matcher_undo(m, k);
        }
        matcher_look_through(m, chain[at + 1].op, true);
    }
    return matcher_failed(m, FAILED_ORDER, g, g->value);
}
