/* Copies ops byte by byte from the input, so that a segment can be searched for there; only indentation that all lines
 * of an op share is removed. */
#include "place/segment.h"

#include <string.h>

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

/* The line at the head of *rest, without its newline; *rest is what follows. */
static struct str next_line(struct str *rest) {
    const char *end = rest->n > 0 ? memchr(rest->p, '\n', rest->n) : NULL;
    struct str line = {rest->p, end ? (size_t)(end - rest->p) : rest->n};
    size_t used = end ? line.n + 1 : line.n;
    *rest = (struct str){rest->p + used, rest->n - used};
    return line;
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
    buf_add(out, next_line(&rest));
    for (struct str later = rest; later.n > 0;) {
        struct str line = next_line(&later);
        if (str_trim(line).n > 0)
            indent.n = common_prefix(indent, line);
    }
    while (rest.n > 0) {
        struct str line = next_line(&rest);
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
