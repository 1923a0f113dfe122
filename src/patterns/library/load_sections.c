/* Sections of pattern files that all patterns share: definitions of idioms, conditions and what ops compute, the rules
 * that read a model location out of names, passes and options of the compiler, and what its patterns do not look at. */
#include "patterns/lang/condition.h"
#include "patterns/lang/expr.h"
#include "patterns/library/loader.h"

static bool read_group(struct str text, void *to) {
    uint32_t *group = to;
    for (*group = 0; *group < CONDITION_GROUPS; ++*group)
        if (str_is(text, condition_groups[*group].name))
            return true;
    return false;
}

struct definition_record {
    const struct tree *is;
    struct str says, source;
    uint32_t group;
};

static void add_condition(struct loader *l, const struct tree *n, const struct idiom *d,
                          const struct definition_record *r) {
    struct idioms *all = &l->set->conditions.definitions;
    if (!r->says.n || r->group == NONE)
        error_at(l, n, NULL, "lacks the key ", r->says.n ? STR("about") : STR("says"));
    if (l->in.failed || !idiom_add(all, &l->set->arena, *d, l->in.diags)) {
        l->in.failed = true;
        return;
    }
    struct idiom *added = &all->items[all->n - 1];
    if (added->nlines != 1 || added->lines[0].name.n || added->nparams > 4)
        error_at(l, r->is, NULL, "one condition over at most 4 names is meant: ", added->name);
    added->says = r->says.p;
    added->group = r->group;
}

