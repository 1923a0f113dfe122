/* Conditions about ops that have no index maps, read from their attributes: windows of convolutions and pools, the
 * dimension of a batch normalisation or a sort. */
#include "search/match/conditions.h"

#include <string.h>

/* A dimension of a tensor as a digit of its row-major index; empty when it has one element. */
static struct imap digit_of(uint32_t space, int64_t stride, int64_t size) {
    struct imap d = {size > 1, {{space, stride, size, 1}}};
    return d;
}

/* The window of a convolution or pool, and the dimensions along which it moves, in the index of its operand; 0: not
 * known. */
static int window_dims(const struct graph *g, uint32_t op, uint32_t space, struct window *w, struct imap *out) {
    enum window_kind kind = op_table[g->kind[op]].window.kind;
    if ((kind != WINDOW_CONVOLUTION && kind != WINDOW_POOL) || graph_window(g, op, w) != NULL ||
        graph_numel(g, graph_operands(g, op)[0]) < 1)
        return 0;
    uint32_t rank;
    const int64_t *shape = graph_shape(g, graph_operands(g, op)[0], &rank);
    for (uint32_t i = 0; i < w->n; i++) {
        int64_t stride = w->printed ? w->channels : 1;
        for (uint32_t k = i + 1; w->printed && k < w->n; k++)
            stride *= w->in[k];
        for (uint32_t k = w->dims[i + 1] + 1; !w->printed && k < rank; k++)
            stride *= shape[k];
        out[i] = digit_of(space, stride, w->in[i]);
    }
    return (int)w->n;
}

bool window_pads(const struct graph *g, uint32_t op, const struct binding *pad, struct window_pads *out) {
    struct imap dims[MAX_WINDOW], axis;
    struct window w;
    const int64_t *amounts;
    if (op == NONE || pad->op == NONE || pad->map->n == 0)
        return false;
    int count = attrs_list(graph_attributes(g, pad->op), "padding", &amounts);
    *out = (struct window_pads){.n = window_dims(g, op, pad->map->t[0].space, &w, dims)};
    for (int i = 0; i < out->n; i++) {
        out->stride[i] = dims[i].t[0].lo;
        out->size[i] = dims[i].t[0].size;
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

static bool is_pool(const struct graph *g, uint32_t op) {
    return op_table[g->kind[op]].window.kind == WINDOW_POOL;
}

/* The padding of a pool is at most half of its window, or some window would hold nothing else. */
static bool pool_takes(const struct window *w, int dim, int64_t amount) {
    int64_t most = 0, half = w->size[dim] / 2;
    for (uint32_t i = 0; i < w->n; i++) {
        most = w->before[i] > most ? w->before[i] : most;
        most = w->after[i] > most ? w->after[i] : most;
    }
    return most <= half && amount <= half - most;
}

/* All that the pad p adds can be padding of the op c instead. */
bool condition_pads_window(const struct condition_call *c) {
    const struct graph *g = c->graph;
    struct imap dims[MAX_WINDOW], axis;
    struct window w;
    const int64_t *amounts;
    if (c->arg[0].value == NONE || c->arg[1].value == NONE)
        return true;
    if (c->arg[0].op == NONE || c->arg[1].op == NONE || c->arg[0].map->n == 0)
        return false;
    const struct attr *mode = attrs_find(graph_attributes(g, c->arg[1].op), "padding_mode");
    if (mode && !str_is(mode->text, "\"zeros\""))
        return false;
    int count = attrs_list(graph_attributes(g, c->arg[0].op), "padding", &amounts);
    int nd = window_dims(g, c->arg[1].op, c->arg[0].map->t[0].space, &w, dims);
    if (nd == 0 || count != 2 * (int)c->arg[0].axes->n)
        return false;
    for (int d = 0; d < count / 2; d++) {
        int64_t front = amounts[2 * (size_t)d], behind = amounts[2 * (size_t)d + 1];
        bool inside = front == 0 && behind == 0;
        axes_axis(c->arg[0].axes, d, &axis);
        for (int i = 0; i < nd && !inside; i++)
            inside = imap_equal(&axis, &dims[i]) &&
                     (!is_pool(g, c->arg[1].op) || pool_takes(&w, i, front > behind ? front : behind));
        if (!inside || front < 0 || behind < 0 || (front != behind && !w.both_ends))
            return false;
    }
    return true;
}

/* They move alike over images of one size. */
static bool same_movement(const struct window *a, const struct window *b) {
    bool same = a->n == b->n && a->printed == b->printed && a->batch == b->batch && a->channels == b->channels &&
                a->groups == b->groups && memcmp(a->dims, b->dims, sizeof a->dims) == 0;
    for (uint32_t d = 0; d < a->n && same; d++)
        same = a->in[d] == b->in[d] && a->stride[d] == b->stride[d] && a->dilation[d] == b->dilation[d];
    return same;
}

/* Two convolutions with the same windows, whose results are read at the same elements. */
bool condition_same_window(const struct condition_call *c) {
    struct window a, b;
    if (c->arg[0].op == NONE || c->arg[1].op == NONE || graph_window(c->graph, c->arg[0].op, &a) != NULL ||
        graph_window(c->graph, c->arg[1].op, &b) != NULL || !same_movement(&a, &b))
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
    int64_t stride = 1, d = shape ? attrs_int(graph_attributes(g, c->arg[0].op), "dimension", 1) : -1;
    if (!shape || d < 0 || d >= (int64_t)rank || c->arg[1].map->n == 0 || graph_numel(g, x) < 1)
        return false;
    for (uint32_t k = (uint32_t)d + 1; k < rank; k++)
        stride *= shape[k];
    struct imap channels, dim = digit_of(c->arg[1].map->t[0].space, stride, shape[d]);
    axes_axis(c->arg[1].axes, -1, &channels);
    return imap_equal(&channels, &dim);
}
