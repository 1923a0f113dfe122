/* The loop over ops and aliases of a region, and recovery after an op that cannot be read.
 *
 * The loop always moves forward, reports each skipped op once, and reports the end of a truncated text once, however
 * many regions were open. */
#include "mlir/parser.h"

#include <string.h>

static const char *end_of_line(const char *p, const char *end) {
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    return stop ? stop : end;
}

/* End of an alias definition: of its line, or of a bracket that runs over lines. NULL: brackets do not match. */
static const char *alias_end(const char *p, const char *end) {
    const char *stop = end_of_line(p, end);
    if (end - p > 4 && memcmp(p, "loc(", 4) == 0 && stop[-1] == ')') /* printed on a line of its own */
        return stop;
    while (p < end && *p != '\n') {
        if (*p == '"') {
            p = scan_string(p, end);
        } else if (*p == '(' || *p == '[' || *p == '{' || *p == '<') {
            p = scan_balanced(p, end);
        } else if (*p == '/' && p + 1 < end && p[1] == '/') {
            break;
        } else {
            p++;
        }
        if (!p)
            return NULL;
    }
    return p;
}

/* False when the number is larger than the text: a huge number in a small text must not allocate a huge table. */
static bool add_loc(struct ir_parser *p, uint32_t number, struct str value) {
    struct mlir_tables *t = p->m->tables;
    if (number >= (uint32_t)(p->end - p->begin))
        return false;
    if (number >= t->nlocs) {
        uint32_t old = t->nlocs;
        t->locs = grow(t->locs, &t->nlocs, number + 1, sizeof *t->locs);
        memset(t->locs + old, 0, (t->nlocs - old) * sizeof *t->locs);
    }
    t->locs[number] = parse_span(p, value.p, value.p + value.n);
    return true;
}

static void add_alias(struct ir_parser *p, struct str name, struct str value) {
    struct mlir_tables *t = p->m->tables;
    uint32_t number;
    if (loc_number(name, &number) && add_loc(p, number, value))
        return;
    struct str inner;
    bool bad = mlir_unresolved(p->m, value, &inner); /* before the alias itself is known */
    uint32_t id = sym_add(t, &t->alias_names, name);
    t->aliases = grow(t->aliases, &t->aliases_cap, id + 1, sizeof *t->aliases);
    t->aliases[id] = (struct alias){value, bad};
}

/* Locations of --mlir-pretty-debuginfo: no loc( ) around them, also in "#loc3 = f.py:1:2". */
static bool is_pretty_alias(struct str name, struct str value) {
    uint32_t number;
    return !str_starts(value, STR("loc(")) && (str_is(name, "#loc") || loc_number(name, &number));
}

/* "[unknown]" or "f.py:1:2" behind something on its line, and nothing behind it. */
static bool is_pretty_place(const struct ir_parser *p, const char *at) {
    struct str line = str_trim((struct str){at, (size_t)(end_of_line(at, p->end) - at)});
    size_t n = line.n, colons = 0;
    while (at > p->begin && (at[-1] == ' ' || at[-1] == '\t'))
        at--;
    if (at == p->begin || at[-1] == '\n')
        return false;
    for (; n > 0 && (scan_is(line.p[n - 1], CH_DIGIT) || line.p[n - 1] == ':'); n--)
        colons += line.p[n - 1] == ':';
    return str_is(line, "[unknown]") || (colons == 2 && n > 0 && line.p[n - 1] != '"');
}

/* MLIR does not read these either: the text is given up. */
static bool refuse_pretty(struct ir_parser *p, const char *at) {
    p->m->bad_ops++;
    p->truncated = true;
    parse_say(p, SEV_ERROR, at,
              "locations printed by --mlir-pretty-debuginfo cannot be read back: print with --mlir-print-debuginfo");
    p->p = p->end;
    return true;
}

static bool parse_alias(struct ir_parser *p) {
    const char *from = p->p, *q = scan_name(from + 1, p->end);
    struct str name = {from, (size_t)(q - from)};
    while (q < p->end && *q == ' ')
        q++;
    if (name.n < 2 || q >= p->end || *q != '=')
        return parse_fail(p, from, "expected '=' after the name of an alias");
    q = scan_space(q + 1, p->end);
    const char *stop = alias_end(q, p->end);
    if (!stop)
        return parse_fail(p, q, "brackets of an alias definition do not match");
    struct str value = str_trim((struct str){q, (size_t)(stop - q)});
    if (is_pretty_alias(name, value))
        return refuse_pretty(p, from);
    add_alias(p, name, value);
    p->p = stop;
    return true;
}

