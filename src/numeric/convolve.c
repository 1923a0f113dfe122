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

/* A list with a number for each dimension, or one for all. */
static bool per_dimension(struct eval_context *b, const struct call *c, const char *key, uint32_t n, int64_t *out) {
    int64_t v[2 * SPATIAL];
    int given = 0;
    if (!attr_list(b, c, key, v, 2 * SPATIAL, &given))
        return false;
    if (given != 0 && given != 1 && given != (int)n)
        return eval_fail(b, "%s: %d numbers for %s", op_table[c->kind].name, given, key);
    for (uint32_t d = 0; given && d < n; d++)
        out[d] = v[given == 1 ? 0 : d];
    return true;
}

static bool paddings(struct eval_context *b, const struct call *c, struct conv_window *w) {
    int64_t v[2 * SPATIAL];
    int given = 0;
    if (!attr_list(b, c, "padding", v, 2 * SPATIAL, &given))
        return false;
    if (given > 1 && given != (int)w->n && given != 2 * (int)w->n)
        return eval_fail(b, "%s: %d paddings", op_table[c->kind].name, given);
    for (uint32_t d = 0; given && d < w->n; d++) {
        bool both = given == 2 * (int)w->n;
        w->before[d] = given == 1 ? v[0] : !both ? v[d] : c->ttnn ? v[2 * (size_t)d] : v[d];
        w->after[d] = given == 1 ? v[0] : !both ? v[d] : c->ttnn ? v[2 * (size_t)d + 1] : v[w->n + d];
        if (w->before[d] < 0 || w->after[d] < 0)
            return eval_fail(b, "a negative padding");
    }
    return true;
}

/* Stride, dilation, padding; the window's size and the input's must be set. */
static bool read_window(struct eval_context *b, const struct call *c, struct conv_window *w) {
    for (uint32_t d = 0; d < w->n; d++)
        w->stride[d] = w->dilation[d] = 1;
    if (!per_dimension(b, c, "stride", w->n, w->stride) || !per_dimension(b, c, "dilation", w->n, w->dilation) ||
        !paddings(b, c, w))
        return false;
    for (uint32_t d = 0; d < w->n; d++)
        if (w->stride[d] < 1 || w->dilation[d] < 1 || w->size[d] < 1)
            return eval_fail(b, "%s: a window that does not move", op_table[c->kind].name);
    return true;
}

static bool output_sizes(struct eval_context *b, const struct call *c, struct conv_window *w, bool up) {
    for (uint32_t d = 0; d < w->n; d++) {
        int64_t room = w->in[d] + w->before[d] + w->after[d] - w->dilation[d] * (w->size[d] - 1) - 1;
        w->out[d] = room < 0 ? 0 : (room + (up ? w->stride[d] - 1 : 0)) / w->stride[d] + 1;
        /* a window that begins behind the input and the padding before it does not count */
        if (up && w->out[d] > 0 && (w->out[d] - 1) * w->stride[d] >= w->in[d] + w->before[d])
            w->out[d]--;
        if (w->out[d] < 1)
            return eval_fail(b, "%s: the window is larger than the input", op_table[c->kind].name);
    }
    return true;
}

/* ---- layout of input and result ---- */

/* Which dimensions of the operand are batch, spatial dimensions and channels. */
struct conv_layout {
    uint32_t dims[SPATIAL + 2];
    bool flat; /* [1, 1, batch * spatial, channels] */
};

/* Batch and spatial sizes that the op prints for a flattened input; *flat says whether it does. */
static bool printed_sizes(struct eval_context *b, const struct call *c, uint32_t n, int64_t *sizes, bool *flat) {
    struct str text = STR("");
    *flat = attr_text(c, "flattened_compat_info", &text) && text.n && !str_find(text, STR("none"));
    if (*flat) {
        bool found = text_int(text, "batch_size", &sizes[0]);
        for (uint32_t d = 0; d < n; d++)
            found &= text_int(text, window_size_keys[n - 1][d], &sizes[d + 1]);
        return found || eval_fail(b, "flattened_compat_info cannot be read");
    }
    *flat = c->ttnn && attr_text(c, window_size_keys[n - 1][0], &text);
    if (!*flat)
        return true;
    if (!attr_needed(b, c, "batch_size") || !attr_int(b, c, "batch_size", &sizes[0]))
        return false;
    for (uint32_t d = 0; d < n; d++)
        if (!attr_needed(b, c, window_size_keys[n - 1][d]) ||
            !attr_int(b, c, window_size_keys[n - 1][d], &sizes[d + 1]))
            return false;
    return true;
}

