/* Nodes of a pattern file and where they stand in it. */
#include "library/loader.h"

#include <string.h>

static struct source_location place_of(const struct loader *l, const yaml_node_t *n) {
    return (struct source_location){l->file, n ? n->start_mark.line + 1 : 0,
                                    n ? (uint32_t)n->start_mark.column + 1 : 0};
}

void error_at(struct loader *l, const yaml_node_t *n, const char *hint, const char *what, struct str word) {
    diag_add(l->diags, SEV_ERROR, place_of(l, n), hint, "%s%.*s", what, (int)word.n, word.p ? word.p : "");
    l->failed = true;
}

void warn_at(struct loader *l, const yaml_node_t *n, const char *hint, const char *what, struct str word) {
    diag_add(l->diags, SEV_WARNING, place_of(l, n), hint, "%s%.*s", what, (int)word.n, word.p ? word.p : "");
}

struct str scalar_text(const yaml_node_t *n) {
    return (struct str){(const char *)n->data.scalar.value, n->data.scalar.length};
}

struct str kept_text(struct loader *l, const yaml_node_t *n) {
    return arena_str(&l->set->arena, scalar_text(n));
}

void loader_begin(struct loader *l) {
    const char *p = l->text.p, *end = p + l->text.n;
    uint32_t n = 1;
    for (const char *at = p; at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        n++;
    l->lines = xrealloc(NULL, (n + (size_t)1) * sizeof *l->lines);
    for (l->nlines = 0; l->nlines < n && p < end; l->nlines++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        l->lines[l->nlines] = p;
        p = nl ? nl + 1 : end;
    }
    l->lines[l->nlines] = end;
}

void loader_end(struct loader *l) {
    free(l->lines);
    l->lines = NULL;
}

const char *line_begin(const struct loader *l, uint64_t line) {
    return l->lines[line - 1 < l->nlines ? line - 1 : l->nlines];
}

/* Where the text of a scalar starts in the file: a block scalar starts on the next line. */
struct text_origin origin_of(const struct loader *l, const yaml_node_t *n) {
    bool block = n->data.scalar.style == YAML_LITERAL_SCALAR_STYLE || n->data.scalar.style == YAML_FOLDED_SCALAR_STYLE;
    struct text_origin o = {l->file, n->start_mark.line + 1 + block, (uint32_t)n->start_mark.column + 1};
    if (!block)
        return o;
    const char *p = line_begin(l, o.line), *end = l->text.p + l->text.n;
    for (o.column = 1; p < end && *p == ' '; p++)
        o.column++;
    return o;
}

bool is_scalar(struct loader *l, const yaml_node_t *n) {
    if (n && n->type == YAML_SCALAR_NODE)
        return true;
    error_at(l, n, NULL, "text expected", STR(""));
    return false;
}

const yaml_node_t *lookup(struct loader *l, const yaml_node_t *map, const char *key) {
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
        const yaml_node_t *k = yaml_document_get_node(&l->doc, p->key);
        if (k && k->type == YAML_SCALAR_NODE && str_is(scalar_text(k), key))
            return yaml_document_get_node(&l->doc, p->value);
    }
    return NULL;
}

void check_key(struct loader *l, const yaml_node_t *key, const char *const *keys, size_t n, const char *hint) {
    bool text = key && key->type == YAML_SCALAR_NODE;
    for (size_t i = 0; text && i < n; i++)
        if (str_is(scalar_text(key), keys[i]))
            return;
    const char *nearest = text ? str_nearest(scalar_text(key), keys, n) : NULL;
    if (nearest)
        hint = arena_printf(&l->set->arena, "did you mean %s?", nearest).p;
    error_at(l, key, hint, "unknown key: ", text ? scalar_text(key) : STR("?"));
}
