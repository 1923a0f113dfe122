/* The keys `outside` and `holds` of a pattern: for which inputs the fused form equals the formula. */
#include "library/loader.h"

#include <string.h>

/* {what: ties, when: condition, say: text}; `when` may be left out. */
static void load_outside_rule(struct loader *l, struct pattern *p, const struct tree *n) {
    static const char *const rule_keys[] = {"what", "when", "say"};
    static const char *const names[] = {
        [OUTSIDE_MASKED_ROWS] = "masked_rows", [OUTSIDE_TIES] = "ties", [OUTSIDE_SMALL] = "small_numbers"};
    struct note_rule *rule = &p->outside[p->noutside];
    check_keys(l, n, rule_keys, 3, "`outside` has `what`, `when` and `say`");
    const struct tree *what = tree_lookup(n, "what");
    const struct tree *when = what ? tree_lookup(n, "when") : NULL, *say = what ? tree_lookup(n, "say") : NULL;
    if (!l->failed && (!what || !say))
        error_at(l, n, "{what: masked_rows, when: present(floor), say: …}", "`what` and `say` are meant", STR(""));
    if (l->failed || !what || !say || !is_scalar(l, what) || !is_scalar(l, say))
        return;
    for (uint32_t i = OUTSIDE_MASKED_ROWS; i < sizeof names / sizeof *names; i++)
        if (str_is(what->text, names[i]))
            rule->what = (enum outside)i;
    if (rule->what == OUTSIDE_NOTHING)
        error_at(l, what, "one of masked_rows, ties, small_numbers",
                 "nothing that can be outside of a claim: ", what->text);
    const struct number **conditions = NULL;
    uint32_t nconditions = 0;
    if (when)
        load_conditions(l, &p->formula, when, &conditions, &nconditions);
    rule->when = nconditions == 1 ? conditions[0] : NULL;
    if (nconditions > 1)
        error_at(l, when, NULL, "one condition is meant", STR(""));
    rule->say = say->text;
    p->noutside++;
}

void load_outside(struct loader *l, struct pattern *p, const struct tree *n) {
    p->noutside = 0;
    p->outside = arena_alloc(&l->set->arena, (count_items(n) + (size_t)1) * sizeof *p->outside);
    for (const struct tree *i = items_of(n); i && !l->failed; i = i->next)
        load_outside_rule(l, p, i);
}

void load_holds(struct loader *l, struct pattern *p, const struct tree *n) {
    if (n->kind != TREE_MAPPING) {
        error_at(l, n, "holds: {m: m + transposed(m)}", "`holds` has a formula for each name", STR(""));
        return;
    }
    p->nholds = 0;
    for (const struct tree *k = n->first; k && !l->failed; k = k->next) {
        const struct tree *name = k;
        const struct tree *text = k->value;
        if (!is_scalar(l, name))
            return;
        uint32_t slot = formula_slot(&p->formula, name->text);
        if (slot == NONE || !p->formula.slot_is_variable[slot] || p->nholds == sizeof p->holds / sizeof *p->holds)
            error_at(l, name, NULL, "not a variable of the formula: ", name->text);
        else if (is_scalar(l, text))
            p->holds[p->nholds++] = (struct holding){slot, text->text, origin_of(l, text)};
    }
}