/* The input as [batch, spatial..., channels]; *l is its layout. NULL with a reason. */
static const struct tensor *canonical(struct eval_context *b, const struct call *c, uint32_t n, struct conv_layout *l) {
    const struct tensor *x = operand(c, 0);
    int64_t sizes[SPATIAL + 2];
    if (!printed_sizes(b, c, n, sizes, &l->flat))
        return NULL;
    if (l->flat) {
        struct shape s = {.rank = n + 2};
        memcpy(s.dim, sizes, (n + 1) * sizeof *sizes);
        s.dim[n + 1] = x->shape.rank ? x->shape.dim[x->shape.rank - 1] : 1;
        return tensor_reshape(b, x, &s);
    }
    bool used[TENSOR_RANK] = {false};
    if (x->shape.rank != n + 2) {
        eval_fail(b, "%s of %s", op_table[c->kind].name, shape_text(b->arena, &x->shape).p);
        return NULL;
    }
    for (uint32_t d = 0; d < n + 2; d++) {
        const char *key = d == 0 ? "batch_dim" : d == n + 1 ? "channel_dim" : window_dim_keys[n - 1][d - 1];
        if (!axis_attr(b, c, key, d, n + 2, &l->dims[d]))
            return NULL;
        if (used[l->dims[d]]) {
            eval_fail(b, "%s names a dimension twice", op_table[c->kind].name);
            return NULL;
        }
        used[l->dims[d]] = true;
    }
    return view_copy(b, view_permuted(view_of(x), l->dims));
}

