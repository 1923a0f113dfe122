/* Changes IR by its structure: ops, operands, segment sizes, attributes, types and numbers, new ops of the operator
 * table whose results are used; beside the bytes, which libFuzzer changes. What is made may mean nothing. */
#include "ir/graph/graph.h"

#include <stdlib.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

enum { MAX_ITEMS = 16 };

struct change {
    uint64_t random;
    struct str text; /* all of it */
    struct arena arena;
    struct buf out;
};

static uint32_t below(struct change *c, uint32_t n) {
    c->random = c->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((c->random >> 33) % n);
}

/* ---- what stands in the text ---- */

static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
           c == '$' || c == '-';
}

static size_t word(struct str s, size_t at) {
    size_t n = at;
    while (n < s.n && is_word(s.p[n]))
        n++;
    return n - at;
}

static bool stands(struct str s, const char *what) {
    return str_starts(s, str_of(what));
}

static struct str rest(struct str s, size_t at) {
    return (struct str){s.p + at, s.n - at};
}

/* The length of what begins at the first byte, or 0. */
typedef size_t kind(struct str s, char before);

static size_t op_at(struct str s, char before) {
    bool begins = !is_word(before) && (stands(s, "ttir.") || stands(s, "ttnn.") || stands(s, "stablehlo."));
    return begins ? word(s, 0) : 0;
}

static size_t value_at(struct str s, char before) {
    (void)before;
    return s.n > 1 && s.p[0] == '%' ? 1 + word(s, 1) : 0;
}

static size_t number_at(struct str s, char before) {
    size_t n = 0;
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
        n++;
    return is_word(before) && before != 'x' && before != '-' ? 0 : n;
}

/* To the bracket that closes the first one; 0: none does. */
static size_t bracketed(struct str s) {
    size_t depth = 0;
    for (size_t i = 0; i < s.n && s.p[i] != '\n'; i++) {
        if (memchr("([{<", s.p[i], 4))
            depth++;
        else if (memchr(")]}", s.p[i], 3) || (s.p[i] == '>' && s.p[i - 1] != '-'))
            depth -= depth > 0;
        if (depth == 0)
            return i + 1;
    }
    return 0;
}

static size_t type_at(struct str s, char before) {
    size_t n = stands(s, "tensor<") && !is_word(before) ? bracketed(rest(s, 6)) : 0;
    return n ? n + 6 : 0;
}

static size_t attribute_at(struct str s, char before) {
    size_t n = before == '{' || before == ' ' ? word(s, 0) : 0, to = n + 3;
    if (n == 0 || !stands(rest(s, n), " = ") || s.p[0] == '%')
        return 0;
    while (to < s.n && !memchr(",}\n", s.p[to], 3)) {
        size_t inner = memchr("([{<", s.p[to], 4) ? bracketed(rest(s, to)) : 0;
        to += inner ? inner : 1;
    }
    return to;
}

static size_t segments_at(struct str s, char before) {
    return stands(s, "operandSegmentSizes") ? attribute_at(s, before) : 0;
}

/* One of all of a kind; empty: there is none. */
static struct str any(struct change *c, struct str in, kind *of) {
    struct str found = {in.p, 0};
    for (size_t at = 0, n, seen = 0; at < in.n; at += n ? n : 1) {
        n = of(rest(in, at), at ? in.p[at - 1] : '\n');
        if (n && below(c, (uint32_t)++seen) == 0)
            found = (struct str){in.p + at, n};
    }
    return found;
}

static struct str line_from(struct change *c, struct str at) {
    size_t from = (size_t)(at.p - c->text.p);
    const char *end = memchr(at.p, '\n', c->text.n - from);
    return (struct str){at.p, end ? (size_t)(end - at.p) : c->text.n - from};
}

