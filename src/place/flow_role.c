/* The role of a linear, by three rules: what its result is to an attention, which linear of an MLP it is, whether its
 * input is the result of an attention. Exactly one of the rules must apply. */
#include "place/flow.h"

/* A projection to queries, keys or values. One that feeds several attentions must be the same to all of them. */
static unsigned role_by_attention(const struct flow *f, const struct value_facts *r) {
    unsigned sinks = r->sinks & (unsigned)~SINK_RETURN;
    bool single = sinks == SINK_QUERY || sinks == SINK_KEY || sinks == SINK_VALUE;
    if (sinks == 0 || sinks & (unsigned)~(SINK_QUERY | SINK_KEY | SINK_VALUE) || (r->sink_op == MANY_SINKS && !single))
        return 0;
    const struct attention_site *a = r->sink_op < MANY_SINKS ? flow_attention(f, r->sink_op) : NULL;
    if (r->sink_op < MANY_SINKS && (!a || !flow_owns_scores(f, a)))
        return 0;
    return (sinks & SINK_QUERY ? ROLE_QUERY : 0) | (sinks & SINK_KEY ? ROLE_KEY : 0) |
           (sinks & SINK_VALUE ? ROLE_VALUE : 0);
}

/* The result of a linear, used only by the linear given. */
static bool feeds_only(const struct flow *f, uint32_t v, uint32_t linear) {
    uint32_t op = f->g->m->values[v].def;
    unsigned kinds = FEEDS_QUERY | FEEDS_KEY_VALUE | FEEDS_MLP | FEEDS_RETURN | FEEDS_REST;
    return op != NONE && flow_linear_input(f->g, op) != NONE && f->values[v].sink_op == linear &&
           (f->values[v].sinks & ~kinds) == SINK_LINEAR;
}

static bool related(const struct flow *f, uint32_t a, uint32_t b) {
    return !flow_disjoint(flow_sources(f, a), flow_sources(f, b));
}

/* The other operand of a residual add that is the only sink of a value; NONE if there is none. */
static uint32_t stream_of(const struct flow *f, uint32_t v) {
    const struct value_facts *r = &f->values[v];
    if (r->sinks != SINK_RESIDUAL || r->sink_op >= MANY_SINKS)
        return NONE;
    const uint32_t *o = graph_operands(f->g, r->sink_op);
    return flow_has_source(flow_sources(f, o[0]), v) ? o[1] : o[0];
}

/* Whether the result of a block is added to the stream that its input was read from. The stream may have been added to
 * in between by another block; or two parallel blocks are added to each other and the sum to the stream. A sum of two
 * embeddings is none of these. */
static bool returns_to_stream(const struct flow *f, uint32_t result, uint32_t input) {
    uint32_t stream = stream_of(f, result);
    if (stream == NONE || related(f, stream, input))
        return stream != NONE;
    uint32_t source = flow_only_source(f, stream), def = source == NONE ? NONE : f->g->m->values[source].def;
    if (def != NONE && f->values[source].flags & IS_RESIDUAL) {
        const uint32_t *before = graph_operands(f->g, def);
        return related(f, before[0], input) || related(f, before[1], input);
    }
    uint32_t sum = f->g->m->ops[f->values[result].sink_op].first_result, outer = stream_of(f, sum);
    return outer != NONE && related(f, outer, input);
}

/* Whether a linear is the last one of an MLP: its input is an activation of one other linear, or of a gate times
 * another linear, and its result returns to the stream. */
static bool ends_mlp(const struct flow *f, uint32_t op) {
    uint32_t x = flow_linear_input(f->g, op);
    if (x == NONE || !(f->values[x].flags & WAS_ACTIVATED))
        return false;
    const struct source_set *s = flow_sources(f, x);
    if (s->truncated || s->n == 0 || s->n > 2 || (s->n == 2 && !s->gated))
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        if (!feeds_only(f, s->v[i], op))
            return false;
    uint32_t input = flow_linear_input(f->g, f->g->m->values[s->v[0]].def);
    return returns_to_stream(f, f->g->m->ops[op].first_result, input);
}

/* Which linear of an MLP it is. */
static unsigned role_by_mlp(const struct flow *f, uint32_t op, const struct value_facts *r) {
    uint32_t result = f->g->m->ops[op].first_result;
    if (ends_mlp(f, op))
        return flow_sources(f, flow_linear_input(f->g, op))->gated ? ROLE_DOWN : ROLE_SECOND;
    if (r->sink_op >= MANY_SINKS || !feeds_only(f, result, r->sink_op) || !ends_mlp(f, r->sink_op))
        return 0;
    const struct source_set *s = flow_sources(f, flow_linear_input(f->g, r->sink_op));
    if (!flow_has_source(s, result))
        return 0;
    if (!s->gated)
        return ROLE_FIRST;
    return s->n == 1 ? ROLE_GATE | ROLE_UP : s->v[0] == result ? ROLE_GATE : ROLE_UP;
}

/* An output projection takes the result of one attention unchanged. Where another linear follows directly, either of
 * the two could be it. */
static unsigned role_by_input(const struct flow *f, uint32_t op) {
    uint32_t x = flow_linear_input(f->g, op), from = flow_only_source(f, x);
    uint32_t def = from == NONE ? NONE : f->g->m->values[from].def;
    const struct attention_site *a = def == NONE ? NULL : flow_attention(f, def);
    unsigned sinks = f->values[f->g->m->ops[op].first_result].sinks;
    bool one_of_two = (sinks & SINK_LINEAR) && !(sinks & SINK_RESIDUAL);
    return a && !one_of_two && !(f->values[x].flags & WAS_ACTIVATED) ? ROLE_OUT : 0;
}

unsigned flow_linear_role(const struct flow *f, uint32_t op) {
    if (flow_linear_input(f->g, op) == NONE)
        return 0;
    const struct value_facts *r = &f->values[f->g->m->ops[op].first_result];
    unsigned roles[3] = {role_by_attention(f, r), role_by_mlp(f, op, r), role_by_input(f, op)}, found = 0, role = 0;
    for (int i = 0; i < 3; i++) {
        found += roles[i] != 0;
        role |= roles[i];
    }
    return found == 1 ? role : 0;
}
