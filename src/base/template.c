#include "base/template.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/markdown.h"
#include "base/units.h"
#include "base/utf8.h"

enum { MANY = 4 /* alike */ };

/* A node, and those around it. */
struct scope {
    const struct tree *node;
    const struct scope *around;
};

struct scopes {
    struct scope *items;
    uint32_t n, cap;
};

static const struct tree *at_keys(const struct tree *t, struct str keys) {
    while (t && keys.n)
        t = tree_lookup_str(t, str_part(&keys, '.'));
    return t;
}

static const struct tree *find(const struct scope *s, struct str keys) {
    if (!str_starts(keys, STR("^")))
        return at_keys(s->node, keys);
    const struct tree *found = NULL;
    keys = (struct str){keys.p + 1, keys.n - 1};
    while ((s = s->around) && !found)
        found = at_keys(s->node, keys);
    return found;
}

static bool is_something(const struct tree *t) {
    if (!t || t->kind != TREE_SCALAR)
        return t && t->n;
    return t->text.n && !str_is(t->text, "0") && !str_is(t->text, "false");
}

/* ---- texts ---- */

static void expand(struct buf *out, struct str text, const struct scope *s);

/* How far the first `end` is that is in no braces. */
static size_t length_to(struct str s, char end) {
    size_t i = 0;
    for (int depth = 0; i < s.n && (depth > 0 || s.p[i] != end); i++)
        depth += (s.p[i] == '{') - (s.p[i] == '}');
    return i;
}

static struct str take_to(struct str *rest, char end) {
    size_t n = length_to(*rest, end), skip = n < rest->n ? n + 1 : n;
    struct str part = {rest->p, n};
    *rest = (struct str){rest->p + skip, rest->n - skip};
    return part;
}

static void add_value(struct buf *out, const struct tree *t) {
    struct buf scratch = {0};
    if (t && t->kind != TREE_SCALAR)
        buf_int(out, t->n);
    else if (t)
        buf_add(out, utf8_clean(t->text, "", &scratch));
    buf_free(&scratch);
}

/* "8x8" */
static void add_extents(struct buf *out, const struct tree *list) {
    for (const struct tree *i = list ? list->first : NULL; i; i = i->next)
        buf_printf(out, "%.*s%s", (int)i->text.n, i->text.p, i->next ? "x" : "");
}

/* RFC 4180 */
static void add_field(struct buf *out, struct str s) {
    struct buf scratch = {0};
    s = utf8_clean(s, "", &scratch);
    buf_addc(out, '"');
    for (size_t i = 0; i < s.n; i++)
        buf_printf(out, s.p[i] == '"' ? "\"%c" : "%c", s.p[i]);
    buf_addc(out, '"');
    buf_free(&scratch);
}

static void add_in_unit(struct buf *out, const struct tree *t, struct str unit) {
    char text[FA_TIME_TEXT];
    double x = t && t->kind == TREE_SCALAR ? strtod(t->text.p, NULL) : 0;
    if (str_is(unit, "x"))
        add_extents(out, t);
    else if (str_is(unit, "md"))
        add_markdown(out, t ? t->text : STR(""));
    else if (str_is(unit, "csv"))
        add_field(out, t ? t->text : STR(""));
    else if (str_is(unit, "us"))
        buf_add(out, str_of(fa_format_time(x, text)));
    else if (str_is(unit, "bytes"))
        add_bytes(out, (int64_t)x);
    else
        buf_printf(out, "%-8s ", t ? t->text.p : "");
}

static void add_each(struct buf *out, const struct tree *list, struct str each, const struct scope *around) {
    for (const struct tree *i = list ? list->first : NULL; i; i = i->next) {
        expand(out, each, &(struct scope){i, around});
        buf_add(out, i->next ? STR(", ") : STR(""));
    }
}

/* What stands in braces. */
static void expand_field(struct buf *out, struct str field, const struct scope *s) {
    size_t n = 0;
    while (n < field.n && !strchr(" :?*", field.p[n]))
        n++;
    const struct tree *t = n ? find(s, (struct str){field.p, n}) : s->node;
    char kind = n < field.n ? field.p[n] : '\0';
    struct str rest = {field.p + n + (kind != '\0'), field.n - n - (kind != '\0')};
    if (kind == '?') {
        struct str yes = take_to(&rest, '|');
        expand(out, is_something(t) ? yes : rest, s);
    } else if (kind == '*') {
        add_each(out, t, rest, s);
    } else if (kind == ':') {
        add_in_unit(out, t, rest);
    } else {
        size_t begin = out->n;
        add_value(out, t);
        bool one = out->n == begin + 1 && out->p[begin] == '1';
        if (kind == ' ')
            buf_printf(out, " %.*s%s", (int)rest.n, rest.p, one ? "" : "s");
    }
}

static void expand(struct buf *out, struct str text, const struct scope *s) {
    while (text.n) {
        buf_add(out, take_to(&text, '{'));
        if (text.n)
            expand_field(out, take_to(&text, '}'), s);
    }
}

static struct str expanded(const char *text, const struct scope *s, struct arena *a) {
    struct buf out = {0};
    expand(&out, str_of(text), s);
    return buf_take(&out, a);
}

/* ---- tables ---- */

static bool is_numeric(struct str cell) {
    return !cell.n || *cell.p == '-' || (*cell.p >= '0' && *cell.p <= '9');
}

