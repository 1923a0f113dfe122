/* Copies ops byte by byte from the input, so that a segment can be searched for there; only indentation that all lines
 * of an op share is removed. */
#include "place/segment.h"

#include <string.h>

struct segment matched_ops(const struct match *m, struct arena *a) {
    uint32_t *ops = arena_alloc(a, (m->nops + (size_t)1) * sizeof *ops);
    memcpy(ops, m->ops, m->nops * sizeof *ops);
    sort_ids(ops, m->nops);
    return (struct segment){m->graph->m, ops, m->nops};
}

struct segment match_segment(const struct match *m, struct arena *a) {
    uint32_t n = m->nops + m->nthrough, *ops = arena_alloc(a, (n + (size_t)1) * sizeof *ops);
    for (uint32_t i = 0; i < n; i++)
        ops[i] = i < m->nops ? m->ops[i] : m->through[i - m->nops];
    sort_ids(ops, n);
    return (struct segment){m->graph->m, ops, n};
}

bool in_match(const struct match *m, uint32_t op) {
    for (uint32_t i = 0; i < m->nops + m->nthrough; i++)
        if (op == (i < m->nops ? m->ops[i] : m->through[i - m->nops]))
            return true;
    return false;
}

static bool blank(char c) {
    return c == ' ' || c == '\t';
}

static size_t blanks_at_end(struct str s) {
    size_t n = 0;
    while (n < s.n && (blank(s.p[s.n - n - 1]) || s.p[s.n - n - 1] == '\r' || s.p[s.n - n - 1] == '\n'))
        n++;
    return n;
}

/* Indentation of the line that holds text[at]. */
static struct str indentation(struct str text, size_t at) {
    size_t begin = at, end;
    while (begin > 0 && text.p[begin - 1] != '\n')
        begin--;
    for (end = begin; end < at && blank(text.p[end]); end++)
        ;
    return (struct str){text.p + begin, end - begin};
}

static size_t common_prefix(struct str a, struct str b) {
    size_t i = 0;
    while (i < a.n && i < b.n && a.p[i] == b.p[i])
        i++;
    return i;
}

static void add_op(const struct mlir *ir, uint32_t op, struct buf *out) {
    struct str text = mlir_span(ir, ir->ops[op].text);
    text.n -= blanks_at_end(text);
    struct str indent = indentation(ir->text, ir->ops[op].text.begin);
    struct str rest = text;
    buf_add(out, str_line(&rest));
    for (struct str later = rest; later.n > 0;) {
        struct str line = str_line(&later);
        if (str_trim(line).n > 0)
            indent.n = common_prefix(indent, line);
    }
    while (rest.n > 0) {
        struct str line = str_line(&rest);
        size_t cut = common_prefix(indent, line);
        buf_addc(out, '\n');
        buf_add(out, (struct str){line.p + cut, line.n - cut});
    }
    buf_addc(out, '\n');
}

void segment_text(const struct segment *s, struct buf *out) {
    for (uint32_t i = 0; i < s->nops; i++)
        add_op(s->ir, s->ops[i], out);
}

void segment_lines(const struct segment *s, struct buf *out) {
    uint64_t begin = 0, last = 0;
    size_t at = out->n;
    for (uint32_t i = 0; i <= s->nops; i++) {
        uint64_t line = i < s->nops ? mlir_place(s->ir, s->ir->ops[s->ops[i]].text.begin).line : 0;
        if (i && (line == last || line == last + 1)) {
            last = line;
            continue;
        }
        if (i)
            buf_printf(out, last > begin ? "%s%llu-%llu" : "%s%llu", out->n > at ? ", " : "", (unsigned long long)begin,
                       (unsigned long long)last);
        begin = last = line;
    }
}
