/* Operands and attributes of one op (struct call), as evaluators ask for them.
 *
 * Attribute text is MLIR: 3 : si32, 1.0e-5 : f32, true, [1, 2], array<i64: 1, 2>. An attribute that is absent keeps the
 * default that the caller put into *out; one that cannot be read fails with a reason in the context. */
#include "numeric/call.h"

bool attr_text(const struct call *c, const char *key, struct str *out) {
    return c->attribute && c->attribute(c->self, key, out);
}

static bool unreadable(struct eval_context *b, const struct call *c, const char *key) {
    return eval_fail(b, "%s: attribute %s cannot be read", op_table[c->kind].name, key);
}

bool attr_needed(struct eval_context *b, const struct call *c, const char *key) {
    struct str text;
    return attr_text(c, key, &text) || eval_fail(b, "%s has no attribute %s", op_table[c->kind].name, key);
}

/* No tensor here has so many elements: what is beyond counts as much, and can be computed with. */
static void bound(int64_t *x) {
    *x = *x > INT32_MAX ? INT32_MAX : *x < -INT32_MAX ? -INT32_MAX : *x;
}

bool attr_int(struct eval_context *b, const struct call *c, const char *key, int64_t *out) {
    struct str text;
    if (!attr_text(c, key, &text))
        return true;
    if (!mlir_int(text, out))
        return unreadable(b, c, key);
    bound(out);
    return true;
}

bool attr_int_needed(struct eval_context *b, const struct call *c, const char *key, int64_t *out) {
    return attr_needed(b, c, key) && attr_int(b, c, key, out);
}

bool attr_number(struct eval_context *b, const struct call *c, const char *key, double *out) {
    struct str text;
    return !attr_text(c, key, &text) || mlir_float(text, out) || unreadable(b, c, key);
}

bool attr_flag(struct eval_context *b, const struct call *c, const char *key, bool *out) {
    struct str text;
    if (!attr_text(c, key, &text))
        return true;
    int64_t number = 1;
    if (text.n && mlir_bool(text, out))
        return true;
    if (text.n && !mlir_int(text, &number))
        return unreadable(b, c, key);
    *out = number != 0;
    return true;
}

bool attr_list(struct eval_context *b, const struct call *c, const char *key, int64_t *out, int max, int *n) {
    struct str text;
    if (!attr_text(c, key, &text))
        return true;
    *n = mlir_ints(text, out, max);
    for (int i = 0; i < *n && i < max; i++)
        bound(&out[i]);
    return (*n >= 0 && *n <= max) || unreadable(b, c, key);
}

bool attr_list_needed(struct eval_context *b, const struct call *c, const char *key, int64_t *out, int max, int *n) {
    return attr_needed(b, c, key) && attr_list(b, c, key, out, max, n);
}

bool attr_word(struct eval_context *b, const struct call *c, const char *key, const char *const *words, int *out) {
    struct str text;
    *out = 0;
    if (!attr_text(c, key, &text))
        return true;
    while (words[*out] && !str_find(text, str_of(words[*out])))
        ++*out;
    return words[*out] ||
           eval_beyond(b, "no evaluator for %s with %s = %.*s", op_table[c->kind].name, key, (int)text.n, text.p);
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

bool axis_in(struct eval_context *b, const struct call *c, int64_t axis, uint32_t rank, uint32_t *out) {
    int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank)
        return eval_fail(b, "%s: no dimension %lld in a tensor of rank %u", op_table[c->kind].name, (long long)axis,
                         rank);
    *out = (uint32_t)at;
    return true;
}

bool axis_attr(struct eval_context *b, const struct call *c, const char *key, int64_t otherwise, uint32_t rank,
               uint32_t *out) {
    return attr_int(b, c, key, &otherwise) && axis_in(b, c, otherwise, rank, out);
}

bool axis_needed(struct eval_context *b, const struct call *c, const char *key, uint32_t *out) {
    return operands_needed(b, c, 1) && attr_needed(b, c, key) &&
           axis_attr(b, c, key, 0, operand(c, 0)->shape.rank, out);
}

bool operands_needed(struct eval_context *b, const struct call *c, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (!operand(c, i))
            return eval_fail(b, "%s lacks operand %u", op_table[c->kind].name, i);
    return true;
}

const struct tensor *as_declared(struct eval_context *b, const struct call *c, uint32_t result,
                                 const struct tensor *t) {
    const struct shape *s = declared_shape(c, result);
    return t && s && shape_count(s) == t->n ? tensor_reshape(b, t, s) : t;
}
