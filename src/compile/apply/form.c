/* A value of the match is read along the axes of the frame by moving it there; the result is moved back. Names and
 * attributes are those of formulas (proof/numeric/formula_run.h), where a tensor without numbers stands for what is
 * written: its extents are known, and its number, if it has one. */
#include "compile/apply/form_writer.h"

#include <math.h>
#include <string.h>

#include "compile/apply/rearrange.h"
#include "ir/graph/movement.h"
#include "ir/mlir/print.h"
#include "ir/ops/infer.h"
#include "proof/numeric/formula_run.h"
#include "proof/prove/axis_frame.h"
#include "proof/prove/axis_map.h"
#include "proof/prove/form_attributes.h"
#include "proof/prove/fused_form.h"

static struct written write_node(struct form_writer *w, const struct node *n);

/* ---- values of the match ---- */

static struct written module_value(struct form_writer *w, uint32_t value) {
    const struct graph *g = graph_of(w);
    struct written v = {.name = mlir_value_text(g->m, value, w->e->eval->arena),
                        .type = mlir_unalias(g->m, g->m->types[g->m->values[value].type].text),
                        .element = graph_dtype(g, value),
                        .factor = 1};
    if (!shape_in_graph(g, value, &v.shape) || !str_starts(v.type, STR("tensor<")))
        op_fails(w->e->eval, "%.*s has no static shape", (int)v.name.n, v.name.p);
    v.stored = v.shape;
    if (w->request->nreads == MAX_READS)
        op_fails(w->e->eval, "the fused form reads too many values");
    w->request->reads[w->request->nreads].name = v.name;
    w->request->reads[w->request->nreads++].value = value;
    return v;
}

/* The elements of a value in their order, by its map; false where that leaves some out. */
static bool digits_of_value(const struct imap *map, int64_t numel, struct digits *out) {
    struct imap rest = *map;
    out->n = 0;
    for (int64_t above = numel; above > 1 && out->n < MAX_TERMS;) {
        uint32_t i = 0;
        while (i < rest.n && rest.t[i].stride * rest.t[i].size != above)
            i++;
        if (i == rest.n)
            return false;
        above = rest.t[i].stride;
        out->at[out->n++] = (struct digit){rest.t[i].space, rest.t[i].lo, rest.t[i].size};
        rest.t[i] = rest.t[--rest.n];
    }
    return rest.n == 0;
}

/* The first of the elements along dimensions in which the value is the same. */
static struct written cut_to_map(struct form_writer *w, struct written v, const struct imap *map,
                                 struct digits *digits) {
    struct axes axes;
    int64_t begin[MAX_RANK] = {0}, end[MAX_RANK] = {0}, step[MAX_RANK] = {0};
    struct shape s = v.shape;
    if (!imap_coordinates(map, v.shape.dim, v.shape.rank, &axes))
        op_fails(w->e->eval, "how %.*s is laid out is not understood", (int)v.name.n, v.name.p);
    for (uint32_t d = 0; d < v.shape.rank; d++) {
        int64_t n = 1;
        for (uint32_t i = axes_begin(&axes, d); i < axes.end[d]; i++)
            n *= axes.t[i].size;
        if (n != 1 && n != v.shape.dim[d])
            op_fails(w->e->eval, "only a part of %.*s is read", (int)v.name.n, v.name.p);
        end[d] = s.dim[d] = n;
        step[d] = 1;
    }
    digits_of_axes(w->e->eval, &axes, &s, digits);
    return emit_slice(w->e, v, begin, end, step);
}

/* The value, or what movement made it of, whose elements the map reads all, with their digits; or NONE. */
static uint32_t whole_value(struct form_writer *w, uint32_t value, const struct imap *map, struct digits *digits) {
    const struct graph *g = graph_of(w);
    struct imap here = *map, before;
    uint32_t at = value;
    imap_canonical(&here);
    while (!digits_of_value(&here, graph_numel(g, at), digits)) {
        uint32_t op = g->m->values[at].def;
        if (op == NONE || graph_class(g, op) != OP_MOVE || !graph_looks_through(g, op) ||
            !imap_through(g, op, &here, &before))
            return NONE;
        at = graph_through(g, op);
        here = before;
        imap_canonical(&here);
    }
    while (digits->n <= 1 && g->m->values[at].def != NONE &&
           graph_movement(g, g->m->values[at].def) == MOVEMENT_RESHAPE)
        at = graph_operands(g, g->m->values[at].def)[0]; /* a row */
    return at;
}

/* ---- names ---- */

static bool is_stated(const struct assumed_constant *c) {
    return c->stated && !isnan(c->number);
}

