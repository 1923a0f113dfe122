/* Reads the rules for regions from YAML. */
#include "regions/rules.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/directory.h"
#include "base/tree.h"
#include "library/choose.h"
#include "source/source.h"

_Static_assert(DT_OTHER < 64, "types are bits of a word");

static const struct {
    const char *key;
    size_t member;
} limits[] = {
    {"circular_buffers", offsetof(struct region_rules, circular_buffers)},
    {"wide_inputs", offsetof(struct region_rules, wide_inputs)},
    {"registers", offsetof(struct region_rules, registers)},
    {"wide_registers", offsetof(struct region_rules, wide_registers)},
    {"other_users", offsetof(struct region_rules, other_users)},
};

struct rule_reader {
    struct region_rules *rules;
    const char *file;
    struct arena *arena;
    struct diags *diags;
};

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

static bool refuse(const struct rule_reader *r, const struct tree *at, const char *what, struct str word) {
    struct source_location place = {r->file, at->line, at->column};
    diag_add(r->diags, SEV_ERROR, place, NULL, "%s%.*s", what, (int)word.n, word.n ? word.p : "");
    return false;
}

/* The value of a key that has to be there and of this kind, or NULL with a diagnostic. */
static const struct tree *member(const struct rule_reader *r, const struct tree *map, const char *key,
                                 enum tree_kind kind) {
    const struct tree *t = tree_lookup(map, key);
    if (!t || t->kind != kind) {
        refuse(r, t ? t : map, t ? "not a value of " : "a key is missing: ", str_of(key));
        return NULL;
    }
    return t;
}

static bool read_limits(const struct rule_reader *r, const struct tree *document) {
    const struct tree *map = member(r, document, "limits", TREE_MAPPING);
    for (size_t i = 0; map && i < sizeof limits / sizeof *limits; i++) {
        const struct tree *t = member(r, map, limits[i].key, TREE_SCALAR);
        int64_t *out = (int64_t *)(void *)((char *)r->rules + limits[i].member);
        if (!t)
            return false;
        if (!mlir_int(t->text, out) || *out < 1 || *out > 1024)
            return refuse(r, t, "not a number from 1 to 1024: ", t->text);
    }
    return map != NULL;
}

static bool read_types(const struct rule_reader *r, const struct tree *list, uint64_t *out) {
    for (const struct tree *t = list->first; t; t = t->next) {
        uint64_t bit = 0;
        for (unsigned i = 0; t->kind == TREE_SCALAR && i < DT_OTHER; i++)
            if (str_is(t->text, dtype_table[(enum dtype)i].name))
                bit = UINT64_C(1) << i;
        if (!bit)
            return refuse(r, t, "no such element type: ", t->text);
        *out |= bit;
    }
    return true;
}

static bool read_group(const struct rule_reader *r, const struct tree *group, enum region_kind kind) {
    struct region_rules *rules = r->rules;
    const struct tree *types = member(r, group, "types", TREE_SEQUENCE);
    const struct tree *ops = types ? member(r, group, "ops", TREE_SEQUENCE) : NULL;
    uint64_t allowed = 0;
    if (!ops || !read_types(r, types, &allowed))
        return false;
    for (const struct tree *t = ops->first; t; t = t->next) {
        struct str name = arena_printf(r->arena, "ttnn.%.*s", (int)t->text.n, t->text.n ? t->text.p : "");
        enum op_kind k = op_kind_of_spelling(name);
        if (t->kind != TREE_SCALAR || op_table[k].class != (kind == REGION_REDUCTION ? OP_REDUCE : OP_ELTWISE))
            return refuse(r, t, kind == REGION_REDUCTION ? "no reduction: " : "no elementwise op: ", name);
        rules->ops = grow(rules->ops, &rules->ops_cap, rules->nops + 1, sizeof *rules->ops);
        rules->ops[rules->nops++] = (struct region_op){name, kind, allowed};
    }
    return true;
}

static bool read_kind(const struct rule_reader *r, const struct tree *document, enum region_kind kind) {
    const struct tree *map = member(r, document, region_words[kind], TREE_MAPPING);
    const struct tree *pass = map ? member(r, map, "pass", TREE_SCALAR) : NULL;
    const struct tree *pattern = pass ? member(r, map, "pattern", TREE_SCALAR) : NULL;
    const struct tree *flag = pattern ? member(r, map, "flag", TREE_SCALAR) : NULL;
    const struct tree *groups = flag ? member(r, map, "groups", TREE_SEQUENCE) : NULL;
    if (!groups)
        return false;
    r->rules->claims[kind] = (struct pattern){
        .name = str_of(region_words[kind]),
        .summary = kind == REGION_REDUCTION
                       ? STR("elementwise ops and a reduction that one generated kernel could run.")
                       : STR("elementwise ops that one generated kernel could run."),
        .fused_op = STR("ttnn.generic"),
        .source = STR("ttnn"),
        .status = {.level = STR("ttnn"), .pass = pass->text, .pattern = pattern->text, .gated = flag->text}};
    for (const struct tree *t = groups->first; t; t = t->next)
        if (!read_group(r, t, kind))
            return false;
    return true;
}

bool region_rules_load_text(struct region_rules *r, const char *file, struct str text, struct arena *a,
                            struct diags *d) {
    struct rule_reader reader = {r, file, a, d};
    struct tree_file f = tree_read(text, a);
    bool good = !f.wrong && f.documents && read_limits(&reader, f.documents);
    for (int k = 0; good && k < REGION_KINDS; k++)
        good = read_kind(&reader, f.documents, (enum region_kind)k);
    if (f.wrong || !f.documents)
        diag_add(d, SEV_ERROR, (struct source_location){file, f.line, f.column}, NULL, "not YAML: %s",
                 f.wrong ? f.wrong : "empty");
    return good;
}

bool region_rules_load(struct region_rules *r, const char *devices, struct arena *a, struct diags *d) {
    const char *path = arena_printf(a, "%s/regions/d2m.yml", devices).p;
    struct source s;
    if (!source_open(&s, path, d))
        return false;
    bool good = region_rules_load_text(r, path, (struct str){s.data, s.size}, a, d);
    source_close(&s);
    return good;
}

void region_rules_free(struct region_rules *r) {
    free(r->ops);
    *r = (struct region_rules){0};
}
