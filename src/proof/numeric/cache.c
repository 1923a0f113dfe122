/* Ops that write into a cache of keys or values, B x H x S x D: the result is what the cache holds afterwards. */
#include "proof/numeric/elementwise.h"
#include "proof/numeric/evaluators.h"

struct cache_call {
    struct view cache, input;
    int64_t offset; /* of the first user in the cache */
};

static struct cache_call read_call(struct eval_context *ctx, const struct call *c) {
    const struct tensor *cache = operand_needed(ctx, c, 0), *input = operand_needed(ctx, c, 1);
    if (cache->shape.rank != 4 || input->shape.rank != 4 || input->shape.dim[0] != 1 ||
        cache->shape.dim[3] != input->shape.dim[3])
        op_fails(ctx, "%s of %s into %s", op_table[c->kind].name, shape_text(ctx->arena, &input->shape).p,
                 shape_text(ctx->arena, &cache->shape).p);
    return (struct cache_call){view_of(cache), view_of(input), attr_int(ctx, c, "batch_offset", 0)};
}

/* The whole with the part from index `at` on along a dimension. */
static struct view with_part(struct eval_context *ctx, const struct view *whole, const struct view *part, uint32_t dim,
                             int64_t at) {
    int64_t end = at + part->shape.dim[dim], size = whole->shape.dim[dim];
    const struct tensor *parts[3];
    uint32_t n = 0;
    if (at > 0)
        parts[n++] = lazy_of_view(ctx, view_cut(*whole, dim, 0, 1, at));
    parts[n++] = lazy_of_view(ctx, *part);
    if (end < size)
        parts[n++] = lazy_of_view(ctx, view_cut(*whole, dim, end, 1, size - end));
    return view_of(lazy_join(ctx, parts, n, dim));
}

/* The part of the cache that so many users and heads have. */
static struct view part_of(struct eval_context *ctx, const struct call *c, const struct cache_call *w, int64_t users,
                           int64_t heads) {
    const int64_t *dim = w->cache.shape.dim;
    if (w->offset < 0 || users > dim[0] - w->offset || heads > dim[1])
        op_fails(ctx, "%s: %lld users and %lld heads in %s", op_table[c->kind].name, (long long)users, (long long)heads,
                 shape_text(ctx->arena, &w->cache.shape).p);
    return view_cut(view_cut(w->cache, 0, w->offset, 1, users), 1, 0, 1, heads);
}

static const struct tensor *with_users(struct eval_context *ctx, const struct cache_call *w, const struct view *part) {
    struct view users = view_cut(w->cache, 0, w->offset, 1, part->shape.dim[0]),
                heads = with_part(ctx, &users, part, 1, 0), all = with_part(ctx, &w->cache, &heads, 0, w->offset);
    return lazy_of_view(ctx, all);
}

/* Users are dimension `users` of the input, 1 or 2, and heads the other; heads beyond those of the cache are padding.
 * What is no position of the cache is written nowhere. */
static const struct tensor *update(struct eval_context *ctx, const struct call *c, uint32_t users) {
    struct cache_call w = read_call(ctx, c);
    const struct tensor *at = operand_needed(ctx, c, 2);
    int64_t nusers = w.input.shape.dim[users], nheads = w.input.shape.dim[3 - users], size = w.cache.shape.dim[2];
    nheads = nheads < w.cache.shape.dim[1] ? nheads : w.cache.shape.dim[1];
    if (operand(c, 3) || (at->n != 1 && at->n != nusers) || attr_flag(ctx, c, "share_cache", false))
        op_unsupported(ctx, "no evaluator for %s with a page table, or a cache that users share",
                       op_table[c->kind].name);
    const uint32_t order[] = {users, 3 - users, 0, 3};
    struct view part = part_of(ctx, c, &w, nusers, nheads),
                rows = view_cut(view_permuted(w.input, order), 1, 0, 1, nheads);
    struct tensor *numbers = tensor_new(ctx, &(struct shape){2, {size, 1}});
    for (int64_t i = 0; i < size; i++)
        numbers->x[i] = (double)i;
    at = tensor_reshape(ctx, at, &(struct shape){4, {at->n, 1, 1, 1}});
    part = view_of(
        lazy_select(ctx, lazy_binary(ctx, binary_EQ, numbers, at), lazy_of_view(ctx, rows), lazy_of_view(ctx, part)));
    return with_users(ctx, &w, &part);
}

void evaluate_update_cache(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    *out = update(ctx, c, 2);
}

void evaluate_paged_update_cache(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    *out = update(ctx, c, 1);
}

/* The positions from 0 on. */
void evaluate_fill_cache(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct cache_call w = read_call(ctx, c);
    const int64_t *dim = w.input.shape.dim;
    if (dim[2] > w.cache.shape.dim[2])
        op_fails(ctx, "%s: %lld positions in %s", op_table[c->kind].name, (long long)dim[2],
                 shape_text(ctx->arena, &w.cache.shape).p);
    struct view part = part_of(ctx, c, &w, 1, dim[1]);
    part = with_part(ctx, &part, &w.input, 2, 0);
    *out = with_users(ctx, &w, &part);
}