static void take_number(struct form_writer *w, uint32_t argument, double number) {
    struct form_request *q = w->request;
    for (uint32_t i = 0; i < q->ntaken; i++)
        if (q->taken[i].argument == argument)
            return;
    if (q->ntaken == MAX_TAKEN)
        op_fails(w->e->eval, "too many arguments have to hold a number");
    q->taken[q->ntaken++] = (struct taken_number){argument, number};
}

/* The one number of an argument, from --value or from the pattern; false: it stays an operand. */
static bool number_of_argument(struct form_writer *w, uint32_t slot, uint32_t value, double *out) {
    struct form_request *q = w->request;
    uint32_t argument = graph_argument(graph_of(w), value);
    if (argument == NONE)
        return false;
    const struct mlir *m = graph_of(w)->m;
    struct str name = mlir_span(m, m->values[argument].name);
    bool known = q->number(q->self, w->run.form->formula->slots[slot].name, (struct str){name.p + 1, name.n - 1}, out);
    if (!known && q->unknown[slot]) {
        *out = q->stand_in;
        known = true;
    }
    const struct match_detail *bound = &w->run.ref->bound;
    for (uint32_t i = 0; i < bound->nconstants && !known; i++)
        if (bound->constants[i].value == value && is_stated(&bound->constants[i])) {
            *out = bound->constants[i].number;
            known = true;
        }
    if (known)
        take_number(w, argument, *out);
    return known;
}

/* Numbers that the pattern states of arguments which the form does not have. */
static void take_stated(struct form_writer *w) {
    const struct match_detail *bound = &w->run.ref->bound;
    for (uint32_t i = 0; i < bound->nconstants; i++) {
        uint32_t argument = graph_argument(graph_of(w), bound->constants[i].value);
        if (is_stated(&bound->constants[i]) && argument != NONE)
            take_number(w, argument, bound->constants[i].number);
    }
}

/* As little of a value as is needed, where it is whole somewhere; else all of it; else a slice. */
static struct written as_operand(struct form_writer *w, uint32_t slot, const struct binding *b) {
    struct axes axes;
    struct shape extents;
    struct digits from, to;
    struct written v;
    uint32_t value = b->value;
    if (w->run.form->as_printed[slot])
        return module_value(w, value);
    bool fits = axes_in_frame(&w->run, b, b->needed, &axes, &extents);
    uint32_t whole = fits ? whole_value(w, value, b->needed, &from) : NONE;
    if (whole == NONE && axes_in_frame(&w->run, b, b->map, &axes, &extents)) {
        fits = true;
        whole = whole_value(w, value, b->map, &from);
    }
    if (whole == NONE)
        fits = axes_in_frame(&w->run, b, b->needed, &axes, &extents);
    if (!fits)
        op_fails(w->e->eval, "%s varies along more than the axes of the formula",
                 name_text(w, w->run.form->formula->slots[slot].name));
    v = whole != NONE ? module_value(w, whole) : cut_to_map(w, module_value(w, value), b->needed, &from);
    digits_of_axes(w->e->eval, &axes, &extents, &to);
    return rearrange(w->e, v, &from, &to, &extents);
}

static const struct binding *binding_of(const struct form_writer *w, uint32_t slot) {
    return &w->run.ref->bound.slots[form_slot(w->run.form, w->run.ref, slot)];
}

/* One number in all elements, which the text has or --value says. */
static bool number_of_name(struct form_writer *w, uint32_t slot, double *out) {
    const struct binding *b = binding_of(w, slot);
    struct constant c = binding_constant(graph_of(w), b);
    if (w->run.form->as_printed[slot])
        return false;
    *out = c.value;
    return c.known || number_of_argument(w, slot, b->value, out);
}

static uint32_t windowed_op(const struct match *m) {
    for (uint32_t i = 0; i < m->nops; i++)
        if (op_table[m->graph->kind[m->ops[i]]].window.kind != WINDOW_NONE)
            return m->ops[i];
    return NONE;
}

/* What a pad is put around, with the dimensions as the op takes them. */
static struct written unpadded_value(struct form_writer *w, uint32_t slot) {
    const struct graph *g = graph_of(w);
    uint32_t op = windowed_op(w->run.ref->match), order[MAX_RANK];
    uint32_t def = op == NONE ? NONE : g->m->values[graph_operands(g, op)[0]].def;
    bool turned = def != NONE && graph_movement(g, def) == MOVEMENT_PERMUTE;
    uint32_t pad = turned ? g->m->values[graph_operands(g, def)[0]].def : def;
    if (pad == NONE || op_table[g->kind[pad]].shrink != SHRINK_PAD)
        op_fails(w->e->eval, "something moves %s between its pad and the op",
                 name_text(w, w->run.form->formula->slots[slot].name));
    struct written v = module_value(w, graph_operands(g, pad)[0]);
    if (turned && !permuted_dims(g->kind[def], graph_attributes(g, def), v.shape.rank, order))
        op_fails(w->e->eval, "how the pad is turned is not known");
    return turned ? emit_permute(w->e, v, order) : v;
}

