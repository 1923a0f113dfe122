/* A value is read through its index map (axis_map.h), along axes that are digits of the root's index: those of the
 * formula, or the dimensions of an op of the graph. Along what it does not depend on it has one element, which
 * broadcasts. */
#include "proof/prove/axis_frame.h"

#include "ir/ops/infer.h"
#include "proof/prove/axis_map.h"
#include "proof/prove/form_attributes.h"
#include "proof/value/lazy.h"

/* ---- along the formula's axes ---- */

/* Axis d of a value is axis d of the root, or was split from a larger one. */
static bool is_axis_of_root(const struct axes *axes, const struct axes *root, uint32_t d) {
    struct imap own, of_root;
    axes_axis(axes, (int)d, &own);
    axes_axis(root, (int)d, &of_root);
    return imap_equal(&own, &of_root) || match_axis_is_cut(&own);
}

/* Not so of operands of a product, which have axes that are summed. */
static bool are_axes_of(const struct axes *axes, const struct axes *root) {
    bool same = axes->n == root->n;
    for (uint32_t d = 0; same && d < axes->n; d++)
        same = is_axis_of_root(axes, root, d);
    return same;
}

/* The value has the work axis of the match. */
static bool has_work_axis(const struct fused_form *f, const struct axes *axes) {
    return f->work_axis != NONE && are_axes_of(axes, f->root_axes);
}

/* The digits of the axes, whatever their order is. */
static bool has_same_digits(struct imap a, struct imap b) {
    for (uint32_t i = 0; i < a.n; i++)
        a.t[i].stride = a.t[i].lo;
    for (uint32_t i = 0; i < b.n; i++)
        b.t[i].stride = b.t[i].lo;
    imap_canonical(&a);
    imap_canonical(&b);
    return imap_equal(&a, &b);
}

/* Adds an axis, in the order of the root where it is one of its axes: a product whose rows are permuted afterwards has
 * them in another. */
static bool add_in_root_order(const struct axes *root, const struct axes *axes, uint32_t d, struct axes *out) {
    struct imap own, of_root;
    axes_axis(axes, (int)d, &own);
    for (uint32_t i = 0; i < root->n; i++) {
        axes_axis(root, (int)i, &of_root);
        if (has_same_digits(own, of_root))
            own = of_root;
    }
    return axes_add(out, own.t, own.n);
}

/* The digits of axis i of the root are among those of axis d of a value. */
static bool has_root_axis(const struct axes *axes, uint32_t d, const struct axes *root, uint32_t i) {
    struct imap own, of_root;
    axes_axis(axes, (int)d, &own);
    axes_axis(root, (int)i, &of_root);
    return of_root.n > 0 && imap_within(&of_root, &own);
}

/* The rows or columns of a product, its last two axes, have a batch axis of the root: (batch, row). */
static bool is_joined(const struct axes *axes, uint32_t d, const struct fused_form *f) {
    bool joined = false;
    for (uint32_t i = 0; i < f->nbatches && d + 2 >= axes->n; i++)
        joined |= has_root_axis(axes, d, f->root_axes, i);
    return joined;
}

/* The digits of axis i of the root are among those of all axes of a value, which may have it as two: batch and heads
 * of the scores, where the second product has them as one axis. */
static bool has_root_digits(const struct axes *axes, const struct axes *root, uint32_t i) {
    struct imap all = {.n = axes->n ? axes->end[axes->n - 1] : 0}, of_root;
    memcpy(all.t, axes->t, all.n * sizeof *all.t);
    axes_axis(root, (int)i, &of_root);
    return of_root.n > 0 && imap_within(&of_root, &all);
}

/* Adds a batch axis of the root where the value has it, else one of one element. */
static bool add_batch(const struct axes *axes, const struct axes *root, uint32_t i, struct axes *out) {
    bool there = has_root_digits(axes, root, i);
    uint32_t begin = axes_begin(root, i);
    return axes_add(out, root->t + begin, there ? root->end[i] - begin : 0);
}

