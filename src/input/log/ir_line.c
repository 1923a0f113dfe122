/* Tells from the bytes of one line what it begins (module, function, op, alias) and what it ends. A line is read
 * without a parser: MLIR prints each op on a line of its own. */
#include "input/log/ir_line.h"

#include <string.h>

struct str skip_blanks(struct str t) {
    while (t.n && (t.p[0] == ' ' || t.p[0] == '\t'))
        t.p++, t.n--;
    return t;
}

static struct str behind(struct str t, size_t n) {
    return (struct str){t.p + n, t.n - n};
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_word(char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '$' || c == '.' || c == '-';
}

static size_t word_length(struct str t) {
    size_t n = 0;
    while (n < t.n && is_word(t.p[n]))
        n++;
    return n;
}

size_t alias_name(struct str t) {
    if (t.n < 5 || (t.p[0] != '#' && t.p[0] != '!'))
        return 0;
    size_t n = 1 + word_length(behind(t, 1));
    struct str rest = skip_blanks(behind(t, n));
    return n > 1 && rest.p > t.p + n && str_starts(rest, STR("= ")) ? n : 0;
}

uint32_t loc_alias_number(struct str t) {
    enum { DIGITS = 8 };
    uint32_t n = 0;
    size_t i = 4;
    if (!str_starts(t, STR("#loc")) || alias_name(t) > 4 + DIGITS)
        return NONE;
    for (; i < t.n && is_digit(t.p[i]); i++)
        n = n * 10 + (uint32_t)(t.p[i] - '0');
    return i == alias_name(t) ? n + (i > 4) : NONE;
}

bool has_word(struct str t, struct str word) {
    return str_starts(t, word) && (t.n == word.n || !is_word(t.p[word.n]));
}

bool is_module(struct str t) {
    static const struct str words[] = {{"module", 6}, {"builtin.module", 14}, {"\"builtin.module\"", 16}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!has_word(t, words[i]))
            continue;
        struct str rest = skip_blanks(behind(t, words[i].n));
        return rest.n == 0 || strchr("{@(", rest.p[0]) || has_word(rest, STR("attributes"));
    }
    return false;
}

bool is_func(struct str t) {
    return has_word(t, STR("func.func")) || str_starts(t, STR("\"func.func\"")) || has_word(t, STR("llvm.func"));
}

/* Length of "dialect.op" in quotes. */
static size_t quoted_op(struct str t) {
    size_t n = t.n && t.p[0] == '"' ? word_length(behind(t, 1)) : 0;
    return n > 2 && n + 1 < t.n && t.p[n + 1] == '"' ? n + 2 : 0;
}

/* From behind the results on; NULL: there are none. */
static struct str behind_results(struct str t) {
    size_t i = 1;
    if (t.n < 5 || t.p[0] != '%')
        return (struct str){0};
    while (i < t.n && (is_word(t.p[i]) || strchr(":,%# ", t.p[i])))
        i++;
    return i < t.n && t.p[i] == '=' ? skip_blanks(behind(t, i + 1)) : (struct str){0};
}

bool is_op(struct str t) {
    size_t quoted = quoted_op(t);
    if (quoted)
        return str_starts(skip_blanks(behind(t, quoted)), STR("("));
    return behind_results(t).p || str_starts(t, STR("ttcore.")) || str_starts(t, STR("tt.device_module"));
}

/* "dialect.op", the dialect in lower case, and not the end of a sentence or a file with a line. */
static bool is_dialect_word(struct str t) {
    size_t n = word_length(t);
    const char *dot = n ? memchr(t.p, '.', n) : NULL;
    return dot && t.p[0] >= 'a' && t.p[0] <= 'z' && dot + 1 < t.p + n && is_letter(dot[1]) &&
           (n == t.n || strchr(" (<{@\r", t.p[n]));
}

