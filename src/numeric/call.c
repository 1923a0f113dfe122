/* Operands and attributes of one op (struct call), as evaluators ask for them.
 *
 * Attribute text is MLIR: 3 : si32, 1.0e-5 : f32, true, [1, 2], array<i64: 1, 2>. */
#include "numeric/call.h"

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

/* ---- attributes ---- */

bool attr_text(const struct call *c, const char *key, struct str *out) {
    return c->attribute && c->attribute(c->self, key, out);
}

static _Noreturn void unreadable(struct eval_context *ctx, const struct call *c, const char *key) {
    op_fails(ctx, "%s: attribute %s cannot be read", op_table[c->kind].name, key);
}

static void attr_needed(struct eval_context *ctx, const struct call *c, const char *key) {
    struct str text;
    if (!attr_text(c, key, &text))
        op_fails(ctx, "%s has no attribute %s", op_table[c->kind].name, key);
}

/* No tensor here has so many elements: what is beyond counts as much, and can be computed with. */
static int64_t bounded(int64_t x) {
    return x > INT32_MAX ? INT32_MAX : x < -INT32_MAX ? -INT32_MAX : x;
}

int64_t attr_int(struct eval_context *ctx, const struct call *c, const char *key, int64_t otherwise) {
    struct str text;
    int64_t x;
    if (!attr_text(c, key, &text))
        return otherwise;
    if (!mlir_int(text, &x))
        unreadable(ctx, c, key);
    return bounded(x);
}

int64_t attr_int_needed(struct eval_context *ctx, const struct call *c, const char *key) {
    attr_needed(ctx, c, key);
    return attr_int(ctx, c, key, 0);
}

double attr_number(struct eval_context *ctx, const struct call *c, const char *key, double otherwise) {
    struct str text;
    double x;
    if (!attr_text(c, key, &text))
        return otherwise;
    if (!mlir_float(text, &x))
        unreadable(ctx, c, key);
    return x;
}

double attr_number_needed(struct eval_context *ctx, const struct call *c, const char *key) {
    attr_needed(ctx, c, key);
    return attr_number(ctx, c, key, 0);
}

bool attr_flag(struct eval_context *ctx, const struct call *c, const char *key, bool otherwise) {
    struct str text;
    bool flag;
    int64_t number = 1;
    if (!attr_text(c, key, &text))
        return otherwise;
    if (text.n && mlir_bool(text, &flag))
        return flag;
    if (text.n && !mlir_int(text, &number))
        unreadable(ctx, c, key);
    return number != 0;
}

int attr_list(struct eval_context *ctx, const struct call *c, const char *key, int64_t *out, int max) {
    struct str text;
    if (!attr_text(c, key, &text))
        return -1;
    int n = mlir_ints(text, out, max);
    if (n < 0 || n > max)
        unreadable(ctx, c, key);
    for (int i = 0; i < n; i++)
        out[i] = bounded(out[i]);
    return n;
}

int attr_list_needed(struct eval_context *ctx, const struct call *c, const char *key, int64_t *out, int max) {
    attr_needed(ctx, c, key);
    return attr_list(ctx, c, key, out, max);
}

int attr_word(struct eval_context *ctx, const struct call *c, const char *key, const char *const *words) {
    struct str text;
    int i = 0;
    if (!attr_text(c, key, &text))
        return 0;
    while (words[i] && !str_find(text, str_of(words[i])))
        i++;
    if (!words[i])
        op_unsupported(ctx, "no evaluator for %s with %s = %.*s", op_table[c->kind].name, key, (int)text.n, text.p);
    return i;
}

bool text_int(struct str text, const char *key, int64_t *out) {
    for (const char *p = str_find(text, str_of(key)), *end = text.p + text.n; p;) {
        const char *q = p + strlen(key);
        while (q < end && *q == ' ')
            q++;
        if (q < end && *q == '=') {
            const char *from = ++q;
            while (q < end && *q != ',' && *q != '>' && *q != '}')
                q++;
            return mlir_int(str_trim((struct str){from, (size_t)(q - from)}), out);
        }
        p = str_find((struct str){q, (size_t)(end - q)}, str_of(key));
    }
    return false;
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
