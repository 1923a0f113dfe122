/* Reads the rules for regions from YAML. */
#include "elementwise/rules.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/directory.h"
#include "input/unpack/yaml.h"
#include "patterns/library/choose.h"

_Static_assert(DT_OTHER < 64, "types are bits of a word");

enum region_kind region_kind_wanted(const struct pattern_set *set, const struct fa_patterns *o) {
    enum region_kind wanted = REGION_KINDS;
    for (uint32_t k = 0; k < set->nbeside; k++)
        if (set->beside[k].selected && source_wanted(o, &set->beside[k]))
            wanted = (enum region_kind)k;
    return wanted;
}

const char *devices_directory(const struct fa_patterns *o, struct arena *a) {
    return arena_strdup(a, data_directory(o->data, "devices", a));
}

static bool read_limit(struct str text, void *member) {
    int64_t *out = member;
    return mlir_int(text, out) && *out >= 1 && *out <= 1024;
}

static bool read_limits(struct region_rules *rules, const struct yaml *y, const struct tree *map) {
    static const char number[] = "a number from 1 to 1024";
    static const struct field fields[] = {
        {"circular_buffers", FIELD_VALUE, true, offsetof(struct region_rules, circular_buffers), read_limit, number},
        {"wide_inputs", FIELD_VALUE, true, offsetof(struct region_rules, wide_inputs), read_limit, number},
        {"registers", FIELD_VALUE, true, offsetof(struct region_rules, registers), read_limit, number},
        {"wide_registers", FIELD_VALUE, true, offsetof(struct region_rules, wide_registers), read_limit, number},
        {"other_users", FIELD_VALUE, true, offsetof(struct region_rules, other_users), read_limit, number},
    };
    return yaml_record(y, map, fields, sizeof fields / sizeof *fields, rules);
}

static bool read_types(const struct yaml *y, const struct tree *list, uint64_t *out) {
    for (const struct tree *t = list->first; t; t = t->next) {
        uint64_t bit = 0;
        for (unsigned i = 0; t->kind == TREE_SCALAR && i < DT_OTHER; i++)
            if (str_is(t->text, dtype_table[(enum dtype)i].name))
                bit = UINT64_C(1) << i;
        if (!bit)
            return yaml_wrong(y, t, NULL, "no such element type: %.*s", (int)t->text.n, t->text.p);
        *out |= bit;
    }
    return true;
}

struct rule_group {
    const struct tree *types, *ops;
};

static bool read_group(struct region_rules *rules, const struct yaml *y, const struct tree *map,
                       enum region_kind kind) {
    static const struct field fields[] = {
        {"types", FIELD_NESTED, true, offsetof(struct rule_group, types), NULL, "a list"},
        {"ops", FIELD_NESTED, true, offsetof(struct rule_group, ops), NULL, "a list"},
    };
    struct rule_group group;
    uint64_t allowed = 0;
    if (!yaml_record(y, map, fields, sizeof fields / sizeof *fields, &group) || !read_types(y, group.types, &allowed))
        return false;
    for (const struct tree *t = group.ops->first; t; t = t->next) {
        struct str name = arena_printf(y->arena, "ttnn.%.*s", (int)t->text.n, t->text.n ? t->text.p : "");
        enum op_kind k = op_kind_of_spelling(name);
        if (t->kind != TREE_SCALAR || op_table[k].class != (kind == REGION_REDUCTION ? OP_REDUCE : OP_ELTWISE))
            return yaml_wrong(y, t, NULL, "no %s: %s", kind == REGION_REDUCTION ? "reduction" : "elementwise op",
                              name.p);
        rules->ops = grow(rules->ops, &rules->ops_cap, rules->nops + 1, sizeof *rules->ops);
        rules->ops[rules->nops++] = (struct region_op){name, kind, allowed};
    }
    return true;
}

struct rule_kind {
    struct str pass, pattern, flag;
    const struct tree *groups;
};

static bool read_kind(struct region_rules *rules, const struct yaml *y, const struct tree *map, enum region_kind kind) {
    static const struct field fields[] = {
        {"pass", FIELD_VALUE, true, offsetof(struct rule_kind, pass), yaml_word, "the name of a pass"},
        {"pattern", FIELD_VALUE, true, offsetof(struct rule_kind, pattern), yaml_word, "the name of a pattern"},
        {"flag", FIELD_VALUE, true, offsetof(struct rule_kind, flag), yaml_word, "options of the compiler"},
        {"groups", FIELD_NESTED, true, offsetof(struct rule_kind, groups), NULL, "a list"},
    };
    struct rule_kind x;
    if (!yaml_record(y, map, fields, sizeof fields / sizeof *fields, &x))
        return false;
    rules->claims[kind] =
        (struct pattern){.name = str_of(region_words[kind]),
                         .summary = kind == REGION_REDUCTION
                                        ? STR("elementwise ops and a reduction that one generated kernel could run.")
                                        : STR("elementwise ops that one generated kernel could run."),
                         .fused_op = STR("ttnn.generic"),
                         .makes = op_kind_of_spelling(STR("ttnn.generic")),
                         .source = STR("ttnn"),
                         .status = {.level = STR("ttnn"), .pass = x.pass, .pattern = x.pattern, .gated = x.flag}};
    for (const struct tree *t = x.groups->first; t; t = t->next)
        if (!read_group(rules, y, t, kind))
            return false;
    return true;
}

/* What a file of rules has. */
struct rule_file {
    const struct tree *limits, *kinds[REGION_KINDS];
};

static bool read_rules(struct region_rules *r, struct yaml *y) {
    const struct field fields[] = {
        {"limits", FIELD_NESTED, true, offsetof(struct rule_file, limits), NULL, "a mapping"},
        {region_words[0], FIELD_NESTED, true, offsetof(struct rule_file, kinds[0]), NULL, "a mapping"},
        {region_words[1], FIELD_NESTED, true, offsetof(struct rule_file, kinds[1]), NULL, "a mapping"},
    };
    struct rule_file file = {0};
    bool good = y->documents ? yaml_record(y, y->documents, fields, sizeof fields / sizeof *fields, &file) &&
                                   read_limits(r, y, file.limits)
                             : yaml_wrong(y, NULL, NULL, "it is empty");
    for (int k = 0; good && k < REGION_KINDS; k++)
        good = read_kind(r, y, file.kinds[k], (enum region_kind)k);
    return good;
}

bool region_rules_load_text(struct region_rules *r, const char *file, struct str text, struct arena *a,
                            struct diags *d) {
    struct yaml y = {.path = file, .arena = a, .diags = d};
    return yaml_read(&y, text) && read_rules(r, &y);
}

bool region_rules_load(struct region_rules *r, const char *devices, struct arena *a, struct diags *d) {
    struct yaml y = {.path = arena_printf(a, "%s/regions/d2m.yml", devices).p, .arena = a, .diags = d};
    return yaml_open(&y) && read_rules(r, &y);
}

void region_rules_free(struct region_rules *r) {
    free(r->ops);
    *r = (struct region_rules){0};
}
