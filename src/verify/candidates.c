#include "verify/candidates.h"

#include <stdlib.h>

enum { MAX_IMAGES = 32, MAX_NAMES_OF_OP = 8, MAX_SAME_NAME = 4 };

static int64_t numel_of(const struct flat *f, uint32_t v) {
    return graph_numel(f->g, f->values[v].value);
}

static bool in_place(const struct cuts *c, uint32_t before, uint32_t after) {
    const struct flat *f = &c->side[BEFORE], *h = &c->side[AFTER];
    return same_dims(f->g, f->values[before].value, h->g, h->values[after].value);
}

/* Dimensions of one are some of the other side by side: what a reshape makes of a value, but for chance. */
static bool may_reshape(const struct cuts *c, uint32_t before, uint32_t after) {
    const struct flat *f = &c->side[BEFORE], *h = &c->side[AFTER];
    uint32_t n, m, i = 0, k = 0;
    const int64_t *a = graph_shape(f->g, f->values[before].value, &n),
                  *b = graph_shape(h->g, h->values[after].value, &m);
    while (a && b && (i < n || k < m)) {
        int64_t left = i < n ? a[i++] : 1, right = k < m ? b[k++] : 1;
        uint32_t nleft = left > 1, nright = right > 1;
        while (left != right && (left < right ? i < n : k < m)) {
            if (left < right) {
                nleft += a[i] > 1;
                left *= a[i++];
            } else {
                nright += b[k] > 1;
                right *= b[k++];
            }
        }
        if (left != right || (nleft > 1 && nright > 1))
            return false;
    }
    return a && b;
}

static bool is_known(const struct cut_candidate *all, uint32_t n, const struct cut_candidate *x) {
    for (uint32_t i = 0; i < n; i++)
        if (all[i].before == x->before && all[i].relation.rank == x->relation.rank &&
            memcmp(all[i].relation.order, x->relation.order, x->relation.rank) == 0)
            return true;
    return false;
}

static uint32_t add(struct cut_candidate *out, uint32_t n, struct cut_candidate x) {
    if (n < MAX_CANDIDATES_OF_CUT && !is_known(out, n, &x))
        out[n++] = x;
    return n;
}

/* ---- permuted ---- */

/* Dimensions of one element do not matter: what is left of both has to be the same extents in another order, or the
 * value of AFTER has some of them as one. */
static bool may_permute(const int64_t *from, uint32_t rank, const uint8_t *order, const int64_t *to, uint32_t rank_to) {
    uint32_t d = 0;
    for (uint32_t i = 0; i < rank_to; i++) {
        int64_t n = 1;
        for (; d < rank && n < to[i]; d++)
            n *= from[order[d]];
        if (n != to[i])
            return false;
    }
    for (; d < rank; d++)
        if (from[order[d]] != 1)
            return false;
    return true;
}

static uint32_t add_range(uint8_t order[CUT_RANK], uint32_t at, uint32_t from, uint32_t to) {
    for (uint32_t d = from; d < to && at < CUT_RANK; d++)
        order[at++] = (uint8_t)d;
    return at;
}

/* The ways in which the dimensions of BEFORE, in another order, give the shape of AFTER: two runs of them swapped
 * (NCHW and NHWC, heads and rows), since that is what layouts do. */
static uint32_t add_permuted(const struct cuts *c, uint32_t before, uint32_t after, struct cut_candidate *out,
                             uint32_t n) {
    const struct flat *f = &c->side[BEFORE], *h = &c->side[AFTER];
    uint32_t rank, to_rank;
    const int64_t *from = graph_shape(f->g, f->values[before].value, &rank),
                  *to = graph_shape(h->g, h->values[after].value, &to_rank);
    if (!from || !to || rank < 2 || rank > CUT_RANK)
        return n;
    for (uint32_t i = 0; i < rank; i++)
        for (uint32_t k = i + 1; k < rank; k++)
            for (uint32_t end = k + 1; end <= rank; end++) {
                struct cut_candidate x = {.before = before, .relation = {.rank = (uint8_t)rank}};
                uint32_t at = add_range(x.relation.order, 0, 0, i);
                at = add_range(x.relation.order, at, k, end);
                at = add_range(x.relation.order, at, i, k);
                add_range(x.relation.order, at, end, rank);
                bool moves = false; /* more than dimensions of one element */
                int64_t last = -1;
                for (uint32_t d = 0; d < rank; d++)
                    if (from[x.relation.order[d]] > 1) {
                        moves |= x.relation.order[d] < last;
                        last = x.relation.order[d];
                    }
                if (moves && may_permute(from, rank, x.relation.order, to, to_rank))
                    n = add(out, n, x);
            }
    return n;
}