/* Adds what an axis is beside batches. */
static bool add_without_batches(const struct axes *axes, uint32_t d, const struct fused_form *f, struct axes *out) {
    struct imap all, batch, had, rest;
    axes_axis(axes, (int)d, &all);
    for (uint32_t i = 0; i < f->nbatches; i++) {
        axes_axis(f->root_axes, (int)i, &batch);
        if (!has_root_axis(axes, d, f->root_axes, i))
            continue;
        if (!imap_part(&all, &batch, &had, &rest))
            return false;
        imap_copy(&all, &rest);
    }
    imap_copy(&rest, &all);
    for (uint32_t i = 0; i < all.n; i++) { /* strides without those of the batches */
        rest.t[i].stride = 1;
        for (uint32_t k = 0; k < all.n; k++)
            rest.t[i].stride *= all.t[k].stride < all.t[i].stride ? all.t[k].size : 1;
    }
    return axes_add(out, rest.t, rest.n);
}

/* Batches as the root has them, then the last two axes. */
static bool axes_with_batches(const struct axes *axes, const struct fused_form *f, struct axes *out) {
    bool good = true;
    axes_clear(out);
    for (uint32_t i = 0; i < f->nbatches && good; i++)
        good = add_batch(axes, f->root_axes, i, out);
    for (uint32_t d = axes->n - 2; d < axes->n && good; d++)
        good = is_joined(axes, d, f) ? add_without_batches(axes, d, f, out)
                                     : add_in_root_order(f->root_axes, axes, d, out);
    return good;
}

/* What reductions of the match took away, as one axis. */
struct reduced_axis {
    struct term t[MAX_TERMS];
    uint32_t n;
    int64_t extent;
};

static void add_reduced(struct reduced_axis *to, const struct term *t, uint32_t n) {
    int64_t extent = to->extent;
    for (uint32_t i = 0; i < n && to->n < MAX_TERMS; i++) {
        to->t[to->n++] = (struct term){t[i].space, t[i].lo, t[i].size, t[i].stride * extent};
        to->extent *= t[i].size;
    }
}

/* The axis exists below a reduction only, and the form does not say by itself along which it works. */
static bool is_taken_away(const struct form_run *run, const struct axes *axes, uint32_t d) {
    struct imap axis;
    axes_axis(axes, (int)d, &axis);
    return !run->form->names_axes && match_axis_is_reduced(&axis);
}

/* The axes along which the form reads a value: those of its binding, with the work axis moved to the end, because ops
 * of a form without `dim` work along the last axis. So is what a reduction of the match took away, of which terms may
 * be that no axis has. */
static bool axes_in_form(const struct form_run *run, const struct binding *b, const struct imap *map,
                         struct axes *out) {
    struct reduced_axis reduced = {.extent = 1};
    uint32_t work = run->form->work_axis;
    bool across = has_work_axis(run->form, b->axes);
    for (uint32_t i = 0; i < map->n && !axes_determine(b->axes, map); i++) {
        struct imap one = {.n = 1, .t = {map->t[i]}};
        if (axes_determine(b->axes, &one))
            continue;
        one.t[0].stride = 1;
        add_reduced(&reduced, one.t, 1);
    }
    if (run->frame->batches && b->axes->n > 1)
        return axes_with_batches(b->axes, run->form, out);
    for (uint32_t d = b->axes->n; d-- > 0;)
        if (is_taken_away(run, b->axes, d))
            add_reduced(&reduced, b->axes->t + axes_begin(b->axes, d), b->axes->end[d] - axes_begin(b->axes, d));
    axes_clear(out);
    for (uint32_t d = 0; d < b->axes->n; d++)
        if ((d != work || !across) && !is_taken_away(run, b->axes, d) &&
            !add_in_root_order(run->form->root_axes, b->axes, d, out))
            return false;
    if (reduced.n)
        return axes_add(out, reduced.t, reduced.n);
    return !across ||
           axes_add(out, b->axes->t + axes_begin(b->axes, work), b->axes->end[work] - axes_begin(b->axes, work));
}

