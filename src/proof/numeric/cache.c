/* Ops that write into a cache of keys or values, B x H x S x D: the result is what the cache holds afterwards. */
#include "proof/numeric/evaluators.h"

#include <math.h>

/* Copies rows of D numbers: of users and heads of the input to a place of the cache. */
struct cache_writer {
    struct tensor *cache;
    const struct tensor *input;
    int64_t offset; /* of the first user in the cache */
};

static struct cache_writer begin(struct eval_context *ctx, const struct call *c) {
    const struct tensor *cache = operand_needed(ctx, c, 0), *input = operand_needed(ctx, c, 1);
    if (cache->shape.rank != 4 || input->shape.rank != 4 || input->shape.dim[0] != 1 ||
        cache->shape.dim[3] != input->shape.dim[3])
        op_fails(ctx, "%s of %s into %s", op_table[c->kind].name, shape_text(ctx->arena, &input->shape).p,
                 shape_text(ctx->arena, &cache->shape).p);
    return (struct cache_writer){tensor_copy(ctx, cache), input, attr_int(ctx, c, "batch_offset", 0)};
}

/* Copies row number `from` of the input to the place in the cache of a user, head and position; what is no position of
 * the cache has no row. */
static void write_row(struct eval_context *ctx, const struct call *c, const struct cache_writer *w, int64_t from,
                      int64_t user, int64_t head, double position) {
    const int64_t *dim = w->cache->shape.dim;
    user += w->offset;
    if (user < 0 || user >= dim[0] || head >= dim[1])
        op_fails(ctx, "%s: user %lld, head %lld in %s", op_table[c->kind].name, (long long)user, (long long)head,
                 shape_text(ctx->arena, &w->cache->shape).p);
    if (position < 0 || position >= (double)dim[2] || !(position == floor(position)))
        return;
    memcpy(w->cache->x + ((user * dim[1] + head) * dim[2] + (int64_t)position) * dim[3], w->input->x + from * dim[3],
           (size_t)dim[3] * sizeof(double));
}

/* Users are dimension `users` of the input, 1 or 2, and heads the other; heads beyond those of the cache are padding.
 */
static const struct tensor *update(struct eval_context *ctx, const struct call *c, uint32_t users) {
    struct cache_writer w = begin(ctx, c);
    const struct tensor *at = operand_needed(ctx, c, 2);
    const int64_t *dim = w.input->shape.dim;
    int64_t nusers = dim[users],
            nheads = dim[3 - users] < w.cache->shape.dim[1] ? dim[3 - users] : w.cache->shape.dim[1];
    if (operand(c, 3) || (at->n != 1 && at->n != nusers) || attr_flag(ctx, c, "share_cache", false))
        op_unsupported(ctx, "no evaluator for %s with a page table, or a cache that users share",
                       op_table[c->kind].name);
    for (int64_t u = 0; u < nusers; u++)
        for (int64_t h = 0; h < nheads; h++)
            write_row(ctx, c, &w, users == 1 ? u * dim[2] + h : h * dim[2] + u, u, h, at->x[at->n == 1 ? 0 : u]);
    return w.cache;
}

void evaluate_update_cache(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    *out = update(ctx, c, 2);
}

void evaluate_paged_update_cache(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    *out = update(ctx, c, 1);
}

/* The positions from 0 on. */
void evaluate_fill_cache(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct cache_writer w = begin(ctx, c);
    const int64_t *dim = w.input->shape.dim;
    if (dim[2] > w.cache->shape.dim[2])
        op_fails(ctx, "%s: %lld positions in %s", op_table[c->kind].name, (long long)dim[2],
                 shape_text(ctx->arena, &w.cache->shape).p);
    for (int64_t h = 0; h < dim[1]; h++)
        for (int64_t s = 0; s < dim[2]; s++)
            write_row(ctx, c, &w, h * dim[2] + s, 0, h, (double)s);
    *out = w.cache;
}
