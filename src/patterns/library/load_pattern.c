/* One pattern: the keys of its document in a pattern file. The first mistake is an error at its place, and ends it. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "patterns/lang/condition.h"
#include "patterns/lang/lex.h"
#include "patterns/library/loader.h"

/* What stands behind a key of the pattern, or of `defaults`; NULL: nothing. */
static const struct tree *lookup(const struct loader *l, const struct tree *map, const char *key) {
    const struct tree *own = tree_lookup(map, key), *defaults = l->shared ? tree_lookup(l->shared, "defaults") : NULL;
    return own || !defaults ? own : tree_lookup(defaults, key);
}

/* Without `source` it is what the name of the fused op begins with: triton.x. */
static void load_source(struct loader *l, struct pattern *p, const struct tree *map) {
    const struct tree *n = lookup(l, map, "source");
    const char *dot = memchr(p->fused_op.p, '.', p->fused_op.n);
    struct str word = n ? p->source : (struct str){p->fused_op.p, dot ? (size_t)(dot - p->fused_op.p) : 0};
    for (size_t i = 0; i < PATTERN_SOURCES; i++)
        if (str_is(word, pattern_sources[i])) {
            p->source = str_of(pattern_sources[i]);
            return;
        }
    if (n)
        error_at(l, n, "one of ttnn, torch, triton, cuda", "unknown source: ", word);
    else
        error_at(l, map, "one of ttnn, torch, triton, cuda", "the pattern lacks the key ", STR("source"));
}

/* Each name stands for a value. */
static bool parse_match(struct loader *l, struct pattern *p, const struct tree *n) {
    struct text_origin origin = origin_of(l, n);
    if (!formula_parse(&p->formula, &l->set->arena, &l->set->idioms, n->text, origin, l->in.diags))
        return false;
    uint32_t slot = formula_unbound(&p->formula);
    if (slot == NONE)
        return true;
    struct str name = p->formula.slots[slot].name;
    diag_add(l->in.diags, SEV_ERROR, lex_place(origin, n->text, name.p), NULL,
             "extent of a name that stands nowhere: %.*s", (int)name.n, name.p);
    return false;
}

/* Its own, or that of the pattern that it is `like`. */
static void load_formula(struct loader *l, struct pattern *p, const struct tree *map) {
    const struct tree *like = tree_lookup(map, "like"), *n = tree_lookup(map, "match");
    if (!like) {
        if (!n)
            error_at(l, map, NULL, "the pattern lacks the key ", STR("match"));
        else if (is_scalar(l, n))
            l->in.failed = !parse_match(l, p, n);
        return;
    }
    struct pattern *leader = is_scalar(l, like) ? find_pattern(l->set, like->text) : NULL;
    if (n || tree_lookup(map, "where"))
        error_at(l, n ? n : tree_lookup(map, "where"), NULL,
                 "a pattern that is `like` another has its formula and `where`", STR(""));
    else if (!leader || leader->is_variant)
        error_at(l, like, nearest_pattern_name(l->set, like->text, "it has to be read earlier"),
                 "no such pattern with a formula of its own: ", like->text);
    if (l->in.failed || !leader)
        return;
    p->formula = leader->formula;
    p->is_variant = true;
    p->variant_of = leader;
}

/* Names that a condition, of which all parts must hold, says to be constants. */
static void mark_constants(struct formula *f, struct str condition) {
    static const struct str says = {"constant(", sizeof "constant(" - 1};
    if (!str_find(condition, says) || memchr(condition.p, '|', condition.n))
        return;
    for (int depth = 0; condition.n;) {
        struct str part = str_trim(str_part(&condition, '&'));
        bool is = depth == 0 && str_starts(part, says) && str_ends(part, STR(")"));
        uint32_t slot = is ? formula_slot(f, (struct str){part.p + says.n, part.n - says.n - 1}) : NONE;
        if (slot != NONE)
            f->slots[slot].is_constant = true;
        for (size_t i = 0; i < part.n; i++)
            depth += (part.p[i] == '(') - (part.p[i] == ')');
    }
}

/* The net wants them, before the rest of a pattern is read. */
static void find_constants(struct formula *f, const struct tree *where) {
    if (where && where->kind == TREE_SCALAR)
        mark_constants(f, where->text);
    for (const struct tree *n = where && where->kind == TREE_SEQUENCE ? where->first : NULL; n; n = n->next)
        if (n->kind == TREE_SCALAR)
            mark_constants(f, n->text);
}

