/* A name of the form that is a name of the pattern is the value of the match, read along the axes of the frame; others
 * are lines of the form itself. Both sides are evaluated in f64. */
#include "proof/prove/fused_form.h"

#include <math.h>

#include "ir/ops/infer.h"
#include "proof/prove/axis_frame.h"
#include "proof/prove/axis_map.h"
#include "proof/prove/form_attributes.h"
#include "proof/value/lazy.h"

/* ---- values of names ---- */

/* Marks the names that the operand is, perhaps reshaped or normalised with a weight. */
static void mark_names(const struct node *n, bool marks[MAX_SLOTS]) {
    if (n->kind == N_VARIABLE)
        marks[n->slot] = true;
    bool all = n->kind == N_EITHER || (n->kind == N_OP && op_table[n->op].flow == FLOW_NORM);
    for (uint32_t i = 0; i < n->nargs && all; i++)
        mark_names(n->args[i], marks);
    if (n->nargs && (n->kind == N_NAMED || (n->kind == N_OP && op_table[n->op].shrink == SHRINK_RESHAPE)))
        mark_names(n->args[0], marks);
}

static bool mark_as_printed(const struct node *n, void *marks) {
    bool printed = n->kind == N_REARRANGED || (n->kind == N_OP && op_is(n->op, AS_PRINTED));
    for (uint32_t i = 0; printed && i < n->nargs; i++)
        mark_names(n->args[i], marks);
    return false;
}

/* The form may use the extents of its own result, not its numbers: NaN spreads to whatever does. */
static const struct tensor *without_numbers(struct eval_context *b, const struct tensor *like) {
    return lazy_of_view(b, view_expanded(tensor_scalar(b, NAN), &like->shape));
}

/* An attribute may ask for the number that all elements are. */
static const struct tensor *with_its_number(struct eval_context *b, const struct tensor *t) {
    struct tensor *known = arena_alloc(b->arena, sizeof *known);
    *known = *t;
    known->x = arena_alloc(b->arena, sizeof *known->x);
    *known->x = lazy_number(t);
    return known;
}

/* The operand of the form that a value of the match is. */
static const struct tensor *name_value(struct form_run *run, uint32_t slot, const struct tensor *t) {
    const struct fused_form *f = run->form;
    struct binding b = run->ref->bound.slots[form_slot(f, run->ref, slot)];
    const struct tensor *out;
    if (form_absorbs_pad(run, slot))
        out = form_unpadded(run, slot);
    else if (!f->as_printed[slot] && graph_constant(reference_graph(run->ref), b.value).known && lazy_is_number(t))
        out = tensor_scalar(run->eval, lazy_number(t));
    else
        out = value_in_frame(run, &b, t, f->as_printed[slot], f->formula->slots[slot].name);
    if (b.value == form_root(f))
        return without_numbers(run->eval, out);
    return out->lazy && lazy_is_number(out) ? with_its_number(run->eval, out) : out;
}

/* ---- outputs ---- */

/* The name of the pattern that a root of the form has, where it is an op of the match; or NONE. */
static uint32_t output_slot(const struct fused_form *f, const struct reference *r, const struct node *root) {
    uint32_t slot = root->kind == N_NAMED ? form_slot(f, r, root->slot) : NONE;
    bool is_op = slot != NONE && !reference_formula(r)->slots[slot].is_variable;
    return is_op && r->bound.slots[slot].value != NONE ? slot : NONE;
}

static uint32_t find_root(const struct fused_form *f, const struct reference *r) {
    uint32_t slot = output_slot(f, r, f->formula->root);
    return slot != NONE ? r->bound.slots[slot].value : r->match->graph->m->ops[r->match->root].first_result;
}

static uint32_t add_value(struct fused_form *f, uint32_t value) {
    f->values[f->nvalues] = value;
    return f->nvalues++;
}

static void find_outputs(struct fused_form *f, const struct reference *r) {
    f->outputs[0].value = add_value(f, find_root(f, r));
    f->noutputs = 1;
    for (uint32_t i = 0; i < f->formula->nsecondary && f->noutputs < MAX_OUTPUTS; i++) {
        uint32_t slot = output_slot(f, r, f->formula->also[i].node);
        if (slot == NONE)
            continue;
        f->outputs[f->noutputs].root = i + 1;
        f->outputs[f->noutputs++].value = add_value(f, r->bound.slots[slot].value);
    }
}

