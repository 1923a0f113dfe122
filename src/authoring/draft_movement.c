/* Ops that only move data as one line, rearrange(x, "b s (h d) -> b h s d"). */
#include "authoring/draft.h"

#include "ir/graph/movement.h"
#include "patterns/lang/rearrange.h"

enum { MOST_CUTS = 2 * MAX_TERMS + MAX_RANK + 2 };

/* Where the index of the result is cut, so that each dimension of it and of the operand consists of whole pieces: piece
 * i goes from at[i] to before at[i + 1]. */
struct cuts {
    int64_t at[MOST_CUTS];
    uint32_t n;
};

static void add_cut(struct cuts *c, int64_t cut) {
    uint32_t i = c->n;
    while (i > 0 && c->at[i - 1] > cut)
        i--;
    if (i > 0 && c->at[i - 1] == cut)
        return;
    for (uint32_t k = c->n++; k > i; k--)
        c->at[k] = c->at[k - 1];
    c->at[i] = cut;
}

/* False where the pieces are more than a rearrangement has axes. `from`: the coordinates of the operand. */
static bool find_cuts(const int64_t *shape, uint32_t rank, const struct axes *from, struct cuts *c) {
    int64_t stride = 1;
    bool good = true;
    c->n = 0;
    for (uint32_t d = rank; d-- > 0; stride *= shape[d])
        add_cut(c, stride);
    add_cut(c, stride);
    for (uint32_t i = 0; from->n && i < from->end[from->n - 1]; i++) {
        add_cut(c, from->t[i].lo);
        add_cut(c, from->t[i].lo * from->t[i].size);
    }
    for (uint32_t i = 0; i + 1 < c->n; i++)
        good &= c->at[i + 1] % c->at[i] == 0;
    return good && c->n - 1 <= MAX_RANK;
}

/* The pieces of a part of the index, the largest first, at the end of a dimension. New ones become axes. */
static bool add_pieces(const struct cuts *c, int64_t lo, int64_t end, uint8_t axis_of[MAX_RANK], uint8_t *naxes,
                       struct arranged_dims *to, uint8_t *n) {
    for (uint32_t i = c->n - 1; i-- > 0;) {
        if (c->at[i] < lo || c->at[i] >= end)
            continue;
        if (naxes && axis_of[i] == MAX_RANK)
            axis_of[i] = (*naxes)++;
        else if (naxes || axis_of[i] == MAX_RANK)
            return false;
        to->axes[(*n)++] = axis_of[i];
    }
    return true;
}

static void print_side(const struct arranged_dims *d, struct buf *out) {
    for (uint8_t i = 0, at = 0; i < d->rank; i++) {
        bool several = d->end[i] - at > 1;
        buf_add(out, i ? STR(" ") : STR(""));
        buf_add(out, d->end[i] == at ? STR("1") : several ? STR("(") : STR(""));
        for (uint8_t k = at; k < d->end[i]; k++)
            buf_printf(out, "%s%c", k > at ? " " : "", 'a' + d->axes[k]);
        buf_add(out, several ? STR(")") : STR(""));
        at = d->end[i];
    }
}

static void print_order(const struct rearrangement *r, struct buf *out) {
    print_side(&r->from, out);
    buf_add(out, STR(" -> "));
    print_side(&r->to, out);
}

/* The term of a dimension that is the next one further in than `stride`; NULL: there is none. */
static const struct term *next_term(const struct axes *from, uint32_t d, int64_t stride) {
    const struct term *next = NULL;
    for (uint32_t i = axes_begin(from, d); i < from->end[d]; i++)
        if (from->t[i].stride < stride && (!next || from->t[i].stride > next->stride))
            next = &from->t[i];
    return next;
}

static bool arrange(const int64_t *shape, uint32_t rank, const struct axes *from, struct rearrangement *out) {
    struct cuts c;
    uint8_t axis_of[MAX_RANK], n = 0;
    int64_t stride = 1;
    *out = (struct rearrangement){.naxes = 0};
    if (!find_cuts(shape, rank, from, &c))
        return false;
    memset(axis_of, MAX_RANK, sizeof axis_of);
    for (uint32_t d = 0; d < from->n; d++) {
        const struct term *t = NULL;
        while ((t = next_term(from, d, t ? t->stride : INT64_MAX)))
            if (!add_pieces(&c, t->lo, t->lo * t->size, axis_of, &out->naxes, &out->from, &n))
                return false;
        out->from.end[out->from.rank++] = n;
    }
    n = 0;
    for (uint32_t d = 0; d < rank; d++)
        stride *= shape[d];
    for (uint32_t d = 0; d < rank; d++) {
        int64_t end = stride;
        stride /= shape[d];
        if (!add_pieces(&c, stride, end, axis_of, NULL, &out->to, &n))
            return false;
        out->to.end[out->to.rank++] = n;
    }
    return n == out->naxes;
}

bool draft_rearranged(struct draft *s, uint32_t root, struct buf *out) {
    const struct graph *g = s->graph;
    struct link *chain = arena_alloc(s->arena, MAX_CHAIN * sizeof *chain);
    uint32_t value = g->m->ops[root].first_result, n, last = 0, rank, of_rank;
    struct rearrangement r;
    struct imap own;
    struct axes from;
    imap_identity(&own, 0, graph_numel(g, value));
    n = movement_chain(g, value, &own, chain, MAX_CHAIN);
    while (last + 1 < n && s->shown[chain[last + 1].op])
        last++;
    const int64_t *shape = graph_shape(g, value, &rank), *of = graph_shape(g, chain[last].value, &of_rank);
    if (!shape || !of || last == 0 || !imap_coordinates(&chain[last].map, of, of_rank, &from) ||
        !arrange(shape, rank, &from, &r))
        return false;
    s->names[chain[last].value] = STR("x");
    s->names[value] = STR("out");
    buf_add(out, STR("  out = rearrange(x, \""));
    print_order(&r, out);
    buf_add(out, STR("\")\n"));
    return true;
}
