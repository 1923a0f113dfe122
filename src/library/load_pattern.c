/* One pattern: the keys of its document in a pattern file. The first mistake is an error at its place, and ends it. */
#include <stdlib.h>
#include <string.h>

#include "library/loader.h"

/* All keys of a pattern. */
static const char *const keys[] = {
    "name",  "summary", "fused_op", "source",      "match",    "where",   "require", "unless",    "notes",
    "torch", "locate",  "escapes",  "contains",    "like",     "fused",   "status",  "compiler",  "decomposed",
    "block", "off",     "tests",    "approximate", "positive", "outside", "holds",   "replicated"};

static void check_keys(struct loader *l, const yaml_node_t *map) {
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top && !l->failed; p++) {
        const yaml_node_t *key = yaml_document_get_node(&l->doc, p->key);
        check_key(l, key, keys, sizeof keys / sizeof *keys, "the keys are listed in fusion-patterns(5)");
        for (yaml_node_pair_t *q = map->data.mapping.pairs.start; q < p && !l->failed; q++)
            if (str_eq(scalar_text(yaml_document_get_node(&l->doc, q->key)), scalar_text(key)))
                error_at(l, key, NULL, "the key stands there twice: ", scalar_text(key));
    }
}

static void check_source(struct loader *l, const struct pattern *p, const yaml_node_t *map) {
    for (size_t i = 0; i < PATTERN_SOURCES; i++)
        if (str_is(p->source, pattern_sources[i]))
            return;
    error_at(l, lookup(l, map, "source"), "one of ttnn, torch, triton, cuda", "unknown source: ", p->source);
}

/* The formula and what the pattern states of its names: its own, or those of the pattern that it is `like`. */
static void load_formula(struct loader *l, struct pattern *p, const yaml_node_t *map) {
    const yaml_node_t *like = lookup(l, map, "like"), *n = lookup(l, map, "match");
    if (!like) {
        if (!n)
            error_at(l, map, NULL, "the pattern lacks the key ", STR("match"));
        else if (is_scalar(l, n) && !formula_parse(&p->formula, &l->set->arena, &l->set->idioms, kept_text(l, n),
                                                   origin_of(l, n), l->diags))
            l->failed = true;
        return;
    }
    struct pattern *leader = is_scalar(l, like) ? find_pattern(l->set, scalar_text(like)) : NULL;
    if (n || lookup(l, map, "where"))
        error_at(l, n ? n : lookup(l, map, "where"), NULL,
                 "a pattern that is `like` another has its formula and `where`", STR(""));
    else if (!leader || leader->is_variant)
        error_at(l, like, nearest_pattern_name(l->set, scalar_text(like), "it has to be read earlier"),
                 "no such pattern with a formula of its own: ", scalar_text(like));
    if (l->failed || !leader)
        return;
    p->formula = leader->formula;
    p->where = leader->where;
    p->nwhere = leader->nwhere;
    p->nlocate = leader->nlocate;
    memcpy(p->locate, leader->locate, sizeof p->locate);
    p->outside = leader->outside;
    p->noutside = leader->noutside;
    p->nholds = leader->nholds;
    memcpy(p->holds, leader->holds, sizeof p->holds);
    p->npositive = leader->npositive;
    memcpy(p->positive, leader->positive, sizeof p->positive);
    p->nreplicated = leader->nreplicated;
    memcpy(p->replicated, leader->replicated, sizeof p->replicated);
    p->nescapes = leader->nescapes;
    memcpy(p->escapes, leader->escapes, sizeof p->escapes);
    p->is_variant = true;
    p->variant_of = leader;
}

/* The line is "---", between two documents. */
static bool separates(const struct loader *l, uint64_t line) {
    const char *p = line_begin(l, line);
    return line_begin(l, line + 1) - p >= 3 && memcmp(p, "---", 3) == 0;
}

/* The lines of a document with the comments around it: from one "---" to the next. */
static struct str document_text(const struct loader *l, const yaml_node_t *root, uint64_t *first) {
    uint64_t line = root->start_mark.line + 1, end = line + 1;
    while (line > 0 && !separates(l, line))
        line--;
    while (end <= l->nlines && !separates(l, end))
        end++;
    *first = line + 1;
    const char *p = line_begin(l, *first);
    return (struct str){p, (size_t)(line_begin(l, end) - p)};
}

