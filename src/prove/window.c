/* A pad that a convolution or a pool takes into its own padding: what the op then reads, and which attributes it has.
 */
#include <string.h>

#include "match/conditions.h"
#include "prove/form.h"

/* Elements of the padded operand that the pad did not add. */
static bool is_kept(const struct window_pads *w, int64_t element) {
    for (int i = 0; i < w->n; i++) {
        int64_t digit = element / w->stride[i] % w->size[i];
        if (digit < w->before[i] || digit >= w->size[i] - w->after[i])
            return false;
    }
    return true;
}

/* Dimensions get as small as what is left; where several are flattened into one, that is. */
static struct shape kept_shape(const struct window_pads *w, const struct shape *s, int64_t n) {
    struct shape out = *s;
    int64_t stride = 1;
    for (uint32_t d = s->rank; d-- > 0; stride *= s->dim[d])
        for (int i = 0; i < w->n; i++)
            if (w->stride[i] == stride && w->size[i] == s->dim[d])
                out.dim[d] -= w->before[i] + w->after[i];
    if (shape_count(&out) == n || s->rank < 2)
        return out;
    out.dim[s->rank - 2] = n / s->dim[s->rank - 1];
    return out;
}

const struct tensor *form_unpadded(struct proof *p, uint32_t op, const struct binding *pad, const struct tensor *t) {
    const struct graph *g = p->match->graph;
    struct window_pads w;
    const struct tensor *x;
    struct program program = {
        .graph = g, .given = p->given, .ngiven = p->nleaves, .ops = p->inside, .nops = p->ninside};
    (void)t;
    if (!window_pads(g, op, pad, &w)) {
        bench_fail(&p->bench, "what a pad adds is not known");
        return NULL;
    }
    if (!interpret_values(&p->bench, &program, graph_operands(g, op), 1, &x))
        return NULL;
    int64_t n = 0;
    for (int64_t i = 0; i < x->n; i++)
        n += is_kept(&w, i);
    struct shape s = kept_shape(&w, &x->shape, n);
    struct tensor *out = tensor_new(&p->bench, &s);
    if (!out || out->n != n)
        return NULL;
    for (int64_t i = 0, k = 0; i < x->n; i++)
        if (is_kept(&w, i))
            out->x[k++] = x->x[i];
    return out;
}

/* [top, left, bottom, right] in TTIR, [top, bottom, left, right] in TTNN: a number for each end of each dimension. */
static struct str padding_text(const struct proof *p, uint32_t op, const struct window_pads *w) {
    const struct graph *g = p->match->graph;
    bool ttnn = str_starts(mlir_op_name(g->m, op), STR("ttnn."));
    int64_t own[6] = {0}, sum[6] = {0};
    struct str text, list = STR("[");
    int k = mlir_attr(g->m, op, "padding", &text) ? mlir_ints(text, own, 6) : 0;
    for (int i = 0; i < k && i < 6; i++)
        if (own[i] < 0 || own[i] > INT32_MAX) /* no evaluator takes it */
            k = 0;
    for (int i = 0; i < w->n; i++) {
        int before = ttnn ? 2 * i : i, after = ttnn ? 2 * i + 1 : w->n + i;
        bool both = k == 2 * w->n;
        sum[before] = w->before[i] + (k < 1 ? 0 : k == 1 ? own[0] : own[both ? before : i]);
        sum[after] = w->after[i] + (k < 1 ? 0 : k == 1 ? own[0] : own[both ? after : i]);
    }
    for (int i = 0; i < 2 * w->n; i++)
        list = arena_printf(p->arena, "%.*s%s%lld", (int)list.n, list.p, i ? ", " : "", (long long)sum[i]);
    return arena_printf(p->arena, "%.*s]", (int)list.n, list.p);
}

bool form_padding(const struct proof *p, uint32_t op, const struct binding *pad, const char *key, struct str *out) {
    static const char *const sizes[3][3] = {
        {"input_length"}, {"input_height", "input_width"}, {"input_depth", "input_height", "input_width"}};
    struct window_pads w;
    int64_t size;
    struct str text;
    if (!window_pads(p->match->graph, op, pad, &w) || w.n > 3)
        return false;
    if (strcmp(key, "padding") == 0) {
        *out = padding_text(p, op, &w);
        return true;
    }
    for (int i = 0; i < w.n; i++)
        if (strcmp(key, sizes[w.n - 1][i]) == 0 && mlir_attr(p->match->graph->m, op, key, &text) &&
            mlir_int(text, &size)) {
            *out = arena_printf(p->arena, "%lld", (long long)(size - w.before[i] - w.after[i]));
            return true;
        }
    return false;
}
