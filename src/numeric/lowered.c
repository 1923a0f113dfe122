/* Fused ops by their lowering (library/lowering.h): operands and attributes of the op are bound to the names of the
 * lowering's formula; the axis that the op works along is made the last one, along which all lowerings work. */
#include <stdio.h>

#include "numeric/elementwise.h"
#include "numeric/evaluators.h"
#include "numeric/formula_run.h"

/* What an attribute means that is not printed. */
static bool default_of_op(const struct call *c, const char *key, struct str *text) {
    if (op_default(op_table[c->kind].absent, key, c->ttnn, text))
        return true;
    if (strcmp(key, "ttnn") == 0) {
        *text = c->ttnn ? STR("true") : STR("false");
        return true;
    }
    return strcmp(key, "num_kv_heads") == 0 && attr_text(c, "num_heads", text);
}

static bool attribute_param(struct eval_context *b, const struct call *c, const char *key, const struct tensor **out) {
    struct str text;
    double x;
    if (!attr_text(c, key, &text) && !default_of_op(c, key, &text))
        return true;
    if (!mlir_float(text, &x))
        return eval_fail(b, "%s: attribute %s is no number", op_table[c->kind].name, key);
    *out = tensor_scalar(b, x);
    return *out != NULL;
}

static uint32_t operand_roles(const struct call *c) {
    const char *roles = op_table[c->kind].roles;
    uint32_t n = *roles != '\0';
    if (*roles == '*')
        return c->noperands;
    for (; *roles; roles++)
        n += *roles == ',';
    return n;
}

/* The axis that an op works along, or its dimension of channels; in a formula the default is the last one. */
static bool read_axis(struct eval_context *b, const struct call *c, uint32_t *axis) {
    const struct op_info *op = &op_table[c->kind];
    const struct shape *s = &operand(c, 0)->shape;
    const char *key = op->axes[0] ? op->axes[0] : op->channels.key;
    int64_t dims[TENSOR_RANK] = {op->axes[0] ? -1 : op->channels.otherwise};
    struct str text;
    *axis = s->rank ? s->rank - 1 : 0;
    if (!s->rank || !key || (!c->types && !attr_text(c, key, &text)))
        return true;
    int n = op->class == OP_REDUCE ? (int)s->rank : 1; /* which is over all axes by default */
    return attr_list(b, c, key, dims, TENSOR_RANK, &n) &&
           (n == 1 || eval_fail(b, "the lowering of %s is along one dimension", op->name)) &&
           axis_in(b, c, dims[0], s->rank, axis);
}

static const struct tensor *with_axis_last(struct eval_context *b, const struct tensor *t, uint32_t axis,
                                           uint32_t rank) {
    if (!t || t->shape.rank != rank || axis + 1 >= rank)
        return t;
    return view_copy(b, view_swapped(view_of(t), axis, rank - 1));
}

static bool bind_params(struct formula_run *in, const struct lowering *w, const struct call *c, uint32_t axis) {
    struct eval_context *b = in->eval;
    uint32_t roles = operand_roles(c), rank = operand(c, 0)->shape.rank;
    for (uint32_t i = 0; i < w->nparams; i++) {
        const struct tensor *t = i < roles ? operand(c, i) : NULL;
        struct str attribute = i < roles ? op_role_attribute(c->kind, w->params[i]) : w->params[i];
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)attribute.n, attribute.p);
        if (t && !(t = with_axis_last(b, t, axis, rank)))
            return false;
        if (i > 0 && op_is(c->kind, FOLDED_WEIGHTS))
            t = weights_as_row(b, t, &operand(c, 0)->shape);
        if (!t && attribute.n && !attribute_param(b, c, key, &t))
            return false;
        in->values[w->slots[i]][0] = t;
    }
    return true;
}

/* The lowerings of norms are over one dimension. */
static bool along_last_only(struct eval_context *b, const struct call *c) {
    int64_t dims[TENSOR_RANK];
    int n = 1;
    if (op_dims_role(c->kind, STR("normalized_shape")) == DIMS_NONE || !c->attribute)
        return true;
    return attr_list(b, c, "normalized_shape", dims, TENSOR_RANK, &n) &&
           (n == 1 || eval_fail(b, "the lowering of %s is along one dimension", op_table[c->kind].name));
}

/* Every attribute that the formula writes is one that the lowering takes. */
static bool attributes_known(struct eval_context *b, const struct lowering *w, const struct node *n) {
    for (uint32_t i = 0; i < n->nattrs; i++) {
        struct str key = str_of(n->attrs[i].key);
        bool known = is_activation_key(key.p) || op_works_along(n->op, key) ||
                     (op_table[n->op].channels.key && str_is(key, op_table[n->op].channels.key));
        for (uint32_t p = 0; p < w->nparams; p++)
            known |= str_eq(key, w->params[p]);
        if (!known)
            return eval_fail(b, "the lowering of %s has no parameter %s", op_table[n->op].name, key.p);
    }
    return true;
}

/* Lowerings take the operands in the order of TTIR, which differs for one op only. */
static bool in_ttir_order(struct eval_context *b, struct call *c, const struct tensor *operands[5]) {
    const struct tensor *p[5];
    if (c->kind != K_BATCH_NORM_INFERENCE || !c->ttnn)
        return true;
    if (!batch_norm_operands(b, c, p))
        return false;
    memcpy(operands, (const struct tensor *[5]){p[0], p[3], p[4], p[1], p[2]}, 5 * sizeof *operands);
    c->operands = operands;
    c->noperands = 5;
    return true;
}

bool lowered_begin(struct lowered_op *o, struct formula_run *r, const struct lowering *w, const struct call *call,
                   const struct node *node) {
    struct eval_context *b = r->eval;
    struct call *c = &o->call;
    *o = (struct lowered_op){.call = *call};
    if (!in_ttir_order(b, c, o->operands))
        return false;
    if (r->depth >= MAX_DEPTH)
        return eval_fail(b, "%s is lowered to itself", op_table[c->kind].name);
    if (b->mesh && op_is(c->kind, FOLDED_WEIGHTS))
        return eval_beyond(b, "no evaluator for %s on several devices", op_table[c->kind].name); /* it is of one */
    if (!operands_needed(b, c, 1) || !along_last_only(b, c) ||
        (node && !w->primitive && !attributes_known(b, w, node)) || !read_axis(b, c, &o->axis))
        return false;
    o->run = arena_alloc(b->arena, sizeof *o->run);
    *o->run = (struct formula_run){
        .eval = b, .set = r->set, .formula = w->formula, .inside = w, .outer = c, .depth = r->depth + 1};
    return bind_params(o->run, w, c, o->axis);
}

bool lowered_end(const struct lowered_op *o, const struct tensor *results[MAX_RESULTS]) {
    struct eval_context *b = o->run->eval;
    for (uint32_t i = 0; i < MAX_RESULTS && results[i]; i++)
        if (!(results[i] = with_axis_last(b, results[i], o->axis, operand(&o->call, 0)->shape.rank)))
            return false;
    results[0] = apply_activation(b, &o->call, results[0]);
    return results[0] != NULL;
}
