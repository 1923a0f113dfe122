/* Reads a source line by line and cleans each line: terminal colours, NUL bytes, prefixes of tools, CSV quoting. Most
 * lines need none of it and stay views of the source. Whether a file has prefixes of grep or diff, or is a CSV file, is
 * decided from its first lines. */
#include "input/log/lines.h"
#include "input/log/margins.h"
#include "input/log/shape.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLE_LINES = 64, SAMPLE_BYTES = 1 << 18, PREFIXES_MAX = 4 };

struct lines {
    const struct source *s;
    struct arena *arena;
    struct rules *rules;
    size_t at;
    uint64_t number;
    bool has_tabs;  /* "job<TAB>step<TAB>time" prefixes in the first lines */
    bool has_cells; /* IR in the cells of a CSV file */
    struct margins margins;
    bool cell_open;
    size_t no_bar, no_escape, no_zero; /* none of these bytes lies between the line at hand and here: see has_byte */
    struct buf scratch;
    struct range_list ranges;
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static struct str take_line(const struct source *s, size_t from) {
    const char *p = s->data + from, *q = memchr(p, '\n', s->size - from);
    return (struct str){p, q ? (size_t)(q - p) : s->size - from};
}

static void sample(struct lines *l) {
    struct str head = {l->s->data + l->at, l->s->size - l->at};
    head.n = head.n < SAMPLE_BYTES ? head.n : SAMPLE_BYTES;
    l->has_cells = cells_likely(head);
    margins_sample(&l->margins, head);
    for (int seen = 0; head.n && seen < SAMPLE_LINES && !l->has_tabs;) {
        struct str t = str_line(&head);
        const char *tab = memchr(t.p, '\t', t.n < 400 ? t.n : 400);
        seen += t.n > 0 && t.p[0] != '\r';
        l->has_tabs = tab && memchr(tab + 1, '\t', (size_t)(t.p + t.n - tab - 1));
    }
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
    free(l->ranges.v);
}

struct rules *lines_rules(struct lines *l) {
    return l->rules;
}

/* Length of a terminal control sequence (ESC [ parameters letter, ECMA-48); 1 for any other byte. */
static size_t escape_length(const char *p, const char *end) {
    const char *q = p + 1;
    if (*p == 0 || q >= end || *q != '[')
        return 1;
    for (q++; q < end && ((*q >= '0' && *q <= '9') || *q == ';' || *q == '?');)
        q++;
    return (size_t)(q - p) + (q < end);
}

static const char *next_dropped(const char *p, const char *end) {
    while (p < end && *p && *p != '')
        p++;
    return p;
}

/* Takes control sequences and NUL bytes out. */
static void drop_escapes(struct lines *l, struct line *line) {
    const char *p = l->s->data + line->begin, *end = l->s->data + line->end;
    l->scratch.n = 0;
    l->ranges.n = 0;
    while (p < end) {
        const char *stop = next_dropped(p, end);
        if (stop > p) {
            buf_add(&l->scratch, (struct str){p, (size_t)(stop - p)});
            l->ranges.v = grow(l->ranges.v, &l->ranges.cap, l->ranges.n + 1, sizeof *l->ranges.v);
            l->ranges.v[l->ranges.n++] = (struct source_range){(size_t)(p - l->s->data), (size_t)(stop - l->s->data)};
        }
        p = stop < end ? stop + escape_length(stop, end) : end;
    }
    line->text = buf_str(&l->scratch);
    line->ranges = l->ranges.v;
    line->nranges = l->ranges.n;
}

static void skip_front(struct line *line, size_t n) {
    line->text.p += n;
    line->text.n -= n;
    line->prefixed = true;
    for (; line->nranges && n >= line->ranges->end - line->ranges->begin; line->ranges++, line->nranges--)
        n -= line->ranges->end - line->ranges->begin;
    if (line->nranges)
        line->ranges->begin += n;
}

void line_cut(struct line *line, size_t n) {
    line->text.n = n;
    line->next = line->end;
    for (uint32_t i = 0; i < line->nranges; i++) {
        size_t have = line->ranges[i].end - line->ranges[i].begin;
        if (have >= n) {
            line->ranges[i].end = line->ranges[i].begin + n;
            line->nranges = i + 1;
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
    size_t margin = margin_of(&l->margins, line->text);
    if (margin)
        skip_front(line, margin);
    for (int i = 0; i < PREFIXES_MAX && may_have_prefix(l, line->text); i++) {
        size_t n = prefix_length(l->rules, line->text, &line->key);
        if (n == 0)
            return;
        skip_front(line, n);
    }
}

/* A UTF-8 byte order mark, also in the middle of a file, where two files were joined. */
static bool has_byte_order_mark(struct str t) {
    return t.n >= 3 && memcmp(t.p, "\xef\xbb\xbf", 3) == 0;
}

static void read_cell(struct lines *l, struct line *line) {
    l->scratch.n = 0;
    l->ranges.n = 0;
    if (!cells_read(l->s->data, line->begin, line->end, &l->cell_open, &l->scratch, &l->ranges))
        return;
    line->text = buf_str(&l->scratch);
    line->ranges = l->ranges.v;
    line->nranges = l->ranges.n;
    line->prefixed = true;
}

/* Joins a line that a terminal has broken with what follows it. */
static void join_pieces(struct lines *l, struct line *line) {
    struct str last = line->text;
    l->scratch.n = 0;
    buf_add(&l->scratch, last);
    while (l->at < l->s->size) {
        struct str all = take_line(l->s, l->at), next = without_return(all);
        if (!margins_join(&l->margins, last, buf_str(&l->scratch), next))
            break;
        line->begin = l->at;
        line->end = l->at + next.n;
        line->next = l->at + all.n + (l->at + all.n < l->s->size);
        l->at = line->next;
        line->last = ++l->number;
        buf_add(&l->scratch, next);
        l->ranges.v = grow(l->ranges.v, &l->ranges.cap, line->nranges + 1, sizeof *l->ranges.v);
        l->ranges.v[line->nranges++] = (struct source_range){line->begin, line->end};
        last = next;
    }
    line->text = buf_str(&l->scratch);
    line->ranges = l->ranges.v;
}

/* Whether a byte that few lines have is in [from, to). Searched for in pieces of many lines. */
static bool has_byte(const struct source *s, size_t from, size_t to, char c, size_t *none_before) {
    enum { PIECE = 1 << 14 };
    while (*none_before < to) {
        size_t begin = *none_before > from ? *none_before : from, n = s->size - begin < PIECE ? s->size - begin : PIECE;
        const char *found = memchr(s->data + begin, c, n);
        *none_before = found ? (size_t)(found - s->data) : begin + n;
        if (found)
            return *none_before < to;
    }
    return false;
}

bool lines_next(struct lines *l, struct line *line) {
    if (l->at >= l->s->size)
        return false;
    struct str t = take_line(l->s, l->at);
    line->begin = l->at;
    line->end = l->at + t.n;
    line->next = line->end < l->s->size ? line->end + 1 : line->end;
    line->number = line->last = ++l->number;
    line->prefixed = false;
    line->has_bar = has_byte(l->s, line->begin, line->end, '|', &l->no_bar);
    line->key = (struct str){0};
    l->at = line->next;
    if (t.n > 0 && t.p[t.n - 1] == '\r')
        t.n--, line->end--;
    l->ranges.v = grow(l->ranges.v, &l->ranges.cap, 1, sizeof *l->ranges.v);
    l->ranges.v[0] = (struct source_range){line->begin, line->end};
    line->text = t;
    line->nranges = 1;
    line->ranges = l->ranges.v;
    if (has_byte(l->s, line->begin, line->end, '\033', &l->no_escape) ||
        has_byte(l->s, line->begin, line->end, 0, &l->no_zero))
        drop_escapes(l, line);
    else if (l->has_cells)
        read_cell(l, line);
    else if (l->margins.width && line->text.n == l->margins.width)
        join_pieces(l, line);
    if (has_byte_order_mark(line->text))
        skip_front(line, 3);
    drop_prefixes(l, line);
    return true;
}
