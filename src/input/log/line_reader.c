/* Reads a source line by line and cleans each line: terminal colours, binary around text, prefixes of tools.
 * Most lines need none of it and stay views of the source. */
#include "input/log/line_reader.h"

#include <stdlib.h>
#include <string.h>

static struct str line_at(const struct source *s, size_t from) {
    const char *p = s->data + from, *q = memchr(p, '\n', s->size - from);
    return (struct str){p, q ? (size_t)(q - p) : s->size - from};
}

/* Length of a terminal control sequence (ECMA-48): ESC [ parameters letter, or ESC _ up to BEL or ESC \. */
static size_t escape_length(const char *p, const char *end) {
    const char *q = p + 1;
    if (q < end && *q == '_') {
        while (q < end && *q != '\a' && !(*q == '\\' && q[-1] == '\033'))
            q++;
        return (size_t)(q - p) + (q < end);
    }
    if (q >= end || *q != '[')
        return 1;
    for (q++; q < end && ((*q >= '0' && *q <= '9') || *q == ';' || *q == '?');)
        q++;
    return (size_t)(q - p) + (q < end);
}

static void drop_escapes(struct line_reader *r, struct line *line) {
    const char *p = r->s->data + line->begin, *end = r->s->data + line->end;
    r->scratch.n = 0;
    r->ranges.n = 0;
    while (p < end) {
        const char *found = memchr(p, '\033', (size_t)(end - p)), *stop = found ? found : end;
        if (stop > p) {
            buf_add(&r->scratch, (struct str){p, (size_t)(stop - p)});
            r->ranges.v = grow(r->ranges.v, &r->ranges.cap, r->ranges.n + 1, sizeof *r->ranges.v);
            r->ranges.v[r->ranges.n++] = (struct source_range){(size_t)(p - r->s->data), (size_t)(stop - r->s->data)};
        }
        p = stop < end ? stop + escape_length(stop, end) : end;
    }
    line->text = buf_str(&r->scratch);
    line->ranges = r->ranges.v;
    line->nranges = r->ranges.n;
}

static void skip_front(struct line *line, size_t n) {
    line->text.p += n;
    line->text.n -= n;
    for (; line->nranges && n >= line->ranges->end - line->ranges->begin; line->ranges++, line->nranges--)
        n -= line->ranges->end - line->ranges->begin;
    if (line->nranges)
        line->ranges->begin += n;
}

/* A UTF-8 byte order mark, also in the middle of a file, where two files were joined. */
static bool has_byte_order_mark(struct str t) {
    return t.n >= 3 && memcmp(t.p, "\xef\xbb\xbf", 3) == 0;
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

/* A string in a binary file, such as a flatbuffer, ends at a NUL and begins behind one. */
static void end_at_zero(struct line_reader *r, struct line *line) {
    const char *data = r->s->data, *zero = memchr(data + line->begin, 0, line->end - line->begin);
    if (!zero)
        return;
    line->end = line->next = (size_t)(zero - data);
    while (line->next < r->s->size && data[line->next] == 0)
        line->next++;
}

static bool read_line(struct line_reader *r, struct line *line) {
    if (r->at >= r->s->size)
        return false;
    struct str t = line_at(r->s, r->at);
    line->begin = r->at;
    line->end = r->at + t.n;
    line->next = line->end < r->s->size ? line->end + 1 : line->end;
    line->number = r->number;
    line->process = 0;
    if (has_byte(r->s, line->begin, line->end, 0, &r->no_zero))
        end_at_zero(r, line);
    r->number += line->next > line->end && r->s->data[line->next - 1] == '\n';
    r->at = line->next;
    t.n = line->end - line->begin;
    if (t.n > 0 && t.p[t.n - 1] == '\r')
        t.n--, line->end--;
    r->ranges.v = grow(r->ranges.v, &r->ranges.cap, 1, sizeof *r->ranges.v);
    r->ranges.v[0] = (struct source_range){line->begin, line->end};
    line->text = t;
    line->nranges = 1;
    line->ranges = r->ranges.v;
    if (has_byte(r->s, line->begin, line->end, '\033', &r->no_escape))
        drop_escapes(r, line);
    if (has_byte_order_mark(line->text))
        skip_front(line, 3);
    return true;
}

static void rewind_reader(struct line_reader *r) {
    r->at = r->no_escape = r->no_zero = 0;
    r->number = 1;
}

void line_reader_open(struct line_reader *r, const struct source *s) {
    struct line line;
    *r = (struct line_reader){.s = s, .number = 1};
    while (read_line(r, &line))
        prefixes_note(&r->prefixes, line.text);
    prefixes_choose(&r->prefixes);
    rewind_reader(r);
}

void line_reader_close(struct line_reader *r) {
    prefixes_free(&r->prefixes);
    buf_free(&r->scratch);
    free(r->ranges.v);
}

bool line_reader_next(struct line_reader *r, struct line *line) {
    if (!read_line(r, line))
        return false;
    size_t n = prefix_of(&r->prefixes, line->text, &line->process);
    if (n)
        skip_front(line, n);
    return true;
}
