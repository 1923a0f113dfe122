/* A scanner over the text that prints each op as soon as it is read. Values are known by name with the text of their
 * types. Attribute specifications come from the operator table. */
#include "library/shorthand.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 1024, MAX_OPERANDS = 32, MAX_RANK = 12, MAX_ATTRS = 48 };

struct short_value {
    struct str name;
    const struct str *types; /* of its results: of "s:3" three */
    uint32_t ntypes;
};

struct short_op {
    struct str word; /* of the text */
    struct str spelling;
    enum op_kind kind;
    struct str results; /* as they are printed: "%a, %b" or "%s:3"; empty: it has none */
    struct str operands[MAX_OPERANDS], operand_types[MAX_OPERANDS];
    uint32_t noperands;
    struct str keys[MAX_ATTRS], values[MAX_ATTRS];
    uint32_t nattrs;
    struct str types[MAX_OPERANDS]; /* of its results */
    uint32_t ntypes;
};

struct shorthand {
    struct str text;
    size_t at;
    const char *dialect, *element;
    struct arena *arena;
    struct buf out;
    struct short_value values[MAX_VALUES];
    uint32_t nvalues, nliterals;
    uint32_t skipped_lines; /* within the op at hand */
    size_t head_end;        /* of the function at hand, in `out`: where the types of its results go; 0: there is none */
    struct shorthand_error *error;
};

static bool fail(struct shorthand *s, struct str at, const char *what) {
    if (!s->error->message.n)
        *s->error = (struct shorthand_error){at.p ? (size_t)(at.p - s->text.p) : s->at,
                                             arena_printf(s->arena, "%s%s%.*s%s", what, at.n ? ": '" : "", (int)at.n,
                                                          at.n ? at.p : "", at.n ? "'" : "")};
    return false;
}

/* ---- words ---- */

static bool at_end(const struct shorthand *s) {
    return s->at == s->text.n || strchr("\n;#", s->text.p[s->at]);
}

static void skip_blanks(struct shorthand *s) {
    while (s->at < s->text.n && (s->text.p[s->at] == ' ' || s->text.p[s->at] == '\t'))
        s->at++;
}

static bool take(struct shorthand *s, const char *what) {
    size_t n = strlen(what);
    skip_blanks(s);
    if (s->text.n - s->at < n || memcmp(s->text.p + s->at, what, n) != 0)
        return false;
    s->at += n;
    return true;
}

/* Up to a byte of `stops` that stands outside of brackets and quotes, or the end of the line. */
static struct str until(struct shorthand *s, const char *stops) {
    skip_blanks(s);
    size_t begin = s->at;
    int depth = 0;
    bool quoted = false;
    for (; s->at < s->text.n && s->text.p[s->at] != '\n'; s->at++) {
        char c = s->text.p[s->at];
        if (!quoted && depth == 0 && strchr(stops, c))
            break;
        quoted ^= c == '"';
        depth += !quoted && strchr("<([{", c);
        depth -= !quoted && strchr(">)]}", c);
    }
    return str_trim((struct str){s->text.p + begin, s->at - begin});
}

static struct str word_here(struct shorthand *s) {
    struct str word = {s->text.p + s->at, 0};
    while (s->at < s->text.n && !strchr(" \t\n;", s->text.p[s->at]))
        s->at++, word.n++;
    return word;
}

/* ---- types ---- */

static bool is_element(struct str word) {
    return word.n && (word.p[0] < '0' || word.p[0] > '9') && word.p[0] != '?';
}

/* The last part of "32x64xbf16"; all of "bf16". */
static struct str last_part(struct str dims) {
    const char *x = dims.n ? memrchr(dims.p, 'x', dims.n) : NULL;
    return x && x > dims.p ? (struct str){x + 1, (size_t)(dims.p + dims.n - x - 1)} : dims;
}

/* "32x64" to "tensor<32x64xbf16>"; a type that is written out stays. */
static struct str type_text(const struct shorthand *s, struct str t) {
    if (t.n && (t.p[0] == '!' || str_find(t, STR("<"))))
        return t;
    bool has_element = is_element(last_part(t));
    return arena_printf(s->arena, "tensor<%.*s%s%s>", (int)t.n, t.p, has_element ? "" : "x",
                        has_element ? "" : s->element);
}

struct short_shape {
    int64_t dims[MAX_RANK];
    uint32_t rank;
    struct str element;
    bool known;
};

