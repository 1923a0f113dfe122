/* Convolutions, pools and upsamplings: the window is fixed, the image shrinks together with the result.
 *
 * The elements left over behind the last window are kept too, so that a size that is rounded up (ceil_mode) is rounded
 * up again. An image is an operand of rank spatial + 2, or, in TTNN, flattened to [1, 1, batch * height * width,
 * channels] with its sizes in attributes. The sizes follow the definition of PyTorch's Conv2d and ConvTranspose2d. */
#include "numeric/tensor.h"
#include "reduce/constraints.h"

enum { SPATIAL = MAX_WINDOW, MAX_SIZE = 1 << 20 }; /* sizes up to which sums and products of a few do not overflow */

struct window_extents {
    uint32_t n; /* spatial dimensions */
    bool transposed, ceil_mode;
    int64_t batch; /* of a flattened image; else 0 */
    int64_t in[SPATIAL], out[SPATIAL], stride[SPATIAL];
    /* padding - dilation * (kernel - 1) - 1, by which in + gain = stride * (out - 1); transposed, with the output
     * padding subtracted: out + gain = stride * (in - 1). */
    int64_t gain[SPATIAL];
    bool flat[2]; /* the operand, the result is flattened */
};

static uint32_t spatial_of(const struct graph *g, uint32_t op) {
    return op_table[g->kind[op]].window.rank;
}

static bool has_window(const struct graph *g, uint32_t op, enum window_kind kind) {
    return op_table[g->kind[op]].window.kind == kind;
}

static bool is_valid_size(int64_t x) {
    return x >= 0 && x <= MAX_SIZE;
}

/* ---- attributes ---- */

/* A list attribute: one number for each spatial dimension, or one for all. False where it is malformed. */
static bool per_dimension(const struct graph *g, uint32_t op, const char *key, uint32_t n, int64_t otherwise,
                          int64_t out[SPATIAL]) {
    struct str text;
    int64_t list[SPATIAL] = {0};
    int given = mlir_attr(g->m, op, key, &text) ? mlir_ints(text, list, SPATIAL) : 0;
    if (given != 0 && given != 1 && given != (int)n)
        return false;
    for (uint32_t d = 0; d < n; d++) {
        out[d] = given == 0 ? otherwise : list[given == 1 ? 0 : d];
        if (!is_valid_size(out[d]))
            return false;
    }
    return true;
}

/* Padding of both ends of each dimension together. Lists of both ends are [top, left, bottom, right] in TTIR and
 * [top, bottom, left, right] in TTNN. */
static bool paddings(const struct graph *g, uint32_t op, uint32_t n, int64_t out[SPATIAL]) {
    struct str text;
    int64_t v[2 * SPATIAL] = {0};
    bool ttnn = graph_is_ttnn(g, op);
    int given = mlir_attr(g->m, op, "padding", &text) ? mlir_ints(text, v, 2 * SPATIAL) : 0;
    if (given < 0 || (given > 1 && given != (int)n && given != 2 * (int)n))
        return false;
    for (int i = 0; i < given; i++)
        if (!is_valid_size(v[i]))
            return false;
    for (uint32_t d = 0; d < n; d++)
        out[d] = given <= 1        ? 2 * v[0]
                 : given == (int)n ? 2 * v[d]
                 : ttnn            ? v[2 * (size_t)d] + v[2 * (size_t)d + 1]
                                   : v[d] + v[n + d];
    return true;
}

/* Sizes of the window: an attribute, else the last dimensions of the weights. */
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
        if (out[d] < 1 || !is_valid_size(out[d]))
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
    int64_t d = int_attribute(g, op, key);
    return d < 0 ? otherwise : d;
}

static int64_t channels_at(const struct graph *g, uint32_t op, uint32_t rank) {
    return dim_of(g, op, "channel_dim", (int64_t)rank - 1);
}

/* The size of the result that the attributes give (see `gain`). */
static int64_t result_size(const struct window_extents *w, uint32_t d) {
    int64_t room = w->in[d] + w->gain[d] + (w->ceil_mode ? w->stride[d] - 1 : 0);
    if (w->transposed)
        return (w->in[d] - 1) * w->stride[d] - w->gain[d];
    return room < 0 ? 0 : room / w->stride[d] + 1;
}

/* The sizes in the attributes, where the operand is flattened and has as many rows. */
static bool flattened(const struct graph *g, uint32_t op, const int64_t *x, uint32_t rank, struct window_extents *w) {
    int64_t n = int_attribute(g, op, "batch_size"), count = n;
    if (rank != 4 || x[0] != 1 || x[1] != 1 || n < 1 || !is_valid_size(n))
        return false;
    for (uint32_t d = 0; d < w->n; d++) {
        w->in[d] = int_attribute(g, op, window_size_keys[w->n - 1][d]);
        if (w->in[d] < 1 || !is_valid_size(w->in[d]) || __builtin_mul_overflow(count, w->in[d], &count))
            return false;
        w->out[d] = result_size(w, d);
    }
    w->batch = n;
    return x[2] == count;
}

