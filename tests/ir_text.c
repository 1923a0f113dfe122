#include "ir_text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ir_read_bad(struct ir *ir, const char *text) {
    memset(ir, 0, sizeof *ir);
    ir->text = strdup(text);
    struct str s = str_of(ir->text);
    ir->diags.arena = &ir->arena;
    ir->source = (struct source){.path = "test", .data = s.p, .size = s.n, .line_cache_line = 1};
    ir->block = (struct log_block){.text = s};
    mlir_parse(&ir->m, &ir->source, &ir->block, &ir->diags);
    graph_build(&ir->g, &ir->m);
}

void ir_read(struct ir *ir, const char *text) {
    ir_read_bad(ir, text);
    cr_assert_eq(ir->diags.n, 0, "line %d: %s in\n%s", ir->diags.n ? (int)ir->diags.items[0].line : 0,
                 ir->diags.n ? ir->diags.items[0].message : "", text);
    cr_assert_eq(ir->m.bad_ops, 0, "%s", text);
    cr_assert_eq(ir->m.undefined_values, 0, "undefined value in\n%s", text);
}

void ir_main(struct ir *ir, const char *args, const char *body) {
    struct buf b = {0};
    buf_printf(&b, "func.func @main(%s) {\n%s\n}\n%c", args, body, '\0');
    ir_read(ir, b.p);
    buf_free(&b);
}

/* ---- shorthand ---- */

enum { MAX_SHORT = 512 };

struct shorthand {
    struct buf out;
    struct str names[MAX_SHORT], types[MAX_SHORT];
    uint32_t n;
    struct str rest;
};

/* Next word up to a blank or one of `stops`; empty at a line end. */
static struct str word(struct shorthand *s, const char *stops) {
    while (s->rest.n && *s->rest.p == ' ')
        s->rest.p++, s->rest.n--;
    size_t n = 0;
    while (n < s->rest.n && !strchr(" ;\n", s->rest.p[n]) && !strchr(stops, s->rest.p[n]))
        n++;
    struct str w = {s->rest.p, n};
    s->rest.p += n;
    s->rest.n -= n;
    return w;
}

static bool next_char(struct shorthand *s, char c) {
    while (s->rest.n && *s->rest.p == ' ')
        s->rest.p++, s->rest.n--;
    if (!s->rest.n || *s->rest.p != c)
        return false;
    s->rest.p++;
    s->rest.n--;
    return true;
}

static void add_type(struct shorthand *s, struct str t) {
    const char *star = t.n ? memchr(t.p, '*', t.n) : NULL; /* "2x6*2": two results of this type */
    if (star) {
        struct str one = {t.p, (size_t)(star - t.p)};
        for (int i = atoi(star + 1); i-- > 0;) {
            add_type(s, one);
            buf_printf(&s->out, i ? ", " : "");
        }
        return;
    }
    bool bare = t.n && t.p[t.n - 1] >= '0' && t.p[t.n - 1] <= '9' && !memchr(t.p, 'f', t.n) && !memchr(t.p, 'i', t.n);
    buf_printf(&s->out, "tensor<%.*s%s>", (int)t.n, t.p, bare ? "xf32" : "");
}

static struct str type_named(const struct shorthand *s, struct str name) {
    const char *hash = memchr(name.p, '#', name.n);
    if (hash) {
        struct str all = type_named(s, (struct str){name.p, (size_t)(hash - name.p)});
        const char *star = memchr(all.p, '*', all.n);
        return (struct str){all.p, star ? (size_t)(star - all.p) : all.n};
    }
    for (uint32_t i = s->n; i-- > 0;)
        if (str_eq(s->names[i], name))
            return s->types[i];
    cr_assert_fail("%.*s is not defined", (int)name.n, name.p);
    return STR("");
}

static void define(struct shorthand *s, struct str name, struct str type) {
    cr_assert_lt(s->n, MAX_SHORT);
    s->names[s->n] = name;
    s->types[s->n++] = type;
}

static void short_args(struct shorthand *s, const char *args) {
    s->rest = str_of(args);
    for (struct str name; (name = word(s, ":")).n;) {
        next_char(s, ':');
        struct str type = word(s, "!"), kind = {0}, model = {0};
        if (next_char(s, '!'))
            kind = word(s, "!");
        if (next_char(s, '!'))
            model = word(s, "");
        buf_printf(&s->out, "%s%%%.*s: ", s->n ? ", " : "", (int)name.n, name.p);
        add_type(s, type);
        define(s, name, type);
        if (kind.n)
            buf_printf(&s->out, " {ttcore.argument_type = #ttcore.argument_type<%.*s>", (int)kind.n, kind.p);
        if (model.n)
            buf_printf(&s->out, ", ttir.name = \"%.*s\"", (int)model.n, model.p);
        if (kind.n)
            buf_addc(&s->out, '}');
    }
}

static void add_operands(struct shorthand *s, const struct str *operands, uint32_t n, bool types) {
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(&s->out, i ? ", " : "");
        if (types)
            add_type(s, type_named(s, operands[i]));
        else
            buf_printf(&s->out, "%%%.*s", (int)operands[i].n, operands[i].p);
    }
}

