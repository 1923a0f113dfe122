/* One op on tensors: by its evaluator, or a fused op by its lowering. */
#include "proof/numeric/evaluators.h"
#include "proof/numeric/formula_run.h"

static const bool is_lowered[OPERATORS] = {
#define LOWERED(id, none) [K_##id] = true,
#include "ir/ops/ops.def"
};

bool interpretable(enum op_kind k) {
    return is_lowered[k] || is_primitive(k);
}

/* TTNN's kernel pads the rows of its result to a whole tile, with zeros; only the declared shape tells. */
static const struct tensor *with_padding_rows(struct eval_context *ctx, const struct shape *declared,
                                              const struct tensor *t) {
    uint32_t rank = t->shape.rank;
    struct shape s = t->shape;
    if (!declared || declared->rank != rank || rank < 2 || declared->dim[rank - 2] <= s.dim[rank - 2])
        return t;
    s.dim[rank - 2] = declared->dim[rank - 2] - t->shape.dim[rank - 2];
    const struct tensor *zeros = lazy_of_view(ctx, view_expanded(tensor_scalar(ctx, 0), &s));
    return lazy_join(ctx, (const struct tensor *const[]){t, zeros}, 2, rank - 2);
}

struct lowered_attempt {
    const struct lowering *lowering;
    const struct call *c;
    const struct tensor **results;
};

static void attempt_lowered(struct eval_context *ctx, void *self) {
    const struct lowered_attempt *a = self;
    struct formula_run r = {.eval = ctx, .set = ctx->lowerings};
    enum arithmetic kept = ctx->arithmetic;
    ctx->arithmetic = ARITHMETIC_EXACT;
    evaluate_lowered(&r, a->lowering, a->c, NULL, a->results);
    for (uint32_t i = 0; i < MAX_RESULTS && a->results[i]; i++) {
        a->results[i] = as_declared(ctx, a->c, i, a->results[i]);
        if (op_is(a->c->kind, PADS_ROWS))
            a->results[i] = with_padding_rows(ctx, declared_shape(a->c, i), a->results[i]);
    }
    ctx->arithmetic = kept;
    finish_results(ctx, a->c, a->results);
}

bool interpret(struct eval_context *ctx, const struct call *c, const struct tensor *results[MAX_RESULTS]) {
    const struct lowering *w = is_lowered[c->kind] && ctx->lowerings ? lowering_of_kind(ctx->lowerings, c->kind) : NULL;
    if (!w)
        return interpret_primitive(ctx, c, results);
    for (uint32_t i = 0; i < MAX_RESULTS; i++)
        results[i] = NULL;
    return eval_attempt(ctx, attempt_lowered, &(struct lowered_attempt){w, c, results});
}
