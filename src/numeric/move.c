/* Data movement: reshapes, permutations, repetitions, concatenation, slices and padding. Most are a view of the
 * operand, copied. */
#include "numeric/evaluators.h"

#include <math.h>

static bool copied(struct eval_context *b, struct view v, const struct tensor **out) {
    *out = view_copy(b, v);
    return *out != NULL;
}

/* The attribute `shape`; one dimension may be negative: what is left of `count` elements. */
static bool shape_attribute(struct eval_context *b, const struct call *c, int64_t count, struct shape *s) {
    int n = -1, open = -1;
    int64_t known = 1;
    if (!attr_list_needed(b, c, "shape", s->dim, TENSOR_RANK, &n))
        return false;
    s->rank = (uint32_t)n;
    for (int i = 0; i < n; i++) {
        if (s->dim[i] < 0)
            open = i;
        else
            known *= s->dim[i];
    }
    if (open >= 0 && known > 0)
        s->dim[open] = count / known;
    return true;
}

bool evaluate_reshape(struct eval_context *b, const struct call *c, const struct tensor **out) {
    struct shape s = {0};
    if (!operands_needed(b, c, 1))
        return false;
    if (declared_shape(c, 0))
        s = *declared_shape(c, 0);
    else if (!shape_attribute(b, c, operand(c, 0)->n, &s))
        return false;
    *out = tensor_reshape(b, operand(c, 0), &s);
    return *out != NULL;
}

/* The operand itself: casts and changes of layout or memory; interpret() rounds to the type of a cast. */
bool evaluate_same(struct eval_context *b, const struct call *c, const struct tensor **out) {
    *out = operand(c, 0);
    return operands_needed(b, c, 1);
}

bool evaluate_permute(struct eval_context *b, const struct call *c, const struct tensor **out) {
    int64_t p[TENSOR_RANK];
    uint32_t order[TENSOR_RANK];
    bool used[TENSOR_RANK] = {false};
    int n = -1;
    if (!operands_needed(b, c, 1) || !attr_list_needed(b, c, "permutation", p, TENSOR_RANK, &n))
        return false;
    if (n != (int)operand(c, 0)->shape.rank)
        return eval_fail(b, "a permutation of %d dimensions of a tensor of rank %u", n, operand(c, 0)->shape.rank);
    for (int i = 0; i < n; i++) {
        if (!axis_in(b, c, p[i], (uint32_t)n, &order[i]))
            return false;
        if (used[order[i]])
            return eval_fail(b, "a permutation names dimension %u twice", order[i]);
        used[order[i]] = true;
    }
    return copied(b, view_permuted(view_of(operand(c, 0)), order), out);
}

bool evaluate_transpose(struct eval_context *b, const struct call *c, const struct tensor **out) {
    uint32_t d0, d1;
    if (!axis_needed(b, c, "dim0", &d0) || !axis_needed(b, c, "dim1", &d1))
        return false;
    return copied(b, view_swapped(view_of(operand(c, 0)), d0, d1), out);
}

/* The operand's shape times the numbers of an attribute, one for each dimension of the result; dimensions that the
 * operand lacks in front count as 1. */
static bool multiplied(struct eval_context *b, const struct call *c, const char *key, struct shape *s) {
    int64_t times[TENSOR_RANK];
    int n = -1;
    const struct shape *x = &operand(c, 0)->shape;
    if (!attr_list_needed(b, c, key, times, TENSOR_RANK, &n))
        return false;
    if (n < (int)x->rank)
        return eval_fail(b, "%s: %d numbers for rank %u", op_table[c->kind].name, n, x->rank);
    s->rank = (uint32_t)n;
    for (int i = 0; i < n; i++) {
        int d = i - (n - (int)x->rank);
        s->dim[i] = times[i] * (d >= 0 ? x->dim[d] : 1);
    }
    return true;
}

