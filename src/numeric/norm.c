/* Softmax and the normalisations.
 *
 * Variances are biased (divided by n). The mean is subtracted before squares are summed, so that a large mean cancels
 * nothing. Defaults of epsilon are those of the op definitions, which differ between ops and dialects. */
#include "numeric/elementwise.h"
#include "numeric/evaluators.h"

#include <math.h>

/* ---- softmax ---- */

/* In place, on n numbers that are `stride` apart. `stable`: the maximum is subtracted first, so that exp does not
 * overflow. */
static void softmax_row(double *x, int64_t n, int64_t stride, bool stable) {
    double most = -INFINITY, total = 0;
    for (int64_t i = 0; stable && i < n; i++)
        most = isnan(x[i * stride]) || x[i * stride] > most ? x[i * stride] : most;
    for (int64_t i = 0; i < n; i++)
        total += x[i * stride] = exp(stable ? x[i * stride] - most : x[i * stride]);
    for (int64_t i = 0; i < n; i++)
        x[i * stride] /= total;
}

static const struct tensor *softmax_along(struct eval_context *b, const struct tensor *x, uint32_t axis, bool stable) {
    struct tensor *t = tensor_copy(b, x);
    struct index_walk w;
    if (!t)
        return NULL;
    struct view firsts = view_cut(view_of(t), axis, 0, 1, t->n ? 1 : 0);
    int64_t stride = view_of(t).stride[axis];
    walk_begin(&w, &firsts.shape);
    walk_add(&w, &firsts);
    for (; walk_more(&w); walk_next(&w))
        softmax_row(t->x + w.offset[0], t->shape.dim[axis], stride, stable);
    return t;
}

bool evaluate_softmax(struct eval_context *b, const struct call *c, const struct tensor **out) {
    bool stable = false;
    uint32_t axis;
    if (!axis_needed(b, c, "dimension", &axis) || !attr_flag(b, c, "numericStable", &stable))
        return false;
    *out = softmax_along(b, operand(c, 0), axis, stable);
    return *out != NULL;
}

/* ---- over trailing dimensions ---- */

/* In place: (x - mean) / sqrt(variance + epsilon), or without `centre` x / sqrt(mean of squares + epsilon). */
static void normalize(double *x, int64_t n, double epsilon, bool centre) {
    double mean = 0, squares = 0;
    for (int64_t i = 0; centre && i < n; i++)
        mean += x[i];
    mean /= (double)n;
    for (int64_t i = 0; i < n; i++) {
        x[i] -= mean;
        squares += x[i] * x[i];
    }
    double root = sqrt(squares / (double)n + epsilon);
    for (int64_t i = 0; i < n; i++)
        x[i] /= root;
}

static const struct tensor *scaled_and_shifted(struct eval_context *b, const struct tensor *x,
                                               const struct tensor *weight, const struct tensor *bias) {
    if (x && weight)
        x = apply_binary(b, binary_MULTIPLY, x, weight);
    if (x && bias)
        x = apply_binary(b, binary_ADD, x, bias);
    return x;
}

/* Each run of `run` neighbours is normalised by itself. */
static const struct tensor *norm_of(struct eval_context *b, const struct tensor *x, int64_t run, double epsilon,
                                    bool centre) {
    struct tensor *t = tensor_copy(b, x);
    if (!t)
        return NULL;
    for (int64_t at = 0; run > 0 && at < t->n; at += run)
        normalize(t->x + at, run, epsilon, centre);
    return t;
}

/* Elements of as many trailing dimensions as normalized_shape has; of the last one where it is absent. -1: a reason. */
static int64_t elements_normalized(struct eval_context *b, const struct call *c, const struct shape *s) {
    int64_t dims[TENSOR_RANK], run = 1;
    int n = 1;
    if (!attr_list(b, c, "normalized_shape", dims, TENSOR_RANK, &n))
        return -1;
    if (n > (int)s->rank || n < 1) {
        eval_fail(b, "%s of %d dimensions of a tensor of rank %u", op_table[c->kind].name, n, s->rank);
        return -1;
    }
    for (int i = 0; i < n; i++)
        run *= s->dim[(int)s->rank - n + i];
    return run;
}