#define DEFINITION(key, kind, required)                                                                                \
    { #key, kind, required, offsetof(struct definition_record, key), NULL, NULL }

void load_definition(struct loader *l, const struct tree *n) {
    struct definition_record r = {.is = n, .group = NONE};
    static const struct field fields[] = {
        DEFINITION(is, FIELD_SCALAR, true),
        DEFINITION(says, FIELD_TEXT, false),
        DEFINITION(source, FIELD_TEXT, false),
        {"about", FIELD_VALUE, false, offsetof(struct definition_record, group), read_group, NULL}};
    if (n->kind != TREE_SCALAR &&
        !READ_RECORD(l, n, fields,
                     "{is: 'op twice(x): x + x', source: …}, or {is: 'rowwise(x): same_along(x, x, -1)', says: "
                     "'rowwise(x): …', about: axes}; it is about values, axes, groups, layout, windows, neighbours, "
                     "spelling or locations",
                     &r))
        return;
    struct idiom d;
    if (!definition_read(&d, &l->set->arena, r.is->text, origin_of(l, r.is), l->in.diags))
        l->in.failed = true;
    else if (d.op)
        add_lowering(l, r.is, &d, r.source);
    else if (n->kind != TREE_SCALAR)
        add_condition(l, n, &d, &r);
    else
        l->in.failed |= !idiom_add(&l->set->idioms, &l->set->arena, d, l->in.diags);
}

/* Names of ops, between blanks. */
void load_library(struct loader *l, const struct tree *n) {
    struct str before = l->set->library;
    if (is_scalar(l, n))
        l->set->library = arena_printf(&l->set->arena, "%.*s %.*s", (int)before.n, before.p, (int)n->text.n, n->text.p);
}

void load_location(struct loader *l, const struct tree *n) {
    struct location_record {
        const struct tree *strip, *match;
        struct str say;
    } r = {.strip = NULL};
    static const struct field fields[] = {
        {"strip", FIELD_SCALAR, false, offsetof(struct location_record, strip), NULL, NULL},
        {"match", FIELD_SCALAR, false, offsetof(struct location_record, match), NULL, NULL},
        {"say", FIELD_TEXT, false, offsetof(struct location_record, say), NULL, NULL}};
    static const char *const example = "- {match: 'layers?[.](\\d+)', say: 'layer $1'}";
    if (!READ_RECORD(l, n, fields, example, &r))
        return;
    const struct tree *regex = r.strip ? r.strip : r.match;
    if (!regex || (r.strip && r.match) || (r.match != NULL) != (r.say.p != NULL)) {
        error_at(l, n, example, "a rule has `strip`, or `match` and `say`", STR(""));
        return;
    }
    const char *wrong;
    const struct regex *re = regexes_add(&l->set->conditions.regexes, regex->text, &l->set->arena, &wrong);
    if (!re) {
        error_at(l, regex, NULL, "wrong regular expression: ", str_of(wrong));
        return;
    }
    APPEND(&l->set->arena, l->set, locations, (struct location_rule){re, r.strip != NULL, r.say.p ? r.say : STR("")});
}

/* The first of them is the compiler itself. */
void load_version(struct loader *l, const struct tree *n) {
    struct version_record {
        struct str name, version;
    } r = {.name = STR("")};
    static const struct field fields[] = {
        {"name", FIELD_TEXT, true, offsetof(struct version_record, name), NULL, NULL},
        {"version", FIELD_TEXT, true, offsetof(struct version_record, version), NULL, NULL}};
    if (READ_RECORD(l, n, fields, "{name: tt-mlir, version: 19c86fca45ae (2026-08-21)}", &r) && !l->set->version.n)
        l->set->version =
            arena_printf(&l->set->arena, "%.*s %.*s", (int)r.name.n, r.name.p, (int)r.version.n, r.version.p);
}

void load_pass(struct loader *l, const struct tree *n) {
    static const struct field fields[] = {
        {"name", FIELD_TEXT, true, offsetof(struct compiler_pass, name), NULL, NULL},
        {"version", FIELD_TEXT, false, offsetof(struct compiler_pass, version), NULL, NULL},
        {"off", FIELD_TEXT, false, offsetof(struct compiler_pass, off), NULL, NULL},
        {"level", FIELD_TEXT, false, offsetof(struct compiler_pass, level), NULL, NULL},
        {"file", FIELD_TEXT, false, offsetof(struct compiler_pass, file), NULL, NULL}};
    struct compiler_pass pass = {.name = STR("")};
    if (READ_RECORD(l, n, fields, "{name: ttir-fusing, off: enable-fusing-pass=false, version: tt-mlir 19c86fca45ae}",
                    &pass))
        APPEND(&l->set->arena, l->set, passes, pass);
}

void load_option(struct loader *l, const struct tree *n) {
    static const struct field fields[] = {
        {"name", FIELD_TEXT, true, offsetof(struct compiler_option, name), NULL, NULL},
        {"needs", FIELD_TEXT, true, offsetof(struct compiler_option, needs), NULL, NULL}};
    struct compiler_option option = {.name = STR("")};
    if (READ_RECORD(l, n, fields, "{name: optimization-level=1, needs: a compiler with OpModel}", &option))
        APPEND(&l->set->arena, l->set, options, option);
}

static enum op_kind operator_of(struct loader *l, const struct tree *n) {
    enum op_kind k = is_scalar(l, n) ? op_kind_of_name(n->text) : NO_OPERATOR;
    if (k == NO_OPERATOR && !l->in.failed)
        error_at(l, n, NULL, "no operator: ", n->text);
    return k;
}

void load_unchecked(struct loader *l, const struct tree *n) {
    struct unchecked_record {
        struct unchecked u;
        const struct tree *makes, *of;
    } r = {.of = NULL};
    static const struct field fields[] = {
        {"pass", FIELD_TEXT, true, offsetof(struct unchecked_record, u.pass), NULL, NULL},
        {"pattern", FIELD_TEXT, true, offsetof(struct unchecked_record, u.pattern), NULL, NULL},
        {"makes", FIELD_SCALAR, true, offsetof(struct unchecked_record, makes), NULL, NULL},
        {"accepts", FIELD_TEXT, true, offsetof(struct unchecked_record, u.accepts), NULL, NULL},
        {"of", FIELD_TREE, false, offsetof(struct unchecked_record, of), NULL, NULL}};
    if (!READ_RECORD(l, n, fields,
                     "{pass: ttir-fusing, pattern: MishFusingPattern, makes: mish, of: where, accepts: any threshold}",
                     &r))
        return;
    if (!find_pass(l->set, r.u.pass))
        error_at(l, n, NULL, "none of `passes`: ", r.u.pass);
    else if (r.of && count_items(r.of) > MOST_REPLACED)
        error_at(l, r.of, NULL, "at most 4 ops are meant", STR(""));
    else
        r.u.makes = operator_of(l, r.makes);
    for (const struct tree *i = r.of ? items_of(r.of) : NULL; i && !l->in.failed; i = i->next)
        r.u.of[r.u.nof++] = operator_of(l, i);
    APPEND(&l->set->arena, l->set, unchecked, r.u);
}
