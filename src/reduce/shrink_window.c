/* Convolutions, pools and upsamplings: the window stays, the image shrinks with what it yields.
 *
 * What is left over behind the last window stays too, so that a count that is rounded up stays rounded up. An image is
 * an operand of its own rank, or flattened to [1, 1, batch * image, channels] with its sizes in attributes. */
#include "numeric/tensor.h"
#include "reduce/shrinker.h"

enum { SPATIAL = 3, SANE = 1 << 20 };

struct window {
    uint32_t n; /* spatial dimensions */
    bool transposed, up;
    int64_t batch; /* of a flattened image; 0: it is not known */
    int64_t in[SPATIAL], out[SPATIAL], stride[SPATIAL];
    /* What padding adds to the image, less the span of the window; of a transposed one to the result, less the output
     * padding too. */
    int64_t gain[SPATIAL];
    bool flat[2]; /* operand, result */
};

static const char *const dim_names[SPATIAL][SPATIAL] = {
    {"length_dim"}, {"height_dim", "width_dim"}, {"depth_dim", "height_dim", "width_dim"}};
static const char *const size_names[SPATIAL][SPATIAL] = {
    {"input_length"}, {"input_height", "input_width"}, {"input_depth", "input_height", "input_width"}};

static const struct {
    enum op_kind kind;
    uint32_t spatial;
} windowed[] = {{K_CONV1D, 1},           {K_CONV2D, 2},     {K_CONV3D, 3},
                {K_CONV_TRANSPOSE2D, 2}, {K_MAX_POOL2D, 2}, {K_MAX_POOL2D_WITH_INDICES, 2},
                {K_AVG_POOL2D, 2}};

static uint32_t spatial_of(enum op_kind k) {
    for (size_t i = 0; i < sizeof windowed / sizeof *windowed; i++)
        if (windowed[i].kind == k)
            return windowed[i].spatial;
    return 0;
}

static bool is_upsampling(enum op_kind k) {
    return k == K_UPSAMPLE || k == K_UPSAMPLE2D;
}

bool has_window(enum op_kind k) {
    return spatial_of(k) > 0 || is_upsampling(k);
}

static bool is_sane(int64_t x) {
    return x >= 0 && x <= SANE;
}

/* ---- attributes ---- */

/* A number for each dimension, or one that counts for all. */
static bool per_dimension(const struct graph *g, uint32_t op, const char *key, uint32_t n, int64_t otherwise,
                          int64_t out[SPATIAL]) {
    struct str text;
    int64_t list[SPATIAL] = {0};
    int given = mlir_attr(g->m, op, key, &text) ? mlir_ints(text, list, SPATIAL) : 0;
    if (given != 0 && given != 1 && given != (int)n)
        return false;
    for (uint32_t d = 0; d < n; d++) {
        out[d] = given == 0 ? otherwise : list[given == 1 ? 0 : d];
        if (!is_sane(out[d]))
            return false;
    }
    return true;
}

/* Of both ends together. [top, left, bottom, right] in TTIR, [top, bottom, left, right] in TTNN. */
static bool paddings(const struct graph *g, uint32_t op, uint32_t n, int64_t out[SPATIAL]) {
    struct str text;
    int64_t v[2 * SPATIAL] = {0};
    bool ttnn = str_starts(mlir_op_name(g->m, op), STR("ttnn."));
    int given = mlir_attr(g->m, op, "padding", &text) ? mlir_ints(text, v, 2 * SPATIAL) : 0;
    if (given < 0 || (given > 1 && given != (int)n && given != 2 * (int)n))
        return false;
    for (int i = 0; i < given; i++)
        if (!is_sane(v[i]))
            return false;
    for (uint32_t d = 0; d < n; d++)
        out[d] = given <= 1        ? 2 * v[0]
                 : given == (int)n ? 2 * v[d]
                 : ttnn            ? v[2 * (size_t)d] + v[2 * (size_t)d + 1]
                                   : v[d] + v[n + d];
    return true;
}

