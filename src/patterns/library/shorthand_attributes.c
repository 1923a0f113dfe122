/* Attributes of IR in short as MLIR: what the operator table says of them. */
#include "patterns/library/shorthand_op.h"

#include <stdlib.h>
#include <string.h>

/* One attribute of an operator: "key:type", "key:type=default", or "key:type?", which may be absent; a type may differ
 * by dialect: "i32s/shape". */
struct attr_row {
    struct str key, type, value;
    bool has_value, optional;
};

static bool next_row(const char **at, bool ttnn, struct attr_row *out) {
    while (**at == ' ')
        ++*at;
    size_t n = strcspn(*at, " ");
    struct str all = {*at, n};
    *at += n;
    const char *colon = n ? memchr(all.p, ':', n) : NULL;
    if (!colon)
        return false;
    const char *equals = memchr(colon, '=', (size_t)(all.p + n - colon));
    out->key = (struct str){all.p, (size_t)(colon - all.p)};
    out->type = (struct str){colon + 1, (size_t)((equals ? equals : all.p + n) - colon - 1)};
    out->has_value = equals != NULL;
    out->value = equals ? (struct str){equals + 1, (size_t)(all.p + n - equals - 1)} : STR("");
    out->optional = out->type.n && out->type.p[out->type.n - 1] == '?';
    out->type.n -= out->optional;
    const char *slash = memchr(out->type.p, '/', out->type.n);
    if (slash && ttnn)
        out->type = (struct str){slash + 1, (size_t)(out->type.p + out->type.n - slash - 1)};
    else if (slash)
        out->type.n = (size_t)(slash - out->type.p);
    return true;
}

static void add_dims(struct short_list *l, struct str type) {
    struct short_shape shape = short_shape_of(type);
    for (uint32_t d = 0; d < shape.rank; d++)
        l->v[l->n++] = shape.dims[d];
}

/* How many of each role's operands there are: the first optional roles are those that are given. */
static void add_segments(struct short_list *l, const struct short_op *op) {
    uint32_t left = op->noperands;
    for (const char *p = op_table[op->kind].roles; p && *p; p = strchr(p, ',')) {
        p += *p == ',';
        l->v[l->n++] = left > 0;
        left -= left > 0;
    }
}

/* Values that follow from the types: the shape of the result, the last dimension of the first operand, as many ones as
 * that has dimensions, how often each of its dimensions is repeated, operand segments. */
static bool derived_list(const struct short_op *op, struct str name, struct short_list *out) {
    struct str x = op->noperands ? op->operand_types[0] : STR("");
    out->n = 0;
    if (str_is(name, "@result")) {
        add_dims(out, op->types[0]);
    } else if (str_is(name, "@segments")) {
        add_segments(out, op);
    } else if (str_is(name, "@last")) {
        struct short_shape shape = short_shape_of(x);
        out->v[out->n++] = shape.rank ? shape.dims[shape.rank - 1] : 0;
    } else if (str_is(name, "@ones")) {
        add_dims(out, x);
        for (uint32_t i = 0; i < out->n; i++)
            out->v[i] = 1;
    } else if (str_is(name, "@ratio")) {
        struct short_shape from = short_shape_of(x), to = short_shape_of(op->types[0]);
        for (uint32_t d = 0; d < to.rank && from.rank == to.rank; d++)
            out->v[out->n++] = from.dims[d] ? to.dims[d] / from.dims[d] : 1;
    } else {
        return false;
    }
    return true;
}

static void print_ints(struct buf *b, const struct short_list *l, const char *between, struct str each) {
    for (uint32_t i = 0; i < l->n; i++)
        buf_printf(b, "%s%lld%s%.*s", i ? between : "", (long long)l->v[i], each.n ? " : " : "", (int)each.n, each.p);
}

/* Types: "shape" is #ttnn.shape<1x2>, "[i32]" is [1 : i32, 2 : i32], "i32s" is array<i32: 1, 2>. */
static void print_list(struct buf *b, struct str type, const struct short_list *l) {
    if (str_is(type, "shape")) {
        buf_add(b, STR("#ttnn.shape<"));
        print_ints(b, l, "x", STR(""));
        buf_addc(b, '>');
    } else if (type.p[0] == '[') {
        buf_addc(b, '[');
        print_ints(b, l, ", ", (struct str){type.p + 1, type.n - 2});
        buf_addc(b, ']');
    } else {
        buf_printf(b, "array<%.*s%s", (int)type.n - 1, type.p, l->n ? ": " : "");
        print_ints(b, l, ", ", STR(""));
        buf_addc(b, '>');
    }
}

static bool is_list_type(struct str type) {
    return str_is(type, "shape") || type.p[0] == '[' || type.p[type.n - 1] == 's';
}

