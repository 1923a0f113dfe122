/* Convolutions and pools over one to three spatial dimensions, and upsampling,. Evaluation works on [batch, spatial...,
 * channels] and weights [out, in / groups, window...]; of a transposed convolution [in, out / groups, window...]. */
#include "ir/ops/window.h"
#include "proof/numeric/elementwise.h"
#include "proof/numeric/evaluators.h"

#include <math.h>

/* ---- layout of input and result ---- */

static void conv_window(struct eval_context *ctx, const struct call *c, struct window *w) {
    bool convolves = op_convolves(c->kind);
    const struct tensor *x = operand_needed(ctx, c, 0), *weight = convolves ? operand_needed(ctx, c, 1) : NULL;
    const char *why = window_read(c->kind, c->ttnn, c->attributes, &x->shape, weight ? &weight->shape : NULL, w);
    if (why)
        op_fails(ctx, "%s of %s: %s", op_table[c->kind].name, shape_text(ctx->arena, &x->shape).p, why);
}

static const struct tensor *conv_input(struct eval_context *ctx, const struct call *c, const struct window *w) {
    struct shape s = {.rank = w->n + 2, .dim = {w->batch}};
    if (!w->printed)
        return lazy_of_view(ctx, view_permuted(view_of(operand(c, 0)), w->dims));
    memcpy(s.dim + 1, w->in, w->n * sizeof *w->in);
    s.dim[w->n + 1] = w->channels;
    return tensor_reshape(ctx, operand(c, 0), &s);
}

/* The result in the layout of the input: [1, 1, batch * spatial, channels] of one whose sizes are printed. */
static const struct tensor *conv_result(struct eval_context *ctx, const struct call *c, uint32_t result,
                                        const struct tensor *t, const struct window *w) {
    uint32_t back[MAX_WINDOW + 2], n = t->shape.rank;
    if (w->printed) {
        int64_t channels = t->shape.dim[n - 1];
        struct shape s = {4, {1, 1, channels ? t->n / channels : 0, channels}};
        return declared_shape(c, result) ? as_declared(ctx, c, result, t) : tensor_reshape(ctx, t, &s);
    }
    for (uint32_t d = 0; d < n; d++)
        back[w->dims_of_result[d]] = d;
    return lazy_of_view(ctx, view_permuted(view_of(t), back));
}

/* ---- padding ---- */

/* What the window moves over, and how far a step of it, and one within it, goes there. */
struct padded {
    struct view v; /* [batch, spatial..., channels] */
    int64_t step[MAX_WINDOW], within[MAX_WINDOW];
};

/* The elements at the edge go on in the padding. */
static const struct tensor *with_edges(struct eval_context *ctx, const struct tensor *x, struct window *w) {
    for (uint32_t d = 0; d < w->n; d++) {
        int64_t n = (w->out[d] - 1) * w->stride[d] + (w->size[d] - 1) * w->dilation[d] + 1, size = x->shape.dim[d + 1];
        struct tensor *at = tensor_new(ctx, &(struct shape){1, {n}});
        for (int64_t i = 0; i < n; i++)
            at->x[i] = fmin(fmax((double)(i - w->before[d]), 0), (double)(size - 1));
        x = lazy_taken(ctx, "a convolution", x, d + 1, at);
        w->in[d] = n;
        w->before[d] = 0;
    }
    return x;
}

/* The input among padding. A transposed convolution is one whose input is spread, and whose weights are turned. */
static struct padded pad_input(struct eval_context *ctx, const struct tensor *x, const struct window *w, double fill) {
    struct padded p = {.v = view_of(x)};
    int64_t before[MAX_RANK] = {0}, spread[MAX_RANK];
    struct shape s = x->shape;
    bool pads = false;
    for (uint32_t d = 0; d < s.rank; d++)
        spread[d] = 1;
    for (uint32_t d = 0; d < w->n; d++) {
        int64_t reach = (w->size[d] - 1) * w->dilation[d];
        p.step[d] = w->transposed ? 1 : w->stride[d];
        p.within[d] = w->transposed ? -w->dilation[d] : w->dilation[d];
        before[d + 1] = w->transposed ? reach - w->before[d] : w->before[d];
        spread[d + 1] = w->transposed ? w->stride[d] : w->spread[d];
        s.dim[d + 1] = (w->out[d] - 1) * p.step[d] + reach + 1;
        pads |= before[d + 1] != 0 || spread[d + 1] != 1 || s.dim[d + 1] > w->in[d];
        if (before[d + 1] < 0)
            op_unsupported(ctx, "no evaluator for a negative padding");
    }
    if (pads)
        p.v = view_of(lazy_place(ctx, &p.v, &s, before, spread, fill));
    for (uint32_t d = 0; d < w->n && w->transposed; d++)
        p.v.offset += (w->size[d] - 1) * w->dilation[d] * p.v.stride[d + 1];
    return p;
}