/* What is in the brackets that `open` ends with, or nothing of the line. */
static struct str inside(struct str line, const char *open) {
    const char *p = str_find(line, str_of(open));
    size_t at = p ? (size_t)(p - line.p) + strlen(open) - 1 : 0, n = p ? bracketed(rest(line, at)) : 0;
    return n ? (struct str){line.p + at + 1, n - 2} : (struct str){line.p, 0};
}

/* What stands between commas. */
static uint32_t items_of(struct str list, struct str *items) {
    uint32_t n = 0;
    for (size_t from = 0, at = 0; at <= list.n && list.n && n < MAX_ITEMS; at++) {
        size_t inner = at < list.n && memchr("([{<", list.p[at], 4) ? bracketed(rest(list, at)) : 0;
        at += inner ? inner - 1 : 0;
        if (at == list.n || list.p[at] == ',') {
            items[n++] = str_trim((struct str){list.p + from, at - from});
            from = at + 1;
        }
    }
    return n;
}

/* ---- what is put there ---- */

static void replace(struct change *c, struct str at, struct str with) {
    size_t from = (size_t)(at.p - c->text.p), to = from + at.n;
    c->out.n = 0;
    buf_add(&c->out, (struct str){c->text.p, from});
    buf_add(&c->out, with);
    buf_add(&c->out, rest(c->text, to < c->text.n ? to : c->text.n)); /* a change before this one may have cut it */
    c->text = arena_str(&c->arena, buf_str(&c->out));
}

/* Wherever it stands from here on; names whole. */
static void replace_all(struct change *c, size_t from, struct str old, struct str with) {
    const char *p;
    old = arena_str(&c->arena, old);
    while (from < c->text.n && (p = str_find(rest(c->text, from), old)) != NULL) {
        from = (size_t)(p - c->text.p);
        bool whole = old.p[0] != '%' || from + old.n == c->text.n || !is_word(c->text.p[from + old.n]);
        if (whole)
            replace(c, (struct str){p, old.n}, with);
        size_t n = whole ? with.n : old.n;
        from += n > 1 ? n - 1 : 1; /* the x of x96x96x belongs to both */
    }
}

static const char *number(struct change *c) {
    static const char *const odd[] = {"-1",
                                      "0",
                                      "31",
                                      "32",
                                      "33",
                                      "65536",
                                      "2147483647",
                                      "4294967295",
                                      "4294967296",
                                      "1152921504606846976",
                                      "-2147483648",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "18446744073709551615"};
    if (below(c, 3))
        return arena_printf(&c->arena, "%u", below(c, 9)).p;
    return odd[below(c, sizeof odd / sizeof *odd)];
}

static struct str value_of_type(struct change *c, struct str type) {
    struct buf b = {0};
    bool list = type.n && type.p[type.n - 1] == 's', brackets = type.n && type.p[0] == '[';
    if (str_starts(type, STR("f32")))
        buf_printf(&b, "%s.0e%s : f32", number(c), below(c, 2) ? "0" : "-5");
    else if (str_starts(type, STR("word")))
        buf_add(&b, below(c, 2) ? STR("true") : STR("false"));
    else if (str_starts(type, STR("shape")))
        buf_printf(&b, "#ttnn.shape<%sx%s>", number(c), number(c));
    else if (list || brackets) {
        buf_add(&b, brackets ? STR("[") : STR("array<i32: "));
        for (uint32_t i = 0, n = below(c, 5); i <= n; i++)
            buf_printf(&b, "%s%s%s", i ? ", " : "", number(c), brackets ? " : i32" : "");
        buf_add(&b, brackets ? STR("]") : STR(">"));
    } else
        buf_printf(&b, "%s : %.*s", number(c), type.n ? (int)type.n : 3, type.n ? type.p : "i32");
    struct str s = arena_str(&c->arena, buf_str(&b));
    buf_free(&b);
    return s;
}

