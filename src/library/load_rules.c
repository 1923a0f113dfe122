/* Parts of a pattern that several keys have: conditions, texts that may have a condition, and names of the formula. */
#include "library/loader.h"

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

void load_rules(struct loader *l, const struct formula *f, const yaml_node_t *n, struct note_rule **rules,
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

void load_names(struct loader *l, const struct pattern *p, const yaml_node_t *n, uint32_t *out, uint32_t *count) {
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
