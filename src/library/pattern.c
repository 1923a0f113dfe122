/* Reads pattern files (libyaml) and checks them: every wrong key, name and formula is an error with
 * its place, and a file with an error adds nothing. */
#include "library/loader.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- idioms ---- */

static void load_idioms(struct loader *l, const yaml_node_t *list) {
    if (list->type != YAML_SEQUENCE_NODE) {
        error_at(l, list, NULL, "`idioms` is a list", STR(""));
        return;
    }
    for (yaml_node_item_t *i = list->data.sequence.items.start; i < list->data.sequence.items.top; i++) {
        const yaml_node_t *n = yaml_document_get_node(&l->doc, *i);
        if (is_scalar(l, n) && !idiom_add(&l->set->idioms, &l->set->arena, kept_text(l, n), origin_of(l, n), l->diags))
            l->failed = true;
    }
}

/* ---- rules that read a model location out of names ---- */

static void load_location(struct loader *l, const yaml_node_t *n) {
    const yaml_node_t *strip = n->type == YAML_MAPPING_NODE ? lookup(l, n, "strip") : NULL;
    const yaml_node_t *match = n->type == YAML_MAPPING_NODE ? lookup(l, n, "match") : NULL;
    const yaml_node_t *say = n->type == YAML_MAPPING_NODE ? lookup(l, n, "say") : NULL;
    const yaml_node_t *regex = strip ? strip : match;
    if (!regex || (match && !say)) {
        error_at(l, n, "- {match: 'layers?[.](\\d+)', say: 'layer $1'}", "a rule has `strip`, or `match` and `say`",
                 STR(""));
        return;
    }
    if (!is_scalar(l, regex) || (say && !is_scalar(l, say)))
        return;
    int code;
    PCRE2_SIZE at;
    pcre2_code *re = pcre2_compile(regex->data.scalar.value, regex->data.scalar.length, 0, &code, &at, NULL);
    if (!re) {
        PCRE2_UCHAR message[128] = "";
        pcre2_get_error_message(code, message, sizeof message);
        error_at(l, regex, NULL, "wrong regular expression: ", str_of((const char *)message));
        return;
    }
    pcre2_jit_compile(re, PCRE2_JIT_COMPLETE); /* without JIT it is only slower */
    struct pattern_set *set = l->set;
    set->locations = grow(set->locations, &set->locations_cap, set->nlocations + 1, sizeof *set->locations);
    set->locations[set->nlocations++] = (struct location_rule){re, strip != NULL, say ? kept_text(l, say) : STR("")};
}

static void load_locations(struct loader *l, const yaml_node_t *list) {
    if (list->type != YAML_SEQUENCE_NODE) {
        error_at(l, list, NULL, "`locations` is a list", STR(""));
        return;
    }
    for (yaml_node_item_t *i = list->data.sequence.items.start; i < list->data.sequence.items.top; i++)
        load_location(l, yaml_document_get_node(&l->doc, *i));
}

/* ---- patterns ---- */

static void load_text(struct loader *l, struct str *to, const yaml_node_t *n) {
    if (is_scalar(l, n))
        *to = kept_text(l, n);
}

void load_conditions(struct loader *l, const struct formula *f, const yaml_node_t *n, const struct number ***out,
                     uint32_t *count) {
    const yaml_node_t *one[1] = {n};
    size_t nitems = 1;
    if (n->type == YAML_SEQUENCE_NODE)
        nitems = (size_t)(n->data.sequence.items.top - n->data.sequence.items.start);
    *out = arena_alloc(&l->set->arena, (nitems + 1) * sizeof **out);
    for (size_t i = 0; i < nitems; i++) {
        const yaml_node_t *item =
            n->type == YAML_SEQUENCE_NODE ? yaml_document_get_node(&l->doc, n->data.sequence.items.start[i]) : one[0];
        const struct number *number;
        if (!is_scalar(l, item))
            return;
        if (!condition_parse(&number, f, &l->set->arena, kept_text(l, item), origin_of(l, item), &l->set->regexes,
                          l->diags)) {
            l->failed = true;
            return;
        }
        (*out)[(*count)++] = number;
    }
}

