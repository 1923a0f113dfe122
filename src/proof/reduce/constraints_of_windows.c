/* Convolutions, pools and upsamplings: the window is fixed, the image shrinks together with the result.
 *
 * The elements left over behind the last window are kept too, so that a size that is rounded up (ceil_mode) is rounded
 * up again. An image is an operand of rank spatial + 2, or, in TTNN, flattened to [1, 1, batch * height * width,
 * channels] with its sizes in attributes. */
#include "proof/reduce/constraints.h"

/* The window of an op, and which of operand and result are flattened. */
struct sliding {
    struct window w;
    bool flat[2];
};

static bool is_flat(const struct shape *s, int64_t batch, const int64_t *sizes, uint32_t n) {
    int64_t count = batch;
    for (uint32_t d = 0; d < n; d++)
        if (__builtin_mul_overflow(count, sizes[d], &count))
            return false;
    return s->rank == 4 && s->dim[0] == 1 && s->dim[1] == 1 && s->dim[2] == count;
}

/* The result is as large as the window says. */
static bool is_image(const struct shape *s, const struct window *w) {
    bool fits = s->rank == w->n + 2;
    for (uint32_t d = 0; d < w->n && fits; d++)
        fits = s->dim[w->printed ? d + 1 : w->dims_of_result[d + 1]] == w->out[d];
    return fits;
}

static bool read_sliding(const struct graph *g, uint32_t op, const struct shape *x, const struct shape *y,
                         struct sliding *s) {
    struct window *w = &s->w;
    if (graph_window(g, op, w) != NULL)
        return false;
    s->flat[0] = w->printed && is_flat(x, w->batch, w->in, w->n);
    s->flat[1] = s->flat[0] && is_flat(y, w->batch, w->out, w->n);
    bool known = (s->flat[0] || x->rank == w->n + 2) && (s->flat[1] || is_image(y, w));
    for (uint32_t d = 0; d < w->n && known; d++)
        known = w->stride[d] <= MAX_TERMS_OF_SIDE && w->spread[d] == 1 && window_remainder(w, d) > -w->stride[d];
    return known;
}

/* in + (what is left of stride * out) = stride * out, where the product is a sum of `stride` terms; transposed, with in
 * and out exchanged. */
static void constrain_window(struct constraints *c, const struct window *w, uint32_t d) {
    int64_t few = w->transposed ? w->in[d] : w->out[d], many = w->transposed ? w->out[d] : w->in[d];
    struct constraint *r = constraints_add(c, SUM);
    constraint_add_term(c, r, 0, many);
    constraint_add_constant(c, r, 0, w->stride[d] * few - many);
    for (int64_t i = 0; i < w->stride[d]; i++)
        constraint_add_term(c, r, 1, few);
}

static int64_t reach_of(const struct window *w, uint32_t d) {
    return (w->size[d] - 1) * w->dilation[d] + 1;
}

/* The window of pools of images as large, one behind the other. */
static int64_t reach_of_pools(const struct constraints *c, const struct window *w, uint32_t d) {
    const struct subgraph *s = c->subgraph;
    int64_t reach = 1;
    for (uint32_t i = 0; i < s->nops; i++) {
        struct window other;
        bool pools = op_table[s->graph->kind[s->ops[i]]].window.rank > d &&
                     !op_convolves((enum op_kind)s->graph->kind[s->ops[i]]) &&
                     graph_window(s->graph, s->ops[i], &other) == NULL;
        if (pools && other.in[d] == w->in[d])
            reach += reach_of(&other, d) - 1;
    }
    return reach;
}

/* The window has room in the operand where it had: a pool of all elements is the same in windows of any size. */
static void constrain_reach(struct constraints *c, const struct window *w, uint32_t d, bool pools) {
    int64_t reach = reach_of(w, d), all = pools ? reach_of_pools(c, w, d) : reach;
    if (w->transposed || reach > w->in[d])
        return;
    reach = all < w->in[d] ? all : w->in[d];
    struct constraint *r = constraints_add(c, AT_MOST);
    constraint_add_constant(c, r, 0, reach);
    constraint_add_term(c, r, 1, w->in[d]);
}

