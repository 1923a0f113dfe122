/* The section `demands` of pattern files: what fused ops want of their operands, said in the notes of a finding that
 * does not have it. A demand on several operands is written once, with `it` for each; patterns that lack one of its
 * names have none of it. */
#include <string.h>

#include "patterns/lang/lex.h"
#include "patterns/lang/template.h"
#include "patterns/library/loader.h"
#include "patterns/library/lowering.h"

/* ---- loading ---- */

static struct str_list load_words(struct loader *l, const struct tree *list) {
    struct str *items = arena_alloc(&l->set->arena, (count_items(list) + (size_t)1) * sizeof *items);
    uint32_t n = 0;
    for (const struct tree *i = items_of(list); i && is_scalar(l, i); i = i->next)
        items[n++] = i->text;
    return (struct str_list){items, n};
}

void load_demand(struct loader *l, const struct tree *n) {
    struct demand_record {
        const struct tree *of, *operands, *when, *say, *moves;
        bool theoretical, gridded, unmade;
    } r = {.when = NULL};
    static const struct field fields[] = {
        {"of", FIELD_TREE, true, offsetof(struct demand_record, of), NULL, NULL},
        {"for", FIELD_TREE, false, offsetof(struct demand_record, operands), NULL, NULL},
        {"when", FIELD_SCALAR, false, offsetof(struct demand_record, when), NULL, NULL},
        {"say", FIELD_SCALAR, true, offsetof(struct demand_record, say), NULL, NULL},
        {"moves", FIELD_TREE, false, offsetof(struct demand_record, moves), NULL, NULL},
        {"theoretical", FIELD_FLAG, false, offsetof(struct demand_record, theoretical), NULL, NULL},
        {"gridded", FIELD_FLAG, false, offsetof(struct demand_record, gridded), NULL, NULL},
        {"unmade", FIELD_FLAG, false, offsetof(struct demand_record, unmade), NULL, NULL}};
    if (!READ_RECORD(l, n, fields, "{of: ttnn.linear, for: [b, bias], when: not(same_dtype(a, it)), say: …}", &r))
        return;
    struct demand d = {.of = load_words(l, r.of),
                       .say = r.say->text,
                       .theoretical = r.theoretical,
                       .gridded = r.gridded,
                       .unmade = r.unmade};
    if (r.operands)
        d.operands = load_words(l, r.operands);
    if (r.moves)
        d.moves = load_words(l, r.moves);
    struct str always = arena_str(&l->set->arena, STR("1 == 1")); /* of every match */
    if (l->in.failed || !condition_read(&d.when, &l->set->arena, r.when ? r.when->text : always,
                                        origin_of(l, r.when ? r.when : r.say), l->in.diags)) {
        l->in.failed = true;
        return;
    }
    APPEND(&l->set->arena, l->set, demands, d);
}

/* ---- of a pattern ---- */

static bool is_of(const struct demand *d, struct str op) {
    for (uint32_t i = 0; i < d->of.n; i++)
        if (str_matches(op, d->of.items[i]))
            return true;
    return false;
}

/* The text with `operand` for each `it`. */
static struct str with_operand(struct arena *a, struct str text, struct str operand) {
    struct lexer lexer = {text, 0, 0};
    struct buf out = {0};
    const char *from = text.p;
    for (struct token t = lex_next(&lexer); t.kind != T_END && t.kind != T_BAD; t = lex_next(&lexer))
        if (t.kind == T_NAME && str_is(t.text, "it")) {
            buf_add(&out, (struct str){from, (size_t)(t.text.p - from)});
            buf_add(&out, operand);
            from = t.text.p + t.text.n;
        }
    buf_add(&out, (struct str){from, (size_t)(text.p + text.n - from)});
    return buf_take(&out, a);
}

/* The same in what stands in braces: {it}, {type(it)}. */
static struct str said_of(struct arena *a, struct str say, struct str operand) {
    struct buf out = {0};
    struct str before, inner;
    while (next_braced(&say, &before, &inner)) {
        struct str put = with_operand(a, inner, operand);
        buf_printf(&out, "%.*s{%.*s}", (int)before.n, before.p, (int)put.n, put.p);
    }
    buf_add(&out, before);
    return buf_take(&out, a);
}

/* What the names in the condition stand for, `operand` for `it`. False where the formula lacks one. */
static bool find_names(const struct formula *f, const struct demand *d, uint32_t operand, uint32_t *slots) {
    for (uint32_t i = 0; i < d->when.nparams; i++) {
        bool it = d->operands.n && str_is(d->when.params[i], "it");
        slots[i] = it ? operand : formula_slot(f, d->when.params[i]);
        if (slots[i] == NONE)
            return false;
    }
    return true;
}

/* Those of the names that the formula has; `operand` for `it`. */
static void find_moved(struct loader *l, const struct formula *f, const struct demand *d, uint32_t operand,
                       struct note_rule *rule) {
    uint32_t *slots = arena_alloc(&l->set->arena, (d->moves.n + (size_t)1) * sizeof *slots);
    for (uint32_t i = 0; i < d->moves.n; i++) {
        uint32_t slot = str_is(d->moves.items[i], "it") ? operand : formula_slot(f, d->moves.items[i]);
        if (slot != NONE)
            slots[rule->nmoves++] = slot;
    }
    rule->moves = slots;
}

