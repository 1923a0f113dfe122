/* The edits say which lines change: nothing is searched. */
#include "compile/apply/unified_diff.h"

enum { CONTEXT = 3 };

/* Lines [first, end) of the text that are `now` afterwards. */
struct changed_lines {
    uint32_t first, end;
    struct str now;
};

struct line_index {
    struct str text;
    uint32_t *begin, n; /* of each line; begin[n] is the end of the text */
};

static void index_lines(struct line_index *x, struct str text, struct arena *a) {
    uint32_t n = 1;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    *x = (struct line_index){text, arena_alloc(a, (n + (size_t)1) * sizeof *x->begin), 0};
    for (size_t i = 0; i < text.n;) {
        const char *end = memchr(text.p + i, '\n', text.n - i);
        x->begin[x->n++] = (uint32_t)i;
        i = end ? (size_t)(end - text.p) + 1 : text.n;
    }
    x->begin[x->n] = (uint32_t)text.n;
}

static uint32_t line_of(const struct line_index *x, uint32_t at) {
    uint32_t low = 0, high = x->n;
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (x->begin[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Edits as changes of whole lines; those that share a line are one. */
static uint32_t lines_of_edits(const struct line_index *x, struct text_edits *e, struct arena *a,
                               struct changed_lines *out) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->n;) {
        uint32_t first = line_of(x, e->items[i].at.begin), end = first, at = x->begin[first];
        struct buf now = {0};
        do {
            const struct text_edit *one = &e->items[i++];
            uint32_t last = one->at.end > one->at.begin ? line_of(x, one->at.end - 1) : line_of(x, one->at.begin);
            buf_add(&now, (struct str){x->text.p + at, one->at.begin - at});
            buf_add(&now, one->text);
            at = one->at.end;
            end = last + 1 > end ? last + 1 : end;
        } while (i < e->n && e->items[i].at.begin < x->begin[end]);
        buf_add(&now, (struct str){x->text.p + at, x->begin[end] - at});
        out[n++] = (struct changed_lines){first, end, buf_take(&now, a)};
    }
    return n;
}

static uint32_t count_lines(struct str s) {
    uint32_t n = 0;
    while (s.n) {
        str_line(&s);
        n++;
    }
    return n;
}

static void print_some(struct buf *b, char mark, struct str s) {
    while (s.n) {
        bool whole = memchr(s.p, '\n', s.n) != NULL;
        struct str line = str_line(&s);
        buf_printf(b, "%c%.*s\n%s", mark, (int)line.n, line.p, whole ? "" : "\\ No newline at end of file\n");
    }
}

static void print_unchanged(struct buf *b, const struct line_index *x, uint32_t first, uint32_t end) {
    if (first < end)
        print_some(b, ' ', (struct str){x->text.p + x->begin[first], x->begin[end] - x->begin[first]});
}

static void print_hunk(struct buf *b, const struct line_index *x, const struct changed_lines *c, uint32_t n,
                       int64_t shift) {
    uint32_t first = c[0].first > CONTEXT ? c[0].first - CONTEXT : 0;
    uint32_t end = c[n - 1].end + CONTEXT < x->n ? c[n - 1].end + CONTEXT : x->n;
    int64_t now = end - first;
    for (uint32_t i = 0; i < n; i++)
        now += (int64_t)count_lines(c[i].now) - (c[i].end - c[i].first);
    buf_printf(b, "@@ -%u,%u +%lld,%lld @@\n", first + 1, end - first, (long long)first + 1 + (long long)shift,
               (long long)now);
    for (uint32_t i = 0, at = first; i <= n; i++) {
        print_unchanged(b, x, at, i < n ? c[i].first : end);
        if (i == n)
            break;
        print_some(b, '-', (struct str){x->text.p + x->begin[c[i].first], x->begin[c[i].end] - x->begin[c[i].first]});
        print_some(b, '+', c[i].now);
        at = c[i].end;
    }
}

struct str unified_diff(struct str text, struct text_edits *e, const char *path, struct arena *a) {
    struct line_index x;
    struct buf b = {0};
    int64_t shift = 0;
    if (!e->n)
        return STR("");
    text_edited(text, e, a); /* sorts them */
    index_lines(&x, text, a);
    struct changed_lines *c = arena_alloc(a, e->n * sizeof *c);
    uint32_t n = lines_of_edits(&x, e, a, c);
    buf_printf(&b, "--- a/%s\n+++ b/%s\n", path, path);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && c[end].first <= c[end - 1].end + 2 * CONTEXT; end++)
            ;
        print_hunk(&b, &x, c + i, end - i, shift);
        for (uint32_t k = i; k < end; k++)
            shift += (int64_t)count_lines(c[k].now) - (c[k].end - c[k].first);
    }
    return buf_take(&b, a);
}
