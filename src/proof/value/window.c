#include "proof/value/window.h"

#include "proof/numeric/convolve.h"
#include "proof/numeric/elementwise.h"
#include "proof/value/fold.h"

#include <math.h>

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
        x = tensor_taken(ctx, "a convolution", x, d + 1, at);
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

void lazy_convolution(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct window w;
    conv_window(ctx, c, &w);
    struct view k = conv_weights(ctx, c, &w);
    const struct tensor *x = conv_input(ctx, c, &w);
    struct padded p = pad_input(ctx, conv_replicates(ctx, c) ? with_edges(ctx, x, &w) : x, &w, 0);
    const struct tensor *t = fold_windows(ctx, &p, &k, &w);
    struct shape s = {.rank = w.n + 2, .dim = {t->shape.dim[0], w.out_channels}};
    uint32_t last[MAX_WINDOW + 2] = {0};
    for (uint32_t d = 0; d < w.n; d++) {
        s.dim[d + 2] = w.out[d];
        last[d + 1] = d + 2;
    }
    last[w.n + 1] = 1;
    t = view_copy(ctx, view_permuted(view_of(tensor_reshape(ctx, t, &s)), last));
    *out = conv_result(ctx, c, 0, apply_activation(ctx, c, with_bias(ctx, c, t, w.out_channels)), &w);
}

/* ---- pools ---- */

static const struct tensor *pooled(struct eval_context *ctx, const struct call *c, struct window *w, fold_function *f,
                                   double fill) {
    conv_window(ctx, c, w);
    struct padded p = pad_input(ctx, conv_input(ctx, c, w), w, fill);
    struct view x = p.v;
    uint32_t n = w->n;
    x.shape.rank = 2 + 2 * n;
    for (uint32_t d = 0; d < n; d++) {
        x.shape.dim[d + 1] = w->out[d];
        x.stride[d + 1] = p.step[d] * p.v.stride[d + 1];
        x.shape.dim[2 + n + d] = w->size[d];
        x.stride[2 + n + d] = p.within[d] * p.v.stride[d + 1];
    }
    return lazy_fold(ctx, op_table[c->kind].name, f, &x, NULL, n);
}

void lazy_max_pool(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct window w;
    const struct tensor *t = pooled(ctx, c, &w, fold_max, -INFINITY);
    *out = conv_result(ctx, c, 0, t, &w);
}

void lazy_avg_pool(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    bool padding_counts = attr_flag(ctx, c, "count_include_pad", true);
    struct window w;
    const struct tensor *sums = pooled(ctx, c, &w, fold_sum, 0);
    struct shape s = {.rank = w.n + 2, .dim = {1, w.out[0], w.out[1], 1}};
    struct tensor *n = tensor_new(ctx, &s);
    struct index_walk at;
    walk_begin(&at, &s);
    for (double *x = n->x; walk_more(&at); walk_next(&at), x++) {
        *x = (double)conv_divisor(&w, at.at + 1, padding_counts);
        if (*x <= 0 || w.dilation[0] != 1 || w.dilation[1] != 1)
            op_fails(ctx, "avg_pool2d: a dilated window, or one of padding only");
    }
    *out = conv_result(ctx, c, 0, lazy_binary(ctx, binary_DIVIDE, sums, n), &w);
}

/* Means are those of the whole window, where all of it is inside of the input. */
void lazy_pooling(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
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
