/* Data movement: reshapes, permutations, repetitions, concatenation, slices and padding. Most are a view of the
 * operand, copied. */
#include "ir/ops/infer.h"
#include "proof/numeric/elementwise.h"
#include "proof/numeric/evaluators.h"

#include <math.h>

/* The attribute `shape`; one dimension may be negative: what is left of `count` elements. */
static struct shape shape_attribute(struct eval_context *ctx, const struct call *c, int64_t count) {
    struct shape s = {0};
    int n = attr_list_needed(ctx, c, "shape", s.dim, MAX_RANK), open = -1;
    int64_t known = 1;
    s.rank = (uint32_t)n;
    for (int i = 0; i < n; i++) {
        if (s.dim[i] < 0)
            open = i;
        else
            known *= s.dim[i];
    }
    if (open >= 0 && known > 0)
        s.dim[open] = count / known;
    return s;
}

void evaluate_reshape(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *x = operand_needed(ctx, c, 0);
    struct shape s = declared_shape(c, 0) ? *declared_shape(c, 0) : shape_attribute(ctx, c, x->n);
    *out = tensor_reshape(ctx, x, &s);
}

/* The operand itself: casts and changes of layout or memory; interpret() rounds to the type of a cast. */
void evaluate_same(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    *out = operand_needed(ctx, c, 0);
}

void evaluate_permute(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *x = operand_needed(ctx, c, 0);
    uint32_t order[MAX_RANK];
    if (!permuted_dims(c->kind, c->attributes, x->shape.rank, order))
        op_fails(ctx, "%s: its attributes are no order of %u dimensions", op_table[c->kind].name, x->shape.rank);
    *out = lazy_of_view(ctx, view_permuted(view_of(x), order));
}

/* The operand's shape times the numbers of an attribute, one for each dimension of the result; dimensions that the
 * operand lacks in front count as 1. */
static struct shape multiplied(struct eval_context *ctx, const struct call *c, const char *key) {
    const struct shape *x = &operand_needed(ctx, c, 0)->shape;
    int64_t times[MAX_RANK];
    int n = attr_list_needed(ctx, c, key, times, MAX_RANK);
    struct shape s = {.rank = (uint32_t)n};
    if (n < (int)x->rank)
        op_fails(ctx, "%s: %d numbers for rank %u", op_table[c->kind].name, n, x->rank);
    for (int i = 0; i < n; i++) {
        int d = i - (n - (int)x->rank);
        s.dim[i] = times[i] * (d >= 0 ? x->dim[d] : 1);
    }
    return s;
}

void evaluate_broadcast(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *x = operand_needed(ctx, c, 0);
    struct shape s = declared_shape(c, 0) ? *declared_shape(c, 0) : multiplied(ctx, c, "broadcast_dimensions"), fits;
    shape_broadcast(ctx, &x->shape, &s, &fits);
    if (!shape_eq(&fits, &s))
        op_fails(ctx, "%s cannot be broadcast to %s", shape_text(ctx->arena, &x->shape).p,
                 shape_text(ctx->arena, &s).p);
    *out = lazy_of_view(ctx, view_expanded(x, &s));
}

/* torch.repeat: the whole operand, tiled along each dimension: one of stride 0 in front of it. */
void evaluate_repeat(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    bool short_key = attrs_find(c->attributes, "repeat_dims") != NULL;
    struct shape s = multiplied(ctx, c, short_key ? "repeat_dims" : "repeat_dimensions");
    struct view from = view_of(operand(c, 0)), v = from;
    uint32_t lead = s.rank - from.shape.rank;
    v.shape.rank = 0;
    for (uint32_t d = 0; d < s.rank; d++) {
        int64_t size = d >= lead ? from.shape.dim[d - lead] : 1, times = size ? s.dim[d] / size : 0;
        if (v.shape.rank + 2 > MAX_RANK)
            op_fails(ctx, "%s of rank %u", op_table[c->kind].name, s.rank);
        if (times != 1) {
            v.shape.dim[v.shape.rank] = times;
            v.stride[v.shape.rank++] = 0;
        }
        v.shape.dim[v.shape.rank] = size;
        v.stride[v.shape.rank++] = d >= lead ? from.stride[d - lead] : 0;
    }
    *out = tensor_reshape(ctx, lazy_of_view(ctx, v), &s);
}

