/* Index maps in mixed radix; see index.h for what they are. All extents are static here: a dynamic
 * one makes a function return false. */
#include "ir/graph/index.h"

#include "ir/ops/infer.h"

#include <stdlib.h>
#include <string.h>

void imap_identity(struct imap *m, uint32_t space, int64_t numel) {
    m->n = 0;
    if (numel > 1)
        m->t[m->n++] = (struct term){space, 1, numel, 1};
}

static bool factor_before(const struct term *a, const struct term *b) {
    return a->space != b->space ? a->space < b->space : a->lo < b->lo;
}

/* Sorted as they are kept, by insertion: terms are few and mostly in order. */
static uint32_t canonical_terms(struct term *t, uint32_t n) {
    uint32_t kept = 0;
    if (n == 1)
        return t->size > 1 && t->stride != 0;
    for (uint32_t i = 0; i < n; i++) {
        if (t[i].size <= 1 || t[i].stride == 0)
            continue;
        struct term one = t[i];
        uint32_t at = kept++;
        for (; at > 0 && factor_before(&one, &t[at - 1]); at--)
            t[at] = t[at - 1];
        t[at] = one;
    }
    uint32_t out = 0;
    for (uint32_t i = 0; i < kept; i++) {
        struct term *last = out ? &t[out - 1] : NULL;
        if (last && last->space == t[i].space && last->lo * last->size == t[i].lo &&
            last->stride * last->size == t[i].stride)
            last->size *= t[i].size;
        else
            t[out++] = t[i];
    }
    return out;
}

void imap_canonical(struct imap *m) {
    m->n = canonical_terms(m->t, m->n);
}

void axes_axis(const struct axes *a, int i, struct imap *out) {
    out->n = 0;
    if (i < 0)
        i += (int)a->n;
    if (i < 0 || i >= (int)a->n)
        return;
    uint32_t from = axes_begin(a, (uint32_t)i);
    out->n = a->end[i] - from;
    memcpy(out->t, a->t + from, out->n * sizeof *out->t);
    imap_canonical(out);
}

static int64_t terms_extent(const struct term *t, uint32_t n) {
    int64_t e = 1;
    for (uint32_t i = 0; i < n; i++)
        e *= t[i].size;
    return e;
}

int64_t axes_extent(const struct axes *a, int i) {
    struct imap m;
    axes_axis(a, i, &m);
    return terms_extent(m.t, m.n);
}

void axes_join(const struct axes *a, uint32_t i, uint32_t n, struct imap *out) {
    int64_t scale = 1;
    out->n = 0;
    for (uint32_t k = i + n; k-- > i;) {
        uint32_t from = axes_begin(a, k);
        for (uint32_t j = from; j < a->end[k]; j++) {
            out->t[out->n] = a->t[j];
            out->t[out->n++].stride *= scale;
        }
        scale *= terms_extent(a->t + from, a->end[k] - from);
    }
    imap_canonical(out);
}

/* Assigns a term to dimension d with strides[d] <= stride < strides[d] * shape[d]; a term that covers several
 * dimensions is split at their borders. */
static bool split_term(struct term t, const int64_t *shape, const int64_t *strides, uint32_t rank, struct term *parts,
                       uint32_t *dims, uint32_t *n) {
    while (t.size > 1) {
        uint32_t d = rank - 1;
        while (d < rank && t.stride >= strides[d] * shape[d])
            d--;
        if (d >= rank || t.stride < 1 || t.stride % strides[d] != 0 || *n == MAX_TERMS)
            return false;
        int64_t c = t.stride / strides[d];
        int64_t room = shape[d] % c == 0 ? shape[d] / c : t.size;
        int64_t take = t.size <= room ? t.size : room;
        if (t.size % take != 0 || c * (take - 1) >= shape[d])
            return false;
        parts[*n] = (struct term){t.space, t.lo, take, c};
        dims[(*n)++] = d;
        t.lo *= take;
        t.size /= take;
        t.stride *= take;
    }
    return true;
}