static struct short_shape shape_of(struct str type) {
    struct short_shape r = {.known = str_starts(type, STR("tensor<")) && type.n > 8};
    if (!r.known)
        return r;
    struct str rest = {type.p + 7, type.n - 8};
    const char *comma = memchr(rest.p, ',', rest.n);
    if (comma)
        rest.n = (size_t)(comma - rest.p);
    while (rest.n && rest.p[0] >= '0' && rest.p[0] <= '9' && r.rank < MAX_RANK) {
        char *end;
        r.dims[r.rank++] = strtoll(rest.p, &end, 10);
        size_t used = (size_t)(end - rest.p) + 1; /* the x behind it */
        rest = (struct str){rest.p + used, rest.n > used ? rest.n - used : 0};
    }
    r.element = rest;
    r.known = rest.n > 0;
    return r;
}

static struct str shape_type(const struct shorthand *s, const struct short_shape *shape) {
    struct buf b = {0};
    buf_add(&b, STR("tensor<"));
    for (uint32_t d = 0; d < shape->rank; d++)
        buf_printf(&b, "%lldx", (long long)shape->dims[d]);
    buf_printf(&b, "%.*s>", (int)shape->element.n, shape->element.p);
    struct str t = arena_str(s->arena, buf_str(&b));
    buf_free(&b);
    return t;
}

/* ---- values ---- */

static bool define(struct shorthand *s, struct str name, const struct str *types, uint32_t n) {
    if (s->nvalues == MAX_VALUES)
        return fail(s, name, "too many values");
    s->values[s->nvalues++] = (struct short_value){name, types, n};
    return true;
}

static const struct short_value *find_value(const struct shorthand *s, struct str name) {
    for (uint32_t i = s->nvalues; i-- > 0;)
        if (str_eq(s->values[i].name, name))
            return &s->values[i];
    return NULL;
}

/* "p", or "p#1" of several results. */
static bool value_type(struct shorthand *s, struct str name, struct str *type) {
    const char *hash = memchr(name.p, '#', name.n);
    struct str base = {name.p, hash ? (size_t)(hash - name.p) : name.n};
    const struct short_value *v = find_value(s, base);
    unsigned long i = hash ? strtoul(hash + 1, NULL, 10) : 0;
    if (!v)
        return fail(s, name, "its type has to stand where it is first used");
    if (i >= v->ntypes)
        return fail(s, name, "there are not so many results");
    *type = v->types[i];
    return true;
}

static bool is_number(struct str word) {
    size_t i = word.n && word.p[0] == '-';
    return i < word.n && word.p[i] >= '0' && word.p[i] <= '9';
}

/* MLIR wants a point in a float: 1e-5 is 1.0e-5. */
static struct str float_text(const struct shorthand *s, struct str number) {
    const char *e = memchr(number.p, 'e', number.n);
    if (str_starts(number, STR("0x")) || memchr(number.p, '.', number.n))
        return number;
    size_t n = e ? (size_t)(e - number.p) : number.n;
    return arena_printf(s->arena, "%.*s.0%.*s", (int)n, number.p, (int)(number.n - n), number.p + n);
}

static bool print_op(struct shorthand *s, struct short_op *op, struct str location);

/* The op that makes a literal stands before the op that uses it, on the same line. */
static bool add_literal(struct shorthand *s, struct short_op *op, struct str number, struct str type) {
    struct short_op full = {.kind = K_FULL, .nattrs = 1, .ntypes = 1};
    struct str name = arena_printf(s->arena, "lit%u", s->nliterals++);
    full.spelling = arena_printf(s->arena, "%s.full", s->dialect);
    full.results = arena_printf(s->arena, "%%%.*s", (int)name.n, name.p);
    full.keys[0] = STR("fill_value");
    full.values[0] = number;
    full.types[0] = type;
    if (!print_op(s, &full, STR("")))
        return false;
    buf_addc(&s->out, ' ');
    op->operands[op->noperands] = name;
    op->operand_types[op->noperands++] = type;
    return true;
}

/* A literal without a type has one element, with as many dimensions as the first tensor beside it. */
static struct str literal_type(struct shorthand *s, const struct short_op *op) {
    struct short_shape shape = {.rank = 1, .dims = {1}, .element = str_of(s->element)};
    for (uint32_t i = 0; i < op->noperands; i++) {
        struct short_shape one = shape_of(op->operand_types[i]);
        if (!one.known)
            continue;
        shape = one;
        break;
    }
    for (uint32_t d = 0; d < shape.rank; d++)
        shape.dims[d] = 1;
    return shape_type(s, &shape);
}

