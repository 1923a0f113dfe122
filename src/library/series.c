#include "library/series.h"

#include <ctype.h>
#include <string.h>

/* A series in a text: the letters of its name, and the number that it begins with. */
struct series {
    struct str name, rest; /* rest: of the text, behind it */
    uint32_t first;
};

static bool is_letter(char c) {
    return isalpha((unsigned char)c) || c == '_';
}

static bool find_series(struct str text, struct series *s) {
    const char *end = text.p + text.n, *dots;
    for (struct str t = text; (dots = str_find(t, STR(".."))); t = (struct str){dots + 1, (size_t)(end - dots) - 1}) {
        const char *digits = dots, *p;
        while (digits > text.p && isdigit((unsigned char)digits[-1]))
            digits--;
        for (p = digits; p > text.p && (is_letter(p[-1]) || isdigit((unsigned char)p[-1]));)
            p--;
        if (p == digits || digits == dots || dots - digits > 2 || !is_letter(*p))
            continue;
        *s = (struct series){{p, (size_t)(digits - p)}, {dots + 2, (size_t)(end - dots) - 2}, 0};
        for (; digits < dots; digits++)
            s->first = s->first * 10 + (uint32_t)(*digits - '0');
        return true;
    }
    return false;
}

/* Each series of the text is its member number `i`, from 0, or all of its members in a list where i is NONE. */
static struct str with_members(struct arena *a, struct str text, uint32_t i) {
    struct str out = STR("");
    struct series s;
    while (find_series(text, &s)) {
        uint32_t from = s.first + (i == NONE ? 0 : i), to = i == NONE ? LAST_OF_SERIES : from;
        out = arena_printf(a, "%.*s%.*s", (int)out.n, out.p, (int)(s.name.p - text.p), text.p);
        for (uint32_t k = from; k <= to; k++)
            out = arena_printf(a, "%.*s%s%.*s%u", (int)out.n, out.p, k > from ? ", " : "", (int)s.name.n, s.name.p, k);
        text = s.rest;
    }
    return arena_printf(a, "%.*s%.*s", (int)out.n, out.p, (int)text.n, text.p);
}

uint32_t series_members(struct arena *a, struct str text, struct str out[LAST_OF_SERIES]) {
    struct series s;
    if (!find_series(text, &s) || s.first > LAST_OF_SERIES) {
        out[0] = text;
        return 1;
    }
    uint32_t n = LAST_OF_SERIES - s.first + 1;
    for (uint32_t i = 0; i < n; i++)
        out[i] = with_members(a, text, i);
    return n;
}

struct str series_any(struct arena *a, struct str text) {
    struct str members[LAST_OF_SERIES], out;
    uint32_t n = series_members(a, text, members);
    out = members[0];
    for (uint32_t i = 1; i < n; i++)
        out = arena_printf(a, "%.*s | %.*s", (int)out.n, out.p, (int)members[i].n, members[i].p);
    return out;
}

/* The line begins with a series, perhaps behind `also` or `maybe`. */
static bool defines_series(struct str line) {
    const char *sign = memchr(line.p, '=', line.n);
    struct series s;
    return sign && find_series((struct str){line.p, (size_t)(sign - line.p)}, &s);
}

struct str series_formula(struct arena *a, struct str text) {
    struct str out = STR(""), rest = text;
    struct series s;
    if (!find_series(text, &s))
        return text;
    while (rest.n) {
        const char *newline = memchr(rest.p, '\n', rest.n);
        struct str line = {rest.p, newline ? (size_t)(newline - rest.p) : rest.n}, members[LAST_OF_SERIES];
        bool defined = defines_series(line);
        uint32_t n = defined ? series_members(a, line, members) : 1;
        for (uint32_t i = 0; i < n; i++) {
            struct str member = defined ? members[i] : with_members(a, line, NONE);
            out = arena_printf(a, "%.*s%.*s\n", (int)out.n, out.p, (int)member.n, member.p);
        }
        rest = newline ? (struct str){newline + 1, rest.n - line.n - 1} : (struct str){rest.p, 0};
    }
    return out;
}
