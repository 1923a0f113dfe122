/* Aliases, and what MLIR prints behind a module. */
#include "ir/mlir/parse.h"

#include <string.h>

/* False when the number is larger than the text: a huge number in a small text must not allocate a huge table. */
static bool add_loc(struct ir_parser *p, uint32_t number, struct str value) {
    struct mlir_tables *t = p->m->tables;
    if (number >= (uint32_t)(p->end - p->begin))
        return false;
    uint32_t old = t->nlocs;
    if (number >= old) {
        t->locs = grow(t->locs, &t->nlocs, number + 1, sizeof *t->locs);
        memset(t->locs + old, 0, (t->nlocs - old) * sizeof *t->locs);
    }
    t->locs[number] = span_of(p, value.p, value.p + value.n);
    return true;
}

static void add_alias(struct ir_parser *p, struct str name, struct str value) {
    struct mlir_tables *t = p->m->tables;
    uint32_t number;
    struct str inner;
    if (loc_number(name, &number) && add_loc(p, number, value))
        return;
    bool bad = mlir_unresolved(p->m, value, &inner); /* before the alias itself is known */
    uint32_t id = sym_add(t, &t->alias_names, name);
    t->aliases = grow(t->aliases, &t->aliases_cap, id + 1, sizeof *t->aliases);
    t->aliases[id] = (struct alias){value, bad};
}

/* To the end of its line, or of a bracket that runs over lines. NULL: brackets do not match. */
static const char *alias_end(const char *p, const char *end) {
    const char *stop = line_end(p, end);
    if (stop - p > 4 && memcmp(p, "loc(", 4) == 0 && stop[-1] == ')') /* printed on a line of its own */
        return stop;
    while (p && p < end && *p != '\n' && !(*p == '/' && p + 1 < end && p[1] == '/'))
        p = *p == '"' ? scan_string(p, end) : strchr("([{<", *p) && *p ? scan_balanced(p, end) : p + 1;
    return p;
}

/* Locations of --mlir-pretty-debuginfo, which MLIR does not read either: "[unknown]" or "f.py:1:2" behind something on
 * its line, "#loc3 = f.py:1:2". */
bool is_pretty_place(const struct ir_parser *p, const char *from) {
    struct str line = str_trim((struct str){from, (size_t)(line_end(from, p->end) - from)});
    size_t n = line.n, colons = 0;
    while (from > p->begin && (from[-1] == ' ' || from[-1] == '\t'))
        from--;
    for (; n > 0 && (scan_is(line.p[n - 1], CH_DIGIT) || line.p[n - 1] == ':'); n--)
        colons += line.p[n - 1] == ':';
    return from > p->begin && from[-1] != '\n' &&
           (str_is(line, "[unknown]") || (colons == 2 && n > 0 && line.p[n - 1] != '"'));
}

bool refuse_pretty(struct ir_parser *p, const char *where) {
    p->m->bad_ops++;
    p->truncated = true;
    parse_say(p, SEV_ERROR, where,
              "locations printed by --mlir-pretty-debuginfo cannot be read back: print with --mlir-print-debuginfo");
    p->p = p->end;
    return true;
}

bool parse_alias(struct ir_parser *p) {
    const char *from = p->p, *q = scan_name(from + 1, p->end);
    struct str name = {from, (size_t)(q - from)};
    uint32_t number;
    p->p = q;
    if (name.n < 2 || !accept(p, '='))
        return p->p = from, parse_fail(p, from, "expected '=' after the name of an alias");
    q = scan_space(p->p, p->end);
    const char *stop = alias_end(q, p->end);
    if (!stop)
        return p->p = from, parse_fail(p, q, "brackets of an alias definition do not match");
    struct str value = str_trim((struct str){q, (size_t)(stop - q)});
    if (!str_starts(value, STR("loc(")) && (str_is(name, "#loc") || loc_number(name, &number)))
        return refuse_pretty(p, from);
    add_alias(p, name, value);
    p->p = stop;
    return true;
}

/* "{-# dialect_resources: { builtin: { name: "0x...", ... } } #-}": each name is an alias of what is in quotes. */
bool parse_resources(struct ir_parser *p) {
    if (!accept_text(p, "{-#"))
        return parse_fail(p, p->p, "expected an operation");
    const char *q = p->p;
    struct str name = STR("");
    while (q && p->end - q >= 3 && memcmp(q, "#-}", 3) != 0) {
        const char *from = q;
        q = *q == '"' ? scan_string(q, p->end) : scan_ident(q, p->end);
        struct str word = {from, q ? (size_t)(q - from) : 0};
        if (word.n && *from == '"' && name.n)
            add_alias(p, name, word);
        else if (word.n)
            name = word;
        else if (q && *q != ':' && !scan_is(*q, CH_BLANK))
            name = STR("");
        q = q && q == from ? q + 1 : q;
    }
    p->p = q && p->end - q >= 3 ? q + 3 : p->end;
    return true;
}