/* A value that is written as MLIR wants it says its type itself. */
static bool is_typed(struct str value) {
    return str_find(value, STR(" : ")) || (str_starts(value, STR("[")) && memchr(value.p, ':', value.n)) ||
           str_starts(value, STR("#")) || str_starts(value, STR("\"")) || str_starts(value, STR("array<")) ||
           str_starts(value, STR("dense"));
}

bool short_is_number(struct str word) {
    size_t sign = word.n && word.p[0] == '-';
    struct str rest = {word.p + sign, word.n - sign};
    return rest.n && ((rest.p[0] >= '0' && rest.p[0] <= '9') || str_is(rest, "inf"));
}

/* MLIR wants a point in a float, 1e-5 is 1.0e-5, and the bits of what is infinite. */
static struct str float_text(struct arena *a, struct str number) {
    if (str_ends(number, STR("inf")))
        return number.p[0] == '-' ? STR("0xFF800000") : STR("0x7F800000");
    const char *e = memchr(number.p, 'e', number.n);
    if (str_starts(number, STR("0x")) || memchr(number.p, '.', number.n))
        return number;
    size_t n = e ? (size_t)(e - number.p) : number.n;
    return arena_printf(a, "%.*s.0%.*s", (int)n, number.p, (int)(number.n - n), number.p + n);
}

/* The layout of images and weights that PyTorch has. */
static const char images[] =
    "#ttir<convolution_layout input_batch = 0, input_feature = 1, input_spatial_dimensions = 2x3, "
    "kernel_output_feature = 0, kernel_input_feature = 1, kernel_spatial_dimensions = 2x3, "
    "output_batch = 0, output_feature = 1, output_spatial_dimensions = 2x3>";

static struct short_fault print_value(struct buf *b, struct arena *a, const struct short_op *op, struct str type,
                                      struct str value) {
    const struct short_fault fine = {0};
    struct short_list list;
    if (str_is(value, "@images"))
        value = STR(images);
    if (is_typed(value) || !type.n || str_is(type, "word")) {
        buf_add(b, value);
        return fine;
    }
    if (is_list_type(type)) {
        if (!derived_list(op, value, &list) && !short_read_list(value, &list))
            return (struct short_fault){value, "a list of whole numbers is meant"};
        print_list(b, type, &list);
        return fine;
    }
    if (!short_is_number(value))
        return (struct short_fault){value, "a number is meant"};
    if (type.p[0] == 'f')
        value = float_text(a, value);
    buf_printf(b, "%.*s : %.*s", (int)value.n, value.p, (int)type.n, type.p);
    return fine;
}

static struct short_fault print_attribute(struct buf *b, struct arena *a, const struct short_op *op, uint32_t n,
                                          const struct attr_row *row, struct str value) {
    buf_printf(b, "%s%.*s = ", n ? ", " : " <{", (int)row->key.n, row->key.p);
    return print_value(b, a, op, row->type, value);
}

/* No attribute of the op, as far as its row tells. */
static struct short_fault check_key(struct arena *a, const struct short_op *op, struct str key) {
    struct buf known = {0};
    struct attr_row row;
    if (op_may_have(op->kind, key))
        return (struct short_fault){0};
    for (const char *at = op_table[op->kind].attributes; at && next_row(&at, false, &row);)
        buf_printf(&known, "%s%.*s", known.n ? ", " : "", (int)row.key.n, row.key.p);
    struct str names = buf_take(&known, a);
    return (struct short_fault){key, arena_printf(a, "%s has no such attribute (%s%.*s)", op_table[op->kind].name,
                                                  names.n ? "it has " : "none", (int)names.n, names.p)
                                         .p};
}

struct short_fault short_print_attributes(struct buf *out, struct arena *a, const struct short_op *op) {
    struct short_fault fault = {0};
    uint32_t n = 0;
    uint64_t printed = 0;
    struct attr_row row;
    bool ttnn = str_starts(op->spelling, STR("ttnn."));
    for (const char *at = op_table[op->kind].attributes; !fault.what && at && next_row(&at, ttnn, &row);) {
        uint32_t given = short_find_key(op, row.key);
        if (given != NONE)
            printed |= 1ull << given;
        if (str_is(row.type, "-") || (given == NONE && !row.has_value && row.optional))
            continue;
        if (given == NONE && !row.has_value)
            return (struct short_fault){op->word, arena_printf(a, "%.*s is needed", (int)row.key.n, row.key.p).p};
        fault = print_attribute(out, a, op, n++, &row, given == NONE ? row.value : op->values[given]);
    }
    for (uint32_t i = 0; !fault.what && i < op->nattrs; i++)
        if (!(printed >> i & 1) && !(fault = check_key(a, op, op->keys[i])).what)
            fault = print_attribute(out, a, op, n++, &(struct attr_row){.key = op->keys[i]}, op->values[i]);
    buf_add(out, n ? STR("}>") : STR(""));
    return fault;
}