/* ---- by location ---- */

static uint64_t name_hash(const struct graph *g, uint32_t op, int which) {
    struct str names[MAX_NAMES_OF_OP];
    int n = mlir_loc_names(g->m, op, names, MAX_NAMES_OF_OP);
    return which < n && which < MAX_NAMES_OF_OP ? str_hash(names[which]) | 1 : 0;
}

static int by_hash(const void *a, const void *b, void *hashes) {
    const uint64_t *h = hashes;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return h[x] < h[y] ? -1 : h[x] > h[y] ? 1 : x < y ? -1 : x > y;
}

static uint32_t add_named(const struct candidates *c, uint32_t after, struct cut_candidate *out, uint32_t n) {
    const struct flat *f = &c->cuts->side[BEFORE], *h = &c->cuts->side[AFTER];
    const struct flat_value *v = &h->values[after];
    for (int which = 0; which < MAX_NAMES_OF_OP; which++) {
        uint64_t hash = name_hash(h->g, h->steps[v->step].op, which);
        uint32_t lo = 0, hi = c->nnames;
        if (!hash)
            break;
        while (lo < hi) {
            uint32_t mid = lo + (hi - lo) / 2;
            if (c->hashes[c->by_name[mid]] < hash)
                lo = mid + 1;
            else
                hi = mid;
        }
        for (uint32_t i = lo; i < c->nnames && c->hashes[c->by_name[i]] == hash && i < lo + MAX_SAME_NAME; i++) {
            const struct flat_step *s = &f->steps[c->by_name[i]];
            uint32_t before = v->result < s->nresults ? s->first_result + v->result : NONE;
            if (before != NONE && numel_of(f, before) == numel_of(h, after) && may_reshape(c->cuts, before, after))
                n = add(out, n, (struct cut_candidate){.before = before});
        }
    }
    return n;
}

/* What a function on the host, whose body is not there, makes of one operand: if anything, the same numbers. */
static uint32_t add_moved(const struct cuts *c, uint32_t after, struct cut_candidate *out, uint32_t n) {
    const struct flat *f = &c->side[AFTER];
    uint32_t step = f->values[after].step;
    if (graph_class(f->g, f->steps[step].op) != OP_CALL || f->steps[step].noperands != 1)
        return n;
    uint32_t v = flat_operands(f, step)[0], before = v == NONE ? NONE : c->before_of[v];
    if (before != NONE && numel_of(&c->side[BEFORE], before) == numel_of(f, after))
        n = add(out, n, (struct cut_candidate){.before = before});
    return n;
}

static bool same_operands(const struct cuts *c, uint32_t step, uint32_t call) {
    const struct flat *f = &c->side[BEFORE], *h = &c->side[AFTER];
    uint32_t n = h->steps[step].noperands;
    bool same = graph_noperands(f->g, call) == n;
    for (uint32_t i = 0; same && i < n; i++) {
        uint32_t x = flat_operands(h, step)[i], y = graph_operands(f->g, call)[i];
        same = x == NONE || y == NONE ? x == y : c->before_of[x] != NONE && c->before_of[x] == f->of[y];
    }
    return same;
}

/* A function whose body is not there, or was lowered for the host: what the one of that name makes of the same values
 * in BEFORE, where it may have a body. */
static uint32_t add_called(const struct cuts *c, uint32_t after, struct cut_candidate *out, uint32_t n) {
    const struct flat *f = &c->side[BEFORE], *h = &c->side[AFTER];
    const struct mlir *m = f->g->m, *w = h->g->m;
    const struct flat_value *v = &h->values[after];
    uint32_t callee = w->ops[h->steps[v->step].op].callee;
    if (graph_class(h->g, h->steps[v->step].op) != OP_CALL || callee == NONE)
        return n;
    for (uint32_t op = 0; op < m->nops; op++) {
        uint32_t before = v->result < m->ops[op].nresults ? f->of[m->ops[op].first_result + v->result] : NONE;
        if (m->ops[op].callee != NONE && before != NONE && str_eq(m->names[m->ops[op].callee], w->names[callee]) &&
            same_operands(c, v->step, op) && numel_of(f, before) == numel_of(h, after))
            n = add(out, n, (struct cut_candidate){.before = before});
    }
    return n;
}

