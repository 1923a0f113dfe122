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

/* The result as its element type holds it. Constants are made by the host, all else by the packer. Sums, products and
 * operations on bits wrap at the width of an integer type, as two's complement does; everything else saturates. */
static const struct tensor *round_result(struct eval_context *ctx, const struct call *c, const struct tensor *t,
                                         enum dtype type) {
    t = t->lazy ? t : lazy_of_view(ctx, view_of(t));
    if (op_generates(c->kind))
        lazy_round_constant(t, type);
    if (op_generates(c->kind) || is_exact_type(type) ||
        (ctx->arithmetic != ARITHMETIC_DEVICE && !format_is_integer(type)))
        return t;
    return lazy_rounded(ctx, t, type, op_is(c->kind, WRAPS) && format_is_integer(type) && type != DT_I1);
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
    evaluator *f = evaluators[c->kind];
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
