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
    const char *end = text.n ? text.p + text.n : text.p;
    for (const char *dots = text.p; dots < end && (dots = memchr(dots, '.', (size_t)(end - dots))); dots++) {
        const char *digits = dots, *p;
        while (digits > text.p && isdigit((unsigned char)digits[-1]))
            digits--;
        for (p = digits; p > text.p && (is_letter(p[-1]) || isdigit((unsigned char)p[-1]));)
            p--;
        if (end - dots < 2 || dots[1] != '.' || p == digits || digits == dots || dots - digits > 2 || !is_letter(*p))
            continue;
        *s = (struct series){{p, (size_t)(digits - p)}, {dots + 2, (size_t)(end - dots) - 2}, 0};
        for (; digits < dots; digits++)
            s->first = s->first * 10 + (uint32_t)(*digits - '0');
        return true;
    }
    return false;
}

/* Each series of the text is its member number `i`, from 0, or all of its members in a list where i is NONE. */
static void add_members(struct buf *out, struct str text, uint32_t i) {
    struct series s;
    for (; find_series(text, &s); text = s.rest) {
        uint32_t from = s.first + (i == NONE ? 0 : i), to = i == NONE ? LAST_OF_SERIES : from;
        buf_add(out, (struct str){text.p, (size_t)(s.name.p - text.p)});
        for (uint32_t k = from; k <= to; k++)
            buf_printf(out, "%s%.*s%u", k > from ? ", " : "", (int)s.name.n, s.name.p, k);
    }
    buf_add(out, text);
}

uint32_t series_members(struct arena *a, struct str text, struct str out[MOST_MEMBERS]) {
    struct series s;
    if (!find_series(text, &s) || s.first > LAST_OF_SERIES) {
        out[0] = text;
        return 1;
    }
    uint32_t n = LAST_OF_SERIES - s.first + 1;
    for (uint32_t i = 0; i < n; i++) {
        struct buf member = {0};
        add_members(&member, text, i);
        out[i] = buf_take(&member, a);
    }
    return n;
}

struct str series_any(struct arena *a, struct str text) {
    struct str members[MOST_MEMBERS], out;
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
    struct str rest = text;
    struct buf out = {0};
    struct series s;
    if (!find_series(text, &s))
        return text;
    while (rest.n) {
        struct str line = str_line(&rest);
        bool defined = defines_series(line) && find_series(line, &s) && s.first <= LAST_OF_SERIES;
        for (uint32_t i = 0, n = defined ? MOST_MEMBERS - s.first : 1; i < n; i++) {
            add_members(&out, line, defined ? i : NONE);
            buf_addc(&out, '\n');
        }
    }
    return buf_take(&out, a);
}