static void constrain_flattened(struct constraints *c, const struct window *w, const int64_t *sizes, int64_t flat) {
    struct constraint *r = constraints_add(c, PRODUCT);
    constraint_add_term(c, r, 0, w->batch);
    for (uint32_t d = 0; d < w->n; d++)
        constraint_add_term(c, r, 0, sizes[d]);
    constraint_add_term(c, r, 1, flat);
}

/* Batch and channels are free, unless channels are in groups. */
static void fix_extents(struct constraints *c, const struct attrs *a, const struct shape *s) {
    int64_t batch = attrs_int(a, "batch_dim", 0), channels = attrs_int(a, "channel_dim", (int64_t)s->rank - 1);
    for (uint32_t d = 0; d < s->rank; d++)
        if (attrs_int(a, "groups", 1) > 1 || (d != batch && d != channels))
            constraints_fix(c, s->dim[d]);
}

/* What is not understood keeps its image. */
static void fix_image(struct constraints *c, uint32_t op, const struct shape *x, const struct shape *y) {
    const struct graph *g = c->subgraph->graph;
    const struct attrs *a = graph_attributes(g, op);
    uint32_t n = op_table[g->kind[op]].window.rank;
    if (n == 0) {
        constraints_fix_shape(c, graph_operands(g, op)[0]);
        constraints_fix_shape(c, g->m->ops[op].first_result);
        return;
    }
    for (uint32_t d = 0; d < n; d++)
        constraints_fix(c, attrs_int(a, window_size_keys[n - 1][d], 1));
    constraints_fix(c, attrs_int(a, "groups", 1));
    constraints_fix(c, attrs_int(a, "batch_size", 1));
    fix_extents(c, a, x);
    fix_extents(c, a, y);
}

/* groups * (channels of a group) = channels, of operand and result, where the weights are of so many groups. */
static void constrain_groups(struct constraints *c, uint32_t op, const struct window *w) {
    const struct graph *g = c->subgraph->graph;
    const int64_t channels[2] = {w->channels, w->out_channels};
    struct shape weight = {0};
    if (w->groups < 2)
        return;
    bool known = shape_in_graph(g, graph_operands(g, op)[1], &weight) && weight.rank == w->n + 2 &&
                 weight.dim[w->weight_dims[0]] == channels[!w->transposed] &&
                 weight.dim[w->weight_dims[1]] == channels[w->transposed] / w->groups;
    if (!known) {
        constraints_fix(c, w->groups);
        constraints_fix_shape(c, graph_operands(g, op)[0]);
        constraints_fix_shape(c, g->m->ops[op].first_result);
    }
    for (int k = 0; k < 2 && known; k++)
        constrain_product(c, w->groups, channels[k] / w->groups, channels[k]);
}

/* window * channels of a group = rows */
static void constrain_prepared(struct constraints *c, const struct window *w, const struct shape *weight) {
    struct constraint *r = constraints_add(c, PRODUCT);
    for (uint32_t d = 0; d < w->n; d++)
        constraint_add_constant(c, r, 0, w->size[d]);
    constraint_add_term(c, r, 0, w->channels / w->groups);
    constraint_add_term(c, r, 1, weight->dim[weight->rank - 2]);
}

void constraints_of_window(struct constraints *c, uint32_t op, const struct shape *x, const struct shape *y) {
    const struct graph *g = c->subgraph->graph;
    struct sliding s;
    struct shape weight = {0};
    bool known = read_sliding(g, op, x, y, &s);
    bool convolves = op_convolves((enum op_kind)g->kind[op]) && shape_in_graph(g, graph_operands(g, op)[1], &weight);
    bool prepared = known && convolves && window_takes_prepared(&s.w, &weight);
    if (prepared)
        constrain_prepared(c, &s.w, &weight);
    else if (convolves)
        for (uint32_t d = 2; d < weight.rank; d++)
            constraints_fix(c, weight.dim[known && weight.rank == s.w.n + 2 ? s.w.weight_dims[d] : d]);
    if (!known) {
        fix_image(c, op, x, y);
        return;
    }
    constrain_groups(c, op, &s.w);
    for (uint32_t d = 0; d < s.w.n; d++) {
        constrain_window(c, &s.w, d);
        constrain_reach(c, &s.w, d, !convolves);
    }
    if (s.flat[0])
        constrain_flattened(c, &s.w, s.w.in, x->dim[2]);
    if (s.flat[1])
        constrain_flattened(c, &s.w, s.w.out, y->dim[2]);
}
