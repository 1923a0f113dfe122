/* Shapes, tensors, views of tensors, and the limits of a context. The order of all loops is row-major, so that sums do
 * not depend on how a tensor is stored. */
#include "proof/numeric/tensor.h"

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

bool eval_steps(struct eval_context *ctx, int64_t times, int64_t each) {
    uint64_t most = ctx->max_steps ? ctx->max_steps : 1ull << 30;
    int64_t n;
    if (each < 0 || __builtin_mul_overflow(times, each, &n) || (uint64_t)n > most || ctx->steps > most - (uint64_t)n)
        return eval_reason(ctx, REASON_TOO_LARGE, "more than %llu steps of arithmetic", (unsigned long long)most);
    ctx->steps += (uint64_t)n;
    return true;
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

struct tensor *tensor_copy(struct eval_context *b, const struct tensor *t) {
    struct tensor *c = tensor_new(b, &t->shape);
    if (c)
        memcpy(c->x, t->x, (size_t)t->n * sizeof *t->x);
    return c;
}

struct tensor *tensor_scalar(struct eval_context *b, double x) {
    struct tensor *t = tensor_new(b, &(struct shape){0});
    if (t)
        t->x[0] = x;
    return t;
}

const struct tensor *tensor_reshape(struct eval_context *b, const struct tensor *t, const struct shape *s) {
    if (s->rank > MAX_RANK || shape_count(s) != t->n) {
        eval_fail(b, "%s cannot be reshaped to %s", shape_text(b->arena, &t->shape).p, shape_text(b->arena, s).p);
        return NULL;
    }
    if (t->lazy)
        return b->lazy->reshape(b, t, s);
    struct tensor *r = arena_alloc(b->arena, sizeof *r);
    *r = (struct tensor){.shape = *s, .n = t->n, .x = t->x};
    return r;
}

void tensor_round(struct tensor *t, enum dtype type, enum rounding r) {
    int64_t row = t->shape.rank ? t->shape.dim[t->shape.rank - 1] : 1;
    for (int64_t from = 0; row > 0 && from < t->n; from += row)
        for (int64_t at = 0; at < row; at += BLOCK)
            format_round_row(t->x + from + at, (size_t)(row - at < BLOCK ? row - at : BLOCK), type, r);
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

const struct tensor *view_copy(struct eval_context *b, struct view v) {
    if (b->lazy)
        return b->lazy->tensor(b, v);
    struct tensor *t = tensor_new(b, &v.shape);
    struct index_walk w;
    if (!t)
        return NULL;
    uint32_t rows = v.shape.rank ? v.shape.rank - 1 : 0; /* dimensions of them */
    int64_t row = v.shape.rank ? v.shape.dim[rows] : 1, step = v.stride[rows];
    double *x = t->x;
    v.shape.rank = rows;
    for (walk_views(&w, &v, 1); walk_more(&w); walk_next(&w), x += row)
        for (int64_t i = 0; i < row; i++)
            x[i] = v.x[w.offset[0] + i * step];
    return t;
}

void view_fill(struct tensor *t, const struct view *v, const double *x) {
    struct index_walk w;
    for (walk_views(&w, v, 1); walk_more(&w); walk_next(&w))
        t->x[w.offset[0]] = *x++;
}

const struct tensor *tensor_concat(struct eval_context *b, const struct tensor *const *parts, uint32_t n,
                                   uint32_t axis) {
    struct shape s = parts[0]->shape;
    int64_t at = 0;
    if (b->lazy)
        return b->lazy->concat(b, parts, n, axis);
    for (uint32_t i = 1; i < n; i++)
        s.dim[axis] += parts[i]->shape.dim[axis];
    struct tensor *t = tensor_new(b, &s);
    for (uint32_t i = 0; t && i < n; at += parts[i++]->shape.dim[axis]) {
        struct view to = view_cut(view_of(t), axis, at, 1, parts[i]->shape.dim[axis]);
        view_fill(t, &to, parts[i]->x);
    }
    return t;
}

const struct tensor *tensor_select(struct eval_context *ctx, const struct tensor *condition, const struct tensor *x,
                                   const struct tensor *y) {
    const struct tensor *t[] = {condition, x, y};
    struct shape s, so_far;
    struct index_walk w;
    struct view v[3];
    if (ctx->lazy)
        return ctx->lazy->select(ctx, condition, x, y);
    shape_broadcast(ctx, &x->shape, &y->shape, &so_far);
    shape_broadcast(ctx, &condition->shape, &so_far, &s);
    for (int i = 0; i < 3; i++)
        v[i] = view_expanded(t[i], &s);
    struct tensor *r = tensor_new(ctx, &s);
    double *out = r->x;
    for (walk_views(&w, v, 3); walk_more(&w); walk_next(&w))
        *out++ = condition->x[w.offset[0]] != 0 ? x->x[w.offset[1]] : y->x[w.offset[2]];
    return r;
}

const struct tensor *tensor_place(struct eval_context *ctx, const struct view *x, const struct shape *s,
                                  const int64_t *before, const int64_t *spread, double fill) {
    if (ctx->lazy)
        return ctx->lazy->place(ctx, x, s, before, spread, fill);
    struct tensor *t = tensor_new(ctx, s);
    for (int64_t i = 0; i < t->n; i++)
        t->x[i] = fill;
    struct view to = view_of(t);
    struct index_walk w;
    for (uint32_t d = 0; d < s->rank; d++)
        to = view_cut(to, d, before[d], spread ? spread[d] : 1, x->shape.dim[d]);
    for (walk_views(&w, (struct view[]){to, *x}, 2); walk_more(&w); walk_next(&w))
        t->x[w.offset[0]] = x->x[w.offset[1]];
    return t;
}

const struct tensor *tensor_take(struct eval_context *ctx, const struct taking *t) {
    struct index_walk w;
    if (ctx->lazy)
        return ctx->lazy->take(ctx, t);
    struct tensor *r = tensor_new(ctx, &t->index.shape);
    double *out = r->x;
    for (walk_views(&w, (struct view[]){t->index, t->x}, 2); walk_more(&w); walk_next(&w)) {
        double index = t->index.x[w.offset[0]];
        int64_t at = index_within(index, t->size);
        if (at < 0)
            op_fails(ctx, "%s: index %g of %lld", t->op, index, (long long)t->size);
        *out++ = t->x.x[w.offset[1] + at * t->step];
    }
    return r;
}

const struct tensor *tensor_taken(struct eval_context *ctx, const char *op, const struct tensor *x, uint32_t axis,
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
    return tensor_take(ctx, &t);
}

void walk_begin(struct index_walk *w, const struct shape *s) {
    memset(w, 0, sizeof *w);
    w->rank = s->rank;
    w->left = shape_count(s);
    memcpy(w->dim, s->dim, s->rank * sizeof *s->dim);
}

void walk_add(struct index_walk *w, const struct view *v) {
    memcpy(w->stride[w->nviews], v->stride, sizeof v->stride);
    w->offset[w->nviews++] = v->offset;
}

void walk_views(struct index_walk *w, const struct view *views, uint32_t n) {
    walk_begin(w, &views->shape);
    for (uint32_t k = 0; k < n; k++)
        walk_add(w, &views[k]);
}

void walk_carry(struct index_walk *w) {
    for (uint32_t d = w->rank; d-- > 0;) {
        for (uint32_t k = 0; k < w->nviews; k++)
            w->offset[k] += w->stride[k][d];
        if (++w->at[d] < w->dim[d])
            return;
        for (uint32_t k = 0; k < w->nviews; k++)
            w->offset[k] -= w->stride[k][d] * w->dim[d];
        w->at[d] = 0;
    }
}
