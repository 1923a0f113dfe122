/* The section `lowering` of pattern files, and formulas that may use lowerings. */
#include "library/lowering.h"

#include <ctype.h>
#include <stdlib.h>

#include "lang/expr.h"
#include "library/loader.h"

const struct lowering *lowering_of_name(const struct pattern_set *set, struct str name) {
    for (uint32_t i = set->nlowerings; i-- > 0;)
        if (str_eq(set->lowerings[i].name, name))
            return &set->lowerings[i];
    return NULL;
}

const struct lowering *lowering_of_kind(const struct pattern_set *set, enum op_kind k) {
    for (uint32_t i = set->nlowerings; k != K_UNKNOWN && i-- > 0;)
        if (set->lowerings[i].kind == k)
            return &set->lowerings[i];
    return NULL;
}

/* ---- formulas with the names of fused ops ---- */

/* Lowerings that are idioms, and with `patterns` the idioms of pattern files before them. */
static struct idioms all_idioms(const struct pattern_set *set, bool patterns) {
    struct idioms all = set->lowered;
    all.others = patterns ? &set->idioms : NULL;
    return all;
}

/* Does the text begin with "name ="? */
static bool begins_with_definition(struct str text) {
    size_t i = 0;
    while (i < text.n && (isalnum((unsigned char)text.p[i]) || text.p[i] == '_'))
        i++;
    while (i < text.n && text.p[i] == ' ')
        i++;
    return i + 1 < text.n && text.p[i] == '=' && text.p[i + 1] != '=';
}

static bool is_plain_word(struct str word) {
    return str_is(word, "true") || str_is(word, "false") || str_is(word, "absent") ||
           op_kind_of_name(word) != K_UNKNOWN;
}

/* Names that occur as the value of an attribute only (epsilon=eps) get a slot. */
static bool add_names(const struct node *n, void *formula) {
    struct formula *f = formula;
    for (uint32_t i = 0; i < n->nattrs; i++) {
        struct str word = n->attrs[i].value;
        if (!n->attrs[i].word || is_plain_word(word) || formula_slot(f, word) != NONE || f->nslots == MAX_SLOTS)
            continue;
        f->slot_name[f->nslots] = word;
        f->slot_is_variable[f->nslots++] = true;
    }
    return false;
}

bool fused_parse(struct formula *f, struct arena *a, const struct pattern_set *set, struct str text,
                 struct text_origin origin, struct diags *d) {
    struct idioms all = all_idioms(set, true);
    text = str_trim(text);
    bool nameless = !begins_with_definition(text);
    if (nameless)
        text = arena_printf(a, "out = %.*s", (int)text.n, text.p);
    if (!formula_parse(f, a, &all, text, origin, d)) {
        if (nameless && d->n && d->items[d->n - 1].line == origin.line)
            d->items[d->n - 1].column -= (uint32_t)(sizeof "out = " - 1);
        return false;
    }
    formula_find(f, add_names, f);
    return true;
}

/* ---- loading ---- */

/* "name(a, b)" */
static bool read_head(struct lowering *w, struct str head) {
    const char *open = head.n ? memchr(head.p, '(', head.n) : NULL;
    if (!open || head.p[head.n - 1] != ')')
        return false;
    w->head = head;
    w->name = str_trim((struct str){head.p, (size_t)(open - head.p)});
    w->kind = op_kind_of_name(w->name);
    for (const char *p = open + 1, *end = head.p + head.n - 1; p < end;) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        struct str name = str_trim((struct str){p, (size_t)((comma ? comma : end) - p)});
        if (!name.n || w->nparams == MAX_PARAMS)
            return false;
        w->params[w->nparams++] = name;
        p = comma ? comma + 1 : end;
    }
    return w->name.n > 0 && w->nparams > 0;
}

/* Every variable is a parameter; parameters that stand in attributes only get a slot too. */
static bool bind_params(struct loader *l, struct lowering *w, const struct tree *n) {
    struct formula *f = w->formula;
    for (uint32_t s = 0; s < f->nslots; s++) {
        bool known = !f->slot_is_variable[s];
        for (uint32_t i = 0; i < w->nparams; i++)
            known |= str_eq(f->slot_name[s], w->params[i]);
        if (!known) {
            error_at(l, n, w->head.p, "no parameter of the op: ", f->slot_name[s]);
            return false;
        }
    }
    for (uint32_t i = 0; i < w->nparams; i++) {
        w->slots[i] = formula_slot(f, w->params[i]);
        if (w->slots[i] != NONE)
            continue;
        if (f->nslots == MAX_SLOTS) {
            error_at(l, n, NULL, "too many names", STR(""));
            return false;
        }
        f->slot_name[f->nslots] = w->params[i];
        f->slot_is_variable[f->nslots] = true;
        w->slots[i] = f->nslots++;
    }
    return true;
}

