/* Names, as C++ and the dialect's classes have them. */
#include "rewrite/cpp.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct str cpp_cannot(struct cpp *c, const char *fmt, ...) {
    struct buf b = {0};
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    buf_add(&b, str_of(text));
    struct str why = buf_take(&b, c->arena);
    c->why = c->why.n ? c->why : why;
    return STR("");
}

struct str cpp_camel(struct arena *a, struct str name) {
    struct buf b = {0};
    bool upper = true;
    for (size_t i = 0; i < name.n; i++) {
        if (isalnum((unsigned char)name.p[i]))
            buf_addc(&b, (char)(upper ? toupper((unsigned char)name.p[i]) : name.p[i]));
        upper = !isalnum((unsigned char)name.p[i]);
    }
    return buf_take(&b, a);
}

/* Classes that are not called as their ops are. Source: TTIROps.td at tt-mlir 19c86fca45ae. */
static const char *const irregular[][2] = {
    {"argmax", "ArgMaxOp"},
    {"cumsum", "CumSumOp"},
    {"cumprod", "CumProdOp"},
    {"distributed_rms_norm", "DistributedRMSNormOp"},
    {"eq", "EqualOp"},
    {"ge", "GreaterEqualOp"},
    {"gelu_bw", "GeluBackwardOp"},
    {"gt", "GreaterThanOp"},
    {"isfinite", "IsFiniteOp"},
    {"le", "LessEqualOp"},
    {"lt", "LessThanOp"},
    {"ne", "NotEqualOp"},
    {"rms_norm", "RMSNormOp"},
    {"topk", "TopKOp"},
};

struct str cpp_class(struct cpp *c, enum op_kind k) {
    for (struct str rest = str_of(op_table[k].spellings); rest.n;) {
        struct str one = str_part(&rest, ' ');
        if (!str_starts(one, STR("ttir.")))
            continue;
        one.p += 5;
        one.n -= 5;
        for (size_t i = 0; i < sizeof irregular / sizeof *irregular; i++)
            if (str_is(one, irregular[i][0]))
                return str_of(irregular[i][1]);
        return arena_printf(c->arena, "%sOp", cpp_camel(c->arena, one).p);
    }
    return cpp_cannot(c, "TTIR has no op %s", op_table[k].name);
}

/* Words of C++ and names that the generated code has itself. */
static const char *const taken[] = {"and",      "bool",   "case",  "class",    "const", "context", "default", "do",
                                    "double",   "else",   "enum",  "false",    "float", "for",     "form",    "if",
                                    "int",      "long",   "match", "name",     "new",   "not",     "op",      "or",
                                    "register", "return", "root",  "rewriter", "short", "signed",  "static",  "switch",
                                    "this",     "true",   "union", "void",     "while", "xor"};

/* keyScale of key_scale. */
static struct str camel_back(struct arena *a, struct str name) {
    char *text = arena_strdup(a, cpp_camel(a, name));
    text[0] = (char)(name.n && islower((unsigned char)name.p[0]) ? tolower((unsigned char)text[0]) : text[0]);
    return str_of(text);
}

/* As the compiler's variables are called; as it is where that would be another name of the formula, too. */
static struct str variable(struct cpp *c, struct str name) {
    struct str camel = name.n && memchr(name.p, '_', name.n) ? camel_back(c->arena, name) : name;
    for (uint32_t i = 0; i < c->match->nslots && !str_eq(camel, name); i++) {
        struct str other = c->match->slot_name[i];
        if (other.n && !str_eq(other, name) && str_eq(camel_back(c->arena, other), camel))
            return name;
    }
    return camel;
}

struct str cpp_name(struct cpp *c, struct str name) {
    name = variable(c, name);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (str_is(name, taken[i]))
            return arena_printf(c->arena, "%.*s_", (int)name.n, name.p);
    return arena_str(c->arena, name);
}

struct str cpp_slot(struct cpp *c, uint32_t slot) {
    return c->line_name[slot].n ? c->line_name[slot] : cpp_name(c, c->match->slot_name[slot]);
}

struct str cpp_quoted(struct cpp *c, struct str text) {
    struct buf b = {0};
    buf_addc(&b, '"');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"' || text.p[i] == '\\')
            buf_addc(&b, '\\');
        buf_addc(&b, (char)(text.p[i] == '\n' ? ' ' : text.p[i]));
    }
    buf_addc(&b, '"');
    return buf_take(&b, c->arena);
}

/* ---- long lines ---- */

enum { WIDTH = 118 };

static size_t column_of(const struct buf *b) {
    size_t n = b->n;
    while (n > 0 && b->p[n - 1] != '\n')
        n--;
    return b->n - n;
}