static bool add_operand(struct shorthand *s, struct short_op *op) {
    struct str word = until(s, " \t:;,"), type = {0};
    if (op->noperands == MAX_OPERANDS || !word.n)
        return fail(s, word, word.n ? "too many operands" : "an operand is missing");
    if (take(s, ":"))
        type = type_text(s, until(s, " \t;"));
    if (is_number(word))
        return add_literal(s, op, word, type.n ? type : literal_type(s, op));
    if (type.n) {
        struct str *kept = arena_alloc(s->arena, sizeof *kept);
        *kept = type;
        if (!define(s, word, kept, 1))
            return false;
    } else if (!value_type(s, word, &type)) {
        return false;
    }
    op->operands[op->noperands] = word;
    op->operand_types[op->noperands++] = type;
    return true;
}

/* ---- attributes ---- */

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

struct int_list {
    int64_t v[64];
    uint32_t n;
};

static void add_dims(struct int_list *l, struct str type) {
    struct short_shape shape = shape_of(type);
    for (uint32_t d = 0; d < shape.rank; d++)
        l->v[l->n++] = shape.dims[d];
}

/* How many of each role's operands there are: the first optional roles are those that are given. */
static void add_segments(struct int_list *l, const struct short_op *op) {
    uint32_t left = op->noperands;
    for (const char *p = op_table[op->kind].roles; p && *p; p = strchr(p, ',')) {
        p += *p == ',';
        l->v[l->n++] = left > 0;
        left -= left > 0;
    }
}

/* Values that follow from the types: the shape of the result, the last dimension of the first operand, as many ones as
 * that has dimensions, how often each of its dimensions is repeated, operand segments. */
static bool derived_list(const struct short_op *op, struct str name, struct int_list *out) {
    struct str x = op->noperands ? op->operand_types[0] : STR("");
    out->n = 0;
    if (str_is(name, "@result")) {
        add_dims(out, op->types[0]);
    } else if (str_is(name, "@segments")) {
        add_segments(out, op);
    } else if (str_is(name, "@last")) {
        struct short_shape shape = shape_of(x);
        out->v[out->n++] = shape.rank ? shape.dims[shape.rank - 1] : 0;
    } else if (str_is(name, "@ones")) {
        add_dims(out, x);
        for (uint32_t i = 0; i < out->n; i++)
            out->v[i] = 1;
    } else if (str_is(name, "@ratio")) {
        struct short_shape from = shape_of(x), to = shape_of(op->types[0]);
        for (uint32_t d = 0; d < to.rank && from.rank == to.rank; d++)
            out->v[out->n++] = from.dims[d] ? to.dims[d] / from.dims[d] : 1;
    } else {
        return false;
    }
    return true;
}