bool imap_coordinates(const struct imap *m, const int64_t *shape, uint32_t rank, struct axes *out) {
    int64_t strides[MAX_RANK], stride = 1;
    if (rank > MAX_RANK)
        return false;
    for (uint32_t d = rank; d-- > 0;) {
        strides[d] = stride;
        if (shape[d] < 1 || __builtin_mul_overflow(stride, shape[d], &stride))
            return false;
    }
    struct term parts[MAX_TERMS];
    uint32_t dims[MAX_TERMS], n = 0;
    for (uint32_t i = 0; i < m->n; i++)
        if (!split_term(m->t[i], shape, strides, rank, parts, dims, &n))
            return false;
    axes_clear(out);
    out->n = rank;
    for (uint32_t d = 0, at = 0; d < rank; d++) {
        int64_t reach = 0;
        for (uint32_t i = 0; i < n; i++)
            if (dims[i] == d) {
                reach += parts[i].stride * (parts[i].size - 1);
                out->t[at++] = parts[i];
            }
        if (reach >= shape[d])
            return false;
        out->end[d] = at;
    }
    return true;
}

bool imap_of_coordinates(const struct axes *c, const int64_t *shape, uint32_t rank, struct imap *out) {
    int64_t stride = 1;
    out->n = 0;
    for (uint32_t d = rank; d-- > 0;) {
        for (uint32_t i = axes_begin(c, d); i < c->end[d]; i++) {
            out->t[out->n] = c->t[i];
            out->t[out->n++].stride *= stride;
        }
        if (shape[d] < 1 || __builtin_mul_overflow(stride, shape[d], &stride))
            return false;
    }
    imap_canonical(out);
    return true;
}

bool imap_split(const struct graph *g, uint32_t value, const struct imap *map, struct imap *varying,
                struct imap *equal) {
    uint32_t rank;
    const int64_t *shape = graph_shape(g, value, &rank);
    struct axes c, of[2];
    if (!shape || g->varies[value] == graph_dimensions(g, value) || !imap_coordinates(map, shape, rank, &c))
        return false;
    for (int k = 0; k < 2; k++) {
        axes_clear(&of[k]);
        for (uint32_t d = 0; d < rank; d++)
            if (!axes_add(&of[k], c.t + axes_begin(&c, d),
                          (g->varies[value] >> d & 1) == (k == 0) ? c.end[d] - axes_begin(&c, d) : 0))
                return false;
    }
    return imap_of_coordinates(&of[0], shape, rank, varying) && imap_of_coordinates(&of[1], shape, rank, equal) &&
           equal->n > 0;
}

static bool add_factors(struct imap *to, const struct term *of, int64_t lo, int64_t end) {
    if (lo == end)
        return true;
    if (lo % of->lo != 0 || end % lo != 0 || to->n == MAX_TERMS)
        return false;
    to->t[to->n++] = (struct term){of->space, lo, end / lo, of->stride * (lo / of->lo)};
    return true;
}

bool imap_part(const struct imap *map, const struct imap *by, struct imap *had, struct imap *others) {
    had->n = others->n = 0;
    for (uint32_t i = 0; i < map->n; i++) {
        const struct term *t = &map->t[i];
        int64_t from = t->lo, end = t->lo * t->size;
        for (uint32_t j = 0; j < by->n; j++) { /* sorted by lo */
            const struct term *u = &by->t[j];
            int64_t lo = u->lo > from ? u->lo : from, last = u->lo * u->size < end ? u->lo * u->size : end;
            if (u->space != t->space || lo >= last)
                continue;
            if (!add_factors(others, t, from, lo) || !add_factors(had, t, lo, last))
                return false;
            from = last;
        }
        if (!add_factors(others, t, from, end))
            return false;
    }
    imap_canonical(had);
    imap_canonical(others);
    return true;
}

/* ---- movement as a map of its own, and what it makes of another ---- */

bool permutation_of(const struct graph *g, uint32_t op, uint32_t rank, uint32_t *order) {
    return permuted_dims((enum op_kind)g->kind[op], graph_attributes(g, op), rank, order);
}

/* Where the coordinates of an op's operand are in the index of its result. */
struct places {
    uint32_t from[MAX_RANK]; /* per dimension of the operand: the one of the result, */
    int64_t each[MAX_RANK];  /* along which one element of the operand is so many, */
    bool repeats, stretches; /* all of them any number of times, or those of an extent of 1 */
};

