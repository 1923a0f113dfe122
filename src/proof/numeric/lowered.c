/* Fused ops by their lowering (patterns/library/lowering.h): operands and attributes of the op are bound to the names
 * of the lowering's formula; the axis that the op works along is made the last one, along which all lowerings work. */
#include <stdio.h>

#include "ir/mlir/attributes.h"
#include "proof/numeric/elementwise.h"
#include "proof/numeric/evaluators.h"
#include "proof/numeric/formula_run.h"

/* What an attribute means that is not printed. */
static const struct attr *default_of_op(struct eval_context *ctx, const struct call *c, const char *key) {
    struct attr *x = arena_alloc(ctx->arena, sizeof *x);
    struct str text;
    if (op_default(op_table[c->kind].absent, str_of(key), c->ttnn, &text)) {
        *x = mlir_read_attr(str_of(key), text, ctx->arena);
        return x;
    }
    if (strcmp(key, "ttnn") == 0)
        return attr_of_number(c->ttnn, ctx->arena);
    return strcmp(key, "num_kv_heads") == 0 ? attrs_find(c->attributes, "num_heads") : NULL;
}

static const struct tensor *attribute_param(struct eval_context *ctx, const struct call *c, const char *key) {
    const struct attr *x = attrs_find(c->attributes, key);
    x = x ? x : default_of_op(ctx, c, key);
    if (x && !x->is_number)
        op_fails(ctx, "%s: attribute %s is no number", op_table[c->kind].name, key);
    return x ? tensor_scalar(ctx, x->number) : NULL;
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
static uint32_t read_axis(struct eval_context *ctx, const struct call *c) {
    const struct op_info *op = &op_table[c->kind];
    uint32_t rank = operand(c, 0)->shape.rank;
    const char *key = op->axes[0] ? op->axes[0] : op->channels.key;
    int64_t dims[MAX_RANK];
    if (!rank || !key || (!c->types && !attrs_find(c->attributes, key)))
        return rank ? rank - 1 : 0;
    int n = attr_list(ctx, c, key, dims, MAX_RANK);
    if (n < 0 && (op->class != OP_REDUCE || rank == 1)) /* which is over all axes by default */
        return axis_in(ctx, c, op->axes[0] ? -1 : op->channels.otherwise, rank);
    if (n != 1)
        op_fails(ctx, "the lowering of %s is along one dimension", op->name);
    return axis_in(ctx, c, dims[0], rank);
}

static const struct tensor *with_axis_last(struct eval_context *ctx, const struct tensor *t, uint32_t axis,
                                           uint32_t rank) {
    if (!t || t->shape.rank != rank || axis + 1 >= rank)
        return t;
    return lazy_of_view(ctx, view_swapped(view_of(t), axis, rank - 1));
}

/* Kernels of distributed norms take a row of weights as several rows of a tile's width: as one row again, which
 * broadcasts to x. NULL stays NULL. */
static const struct tensor *weights_as_row(struct eval_context *ctx, const struct tensor *p, const struct shape *x) {
    int64_t row = x->rank ? x->dim[x->rank - 1] : 1;
    bool folded = p && p->n == row && p->shape.rank > 1 && p->shape.dim[p->shape.rank - 1] != row;
    return folded ? tensor_reshape(ctx, p, &(struct shape){1, {row}}) : p;
}

static void bind_params(struct formula_run *in, const struct lowering *w, const struct call *c, uint32_t axis) {
    struct eval_context *ctx = in->eval;
    uint32_t roles = operand_roles(c), rank = operand(c, 0)->shape.rank;
    for (uint32_t i = 0; i < w->op.nparams; i++) {
        const struct tensor *t = with_axis_last(ctx, i < roles ? operand(c, i) : NULL, axis, rank);
        struct str attribute = i < roles ? op_role_attribute(c->kind, w->op.params[i]) : w->op.params[i];
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)attribute.n, attribute.p);
        if (i > 0 && op_is(c->kind, FOLDED_WEIGHTS))
            t = weights_as_row(ctx, t, &operand(c, 0)->shape);
        in->values[w->slots[i]][0] = t || !attribute.n ? t : attribute_param(ctx, c, key);
    }
}

/* How many trailing dimensions the op normalises together, which is one for the lowerings of norms. */
static uint32_t dims_normalized(struct eval_context *ctx, const struct call *c) {
    int64_t dims[MAX_RANK];
    uint32_t rank = operand(c, 0)->shape.rank;
    if (op_dims_role(c->kind, STR("normalized_shape")) == DIMS_NONE)
        return 1;
    int n = attr_list(ctx, c, "normalized_shape", dims, MAX_RANK);
    if (n == 0 || n > (int)rank)
        op_fails(ctx, "%s of %d dimensions of a tensor of rank %u", op_table[c->kind].name, n, rank);
    return n < 0 ? 1 : (uint32_t)n;
}

/* With the last n dimensions of all operands as one. */
static void flatten_normalized(struct eval_context *ctx, struct lowered_op *o, uint32_t n) {
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
        o->operands[i] = tensor_reshape(ctx, t, &s);
    }
    c->operands = o->operands;
}

