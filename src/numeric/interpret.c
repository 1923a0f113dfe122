/* One op on tensors: by its evaluator, or a fused op by its lowering. */
#include "numeric/evaluators.h"
#include "numeric/formula_run.h"

static const bool is_lowered[K_COUNT] = {
#define LOWERED(id, none) [K_##id] = true,
#include "ops/ops.def"
};

bool interpretable(enum op_kind k) {
    return is_lowered[k] || is_primitive(k);
}

/* TTNN's kernel pads the rows of its result to a whole tile, with zeros; only the declared shape tells. */
static const struct tensor *with_padding_rows(struct eval_context *b, const struct shape *declared,
                                              const struct tensor *t) {
    uint32_t rank = t->shape.rank;
    struct shape s = t->shape;
    if (!declared || declared->rank != rank || rank < 2 || declared->dim[rank - 2] <= s.dim[rank - 2])
        return t;
    s.dim[rank - 2] = declared->dim[rank - 2];
    struct tensor *r = tensor_new(b, &s);
    if (!r)
        return NULL;
    struct view rows = view_cut(view_of(r), rank - 2, 0, 1, t->shape.dim[rank - 2]);
    view_fill(r, &rows, t->x);
    return r;
}

static bool evaluate_lowered(struct eval_context *b, const struct lowering *w, const struct call *c,
                             const struct tensor *results[MAX_RESULTS]) {
    struct formula_run r = {.eval = b, .set = b->lowerings};
    struct lowered_op o;
    if (!lowered_begin(&o, &r, w, c, NULL) || !evaluate_formula(o.run, results) || !lowered_end(&o, results))
        return false;
    for (uint32_t i = 0; i < MAX_RESULTS && results[i]; i++) {
        results[i] = as_declared(b, c, i, results[i]);
        if (op_is(c->kind, PADS_ROWS) && !(results[i] = with_padding_rows(b, declared_shape(c, i), results[i])))
            return false;
    }
    return true;
}

bool interpret(struct eval_context *b, const struct call *c, const struct tensor *results[MAX_RESULTS]) {
    const struct lowering *w = is_lowered[c->kind] && b->lowerings ? lowering_of_kind(b->lowerings, c->kind) : NULL;
    if (!w)
        return interpret_primitive(b, c, results);
    enum arithmetic kept = b->arithmetic;
    b->arithmetic = ARITHMETIC_EXACT;
    for (uint32_t i = 0; i < MAX_RESULTS; i++)
        results[i] = NULL;
    bool good = evaluate_lowered(b, w, c, results);
    b->arithmetic = kept;
    return good && finish_results(b, c, results);
}
