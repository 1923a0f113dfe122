/* Convolutions and pools over one to three spatial dimensions, and upsampling, in exact arithmetic. Evaluation works on
 * [batch, spatial..., channels] and weights [out, in / groups, window...]. */
#include "proof/numeric/convolve.h"

#include "proof/numeric/elementwise.h"
#include "proof/numeric/evaluators.h"

#include <math.h>

/* ---- layout of input and result ---- */

void conv_window(struct eval_context *ctx, const struct call *c, struct window *w) {
    bool convolves = op_convolves(c->kind);
    const struct tensor *x = operand_needed(ctx, c, 0), *weight = convolves ? operand_needed(ctx, c, 1) : NULL;
    const char *why = window_read(c->kind, c->ttnn, c->attributes, &x->shape, weight ? &weight->shape : NULL, w);
    if (why)
        op_fails(ctx, "%s of %s: %s", op_table[c->kind].name, shape_text(ctx->arena, &x->shape).p, why);
}

const struct tensor *conv_input(struct eval_context *ctx, const struct call *c, const struct window *w) {
    struct shape s = {.rank = w->n + 2, .dim = {w->batch}};
    if (!w->printed)
        return view_copy(ctx, view_permuted(view_of(operand(c, 0)), w->dims));
    memcpy(s.dim + 1, w->in, w->n * sizeof *w->in);
    s.dim[w->n + 1] = w->channels;
    return tensor_reshape(ctx, operand(c, 0), &s);
}

/* The result in the layout of the input: [1, 1, batch * spatial, channels] of one whose sizes are printed. */
const struct tensor *conv_result(struct eval_context *ctx, const struct call *c, uint32_t result,
                                 const struct tensor *t, const struct window *w) {
    uint32_t back[MAX_WINDOW + 2], n = t->shape.rank;
    if (w->printed) {
        int64_t channels = t->shape.dim[n - 1];
        struct shape s = {4, {1, 1, channels ? t->n / channels : 0, channels}};
        return declared_shape(c, result) ? as_declared(ctx, c, result, t) : tensor_reshape(ctx, t, &s);
    }
    for (uint32_t d = 0; d < n; d++)
        back[w->dims_of_result[d]] = d;
    return view_copy(ctx, view_permuted(view_of(t), back));
}

/* ---- convolutions ---- */

struct conv_kernel {
    struct view w; /* [out, in / groups, window...]; of a transposed convolution [in, out / groups, window...] */
    bool replicate;
};

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
    const struct tensor *parts[] = {view_copy(ctx, v), tensor_new(ctx, &s)};
    return view_of(tensor_concat(ctx, parts, 2, 1));
}