static void find_names(struct fused_form *f, const struct reference *r) {
    for (uint32_t i = 0; i < f->formula->nslots; i++) {
        uint32_t slot = form_slot(f, r, i);
        bool named = f->formula->slots[i].is_variable && reference_binds(r, slot);
        f->name_at[i] = named ? add_value(f, r->bound.slots[slot].value) : NONE;
    }
}

/* With the rows of zeros by which a kernel of TTNN fills a tile; no other op of the match takes them. */
static const struct tensor *with_padding_rows(struct form_run *run, uint32_t value, const struct shape *want,
                                              const struct tensor *got) {
    const struct graph *g = reference_graph(run->ref);
    uint32_t op = g->m->values[value].def, rank = want->rank;
    struct shape s = got->shape;
    if (op == NONE || !graph_op_is(g, op, PADS_ROWS) || s.rank != rank || rank < 2 ||
        s.dim[rank - 2] >= want->dim[rank - 2])
        return got;
    s.dim[rank - 2] = want->dim[rank - 2] - s.dim[rank - 2];
    const struct tensor *zeros = lazy_of_view(run->eval, view_expanded(tensor_scalar(run->eval, 0), &s));
    return lazy_join(run->eval, (const struct tensor *const[]){got, zeros}, 2, rank - 2);
}

/* The result in the shape of the value: a form does not say how a fused op reshapes or broadcasts its result. The axes
 * of the root may be another shape, with the trailing ones in front. */
static const struct tensor *as_output(struct form_run *run, const struct tensor *want, const struct tensor *got,
                                      bool root) {
    struct shape axes = axes_shape(run->form->root_axes);
    const struct tensor *full = NULL;
    got = root ? result_in_root_order(run, got) : got;
    if (got->n < want->n)
        full = tensor_broadcast(run, got, &want->shape);
    if (!full && root && got->n < want->n && shape_count(&axes) == want->n)
        full = tensor_broadcast(run, got, &axes);
    full = full ? full : got;
    return full->n == want->n ? tensor_reshape(run->eval, full, &want->shape) : full;
}

/* ---- evaluation ---- */

void form_bind(struct form_run *run) {
    const struct fused_form *f = run->form;
    for (uint32_t i = 0; i < f->formula->nslots; i++) {
        uint32_t slot = form_slot(f, run->ref, i);
        const struct binding *b = slot == NONE ? NULL : &run->ref->bound.slots[slot];
        run->names[i] = b && b->is_number       ? tensor_scalar(run->eval, b->number)
                        : f->name_at[i] == NONE ? NULL
                                                : name_value(run, i, run->values[f->name_at[i]]);
    }
}

void form_evaluate(struct form_run *run, const struct tensor *got[MAX_OUTPUTS]) {
    const struct fused_form *f = run->form;
    const struct tensor *named[MAX_SLOTS] = {NULL}, *results[MAX_RESULTS] = {NULL};
    struct formula_context like = form_like(run);
    struct formula_options how = {.context = &like, .choice = &run->choice, .named = named};
    if (!formula_value_of(run->eval, run->ref->set, f->formula, run->names, &how, results))
        op_fails(run->eval, "the form cannot be evaluated");
    for (uint32_t i = 0; i < f->noutputs; i++) {
        uint32_t root = f->outputs[i].root;
        const struct tensor *t = root == 0 ? results[0] : named[f->formula->also[root - 1].node->slot];
        if (!t)
            op_fails(run->eval, "a result of the form is not evaluated");
        const struct tensor *want = run->values[f->outputs[i].value];
        t = with_padding_rows(run, f->values[f->outputs[i].value], &want->shape, t);
        got[i] = as_output(run, want, t, i == 0);
    }
}

bool form_prepare(struct fused_form *f, const struct formula *formula, const struct reference *r) {
    const struct node *root = reference_formula(r)->root;
    *f = (struct fused_form){.formula = formula, .root_axes = r->bound.slots[root->slot].axes};
    if (root->kind != N_NAMED || !f->root_axes)
        return false;
    formula_find(formula, mark_as_printed, f->as_printed);
    find_outputs(f, r);
    find_names(f, r);
    axis_frames_find(f, r);
    return true;
}
