/* Questions to a graph that its arrays and the text of attributes answer: shapes, formats, attributes that change what
 * an op computes. */
#include "ir/graph/graph.h"

#include "ir/ops/infer.h"
#include "ir/ops/scalar.h"

#include <string.h>

bool graph_is_audited(const struct graph *g, uint32_t op) {
    uint32_t func = g->m->ops[op].func, parent = g->m->ops[op].parent;
    if (func != NONE)
        return g->func_kind[func] == FUNC_MAIN;
    return parent == NONE || !str_ends(mlir_op_name(g->m, parent), STR(".func"));
}

bool shape_in_graph(const struct graph *g, uint32_t value, struct shape *s) {
    uint32_t rank;
    const int64_t *dims = graph_shape(g, value, &rank);
    if (!dims || rank > MAX_RANK || graph_numel(g, value) < 0)
        return false;
    *s = (struct shape){.rank = rank};
    memcpy(s->dim, dims, rank * sizeof *dims);
    return true;
}

const char *graph_window(const struct graph *g, uint32_t op, struct window *w) {
    struct shape shapes[2];
    uint32_t n = op_convolves((enum op_kind)g->kind[op]) ? 2 : 1;
    for (uint32_t i = 0; i < n; i++)
        if (graph_noperands(g, op) <= i || !is_tensor_operand(g, graph_operands(g, op)[i]) ||
            !shape_in_graph(g, graph_operands(g, op)[i], &shapes[i]))
            return "the shapes of its operands are not known";
    return window_read((enum op_kind)g->kind[op], graph_is_ttnn(g, op), graph_attributes(g, op), &shapes[0],
                       n > 1 ? &shapes[1] : NULL, w);
}

int64_t graph_channels(const struct graph *g, uint32_t op, uint32_t rank) {
    enum op_kind k = (enum op_kind)g->kind[op];
    struct window w;
    int64_t dim = -1;
    if (op_convolves(k) && op_table[k].window.rank > 0)
        dim = attrs_int(graph_attributes(g, op), "channel_dim", -1);
    else if (op_convolves(k) && graph_window(g, op, &w) == NULL) /* by its layout */
        dim = w.dims_of_result[w.n + 1];
    return dim >= 0 && dim < (int64_t)rank ? dim : -1;
}

enum dtype graph_dtype(const struct graph *g, uint32_t value) {
    return g->m->types[g->m->values[value].type].dtype;
}

bool is_tensor_operand(const struct graph *g, uint32_t value) {
    return value != NONE && g->m->types[g->m->values[value].type].kind != TYPE_OTHER;
}

/* One clause of `strict` in ops.def: "attr" (must be absent), "attr=value" (absent or that value) or "attr~text"
 * (absent or without the word). */
static bool clause_holds(const struct graph *g, uint32_t op, struct str clause) {
    char key[64];
    size_t n = 0;
    while (n < clause.n && clause.p[n] != '=' && clause.p[n] != '~')
        n++;
    if (n >= sizeof key)
        return false;
    memcpy(key, clause.p, n);
    key[n] = 0;
    const struct attr *x = attrs_find(graph_attributes(g, op), key);
    if (!x)
        return true;
    if (n == clause.n)
        return false;
    struct str rest = {clause.p + n + 1, clause.n - n - 1};
    return clause.p[n] == '=' ? str_eq(x->text, rest) : str_find_word(x->text, rest) == NULL;
}

struct str graph_activation(const struct graph *g, uint32_t op) {
    struct str name = {0};
    for (uint32_t i = 0; activation_keys[i] && !name.n; i++) {
        const struct attr *x = attrs_find(graph_attributes(g, op), activation_keys[i]);
        name = x ? activation_name(activation_keys[i], x->text) : name;
    }
    return name;
}

bool graph_writes_in_place(const struct graph *g, uint32_t op) {
    return graph_op_is(g, op, IN_PLACE) && graph_noperands(g, op) > 1 && graph_operands(g, op)[1] != NONE;
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

const struct attr *graph_axes(const struct graph *g, uint32_t op) {
    return attrs_axes(graph_attributes(g, op), (enum op_kind)g->kind[op]);
}

uint32_t graph_reduced_dims(const struct graph *g, uint32_t op, uint32_t rank, bool *reduced) {
    return reduced_dims((enum op_kind)g->kind[op], graph_attributes(g, op), rank, reduced);
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