static struct written name_value(struct form_writer *w, uint32_t slot) {
    const struct fused_form *f = w->run.form;
    const struct binding *b = binding_of(w, slot);
    double number;
    if (b->value == form_root(f))
        op_fails(w->e->eval, "the form needs its own result");
    if (form_absorbs_pad(&w->run, slot))
        return unpadded_value(w, slot);
    if (number_of_name(w, slot, &number))
        return written_number(number);
    return as_operand(w, slot, b);
}

/* Before anything is written: which names there are, and their extents. */
static void bind_name(struct form_writer *w, uint32_t slot) {
    const struct binding *b = binding_of(w, slot);
    struct tensor *t = arena_alloc(w->e->eval->arena, sizeof *t);
    struct axes axes;
    double number;
    w->names.bound[slot] = true;
    if (number_of_name(w, slot, &number)) {
        w->names.values[slot][0] = tensor_scalar(w->e->eval, number);
        return;
    }
    if (w->run.form->as_printed[slot] || !axes_in_frame(&w->run, b, b->needed, &axes, &t->shape))
        shape_in_graph(graph_of(w), b->value, &t->shape);
    t->n = shape_count(&t->shape);
    w->names.values[slot][0] = t;
}

static struct written slot_written(struct form_writer *w, uint32_t slot, const struct node *line) {
    if (!w->known[slot]) {
        if (w->names.busy[slot])
            op_fails(w->e->eval, "a line of the form is made of itself");
        w->names.busy[slot] = true;
        w->values[slot] = line ? write_node(w, line) : name_value(w, slot);
        w->names.busy[slot] = false;
        w->known[slot] = true;
        w->names.values[slot][0] = stand_in(w, &w->values[slot]);
    }
    return w->values[slot];
}
static struct written write_node(struct form_writer *w, const struct node *n) {
    struct written v;
    const struct node *one;
    switch (n->kind) {
    case N_VARIABLE:
        return slot_written(w, n->slot, NULL);
    case N_NAMED:
        return slot_written(w, n->slot, n->args[0]);
    case N_NUMBER:
        return written_number(number_value(&w->names, n->number));
    case N_EITHER:
        one = formula_alternative(&w->names, n);
        if (!one)
            op_fails(w->e->eval, "no alternative of the form has all it needs: %s is absent",
                     formula_absent(&w->names, n));
        return write_node(w, one);
    case N_TRANSPOSED:
        v = write_node(w, n->args[0]);
        if (!is_number(&v) && v.shape.rank >= 2)
            v.swapped = !v.swapped;
        return v;
    case N_OP:
        return write_op(w, n);
    case N_RESULT:
        v = write_node(w, n->args[0]);
        return emitted_result(w->e, &v, n->result);
    default:
        op_fails(w->e->eval, "the form has a part that is not written yet");
    }
}

/* ---- the result ---- */

/* Back in the order of the root's axes. */
static struct written in_root_order(struct form_writer *w, struct written v) {
    const struct fused_form *f = w->run.form;
    uint32_t order[MAX_RANK], n = v.shape.rank;
    if (f->work_axis == NONE || n != f->root_axes->n || n < 2)
        return v;
    for (uint32_t d = 0; d < n; d++)
        order[d] = d < f->work_axis ? d : d == f->work_axis ? n - 1 : d - 1;
    return emit_permute(w->e, v, order);
}

/* From the axes, which are digits of the index of the root. */
static struct written from_axes(struct form_writer *w, struct written v, const struct axes *axes,
                                const struct shape *root) {
    struct digits from, to = {.n = 0};
    int64_t stride = shape_count(root);
    struct shape full = axes_shape(axes);
    if (shape_count(&v.shape) != shape_count(&full))
        return v;
    digits_of_axes(w->e->eval, axes, &full, &from);
    for (uint32_t d = 0; d < root->rank; d++) {
        stride /= root->dim[d];
        if (root->dim[d] > 1)
            to.at[to.n++] = (struct digit){0, stride, root->dim[d]};
    }
    return emit_plain(w->e, rearrange(w->e, emit_reshape(w->e, v, &full), &from, &to, root), v.element);
}

