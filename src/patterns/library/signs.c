/* The section `fused_ops` of pattern files: ops that a module has only where something was fused. */
#include "patterns/library/signs.h"

#include <stdlib.h>
#include <string.h>

#include "patterns/library/loader.h"

static bool read_operands(struct str text, void *to) {
    unsigned long n = strtoul(text.p, NULL, 10);
    *(uint32_t *)to = (uint32_t)n;
    return n >= 1 && n <= 100;
}

/* An op, or one with so many operands. */
void load_sign(struct loader *l, const struct tree *n) {
    static const struct field fields[] = {
        {"op", FIELD_TEXT, true, offsetof(struct fusing_sign, op), NULL, NULL},
        {"operands", FIELD_VALUE, false, offsetof(struct fusing_sign, operands), read_operands, NULL}};
    struct fusing_sign sign = {.op = n->text};
    if (n->kind == TREE_SCALAR || READ_RECORD(l, n, fields, "- {op: ttnn.linear, operands: 3}", &sign))
        APPEND(&l->set->arena, l->set, signs, sign);
}

/* Operands that hold data; absent ones and devices do not count. */
static uint32_t present_operands(const struct graph *g, uint32_t op) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        n += graph_operands(g, op)[i] != NONE;
    return n;
}

struct sign_reader {
    const struct graph *g;
    uint32_t least[]; /* by op name: operands that make an op of it a sign; NONE: nothing does */
};

struct sign_reader *sign_reader_new(const struct pattern_set *set, const struct graph *g) {
    const struct mlir *m = g->m;
    struct sign_reader *r = xrealloc(NULL, sizeof *r + (m->nnames + (size_t)1) * sizeof *r->least);
    r->g = g;
    for (uint32_t i = 0; i < m->nnames; i++) {
        r->least[i] = NONE;
        for (uint32_t k = 0; k < set->nsigns; k++)
            if (str_matches(m->names[i], set->signs[k].op) && set->signs[k].operands < r->least[i])
                r->least[i] = set->signs[k].operands;
    }
    return r;
}

void sign_reader_free(struct sign_reader *r) {
    free(r);
}

bool is_sign_of_fusing(const struct sign_reader *r, uint32_t op) {
    uint32_t need = r->least[r->g->m->ops[op].name];
    return (need != NONE && present_operands(r->g, op) >= need) || !graph_plain(r->g, op);
}

bool is_sign_by_name(const struct pattern_set *set, struct str op) {
    bool found = false;
    for (uint32_t k = 0; k < set->nsigns && !found; k++)
        found = str_matches(op, set->signs[k].op);
    return found;
}

bool is_named_sign(const struct sign_reader *r, uint32_t op) {
    return r->least[r->g->m->ops[op].name] != NONE;
}

/* By kind, of TTIR: ops that would be signs in TTNN. `need`: operands that make one of a kind a sign. */
static void count_signs(const struct graph *g, const uint32_t *need, uint32_t *count) {
    for (uint32_t op = 0; op < g->m->nops; op++) {
        uint32_t least = need[g->kind[op]];
        count[g->kind[op]] += (least != NONE && present_operands(g, op) >= least) || !graph_plain(g, op);
    }
}

bool signs_of_fusing(const struct pattern_set *set, const struct graph *g, const struct graph *ttir) {
    struct sign_reader *r = sign_reader_new(set, g);
    uint32_t need[OPERATORS], before[OPERATORS] = {0}, after[OPERATORS] = {0};
    bool found = set->nsigns == 0;
    memset(need, 0xFF, sizeof need);
    for (uint32_t op = 0; op < g->m->nops; op++) {
        after[g->kind[op]] += is_sign_of_fusing(r, op);
        need[g->kind[op]] = r->least[g->m->ops[op].name];
    }
    if (ttir)
        count_signs(ttir, need, before);
    for (uint32_t k = 0; k < OPERATORS && !found; k++)
        found = after[k] > before[k];
    sign_reader_free(r);
    return found;
}