/* Broadcasts and repeats are aligned from the right; what is in front is NONE. */
static void align_right(uint32_t rank, uint32_t to_rank, struct places *p) {
    for (uint32_t d = 0; d < to_rank; d++) {
        p->from[d] = d + rank >= to_rank ? d + rank - to_rank : NONE;
        p->each[d] = 1;
    }
}

static bool places_of(const struct graph *g, uint32_t op, uint32_t rank, uint32_t to_rank, struct places *p) {
    const struct attrs *a = graph_attributes(g, op);
    enum op_movement how = graph_movement(g, op);
    uint32_t order[MAX_RANK];
    *p = (struct places){.repeats = how == MOVEMENT_REPEAT, .stretches = how == MOVEMENT_BROADCAST};
    align_right(rank, to_rank, p);
    if (how == MOVEMENT_PERMUTE) {
        if (rank != to_rank || !permutation_of(g, op, rank, order))
            return false;
        for (uint32_t i = 0; i < rank; i++)
            p->from[order[i]] = i;
    } else if (how == MOVEMENT_INTERLEAVE) {
        int64_t repeats = attrs_int(a, "repeats", 0), dim = attrs_int(a, "dim", rank);
        dim += dim < 0 ? (int64_t)rank : 0;
        if (rank != to_rank || repeats < 1 || dim < 0 || dim >= (int64_t)rank)
            return false;
        p->each[dim] = repeats;
    }
    return true;
}

/* The map from a result of one shape to an operand of another. False where their extents do not fit. */
static bool map_of_places(const struct places *p, const int64_t *shape, uint32_t rank, const int64_t *to,
                          uint32_t to_rank, struct imap *out) {
    int64_t lo[MAX_RANK] = {0}, stride = 1;
    for (uint32_t d = rank; d-- > 0; stride *= shape[d])
        lo[d] = stride;
    stride = 1;
    out->n = 0;
    for (uint32_t d = to_rank; d-- > 0; stride *= to[d]) {
        uint32_t from = p->from[d];
        int64_t extent = from == NONE ? 1 : shape[from], step = p->each[d];
        if (to[d] < 1 || extent % to[d] != 0 || extent / to[d] % step != 0)
            return false;
        if (extent / to[d] != step && !p->repeats && !(p->stretches && to[d] == 1))
            return false;
        if (to[d] > 1)
            out->t[out->n++] = (struct term){0, lo[from] * step, to[d], stride};
    }
    imap_canonical(out);
    return true;
}

/* A number in mixed radix, from its most significant factor on, and what each factor counts for elsewhere. */
struct radix {
    int64_t size[MAX_RANK], stride[MAX_RANK];
    uint32_t n;
};

static bool add_factor(struct radix *r, int64_t size, int64_t stride) {
    if (size == 1)
        return true;
    if (r->n == MAX_RANK)
        return false;
    r->size[r->n] = size;
    r->stride[r->n++] = stride;
    return true;
}

bool imap_compose(const struct imap *m, const struct imap *next, int64_t numel, struct imap *out) {
    struct radix r = {.n = 0};
    struct axes c;
    int64_t above = numel; /* the factors that no term has count for nothing */
    for (uint32_t i = next->n; i-- > 0; above = next->t[i].lo) {
        int64_t end = next->t[i].lo * next->t[i].size;
        if (above % end != 0 || !add_factor(&r, above / end, 0) || !add_factor(&r, next->t[i].size, next->t[i].stride))
            return false;
    }
    if (!add_factor(&r, above, 0) || !imap_coordinates(m, r.size, r.n, &c))
        return false;
    out->n = 0;
    for (uint32_t d = 0; d < r.n; d++)
        for (uint32_t i = axes_begin(&c, d); i < c.end[d] && r.stride[d]; i++) {
            out->t[out->n] = c.t[i];
            out->t[out->n++].stride *= r.stride[d];
        }
    imap_canonical(out);
    return true;
}