static void load_contains(struct loader *l, struct pattern *p, const yaml_node_t *n) {
    if (n->type != YAML_SEQUENCE_NODE || n->data.sequence.items.top - n->data.sequence.items.start > 8) {
        error_at(l, n, "contains: [silu, gelu]", "a list of at most 8 names of patterns is meant", STR(""));
        return;
    }
    for (yaml_node_item_t *i = n->data.sequence.items.start; i < n->data.sequence.items.top; i++) {
        const yaml_node_t *item = yaml_document_get_node(&l->doc, *i);
        if (!is_scalar(l, item))
            return;
        p->contains[p->ncontains++] = kept_text(l, item);
    }
}

static void load_approximate(struct loader *l, struct pattern *p, const yaml_node_t *n) {
    if (!is_scalar(l, n))
        return;
    if (!mlir_float(scalar_text(n), &p->approximate) || !(p->approximate > 0 && p->approximate < 1))
        error_at(l, n, "approximate: 0.002", "a number between 0 and 1 is meant: ", scalar_text(n));
}

static void load_body(struct loader *l, struct pattern *p, const yaml_node_t *map) {
    const yaml_node_t *n;
    load_formula(l, p, map);
    if (!l->failed && (n = lookup(l, map, "where")))
        load_conditions(l, &p->formula, n, &p->where, &p->nwhere);
    if (!l->failed && (n = lookup(l, map, "require")))
        load_conditions(l, &p->formula, n, &p->require, &p->nrequire);
    if (!l->failed && (n = lookup(l, map, "unless")))
        load_conditions(l, &p->formula, n, &p->unless, &p->nunless);
    if (!l->failed && (n = lookup(l, map, "decomposed")))
        load_conditions(l, &p->formula, n, &p->decomposed, &p->ndecomposed);
    if (!l->failed && (n = lookup(l, map, "notes")))
        load_rules(l, &p->formula, n, &p->notes, &p->nnotes);
    if (!l->failed && (n = lookup(l, map, "torch")))
        load_rules(l, &p->formula, n, &p->torch, &p->ntorch);
    if (!l->failed && (n = lookup(l, map, "block")))
        load_rules(l, &p->formula, n, &p->block, &p->nblock);
    if (!l->failed && (n = lookup(l, map, "outside")))
        load_outside(l, p, n);
    if (!l->failed && (n = lookup(l, map, "compiler")))
        load_rules(l, &p->formula, n, &p->compiler, &p->ncompiler);
    if (!l->failed && (n = lookup(l, map, "status")))
        load_status(l, p, n);
    if (!l->failed && (n = lookup(l, map, "locate"))) {
        p->nlocate = 0;
        load_names(l, p, n, p->locate, &p->nlocate);
    }
    if (!l->failed && (n = lookup(l, map, "escapes"))) {
        p->nescapes = 0;
        load_names(l, p, n, p->escapes, &p->nescapes);
    }
    if (!l->failed && (n = lookup(l, map, "contains")))
        load_contains(l, p, n);
    if (!l->failed && (n = lookup(l, map, "positive")))
        load_names(l, p, n, p->positive, &p->npositive);
    if (!l->failed && (n = lookup(l, map, "replicated")))
        load_names(l, p, n, p->replicated, &p->nreplicated);
    if (!l->failed && (n = lookup(l, map, "holds")))
        load_holds(l, p, n);
    if (!l->failed && (n = lookup(l, map, "approximate")))
        load_approximate(l, p, n);
    if (!l->failed && !l->set->no_examples && (n = lookup(l, map, "tests")))
        load_examples(l, p, n);
}

static void load_text(struct loader *l, struct str *to, const yaml_node_t *n) {
    if (is_scalar(l, n))
        *to = kept_text(l, n);
}

struct pattern *load_pattern(struct loader *l, const yaml_node_t *map) {
    struct pattern *p = arena_alloc(&l->set->arena, sizeof *p);
    struct {
        const char *key;
        struct str *to;
        bool required;
    } texts[] = {{"name", &p->name, true},     {"summary", &p->summary, false}, {"fused_op", &p->fused_op, true},
                 {"source", &p->source, true}, {"match", &p->match, false},     {"fused", &p->fused, false}};
    p->file = str_of(l->file);
    p->line = map->start_mark.line + 1;
    p->text = document_text(l, map, &p->text_line);
    p->selected = true;
    check_keys(l, map);
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !l->failed; i++) {
        const yaml_node_t *n = lookup(l, map, texts[i].key);
        if (!n && texts[i].required)
            error_at(l, map, NULL, "the pattern lacks the key ", str_of(texts[i].key));
        else if (n && texts[i].to)
            load_text(l, texts[i].to, n);
        if (!l->failed && n && texts[i].required && !texts[i].to->n)
            error_at(l, n, NULL, "nothing stands behind the key ", str_of(texts[i].key));
    }
    if (!l->failed)
        check_source(l, p, map);
    if (!l->failed)
        load_body(l, p, map);
    return p;
}