static bool epsilon_of(struct eval_context *b, const struct call *c, double *epsilon) {
    struct str text;
    return op_default(op_table[c->kind].absent, "epsilon", c->ttnn, &text) && mlir_float(text, epsilon) &&
           attr_number(b, c, "epsilon", epsilon);
}

static bool norm(struct eval_context *b, const struct call *c, bool centre, const struct tensor **out) {
    double epsilon;
    if (!operands_needed(b, c, 1) || !epsilon_of(b, c, &epsilon))
        return false;
    const struct tensor *x = operand(c, 0);
    int64_t run = elements_normalized(b, c, &x->shape);
    if (run < 0)
        return false;
    x = norm_of(b, x, run, epsilon, centre);
    *out = scaled_and_shifted(b, x, operand(c, 1), operand(c, 2));
    return *out != NULL;
}

bool evaluate_layer_norm(struct eval_context *b, const struct call *c, const struct tensor **out) {
    return norm(b, c, true, out);
}

bool evaluate_rms_norm(struct eval_context *b, const struct call *c, const struct tensor **out) {
    return norm(b, c, false, out);
}

const struct tensor *weights_as_row(struct eval_context *b, const struct tensor *p, const struct shape *x) {
    int64_t row = x->rank ? x->dim[x->rank - 1] : 1;
    bool folded = p && p->n == row && p->shape.rank > 1 && p->shape.dim[p->shape.rank - 1] != row;
    return folded ? tensor_reshape(b, p, &(struct shape){1, {row}}) : p;
}

static const struct tensor *plus_residual(struct eval_context *b, const struct tensor *x,
                                          const struct tensor *residual) {
    return residual ? apply_binary(b, binary_ADD, x, residual) : x;
}

/* On one device, which has the whole tensor; on several no evaluator knows the shards of the others. */
static bool distributed_norm(struct eval_context *b, const struct call *c, bool rms, const struct tensor **out) {
    double epsilon;
    if (b->mesh)
        return eval_beyond(b, "no evaluator for %s on several devices", op_table[c->kind].name);
    if (!operands_needed(b, c, 1) || !epsilon_of(b, c, &epsilon))
        return false;
    const struct tensor *x = plus_residual(b, operand(c, 0), operand(c, rms ? 2 : 3));
    int64_t run = x ? elements_normalized(b, c, &x->shape) : -1;
    if (run < 0)
        return false;
    x = norm_of(b, x, run, epsilon, !rms);
    *out = x ? scaled_and_shifted(b, x, weights_as_row(b, operand(c, 1), &x->shape),
                                  rms ? NULL : weights_as_row(b, operand(c, 2), &x->shape))
             : NULL;
    return *out != NULL;
}

bool evaluate_distributed_layer_norm(struct eval_context *b, const struct call *c, const struct tensor **out) {
    return distributed_norm(b, c, false, out);
}

bool evaluate_distributed_rms_norm(struct eval_context *b, const struct call *c, const struct tensor **out) {
    return distributed_norm(b, c, true, out);
}

bool evaluate_dit_norm(struct eval_context *b, const struct call *c, const struct tensor **out) {
    double epsilon;
    if (!operands_needed(b, c, 1) || !epsilon_of(b, c, &epsilon))
        return false;
    const struct tensor *x = plus_residual(b, operand(c, 0), operand(c, 3));
    int64_t run = x ? elements_normalized(b, c, &x->shape) : -1;
    x = run < 0 ? NULL : norm_of(b, x, run, epsilon, false);
    *out = apply_activation(b, c, scaled_and_shifted(b, x, operand(c, 1), operand(c, 2)));
    return *out != NULL;
}

/* ---- by channel ---- */

static bool channel_axis(struct eval_context *b, const struct call *c, uint32_t rank, uint32_t *axis) {
    return axis_attr(b, c, op_table[c->kind].channels.key, op_table[c->kind].channels.otherwise, rank, axis);
}

