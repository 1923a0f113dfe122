/* The forward pass: sources, flags and attentions, one op after another in textual order. A fused attention is one op;
 * one that is spelled out is found at its second product, softmax(Q K^T) V, by following which dimension of the scores
 * was normalised. */
#include "place/flow_passes.h"

/* Whether the last two dimensions of scores still stand as their product left them. REDUCED: a statistic of scores,
 * such as the denominator of a softmax, which fits either way. */
enum scores_orientation { AS_COMPUTED, TRANSPOSED, REDUCED, UNKNOWN_LAYOUT };
/* Along which of the two, as the product left them, the softmax sums. ANY_AXIS: not known. */
enum scores_axis { NO_AXIS, LAST, BUT_LAST, ANY_AXIS };

/* ---- sets of sources ---- */

static uint32_t add_set(struct flow *f, struct source_set s) {
    f->sets = grow(f->sets, &f->sets_cap, f->nsets + 1, sizeof *f->sets);
    f->sets[f->nsets] = s;
    return f->nsets++;
}

/* The set of one source. */
static uint32_t set_of(struct flow *f, uint32_t v) {
    return add_set(f, (struct source_set){.v = {v}, .n = 1});
}

static uint32_t join_sets(struct flow *f, uint32_t a, uint32_t b) {
    if (a == b || b == 0)
        return a;
    if (a == 0)
        return b;
    struct source_set all = f->sets[a], more = f->sets[b];
    bool grown = false;
    for (uint32_t i = 0; i < more.n; i++) {
        if (flow_has_source(&all, more.v[i]))
            continue;
        grown = true;
        if (all.n < MAX_SOURCES)
            all.v[all.n++] = more.v[i];
        else
            all.truncated = true;
    }
    if (!grown && (all.truncated || !more.truncated))
        return a;
    all.truncated |= more.truncated;
    all.gated = false;
    return add_set(f, all);
}

/* ---- layout of scores ---- */

static int64_t dim_from_end(const struct graph *g, uint32_t v, uint32_t i) {
    uint32_t rank;
    const int64_t *shape = graph_shape(g, v, &rank);
    return shape && i < rank ? shape[rank - 1 - i] : 1;
}

static uint8_t orientation_after_permutation(const struct graph *g, uint32_t op, uint8_t orientation) {
    uint32_t rank, order[MAX_RANK];
    if (!graph_shape(g, graph_operands(g, op)[0], &rank) || rank < 2 || !permutation_of(g, op, rank, order))
        return UNKNOWN_LAYOUT;
    uint32_t last = order[rank - 1], but_last = order[rank - 2];
    if (last == rank - 1 && (orientation == AS_COMPUTED || but_last == rank - 2))
        return orientation;
    return last == rank - 2 && but_last == rank - 1 ? orientation ^ 1 : UNKNOWN_LAYOUT;
}

static uint8_t orientation_after(const struct graph *g, uint32_t op, uint8_t orientation) {
    if (orientation == REDUCED || orientation == UNKNOWN_LAYOUT)
        return orientation;
    uint32_t x = graph_operands(g, op)[0], r = g->m->ops[op].first_result;
    switch (g->kind[op]) {
    case K_RESHAPE:
        return dim_from_end(g, x, 0) == dim_from_end(g, r, 0) &&
                       (orientation == AS_COMPUTED || dim_from_end(g, x, 1) == dim_from_end(g, r, 1))
                   ? orientation
                   : UNKNOWN_LAYOUT;
    case K_PERMUTE:
    case K_TRANSPOSE:
        return orientation_after_permutation(g, op, orientation);
    default:
        return orientation;
    }
}

/* The dimension along which a softmax or sum of scores runs, in the layout of their product. */
static uint8_t axis_of(const struct graph *g, uint32_t op, uint8_t orientation) {
    const struct attr *axis = graph_axes(g, op);
    uint32_t rank;
    if (orientation > TRANSPOSED || !graph_shape(g, graph_operands(g, op)[0], &rank) || rank < 2 || !axis ||
        axis->n != 1)
        return ANY_AXIS;
    int64_t dim = axis->list[0];
    dim += dim < 0 ? rank : 0;
    if (dim != rank - 1 && dim != rank - 2)
        return ANY_AXIS;
    return (dim == rank - 1) == (orientation == AS_COMPUTED) ? LAST : BUT_LAST;
}

