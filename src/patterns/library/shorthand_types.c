/* Types of IR in short, and that of a result which does not say its own. */
#include "patterns/library/shorthand_op.h"

#include "ir/mlir/attributes.h"
#include "ir/mlir/scan.h"
#include "ir/ops/infer.h"

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
    rest.n = (size_t)(scan_until(rest.p, rest.p + rest.n, ',') - rest.p);
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
/* What is written, and that a reduction keeps its dimensions unless something else is written. */
struct attrs short_attributes(struct arena *a, const struct short_op *op) {
    struct attr *at = arena_alloc(a, (op->nattrs + 1) * sizeof *at);
    for (uint32_t i = 0; i < op->nattrs; i++)
        at[i] = mlir_read_attr(op->keys[i], op->values[i], a);
    at[op->nattrs] = mlir_read_attr(STR("keep_dim"), STR("true"), a);
    return (struct attrs){.at = at, .n = op->nattrs + 1};
}

/* "32x64, 3x5" */
static struct str operand_shapes(struct arena *a, const struct short_op *op) {
    struct buf b = {0};
    for (uint32_t i = 0; i < op->noperands; i++) {
        struct short_shape s = short_shape_of(op->operand_types[i]);
        buf_add(&b, i ? STR(", ") : STR(""));
        for (uint32_t d = 0; d < s.rank; d++)
            buf_printf(&b, "%s%lld", d ? "x" : "", (long long)s.dims[d]);
    }
    return buf_take(&b, a);
}

/* By the rule of the op; where it has none, the shape that its operands broadcast to. The element type is that of
 * the first tensor, of `where` that of what it chooses from. */
struct short_fault short_infer(struct arena *a, const struct short_op *op, struct str *type) {
    struct attrs attributes = short_attributes(a, op);
    struct shape shapes[SHORT_OPERANDS];
    const struct shape *known[SHORT_OPERANDS] = {NULL};
    struct short_shape result = {0};
    for (uint32_t i = 0; i < op->noperands; i++) {
        struct short_shape one = short_shape_of(op->operand_types[i]);
        if (!one.known)
            continue;
        if (!result.known || (op_is(op->kind, SELECTS) && i == 1))
            result = one;
        shapes[i] = (struct shape){.rank = one.rank};
        memcpy(shapes[i].dim, one.dims, one.rank * sizeof *one.dims);
        known[i] = &shapes[i];
    }
    enum op_class class = op_table[op->kind].class;
    bool needed = class == OP_CONTRACT || class == OP_SLICE || op_table[op->kind].movement == MOVEMENT_PERMUTE;
    struct shape out;
    enum inferred how = infer_shape(op->kind, &attributes, known, op->noperands, &out);
    if (how == INFER_UNKNOWN && !needed)
        how = infer_broadcast(known, op->noperands, &out);
    if (how == INFER_NEVER)
        return (struct short_fault){op->word,
                                    arena_printf(a, "the shapes do not fit%s, %s",
                                                 op->nattrs ? " these attributes" : "", operand_shapes(a, op).p)
                                        .p};
    if (how != INFER_SHAPE)
        return (struct short_fault){op->word, "the type of the result is needed, behind '->'"};
    result.rank = out.rank;
    memcpy(result.dims, out.dim, out.rank * sizeof *out.dim);
    *type = short_shape_type(a, &result);
    return (struct short_fault){0};
}