/* A parameter with one number for each channel, or one for all, in a shape that broadcasts to x. NULL stays NULL. */
static bool by_channel(struct eval_context *b, const struct call *c, const struct tensor *p, const struct shape *x,
                       uint32_t channel, const struct tensor **out) {
    struct shape s = {.rank = x->rank};
    for (uint32_t d = 0; d < x->rank; d++)
        s.dim[d] = d == channel ? x->dim[d] : 1;
    *out = p;
    if (!p)
        return true;
    if (p->n != x->dim[channel] && p->n != 1)
        return eval_fail(b, "%s: %lld numbers for %lld channels", op_table[c->kind].name, (long long)p->n,
                         (long long)x->dim[channel]);
    if (p->n == 1)
        s.dim[channel] = 1;
    *out = tensor_reshape(b, p, &s);
    return *out != NULL;
}

/* Statistics over all dimensions of a group of channels but the batch: dimensions are brought into the order batch,
 * channels, all else, where each group is one run. */
bool evaluate_group_norm(struct eval_context *b, const struct call *c, const struct tensor **out) {
    int64_t groups = 1;
    uint32_t channel, order[TENSOR_RANK], back[TENSOR_RANK], at = 0;
    double epsilon;
    const struct tensor *x = operand(c, 0), *weight, *bias;
    if (!operands_needed(b, c, 1) || !attr_int_needed(b, c, "num_groups", &groups) || !epsilon_of(b, c, &epsilon) ||
        !channel_axis(b, c, x->shape.rank, &channel) || !by_channel(b, c, operand(c, 2), &x->shape, channel, &weight) ||
        !by_channel(b, c, operand(c, 3), &x->shape, channel, &bias))
        return false;
    int64_t channels = x->shape.dim[channel], batch = x->shape.dim[0];
    if (channel == 0 || groups < 1 || channels % groups != 0)
        return eval_fail(b, "group_norm: %lld groups of %lld channels", (long long)groups, (long long)channels);
    for (uint32_t d = 0; d < x->shape.rank; d++)
        if (d != channel) {
            order[at++] = d;
            if (at == 1)
                order[at++] = channel;
        }
    for (uint32_t d = 0; d < x->shape.rank; d++)
        back[order[d]] = d;
    const struct tensor *t = view_copy(b, view_permuted(view_of(x), order));
    t = t && t->n ? norm_of(b, t, t->n / (batch * groups), epsilon, true) : t;
    if (!t)
        return false;
    *out = scaled_and_shifted(b, view_copy(b, view_permuted(view_of(t), back)), weight, bias);
    return *out != NULL;
}

/* Operands of TTIR: operand, scale, offset, mean, variance; of TTNN: input, running_mean, running_var, weight, bias,
 * of which the last four may be absent. */
bool batch_norm_operands(struct eval_context *b, const struct call *c, const struct tensor *p[5]) {
    static const uint32_t ttir[5] = {0, 3, 4, 1, 2};
    int64_t sizes[5] = {1, 1, 1, 1, 1};
    int n = 5;
    uint32_t at = 0;
    if (!c->ttnn) {
        for (uint32_t i = 0; i < 5; i++)
            p[i] = operand(c, ttir[i]);
        return operands_needed(b, c, 5);
    }
    if (!attr_list(b, c, "operandSegmentSizes", sizes, 5, &n))
        return false;
    for (int i = 0; i < 5; i++)
        p[i] = i < n && sizes[i] ? operand(c, at++) : NULL;
    return p[0] && p[1] && p[2] ? true : eval_fail(b, "batch_norm_inference lacks its mean or variance");
}

bool evaluate_batch_norm(struct eval_context *b, const struct call *c, const struct tensor **out) {
    const struct tensor *p[5];
    double epsilon;
    uint32_t channel;
    if (!batch_norm_operands(b, c, p) || !epsilon_of(b, c, &epsilon) || !channel_axis(b, c, p[0]->shape.rank, &channel))
        return false;
    for (int i = 1; i < 5; i++)
        if (!by_channel(b, c, p[i], &p[0]->shape, channel, &p[i]))
            return false;
    const struct tensor *root = apply_binary(b, binary_ADD, p[2], tensor_scalar(b, epsilon));
    root = root ? apply_unary(b, sqrt, root) : NULL;
    const struct tensor *t = root ? apply_binary(b, binary_SUBTRACT, p[0], p[1]) : NULL;
    t = t ? apply_binary(b, binary_DIVIDE, t, root) : NULL;
    *out = scaled_and_shifted(b, t, p[3], p[4]);
    return *out != NULL;
}