/* torch.repeat_interleave: each element `repeats` times in a row. */
void evaluate_repeat_interleave(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct view v = view_of(operand_needed(ctx, c, 0));
    int64_t times = attr_int_needed(ctx, c, "repeats");
    *out = operand(c, 0);
    if (times == 1)
        return;
    uint32_t axis = axis_attr(ctx, c, "dim", 0, v.shape.rank);
    if (v.shape.rank == MAX_RANK || times < 0)
        op_fails(ctx, "repeat_interleave: rank %u, %lld times", v.shape.rank, (long long)times);
    struct shape s = v.shape;
    s.dim[axis] *= times;
    for (uint32_t d = v.shape.rank++; d > axis + 1; d--) { /* a dimension of stride 0 behind the axis */
        v.shape.dim[d] = v.shape.dim[d - 1];
        v.stride[d] = v.stride[d - 1];
    }
    v.shape.dim[axis + 1] = times;
    v.stride[axis + 1] = 0;
    *out = tensor_reshape(ctx, lazy_of_view(ctx, v), &s);
}

void evaluate_concat(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    operand_needed(ctx, c, 0);
    inferred_shape(ctx, c);
    *out = lazy_join(ctx, c->operands, c->noperands, axis_needed(ctx, c, "dim"));
}

/* ---- slices ---- */

/* As Python's slices: negative bounds count from the end, and all are clamped to the dimension. */
static int64_t from_end(int64_t at, int64_t size) {
    at = at < 0 ? at + size : at;
    return at < 0 ? 0 : at > size ? size : at;
}

static struct view slice(struct eval_context *ctx, struct view v, uint32_t dim, int64_t begin, int64_t end,
                         int64_t step) {
    if (step < 1)
        op_fails(ctx, "a slice with step %lld", (long long)step);
    begin = from_end(begin, v.shape.dim[dim]);
    end = from_end(end, v.shape.dim[dim]);
    return view_cut(v, dim, begin, step, end > begin ? (end - begin + step - 1) / step : 0);
}

static const struct tensor *sliced(struct eval_context *ctx, const struct call *c, int64_t *begins, int64_t *ends,
                                   int n) {
    int64_t steps[MAX_RANK];
    struct view v = view_of(operand(c, 0));
    int nsteps = attr_list(ctx, c, "step", steps, MAX_RANK);
    if (n != (int)v.shape.rank || (nsteps >= 0 && nsteps != n))
        op_fails(ctx, "a slice of %d dimensions of a tensor of rank %u", n, v.shape.rank);
    for (int i = 0; i < n; i++) {
        int64_t step = nsteps < 0 ? 1 : steps[i];
        v = slice(ctx, v, (uint32_t)i, begins[i], ends[i], step);
    }
    return lazy_of_view(ctx, v);
}

void evaluate_slice(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    int64_t begins[MAX_RANK] = {0}, ends[MAX_RANK] = {0};
    operand_needed(ctx, c, 0);
    int n = attr_list_needed(ctx, c, "begins", begins, MAX_RANK);
    int m = attr_list_needed(ctx, c, "ends", ends, MAX_RANK);
    *out = sliced(ctx, c, begins, ends, n == m ? n : -1);
}

/* `n` elements from a number that is computed on; one so large that they would end beyond the tensor begins where they
 * do not. */
static const struct tensor *window_from(struct eval_context *ctx, const struct call *c, const struct tensor *x,
                                        uint32_t axis, const struct tensor *begin, int64_t step, int64_t n) {
    double size = (double)x->shape.dim[axis], last = size - (double)((n - 1) * step) - 1;
    struct tensor *steps = tensor_new(ctx, &(struct shape){1, {n}});
    for (int64_t i = 0; i < n; i++)
        steps->x[i] = (double)(i * step);
    if (last < 0)
        op_fails(ctx, "a slice of %lld elements", (long long)n);
    const struct tensor *zero = tensor_scalar(ctx, 0), *below = lazy_binary(ctx, binary_SUBTRACT, zero, begin);
    below = lazy_binary(ctx, binary_MINIMUM, lazy_binary(ctx, binary_MAXIMUM, below, zero), tensor_scalar(ctx, 1));
    begin = lazy_binary(ctx, binary_ADD, begin, lazy_binary(ctx, binary_MULTIPLY, below, tensor_scalar(ctx, size)));
    begin = lazy_binary(ctx, binary_MAXIMUM, begin, zero);
    begin = lazy_binary(ctx, binary_MINIMUM, begin, tensor_scalar(ctx, last));
    return lazy_taken(ctx, op_table[c->kind].name, x, axis, lazy_binary(ctx, binary_ADD, begin, steps));
}