/* How loosely the sign at text[i] holds expressions together, which stand outside of brackets; 0: it is none. A line
 * may be broken before it. */
static int sign_at(struct str text, size_t i) {
    static const struct {
        const char *sign;
        int looseness;
    } signs[] = {{" ? ", 7},  {" : ", 7}, {" | ", 6},  {" || ", 6}, {" && ", 5}, {" == ", 4}, {" != ", 4}, {" < ", 3},
                 {" <= ", 3}, {" > ", 3}, {" >= ", 3}, {" + ", 2},  {" - ", 2},  {" * ", 1},  {" / ", 1}};
    struct str rest = {text.p + i, text.n - i};
    for (size_t k = 0; text.p[i] == ' ' && k < sizeof signs / sizeof *signs; k++)
        if (str_starts(rest, str_of(signs[k].sign)))
            return signs[k].looseness;
    return 0;
}

/* Where a text ends that begins at `from`: before the next sign of this looseness; 0: before the next comma or the end
 * of the brackets around it. */
static size_t end_of(struct str text, size_t from, int looseness) {
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = from; i < text.n; i++) {
        char at = text.p[i];
        quoted ^= at == '"' && (i == 0 || text.p[i - 1] != '\\');
        if (quoted)
            continue;
        if (depth == 0 && (strchr(")}]", at) || (looseness ? sign_at(text, i) == looseness && i > from : at == ',')))
            return i;
        depth += strchr("({[", at) != NULL;
        depth -= strchr(")}]", at) != NULL;
    }
    return text.n;
}

size_t cpp_item_end(struct str list) {
    return end_of(list, 0, 0);
}

/* 0: it can be broken within brackets only. */
static int loosest(struct str text) {
    enum { NO_SIGN = 8 };
    int most = 0;
    for (int looseness = 1; looseness < NO_SIGN; looseness++)
        if (end_of(text, 0, looseness) < end_of(text, 0, NO_SIGN))
            most = looseness;
    return most;
}

static void put_text(struct buf *b, uint32_t indent, struct str text);

/* One of several parts that fill lines. */
static void put_filling(struct buf *b, uint32_t indent, struct str part, bool first) {
    if (!first && column_of(b) + part.n > WIDTH) {
        part = str_trim(part);
        buf_printf(b, "\n%*s", (int)indent, "");
    }
    put_text(b, indent, part);
}

/* A string on several lines, each between quotes of its own. */
static void put_string(struct buf *b, uint32_t indent, struct str text) {
    size_t room = WIDTH > column_of(b) ? WIDTH - column_of(b) : 0, at = text.n <= room ? text.n : room;
    while (at < text.n && at > 1 && text.p[at - 1] != ' ')
        at--;
    bool all = at >= text.n || at <= 1;
    buf_add(b, all ? text : (struct str){text.p, at});
    if (all)
        return;
    buf_printf(b, "\"\n%*s\"", (int)indent, "");
    put_string(b, indent, (struct str){text.p + at, text.n - at});
}

static void put_text(struct buf *b, uint32_t indent, struct str text) {
    if (text.n && text.p[0] == '"') {
        put_string(b, indent, text);
        return;
    }
    int looseness = column_of(b) + text.n <= WIDTH ? 0 : loosest(text);
    size_t open = 0, at = 0;
    while (open < text.n && text.p[open] != '(' && text.p[open] != '{')
        open++;
    if (column_of(b) + text.n <= WIDTH || (!looseness && open >= text.n)) {
        buf_add(b, text);
        return;
    }
    size_t comma = cpp_item_end(text);
    bool list = comma + 1 < text.n && text.p[comma] == ',';
    if (list)
        looseness = 0;
    else if (!looseness) {
        at = open + 1;
        buf_add(b, (struct str){text.p, at});
        if (at < text.n && end_of(text, at, 0) - at > WIDTH - column_of(b) && column_of(b) > indent + 40)
            buf_printf(b, "\n%*s", (int)indent + 4, "");
    }
    for (bool first = true; at < text.n; first = false) {
        size_t end = end_of(text, at, looseness);
        end += !looseness && end < text.n && text.p[end] == ',';
        put_filling(b, indent + 4, (struct str){text.p + at, end - at}, first);
        at = end;
        if (at < text.n && strchr(")}]", text.p[at]))
            break;
    }
    size_t rest = at;
    while (rest < text.n && strchr(")}];,", text.p[rest]))
        rest++;
    buf_add(b, (struct str){text.p + at, rest - at});
    if (rest < text.n)
        put_text(b, indent, (struct str){text.p + rest, text.n - rest});
}

void cpp_put(struct buf *b, uint32_t indent, struct str before, struct str text) {
    buf_printf(b, "%*s%.*s", (int)indent, "", (int)before.n, before.p);
    put_text(b, indent, text);
}
