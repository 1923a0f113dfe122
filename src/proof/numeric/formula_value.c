/* Evaluates the tree of a formula. Each named value is evaluated once; an op with a lowering is evaluated by that. */
#include "proof/numeric/formula_value.h"

#include <math.h>

#include "patterns/lang/printer.h"
#include "patterns/lang/rearrange.h"
#include "proof/numeric/evaluators.h"
#include "proof/numeric/formula_run.h"

static const struct tensor *value(struct formula_run *r, const struct node *n);

/* ---- ops that formulas write in their own way ---- */

/* slice(x, dim=-1, part=1, of=2), part=1, every=2, or begin= and end=. */
static void evaluate_part(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    *out = operand_needed(ctx, c, 0);
    if ((*out)->shape.rank == 0) /* one number stands for any shape */
        return;
    uint32_t axis = axis_attr(ctx, c, "dim", -1, (*out)->shape.rank);
    int64_t size = (*out)->shape.dim[axis], part = attr_int(ctx, c, "part", -1), of = attr_int(ctx, c, "of", 0),
            every = attr_int(ctx, c, "every", 0), begin = attr_int(ctx, c, "begin", 0),
            end = attr_int(ctx, c, "end", size), step = attr_int(ctx, c, "step", 1), count = 0;
    if (part >= 0 && of > part && size % of == 0) {
        begin = part * (size / of);
        count = size / of;
    } else if (part >= 0 && every > part) {
        begin = part;
        step = every;
        count = size > part ? (size - part + every - 1) / every : 0;
    } else if (part < 0 && begin >= size && end > begin) {
        op_fails(ctx, "a slice from %lld on of %lld elements", (long long)begin, (long long)size);
    } else if (part < 0 && begin >= 0) {
        end = end > size ? size : end;
        count = end > begin && step > 0 ? (end - begin + step - 1) / step : 0;
    } else {
        op_fails(ctx, "which part of %lld elements a slice takes is not said", (long long)size);
    }
    *out = lazy_of_view(ctx, view_cut(view_of(*out), axis, begin, step, count));
}

/* reshape(y, like=x): the shape of x; or NULL. */
static const struct shape *shape_like(struct formula_run *r, const struct node *n) {
    const struct attr_spec *like = find_attribute(n, "like");
    uint32_t slot = like ? formula_slot(r->formula, like->value) : NONE;
    return slot == NONE ? NULL : &slot_value(r, slot)->shape;
}

/* ---- nodes ---- */

static void op_operands(struct formula_run *r, const struct node *n, const struct tensor **operands, uint32_t *count) {
    bool close_up = op_table[n->op].class == OP_JOIN; /* the others move up where one is absent */
    *count = 0;
    for (uint32_t i = 0; i < n->nargs; i++) {
        const struct tensor *t = formula_present(r, n->args[i]) ? value(r, n->args[i]) : NULL;
        if (t || !close_up)
            operands[(*count)++] = t;
    }
}

static const struct lowering *lowering_for(const struct formula_run *r, enum op_kind k) {
    return r->set && !(r->inside && r->inside->kind == k) ? lowering_of_kind(r->set, k) : NULL;
}

/* Adds to the reason which part of the formula it is about. */
static _Noreturn void fail_at(struct formula_run *r, const struct node *n) {
    enum { MOST = 100 };
    struct buf part = {0};
    formula_print_part(r->formula, n, MOST, &part);
    bool whole = part.n <= MOST;
    if (r->eval->why == REASON_OTHER)
        r->eval->error = arena_printf(r->eval->arena, "%.*s, in %.*s%s", (int)r->eval->error.n, r->eval->error.p,
                                      whole ? (int)part.n : MOST - 3, part.p, whole ? "" : "...");
    buf_free(&part);
    op_fails(r->eval, "%s cannot be evaluated", op_table[n->op].name);
}

/* The column `attributes` has "key:". */
static bool is_printed(enum op_kind k, const char *key) {
    size_t n = strlen(key);
    bool found = false;
    for (const char *p = op_table[k].attributes; p && (p = strstr(p, key)) && !found; p += n)
        found = p[n] == ':' && (p == op_table[k].attributes || p[-1] == ' ');
    return found;
}

/* What is written and has no meaning may be meant for something: a word that is misspelt. */
static void check_asked(struct formula_run *r, const struct node *n, uint64_t asked) {
    for (uint32_t i = 0; i < n->nattrs; i++)
        if (n->attrs[i].test == ATTR_IS && !(asked >> i % 64 & 1) && strcmp(n->attrs[i].key, "like") != 0 &&
            !is_printed(n->op, n->attrs[i].key))
            op_fails(r->eval, "%s has no attribute %s", op_table[n->op].name, n->attrs[i].key);
}

