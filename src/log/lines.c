/* Lines of a log, cleaned. What a line needs is told by one look at its bytes: most need nothing. */
#include "log/lines.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { SAMPLE_LINES = 64, SAMPLE_BYTES = 1 << 18, PREFIXES_MAX = 4 };

struct lines {
    const struct source *s;
    struct arena *arena;
    struct rules *rules;
    size_t at;
    uint64_t number;
    bool has_tabs;    /* "job<TAB>step<TAB>time" prefixes in the first lines */
    bool has_numbers; /* every line of the sample starts like the output of grep -n */
    char mark;        /* every line of the sample starts with '+' or '-' */
    bool has_cells;   /* IR in the cells of a CSV file */
    bool cell_open;
    struct buf scratch;
    struct keep_list keeps;
};

/* Bytes of a line that ask for more work. */
enum { MARK_BAR = 1, MARK_DROP = 2 /* ESC or NUL */ };

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static unsigned mark_of(char c) {
    return c == '|' ? MARK_BAR : c == '\033' || c == 0 ? MARK_DROP : 0;
}

#ifdef __SSE2__
/* Control characters and '|' are rare: one test for all of them. */
static inline __m128i near_marks(const char *p) {
    const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    return _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v), _mm_cmpeq_epi8(v, _mm_set1_epi8('|')));
}

static inline bool any_mark(__m128i a, __m128i b, __m128i c, __m128i d) {
    return _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d))) != 0;
}
#endif

/* To the newline or `end`, and which marks stand before it. */
static const char *find_newline(const char *p, const char *end, unsigned *marks) {
    *marks = 0;
#ifdef __SSE2__
    while (end - p >= 64 && !any_mark(near_marks(p), near_marks(p + 16), near_marks(p + 32), near_marks(p + 48)))
        p += 64;
    for (; end - p >= 16; p += 16)
        for (unsigned mask = (unsigned)_mm_movemask_epi8(near_marks(p)); mask; mask &= mask - 1) {
            const char *c = p + __builtin_ctz(mask);
            if (*c == '\n')
                return c;
            *marks |= mark_of(*c);
        }
#endif
    for (; p < end && *p != '\n'; p++)
        *marks |= mark_of(*p);
    return p;
}

static struct str take_line(const struct source *s, size_t from) {
    const char *p = s->data + from, *q = memchr(p, '\n', s->size - from);
    return (struct str){p, q ? (size_t)(q - p) : s->size - from};
}

static size_t grep_number(struct str text) {
    size_t i = 0;
    while (i < text.n && i < 12 && is_digit(text.p[i]))
        i++;
    return i > 0 && i < text.n && (text.p[i] == ':' || text.p[i] == '-') ? i + 1 : 0;
}

static bool is_date(struct str t) {
    return grep_number(t) == 5 && t.n > 7 && t.p[4] == '-' && is_digit(t.p[5]) && t.p[7] == '-';
}

/* Residue of grep and diff is a prefix only when every line has it. */
static void sample(struct lines *l) {
    uint32_t seen = 0, numbers = 0, plus = 0, minus = 0;
    for (size_t at = l->at; at < l->s->size && seen < SAMPLE_LINES;) {
        struct str t = take_line(l->s, at);
        at += t.n + 1;
        if (t.n == 0 || t.p[0] == '\r')
            continue;
        seen++;
        numbers += grep_number(t) > 0 && !is_date(t);
        plus += t.p[0] == '+';
        minus += t.p[0] == '-';
        const char *tab = memchr(t.p, '\t', t.n < 400 ? t.n : 400);
        l->has_tabs |= tab && memchr(tab + 1, '\t', (size_t)(t.p + t.n - tab - 1)) != NULL;
    }
    l->has_numbers = seen > 1 && numbers == seen;
    l->mark = seen > 1 && plus == seen ? '+' : seen > 1 && minus == seen ? '-' : 0;
    l->has_cells = cells_likely((struct str){l->s->data, l->s->size < SAMPLE_BYTES ? l->s->size : SAMPLE_BYTES});
}

struct lines *lines_open(const struct source *s, struct arena *a) {
    struct lines *l = arena_alloc(a, sizeof *l);
    l->s = s;
    l->arena = a;
    l->rules = rules_open(a);
    if (s->size >= 3 && memcmp(s->data, "\xef\xbb\xbf", 3) == 0)
        l->at = 3;
    if (s->size)
        sample(l);
    return l;
}

void lines_close(struct lines *l) {
    rules_close(l->rules);
    buf_free(&l->scratch);
    free(l->keeps.v);
}

struct rules *lines_rules(struct lines *l) {
    return l->rules;
}

/* ESC [ parameters letter; the length of it, or 1. */
static size_t escape_length(const char *p, const char *end) {
    const char *q = p + 1;
    if (*p == 0 || q >= end || *q != '[')
        return 1;
    for (q++; q < end && ((*q >= '0' && *q <= '9') || *q == ';' || *q == '?');)
        q++;
    return (size_t)(q - p) + (q < end);
}

