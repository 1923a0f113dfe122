/* The reader of what pattern files are written in: mappings and sequences in blocks and in flow, plain and quoted
 * scalars, literal blocks, comments, all in ASCII. It gives up (failed) where YAML has a rule that is not here:
 * anchors, tags, tabs, folded blocks, empty values; and at every mistake. A test compares its trees with those of
 * libyaml. */
#include <string.h>

#include "library/tree.h"

enum { MAX_DEPTH = 32 };

struct quick {
    struct arena *arena;
    const char *p, *end; /* a NUL stands at `end` */
    const char *line_begin;
    uint64_t line;
    uint32_t depth;
    bool failed;
};

static bool blank_or_end(char c) {
    return c == ' ' || c == '\n' || c == '\0';
}

static int column_of(const struct quick *q) {
    return (int)(q->p - q->line_begin);
}

static void give_up(struct quick *q) {
    q->failed = true;
    q->p = q->end;
}

/* Behind a line end. */
static void next_line(struct quick *q) {
    q->p++;
    q->line++;
    q->line_begin = q->p;
}

/* Blanks, comments and line ends; true when a line ended. A comment has a blank before it. */
static bool skip(struct quick *q) {
    bool ended = false;
    for (;; next_line(q), ended = true) {
        while (*q->p == ' ')
            q->p++;
        if (*q->p == '#' && (q->p == q->line_begin || q->p[-1] == ' '))
            q->p = memchr(q->p, '\n', (size_t)(q->end - q->p));
        if (!q->p)
            q->p = q->end;
        if (*q->p != '\n')
            return ended;
    }
}

static bool at_document_mark(const struct quick *q) {
    return q->p == q->line_begin && q->end - q->p >= 3 && (memcmp(q->p, "---", 3) == 0 || memcmp(q->p, "...", 3) == 0);
}

static struct tree *new_tree(struct quick *q, enum tree_kind kind) {
    struct tree *t = arena_alloc(q->arena, sizeof *t);
    t->kind = kind;
    t->line = q->line;
    t->column = (uint32_t)column_of(q) + 1;
    return t;
}

/* ---- scalars ---- */

/* Line ends inside of a scalar: one is a blank, of several the first does not count. Writes that, and is behind the
 * indentation of the next line. */
static char *fold(struct quick *q, char *out) {
    uint32_t n = 0;
    for (; *q->p == '\n'; n++) {
        next_line(q);
        q->p += strspn(q->p, " ");
    }
    if (n == 1)
        *out++ = ' ';
    while (n-- > 1)
        *out++ = '\n';
    return out;
}

static char escaped(struct quick *q, char c) {
    if (c != '\\' && c != '"' && c != 'n')
        give_up(q);
    return c == 'n' ? '\n' : c;
}

static struct tree *quoted(struct quick *q) {
    struct tree *t = new_tree(q, TREE_SCALAR);
    const char quote = *q->p++, *close = q->p;
    while (close < q->end && (*close != quote || (quote == '\'' && close[1] == quote)))
        close += (*close == '\\' && quote == '"') || *close == quote ? 2 : 1;
    if (close >= q->end) {
        give_up(q);
        return t;
    }
    char *text = arena_alloc(q->arena, (size_t)(close - q->p) + 1), *out = text, *kept = text;
    while (q->p < close) {
        if (*q->p == '\n') {
            while (out > kept && out[-1] == ' ')
                out--;
            out = kept = fold(q, out);
            if (at_document_mark(q))
                give_up(q);
        } else if ((*q->p == '\\' && quote == '"') || *q->p == quote) {
            *out++ = quote == '"' ? escaped(q, q->p[1]) : quote;
            kept = out; /* no blank to be dropped at a line end */
            q->p += q->failed ? 0 : 2;
        } else {
            size_t n = 1;
            while (q->p + n < close && q->p[n] != '\n' && q->p[n] != '\\' && q->p[n] != quote)
                n++;
            memcpy(out, q->p, n);
            out += n;
            q->p += n;
        }
    }
    q->p += !q->failed;
    t->text = (struct str){text, (size_t)(out - text)};
    return t;
}

/* The rest of a plain scalar that stands on this line. */
static struct str plain_line(struct quick *q, bool flow) {
    const char *begin = q->p;
    while (*q->p && *q->p != '\n' && !(*q->p == ':' && blank_or_end(q->p[1])) && !(*q->p == '#' && q->p[-1] == ' ') &&
           !(flow && strchr(",[]{}?:", *q->p)))
        q->p++;
    return str_trim((struct str){begin, (size_t)(q->p - begin)});
}

