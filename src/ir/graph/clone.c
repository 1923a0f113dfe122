/* Attributes are copied one by one, as text. */
#include "ir/graph/clone.h"

#include <stdlib.h>

bool attribute_changes_nothing(struct str key, struct str value) {
    static const char *const keys[] = {"memory_config", "layout", "dtype",
                                       "output_dtype",  "device", "operandSegmentSizes"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (str_is(key, keys[i]))
            return true;
    return str_find(key, STR(".")) ||
           (str_ends(key, STR("_config")) && !str_is(key, "compute_config") && !str_find(value, STR("activation")));
}

/* "key = value", or a unit attribute. */
static void add_attribute(struct buf *out, struct str key, struct str value) {
    buf_add(out, out->n ? STR(", ") : STR(""));
    buf_add(out, key);
    buf_add(out, value.n ? STR(" = ") : STR(""));
    buf_add(out, value);
}

static void add_attributes(const struct cloner *c, uint32_t op, struct buf *out) {
    const struct attrs *all = graph_attributes(c->from, op);
    for (uint32_t i = 0; i < all->n; i++) {
        struct str value = all->at[i].text;
        if (!attribute_changes_nothing(all->at[i].key, value) &&
            (!c->attribute || c->attribute(c->self, op, all->at[i].key, &value)))
            add_attribute(out, all->at[i].key, value);
    }
}

/* operandSegmentSizes of ops with optional operands: 1 for each that is there. As many as the op has, which differs
 * from one version of the compiler to another. */
static void add_segments(const struct graph *g, uint32_t op, const uint32_t *operands, struct buf *out) {
    struct buf sizes = {0};
    uint32_t n = graph_noperands(g, op);
    const int64_t *list;
    int32_t stated = attrs_list(graph_attributes(g, op), "operandSegmentSizes", &list);
    if (!strchr(op_table[g->kind[op]].roles, '?'))
        return;
    for (uint32_t i = 0; i < n && (stated < 0 || i < (uint32_t)stated); i++) {
        buf_add(&sizes, i ? STR(", ") : STR("array<i32: "));
        buf_addc(&sizes, operands[i] != NONE ? '1' : '0');
    }
    buf_addc(&sizes, '>');
    add_attribute(out, STR("operandSegmentSizes"), buf_str(&sizes));
    buf_free(&sizes);
}

uint32_t clone_op(const struct cloner *c, uint32_t op, const uint32_t *operands, const uint32_t *types,
                  uint32_t nresults) {
    const struct graph *g = c->from;
    uint32_t all = graph_noperands(g, op), n = 0;
    uint32_t *present = xcalloc(all + (size_t)1, sizeof *present);
    struct buf props = {0};
    for (uint32_t i = 0; i < all; i++)
        if (operands[i] != NONE)
            present[n++] = operands[i];
    add_attributes(c, op, &props);
    add_segments(g, op, operands, &props);
    uint32_t made = build_op(c->to, &(struct new_op){.name = mlir_op_name(g->m, op),
                                                     .props = buf_str(&props),
                                                     .operands = present,
                                                     .noperands = n,
                                                     .types = types,
                                                     .nresults = nresults});
    buf_free(&props);
    free(present);
    return made;
}