static const char *next_dropped(const char *p, const char *end) {
    const char *escape = memchr(p, '\033', (size_t)(end - p));
    const char *zero = memchr(p, 0, (size_t)((escape ? escape : end) - p));
    return zero ? zero : escape ? escape : end;
}

/* Without colours and NUL bytes. */
static void drop_marks(struct lines *l, struct line *line) {
    const char *p = l->s->data + line->begin, *end = l->s->data + line->end;
    l->scratch.n = 0;
    l->keeps.n = 0;
    while (p < end) {
        const char *stop = next_dropped(p, end);
        if (stop > p) {
            buf_add(&l->scratch, (struct str){p, (size_t)(stop - p)});
            l->keeps.v = grow(l->keeps.v, &l->keeps.cap, l->keeps.n + 1, sizeof *l->keeps.v);
            l->keeps.v[l->keeps.n++] = (struct keep){(size_t)(p - l->s->data), (size_t)(stop - l->s->data)};
        }
        p = stop < end ? stop + escape_length(stop, end) : end;
    }
    line->text = buf_str(&l->scratch);
    line->keep = l->keeps.v;
    line->nkeep = l->keeps.n;
}

static void skip_front(struct line *line, size_t n) {
    line->text.p += n;
    line->text.n -= n;
    line->prefixed = true;
    for (; line->nkeep && n >= line->keep->end - line->keep->begin; line->keep++, line->nkeep--)
        n -= line->keep->end - line->keep->begin;
    if (line->nkeep)
        line->keep->begin += n;
}

void line_cut(struct line *line, size_t n) {
    line->text.n = n;
    line->next = line->end;
    for (uint32_t i = 0; i < line->nkeep; i++) {
        size_t have = line->keep[i].end - line->keep[i].begin;
        if (have >= n) {
            line->keep[i].end = line->keep[i].begin + n;
            line->nkeep = i + 1;
        }
        n -= have < n ? have : n;
    }
}

static bool may_have_prefix(const struct lines *l, struct str t) {
    if (t.n < 5)
        return false;
    char c = t.p[0];
    if (l->has_tabs && memchr(t.p, '\t', t.n < 210 ? t.n : 210))
        return true;
    if (is_digit(c))
        return t.n > 20 && t.p[10] == 'T' && t.p[4] == '-';
    if (c == '[')
        return is_digit(t.p[1]) || (t.p[1] == 'g' && t.p[2] == 'w');
    if (c == '(')
        return t.p[1] == 'E' || t.p[1] == 'W' || t.p[1] == 'A';
    return c >= 'A' && c <= 'Z' && t.p[3] == ' ' && (t.p[4] == ' ' || is_digit(t.p[4]));
}

static void drop_prefixes(struct lines *l, struct line *line) {
    if (l->has_numbers && grep_number(line->text))
        skip_front(line, grep_number(line->text));
    if (l->mark && line->text.n && line->text.p[0] == l->mark)
        skip_front(line, 1);
    for (int i = 0; i < PREFIXES_MAX && may_have_prefix(l, line->text); i++) {
        size_t n = prefix_length(l->rules, line->text, &line->key);
        if (n == 0)
            return;
        skip_front(line, n);
    }
}

/* A byte order mark at the start of the file's second half, where two files were joined. */
static bool has_mark(struct str t) {
    return t.n >= 3 && memcmp(t.p, "\xef\xbb\xbf", 3) == 0;
}

static void read_cell(struct lines *l, struct line *line) {
    l->scratch.n = 0;
    l->keeps.n = 0;
    if (!cells_read(l->s->data, line->begin, line->end, &l->cell_open, &l->scratch, &l->keeps))
        return;
    line->text = buf_str(&l->scratch);
    line->keep = l->keeps.v;
    line->nkeep = l->keeps.n;
    line->prefixed = true;
}

bool lines_next(struct lines *l, struct line *line) {
    if (l->at >= l->s->size)
        return false;
    unsigned marks;
    const char *from = l->s->data + l->at, *stop = find_newline(from, l->s->data + l->s->size, &marks);
    struct str t = {from, (size_t)(stop - from)};
    line->begin = l->at;
    line->end = l->at + t.n;
    line->next = line->end < l->s->size ? line->end + 1 : line->end;
    line->number = ++l->number;
    line->prefixed = false;
    line->has_bar = marks & MARK_BAR;
    line->key = (struct str){0};
    l->at = line->next;
    if (t.n > 0 && t.p[t.n - 1] == '\r')
        t.n--, line->end--;
    l->keeps.v = grow(l->keeps.v, &l->keeps.cap, 1, sizeof *l->keeps.v);
    l->keeps.v[0] = (struct keep){line->begin, line->end};
    line->text = t;
    line->nkeep = 1;
    line->keep = l->keeps.v;
    if (marks & MARK_DROP)
        drop_marks(l, line);
    else if (l->has_cells)
        read_cell(l, line);
    if (has_mark(line->text))
        skip_front(line, 3);
    drop_prefixes(l, line);
    return true;
}