/* Sizes of the window itself: an attribute, else the last dimensions of the weights. */
static bool kernel_of(const struct graph *g, uint32_t op, uint32_t n, int64_t out[SPATIAL]) {
    uint32_t rank;
    if (!per_dimension(g, op, "kernel_size", n, 0, out) || (!out[0] && !per_dimension(g, op, "kernel", n, 0, out)))
        return false;
    if (out[0] > 0)
        return true;
    if (graph_noperands(g, op) < 2 || graph_operands(g, op)[1] == NONE)
        return false;
    const int64_t *weight = graph_shape(g, graph_operands(g, op)[1], &rank);
    if (!weight || rank != n + 2)
        return false;
    for (uint32_t d = 0; d < n; d++) {
        out[d] = weight[d + 2];
        if (out[d] < 1 || !is_sane(out[d]))
            return false;
    }
    return true;
}

static bool flag_of(const struct graph *g, uint32_t op, const char *key) {
    struct str text;
    return mlir_attr(g->m, op, key, &text) && !str_is(text, "false");
}

/* ---- the image ---- */

static const int64_t *operand_shape(const struct graph *g, uint32_t op, uint32_t i, uint32_t *rank) {
    bool there = graph_noperands(g, op) > i && graph_operands(g, op)[i] != NONE;
    *rank = 0;
    return there ? graph_shape(g, graph_operands(g, op)[i], rank) : NULL;
}

static int64_t dim_of(const struct graph *g, uint32_t op, const char *key, int64_t otherwise) {
    int64_t d = shrink_attr(g, op, key);
    return d < 0 ? otherwise : d;
}

static int64_t channels_at(const struct graph *g, uint32_t op, uint32_t rank) {
    return dim_of(g, op, "channel_dim", (int64_t)rank - 1);
}

/* in + gain = stride * (out - 1), as far as it goes; of a transposed one out + gain = stride * (in - 1). */
static int64_t yields(const struct window *w, uint32_t d) {
    int64_t room = w->in[d] + w->gain[d] + (w->up ? w->stride[d] - 1 : 0);
    if (w->transposed)
        return (w->in[d] - 1) * w->stride[d] - w->gain[d];
    return room < 0 ? 0 : room / w->stride[d] + 1;
}

/* The sizes that are printed, where the operand is flattened. */
static bool flattened(const struct graph *g, uint32_t op, const int64_t *x, uint32_t rank, struct window *w) {
    int64_t n = shrink_attr(g, op, "batch_size"), count = n;
    if (rank != 4 || x[0] != 1 || x[1] != 1 || n < 1 || !is_sane(n))
        return false;
    for (uint32_t d = 0; d < w->n; d++) {
        w->in[d] = shrink_attr(g, op, size_names[w->n - 1][d]);
        if (w->in[d] < 1 || !is_sane(w->in[d]) || __builtin_mul_overflow(count, w->in[d], &count))
            return false;
        w->out[d] = yields(w, d);
    }
    w->batch = n;
    return x[2] == count;
}

/* The dimensions of the image in an operand and a result of its own rank, channels last where nothing is said. */
static bool unflattened(const struct graph *g, uint32_t op, const int64_t *x, uint32_t rank, int64_t to[SPATIAL],
                        const struct window *w) {
    if (rank != w->n + 2)
        return false;
    for (uint32_t d = 0; d < w->n; d++) {
        int64_t at = dim_of(g, op, dim_names[w->n - 1][d], d + 1);
        if (at >= rank || at == channels_at(g, op, rank) || at == dim_of(g, op, "batch_dim", 0) || !is_sane(x[at]))
            return false;
        for (uint32_t k = 0; k < d; k++)
            if (at == dim_of(g, op, dim_names[w->n - 1][k], k + 1))
                return false;
        to[d] = x[at];
    }
    return true;
}

static bool image_of(const struct graph *g, uint32_t op, struct window *w) {
    uint32_t rank, to_rank;
    const int64_t *x = operand_shape(g, op, 0, &rank), *y = graph_shape(g, g->m->ops[op].first_result, &to_rank);
    int64_t count;
    if (!x || !y)
        return false;
    w->flat[0] = flattened(g, op, x, rank, w);
    if (!w->flat[0] && !unflattened(g, op, x, rank, w->in, w))
        return false;
    count = w->batch;
    for (uint32_t d = 0; d < w->n && w->flat[0]; d++)
        if (w->out[d] < 1 || __builtin_mul_overflow(count, w->out[d], &count))
            return false;
    w->flat[1] = w->flat[0] && to_rank == 4 && y[0] == 1 && y[1] == 1 && y[2] == count;
    return w->flat[1] || unflattened(g, op, y, to_rank, w->out, w);
}

