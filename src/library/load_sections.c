/* Sections of pattern files that all patterns share: idioms, definitions of conditions, and the rules that read a model
 * location out of names. */
#include "lang/condition.h"
#include "lang/expr.h"
#include "library/loader.h"

void load_idiom(struct loader *l, const struct tree *n) {
    if (is_scalar(l, n) && !idiom_add(&l->set->idioms, &l->set->arena, n->text, origin_of(l, n), l->diags))
        l->failed = true;
}

/* {is: "rowwise(x): same_along(x, x, -1)", says: what it says, about: the group that lists show it in} */
void load_definition(struct loader *l, const struct tree *n) {
    const struct tree *is = tree_lookup(n, "is"), *says = tree_lookup(n, "says"), *about = tree_lookup(n, "about");
    struct idioms *all = &l->set->conditions.definitions;
    uint32_t group = 0;
    if (!is || !says || !about) {
        error_at(l, n, "{is: 'rowwise(x): same_along(x, x, -1)', says: 'rowwise(x): …', about: axes}",
                 "a definition of a condition has `is`, `says` and `about`", STR(""));
        return;
    }
    if (!is_scalar(l, is) || !is_scalar(l, says) || !is_scalar(l, about))
        return;
    while (group < CONDITION_GROUPS && !str_is(about->text, condition_groups[group].name))
        group++;
    if (group == CONDITION_GROUPS)
        error_at(l, about, "one of values, axes, groups, layout, windows, neighbours, spelling, locations",
                 "nothing that conditions are about: ", about->text);
    if (!idiom_add(all, &l->set->arena, is->text, origin_of(l, is), l->diags)) {
        l->failed = true;
        return;
    }
    struct idiom *d = &all->items[all->n - 1];
    if (d->nlines != 1 || d->lines[0].name.n || d->nparams > 4)
        error_at(l, is, NULL, "one condition over at most 4 names is meant: ", d->name);
    d->says = says->text.p;
    d->group = group;
}

/* ---- locations ---- */

void load_location(struct loader *l, const struct tree *n) {
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
