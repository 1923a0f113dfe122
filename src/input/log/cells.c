/* Tables of ops and spreadsheets with a module in a cell (RFC 4180): CSV doubles each quote of a quoted field, and a
 * field may run over many lines. The text of a line that has such fields is the longest one, with single quotes again.
 */
#include "input/log/lines.h"

#include <string.h>

bool cells_likely(struct str head) {
    static const struct str signs[] = {{"\"\"ttir.", 7}, {"\"\"ttnn.", 7}, {"\"\"stablehlo.", 12}, {"\"\"func.", 7}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (str_find(head, signs[i]))
            return true;
    return false;
}

/* From inside a field to the quote that ends it; `end` when the field goes on in the next line. */
static size_t field_end(const char *data, size_t at, size_t end) {
    while (at < end) {
        const char *q = memchr(data + at, '"', end - at);
        if (!q)
            return end;
        at = (size_t)(q - data);
        if (at + 1 >= end || data[at + 1] != '"')
            return at;
        at += 2;
    }
    return end;
}

enum { NO_FIELD = -1 };

/* The first byte inside the next quoted field, or NO_FIELD. */
static size_t field_begin(const char *data, size_t at, size_t end, bool first) {
    for (; at < end; at++) {
        if (first && data[at] == '"')
            return at + 1;
        first = data[at] == ',' || data[at] == ';' || data[at] == '\t';
    }
    return (size_t)NO_FIELD;
}

static void add_cell(const char *data, struct source_range cell, struct buf *text, struct range_list *ranges) {
    for (size_t from = cell.begin, to; from < cell.end; from = to + 1) {
        const char *q = memchr(data + from, '"', cell.end - from);
        to = q ? (size_t)(q - data) + 1 : cell.end;
        ranges->v = grow(ranges->v, &ranges->cap, ranges->n + 1, sizeof *ranges->v);
        ranges->v[ranges->n++] = (struct source_range){from, to};
        buf_add(text, (struct str){data + from, to - from});
    }
}

bool cells_read(const char *data, size_t begin, size_t end, bool *open, struct buf *text, struct range_list *ranges) {
    struct source_range best = {0, 0};
    bool inside = *open, any = inside;
    size_t at = begin;
    *open = false;
    do {
        size_t from = inside ? at : field_begin(data, at, end, at == begin);
        if (from == (size_t)NO_FIELD)
            break;
        size_t to = field_end(data, from, end);
        *open = to == end;
        if (to - from >= best.end - best.begin || !any || *open)
            best = (struct source_range){from, to};
        any = true;
        inside = false;
        at = to < end ? to + 1 : end;
    } while (at < end);
    if (!any)
        return false;
    add_cell(data, best, text, ranges);
    return true;
}
