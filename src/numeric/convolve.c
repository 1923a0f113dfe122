/* Convolutions and pools over one to three spatial dimensions, in exact arithmetic.
 *
 * Evaluation works on [batch, spatial..., channels] and weights [out, in / groups, window...]. TTIR names the
 * dimensions by batch_dim, channel_dim and so on; TTNN flattens the input and prints its sizes. Four paddings are top,
 * left, bottom, right in TTIR and top, bottom, left, right in TTNN. Sizes of results: as PyTorch computes them,
 * ceil_mode too. */
#include "numeric/elementwise.h"
#include "numeric/evaluators.h"

#include <math.h>

enum { SPATIAL = 3 };

/* How a window moves along each spatial dimension. */
struct conv_window {
    uint32_t n; /* spatial dimensions */
    int64_t in[SPATIAL], out[SPATIAL], size[SPATIAL], stride[SPATIAL], dilation[SPATIAL], before[SPATIAL],
        after[SPATIAL];
};

/* A list with a number for each dimension, or one for all; *out stays as it is where the attribute is absent. */
static void per_dimension(struct eval_context *ctx, const struct call *c, const char *key, uint32_t n, int64_t *out) {
    int64_t v[2 * SPATIAL];
    int given = attr_list(ctx, c, key, v, 2 * SPATIAL);
    if (given > 1 && given != (int)n)
        op_fails(ctx, "%s: %d numbers for %s", op_table[c->kind].name, given, key);
    for (uint32_t d = 0; given > 0 && d < n; d++)
        out[d] = v[given == 1 ? 0 : d];
}

static void paddings(struct eval_context *ctx, const struct call *c, struct conv_window *w) {
    int64_t v[2 * SPATIAL];
    int given = attr_list(ctx, c, "padding", v, 2 * SPATIAL);
    if (given > 1 && given != (int)w->n && given != 2 * (int)w->n)
        op_fails(ctx, "%s: %d paddings", op_table[c->kind].name, given);
    for (uint32_t d = 0; given > 0 && d < w->n; d++) {
        bool both = given == 2 * (int)w->n;
        w->before[d] = given == 1 ? v[0] : !both ? v[d] : c->ttnn ? v[2 * (size_t)d] : v[d];
        w->after[d] = given == 1 ? v[0] : !both ? v[d] : c->ttnn ? v[2 * (size_t)d + 1] : v[w->n + d];
        if (w->before[d] < 0 || w->after[d] < 0)
            op_fails(ctx, "a negative padding");
    }
}

/* Stride, dilation, padding; the window's size and the input's must be set. */
static void read_window(struct eval_context *ctx, const struct call *c, struct conv_window *w) {
    for (uint32_t d = 0; d < w->n; d++)
        w->stride[d] = w->dilation[d] = 1;
    per_dimension(ctx, c, "stride", w->n, w->stride);
    per_dimension(ctx, c, "dilation", w->n, w->dilation);
    paddings(ctx, c, w);
    for (uint32_t d = 0; d < w->n; d++)
        if (w->stride[d] < 1 || w->dilation[d] < 1 || w->size[d] < 1)
            op_fails(ctx, "%s: a window that does not move", op_table[c->kind].name);
}

static void output_sizes(struct eval_context *ctx, const struct call *c, struct conv_window *w, bool up) {
    for (uint32_t d = 0; d < w->n; d++) {
        int64_t room = w->in[d] + w->before[d] + w->after[d] - w->dilation[d] * (w->size[d] - 1) - 1;
        w->out[d] = room < 0 ? 0 : (room + (up ? w->stride[d] - 1 : 0)) / w->stride[d] + 1;
        /* a window that begins behind the input and the padding before it does not count */
        if (up && w->out[d] > 0 && (w->out[d] - 1) * w->stride[d] >= w->in[d] + w->before[d])
            w->out[d]--;
        if (w->out[d] < 1)
            op_fails(ctx, "%s: the window is larger than the input", op_table[c->kind].name);
    }
}

