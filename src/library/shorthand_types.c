/* Types of IR in short, and that of a result which does not say its own. */
#include "library/shorthand_op.h"

#include <stdlib.h>
#include <string.h>

static bool is_element(struct str word) {
    return word.n && (word.p[0] < '0' || word.p[0] > '9') && word.p[0] != '?';
}

/* The last part of "32x64xbf16"; all of "bf16". */
static struct str last_part(struct str dims) {
    const char *x = dims.n ? memrchr(dims.p, 'x', dims.n) : NULL;
    return x && x > dims.p ? (struct str){x + 1, (size_t)(dims.p + dims.n - x - 1)} : dims;
}

struct str short_type(struct arena *a, const char *element, struct str t) {
    if (t.n && (t.p[0] == '!' || str_find(t, STR("<"))))
        return t;
    bool has_element = is_element(last_part(t));
    return arena_printf(a, "tensor<%.*s%s%s>", (int)t.n, t.p, has_element ? "" : "x", has_element ? "" : element);
}

struct short_shape short_shape_of(struct str type) {
    struct short_shape r = {.known = str_starts(type, STR("tensor<")) && type.n > 8};
    if (!r.known)
        return r;
    struct str rest = {type.p + 7, type.n - 8};
    const char *comma = memchr(rest.p, ',', rest.n);
    if (comma)
        rest.n = (size_t)(comma - rest.p);
    while (rest.n && rest.p[0] >= '0' && rest.p[0] <= '9' && r.rank < SHORT_RANK) {
        char *end;
        r.dims[r.rank++] = strtoll(rest.p, &end, 10);
        size_t used = (size_t)(end - rest.p) + 1; /* the x behind it */
        rest = (struct str){rest.p + used, rest.n > used ? rest.n - used : 0};
    }
    r.element = rest;
    r.known = rest.n > 0;
    return r;
}

struct str short_shape_type(struct arena *a, const struct short_shape *shape) {
    struct buf b = {0};
    buf_add(&b, STR("tensor<"));
    for (uint32_t d = 0; d < shape->rank; d++)
        buf_printf(&b, "%lldx", (long long)shape->dims[d]);
    buf_printf(&b, "%.*s>", (int)shape->element.n, shape->element.p);
    return buf_take(&b, a);
}
bool short_read_list(struct str text, struct short_list *out) {
    if (text.n && text.p[0] == '[' && text.p[text.n - 1] == ']')
        text = (struct str){text.p + 1, text.n - 2};
    out->n = 0;
    if (!text.n)
        return true;
    for (const char *p = text.p, *end = text.p + text.n; p < end;) {
        char *after;
        long long v = strtoll(p, &after, 10);
        if (after == p || after > end || out->n == 64)
            return false;
        out->v[out->n++] = v;
        for (p = after; p < end && strchr(" ,", *p);)
            p++;
    }
    return true;
}

uint32_t short_find_key(const struct short_op *op, struct str key) {
    for (uint32_t i = 0; i < op->nattrs; i++)
        if (str_eq(op->keys[i], key))
            return i;
    return NONE;
}
/* The dimensions of dim_arg, or all, have one element, or are gone without keep_dim. */
static void reduce(const struct short_op *op, struct short_shape *shape) {
    uint32_t dims = short_find_key(op, STR("dim_arg")), keep = short_find_key(op, STR("keep_dim")), rank = 0;
    bool gone = keep != NONE && str_is(op->values[keep], "false");
    struct short_list list = {.n = 0};
    bool some = dims != NONE && short_read_list(op->values[dims], &list);
    for (uint32_t d = 0; d < shape->rank; d++) {
        bool reduced = !some;
        for (uint32_t i = 0; i < list.n; i++)
            reduced |= list.v[i] == d || list.v[i] == (long long)d - shape->rank;
        if (!reduced || !gone)
            shape->dims[rank++] = reduced ? 1 : shape->dims[d];
    }
    shape->rank = rank;
}