/* The axes of the root, of a secondary root or of the result of a product, which a bias has. */
static bool are_axes_of_result(const struct form_run *run, const struct axes *axes) {
    const struct formula *f = reference_formula(run->ref);
    const struct graph *g = reference_graph(run->ref);
    bool found = are_axes_of(axes, run->form->root_axes);
    for (uint32_t i = 0; i < f->nsecondary && !found; i++) {
        const struct node *line = f->also[i].node;
        const struct axes *root = line->kind == N_NAMED ? run->ref->bound.slots[line->slot].axes : NULL;
        found = root && are_axes_of(axes, root);
    }
    for (uint32_t i = 0; i < f->nslots && !found; i++) {
        const struct binding *b = &run->ref->bound.slots[i];
        found = b->axes && b->op != NONE && graph_class(g, b->op) == OP_CONTRACT && axes_equal(axes, b->axes);
    }
    return found;
}

/* Extents along the axes; 1, which broadcasts, where the map does not touch one. In the axes of a formula the last one
 * stays whole, along which the form may reduce, and so do those of an operand of a product. */
static struct shape extents_along(const struct form_run *run, const struct binding *b, const struct imap *map,
                                  const struct axes *axes, bool all) {
    struct shape s = axes_shape(axes);
    bool most = are_axes_of_result(run, b->axes);
    for (uint32_t d = 0; d < s.rank; d++) {
        struct imap axis;
        axes_axis(axes, (int)d, &axis);
        if (!imap_touches(map, &axis) && (all || d + (most ? 1 : 2) < s.rank))
            s.dim[d] = 1;
    }
    return s;
}

/* ---- along the axes of an op of the graph ---- */

const struct tensor *tensor_broadcast(struct form_run *run, const struct tensor *t, const struct shape *to) {
    struct shape both;
    if (infer_broadcast((const struct shape *const[]){&t->shape, to}, 2, &both) != INFER_SHAPE || !shape_eq(&both, to))
        return NULL;
    return lazy_of_view(run->eval, view_expanded(t, to));
}

/* A result in the frame's axes, in the order of the root's axes: of a convolution of TTNN perhaps with its rows as one
 * dimension. One that is of another shape stays. */
static const struct tensor *from_frame(struct form_run *run, const struct tensor *t) {
    struct shape s = axes_shape(&run->frame->axes), root = axes_shape(run->form->root_axes);
    const struct tensor *full = tensor_broadcast(run, t, &s), *out = NULL;
    if (!full && t->n == shape_count(&s))
        full = tensor_reshape(run->eval, t, &s);
    if (full)
        out = tensor_along(run->eval, run->form->root_axes, &run->frame->map, full, &root);
    if (full && !out)
        op_fails(run->eval, "the result varies along more than the axes of the formula");
    return out ? out : t;
}

/* ---- which frames ---- */

/* The result of a matched op on the line of the root. */
static bool is_named_op(const struct reference *r, uint32_t slot) {
    return !reference_formula(r)->slots[slot].is_variable && reference_binds(r, slot) &&
           r->bound.slots[slot].op != NONE && r->bound.slots[slot].line == 0;
}

/* The elements of its result and those of the root are one for one. */
static bool is_one_for_one(const struct fused_form *f, const struct reference *r, uint32_t slot) {
    const struct binding *b = &r->bound.slots[slot];
    struct shape s, root = axes_shape(f->root_axes);
    return is_named_op(r, slot) && axes_determine(f->root_axes, b->map) &&
           shape_in_graph(reference_graph(r), b->value, &s) && shape_count(&s) == shape_count(&root);
}