/* ---- layout of input and result ---- */

/* Which dimensions of the operand are batch, spatial dimensions and channels. */
struct conv_layout {
    uint32_t dims[SPATIAL + 2];
    bool flat; /* [1, 1, batch * spatial, channels] */
};

/* Batch and spatial sizes that the op prints for a flattened input; false where it is not flat. */
static bool printed_sizes(struct eval_context *ctx, const struct call *c, uint32_t n, int64_t *sizes) {
    struct str text = STR("");
    if (attr_text(c, "flattened_compat_info", &text) && text.n && !str_find(text, STR("none"))) {
        bool found = text_int(text, "batch_size", &sizes[0]);
        for (uint32_t d = 0; d < n; d++)
            found &= text_int(text, window_size_keys[n - 1][d], &sizes[d + 1]);
        if (!found)
            op_fails(ctx, "flattened_compat_info cannot be read");
        return true;
    }
    if (!c->ttnn || !attr_text(c, window_size_keys[n - 1][0], &text))
        return false;
    sizes[0] = attr_int_needed(ctx, c, "batch_size");
    for (uint32_t d = 0; d < n; d++)
        sizes[d + 1] = attr_int_needed(ctx, c, window_size_keys[n - 1][d]);
    return true;
}

/* The input as [batch, spatial..., channels]; *l is its layout. */
static const struct tensor *canonical(struct eval_context *ctx, const struct call *c, uint32_t n,
                                      struct conv_layout *l) {
    const struct tensor *x = operand(c, 0);
    int64_t sizes[SPATIAL + 2];
    bool used[TENSOR_RANK] = {false};
    l->flat = printed_sizes(ctx, c, n, sizes);
    if (l->flat) {
        struct shape s = {.rank = n + 2};
        memcpy(s.dim, sizes, (n + 1) * sizeof *sizes);
        s.dim[n + 1] = x->shape.rank ? x->shape.dim[x->shape.rank - 1] : 1;
        return tensor_reshape(ctx, x, &s);
    }
    if (x->shape.rank != n + 2)
        op_fails(ctx, "%s of %s", op_table[c->kind].name, shape_text(ctx->arena, &x->shape).p);
    for (uint32_t d = 0; d < n + 2; d++) {
        const char *key = d == 0 ? "batch_dim" : d == n + 1 ? "channel_dim" : window_dim_keys[n - 1][d - 1];
        l->dims[d] = axis_attr(ctx, c, key, d, n + 2);
        if (used[l->dims[d]])
            op_fails(ctx, "%s names a dimension twice", op_table[c->kind].name);
        used[l->dims[d]] = true;
    }
    return view_copy(ctx, view_permuted(view_of(x), l->dims));
}

/* The result in the layout of the input. */
static const struct tensor *laid_out(struct eval_context *ctx, const struct call *c, uint32_t result,
                                     const struct tensor *t, const struct conv_layout *l) {
    uint32_t back[SPATIAL + 2], n = t->shape.rank;
    if (l->flat) {
        int64_t channels = t->shape.dim[n - 1];
        struct shape s = {4, {1, 1, channels ? t->n / channels : 0, channels}};
        return declared_shape(c, result) ? as_declared(ctx, c, result, t) : tensor_reshape(ctx, t, &s);
    }
    for (uint32_t d = 0; d < n; d++)
        back[l->dims[d]] = d;
    return view_copy(ctx, view_permuted(view_of(t), back));
}

static void set_input(struct conv_window *w, const struct tensor *x) {
    for (uint32_t d = 0; d < w->n; d++)
        w->in[d] = x->shape.dim[d + 1];
}

/* ---- convolutions ---- */

struct conv_kernel {
    struct view w; /* [out, in / groups, window...]; of a transposed convolution [in, out / groups, window...] */
    int64_t groups, in, out;
    bool transposed, replicate;
};

/* Weights as they are defined, or as TTNN prepares them for the device: [..., window * in, out], the input channel
 * fastest. */