bool evaluate_broadcast(struct eval_context *b, const struct call *c, const struct tensor **out) {
    struct shape s = {0}, fits;
    if (!operands_needed(b, c, 1))
        return false;
    if (declared_shape(c, 0))
        s = *declared_shape(c, 0);
    else if (!multiplied(b, c, "broadcast_dimensions", &s))
        return false;
    if (!shape_broadcast(b, &operand(c, 0)->shape, &s, &fits))
        return false;
    if (!shape_eq(&fits, &s))
        return eval_fail(b, "%s cannot be broadcast to %s", shape_text(b->arena, &operand(c, 0)->shape).p,
                         shape_text(b->arena, &s).p);
    return copied(b, view_expanded(operand(c, 0), &s), out);
}

/* torch.repeat: the whole operand, tiled along each dimension. */
bool evaluate_repeat(struct eval_context *b, const struct call *c, const struct tensor **out) {
    struct shape s = {0};
    struct str text;
    if (!operands_needed(b, c, 1))
        return false;
    if (!multiplied(b, c, attr_text(c, "repeat_dims", &text) ? "repeat_dims" : "repeat_dimensions", &s))
        return false;
    struct tensor *t = tensor_new(b, &s);
    struct view x = view_of(operand(c, 0));
    struct index_walk w;
    if (!t)
        return false;
    uint32_t lead = s.rank - x.shape.rank;
    walk_begin(&w, &s);
    for (double *p = t->x; walk_more(&w); walk_next(&w)) {
        int64_t at = 0;
        for (uint32_t d = 0; d < x.shape.rank; d++)
            at += w.at[lead + d] % x.shape.dim[d] * x.stride[d];
        *p++ = x.x[at];
    }
    *out = t;
    return true;
}

/* torch.repeat_interleave: each element `repeats` times in a row. */
bool evaluate_repeat_interleave(struct eval_context *b, const struct call *c, const struct tensor **out) {
    int64_t times = 1;
    uint32_t axis;
    if (!operands_needed(b, c, 1) || !attr_int_needed(b, c, "repeats", &times))
        return false;
    if (times == 1)
        return copied(b, view_of(operand(c, 0)), out);
    if (!axis_attr(b, c, "dim", 0, operand(c, 0)->shape.rank, &axis))
        return false;
    struct view v = view_of(operand(c, 0));
    if (v.shape.rank == TENSOR_RANK || times < 0)
        return eval_fail(b, "repeat_interleave: rank %u, %lld times", v.shape.rank, (long long)times);
    struct shape s = v.shape;
    s.dim[axis] *= times;
    for (uint32_t d = v.shape.rank++; d > axis + 1; d--) { /* a dimension of stride 0 behind the axis */
        v.shape.dim[d] = v.shape.dim[d - 1];
        v.stride[d] = v.stride[d - 1];
    }
    v.shape.dim[axis + 1] = times;
    v.stride[axis + 1] = 0;
    struct tensor *t = view_copy(b, v);
    *out = t ? tensor_reshape(b, t, &s) : NULL;
    return *out != NULL;
}

bool evaluate_concat(struct eval_context *b, const struct call *c, const struct tensor **out) {
    uint32_t axis;
    if (!operands_needed(b, c, 1) || !operands_needed(b, c, c->noperands) ||
        !axis_attr(b, c, "dim", 0, operand(c, 0)->shape.rank, &axis))
        return false;
    struct shape s = operand(c, 0)->shape;
    for (uint32_t i = 1; i < c->noperands; i++) {
        struct shape other = operand(c, i)->shape;
        other.dim[axis] = s.dim[axis];
        if (!shape_eq(&other, &s))
            return eval_fail(b, "%s and %s are not joined along dimension %u", shape_text(b->arena, &s).p,
                             shape_text(b->arena, &operand(c, i)->shape).p, axis);
        s.dim[axis] += operand(c, i)->shape.dim[axis];
    }
    *out = tensor_concat(b, c->operands, c->noperands, axis);
    return *out != NULL;
}

/* ---- slices ---- */

