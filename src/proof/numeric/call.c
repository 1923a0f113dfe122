/* Operands and attributes of one op (struct call), as evaluators ask for them. */
#include "proof/numeric/call.h"

#include "ir/ops/infer.h"

const struct tensor *operand_needed(struct eval_context *ctx, const struct call *c, uint32_t i) {
    if (!operand(c, i))
        op_fails(ctx, "%s lacks operand %u", op_table[c->kind].name, i);
    return operand(c, i);
}

const struct tensor *as_declared(struct eval_context *ctx, const struct call *c, uint32_t result,
                                 const struct tensor *t) {
    const struct shape *s = declared_shape(c, result);
    return s && shape_count(s) == t->n ? tensor_reshape(ctx, t, s) : t;
}

struct shape inferred_shape(struct eval_context *ctx, const struct call *c) {
    const struct shape **shapes = arena_alloc(ctx->arena, (c->noperands + (size_t)1) * sizeof *shapes);
    struct shape s;
    struct str all = STR("");
    for (uint32_t i = 0; i < c->noperands; i++)
        shapes[i] = operand(c, i) ? &operand(c, i)->shape : NULL;
    if (infer_shape(c->kind, c->attributes, shapes, c->noperands, &s) == INFER_SHAPE)
        return s;
    for (uint32_t i = 0; i < c->noperands && shapes[i]; i++)
        all =
            arena_printf(ctx->arena, "%.*s%s%s", (int)all.n, all.p, i ? ", " : "", shape_text(ctx->arena, shapes[i]).p);
    op_fails(ctx, "%s of %s", op_table[c->kind].name, all.p);
}

/* ---- attributes ---- */

static _Noreturn void unreadable(struct eval_context *ctx, const struct call *c, const char *key) {
    op_fails(ctx, "%s: attribute %s cannot be read", op_table[c->kind].name, key);
}

const struct attr *attr_needed(struct eval_context *ctx, const struct call *c, const char *key) {
    const struct attr *x = attrs_find(c->attributes, key);
    if (!x)
        op_fails(ctx, "%s has no attribute %s", op_table[c->kind].name, key);
    return x;
}

/* No tensor here has so many elements: what is beyond counts as much, and can be computed with. */
static int64_t bounded(int64_t x) {
    return x > INT32_MAX ? INT32_MAX : x < -INT32_MAX ? -INT32_MAX : x;
}

int64_t attr_int(struct eval_context *ctx, const struct call *c, const char *key, int64_t otherwise) {
    const struct attr *x = attrs_find(c->attributes, key);
    if (x && !x->is_whole)
        unreadable(ctx, c, key);
    return x ? bounded(x->whole) : otherwise;
}

int64_t attr_int_needed(struct eval_context *ctx, const struct call *c, const char *key) {
    attr_needed(ctx, c, key);
    return attr_int(ctx, c, key, 0);
}

double attr_number(struct eval_context *ctx, const struct call *c, const char *key, double otherwise) {
    const struct attr *x = attrs_find(c->attributes, key);
    if (x && !x->is_number)
        unreadable(ctx, c, key);
    return x ? x->number : otherwise;
}

double attr_number_needed(struct eval_context *ctx, const struct call *c, const char *key) {
    attr_needed(ctx, c, key);
    return attr_number(ctx, c, key, 0);
}

bool attr_flag(struct eval_context *ctx, const struct call *c, const char *key, bool otherwise) {
    return attr_int(ctx, c, key, otherwise) != 0;
}

int attr_list(struct eval_context *ctx, const struct call *c, const char *key, int64_t *out, int max) {
    const struct attr *x = attrs_find(c->attributes, key);
    if (x && (x->n < 0 || x->n > max))
        unreadable(ctx, c, key);
    for (int i = 0; x && i < x->n; i++)
        out[i] = bounded(x->list[i]);
    return x ? x->n : -1;
}

int attr_list_needed(struct eval_context *ctx, const struct call *c, const char *key, int64_t *out, int max) {
    attr_needed(ctx, c, key);
    return attr_list(ctx, c, key, out, max);
}

int attr_word(struct eval_context *ctx, const struct call *c, const char *key, const char *const *words) {
    const struct attr *x = attrs_find(c->attributes, key);
    int i = 0;
    if (!x)
        return 0;
    while (words[i] && !str_find(x->text, str_of(words[i])))
        i++;
    if (!words[i])
        op_unsupported(ctx, "no evaluator for %s with %s = %.*s", op_table[c->kind].name, key, (int)x->text.n,
                       x->text.p);
    return i;
}

/* ---- dimensions ---- */

uint32_t axis_in(struct eval_context *ctx, const struct call *c, int64_t axis, uint32_t rank) {
    int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank)
        op_fails(ctx, "%s: no dimension %lld in a tensor of rank %u", op_table[c->kind].name, (long long)axis, rank);
    return (uint32_t)at;
}

uint32_t axis_attr(struct eval_context *ctx, const struct call *c, const char *key, int64_t otherwise, uint32_t rank) {
    return axis_in(ctx, c, attr_int(ctx, c, key, otherwise), rank);
}

uint32_t axis_needed(struct eval_context *ctx, const struct call *c, const char *key) {
    const struct tensor *x = operand_needed(ctx, c, 0);
    return axis_in(ctx, c, attr_int_needed(ctx, c, key), x->shape.rank);
}
