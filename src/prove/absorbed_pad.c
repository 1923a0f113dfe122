/* A pad that a convolution or pool absorbs into its own padding: the operand that the op then reads, and the attributes
 * that it then has. */
#include <string.h>

#include "match/conditions.h"
#include "prove/form_attributes.h"

/* The element of the padded operand was not added by the pad. */
static bool is_kept(const struct window_pads *w, int64_t element) {
    for (int i = 0; i < w->n; i++) {
        int64_t digit = element / w->stride[i] % w->size[i];
        if (digit < w->before[i] || digit >= w->size[i] - w->after[i])
            return false;
    }
    return true;
}

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

const struct tensor *operand_unpadded(struct device_run *run, uint32_t op, const struct binding *pad) {
    const struct graph *g = reference_graph(run->ref);
    struct window_pads w;
    const struct tensor *x;
    struct program program = run_program(run);
    if (!known_pads(g, op, pad, &w)) {
        eval_fail(&run->eval, "what a pad adds is not known");
        return NULL;
    }
    if (!interpret_values(&run->eval, &program, graph_operands(g, op), 1, &x))
        return NULL;
    int64_t n = 0;
    for (int64_t i = 0; i < x->n; i++)
        n += is_kept(&w, i);
    struct shape s = kept_shape(&w, &x->shape, n);
    struct tensor *out = tensor_new(&run->eval, &s);
    if (!out)
        return NULL;
    if (out->n != n) {
        eval_fail(&run->eval, "a pad of what is no dimension of the window");
        return NULL;
    }
    for (int64_t i = 0, k = 0; i < x->n; i++)
        if (is_kept(&w, i))
            out->x[k++] = x->x[i];
    return out;
}

/* The sum of the padding of the op and of the pad, with a number for each end of each dimension: [top, left, bottom,
 * right] in TTIR, [top, bottom, left, right] in TTNN. */
static struct str padding_text(const struct reference *r, uint32_t op, const struct window_pads *w) {
    const struct graph *g = reference_graph(r);
    bool ttnn = graph_is_ttnn(g, op);
    int64_t own[6] = {0}, sum[6] = {0};
    struct str text, list = STR("[");
    int k = mlir_attr(g->m, op, "padding", &text) ? mlir_ints(text, own, 6) : 0;
    for (int i = 0; i < 6; i++)
        if (own[i] < 0 || own[i] > INT32_MAX) /* no evaluator accepts it */
            k = 0;
    for (int i = 0; i < w->n; i++) {
        int before = ttnn ? 2 * i : i, after = ttnn ? 2 * i + 1 : w->n + i;
        bool both = k == 2 * w->n;
        sum[before] = w->before[i] + (k < 1 ? 0 : k == 1 ? own[0] : own[both ? before : i]);
        sum[after] = w->after[i] + (k < 1 ? 0 : k == 1 ? own[0] : own[both ? after : i]);
    }
    for (int i = 0; i < 2 * w->n; i++)
        list = arena_printf(r->arena, "%.*s%s%lld", (int)list.n, list.p, i ? ", " : "", (long long)sum[i]);
    return arena_printf(r->arena, "%.*s]", (int)list.n, list.p);
}

bool absorbed_attribute(const struct reference *r, uint32_t op, const struct binding *pad, const char *key,
                        struct str *out) {
    static const char *const sizes[3][3] = {
        {"input_length"}, {"input_height", "input_width"}, {"input_depth", "input_height", "input_width"}};
    struct window_pads w;
    int64_t size;
    struct str text;
    if (!known_pads(reference_graph(r), op, pad, &w) || w.n > 3)
        return false;
    if (strcmp(key, "padding") == 0) {
        *out = padding_text(r, op, &w);
        return true;
    }
    for (int i = 0; i < w.n; i++)
        if (strcmp(key, sizes[w.n - 1][i]) == 0 && mlir_attr(reference_graph(r)->m, op, key, &text) &&
            mlir_int(text, &size) && size > 0) {
            *out = arena_printf(r->arena, "%lld", (long long)(size - w.before[i] - w.after[i]));
            return true;
        }
    return false;
}