/* The result in the layout of the input. */
static const struct tensor *laid_out(struct eval_context *b, const struct call *c, uint32_t result,
                                     const struct tensor *t, const struct conv_layout *l) {
    uint32_t back[SPATIAL + 2], n = t->shape.rank;
    if (l->flat) {
        const struct shape *declared = declared_shape(c, result);
        int64_t channels = t->shape.dim[n - 1];
        struct shape s = {4, {1, 1, channels ? t->n / channels : 0, channels}};
        return declared ? as_declared(b, c, result, t) : tensor_reshape(b, t, &s);
    }
    for (uint32_t d = 0; d < n; d++)
        back[l->dims[d]] = d;
    return view_copy(b, view_permuted(view_of(t), back));
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
static bool read_weights(struct eval_context *b, const struct call *c, struct conv_window *w, struct conv_kernel *k) {
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
                return eval_fail(b, "%s: weights %s", op_table[c->kind].name, shape_text(b->arena, &t->shape).p);
        return true;
    }
    if (!per_dimension(b, c, "kernel_size", w->n, w->size))
        return false;
    for (uint32_t d = 0; d < w->n; d++)
        window *= w->size[d];
    if (k->transposed || window < 1 || rank < 2 || t->shape.dim[rank - 1] != k->out || t->n != window * second * k->out)
        return eval_fail(b, "%s: weights %s for %lld channels in %lld groups", op_table[c->kind].name,
                         shape_text(b->arena, &t->shape).p, (long long)k->in, (long long)k->groups);
    v.stride[0] = 1;
    v.stride[1] = k->out;
    int64_t stride = k->out * second;
    for (uint32_t d = w->n; d-- > 0; stride *= w->size[d]) {
        v.shape.dim[d + 2] = w->size[d];
        v.stride[d + 2] = stride;
    }
    k->w = v;
    return true;
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

static struct tensor *convolve(struct eval_context *b, const struct conv_kernel *k, const struct conv_window *w,
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
    struct tensor *t = tensor_new(b, &s);
    if (!t || !eval_steps(b, t->n, shape_count(&taps)))
        return NULL;
    for (double *out = t->x; walk_more(&places); walk_next(&places), out += k->out)
        convolve_at(k, w, &v, places.at[0], places.at + 1, out);
    return t;
}

static bool transposed_sizes(struct eval_context *b, const struct call *c, struct conv_window *w) {
    int64_t extra[SPATIAL] = {0};
    if (!per_dimension(b, c, "output_padding", w->n, extra))
        return false;
    for (uint32_t d = 0; d < w->n; d++) {
        w->out[d] = (w->in[d] - 1) * w->stride[d] - w->before[d] - w->after[d] + w->dilation[d] * (w->size[d] - 1) +
                    extra[d] + 1;
        if (w->out[d] < 1)
            return eval_fail(b, "conv_transpose2d: nothing is left of the result");
    }
    return true;
}

static const struct tensor *with_bias(struct eval_context *b, const struct call *c, struct tensor *t,
                                      int64_t channels) {
    const struct tensor *bias = operand(c, 2);
    if (!t || !bias)
        return t;
    if (bias->n != channels && bias->n != 1) {
        eval_fail(b, "%s: a bias of %lld numbers for %lld channels", op_table[c->kind].name, (long long)bias->n,
                  (long long)channels);
        return NULL;
    }
    for (int64_t i = 0; i < t->n; i++)
        t->x[i] += bias->x[bias->n == 1 ? 0 : i % channels];
    return t;
}

/* Channels of the result: printed, or else those of the weights. */
static bool channels_out(struct eval_context *b, const struct call *c, struct conv_kernel *k) {
    const struct tensor *w = operand(c, 1);
    k->out = w->shape.rank ? w->shape.dim[k->transposed ? 1 : 0] * (k->transposed ? k->groups : 1) : 1;
    return attr_int(b, c, "out_channels", &k->out) && k->out > 0 && k->out % k->groups == 0
               ? true
               : eval_fail(b, "%s: %lld channels in %lld groups", op_table[c->kind].name, (long long)k->out,
                           (long long)k->groups);
}

bool evaluate_convolution(struct eval_context *b, const struct call *c, const struct tensor **out) {
    struct conv_window w = {.n = op_table[c->kind].window.rank};
    struct conv_kernel k = {.groups = 1, .transposed = op_table[c->kind].window.kind == WINDOW_TRANSPOSED};
    struct conv_layout l;
    static const char *const modes[] = {"zeros", "replicate", NULL};
    int mode;
    if (!operands_needed(b, c, 2) || !attr_int(b, c, "groups", &k.groups) ||
        !attr_word(b, c, "padding_mode", modes, &mode))
        return false;
    const struct tensor *x = canonical(b, c, w.n, &l);
    if (!x)
        return false;
    set_input(&w, x);
    k.in = x->shape.dim[w.n + 1];
    if (k.groups < 1 || k.in % k.groups != 0)
        return eval_fail(b, "%lld channels in %lld groups", (long long)k.in, (long long)k.groups);
    k.replicate = mode == 1;
    if (!channels_out(b, c, &k) || !read_weights(b, c, &w, &k) || !read_window(b, c, &w) ||
        !(k.transposed ? transposed_sizes(b, c, &w) : output_sizes(b, c, &w, false)))
        return false;
    const struct tensor *t = with_bias(b, c, convolve(b, &k, &w, x), k.out);
    t = apply_activation(b, c, t);
    *out = t ? laid_out(b, c, 0, t, &l) : NULL;
    return *out != NULL;
}

/* ---- pools ---- */

struct conv_pool {
    struct conv_window w;
    struct conv_layout l;
    const struct tensor *x;
};

static bool read_pool(struct eval_context *b, const struct call *c, struct conv_pool *p) {
    bool up = false;
    struct str text;
    const char *key = attr_text(c, "kernel_size", &text) ? "kernel_size" : "kernel";
    *p = (struct conv_pool){.w = {.n = 2}};
    if (!operands_needed(b, c, 1) || !attr_needed(b, c, key) || !per_dimension(b, c, key, 2, p->w.size) ||
        !attr_flag(b, c, "ceil_mode", &up) || !read_window(b, c, &p->w) || !(p->x = canonical(b, c, 2, &p->l)))
        return false;
    set_input(&p->w, p->x);
    return output_sizes(b, c, &p->w, up);
}

static struct tensor *pool_result(struct eval_context *b, const struct conv_pool *p) {
    const struct tensor *x = p->x;
    struct tensor *t = tensor_new(b, &(struct shape){4, {x->shape.dim[0], p->w.out[0], p->w.out[1], x->shape.dim[3]}});
    return t && eval_steps(b, t->n, p->w.size[0] * p->w.size[1]) ? t : NULL;
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

bool evaluate_max_pool_with_indices(struct eval_context *b, const struct call *c, const struct tensor **out) {
    struct conv_pool p;
    struct index_walk w;
    if (!read_pool(b, c, &p))
        return false;
    struct tensor *t = pool_result(b, &p), *where = t ? tensor_new(b, &t->shape) : NULL;
    if (!where)
        return false;
    walk_begin(&w, &t->shape);
    for (int64_t i = 0; walk_more(&w); walk_next(&w), i++)
        largest_at(&p, w.at, &t->x[i], &where->x[i]);
    out[0] = laid_out(b, c, 0, t, &p.l);
    out[1] = laid_out(b, c, 1, where, &p.l);
    return out[0] != NULL;
}

bool evaluate_max_pool(struct eval_context *b, const struct call *c, const struct tensor **out) {
    bool good = evaluate_max_pool_with_indices(b, c, out);
    out[1] = NULL;
    return good;
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

bool evaluate_avg_pool(struct eval_context *b, const struct call *c, const struct tensor **out) {
    struct conv_pool p;
    struct index_walk w;
    bool padding_counts = true;
    int64_t offset, in[2] = {0};
    if (!read_pool(b, c, &p) || !attr_flag(b, c, "count_include_pad", &padding_counts))
        return false;
    if (p.w.dilation[0] != 1 || p.w.dilation[1] != 1)
        return eval_fail(b, "avg_pool2d with a dilated window");
    struct tensor *t = pool_result(b, &p);
    if (!t)
        return false;
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
            return eval_fail(b, "avg_pool2d: a window of padding only");
        *x /= (double)n;
    }
    *out = laid_out(b, c, 0, t, &p.l);
    return *out != NULL;
}

/* The two elements between which one of the result lies, and the share of the second. Nearest: element i / scale is
 * both. Bilinear: distances are those of the centres of pixels, and the edge goes on (interpolate of PyTorch without
 * align_corners). */
static double between(int64_t i, int64_t scale, int64_t n, bool bilinear, int64_t at[2]) {
    double x = fmax(((double)i + 0.5) / (double)scale - 0.5, 0);
    at[0] = bilinear ? (int64_t)x : i / scale;
    at[1] = bilinear && at[0] + 1 < n ? at[0] + 1 : at[0];
    return bilinear ? x - (double)at[0] : 0;
}

bool evaluate_upsample(struct eval_context *b, const struct call *c, const struct tensor **out) {
    static const char *const modes[] = {"nearest", "bilinear", NULL};
    int mode;
    int64_t by[2] = {1, 1};
    const struct tensor *x = operand(c, 0);
    if (!operands_needed(b, c, 1) || !attr_needed(b, c, "scale_factor") ||
        !per_dimension(b, c, "scale_factor", 2, by) || !attr_word(b, c, "mode", modes, &mode))
        return false;
    if (x->shape.rank != 4 || by[0] < 1 || by[1] < 1)
        return eval_fail(b, "upsample of %s", shape_text(b->arena, &x->shape).p);
    bool bilinear = mode == 1;
    struct shape s = x->shape;
    struct view v = view_of(x);
    s.dim[1] *= by[0];
    s.dim[2] *= by[1];
    struct tensor *t = tensor_new(b, &s);
    struct index_walk w;
    if (!t)
        return false;
    walk_begin(&w, &s);
    for (double *p = t->x; walk_more(&w); walk_next(&w), p++) {
        int64_t rows[2], columns[2];
        double down = between(w.at[1], by[0], x->shape.dim[1], bilinear, rows),
               right = between(w.at[2], by[1], x->shape.dim[2], bilinear, columns);
        for (int i = 0; i < 4; i++) {
            double share = (i / 2 ? down : 1 - down) * (i % 2 ? right : 1 - right);
            int64_t at = w.at[0] * v.stride[0] + rows[i / 2] * v.stride[1] + columns[i % 2] * v.stride[2] + w.at[3];
            *p += share > 0 ? share * x->x[at] : 0;
        }
    }
    *out = t;
    return true;
}
