/* An op that has an evaluator of its own; and the results of any op: their shapes are checked, and they are rounded as
 * they are stored. */
#include "proof/numeric/evaluators.h"

#include <math.h>

#include "ir/ops/scalar.h"

static evaluator *const evaluators[OPERATORS] = {
#define UNARY(id, value)    [K_##id] = evaluate_elementwise,
#define BINARY(id, value)   [K_##id] = evaluate_elementwise,
#define EVALUATOR(id, name) [K_##id] = evaluate_##name,
#include "ir/ops/ops.def"
};

/* The op may keep the shape of its operand although the text declares another one: weights that are prepared for a
 * convolution of the device are not laid out anew here, and evaluate_convolution takes either form. */
static bool shape_is_free(enum op_kind k) {
    return evaluators[k] == evaluate_same;
}

static void check_shape(struct eval_context *ctx, const struct call *c, uint32_t i, const struct tensor *t) {
    const struct shape *declared = declared_shape(c, i);
    if (!declared || shape_is_free(c->kind) || shape_eq(declared, &t->shape))
        return;
    op_fails(ctx, "%s makes %s where the text says %s", op_table[c->kind].name, shape_text(ctx->arena, &t->shape).p,
             shape_text(ctx->arena, declared).p);
}

static bool is_exact_type(enum dtype t) {
    return t == DT_F64 || t == DT_NONE || t == DT_OTHER;
}

/* Numbers of 64 bits are doubles too: what has more bits than a double is not known. */
static double wrapped(struct eval_context *ctx, const struct call *c, double x, enum dtype t) {
    uint32_t unused = 64 - dtype_table[t].bits;
    if (!unused && fabs(x) > 0x1p53)
        op_unsupported(ctx, "no evaluator for %s of more than 53 bits", op_table[c->kind].name);
    uint64_t bits = (uint64_t)whole_of(x) << unused;
    return dtype_table[t].is_signed ? (double)((int64_t)bits >> unused) : (double)(bits >> unused);
}

/* The result as its element type holds it. Constants are made by the host, all else by the packer. Sums, products and
 * operations on bits wrap at the width of an integer type, as two's complement does; everything else saturates. */
static const struct tensor *round_result(struct eval_context *ctx, const struct call *c, const struct tensor *t,
                                         enum dtype type) {
    bool constant = op_generates(c->kind);
    if (t->lazy && constant)
        ctx->lazy->round_constant(t, type);
    if ((t->lazy && constant) || is_exact_type(type) ||
        (ctx->arithmetic != ARITHMETIC_DEVICE && !constant && !format_is_integer(type)))
        return t;
    if (t->lazy)
        return ctx->lazy->rounded(ctx, t, type, op_is(c->kind, WRAPS) && format_is_integer(type) && type != DT_I1);
    struct tensor *copy = tensor_copy(ctx, t);
    for (int64_t i = 0; i < copy->n && op_is(c->kind, WRAPS) && format_is_integer(type) && type != DT_I1; i++)
        copy->x[i] = wrapped(ctx, c, copy->x[i], type);
    tensor_round(copy, type, constant ? ROUND_EVEN : ROUND_PACKER);
    return copy;
}

void finish_results(struct eval_context *ctx, const struct call *c, const struct tensor *results[MAX_RESULTS]) {
    for (uint32_t i = 0; i < MAX_RESULTS; i++) {
        if (!results[i] && i < c->nresults)
            op_fails(ctx, "%s has no result %u", op_table[c->kind].name, i);
        if (!results[i])
            continue;
        check_shape(ctx, c, i, results[i]);
        results[i] = round_result(ctx, c, results[i], result_type(c, i));
    }
}

bool is_primitive(enum op_kind k) {
    return evaluators[k] != NULL;
}

struct attempt {
    evaluator *f;
    const struct call *c;
    const struct tensor **results;
};

static void evaluate(struct eval_context *ctx, void *self) {
    const struct attempt *a = self;
    a->f(ctx, a->c, a->results);
    finish_results(ctx, a->c, a->results);
}

bool interpret_primitive(struct eval_context *ctx, const struct call *c, const struct tensor *results[MAX_RESULTS]) {
    evaluator *f = ctx->lazy ? ctx->lazy->evaluator(evaluators[c->kind]) : evaluators[c->kind];
    for (uint32_t i = 0; i < MAX_RESULTS; i++)
        results[i] = NULL;
    if (!f)
        return eval_reason(ctx, REASON_NO_EVALUATOR, "no evaluator for %s",
                           c->kind == NO_OPERATOR ? "an unknown op" : op_table[c->kind].name);
    if (c->nresults > MAX_RESULTS)
        return eval_fail(ctx, "%s has more than %d results", op_table[c->kind].name, MAX_RESULTS);
    struct attempt a = {f, c, results};
    return eval_attempt(ctx, evaluate, &a);
}
