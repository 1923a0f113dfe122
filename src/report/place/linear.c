/* The role of a linear, by three rules: what its result is to an attention, which linear of an MLP it is, whether its
 * input is the result of an attention. Exactly one of the rules must apply. */
#include "report/place/flow.h"

static uint32_t result_of(const struct flow *f, uint32_t op) {
    return f->g->m->ops[op].first_result;
}

/* A projection to queries, keys or values. One that feeds several attentions must be the same to all of them. */
static unsigned role_by_attention(const struct flow *f, uint32_t v) {
    const struct flow_links *to = flow_to(f, v);
    unsigned kinds = to->kinds & (unsigned)~LINK_RETURN;
    bool single = kinds == LINK_QUERY || kinds == LINK_KEY || kinds == LINK_VALUE;
    if (kinds == 0 || kinds & (unsigned)~(LINK_QUERY | LINK_KEY | LINK_VALUE) || (flow_taker(f, v) == NONE && !single))
        return 0;
    for (uint32_t i = 0; i < to->n; i++) {
        const struct attention_site *a = to->items[i].at == NONE ? NULL : flow_attention(f, to->items[i].at);
        if (a && !flow_owns_scores(f, a))
            return 0;
    }
    return (kinds & LINK_QUERY ? ROLE_QUERY : 0) | (kinds & LINK_KEY ? ROLE_KEY : 0) |
           (kinds & LINK_VALUE ? ROLE_VALUE : 0);
}

/* The result of a linear, taken by the linear given only. */
static bool feeds_only(const struct flow *f, uint32_t v, uint32_t linear) {
    uint32_t op = flow_def(f, v);
    return op != NONE && flow_linear_input(f->g, op) != NONE && flow_to(f, v)->kinds == LINK_LINEAR &&
           flow_taker(f, v) == linear;
}

/* The other operand of a residual add that alone takes a value; NONE if there is none. */
static uint32_t stream_of(const struct flow *f, uint32_t v) {
    uint32_t sum = flow_to(f, v)->kinds == LINK_RESIDUAL ? flow_taker(f, v) : NONE;
    if (sum == NONE)
        return NONE;
    const uint32_t *o = graph_operands(f->g, sum);
    return flow_comes_from(flow_from(f, o[0]), v) ? o[1] : o[0];
}

/* Whether the result of a block is added to the stream that its input was read from. The stream may have been added to
 * in between by another block; or two parallel blocks are added to each other and the sum to the stream. A sum of two
 * embeddings is none of these. */
static bool returns_to_stream(const struct flow *f, uint32_t result, uint32_t input) {
    uint32_t stream = stream_of(f, result);
    if (stream == NONE || !flow_unrelated(f, stream, input))
        return stream != NONE;
    uint32_t source = flow_source(f, stream);
    if (source != NONE && flow_is_residual(f, source)) {
        const uint32_t *before = graph_operands(f->g, flow_def(f, source));
        return !flow_unrelated(f, before[0], input) || !flow_unrelated(f, before[1], input);
    }
    uint32_t outer = stream_of(f, result_of(f, flow_taker(f, result)));
    return outer != NONE && !flow_unrelated(f, outer, input);
}

/* Whether a linear is the last one of an MLP: its input is an activation of one other linear, or of a gate times
 * another linear, and its result returns to the stream. */
static bool ends_mlp(const struct flow *f, uint32_t op) {
    uint32_t x = flow_linear_input(f->g, op);
    if (x == NONE || !(flow_flags(f, x) & WAS_ACTIVATED))
        return false;
    const struct flow_links *from = flow_from(f, x);
    if (from->truncated || from->n == 0 || from->n > 2 || (from->n == 2 && !from->gated))
        return false;
    for (uint32_t i = 0; i < from->n; i++)
        if (!feeds_only(f, from->items[i].at, op))
            return false;
    return returns_to_stream(f, result_of(f, op), flow_linear_input(f->g, flow_def(f, from->items[0].at)));
}

/* Which linear of an MLP it is. */
static unsigned role_by_mlp(const struct flow *f, uint32_t op) {
    uint32_t v = result_of(f, op), last = flow_taker(f, v);
    if (ends_mlp(f, op))
        return flow_from(f, flow_linear_input(f->g, op))->gated ? ROLE_DOWN : ROLE_SECOND;
    if (last == NONE || !feeds_only(f, v, last) || !ends_mlp(f, last))
        return 0;
    const struct flow_links *from = flow_from(f, flow_linear_input(f->g, last));
    if (!flow_comes_from(from, v))
        return 0;
    if (!from->gated)
        return ROLE_FIRST;
    return from->n == 1 ? ROLE_GATE | ROLE_UP : from->items[0].at == v ? ROLE_GATE : ROLE_UP;
}

/* An output projection takes the result of one attention unchanged. Where another linear follows directly, either of
 * the two could be it. */
static unsigned role_by_input(const struct flow *f, uint32_t op) {
    uint32_t x = flow_linear_input(f->g, op);
    unsigned to = flow_to(f, result_of(f, op))->kinds;
    bool one_of_two = (to & LINK_LINEAR) && !(to & LINK_RESIDUAL);
    bool takes_result = flow_source(f, x) != NONE && flow_from(f, x)->kinds == LINK_ATTENTION;
    return takes_result && !one_of_two && !(flow_flags(f, x) & WAS_ACTIVATED) ? ROLE_OUT : 0;
}

unsigned flow_linear_role(const struct flow *f, uint32_t op) {
    if (flow_linear_input(f->g, op) == NONE)
        return 0;
    unsigned roles[3] = {role_by_attention(f, result_of(f, op)), role_by_mlp(f, op), role_by_input(f, op)};
    unsigned found = 0, role = 0;
    for (int i = 0; i < 3; i++) {
        found += roles[i] != 0;
        role |= roles[i];
    }
    return found == 1 ? role : 0;
}
