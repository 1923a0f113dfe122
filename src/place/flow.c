/* The backward pass; flow_new runs both passes. The role of a linear depends on the sinks of its result and on those of
 * its neighbours, so sinks are collected twice: the second round adds the role of the linear that a value feeds. */
#include "place/flow_passes.h"

#include <stdlib.h>

/* Value v reaches uses of these kinds; NONE for `at`: at no op that roles are read from. */
static void add_sinks(struct flow *f, uint32_t v, unsigned sinks, uint32_t at) {
    if (v == NONE || graph_is_parameter(f->g, v))
        return;
    struct value_facts *x = &f->values[v];
    x->sinks |= (uint16_t)sinks;
    if (at != NONE)
        x->sink_op = x->sink_op == NONE || x->sink_op == at ? at : MANY_SINKS;
}

/* The operands that carry data reach what the result reaches; a modifier or parameter ends here. */
static void pass_sinks_through(struct flow *f, uint32_t op, const struct value_facts *r) {
    uint32_t modifier = flow_modifier(f, op), n = flow_data_operands(f->g, op);
    for (uint32_t k = 0; k < graph_noperands(f->g, op); k++) {
        uint32_t v = graph_operands(f->g, op)[k];
        if (k < n && v != modifier)
            add_sinks(f, v, r->sinks, r->sink_op);
        else
            add_sinks(f, v, SINK_OTHER, NONE);
    }
}

static void add_sinks_to_operands(struct flow *f, uint32_t op, unsigned sinks, uint32_t at) {
    for (uint32_t k = 0; k < graph_noperands(f->g, op); k++)
        add_sinks(f, graph_operands(f->g, op)[k], sinks, at);
}

/* The sinks of the input of a linear. */
static unsigned linear_sinks(const struct flow *f, uint32_t op, bool with_roles) {
    if (!with_roles)
        return SINK_LINEAR;
    unsigned role = flow_linear_role(f, op), sinks = f->values[f->g->m->ops[op].first_result].sinks;
    if (role & ROLE_QUERY)
        return SINK_LINEAR | FEEDS_QUERY;
    if (role & (ROLE_KEY | ROLE_VALUE))
        return SINK_LINEAR | FEEDS_KEY_VALUE;
    if (role & (ROLE_GATE | ROLE_UP | ROLE_FIRST))
        return SINK_LINEAR | FEEDS_MLP;
    return SINK_LINEAR | (role == 0 && sinks == SINK_RETURN ? FEEDS_RETURN : FEEDS_REST);
}

static void add_sinks_to_scores_operands(struct flow *f, const struct attention_site *a) {
    add_sinks(f, a->q, a->ordered ? SINK_QUERY : SINK_QUERY_OR_KEY, a->op);
    add_sinks(f, a->k, a->ordered ? SINK_KEY : SINK_QUERY_OR_KEY, a->op);
}

/* A linear, the second product of an attention, the first one, or another product. */
static void backward_contraction(struct flow *f, uint32_t op, bool with_roles) {
    const struct graph *g = f->g;
    uint32_t x = flow_linear_input(g, op), at = f->values[g->m->ops[op].first_result].sink_op;
    const struct attention_site *a = flow_attention(f, op);
    if (x != NONE) {
        add_sinks(f, x, linear_sinks(f, op, with_roles), op);
    } else if (a) {
        const uint32_t *o = graph_operands(g, op);
        add_sinks(f, o[0] == a->v ? o[1] : o[0], SINK_WEIGHTS, op);
        add_sinks(f, a->v, SINK_VALUE, op);
    } else {
        a = at < MANY_SINKS ? flow_attention(f, at) : NULL;
        if (a && a->scores == op)
            add_sinks_to_scores_operands(f, a);
        else
            add_sinks_to_operands(f, op, SINK_OTHER, NONE);
    }
}

static void backward_op(struct flow *f, uint32_t op, bool with_roles) {
    const struct graph *g = f->g;
    const struct mlir_op *o = &g->m->ops[op];
    const uint32_t *in = graph_operands(g, op);
    const struct attention_site *a;
    if (flow_transfer_of(g, op) == TRANSFER_CACHE && graph_noperands(g, op) >= 2) {
        if (o->nresults)
            add_sinks(f, in[0], f->values[o->first_result].sinks, f->values[o->first_result].sink_op);
        add_sinks(f, in[1], f->values[in[0]].sinks, f->values[in[0]].sink_op);
    } else if (graph_class(g, op) == OP_RETURN) {
        add_sinks_to_operands(f, op, SINK_RETURN, NONE);
    } else if (graph_class(g, op) == OP_CONTRACT) {
        backward_contraction(f, op, with_roles);
    } else if (flow_transfer_of(g, op) == TRANSFER_ATTENTION && (a = flow_attention(f, op)) != NULL) {
        for (uint32_t k = 3; k < graph_noperands(g, op); k++)
            add_sinks(f, in[k], SINK_OTHER, NONE);
        add_sinks_to_scores_operands(f, a);
        add_sinks(f, a->v, SINK_VALUE, op);
    } else if (o->nresults == 1 && f->values[o->first_result].flags & IS_RESIDUAL) {
        add_sinks_to_operands(f, op, SINK_RESIDUAL, op);
    } else if (o->nresults > 0 && flow_passes_through(g, op)) {
        for (uint32_t i = 0; i < o->nresults; i++)
            pass_sinks_through(f, op, &f->values[o->first_result + i]);
    } else if (graph_class(g, op) != OP_NO_USE && graph_class(g, op) != OP_STRUCTURE) {
        add_sinks_to_operands(f, op, SINK_OTHER, NONE);
    }
}

struct flow *flow_new(const struct graph *g) {
    struct flow *f = xcalloc(1, sizeof *f);
    f->g = g;
    f->values = xcalloc((size_t)g->m->nvalues + 1, sizeof *f->values);
    for (uint32_t v = 0; v <= g->m->nvalues; v++)
        f->values[v].sink_op = NONE;
    flow_forward(f);
    for (int round = 0; round < 2; round++)
        for (uint32_t op = g->m->nops; op-- > 0;)
            if (graph_is_audited(g, op))
                backward_op(f, op, round == 1);
    return f;
}

void flow_free(struct flow *f) {
    if (!f)
        return;
    free(f->values);
    free(f->sets);
    free(f->attentions);
    free(f);
}