/* As Python's slices: negative bounds count from the end, and all are clamped to the dimension. */
static int64_t from_end(int64_t at, int64_t size) {
    at = at < 0 ? at + size : at;
    return at < 0 ? 0 : at > size ? size : at;
}

static bool cut(struct eval_context *b, struct view *v, uint32_t dim, int64_t begin, int64_t end, int64_t step) {
    if (step < 1)
        return eval_fail(b, "a slice with step %lld", (long long)step);
    begin = from_end(begin, v->shape.dim[dim]);
    end = from_end(end, v->shape.dim[dim]);
    *v = view_cut(*v, dim, begin, step, end > begin ? (end - begin + step - 1) / step : 0);
    return true;
}

/* Bounds that are random numbers keep what the text promises of the result: they are moved to where it has that many
 * elements. */
static void keep_extent(int64_t size, int64_t step, int64_t extent, int64_t *begin, int64_t *end) {
    if (extent < 1 || step < 1 || step > size || (extent - 1) * step >= size)
        return;
    int64_t length = (extent - 1) * step + 1, from = from_end(*begin, size), to = from_end(*end, size);
    if (to > from && (to - from + step - 1) / step == extent)
        return;
    *begin = from < size - length ? from : size - length;
    *end = *begin + length;
}

static bool slice_by(struct eval_context *b, const struct call *c, int64_t *begins, int64_t *ends, int n, bool dynamic,
                     const struct tensor **out) {
    int64_t steps[TENSOR_RANK];
    int nsteps = n;
    struct view v = view_of(operand(c, 0));
    for (int i = 0; i < TENSOR_RANK; i++)
        steps[i] = 1;
    if (!attr_list(b, c, "step", steps, TENSOR_RANK, &nsteps))
        return false;
    if (n != (int)v.shape.rank || nsteps != n)
        return eval_fail(b, "a slice of %d dimensions of a tensor of rank %u", n, v.shape.rank);
    for (int i = 0; i < n; i++) {
        if (dynamic && c->shapes && c->shapes[0].rank == v.shape.rank)
            keep_extent(v.shape.dim[i], steps[i], c->shapes[0].dim[i], &begins[i], &ends[i]);
        if (!cut(b, &v, (uint32_t)i, begins[i], ends[i], steps[i]))
            return false;
    }
    return copied(b, v, out);
}

bool evaluate_slice(struct eval_context *b, const struct call *c, const struct tensor **out) {
    int64_t begins[TENSOR_RANK], ends[TENSOR_RANK];
    int n = -1, m = -1;
    if (!operands_needed(b, c, 1) || !attr_list_needed(b, c, "begins", begins, TENSOR_RANK, &n) ||
        !attr_list_needed(b, c, "ends", ends, TENSOR_RANK, &m))
        return false;
    return slice_by(b, c, begins, ends, n == m ? n : -1, false, out);
}

bool evaluate_slice_dynamic(struct eval_context *b, const struct call *c, const struct tensor **out) {
    int64_t at[2][TENSOR_RANK];
    if (!operands_needed(b, c, 3))
        return false;
    for (uint32_t k = 0; k < 2; k++) {
        const struct tensor *t = operand(c, k + 1);
        if (t->n != operand(c, 0)->shape.rank)
            return eval_fail(b, "a slice of %lld dimensions", (long long)t->n);
        for (int64_t i = 0; i < t->n; i++)
            at[k][i] = (int64_t)fmax(-INT32_MAX, fmin(t->x[i], INT32_MAX)); /* of a NaN too */
    }
    return slice_by(b, c, at[0], at[1], (int)operand(c, 1)->n, true, out);
}

/* x[begin:end:step] along one dimension. */
bool evaluate_index(struct eval_context *b, const struct call *c, const struct tensor **out) {
    int64_t begin = 0, end = 0, step = 1;
    uint32_t axis;
    if (!operands_needed(b, c, 1) || !axis_attr(b, c, "dim", 0, operand(c, 0)->shape.rank, &axis) ||
        !attr_int(b, c, "begin", &begin) || !attr_int_needed(b, c, "end", &end) || !attr_int(b, c, "step", &step))
        return false;
    struct view v = view_of(operand(c, 0));
    return cut(b, &v, axis, begin, end, step) && copied(b, v, out);
}