/* What a leader states of the names of the formula. */
static void copy_statements(struct pattern *p, const struct pattern *leader) {
    p->fused = leader->fused;
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
    p->nbeside = leader->nbeside;
    memcpy(p->beside, leader->beside, sizeof p->beside);
}

/* The line is "---", between two documents. */
static bool separates(const struct loader *l, uint64_t line) {
    const char *p = line_begin(l, line);
    return line_begin(l, line + 1) - p >= 3 && *p == '-' && memcmp(p, "---", 3) == 0;
}

/* The lines of a document with the comments around it: from one "---" to the next. */
static struct str document_text(const struct loader *l, const struct tree *root, uint64_t *first) {
    uint64_t line = root->line, end = line + 1;
    while (line > 0 && !separates(l, line))
        line--;
    while (end <= l->nlines && !separates(l, end))
        end++;
    *first = line + 1;
    const char *p = line_begin(l, *first);
    return (struct str){p, (size_t)(line_begin(l, end) - p)};
}

static void load_approximate(struct loader *l, struct pattern *p, const struct tree *n) {
    if (!is_scalar(l, n))
        return;
    if (!mlir_float(n->text, &p->approximate) || !(p->approximate > 0 && p->approximate < 1))
        error_at(l, n, "approximate: 0.002", "a number between 0 and 1 is meant: ", n->text);
}

/* ---- keys ---- */

enum holding_kind {
    HOLDS_TEXT,
    HOLDS_CONDITIONS,
    HOLDS_RULES,
    HOLDS_NAMES,
    HOLDS_OTHER /* what `load` reads; NULL: load_formula, switches_off or family_size */
};

static void load_fused(struct loader *l, struct pattern *p, const struct tree *n) {
    p->fused = load_form(l, p, n);
}

/* Its own, or that of the pattern that it is `like`. */
static void load_fused_op(struct loader *l, struct pattern *p, const struct tree *map) {
    const struct tree *like = tree_lookup(map, "like");
    struct pattern *leader = like && !p->fused_op.n ? find_pattern(l->set, like->text) : NULL;
    if (leader)
        p->fused_op = leader->fused_op;
    else if (!p->fused_op.n)
        error_at(l, map, NULL, "the pattern lacks the key ", STR("fused_op"));
}

