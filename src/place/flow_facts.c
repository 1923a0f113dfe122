/* Questions about the facts that the two passes of flow.h have collected, and what counts as a weight. All answers are
 * in constant time or in the logarithm of the number of attentions. */
#include "place/flow_passes.h"

bool flow_has_source(const struct source_set *s, uint32_t v) {
    for (uint32_t i = 0; i < s->n; i++)
        if (s->v[i] == v)
            return true;
    return false;
}

bool flow_disjoint(const struct source_set *a, const struct source_set *b) {
    for (uint32_t i = 0; i < a->n; i++)
        if (flow_has_source(b, a->v[i]))
            return false;
    return true;
}

/* An argument without a stated kind is taken for a weight by its rank: inputs of an
 * attention have three dimensions or more. */
bool flow_is_weight(const struct graph *g, uint32_t v) {
    if (graph_is_parameter(g, v))
        return true;
    uint32_t arg = graph_argument(g, v), rank;
    return arg != NONE && !graph_argument_is_input(g, arg) && graph_shape(g, arg, &rank) && rank <= 2;
}

uint32_t flow_linear_input(const struct graph *g, uint32_t op) {
    if (graph_class(g, op) != OP_CONTRACT)
        return NONE;
    const uint32_t *o = graph_operands(g, op);
    if (flow_is_weight(g, o[1]) && !graph_is_parameter(g, o[0]))
        return o[0];
    return flow_is_weight(g, o[0]) && !graph_is_parameter(g, o[1]) ? o[1] : NONE;
}

const struct attention_site *flow_attention(const struct flow *f, uint32_t op) {
    uint32_t lo = 0, hi = f->nattentions;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (f->attentions[mid].op < op)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < f->nattentions && f->attentions[lo].op == op ? &f->attentions[lo] : NULL;
}

bool flow_owns_scores(const struct flow *f, const struct attention_site *a) {
    if (a->scores == a->op)
        return true;
    const struct value_facts *s = &f->values[f->g->m->ops[a->scores].first_result];
    return !(s->flags & HAS_ATTENTIONS) && !(s->sinks & (unsigned)~(SINK_WEIGHTS | SINK_RETURN));
}
