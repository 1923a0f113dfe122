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

/* Kernels of distributed norms take a row of weights as several rows of a tile's width: as one row again, which
 * broadcasts to x. NULL stays NULL. */
static const struct tensor *weights_as_row(struct eval_context *b, const struct tensor *p, const struct shape *x) {
    int64_t row = x->rank ? x->dim[x->rank - 1] : 1;
    bool folded = p && p->n == row && p->shape.rank > 1 && p->shape.dim[p->shape.rank - 1] != row;
    return folded ? tensor_reshape(b, p, &(struct shape){1, {row}}) : p;
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

/* How many trailing dimensions the op normalises together, which is one for the lowerings of norms. 0: a reason. */
static uint32_t dims_normalized(struct eval_context *b, const struct call *c) {
    int64_t dims[TENSOR_RANK];
    int n = 1;
    if (op_dims_role(c->kind, STR("normalized_shape")) == DIMS_NONE || !c->attribute)
        return 1;
    if (!attr_list(b, c, "normalized_shape", dims, TENSOR_RANK, &n))
        return 0;
    if (n < 1 || n > (int)operand(c, 0)->shape.rank) {
        eval_fail(b, "%s of %d dimensions of a tensor of rank %u", op_table[c->kind].name, n,
                  operand(c, 0)->shape.rank);
        return 0;
    }
    return (uint32_t)n;
}

/* With the last n dimensions of all operands as one. */
static bool flatten_normalized(struct eval_context *b, struct lowered_op *o, uint32_t n) {
    struct call *c = &o->call;
    c->noperands = c->noperands < MAX_LOWERED_OPERANDS ? c->noperands : MAX_LOWERED_OPERANDS;
    for (uint32_t i = 0; i < c->noperands; i++) {
        const struct tensor *t = operand(c, i);
        o->operands[i] = t;
        if (!t || t->shape.rank < n)
            continue;
        struct shape s = t->shape;
        for (; s.rank > t->shape.rank - n + 1; s.rank--)
            s.dim[s.rank - 2] *= s.dim[s.rank - 1];
        if (!(o->operands[i] = tensor_reshape(b, t, &s)))
            return false;
    }
    c->operands = o->operands;
    return true;
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

/* Lowerings take the operands in the order of TTIR, which differs for one op only: TTNN has input, mean, variance,
 * weight and bias, of which the last four may be absent. */
static bool in_ttir_order(struct eval_context *b, struct lowered_op *o) {
    static const uint32_t at_in_ttir[5] = {0, 3, 4, 1, 2};
    int64_t sizes[5] = {1, 1, 1, 1, 1};
    int n = 5;
    uint32_t at = 0;
    struct call *c = &o->call;
    if (c->kind != K_BATCH_NORM_INFERENCE)
        return true;
    if (c->ttnn && !attr_list(b, c, "operandSegmentSizes", sizes, 5, &n))
        return false;
    for (int i = 0; c->ttnn && i < 5; i++)
        o->operands[at_in_ttir[i]] = i < n && sizes[i] ? operand(c, at++) : NULL;
    if (c->ttnn) {
        c->operands = o->operands;
        c->noperands = 5;
    }
    return (operand(c, 3) && operand(c, 4)) || eval_fail(b, "batch_norm_inference lacks its mean or variance");
}

/* Decode is causal up to a position; its lowering leaves out what it lacks. */
static bool has_position(struct eval_context *b, const struct call *c) {
    bool causal = true;
    if (c->kind != K_SDPA_DECODE || !c->types || operand(c, 4))
        return true;
    return attr_flag(b, c, "is_causal", &causal) &&
           (!causal || eval_fail(b, "%s is causal but has no position", op_table[c->kind].name));
}

bool lowered_begin(struct lowered_op *o, struct formula_run *r, const struct lowering *w, const struct call *call,
                   const struct node *node) {
    struct eval_context *b = r->eval;
    struct call *c = &o->call;
    *o = (struct lowered_op){.call = *call};
    if (!in_ttir_order(b, o) || !operands_needed(b, c, 1) || !has_position(b, c))
        return false;
    if (r->depth >= MAX_DEPTH)
        return eval_fail(b, "%s is lowered to itself", op_table[c->kind].name);
    if (b->mesh && op_is(c->kind, FOLDED_WEIGHTS))
        return eval_beyond(b, "no evaluator for %s on several devices", op_table[c->kind].name); /* it is of one */
    uint32_t normalized = dims_normalized(b, c);
    if (!normalized || (normalized > 1 && !flatten_normalized(b, o, normalized)) ||
        (node && !w->primitive && !attributes_known(b, w, node)) || !read_axis(b, c, &o->axis))
        return false;
    o->flattened = normalized > 1;
    o->shape = operand(call, 0)->shape;
    o->run = arena_alloc(b->arena, sizeof *o->run);
    *o->run = (struct formula_run){
        .eval = b, .set = r->set, .formula = w->formula, .inside = w, .outer = c, .depth = r->depth + 1};
    return bind_params(o->run, w, c, o->axis);
}

bool lowered_end(const struct lowered_op *o, const struct tensor *results[MAX_RESULTS]) {
    struct eval_context *b = o->run->eval;
    if (o->flattened && !(results[0] = tensor_reshape(b, results[0], &o->shape)))
        return false;
    for (uint32_t i = 0; i < MAX_RESULTS && results[i]; i++)
        if (!(results[i] = with_axis_last(b, results[i], o->axis, operand(&o->call, 0)->shape.rank)))
            return false;
    results[0] = apply_activation(b, &o->call, results[0]);
    return results[0] != NULL;
}
