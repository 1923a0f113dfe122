/* The reader of all YAML: documents of libyaml become trees. */
#include "library/tree.h"

#include <yaml.h>

enum { MAX_NODES = 1 << 20, MAX_NESTING = 64 }; /* aliases are written out */

struct copier {
    yaml_document_t *doc;
    struct arena *arena;
    uint32_t nnodes;
};

static struct tree *copy(struct copier *c, int id, uint32_t depth);

/* False: too much. */
static bool copy_children(struct copier *c, const yaml_node_t *n, struct tree *t, uint32_t depth) {
    const struct tree **end = &t->first;
    bool map = n->type == YAML_MAPPING_NODE;
    t->n = (uint32_t)(map ? n->data.mapping.pairs.top - n->data.mapping.pairs.start
                          : n->data.sequence.items.top - n->data.sequence.items.start);
    for (uint32_t i = 0; i < t->n; i++) {
        struct tree *child =
            copy(c, map ? n->data.mapping.pairs.start[i].key : n->data.sequence.items.start[i], depth + 1);
        if (!child || (map && !(child->value = copy(c, n->data.mapping.pairs.start[i].value, depth + 1))))
            return false;
        *end = child;
        end = &child->next;
    }
    return true;
}

static struct tree *copy(struct copier *c, int id, uint32_t depth) {
    const yaml_node_t *n = yaml_document_get_node(c->doc, id);
    if (!n || ++c->nnodes > MAX_NODES || depth > MAX_NESTING)
        return NULL;
    struct tree *t = arena_alloc(c->arena, sizeof *t);
    t->line = n->start_mark.line + 1;
    t->column = (uint32_t)n->start_mark.column + 1;
    if (n->type != YAML_SCALAR_NODE) {
        t->kind = n->type == YAML_MAPPING_NODE ? TREE_MAPPING : TREE_SEQUENCE;
        return copy_children(c, n, t, depth) ? t : NULL;
    }
    t->block = n->data.scalar.style == YAML_LITERAL_SCALAR_STYLE || n->data.scalar.style == YAML_FOLDED_SCALAR_STYLE;
    t->text = arena_str(c->arena, (struct str){(const char *)n->data.scalar.value, n->data.scalar.length});
    return t;
}

static void refuse(struct tree_file *f, struct arena *a, const char *wrong, yaml_mark_t at) {
    f->wrong = arena_strdup(a, str_of(wrong));
    f->line = at.line + 1;
    f->column = (uint32_t)at.column + 1;
}

struct tree_file tree_read_all(struct str text, struct arena *a) {
    struct tree_file f = {0};
    const struct tree **end = &f.documents;
    yaml_parser_t parser;
    yaml_document_t doc;
    if (!yaml_parser_initialize(&parser))
        return f;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
    for (bool more = true; more && !f.wrong;) {
        if (!yaml_parser_load(&parser, &doc)) {
            refuse(&f, a, parser.problem ? parser.problem : "unreadable", parser.problem_mark);
            break;
        }
        struct copier c = {&doc, a, 0};
        const yaml_node_t *root = yaml_document_get_root_node(&doc);
        struct tree *t = root ? copy(&c, 1, 0) : NULL;
        more = root != NULL;
        if (root && !t)
            refuse(&f, a, "too large", root->start_mark);
        if (t) {
            *end = t;
            end = &t->next;
        }
        yaml_document_delete(&doc);
    }
    yaml_parser_delete(&parser);
    return f;
}

struct tree_file tree_read(struct str text, struct arena *a) {
    struct tree_file f = {0};
    return tree_read_quick(text, a, &f) ? f : tree_read_all(text, a);
}

const struct tree *tree_lookup(const struct tree *map, const char *key) {
    struct str name = str_of(key);
    for (const struct tree *k = map->kind == TREE_MAPPING ? map->first : NULL; k; k = k->next)
        if (k->kind == TREE_SCALAR && str_eq(k->text, name))
            return k->value;
    return NULL;
}