enum { MAX_BREAKS = 8 };

/* Whether the scalar goes on behind the line end: then its line ends are in `breaks`, and the next line begins. */
static bool plain_goes_on(struct quick *q, int indent, bool flow, char breaks[MAX_BREAKS]) {
    struct quick before = *q;
    size_t lines = strspn(q->p, " \n");
    if (*q->p != '\n' || lines > 1000)
        return false;
    char folded[1001];
    *fold(q, folded) = '\0';
    bool more = *q->p && *q->p != '#' && (flow ? !strchr(",[]{}?:", *q->p) : column_of(q) > indent);
    if (!more || at_document_mark(q) || strlen(folded) >= MAX_BREAKS) {
        *q = before;
        return false;
    }
    memcpy(breaks, folded, strlen(folded) + 1);
    return true;
}

/* In a block, lines that go on are indented by more than `indent`. */
static struct tree *plain(struct quick *q, int indent, bool flow) {
    struct tree *t = new_tree(q, TREE_SCALAR);
    char breaks[MAX_BREAKS];
    t->text = arena_str(q->arena, plain_line(q, flow));
    while (plain_goes_on(q, indent, flow, breaks)) {
        struct str more = plain_line(q, flow);
        t->text = arena_printf(q->arena, "%s%s%.*s", t->text.p, breaks, (int)more.n, more.p);
    }
    return t;
}

/* A literal block: lines that are indented as the first one, which is so by more than `indent`. */
static struct tree *literal(struct quick *q, int indent) {
    struct tree *t = new_tree(q, TREE_SCALAR);
    struct buf text = {0};
    t->block = true;
    q->p++;
    if (!blank_or_end(*q->p) || !skip(q)) {
        give_up(q);
        return t;
    }
    int depth = column_of(q);
    uint32_t empty = 0;
    if (q->line != t->line + 1 || depth <= indent || depth == 0 || !*q->p)
        give_up(q);
    q->p = q->line_begin;
    for (const char *line_end; !q->failed && *q->p; next_line(q)) {
        int blanks = (int)strspn(q->p, " ");
        line_end = memchr(q->p, '\n', (size_t)(q->end - q->p));
        if (blanks < depth && q->p[blanks] != '\n')
            break;
        if (!line_end) {
            give_up(q);
            break;
        }
        if (line_end - q->p <= depth) {
            empty++;
        } else {
            for (; empty > 0; empty--)
                buf_addc(&text, '\n');
            buf_add(&text, (struct str){q->p + depth, (size_t)(line_end - q->p - depth) + 1});
        }
        q->p = line_end;
    }
    t->text = arena_str(q->arena, buf_str(&text));
    buf_free(&text);
    return t;
}

/* ---- collections ---- */

static void add_child(struct tree *parent, const struct tree ***end, struct tree *child) {
    **end = child;
    *end = &child->next;
    parent->n++;
}

static struct tree *flow_node(struct quick *q);

/* [a, b] or {a: b, c: d} */
static struct tree *flow_collection(struct quick *q) {
    bool map = *q->p == '{';
    struct tree *t = new_tree(q, map ? TREE_MAPPING : TREE_SEQUENCE);
    const struct tree **end = &t->first;
    q->p++;
    skip(q);
    while (!q->failed && *q->p != (map ? '}' : ']')) {
        struct tree *child = flow_node(q);
        if (map && (child->kind != TREE_SCALAR || *q->p != ':' || !blank_or_end(q->p[1])))
            give_up(q);
        if (map && !q->failed) {
            q->p++;
            skip(q);
            child->value = flow_node(q);
        }
        add_child(t, &end, child);
        if (*q->p == ',') {
            q->p++;
            skip(q);
        } else if (*q->p != (map ? '}' : ']')) {
            give_up(q);
        }
    }
    q->p += !q->failed;
    return t;
}

/* With the blanks behind it. */
static struct tree *flow_node(struct quick *q) {
    struct tree *t;
    const char c = *q->p;
    if (++q->depth > MAX_DEPTH || !c || strchr("&*!|>%@`?:,]}#", c) || (c == '-' && blank_or_end(q->p[1])) ||
        at_document_mark(q))
        give_up(q);
    uint64_t line = q->line;
    if (c == '[' || c == '{')
        t = flow_collection(q);
    else
        t = c == '"' || c == '\'' ? quoted(q) : plain(q, 0, true);
    bool one_line = line == q->line;
    one_line &= !skip(q);
    if (*q->p == ':' && !one_line)
        give_up(q); /* a key stands on one line */
    q->depth--;
    return t;
}

