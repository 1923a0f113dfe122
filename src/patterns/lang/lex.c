/* Scanner of formulas: names, numbers, strings and punctuation over a view of the pattern file. */
#include "patterns/lang/lex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const long_signs[] = {"...", "**", "==", "!=", "<=", ">="};

static bool name_start(char c) {
    return isalpha((unsigned char)c) || c == '_';
}
static bool name_char(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static char peek(const struct lexer *l, size_t ahead) {
    return l->at + ahead < l->text.n ? l->text.p[l->at + ahead] : '\0';
}

static void skip_blanks(struct lexer *l) {
    char c = peek(l, 0);
    for (; c == ' ' || c == '\t' || c == '\r'; c = peek(l, 0))
        l->at++;
    if (c == '#')
        while (l->at < l->text.n && peek(l, 0) != '\n')
            l->at++;
}

/* At a line end: skips blank lines; true when the next line continues the expression, or there is none: it begins with
 * a sign. A minus continues it only with a blank behind it: -x may begin a line. */
static bool continues(struct lexer *l) {
    while (peek(l, 0) == '\n') {
        l->at++;
        skip_blanks(l);
    }
    return strchr("|&+*/%@<>=![)],", peek(l, 0)) != NULL || (peek(l, 0) == '-' && peek(l, 1) == ' ');
}

static struct token take(struct lexer *l, enum token_kind kind, size_t n) {
    struct token t = {kind, {l->text.p + l->at, n}, 0};
    l->at += n;
    return t;
}

static struct token number(struct lexer *l) {
    char digits[64];
    size_t n = 0;
    while (n + 1 < sizeof digits && (isalnum((unsigned char)peek(l, n)) || peek(l, n) == '.' ||
                                     ((peek(l, n) == '-' || peek(l, n) == '+') && n && (digits[n - 1] | 32) == 'e'))) {
        digits[n] = peek(l, n);
        n++;
    }
    digits[n] = '\0';
    char *end;
    double value = strtod(digits, &end);
    struct token t = take(l, *end ? T_BAD : T_NUMBER, n ? n : 1);
    t.value = value;
    return t;
}

static struct token string(struct lexer *l) {
    const char *from = l->text.p + l->at + 1;
    const char *close = memchr(from, peek(l, 0), l->text.n - l->at - 1);
    if (!close)
        return take(l, T_BAD, 1);
    struct token t = {T_STRING, {from, (size_t)(close - from)}, 0};
    l->at += t.text.n + 2;
    return t;
}

static struct token punctuation(struct lexer *l) {
    struct str rest = {l->text.p + l->at, l->text.n - l->at};
    char c = peek(l, 0);
    for (size_t i = 0; i < sizeof long_signs / sizeof *long_signs; i++)
        if (c == long_signs[i][0] && str_starts(rest, str_of(long_signs[i])))
            return take(l, T_PUNCT, strlen(long_signs[i]));
    if (!strchr("()[]+-*/|,=<>%:&@", c))
        return take(l, T_BAD, 1);
    if (c == '(' || c == '[')
        l->depth++;
    else if ((c == ')' || c == ']') && l->depth)
        l->depth--;
    return take(l, T_PUNCT, 1);
}

struct token lex_next(struct lexer *l) {
    skip_blanks(l);
    if (peek(l, 0) == '\n') {
        struct token line = {T_LINE, {l->text.p + l->at, 0}, 0};
        bool goes_on = continues(l);
        if (!goes_on && l->depth == 0)
            return line;
        skip_blanks(l);
    }
    if (l->at >= l->text.n)
        return (struct token){T_END, {l->text.p + l->text.n, 0}, 0};
    char c = peek(l, 0);
    if (name_start(c)) {
        size_t n = 0;
        while (name_char(peek(l, n)))
            n++;
        if (isdigit((unsigned char)peek(l, n - 1)) && peek(l, n) == '.' && peek(l, n + 1) == '.')
            n += 2; /* a series: expr.h */
        return take(l, T_NAME, n);
    }
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)peek(l, 1))))
        return number(l);
    return c == '"' || c == '\'' ? string(l) : punctuation(l);
}

struct source_location lex_place(struct text_origin origin, struct str whole, const char *at) {
    struct source_location p = {origin.file ? origin.file->path : "", origin.line, origin.column};
    if (at > whole.p + whole.n) /* a name that stands nowhere, but follows from a series */
        return p;
    for (const char *c = whole.p; c < at && c < whole.p + whole.n; c++) {
        p.column++;
        if (*c == '\n') {
            p.line++;
            p.column = origin.column;
        }
    }
    return p;
}
