/* Reads YAML by libyaml. */
#include "base/tree.h"

#include <yaml.h>

enum { MAX_NESTING = 64 };

struct anchor {
    struct str name;
    const struct tree *tree;
};

/* Trees are made of libyaml's events: its documents would be one copy more. */
struct reader {
    yaml_parser_t parser;
    struct arena *arena;
    struct tree_file *file;
    struct anchor *anchors;
    uint32_t nanchors, anchors_cap;
};

static struct tree *refuse(struct reader *r, const char *wrong, yaml_mark_t at) {
    r->file->wrong = arena_strdup(r->arena, str_of(wrong));
    r->file->line = at.line + 1;
    r->file->column = (uint32_t)at.column + 1;
    return NULL;
}

static bool next_event(struct reader *r, yaml_event_t *e) {
    if (yaml_parser_parse(&r->parser, e))
        return true;
    if (r->parser.error == YAML_MEMORY_ERROR)
        out_of_memory();
    refuse(r, r->parser.problem ? r->parser.problem : "unreadable", r->parser.problem_mark);
    return false;
}

static struct tree *read_node(struct reader *r, const yaml_event_t *e, uint32_t depth);

/* NULL: the file is refused, or (`*ended`) the collection ends here. */
static struct tree *read_next(struct reader *r, uint32_t depth, bool *ended) {
    yaml_event_t e;
    if (!next_event(r, &e))
        return NULL;
    *ended = e.type == YAML_MAPPING_END_EVENT || e.type == YAML_SEQUENCE_END_EVENT;
    struct tree *t = *ended ? NULL : read_node(r, &e, depth);
    yaml_event_delete(&e);
    return t;
}

static struct tree *read_children(struct reader *r, struct tree *t, uint32_t depth) {
    const struct tree **end = &t->first;
    struct tree *child;
    bool ended = false;
    while ((child = read_next(r, depth + 1, &ended))) {
        if (t->kind == TREE_MAPPING && !(child->value = read_next(r, depth + 1, &ended)))
            return NULL;
        *end = child;
        end = &child->next;
        t->n++;
    }
    return ended ? t : NULL;
}

static struct tree *read_alias(struct reader *r, const yaml_event_t *e) {
    struct str name = str_of((const char *)e->data.alias.anchor);
    for (uint32_t i = r->nanchors; i-- > 0;) /* the latest of that name */
        if (str_eq(r->anchors[i].name, name)) {
            struct tree *t = arena_alloc(r->arena, sizeof *t);
            *t = *r->anchors[i].tree;
            t->next = t->value = NULL;
            return t;
        }
    return refuse(r, "no such anchor", e->start_mark);
}

static struct tree *read_node(struct reader *r, const yaml_event_t *e, uint32_t depth) {
    const yaml_char_t *anchor = e->type == YAML_SCALAR_EVENT          ? e->data.scalar.anchor
                                : e->type == YAML_MAPPING_START_EVENT ? e->data.mapping_start.anchor
                                                                      : e->data.sequence_start.anchor;
    if (e->type == YAML_ALIAS_EVENT)
        return read_alias(r, e);
    if (depth > MAX_NESTING)
        return refuse(r, "nested too deeply", e->start_mark);
    struct tree *t = arena_alloc(r->arena, sizeof *t);
    t->line = e->start_mark.line + 1;
    t->column = (uint32_t)e->start_mark.column + 1;
    if (e->type == YAML_SCALAR_EVENT) {
        yaml_scalar_style_t style = e->data.scalar.style;
        t->block = style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE;
        t->text = arena_str(r->arena, (struct str){(const char *)e->data.scalar.value, e->data.scalar.length});
    } else {
        t->kind = e->type == YAML_MAPPING_START_EVENT ? TREE_MAPPING : TREE_SEQUENCE;
        t = read_children(r, t, depth);
    }
    if (t && anchor) {
        r->anchors = grow(r->anchors, &r->anchors_cap, r->nanchors + 1, sizeof *r->anchors);
        r->anchors[r->nanchors++] = (struct anchor){arena_str(r->arena, str_of((const char *)anchor)), t};
    }
    return t;
}

/* One document, or what is between documents. False at the end of the file, or where it is refused. */
static bool read_document(struct reader *r, const struct tree ***end) {
    yaml_event_t e;
    if (!next_event(r, &e))
        return false;
    bool more = e.type != YAML_STREAM_END_EVENT;
    if (e.type == YAML_DOCUMENT_START_EVENT)
        r->nanchors = 0;
    bool is_node = e.type == YAML_SCALAR_EVENT || e.type == YAML_MAPPING_START_EVENT ||
                   e.type == YAML_SEQUENCE_START_EVENT || e.type == YAML_ALIAS_EVENT;
    struct tree *t = is_node ? read_node(r, &e, 0) : NULL;
    yaml_event_delete(&e);
    if (t) {
        **end = t;
        *end = &t->next;
    }
    return more && (t || !is_node);
}

struct tree_file tree_read(struct str text, struct arena *a) {
    struct tree_file f = {0};
    const struct tree **end = &f.documents;
    struct reader r = {.arena = a, .file = &f};
    if (!yaml_parser_initialize(&r.parser))
        out_of_memory();
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text.p, text.n);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    while (read_document(&r, &end)) {
    }
    yaml_parser_delete(&r.parser);
    free(r.anchors);
    return f;
}

const struct tree *tree_lookup(const struct tree *map, const char *key) {
    return tree_lookup_str(map, str_of(key));
}

const struct tree *tree_lookup_str(const struct tree *map, struct str name) {
    for (const struct tree *k = map->kind == TREE_MAPPING ? map->first : NULL; k; k = k->next)
        if (k->kind == TREE_SCALAR && str_eq(k->text, name))
            return k->value;
    return NULL;
}
