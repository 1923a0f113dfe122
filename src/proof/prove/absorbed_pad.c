/* A pad that a convolution or pool absorbs into its own padding: the operand that the op then reads, and the attributes
 * that it then has. */
#include <string.h>

#include "proof/prove/form_attributes.h"
#include "proof/value/lazy.h"
#include "search/match/conditions.h"

/* Of amounts that can be computed with. */
static bool known_pads(const struct graph *g, uint32_t op, const struct binding *pad, struct window_pads *w) {
    if (!window_pads(g, op, pad, w))
        return false;
    for (int i = 0; i < w->n; i++)
        if (w->before[i] < 0 || w->before[i] > INT32_MAX || w->after[i] < 0 || w->after[i] > INT32_MAX)
            return false;
    return true;
}

/* The shape of the `n` elements that are kept. Where padded dimensions are flattened into others the op reads its sizes
 * from attributes and the channels from the last dimension: the shape is then all the rest, and these. */
static struct shape kept_shape(const struct window_pads *w, const struct shape *s, int64_t n) {
    struct shape out = *s;
    int64_t stride = 1, channels = s->rank ? s->dim[s->rank - 1] : 1;
    for (uint32_t d = s->rank; d-- > 0; stride *= s->dim[d])
        for (int i = 0; i < w->n; i++)
            if (w->stride[i] == stride && w->size[i] == s->dim[d])
                out.dim[d] -= w->before[i] + w->after[i];
    return shape_count(&out) == n || channels == 0 ? out : (struct shape){2, {n / channels, channels}};
}

/* The elements that were not added by the pad, in row-major order, whatever dimensions the text has. */
static const struct tensor *without_pads(struct eval_context *ctx, const struct tensor *x,
                                         const struct window_pads *w) {
    struct shape digits = {.rank = 0};
    uint32_t at[MAX_WINDOW] = {0};
    int64_t left = x->n;
    for (int64_t last = INT64_MAX;;) { /* from the largest step to the smallest */
        int next = -1;
        for (int i = 0; i < w->n; i++)
            if (w->stride[i] < last && (next < 0 || w->stride[i] > w->stride[next]))
                next = i;
        if (next < 0)
            break;
        last = w->stride[next];
        digits.dim[digits.rank++] = left / (w->size[next] * last);
        at[next] = digits.rank;
        digits.dim[digits.rank++] = w->size[next];
        left = last;
    }
    digits.dim[digits.rank++] = left;
    struct view v = view_of(tensor_reshape(ctx, x, &digits));
    for (int i = 0; i < w->n; i++)
        v = view_cut(v, at[i], w->before[i], 1, w->size[i] - w->before[i] - w->after[i]);
    return lazy_of_view(ctx, v);
}

const struct tensor *operand_unpadded(struct form_run *run, uint32_t op, const struct binding *pad) {
    const struct graph *g = reference_graph(run->ref);
    struct window_pads w;
    const struct tensor *x;
    struct program program = {.graph = g,
                              .given = run->given,
                              .ngiven = run->ref->problem.ninputs,
                              .ops = run->ref->ops,
                              .nops = run->ref->nops};
    if (!known_pads(g, op, pad, &w) || !interpret_values(run->eval, &program, graph_operands(g, op), 1, &x))
        op_fails(run->eval, "what a pad adds is not known");
    const struct tensor *kept = without_pads(run->eval, x, &w);
    struct shape s = kept_shape(&w, &x->shape, kept->n);
    if (shape_count(&s) != kept->n)
        op_fails(run->eval, "a pad of what is no dimension of the window");
    return tensor_reshape(run->eval, kept, &s);
}

/* The sum of the padding of the op and of the pad, with a number for each end of each dimension: [top, left, bottom,
 * right] in TTIR, [top, bottom, left, right] in TTNN and of ops whose attributes number all dimensions. Of volumes,
 * whose ends are alike, one for both. */
static const struct attr *padding_of_both(const struct reference *r, uint32_t op, const struct window_pads *p) {
    const struct graph *g = reference_graph(r);
    bool numbered = op_table[g->kind[op]].window.rank == 0, in_pairs = graph_is_ttnn(g, op) || numbered;
    bool alike = !numbered;
    struct window w;
    double sum[2 * MAX_WINDOW], first[MAX_WINDOW];
    if (graph_window(g, op, &w) != NULL)
        return NULL;
    for (uint32_t i = 0; i < w.n; i++) {
        first[i] = sum[in_pairs ? 2 * i : i] = (double)(w.before[i] + p->before[i]);
        sum[in_pairs ? 2 * i + 1 : w.n + i] = (double)(w.after[i] + p->after[i]);
        alike &= w.before[i] + p->before[i] == w.after[i] + p->after[i];
    }
    return w.n == MAX_WINDOW && alike ? attr_of_numbers(first, w.n, r->arena) : attr_of_numbers(sum, 2 * w.n, r->arena);
}

bool absorbed_attribute(const struct reference *r, uint32_t op, const struct binding *pad, const char *key,
                        const struct attr **out) {
    struct window_pads w;
    if (!known_pads(reference_graph(r), op, pad, &w))
        return false;
    if (strcmp(key, "padding") == 0) {
        *out = padding_of_both(r, op, &w);
        return true;
    }
    for (int i = 0; i < w.n; i++) {
        int64_t size = attrs_int(graph_attributes(reference_graph(r), op), key, 0);
        if (strcmp(key, window_size_keys[w.n - 1][i]) != 0 || size < 1)
            continue;
        *out = attr_of_number((double)(size - w.before[i] - w.after[i]), r->arena);
        return true;
    }
    return false;
}