/* TTNN prepares what a group norm has for each channel as rows of a tile, 1 x 1 x channels / 32 x 32. */
static void flatten_prepared(struct eval_context *ctx, struct lowered_op *o) {
    struct call *c = &o->call;
    int64_t channels = o->shape.rank ? o->shape.dim[o->shape.rank - 1] : 0;
    if (c->kind != K_GROUP_NORM || !c->ttnn || !c->types || c->noperands > MAX_LOWERED_OPERANDS)
        return;
    for (uint32_t i = 0; i < c->noperands; i++) {
        const struct tensor *t = operand(c, i);
        bool prepared = i > 0 && t && t->shape.rank == 4 && t->n == channels;
        o->operands[i] = prepared ? tensor_reshape(ctx, t, &(struct shape){1, {channels}}) : t;
    }
    c->operands = o->operands;
}

/* Every attribute that the formula writes is one that the lowering takes. */
static void check_attributes(struct eval_context *ctx, const struct lowering *w, const struct node *n) {
    for (uint32_t i = 0; i < n->nattrs; i++) {
        struct str key = str_of(n->attrs[i].key);
        bool known = is_activation_key(key.p) || op_works_along(n->op, key) ||
                     (op_table[n->op].channels.key && str_is(key, op_table[n->op].channels.key));
        for (uint32_t p = 0; p < w->op.nparams; p++)
            known |= str_eq(key, w->op.params[p]);
        if (!known)
            op_fails(ctx, "the lowering of %s has no parameter %s", op_table[n->op].name, key.p);
    }
}

/* Lowerings take the operands in the order of TTIR, which differs for one op only: TTNN has input, mean, variance,
 * weight and bias, of which the last four may be absent. */
static void order_as_ttir(struct eval_context *ctx, struct lowered_op *o) {
    static const uint32_t at_in_ttir[5] = {0, 3, 4, 1, 2};
    int64_t sizes[5];
    uint32_t at = 0;
    struct call *c = &o->call;
    if (c->kind != K_BATCH_NORM_INFERENCE)
        return;
    if (c->ttnn) {
        int n = attr_list(ctx, c, "operandSegmentSizes", sizes, 5);
        for (int i = 0; i < 5; i++)
            o->operands[at_in_ttir[i]] = n < 0 || (i < n && sizes[i]) ? operand(c, at++) : NULL;
        c->operands = o->operands;
        c->noperands = 5;
    }
    if (attr_flag(ctx, c, "training", false))
        op_unsupported(ctx, "no evaluator for batch_norm that computes its statistics");
    if (!operand(c, 3) || !operand(c, 4))
        op_fails(ctx, "batch_norm_inference lacks its mean or variance");
}

/* Decode is causal up to a position; its lowering leaves out what it lacks. */
static void check_position(struct eval_context *ctx, const struct call *c) {
    if (c->kind == K_SDPA_DECODE && c->types && !operand(c, 4) && attr_flag(ctx, c, "is_causal", true))
        op_fails(ctx, "%s is causal but has no position", op_table[c->kind].name);
}

void lowered_begin(struct lowered_op *o, struct formula_run *r, const struct lowering *w, const struct call *call,
                   const struct node *node) {
    struct eval_context *ctx = r->eval;
    struct call *c = &o->call;
    *o = (struct lowered_op){.call = *call};
    order_as_ttir(ctx, o);
    o->shape = operand_needed(ctx, c, 0)->shape;
    check_position(ctx, c);
    if (r->depth >= MAX_DEPTH)
        op_fails(ctx, "%s is lowered to itself", op_table[c->kind].name);
    if (ctx->mesh && op_is(c->kind, FOLDED_WEIGHTS))
        op_unsupported(ctx, "no evaluator for %s on several devices", op_table[c->kind].name); /* it is of one */
    uint32_t normalized = dims_normalized(ctx, c);
    o->flattened = normalized > 1;
    if (o->flattened)
        flatten_normalized(ctx, o, normalized);
    flatten_prepared(ctx, o);
    if (node && !w->primitive)
        check_attributes(ctx, w, node);
    o->axis = read_axis(ctx, c);
    o->run = arena_alloc(ctx->arena, sizeof *o->run);
    *o->run = (struct formula_run){
        .eval = ctx, .set = r->set, .formula = w->formula, .inside = w, .outer = c, .depth = r->depth + 1};
    bind_params(o->run, w, c, o->axis);
}

void lowered_end(const struct lowered_op *o, const struct tensor *results[MAX_RESULTS]) {
    struct eval_context *ctx = o->run->eval;
    if (o->flattened)
        results[0] = tensor_reshape(ctx, results[0], &o->shape);
    for (uint32_t i = 0; i < MAX_RESULTS && results[i]; i++)
        results[i] = with_axis_last(ctx, results[i], o->axis, operand(&o->call, 0)->shape.rank);
    results[0] = apply_activation(ctx, &o->call, results[0]);
}