/* ---- convolutions ---- */

/* Of a convolution over volumes TTNN pads channels to whole tiles, and prepares weights of as many: those behind are 0.
 */
static bool is_aligned(const struct window *w, const struct shape *weights, const struct shape *defined) {
    enum { TILE = 32 };
    struct shape own = *defined;
    own.dim[1] = weights->dim[1];
    return w->n == 3 && w->groups == 1 && !w->transposed && shape_eq(weights, &own) && own.dim[1] < w->channels &&
           w->channels % TILE == 0 && w->channels - own.dim[1] < TILE;
}

static struct view with_channels(struct eval_context *ctx, struct view v, int64_t channels) {
    struct shape s = v.shape;
    s.dim[1] = channels - v.shape.dim[1];
    const struct tensor *parts[] = {lazy_of_view(ctx, v), tensor_new(ctx, &s)};
    return view_of(lazy_join(ctx, parts, 2, 1));
}

/* Weights as they are defined, or as TTNN prepares them for the device, the input channel fastest. */
static struct view conv_weights(struct eval_context *ctx, const struct call *c, const struct window *w) {
    const struct tensor *t = operand(c, 1);
    int64_t first = w->transposed ? w->channels : w->out_channels,
            second = (w->transposed ? w->out_channels : w->channels) / w->groups;
    struct shape defined = {.rank = w->n + 2, .dim = {first, second}}, prepared = {.rank = w->n + 2};
    uint32_t order[MAX_WINDOW + 2] = {w->n + 1, w->n};
    for (uint32_t d = 0; d < w->n; d++) {
        defined.dim[d + 2] = prepared.dim[d] = w->size[d];
        order[d + 2] = d;
    }
    prepared.dim[w->n] = second;
    prepared.dim[w->n + 1] = w->out_channels;
    if (window_takes_prepared(w, &t->shape))
        return view_permuted(view_of(tensor_reshape(ctx, t, &prepared)), order);
    struct view v = view_of(t);
    while (v.shape.rank > defined.rank && v.shape.dim[v.shape.rank - 1] == 1)
        v.shape.rank--;
    if (v.shape.rank == defined.rank)
        v = view_permuted(v, w->weight_dims);
    if (is_aligned(w, &v.shape, &defined))
        return with_channels(ctx, v, second);
    if (!shape_eq(&v.shape, &defined))
        op_fails(ctx, "%s: weights %s for %lld channels in %lld groups", op_table[c->kind].name,
                 shape_text(ctx->arena, &t->shape).p, (long long)w->channels, (long long)w->groups);
    return v;
}

/* Views over [batch, groups, channels of a group, spatial...] and, for each of these, [channels, window...]. */
static const struct tensor *fold_windows(struct eval_context *ctx, const struct padded *p, const struct view *k,
                                         const struct window *w) {
    int64_t per_in = w->channels / w->groups, per_out = w->out_channels / w->groups;
    uint32_t n = w->n, channel = n + 1;
    struct view x = {.x = p->v.x, .lazy = p->v.lazy, .offset = p->v.offset}, y = *k;
    x.shape = (struct shape){4 + 2 * n, {p->v.shape.dim[0], w->groups, per_out}};
    memset(y.stride, 0, sizeof y.stride);
    x.stride[0] = p->v.stride[0];
    x.stride[1] = per_in * p->v.stride[channel];
    y.stride[1] = (w->transposed ? per_in : per_out) * k->stride[0];
    y.stride[2] = k->stride[w->transposed];
    x.shape.dim[3 + n] = per_in;
    x.stride[3 + n] = p->v.stride[channel];
    y.stride[3 + n] = k->stride[!w->transposed];
    for (uint32_t d = 0; d < n; d++) {
        x.shape.dim[3 + d] = w->out[d];
        x.stride[3 + d] = p->step[d] * p->v.stride[d + 1];
        x.shape.dim[4 + n + d] = w->size[d];
        x.stride[4 + n + d] = p->within[d] * p->v.stride[d + 1];
        y.stride[4 + n + d] = k->stride[d + 2];
    }
    y.shape = x.shape;
    return lazy_fold(ctx, "a convolution", fold_dot, &x, &y, n + 1);
}