/* Weights as they are defined, or as TTNN prepares them for the device, the input channel fastest. */
struct view conv_weights(struct eval_context *ctx, const struct call *c, const struct window *w) {
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

/* Where a tap of the window reads; false outside of the input and between its elements. */
static bool tap(const struct window *w, const int64_t *out, const int64_t *at, bool replicate, int64_t *in) {
    for (uint32_t d = 0; d < w->n; d++) {
        in[d] = out[d] * w->stride[d] - w->before[d] + at[d] * w->dilation[d];
        if (replicate)
            in[d] = in[d] < 0 ? 0 : in[d] >= w->in[d] ? w->in[d] - 1 : in[d];
        if (in[d] < 0 || in[d] % w->spread[d] != 0 || in[d] / w->spread[d] >= w->in[d])
            return false;
        in[d] /= w->spread[d];
    }
    return true;
}

/* The same for a transposed convolution, where input `in` adds to output stride * in - before + dilation * at. */
static bool transposed_tap(const struct window *w, const int64_t *out, const int64_t *at, int64_t *in) {
    for (uint32_t d = 0; d < w->n; d++) {
        int64_t from = out[d] + w->before[d] - at[d] * w->dilation[d];
        if (from < 0 || from % w->stride[d] != 0 || from / w->stride[d] >= w->in[d])
            return false;
        in[d] = from / w->stride[d];
    }
    return true;
}

static int64_t spatial_offset(const struct view *v, uint32_t n, const int64_t *at) {
    int64_t offset = 0;
    for (uint32_t d = 0; d < n; d++)
        offset += at[d] * v->stride[d + 1];
    return offset;
}

/* All output channels at one spatial index of the output. */
static void convolve_at(const struct conv_kernel *k, const struct window *w, const struct view *x, int64_t batch,
                        const int64_t *index, double *out) {
    int64_t in[MAX_WINDOW], per_in = w->channels / w->groups, per_out = w->out_channels / w->groups;
    struct shape window = {.rank = w->n};
    struct index_walk taps;
    memcpy(window.dim, w->size, w->n * sizeof *w->size);
    walk_begin(&taps, &window);
    for (; walk_more(&taps); walk_next(&taps)) {
        if (w->transposed ? !transposed_tap(w, index, taps.at, in) : !tap(w, index, taps.at, k->replicate, in))
            continue;
        const double *from = x->x + batch * x->stride[0] + spatial_offset(x, w->n, in);
        int64_t at = k->w.offset;
        for (uint32_t d = 0; d < w->n; d++)
            at += taps.at[d] * k->w.stride[d + 2];
        for (int64_t o = 0; o < w->out_channels; o++) {
            int64_t channel = o / per_out * per_in, first = w->transposed ? channel : o;
            int64_t step = k->w.stride[!w->transposed];
            const double *by =
                k->w.x + at + first * k->w.stride[0] + (w->transposed ? o % per_out * k->w.stride[1] : 0);
            double sum = 0;
            for (int64_t i = 0; i < per_in; i++)
                sum += from[channel + i] * by[i * step];
            out[o] += sum;
        }
    }
}

static struct tensor *convolve(struct eval_context *ctx, const struct conv_kernel *k, const struct window *w,
                               const struct tensor *x) {
    struct shape s = {.rank = w->n + 2, .dim = {x->shape.dim[0]}};
    struct shape taps = {.rank = w->n + 1}; /* of one number of the result */
    for (uint32_t d = 0; d < w->n; d++) {
        s.dim[d + 1] = w->out[d];
        taps.dim[d] = w->size[d];
    }
    taps.dim[w->n] = w->channels / w->groups;
    s.dim[w->n + 1] = 1;
    struct view v = view_of(x);
    struct index_walk places;
    walk_begin(&places, &s);
    s.dim[w->n + 1] = w->out_channels;
    struct tensor *t = tensor_new(ctx, &s);
    eval_steps(ctx, t->n, shape_count(&taps));
    for (double *out = t->x; walk_more(&places); walk_next(&places), out += w->out_channels)
        convolve_at(k, w, &v, places.at[0], places.at + 1, out);
    return t;
}

static void add_bias(struct eval_context *ctx, const struct call *c, struct tensor *t, int64_t channels) {
    const struct tensor *bias = operand(c, 2);
    if (!bias)
        return;
    if (bias->n != channels && bias->n != 1)
        op_fails(ctx, "%s: a bias of %lld numbers for %lld channels", op_table[c->kind].name, (long long)bias->n,
                 (long long)channels);
    for (int64_t i = 0; i < t->n; i++)
        t->x[i] += bias->x[bias->n == 1 ? 0 : i % channels];
}

bool conv_replicates(struct eval_context *ctx, const struct call *c) {
    static const char *const modes[] = {"zeros", "replicate", NULL};
    return attr_word(ctx, c, "padding_mode", modes) == 1;
}

void evaluate_convolution(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct window w;
    conv_window(ctx, c, &w);
    struct conv_kernel k = {conv_weights(ctx, c, &w), conv_replicates(ctx, c)};
    struct tensor *t = convolve(ctx, &k, &w, conv_input(ctx, c, &w));
    add_bias(ctx, c, t, w.out_channels);
    *out = conv_result(ctx, c, 0, apply_activation(ctx, c, t), &w);
}

/* ---- pools ---- */

struct conv_pool {
    struct window w;
    const struct tensor *x;
};

static struct conv_pool read_pool(struct eval_context *ctx, const struct call *c) {
    struct conv_pool p;
    conv_window(ctx, c, &p.w);
    p.x = conv_input(ctx, c, &p.w);
    return p;
}

static struct tensor *pool_result(struct eval_context *ctx, const struct conv_pool *p) {
    const struct tensor *x = p->x;
    struct tensor *t =
        tensor_new(ctx, &(struct shape){4, {x->shape.dim[0], p->w.out[0], p->w.out[1], x->shape.dim[3]}});
    eval_steps(ctx, t->n, p->w.size[0] * p->w.size[1]);
    return t;
}

/* Offset in the input of tap (i, j) of the window at `at`; false in the padding. */
static bool pool_tap(const struct conv_pool *p, const int64_t *at, int64_t i, int64_t j, int64_t *offset, int64_t *in) {
    int64_t window[MAX_WINDOW] = {i, j};
    if (!tap(&p->w, at + 1, window, false, in))
        return false;
    *offset = ((at[0] * p->w.in[0] + in[0]) * p->w.in[1] + in[1]) * p->x->shape.dim[3] + at[3];
    return true;
}

/* The maximum of a window, and its index in the plane of the input; a NaN counts as the maximum. */
static void largest_at(const struct conv_pool *p, const int64_t *at, double *value, double *index) {
    int64_t offset, in[2] = {0};
    *value = -INFINITY;
    *index = 0;
    for (int64_t i = 0; i < p->w.size[0]; i++)
        for (int64_t j = 0; j < p->w.size[1]; j++)
            if (pool_tap(p, at, i, j, &offset, in) && (p->x->x[offset] > *value || isnan(p->x->x[offset]))) {
                *value = p->x->x[offset];
                *index = (double)(in[0] * p->w.in[1] + in[1]);
            }
}

void evaluate_max_pool_with_indices(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct conv_pool p = read_pool(ctx, c);
    struct tensor *t = pool_result(ctx, &p), *where = tensor_new(ctx, &t->shape);
    struct index_walk w;
    walk_begin(&w, &t->shape);
    for (int64_t i = 0; walk_more(&w); walk_next(&w), i++)
        largest_at(&p, w.at, &t->x[i], &where->x[i]);
    out[0] = conv_result(ctx, c, 0, t, &p.w);
    out[1] = conv_result(ctx, c, 1, where, &p.w);
}

void evaluate_max_pool(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    evaluate_max_pool_with_indices(ctx, c, out);
    out[1] = NULL;
}

int64_t conv_divisor(const struct window *w, const int64_t *at, bool padding_counts) {
    int64_t n = 1;
    for (uint32_t d = 0; d < w->n; d++) {
        int64_t from = at[d] * w->stride[d] - w->before[d], to = from + w->size[d];
        int64_t begin = padding_counts || from > 0 ? from : 0, end = w->in[d] + (padding_counts ? w->after[d] : 0);
        n *= (to < end ? to : end) - begin;
    }
    return n;
}

/* The sum of a window, and how many elements it is of. */
static double sum_at(const struct conv_pool *p, const int64_t *at, int64_t *inside) {
    int64_t offset, in[2] = {0};
    double sum = 0;
    *inside = 0;
    for (int64_t i = 0; i < p->w.size[0]; i++)
        for (int64_t j = 0; j < p->w.size[1]; j++)
            if (pool_tap(p, at, i, j, &offset, in)) {
                sum += p->x->x[offset];
                ++*inside;
            }
    return sum;
}

static const struct tensor *pool_sums(struct eval_context *ctx, const struct conv_pool *p) {
    struct tensor *t = pool_result(ctx, p);
    struct index_walk w;
    int64_t inside;
    walk_begin(&w, &t->shape);
    for (double *x = t->x; walk_more(&w); walk_next(&w), x++)
        *x = sum_at(p, w.at, &inside);
    return t;
}

void evaluate_avg_pool(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct conv_pool p = read_pool(ctx, c);
    struct index_walk w;
    bool padding_counts = attr_flag(ctx, c, "count_include_pad", true);
    if (p.w.dilation[0] != 1 || p.w.dilation[1] != 1)
        op_fails(ctx, "avg_pool2d with a dilated window");
    struct tensor *t = pool_result(ctx, &p);
    walk_begin(&w, &t->shape);
    for (double *x = t->x; walk_more(&w); walk_next(&w), x++) {
        int64_t inside;
        double sum = sum_at(&p, w.at, &inside);
        int64_t n = conv_divisor(&p.w, w.at + 1, padding_counts);
        if (n <= 0)
            op_fails(ctx, "avg_pool2d: a window of padding only");
        *x = sum / (double)n;
    }
    *out = conv_result(ctx, c, 0, t, &p.w);
}

/* Means are those of the whole window, where all of it is inside of the input. */
void evaluate_pooling(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    static const char *const methods[] = {"Max", "Sum", "Average", NULL};
    attr_needed(ctx, c, "pooling_method");
    int method = attr_word(ctx, c, "pooling_method", methods);
    struct conv_pool p = read_pool(ctx, c);
    if (c->nresults > 1)
        op_unsupported(ctx, "no evaluator for pooling of several tensors");
    if (method == 0) {
        evaluate_max_pool(ctx, c, out);
        return;
    }
    bool pads = p.w.before[0] || p.w.before[1] || p.w.after[0] || p.w.after[1];
    if (method == 2 && pads)
        op_unsupported(ctx, "no evaluator for means of padding");
    const struct tensor *t = pool_sums(ctx, &p);
    if (method == 2)
        t = apply_binary(ctx, binary_DIVIDE, t, tensor_scalar(ctx, (double)(p.w.size[0] * p.w.size[1])));
    *out = conv_result(ctx, c, 0, t, &p.w);
}

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
        taken[i] = tensor_take(ctx, &t);
    }
    if (!bilinear)
        return taken[0];
    const struct tensor *to = apply_binary(ctx, binary_SUBTRACT, taken[1], taken[0]);
    return apply_binary(ctx, binary_ADD, taken[0],
                        apply_binary(ctx, binary_MULTIPLY, to, tensor_reshape(ctx, share, &column)));
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