/* "sum_mean>sum" wraps: loc("sum_mean"("sum")) */
static void add_location(struct shorthand *s, struct str loc) {
    const char *inner = loc.n ? memchr(loc.p, '>', loc.n) : NULL;
    int n = inner ? (int)(inner - loc.p) : (int)loc.n;
    if (loc.n)
        buf_printf(&s->out, " loc(\"%.*s\"", n, loc.p);
    if (inner)
        buf_printf(&s->out, "(\"%.*s\")", (int)loc.n - n - 1, inner + 1);
    if (loc.n)
        buf_addc(&s->out, ')');
}

static void short_op(struct shorthand *s, struct str op, struct str result) {
    struct str operands[8], attrs = {0}, type = {0}, loc = {0};
    uint32_t n = 0;
    for (struct str w; n < 8 && (w = word(s, "{@")).n && !str_is(w, "->");)
        operands[n++] = w;
    if (next_char(s, '{')) {
        const char *close = memchr(s->rest.p, '}', s->rest.n);
        cr_assert_not_null(close);
        attrs = (struct str){s->rest.p, (size_t)(close - s->rest.p)};
        s->rest.n -= attrs.n + 1;
        s->rest.p += attrs.n + 1;
        cr_assert(!result.n || str_is(word(s, ""), "->"));
    }
    if (result.n)
        type = word(s, "@");
    if (next_char(s, '@'))
        loc = word(s, "");
    bool ends = str_is(op, "return");
    const char *star = type.n ? memchr(type.p, '*', type.n) : NULL;
    char count[8] = "";
    if (star)
        snprintf(count, sizeof count, ":%.*s", 1, star + 1);
    buf_printf(&s->out, "  ");
    if (result.n)
        buf_printf(&s->out, "%%%.*s%s = ", (int)result.n, result.p, count);
    buf_printf(&s->out, ends ? "return " : "\"%.*s\"(", (int)op.n, op.p);
    add_operands(s, operands, n, false);
    if (!ends)
        buf_printf(&s->out, ")%s%.*s%s : (", attrs.n ? " <{" : "", (int)attrs.n, attrs.p ? attrs.p : "",
                   attrs.n ? "}>" : "");
    else if (n)
        buf_printf(&s->out, " : ");
    add_operands(s, operands, n, true);
    if (!ends)
        buf_printf(&s->out, ") -> ");
    if (result.n) {
        buf_printf(&s->out, star ? "(" : "");
        add_type(s, type);
        buf_printf(&s->out, star ? ")" : "");
        define(s, result, type);
    } else if (!ends) {
        buf_printf(&s->out, "()");
    }
    add_location(s, loc);
    buf_addc(&s->out, '\n');
}

static void short_ops(struct shorthand *s, const char *ops) {
    s->rest = str_of(ops);
    while (s->rest.n) {
        struct str first = word(s, "=");
        if (!first.n) {
            s->rest.p++;
            s->rest.n--;
        } else if (next_char(s, '=')) {
            short_op(s, word(s, "{@"), first);
        } else {
            short_op(s, first, (struct str){0});
        }
    }
}

char *ir_long(const char *name, const char *args, const char *ops) {
    struct shorthand *s = calloc(1, sizeof *s);
    buf_printf(&s->out, "func.func @%s(", name);
    short_args(s, args);
    buf_printf(&s->out, ") {\n");
    short_ops(s, ops);
    buf_printf(&s->out, "}\n%c", '\0');
    char *text = s->out.p;
    free(s);
    return text;
}

void ir_short(struct ir *ir, const char *args, const char *ops) {
    char *text = ir_long("main", args, ops);
    ir_read(ir, text);
    free(text);
}

void ir_free(struct ir *ir) {
    graph_free(&ir->g);
    mlir_free(&ir->m);
    diags_free(&ir->diags);
    arena_free(&ir->arena);
    free(ir->text);
}

uint32_t ir_value(const struct ir *ir, const char *name) {
    struct str n = str_of(name);
    uint32_t result = 0;
    const char *hash = strchr(name, '#');
    if (hash) {
        n.n = (size_t)(hash - name);
        result = (uint32_t)atoi(hash + 1);
    }
    for (uint32_t v = 0; v < ir->m.nvalues; v++)
        if (str_eq(mlir_span(&ir->m, ir->m.values[v].name), n) && (!hash || ir->m.values[v].index == result))
            return v;
    cr_assert_fail("no value %s in\n%s", name, ir->text);
    return NONE;
}

uint32_t ir_op(const struct ir *ir, const char *result) {
    uint32_t op = ir->m.values[ir_value(ir, result)].def;
    cr_assert_neq(op, NONE, "%s is no result", result);
    return op;
}

uint32_t ir_op_named(const struct ir *ir, const char *name, uint32_t n) {
    for (uint32_t op = 0; op < ir->m.nops; op++)
        if (str_is(mlir_op_name(&ir->m, op), name) && n-- == 0)
            return op;
    cr_assert_fail("no op %s in\n%s", name, ir->text);
    return NONE;
}

uint32_t ir_func(const struct ir *ir, const char *name) {
    for (uint32_t f = 0; f < ir->m.nfuncs; f++)
        if (str_is(ir->m.names[ir->m.funcs[f].name], name))
            return f;
    cr_assert_fail("no function %s in\n%s", name, ir->text);
    return NONE;
}

enum op_kind ir_kind(const struct ir *ir, const char *result) {
    return (enum op_kind)ir->g.kind[ir_op(ir, result)];
}
