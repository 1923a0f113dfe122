/* Sections of pattern files that all patterns share: idioms, and the rules that read a model location out of names. */
#include "library/loader.h"

void load_idioms(struct loader *l, const struct tree *list) {
    if (list->kind != TREE_SEQUENCE) {
        error_at(l, list, NULL, "`idioms` is a list", STR(""));
        return;
    }
    for (const struct tree *n = list->first; n; n = n->next)
        if (is_scalar(l, n) && !idiom_add(&l->set->idioms, &l->set->arena, n->text, origin_of(l, n), l->diags))
            l->failed = true;
}

/* ---- locations ---- */

static void load_location(struct loader *l, const struct tree *n) {
    const struct tree *strip = tree_lookup(n, "strip");
    const struct tree *match = tree_lookup(n, "match");
    const struct tree *say = tree_lookup(n, "say");
    const struct tree *regex = strip ? strip : match;
    if (!regex || (match && !say)) {
        error_at(l, n, "- {match: 'layers?[.](\\d+)', say: 'layer $1'}", "a rule has `strip`, or `match` and `say`",
                 STR(""));
        return;
    }
    if (!is_scalar(l, regex) || (say && !is_scalar(l, say)))
        return;
    const char *wrong;
    pcre2_code *re = regex_compile(regex->text, &l->set->arena, &wrong);
    if (!re) {
        error_at(l, regex, NULL, "wrong regular expression: ", str_of(wrong));
        return;
    }
    struct pattern_set *set = l->set;
    set->locations = grow(set->locations, &set->locations_cap, set->nlocations + 1, sizeof *set->locations);
    set->locations[set->nlocations++] = (struct location_rule){re, strip != NULL, say ? say->text : STR("")};
}

void load_locations(struct loader *l, const struct tree *list) {
    if (list->kind != TREE_SEQUENCE) {
        error_at(l, list, NULL, "`locations` is a list", STR(""));
        return;
    }
    for (const struct tree *i = list->first; i; i = i->next)
        load_location(l, i);
}