/* Lines "#loc12 = loc(...)" as they are printed, which need no look at brackets: saves 8 of 340 million instructions
 * for 10 MB (callgrind). */
static bool parse_loc_lines(struct ir_parser *p) {
    const char *from = p->p, *stop;
    while (p->end - p->p > 4 && memcmp(p->p, "#loc", 4) == 0 && (stop = memchr(p->p, '\n', (size_t)(p->end - p->p)))) {
        const char *q = p->p + 4;
        uint32_t number;
        while (scan_is(*q, CH_DIGIT))
            q++;
        if (stop - q < 8 || memcmp(q, " = loc(", 7) != 0 || stop[-1] != ')' ||
            !loc_number((struct str){p->p, (size_t)(q - p->p)}, &number) ||
            !add_loc(p, number, (struct str){q + 3, (size_t)(stop - q) - 3}))
            break;
        p->p = stop + 1;
    }
    return p->p > from;
}

/* "{-# dialect_resources: ... #-}" */
static bool parse_resources(struct ir_parser *p) {
    if (p->end - p->p < 3 || memcmp(p->p, "{-#", 3) != 0)
        return parse_fail(p, p->p, "expected an operation");
    const char *q = p->p + 3;
    while (q && p->end - q >= 3 && memcmp(q, "#-}", 3) != 0)
        q = *q == '"' ? scan_string(q, p->end) : q + 1;
    p->p = q && p->end - q >= 3 ? q + 3 : p->end;
    return true;
}

/* Does an op, a block, an alias or the end of a region start at this line? */
static bool is_boundary(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    if (p >= end)
        return true;
    if (*p == '}' || *p == '^' || scan_starts_op(p, end))
        return true;
    if (*p == '#' || *p == '!') {
        const char *q = scan_ident(p + 1, end);
        return end - q > 3 && memcmp(q, " = ", 3) == 0;
    }
    if (!scan_is(*p, CH_ALPHA))
        return end - p > 3 && memcmp(p, "{-#", 3) == 0;
    return scan_op_word(p, end);
}

/* To the next boundary. Only braces at the ends of lines open regions here: whatever else is open
 * on a line belongs to the broken op. */
static void resync(struct ir_parser *p) {
    uint32_t depth = 0;
    const char *at = p->p;
    while (at < p->end) {
        const char *stop = end_of_line(at, p->end);
        struct str line = str_trim((struct str){at, (size_t)(stop - at)});
        if (line.n > 0 && line.p[line.n - 1] == '{')
            depth++;
        at = stop < p->end ? stop + 1 : p->end;
        if (depth == 0 && is_boundary(at, p->end))
            break;
        const char *next = at;
        while (next < p->end && scan_is(*next, CH_BLANK) && *next != '\n')
            next++;
        if (next < p->end && *next == '}' && depth > 0)
            depth--;
    }
    p->p = at;
}

static void report_end(struct ir_parser *p) {
    if (p->truncated)
        return;
    p->truncated = true;
    parse_say(p, SEV_ERROR, p->end, "the IR is cut off here: functions that are not closed are left out");
}

/* One diagnostic for a bad op; a text that is cut in the op is reported as cut. */
static void recover(struct ir_parser *p, const char *start) {
    if (is_pretty_place(p, p->error.at ? p->error.at : start)) {
        (void)refuse_pretty(p, start);
        return;
    }
    p->m->bad_ops++;
    if (p->p < start)
        p->p = start;
    resync(p);
    if (p->p >= p->end && p->depth > 0)
        report_end(p);
    else
        parse_say(p, SEV_ERROR, p->error.at ? p->error.at : start,
                  p->error.message ? p->error.message : "cannot read this operation");
    p->error.message = NULL;
    p->error.at = NULL;
}

/* An op, an alias, a block label or the resources behind the module. */
static bool parse_item(struct ir_parser *p) {
    char c = *p->p;
    if (c == '#' || c == '!')
        return parse_loc_lines(p) || parse_alias(p);
    if (c == '^')
        return parse_block_label(p);
    if (c == '{')
        return parse_resources(p);
    if (c == '%' || c == '"' || scan_is(c, CH_ALPHA))
        return parse_op(p);
    return parse_fail(p, p->p, "expected an operation");
}

bool parse_ops(struct ir_parser *p) {
    for (;;) {
        parse_space(p);
        if (p->p >= p->end) {
            if (p->depth > 0)
                report_end(p);
            return false;
        }
        if (*p->p == '}' && p->depth > 0) {
            p->p++;
            return true;
        }
        const char *start = p->p;
        if (!parse_item(p) || p->p == start)
            recover(p, start);
    }
}