/* "[1, 2]" or "1"; false when it is none of these. */
static bool read_list(struct str text, struct int_list *out) {
    if (text.n && text.p[0] == '[' && text.p[text.n - 1] == ']')
        text = (struct str){text.p + 1, text.n - 2};
    out->n = 0;
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

static void print_ints(struct buf *b, const struct int_list *l, const char *between, struct str each) {
    for (uint32_t i = 0; i < l->n; i++)
        buf_printf(b, "%s%lld%s%.*s", i ? between : "", (long long)l->v[i], each.n ? " : " : "", (int)each.n, each.p);
}

/* Types: "shape" is #ttnn.shape<1x2>, "[i32]" is [1 : i32, 2 : i32], "i32s" is array<i32: 1, 2>. */
static void print_list(struct buf *b, struct str type, const struct int_list *l) {
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
    return str_find(value, STR(" : ")) || str_starts(value, STR("#")) || str_starts(value, STR("\"")) ||
           str_starts(value, STR("array<")) || str_starts(value, STR("dense"));
}

static bool print_value(struct shorthand *s, const struct short_op *op, struct str type, struct str value) {
    struct int_list list;
    if (is_typed(value) || !type.n || str_is(type, "word")) {
        buf_add(&s->out, value);
        return true;
    }
    if (is_list_type(type)) {
        if (!derived_list(op, value, &list) && !read_list(value, &list))
            return fail(s, value, "a list of whole numbers is meant");
        print_list(&s->out, type, &list);
        return true;
    }
    if (type.p[0] == 'f')
        value = float_text(s, value);
    buf_printf(&s->out, "%.*s : %.*s", (int)value.n, value.p, (int)type.n, type.p);
    return true;
}

static uint32_t find_key(const struct short_op *op, struct str key) {
    for (uint32_t i = 0; i < op->nattrs; i++)
        if (str_eq(op->keys[i], key))
            return i;
    return NONE;
}

/* The dimensions of dim_arg, or all, have one element, or are gone without keep_dim. */
static void reduce(const struct short_op *op, struct short_shape *shape) {
    uint32_t dims = find_key(op, STR("dim_arg")), keep = find_key(op, STR("keep_dim")), rank = 0;
    bool gone = keep != NONE && str_is(op->values[keep], "false");
    struct int_list list = {.n = 0};
    bool some = dims != NONE && read_list(op->values[dims], &list);
    for (uint32_t d = 0; d < shape->rank; d++) {
        bool reduced = !some;
        for (uint32_t i = 0; i < list.n; i++)
            reduced |= list.v[i] == d || list.v[i] + shape->rank == d;
        if (!reduced || !gone)
            shape->dims[rank++] = reduced ? 1 : shape->dims[d];
    }
    shape->rank = rank;
}

/* Rows of the first operand of a product, columns of the second: with the other dimension 1 they broadcast to the
 * result. False for vectors. */
static bool rows_or_columns(const struct short_op *op, uint32_t i, struct short_shape *shape) {
    uint32_t key = find_key(op, i ? STR("transpose_b") : STR("transpose_a")), last = shape->rank - 1;
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
    uint32_t begins = find_key(op, STR("begins")), ends = find_key(op, STR("ends")), step = find_key(op, STR("step"));
    struct int_list b, e, by = {.n = 0};
    if (begins == NONE || ends == NONE || !read_list(op->values[begins], &b) || !read_list(op->values[ends], &e) ||
        (step != NONE && !read_list(op->values[step], &by)) || b.n != shape->rank || e.n != shape->rank)
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
    struct int_list order;
    uint32_t key = find_key(op, STR("permutation"));
    if (key == NONE || !read_list(op->values[key], &order) || order.n != from.rank)
        return false;
    for (uint32_t d = 0; d < from.rank; d++) {
        if (order.v[d] < 0 || order.v[d] >= from.rank)
            return false;
        shape->dims[d] = from.dims[order.v[d]];
    }
    return true;
}

/* The operands' types broadcast to one; reductions, products, slices and permutes have their own rules. The element
 * type is that of the first tensor. */
static bool infer_type(struct shorthand *s, const struct short_op *op, struct str *out) {
    struct short_shape all = {0};
    for (uint32_t i = 0; i < op->noperands; i++) {
        struct short_shape one = shape_of(op->operand_types[i]);
        if (!one.known)
            continue;
        if ((op->kind == K_MATMUL || op->kind == K_LINEAR) && i < 2 && !rows_or_columns(op, i, &one))
            return fail(s, op->word, "the type of the result is needed");
        struct short_shape wide = one.rank >= all.rank ? one : all, narrow = one.rank >= all.rank ? all : one;
        for (uint32_t d = 0; d < narrow.rank; d++) {
            int64_t *to = &wide.dims[wide.rank - narrow.rank + d];
            if (*to == 1)
                *to = narrow.dims[d];
            else if (narrow.dims[d] != 1 && narrow.dims[d] != *to)
                return fail(s, op->word, "the types of the operands do not broadcast, so that of the result is needed");
        }
        wide.element = all.known ? all.element : one.element;
        all = wide;
    }
    if (!all.known || (op->kind == K_SLICE && !slice(op, &all)) || (op->kind == K_PERMUTE && !permute(op, &all)))
        return fail(s, op->word, "the type of the result is needed");
    if (op_table[op->kind].class == OP_REDUCE)
        reduce(op, &all);
    *out = shape_type(s, &all);
    return true;
}

static bool print_attribute(struct shorthand *s, const struct short_op *op, uint32_t *n, const struct attr_row *row,
                            struct str value) {
    buf_printf(&s->out, "%s%.*s = ", (*n)++ ? ", " : " <{", (int)row->key.n, row->key.p);
    return print_value(s, op, row->type, value);
}

/* Those of the table in its order, then those that the table does not know. */
static bool print_attributes(struct shorthand *s, const struct short_op *op) {
    uint32_t n = 0;
    uint64_t printed = 0;
    struct attr_row row;
    bool ttnn = str_starts(op->spelling, STR("ttnn."));
    for (const char *at = op_table[op->kind].attributes; at && next_row(&at, ttnn, &row);) {
        uint32_t given = find_key(op, row.key);
        if (given != NONE)
            printed |= 1ull << given;
        if (str_is(row.type, "-") || (given == NONE && !row.has_value && row.optional))
            continue;
        if (given == NONE && !row.has_value)
            return fail(s, op->word, arena_printf(s->arena, "%.*s is needed", (int)row.key.n, row.key.p).p);
        if (!print_attribute(s, op, &n, &row, given == NONE ? row.value : op->values[given]))
            return false;
    }
    for (uint32_t i = 0; i < op->nattrs; i++)
        if (!(printed >> i & 1) && !print_attribute(s, op, &n, &(struct attr_row){.key = op->keys[i]}, op->values[i]))
            return false;
    buf_add(&s->out, n ? STR("}>") : STR(""));
    return true;
}

/* Attributes may go on in the next line. */
static void skip_line_ends(struct shorthand *s) {
    for (skip_blanks(s); s->at < s->text.n && s->text.p[s->at] == '\n'; skip_blanks(s)) {
        s->at++;
        s->skipped_lines++;
    }
}

static bool read_attributes(struct shorthand *s, struct short_op *op) {
    for (skip_line_ends(s); !take(s, "}"); skip_line_ends(s)) {
        if (op->nattrs == MAX_ATTRS || at_end(s))
            return fail(s, (struct str){0}, op->nattrs == MAX_ATTRS ? "too many attributes" : "a '}' is missing");
        op->keys[op->nattrs] = until(s, "=,}");
        if (take(s, "=")) {
            skip_line_ends(s);
            op->values[op->nattrs] = until(s, ",}");
        }
        op->nattrs++;
        skip_line_ends(s);
        (void)take(s, ",");
    }
    return true;
}

/* ---- lines ---- */

static void print_types(struct buf *b, const struct str *types, uint32_t n, bool parentheses) {
    buf_add(b, parentheses ? STR("(") : STR(""));
    for (uint32_t i = 0; i < n; i++)
        buf_printf(b, "%s%.*s", i ? ", " : "", (int)types[i].n, types[i].p);
    buf_add(b, parentheses ? STR(")") : STR(""));
}

static void print_operands(struct buf *b, const struct short_op *op) {
    for (uint32_t i = 0; i < op->noperands; i++)
        buf_printf(b, "%s%%%.*s", i ? ", " : "", (int)op->operands[i].n, op->operands[i].p);
}

/* "a>b" is loc("a"("b")). */
static void print_location(struct buf *b, struct str names) {
    buf_add(b, STR(" loc("));
    uint32_t depth = 0;
    while (names.n) {
        const char *end = memchr(names.p, '>', names.n);
        size_t n = end ? (size_t)(end - names.p) : names.n;
        buf_printf(b, "%s\"%.*s\"", depth++ ? "(" : "", (int)n, names.p);
        names = (struct str){names.p + n + (end != NULL), names.n - n - (end != NULL)};
    }
    while (depth-- > 0)
        buf_addc(b, ')');
}

static bool print_op(struct shorthand *s, struct short_op *op, struct str location) {
    struct buf *b = &s->out;
    buf_printf(b, "%.*s%s\"%.*s\"(", (int)op->results.n, op->results.p ? op->results.p : "", op->results.n ? " = " : "",
               (int)op->spelling.n, op->spelling.p);
    print_operands(b, op);
    buf_addc(b, ')');
    if (!print_attributes(s, op))
        return false;
    buf_add(b, STR(" : "));
    print_types(b, op->operand_types, op->noperands, true);
    buf_add(b, STR(" -> "));
    print_types(b, op->types, op->ntypes, op->ntypes != 1);
    if (location.n)
        print_location(b, location);
    return true;
}

static void end_function(struct shorthand *s) {
    if (s->head_end)
        buf_add(&s->out, STR("}\n"));
    s->head_end = 0;
}

/* "x:2x3!parameter!layers.0.weight": what the argument is to the model, and its name there. */
static bool read_argument(struct shorthand *s, bool first) {
    struct str name = until(s, " \t:;"), *type = arena_alloc(s->arena, sizeof *type);
    struct str all = take(s, ":") ? until(s, " \t;") : STR("");
    const char *kind = all.n ? memchr(all.p + 1, '!', all.n - 1) : NULL;
    *type = type_text(s, kind ? (struct str){all.p, (size_t)(kind - all.p)} : all);
    if (!all.n || !define(s, name, type, 1))
        return fail(s, name, "an argument of a function needs a type");
    buf_printf(&s->out, "%s%%%.*s: %.*s", first ? "" : ", ", (int)name.n, name.p, (int)type->n, type->p);
    if (kind) {
        struct str rest = {kind + 1, (size_t)(all.p + all.n - kind - 1)};
        const char *model = memchr(rest.p, '!', rest.n);
        int n = (int)(model ? model - rest.p : (ptrdiff_t)rest.n);
        buf_printf(&s->out, " {ttcore.argument_type = #ttcore.argument_type<%.*s>", n, rest.p);
        if (model)
            buf_printf(&s->out, ", ttir.name = \"%.*s\"", (int)rest.n - n - 1, model + 1);
        buf_addc(&s->out, '}');
    }
    return true;
}

static bool read_function(struct shorthand *s) {
    struct str name = until(s, " \t;");
    bool good = name.n || fail(s, name, "a function needs a name");
    end_function(s);
    s->nvalues = 0;
    buf_printf(&s->out, "func.func @%.*s(", (int)name.n, name.p);
    for (skip_blanks(s); good && !at_end(s); skip_blanks(s))
        good = read_argument(s, s->nvalues == 0);
    buf_addc(&s->out, ')');
    s->head_end = s->out.n;
    buf_add(&s->out, STR(" {"));
    return good;
}

/* The head of a function says what types it returns. */
static void complete_head(struct shorthand *s, const struct short_op *op) {
    struct buf types = {0};
    struct str body = arena_str(s->arena, (struct str){s->out.p + s->head_end, s->out.n - s->head_end});
    print_types(&types, op->operand_types, op->noperands, true);
    s->out.n = s->head_end;
    buf_add(&s->out, STR(" -> "));
    buf_add(&s->out, buf_str(&types));
    s->head_end = s->out.n;
    buf_add(&s->out, body);
    buf_free(&types);
}

static bool print_return(struct shorthand *s, const struct short_op *op) {
    if (s->head_end && op->noperands)
        complete_head(s, op);
    buf_add(&s->out, STR("return "));
    print_operands(&s->out, op);
    buf_add(&s->out, op->noperands ? STR(" : ") : STR(""));
    print_types(&s->out, op->operand_types, op->noperands, false);
    return true;
}

/* "ttnn.add" as it stands, "add" as the dialect spells it. */
static bool name_op(struct shorthand *s, struct short_op *op, struct str word) {
    op->kind = op_kind_of_spelling(word);
    op->word = op->spelling = word;
    if (memchr(word.p, '.', word.n))
        return true;
    struct str prefix = arena_printf(s->arena, "%s.", s->dialect);
    op->kind = op_kind_of_name(word);
    for (const char *p = op_table[op->kind].spellings; p && *p; p = strchr(p, ' ')) {
        p += *p == ' ';
        op->spelling = (struct str){p, strcspn(p, " ")};
        if (str_starts(op->spelling, prefix))
            return true;
    }
    const char *near = op->kind == K_UNKNOWN ? op_nearest_name(word) : NULL;
    return fail(s, word,
                !near ? "the dialect has no op of this name"
                      : arena_printf(s->arena, "the dialect has no op of this name (did you mean %s?)", near).p);
}

/* clamp and pow print operands that are not given as attributes under a name of their own: clamp_scalar. */
static void name_scalar_op(const struct shorthand *s, struct short_op *op) {
    bool neutral = op->kind != K_UNKNOWN && str_is(op->word, op_table[op->kind].name);
    struct str want = arena_printf(s->arena, "%s.%.*s_scalar", s->dialect, (int)op->word.n, op->word.p);
    if (neutral && op->noperands == 1 && strchr(op_table[op->kind].roles, '=') && op_kind_of_spelling(want) == op->kind)
        op->spelling = want;
}

static bool read_result_types(struct shorthand *s, struct short_op *op) {
    do {
        if (op->ntypes == MAX_OPERANDS)
            return fail(s, (struct str){0}, "too many results");
        op->types[op->ntypes++] = type_text(s, until(s, " \t,;@"));
    } while (take(s, ","));
    return true;
}

/* Names of the results, "a, b" or "s:3", to their printed form; `names` in pairs with how many results each is. */
static bool define_results(struct shorthand *s, struct short_op *op, struct str results) {
    struct str *types = arena_alloc(s->arena, (op->ntypes + (size_t)1) * sizeof *types);
    memcpy(types, op->types, op->ntypes * sizeof *types);
    struct buf b = {0};
    uint32_t at = 0;
    bool good = true;
    while (results.n && good) {
        const char *comma = memchr(results.p, ',', results.n);
        struct str one = {results.p, comma ? (size_t)(comma - results.p) : results.n};
        results = comma ? (struct str){comma + 1, results.n - one.n - 1} : STR("");
        one = str_trim(one);
        const char *colon = memchr(one.p, ':', one.n);
        struct str name = {one.p, colon ? (size_t)(colon - one.p) : one.n};
        uint32_t n = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 1;
        buf_printf(&b, "%s%%%.*s", b.n ? ", " : "", (int)one.n, one.p);
        good = n <= op->ntypes - at ? define(s, name, types + at, n) : fail(s, one, "each result needs a type");
        at += n;
    }
    if (good && b.n && at < op->ntypes)
        good = fail(s, op->word, "each type needs a result");
    op->results = arena_str(s->arena, buf_str(&b));
    buf_free(&b);
    return good;
}

/* The names before '=', if this line has any. */
static struct str read_results(struct shorthand *s) {
    size_t before = s->at;
    struct str names = until(s, "=;{");
    if (take(s, "="))
        return names;
    s->at = before;
    return STR("");
}

static bool read_line(struct shorthand *s) {
    struct short_op op = {0};
    struct str results = read_results(s), word = until(s, " \t;"), location = {0};
    bool is_return = str_is(word, "return");
    if (str_is(word, "func"))
        return read_function(s);
    if (!is_return && !name_op(s, &op, word))
        return false;
    for (skip_blanks(s); !at_end(s) && !strchr("{@", s->text.p[s->at]) && !take(s, "->"); skip_blanks(s))
        if (!add_operand(s, &op))
            return false;
    bool arrow = s->at >= 2 && memcmp(s->text.p + s->at - 2, "->", 2) == 0;
    if (!arrow && take(s, "{") && !read_attributes(s, &op))
        return false;
    if ((arrow || take(s, "->")) && !read_result_types(s, &op))
        return false;
    if (take(s, "@"))
        location = word_here(s);
    skip_blanks(s);
    if (!at_end(s))
        return fail(s, until(s, " \t;"), "not understood");
    if (is_return)
        return print_return(s, &op);
    name_scalar_op(s, &op);
    if (results.n && op.ntypes == 0 && infer_type(s, &op, &op.types[0]))
        op.ntypes = 1;
    return s->error->message.n == 0 && define_results(s, &op, results) && print_op(s, &op, location);
}

bool shorthand_is_mlir(struct str text) {
    text = str_trim(text);
    return str_starts(text, STR("%")) || str_starts(text, STR("\"")) || str_find(text, STR("func.func")) != NULL;
}

bool shorthand_expand(struct str text, const char *dialect, const char *element, struct arena *a, struct str *out,
                      struct shorthand_error *error) {
    struct shorthand *s = arena_alloc(a, sizeof *s);
    *s = (struct shorthand){.text = text, .dialect = dialect, .element = element, .arena = a, .error = error};
    bool good = true;
    error->message = STR("");
    while (good && s->at < text.n) {
        skip_blanks(s);
        if (s->at < text.n && !at_end(s))
            good = read_line(s);
        if (good && s->at < text.n && text.p[s->at] == '#')
            s->at += strcspn(text.p + s->at, "\n");
        for (; s->skipped_lines > 0; s->skipped_lines--)
            buf_addc(&s->out, '\n');
        if (good && s->at < text.n)
            buf_addc(&s->out, text.p[s->at++] == ';' ? ' ' : '\n');
    }
    if (s->head_end && s->out.p[s->out.n - 1] != '\n')
        buf_addc(&s->out, '\n');
    end_function(s);
    *out = arena_str(a, buf_str(&s->out));
    buf_free(&s->out);
    return good;
}
