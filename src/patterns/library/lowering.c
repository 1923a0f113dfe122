/* What ops compute, and formulas that may use lowerings. */
#include "patterns/library/lowering.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "patterns/library/loader.h"

const struct lowering *lowering_of_name(const struct pattern_set *set, struct str name) {
    for (uint32_t i = set->nlowerings; i-- > 0;)
        if (str_eq(set->lowerings[i].op.name, name))
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

struct form *load_form(struct loader *l, const struct pattern *p, const struct tree *n) {
    if (!is_scalar(l, n))
        return NULL;
    struct arena *a = &l->set->arena;
    struct idioms all = all_idioms(l->set, true);
    struct formula *f = arena_alloc(a, sizeof *f);
    struct form *form = arena_alloc(a, sizeof *form);
    *form = (struct form){.text = n->text, .origin = origin_of(l, n), .formula = f};
    l->in.failed = !form_parse(f, a, &all, &p->formula, n->text, form->origin, l->in.diags);
    return form;
}

/* ---- loading ---- */

/* Every variable is a parameter. */
static bool bind_params(struct loader *l, struct lowering *w, const struct tree *n) {
    struct formula *f = w->formula;
    for (uint32_t s = 0; s < f->nslots; s++) {
        bool known = !f->slots[s].is_variable;
        for (uint32_t i = 0; i < w->op.nparams; i++)
            known |= str_eq(f->slots[s].name, w->op.params[i]);
        if (!known) {
            error_at(l, n, arena_str(&l->set->arena, definition_head(&w->op)).p,
                     "no parameter of the op: ", f->slots[s].name);
            return false;
        }
    }
    for (uint32_t i = 0; i < w->op.nparams; i++) {
        w->slots[i] = formula_slot(f, w->op.params[i]);
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

/* What an op of a dialect is, that says. */
static struct str source_of(struct loader *l, enum op_kind k) {
    const char *spelled = op_table[k].spellings, *dialect = strncmp(spelled, "ttir", 4) == 0 ? "TTIR" : "TTNN";
    return arena_printf(&l->set->arena, "%s op definitions, %.*s", dialect, (int)strcspn(spelled, " "), spelled);
}

void add_lowering(struct loader *l, const struct tree *n, const struct idiom *op, struct str source) {
    struct arena *a = &l->set->arena;
    struct lowering w = {.op = *op, .kind = op_kind_of_name(op->name), .formula = arena_alloc(a, sizeof *w.formula)};
    struct idioms fused = all_idioms(l->set, false);
    if (op->nparams == 0)
        error_at(l, n, "op relu(x): maximum(x, 0)", "an op with its parameters expected: ", op->name);
    else if (!source.n && w.kind == NO_OPERATOR)
        error_at(l, n, NULL, "lacks the key ", STR("source"));
    if (l->in.failed)
        return;
    w.source = source.n ? source : source_of(l, w.kind);
    l->in.failed = !lowering_parse(w.formula, a, &fused, op, l->in.diags) || !bind_params(l, &w, n) ||
                   (w.kind == NO_OPERATOR && !idiom_add(&l->set->lowered, a, *op, l->in.diags));
    if (l->in.failed)
        return;
    w.primitive = formula_find(w.formula, is_op, &w.kind) != NULL;
    APPEND(a, l->set, lowerings, w);
}