static bool through_places(const struct graph *g, uint32_t from, uint32_t to, const struct places *p,
                           const struct imap *result, struct imap *operand) {
    uint32_t rank, to_rank;
    const int64_t *shape = graph_shape(g, from, &rank), *to_shape = graph_shape(g, to, &to_rank);
    struct imap own;
    return shape && to_shape && map_of_places(p, shape, rank, to_shape, to_rank, &own) &&
           imap_compose(result, &own, graph_numel(g, from), operand);
}

bool imap_through(const struct graph *g, uint32_t op, const struct imap *result, struct imap *operand) {
    return graph_looks_through(g, op) && imap_moved(g, op, graph_through(g, op), result, operand);
}

bool imap_moved(const struct graph *g, uint32_t op, uint32_t to, const struct imap *result, struct imap *operand) {
    uint32_t from = g->m->ops[op].first_result, rank, to_rank;
    struct places p;
    if (g->m->ops[op].nresults != 1)
        return false;
    if (graph_class(g, op) == OP_ELTWISE || graph_op_is(g, op, LOOKS_UP))
        return imap_operand(g, from, to, result, operand);
    if (graph_movement(g, op) <= MOVEMENT_RESHAPE) {
        int64_t n = graph_numel(g, to);
        imap_copy(operand, result);
        return n >= 0 && n == graph_numel(g, from);
    }
    return graph_shape(g, from, &rank) && graph_shape(g, to, &to_rank) && rank <= MAX_RANK && to_rank <= MAX_RANK &&
           graph_numel(g, from) > 0 && places_of(g, op, rank, to_rank, &p) &&
           through_places(g, from, to, &p, result, operand);
}

bool imap_operand(const struct graph *g, uint32_t result, uint32_t operand, const struct imap *map, struct imap *out) {
    uint32_t rank, to_rank;
    const int64_t *shape = graph_shape(g, result, &rank), *to = graph_shape(g, operand, &to_rank);
    struct places p = {.stretches = true};
    if (!shape || !to || to_rank > MAX_RANK || rank > MAX_RANK)
        return false;
    if (rank == to_rank && memcmp(shape, to, rank * sizeof *shape) == 0) {
        imap_copy(out, map);
        return true;
    }
    align_right(rank, to_rank, &p);
    return graph_numel(g, result) > 0 && through_places(g, result, operand, &p, map, out);
}

bool slice_bounds(const struct graph *g, uint32_t op, struct slice_bounds *out) {
    const struct attrs *a = graph_attributes(g, op);
    const int64_t *begins, *ends, *steps;
    uint32_t to_rank;
    if (graph_class(g, op) != OP_SLICE || g->m->ops[op].nresults != 1 || graph_noperands(g, op) < 1)
        return false;
    const int64_t *from = graph_shape(g, graph_operands(g, op)[0], &out->rank),
                  *to = graph_shape(g, g->m->ops[op].first_result, &to_rank);
    if (!from || !to || out->rank > MAX_RANK || to_rank != out->rank)
        return false;
    int rank = (int)out->rank;
    if (attrs_list(a, "begins", &begins) != rank || attrs_list(a, "ends", &ends) != rank)
        return false;
    bool stepped = attrs_list(a, "step", &steps) == rank;
    out->ncut = 0;
    for (uint32_t d = 0; d < out->rank; d++) {
        int64_t *b = &out->begin[d], *e = &out->end[d], step = stepped ? steps[d] : 1;
        *b = begins[d];
        *e = ends[d];
        out->step[d] = step;
        *b += *b < 0 ? from[d] : 0;
        *e += *e < 0 ? from[d] : 0;
        if (*b < 0 || *e > from[d] || *b >= *e || step < 1 || (*e - *b - 1) / step + 1 != to[d])
            return false;
        out->cut[d] = to[d] != from[d];
        out->ncut += out->cut[d];
    }
    return true;
}

/* A factor is a multiplicative interval [lo, lo * size). Two factors are independent when one begins at a multiple of
 * the other's end; intervals that merely do not meet may belong to different radices: I / 3 changes with I % 2. */
static bool independent(const struct term *a, const struct term *b) {
    return a->space != b->space || b->lo % (a->lo * a->size) == 0 || a->lo % (b->lo * b->size) == 0;
}

