/* The section `fused_ops` of pattern files: ops that a module has only where something was fused. */
#include "library/signs.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "library/loader.h"

static void load_sign(struct loader *l, const struct tree *n) {
    const struct tree *op = n->kind == TREE_MAPPING ? tree_lookup(n, "op") : n;
    const struct tree *operands = tree_lookup(n, "operands");
    if (!op || op->kind != TREE_SCALAR || (operands && operands->kind != TREE_SCALAR)) {
        error_at(l, n, "- {op: ttnn.linear, operands: 3}", "a fused op is a name, or has `op` and `operands`", STR(""));
        return;
    }
    struct pattern_set *set = l->set;
    unsigned long least = operands ? strtoul(operands->text.p, NULL, 10) : 0;
    if (operands && (least < 1 || least > 100)) {
        error_at(l, operands, NULL, "a number of operands expected", STR(""));
        return;
    }
    set->signs = grow(set->signs, &set->signs_cap, set->nsigns + 1, sizeof *set->signs);
    set->signs[set->nsigns++] = (struct fusing_sign){op->text, (uint32_t)least};
}

void load_signs(struct loader *l, const struct tree *list) {
    if (list->kind != TREE_SEQUENCE) {
        error_at(l, list, NULL, "`fused_ops` is a list", STR(""));
        return;
    }
    for (const struct tree *i = list->first; i; i = i->next)
        load_sign(l, i);
}

static bool glob_matches(struct str glob, struct str name) {
    char text[128];
    if (name.n >= sizeof text)
        return false;
    memcpy(text, name.p, name.n);
    text[name.n] = '\0';
    return fnmatch(glob.p, text, 0) == 0;
}

/* Operands that hold data; absent ones and devices do not count. */
static uint32_t present_operands(const struct graph *g, uint32_t op) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        n += graph_operands(g, op)[i] != NONE;
    return n;
}

bool signs_of_fusing(const struct pattern_set *set, const struct graph *g) {
    const struct mlir *m = g->m;
    bool found = set->nsigns == 0;
    /* By op name, so that globs run once for each: operands that make an op of this name a sign; NONE: nothing does. */
    uint32_t *least = xrealloc(NULL, (m->nnames + 1) * sizeof *least);
    for (uint32_t i = 0; i < m->nnames; i++) {
        least[i] = NONE;
        for (uint32_t k = 0; k < set->nsigns; k++)
            if (glob_matches(set->signs[k].op, m->names[i]) && set->signs[k].operands < least[i])
                least[i] = set->signs[k].operands;
    }
    for (uint32_t op = 0; op < m->nops && !found; op++) {
        uint32_t need = least[m->ops[op].name];
        found = (need != NONE && present_operands(g, op) >= need) || !graph_plain(g, op);
    }
    free(least);
    return found;
}
