/* Tells from the bytes of one line what it starts (module, function, op, alias) and whether it is complete. A line is
 * read without a parser: MLIR prints each op on a line of its own. */
#include "input/log/shape.h"

#include <string.h>

struct str skip_blanks(struct str t) {
    while (t.n && (t.p[0] == ' ' || t.p[0] == '\t'))
        t.p++, t.n--;
    return t;
}

struct str without_return(struct str t) {
    t.n -= t.n > 0 && t.p[t.n - 1] == '\r';
    return t;
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           c == '.' || c == '-';
}

size_t alias_name(struct str t) {
    size_t i = 1;
    if (t.n < 5 || (t.p[0] != '#' && t.p[0] != '!'))
        return 0;
    while (i < t.n && is_word(t.p[i]))
        i++;
    return i > 1 && t.n - i > 2 && memcmp(t.p + i, " = ", 3) == 0 ? i : 0;
}

uint32_t loc_alias_number(struct str t) {
    enum { DIGITS = 8 };
    uint32_t n = 0;
    size_t i = 4;
    if (!str_starts(t, STR("#loc")))
        return NONE;
    for (; i < t.n && i < 4 + DIGITS && t.p[i] >= '0' && t.p[i] <= '9'; i++)
        n = n * 10 + (uint32_t)(t.p[i] - '0');
    if (t.n - i < 3 || memcmp(t.p + i, " = ", 3) != 0)
        return NONE;
    return n + (i > 4);
}

bool has_word(struct str t, struct str word) {
    return str_starts(t, word) && (t.n == word.n || !is_word(t.p[word.n]));
}

bool is_module(struct str t) {
    static const struct str words[] = {{"module", 6}, {"builtin.module", 14}};
    for (int i = 0; i < 2; i++) {
        if (!has_word(t, words[i]))
            continue;
        struct str rest = skip_blanks((struct str){t.p + words[i].n, t.n - words[i].n});
        return rest.n == 0 || rest.p[0] == '{' || rest.p[0] == '@' || str_starts(rest, STR("attributes"));
    }
    return str_starts(t, STR("\"builtin.module\""));
}

bool is_func(struct str t) {
    return has_word(t, STR("func.func")) || str_starts(t, STR("\"func.func\"")) || has_word(t, STR("llvm.func"));
}

bool is_op(struct str t) {
    size_t i = 1;
    if (t.n < 5)
        return false;
    if (t.p[0] == '"') {
        while (i < t.n && is_word(t.p[i]))
            i++;
        if (i <= 3 || i == t.n || t.p[i] != '"')
            return false;
        t = skip_blanks((struct str){t.p + i + 1, t.n - i - 1});
        return t.n && t.p[0] == '(';
    }
    if (t.p[0] != '%')
        return str_starts(t, STR("ttcore.")) || str_starts(t, STR("tt.device_module"));
    while (i < t.n && (is_word(t.p[i]) || t.p[i] == ':' || t.p[i] == ',' || t.p[i] == '%' || t.p[i] == ' '))
        i++;
    return i < t.n && t.p[i] == '=';
}

bool is_generic(struct str t) {
    const char *equals = t.n && t.p[0] == '%' ? memchr(t.p, '=', t.n) : NULL;
    if (equals)
        t = skip_blanks((struct str){equals + 1, (size_t)(t.p + t.n - equals - 1)});
    return t.n && t.p[0] == '"' && is_op(t);
}

bool begins_op(struct str t) {
    return t.n && (t.p[0] == '^' || is_op(t) || is_module(t) || is_func(t) || has_word(t, STR("return")));
}

size_t string_end(struct str t, size_t at) {
    for (at++; at < t.n && t.p[at] != '"'; at++)
        at += t.p[at] == '\\';
    return at;
}

size_t without_comment(struct str t) {
    if (!t.n || !memchr(t.p, '/', t.n) || !str_find(t, STR("//")))
        return t.n;
    for (size_t i = 0; i + 1 < t.n; i++)
        if (t.p[i] == '"')
            i = string_end(t, i);
        else if (t.p[i] == '/' && t.p[i + 1] == '/')
            return i;
    return t.n;
}

bool is_unfinished(struct str t) {
    uint32_t depth = 0;
    bool string = false;
    while (t.n && (t.p[t.n - 1] == ' ' || t.p[t.n - 1] == '\r' || t.p[t.n - 1] == '\n'))
        t.n--;
    if (t.n && t.p[t.n - 1] == '{')
        return false;
    for (size_t i = 0; i < t.n; i++) {
        char c = t.p[i];
        if (string) {
            i += c == '\\';
            string = c != '"';
        } else if (c == '"') {
            string = true;
        } else if (c == '(' || c == '[' || c == '{' || c == '<') {
            depth++;
        } else if ((c == ')' || c == ']' || c == '}' || (c == '>' && i && t.p[i - 1] != '-')) && depth) {
            depth--;
        }
    }
    return string || depth > 0;
}

bool is_prose(struct str t) {
    static const char *const marks[] = {"```", "===", "---", "***", "# ", "##", "> "};
    size_t i = 0;
    t = skip_blanks(t);
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
        if (str_starts(t, str_of(marks[k])))
            return true;
    while (i < t.n && is_word(t.p[i]) && t.p[i] != '.')
        i++;
    bool dialect = i + 1 < t.n && t.p[i] == '.' && is_word(t.p[i + 1]);
    return i > 0 && !dialect && !begins_op(t);
}

bool starts_afresh(struct str t) {
    return t.n == 0 || strchr(" \t}^%#!{/", t.p[0]) || is_op(t) || is_module(t) || is_func(t) ||
           has_word(t, STR("return"));
}
