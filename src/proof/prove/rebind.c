/* Ids of the subgraph are those of the module by resized.ops. */
#include "proof/prove/rebind.h"

static struct pattern pattern_alone(const struct pattern *p) {
    struct pattern one = *p;
    if (p->is_variant)
        one.formula = p->variant_of->formula;
    one.variant = one.variant_of = NULL;
    one.is_variant = one.replaced = false;
    one.selected = one.show_decomposed = true;
    one.show_blocked = true;
    one.nrequire = one.nunless = 0;
    return one;
}

/* What ops of the model became. */
static uint32_t *rebind_ops(const uint32_t *ops, uint32_t n, const struct subgraph *s, const struct resized *w,
                            struct arena *a) {
    uint32_t *out = arena_alloc(a, (n + (size_t)1) * sizeof *out);
    for (uint32_t i = 0; i < n; i++)
        out[i] = w->ops[find_id(s->ops, s->nops, ops[i])];
    return out;
}

void match_rebind(const struct match *m, const struct subgraph *s, const struct resized *w, struct arena *a,
                  struct rebound *out) {
    const uint32_t *ops = rebind_ops(m->ops, m->nops, s, w, a);
    graph_build(&out->graph, &w->ir, NULL);
    out->pattern = pattern_alone(m->pattern);
    out->match = (struct match){.pattern = &out->pattern,
                                .graph = &out->graph,
                                .ops = ops,
                                .nops = m->nops,
                                .through = rebind_ops(m->through, m->nthrough, s, w, a),
                                .nthrough = m->nthrough,
                                .by_values = m->by_values,
                                .root = ops[m->nops - 1]};
}

struct str original_names(const struct subgraph *s, struct str text, struct arena *a) {
    const struct mlir *m = s->graph->m;
    struct buf out = {0};
    for (size_t i = 0; i < text.n;) {
        size_t end = i + 2;
        uint32_t number = 0;
        for (; text.n - i > 2 && text.p[i] == '%' && text.p[i + 1] == 'a' && end < text.n && text.p[end] >= '0' &&
               text.p[end] <= '9' && number < MAX_SUBGRAPH_INPUTS;
             end++)
            number = number * 10 + (uint32_t)(text.p[end] - '0');
        if (end > i + 2 && number < s->ninputs) {
            buf_add(&out, mlir_span(m, m->values[s->inputs[number]].name));
            i = end;
        } else {
            buf_addc(&out, text.p[i++]);
        }
    }
    return buf_take(&out, a);
}