/* Words of a column of the table, between blanks. */
static struct str word_of(struct change *c, const char *column) {
    struct str s = str_of(column ? column : ""), found = {s.p, 0};
    for (size_t at = 0, seen = 0; at < s.n;) {
        const char *blank = memchr(s.p + at, ' ', s.n - at);
        size_t n = blank ? (size_t)(blank - s.p) - at : s.n - at;
        if (n && below(c, (uint32_t)++seen) == 0)
            found = (struct str){s.p + at, n};
        at += n + 1;
    }
    return found;
}

/* "key = value" for an attribute of the operator, mostly of its own type. */
static struct str attribute(struct change *c, enum op_kind k) {
    static const char *const types[] = {"i32", "[i32]", "i64s", "f32", "word", "shape"};
    struct str entry = word_of(c, op_table[k].attributes), type = {0};
    size_t key = 0;
    while (key < entry.n && entry.p[key] != ':' && entry.p[key] != '=')
        key++;
    if (key < entry.n && below(c, 8)) {
        type = rest(entry, key + 1);
        for (size_t i = 0; i < type.n; i++)
            if (memchr("/?=", type.p[i], 3))
                type.n = i;
    } else
        type = str_of(types[below(c, sizeof types / sizeof *types)]);
    struct str value = value_of_type(c, type);
    if (key == 0)
        return arena_printf(&c->arena, "dim = %.*s", (int)value.n, value.p);
    return arena_printf(&c->arena, "%.*s = %.*s", (int)key, entry.p, (int)value.n, value.p);
}

static struct str sizes(struct change *c, uint32_t n, uint32_t *sum) {
    struct buf b = {0};
    buf_add(&b, STR("operandSegmentSizes = array<i32: "));
    for (uint32_t i = *sum = 0; i < n; i++) {
        uint32_t size = below(c, 16) == 0 ? 2 : below(c, 2);
        buf_printf(&b, "%s%u", i ? ", " : "", size);
        *sum += size;
    }
    buf_add(&b, STR(">"));
    struct str s = arena_str(&c->arena, buf_str(&b));
    buf_free(&b);
    return s;
}

static uint32_t nroles(enum op_kind k) {
    uint32_t n = op_table[k].roles[0] != '\0';
    for (const char *p = op_table[k].roles; *p; p++)
        n += *p == ',';
    return n;
}

/* "spelling"(operands) <{attributes}> : (types) -> type; operands are `value` and others of the text. */
static struct str generic_op(struct change *c, enum op_kind k, struct str spelling, struct str value, struct str type) {
    struct buf b = {0}, types = {0};
    uint32_t n = nroles(k), nattributes = below(c, 3);
    struct str segments = {0};
    if (strchr(op_table[k].roles, '?') && below(c, 8))
        segments = sizes(c, n, &n);
    buf_printf(&b, "\"%.*s\"(", (int)spelling.n, spelling.p);
    for (uint32_t i = 0; i < n; i++) {
        struct str other = below(c, 3) ? value : any(c, c->text, value_at);
        buf_printf(&b, "%s%.*s", i ? ", " : "", (int)other.n, other.p);
        buf_printf(&types, "%s%.*s", i ? ", " : "", (int)type.n, type.p);
    }
    buf_printf(&b, ") <{%.*s", (int)segments.n, segments.n ? segments.p : "");
    for (uint32_t i = 0; i < nattributes; i++) {
        struct str a = attribute(c, k);
        buf_printf(&b, "%s%.*s", i || segments.n ? ", " : "", (int)a.n, a.p);
    }
    buf_printf(&b, "}> : (%.*s) -> %.*s", (int)types.n, types.n ? types.p : "", (int)type.n, type.p);
    struct str s = arena_str(&c->arena, buf_str(&b));
    buf_free(&b);
    buf_free(&types);
    return s;
}

/* ---- one change each ---- */

/* Half of the time one with operands that may be absent. */
static enum op_kind any_op(struct change *c, struct str *spelling) {
    enum op_kind k = (enum op_kind)(1 + below(c, OPERATORS - 1));
    for (uint32_t i = below(c, 2) * OPERATORS; i > 0 && !strchr(op_table[k].roles, '?'); i--)
        k = (enum op_kind)(1 + below(c, OPERATORS - 1));
    *spelling = word_of(c, op_table[k].spellings);
    return k;
}