/* A batch normalisation between the root and the op of this name; or NONE. */
static uint32_t norm_before(const struct fused_form *f, const struct reference *r, uint32_t slot) {
    const struct binding *b = &r->bound.slots[slot];
    const struct graph *g = reference_graph(r);
    for (uint32_t i = 0; i < reference_formula(r)->nslots; i++) {
        bool norm = is_one_for_one(f, r, i) && op_table[g->kind[r->bound.slots[i].op]].channels.key;
        if (norm && map_size(b->map) == graph_numel(g, b->value) &&
            graph_numel(g, b->value) == map_size(r->bound.slots[i].map))
            return i;
    }
    return NONE;
}

/* Ops with axes of their own, by how likely the form is about them: 0, 1, 2; NONE: others. */
static uint32_t frame_rank(const struct graph *g, uint32_t op) {
    enum op_kind k = (enum op_kind)g->kind[op];
    return op_convolves(k)                                                        ? 0
           : op_table[k].class == OP_OPAQUE                                       ? 1
           : op_table[k].class == OP_CONTRACT || op_table[k].class == OP_AXISWISE ? 2
                                                                                  : NONE;
}

/* Through a batch normalisation, which keeps elements in place, an element of its result is that of its operand. */
static bool find_frame(const struct fused_form *f, const struct reference *r, uint32_t slot, struct axis_frame *out) {
    const struct binding *slots = r->bound.slots, *b = &slots[slot];
    const struct graph *g = reference_graph(r);
    bool direct = is_one_for_one(f, r, slot);
    uint32_t norm = direct || !op_convolves((enum op_kind)g->kind[b->op]) ? NONE : norm_before(f, r, slot);
    struct shape s;
    *out = (struct axis_frame){.slot = slot};
    if (direct)
        imap_copy(&out->map, b->map);
    else if (norm == NONE || !imap_compose(slots[norm].map, b->map, graph_numel(g, slots[norm].value), &out->map))
        return false;
    return shape_in_graph(g, b->value, &s) && imap_coordinates(&out->map, s.dim, s.rank, &out->axes);
}

/* How many axes of the root are batches: all but the last two; all but the last where the second last is a batch of a
 * product with one row, of which the root has no axis: a vector times a matrix for each batch. */
static uint32_t count_batch_axes(const struct axes *root, const struct reference *r) {
    uint32_t n = root->n < 2 ? 0 : root->n - 2, all = n;
    for (uint32_t slot = 0; slot < reference_formula(r)->nslots; slot++) {
        const struct binding *b = &r->bound.slots[slot];
        bool product = reference_binds(r, slot) && b->op != NONE && b->axes && b->axes->n > 2 &&
                       graph_class(reference_graph(r), b->op) == OP_CONTRACT;
        if (!product || axes_begin(b->axes, b->axes->n - 2) < b->axes->end[b->axes->n - 2])
            continue;
        for (uint32_t d = 0; d + 2 < b->axes->n && root->n > 1; d++)
            all = has_root_axis(b->axes, d, root, n) ? n + 1 : all;
    }
    return all;
}

/* Some name has a batch axis of the root in another place: among its rows, or in another order; or as two axes. */
static bool has_moved_batches(const struct fused_form *f, const struct reference *r) {
    const struct axes *root = f->root_axes;
    bool moved = false;
    for (uint32_t slot = 0; slot < reference_formula(r)->nslots; slot++) {
        const struct axes *axes = reference_binds(r, slot) ? r->bound.slots[slot].axes : NULL;
        for (uint32_t i = 0; axes && i < f->nbatches; i++) {
            bool whole = false;
            for (uint32_t d = 0; d < axes->n; d++) {
                bool has = has_root_axis(axes, d, root, i);
                moved |= has && axes->n - d != root->n - i;
                whole |= has;
            }
            moved |= !whole && has_root_digits(axes, root, i);
        }
    }
    return moved;
}