/* The keys of a pattern, in the order of reading. */
static const struct pattern_key {
    const char *name;
    void (*load)(struct loader *l, struct pattern *p, const struct tree *n);
    size_t to, count; /* offsets in struct pattern: where it goes, and how many they are */
    enum holding_kind holds;
    bool required, early; /* early: read before the formula */
} keys[] = {
#define TEXT(name, required)                                                                                           \
    { #name, NULL, offsetof(struct pattern, name), 0, HOLDS_TEXT, required, true }
#define LIST(name, holds)                                                                                              \
    { #name, NULL, offsetof(struct pattern, name), offsetof(struct pattern, n##name), holds, false, false }
#define OTHER(name, load, early)                                                                                       \
    { #name, load, 0, 0, HOLDS_OTHER, false, early }
    TEXT(name, true),
    TEXT(summary, false),
    TEXT(fused_op, false),
    TEXT(source, false),
    TEXT(match, false),
    OTHER(fused, load_fused, false),
    OTHER(like, NULL, false),
    OTHER(off, NULL, false),
    OTHER(for, NULL, false),
    LIST(where, HOLDS_CONDITIONS),
    LIST(require, HOLDS_CONDITIONS),
    LIST(unless, HOLDS_CONDITIONS),
    LIST(decomposed, HOLDS_CONDITIONS),
    LIST(notes, HOLDS_RULES),
    LIST(torch, HOLDS_RULES),
    LIST(call, HOLDS_RULES),
    LIST(block, HOLDS_RULES),
    OTHER(outside, load_outside, false),
    LIST(undone, HOLDS_RULES),
    OTHER(status, load_status, true),
    LIST(locate, HOLDS_NAMES),
    LIST(escapes, HOLDS_NAMES),
    LIST(beside, HOLDS_NAMES),
    LIST(positive, HOLDS_NAMES),
    LIST(replicated, HOLDS_NAMES),
    OTHER(holds, load_holds, false),
    OTHER(approximate, load_approximate, false),
    OTHER(tests, load_examples, false),
};

enum { NKEYS = sizeof keys / sizeof *keys, MOST_RULES = 256 };

static void check_pattern_keys(struct loader *l, const struct tree *map) {
    enum { NSECTIONS = 11 };
    const char *names[NKEYS + NSECTIONS] = {"define",  "locations", "fused_ops", "passes", "options", "unchecked",
                                            "demands", "library",   "compiler",  "had",    "prints"}; /* for hints */
    for (size_t i = 0; i < NKEYS; i++)
        names[i + NSECTIONS] = keys[i].name;
    record_check_keys(&l->in, map, names, NKEYS + NSECTIONS,
                      "the formula stands under `match`; all keys are listed in fusion-patterns(5)");
}

static void load_key(struct loader *l, struct pattern *p, const struct pattern_key *key, const struct tree *n) {
    void *to = (char *)p + key->to;
    uint32_t *count = (void *)((char *)p + key->count);
    switch (key->holds) {
    case HOLDS_TEXT:
        if (is_scalar(l, n))
            *(struct str *)to = n->text;
        return;
    case HOLDS_CONDITIONS:
        load_conditions(l, &p->formula, n, to, count);
        return;
    case HOLDS_RULES:
        load_rules(l, &p->formula, n, to, count);
        return;
    case HOLDS_NAMES:
        *count = 0;
        load_names(l, p, n, to, count);
        return;
    case HOLDS_OTHER:
        if (key->load)
            key->load(l, p, n);
        return;
    }
}

/* Those before the formula, or those behind it. */
static void load_keys(struct loader *l, struct pattern *p, const struct tree *map, bool early) {
    for (const struct pattern_key *k = keys; k < keys + NKEYS && !l->in.failed; k++) {
        const struct tree *n = k->early == early ? lookup(l, map, k->name) : NULL;
        if (n)
            load_key(l, p, k, n);
        else if (early && k->required)
            error_at(l, map, NULL, "the pattern lacks the key ", str_of(k->name));
        if (!l->in.failed && n && k->required && !n->text.n)
            error_at(l, n, NULL, "nothing stands behind the key ", str_of(k->name));
    }
}

void load_shared(struct loader *l, const struct tree *root) {
    /* not those that a pattern which is `like` another has from that */
    static const char *const shared[] = {"defaults", "rules"}, *const with_defaults[] = {
                                                                   "fused_op",   "source", "require", "unless",
                                                                   "decomposed", "notes",  "torch",   "block",
                                                                   "undone",     "status"};
    const struct tree *defaults = tree_lookup(root, "defaults"), *rules = tree_lookup(root, "rules");
    const char *names[MOST_RULES];
    uint32_t n = 0;
    record_check_keys(&l->in, root, shared, 2, "`defaults` and `rules` have a document of their own");
    if (defaults && !l->in.failed)
        record_check_keys(&l->in, defaults, with_defaults, sizeof with_defaults / sizeof *with_defaults,
                          "`defaults` has keys that have no part in the formula");
    for (const struct tree *rule = rules ? rules->first : NULL; rule && n < MOST_RULES; rule = rule->next)
        names[n++] = rule->text.p ? rule->text.p : "";
    if (rules && !l->in.failed)
        record_check_keys(&l->in, rules, names, n, "rules: {masked: {when: present(mask), say: …}}");
    l->shared = root;
}

static uint32_t count_conjuncts(const struct number *n) {
    return n->op == NUM_AND ? count_conjuncts(n->a) + count_conjuncts(n->b) : 1;
}

static struct conjunct *add_conjuncts(const struct number *n, const struct conjunct *all, struct conjunct *out) {
    if (n->op == NUM_AND)
        return add_conjuncts(n->b, all, add_conjuncts(n->a, all, out));
    *out = *all;
    out->part = n;
    out->of_part = number_names(n);
    return out + 1;
}

static void list_conjuncts(struct loader *l, struct pattern *p) {
    for (uint32_t i = 0; i < p->nwhere; i++)
        p->nconjuncts += count_conjuncts(p->where[i]);
    struct conjunct *to = arena_alloc(&l->set->arena, (p->nconjuncts + (size_t)1) * sizeof *to);
    p->conjuncts = to;
    for (uint32_t i = 0; i < p->nwhere; i++) {
        struct conjunct all = {.condition = p->where[i], .of_condition = number_names(p->where[i])};
        to = add_conjuncts(p->where[i], &all, to);
    }
}

struct summary_part next_summary_part(struct str *rest) {
    const char *end = rest->p + rest->n, *open = memchr(rest->p, '[', rest->n);
    const char *colon = open == rest->p ? memchr(open, ':', rest->n) : NULL;
    const char *close = colon ? memchr(colon, ']', (size_t)(end - colon)) : NULL;
    struct summary_part part = {STR(""), {rest->p, open && !close ? (size_t)(open - rest->p) : rest->n}};
    if (close) {
        part = (struct summary_part){{open + 1, (size_t)(colon - open - 1)}, {colon + 1, (size_t)(close - colon - 1)}};
        *rest = (struct str){close + 1, (size_t)(end - close - 1)};
        return part;
    }
    if (open == rest->p) /* a bracket that is none of these */
        part.text.n = 1;
    *rest = (struct str){rest->p + part.text.n, rest->n - part.text.n};
    return part;
}

/* The summary with all its parts, and the names on which they hang. The one of a direct fusion ends with what the ops
 * collapse to. */
static void complete_summary(struct loader *l, struct pattern *p) {
    struct str rest = p->sentence = p->summary;
    struct buf whole = {0};
    while (rest.n)
        buf_add(&whole, next_summary_part(&rest).text);
    struct str s = p->says = p->summary = buf_take(&whole, &l->set->arena);
    if (!s.n || !pattern_is_direct(p) || str_find(s, STR("collapse")))
        return;
    struct str *both[] = {&p->summary, &p->sentence};
    for (int i = 0; i < 2; i++) {
        both[i]->n -= str_ends(*both[i], STR("."));
        *both[i] = arena_printf(&l->set->arena, "%.*s; collapses to %.*s.", (int)both[i]->n, both[i]->p,
                                (int)p->fused_op.n, p->fused_op.p);
    }
}

/* Parts hang on names of the formula. */
static void check_sentence(struct loader *l, const struct pattern *p, const struct tree *map) {
    struct str rest = p->sentence;
    while (rest.n && !l->in.failed) {
        struct str names = next_summary_part(&rest).names;
        while (names.n && !l->in.failed) {
            struct str name = str_part(&names, '|');
            if (formula_slot(&p->formula, name) == NONE)
                error_at(l, map, NULL, "the formula has no such name, on which a part of `summary` hangs: ", name);
        }
    }
}

/* What is behind the formula: what the pattern asks of a match and says of it. */
static void load_rest(struct loader *l, struct pattern *p, const struct tree *map) {
    if (!l->in.failed && p->is_variant)
        copy_statements(p, p->variant_of);
    load_keys(l, p, map, false);
    const struct tree *match = tree_lookup(map, "match");
    if (!l->in.failed && !p->fused && match && (p->fused = load_form(l, p, match)))
        p->fused->own = true;
    if (!l->in.failed)
        check_sentence(l, p, map);
    if (!l->in.failed) {
        list_conjuncts(l, p);
        add_demands(l, p);
    }
}

/* Where the pass of a pattern runs. What no pass makes belongs into TTIR, unless the dialect does not have the op. */
static struct str level_of(const struct pattern_set *set, const struct pattern *p) {
    struct str pass = p->status.pass;
    for (uint32_t i = set->npasses; i-- > 0;)
        if (str_eq(set->passes[i].name, pass) && set->passes[i].level.n)
            return set->passes[i].level;
    return p->makes == NO_OPERATOR && str_starts(p->fused_op, STR("ttnn.")) ? STR("library") : STR("ttir");
}

struct pattern *load_pattern(struct loader *l, const struct tree *map) {
    struct pattern *p = arena_alloc(&l->set->arena, sizeof *p);
    p->file = l->file;
    p->line = map->line;
    uint64_t line;
    p->text = document_text(l, map, &p->text_line);
    p->selected = true;
    if (l->shared)
        p->shared = document_text(l, l->shared, &line);
    check_pattern_keys(l, map);
    load_keys(l, p, map, true);
    if (!l->in.failed)
        load_fused_op(l, p, map);
    if (!l->in.failed)
        load_source(l, p, map);
    if (pattern_is_direct(p)) /* no dialect has another's */
        p->makes = op_kind_of_spelling(p->fused_op);
    if (!l->in.failed && pattern_is_direct(p) && !p->status.level.n)
        p->status.level = level_of(l->set, p);
    if (!l->in.failed)
        complete_summary(l, p);
    if (!l->in.failed)
        load_formula(l, p, map);
    if (!p->is_variant)
        find_constants(&p->formula, lookup(l, map, "where"));
    load_rest(l, p, map);
    return p;
}