/* The spatial dimensions of an operand or result that is not flattened; NHWC where no attribute says otherwise. */
static bool unflattened(const struct graph *g, uint32_t op, const int64_t *x, uint32_t rank, int64_t to[SPATIAL],
                        const struct window_extents *w) {
    if (rank != w->n + 2)
        return false;
    for (uint32_t d = 0; d < w->n; d++) {
        int64_t at = dim_of(g, op, window_dim_keys[w->n - 1][d], d + 1);
        if (at >= rank || at == channels_at(g, op, rank) || at == dim_of(g, op, "batch_dim", 0) ||
            !is_valid_size(x[at]))
            return false;
        for (uint32_t k = 0; k < d; k++)
            if (at == dim_of(g, op, window_dim_keys[w->n - 1][k], k + 1))
                return false;
        to[d] = x[at];
    }
    return true;
}

static bool image_of(const struct graph *g, uint32_t op, struct window_extents *w) {
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

/* Elements left over behind the last window: the difference of both sides of the equation of `gain`. It is kept. */
static int64_t remainder_of(const struct window_extents *w, uint32_t d) {
    int64_t in = w->in[d], out = w->out[d];
    return w->transposed ? w->stride[d] * (in - 1) - (out + w->gain[d]) : w->stride[d] * (out - 1) - (in + w->gain[d]);
}

static bool window_of(const struct graph *g, uint32_t op, struct window_extents *w) {
    int64_t kernel[SPATIAL] = {0}, dilation[SPATIAL] = {0}, pad[SPATIAL] = {0}, extra[SPATIAL] = {0};
    *w = (struct window_extents){.n = spatial_of(g, op),
                                 .transposed = has_window(g, op, WINDOW_TRANSPOSED),
                                 .ceil_mode = flag_of(g, op, "ceil_mode")};
    if (w->n == 0 || has_window(g, op, WINDOW_UPSAMPLING) || !per_dimension(g, op, "stride", w->n, 1, w->stride) ||
        !per_dimension(g, op, "dilation", w->n, 1, dilation) || !kernel_of(g, op, w->n, kernel) ||
        !paddings(g, op, w->n, pad) || !per_dimension(g, op, "output_padding", w->n, 0, extra))
        return false;
    for (uint32_t d = 0; d < w->n; d++) {
        w->gain[d] = pad[d] - dilation[d] * (kernel[d] - 1) - 1 - (w->transposed ? extra[d] : 0);
        if (w->stride[d] < 1 || w->stride[d] > MAX_TERMS_OF_SIDE)
            return false;
    }
    if (!image_of(g, op, w))
        return false;
    for (uint32_t d = 0; d < w->n; d++)
        if (w->transposed ? remainder_of(w, d) != 0
                          : remainder_of(w, d) <= -w->stride[d] || remainder_of(w, d) >= w->stride[d])
            return false;
    return true;
}

/* ---- constraints ---- */

/* in + gain + remainder + stride = stride * out, the product as a sum of `stride` terms; transposed, with in and out
 * exchanged. */
static void constrain_window(struct constraints *c, const struct window_extents *w, uint32_t d) {
    struct constraint *r = constraints_add(c, SUM);
    constraint_add_term(c, r, 0, w->transposed ? w->out[d] : w->in[d]);
    constraint_add_constant(c, r, 0, w->gain[d] + remainder_of(w, d) + w->stride[d]);
    for (int64_t i = 0; i < w->stride[d]; i++)
        constraint_add_term(c, r, 1, w->transposed ? w->in[d] : w->out[d]);
}

static void constrain_flattened(struct constraints *c, const struct window_extents *w, const int64_t *sizes,
                                int64_t flat) {
    struct constraint *r = constraints_add(c, PRODUCT);
    constraint_add_term(c, r, 0, w->batch);
    for (uint32_t d = 0; d < w->n; d++)
        constraint_add_term(c, r, 0, sizes[d]);
    constraint_add_term(c, r, 1, flat);
}

static void fix_image(struct constraints *c, uint32_t op) {
    const struct graph *g = c->subgraph->graph;
    uint32_t rank, n = spatial_of(g, op);
    for (uint32_t d = 0; d < n; d++)
        constraints_fix(c, int_attribute(g, op, window_size_keys[n - 1][d]));
    constraints_fix(c, int_attribute(g, op, "batch_size"));
    for (int k = 0; k < 2; k++) {
        const int64_t *dims = k ? graph_shape(g, g->m->ops[op].first_result, &rank) : operand_shape(g, op, 0, &rank);
        for (uint32_t d = 0; dims && d < rank; d++)
            if ((int64_t)d != dim_of(g, op, "batch_dim", 0) && (int64_t)d != channels_at(g, op, rank))
                constraints_fix(c, dims[d]);
    }
}

static int64_t groups_of(const struct graph *g, uint32_t op) {
    return int_attribute(g, op, "groups");
}

/* Channels of the operand and of the result; false where they are not in several groups. */
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

/* The weights are [out, in / groups, ...], or [in, out / groups, ...] of a transposed convolution. */
static bool are_weights_of_groups(const struct graph *g, uint32_t op, const int64_t channels[2]) {
    uint32_t rank;
    const int64_t *weight = operand_shape(g, op, 1, &rank);
    bool transposed = has_window(g, op, WINDOW_TRANSPOSED);
    return weight && rank >= 2 && weight[0] == channels[!transposed] &&
           weight[1] == channels[transposed] / groups_of(g, op);
}

/* groups * (channels of a group) = channels, of operand and result. */
static void constrain_groups(struct constraints *c, uint32_t op) {
    const struct graph *g = c->subgraph->graph;
    int64_t channels[2], n = groups_of(g, op);
    if (n < 2)
        return;
    if (!grouped_channels(g, op, channels) || !are_weights_of_groups(g, op, channels)) {
        constraints_fix(c, n);
        constraints_fix_shape(c, graph_operands(g, op)[0]);
        constraints_fix_shape(c, g->m->ops[op].first_result);
        return;
    }
    for (int k = 0; k < 2; k++) {
        struct constraint *r = constraints_add(c, PRODUCT);
        constraint_add_term(c, r, 0, n);
        constraint_add_term(c, r, 0, channels[k] / n);
        constraint_add_term(c, r, 1, channels[k]);
    }
}

/* scale * size = result size for height and width of an NHWC image, with the scale factor kept. */
static void constrain_upsampling(struct constraints *c, uint32_t op) {
    const struct graph *g = c->subgraph->graph;
    uint32_t rank, to_rank;
    const int64_t *x = operand_shape(g, op, 0, &rank), *y = graph_shape(g, g->m->ops[op].first_result, &to_rank);
    int64_t scale[SPATIAL];
    bool known = x && y && rank == 4 && to_rank == 4 && per_dimension(g, op, "scale_factor", 2, 1, scale);
    for (uint32_t d = 0; d < 2 && known; d++)
        known = scale[d] > 0 && x[d + 1] > 0 && is_valid_size(x[d + 1]) && y[d + 1] == scale[d] * x[d + 1];
    if (!known) {
        constraints_fix_shape(c, graph_operands(g, op)[0]);
        constraints_fix_shape(c, g->m->ops[op].first_result);
        return;
    }
    for (uint32_t d = 0; d < 2; d++) {
        struct constraint *r = constraints_add(c, PRODUCT);
        constraint_add_term(c, r, 0, x[d + 1]);
        constraint_add_constant(c, r, 0, scale[d]);
        constraint_add_term(c, r, 1, y[d + 1]);
    }
}

void extents_of_window(struct constraints *c, uint32_t op) {
    const struct graph *g = c->subgraph->graph;
    int64_t channels[2];
    struct window_extents w;
    for (int k = 0; k < 2 && spatial_of(g, op) && grouped_channels(g, op, channels); k++)
        constraints_add_extent(c, channels[k] / groups_of(g, op));
    if (!window_of(g, op, &w) || !w.flat[0])
        return;
    constraints_add_extent(c, w.batch);
    for (uint32_t d = 0; d < w.n; d++) {
        constraints_add_extent(c, w.in[d]);
        constraints_add_extent(c, w.out[d]);
    }
}

void constraints_of_window(struct constraints *c, uint32_t op) {
    const struct graph *g = c->subgraph->graph;
    struct window_extents w;
    uint32_t rank;
    if (has_window(g, op, WINDOW_UPSAMPLING)) {
        constrain_upsampling(c, op);
        return;
    }
    const int64_t *dims = operand_shape(g, op, 1, &rank);
    for (uint32_t d = 2; dims && d < rank; d++)
        constraints_fix(c, dims[d]);
    constrain_groups(c, op);
    if (!window_of(g, op, &w)) {
        fix_image(c, op);
        return;
    }
    for (uint32_t d = 0; d < w.n; d++)
        constrain_window(c, &w, d);
    if (w.flat[0])
        constrain_flattened(c, &w, w.in, operand_shape(g, op, 0, &rank)[2]);
    if (w.flat[1])
        constrain_flattened(c, &w, w.out, graph_shape(g, g->m->ops[op].first_result, &rank)[2]);
}