/* The formula's own axes come before products and norms, which mostly are written in these. */
static void find_frames(struct fused_form *f, const struct reference *r) {
    const struct graph *g = reference_graph(r);
    for (uint32_t rank = 0; rank < 3; rank++) {
        if (rank == 2)
            f->frames[f->nframes++] = (struct axis_frame){.slot = NONE};
        for (uint32_t i = 0; i < reference_formula(r)->nslots && f->nframes + 1 < MAX_FRAMES; i++)
            if (is_named_op(r, i) && frame_rank(g, r->bound.slots[i].op) == rank)
                f->nframes += find_frame(f, r, i, &f->frames[f->nframes]);
    }
    if (f->nframes < MAX_FRAMES && has_moved_batches(f, r))
        f->frames[f->nframes++] = (struct axis_frame){.slot = NONE, .batches = true};
}

/* The axis that an op works along, as its attributes say. */
static bool axis_of(const struct graph *g, uint32_t op, int64_t *axis) {
    struct slice_bounds s;
    const struct attr *axes = graph_axes(g, op);
    if (graph_class(g, op) == OP_SLICE && slice_bounds(g, op, &s) && s.ncut == 1) {
        for (uint32_t d = 0; d < s.rank; d++)
            if (s.cut[d])
                *axis = d;
        return true;
    }
    if (graph_class(g, op) == OP_SLICE || !axes || axes->n != 1)
        return false;
    *axis = axes->list[0];
    return true;
}

/* Some operand is in the order of its type, so that the result is, too. */
static bool has_operand_as_printed(const struct fused_form *f) {
    bool found = false;
    for (uint32_t i = 0; i < f->formula->nslots && !found; i++)
        found = f->as_printed[i];
    return found;
}

/* A slice whose bounds are in the form works along the axis that is there. */
static bool has_slice_bounds(const struct node *n, void *context) {
    (void)context;
    return node_attribute(n, "begin").n > 0;
}

/* The axis of the root that this axis factor is of; NONE: none, or `several`. */
static uint32_t axis_of_factor(const struct axes *root, const struct imap *factor, bool *several) {
    uint32_t found = NONE;
    for (uint32_t k = 0; k < root->n; k++) {
        struct imap axis;
        axes_axis(root, (int)k, &axis);
        if (!imap_touches(factor, &axis))
            continue;
        *several |= found != NONE;
        found = k;
    }
    return *several ? NONE : found;
}

/* The axis of the root along which dimension d of a value lies, where a name of the match is that value; or NONE. */
static uint32_t root_axis_of(const struct fused_form *f, const struct reference *r, uint32_t value, uint32_t d,
                             bool *several) {
    struct shape s;
    int64_t stride = 1;
    uint32_t axis = NONE;
    for (uint32_t i = d + 1; shape_in_graph(reference_graph(r), value, &s) && i < s.rank; i++)
        stride *= s.dim[i];
    for (uint32_t slot = 0; slot < reference_formula(r)->nslots && axis == NONE; slot++) {
        const struct binding *b = &r->bound.slots[slot];
        for (uint32_t i = 0; reference_binds(r, slot) && b->value == value && i < b->map->n && axis == NONE; i++) {
            const struct term *t = &b->map->t[i];
            struct imap factor = {.n = 1, .t = {{t->space, t->lo * (stride / t->stride), s.dim[d], 1}}};
            if (stride % t->stride == 0 && stride < t->stride * t->size)
                axis = axis_of_factor(f->root_axes, &factor, several);
        }
    }
    return axis;
}

/* What an elementwise op computes has the dimensions of its operand of that shape; NONE: there is none. */
static uint32_t operand_of_its_shape(const struct graph *g, uint32_t value) {
    uint32_t op = g->m->values[value].def;
    struct shape own, s;
    if (op == NONE || graph_class(g, op) != OP_ELTWISE || !shape_in_graph(g, value, &own))
        return NONE;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t v = graph_operands(g, op)[i];
        if (v != NONE && shape_in_graph(g, v, &s) && shape_eq(&s, &own))
            return v;
    }
    return NONE;
}

