/* The keys `outside` and `holds` of a pattern: for which inputs the fused form equals the formula. */
#include "library/loader.h"

#include <string.h>

/* {what: ties, when: condition, say: text}; `when` may be left out. */
static void load_outside_rule(struct loader *l, struct pattern *p, const yaml_node_t *n) {
    static const char *const rule_keys[] = {"what", "when", "say"};
    static const char *const names[] = {
        [OUTSIDE_MASKED_ROWS] = "masked_rows", [OUTSIDE_TIES] = "ties", [OUTSIDE_SMALL] = "small_numbers"};
    struct note_rule *rule = &p->outside[p->noutside];
    if (n->type == YAML_MAPPING_NODE)
        for (yaml_node_pair_t *k = n->data.mapping.pairs.start; k < n->data.mapping.pairs.top && !l->failed; k++)
            check_key(l, yaml_document_get_node(&l->doc, k->key), rule_keys, 3,
                      "`outside` has `what`, `when` and `say`");
    const yaml_node_t *what = n->type == YAML_MAPPING_NODE ? lookup(l, n, "what") : NULL;
    const yaml_node_t *when = what ? lookup(l, n, "when") : NULL, *say = what ? lookup(l, n, "say") : NULL;
    if (!l->failed && (!what || !say))
        error_at(l, n, "{what: masked_rows, when: present(floor), say: …}", "`what` and `say` are meant", STR(""));
    if (l->failed || !is_scalar(l, what) || !is_scalar(l, say))
        return;
    for (uint32_t i = OUTSIDE_MASKED_ROWS; i < sizeof names / sizeof *names; i++)
        if (str_is(scalar_text(what), names[i]))
            rule->what = (enum outside)i;
    if (rule->what == OUTSIDE_NOTHING)
        error_at(l, what, "one of masked_rows, ties, small_numbers",
                 "nothing that can be outside of a claim: ", scalar_text(what));
    const struct number **conditions = NULL;
    uint32_t nconditions = 0;
    if (when)
        load_conditions(l, &p->formula, when, &conditions, &nconditions);
    rule->when = nconditions == 1 ? conditions[0] : NULL;
    if (nconditions > 1)
        error_at(l, when, NULL, "one condition is meant", STR(""));
    rule->say = kept_text(l, say);
    p->noutside++;
}

void load_outside(struct loader *l, struct pattern *p, const yaml_node_t *n) {
    bool list = n->type == YAML_SEQUENCE_NODE;
    size_t items = list ? (size_t)(n->data.sequence.items.top - n->data.sequence.items.start) : 1;
    p->noutside = 0;
    p->outside = arena_alloc(&l->set->arena, (items + 1) * sizeof *p->outside);
    for (size_t i = 0; i < items && !l->failed; i++)
        load_outside_rule(l, p, list ? yaml_document_get_node(&l->doc, n->data.sequence.items.start[i]) : n);
}

void load_holds(struct loader *l, struct pattern *p, const yaml_node_t *n) {
    if (n->type != YAML_MAPPING_NODE) {
        error_at(l, n, "holds: {m: m + transposed(m)}", "`holds` has a formula for each name", STR(""));
        return;
    }
    p->nholds = 0;
    for (yaml_node_pair_t *k = n->data.mapping.pairs.start; k < n->data.mapping.pairs.top && !l->failed; k++) {
        const yaml_node_t *name = yaml_document_get_node(&l->doc, k->key);
        const yaml_node_t *text = yaml_document_get_node(&l->doc, k->value);
        if (!is_scalar(l, name))
            return;
        uint32_t slot = formula_slot(&p->formula, scalar_text(name));
        if (slot == NONE || !p->formula.slot_is_variable[slot] || p->nholds == sizeof p->holds / sizeof *p->holds)
            error_at(l, name, NULL, "not a variable of the formula: ", scalar_text(name));
        else if (is_scalar(l, text))
            p->holds[p->nholds++] = (struct holding){slot, kept_text(l, text)};
    }
}
