/* A node that is made as one before it is that one. */
#include "proof/value/lazy_node.h"

#include "proof/value/fold.h"
#include "proof/value/split.h"

#include <math.h>
#include <string.h>

void node_need_elements(struct eval_context *ctx, const struct shape *s) {
    if (shape_count(s) < 1 || s->rank > MAX_RANK)
        eval_reason(ctx, REASON_NO_EVALUATOR, "no evaluator for a tensor %s", shape_text(ctx->arena, s).p);
}

struct lazy *node_new(struct eval_context *ctx, enum lazy_kind kind, const struct shape *s) {
    struct lazies *all = ctx->nodes;
    struct lazy *l = arena_alloc(ctx->arena, sizeof *l);
    *l = (struct lazy){.id = all->n, .kind = kind, .name = "an op", .shape = *s, .n = shape_count(s)};
    node_need_elements(ctx, s);
    all->all = grow(all->all, &all->cap, all->n + 1, sizeof(struct lazy *));
    all->all[all->n++] = l;
    return l;
}

/* The table of a tensor that has its elements: up to the last one that the view has. */
static struct lazy *table_of(struct eval_context *ctx, const struct view *v) {
    struct lazies *all = ctx->nodes;
    int64_t last = v->offset;
    for (uint32_t d = 0; d < v->shape.rank; d++)
        last += v->stride[d] > 0 ? (v->shape.dim[d] - 1) * v->stride[d] : 0;
    uint32_t *at = &all->tables[hash_mix(0, (uint64_t)(uintptr_t)v->x) % LAZY_TABLES];
    for (; *at; at = &all->all[*at - 1]->next_table)
        if (all->all[*at - 1]->of == v->x && all->all[*at - 1]->n > last)
            return all->all[*at - 1];
    struct lazy *l = node_new(ctx, LAZY_TABLE, &(struct shape){1, {last + 1}});
    *at = l->id + 1;
    l->of = v->x;
    l->x = arena_alloc(ctx->arena, ((size_t)last + 1) * sizeof *l->x);
    memcpy(l->x, v->x, ((size_t)last + 1) * sizeof *l->x);
    return l;
}

struct view node_view(struct eval_context *ctx, struct view v) {
    node_need_elements(ctx, &v.shape);
    if (!v.lazy)
        v.lazy = table_of(ctx, &v);
    v.x = NULL;
    return v;
}

const struct tensor *lazy_of_view(struct eval_context *ctx, struct view v) {
    struct tensor *t = arena_alloc(ctx->arena, sizeof *t);
    v = node_view(ctx, v);
    *t = (struct tensor){.shape = v.shape, .n = shape_count(&v.shape), .lazy = v.lazy, .offset = v.offset};
    memcpy(t->stride, v.stride, sizeof t->stride);
    return t;
}

void lazy_replace(struct eval_context *ctx, struct lazy *l, const struct view *by) {
    l->instead = node_new(ctx, LAZY_MAP, &by->shape);
    l->instead->nin = 1;
    l->instead->in[0] = *by;
    l->instead->unary = element_itself;
}

bool lazy_is_number(const struct tensor *t) {
    return t->lazy && t->lazy->n == 1 && !isnan(lazy_number(t));
}

double lazy_number(const struct tensor *t) {
    const struct lazy *l = t->lazy;
    if (!l)
        return NAN;
    if (l->kind == LAZY_MAP && l->rounds && l->in[0].lazy->kind == LAZY_TABLE)
        return format_round(l->in[0].lazy->x[l->in[0].offset], l->type, ROUND_PACKER);
    return l->kind == LAZY_TABLE ? l->x[t->offset] : NAN;
}

void node_coalesce(struct shape *s, struct view *const *v, uint32_t n, uint32_t first) {
    uint32_t to = first;
    for (uint32_t d = first; d < s->rank; d++) {
        bool same = to > first && s->dim[d] != 1;
        for (uint32_t k = 0; k < n && same; k++)
            same = v[k]->stride[to - 1] == v[k]->stride[d] * s->dim[d];
        if (s->dim[d] == 1)
            continue;
        to += !same;
        s->dim[to - 1] = same ? s->dim[to - 1] * s->dim[d] : s->dim[d];
        for (uint32_t k = 0; k < n; k++)
            v[k]->stride[to - 1] = v[k]->stride[d];
    }
    s->rank = to;
}

/* ---- equal nodes ---- */

enum { MOST_WORDS = 256 };

/* What a node is made of. */
struct making {
    uint64_t word[MOST_WORDS];
    uint32_t n;
};

static void add_word(struct making *m, uint64_t word) {
    m->word[m->n++] = word;
}

static void add_number(struct making *m, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    add_word(m, bits);
}

static void add_list(struct making *m, const int64_t *x, uint32_t n) {
    add_word(m, n);
    for (uint32_t i = 0; i < n; i++)
        add_word(m, (uint64_t)x[i]);
}

/* Numbers of constants are equal wherever they stand. */
static void add_view(struct making *m, const struct view *v, uint32_t rank) {
    bool number = v->lazy->kind == LAZY_TABLE && v->lazy->n == 1;
    add_word(m, number ? UINT64_MAX : v->lazy->id);
    add_number(m, number ? v->lazy->x[0] : 0);
    add_word(m, (uint64_t)v->offset);
    add_list(m, v->stride, number ? 0 : rank);
}