/* The axis along which the first reduction, softmax or slice of the match works, of what has the rank of the
 * root and, there, `least` elements or more. */
static uint32_t work_axis_of(const struct fused_form *f, const struct reference *r, int64_t least) {
    const struct graph *g = reference_graph(r);
    uint32_t rank = 0, found = NONE;
    int64_t axis = 0;
    for (uint32_t i = 0; i < r->match->nops && found == NONE; i++) {
        uint32_t op = r->match->ops[i];
        bool cuts = graph_class(g, op) == OP_SLICE && !formula_find(f->formula, has_slice_bounds, NULL);
        bool works = cuts || graph_class(g, op) == OP_REDUCE ||
                     (graph_class(g, op) == OP_AXISWISE && op_table[g->kind[op]].axes[0]);
        if (!works)
            continue;
        const int64_t *dims = graph_shape(g, graph_operands(g, op)[0], &rank);
        if (!dims || rank != f->root_axes->n)
            return NONE;
        bool along = axis_of(g, op, &axis);
        axis += axis < 0 ? (int64_t)rank : 0;
        if (!along || axis < 0 || axis >= rank || dims[axis] < least)
            continue;
        bool several = false;
        for (uint32_t v = graph_operands(g, op)[0]; v != NONE && found == NONE && !several;
             v = operand_of_its_shape(g, v))
            found = root_axis_of(f, r, v, (uint32_t)axis, &several);
        if (several)
            return NONE;
        found = found == NONE ? (uint32_t)axis : found;
    }
    return found;
}

/* `dim` in the form itself, or the dimension of channels: idioms and what ops compute are along the last axis. */
static bool names_axis(const struct node *n, void *context) {
    (void)context;
    const char *channels = n->nattrs ? op_table[n->op].channels.key : NULL;
    return (n->dim.n > 0 && !n->dim.of_idiom) || (channels && node_attribute(n, channels).n > 0);
}

/* One of a single element counts where there is no other. */
static void find_work_axis(struct fused_form *f, const struct reference *r) {
    bool own = f->names_axes || has_operand_as_printed(f);
    f->work_axis = NONE;
    for (int64_t least = 2; least > 0 && f->work_axis == NONE && !own; least--)
        f->work_axis = work_axis_of(f, r, least);
    if (f->work_axis + 1 == f->root_axes->n)
        f->work_axis = NONE;
}

void axis_frames_find(struct fused_form *f, const struct reference *r) {
    f->names_axes = formula_find(f->formula, names_axis, NULL) != NULL;
    find_work_axis(f, r);
    f->nbatches = count_batch_axes(f->root_axes, r);
    find_frames(f, r);
}

/* ---- values ---- */

/* In the frame of a convolution a value with a number for each channel is a row, which broadcasts wherever the channels
 * are; not so its operand and weights. */
static bool may_be_row(const struct form_run *run, const struct binding *b) {
    const struct graph *g = reference_graph(run->ref);
    uint32_t op = run->frame->slot == NONE ? NONE : run->ref->bound.slots[run->frame->slot].op;
    return op != NONE && op_convolves((enum op_kind)g->kind[op]) && b->value != graph_operands(g, op)[0] &&
           b->value != graph_operands(g, op)[1];
}

/* What varies along one axis, or none, as a tensor of that axis alone. */
static void keep_as_row(struct axes *axes, struct shape *extents) {
    uint32_t at = 0, wide = 0;
    for (uint32_t d = 0; d < extents->rank; d++)
        if (extents->dim[d] > 1) {
            at = d;
            wide++;
        }
    if (wide > 1)
        return;
    struct axes row = {0};
    axes_add(&row, axes->t + axes_begin(axes, at), axes->end[at] - axes_begin(axes, at));
    *extents = (struct shape){1, {extents->dim[at]}};
    axes_copy(axes, &row);
}