bool is_op_of_dialect(struct str t) {
    struct str op = behind_results(t);
    size_t quoted = quoted_op(op.p ? op : t);
    if (quoted) {
        struct str from = op.p ? op : t;
        return memchr(from.p, '.', quoted) && str_starts(skip_blanks(behind(from, quoted)), STR("("));
    }
    return op.p && is_dialect_word(op);
}

bool defines_alias(struct str t) {
    size_t n = alias_name(t);
    const char *value = n ? memchr(t.p + n, '=', t.n - n) : NULL;
    return value && value + 2 < t.p + t.n &&
           (value[2] == '#' || str_starts(behind(t, (size_t)(value + 2 - t.p)), STR("loc(")));
}

bool closes_region(struct str t) {
    struct str rest = t.n && t.p[0] == '}' ? skip_blanks(behind(t, 1)) : STR("x");
    return rest.n == 0 || rest.p[0] == '\r' || str_starts(rest, STR("loc(")) || str_starts(rest, STR(") :"));
}

/* Whether a line has bytes that no text has, at its begin. */
static bool is_binary(struct str t) {
    for (size_t i = 0; i < t.n && i < 16; i++)
        if ((unsigned char)t.p[i] < ' ' && t.p[i] != '\t' && t.p[i] != '\r')
            return true;
    return false;
}

bool looks_like_ir(struct str t) {
    if (t.n == 0)
        return true;
    if (is_binary(t))
        return false;
    if (t.p[0] == '%' || t.p[0] == '}')
        return true;
    if (!is_letter(t.p[0])) {
        static const struct str begins[] = {{")", 1}, {"//", 2}, {"->", 2}, {"{-#", 3}, {"#-}", 3},    {"^bb", 3},
                                            {"{", 1}, {"<{", 2}, {": ", 2}, {"(%", 2},  {"(tensor", 7}};
        for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
            if (str_starts(t, begins[i]))
                return true;
        return alias_name(t) || is_op(t);
    }
    struct str rest = skip_blanks(behind(t, word_length(t)));
    bool operand = rest.n && (rest.p[0] == '%' || str_starts(rest, STR("(%")) || str_starts(rest, STR("= ")));
    return is_dialect_word(t) || is_module(t) || is_func(t) || has_word(t, STR("return")) || operand ||
           str_ends(str_trim(t), STR("{"));
}

bool looks_logged(struct str t) {
    if (t.n && (is_digit(t.p[0]) || t.p[0] == '[' || t.p[0] == '('))
        return true;
    struct str front = {t.p, t.n < 64 ? t.n : 64};
    return str_find(front, STR(" | ")) != NULL;
}

static size_t string_end(struct str t, size_t at) {
    for (at++; at < t.n && t.p[at] != '"'; at++)
        at += t.p[at] == '\\';
    return at;
}

int32_t open_braces(struct str t, bool *any) {
    int32_t open = 0;
    *any = t.n && (memchr(t.p, '{', t.n) || memchr(t.p, '}', t.n));
    static const bool marks[256] = {['{'] = 1, ['}'] = 1, ['"'] = 1, ['/'] = 1}; /* few bytes of a long line */
    for (size_t i = 0; i < t.n && *any; i++) {
        if (!marks[(unsigned char)t.p[i]])
            continue;
        if (t.p[i] == '"')
            i = string_end(t, i);
        else if (t.p[i] == '/' && i + 1 < t.n && t.p[i + 1] == '/')
            break;
        else
            open += (t.p[i] == '{') - (t.p[i] == '}');
    }
    return open;
}

int64_t brackets_left_open(struct str t) {
    int64_t depth = 0;
    t = str_trim(t);
    if (str_ends(t, STR("{")))
        t.n--;
    for (size_t i = 0; i < t.n; i++) {
        char c = t.p[i];
        if (c == '"') {
            i = string_end(t, i);
            depth += i >= t.n;
        } else if (strchr("([{<", c)) {
            depth++;
        } else if (strchr(")]}", c) || (c == '>' && i && t.p[i - 1] != '-')) {
            depth--;
        }
    }
    return depth;
}