/* Right of their column stand numbers. */
static void add_cell(struct buf *line, struct str cell, size_t width, bool right) {
    int blanks = (int)(width - cell.n);
    buf_printf(line, "%*s%.*s%*s", right ? blanks : 0, "", (int)cell.n, cell.n ? cell.p : "", right ? 2 : blanks + 2,
               "");
}

static void print_line(struct buf *line, FILE *out) {
    while (line->n && line->p[line->n - 1] == ' ')
        line->n--;
    fprintf(out, "%.*s\n", (int)line->n, line->n ? line->p : "");
    line->n = 0;
}

static void print_table(const struct template *v, const struct scopes *rows, struct arena *a, FILE *out) {
    uint32_t n = 0, ncolumns = 0;
    struct buf line = {0};
    while (v->columns[ncolumns].cell)
        ncolumns++;
    struct str *cells = arena_alloc(a, ((size_t)rows->n + 1) * ncolumns * sizeof *cells);
    size_t *width = arena_alloc(a, ncolumns * sizeof *width);
    bool *right = arena_alloc(a, ncolumns * sizeof *right);
    for (uint32_t c = 0; c < ncolumns; c++) {
        size_t widest = 0;
        right[n] = true;
        cells[n] = str_of(v->columns[c].title);
        for (uint32_t r = 1; r <= rows->n; r++) {
            struct str cell = cells[r * ncolumns + n] = expanded(v->columns[c].cell, &rows->items[r - 1], a);
            widest = cell.n > widest ? cell.n : widest;
            right[n] &= is_numeric(cell);
        }
        width[n] = widest > cells[n].n ? widest : cells[n].n;
        n += widest > 0;
    }
    for (uint32_t r = 0; n && rows->n && r <= rows->n; r++) {
        buf_printf(&line, "%*s", (int)v->indent, "");
        for (uint32_t c = 0; c < n; c++)
            add_cell(&line, cells[r * ncolumns + c], width[c], right[c]);
        print_line(&line, out);
    }
    buf_free(&line);
}

/* ---- texts that are alike ---- */

struct like_texts {
    struct str key, text;
    uint32_t n;
    struct like_texts *next; /* of the first MANY */
    UT_hash_handle hh;
};

static struct str without_numbers(struct str s, struct arena *a) {
    char *to = arena_strdup(a, s);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        if ((s.p[i] < '0' || s.p[i] > '9') && s.p[i] != '.')
            to[n++] = s.p[i];
        else if (n == 0 || to[n - 1] != '#')
            to[n++] = '#';
    return (struct str){to, n};
}

static void add_alike(struct like_texts **all, struct str text, struct arena *a) {
    struct like_texts *added = arena_alloc(a, sizeof *added), *first, *last;
    *added = (struct like_texts){.key = without_numbers(text, a), .text = text, .n = 1};
    HASH_FIND(hh, *all, added->key.p, (unsigned)added->key.n, first);
    if (!first) {
        HASH_ADD_KEYPTR(hh, *all, added->key.p, (unsigned)added->key.n, added);
        return;
    }
    for (last = first; last->next; last = last->next) {
    }
    if (++first->n < MANY)
        last->next = added;
}

static void print_str(struct str s, FILE *out) {
    fprintf(out, "%.*s", (int)s.n, s.p);
}

static void print_alike(struct like_texts *all, FILE *out) {
    for (const struct like_texts *x = all; x; x = x->hh.next) {
        for (const struct like_texts *i = x; i && (x->n < MANY || i == x); i = i->next)
            print_str(i->text, out);
        if (x->n >= MANY)
            fprintf(out, "    and %u more like it\n", x->n - 1);
    }
    HASH_CLEAR(hh, all);
}

/* ---- templates ---- */

/* What keys lead to, through lists to each of their items. The nodes on the way are around it. */
static void collect(struct scopes *out, const struct scope *s, struct str keys, const char *where, struct arena *a) {
    struct str rest = keys, key = str_part(&rest, '.');
    if (s->node->kind == TREE_SEQUENCE) {
        for (const struct tree *i = s->node->first; i; i = i->next)
            collect(out, &(struct scope){i, s->around}, keys, where, a);
    } else if (keys.n) {
        const struct tree *t = tree_lookup_str(s->node, key);
        struct scope *around = arena_alloc(a, sizeof *around);
        *around = *s;
        if (t)
            collect(out, &(struct scope){t, around}, rest, where, a);
    } else if (s->node->n && (!where || is_something(tree_lookup(s->node, where)))) {
        out->items = grow(out->items, &out->cap, out->n + 1, sizeof *out->items);
        out->items[out->n++] = *s;
    }
}

static void print_templates(const struct template *templates, const struct scope *s, struct arena *a, FILE *out) {
    for (const struct template *v = templates; v->text || v->columns; v++) {
        struct scopes found = {0};
        struct like_texts *alike = NULL;
        struct str rest = str_of(v->of);
        do
            collect(&found, s, str_part(&rest, '|'), v->where, a);
        while (rest.n);
        for (uint32_t i = 0; i < found.n && v->text; i++) {
            struct str text = expanded(v->text, &found.items[i], a);
            print_str(v->apart && i ? STR("\n") : STR(""), out);
            if (v->alike && text.n)
                add_alike(&alike, text, a);
            else
                print_str(text, out);
            if (v->below)
                print_templates(v->below, &found.items[i], a, out);
        }
        print_alike(alike, out);
        if (v->columns)
            print_table(v, &found, a, out);
        free(found.items);
    }
}

void template_print(const struct template *templates, const struct tree *t, FILE *out) {
    struct arena a = {0};
    print_templates(templates, &(struct scope){t, NULL}, &a, out);
    arena_free(&a);
}