void evaluate_slice_dynamic(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *x = operand_needed(ctx, c, 0), *begins = operand_needed(ctx, c, 1);
    const struct shape *s = declared_shape(c, 0);
    int64_t steps[MAX_RANK];
    int nsteps = attr_list(ctx, c, "step", steps, MAX_RANK);
    if (begins->n != x->shape.rank || begins->shape.rank != 1 || !s || s->rank != x->shape.rank ||
        (nsteps >= 0 && nsteps != (int)s->rank))
        op_fails(ctx, "a slice of %lld dimensions", (long long)begins->n);
    for (uint32_t d = 0; d < s->rank; d++) {
        const struct tensor *begin = lazy_of_view(ctx, view_cut(view_of(begins), 0, d, 1, 1));
        x = window_from(ctx, c, x, d, begin, nsteps < 0 ? 1 : steps[d], s->dim[d]);
    }
    *out = x;
}

/* x[begin:end:step] along one dimension. */
void evaluate_index(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct view v = view_of(operand_needed(ctx, c, 0));
    uint32_t axis = axis_attr(ctx, c, "dim", 0, v.shape.rank);
    int64_t begin = attr_int(ctx, c, "begin", 0), end = attr_int_needed(ctx, c, "end");
    *out = lazy_of_view(ctx, slice(ctx, v, axis, begin, end, attr_int(ctx, c, "step", 1)));
}

/* Concatenated windows of `length` elements along one dimension, which begin at begin, begin + stride, ...; a stride of
 * 0 means one window. */
void evaluate_index_select(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *x = operand_needed(ctx, c, 0);
    uint32_t axis = axis_attr(ctx, c, "dim", 0, x->shape.rank);
    int64_t length = attr_int_needed(ctx, c, "length"), stride = attr_int(ctx, c, "stride", 0);
    int64_t size = x->shape.dim[axis], begin = from_end(attr_int(ctx, c, "begin", 0), size), count = 0;
    if (length < 1 || stride < 0)
        op_fails(ctx, "windows of %lld elements", (long long)length);
    struct tensor *at = tensor_new(ctx, &(struct shape){1, {size}});
    for (int64_t from = begin; from < size; from += stride) {
        for (int64_t i = from; i < size && i < from + length && count < size; i++)
            at->x[count++] = (double)i;
        if (stride == 0)
            break;
    }
    *out = lazy_taken(ctx, op_table[c->kind].name, x, axis, lazy_of_view(ctx, view_cut(view_of(at), 0, 0, 1, count)));
}

void evaluate_pad(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *x = operand_needed(ctx, c, 0);
    int64_t p[2 * MAX_RANK], before[MAX_RANK] = {0};
    int n = attr_list_needed(ctx, c, "padding", p, 2 * MAX_RANK);
    struct shape s = x->shape;
    struct view v = view_of(x);
    if (n != 2 * (int)s.rank)
        op_fails(ctx, "%d paddings of a tensor of rank %u", n, s.rank);
    for (uint32_t d = 0; d < s.rank; d++) {
        int64_t after = p[2 * (size_t)d + 1];
        before[d] = p[2 * (size_t)d];
        if (before[d] < 0 || after < 0)
            op_fails(ctx, "a negative padding");
        s.dim[d] += before[d] + after;
    }
    *out = lazy_place(ctx, &v, &s, before, NULL, attr_number(ctx, c, "value", 0));
}

void evaluate_reverse(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct view v = view_of(operand_needed(ctx, c, 0));
    int64_t dims[MAX_RANK];
    int n = attr_list_needed(ctx, c, "dimensions", dims, MAX_RANK);
    for (int i = 0; i < n; i++) {
        uint32_t d = axis_in(ctx, c, dims[i], v.shape.rank);
        v = view_cut(v, d, v.shape.dim[d] - 1, -1, v.shape.dim[d]);
    }
    *out = lazy_of_view(ctx, v);
}