static void another_op(struct change *c) {
    struct str at = any(c, c->text, op_at), spelling;
    any_op(c, &spelling);
    if (at.n && spelling.n)
        replace(c, at, spelling);
}

/* Of one op: all that is between its name and its result's type, with as many operands as its segments say. */
static void another_signature(struct change *c) {
    struct str at = any(c, c->text, op_at), line = line_from(c, at), operands = inside(line, "(");
    enum op_kind k = at.n ? op_kind_of_spelling(at) : NO_OPERATOR;
    const char *arrow = str_find(line, STR("-> "));
    struct str type = arrow ? any(c, rest(line, (size_t)(arrow - line.p)), type_at) : (struct str){0};
    struct str value = any(c, operands, value_at);
    if (k == NO_OPERATOR || !value.n || !type.n || at.p == c->text.p || at.p[-1] != '"')
        return;
    struct str end = {at.p - 1, (size_t)(type.p + type.n - at.p) + 1};
    replace(c, end, generic_op(c, k, at, value, type));
}

/* The items with number `i` there so many times. */
static struct str joined(struct change *c, const struct str *items, uint32_t n, uint32_t i, uint32_t copies) {
    struct buf b = {0};
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t times = k != i ? 1 : copies; times > 0; times--)
            buf_printf(&b, "%s%.*s", b.n ? ", " : "", (int)items[k].n, items[k].p);
    struct str s = b.n ? arena_str(&c->arena, buf_str(&b)) : STR("");
    buf_free(&b);
    return s;
}

/* Drops, repeats or replaces an operand, mostly with its type; now and then there are more than any operator names. */
static void another_operand(struct change *c) {
    struct str at = any(c, c->text, op_at), line = line_from(c, at), items[MAX_ITEMS], types[MAX_ITEMS];
    struct str operands = inside(line, "("), signature = inside(line, ": (");
    uint32_t n = items_of(operands, items), ntypes = items_of(signature, types);
    if (n == 0)
        return;
    uint32_t i = below(c, n), how = below(c, 3), copies = how == 0 ? 0 : below(c, 4) ? 2 : 1 + below(c, 40);
    size_t from = (size_t)(operands.p - c->text.p);
    struct str with = how == 2 ? any(c, c->text, value_at) : joined(c, items, n, i, copies);
    if (how < 2 && ntypes == n && below(c, 4)) /* behind the operands: their place stays */
        replace(c, signature, joined(c, types, n, i, copies));
    if (how == 2)
        replace(c, items[i], with);
    else
        replace(c, (struct str){c->text.p + from, operands.n}, with);
}

static void another_attribute(struct change *c) {
    struct str at = any(c, c->text, op_at), line = line_from(c, at), old = any(c, line, attribute_at), spelling;
    enum op_kind k = at.n ? op_kind_of_spelling(at) : NO_OPERATOR;
    struct str with = attribute(c, k == NO_OPERATOR ? any_op(c, &spelling) : k), operands = inside(line, "(");
    if (old.n && below(c, 4))
        replace(c, old, below(c, 6) ? with : STR(""));
    else if (old.n)
        replace(c, (struct str){old.p, 0}, arena_printf(&c->arena, "%.*s, ", (int)with.n, with.p));
    else if (operands.n)
        replace(c, (struct str){operands.p + operands.n + 1, 0},
                arena_printf(&c->arena, " <{%.*s}>", (int)with.n, with.p));
}

/* Of operands that stay as they are: one may be missing then, or taken for another one. */
static void other_segments(struct change *c) {
    struct str at = any(c, c->text, segments_at), items[MAX_ITEMS];
    uint32_t n = items_of(inside(at, "<"), items);
    if (n > 0)
        replace(c, at, sizes(c, n, &n));
}

