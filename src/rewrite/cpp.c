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
static const char *const taken[] = {"and",      "bool",   "case",   "class",    "const", "context", "default", "do",
                                    "double",   "else",   "enum",   "false",    "float", "for",     "form",    "if",
                                    "int",      "long",   "match",  "name",     "new",   "not",     "op",      "or",
                                    "register", "return", "root",   "rewriter", "short", "signed",  "static",  "switch",
                                    "this",     "true",   "double", "union",    "void",  "while",   "xor"};

struct str cpp_name(struct cpp *c, struct str name) {
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (str_is(name, taken[i]))
            return arena_printf(c->arena, "%.*s_", (int)name.n, name.p);
    return arena_str(c->arena, name);
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

void cpp_put(struct buf *b, uint32_t indent, struct str before, struct str text) {
    enum { WIDTH = 120 };
    buf_printf(b, "%*s%.*s", (int)indent, "", (int)before.n, before.p);
    if (indent + before.n + text.n <= WIDTH) {
        buf_add(b, text);
        return;
    }
    /* break behind the commas and before the operators of the outermost brackets, or put these on lines of their own */
    size_t open = 0, depth = 0;
    while (open < text.n && !strchr("({", text.p[open]))
        open++;
    open += open < text.n && text.p[open] == '(' && open + 1 < text.n && text.p[open + 1] == '{';
    if (open >= text.n) {
        buf_add(b, text);
        return;
    }
    size_t from = open + 1;
    bool quoted = false;
    buf_add(b, (struct str){text.p, from});
    for (size_t i = from; i < text.n; i++) {
        char at = text.p[i];
        quoted ^= at == '"' && text.p[i - 1] != '\\';
        depth += !quoted && strchr("({[", at) != NULL;
        bool ends = !quoted && strchr(")}]", at) && depth == 0;
        depth -= !quoted && strchr(")}]", at) && depth > 0;
        bool comma = !quoted && at == ',' && depth == 0;
        if (!comma && !ends)
            continue;
        buf_addc(b, '\n');
        cpp_put(b, indent + 4, STR(""), str_trim((struct str){text.p + from, i + comma - from}));
        from = i + comma;
        if (ends)
            break;
    }
    buf_add(b, (struct str){text.p + from, text.n - from});
}