/* ---- attentions ---- */

static void add_attention(struct flow *f, struct attention_site a) {
    f->attentions = grow(f->attentions, &f->attentions_cap, f->nattentions + 1, sizeof *f->attentions);
    f->attentions[f->nattentions++] = a;
}

/* Which operand of a product a dimension of its result comes from: NONE for a batch dimension, which both have. */
static uint32_t owner(const struct contraction *c, uint32_t dim) {
    if (c->a_dim[dim] >= 0 && c->b_dim[dim] >= 0)
        return NONE;
    return c->a_dim[dim] >= 0 ? c->a : c->b_dim[dim] >= 0 ? c->b : NONE;
}

/* The second product of an attention: `weights` are exponentials of scores, normalised along the dimension that the
 * product contracts. The keys are then the operand of the first product that this dimension comes from. */
static bool attention_of(struct flow *f, uint32_t op, uint32_t weights, uint32_t values) {
    const struct graph *g = f->g;
    const struct value_facts *p = &f->values[weights];
    struct contraction c, s;
    uint32_t rank;
    if (p->scores == 0 || !(p->flags & WAS_EXP) || f->values[values].scores == p->scores)
        return false;
    uint32_t scores = p->scores - 1, made = g->m->ops[scores].first_result;
    struct attention_site a = {op, scores, NONE, NONE, values, false};
    if (!contraction_of(g, op, &c) || !contraction_of(g, scores, &s) || c.nsummed != 1 || s.rank < 2 ||
        !graph_shape(g, weights, &rank) || rank < 2)
        return false;
    uint32_t summed = (uint32_t)(c.a == weights ? c.a_summed[0] : c.b_summed[0]);
    if (summed + 2 < rank || p->orientation == REDUCED)
        return false;
    bool last = (summed == rank - 1) == (p->orientation == AS_COMPUTED);
    if (p->orientation != UNKNOWN_LAYOUT && p->softmax_axis != (last ? LAST : BUT_LAST))
        return false;
    a.k = owner(&s, s.rank - (last ? 1 : 2));
    a.q = owner(&s, s.rank - (last ? 2 : 1));
    a.ordered = p->orientation != UNKNOWN_LAYOUT && a.k != NONE && a.q != NONE && a.k != a.q;
    if (!a.ordered) {
        a.q = s.a;
        a.k = s.b;
    }
    uint8_t *flags = &f->values[made].flags;
    *flags |= *flags & HAS_ATTENTION ? HAS_ATTENTIONS : HAS_ATTENTION;
    add_attention(f, a);
    return true;
}

/* ---- transfer functions ---- */

static bool folded_activation(const struct graph *g, uint32_t op) {
    return attrs_find(graph_attributes(g, op), "activation") != NULL;
}

/* A product is a source. It is a linear, the second product of an attention, or else perhaps scores. */
static void start_contraction(struct flow *f, uint32_t op, struct value_facts *r) {
    const uint32_t *o = graph_operands(f->g, op);
    r->flags = folded_activation(f->g, op) ? WAS_ACTIVATED : 0;
    if (flow_linear_input(f->g, op) != NONE || attention_of(f, op, o[0], o[1]) || attention_of(f, op, o[1], o[0]))
        return;
    r->scores = op + 1;
}

/* The sum of two values of one size that share no source. A shift or a bias has fewer elements than what it is added
 * to, and the two halves of a rotary embedding come from one source. */