static const struct tensor *with_bias(struct eval_context *ctx, const struct call *c, const struct tensor *t,
                                      int64_t channels) {
    const struct tensor *bias = operand(c, 2);
    if (!bias)
        return t;
    if (bias->n != channels && bias->n != 1)
        op_fails(ctx, "%s: a bias of %lld numbers for %lld channels", op_table[c->kind].name, (long long)bias->n,
                 (long long)channels);
    return lazy_binary(ctx, binary_ADD, t, tensor_reshape(ctx, bias, &(struct shape){1, {bias->n}}));
}

/* The edge goes on in the padding. */
static bool replicates(struct eval_context *ctx, const struct call *c) {
    static const char *const modes[] = {"zeros", "replicate", NULL};
    return attr_word(ctx, c, "padding_mode", modes) == 1;
}

void evaluate_convolution(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct window w;
    conv_window(ctx, c, &w);
    struct view k = conv_weights(ctx, c, &w);
    const struct tensor *x = conv_input(ctx, c, &w);
    struct padded p = pad_input(ctx, replicates(ctx, c) ? with_edges(ctx, x, &w) : x, &w, 0);
    const struct tensor *t = fold_windows(ctx, &p, &k, &w);
    struct shape s = {.rank = w.n + 2, .dim = {t->shape.dim[0], w.out_channels}};
    uint32_t last[MAX_WINDOW + 2] = {0};
    for (uint32_t d = 0; d < w.n; d++) {
        s.dim[d + 2] = w.out[d];
        last[d + 1] = d + 2;
    }
    last[w.n + 1] = 1;
    t = lazy_of_view(ctx, view_permuted(view_of(tensor_reshape(ctx, t, &s)), last));
    *out = conv_result(ctx, c, 0, apply_activation(ctx, c, with_bias(ctx, c, t, w.out_channels)), &w);
}

/* ---- pools ---- */

/* Over [batch, spatial..., channels], and for each of these the window. */
static struct view windows_of(const struct padded *p, const struct window *w) {
    struct view x = p->v;
    uint32_t n = w->n;
    x.shape.rank = 2 + 2 * n;
    for (uint32_t d = 0; d < n; d++) {
        x.shape.dim[d + 1] = w->out[d];
        x.stride[d + 1] = p->step[d] * p->v.stride[d + 1];
        x.shape.dim[2 + n + d] = w->size[d];
        x.stride[2 + n + d] = p->within[d] * p->v.stride[d + 1];
    }
    return x;
}

static const struct tensor *pooled(struct eval_context *ctx, const struct call *c, struct window *w, fold_function *f,
                                   double fill) {
    conv_window(ctx, c, w);
    struct padded p = pad_input(ctx, conv_input(ctx, c, w), w, fill);
    struct view x = windows_of(&p, w);
    return lazy_fold(ctx, op_table[c->kind].name, f, &x, NULL, w->n);
}

/* The maximum of a window, and its index in the plane of the input. */
void evaluate_max_pool_with_indices(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct window w;
    conv_window(ctx, c, &w);
    const struct tensor *x = conv_input(ctx, c, &w);
    struct shape plane = x->shape;
    plane.dim[0] = plane.dim[w.n + 1] = 1;
    struct tensor *numbers = tensor_new(ctx, &plane);
    for (int64_t i = 0; i < numbers->n; i++)
        numbers->x[i] = (double)i;
    struct padded p = pad_input(ctx, x, &w, -INFINITY);
    struct padded q = pad_input(ctx, lazy_of_view(ctx, view_expanded(numbers, &x->shape)), &w, 0);
    struct view values = windows_of(&p, &w), places = windows_of(&q, &w);
    const char *name = op_table[c->kind].name;
    out[0] = conv_result(ctx, c, 0, lazy_fold(ctx, name, fold_max, &values, NULL, w.n), &w);
    out[1] = conv_result(ctx, c, 1, lazy_fold(ctx, name, fold_at_max, &values, &places, w.n), &w);
}

void evaluate_max_pool(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct window w;
    const struct tensor *t = pooled(ctx, c, &w, fold_max, -INFINITY);
    *out = conv_result(ctx, c, 0, t, &w);
}

static int64_t conv_divisor(const struct window *w, const int64_t *at, bool padding_counts) {
    int64_t n = 1;
    for (uint32_t d = 0; d < w->n; d++) {
        int64_t from = at[d] * w->stride[d] - w->before[d], to = from + w->size[d];
        int64_t begin = padding_counts || from > 0 ? from : 0, end = w->in[d] + (padding_counts ? w->after[d] : 0);
        n *= (to < end ? to : end) - begin;
    }
    return n;
}

