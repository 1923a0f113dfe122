/* Copies ops byte by byte from the input, so that a segment can be searched for there; only indentation that all lines
 * of an op share is removed. */
#include "report/place/segment.h"

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
    struct str rest = text;
    buf_add(out, str_line(&rest));
    struct str indent = rest.n > 0 ? indentation(ir->text, ir->ops[op].text.begin) : STR("");
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

enum { MOST_OUTSIDE = 64 }; /* values from outside that are told apart */

struct segment_hasher {
    const struct segment *s;
    uint64_t hash;
    uint32_t outside[MOST_OUTSIDE], noutside;
};

static void mix(struct segment_hasher *h, uint64_t x) {
    h->hash = (h->hash ^ x) * 0x9E3779B97F4A7C15ull;
    h->hash ^= h->hash >> 31;
}

/* Which result of which op of the segment it is, or which value from outside. */
static void mix_value(struct segment_hasher *h, uint32_t value) {
    const struct mlir *m = h->s->ir;
    if (value == NONE) {
        mix(h, NONE);
        return;
    }
    const struct mlir_value *v = &m->values[value];
    mix(h, str_hash(m->types[v->type].text));
    uint32_t at = find_id(h->s->ops, h->s->nops, v->def);
    if (at != NONE) {
        mix(h, (uint64_t)at << 32 | v->index);
        return;
    }
    at = 0;
    while (at < h->noutside && h->outside[at] != value)
        at++;
    if (at == h->noutside && at < MOST_OUTSIDE)
        h->outside[h->noutside++] = value;
    mix(h, ~(uint64_t)at);
}

uint64_t segment_hash(const struct segment *s) {
    struct segment_hasher h = {.s = s, .hash = s->nops};
    for (uint32_t i = 0; i < s->nops; i++) {
        const struct mlir_op *op = &s->ir->ops[s->ops[i]];
        mix(&h, str_hash(s->ir->names[op->name]));
        mix(&h, str_hash(mlir_span(s->ir, op->props)));
        mix(&h, str_hash(mlir_span(s->ir, op->attrs)));
        for (uint32_t k = 0; k < op->noperands; k++)
            mix_value(&h, s->ir->operands[op->first_operand + k]);
        for (uint32_t k = 0; k < op->nresults; k++)
            mix(&h, str_hash(s->ir->types[s->ir->values[op->first_result + k].type].text));
    }
    return h.hash;
}