static bool is_residual_add(const struct flow *f, uint32_t op) {
    const struct graph *g = f->g;
    if (g->kind[op] != K_ADD)
        return false;
    uint32_t a = graph_operands(g, op)[0], b = graph_operands(g, op)[1];
    const struct value_facts *x = &f->values[a], *y = &f->values[b];
    if (x->sources == 0 || y->sources == 0 || x->scores || y->scores)
        return false;
    const struct source_set *s = &f->sets[x->sources], *t = &f->sets[y->sources];
    return (s->truncated || t->truncated || flow_disjoint(s, t)) && flow_elements(g, a) == flow_elements(g, b);
}

/* A constant or a weight (no source) leaves the flags of the other operand as they are; otherwise the result has the
 * history of both, and is a statistic only where both are. */
static uint8_t joint_flags(const struct value_facts *a, const struct value_facts *b) {
    uint8_t any = a->flags | b->flags, both = a->flags & b->flags;
    uint8_t of_one = b->sources == 0 ? a->flags : a->sources == 0 ? b->flags : both;
    return (any & (WAS_ACTIVATED | WAS_EXP | WAS_NORMED)) | (of_one & (IS_STATISTIC | IS_DEVIATION));
}

/* activation(a) * b, of two sources or of two slices of one: the gate of a gated MLP. */
static bool gate(struct flow *f, const struct value_facts *a, const struct value_facts *b, uint32_t *set) {
    if (!(a->flags & WAS_ACTIVATED) || (b->flags & WAS_ACTIVATED))
        return false;
    const struct source_set *s = &f->sets[a->sources], *t = &f->sets[b->sources];
    if (s->n != 1 || t->n != 1 || s->truncated || t->truncated)
        return false;
    bool same = s->v[0] == t->v[0];
    if (same && (!a->slice || !b->slice || a->slice == b->slice))
        return false;
    *set = add_set(f, (struct source_set){.v = {s->v[0], t->v[0]}, .n = same ? 1 : 2, .gated = true});
    return true;
}

/* Merges the facts of one more operand into those of the result so far. Facts that contradict each other are lost. */
static void join_operand(struct flow *f, uint32_t op, struct value_facts *r, uint32_t v) {
    struct value_facts x = f->values[v];
    enum op_kind kind = (enum op_kind)f->g->kind[op];
    bool product = kind == K_MULTIPLY || kind == K_DIVIDE;
    bool normed = product && ((r->flags ^ x.flags) & IS_DEVIATION) != 0 && x.sources && r->sources;
    uint32_t set;
    if (!(kind == K_MULTIPLY && (gate(f, r, &x, &set) || gate(f, &x, r, &set))))
        set = join_sets(f, r->sources, x.sources);
    r->slice = r->sources == 0 ? x.slice : x.sources == 0 || r->slice == x.slice ? r->slice : 0;
    r->flags = joint_flags(r, &x) | (normed ? WAS_NORMED : 0);
    if (r->scores == 0 || (x.scores && r->orientation == REDUCED))
        r->orientation = (x.scores ? x.orientation : r->orientation) & 3u;
    else if (x.scores && x.orientation != REDUCED && x.orientation != r->orientation)
        r->orientation = UNKNOWN_LAYOUT;
    if (r->softmax_axis == NO_AXIS)
        r->softmax_axis = x.softmax_axis;
    else if (x.softmax_axis != NO_AXIS && x.softmax_axis != r->softmax_axis)
        r->softmax_axis = ANY_AXIS;
    r->scores = r->scores == 0 ? x.scores : x.scores == 0 || x.scores == r->scores ? r->scores : 0;
    r->sources = set;
}

/* Facts that the op itself gives its result. */
static void add_own_facts(const struct flow *f, uint32_t op, struct value_facts *r) {
    const struct graph *g = f->g;
    enum flow_transfer how = flow_transfer_of(g, op);
    enum op_class c = graph_class(g, op);
    if (r->scores && (g->kind[op] == K_SOFTMAX || (g->kind[op] == K_SUM && r->flags & WAS_EXP)))
        r->softmax_axis = axis_of(g, op, r->orientation) & 3u;
    if (how == TRANSFER_ACTIVATION || how == TRANSFER_EXPONENTIAL)
        r->flags |= how == TRANSFER_ACTIVATION ? WAS_ACTIVATED : WAS_EXP;
    if (how == TRANSFER_NORM)
        r->flags |= WAS_NORMED;
    if (how == TRANSFER_ROOT && r->flags & IS_STATISTIC)
        r->flags |= IS_DEVIATION;
    if (c == OP_REDUCE) {
        r->flags |= IS_STATISTIC;
        r->orientation = REDUCED;
    } else if (c == OP_SLICE) {
        r->slice = op + 1;
    } else if (c == OP_MOVE && r->scores) {
        r->orientation = orientation_after(g, op, r->orientation) & 3u;
    }
}

