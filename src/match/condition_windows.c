/* Conditions about ops that have no index maps, read from their attributes: windows of convolutions and pools, the
 * dimension of a batch normalisation or a sort. */
#include "match/conditions.h"

static int numbers_of(const struct graph *g, uint32_t op, const char *key, int64_t *out, int max) {
    struct str text;
    int n = mlir_attr(g->m, op, key, &text) ? mlir_ints(text, out, max) : 0;
    return n > 0 && n <= max ? n : 0;
}

static int64_t number_of(const struct graph *g, uint32_t op, const char *key, int64_t otherwise) {
    int64_t list[MAX_RANK];
    return numbers_of(g, op, key, list, MAX_RANK) == 1 ? list[0] : otherwise;
}

/* A dimension of a tensor as a digit of its row-major index; empty when it has one element. */
static struct imap digit_of(uint32_t space, int64_t stride, int64_t size) {
    struct imap d = {size > 1, {{space, stride, size, 1}}};
    return d;
}

/* The dimensions along which the window of an op moves, in the index of its operand; 0: not known. TTNN prints their
 * sizes, channels last whatever the operand's shape; TTIR names the dimensions, by default the ones after the first. */
static int window_dims(const struct graph *g, uint32_t op, uint32_t space, struct imap *out) {
    uint32_t rank = 0, x = graph_noperands(g, op) ? graph_operands(g, op)[0] : NONE;
    const int64_t *shape = x == NONE ? NULL : graph_shape(g, x, &rank);
    struct str text;
    enum window_kind kind = op_table[g->kind[op]].window.kind;
    int n = (int)op_table[g->kind[op]].window.rank;
    if ((kind != WINDOW_CONVOLUTION && kind != WINDOW_POOL) || !shape || graph_numel(g, x) < 1 ||
        mlir_attr(g->m, op, "flattened_compat_info", &text))
        return 0;
    int64_t stride = number_of(g, op, "in_channels", number_of(g, op, "channels", 0));
    for (int i = n; stride > 0 && i-- > 0;) {
        int64_t size = number_of(g, op, window_size_keys[n - 1][i], 0);
        out[i] = digit_of(space, stride, size);
        if (__builtin_mul_overflow(stride, size, &stride))
            return 0;
    }
    if (stride > 0)
        return graph_numel(g, x) % stride == 0 ? n : 0;
    for (int i = 0; i < n; i++) {
        int64_t d = number_of(g, op, window_dim_keys[n - 1][i], i + 1);
        if (d < 0 || d >= (int64_t)rank)
            return 0;
        stride = 1;
        for (uint32_t k = (uint32_t)d + 1; k < rank; k++)
            stride *= shape[k];
        out[i] = digit_of(space, stride, shape[d]);
    }
    return n;
}

bool window_pads(const struct graph *g, uint32_t op, const struct binding *pad, struct window_pads *out) {
    struct imap dims[MAX_WINDOW], axis;
    int64_t amounts[2 * MAX_RANK];
    if (op == NONE || pad->op == NONE || pad->map->n == 0)
        return false;
    int count = numbers_of(g, pad->op, "padding", amounts, 2 * MAX_RANK);
    *out = (struct window_pads){.n = window_dims(g, op, pad->map->t[0].space, dims)};
    for (int i = 0; i < out->n; i++) {
        out->stride[i] = dims[i].t[0].lo;
        out->size[i] = dims[i].t[0].size;
        if (out->stride[i] < 1 || out->size[i] < 1) /* sizes that are attributes may be anything */
            return false;
    }
    for (int d = 0; d < count / 2; d++) {
        axes_axis(pad->axes, d, &axis);
        for (int i = 0; i < out->n; i++) {
            if (!imap_equal(&axis, &dims[i]))
                continue;
            out->before[i] = amounts[2 * (size_t)d];
            out->after[i] = amounts[2 * (size_t)d + 1];
        }
    }
    return out->n > 0 && count == 2 * (int)pad->axes->n;
}

/* Whether the op's own padding can be more at one end than at the other: its attribute then has a number for each. */
static bool pads_each_end(const struct graph *g, uint32_t op) {
    int64_t list[MAX_RANK];
    int n = numbers_of(g, op, "padding", list, MAX_RANK);
    uint32_t spatial = op_table[g->kind[op]].window.rank;
    return spatial < 3 && n == 2 * (int)spatial;
}

static bool is_pool(const struct graph *g, uint32_t op) {
    return op_table[g->kind[op]].window.kind == WINDOW_POOL;
}

/* The padding of a pool is at most half of its window, or some window would hold nothing else. */
static bool pool_takes(const struct graph *g, uint32_t op, int dim, int64_t amount) {
    int64_t window[MAX_RANK] = {0}, own[MAX_RANK], most = 0;
    int n = numbers_of(g, op, "kernel", window, MAX_RANK);
    if (n == 0)
        n = numbers_of(g, op, "kernel_size", window, MAX_RANK);
    int k = numbers_of(g, op, "padding", own, MAX_RANK);
    for (int i = 0; i < k; i++)
        most = own[i] > most ? own[i] : most;
    int64_t half = window[n == 2 ? dim : 0] / 2;
    return most <= half && amount <= half - most;
}