static void read_weights(struct eval_context *ctx, const struct call *c, struct conv_window *w, struct conv_kernel *k) {
    const struct tensor *t = operand(c, 1);
    int64_t window = 1, first = k->transposed ? k->in : k->out, second = (k->transposed ? k->out : k->in) / k->groups;
    uint32_t rank = t->shape.rank;
    struct view v = {.shape = {.rank = w->n + 2, .dim = {first, second}}, .x = t->x};
    if (rank >= w->n + 2 && t->shape.dim[0] == first && t->shape.dim[1] == second) {
        for (uint32_t d = 0; d < w->n; d++)
            w->size[d] = t->shape.dim[d + 2];
        k->w = view_of(t);
        for (uint32_t d = w->n + 2; d < rank; d++)
            if (t->shape.dim[d] != 1)
                op_fails(ctx, "%s: weights %s", op_table[c->kind].name, shape_text(ctx->arena, &t->shape).p);
        return;
    }
    per_dimension(ctx, c, "kernel_size", w->n, w->size);
    for (uint32_t d = 0; d < w->n; d++)
        window *= w->size[d];
    if (k->transposed || window < 1 || rank < 2 || t->shape.dim[rank - 1] != k->out || t->n != window * second * k->out)
        op_fails(ctx, "%s: weights %s for %lld channels in %lld groups", op_table[c->kind].name,
                 shape_text(ctx->arena, &t->shape).p, (long long)k->in, (long long)k->groups);
    v.stride[0] = 1;
    v.stride[1] = k->out;
    int64_t stride = k->out * second;
    for (uint32_t d = w->n; d-- > 0; stride *= w->size[d]) {
        v.shape.dim[d + 2] = w->size[d];
        v.stride[d + 2] = stride;
    }
    k->w = v;
}

/* Where a tap of the window reads; false outside of the input. */
static bool tap(const struct conv_window *w, const int64_t *out, const int64_t *at, bool replicate, int64_t *in) {
    for (uint32_t d = 0; d < w->n; d++) {
        in[d] = out[d] * w->stride[d] - w->before[d] + at[d] * w->dilation[d];
        if (replicate)
            in[d] = in[d] < 0 ? 0 : in[d] >= w->in[d] ? w->in[d] - 1 : in[d];
        if (in[d] < 0 || in[d] >= w->in[d])
            return false;
    }
    return true;
}

