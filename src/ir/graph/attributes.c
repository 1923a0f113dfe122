/* The attributes of each op, read once for each dictionary that the text has: ops that repeat share theirs. */
#include "ir/graph/attributes.h"

#include <stdlib.h>

#include "ir/mlir/attributes.h"

/* Open addressing over the first op of each dictionary; a power of two. */
struct dictionary_set {
    uint32_t *first_op;
    uint32_t mask;
};

static bool same_dictionary(const struct mlir_op *a, const struct mlir_op *b) {
    return a->name == b->name && a->props.begin == b->props.begin && a->props.end == b->props.end &&
           a->attrs.begin == b->attrs.begin && a->attrs.end == b->attrs.end;
}

/* The first op with the op's dictionary, which is the op itself where there was none. */
static uint32_t first_with(struct dictionary_set *set, const struct mlir *m, uint32_t op) {
    const struct mlir_op *o = &m->ops[op];
    uint32_t at =
        (uint32_t)hash_mix((uint64_t)o->props.begin << 32 | o->props.end, (uint64_t)o->attrs.begin << 32 | o->name) &
        set->mask;
    while (set->first_op[at] != NONE && !same_dictionary(o, &m->ops[set->first_op[at]]))
        at = (at + 1) & set->mask;
    if (set->first_op[at] == NONE)
        set->first_op[at] = op;
    return set->first_op[at];
}

void attributes_build(struct graph *g) {
    const struct mlir *m = g->m;
    struct dictionary_set set = {.mask = 1};
    while (set.mask < 2 * m->nops)
        set.mask = 2 * set.mask + 1;
    set.first_op = xcalloc((size_t)set.mask + 1, sizeof *set.first_op);
    for (uint32_t i = 0; i <= set.mask; i++)
        set.first_op[i] = NONE;
    g->attributes = xcalloc(m->nops, sizeof *g->attributes);
    for (uint32_t i = 0; i < m->nops; i++) {
        uint32_t first = first_with(&set, m, i);
        g->attributes[i] = first == i ? mlir_read_attrs(m, i, &g->arena) : g->attributes[first];
    }
    free(set.first_op);
}
