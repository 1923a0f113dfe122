/* Ops that write into a cache of keys or values, B x H x S x D: the result is what the cache holds afterwards. */
#include "numeric/evaluators.h"

#include <math.h>

/* Copies rows of D numbers: of users and heads of the input to a place of the cache. */
struct cache_writer {
    struct tensor *cache;
    const struct tensor *input, *at;
    int64_t offset; /* of the first user in the cache */
};

static bool begin(struct eval_context *b, const struct call *c, uint32_t noperands, struct cache_writer *w) {
    if (!operands_needed(b, c, noperands) || !attr_int(b, c, "batch_offset", &w->offset))
        return false;
    w->input = operand(c, 1);
    w->at = operand(c, 2);
    if (operand(c, 0)->shape.rank != 4 || w->input->shape.rank != 4 || w->input->shape.dim[0] != 1 ||
        operand(c, 0)->shape.dim[3] != w->input->shape.dim[3])
        return eval_fail(b, "%s of %s into %s", op_table[c->kind].name, shape_text(b->arena, &w->input->shape).p,
                         shape_text(b->arena, &operand(c, 0)->shape).p);
    w->cache = tensor_copy(b, operand(c, 0));
    return w->cache != NULL;
}

/* The row of the cache for a user, head and position; NULL with a reason. */
static double *row_of(struct eval_context *b, const struct call *c, const struct cache_writer *w, int64_t user,
                      int64_t head, double position) {
    const int64_t *dim = w->cache->shape.dim;
    user += w->offset;
    if (user < 0 || user >= dim[0] || head >= dim[1] || !(position >= 0 && position < (double)dim[2])) {
        eval_fail(b, "%s: position %g of user %lld, head %lld in %s", op_table[c->kind].name, position, (long long)user,
                  (long long)head, shape_text(b->arena, &w->cache->shape).p);
        return NULL;
    }
    return w->cache->x + ((user * dim[1] + head) * dim[2] + (int64_t)position) * dim[3];
}

/* Users are dimension `users` of the input, 1 or 2, and heads the other; heads beyond those of the cache are padding.
 */
static bool update(struct eval_context *b, const struct call *c, uint32_t users, const struct tensor **out) {
    struct cache_writer w = {.offset = 0};
    if (!begin(b, c, 3, &w) || !w.input)
        return false;
    const int64_t *dim = w.input->shape.dim;
    int64_t nusers = dim[users],
            nheads = dim[3 - users] < w.cache->shape.dim[1] ? dim[3 - users] : w.cache->shape.dim[1];
    if (operand(c, 3) || (w.at->n != 1 && w.at->n != nusers))
        return eval_beyond(b, "no evaluator for %s with a page table", op_table[c->kind].name);
    for (int64_t u = 0; u < nusers; u++)
        for (int64_t h = 0; h < nheads; h++) {
            double *to = row_of(b, c, &w, u, h, w.at->x[w.at->n == 1 ? 0 : u]);
            if (!to)
                return false;
            memcpy(to, w.input->x + (users == 1 ? u * dim[2] + h : h * dim[2] + u) * dim[3],
                   (size_t)dim[3] * sizeof *to);
        }
    *out = w.cache;
    return true;
}

bool evaluate_update_cache(struct eval_context *b, const struct call *c, const struct tensor **out) {
    return update(b, c, 2, out);
}

bool evaluate_paged_update_cache(struct eval_context *b, const struct call *c, const struct tensor **out) {
    return update(b, c, 1, out);
}

/* The positions from 0 on. */
bool evaluate_fill_cache(struct eval_context *b, const struct call *c, const struct tensor **out) {
    struct cache_writer w = {.offset = 0};
    if (!begin(b, c, 2, &w) || !w.input)
        return false;
    const int64_t *dim = w.input->shape.dim;
    for (int64_t h = 0; h < dim[1]; h++)
        for (int64_t s = 0; s < dim[2]; s++) {
            double *to = row_of(b, c, &w, 0, h, (double)s);
            if (!to)
                return false;
            memcpy(to, w.input->x + (h * dim[2] + s) * dim[3], (size_t)dim[3] * sizeof *to);
        }
    *out = w.cache;
    return true;
}
