/* The keys `outside` and `holds` of a pattern: for which inputs the fused form equals the formula. */
#include "patterns/library/loader.h"

#include <string.h>

static bool read_what(struct str text, void *to) {
    static const char *const names[] = {
        [OUTSIDE_MASKED_ROWS] = "masked_rows", [OUTSIDE_TIES] = "ties", [OUTSIDE_SMALL] = "small_numbers"};
    for (uint32_t i = OUTSIDE_MASKED_ROWS; i < sizeof names / sizeof *names; i++)
        if (str_is(text, names[i])) {
            *(enum outside *)to = (enum outside)i;
            return true;
        }
    return false;
}

static void load_outside_rule(struct loader *l, struct pattern *p, const struct tree *n) {
    struct outside_record {
        enum outside what;
        const struct tree *when;
        struct str say;
    } r = {.when = NULL};
    static const struct field fields[] = {
        {"what", FIELD_VALUE, true, offsetof(struct outside_record, what), read_what, NULL},
        {"when", FIELD_SCALAR, false, offsetof(struct outside_record, when), NULL, NULL},
        {"say", FIELD_TEXT, true, offsetof(struct outside_record, say), NULL, NULL}};
    if (!READ_RECORD(l, n, fields,
                     "{what: masked_rows, when: present(floor), say: …}; what is masked_rows, ties or small_numbers",
                     &r))
        return;
    const struct number *when = r.when ? load_condition(l, &p->formula, r.when) : NULL;
    p->outside[p->noutside++] = (struct note_rule){.when = when, .say = r.say, .what = r.what};
}

void load_outside(struct loader *l, struct pattern *p, const struct tree *n) {
    p->noutside = 0;
    p->outside = arena_alloc(&l->set->arena, (count_items(n) + (size_t)1) * sizeof *p->outside);
    for (const struct tree *i = items_of(n); i && !l->in.failed; i = i->next)
        load_outside_rule(l, p, i);
}

void load_holds(struct loader *l, struct pattern *p, const struct tree *n) {
    if (n->kind != TREE_MAPPING) {
        error_at(l, n, "holds: {m: m + transposed(m)}", "`holds` has a formula for each name", STR(""));
        return;
    }
    p->nholds = 0;
    for (const struct tree *k = n->first; k && !l->in.failed; k = k->next) {
        const struct tree *name = k, *text = k->value;
        if (!is_scalar(l, name))
            return;
        uint32_t slot = formula_slot(&p->formula, name->text);
        if (slot == NONE || !p->formula.slots[slot].is_variable || p->nholds == sizeof p->holds / sizeof *p->holds)
            error_at(l, name, NULL, "not a variable of the formula: ", name->text);
        else
            p->holds[p->nholds++] = (struct holding){slot, load_form(l, p, text)};
    }
}
