/* A scanner over the text that prints each op as soon as it is read. Values are known by name with the text of their
 * types. */
#include "patterns/library/shorthand.h"
#include "patterns/library/shorthand_op.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 1024 };

struct short_value {
    struct str name;
    const struct str *types; /* of its results: of "s:3" three */
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

static struct str type_text(const struct shorthand *s, struct str t) {
    return short_type(s->arena, s->element, t);
}

static struct str word_here(struct shorthand *s) {
    struct str word = {s->text.p + s->at, 0};
    while (s->at < s->text.n && !strchr(" \t\n;", s->text.p[s->at]))
        s->at++, word.n++;
    return word;
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

static bool print_op(struct shorthand *s, struct short_op *op, struct str location);

/* The op that makes a literal stands before the op that uses it, on the same line. */
static bool add_literal(struct shorthand *s, struct short_op *op, struct str number, struct str type) {
    struct short_op full = {.nattrs = 1, .ntypes = 1};
    struct str name = arena_printf(s->arena, "lit%u", s->nliterals++);
    full.spelling = arena_printf(s->arena, "%s.full", s->dialect);
    full.kind = op_kind_of_spelling(full.spelling);
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

/* A literal without a type has one element, with as many dimensions as the first tensor beside it and of its element
 * type, but for the condition of a `where`. */
static struct str literal_type(struct shorthand *s, const struct short_op *op) {
    struct short_shape shape = {.rank = 1, .dims = {1}, .element = str_of(s->element)};
    bool found = false;
    for (uint32_t i = 0; i < op->noperands && !found; i++) {
        struct short_shape one = short_shape_of(op->operand_types[i]);
        if (!one.known)
            continue;
        found = i > 0 || !op_is(op->kind, SELECTS);
        if (!found)
            one.element = shape.element;
        shape = one;
    }
    for (uint32_t d = 0; d < shape.rank; d++)
        shape.dims[d] = 1;
    return short_shape_type(s->arena, &shape);
}

static bool add_operand(struct shorthand *s, struct short_op *op) {
    struct str word = until(s, " \t:;,"), type = {0};
    if (op->noperands == SHORT_OPERANDS || !word.n)
        return fail(s, word, word.n ? "too many operands" : "an operand is missing");
    if (take(s, ":"))
        type = type_text(s, until(s, " \t;"));
    if (short_is_number(word))
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

/* Attributes may go on in the next line. */
static void skip_line_ends(struct shorthand *s) {
    for (skip_blanks(s); s->at < s->text.n && s->text.p[s->at] == '\n'; skip_blanks(s)) {
        s->at++;
        s->skipped_lines++;
    }
}

static bool read_attributes(struct shorthand *s, struct short_op *op) {
    for (skip_line_ends(s); !take(s, "}"); skip_line_ends(s)) {
        if (op->nattrs == SHORT_ATTRS || at_end(s))
            return fail(s, (struct str){0}, op->nattrs == SHORT_ATTRS ? "too many attributes" : "a '}' is missing");
        struct str key = until(s, "=,}"), value = {0};
        if (take(s, "=")) {
            skip_line_ends(s);
            value = until(s, ",}");
        }
        if (!value.n)
            return fail(s, key, "an attribute has no value");
        op->keys[op->nattrs] = key;
        op->values[op->nattrs++] = value;
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
    struct short_fault fault = short_print_attributes(b, s->arena, op);
    if (fault.what)
        return fail(s, fault.at, fault.what);
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
    op->spelling = op_spelling(op->kind, prefix.p, "");
    if (op->spelling.n)
        return true;
    op->spelling = arena_printf(s->arena, "%s%.*s", prefix.p, (int)word.n, word.p); /* of several, as slice_static */
    enum op_kind kind = op_kind_of_spelling(op->spelling);
    if (kind != NO_OPERATOR) {
        op->kind = kind;
        return true;
    }
    const char *near = op->kind == NO_OPERATOR ? op_nearest_name(word) : NULL;
    return fail(s, word,
                !near ? "the dialect has no op of this name"
                      : arena_printf(s->arena, "the dialect has no op of this name (did you mean %s?)", near).p);
}

/* clamp and pow print operands that are not given as attributes under a name of their own: clamp_scalar. */
static void name_scalar_op(const struct shorthand *s, struct short_op *op) {
    bool neutral = op->kind != NO_OPERATOR && str_is(op->word, op_table[op->kind].name);
    struct str want = arena_printf(s->arena, "%s.%.*s_scalar", s->dialect, (int)op->word.n, op->word.p);
    if (neutral && op->noperands == 1 && strchr(op_table[op->kind].roles, '=') && op_kind_of_spelling(want) == op->kind)
        op->spelling = want;
}

static bool read_result_types(struct shorthand *s, struct short_op *op) {
    do {
        if (op->ntypes == SHORT_OPERANDS)
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
        unsigned long n = colon ? strtoul(colon + 1, NULL, 10) : 1;
        buf_printf(&b, "%s%%%.*s", b.n ? ", " : "", (int)one.n, one.p);
        good =
            n <= op->ntypes - at ? define(s, name, types + at, (uint32_t)n) : fail(s, one, "each result needs a type");
        at += good ? (uint32_t)n : 0;
    }
    if (good && b.n && at < op->ntypes)
        good = fail(s, op->word, "each type needs a result");
    op->results = buf_take(&b, s->arena);
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
    if (results.n && op.ntypes == 0) {
        struct short_fault fault = short_infer(s->arena, &op, &op.types[0]);
        if (fault.what)
            return fail(s, fault.at, fault.what);
        op.ntypes = 1;
    }
    return define_results(s, &op, results) && print_op(s, &op, location);
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
    *out = buf_take(&s->out, a);
    return good;
}