static struct tree *block_node(struct quick *q, int indent, bool after_key);

/* The entries at this column; the first one, which is at hand, may be in the middle of a line. */
static struct tree *sequence(struct quick *q, int indent) {
    struct tree *t = new_tree(q, TREE_SEQUENCE);
    const struct tree **end = &t->first;
    int column = column_of(q);
    while (!q->failed && column_of(q) == column && *q->p == '-' && blank_or_end(q->p[1]) && !at_document_mark(q)) {
        q->p++;
        add_child(t, &end, block_node(q, indent, false));
        skip(q);
    }
    if (column_of(q) > column)
        give_up(q);
    return t;
}

/* The same of keys. `key` is the first one, read up to the colon. */
static struct tree *mapping(struct quick *q, struct tree *key, int column) {
    struct tree *t = arena_alloc(q->arena, sizeof *t);
    const struct tree **end = &t->first;
    *t = (struct tree){.kind = TREE_MAPPING, .line = key->line, .column = key->column, .first = NULL};
    for (;;) {
        q->p++;
        key->value = block_node(q, column, true);
        add_child(t, &end, key);
        skip(q);
        if (key->text.n > 1000) /* a key has at most 1024 characters */
            break;
        if (q->failed || !*q->p || at_document_mark(q) || column_of(q) < column)
            return t;
        if (column_of(q) > column || strchr("&*!|>%@`?:,[]{}#", *q->p) || (*q->p == '-' && blank_or_end(q->p[1])))
            break;
        uint64_t line = q->line;
        bool quote = *q->p == '"' || *q->p == '\'';
        key = quote ? quoted(q) : new_tree(q, TREE_SCALAR);
        if (!quote)
            key->text = arena_str(q->arena, plain_line(q, false));
        q->p += strspn(q->p, " ");
        if (line != q->line || *q->p != ':' || !blank_or_end(q->p[1]))
            break;
    }
    give_up(q);
    return t;
}

static struct tree *block_node(struct quick *q, int indent, bool after_key) {
    bool fresh = skip(q);
    int column = column_of(q);
    const char c = *q->p;
    bool dash = c == '-' && blank_or_end(q->p[1]);
    struct tree *t = NULL;
    if (++q->depth > MAX_DEPTH || !c || strchr("&*!>%@`?:,]}#", c) || at_document_mark(q) ||
        (fresh && column <= indent && !(dash && after_key && column == indent)) || (dash && after_key && !fresh))
        give_up(q);
    if (q->failed)
        return new_tree(q, TREE_SCALAR);
    uint64_t line = q->line;
    if (dash)
        t = sequence(q, column > indent ? column : indent);
    else if (c == '|')
        t = literal(q, indent);
    else if (c == '[' || c == '{')
        t = flow_collection(q);
    else if (c == '"' || c == '\'')
        t = quoted(q);
    else
        t = plain(q, indent, false);
    if (!dash && c != '|') {
        q->p += strspn(q->p, " ");
        if (*q->p == ':' && t->kind == TREE_SCALAR && line == q->line && (fresh || !after_key))
            t = mapping(q, t, column);
        else if (*q->p && *q->p != '\n' && *q->p != '#')
            give_up(q);
    }
    q->depth--;
    return t;
}

static bool is_plain_ascii(struct str s) {
    unsigned wrong = 0;
    for (size_t i = 0; i < s.n; i++)
        wrong |= (unsigned)((unsigned char)(s.p[i] - ' ') > '~' - ' ') & (unsigned)(s.p[i] != '\n');
    return !wrong;
}

bool tree_read_quick(struct str text, struct arena *a, struct tree_file *out) {
    struct quick q = {.arena = a, .p = text.p, .end = text.p + text.n, .line_begin = text.p, .line = 1};
    const struct tree **end = &out->documents;
    *out = (struct tree_file){0};
    if (!is_plain_ascii(text))
        return false;
    for (skip(&q); *q.p; skip(&q)) {
        bool marked = at_document_mark(&q);
        q.p += marked ? 3 : 0;
        if ((!marked && out->documents) || (marked && (q.p[-1] != '-' || !skip(&q))))
            return false;
        struct tree *t = block_node(&q, -1, false);
        if (q.failed)
            return false;
        *end = t;
        end = &t->next;
    }
    return true;
}