static void op_value(struct formula_run *r, const struct node *n, const struct tensor *results[MAX_RESULTS]) {
    const struct tensor *operands[16];
    enum op_class class = op_table[n->op].class;
    uint64_t asked = 0;
    struct formula_op self = {r, n, &asked};
    struct attrs attributes = {.computed = formula_attribute, .self = &self};
    struct call c = {.kind = n->op, .operands = operands, .attributes = &attributes};
    uint32_t graph_op = graph_op_of(r, n->op);
    c.ttnn = (r->inside && r->inside->kind == n->op && r->outer->ttnn) ||
             (graph_op != NONE && graph_is_ttnn(r->context->graph, graph_op));
    if (!is_determined(r, n))
        op_fails(r->eval, class == OP_SLICE ? "which part a %s takes is not said" : "what a %s does is not said",
                 op_table[n->op].name);
    if (n->nargs > 16 || !op_present(r, n))
        op_fails(r->eval, "%s: %s is absent", op_table[n->op].name, formula_absent(r, n));
    op_operands(r, n, operands, &c.noperands);
    const struct lowering *w = lowering_for(r, n->op);
    if (w && !(w->primitive && graph_op != NONE)) { /* whose attributes may lay out its dimensions otherwise */
        evaluate_lowered(r, w, &c, n, results);
        return;
    }
    if (class == OP_SLICE) {
        evaluate_part(r->eval, &c, results);
        return;
    }
    if (op_table[n->op].movement == MOVEMENT_BROADCAST && !find_attribute(n, "broadcast_dimensions")) {
        results[0] = operand(&c, 0); /* operands of formulas broadcast anyway */
        return;
    }
    c.shapes = shape_like(r, n);
    c.nresults = c.shapes != NULL;
    if (!interpret_primitive(r->eval, &c, results))
        fail_at(r, n);
    check_asked(r, n, asked);
}

static const struct tensor *transposed_value(struct formula_run *r, const struct node *n) {
    const struct tensor *t = value(r, n->args[0]);
    uint32_t rank = t->shape.rank;
    if (rank == 1)
        op_fails(r->eval, "transposed(...) of %s", shape_text(r->eval->arena, &t->shape).p);
    return rank ? lazy_of_view(r->eval, view_swapped(view_of(t), rank - 1, rank - 2)) : t;
}

static void results_of(struct formula_run *r, const struct node *n, const struct tensor *results[MAX_RESULTS]);

static void named_value(struct formula_run *r, const struct node *n, const struct tensor *results[MAX_RESULTS]) {
    if (r->busy[n->slot])
        op_fails(r->eval, "%.*s is made of itself", (int)r->formula->slots[n->slot].name.n,
                 r->formula->slots[n->slot].name.p);
    r->busy[n->slot] = true;
    if (!r->values[n->slot][0])
        results_of(r, n->args[0], r->values[n->slot]);
    r->busy[n->slot] = false;
    memcpy(results, r->values[n->slot], sizeof r->values[n->slot]);
}

static void either_value(struct formula_run *r, const struct node *n, const struct tensor *results[MAX_RESULTS]) {
    const struct node *one = formula_alternative(r, n);
    if (!one)
        op_fails(r->eval, "no alternative of a formula has all it needs: %s is absent", formula_absent(r, n));
    results_of(r, one, results);
}

static const struct tensor *result_value(struct formula_run *r, const struct node *n) {
    const struct tensor *all[MAX_RESULTS];
    results_of(r, n->args[0], all);
    if (n->result >= MAX_RESULTS || !all[n->result])
        op_fails(r->eval, "an op has no result %u", n->result);
    return all[n->result];
}

/* By the shape of x, or that of what the match makes of it. */
static bool extents_of(const struct formula_run *r, const struct node *n, const struct tensor *x,
                       int64_t extents[MAX_RANK]) {
    bool found = rearrangement_extents(n->order, x->shape.dim, NULL, extents);
    for (uint32_t i = 0; r->context && i < r->context->nops && !found; i++) {
        const struct graph *g = r->context->graph;
        uint32_t op = r->context->ops[i], rank;
        const int64_t *shape = graph_shape(g, g->m->ops[op].first_result, &rank);
        found = class_moves(graph_class(g, op)) && shape && rank == n->order->to.rank &&
                rearrangement_extents(n->order, x->shape.dim, shape, extents);
    }
    return found;
}