/* What an op writes into a tensor: the op of BEFORE that writes into the same one. */
static uint32_t add_written(const struct cuts *c, uint32_t after, struct cut_candidate *out, uint32_t n) {
    const struct flat *f = &c->side[BEFORE], *h = &c->side[AFTER];
    uint32_t step = h->values[after].step;
    if (h->g->m->ops[h->steps[step].op].nresults > 0)
        return n;
    uint32_t v = flat_operands(h, step)[0], before = v == NONE ? NONE : c->before_of[v];
    for (uint32_t s = 0; before != NONE && s < f->nsteps; s++)
        if (f->steps[s].nresults == 1 && f->steps[s].noperands > 1 && flat_operands(f, s)[0] == before &&
            flat_kind(f, s) != K_UNKNOWN && f->values[f->steps[s].first_result].value == f->values[before].value)
            n = add(out, n, (struct cut_candidate){.before = f->steps[s].first_result});
    return n;
}

/* ---- all ---- */

void candidates_begin(struct candidates *c, const struct cuts *cuts, const uint32_t *func_of) {
    const struct flat *f = &cuts->side[BEFORE];
    *c = (struct candidates){.cuts = cuts};
    align_build(&c->align, f->g, cuts->side[AFTER].g, func_of);
    c->by_name = xrealloc(NULL, (f->nsteps + (size_t)1) * sizeof *c->by_name);
    c->hashes = xcalloc(f->nsteps + (size_t)1, sizeof *c->hashes);
    for (uint32_t s = 0; s < f->nsteps; s++)
        if (flat_computes(f, s) && (c->hashes[s] = name_hash(f->g, f->steps[s].op, 0)))
            c->by_name[c->nnames++] = s;
    qsort_r(c->by_name, c->nnames, sizeof *c->by_name, by_hash, c->hashes);
}

void candidates_free(struct candidates *c) {
    align_free(&c->align);
    free(c->by_name);
    free(c->hashes);
}

uint32_t candidates_of(const struct candidates *c, uint32_t after, struct cut_candidate out[MAX_CANDIDATES_OF_CUT]) {
    const struct flat *f = &c->cuts->side[BEFORE], *h = &c->cuts->side[AFTER];
    const struct image *image = &c->align.ttnn.of[h->values[after].value];
    struct cut_candidate named[MAX_CANDIDATES_OF_CUT];
    uint32_t first, found[MAX_IMAGES], nfound = 0, n = 0, nnamed = add_named(c, after, named, 0);
    uint32_t all = image_find(&c->align.index, image, MAX_IMAGES, &first);
    for (uint32_t i = 0; i < all; i++) {
        uint32_t before = f->of[c->align.index.values[first + i]];
        if (before != NONE && numel_of(f, before) == numel_of(h, after))
            found[nfound++] = before;
    }
    n = add_called(c->cuts, after, out, n);
    n = add_moved(c->cuts, after, out, n);
    n = add_written(c->cuts, after, out, n);
    for (uint32_t i = 0; i < nnamed; i++) /* of several that look alike the one of that location */
        if (has_id(found, nfound, named[i].before) && in_place(c->cuts, named[i].before, after))
            n = add(out, n, named[i]);
    for (uint32_t i = 0; i < nfound; i++)
        if (in_place(c->cuts, found[i], after))
            n = add(out, n, (struct cut_candidate){.before = found[i]});
    for (uint32_t i = 0; i < nfound; i++)
        if (may_reshape(c->cuts, found[i], after))
            n = add(out, n, (struct cut_candidate){.before = found[i]});
    for (uint32_t i = 0; i < nnamed; i++)
        n = add(out, n, named[i]);
    for (uint32_t i = 0; i < nfound; i++)
        n = add_permuted(c->cuts, found[i], after, out, n);
    return n;
}