/* What is left over on either side of the equation; it stays. */
static int64_t rest_of(const struct window *w, uint32_t d) {
    int64_t in = w->in[d], out = w->out[d];
    return w->transposed ? w->stride[d] * (in - 1) - (out + w->gain[d]) : w->stride[d] * (out - 1) - (in + w->gain[d]);
}

static bool window_of(const struct graph *g, uint32_t op, struct window *w) {
    enum op_kind k = (enum op_kind)g->kind[op];
    int64_t kernel[SPATIAL], dilation[SPATIAL], pad[SPATIAL], extra[SPATIAL];
    *w = (struct window){.n = spatial_of(k), .transposed = k == K_CONV_TRANSPOSE2D, .up = flag_of(g, op, "ceil_mode")};
    if (w->n == 0 || !per_dimension(g, op, "stride", w->n, 1, w->stride) ||
        !per_dimension(g, op, "dilation", w->n, 1, dilation) || !kernel_of(g, op, w->n, kernel) ||
        !paddings(g, op, w->n, pad) || !per_dimension(g, op, "output_padding", w->n, 0, extra))
        return false;
    for (uint32_t d = 0; d < w->n; d++) {
        w->gain[d] = pad[d] - dilation[d] * (kernel[d] - 1) - 1 - (w->transposed ? extra[d] : 0);
        if (w->stride[d] < 1 || w->stride[d] > MAX_SIDE)
            return false;
    }
    if (!image_of(g, op, w))
        return false;
    for (uint32_t d = 0; d < w->n; d++)
        if (w->transposed ? rest_of(w, d) != 0 : rest_of(w, d) <= -w->stride[d] || rest_of(w, d) >= w->stride[d])
            return false;
    return true;
}

/* ---- rules ---- */

/* in + gain + what is left over = stride * (out - 1); of a transposed one it is the image that is spread. */
static void rule_of_window(struct shrinker *s, const struct window *w, uint32_t d) {
    struct rule *r = shrink_rule(s, SUM);
    shrink_put(s, r, 0, w->transposed ? w->out[d] : w->in[d]);
    shrink_put_constant(s, r, 0, w->gain[d] + rest_of(w, d) + w->stride[d]);
    for (int64_t i = 0; i < w->stride[d]; i++)
        shrink_put(s, r, 1, w->transposed ? w->in[d] : w->out[d]);
}

static void rule_of_flattened(struct shrinker *s, const struct window *w, const int64_t *sizes, int64_t flat) {
    struct rule *r = shrink_rule(s, PRODUCT);
    shrink_put(s, r, 0, w->batch);
    for (uint32_t d = 0; d < w->n; d++)
        shrink_put(s, r, 0, sizes[d]);
    shrink_put(s, r, 1, flat);
}

static void fix_image(struct shrinker *s, uint32_t op) {
    const struct graph *g = s->part->graph;
    uint32_t rank, n = spatial_of((enum op_kind)g->kind[op]);
    for (uint32_t d = 0; d < n; d++)
        shrink_fix(s, shrink_attr(g, op, size_names[n - 1][d]));
    shrink_fix(s, shrink_attr(g, op, "batch_size"));
    for (int k = 0; k < 2; k++) {
        const int64_t *dims = k ? graph_shape(g, g->m->ops[op].first_result, &rank) : operand_shape(g, op, 0, &rank);
        for (uint32_t d = 0; dims && d < rank; d++)
            if ((int64_t)d != dim_of(g, op, "batch_dim", 0) && (int64_t)d != channels_at(g, op, rank))
                shrink_fix(s, dims[d]);
    }
}

static int64_t groups_of(const struct graph *g, uint32_t op) {
    return shrink_attr(g, op, "groups");
}

/* Channels of the operand and of the result; false where there are no groups of them. */
static bool grouped_channels(const struct graph *g, uint32_t op, int64_t out[2]) {
    uint32_t rank, to_rank;
    const int64_t *x = operand_shape(g, op, 0, &rank), *y = graph_shape(g, g->m->ops[op].first_result, &to_rank);
    int64_t n = groups_of(g, op);
    if (n < 2 || !x || !y || channels_at(g, op, rank) >= rank || channels_at(g, op, to_rank) >= to_rank)
        return false;
    out[0] = x[channels_at(g, op, rank)];
    out[1] = y[channels_at(g, op, to_rank)];
    return out[0] > 0 && out[1] > 0 && out[0] % n == 0 && out[1] % n == 0;
}

