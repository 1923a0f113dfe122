/* The section `fused_ops` of pattern files: ops that a module has only where something was fused. */
#include "library/signs.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "library/loader.h"

static void load_sign(struct loader *l, const yaml_node_t *n) {
    const yaml_node_t *op = n->type == YAML_MAPPING_NODE ? lookup(l, n, "op") : n;
    const yaml_node_t *operands = n->type == YAML_MAPPING_NODE ? lookup(l, n, "operands") : NULL;
    if (!op || op->type != YAML_SCALAR_NODE || (operands && operands->type != YAML_SCALAR_NODE)) {
        error_at(l, n, "- {op: ttnn.linear, operands: 3}", "a fused op is a name, or has `op` and `operands`", STR(""));
        return;
    }
    struct pattern_set *set = l->set;
    unsigned long least = operands ? strtoul((const char *)operands->data.scalar.value, NULL, 10) : 0;
    if (operands && (least < 1 || least > 100)) {
        error_at(l, operands, NULL, "a number of operands expected", STR(""));
        return;
    }
    set->signs = grow(set->signs, &set->signs_cap, set->nsigns + 1, sizeof *set->signs);
    set->signs[set->nsigns++] = (struct fusing_sign){kept_text(l, op), (uint32_t)least};
}

void load_signs(struct loader *l, const yaml_node_t *list) {
    if (list->type != YAML_SEQUENCE_NODE) {
        error_at(l, list, NULL, "`fused_ops` is a list", STR(""));
        return;
    }
    for (yaml_node_item_t *i = list->data.sequence.items.start; i < list->data.sequence.items.top; i++)
        load_sign(l, yaml_document_get_node(&l->doc, *i));
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
