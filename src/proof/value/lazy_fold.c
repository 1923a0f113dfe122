/* Folds of groups of elements: no group has the same elements twice where it need not, and what is joined is folded in
 * its parts. */
#include "proof/value/fold.h"
#include "proof/value/lazy_node.h"

#include <string.h>

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
    if (group->rank < 2)
        return;
    uint32_t longest = 0, last = group->rank - 1;
    for (uint32_t d = 0; d <= last; d++)
        longest = group->dim[d] >= group->dim[longest] ? d : longest;
    for (uint32_t k = 0; k < n; k++)
        swap(&v[k]->stride[longest], &v[k]->stride[last]);
    swap(&group->dim[longest], &group->dim[last]);
}

/* Splits dimensions of a result and of a group as above; `s` has both, the last `ngroup` are the group's. */
static void split_group(struct view *v, uint32_t n, struct shape *s, uint32_t *ngroup) {
    struct split split;
    uint32_t first = s->rank - *ngroup;
    if (!node_split_repeated(v, n, s, &split))
        return;
    *s = split.shape;
    for (*ngroup = 0; *ngroup < s->rank && split.of[s->rank - 1 - *ngroup] >= first;)
        ++*ngroup;
}

/* A sum, a mean or a sum of products of one element each: that element, or the product of the two; over `s`. */
static const struct tensor *of_one(struct eval_context *ctx, const struct view *v, uint32_t n, const struct shape *s) {
    const struct tensor *t[2] = {NULL, NULL};
    for (uint32_t k = 0; k < n; k++) {
        struct view one = v[k];
        one.shape = *s;
        t[k] = lazy_of_view(ctx, one);
    }
    return n == 2 ? lazy_binary(ctx, binary_MULTIPLY, t[0], t[1]) : t[0];
}

static const struct tensor *fold_node_of(struct eval_context *ctx, const struct folding *of, const struct view *lift,
                                         const struct shape *own, const struct shape *s, struct shape group) {
    struct view *in[2] = {NULL}, *by[2] = {NULL};
    struct lazy *l = node_new(ctx, LAZY_FOLD, own);
    l->name = of->name;
    l->fold = of->f;
    l->dot = of->dot;
    l->nin = of->n;
    l->moved = true;
    for (uint32_t k = 0; k < of->n; k++) {
        in[k] = &l->in[k];
        by[k] = &l->group[k];
        l->in[k] = lift[k];
        l->group[k] = (struct view){.lazy = lift[k].lazy};
        memcpy(l->group[k].stride, lift[k].stride + s->rank, group.rank * sizeof *lift[k].stride);
    }
    node_coalesce(&l->shape, in, of->n, 0);
    node_coalesce(&group, by, of->n, 0);
    if (!of->dot && takes_any_order(of->f))
        put_longest_last(&group, by, of->n);
    for (uint32_t k = 0; k < of->n; k++)
        l->group[k].shape = group;
    return node_tensor(ctx, l, own, s);
}

static const struct tensor *fold_whole(struct eval_context *ctx, const struct folding *of) {
    fold_function *f = of->f;
    uint32_t ngroup = of->ngroup, n = of->n;
    struct shape all = of->in[0].shape, to = all, s, group;
    struct view lift[2] = {of->in[0], of->in[1]};
    to.rank -= ngroup;
    if (!of->dot && takes_any_order(f))
        split_group(lift, n, &all, &ngroup);
    s = all;
    s.rank -= ngroup;
    group.rank = ngroup;
    memcpy(group.dim, all.dim + s.rank, ngroup * sizeof *all.dim);
    struct shape own = node_varying_shape(lift, n, &all);
    double times = of->dot ? 1 : take_repetitions(f, &own, s.rank, &group);
    own.rank = s.rank;
    bool plain = !of->dot && (f == fold_sum || f == fold_mean || f == fold_dot) && shape_count(&group) == 1;
    const struct tensor *t = plain ? of_one(ctx, lift, n, &s) : fold_node_of(ctx, of, lift, &own, &s, group);
    t = tensor_reshape(ctx, t, &to);
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
    struct folding all = {.name = name, .f = f, .in = {node_view(ctx, *x)}, .n = y ? 2 : 1, .ngroup = ngroup};
    if (y)
        all.in[1] = node_view(ctx, *y);
    return fold_with(ctx, &all);
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
    struct folding all = {"a product", fold_dot, dot, {node_view(ctx, v[0]), node_view(ctx, v[1])}, 2, 1};
    return fold_with(ctx, &all);
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
    return format_is_block(type) && x->shape.rank ? in_blocks(ctx, x, type) : lazy_rounded_alone(ctx, x, type, wraps);
}
