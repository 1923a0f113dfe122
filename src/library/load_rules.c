/* Parts of a pattern that several keys have: conditions, texts that may have a condition, and names of the formula. */
#include "library/loader.h"
#include "library/series.h"

void load_conditions(struct loader *l, const struct formula *f, const struct tree *n, const struct number ***out,
                     uint32_t *count) {
    *out = arena_alloc(&l->set->arena, (count_items(n) + (size_t)1) * MOST_MEMBERS * sizeof **out);
    for (const struct tree *item = items_of(n); item && is_scalar(l, item); item = item->next) {
        struct str members[MOST_MEMBERS];
        uint32_t nmembers = series_members(&l->set->arena, item->text, members);
        for (uint32_t i = 0; i < nmembers && !l->failed; i++)
            l->failed = !condition_parse(&(*out)[(*count)++], f, &l->set->arena, members[i], origin_of(l, item),
                                         &l->set->conditions, l->diags);
        if (l->failed)
            return;
    }
}

/* The condition and the text of `{when: condition, say: text}`, or, shorter, of `{condition: text}`. */
static bool parts_of_rule(struct loader *l, const struct tree *n, const struct tree **when, const struct tree **say) {
    static const char *const rule_keys[] = {"when", "say"};
    *when = tree_lookup(n, "when");
    *say = tree_lookup(n, "say");
    if (!*when && !*say && n->kind == TREE_MAPPING && n->n == 1) {
        *when = n->first;
        *say = n->first->value;
        return true;
    }
    check_keys(l, n, rule_keys, 2, "a text has a condition, or `when` and `say`");
    if (!l->failed && (!*when || !*say))
        error_at(l, n, "present(mask): …", "text is meant, or one condition and its text", STR(""));
    return !l->failed;
}

/* A line, a condition and a line, or the name of one of these. */
static void load_rule(struct loader *l, const struct formula *f, const struct tree *n, struct note_rule *rules,
                      uint32_t *count) {
    const struct tree *all = l->shared && n->kind == TREE_SCALAR ? tree_lookup(l->shared, "rules") : NULL;
    const struct tree *named = all ? tree_lookup_str(all, n->text) : NULL, *when, *say;
    n = named ? named : n;
    if (n->kind == TREE_SCALAR) {
        rules[(*count)++] = (struct note_rule){.say = n->text};
        return;
    }
    if (!parts_of_rule(l, n, &when, &say))
        return;
    const struct number **conditions;
    uint32_t nconditions = 0;
    struct tree any = *when;
    any.next = NULL;
    if (any.kind == TREE_SCALAR)
        any.text = series_any(&l->set->arena, when->text);
    load_conditions(l, f, &any, &conditions, &nconditions);
    if (nconditions == 1 && is_scalar(l, say))
        rules[(*count)++] = (struct note_rule){.when = conditions[0], .say = say->text};
}

void load_rules(struct loader *l, const struct formula *f, const struct tree *n, struct note_rule **rules,
                uint32_t *count) {
    *rules = arena_alloc(&l->set->arena, (count_items(n) + (size_t)1) * sizeof **rules);
    for (const struct tree *i = items_of(n); i && !l->failed; i = i->next)
        load_rule(l, f, i, *rules, count);
}

void load_names(struct loader *l, const struct pattern *p, const struct tree *n, uint32_t *out, uint32_t *count) {
    if (n->kind != TREE_SEQUENCE) {
        error_at(l, n, "[weight, bias]", "a list of names is meant", STR(""));
        return;
    }
    for (const struct tree *i = n->first; i; i = i->next) {
        const struct tree *item = i;
        if (!is_scalar(l, item))
            return;
        uint32_t slot = formula_slot(&p->formula, item->text);
        if (slot == NONE || *count == 8) {
            error_at(l, item, NULL, "not a name of the formula: ", item->text);
            return;
        }
        out[(*count)++] = slot;
    }
}
