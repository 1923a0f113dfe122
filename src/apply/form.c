/* A value of the match is read along the axes of the frame by moving it there; the result is moved back. Names and
 * attributes are those of formulas (numeric/formula_run.h), where a tensor without numbers stands for what is written:
 * its extents are known, and its number, if it has one. */
#include "apply/form_writer.h"

#include <math.h>

#include "apply/rearrange.h"
#include "graph/movement.h"
#include "mlir/attributes.h"
#include "numeric/evaluators.h"
#include "numeric/formula_run.h"
#include "ops/infer.h"
#include "prove/axis_frame.h"
#include "prove/axis_map.h"
#include "prove/form_attributes.h"
#include "prove/fused_form.h"

static const struct graph *graph_of(const struct form_writer *w) {
    return reference_graph(w->run.ref);
}

/* ---- stand-ins for tensors ---- */

static struct shape logical_shape(const struct written *v) {
    struct shape s = v->shape;
    if (v->swapped) {
        s.dim[s.rank - 1] = v->shape.dim[s.rank - 2];
        s.dim[s.rank - 2] = v->shape.dim[s.rank - 1];
    }
    return s;
}

const struct tensor *stand_in(struct form_writer *w, const struct written *v) {
    if (is_number(v))
        return tensor_scalar(w->e->eval, v->number);
    struct tensor *t = arena_alloc(w->e->eval->arena, sizeof *t);
    *t = (struct tensor){.shape = logical_shape(v), .n = shape_count(&v->shape)};
    return t;
}

/* For formula_run.evaluate: a line of the form that a number asks for. */
const struct tensor *evaluate_stand_in(struct formula_run *r, const struct node *n) {
    struct form_writer *w = (struct form_writer *)((char *)r - offsetof(struct form_writer, names));
    struct written v = write_node(w, n);
    return stand_in(w, &v);
}

/* ---- values of the match ---- */

static struct written module_value(struct form_writer *w, uint32_t value) {
    const struct graph *g = graph_of(w);
    struct written v = {.name = mlir_span(g->m, g->m->values[value].name),
                        .type = mlir_unalias(g->m, g->m->types[g->m->values[value].type].text),
                        .element = graph_dtype(g, value),
                        .factor = 1};
    uint32_t def = g->m->values[value].def;
    if (!shape_in_graph(g, value, &v.shape) || !str_starts(v.type, STR("tensor<")))
        op_fails(w->e->eval, "%.*s has no static shape", (int)v.name.n, v.name.p);
    if (def != NONE && g->m->ops[def].nresults > 1)
        v.name = arena_printf(w->e->eval->arena, "%.*s#%u", (int)v.name.n, v.name.p, g->m->values[value].index);
    v.type = g->m->types[g->m->values[value].type].text;
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
    while (digits->n <= 1 && g->m->values[at].def != NONE && g->kind[g->m->values[at].def] == K_RESHAPE)
        at = graph_operands(g, g->m->values[at].def)[0]; /* a row */
    return at;
}

/* ---- names ---- */

static const char *name_text(struct form_writer *w, struct str s) {
    return arena_strdup(w->e->eval->arena, s);
}

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
    bool known = q->number(q->self, w->run.form->formula->slot_name[slot], (struct str){name.p + 1, name.n - 1}, out);
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
                 name_text(w, w->run.form->formula->slot_name[slot]));
    v = whole != NONE ? module_value(w, whole) : cut_to_map(w, module_value(w, value), b->needed, &from);
    digits_of_axes(w->e->eval, &axes, &extents, &to);
    return rearrange(w->e, v, &from, &to, &extents);
}

static const struct binding *binding_of(const struct form_writer *w, uint32_t slot) {
    return &w->run.ref->bound.slots[form_slot(w->run.form, w->run.ref, slot)];
}