/* All that the pad p adds can be padding of the op c instead. */
bool condition_pads_window(const struct condition_call *c) {
    const struct graph *g = c->graph;
    struct imap dims[MAX_WINDOW], axis;
    int64_t amounts[2 * MAX_RANK];
    struct str mode;
    if (c->arg[0].value == NONE || c->arg[1].value == NONE)
        return true;
    if (c->arg[0].op == NONE || c->arg[1].op == NONE || c->arg[0].map->n == 0)
        return false;
    if (mlir_attr(g->m, c->arg[1].op, "padding_mode", &mode) && !str_eq(mode, STR("\"zeros\"")))
        return false;
    int count = numbers_of(g, c->arg[0].op, "padding", amounts, 2 * MAX_RANK);
    int nd = window_dims(g, c->arg[1].op, c->arg[0].map->t[0].space, dims);
    if (nd == 0 || count != 2 * (int)c->arg[0].axes->n)
        return false;
    for (int d = 0; d < count / 2; d++) {
        int64_t front = amounts[2 * (size_t)d], behind = amounts[2 * (size_t)d + 1];
        bool inside = front == 0 && behind == 0;
        axes_axis(c->arg[0].axes, d, &axis);
        for (int i = 0; i < nd && !inside; i++)
            inside = imap_equal(&axis, &dims[i]) &&
                     (!is_pool(g, c->arg[1].op) || pool_takes(g, c->arg[1].op, i, front > behind ? front : behind));
        if (!inside || front < 0 || behind < 0 || (front != behind && !pads_each_end(g, c->arg[1].op)))
            return false;
    }
    return true;
}

static bool same_numbers(const struct graph *g, uint32_t a, uint32_t b, const char *key) {
    int64_t x[MAX_RANK], y[MAX_RANK];
    int n = numbers_of(g, a, key, x, MAX_RANK), k = numbers_of(g, b, key, y, MAX_RANK);
    for (int i = 0; i < n || i < k; i++)
        if (n == 0 || k == 0 || (n > 1 && k > 1 && n != k) || x[n > 1 ? i : 0] != y[k > 1 ? i : 0])
            return false;
    return true;
}

/* Two convolutions with the same windows, whose results are read at the same elements. */
bool condition_same_window(const struct condition_call *c) {
    static const char *const keys[] = {"stride",      "dilation",     "groups",      "batch_dim",    "depth_dim",
                                       "height_dim",  "width_dim",    "length_dim",  "channel_dim",  "batch_size",
                                       "input_depth", "input_height", "input_width", "input_length", "in_channels"};
    if (c->arg[0].op == NONE || c->arg[1].op == NONE)
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!same_numbers(c->graph, c->arg[0].op, c->arg[1].op, keys[i]))
            return false;
    struct imap x = *c->arg[0].map, y = *c->arg[1].map;
    imap_canonical(&x);
    imap_canonical(&y);
    return imap_equal(&x, &y);
}

/* The dimension that a batch normalisation normalises is the last axis of c: that of a convolution's channels. TTNN
 * has them second. */
bool condition_normalizes_channels(const struct condition_call *c) {
    const struct graph *g = c->graph;
    uint32_t rank;
    if (c->arg[0].value == NONE || c->arg[1].value == NONE)
        return true;
    uint32_t x = c->arg[0].op != NONE && graph_noperands(g, c->arg[0].op) ? graph_operands(g, c->arg[0].op)[0] : NONE;
    const int64_t *shape = x == NONE ? NULL : graph_shape(g, x, &rank);
    int64_t stride = 1, d = shape ? number_of(g, c->arg[0].op, "dimension", 1) : -1;
    if (!shape || d < 0 || d >= (int64_t)rank || c->arg[1].map->n == 0 || graph_numel(g, x) < 1)
        return false;
    for (uint32_t k = (uint32_t)d + 1; k < rank; k++)
        stride *= shape[k];
    struct imap channels, dim = digit_of(c->arg[1].map->t[0].space, stride, shape[d]);
    axes_axis(c->arg[1].axes, -1, &channels);
    return imap_equal(&channels, &dim);
}

/* A transpose of the last two dimensions. */
bool condition_turned(const struct condition_call *c) {
    const struct graph *g = c->graph;
    uint32_t rank, op = c->arg[0].op;
    struct imap whole, moved;
    if (c->arg[0].value == NONE)
        return true;
    const int64_t *shape = graph_shape(g, c->arg[0].value, &rank);
    if (op == NONE || !shape || rank < 2 || graph_numel(g, c->arg[0].value) < 1)
        return false;
    imap_identity(&whole, 0, graph_numel(g, c->arg[0].value));
    if (!imap_through(g, op, &whole, &moved))
        return false;
    int64_t rows = shape[rank - 2], columns = shape[rank - 1];
    int64_t rest = graph_numel(g, c->arg[0].value) / (rows * columns);
    struct imap expected = {3,
                            {{0, 1, columns, rows}, {0, columns, rows, 1}, {0, rows * columns, rest, rows * columns}}};
    imap_canonical(&expected);
    imap_canonical(&moved);
    return rows > 1 && columns > 1 && imap_equal(&expected, &moved);
}