bool imap_touches(const struct imap *m, const struct imap *axis) {
    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t j = 0; j < axis->n; j++)
            if (!independent(&m->t[i], &axis->t[j]))
                return true;
    return false;
}

static bool divides(int64_t a, int64_t b) {
    return a > b ? a % b == 0 : b % a == 0;
}

/* The parts of p below and above the factor `cut`. False when they are of different radices. */
static bool cut_out(const struct term *p, const struct term *cut, struct term *parts, uint32_t *n) {
    int64_t end = p->lo * p->size, cut_end = cut->lo * cut->size;
    *n = 0;
    if (cut->lo >= end || p->lo >= cut_end || !divides(cut->lo, p->lo) || !divides(cut_end, end) ||
        cut_end % p->lo != 0)
        return false;
    if (cut->lo > p->lo)
        parts[(*n)++] = (struct term){p->space, p->lo, cut->lo / p->lo, p->stride};
    if (cut_end < end)
        parts[(*n)++] = (struct term){p->space, cut_end, end / cut_end, p->stride * (cut_end / p->lo)};
    return true;
}

/* What is left of a factor without all that `m` depends on: at most one piece more than `m` has terms, since each
 * splits one piece at most. False when it cannot be told. */
static bool subtract(const struct term *t, const struct imap *m, struct term *pieces, uint32_t *n) {
    pieces[0] = *t;
    *n = 1;
    for (uint32_t j = 0; j < m->n; j++)
        for (uint32_t i = *n; i-- > 0;) {
            struct term parts[2];
            uint32_t k;
            if (independent(&pieces[i], &m->t[j]))
                continue;
            if (!cut_out(&pieces[i], &m->t[j], parts, &k))
                return false;
            pieces[i] = pieces[--*n];
            memcpy(pieces + *n, parts, k * sizeof *parts);
            *n += k;
        }
    return true;
}

bool imap_within(const struct imap *m, const struct imap *axis) {
    for (uint32_t i = 0; i < m->n; i++) {
        struct term pieces[MAX_TERMS + 2];
        uint32_t n;
        if (!subtract(&m->t[i], axis, pieces, &n) || n)
            return false;
    }
    return true;
}

static void sort_by_stride_down(struct term *t, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        struct term one = t[i];
        uint32_t at = i;
        for (; at > 0 && t[at - 1].stride < one.stride; at--)
            t[at] = t[at - 1];
        t[at] = one;
    }
}

/* Pieces of the context that `m` does not depend on, most significant first. */
static bool missing(const struct axes *context, const struct imap *m, struct term *out, uint32_t *n) {
    *n = 0;
    for (uint32_t a = 0; a < context->n; a++) {
        uint32_t first = *n;
        for (uint32_t i = axes_begin(context, a); i < context->end[a]; i++) {
            struct term pieces[MAX_TERMS + 2];
            uint32_t k;
            if (!subtract(&context->t[i], m, pieces, &k) || *n + k > MAX_TERMS)
                return false;
            memcpy(out + *n, pieces, k * sizeof *pieces);
            *n += k;
        }
        sort_by_stride_down(out + first, *n - first);
    }
    return true;
}

bool imap_complement(const struct axes *context, const struct imap *m, const int64_t *extents, uint32_t n,
                     struct axes *out) {
    struct term pieces[MAX_TERMS];
    uint32_t npieces, at = 0;
    if (!missing(context, m, pieces, &npieces))
        return false;
    axes_clear(out);
    for (uint32_t d = 0; d < n; d++) {
        struct term of_dim[MAX_TERMS];
        uint32_t k = 0;
        for (int64_t need = extents[d]; need > 1;) {
            if (at == npieces)
                return false;
            struct term *p = &pieces[at];
            if (p->size <= need) {
                if (need % p->size != 0)
                    return false;
                need /= p->size;
                of_dim[k++] = (struct term){p->space, p->lo, p->size, need};
                at++;
            } else {
                if (p->size % need != 0)
                    return false;
                int64_t rest = p->size / need;
                of_dim[k++] = (struct term){p->space, p->lo * rest, need, 1};
                p->size = rest;
                need = 1;
            }
        }
        if (!axes_add(out, of_dim, k))
            return false;
    }
    return at == npieces;
}