/* The same for a transposed convolution, where input `in` adds to output stride * in - before + dilation * at. */
static bool transposed_tap(const struct conv_window *w, const int64_t *out, const int64_t *at, int64_t *in) {
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
static void convolve_at(const struct conv_kernel *k, const struct conv_window *w, const struct view *x, int64_t batch,
                        const int64_t *index, double *out) {
    int64_t in[SPATIAL], per_in = k->in / k->groups, per_out = k->out / k->groups;
    struct shape window = {.rank = w->n};
    struct index_walk taps;
    memcpy(window.dim, w->size, w->n * sizeof *w->size);
    walk_begin(&taps, &window);
    for (; walk_more(&taps); walk_next(&taps)) {
        if (k->transposed ? !transposed_tap(w, index, taps.at, in) : !tap(w, index, taps.at, k->replicate, in))
            continue;
        const double *from = x->x + batch * x->stride[0] + spatial_offset(x, w->n, in);
        int64_t at = k->w.offset;
        for (uint32_t d = 0; d < w->n; d++)
            at += taps.at[d] * k->w.stride[d + 2];
        for (int64_t o = 0; o < k->out; o++)
            for (int64_t i = 0; i < per_in; i++) {
                int64_t channel = o / per_out * per_in + i;
                int64_t first = k->transposed ? channel : o, second = k->transposed ? o % per_out : i;
                out[o] += from[channel] * k->w.x[at + first * k->w.stride[0] + second * k->w.stride[1]];
            }
    }
}

static struct tensor *convolve(struct eval_context *ctx, const struct conv_kernel *k, const struct conv_window *w,
                               const struct tensor *x) {
    struct shape s = {.rank = w->n + 2, .dim = {x->shape.dim[0]}};
    struct shape taps = {.rank = w->n + 1}; /* of one number of the result */
    for (uint32_t d = 0; d < w->n; d++) {
        s.dim[d + 1] = w->out[d];
        taps.dim[d] = w->size[d];
    }
    taps.dim[w->n] = k->in / k->groups;
    s.dim[w->n + 1] = 1;
    struct view v = view_of(x);
    struct index_walk places;
    walk_begin(&places, &s);
    s.dim[w->n + 1] = k->out;
    struct tensor *t = tensor_new(ctx, &s);
    eval_steps(ctx, t->n, shape_count(&taps));
    for (double *out = t->x; walk_more(&places); walk_next(&places), out += k->out)
        convolve_at(k, w, &v, places.at[0], places.at + 1, out);
    return t;
}

static void transposed_sizes(struct eval_context *ctx, const struct call *c, struct conv_window *w) {
    int64_t extra[SPATIAL] = {0};
    per_dimension(ctx, c, "output_padding", w->n, extra);
    for (uint32_t d = 0; d < w->n; d++) {
        w->out[d] = (w->in[d] - 1) * w->stride[d] - w->before[d] - w->after[d] + w->dilation[d] * (w->size[d] - 1) +
                    extra[d] + 1;
        if (w->out[d] < 1)
            op_fails(ctx, "conv_transpose2d: nothing is left of the result");
    }
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

/* Channels of the result: printed, or else those of the weights. */
static int64_t channels_out(struct eval_context *ctx, const struct call *c, const struct conv_kernel *k) {
    const struct tensor *w = operand(c, 1);
    int64_t n = w->shape.rank ? w->shape.dim[k->transposed ? 1 : 0] * (k->transposed ? k->groups : 1) : 1;
    n = attr_int(ctx, c, "out_channels", n);
    if (n < 1 || n % k->groups != 0)
        op_fails(ctx, "%s: %lld channels in %lld groups", op_table[c->kind].name, (long long)n, (long long)k->groups);
    return n;
}

void evaluate_convolution(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    static const char *const modes[] = {"zeros", "replicate", NULL};
    struct conv_window w = {.n = op_table[c->kind].window.rank};
    struct conv_kernel k = {.groups = attr_int(ctx, c, "groups", 1),
                            .transposed = op_table[c->kind].window.kind == WINDOW_TRANSPOSED,
                            .replicate = attr_word(ctx, c, "padding_mode", modes) == 1};
    struct conv_layout l;
    operand_needed(ctx, c, 0);
    operand_needed(ctx, c, 1);
    const struct tensor *x = canonical(ctx, c, w.n, &l);
    set_input(&w, x);
    k.in = x->shape.dim[w.n + 1];
    if (k.groups < 1 || k.in % k.groups != 0)
        op_fails(ctx, "%lld channels in %lld groups", (long long)k.in, (long long)k.groups);
    k.out = channels_out(ctx, c, &k);
    read_weights(ctx, c, &w, &k);
    read_window(ctx, c, &w);
    if (k.transposed)
        transposed_sizes(ctx, c, &w);
    else
        output_sizes(ctx, c, &w, false);
    struct tensor *t = convolve(ctx, &k, &w, x);
    add_bias(ctx, c, t, k.out);
    *out = laid_out(ctx, c, 0, apply_activation(ctx, c, t), &l);
}

/* ---- pools ---- */

struct conv_pool {
    struct conv_window w;
    struct conv_layout l;
    const struct tensor *x;
};

static struct conv_pool read_pool(struct eval_context *ctx, const struct call *c) {
    struct str text;
    const char *key = attr_text(c, "kernel_size", &text) ? "kernel_size" : "kernel";
    struct conv_pool p = {.w = {.n = 2}};
    operand_needed(ctx, c, 0);
    if (!attr_text(c, key, &text))
        op_fails(ctx, "%s has no attribute %s", op_table[c->kind].name, key);
    per_dimension(ctx, c, key, 2, p.w.size);
    read_window(ctx, c, &p.w);
    p.x = canonical(ctx, c, 2, &p.l);
    set_input(&p.w, p.x);
    output_sizes(ctx, c, &p.w, attr_flag(ctx, c, "ceil_mode", false));
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
    int64_t window[2] = {i, j};
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
    out[0] = laid_out(ctx, c, 0, t, &p.l);
    out[1] = laid_out(ctx, c, 1, where, &p.l);
}

void evaluate_max_pool(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    evaluate_max_pool_with_indices(ctx, c, out);
    out[1] = NULL;
}

/* Elements that a mean is over: those of the window inside of the input, or inside of the padded input. */
static int64_t divisor(const struct conv_pool *p, const int64_t *at, bool padding_counts, int64_t inside) {
    int64_t n = 1;
    for (uint32_t d = 0; d < 2; d++) {
        int64_t from = at[d + 1] * p->w.stride[d] - p->w.before[d], to = from + p->w.size[d];
        int64_t end = p->w.in[d] + p->w.after[d];
        n *= (to < end ? to : end) - from;
    }
    return padding_counts ? n : inside;
}

void evaluate_avg_pool(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct conv_pool p = read_pool(ctx, c);
    struct index_walk w;
    bool padding_counts = attr_flag(ctx, c, "count_include_pad", true);
    int64_t offset, in[2] = {0};
    if (p.w.dilation[0] != 1 || p.w.dilation[1] != 1)
        op_fails(ctx, "avg_pool2d with a dilated window");
    struct tensor *t = pool_result(ctx, &p);
    walk_begin(&w, &t->shape);
    for (double *x = t->x; walk_more(&w); walk_next(&w), x++) {
        int64_t inside = 0;
        for (int64_t i = 0; i < p.w.size[0]; i++)
            for (int64_t j = 0; j < p.w.size[1]; j++)
                if (pool_tap(&p, w.at, i, j, &offset, in)) {
                    *x += p.x->x[offset];
                    inside++;
                }
        int64_t n = divisor(&p, w.at, padding_counts, inside);
        if (n == 0)
            op_fails(ctx, "avg_pool2d: a window of padding only");
        *x /= (double)n;
    }
    *out = laid_out(ctx, c, 0, t, &p.l);
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

void evaluate_upsample(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    static const char *const modes[] = {"nearest", "bilinear", NULL};
    struct str text;
    int64_t by[2] = {1, 1};
    const struct tensor *x = operand_needed(ctx, c, 0);
    bool bilinear = attr_word(ctx, c, "mode", modes) == 1;
    if (!attr_text(c, "scale_factor", &text))
        op_fails(ctx, "%s has no attribute scale_factor", op_table[c->kind].name);
    per_dimension(ctx, c, "scale_factor", 2, by);
    if (x->shape.rank != 4 || by[0] < 1 || by[1] < 1)
        op_fails(ctx, "upsample of %s", shape_text(ctx->arena, &x->shape).p);
    struct shape s = x->shape;
    struct view v = view_of(x);
    s.dim[1] *= by[0];
    s.dim[2] *= by[1];
    struct tensor *t = tensor_new(ctx, &s);
    struct index_walk w;
    walk_begin(&w, &s);
    for (double *p = t->x; walk_more(&w); walk_next(&w), p++) {
        int64_t rows[2], columns[2];
        double down = source_pixels(w.at[1], by[0], x->shape.dim[1], bilinear, rows),
               right = source_pixels(w.at[2], by[1], x->shape.dim[2], bilinear, columns);
        for (int i = 0; i < 4; i++) {
            double share = (i / 2 ? down : 1 - down) * (i % 2 ? right : 1 - right);
            int64_t at = w.at[0] * v.stride[0] + rows[i / 2] * v.stride[1] + columns[i % 2] * v.stride[2] + w.at[3];
            *p += share > 0 ? share * x->x[at] : 0;
        }
    }
    *out = t;
}