static void another_type(struct change *c) {
    static const char *const elements[] = {"f32", "bf16", "i32", "i1", "f64", "ui8", "si64", "!ttcore.tile<32x32, f32>",
                                           "q"};
    struct str at = any(c, c->text, type_at), with;
    struct buf b = {0};
    buf_add(&b, STR("tensor<"));
    for (uint32_t i = 0, n = below(c, 6); i < n; i++)
        buf_printf(&b, "%sx", below(c, 12) ? number(c) : "?");
    buf_printf(&b, "%s>", elements[below(c, sizeof elements / sizeof *elements)]);
    with = arena_str(&c->arena, buf_str(&b));
    buf_free(&b);
    if (at.n && below(c, 2))
        replace_all(c, 0, at, with);
    else if (at.n)
        replace(c, at, below(c, 2) ? with : arena_str(&c->arena, any(c, c->text, type_at)));
}

/* Of one tensor, or of all that have the same. */
static void another_extent(struct change *c) {
    struct str type = any(c, c->text, type_at), at = any(c, type, number_at);
    const char *n = number(c);
    if (!at.n)
        return;
    if (below(c, 2))
        replace(c, at, str_of(n));
    else
        for (const char *before = "<x"; *before; before++) /* `<96x`, then `x96x` */
            replace_all(c, 0, arena_printf(&c->arena, "%c%.*sx", *before, (int)at.n, at.p),
                        arena_printf(&c->arena, "%c%sx", *before, n));
}

static void another_number(struct change *c) {
    struct str at = any(c, c->text, number_at);
    if (at.n)
        replace(c, at, str_of(number(c)));
}

/* A line `%m = "op"(%x, ...)` behind the one that defines %x; what used %x mostly uses it. */
static void another_line(struct change *c) {
    struct str old = any(c, c->text, op_at), line = line_from(c, old), spelling, type;
    const char *from = old.p;
    while (from > c->text.p && from[-1] != '\n')
        from--;
    struct str value = any(c, (struct str){from, (size_t)(old.p - from)}, value_at);
    enum op_kind k = any_op(c, &spelling);
    type = any(c, line, type_at);
    if (!value.n || !type.n || !spelling.n)
        return;
    size_t after = (size_t)(line.p + line.n - c->text.p);
    struct str name = arena_printf(&c->arena, "%%m%u", below(c, 1000)), op = generic_op(c, k, spelling, value, type);
    struct str with = arena_printf(&c->arena, "\n    %s = %s", name.p, op.p);
    value = arena_str(&c->arena, value);
    replace(c, (struct str){c->text.p + after, 0}, with);
    if (below(c, 4))
        replace_all(c, after + with.n, value, name);
}

/* Drops a line, or puts it elsewhere too. */
static void another_order(struct change *c) {
    struct str a = any(c, c->text, op_at), b = any(c, c->text, op_at), line;
    while (a.p > c->text.p && a.p[-1] != '\n')
        a.p--;
    while (b.p > c->text.p && b.p[-1] != '\n')
        b.p--;
    line = line_from(c, a);
    if (line.n < c->text.n && below(c, 2))
        replace(c, line, STR(""));
    else if (a.n && b.n)
        replace(c, (struct str){b.p, 0}, arena_printf(&c->arena, "%.*s\n", (int)line.n, line.p));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    static void (*const changes[])(struct change *) = {
        another_op,   another_signature, another_signature, another_operand, another_attribute, another_attribute,
        another_type, another_extent,    another_number,    another_line,    another_order,     other_segments};
    struct change c = {.random = seed, .text = {(const char *)data, size}};
    if (below(&c, 3) == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    for (uint32_t n = 1 + below(&c, 3); n > 0; n--)
        changes[below(&c, sizeof changes / sizeof *changes)](&c);
    if (c.text.n > 0 && c.text.n <= max_size)
        memmove(data, c.text.p, size = c.text.n);
    arena_free(&c.arena);
    buf_free(&c.out);
    return size;
}
