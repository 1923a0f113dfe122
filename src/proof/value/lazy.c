/* Makes nodes: dimensions that all operands step through alike become one, so that runs of elements are long. */
#include "proof/value/lazy.h"

#include "proof/value/fold.h"
#include "proof/value/split.h"

#include <math.h>
#include <string.h>

static struct lazies *all_of(struct eval_context *ctx) {
    return ctx->nodes;
}

static void need_elements(struct eval_context *ctx, const struct shape *s) {
    if (shape_count(s) < 1 || s->rank > MAX_RANK)
        eval_reason(ctx, REASON_NO_EVALUATOR, "no evaluator for a tensor %s", shape_text(ctx->arena, s).p);
}

static struct lazy *node_new(struct eval_context *ctx, enum lazy_kind kind, const struct shape *s) {
    struct lazies *all = all_of(ctx);
    struct lazy *l = arena_alloc(ctx->arena, sizeof *l);
    *l = (struct lazy){.id = all->n, .kind = kind, .name = "an op", .shape = *s, .n = shape_count(s)};
    need_elements(ctx, s);
    all->all = grow(all->all, &all->cap, all->n + 1, sizeof(struct lazy *));
    all->all[all->n++] = l;
    return l;
}

/* The table of a tensor that has its elements: up to the last one that the view has. */
static struct lazy *table_of(struct eval_context *ctx, const struct view *v) {
    struct lazies *all = all_of(ctx);
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

static struct view lifted(struct eval_context *ctx, struct view v) {
    need_elements(ctx, &v.shape);
    if (!v.lazy)
        v.lazy = table_of(ctx, &v);
    v.x = NULL;
    return v;
}

const struct tensor *lazy_of_view(struct eval_context *ctx, struct view v) {
    struct tensor *t = arena_alloc(ctx->arena, sizeof *t);
    v = lifted(ctx, v);
    *t = (struct tensor){.shape = v.shape, .n = shape_count(&v.shape), .lazy = v.lazy, .offset = v.offset};
    memcpy(t->stride, v.stride, sizeof t->stride);
    return t;
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

/* Dimensions from `first` on that are one to all views become one. */
static void coalesce(struct shape *s, struct view *const *v, uint32_t n, uint32_t first) {
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

enum { MOST_WORDS = 256, MOST_PARTS = 8 };

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

/* ---- kinds ---- */

/* The tensor of a node: of shape `s`, of which the node has one element along dimensions that are 1 in `own`. `order`:
 * the dimensions of the node, outermost first. */
static const struct tensor *tensor_in_order(struct eval_context *ctx, struct lazy *l, const struct shape *own,
                                            const struct shape *s, const uint32_t *order) {
    struct tensor *t = arena_alloc(ctx->arena, sizeof *t);
    l = shared(all_of(ctx), l);
    *t = (struct tensor){.shape = *s, .n = shape_count(s), .lazy = l};
    int64_t stride = 1;
    for (uint32_t i = s->rank; i-- > 0; stride *= own->dim[order[i]])
        t->stride[order[i]] = own->dim[order[i]] > 1 || s->dim[order[i]] == 1 ? stride : 0;
    return t;
}

static const struct tensor *tensor_of(struct eval_context *ctx, struct lazy *l, const struct shape *own,
                                      const struct shape *s) {
    uint32_t order[MAX_RANK];
    for (uint32_t d = 0; d < s->rank; d++)
        order[d] = d;
    return tensor_in_order(ctx, l, own, s, order);
}

const struct tensor *lazy_input(struct eval_context *ctx, uint32_t input, const struct shape *s, enum dtype type,
                                int64_t apart) {
    struct lazy *l = node_new(ctx, LAZY_INPUT, s);
    l->input = input;
    l->apart = apart;
    l->type = type;
    return tensor_of(ctx, l, s, s);
}

/* With one element along dimensions in which no operand varies. */
static struct shape varying_shape(const struct view *v, uint32_t n, const struct shape *s) {
    struct shape own = *s;
    for (uint32_t d = 0; d < s->rank; d++) {
        bool varies = false;
        for (uint32_t k = 0; k < n; k++)
            varies |= v[k].stride[d] != 0;
        own.dim[d] = varies ? s->dim[d] : 1;
    }
    return own;
}

/* The dimensions of a view as those of its node stand, outermost first: its elements are in a row then. */
static void order_of_node(const struct view *v, uint32_t rank, uint32_t *order) {
    for (uint32_t d = 0; d < rank; d++) {
        uint32_t i = d;
        int64_t stride = v->stride[d] ? v->stride[d] : INT64_MAX;
        for (; i > 0 && stride > (v->stride[order[i - 1]] ? v->stride[order[i - 1]] : INT64_MAX); i--)
            order[i] = order[i - 1];
        order[i] = d;
    }
}

static struct view in_order(const struct view *v, uint32_t rank, const uint32_t *order) {
    struct view out = *v;
    for (uint32_t i = 0; i < rank; i++) {
        out.shape.dim[i] = v->shape.dim[order[i]];
        out.stride[i] = v->stride[order[i]];
    }
    return out;
}

/* Splits dimensions where less varies then: parts of them may be the same elements again. Up to MOST_SPLIT views. */
static bool split_repeated(struct view *v, uint32_t n, const struct shape *s, struct split *out) {
    if (!split_views(v, n, s, out))
        return false;
    struct shape before = varying_shape(v, n, s), after = varying_shape(out->v, n, &out->shape);
    if (shape_count(&after) >= shape_count(&before))
        return false;
    memcpy(v, out->v, n * sizeof *v);
    return true;
}

/* A node of shape `own`, of all operands in the order of the largest one, and its tensor of shape `s`, which is one of
 * shape `to`. */
struct mapped {
    struct lazy *l;
    struct shape own, s, to;
    uint32_t order[MAX_RANK];
};

static struct mapped map_of(struct eval_context *ctx, const struct tensor *const *t, uint32_t n) {
    struct mapped m = {.s = t[0]->shape};
    struct view lift[MOST_SPLIT], *in[MOST_SPLIT];
    struct split split;
    uint32_t largest = 0;
    for (uint32_t k = 1; k < n; k++) {
        struct shape so_far = m.s;
        shape_broadcast(ctx, &so_far, &t[k]->shape, &m.s);
    }
    m.to = m.s;
    for (uint32_t k = 0; k < n; k++) {
        lift[k] = lifted(ctx, view_expanded(t[k], &m.s));
        largest = lift[k].lazy->n > lift[largest].lazy->n ? k : largest;
    }
    if (split_repeated(lift, n, &m.s, &split))
        m.s = split.shape;
    m.own = varying_shape(lift, n, &m.s);
    order_of_node(&lift[largest], m.s.rank, m.order);
    struct view own = {.shape = m.own};
    m.l = node_new(ctx, LAZY_MAP, &m.own);
    m.l->shape = in_order(&own, m.s.rank, m.order).shape;
    m.l->nin = n;
    for (uint32_t k = 0; k < n; k++) {
        m.l->in[k] = in_order(&lift[k], m.s.rank, m.order);
        in[k] = &m.l->in[k];
    }
    coalesce(&m.l->shape, in, n, 0);
    return m;
}

static const struct tensor *tensor_of_map(struct eval_context *ctx, const struct mapped *m) {
    return tensor_reshape(ctx, tensor_in_order(ctx, m->l, &m->own, &m->s, m->order), &m->to);
}

const struct tensor *lazy_unary(struct eval_context *ctx, unary_function *f, const struct tensor *x) {
    struct mapped m = map_of(ctx, &x, 1);
    m.l->unary = f;
    m.l->moved = true;
    return tensor_of_map(ctx, &m);
}

static bool is_itself(const struct lazy *l) {
    return l->in[0].lazy == l->in[1].lazy && l->in[0].offset == l->in[1].offset &&
           memcmp(l->in[0].stride, l->in[1].stride, l->shape.rank * sizeof *l->in[0].stride) == 0;
}

static bool compares_itself(const struct tensor *t, binary_function *f) {
    const struct lazy *l = t->lazy;
    if (l && l->kind == LAZY_MAP && l->unary == element_itself)
        l = l->in[0].lazy;
    return l && l->kind == LAZY_MAP && l->binary == f && is_itself(l);
}

static bool is_same_integer(const struct tensor *x, const struct tensor *y) {
    struct view v = view_of(x), w = view_of(y);
    return v.lazy && v.lazy == w.lazy && v.lazy->kind == LAZY_INPUT && format_is_integer(v.lazy->type) &&
           shape_eq(&v.shape, &w.shape) && v.offset == w.offset &&
           memcmp(v.stride, w.stride, v.shape.rank * sizeof *v.stride) == 0;
}

/* (x == x) + (x != x) is 1, whatever x is, and x == x where it is no NaN: lowerings write so what has as many elements
 * as x. */
const struct tensor *lazy_binary(struct eval_context *ctx, binary_function *f, const struct tensor *x,
                                 const struct tensor *y) {
    if ((f == binary_EQ || f == binary_NE) && is_same_integer(x, y))
        return lazy_of_view(ctx, view_expanded(tensor_scalar(ctx, f == binary_EQ), &x->shape));
    if (f == binary_ADD && compares_itself(x, binary_EQ) && compares_itself(y, binary_NE) &&
        shape_eq(&x->shape, &y->shape))
        return lazy_of_view(ctx, view_expanded(tensor_scalar(ctx, 1), &x->shape));
    struct mapped m = map_of(ctx, (const struct tensor *const[]){x, y}, 2);
    m.l->binary = f;
    m.l->moved = true;
    return tensor_of_map(ctx, &m);
}

const struct tensor *lazy_select(struct eval_context *ctx, const struct tensor *condition, const struct tensor *x,
                                 const struct tensor *y) {
    struct mapped m = map_of(ctx, (const struct tensor *const[]){condition, x, y}, 3);
    return tensor_of_map(ctx, &m);
}

/* In blocks of 16 in a row, the last of which may be padded: each element is one of its block. */
static const struct tensor *in_blocks(struct eval_context *ctx, const struct tensor *x, enum dtype type) {
    fold_function *f = type == DT_BFP8 ? fold_bfp8 : type == DT_BFP4 ? fold_bfp4 : fold_bfp2;
    uint32_t rank = x->shape.rank, last = rank - 1;
    int64_t n = x->shape.dim[last], blocks = (n + BLOCK - 1) / BLOCK, before[MAX_RANK] = {0};
    struct shape s = x->shape;
    struct view v = view_of(x), place = {.shape = {0}};
    if (rank + 2 > MAX_RANK)
        eval_fail(ctx, "block floats of rank %u", rank);
    s.dim[last] = blocks * BLOCK;
    if (s.dim[last] != n)
        v = view_of(lazy_place(ctx, &v, &s, before, NULL, 0));
    struct tensor *numbers = tensor_new(ctx, &(struct shape){1, {BLOCK}});
    for (int i = 0; i < BLOCK; i++)
        numbers->x[i] = i;
    int64_t step = v.stride[last];
    v.shape.dim[last] = blocks;
    v.stride[last] = BLOCK * step;
    v.shape.dim[rank] = v.shape.dim[rank + 1] = BLOCK;
    v.stride[rank] = 0;
    v.stride[rank + 1] = step;
    v.shape.rank += 2;
    place.shape = v.shape;
    place.x = numbers->x;
    place.stride[rank] = 1;
    const struct tensor *all = tensor_reshape(ctx, lazy_fold(ctx, "a block float", f, &v, &place, 1), &s);
    return lazy_of_view(ctx, view_cut(view_of(all), last, 0, 1, n));
}

const struct tensor *lazy_rounded(struct eval_context *ctx, const struct tensor *x, enum dtype type, bool wraps) {
    if (format_is_block(type) && x->shape.rank)
        return in_blocks(ctx, x, type);
    struct mapped m = map_of(ctx, &x, 1);
    m.l->rounds = true;
    m.l->wraps = wraps;
    m.l->type = type;
    return tensor_of_map(ctx, &m);
}

/* The table of a constant has the numbers of its text. */
void lazy_round_constant(const struct tensor *x, enum dtype type) {
    struct lazy *l = x->lazy;
    if (l->kind != LAZY_TABLE)
        return;
    l->type = type;
    for (int64_t i = 0; i < l->n; i++)
        l->x[i] = format_round(l->x[i], type, ROUND_EVEN);
}

/* How many equal ones are summed along dimensions of a group in which no operand varies, which become 1. */
static double take_repetitions(fold_function *f, const struct shape *varying, uint32_t first, struct shape *group) {
    bool sums = f == fold_sum || f == fold_dot;
    double n = 1;
    for (uint32_t d = 0; d < group->rank && f != fold_prod; d++) {
        n *= sums && varying->dim[first + d] == 1 ? (double)group->dim[d] : 1;
        group->dim[d] = varying->dim[first + d];
    }
    return n;
}

/* A function of groups of elements of views over the dimensions of the result, then those of a group. */
struct folding {
    const char *name;
    fold_function *f;
    const struct dot *dot;
    struct view in[2];
    uint32_t n, ngroup;
};

/* What it makes of a group depends on no order. */
static bool takes_any_order(fold_function *f) {
    return f == fold_sum || f == fold_mean || f == fold_max || f == fold_min || f == fold_or || f == fold_and ||
           f == fold_dot;
}

static void swap(int64_t *x, int64_t *y) {
    int64_t other = *x;
    *x = *y;
    *y = other;
}

/* A group is read in rows. */
static void put_longest_last(struct shape *group, struct view *const *v, uint32_t n) {
    uint32_t longest = 0, last = group->rank - 1;
    for (uint32_t d = 0; d < group->rank; d++)
        longest = group->dim[d] >= group->dim[longest] ? d : longest;
    if (group->rank < 2)
        return;
    for (uint32_t k = 0; k < n; k++)
        swap(&v[k]->stride[longest], &v[k]->stride[last]);
    swap(&group->dim[longest], &group->dim[last]);
}

/* Splits dimensions of a result and of a group as above; `s` has both, the last `ngroup` are the group's. */
static void split_group(struct view *v, uint32_t n, struct shape *s, uint32_t *ngroup) {
    struct split split;
    uint32_t first = s->rank - *ngroup;
    if (!split_repeated(v, n, s, &split))
        return;
    *s = split.shape;
    for (*ngroup = 0; *ngroup < s->rank && split.of[s->rank - 1 - *ngroup] >= first;)
        ++*ngroup;
}

static const struct tensor *fold_whole(struct eval_context *ctx, const struct folding *of) {
    const struct view *x = &of->in[0];
    const struct dot *dot = of->dot;
    fold_function *f = of->f;
    uint32_t ngroup = of->ngroup, n = of->n;
    struct shape all = x->shape, to = x->shape, s, group;
    struct view *in[2] = {NULL}, *by[2] = {NULL}, lift[2] = {of->in[0], of->in[1]};
    to.rank -= ngroup;
    if (!dot && takes_any_order(f))
        split_group(lift, n, &all, &ngroup);
    s = all;
    s.rank -= ngroup;
    group.rank = ngroup;
    memcpy(group.dim, all.dim + s.rank, ngroup * sizeof *all.dim);
    struct shape own = varying_shape(lift, n, &all);
    double times = dot ? 1 : take_repetitions(f, &own, s.rank, &group);
    own.rank = s.rank;
    struct lazy *l = node_new(ctx, LAZY_FOLD, &own);
    l->name = of->name;
    l->fold = f;
    l->dot = dot;
    l->nin = n;
    l->moved = true;
    for (uint32_t k = 0; k < n; k++) {
        in[k] = &l->in[k];
        by[k] = &l->group[k];
        l->in[k] = lift[k];
        l->group[k] = (struct view){.lazy = lift[k].lazy};
        memcpy(l->group[k].stride, lift[k].stride + s.rank, ngroup * sizeof *lift[k].stride);
    }
    coalesce(&l->shape, in, n, 0);
    coalesce(&group, by, n, 0);
    if (!dot && takes_any_order(f))
        put_longest_last(&group, by, n);
    for (uint32_t k = 0; k < n; k++)
        l->group[k].shape = group;
    const struct tensor *t = tensor_reshape(ctx, tensor_of(ctx, l, &own, &s), &to);
    return times == 1 ? t : lazy_binary(ctx, binary_MULTIPLY, t, tensor_scalar(ctx, times));
}

/* Some operand is joined along a dimension, of few parts: along which. */
static bool joined_along(const struct folding *f, struct join_steps of[2], bool joined[2], uint32_t *along) {
    uint32_t rank = f->in[0].shape.rank, first = rank - f->ngroup;
    bool sums = f->ngroup == 1 && !f->dot && (f->f == fold_sum || f->f == fold_dot), any = false;
    for (uint32_t d = 0; d < first + sums && !any; d++) {
        *along = d;
        for (uint32_t k = 0; k < f->n; k++) {
            const struct lazy *l = f->in[k].lazy;
            joined[k] = l->nparts <= MOST_PARTS && f->in[k].shape.dim[d] > 1 && view_is_joined(&f->in[k], d, &of[k]);
            any |= joined[k];
        }
    }
    return any;
}

static const struct tensor *fold_with(struct eval_context *ctx, const struct folding *f);

/* Of what is joined each part is folded, since less may vary in a part; and sums of parts are added. NULL: nothing is
 * joined. */
static const struct tensor *fold_of_parts(struct eval_context *ctx, const struct folding *f) {
    struct join_steps of[2];
    bool joined[2] = {false, false};
    const struct tensor *sum = NULL, **parts;
    uint32_t d, nparts = 0;
    if (!joined_along(f, of, joined, &d))
        return NULL;
    int64_t n = f->in[0].shape.dim[d];
    bool sums = d >= f->in[0].shape.rank - f->ngroup;
    parts = arena_alloc(ctx->arena, 2 * (size_t)MOST_PARTS * sizeof *parts);
    for (int64_t at = 0, alike; at < n; at += alike) {
        struct folding part = *f;
        alike = n - at;
        for (uint32_t k = 0; k < f->n; k++)
            if (joined[k] && joined_alike(&f->in[k], &of[k], at) < alike)
                alike = joined_alike(&f->in[k], &of[k], at);
        for (uint32_t k = 0; k < f->n; k++)
            part.in[k] = joined[k] ? view_of_part(&f->in[k], &of[k], at, alike) : view_cut(f->in[k], d, at, 1, alike);
        const struct tensor *t = fold_with(ctx, &part);
        sum = sum && sums ? lazy_binary(ctx, binary_ADD, sum, t) : t;
        parts[nparts++] = t;
    }
    return sums || nparts == 1 ? sum : lazy_join(ctx, parts, nparts, d);
}

static const struct tensor *fold_with(struct eval_context *ctx, const struct folding *f) {
    const struct tensor *of_parts = fold_of_parts(ctx, f);
    return of_parts ? of_parts : fold_whole(ctx, f);
}

const struct tensor *lazy_fold(struct eval_context *ctx, const char *name, fold_function *f, const struct view *x,
                               const struct view *y, uint32_t ngroup) {
    struct folding all = {.name = name, .f = f, .in = {lifted(ctx, *x)}, .n = y ? 2 : 1, .ngroup = ngroup};
    if (y)
        all.in[1] = lifted(ctx, *y);
    return fold_with(ctx, &all);
}

const struct tensor *lazy_place(struct eval_context *ctx, const struct view *x, const struct shape *s,
                                const int64_t *before, const int64_t *spread, double fill) {
    struct view lift = lifted(ctx, *x);
    struct lazy *l = node_new(ctx, LAZY_PLACE, s);
    l->in[0] = lift;
    l->nin = 1;
    l->fill = fill;
    for (uint32_t d = 0; d < s->rank; d++) {
        l->before[d] = before[d];
        l->spread[d] = spread ? spread[d] : 1;
    }
    return tensor_of(ctx, l, s, s);
}

const struct tensor *lazy_take(struct eval_context *ctx, const struct taking *t) {
    struct view index = lifted(ctx, t->index), x = t->x;
    x.shape.dim[x.shape.rank] = t->size; /* up to the last one */
    x.stride[x.shape.rank] = t->step;
    x.shape.rank += x.shape.rank < MAX_RANK;
    x = lifted(ctx, x);
    struct lazy *l = node_new(ctx, LAZY_TAKE, &t->index.shape);
    l->name = t->op;
    l->in[0] = index;
    l->in[1] = x;
    l->nin = 2;
    l->size = t->size;
    l->step = t->step;
    coalesce(&l->shape, (struct view *const[]){&l->in[0], &l->in[1]}, 2, 0);
    return tensor_of(ctx, l, &t->index.shape, &t->index.shape);
}

const struct tensor *lazy_join(struct eval_context *ctx, const struct tensor *const *parts, uint32_t n, uint32_t axis) {
    struct shape s = parts[0]->shape;
    struct view *views = arena_alloc(ctx->arena, n * sizeof *views);
    int64_t *begin = arena_alloc(ctx->arena, (n + (size_t)1) * sizeof *begin);
    begin[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        views[i] = lifted(ctx, view_of(parts[i]));
        begin[i + 1] = begin[i] + parts[i]->shape.dim[axis];
    }
    s.dim[axis] = begin[n];
    struct shape own = varying_shape(views, n, &s);
    own.dim[axis] = s.dim[axis];
    struct lazy *l = node_new(ctx, LAZY_JOIN, &own);
    l->parts = views;
    l->begin = begin;
    l->nparts = n;
    l->axis = axis;
    return tensor_of(ctx, l, &own, &s);
}

/* ---- shapes ---- */

/* The strides of the same elements in another shape; false: there are none. */
static bool restride(const struct view *v, const struct shape *to, int64_t *stride) {
    struct view one = *v;
    struct shape s = v->shape;
    uint32_t d = 0, e = 0;
    coalesce(&s, (struct view *const[]){&one}, 1, 0);
    for (uint32_t i = 0; i < s.rank; i++) { /* dimension i is those from d to e of the new shape */
        int64_t n = 1;
        while (e < to->rank && n * to->dim[e] <= s.dim[i] && n < s.dim[i])
            n *= to->dim[e++];
        if (n != s.dim[i])
            return false;
        int64_t step = one.stride[i];
        for (uint32_t k = e; k-- > d; step *= to->dim[k])
            stride[k] = step;
        d = e;
    }
    for (; d < to->rank; d++)
        stride[d] = 1;
    return true;
}

/* Dimensions become 1 in both shapes where as many of them are the same elements, in which the view does not vary. */
static void drop_repeated(const struct view *v, struct shape *own, struct shape *result) {
    for (uint32_t d = 0, e = 0, first, to; d < own->rank || e < result->rank; d = first, e = to) {
        int64_t n = d < own->rank ? own->dim[d] : 1, m = e < result->rank ? result->dim[e] : 1;
        for (first = d + 1, to = e + 1; n != m;)
            if (n < m)
                n *= own->dim[first++];
            else
                m *= result->dim[to++];
        bool varies = false;
        for (uint32_t i = d; i < first && i < own->rank; i++)
            varies |= own->dim[i] > 1 && v->stride[i] != 0;
        for (uint32_t i = d; i < first && i < own->rank && !varies; i++)
            own->dim[i] = 1;
        for (uint32_t i = e; i < to && i < result->rank && !varies; i++)
            result->dim[i] = 1;
    }
}

static const struct tensor *reshaped(struct eval_context *ctx, const struct tensor *t, const struct shape *s) {
    struct view v = view_of(t);
    struct split split;
    need_elements(ctx, s);
    if (split_views(&v, 1, &t->shape, &split))
        v = split.v[0];
    struct view to = {.shape = *s, .lazy = v.lazy, .offset = v.offset};
    if (restride(&v, s, to.stride))
        return lazy_of_view(ctx, to);
    struct view from = lifted(ctx, v);
    struct shape own = v.shape, result = *s;
    drop_repeated(&from, &own, &result);
    struct lazy *l = node_new(ctx, LAZY_MAP, &own);
    l->nin = 1;
    l->in[0] = from;
    l->unary = element_itself;
    coalesce(&l->shape, &(struct view *){&l->in[0]}, 1, 0);
    return tensor_of(ctx, l, &result, s);
}

const struct tensor *tensor_reshape(struct eval_context *b, const struct tensor *t, const struct shape *s) {
    if (s->rank > MAX_RANK || shape_count(s) != t->n) {
        eval_fail(b, "%s cannot be reshaped to %s", shape_text(b->arena, &t->shape).p, shape_text(b->arena, s).p);
        return NULL;
    }
    if (t->lazy)
        return reshaped(b, t, s);
    struct tensor *r = arena_alloc(b->arena, sizeof *r);
    *r = (struct tensor){.shape = *s, .n = t->n, .x = t->x};
    return r;
}

const struct tensor *lazy_taken(struct eval_context *ctx, const char *op, const struct tensor *x, uint32_t axis,
                                const struct tensor *indices) {
    struct taking t = {.op = op, .x = view_of(x), .size = x->shape.dim[axis]};
    struct shape s = x->shape, column = {.rank = x->shape.rank - axis, .dim = {indices->n}};
    for (uint32_t d = 1; d < column.rank; d++)
        column.dim[d] = 1;
    s.dim[axis] = indices->n;
    t.index = view_expanded(tensor_reshape(ctx, indices, &column), &s);
    t.step = t.x.stride[axis];
    t.x.stride[axis] = 0;
    t.x.shape = s;
    return lazy_take(ctx, &t);
}

const struct tensor *lazy_product(struct eval_context *ctx, const struct view *x, const struct view *y,
                                  const struct dot *dot) {
    struct shape bx = x->shape, by = y->shape, batch;
    bx.rank -= 2;
    by.rank -= 2;
    shape_broadcast(ctx, &bx, &by, &batch);
    const struct view *from[2] = {x, y};
    struct view v[2];
    if (batch.rank + 3 > MAX_RANK)
        eval_fail(ctx, "a product of rank %u", batch.rank + 2);
    for (int side = 0; side < 2; side++) {
        uint32_t rank = from[side]->shape.rank - 2, lead = batch.rank - rank;
        v[side] = *from[side];
        v[side].shape = batch;
        memset(v[side].stride, 0, sizeof v[side].stride);
        for (uint32_t d = 0; d < rank; d++)
            v[side].stride[lead + d] = from[side]->shape.dim[d] == 1 ? 0 : from[side]->stride[d];
        v[side].shape.dim[batch.rank] = x->shape.dim[x->shape.rank - 2];
        v[side].shape.dim[batch.rank + 1] = y->shape.dim[y->shape.rank - 1];
        v[side].shape.dim[batch.rank + 2] = x->shape.dim[x->shape.rank - 1];
        v[side].shape.rank = batch.rank + 3;
    }
    v[0].stride[batch.rank] = x->stride[x->shape.rank - 2];
    v[0].stride[batch.rank + 2] = x->stride[x->shape.rank - 1];
    v[1].stride[batch.rank + 1] = y->stride[y->shape.rank - 1];
    v[1].stride[batch.rank + 2] = y->stride[y->shape.rank - 2];
    struct folding all = {"a product", fold_dot, dot, {lifted(ctx, v[0]), lifted(ctx, v[1])}, 2, 1};
    return fold_with(ctx, &all);
}

static bool compares(const struct lazy *l) {
    return l->binary == binary_EQ || l->binary == binary_NE || l->binary == binary_LT || l->binary == binary_LE ||
           l->binary == binary_GT || l->binary == binary_GE;
}

/* ---- choices ---- */

static bool is_drawn(const struct lazy *l) {
    bool drawn = l->kind == LAZY_INPUT;
    for (uint32_t k = 0; k < l->nin && !drawn; k++)
        drawn = l->in[k].lazy->drawn;
    for (uint32_t k = 0; k < l->nparts && !drawn; k++)
        drawn = l->parts[k].lazy->drawn;
    return drawn;
}

/* Some operand stands for infinity: few numbers are as large. */
static bool asks_for_infinity(const struct lazy *l) {
    static const double infinite = 1e18;
    bool clamps = compares(l) || l->binary == binary_MAXIMUM || l->binary == binary_MINIMUM, found = false;
    for (uint32_t k = 0; k < l->nin && clamps; k++)
        found |= l->in[k].lazy->kind == LAZY_TABLE && !(fabs(l->in[k].lazy->x[l->in[k].offset]) < infinite);
    return found;
}

static bool is_decided(const struct lazy *l) {
    bool decided = l->kind == LAZY_INPUT;
    for (uint32_t k = 0; k < l->nin && !decided; k++)
        decided = l->in[k].lazy->decided;
    for (uint32_t k = 0; k < l->nparts && !decided; k++)
        decided = l->parts[k].lazy->decided;
    return decided && !(l->kind == LAZY_MAP && asks_for_infinity(l));
}

void lazies_settle(struct lazies *all) {
    for (uint32_t i = 0; i < all->n; i++) {
        struct lazy *l = all->all[i];
        l->drawn = is_drawn(l);
        l->decided = is_decided(l);
        l->chooses = l->kind == LAZY_MAP && (l->nin == 3 ? l->in[0].lazy->drawn : l->drawn && compares(l));
    }
}