/* Split into its axes, which are put into another order and joined again. */
static const struct tensor *rearranged_value(struct formula_run *r, const struct node *n) {
    const struct rearrangement *as = n->order;
    const struct tensor *x = value(r, n->args[0]);
    int64_t extents[MAX_RANK];
    uint32_t order[MAX_RANK];
    struct shape split = {.rank = as->naxes}, joined = {.rank = as->to.rank};
    if (x->shape.rank != as->from.rank || !extents_of(r, n, x, extents))
        op_fails(r->eval, "how x is rearranged does not fit its shape");
    for (uint32_t i = 0; i < as->naxes; i++)
        split.dim[i] = extents[as->from.axes[i]];
    for (uint32_t i = 0; i < as->naxes; i++)
        for (uint32_t k = 0; k < as->naxes; k++)
            if (as->from.axes[k] == as->to.axes[i])
                order[i] = k;
    for (uint32_t d = 0, k = 0; d < as->to.rank; d++)
        for (joined.dim[d] = 1; k < as->to.end[d]; k++)
            joined.dim[d] *= extents[as->to.axes[k]];
    struct view v = view_permuted(view_of(tensor_reshape(r->eval, x, &split)), order);
    return tensor_reshape(r->eval, lazy_of_view(r->eval, v), &joined);
}

static void results_of(struct formula_run *r, const struct node *n, const struct tensor *results[MAX_RESULTS]) {
    for (uint32_t i = 0; i < MAX_RESULTS; i++)
        results[i] = NULL;
    switch (n->kind) {
    case N_VARIABLE:
        results[0] = slot_value(r, n->slot);
        break;
    case N_NAMED:
        named_value(r, n, results);
        break;
    case N_NUMBER:
        results[0] = tensor_scalar(r->eval, number_value(r, n->number));
        break;
    case N_EITHER:
        either_value(r, n, results);
        break;
    case N_RESULT:
        results[0] = result_value(r, n);
        break;
    case N_TRANSPOSED:
        results[0] = transposed_value(r, n);
        break;
    case N_REARRANGED:
        results[0] = rearranged_value(r, n);
        break;
    case N_FUNCTION:
        results_of(r, n->form, results);
        break;
    case N_OUTER: /* matmul over a contracting dimension of one element */
        results[0] = multiply_matrices(r->eval, value(r, n->args[0]), value(r, n->args[1]));
        break;
    case N_OP:
        op_value(r, n, results);
        break;
    }
}

static const struct tensor *value(struct formula_run *r, const struct node *n) {
    const struct tensor *results[MAX_RESULTS];
    results_of(r, n, results);
    return results[0];
}

/* ---- formulas ---- */

/* The results of the root and of the secondary roots. */
static void evaluate_formula(struct formula_run *r, const struct tensor *results[MAX_RESULTS]) {
    const struct formula *f = r->formula;
    r->evaluate = value;
    results_of(r, f->root, results);
    for (uint32_t i = 0; i < f->nsecondary; i++) {
        bool there = !f->also[i].optional || formula_present(r, f->also[i].node);
        const struct tensor *t = there ? value(r, f->also[i].node) : NULL;
        if (i + 1 < MAX_RESULTS)
            results[i + 1] = t;
    }
}

void evaluate_lowered(struct formula_run *r, const struct lowering *w, const struct call *c, const struct node *n,
                      const struct tensor *results[MAX_RESULTS]) {
    struct lowered_op o;
    lowered_begin(&o, r, w, c, n);
    evaluate_formula(o.run, results);
    lowered_end(&o, results);
}

bool formula_value(struct eval_context *b, const struct pattern_set *set, const struct formula *f,
                   const struct tensor *const *slots, const struct tensor *results[MAX_RESULTS]) {
    return formula_value_of(b, set, f, slots, &(struct formula_options){0}, results);
}

struct formula_attempt {
    struct formula_run *run;
    const struct tensor **results;
};

static void attempt_formula(struct eval_context *ctx, void *self) {
    struct formula_attempt *a = self;
    if (ctx->arithmetic == ARITHMETIC_DEVICE)
        ctx->arithmetic = ARITHMETIC_EXACT;
    evaluate_formula(a->run, a->results);
}

bool formula_value_of(struct eval_context *b, const struct pattern_set *set, const struct formula *f,
                      const struct tensor *const *slots, const struct formula_options *how,
                      const struct tensor *results[MAX_RESULTS]) {
    struct formula_run r = {.eval = b, .set = set, .formula = f, .context = how->context, .choice = how->choice};
    for (uint32_t i = 0; i < f->nslots; i++) {
        r.values[i][0] = slots[i];
        r.bound[i] = slots[i] != NULL;
    }
    struct formula_attempt a = {&r, results};
    bool good = eval_attempt(b, attempt_formula, &a);
    for (uint32_t i = 0; how->named && i < f->nslots; i++)
        how->named[i] = r.values[i][0];
    return good;
}
