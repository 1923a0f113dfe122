/* The section `lowering` of pattern files, and formulas that may use lowerings. */
#include "library/lowering.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "library/loader.h"

const struct lowering *lowering_of_name(const struct pattern_set *set, struct str name) {
    for (uint32_t i = set->nlowerings; i-- > 0;)
        if (str_eq(set->lowerings[i].name, name))
            return &set->lowerings[i];
    return NULL;
}

const struct lowering *lowering_of_kind(const struct pattern_set *set, enum op_kind k) {
    for (uint32_t i = set->nlowerings; k != NO_OPERATOR && i-- > 0;)
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

static bool parse_form(struct form *form, struct diags *d) {
    struct idioms all = all_idioms(form->set, true);
    struct formula *f = arena_alloc(&form->set->arena, sizeof *f);
    bool good = form_parse(f, &form->set->arena, &all, form->outer, form->text, form->origin, d);
    form->formula = good ? f : NULL;
    return good;
}

struct form *load_form(struct loader *l, const struct pattern *p, const struct tree *n) {
    if (!is_scalar(l, n))
        return NULL;
    struct form *form = arena_alloc(&l->set->arena, sizeof *form);
    *form = (struct form){.set = l->set, .outer = &p->formula, .text = n->text, .origin = origin_of(l, n)};
    if (!l->put_off)
        l->in.failed = !parse_form(form, l->in.diags);
    return form;
}

const struct formula *form_of(struct form *form) {
    pthread_mutex_t *completing = form->set->completing;
    if (completing)
        pthread_mutex_lock(completing);
    struct diags none = {.arena = &form->set->arena};
    bool good = form->formula || parse_form(form, &none);
    assert(good); /* it was read before, when the program was built */
    (void)good;
    if (completing)
        pthread_mutex_unlock(completing);
    return form->formula;
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
        if (!name.n || w->nparams == MOST_IDIOM_PARAMS)
            return false;
        w->params[w->nparams++] = name;
        p = comma ? comma + 1 : end;
    }
    return w->name.n > 0 && w->nparams > 0;
}

/* Every variable is a parameter. */
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
        if (w->slots[i] == NONE) {
            error_at(l, n, NULL, "too many names", STR(""));
            return false;
        }
    }
    return true;
}

static bool is_op(const struct node *n, void *kind) {
    return n->kind == N_OP && n->op == *(enum op_kind *)kind;
}

/* A fused op that is no op of a dialect becomes an idiom. */
static bool add_idiom(struct loader *l, const struct lowering *w, struct text_origin origin) {
    struct idiom idiom = {.name = w->name, .nparams = w->nparams, .text = w->text, .origin = origin};
    memcpy(idiom.params, w->params, sizeof idiom.params);
    return idiom_of_formula(&l->set->lowered, &l->set->arena, idiom, l->in.diags);
}

void load_lowering(struct loader *l, const struct tree *n) {
    struct lowering_record {
        const struct tree *op, *is;
        struct str source;
    } r = {.op = NULL};
    static const struct field fields[] = {
        {"op", FIELD_SCALAR, true, offsetof(struct lowering_record, op), NULL, NULL},
        {"is", FIELD_SCALAR, true, offsetof(struct lowering_record, is), NULL, NULL},
        {"source", FIELD_TEXT, false, offsetof(struct lowering_record, source), NULL, NULL}};
    struct lowering w = {.kind = NO_OPERATOR};
    if (!READ_RECORD(l, n, fields, "- {op: \"relu(x)\", is: \"out = maximum(x, 0)\", source: \"...\"}", &r))
        return;
    if (!read_head(&w, r.op->text))
        error_at(l, r.op, "relu(x)", "an op with its parameters expected: ", r.op->text);
    else if (!r.source.n && w.kind == NO_OPERATOR) /* what an op of TTIR is, its dialect says */
        error_at(l, n, NULL, "lacks the key ", STR("source"));
    if (l->in.failed)
        return;
    w.text = r.is->text;
    const char *spelled = op_table[w.kind].spellings, *dialect = strncmp(spelled, "ttir", 4) == 0 ? "TTIR" : "TTNN";
    w.source = r.source.n ? r.source
                          : arena_printf(&l->set->arena, "%s op definitions, %.*s", dialect, (int)strcspn(spelled, " "),
                                         spelled);
    w.formula = arena_alloc(&l->set->arena, sizeof *w.formula);
    struct idioms fused = all_idioms(l->set, false);
    struct text_origin origin = origin_of(l, r.is);
    if (!lowering_parse(w.formula, &l->set->arena, &fused, w.params, w.nparams, w.text, origin, l->in.diags) ||
        !bind_params(l, &w, r.is) || (w.kind == NO_OPERATOR && !add_idiom(l, &w, origin))) {
        l->in.failed = true;
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
