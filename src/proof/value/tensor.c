/* Shapes, tensors, views of tensors, and the limits of a context. The order of all loops is row-major, so that sums do
 * not depend on how a tensor is stored. */
#include "proof/value/tensor.h"

#include "ir/ops/infer.h"

#include <stdarg.h>
#include <stdio.h>

/* The first reason counts: what follows from it would only hide it. */
bool eval_reason(struct eval_context *ctx, enum reason_kind kind, const char *fmt, ...) {
    char text[512];
    va_list args;
    if (!ctx->error.n) {
        va_start(args, fmt);
        vsnprintf(text, sizeof text, fmt, args);
        va_end(args);
        ctx->error = arena_str(ctx->arena, str_of(text));
        ctx->why = kind;
    }
    if (ctx->escape)
        longjmp(*ctx->escape, 1);
    return false;
}

bool eval_attempt(struct eval_context *ctx, void (*f)(struct eval_context *ctx, void *self), void *self) {
    jmp_buf here, *outer = ctx->escape;
    enum arithmetic kept = ctx->arithmetic;
    volatile bool good = false;
    ctx->escape = &here;
    if (!setjmp(here)) {
        f(ctx, self);
        good = true;
    }
    ctx->escape = outer;
    ctx->arithmetic = kept;
    return good;
}

bool shape_broadcast(struct eval_context *b, const struct shape *x, const struct shape *y, struct shape *out) {
    if (infer_broadcast((const struct shape *const[]){x, y}, 2, out) == INFER_SHAPE)
        return true;
    return eval_fail(b, "shapes %s and %s do not broadcast", shape_text(b->arena, x).p, shape_text(b->arena, y).p);
}

struct tensor *tensor_new(struct eval_context *b, const struct shape *s) {
    if (s->rank > MAX_RANK) {
        eval_fail(b, "a tensor of rank %u: %d is the limit", s->rank, MAX_RANK);
        return NULL;
    }
    int64_t n = shape_count(s);
    uint64_t most = b->max_elements ? b->max_elements : 1u << 24;
    if (n < 0 || (uint64_t)n > most || b->elements > most - (uint64_t)n) {
        eval_reason(b, REASON_TOO_LARGE, "a tensor %s: beyond the limit of %llu elements", shape_text(b->arena, s).p,
                    (unsigned long long)most);
        return NULL;
    }
    b->elements += (uint64_t)n;
    struct tensor *t = arena_alloc(b->arena, sizeof *t);
    *t = (struct tensor){.shape = *s, .n = n, .x = arena_alloc(b->arena, ((size_t)n + 1) * sizeof(double))};
    return t;
}

struct tensor *tensor_scalar(struct eval_context *b, double x) {
    struct tensor *t = tensor_new(b, &(struct shape){0});
    if (t)
        t->x[0] = x;
    return t;
}

/* ---- views ---- */

struct view view_of(const struct tensor *t) {
    struct view v = {.shape = t->shape, .x = t->x, .lazy = t->lazy, .offset = t->offset};
    int64_t stride = 1;
    if (t->lazy) {
        memcpy(v.stride, t->stride, sizeof v.stride);
        return v;
    }
    for (uint32_t d = t->shape.rank; d-- > 0; stride *= t->shape.dim[d])
        v.stride[d] = stride;
    return v;
}

struct view view_expanded(const struct tensor *t, const struct shape *to) {
    struct view from = view_of(t), v = {.shape = *to, .x = t->x, .lazy = t->lazy, .offset = from.offset};
    uint32_t lead = to->rank - t->shape.rank;
    for (uint32_t d = lead; d < to->rank; d++)
        v.stride[d] = t->shape.dim[d - lead] == 1 ? 0 : from.stride[d - lead];
    return v;
}

struct view view_permuted(struct view v, const uint32_t *order) {
    struct view p = v;
    for (uint32_t d = 0; d < v.shape.rank; d++) {
        p.shape.dim[d] = v.shape.dim[order[d]];
        p.stride[d] = v.stride[order[d]];
    }
    return p;
}

struct view view_swapped(struct view v, uint32_t a, uint32_t b) {
    uint32_t order[MAX_RANK] = {0};
    for (uint32_t d = 0; d < v.shape.rank; d++)
        order[d] = d == a ? b : d == b ? a : d;
    return view_permuted(v, order);
}

struct view view_cut(struct view v, uint32_t dim, int64_t begin, int64_t step, int64_t count) {
    v.offset += begin * v.stride[dim];
    v.stride[dim] *= step;
    v.shape.dim[dim] = count;
    return v;
}