/* A line, or {when: condition, say: line}. */
static void load_rule(struct loader *l, const struct formula *f, const yaml_node_t *n, struct note_rule *rules,
                      uint32_t *count) {
    if (n->type == YAML_SCALAR_NODE) {
        rules[(*count)++] = (struct note_rule){.say = kept_text(l, n)};
        return;
    }
    static const char *const rule_keys[] = {"when", "say"};
    if (n->type == YAML_MAPPING_NODE)
        for (yaml_node_pair_t *k = n->data.mapping.pairs.start; k < n->data.mapping.pairs.top && !l->failed; k++)
            check_key(l, yaml_document_get_node(&l->doc, k->key), rule_keys, 2, "a text has `when` and `say`");
    if (l->failed)
        return;
    const yaml_node_t *when = n->type == YAML_MAPPING_NODE ? lookup(l, n, "when") : NULL;
    const yaml_node_t *say = n->type == YAML_MAPPING_NODE ? lookup(l, n, "say") : NULL;
    if (!when || !say) {
        error_at(l, n, "{when: present(mask), say: …}", "text is meant, or `when` and `say`", STR(""));
        return;
    }
    const struct number **conditions;
    uint32_t nconditions = 0;
    load_conditions(l, f, when, &conditions, &nconditions);
    if (nconditions == 1 && is_scalar(l, say))
        rules[(*count)++] = (struct note_rule){.when = conditions[0], .say = kept_text(l, say)};
}

static void load_rules(struct loader *l, const struct formula *f, const yaml_node_t *n, struct note_rule **rules,
                       uint32_t *count) {
    size_t items =
        n->type == YAML_SEQUENCE_NODE ? (size_t)(n->data.sequence.items.top - n->data.sequence.items.start) : 1;
    *rules = arena_alloc(&l->set->arena, (items + 1) * sizeof **rules);
    if (n->type != YAML_SEQUENCE_NODE) {
        load_rule(l, f, n, *rules, count);
        return;
    }
    for (size_t i = 0; i < items && !l->failed; i++)
        load_rule(l, f, yaml_document_get_node(&l->doc, n->data.sequence.items.start[i]), *rules, count);
}

/* A list of at most 8 names of the formula. */
static void load_names(struct loader *l, const struct pattern *p, const yaml_node_t *n, uint32_t *out,
                       uint32_t *count) {
    if (n->type != YAML_SEQUENCE_NODE) {
        error_at(l, n, "[weight, bias]", "a list of names is meant", STR(""));
        return;
    }
    for (yaml_node_item_t *i = n->data.sequence.items.start; i < n->data.sequence.items.top; i++) {
        const yaml_node_t *item = yaml_document_get_node(&l->doc, *i);
        if (!is_scalar(l, item))
            return;
        uint32_t slot = formula_slot(&p->formula, scalar_text(item));
        if (slot == NONE || *count == 8) {
            error_at(l, item, NULL, "not a name of the formula: ", scalar_text(item));
            return;
        }
        out[(*count)++] = slot;
    }
}

const char *const pattern_sources[PATTERN_SOURCES] = {"ttnn", "torch", "triton", "cuda"};
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

/* A hint: the pattern whose name is nearest, else `hint`. */
static const char *nearest_name(struct loader *l, struct str name, const char *hint) {
    const char **names = xrealloc(NULL, (l->set->n + 1) * sizeof *names);
    for (uint32_t i = 0; i < l->set->n; i++)
        names[i] = arena_strdup(&l->set->arena, l->set->items[i]->name);
    const char *found = str_nearest(name, names, l->set->n);
    free(names);
    return found ? arena_printf(&l->set->arena, "did you mean %s?", found).p : hint;
}

static void check_source(struct loader *l, const struct pattern *p, const yaml_node_t *map) {
    for (size_t i = 0; i < PATTERN_SOURCES; i++)
        if (str_is(p->source, pattern_sources[i]))
            return;
    error_at(l, lookup(l, map, "source"), "one of ttnn, torch, triton, cuda", "unknown source: ", p->source);
}

static struct pattern *find_pattern(const struct pattern_set *set, struct str name) {
    for (uint32_t i = 0; i < set->n; i++)
        if (!set->items[i]->replaced && str_eq(set->items[i]->name, name))
            return set->items[i];
    return NULL;
}