/* Rows of the first operand of a product, columns of the second: with the other dimension 1 they broadcast to the
 * result. False for vectors. */
static bool rows_or_columns(const struct short_op *op, uint32_t i, struct short_shape *shape) {
    uint32_t key = short_find_key(op, i ? STR("transpose_b") : STR("transpose_a")), last = shape->rank - 1;
    bool transposed = key != NONE && str_is(op->values[key], "true");
    if (shape->rank < 2)
        return false;
    int64_t kept = shape->dims[(i == 1) != transposed ? last : last - 1];
    shape->dims[last] = i ? kept : 1;
    shape->dims[last - 1] = i ? 1 : kept;
    return true;
}

/* False where bounds are missing, count from the end, or do not fit. */
static bool slice(const struct short_op *op, struct short_shape *shape) {
    uint32_t begins = short_find_key(op, STR("begins")), ends = short_find_key(op, STR("ends")),
             step = short_find_key(op, STR("step"));
    struct short_list b, e, by = {.n = 0};
    if (begins == NONE || ends == NONE || !short_read_list(op->values[begins], &b) ||
        !short_read_list(op->values[ends], &e) || (step != NONE && !short_read_list(op->values[step], &by)) ||
        b.n != shape->rank || e.n != shape->rank)
        return false;
    for (uint32_t d = 0; d < shape->rank; d++) {
        int64_t each = d < by.n ? by.v[d] : 1;
        if (b.v[d] < 0 || b.v[d] >= e.v[d] || e.v[d] > shape->dims[d] || each < 1)
            return false;
        shape->dims[d] = (e.v[d] - b.v[d] - 1) / each + 1;
    }
    return true;
}

static bool permute(const struct short_op *op, struct short_shape *shape) {
    struct short_shape from = *shape;
    struct short_list order;
    uint32_t key = short_find_key(op, STR("permutation"));
    if (key == NONE || !short_read_list(op->values[key], &order) || order.n != from.rank)
        return false;
    for (uint32_t d = 0; d < from.rank; d++) {
        if (order.v[d] < 0 || order.v[d] >= from.rank)
            return false;
        shape->dims[d] = from.dims[order.v[d]];
    }
    return true;
}

/* The operands' types broadcast to one; reductions, products, slices and permutes have their own rules. The element
 * type is that of the first tensor, of `where` that of what it chooses from. */
struct short_fault short_infer(struct arena *a, const struct short_op *op, struct str *type) {
    const struct short_fault needed = {op->word, "the type of the result is needed"};
    struct short_shape all = {0};
    for (uint32_t i = 0; i < op->noperands; i++) {
        struct short_shape one = short_shape_of(op->operand_types[i]);
        if (!one.known)
            continue;
        if ((op->kind == K_MATMUL || op->kind == K_LINEAR) && i < 2 && !rows_or_columns(op, i, &one))
            return needed;
        struct short_shape wide = one.rank >= all.rank ? one : all, narrow = one.rank >= all.rank ? all : one;
        for (uint32_t d = 0; d < narrow.rank; d++) {
            int64_t *to = &wide.dims[wide.rank - narrow.rank + d];
            if (*to == 1)
                *to = narrow.dims[d];
            else if (narrow.dims[d] != 1 && narrow.dims[d] != *to)
                return (struct short_fault){
                    op->word, "the types of the operands do not broadcast, so that of the result is needed"};
        }
        bool condition = op->kind == K_WHERE && i == 1; /* what was seen before */
        wide.element = all.known && !condition ? all.element : one.element;
        all = wide;
    }
    if (!all.known || (op->kind == K_SLICE && !slice(op, &all)) || (op->kind == K_PERMUTE && !permute(op, &all)))
        return needed;
    if (op_table[op->kind].class == OP_REDUCE)
        reduce(op, &all);
    *type = short_shape_type(a, &all);
    return (struct short_fault){0};
}
