/* Nodes of a pattern file and where they stand in it. */
#include "patterns/library/loader.h"

#include <string.h>

void error_at(struct loader *l, const struct tree *n, const char *hint, const char *what, struct str word) {
    record_error(&l->in, n, hint, what, word);
}

void warn_at(struct loader *l, const struct tree *n, const char *hint, const char *what, struct str word) {
    struct source_location place = {l->in.file, n ? n->line : 0, n ? n->column : 0};
    diag_add(l->in.diags, SEV_WARNING, place, hint, "%s%.*s", what, (int)word.n, word.p ? word.p : "");
}

void loader_begin(struct loader *l, const char *file, struct str text) {
    l->in.file = arena_strdup(&l->set->arena, str_of(file));
    if (!l->file)
        l->file = arena_alloc(&l->set->arena, sizeof *l->file);
    l->file->path = l->in.file;
    l->in.arena = &l->set->arena;
    l->text = text;
    const char *p = l->text.p, *end = p + l->text.n;
    uint32_t n = 1;
    for (const char *at = p; at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        n++;
    l->lines = arena_alloc(&l->set->arena, (n + (size_t)1) * sizeof *l->lines);
    for (l->nlines = 0; l->nlines < n && p < end; l->nlines++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        l->lines[l->nlines] = p;
        p = nl ? nl + 1 : end;
    }
    l->lines[l->nlines] = end;
    l->trees = tree_read(l->text, &l->set->arena);
}

const char *line_begin(const struct loader *l, uint64_t line) {
    return l->lines[line - 1 < l->nlines ? line - 1 : l->nlines];
}

/* Where the text of a scalar starts in the file: a block scalar starts on the next line. */
struct text_origin origin_of(const struct loader *l, const struct tree *n) {
    struct text_origin o = {l->file, n->line + n->block, n->column};
    if (!n->block)
        return o;
    const char *p = line_begin(l, o.line), *end = l->text.p + l->text.n;
    for (o.column = 1; p < end && *p == ' '; p++)
        o.column++;
    return o;
}

bool is_scalar(struct loader *l, const struct tree *n) {
    if (n && n->kind == TREE_SCALAR)
        return true;
    error_at(l, n, NULL, "text expected", STR(""));
    return false;
}

const struct tree *items_of(const struct tree *n) {
    return n->kind == TREE_SEQUENCE ? n->first : n;
}

uint32_t count_items(const struct tree *n) {
    return n->kind == TREE_SEQUENCE ? n->n : 1;
}