/* False: it is not told. */
static bool describe(const struct lazy *l, struct making *m) {
    m->n = 0;
    if (l->kind == LAZY_INPUT || l->kind == LAZY_TABLE || l->nparts > MOST_PARTS)
        return false;
    add_word(m, l->kind);
    add_list(m, l->shape.dim, l->shape.rank);
    add_word(m, (uint64_t)(uintptr_t)l->unary);
    add_word(m, (uint64_t)(uintptr_t)l->binary);
    add_word(m, (uint64_t)(uintptr_t)l->fold);
    add_word(m, (uint64_t)(uintptr_t)l->dot);
    add_word(m, (uint64_t)l->rounds | (uint64_t)l->wraps << 1 | (uint64_t)l->type << 2);
    for (uint32_t k = 0; k < l->nin; k++)
        add_view(m, &l->in[k], l->kind == LAZY_PLACE ? l->in[k].shape.rank : l->shape.rank);
    for (uint32_t k = 0; k < l->nin && l->kind == LAZY_FOLD; k++) {
        add_list(m, l->group[k].shape.dim, l->group[k].shape.rank);
        add_list(m, l->group[k].stride, l->group[k].shape.rank);
    }
    add_word(m, (uint64_t)l->size);
    add_word(m, (uint64_t)l->step);
    if (l->kind == LAZY_PLACE) {
        add_list(m, l->in[0].shape.dim, l->in[0].shape.rank);
        add_list(m, l->before, l->shape.rank);
        add_list(m, l->spread, l->shape.rank);
        add_number(m, l->fill);
    }
    for (uint32_t k = 0; k < l->nparts; k++) {
        add_view(m, &l->parts[k], l->shape.rank);
        add_word(m, (uint64_t)l->begin[k]);
    }
    add_word(m, l->axis);
    return true;
}

static uint64_t hash_of(const struct making *m) {
    uint64_t h = m->n;
    for (uint32_t i = 0; i < m->n; i++)
        h = hash_mix(h, m->word[i]);
    return h;
}

/* Where the node is, or has to be put. */
static uint32_t *known_place(const struct lazies *all, const struct making *m) {
    struct making other;
    uint64_t at = hash_of(m);
    for (;; at++) {
        uint32_t *k = &all->known[at & (all->nknown - 1)];
        if (*k == NONE || (describe(all->all[*k], &other) && other.n == m->n &&
                           memcmp(other.word, m->word, m->n * sizeof *m->word) == 0))
            return k;
    }
}

static void make_room(struct lazies *all) {
    struct making m;
    if (all->n * 2 < all->nknown)
        return;
    all->nknown = all->nknown ? 2 * all->nknown : 64;
    all->known = xrealloc(all->known, all->nknown * sizeof *all->known);
    memset(all->known, 0xff, all->nknown * sizeof *all->known);
    for (uint32_t i = 0; i + 1 < all->n; i++)
        if (describe(all->all[i], &m))
            *known_place(all, &m) = i;
}

/* The node, the last one, or one before that is made as it is. */
static struct lazy *shared(struct lazies *all, struct lazy *l) {
    struct making m;
    if (!all->shares || !describe(l, &m))
        return l;
    make_room(all);
    uint32_t *k = known_place(all, &m);
    if (*k == NONE)
        *k = l->id;
    else
        all->n--;
    return all->all[*k];
}

void lazies_free(struct lazies *all) {
    free(all->all);
    free(all->known);
}

/* ---- tensors of a node ---- */

const struct tensor *node_tensor_in_order(struct eval_context *ctx, struct lazy *l, const struct shape *own,
                                          const struct shape *s, const uint32_t *order) {
    struct tensor *t = arena_alloc(ctx->arena, sizeof *t);
    l->whole = (struct shape){.rank = s->rank};
    for (uint32_t i = 0; i < s->rank; i++)
        l->whole.dim[i] = own->dim[order[i]];
    l = shared(ctx->nodes, l);
    *t = (struct tensor){.shape = *s, .n = shape_count(s), .lazy = l->instead ? l->instead : l};
    int64_t stride = 1;
    for (uint32_t i = s->rank; i-- > 0; stride *= own->dim[order[i]])
        t->stride[order[i]] = own->dim[order[i]] > 1 || s->dim[order[i]] == 1 ? stride : 0;
    return t;
}

const struct tensor *node_tensor(struct eval_context *ctx, struct lazy *l, const struct shape *own,
                                 const struct shape *s) {
    uint32_t order[MAX_RANK];
    for (uint32_t d = 0; d < s->rank; d++)
        order[d] = d;
    return node_tensor_in_order(ctx, l, own, s, order);
}

struct shape node_varying_shape(const struct view *v, uint32_t n, const struct shape *s) {
    struct shape own = *s;
    for (uint32_t d = 0; d < s->rank; d++) {
        bool varies = false;
        for (uint32_t k = 0; k < n; k++)
            varies |= v[k].stride[d] != 0;
        own.dim[d] = varies ? s->dim[d] : 1;
    }
    return own;
}

bool node_split_repeated(struct view *v, uint32_t n, const struct shape *s, struct split *out) {
    if (!split_views(v, n, s, out))
        return false;
    struct shape before = node_varying_shape(v, n, s), after = node_varying_shape(out->v, n, &out->shape);
    if (shape_count(&after) >= shape_count(&before))
        return false;
    memcpy(v, out->v, n * sizeof *v);
    return true;
}