/* Broadcast, or in another shape of as many elements. */
static struct written as_shape(struct form_writer *w, struct written v, const struct shape *root) {
    if (is_number(&v) || v.swapped || v.factor != 1)
        v = emit_plain(w->e, v, w->element);
    if (shape_count(&v.shape) < shape_count(root)) {
        struct shape s = {.rank = root->rank};
        for (uint32_t d = 0; d < root->rank; d++)
            s.dim[d] = d + v.shape.rank < root->rank ? 1 : v.shape.dim[d + v.shape.rank - root->rank];
        if (v.shape.rank > root->rank)
            op_fails(w->e->eval, "the result does not broadcast to that of the match");
        v = emit_broadcast(w->e, emit_reshape(w->e, v, &s), root);
    }
    return emit_reshape(w->e, v, root);
}

/* In the shape of the value that it replaces. */
static struct written as_root(struct form_writer *w, struct written v, const struct shape *root) {
    const struct fused_form *f = w->run.form;
    struct shape full = axes_shape(f->root_axes);
    if (is_number(&v) || v.swapped || v.factor != 1)
        v = emit_plain(w->e, v, w->element);
    if (w->run.frame->slot != NONE)
        v = from_axes(w, v, &w->run.frame->axes, root);
    else if (root_is_moved(f))
        v = from_axes(w, as_shape(w, in_root_order(w, v), &full), f->root_axes, root);
    else
        v = in_root_order(w, v);
    return as_shape(w, v, root);
}

/* The widest float that the matched ops computed in. */
static enum dtype element_of_match(const struct match *m) {
    enum dtype widest = DT_NONE;
    for (uint32_t i = 0; i < m->nops; i++) {
        const struct mlir_op *o = &m->graph->m->ops[m->ops[i]];
        enum dtype t = o->nresults ? graph_dtype(m->graph, o->first_result) : DT_NONE;
        if (format_is_float(t) && (widest == DT_NONE || dtype_table[t].bits > dtype_table[widest].bits))
            widest = t;
    }
    return widest;
}

/* The root of the form, or a secondary one, in the type of the value that it replaces. */
static struct written write_output(struct form_writer *w, uint32_t root, uint32_t value) {
    const struct formula *f = w->names.formula;
    enum dtype element = graph_dtype(graph_of(w), value);
    struct shape s;
    if (!shape_in_graph(graph_of(w), value, &s) || w->element == DT_NONE)
        op_fails(w->e->eval, "the result is no tensor of floats of static shape");
    struct written v = write_node(w, root ? f->also[root - 1].node : f->root);
    v = root ? as_shape(w, v, &s) : as_root(w, v, &s);
    v = emit_cast(w->e, emit_plain(w->e, v, w->element), element);
    if (v.element != element || !emitted(w->e, v.name))
        op_fails(w->e->eval, "the fused form is no op of its own here");
    return v;
}

static void write_results(struct eval_context *ctx, void *self) {
    struct form_writer *w = self;
    const struct fused_form *f = w->run.form;
    (void)ctx;
    for (uint32_t i = 0; i < f->formula->nslots; i++)
        if (f->name_at[i] != NONE)
            bind_name(w, i);
    take_stated(w);
    for (uint32_t i = 0; i < f->noutputs; i++) {
        w->request->results[i].value = f->values[f->outputs[i].value];
        w->request->results[i].written = write_output(w, f->outputs[i].root, w->request->results[i].value);
        w->request->nresults++;
    }
}

static bool try_form(struct form_request *q, uint32_t *unknown) {
    struct form_writer *w = arena_alloc(q->emitter->eval->arena, sizeof *w);
    const struct reading *r = q->reading;
    *w = (struct form_writer){
        .request = q, .write = write_node, .e = q->emitter, .element = element_of_match(r->ref.match)};
    w->run = (struct form_run){.ref = &r->ref, .form = &r->form, .eval = q->emitter->eval, .frame = &r->frame};
    w->run.choice = r->choice;
    w->context = form_like(&w->run);
    w->names = (struct formula_run){.eval = q->emitter->eval,
                                    .set = r->ref.set,
                                    .formula = r->form.formula,
                                    .context = &w->context,
                                    .choice = &w->run.choice,
                                    .ndecided = r->choice.n,
                                    .unknown = NONE,
                                    .evaluate = evaluate_stand_in};
    bool good = eval_attempt(q->emitter->eval, write_results, w);
    *unknown = w->names.unknown;
    return good;
}

bool write_form(struct form_request *q) {
    const struct form_request asked = *q;
    const struct emitter begin = *q->emitter;
    uint32_t unknown;
    bool good = try_form(q, &unknown);
    while (!good && unknown != NONE && !isnan(q->stand_in) && !q->unknown[unknown]) {
        bool all[MAX_SLOTS];
        memcpy(all, q->unknown, sizeof all);
        *q = asked;
        *q->emitter = begin;
        memcpy(q->unknown, all, sizeof all);
        q->unknown[unknown] = true;
        good = try_form(q, &unknown);
    }
    return good;
}