static bool is_op(const struct node *n, void *kind) {
    return n->kind == N_OP && n->op == *(enum op_kind *)kind;
}

/* A fused op that is no op of a dialect becomes an idiom: "head:" and the lines, the last one without its name. */
static bool add_idiom(struct loader *l, const struct lowering *w, struct text_origin origin) {
    struct arena *a = &l->set->arena;
    struct formula_parser p = {
        .arena = a, .diags = l->diags, .text = w->text, .origin = origin, .lexer = {w->text, 0, 0}};
    uint32_t n;
    const struct definition *lines = formula_lines(&p, &n);
    if (p.failed || n == 0)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (lines[i].kind != LINE_PLAIN) {
            formula_fail(&p, lines[i].name, NULL, "only ops of a dialect have further results");
            return false;
        }
    struct str name = lines[n - 1].name;
    size_t from = (size_t)(name.p - w->text.p), equals = from;
    while (equals < w->text.n && w->text.p[equals] != '=')
        equals++;
    struct str text = arena_printf(a, "%.*s:\n%.*s %.*s", (int)w->head.n, w->head.p, (int)from, w->text.p,
                                   (int)(w->text.n - equals - 1), w->text.p + equals + 1);
    origin.line--;
    return idiom_add(&l->set->lowered, a, text, origin, l->diags);
}

void load_lowering(struct loader *l, const struct tree *n) {
    static const char *const keys[] = {"op", "is", "source"};
    struct lowering w = {.kind = K_UNKNOWN};
    const struct tree *node[3] = {NULL, NULL, NULL};
    if (n->kind != TREE_MAPPING) {
        error_at(l, n, "- {op: \"relu(x)\", is: \"out = maximum(x, 0)\", source: \"...\"}", "a lowering is a mapping",
                 STR(""));
        return;
    }
    check_keys(l, n, keys, 3, "op, is, source");
    for (int i = 0; i < 3 && !l->failed; i++) {
        node[i] = tree_lookup(n, keys[i]);
        if (node[i])
            is_scalar(l, node[i]);
        else if (i < 2 || w.kind == K_UNKNOWN) /* what an op of TTIR is, its dialect says */
            error_at(l, n, NULL, "a lowering lacks the key ", str_of(keys[i]));
        if (i == 0 && node[0] && !l->failed && !read_head(&w, node[0]->text))
            error_at(l, node[0], "relu(x)", "an op with its parameters expected: ", node[0]->text);
    }
    if (l->failed || !node[0] || !node[1])
        return;
    w.text = node[1]->text;
    const char *spelled = op_table[w.kind].spellings, *dialect = strncmp(spelled, "ttir", 4) == 0 ? "TTIR" : "TTNN";
    w.source =
        node[2] ? node[2]->text
                : arena_printf(&l->set->arena, "%s op definitions, %.*s", dialect, (int)strcspn(spelled, " "), spelled);
    w.formula = arena_alloc(&l->set->arena, sizeof *w.formula);
    struct idioms fused = all_idioms(l->set, false);
    struct text_origin origin = origin_of(l, node[1]);
    if (!formula_parse(w.formula, &l->set->arena, &fused, w.text, origin, l->diags) || !bind_params(l, &w, node[1]) ||
        (w.kind == K_UNKNOWN && !add_idiom(l, &w, origin))) {
        l->failed = true;
        return;
    }
    w.primitive = formula_find(w.formula, is_op, &w.kind) != NULL;
    l->set->lowerings =
        grow(l->set->lowerings, &l->set->lowerings_cap, l->set->nlowerings + 1, sizeof *l->set->lowerings);
    l->set->lowerings[l->set->nlowerings++] = w;
}

void lowerings_free(struct pattern_set *set) {
    free(set->lowerings);
    idioms_free(&set->lowered);
}
