/* Ops that write into a cache of keys or values, B x H x S x D: the result is what the cache holds afterwards. */
#include "proof/numeric/elementwise.h"
#include "proof/numeric/evaluators.h"
#include "proof/value/fold.h"

#include <math.h>

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

static struct view numbers_to(struct eval_context *ctx, int64_t n) {
    struct tensor *all = tensor_new(ctx, &(struct shape){1, {n}});
    for (int64_t i = 0; i < n; i++)
        all->x[i] = (double)i;
    return view_of(all);
}

/* Users are dimension `users` of the input, 1 or 2, and heads the other; heads beyond those of the cache are padding.
 * What is no position of the cache is written nowhere. */
static const struct tensor *update(struct eval_context *ctx, const struct call *c, uint32_t users) {
    struct cache_call w = read_call(ctx, c);
    const struct tensor *at = operand_needed(ctx, c, 2);
    int64_t nusers = w.input.shape.dim[users], nheads = w.input.shape.dim[3 - users], size = w.cache.shape.dim[2];
    nheads = nheads < w.cache.shape.dim[1] ? nheads : w.cache.shape.dim[1];
    if (attr_flag(ctx, c, "share_cache", false) || (at->n != 1 && at->n != nusers))
        op_unsupported(ctx, "no evaluator for %s with a cache that users share", op_table[c->kind].name);
    const uint32_t order[] = {users, 3 - users, 0, 3};
    struct view part = part_of(ctx, c, &w, nusers, nheads),
                rows = view_cut(view_permuted(w.input, order), 1, 0, 1, nheads);
    const struct tensor *numbers =
        tensor_reshape(ctx, lazy_of_view(ctx, numbers_to(ctx, size)), &(struct shape){2, {size, 1}});
    at = tensor_reshape(ctx, at, &(struct shape){4, {at->n, 1, 1, 1}});
    part = view_of(
        lazy_select(ctx, lazy_binary(ctx, binary_EQ, numbers, at), lazy_of_view(ctx, rows), lazy_of_view(ctx, part)));
    return with_users(ctx, &w, &part);
}

void evaluate_update_cache(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    *out = update(ctx, c, 2);
}

static double quotient(double x, double y) {
    return floor(x / y);
}

/* Where in the cache, page by page, each user's row goes: below 0 where the position is on no page of the user. */
static const struct tensor *places(struct eval_context *ctx, const struct tensor *at, const struct tensor *pages,
                                   int64_t size) {
    const struct tensor *rows = tensor_scalar(ctx, (double)size), *one = tensor_scalar(ctx, 1);
    const struct tensor *turn = lazy_binary(ctx, quotient, at, rows),
                        *within = lazy_binary(ctx, binary_SUBTRACT, at, lazy_binary(ctx, binary_MULTIPLY, turn, rows));
    struct view counted = numbers_to(ctx, pages->shape.dim[1]);
    const struct tensor *is_it = lazy_binary(ctx, binary_EQ, lazy_of_view(ctx, counted),
                                             tensor_reshape(ctx, turn, &(struct shape){2, {at->n, 1}}));
    struct view its = view_of(lazy_binary(ctx, binary_MULTIPLY, is_it, lazy_binary(ctx, binary_ADD, pages, one)));
    const struct tensor *page = lazy_fold(ctx, "a page", fold_sum, &its, NULL, 1);
    page = lazy_binary(ctx, binary_SUBTRACT, page, one);
    return lazy_binary(ctx, binary_ADD, lazy_binary(ctx, binary_MULTIPLY, page, rows), within);
}

/* Into a cache of pages, of which the table says in which order each user has which. */
static const struct tensor *update_pages(struct eval_context *ctx, const struct call *c) {
    struct cache_call w = read_call(ctx, c);
    const struct tensor *at = operand_needed(ctx, c, 2), *pages = operand(c, 3), *out = operand(c, 0);
    int64_t users = w.input.shape.dim[1], npages = w.cache.shape.dim[0], size = w.cache.shape.dim[2];
    if (pages->shape.rank != 2 || pages->shape.dim[0] != users || at->n != users ||
        attr_flag(ctx, c, "share_cache", false) || w.input.shape.dim[2] < w.cache.shape.dim[1])
        op_unsupported(ctx, "no evaluator for %s with such pages", op_table[c->kind].name);
    struct view where = view_of(places(ctx, tensor_reshape(ctx, at, &(struct shape){1, {users}}), pages, size));
    const struct tensor *all = tensor_reshape(ctx, lazy_of_view(ctx, numbers_to(ctx, npages * size)),
                                              &(struct shape){4, {npages, 1, size, 1}});
    struct view heads = view_cut(w.input, 2, 0, 1, w.cache.shape.dim[1]);
    for (int64_t user = 0; user < users; user++) {
        const struct tensor *row = lazy_of_view(ctx, view_cut(heads, 1, user, 1, 1));
        const struct tensor *here = lazy_binary(ctx, binary_EQ, all, lazy_of_view(ctx, view_cut(where, 0, user, 1, 1)));
        row = tensor_reshape(ctx, row, &(struct shape){4, {1, w.cache.shape.dim[1], 1, w.cache.shape.dim[3]}});
        out = lazy_select(ctx, here, row, out);
    }
    return out;
}

void evaluate_paged_update_cache(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    *out = operand(c, 3) ? update_pages(ctx, c) : update(ctx, c, 1);
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