void evaluate_avg_pool(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    bool padding_counts = attr_flag(ctx, c, "count_include_pad", true);
    struct window w;
    const struct tensor *sums = pooled(ctx, c, &w, fold_sum, 0);
    struct shape s = {.rank = w.n + 2, .dim = {1, w.out[0], w.out[1], 1}};
    struct tensor *n = tensor_new(ctx, &s);
    for (int64_t i = 0; i < n->n; i++) {
        int64_t at[] = {i / w.out[1], i % w.out[1]};
        n->x[i] = (double)conv_divisor(&w, at, padding_counts);
        if (n->x[i] <= 0 || w.dilation[0] != 1 || w.dilation[1] != 1)
            op_fails(ctx, "avg_pool2d: a dilated window, or one of padding only");
    }
    *out = conv_result(ctx, c, 0, lazy_binary(ctx, binary_DIVIDE, sums, n), &w);
}

/* Means are those of the whole window, where all of it is inside of the input. */
void evaluate_pooling(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    static const char *const methods[] = {"Max", "Sum", "Average", NULL};
    int method = attr_word(ctx, c, "pooling_method", methods);
    struct window w;
    attr_needed(ctx, c, "pooling_method");
    if (c->nresults > 1)
        op_unsupported(ctx, "no evaluator for pooling of several tensors");
    const struct tensor *t = pooled(ctx, c, &w, method == 0 ? fold_max : fold_sum, method == 0 ? -INFINITY : 0);
    if (method == 2 && (w.before[0] || w.before[1] || w.after[0] || w.after[1]))
        op_unsupported(ctx, "no evaluator for means of padding");
    if (method == 2)
        t = lazy_binary(ctx, binary_DIVIDE, t, tensor_scalar(ctx, (double)(w.size[0] * w.size[1])));
    *out = conv_result(ctx, c, 0, t, &w);
}
/* ---- upsampling ---- */

/* The two elements between which one of the result lies, and the share of the second. Nearest: element i / scale is
 * both. Bilinear: distances are those of the centres of pixels, and the edge goes on (interpolate of PyTorch without
 * align_corners). */
static double source_pixels(int64_t i, int64_t scale, int64_t n, bool bilinear, int64_t at[2]) {
    double x = fmax(((double)i + 0.5) / (double)scale - 0.5, 0);
    at[0] = bilinear ? (int64_t)x : i / scale;
    at[1] = bilinear && at[0] + 1 < n ? at[0] + 1 : at[0];
    return bilinear ? x - (double)at[0] : 0;
}

static const struct tensor *stretched(struct eval_context *ctx, const struct tensor *x, uint32_t axis, int64_t out,
                                      int64_t by, bool bilinear) {
    struct shape column = {.rank = x->shape.rank - axis, .dim = {out}};
    struct tensor *pixels[2], *share = tensor_new(ctx, &(struct shape){1, {out}});
    const struct tensor *taken[2] = {NULL, NULL};
    for (uint32_t d = 1; d < column.rank; d++)
        column.dim[d] = 1;
    for (int i = 0; i < 2; i++)
        pixels[i] = tensor_new(ctx, &share->shape);
    for (int64_t at = 0; at < out; at++) {
        int64_t from[2];
        share->x[at] = source_pixels(at, by, x->shape.dim[axis], bilinear, from);
        pixels[0]->x[at] = (double)from[0];
        pixels[1]->x[at] = (double)from[1];
    }
    for (int i = 0; i < (bilinear ? 2 : 1); i++) {
        struct taking t = {"upsample", .x = view_of(x), .size = x->shape.dim[axis]};
        t.step = t.x.stride[axis];
        t.x.stride[axis] = 0;
        t.x.shape.dim[axis] = out;
        t.index = view_expanded(tensor_reshape(ctx, pixels[i], &column), &t.x.shape);
        taken[i] = lazy_take(ctx, &t);
    }
    if (!bilinear)
        return taken[0];
    const struct tensor *to = lazy_binary(ctx, binary_SUBTRACT, taken[1], taken[0]);
    return lazy_binary(ctx, binary_ADD, taken[0],
                       lazy_binary(ctx, binary_MULTIPLY, to, tensor_reshape(ctx, share, &column)));
}

void evaluate_upsample(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    static const char *const modes[] = {"nearest", "bilinear", NULL};
    struct window w;
    const struct tensor *x = operand_needed(ctx, c, 0);
    bool bilinear = attr_word(ctx, c, "mode", modes) == 1;
    conv_window(ctx, c, &w);
    for (uint32_t d = 0; d < w.n; d++)
        x = stretched(ctx, x, d + 1, w.out[d], w.stride[d], bilinear);
    *out = x;
}
