/* Names, as C++ and the dialect's classes have them. */
#include "compile/rewrite/cpp.h"

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
    struct str one = op_spelling(k, "ttir.", "");
    if (!one.n)
        return cpp_cannot(c, "TTIR has no op %s", op_table[k].name);
    str_part(&one, '.');
    for (size_t i = 0; i < sizeof irregular / sizeof *irregular; i++)
        if (str_is(one, irregular[i][0]))
            return str_of(irregular[i][1]);
    return arena_printf(c->arena, "%sOp", cpp_camel(c->arena, one).p);
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

/* ---- long lines, about as clang-format breaks them in the style of LLVM ---- */

enum { WIDTH = 80, CONTINUED = 4, NESTED = 2 };

static size_t column_of(const struct buf *b) {
    size_t n = b->n;
    while (n > 0 && b->p[n - 1] != '\n')
        n--;
    return b->n - n;
}

static void new_line(struct buf *b, size_t indent) {
    buf_printf(b, "\n%*s", (int)indent, "");
}

/* How loosely the sign at text[i] holds expressions together, which stand outside of brackets; 0: it is none. */
enum { CHOICE = 7 };
static int sign_at(struct str text, size_t i) {
    static const struct {
        const char *sign;
        int looseness;
    } signs[] = {{" ? ", CHOICE}, {" : ", CHOICE}, {" | ", 6}, {" || ", 6}, {" && ", 5},
                 {" == ", 4},     {" != ", 4},     {" < ", 3}, {" <= ", 3}, {" > ", 3},
                 {" >= ", 3},     {" + ", 2},      {" - ", 2}, {" * ", 1},  {" / ", 1}};
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

struct str_list cpp_append(struct str_list list, struct str one, struct arena *a) {
    struct str *items = arena_alloc(a, (list.n + 1) * sizeof *items);
    if (list.n)
        memcpy(items, list.items, list.n * sizeof *items);
    items[list.n] = one;
    return (struct str_list){items, list.n + 1};
}

bool cpp_add_new(struct str_list *list, struct str one, struct arena *a) {
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(list->items[i], one))
            return false;
    *list = cpp_append(*list, one, a);
    return true;
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

static struct str part(struct str text, size_t from, size_t to) {
    return (struct str){text.p + from, to - from};
}

static void put_text(struct buf *b, size_t indent, struct str text, size_t after);

/* A string on several lines, each between quotes of its own. */
static void put_string(struct buf *b, size_t indent, struct str text, size_t after) {
    size_t room = WIDTH > column_of(b) ? WIDTH - column_of(b) : 1, at = text.n;
    if (at + after > room)
        at = room - 1 < text.n - 1 ? room - 1 : text.n - 1;
    while (at < text.n && at > 1 && text.p[at - 1] != ' ')
        at--;
    bool all = at >= text.n || at <= 1;
    buf_add(b, all ? text : part(text, 0, at));
    if (all)
        return;
    buf_addc(b, '"');
    new_line(b, indent);
    buf_addc(b, '"');
    put_string(b, indent, part(text, at, text.n), after);
}

static bool is_lambda(struct str text) {
    return str_starts(text, STR("[")) && str_find(text, STR("{ ")) && end_of(text, 0, 0) == text.n && !loosest(text);
}

/* "[&] { return x; }" with its body on a line of its own. */
static void put_lambda(struct buf *b, size_t indent, struct str text) {
    size_t open = (size_t)(str_find(text, STR("{ ")) - text.p) + 1;
    buf_add(b, part(text, 0, open));
    new_line(b, indent + NESTED);
    put_text(b, indent + NESTED, str_trim(part(text, open, text.n - 1)), 0);
    new_line(b, indent);
    buf_addc(b, '}');
}

/* Where the line begins that is written. */
static size_t line_indent(const struct buf *b) {
    const char *line = b->p + b->n - column_of(b);
    size_t n = 0;
    while (line + n < b->p + b->n && line[n] == ' ')
        n++;
    return n;
}

static bool is_broken(const struct buf *b, size_t from) {
    return memchr(b->p + from, '\n', b->n - from) != NULL;
}

static size_t cost_of(const struct buf *b, size_t from);

/* "a ? x : b ? y : z" with the question marks below one another; `below`: on lines of their own. */
static void put_choice_so(struct buf *b, struct str text, size_t after, bool below) {
    size_t start = column_of(b), mark = below ? CONTINUED : 0;
    for (size_t at = 0, end; at < text.n && !below; at = end) { /* as wide as the widest condition */
        end = end_of(text, at, CHOICE);
        bool asks = end < text.n && text.p[end + 1] == '?';
        size_t width = end - at + (at == 0);
        mark = asks && width > mark ? width : mark;
    }
    for (size_t at = 0, end; at < text.n; at = end) {
        end = end_of(text, at, CHOICE);
        bool first = at == 0, asks = end < text.n && text.p[end + 1] == '?';
        struct str one = str_trim(part(text, at, end));
        if (!first && (below || one.p[0] == ':'))
            new_line(b, start + (asks && !below ? 0 : mark));
        while (!first && one.p[0] == '?' && column_of(b) < start + mark)
            buf_addc(b, ' ');
        buf_add(b, first ? STR("") : part(one, 0, 2));
        one = first ? one : part(one, 2, one.n);
        put_text(b, column_of(b), one, end < text.n ? 0 : after);
    }
}

static void put_choice(struct buf *b, struct str text, size_t after) {
    size_t begin = b->n;
    put_choice_so(b, text, after, false);
    size_t beside = cost_of(b, begin);
    b->n = begin;
    put_choice_so(b, text, after, true);
    if (cost_of(b, begin) < beside)
        return;
    b->n = begin;
    put_choice_so(b, text, after, false);
}

static void put_operands(struct buf *b, size_t indent, struct str text, int looseness, size_t after);

/* An operand behind a sign, on the same line or, `below`, the next one. */
static void put_operand(struct buf *b, size_t indent, struct str one, size_t more, bool below) {
    int inner = loosest(one);
    if (below)
        new_line(b, indent);
    else
        buf_addc(b, ' ');
    if (inner && column_of(b) + one.n + more > WIDTH)
        put_operands(b, column_of(b) + CONTINUED, one, inner, more);
    else
        put_text(b, indent, one, more);
}

/* Operands that fill lines, each sign at the end of one. What fits on no line begins where that makes fewer. */
static void put_operands(struct buf *b, size_t indent, struct str text, int looseness, size_t after) {
    size_t first = end_of(text, 0, looseness), begin = b->n, behind = strcspn(text.p + first + 1, " ") + 1;
    struct str head = part(text, 0, first);
    int inner = loosest(head);
    if (inner && column_of(b) + head.n + behind > WIDTH)
        put_operands(b, indent + CONTINUED, head, inner, behind);
    else
        put_text(b, column_of(b), head, behind);
    for (size_t at = first, end; at < text.n; at = end) {
        end = end_of(text, at, looseness);
        size_t sign = at + 1 + strcspn(text.p + at + 1, " "), more = after;
        struct str one = part(text, sign + 1, end);
        if (end < text.n)
            more = strcspn(text.p + end + 1, " ") + 1;
        buf_add(b, part(text, at, sign));
        bool broken = is_broken(b, begin), fits = column_of(b) + 1 + one.n + more <= WIDTH;
        begin = b->n;
        put_operand(b, indent, one, more, broken || !fits);
        if (broken || fits || loosest(one) || indent + one.n + more <= WIDTH)
            continue;
        size_t below = cost_of(b, begin);
        b->n = begin;
        put_operand(b, indent, one, more, false);
        if (cost_of(b, begin) < below)
            continue;
        b->n = begin;
        put_operand(b, indent, one, more, true);
    }
}

/* Items behind an open bracket, which fill lines; yields where they end. */
static size_t put_items(struct buf *b, size_t indent, struct str text, size_t at, size_t after) {
    bool several = end_of(text, at, 0) < text.n && text.p[end_of(text, at, 0)] == ',';
    size_t begin = b->n;
    for (bool first = true; at < text.n; first = false) {
        size_t end = end_of(text, at, 0), comma = end < text.n && text.p[end] == ',', rest = end;
        while (rest < text.n && strchr(")}];, {", text.p[rest]))
            rest++;
        struct str one = str_trim(part(text, at, end));
        size_t more = comma ? 1 : rest - end + (rest >= text.n ? after : 0);
        if (!first && (column_of(b) + 1 + one.n + more > WIDTH || is_broken(b, begin)))
            new_line(b, indent);
        else if (!first)
            buf_addc(b, ' ');
        begin = b->n;
        bool fits = column_of(b) + one.n + more <= WIDTH;
        int looseness = loosest(one);
        if (!fits && is_lambda(one))
            put_lambda(b, several ? column_of(b) : line_indent(b), one);
        else if (!fits && several && looseness && looseness < CHOICE)
            put_operands(b, column_of(b) + CONTINUED, one, looseness, more);
        else
            put_text(b, column_of(b), one, more);
        buf_add(b, comma ? STR(",") : STR(""));
        at = end + comma;
        if (!comma)
            break;
    }
    return at;
}

/* Of what was written since `from` the lines, and more where one is too long or begins far to the right. */
static size_t cost_of(const struct buf *b, size_t from) {
    enum { FAR = 44 };
    size_t cost = 0, far = 0, begin = from;
    while (begin > 0 && b->p[begin - 1] != '\n')
        begin--;
    for (bool first = true; begin < b->n; first = false) {
        struct str line = {b->p + begin, b->n - begin};
        const char *end = memchr(line.p, '\n', line.n);
        line.n = end ? (size_t)(end - line.p) : line.n;
        size_t indent = line.n - str_trim(line).n;
        cost += (first ? 0 : 2) + (line.n > WIDTH ? WIDTH : 0);
        far |= !first && indent > FAR;
        begin += line.n + 1;
    }
    return cost + far;
}

/* What has brackets: its items stand behind the first one, or on a line below where that makes fewer lines. */
static void put_brackets(struct buf *b, size_t indent, struct str text, size_t open, size_t after) {
    size_t begin = b->n, cost[2] = {0, 0}, items = 0, rest = 0;
    if (open >= text.n) {
        buf_add(b, text); /* it has none */
        return;
    }
    for (int below = 0, turn = 0; turn < 3; turn++) {
        below = turn < 2 ? turn : cost[1] < cost[0];
        if (turn == 2 && below)
            break; /* it was the last one */
        b->n = begin;
        buf_add(b, part(text, 0, open + 1));
        if (below)
            new_line(b, indent + CONTINUED);
        items = put_items(b, column_of(b), text, open + 1, after);
        for (rest = items; rest < text.n && strchr(")}];", text.p[rest]);)
            rest++;
        buf_add(b, part(text, items, rest));
        if (turn < 2)
            cost[turn] = cost_of(b, begin);
    }
    if (rest < text.n)
        put_text(b, indent, part(text, rest, text.n), after);
}

/* `after`: as many characters follow it on its line. */
static void put_text(struct buf *b, size_t indent, struct str text, size_t after) {
    static const char returns[] = "return ";
    int looseness = loosest(text);
    size_t open = 0, comma = cpp_item_end(text);
    for (bool quoted = false; open < text.n && (quoted || !strchr("({", text.p[open])); open++)
        quoted ^= text.p[open] == '"' && (open == 0 || text.p[open - 1] != '\\');
    if (column_of(b) + text.n + after <= WIDTH)
        buf_add(b, text);
    else if (text.p[0] == '"')
        put_string(b, column_of(b), text, after);
    else if (is_lambda(text))
        put_lambda(b, indent, text);
    else if (str_starts(text, str_of(returns))) {
        buf_add(b, str_of(returns));
        put_text(b, indent, part(text, strlen(returns), text.n), after);
    } else if (looseness == CHOICE)
        put_choice(b, text, after);
    else if (looseness)
        put_operands(b, column_of(b), text, looseness, after);
    else if (comma + 1 < text.n && text.p[comma] == ',')
        put_items(b, indent + CONTINUED, text, 0, after);
    else
        put_brackets(b, indent, text, open, after);
}

/* Behind a sign of assignment that ends `before`, or on the next line where that makes fewer lines. */
void cpp_put(struct buf *b, uint32_t indent, struct str before, struct str text) {
    buf_printf(b, "%*s%.*s", (int)indent, "", (int)before.n, before.p);
    size_t begin = b->n;
    put_text(b, indent, text, 0);
    size_t beside = cost_of(b, begin);
    if (!beside || !str_ends(before, STR("= ")))
        return;
    b->n = begin - 1;
    new_line(b, indent + CONTINUED);
    put_text(b, indent + CONTINUED, text, 0);
    if (cost_of(b, begin - 1) < beside || indent + CONTINUED + text.n <= WIDTH)
        return;
    b->n = begin - 1;
    buf_addc(b, ' ');
    put_text(b, indent, text, 0);
}

struct str cpp_statement(struct arena *a, uint32_t indent, struct str text) {
    struct buf b = {0};
    cpp_put(&b, indent, STR(""), text);
    return buf_take(&b, a);
}

struct str cpp_negated(struct cpp *c, struct str text) {
    bool simple = !loosest(text);
    return simple && text.p[0] == '!' ? arena_printf(c->arena, "%s", text.p + 1)
                                      : arena_printf(c->arena, simple ? "!%s" : "!(%s)", text.p);
}