/* The facts of the result of an op that lets those of its operands through. */
static struct value_facts transfer(struct flow *f, uint32_t op) {
    const struct graph *g = f->g;
    struct value_facts r = {.sink_op = NONE};
    bool first = true;
    uint32_t modifier = flow_modifier(f, op);
    for (uint32_t k = 0; k < flow_data_operands(g, op); k++) {
        uint32_t v = graph_operands(g, op)[k];
        if (v == NONE || v == modifier || graph_is_parameter(g, v))
            continue;
        if (first) {
            r = f->values[v];
            r.flags &= (uint8_t) ~(IS_RESIDUAL | HAS_ATTENTION | HAS_ATTENTIONS);
        } else {
            join_operand(f, op, &r, v);
        }
        first = false;
    }
    add_own_facts(f, op, &r);
    return r;
}

/* Makes each result of an op a source of its own. */
static void start_source(struct flow *f, uint32_t op) {
    const struct graph *g = f->g;
    const struct mlir_op *o = &g->m->ops[op];
    for (uint32_t i = 0; i < o->nresults; i++) {
        uint32_t v = o->first_result + i;
        f->values[v].sources = set_of(f, v);
        if (graph_class(g, op) == OP_CONTRACT)
            start_contraction(f, op, &f->values[v]);
    }
    if (flow_transfer_of(g, op) == TRANSFER_ATTENTION && graph_noperands(g, op) >= 3) {
        const uint32_t *in = graph_operands(g, op);
        add_attention(f, (struct attention_site){op, op, in[0], in[1], in[2], true});
    }
}

static void forward_op(struct flow *f, uint32_t op) {
    const struct graph *g = f->g;
    const struct mlir_op *o = &g->m->ops[op];
    const uint32_t *in = graph_operands(g, op);
    if (flow_transfer_of(g, op) == TRANSFER_CACHE && graph_noperands(g, op) >= 2) {
        f->values[in[0]] = f->values[in[1]]; /* later reads of the cache see what was written */
        for (uint32_t i = 0; i < o->nresults; i++)
            f->values[o->first_result + i] = f->values[in[1]];
        return;
    }
    if (o->nresults == 0 || graph_is_parameter(g, o->first_result))
        return;
    if (!flow_passes_through(g, op)) {
        start_source(f, op);
        return;
    }
    if (is_residual_add(f, op)) {
        f->values[o->first_result].sources = set_of(f, o->first_result);
        f->values[o->first_result].flags = IS_RESIDUAL;
        return;
    }
    struct value_facts r = transfer(f, op);
    for (uint32_t i = 0; i < o->nresults; i++)
        f->values[o->first_result + i] = r;
}

/* Inputs of main functions are sources; weights are not. */
static void start_arguments(struct flow *f) {
    const struct graph *g = f->g;
    for (uint32_t i = 0; i < g->m->nfuncs; i++) {
        const struct mlir_func *func = &g->m->funcs[i];
        for (uint32_t k = 0; g->func_kind[i] == FUNC_MAIN && k < func->nargs; k++)
            if (!flow_is_weight(g, func->first_arg + k))
                f->values[func->first_arg + k].sources = set_of(f, func->first_arg + k);
    }
}

void flow_forward(struct flow *f) {
    add_set(f, (struct source_set){.n = 0});
    start_arguments(f);
    for (uint32_t op = 0; op < f->g->m->nops; op++)
        if (graph_is_audited(f->g, op))
            forward_op(f, op);
}