/* The weights are as they are defined: first the channels of one side, then those of a group of the other. */
static bool are_plain_weights(const struct graph *g, uint32_t op, const int64_t channels[2]) {
    uint32_t rank;
    const int64_t *weight = operand_shape(g, op, 1, &rank);
    bool turned = g->kind[op] == K_CONV_TRANSPOSE2D;
    return weight && rank >= 2 && weight[0] == channels[!turned] && weight[1] == channels[turned] / groups_of(g, op);
}

/* Channels of either side are so many groups. */
static void rules_of_groups(struct shrinker *s, uint32_t op) {
    const struct graph *g = s->part->graph;
    int64_t channels[2], n = groups_of(g, op);
    if (n < 2)
        return;
    if (!grouped_channels(g, op, channels) || !are_plain_weights(g, op, channels)) {
        shrink_fix(s, n);
        shrink_fix_shape(s, graph_operands(g, op)[0]);
        shrink_fix_shape(s, g->m->ops[op].first_result);
        return;
    }
    for (int k = 0; k < 2; k++) {
        struct rule *r = shrink_rule(s, PRODUCT);
        shrink_put(s, r, 0, n);
        shrink_put(s, r, 0, channels[k] / n);
        shrink_put(s, r, 1, channels[k]);
    }
}

/* Height and width become so many times as large; how often is told by the op and stays. */
static void rules_of_upsampling(struct shrinker *s, uint32_t op) {
    const struct graph *g = s->part->graph;
    uint32_t rank, to_rank;
    const int64_t *x = operand_shape(g, op, 0, &rank), *y = graph_shape(g, g->m->ops[op].first_result, &to_rank);
    int64_t by[SPATIAL];
    bool known = x && y && rank == 4 && to_rank == 4 && per_dimension(g, op, "scale_factor", 2, 1, by);
    for (uint32_t d = 0; d < 2 && known; d++)
        known = by[d] > 0 && x[d + 1] > 0 && is_sane(x[d + 1]) && y[d + 1] == by[d] * x[d + 1];
    if (!known) {
        shrink_fix_shape(s, graph_operands(g, op)[0]);
        shrink_fix_shape(s, g->m->ops[op].first_result);
        return;
    }
    for (uint32_t d = 0; d < 2; d++) {
        struct rule *r = shrink_rule(s, PRODUCT);
        shrink_put(s, r, 0, x[d + 1]);
        shrink_put_constant(s, r, 0, by[d]);
        shrink_put(s, r, 1, y[d + 1]);
    }
}

void numbers_of_window(struct shrinker *s, uint32_t op) {
    const struct graph *g = s->part->graph;
    int64_t channels[2];
    struct window w;
    for (int k = 0; k < 2 && has_window((enum op_kind)g->kind[op]) && grouped_channels(g, op, channels); k++)
        shrink_number(s, channels[k] / groups_of(g, op));
    if (!window_of(g, op, &w) || !w.flat[0])
        return;
    shrink_number(s, w.batch);
    for (uint32_t d = 0; d < w.n; d++) {
        shrink_number(s, w.in[d]);
        shrink_number(s, w.out[d]);
    }
}

void rules_of_window(struct shrinker *s, uint32_t op) {
    const struct graph *g = s->part->graph;
    struct window w;
    uint32_t rank;
    if (is_upsampling((enum op_kind)g->kind[op])) {
        rules_of_upsampling(s, op);
        return;
    }
    const int64_t *dims = operand_shape(g, op, 1, &rank);
    for (uint32_t d = 2; dims && d < rank; d++)
        shrink_fix(s, dims[d]);
    rules_of_groups(s, op);
    if (!window_of(g, op, &w)) {
        fix_image(s, op);
        return;
    }
    for (uint32_t d = 0; d < w.n; d++)
        rule_of_window(s, &w, d);
    if (w.flat[0])
        rule_of_flattened(s, &w, w.in, operand_shape(g, op, 0, &rank)[2]);
    if (w.flat[1])
        rule_of_flattened(s, &w, w.out, graph_shape(g, g->m->ops[op].first_result, &rank)[2]);
}