/* Concatenated windows of `length` elements along one dimension, which begin at begin, begin + stride, ...; a stride of
 * 0 means one window. */
bool evaluate_index_select(struct eval_context *b, const struct call *c, const struct tensor **out) {
    int64_t begin = 0, length = 0, stride = 0;
    uint32_t axis;
    if (!operands_needed(b, c, 1) || !axis_attr(b, c, "dim", 0, operand(c, 0)->shape.rank, &axis) ||
        !attr_int(b, c, "begin", &begin) || !attr_int_needed(b, c, "length", &length) ||
        !attr_int(b, c, "stride", &stride))
        return false;
    int64_t size = operand(c, 0)->shape.dim[axis], count = 0, *at;
    begin = from_end(begin, size);
    if (length < 1 || stride < 0)
        return eval_fail(b, "windows of %lld elements", (long long)length);
    at = arena_alloc(b->arena, (size_t)(size + 1) * sizeof *at);
    for (int64_t from = begin; from < size; from += stride) {
        for (int64_t i = from; i < size && i < from + length && count < size; i++)
            at[count++] = i;
        if (stride == 0)
            break;
    }
    struct view v = view_cut(view_of(operand(c, 0)), axis, 0, 1, count);
    struct tensor *t = tensor_new(b, &v.shape);
    struct index_walk w;
    if (!t)
        return false;
    walk_begin(&w, &v.shape);
    walk_add(&w, &v);
    for (double *x = t->x; walk_more(&w); walk_next(&w))
        *x++ = v.x[w.offset[0] + (at[w.at[axis]] - w.at[axis]) * v.stride[axis]];
    *out = t;
    return true;
}

bool evaluate_pad(struct eval_context *b, const struct call *c, const struct tensor **out) {
    int64_t p[2 * TENSOR_RANK];
    int n = -1;
    double value = 0;
    if (!operands_needed(b, c, 1) || !attr_list_needed(b, c, "padding", p, 2 * TENSOR_RANK, &n) ||
        !attr_number(b, c, "value", &value))
        return false;
    const struct tensor *x = operand(c, 0);
    struct shape s = x->shape;
    if (n != 2 * (int)s.rank)
        return eval_fail(b, "%d paddings of a tensor of rank %u", n, s.rank);
    for (uint32_t d = 0; d < s.rank; d++) {
        const int64_t *at = p + 2 * (size_t)d; /* before and after */
        if (at[0] < 0 || at[1] < 0)
            return eval_fail(b, "a negative padding");
        s.dim[d] += at[0] + at[1];
    }
    struct tensor *t = tensor_new(b, &s);
    if (!t)
        return false;
    for (int64_t i = 0; i < t->n; i++)
        t->x[i] = value;
    struct view inner = view_of(t);
    for (uint32_t d = 0; d < s.rank; d++)
        inner = view_cut(inner, d, p[2 * (size_t)d], 1, x->shape.dim[d]);
    view_fill(t, &inner, x->x);
    *out = t;
    return true;
}

bool evaluate_reverse(struct eval_context *b, const struct call *c, const struct tensor **out) {
    int64_t dims[TENSOR_RANK];
    int n = -1;
    uint32_t d;
    if (!operands_needed(b, c, 1) || !attr_list_needed(b, c, "dimensions", dims, TENSOR_RANK, &n))
        return false;
    struct view v = view_of(operand(c, 0));
    for (int i = 0; i < n; i++) {
        if (!axis_in(b, c, dims[i], v.shape.rank, &d))
            return false;
        v = view_cut(v, d, v.shape.dim[d] - 1, -1, v.shape.dim[d]);
    }
    return copied(b, v, out);
}
