/* Questions to a graph that its arrays and the text of attributes answer: shapes, formats, attributes that change what
 * an op computes. */
#include "graph/graph.h"

#include <string.h>

int64_t graph_numel(const struct graph *g, uint32_t value) {
    uint32_t rank;
    const int64_t *shape = graph_shape(g, value, &rank);
    if (!shape)
        return -1;
    int64_t n = 1;
    for (uint32_t d = 0; d < rank; d++)
        if (shape[d] < 0 || __builtin_mul_overflow(n, shape[d], &n))
            return -1;
    return n;
}

enum dtype graph_dtype(const struct graph *g, uint32_t value) {
    return g->m->types[g->m->values[value].type].dtype;
}

/* One clause of `strict` in ops.def: "attr" (must be absent), "attr=value" (absent or that value) or "attr~text"
 * (absent or without the text). */
static bool clause_holds(const struct graph *g, uint32_t op, struct str clause) {
    char key[64];
    size_t n = 0;
    while (n < clause.n && clause.p[n] != '=' && clause.p[n] != '~')
        n++;
    if (n >= sizeof key)
        return false;
    memcpy(key, clause.p, n);
    key[n] = 0;
    struct str value;
    if (!mlir_attr(g->m, op, key, &value))
        return true;
    if (n == clause.n)
        return false;
    struct str rest = {clause.p + n + 1, clause.n - n - 1};
    return clause.p[n] == '=' ? str_eq(value, rest) : str_find(value, rest) == NULL;
}

bool graph_plain(const struct graph *g, uint32_t op) {
    for (const char *p = op_table[g->kind[op]].strict; p && *p;) {
        size_t n = strcspn(p, ",");
        if (!clause_holds(g, op, (struct str){p, n}))
            return false;
        p += n;
        p += *p == ',';
    }
    return true;
}

bool graph_axes(const struct graph *g, uint32_t op, struct str *text) {
    for (const char *const *key = op_table[g->kind[op]].axes; *key; key++)
        if (mlir_attr(g->m, op, *key, text))
            return true;
    return false;
}

uint32_t graph_reduced_dims(const struct graph *g, uint32_t op, uint32_t rank, bool *reduced) {
    enum { MOST = 16 };
    struct str text;
    int64_t dims[MOST];
    int n = graph_axes(g, op, &text) ? mlir_ints(text, dims, MOST) : 0;
    if (n < 0 || n > MOST)
        return NONE;
    for (uint32_t d = 0; d < rank; d++)
        reduced[d] = n == 0;
    for (int i = 0; i < n; i++) {
        int64_t d = dims[i] < 0 ? dims[i] + (int64_t)rank : dims[i];
        if (d < 0 || d >= (int64_t)rank)
            return NONE;
        reduced[d] = true;
    }
    uint32_t count = 0;
    for (uint32_t d = 0; d < rank; d++)
        count += reduced[d];
    return count;
}

uint16_t graph_dimensions(const struct graph *g, uint32_t v) {
    enum { MOST = 16 };
    uint32_t rank;
    const int64_t *shape = graph_shape(g, v, &rank);
    unsigned all = 0;
    if (!shape || rank > MOST)
        return ALL_DIMENSIONS;
    for (uint32_t d = 0; d < rank; d++)
        all |= (shape[d] != 1 ? 1u : 0u) << d;
    return (uint16_t)all;
}

uint32_t graph_count_operands(const struct graph *g, uint32_t op) {
    const char *role = op_table[g->kind[op]].roles;
    uint32_t n = 0;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        n += graph_operands(g, op)[i] != NONE && *role != '_';
        role += strcspn(role, ",");
        role += *role == ',';
    }
    return n;
}