/* The rules of one demand for this formula: how many were added. */
static uint32_t rules_of(struct loader *l, const struct demand *d, const struct formula *f, struct note_rule *out) {
    uint32_t n = 0, most = d->operands.n ? d->operands.n : 1;
    for (uint32_t i = 0; i < most && !l->in.failed; i++) {
        uint32_t operand = d->operands.n ? formula_slot(f, d->operands.items[i]) : NONE, slots[MOST_IDIOM_PARAMS];
        if ((d->operands.n && operand == NONE) || !find_names(f, d, operand, slots))
            continue;
        out[n] = (struct note_rule){.say = d->say, .unmade = d->unmade};
        if (d->operands.n)
            out[n].say = said_of(&l->set->arena, d->say, d->operands.items[i]);
        find_moved(l, f, d, operand, &out[n]);
        l->in.failed =
            !condition_of(&out[n++].when, f, &l->set->arena, &d->when, slots, &l->set->conditions, l->in.diags);
    }
    return n;
}

/* A condition more behind those that all have to hold. */
static void add_requirement(struct loader *l, struct pattern *p, const struct number *holds) {
    const struct number **all = arena_alloc(&l->set->arena, (p->nrequire + (size_t)1) * sizeof *all);
    if (p->nrequire)
        memcpy(all, p->require, p->nrequire * sizeof *all);
    all[p->nrequire++] = holds;
    p->require = all;
}

/* The demands on an op: how many, and how many rules they may become. */
static uint32_t demands_on(const struct loader *l, struct str op, struct demand **out, uint32_t *rules) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->set->ndemands; i++)
        if (is_of(&l->set->demands[i], op)) {
            out[n++] = &l->set->demands[i];
            *rules += l->set->demands[i].operands.n + 1;
        }
    return n;
}

void add_demands(struct loader *l, struct pattern *p) {
    const struct pattern *leader = p->variant_of ? p->variant_of : p;
    bool instead = !pattern_is_direct(p) && pattern_is_direct(leader); /* it takes what cannot become direct */
    const struct number *unmet = NULL;
    uint32_t most = p->nnotes;
    struct demand **of = arena_alloc(&l->set->arena, (l->set->ndemands + (size_t)1) * sizeof *of);
    uint32_t nof = demands_on(l, instead ? leader->fused_op : p->fused_op, of, &most);
    struct note_rule *notes = arena_alloc(&l->set->arena, (most + (size_t)1) * sizeof *notes);
    if (p->nnotes)
        memcpy(notes, p->notes, p->nnotes * sizeof *notes);
    for (uint32_t i = 0; i < nof && !l->in.failed; i++) {
        struct demand *d = of[i];
        if (d->gridded) {
            p->gridded = d->used = true;
            continue;
        }
        if (instead && !d->theoretical)
            continue;
        uint32_t n = rules_of(l, d, &p->formula, notes + p->nnotes);
        d->used |= n > 0;
        for (uint32_t k = 0; k < n && d->theoretical && !l->in.failed; k++) {
            const struct number *when = notes[p->nnotes + k].when;
            if (!instead)
                add_requirement(l, p, joined(l, NUM_NOT, when, NULL));
            unmet = unmet ? joined(l, NUM_OR, unmet, when) : when;
        }
        p->nnotes += d->theoretical && !instead ? 0 : n;
    }
    p->notes = notes;
    if (instead && unmet)
        add_requirement(l, p, unmet);
}

/* ---- for authors ---- */

static bool is_fused_op(const struct node *n, void *kind) {
    return n->kind == N_OP && n->op == *(enum op_kind *)kind;
}

/* The name of the pattern that is, in its fused form, the operand of this role, perhaps moved; NONE: no name is. */
static uint32_t slot_of_role(const struct pattern *p, struct str role) {
    enum op_kind makes = p->makes;
    const struct formula *form = p->fused->formula;
    const struct node *n = formula_find(form, is_fused_op, &makes);
    uint32_t at = n ? op_operand_of_role(makes, role) : NONE;
    n = n && at < n->nargs ? n->args[at] : NULL;
    while (n && n->kind != N_VARIABLE && n->nargs == 1)
        n = n->args[0];
    return n && n->kind == N_VARIABLE ? formula_slot(&p->formula, form->slots[n->slot].name) : NONE;
}

static bool is_called_otherwise(const struct demand *d, const struct pattern *p, struct str role, struct str *name) {
    uint32_t slot = formula_slot(&p->formula, role) == NONE ? slot_of_role(p, role) : NONE;
    for (uint32_t i = 0; i < d->operands.n && slot != NONE; i++)
        if (formula_slot(&p->formula, d->operands.items[i]) == slot)
            slot = NONE;
    if (slot != NONE)
        *name = p->formula.slots[slot].name;
    return slot != NONE;
}

/* A word of the demand is all that the pattern lacks of it. What is demanded of all ops speaks of no op's operands. */
static bool misses(const struct demand *d, const struct pattern *p, struct str *role, struct str *name) {
    uint32_t lacking = 0;
    if (!is_of(d, p->fused_op) || str_ends(d->of.items[0], STR(".*")))
        return false;
    for (uint32_t i = 0; i < d->when.nparams; i++)
        if (!str_is(d->when.params[i], "it") && formula_slot(&p->formula, d->when.params[i]) == NONE) {
            *role = d->when.params[i];
            lacking++;
        }
    if (lacking)
        return lacking == 1 && is_called_otherwise(d, p, *role, name);
    for (uint32_t i = 0; i < d->operands.n; i++)
        if (is_called_otherwise(d, p, *role = d->operands.items[i], name))
            return true;
    return false;
}

bool demand_missed(const struct pattern_set *set, const struct pattern *p, struct str *role, struct str *name) {
    bool missed = false;
    for (uint32_t k = 0; k < set->ndemands && p->fused && !missed; k++)
        missed = misses(&set->demands[k], p, role, name);
    return missed;
}