/* One number in all elements, which the text has or --value says. */
static bool number_of_name(struct form_writer *w, uint32_t slot, double *out) {
    uint32_t value = binding_of(w, slot)->value;
    struct constant c = graph_constant(graph_of(w), value);
    if (w->run.form->as_printed[slot])
        return false;
    *out = c.value;
    return c.known || number_of_argument(w, slot, value, out);
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
    bool turned = def != NONE && (g->kind[def] == K_PERMUTE || g->kind[def] == K_TRANSPOSE);
    uint32_t pad = turned ? g->m->values[graph_operands(g, def)[0]].def : def;
    if (pad == NONE || g->kind[pad] != K_PAD)
        op_fails(w->e->eval, "something moves %s between its pad and the op",
                 name_text(w, w->run.form->formula->slot_name[slot]));
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

/* ---- attributes ---- */

/* The next "key:type" of the column `attributes`, of TTIR. */
static bool next_property(const char **at, struct str *key, struct str *type) {
    struct str rest = str_of(*at + strspn(*at, " "));
    if (!rest.n)
        return false;
    struct str row = str_part(&rest, ' ');
    *at = rest.p;
    *key = str_part(&row, ':');
    *type = str_part(&row, '=');
    *type = str_part(type, '/');
    if (type->n && type->p[type->n - 1] == '?')
        type->n--;
    return true;
}

static struct str property_text(struct form_writer *w, struct str type, const struct attr *x) {
    struct arena *a = w->e->eval->arena;
    if (x->text.n)
        return x->text;
    if (str_is(type, "word"))
        return x->number != 0 ? STR("true") : STR("false");
    if (type.p[0] == 'f')
        return float_property(a, x->number);
    if (type.p[0] == '[' || type.p[type.n - 1] == 's')
        return list_text(a, x->list, (uint32_t)x->n);
    return arena_printf(a, "%lld", (long long)x->whole);
}

/* Attributes that number dimensions do so from the front. */
static struct str from_front(struct form_writer *w, struct str text, uint32_t rank) {
    struct short_list l;
    if (!short_read_list(text, &l))
        return text;
    for (uint32_t i = 0; i < l.n; i++)
        l.v[i] += l.v[i] < 0 ? rank : 0;
    bool one = text.p[0] != '[';
    return one && l.n == 1 ? arena_printf(w->e->eval->arena, "%lld", (long long)l.v[0])
                           : list_text(w->e->eval->arena, l.v, l.n);
}

static void add_properties(struct form_writer *w, const struct node *n, struct written_op *o) {
    struct formula_op self = {&w->names, n, &(uint64_t){0}};
    struct str key, type;
    for (const char *at = op_table[n->op].attributes; at && next_property(&at, &key, &type);) {
        const char *name = name_text(w, key);
        bool taken = false;
        for (uint32_t i = 0; i < o->nattrs; i++)
            taken |= str_eq(o->keys[i], key);
        const struct attr *x =
            taken || str_is(type, "-") || str_is(key, "operandSegmentSizes") ? NULL : formula_attribute(&self, name);
        if (!x)
            continue;
        struct str text = property_text(w, type, x);
        if (op_works_along(n->op, key))
            text = from_front(w, text, logical_shape(&o->operands[0]).rank);
        add_key(o, name, text);
    }
}

/* ---- ops ---- */

/* Two numbers make one. */
static bool fold_numbers(struct form_writer *w, const struct node *n, const struct written *v, uint32_t nv,
                         struct written *out) {
    const struct tensor *t[4], *results[MAX_RESULTS];
    for (uint32_t i = 0; i < nv; i++)
        if (i >= 4 || !is_number(&v[i]))
            return false;
    for (uint32_t i = 0; i < nv; i++)
        t[i] = tensor_scalar(w->e->eval, v[i].number);
    struct call c = {.kind = n->op, .operands = t, .noperands = nv};
    if (op_table[n->op].class != OP_ELTWISE || nv == 0 || !interpret_primitive(w->e->eval, &c, results))
        return false;
    *out = written_number(results[0]->x[0]);
    return true;
}

/* x + 0, x * 0, x * 1, and a factor, which stays pending. */
static bool fold_neutral(const struct node *n, const struct written *v, uint32_t nv, struct written *out) {
    bool sum = n->op == K_ADD || n->op == K_SUBTRACT, product = n->op == K_MULTIPLY || n->op == K_DIVIDE;
    if (nv != 2 || !(sum || product))
        return false;
    bool second = is_number(&v[1]), first = is_number(&v[0]) && op_is(n->op, COMMUTES);
    if (!second && !first)
        return false;
    double number = v[second].number;
    *out = v[!second];
    if (sum)
        return number == 0;
    if (!format_is_float(out->element) || (number == 0 && n->op == K_DIVIDE))
        return false;
    if (number == 0)
        *out = written_number(0);
    out->factor = n->op == K_MULTIPLY ? out->factor * number : out->factor / number;
    return true;
}

/* TTIR has the number as an attribute of an op of another spelling: clamp_scalar. */
static bool take_attributes(struct form_writer *w, struct written_op *o, struct written *v, uint32_t nv) {
    struct str roles = str_of(op_table[o->kind].roles), spelling = ttir_spelling(o->kind, "_scalar");
    bool all = spelling.n > 0;
    for (uint32_t i = 0; i < nv && all; i++) {
        struct str role = str_part(&roles, ',');
        all = i == 0 || (memchr(role.p, '=', role.n) && is_number(&v[i]));
    }
    roles = str_of(op_table[o->kind].roles);
    for (uint32_t i = 0; i < nv && all; i++) {
        struct str role = str_part(&roles, ',');
        str_part(&role, '=');
        if (i > 0)
            add_key(o, name_text(w, role), float_property(w->e->eval->arena, v[i].number));
    }
    if (all)
        o->spelling = spelling;
    return all;
}

/* Of operands that are all pending reshapes of one shape, or rows, the op is of that shape. */
static bool share_stored(const struct written *v, uint32_t nv, struct shape *shape) {
    const struct written *first = NULL;
    for (uint32_t i = 0; i < nv; i++) {
        bool row = is_number(&v[i]) || (v[i].shape.rank == 1 && !is_reshaped(&v[i]));
        if (v[i].swapped || (!row && (!keeps_last(&v[i]) || (first && !(shape_eq(&first->stored, &v[i].stored) &&
                                                                        shape_eq(&first->shape, &v[i].shape))))))
            return false;
        first = row || first ? first : &v[i];
    }
    *shape = first ? first->shape : *shape;
    return first != NULL;
}

/* In the element type of the ops; as it is printed, or as it is meant. */
static struct written ready(struct form_writer *w, struct written v, bool as_stored) {
    if (as_stored)
        v.shape = v.stored;
    return emit_cast(w->e, emit_plain(w->e, v, w->element), w->element);
}

/* Ones in front need no reshape: the op broadcasts. */
static void leave_ones(struct written *v) {
    uint32_t more = v->shape.rank - v->stored.rank;
    bool same = !is_number(v) && !v->swapped && v->stored.rank <= v->shape.rank;
    for (uint32_t d = 0; same && d < v->shape.rank; d++)
        same = v->shape.dim[d] == (d < more ? 1 : v->stored.dim[d - more]);
    if (same)
        v->shape = v->stored;
}

static struct written write_elementwise(struct form_writer *w, const struct node *n, struct written *v, uint32_t nv) {
    struct written out;
    struct shape shape;
    struct written_op o = {.kind = n->op, .operands = v, .noperands = nv};
    if (fold_numbers(w, n, v, nv, &out) || fold_neutral(n, v, nv, &out))
        return out;
    if (take_attributes(w, &o, v, nv))
        o.noperands = 1;
    bool as_stored = share_stored(v, o.noperands, &shape);
    for (uint32_t i = 0; i < o.noperands; i++) {
        if (i > 0)
            leave_ones(&v[i]);
        v[i] = ready(w, v[i], as_stored);
    }
    add_properties(w, n, &o);
    out = emit(w->e, &o);
    return as_stored ? emit_reshape(w->e, out, &shape) : out;
}

/* A bias of one row without dimensions in front. */
static struct written as_row(struct form_writer *w, struct written v) {
    if (v.swapped || v.factor != 1 || is_number(&v))
        v = emit_plain(w->e, v, w->element);
    int64_t n = v.shape.rank ? v.shape.dim[v.shape.rank - 1] : 1;
    return shape_count(&v.shape) == n ? emit_reshape(w->e, v, &(struct shape){1, {n}}) : v;
}

/* The leading dimensions of a product with one matrix may be any. */
static bool product_as_stored(const struct written *v, uint32_t nv) {
    return is_reshaped(&v[0]) && !v[0].swapped && keeps_last(&v[0]) && v[0].stored.rank > 1 && v[1].shape.rank == 2 &&
           (nv < 3 || is_absent(&v[2]) || v[2].shape.rank == 1);
}

static struct written write_contraction(struct form_writer *w, const struct node *n, struct written *v, uint32_t nv) {
    static const char *const keys[2] = {"transpose_a", "transpose_b"};
    struct written_op o = {.kind = n->op, .operands = v, .noperands = nv};
    if (nv > 2 && !is_absent(&v[2]))
        v[2] = as_row(w, v[2]);
    bool as_stored = product_as_stored(v, nv);
    struct shape shape = v[0].shape;
    for (uint32_t i = 0; i < nv; i++) {
        bool flag = i < 2 && v[i].swapped;
        if (flag) {
            add_key(&o, keys[i], STR("true"));
            v[i].swapped = false;
        }
        if (!is_absent(&v[i]))
            v[i] = ready(w, v[i], as_stored && i == 0);
    }
    add_properties(w, n, &o);
    struct written out = emit(w->e, &o);
    if (!as_stored)
        return out;
    shape.dim[shape.rank - 1] = out.shape.dim[out.shape.rank - 1];
    return emit_reshape(w->e, out, &shape);
}

/* slice(x, dim=-1, part=1, of=2), every=, or begin= and end=, as numeric/formula_value.c reads them. */
static struct written write_slice(struct form_writer *w, const struct node *n, struct written v) {
    struct eval_context *ctx = w->e->eval;
    if (is_number(&v))
        return v;
    struct shape s = logical_shape(&v);
    struct formula_op self = {&w->names, n, &(uint64_t){0}};
    struct attrs attributes = {.computed = formula_attribute, .self = &self};
    struct call c = {.kind = n->op, .attributes = &attributes};
    int64_t begin[MAX_RANK] = {0}, end[MAX_RANK] = {0}, step[MAX_RANK] = {0};
    uint32_t axis = axis_attr(ctx, &c, "dim", -1, s.rank);
    int64_t part = attr_int(ctx, &c, "part", -1), of = attr_int(ctx, &c, "of", 0),
            every = attr_int(ctx, &c, "every", 0);
    bool whole = true;
    for (uint32_t d = 0; d < s.rank; d++) {
        end[d] = s.dim[d];
        step[d] = 1;
    }
    if (part >= 0 && of > part && s.dim[axis] % of == 0) {
        begin[axis] = part * (s.dim[axis] / of);
        end[axis] = begin[axis] + s.dim[axis] / of;
    } else if (part >= 0 && every > part) {
        begin[axis] = part;
        step[axis] = every;
    } else {
        begin[axis] = attr_int(ctx, &c, "begin", 0);
        end[axis] = attr_int(ctx, &c, "end", s.dim[axis]);
        step[axis] = attr_int(ctx, &c, "step", 1);
        end[axis] = end[axis] > s.dim[axis] ? s.dim[axis] : end[axis];
        if (begin[axis] < 0 || begin[axis] >= end[axis])
            op_fails(ctx, "a slice of nothing");
    }
    for (uint32_t d = 0; d < s.rank; d++)
        whole &= begin[d] == 0 && end[d] == s.dim[d] && step[d] == 1;
    return whole ? v : emit_slice(w->e, emit_plain(w->e, v, w->element), begin, end, step);
}

static struct written write_reshape(struct form_writer *w, const struct node *n, struct written v) {
    struct formula_op self = {&w->names, n, &(uint64_t){0}};
    const struct attr_spec *like = find_attribute(n, "like");
    uint32_t slot = like ? formula_slot(w->names.formula, like->value) : NONE;
    struct shape s = {0};
    if (slot != NONE) {
        s = slot_value(&w->names, slot)->shape;
    } else {
        const struct attr *x = formula_attribute(&self, "shape");
        if (!x || x->n < 0 || x->n > MAX_RANK)
            op_fails(w->e->eval, "what a reshape of the form makes is not said");
        s.rank = (uint32_t)x->n;
        memcpy(s.dim, x->list, s.rank * sizeof *s.dim);
    }
    if (is_number(&v))
        return v;
    return emit_reshape(w->e, emit_plain(w->e, v, w->element), &s);
}

/* An operand in the rank that the op wants (column `ranks`): with ones in front, or as one row of `row` elements. */
static struct written fit(struct form_writer *w, struct written v, uint32_t rank, int64_t row) {
    struct shape s = {.rank = rank};
    if (rank == 0)
        return v;
    if (v.swapped || v.factor != 1 || is_number(&v))
        v = emit_plain(w->e, v, w->element);
    if (v.shape.rank == rank && (rank > 1 || v.shape.dim[0] == row))
        return v;
    int64_t n = shape_count(&v.shape);
    if (rank == 1 && n == 1 && row != 1)
        return emit_broadcast(w->e, emit_reshape(w->e, v, &(struct shape){1, {1}}), &(struct shape){1, {row}});
    if (rank == 1 && n == row)
        return emit_reshape(w->e, v, &(struct shape){1, {row}});
    for (uint32_t d = 0; d < rank; d++)
        s.dim[d] = 1;
    for (uint32_t d = 0; d < v.shape.rank; d++) {
        uint32_t from_end = v.shape.rank - d;
        if (from_end > rank && v.shape.dim[d] != 1)
            op_fails(w->e->eval, "the op takes tensors of rank %u, and here is %s", rank,
                     shape_text(w->e->eval->arena, &v.shape).p);
        if (from_end <= rank)
            s.dim[rank - from_end] = v.shape.dim[d];
    }
    return emit_reshape(w->e, v, &s);
}

/* The scale of an attention takes the factors of queries and keys. */
static void take_scale(struct form_writer *w, const struct node *n, struct written_op *o, struct written *v) {
    const struct attr_spec *scale = find_attribute(n, "scale");
    struct formula_op self = {&w->names, n, &(uint64_t){0}};
    const struct attr *x = scale ? formula_attribute(&self, "scale") : NULL;
    if (!x || !x->is_number)
        return;
    double number = x->number * v[0].factor * v[1].factor;
    v[0].factor = v[1].factor = 1;
    add_key(o, "scale", float_property(w->e->eval->arena, number));
}

/* Which of the roles have an operand. */
static void add_segments(struct form_writer *w, struct written_op *o, const bool *there, uint32_t nroles) {
    int64_t list[16] = {0};
    for (uint32_t i = 0; i < nroles; i++)
        list[i] = there[i];
    for (const char *at = op_table[o->kind].attributes; at;) {
        struct str key, type;
        if (!next_property(&at, &key, &type))
            return;
        if (str_is(key, "operandSegmentSizes") && !str_is(type, "-"))
            add_key(o, "operandSegmentSizes", list_text(w->e->eval->arena, list, nroles));
    }
}

static uint32_t count_roles(enum op_kind k, uint32_t given) {
    uint32_t n = 0;
    for (struct str rest = str_of(op_table[k].roles); rest.n;)
        n += *str_item(&rest).p != '_'; /* scratch space */
    return op_table[k].roles[0] == '*' ? given : n;
}

/* Of the second result of a sort. */
static enum dtype element_of_positions(const struct match *m) {
    const struct mlir *ir = m->graph->m;
    for (uint32_t i = 0; i < m->nops; i++)
        if (ir->ops[m->ops[i]].nresults > 1)
            return graph_dtype(m->graph, ir->ops[m->ops[i]].first_result + 1);
    return DT_I32;
}

/* A fused op: each operand in the rank that TTIR wants, the result as large as the first one. */
static struct written write_fused(struct form_writer *w, const struct node *n, struct written *v, uint32_t nv) {
    struct written_op o = {.kind = n->op, .operands = v};
    const char *ranks = op_table[n->op].ranks;
    uint32_t nroles = count_roles(n->op, nv);
    bool there[16] = {false};
    struct shape natural = logical_shape(&v[0]);
    int64_t row = natural.dim[natural.rank - 1];
    take_scale(w, n, &o, v);
    bool as_stored = op_table[n->op].class == OP_AXISWISE && !v[0].swapped && keeps_last(&v[0]) && !n->dim.given;
    for (uint32_t i = 0; i < nv; i++) {
        uint32_t rank = (uint32_t)(ranks[i < strlen(ranks) ? i : strlen(ranks) - 1] - '0');
        there[i] = !is_absent(&v[i]) && !(is_number(&v[i]) && v[i].number == 0 && n->op == K_SDPA);
        if (there[i] && i == 0 && as_stored)
            v[i] = ready(w, v[i], true);
        else
            v[i] = there[i] ? ready(w, fit(w, v[i], rank, row), false) : absent;
    }
    o.noperands = nv;
    add_segments(w, &o, there, nroles);
    add_properties(w, n, &o);
    if (op_is(n->op, COMPOSITE)) {
        add_composite(w, &o);
        return emit_fused(w->e, &o, v[0].element);
    }
    enum dtype second = op_is(n->op, SORTS) ? element_of_positions(w->run.ref->match) : v[0].element;
    struct written out = emit_fused(w->e, &o, second);
    return as_stored ? emit_reshape(w->e, out, &natural) : out;
}

/* One number for each channel, in the rank of the image. */
static struct written channel_row(struct form_writer *w, struct written v, const struct shape *result, uint32_t axis) {
    struct shape s = {.rank = result->rank};
    for (uint32_t d = 0; d < s.rank; d++)
        s.dim[d] = d == axis ? result->dim[d] : 1;
    if (v.swapped || v.factor != 1 || is_number(&v))
        v = emit_plain(w->e, v, w->element);
    if (shape_count(&v.shape) == 1 && shape_count(&s) != 1)
        v = emit_broadcast(w->e, emit_reshape(w->e, v, &(struct shape){1, {1}}), &(struct shape){1, {s.dim[axis]}});
    return emit_reshape(w->e, v, &s);
}

/* A convolution or pool: operands and attributes as the matched op has them where the form does not say otherwise. */
static struct written write_window(struct form_writer *w, const struct node *n, struct written *v, uint32_t nv) {
    struct written_op o = {.kind = n->op, .operands = v, .noperands = nv};
    struct formula_op self = {&w->names, n, &(uint64_t){0}};
    struct attrs attributes = {.computed = formula_attribute, .self = &self};
    struct call c = {.kind = n->op, .attributes = &attributes};
    uint32_t op = graph_op_of(&w->names, n->op);
    struct shape result;
    if (op == NONE || !shape_in_graph(graph_of(w), graph_of(w)->m->ops[op].first_result, &result))
        op_fails(w->e->eval, "there is no %s in the match", op_table[n->op].name);
    if (nv > 2 && (is_absent(&v[2]) || (is_number(&v[2]) && v[2].number == 0)))
        v[2] = absent;
    else if (nv > 2)
        v[2] = channel_row(w, v[2], &result, axis_attr(w->e->eval, &c, "channel_dim", result.rank - 1, result.rank));
    for (uint32_t i = 0; i < nv; i++)
        if (!is_absent(&v[i]))
            v[i] = ready(w, v[i], false);
    if (v[0].shape.rank != result.rank || (nv > 1 && v[1].shape.rank != result.rank))
        op_fails(w->e->eval, "the image has not the dimensions of the op");
    o.shape = &result;
    o.element = v[0].element;
    add_properties(w, n, &o);
    return emit(w->e, &o);
}

/* TTIR has the activation of a fused op as an op behind it, which the lowering takes in. */
static struct written with_activation(struct form_writer *w, const struct node *n, struct written v) {
    struct formula_op self = {&w->names, n, &(uint64_t){0}};
    const struct attr *x = find_attribute(n, "activation") ? formula_attribute(&self, "activation") : NULL;
    enum op_kind k = x ? op_kind_of_name(x->text) : K_UNKNOWN;
    if (x && (op_table[k].class != OP_ELTWISE || op_table[k].attributes))
        op_fails(w->e->eval, "TTIR has no activation of %s", op_table[n->op].name);
    if (!x)
        return v;
    v = emit_plain(w->e, v, w->element);
    return emit(w->e, &(struct written_op){.kind = k, .operands = &v, .noperands = 1});
}

static struct written write_bare_op(struct form_writer *w, const struct node *n) {
    struct written v[16] = {absent};
    enum op_class class = op_table[n->op].class;
    uint32_t nv = 0;
    if (n->nargs > 16 || !is_determined(&w->names, n) || !op_present(&w->names, n))
        op_fails(w->e->eval, "%s: an operand is absent", op_table[n->op].name);
    for (uint32_t i = 0; i < n->nargs; i++) {
        bool there = formula_present(&w->names, n->args[i]);
        if (there)
            v[nv++] = write_node(w, n->args[i]);
        else if (class != OP_JOIN)
            v[nv++] = absent;
    }
    if (class == OP_SLICE)
        return write_slice(w, n, v[0]);
    if (n->op == K_RESHAPE)
        return write_reshape(w, n, v[0]);
    if (n->op == K_BROADCAST && !find_attribute(n, "broadcast_dimensions"))
        return v[0];
    if (class == OP_ELTWISE)
        return write_elementwise(w, n, v, nv);
    if (class == OP_CONTRACT)
        return write_contraction(w, n, v, nv);
    struct written lowered;
    if (op_table[n->op].ranks && !is_number(&v[0]))
        return write_fused(w, n, v, nv);
    if (op_table[n->op].window.kind != WINDOW_NONE && ttir_spelling(n->op, "").n)
        return write_window(w, n, v, nv);
    if (n->op != op_kind_of_spelling(w->run.ref->match->pattern->fused_op) && write_lowering(w, n, v, nv, &lowered))
        return lowered;
    if (class != OP_REDUCE && class != OP_JOIN && n->op != K_PERMUTE)
        op_fails(w->e->eval, "how TTIR writes %s is not known yet", op_table[n->op].name);
    for (uint32_t i = 0; i < nv; i++)
        v[i] = emit_cast(w->e, emit_plain(w->e, v[i], w->element), w->element);
    struct written_op o = {.kind = n->op, .operands = v, .noperands = nv};
    add_properties(w, n, &o);
    return emit(w->e, &o);
}

static struct written write_op(struct form_writer *w, const struct node *n) {
    return with_activation(w, n, write_bare_op(w, n));
}

struct written write_node(struct form_writer *w, const struct node *n) {
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
            op_fails(w->e->eval, "no alternative of the form has all it needs");
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

/* Back in the order of the root's axes, as result_in_root_order does it. */
static struct written in_root_order(struct form_writer *w, struct written v) {
    const struct fused_form *f = w->run.form;
    uint32_t order[MAX_RANK], n = v.shape.rank;
    if (f->work_axis == NONE || n != f->root_axes->n || n < 2)
        return v;
    for (uint32_t d = 0; d < n; d++)
        order[d] = d < f->work_axis ? d : d == f->work_axis ? n - 1 : d - 1;
    return emit_permute(w->e, v, order);
}

static struct written from_frame(struct form_writer *w, struct written v, const struct shape *root) {
    const struct axes *axes = &w->run.frame->axes;
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
    if (is_number(&v) || v.swapped || v.factor != 1)
        v = emit_plain(w->e, v, w->element);
    return as_shape(w, w->run.frame->slot != NONE ? from_frame(w, v, root) : in_root_order(w, v), root);
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

bool write_form(struct form_request *q) {
    struct form_writer *w = arena_alloc(q->emitter->eval->arena, sizeof *w);
    const struct reading *r = q->reading;
    *w = (struct form_writer){.request = q, .e = q->emitter, .element = element_of_match(r->ref.match)};
    w->run = (struct form_run){.ref = &r->ref, .form = &r->form, .eval = q->emitter->eval, .frame = &r->frame};
    w->run.choice = r->choice;
    w->context = form_like(&w->run);
    w->names = (struct formula_run){.eval = q->emitter->eval,
                                    .set = r->ref.set,
                                    .formula = r->form.formula,
                                    .context = &w->context,
                                    .choice = &w->run.choice,
                                    .ndecided = r->choice.n,
                                    .evaluate = evaluate_stand_in};
    return eval_attempt(q->emitter->eval, write_results, w);
}
