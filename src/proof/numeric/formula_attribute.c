/* Attributes of the ops of a formula, as evaluators read them: what the formula writes, with its numbers computed; else
 * the attribute of the op in the graph that it stands for; else the default that formulas have. */
#include <math.h>

#include "ir/mlir/attributes.h"
#include "proof/numeric/elementwise.h"
#include "proof/numeric/formula_run.h"

static const struct attr *read_text(struct formula_run *r, const char *key, struct str text) {
    struct attr *x = arena_alloc(r->eval->arena, sizeof *x);
    *x = mlir_read_attr(str_of(key), text, r->eval->arena);
    return x;
}

/* The attribute with its numbers computed; text that is no number as it is. NULL where a name is absent. */
static const struct attr *computed_attribute(struct formula_run *r, const struct attr_spec *a) {
    struct arena *arena = r->eval->arena;
    double *numbers = arena_alloc(arena, (a->nnumbers + 1) * sizeof *numbers);
    for (uint32_t i = 0; i < a->nnumbers; i++) {
        const struct number *n = a->numbers[i].own;
        if (number_of_match(r, &a->numbers[i], &numbers[i]))
            continue;
        if (!n)
            return a->text;
        if (!number_present(r, n))
            return NULL;
        numbers[i] = number_value(r, n);
    }
    return a->nnumbers == 1 ? attr_of_number(numbers[0], arena) : attr_of_numbers(numbers, a->nnumbers, arena);
}

static const struct attr *attr_of_axes(const struct axis_spec *dim, struct arena *arena) {
    double axes[MOST_NAMED_AXES];
    for (uint32_t i = 0; i < dim->n; i++)
        axes[i] = dim->axes[i];
    return dim->n > 1 ? attr_of_numbers(axes, dim->n, arena) : attr_of_number(dim->n ? axes[0] : -1, arena);
}

/* The attribute by which the op names the axis that it works along. */
static bool is_axis_key(const struct node *n, const char *key) {
    return op_works_along(n->op, str_of(key)) || (strcmp(key, "dimension") == 0 && n->dim.n);
}

uint32_t graph_op_of(const struct formula_run *r, enum op_kind k) {
    enum op_class class = op_table[k].class;
    if (!r->context || (class == OP_ELTWISE && (!op_table[k].attributes || strchr(op_table[k].roles, '='))) ||
        class == OP_CONTRACT || class == OP_REDUCE || class == OP_MOVE || class == OP_SLICE || class == OP_JOIN ||
        (class == OP_AXISWISE && op_table[k].axes[0]))
        return NONE;
    for (uint32_t i = 0; i < r->context->nops; i++)
        if (r->context->graph->kind[r->context->ops[i]] == k)
            return r->context->ops[i];
    return NONE;
}

const struct attr *formula_attribute(const void *self, const char *key) {
    const struct formula_op *o = self;
    const struct node *n = o->node;
    struct arena *arena = o->run->eval->arena;
    const struct attr_spec *a = find_attribute(n, key);
    const struct formula_context *context = o->run->context;
    const struct attr *x = NULL;
    struct str text;
    if (a)
        *o->asked |= 1ull << (a - n->attrs) % 64;
    if (context && context->attribute && context->attribute(context->self, n, key, &x))
        return x;
    if (a && (x = computed_attribute(o->run, a)))
        return x;
    if (a && (!context || attribute_present(o->run, a)))
        return NULL;
    if (o->run->inside && o->run->inside->kind == n->op && !is_activation_key(key))
        return attrs_find(o->run->outer->attributes, key);
    if (is_axis_key(n, key))
        return attr_of_axes(&n->dim, arena);
    if (strcmp(key, "keep_dim") == 0 && op_table[n->op].class == OP_REDUCE)
        return attr_of_number(1, arena);
    uint32_t op = graph_op_of(o->run, n->op);
    if (op == NONE && context && n->op == K_LAYER_NORM && strcmp(key, "epsilon") == 0)
        op = graph_op_of(o->run, K_RMS_NORM); /* of the centred value */
    if (op != NONE && !is_activation_key(key))
        return attrs_find(graph_attributes(context->graph, op), key);
    return op_default(op_table[n->op].in_formula, str_of(key), false, &text) ? read_text(o->run, key, text) : NULL;
}
