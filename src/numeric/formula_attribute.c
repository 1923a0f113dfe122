/* Attributes of the ops of a formula, as evaluators read them: what the formula writes, with its numbers computed; else
 * the attribute of the op in the graph that it stands for; else the default that formulas have. */
#include "numeric/formula_run.h"

#include <math.h>

#include "numeric/elementwise.h"

static struct str number_text(struct arena *a, double x) {
    uint64_t bits;
    if (x == floor(x) && fabs(x) < 0x1p62)
        return arena_printf(a, "%lld", (long long)x);
    memcpy(&bits, &x, sizeof bits);
    return isfinite(x) ? arena_printf(a, "%.17g", x) : arena_printf(a, "0x%016llX : f64", (unsigned long long)bits);
}

/* The attribute's text with its numbers computed; text that is no number as it is. False where a name is absent or a
 * number fails. */
static bool computed_text(struct formula_run *r, struct str text, struct str *out) {
    struct str list = STR(""), rest = text, piece;
    uint32_t count = 0;
    for (; next_expression(&rest, &piece); count++) {
        const struct number *n = attribute_number(r, piece);
        double x = NAN;
        bool of_match = number_of_match(r, n, piece, &x);
        if (!n && !of_match) {
            *out = text;
            return true;
        }
        if (!of_match && (!number_present(r, n) || !number_value(r, n, &x)))
            return false;
        struct str number = number_text(r->eval->arena, x);
        list =
            arena_printf(r->eval->arena, "%.*s%s%.*s", (int)list.n, list.p, count ? ", " : "", (int)number.n, number.p);
    }
    *out = count == 1 ? list : arena_printf(r->eval->arena, "[%.*s]", (int)list.n, list.p);
    return true;
}

/* The attribute by which the op names the axis that it works along. */
static bool is_axis_key(const struct node *n, const char *key) {
    return op_works_along(n->op, str_of(key)) || (strcmp(key, "dimension") == 0 && n->dim.given);
}

uint32_t graph_op_of(const struct formula_run *r, enum op_kind k) {
    enum op_class class = op_table[k].class;
    if (!r->context || (class == OP_ELTWISE && k != K_LEAKY_RELU) || class == OP_CONTRACT || class == OP_REDUCE ||
        class == OP_MOVE || class == OP_SLICE || class == OP_JOIN || k == K_SOFTMAX)
        return NONE;
    for (uint32_t i = 0; i < r->context->nops; i++)
        if (r->context->graph->kind[r->context->ops[i]] == k)
            return r->context->ops[i];
    return NONE;
}

bool formula_attribute(const void *self, const char *key, struct str *text) {
    const struct formula_op *o = self;
    const struct node *n = o->node;
    const struct attr_spec *a = find_attribute(n, key);
    const struct formula_context *context = o->run->context;
    if (a)
        *o->asked |= 1ull << (a - n->attrs) % 64;
    if (context && context->attribute && context->attribute(context->self, n, key, text))
        return text->n > 0;
    if (a && computed_text(o->run, a->value, text))
        return true;
    if (a && (!o->run->context || attribute_present(o->run, a->value)))
        return false;
    if (o->run->inside && o->run->inside->kind == n->op && !is_activation_key(key))
        return o->run->outer->attribute && o->run->outer->attribute(o->run->outer->self, key, text);
    if (is_axis_key(n, key)) {
        *text = arena_printf(o->run->eval->arena, "%d", n->dim.given ? n->dim.axis : -1);
        return true;
    }
    if (strcmp(key, "keep_dim") == 0 && op_table[n->op].class == OP_REDUCE) {
        *text = STR("true");
        return true;
    }
    uint32_t op = graph_op_of(o->run, n->op);
    if (op == NONE && o->run->context && n->op == K_LAYER_NORM && strcmp(key, "epsilon") == 0)
        op = graph_op_of(o->run, K_RMS_NORM); /* of the centred value */
    if (op != NONE && !is_activation_key(key))
        return mlir_attr(o->run->context->graph->m, op, key, text);
    return op_default(op_table[n->op].in_formula, key, false, text);
}