/* The formula and what is said of its names, from the pattern itself or from the one that it is like. */
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
        error_at(l, like, nearest_name(l, scalar_text(like), "it has to be read earlier"),
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

static bool separates(const struct loader *l, uint64_t line) {
    const char *p = line_begin(l, line);
    return line_begin(l, line + 1) - p >= 3 && memcmp(p, "---", 3) == 0;
}

/* The lines of a document, comments before it too: between what separates it from others. */
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
    if (!l->failed && (n = lookup(l, map, "tests")))
        load_examples(l, p, n);
}

static struct pattern *load_pattern(struct loader *l, const yaml_node_t *map) {
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

/* Variants follow the pattern that they are like, in the order of reading. */
static void link_variant(struct pattern *p) {
    struct pattern **at = &p->variant_of->variant;
    while (*at)
        at = &(*at)->variant;
    *at = p;
}

static void append_pattern(struct pattern_set *set, struct pattern *p) {
    set->items = grow(set->items, &set->cap, set->n + 1, sizeof *set->items);
    set->items[set->n++] = p;
}

/* Puts `by` in the place of a pattern, or nothing (NULL). One that others are like stays for them, marked. */
static void retire(struct pattern_set *set, struct pattern *p, struct pattern *by) {
    uint32_t n = 0;
    p->replaced = true;
    for (uint32_t i = 0; i < set->n; i++)
        if (set->items[i] != p)
            set->items[n++] = set->items[i];
        else if (by)
            set->items[n++] = by;
    set->n = n;
    if (p->variant && !p->is_variant)
        append_pattern(set, p);
}

/* Replaces the pattern of the same name, if there is one. */
static void add_pattern(struct pattern_set *set, struct pattern *p) {
    p->replaces = find_pattern(set, p->name);
    p->order = p->replaces ? p->replaces->order : set->nread++;
    if (p->replaces)
        retire(set, p->replaces, p);
    else
        append_pattern(set, p);
    if (p->is_variant)
        link_variant(p);
}

static void switch_off(struct loader *l, const yaml_node_t *name) {
    struct pattern *p = find_pattern(l->set, scalar_text(name));
    if (p)
        retire(l->set, p, NULL);
    else
        warn_at(l, name, nearest_name(l, scalar_text(name), NULL),
                "switched off, but there is no such pattern: ", scalar_text(name));
}

/* {name: X, off: true}: an earlier pattern is switched off. */
static bool switches_off(struct loader *l, const yaml_node_t *map) {
    const yaml_node_t *off = lookup(l, map, "off"), *name = lookup(l, map, "name");
    if (!off || !is_scalar(l, off) || str_is(scalar_text(off), "false"))
        return false;
    if (!name || !str_is(scalar_text(off), "true"))
        error_at(l, off, "{name: linear, off: true}", "`off` is true or false and stands beside the name of a pattern",
                 STR(""));
    else if (is_scalar(l, name))
        switch_off(l, name);
    return true;
}

static void load_document(struct loader *l, bool idioms) {
    const yaml_node_t *root = yaml_document_get_root_node(&l->doc);
    if (!root)
        return;
    if (root->type != YAML_MAPPING_NODE) {
        error_at(l, root, NULL, "a pattern is a mapping", STR(""));
        return;
    }
    const yaml_node_t *list = lookup(l, root, "idioms");
    if (list && idioms)
        load_idioms(l, list);
    const yaml_node_t *rules = lookup(l, root, "locations");
    if (rules && idioms)
        load_locations(l, rules);
    const yaml_node_t *signs = lookup(l, root, "fused_ops");
    if (signs && idioms)
        load_signs(l, signs);
    const yaml_node_t *lowered = lookup(l, root, "lowering");
    if (lowered && idioms)
        load_lowerings(l, lowered);
    if (list || rules || signs || lowered || idioms)
        return;
    if (switches_off(l, root) || l->failed)
        return;
    struct pattern *p = load_pattern(l, root);
    if (!l->failed)
        add_pattern(l->set, p);
}

static void load_text_of_file(struct loader *l, bool idioms) {
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return;
    loader_begin(l);
    yaml_parser_set_input_string(&parser, (const unsigned char *)l->text.p, l->text.n);
    bool any = false;
    for (bool more = true; more && !l->failed;) {
        if (!yaml_parser_load(&parser, &l->doc)) {
            struct place at = {l->file, parser.problem_mark.line + 1, (uint32_t)parser.problem_mark.column + 1};
            diag_add(l->diags, SEV_ERROR, at, NULL, "not YAML: %s", parser.problem ? parser.problem : "unreadable");
            l->failed = true;
            break;
        }
        more = yaml_document_get_root_node(&l->doc) != NULL;
        any |= more;
        load_document(l, idioms);
        yaml_document_delete(&l->doc);
    }
    if (!any && !l->failed && !idioms)
        warn_at(l, NULL, NULL, "has no pattern in it", STR(""));
    yaml_parser_delete(&parser);
    loader_end(l);
}

/* True when the text has one of the sections that patterns are read after. */
static bool has_sections(struct str text) {
    static const char *const sections[] = {"idioms:", "locations:", "fused_ops:", "lowering:"};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        for (const char *at = str_find(text, str_of(sections[i])); at;) {
            if (at == text.p || at[-1] == '\n')
                return true;
            at++;
            at = str_find((struct str){at, (size_t)(text.p + text.n - at)}, str_of(sections[i]));
        }
    return false;
}

static bool goes_on(const char *line, size_t n) {
    return n == 0 || *line == ' ' || *line == '#' || *line == '\r' || (n > 1 && line[0] == '-' && line[1] == ' ');
}

/* Leaves out the examples, which are most of a file and of no use to an audit; lines keep their numbers. */
static void without_examples(struct str text, struct buf *out) {
    bool inside = false;
    for (size_t at = 0; at < text.n;) {
        const char *line = text.p + at, *end = memchr(line, '\n', text.n - at);
        size_t n = end ? (size_t)(end - line) : text.n - at;
        inside = inside ? goes_on(line, n) : str_is(str_trim((struct str){line, n}), "tests:") && *line == 't';
        if (!inside)
            buf_add(out, (struct str){line, n});
        if (end)
            buf_addc(out, '\n');
        at += n + (end != NULL);
    }
}

static bool read_file(struct loader *l, const char *path) {
    FILE *f = fopen(path, "rb");
    struct place at = {path, 0, 0};
    l->file = arena_strdup(&l->set->arena, str_of(path));
    if (!f) {
        diag_add(l->diags, SEV_ERROR, at, NULL, "%s", strerror(errno));
        return false;
    }
    struct buf b = {0}, kept = {0};
    char chunk[4096];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_add(&b, (struct str){chunk, n});
    bool ok = !ferror(f);
    fclose(f);
    if (!ok)
        diag_add(l->diags, SEV_ERROR, at, NULL, "cannot be read");
    if (l->set->no_examples)
        without_examples(buf_str(&b), &kept);
    l->text = arena_str(&l->set->arena, buf_str(l->set->no_examples ? &kept : &b));
    buf_free(&b);
    buf_free(&kept);
    return ok;
}

/* What patterns may use is read first, from all files. */
static bool load_files(struct pattern_set *set, const char *const *paths, uint32_t n, struct diags *d) {
    struct loader *l = arena_alloc(&set->arena, (n + 1) * sizeof *l);
    bool ok = true;
    for (uint32_t i = 0; i < n && ok; i++) {
        l[i].set = set;
        l[i].diags = d;
        ok = read_file(&l[i], paths[i]);
        if (ok && has_sections(l[i].text))
            load_text_of_file(&l[i], true);
        ok &= !l[i].failed;
    }
    for (uint32_t i = 0; i < n && ok; i++) {
        load_text_of_file(&l[i], false);
        ok = !l[i].failed;
    }
    return ok;
}

const struct pattern *patterns_load_text(struct pattern_set *set, const char *name, struct str text, struct diags *d) {
    struct loader l = {.set = set, .diags = d};
    l.file = arena_strdup(&set->arena, str_of(name));
    l.text = arena_str(&set->arena, text);
    load_text_of_file(&l, false);
    patterns_index(set);
    for (uint32_t i = set->n; i-- > 0 && !l.failed;)
        if (set->items[i]->file.p == l.file)
            return set->items[i];
    return NULL;
}

static int is_pattern_file(const struct dirent *e) {
    struct str name = str_of(e->d_name);
    return name.p[0] != '.' && str_ends(name, STR(".yml"));
}

static bool load_directory(struct pattern_set *set, const char *path, struct diags *d) {
    struct dirent **names;
    int n = scandir(path, &names, is_pattern_file, alphasort);
    if (n < 0) {
        diag_add(d, SEV_ERROR, (struct place){path, 0, 0}, NULL, "%s", strerror(errno));
        return false;
    }
    const char **paths = arena_alloc(&set->arena, ((size_t)n + 1) * sizeof *paths);
    for (int i = 0; i < n; i++) {
        paths[i] = arena_printf(&set->arena, "%s/%s", path, names[i]->d_name).p;
        free(names[i]);
    }
    free(names);
    if (n == 0)
        diag_add(d, SEV_ERROR, (struct place){path, 0, 0}, "pattern files end in .yml", "has no pattern file in it");
    return n > 0 && load_files(set, paths, (uint32_t)n, d);
}

static bool selected(const struct pattern *p) {
    for (; p; p = p->variant)
        if (p->selected && !p->replaced)
            return true;
    return false;
}

/* Patterns by the operator that their root may be, so that an op is compared with those alone. */
void patterns_index(struct pattern_set *set) {
    uint32_t n = 0;
    free(set->rooted);
    set->rooted = NULL;
    uint32_t cap = 0;
    for (int k = 0; k < K_COUNT; k++) {
        set->first_rooted[k] = n;
        for (uint32_t i = 0; i < set->n; i++) {
            struct pattern *p = set->items[i];
            if (p->is_variant || !p->formula.root || !node_is(p->formula.root, (enum op_kind)k) || !selected(p))
                continue;
            set->rooted = grow(set->rooted, &cap, n + 1, sizeof *set->rooted);
            set->rooted[n++] = p;
        }
    }
    set->first_rooted[K_COUNT] = n;
}

static bool load_path(struct pattern_set *set, const char *path, struct diags *d) {
    struct stat st;
    if (stat(path, &st) != 0) {
        diag_add(d, SEV_ERROR, (struct place){path, 0, 0}, NULL, "%s", strerror(errno));
        return false;
    }
    if (S_ISDIR(st.st_mode))
        return load_directory(set, path, d);
    return load_files(set, &path, 1, d);
}

bool patterns_load(struct pattern_set *set, const char *path, struct diags *d) {
    bool ok = load_path(set, path, d);
    patterns_index(set);
    return ok;
}

static bool glob_matches(struct str glob, struct str name) {
    char g[256], n[256];
    if (glob.n >= sizeof g || name.n >= sizeof n)
        return false;
    memcpy(g, glob.p, glob.n);
    memcpy(n, name.p, name.n);
    g[glob.n] = n[name.n] = '\0';
    return fnmatch(g, n, 0) == 0;
}

/* Marks what the globs match; false at the first that matches nothing. */
static bool mark_globs(struct pattern_set *set, const char *globs, bool *hit, struct str *bad) {
    for (const char *p = globs; *p;) {
        size_t n = strcspn(p, ",");
        struct str glob = str_trim((struct str){p, n});
        bool any = false;
        for (uint32_t i = 0; i < set->n; i++)
            if (!set->items[i]->replaced &&
                (glob_matches(glob, set->items[i]->name) || glob_matches(glob, set->items[i]->fused_op)))
                any = hit[i] = true;
        if (!any) {
            *bad = glob;
            return false;
        }
        p += n;
        p += *p == ',';
    }
    return true;
}

bool patterns_select(struct pattern_set *set, const char *only, const char *skip, struct str *bad) {
    bool *in = xrealloc(NULL, set->n + 1), *out = xrealloc(NULL, set->n + 1);
    memset(in, only == NULL, set->n + 1);
    memset(out, 0, set->n + 1);
    bool ok = (!only || mark_globs(set, only, in, bad)) && (!skip || mark_globs(set, skip, out, bad));
    for (uint32_t i = 0; i < set->n; i++)
        set->items[i]->selected = in[i] && !out[i];
    patterns_index(set);
    free(in);
    free(out);
    return ok;
}

void patterns_free(struct pattern_set *set) {
    idioms_free(&set->idioms);
    lowerings_free(set);
    regexes_free(&set->regexes);
    for (uint32_t i = 0; i < set->nlocations; i++)
        pcre2_code_free(set->locations[i].regex);
    free(set->locations);
    free(set->signs);
    free(set->items);
    free(set->rooted);
    arena_free(&set->arena);
    memset(set, 0, sizeof *set);
}
