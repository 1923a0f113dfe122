/* Ops of a form as ops of TTIR: their attributes, and operands as TTIR wants them. */
#include "compile/apply/form_writer.h"

#include <math.h>

#include "ir/mlir/attributes.h"
#include "proof/numeric/evaluators.h"
#include "proof/prove/form_attributes.h"

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
        if (op_works_along(n->op, key) || str_is(key, op_table[n->op].channels.key ? op_table[n->op].channels.key : ""))
            text = from_front(w, text, logical_shape(&o->operands[0]).rank);
        add_key(o, name, text);
    }
}

/* ---- ops ---- */

/* Numbers make one. */
static bool fold_numbers(const struct node *n, const struct written *v, uint32_t nv, struct written *out) {
    unary_function *unary = unary_of(n->op);
    binary_function *binary = binary_of(n->op);
    if (nv == 1 && unary && is_number(&v[0]))
        *out = written_number(unary(v[0].number));
    else if (nv == 2 && binary && is_number(&v[0]) && is_number(&v[1]))
        *out = written_number(binary(v[0].number, v[1].number));
    else
        return false;
    return true;
}

/* x + 0, x * 0, x * 1, and a factor, which stays pending. */
static bool fold_neutral(const struct node *n, const struct written *v, uint32_t nv, struct written *out) {
    bool sum = op_is(n->op, ADDS), product = op_is(n->op, SCALES);
    if (nv != 2 || !(sum || product))
        return false;
    bool second = is_number(&v[1]), first = is_number(&v[0]) && op_is(n->op, COMMUTES);
    if (!second && !first)
        return false;
    double number = v[second].number;
    *out = v[!second];
    if (sum)
        return number == 0;
    if (!format_is_float(out->element) || (number == 0 && !op_is(n->op, COMMUTES)))
        return false;
    if (number == 0)
        *out = written_number(0);
    out->factor = op_is(n->op, COMMUTES) ? out->factor * number : out->factor / number;
    return true;
}

/* TTIR has the number as an attribute of an op of another spelling: clamp_scalar. */
static bool take_attributes(struct form_writer *w, struct written_op *o, struct written *v, uint32_t nv) {
    struct str roles = str_of(op_table[o->kind].roles), spelling = op_spelling(o->kind, "ttir.", "_scalar");
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
    if (fold_numbers(n, v, nv, &out) || fold_neutral(n, v, nv, &out))
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
    if (o.kind == K_LINEAR && nv > 2 && is_absent(&v[2])) { /* which the compiler writes so, too */
        o.kind = K_MATMUL;
        o.noperands = 2;
    }
    struct written out = emit(w->e, &o);
    if (!as_stored)
        return out;
    shape.dim[shape.rank - 1] = out.shape.dim[out.shape.rank - 1];
    return emit_reshape(w->e, out, &shape);
}

/* slice(x, dim=-1, part=1, of=2), every=, or begin= and end=, as proof/numeric/formula_value.c reads them. */
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

/* What was repeated to what is written here; the value itself where nothing was. */
static struct written before_repeats(const struct form_writer *w, struct written v) {
    const struct short_op *s = v.swapped ? NULL : emitted(w->e, v.name);
    if (!s || op_table[s->kind].movement != MOVEMENT_BROADCAST)
        return v;
    struct short_shape t = short_shape_of(s->operand_types[0]);
    v.name = s->operands[0];
    v.type = s->operand_types[0];
    v.shape.rank = t.rank;
    memcpy(v.shape.dim, t.dims, t.rank * sizeof *t.dims);
    v.stored = v.shape;
    return v;
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
    struct written once = rank == 1 ? before_repeats(w, v) : v;
    if (rank == 1 && shape_count(&once.shape) == row)
        return emit_reshape(w->e, once, &(struct shape){1, {row}});
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
    if (!x)
        return;
    if (!x->is_number || isnan(x->number))
        op_fails(w->e->eval, "the scale has to be known as a number");
    double number = x->number * v[0].factor * v[1].factor;
    v[0].factor = v[1].factor = 1;
    add_key(o, "scale", float_property(w->e->eval->arena, number));
}

static int64_t count_dims(const int64_t *dims, uint32_t n) {
    int64_t count = 1;
    for (uint32_t d = 0; d < n; d++)
        count *= dims[d];
    return count;
}

