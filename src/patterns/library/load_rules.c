/* Parts of a pattern that several keys have: conditions, texts that may have a condition, and names of the formula. */
#include "patterns/library/loader.h"

const struct number *joined(struct loader *l, enum number_op op, const struct number *a, const struct number *b) {
    struct number *n = arena_alloc(&l->set->arena, sizeof *n);
    *n = (struct number){.op = op, .slot = NONE, .a = a, .b = b, .text = a->text};
    return n;
}

/* The conditions that one with series stands for; how many. */
static uint32_t members_of(struct loader *l, const struct formula *f, const struct tree *n,
                           const struct number *out[MOST_MEMBERS]) {
    uint32_t count = 0;
    if (l->in.failed || !is_scalar(l, n))
        return 0;
    l->in.failed =
        !condition_members(out, &count, f, &l->set->arena, n->text, origin_of(l, n), &l->set->conditions, l->in.diags);
    if (!l->in.failed && !number_is_truth(out[0]))
        error_at(l, n, "rank(x) == 2", "a number is no condition: ", n->text);
    return l->in.failed ? 0 : count;
}

void load_conditions(struct loader *l, const struct formula *f, const struct tree *n, const struct number ***out,
                     uint32_t *count) {
    *out = arena_alloc(&l->set->arena, (count_items(n) + (size_t)1) * MOST_MEMBERS * sizeof **out);
    for (const struct tree *item = items_of(n); item; item = item->next)
        *count += members_of(l, f, item, *out + *count);
}

const struct number *load_condition(struct loader *l, const struct formula *f, const struct tree *n) {
    const struct number *members[MOST_MEMBERS], *any = NULL;
    uint32_t count = members_of(l, f, n, members);
    for (uint32_t i = 0; i < count; i++)
        any = any ? joined(l, NUM_OR, any, members[i]) : members[i];
    return any;
}

struct rule_record {
    const struct tree *when;
    struct str say;
};

/* The condition and the text of `{when: condition, say: text}`, or, shorter, of `{condition: text}`. */
static bool parts_of_rule(struct loader *l, const struct tree *n, struct rule_record *r) {
    static const struct field fields[] = {{"when", FIELD_SCALAR, true, offsetof(struct rule_record, when), NULL, NULL},
                                          {"say", FIELD_TEXT, true, offsetof(struct rule_record, say), NULL, NULL}};
    bool is_short = n->kind == TREE_MAPPING && n->n == 1 && n->first->kind == TREE_SCALAR && !tree_lookup(n, "when") &&
                    !tree_lookup(n, "say");
    if (!is_short)
        return READ_RECORD(l, n, fields, "a text has a condition, or `when` and `say`", r);
    if (!is_scalar(l, n->first->value))
        return false;
    *r = (struct rule_record){n->first, n->first->value->text};
    return true;
}

/* A line, a condition and a line, or the name of one of these. */
static void load_rule(struct loader *l, const struct formula *f, const struct tree *n, struct note_rule *rules,
                      uint32_t *count) {
    const struct tree *all = l->shared && n->kind == TREE_SCALAR ? tree_lookup(l->shared, "rules") : NULL;
    const struct tree *named = all ? tree_lookup_str(all, n->text) : NULL;
    struct rule_record r;
    n = named ? named : n;
    if (n->kind == TREE_SCALAR) {
        rules[(*count)++] = (struct note_rule){.say = n->text};
        return;
    }
    if (!parts_of_rule(l, n, &r))
        return;
    const struct number *when = load_condition(l, f, r.when);
    if (when)
        rules[(*count)++] = (struct note_rule){.when = when, .say = r.say};
}

void load_rules(struct loader *l, const struct formula *f, const struct tree *n, struct note_rule **rules,
                uint32_t *count) {
    *rules = arena_alloc(&l->set->arena, (count_items(n) + (size_t)1) * sizeof **rules);
    for (const struct tree *i = items_of(n); i && !l->in.failed; i = i->next)
        load_rule(l, f, i, *rules, count);
}

void load_names(struct loader *l, const struct pattern *p, const struct tree *n, uint32_t *out, uint32_t *count) {
    for (const struct tree *item = items_of(n); item && is_scalar(l, item) && !l->in.failed; item = item->next) {
        uint32_t slot = formula_slot(&p->formula, item->text);
        if (slot == NONE)
            error_at(l, item, NULL, "not a name of the formula: ", item->text);
        else if (*count == MOST_NAMES)
            error_at(l, item, NULL, "at most 8 names are meant", STR(""));
        else
            out[(*count)++] = slot;
    }
}