bool axes_in_frame(const struct form_run *run, const struct binding *b, const struct imap *map, struct axes *axes,
                   struct shape *extents) {
    bool framed = run->frame->slot != NONE && axes_equal(b->axes, run->form->root_axes);
    if (framed)
        axes_copy(axes, &run->frame->axes);
    if ((!framed && !axes_in_form(run, b, map, axes)) || !axes_determine(axes, map))
        return false;
    bool row = may_be_row(run, b);
    *extents = extents_along(run, b, map, axes, framed || row || map->n == 0);
    if (row)
        keep_as_row(axes, extents);
    return true;
}

/* A value that keeps its dimensions, but for a row. */
static const struct tensor *printed_value(struct form_run *run, const struct binding *b, const struct tensor *t) {
    struct view v = view_of(t);
    uint32_t wide = 0;
    for (uint32_t d = 0; d < v.shape.rank; d++) {
        v.shape.dim[d] = reference_graph(run->ref)->varies[b->value] >> d & 1 ? v.shape.dim[d] : 1;
        wide += v.shape.dim[d] > 1;
    }
    if (!may_be_row(run, b) || wide > 1)
        return t;
    const struct tensor *one = lazy_of_view(run->eval, v);
    return tensor_reshape(run->eval, one, &(struct shape){1, {one->n}});
}

static _Noreturn void along_other_axes(struct form_run *run, struct str name) {
    op_fails(run->eval, "%.*s varies along more than the axes of the formula", (int)name.n, name.p);
}

const struct tensor *value_in_frame(struct form_run *run, const struct binding *b, const struct tensor *t,
                                    bool as_printed, struct str name) {
    struct axes axes;
    struct shape extents;
    if (as_printed)
        return printed_value(run, b, t);
    if (!axes_in_frame(run, b, b->needed, &axes, &extents))
        along_other_axes(run, name);
    const struct tensor *out = tensor_along(run->eval, &axes, b->needed, t, &extents);
    if (!out)
        along_other_axes(run, name);
    return out;
}

/* What lies along the axes of the formula. */
static const struct tensor *in_axis_order(struct form_run *run, const struct tensor *t) {
    uint32_t order[MAX_RANK], n = t->shape.rank;
    if (run->form->work_axis == NONE || n != run->form->root_axes->n || n < 2)
        return t;
    for (uint32_t d = 0; d < n; d++)
        order[d] = d < run->form->work_axis ? d : d == run->form->work_axis ? n - 1 : d - 1;
    struct view v = view_permuted(view_of(t), order);
    return lazy_of_view(run->eval, v);
}

bool root_is_moved(const struct fused_form *f) {
    struct imap place;
    axes_join(f->root_axes, 0, f->root_axes->n, &place);
    return place.n > 1 && !has_operand_as_printed(f);
}

static const struct tensor *in_index_order(struct form_run *run, const struct tensor *t) {
    const struct axes *axes = run->form->root_axes;
    struct shape s = axes_shape(axes);
    struct imap place; /* along the axes, by index */
    struct axes index = {0};
    const struct tensor *full = t->n < shape_count(&s) ? tensor_broadcast(run, t, &s) : t;
    if (!full || full->n != shape_count(&s))
        return t;
    axes_join(axes, 0, axes->n, &place);
    axes_add(&index, &(struct term){place.t[0].space, 1, full->n, 1}, 1);
    const struct tensor *out = tensor_along(run->eval, &index, &place, full, &(struct shape){1, {full->n}});
    return out ? tensor_reshape(run->eval, out, &s) : t;
}

const struct tensor *result_in_root_order(struct form_run *run, const struct tensor *t) {
    t = run->frame->slot != NONE ? from_frame(run, t) : in_axis_order(run, t);
    return root_is_moved(run->form) ? in_index_order(run, t) : t;
}