/* What is repeated along dimension 1 as groups of heads are; absent: nothing is. */
static struct written ungrouped(const struct form_writer *w, const struct written *v) {
    const struct short_op *s = is_number(v) || v->swapped ? NULL : emitted(w->e, v->name);
    struct written x = *v;
    if (!s || op_table[s->kind].movement != MOVEMENT_BROADCAST || v->shape.rank != 4)
        return absent;
    struct short_shape t = short_shape_of(s->operand_types[0]);
    uint32_t at = 0;
    while (at < t.rank && t.dims[at] == v->stored.dim[at])
        at++;
    int64_t times = at < t.rank ? v->stored.dim[at] : 1, heads = v->shape.dim[1] / times;
    if (at == t.rank || heads * times != v->shape.dim[1] ||
        count_dims(t.dims, t.rank) * times != shape_count(&v->stored) ||
        count_dims(t.dims, at) != v->shape.dim[0] * heads)
        return absent;
    x.name = s->operands[0];
    x.type = s->operand_types[0];
    x.stored.dim[at] = 1;
    x.shape.dim[1] = heads;
    return x;
}

/* An attention takes keys and values with fewer heads than queries have. */
static void take_groups(const struct form_writer *w, const struct node *n, struct written *v, uint32_t nv) {
    struct written k = op_table[n->op].flow == FLOW_ATTENTION && nv > 2 ? ungrouped(w, &v[1]) : absent;
    struct written values = is_absent(&k) ? absent : ungrouped(w, &v[2]);
    if (is_absent(&values) || values.shape.dim[1] != k.shape.dim[1])
        return;
    v[1] = k;
    v[2] = values;
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

/* Of the second result of a sort, as the module spells it. */
static struct str element_of_positions(const struct match *m) {
    const struct mlir *ir = m->graph->m;
    for (uint32_t i = 0; i < m->nops; i++)
        if (ir->ops[m->ops[i]].nresults > 1) {
            struct str type = ir->types[ir->values[ir->ops[m->ops[i]].first_result + 1].type].text;
            return short_shape_of(mlir_unalias(ir, type)).element;
        }
    return STR("si32");
}

/* The axis along which an operand varies that has a number for each channel; the last one where none tells. */
static uint32_t axis_of_channels(const struct form_writer *w, const struct written *v, uint32_t nv, uint32_t rank) {
    for (uint32_t i = 1; i < nv; i++) {
        struct shape s = logical_shape(&v[i]);
        if (is_absent(&v[i]) || is_number(&v[i]) || s.rank != rank)
            continue;
        struct written once = before_repeats(w, v[i]);
        for (uint32_t d = 0; d < rank; d++)
            if (s.dim[d] > 1 && s.dim[d] == shape_count(&once.shape))
                return d;
    }
    return rank - 1;
}

/* The axis that a row of it lies along: of an image the channels, which the form or an operand says. */
static uint32_t row_axis(struct form_writer *w, const struct node *n, struct written_op *o, const struct written *v,
                         uint32_t nv) {
    const char *channels = op_table[n->op].channels.key;
    struct formula_op self = {&w->names, n, &(uint64_t){0}};
    struct attrs attributes = {.computed = formula_attribute, .self = &self};
    struct call c = {.kind = n->op, .attributes = &attributes};
    uint32_t rank = logical_shape(&v[0]).rank;
    if (!channels)
        return rank - 1;
    if (rank != 4)
        op_fails(w->e->eval, "the op takes images of rank 4");
    if (find_attribute(n, channels))
        return axis_attr(w->e->eval, &c, channels, rank - 1, rank);
    uint32_t axis = axis_of_channels(w, v, nv, rank);
    add_key(o, channels, arena_printf(w->e->eval->arena, "%u", axis));
    return axis;
}

/* A fused op: each operand in the rank that TTIR wants, the result as large as the first one. */
static struct written write_fused(struct form_writer *w, const struct node *n, struct written *v, uint32_t nv) {
    struct written_op o = {.kind = n->op, .operands = v};
    const char *ranks = op_table[n->op].ranks;
    uint32_t nroles = count_roles(n->op, nv);
    bool there[16] = {false};
    struct shape natural = logical_shape(&v[0]);
    int64_t row = natural.dim[row_axis(w, n, &o, v, nv)];
    take_scale(w, n, &o, v);
    take_groups(w, n, v, nv);
    bool as_stored = op_table[n->op].class == OP_AXISWISE && !v[0].swapped && keeps_last(&v[0]) && n->dim.n == 0;
    for (uint32_t i = 0; i < nv; i++) {
        uint32_t rank = (uint32_t)(ranks[i < strlen(ranks) ? i : strlen(ranks) - 1] - '0');
        there[i] =
            !is_absent(&v[i]) && !(is_number(&v[i]) && v[i].number == 0 && op_table[n->op].flow == FLOW_ATTENTION);
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
        return emit_fused(w->e, &o, STR(""));
    }
    struct str second = op_is(n->op, SORTS) ? element_of_positions(w->run.ref->match) : STR("");
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
    int64_t channels = graph_channels(graph_of(w), op, result.rank);
    if (channels < 0)
        channels = axis_attr(w->e->eval, &c, "channel_dim", result.rank - 1, result.rank);
    if (nv > 2 && (is_absent(&v[2]) || (is_number(&v[2]) && v[2].number == 0)))
        v[2] = absent;
    else if (nv > 2)
        v[2] = channel_row(w, v[2], &result, (uint32_t)channels);
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
    enum op_kind k = x ? op_kind_of_name(x->text) : NO_OPERATOR;
    if (x && (op_table[k].class != OP_ELTWISE || op_table[k].attributes))
        op_fails(w->e->eval, "TTIR has no activation of %s", op_table[n->op].name);
    if (!x)
        return v;
    v = emit_plain(w->e, v, w->element);
    return emit(w->e, &(struct written_op){.kind = k, .operands = &v, .noperands = 1});
}

/* Into a cache as it is printed; the index is one number. */
static struct written write_in_place(struct form_writer *w, const struct node *n, struct written *v, uint32_t nv) {
    struct written_op o = {.kind = n->op, .operands = v, .noperands = nv};
    const struct shape one = {.rank = 1, .dim = {1}};
    if (nv < 3 || is_absent(&v[2]) || is_number(&v[2]) || shape_count(&v[2].shape) != 1)
        op_fails(w->e->eval, "%s takes one index", op_table[n->op].name);
    v[0] = emit_plain(w->e, v[0], v[0].element);
    v[1] = emit_cast(w->e, emit_plain(w->e, v[1], v[0].element), v[0].element);
    v[2] = emit_plain(w->e, emit_reshape(w->e, v[2], &one), v[2].element);
    add_properties(w, n, &o);
    return emit_fused(w->e, &o, STR(""));
}

static struct written write_bare_op(struct form_writer *w, const struct node *n) {
    struct written v[16] = {absent};
    enum op_class class = op_table[n->op].class;
    uint32_t nv = 0;
    if (n->nargs > 16 || !is_determined(&w->names, n) || !op_present(&w->names, n))
        op_fails(w->e->eval, "%s: %s is absent", op_table[n->op].name, formula_absent(&w->names, n));
    for (uint32_t i = 0; i < n->nargs; i++) {
        bool there = formula_present(&w->names, n->args[i]);
        if (there)
            v[nv++] = w->write(w, n->args[i]);
        else if (class != OP_JOIN)
            v[nv++] = absent;
    }
    if (class == OP_SLICE)
        return write_slice(w, n, v[0]);
    if (op_table[n->op].movement == MOVEMENT_RESHAPE)
        return write_reshape(w, n, v[0]);
    if (op_table[n->op].movement == MOVEMENT_BROADCAST && !find_attribute(n, "broadcast_dimensions"))
        return v[0];
    if (class == OP_ELTWISE)
        return write_elementwise(w, n, v, nv);
    if (class == OP_CONTRACT)
        return write_contraction(w, n, v, nv);
    struct written lowered;
    if (n->op == K_UPDATE_CACHE)
        return write_in_place(w, n, v, nv);
    if (op_table[n->op].ranks && !is_number(&v[0]))
        return write_fused(w, n, v, nv);
    if (op_table[n->op].window.kind != WINDOW_NONE && op_spelling(n->op, "ttir.", "").n)
        return write_window(w, n, v, nv);
    if (n->op != w->run.ref->match->pattern->makes && write_lowering(w, n, v, nv, &lowered))
        return lowered;
    struct str fused = w->run.ref->match->pattern->fused_op; /* n may be of its definition, and of nobody's module */
    if (class != OP_REDUCE && class != OP_JOIN && op_table[n->op].movement != MOVEMENT_PERMUTE)
        op_fails(w->e->eval, "how %.*s is written in TTIR here is not known yet", (int)fused.n, fused.p);
    for (uint32_t i = 0; i < nv; i++)
        v[i] = emit_cast(w->e, emit_plain(w->e, v[i], w->element), w->element);
    struct written_op o = {.kind = n->op, .operands = v, .noperands = nv};
    add_properties(w, n, &o);
    return emit(w->e, &o);
}

struct written write_op(struct form_writer *w, const struct node *n) {
    return with_activation(w, n, write_bare_op(w, n));
}
