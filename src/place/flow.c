/* Both passes. What is not understood is a source of its own and an end of no kind, so that nothing is read into it. */
#include "place/flow.h"

#include "base/work.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RUNS = 64 };

/* How a kind is passed where its class does not tell. */
enum { BY_CLASS, PASS, PASS_FIRST, CACHE, ATTENTION, ACTIVATION, EXPONENTIAL, ROOT, NORM };

static const uint8_t passing[K_COUNT] = {
    [K_PAD] = PASS,
    [K_SCATTER] = PASS,
    [K_SLICE_DYNAMIC] = PASS,
    [K_ARGMAX] = PASS,
    [K_TOPK] = PASS,
    [K_CONCATENATE_HEADS] = PASS,
    [K_NLP_CONCAT_HEADS] = PASS,
    [K_NLP_CONCAT_HEADS_DECODE] = PASS,
    [K_SPLIT_QUERY_KEY_VALUE_AND_SPLIT_HEADS] = PASS,
    [K_NLP_CREATE_QKV_HEADS_DECODE] = PASS,
    [K_ROTARY_EMBEDDING] = PASS_FIRST,
    [K_ROTARY_EMBEDDING_LLAMA] = PASS_FIRST,
    [K_ALL_GATHER] = PASS,
    [K_REDUCE_SCATTER] = PASS,
    [K_COLLECTIVE_PERMUTE] = PASS,
    [K_MESH_SHARD] = PASS,
    [K_MESH_PARTITION] = PASS,
    [K_QUANTIZE] = PASS,
    [K_DEQUANTIZE] = PASS,
    [K_FILL_CACHE] = CACHE,
    [K_UPDATE_CACHE] = CACHE,
    [K_PAGED_FILL_CACHE] = CACHE,
    [K_PAGED_UPDATE_CACHE] = CACHE,
    [K_SDPA] = ATTENTION,
    [K_SDPA_DECODE] = ATTENTION,
    [K_PAGED_SCALED_DOT_PRODUCT_ATTENTION_DECODE] = ATTENTION,
    [K_CHUNKED_SCALED_DOT_PRODUCT_ATTENTION] = ATTENTION,
    [K_GELU] = ACTIVATION,
    [K_SILU] = ACTIVATION,
    [K_SIGMOID] = ACTIVATION,
    [K_HARDSIGMOID] = ACTIVATION,
    [K_TANH] = ACTIVATION,
    [K_ERF] = ACTIVATION,
    [K_RELU] = ACTIVATION,
    [K_RELU6] = ACTIVATION,
    [K_LEAKY_RELU] = ACTIVATION,
    [K_MISH] = ACTIVATION,
    [K_SELU] = ACTIVATION,
    [K_SOFTSIGN] = ACTIVATION,
    [K_MAXIMUM] = ACTIVATION, /* with zero, in old text */
    [K_EXP] = EXPONENTIAL,
    [K_SOFTMAX] = EXPONENTIAL,
    [K_RSQRT] = ROOT,
    [K_SQRT] = ROOT,
    [K_LAYER_NORM] = NORM,
    [K_RMS_NORM] = NORM,
    [K_DISTRIBUTED_LAYER_NORM] = NORM,
    [K_DISTRIBUTED_RMS_NORM] = NORM,
    [K_DIT_RMS_NORM_UNARY_FUSED] = NORM,
};

/* Scores have queries along one of the last two dimensions and keys along the other. `turned`: whether these two stand
 * as the product left them. `axis`: along which of them, as the product left them, an exponential was summed. */
enum { AS_MADE, SWAPPED, REDUCED, UNCLEAR };
enum { NO_AXIS, LAST, BUT_LAST, ANY_AXIS };

/* ---- sets of sources ---- */

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

static uint32_t add_set(struct flow *f, struct source_set s) {
    f->sets = grow(f->sets, &f->sets_cap, f->nsets + 1, sizeof *f->sets);
    f->sets[f->nsets] = s;
    return f->nsets++;
}

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
            all.many = true;
    }
    if (!grown && (all.many || !more.many))
        return a;
    all.many |= more.many;
    all.gated = false;
    return add_set(f, all);
}

/* ---- weights ---- */

/* A parameter, or an argument of no stated kind that looks like one: no input of attention has two dimensions. */
static bool is_weight(const struct graph *g, uint32_t v) {
    if (graph_is_parameter(g, v))
        return true;
    uint32_t arg = graph_argument(g, v), rank;
    return arg != NONE && !graph_argument_is_input(g, arg) && graph_shape(g, arg, &rank) && rank <= 2;
}

uint32_t flow_linear_input(const struct graph *g, uint32_t op) {
    if (graph_class(g, op) != OP_CONTRACT)
        return NONE;
    const uint32_t *o = graph_operands(g, op);
    if (is_weight(g, o[1]) && !graph_is_parameter(g, o[0]))
        return o[0];
    return is_weight(g, o[0]) && !graph_is_parameter(g, o[1]) ? o[1] : NONE;
}

/* ---- down: movement of scores ---- */

static int64_t dim_from_end(const struct graph *g, uint32_t v, uint32_t i) {
    uint32_t rank;
    const int64_t *shape = graph_shape(g, v, &rank);
    return shape && i < rank ? shape[rank - 1 - i] : 1;
}

/* Which dimension of the operand the i-th of the result is, or -1. */
static int64_t permuted(const struct graph *g, uint32_t op, uint32_t rank, uint32_t i) {
    struct str text;
    int64_t p[8], a, b;
    if (g->kind[op] == K_PERMUTE)
        return mlir_attr(g->m, op, "permutation", &text) && rank <= 8 && mlir_ints(text, p, 8) == (int)rank ? p[i] : -1;
    if (!mlir_attr(g->m, op, "dim0", &text) || !mlir_int(text, &a) || !mlir_attr(g->m, op, "dim1", &text) ||
        !mlir_int(text, &b))
        return -1;
    a += a < 0 ? rank : 0;
    b += b < 0 ? rank : 0;
    return i == a ? b : i == b ? a : i;
}

static uint8_t turned_by_permutation(const struct graph *g, uint32_t op, uint8_t turned) {
    uint32_t rank;
    if (!graph_shape(g, graph_operands(g, op)[0], &rank) || rank < 2)
        return UNCLEAR;
    int64_t last = permuted(g, op, rank, rank - 1), but_last = permuted(g, op, rank, rank - 2);
    if (last == rank - 1 && (turned == AS_MADE || but_last == rank - 2))
        return turned;
    return last == rank - 2 && but_last == rank - 1 ? turned ^ 1 : UNCLEAR;
}

static uint8_t turned_by(const struct graph *g, uint32_t op, uint8_t turned) {
    if (turned == REDUCED || turned == UNCLEAR)
        return turned;
    uint32_t x = graph_operands(g, op)[0], r = g->m->ops[op].first_result;
    switch (g->kind[op]) {
    case K_RESHAPE:
        return dim_from_end(g, x, 0) == dim_from_end(g, r, 0) &&
                       (turned == AS_MADE || dim_from_end(g, x, 1) == dim_from_end(g, r, 1))
                   ? turned
                   : UNCLEAR;
    case K_PERMUTE:
    case K_TRANSPOSE:
        return turned_by_permutation(g, op, turned);
    default:
        return turned;
    }
}

/* The dimension that an op of scores sums or normalises, as their product left it. */
static uint8_t axis_of(const struct graph *g, uint32_t op, uint8_t turned) {
    struct str text;
    uint32_t rank;
    int64_t dim;
    const char *key = g->kind[op] == K_SOFTMAX ? "dimension" : "dim_arg";
    if (turned > SWAPPED || !graph_shape(g, graph_operands(g, op)[0], &rank) || rank < 2 ||
        !mlir_attr(g->m, op, key, &text) || mlir_ints(text, &dim, 1) != 1)
        return ANY_AXIS;
    dim += dim < 0 ? rank : 0;
    if (dim != rank - 1 && dim != rank - 2)
        return ANY_AXIS;
    return (dim == rank - 1) == (turned == AS_MADE) ? LAST : BUT_LAST;
}

/* ---- down: attentions ---- */

static void add_attention(struct flow *f, struct attention a) {
    f->attentions = grow(f->attentions, &f->attentions_cap, f->nattentions + 1, sizeof *f->attentions);
    f->attentions[f->nattentions++] = a;
}

const struct attention *flow_attention(const struct flow *f, uint32_t op) {
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

/* The operand of a product that a dimension of its result is of: NONE where it is of both or neither. */
static uint32_t owner(const struct contraction *c, uint32_t dim) {
    if (c->a_dim[dim] >= 0 && c->b_dim[dim] >= 0)
        return NONE;
    return c->a_dim[dim] >= 0 ? c->a : c->b_dim[dim] >= 0 ? c->b : NONE;
}

/* A product of weights, made of exponentials of scores, with something else. */
static bool attention_of(struct flow *f, uint32_t op, uint32_t weights, uint32_t values) {
    const struct graph *g = f->g;
    const struct value_flow *p = &f->values[weights];
    struct contraction c, s;
    uint32_t rank;
    if (p->scores == 0 || !(p->flags & WAS_EXP) || f->values[values].scores == p->scores)
        return false;
    uint32_t scores = p->scores - 1, made = g->m->ops[scores].first_result;
    struct attention a = {op, scores, NONE, NONE, values, false};
    if (!contraction_of(g, op, &c) || !contraction_of(g, scores, &s) || c.nsummed != 1 || s.rank < 2 ||
        !graph_shape(g, weights, &rank) || rank < 2)
        return false;
    uint32_t summed = (uint32_t)(c.a == weights ? c.a_summed[0] : c.b_summed[0]);
    if (summed + 2 < rank || p->turned == REDUCED)
        return false;
    bool last = (summed == rank - 1) == (p->turned == AS_MADE);
    if (p->turned != UNCLEAR && p->axis != (last ? LAST : BUT_LAST))
        return false; /* normalised along another dimension: not this */
    a.k = owner(&s, s.rank - (last ? 1 : 2));
    a.q = owner(&s, s.rank - (last ? 2 : 1));
    a.ordered = p->turned != UNCLEAR && a.k != NONE && a.q != NONE && a.k != a.q;
    if (!a.ordered) {
        a.q = s.a;
        a.k = s.b;
    }
    uint8_t *flags = &f->values[made].flags;
    *flags |= *flags & HAS_CORE ? HAS_CORES : HAS_CORE;
    add_attention(f, a);
    return true;
}

/* ---- down: one op ---- */

static bool folded_activation(const struct graph *g, uint32_t op) {
    struct str text;
    return mlir_attr(g->m, op, "activation", &text) && text.n > 0;
}

static void begin_contraction(struct flow *f, uint32_t op, struct value_flow *r) {
    const uint32_t *o = graph_operands(f->g, op);
    r->flags = folded_activation(f->g, op) ? WAS_ACTIVATED : 0;
    if (flow_linear_input(f->g, op) != NONE || attention_of(f, op, o[0], o[1]) || attention_of(f, op, o[1], o[0]))
        return;
    r->scores = op + 1;
}

/* Elements of a value before it was repeated. */
static int64_t own_elements(const struct graph *g, uint32_t v) {
    int64_t n = graph_numel(g, v);
    for (int step = 0; step < 8 && g->m->values[v].def != NONE; step++) {
        uint32_t op = g->m->values[v].def;
        enum op_class c = graph_class(g, op);
        if (c != OP_MOVE && c != OP_CAST && c != OP_LAYOUT)
            break;
        v = graph_operands(g, op)[0];
        int64_t before = graph_numel(g, v);
        n = before >= 0 && before < n ? before : n;
    }
    return n;
}

static bool nothing_common(const struct flow *f, uint32_t a, uint32_t b) {
    uint32_t x = f->values[a].sources, y = f->values[b].sources;
    return x != y && flow_disjoint(&f->sets[x], &f->sets[y]);
}

/* Of operands with nothing in common the one that is repeated for the other (a shift, a scale, the cosines of a
 * rotation) or only chooses. The result is the other one still. NONE where there is no such operand. */
static uint32_t modifier(const struct flow *f, uint32_t op) {
    const struct graph *g = f->g;
    const uint32_t *o = graph_operands(g, op);
    if (g->kind[op] == K_WHERE)
        return nothing_common(f, o[0], o[1]) && nothing_common(f, o[0], o[2]) ? o[0] : NONE;
    if (graph_class(g, op) != OP_ELTWISE || graph_noperands(g, op) != 2 || o[0] == NONE || o[1] == NONE ||
        f->values[o[0]].sources == 0 || f->values[o[1]].sources == 0 || !nothing_common(f, o[0], o[1]))
        return NONE;
    int64_t a = own_elements(g, o[0]), b = own_elements(g, o[1]);
    return a < b ? o[0] : a > b ? o[1] : NONE;
}

/* Two streams of one size that have nothing in common. A shift or a bias is smaller than what it is added to, and the
 * halves of a rotation come from one source. */
static bool is_residual_add(const struct flow *f, uint32_t op) {
    const struct graph *g = f->g;
    if (g->kind[op] != K_ADD)
        return false;
    uint32_t a = graph_operands(g, op)[0], b = graph_operands(g, op)[1];
    const struct value_flow *x = &f->values[a], *y = &f->values[b];
    if (x->sources == 0 || y->sources == 0 || x->scores || y->scores)
        return false;
    const struct source_set *s = &f->sets[x->sources], *t = &f->sets[y->sources];
    return (s->many || t->many || flow_disjoint(s, t)) && own_elements(g, a) == own_elements(g, b);
}

/* Result of an op of two: what both have, and what one has where the other is a constant or a weight. */
static uint8_t joint_flags(const struct value_flow *a, const struct value_flow *b) {
    uint8_t any = a->flags | b->flags, both = a->flags & b->flags;
    uint8_t of_one = b->sources == 0 ? a->flags : a->sources == 0 ? b->flags : both;
    return (any & (WAS_ACTIVATED | WAS_EXP | WAS_NORMED)) | (of_one & (IS_STATISTIC | IS_DEVIATION));
}

/* An activation of one thing times another: of two products, or of two slices of one. */
static bool gate(struct flow *f, const struct value_flow *a, const struct value_flow *b, uint32_t *set) {
    if (!(a->flags & WAS_ACTIVATED) || (b->flags & WAS_ACTIVATED))
        return false;
    const struct source_set *s = &f->sets[a->sources], *t = &f->sets[b->sources];
    if (s->n != 1 || t->n != 1 || s->many || t->many)
        return false;
    bool same = s->v[0] == t->v[0];
    if (same && (!a->slice || !b->slice || a->slice == b->slice))
        return false;
    *set = add_set(f, (struct source_set){.v = {s->v[0], t->v[0]}, .n = same ? 1 : 2, .gated = true});
    return true;
}

static void join(struct flow *f, uint32_t op, struct value_flow *r, uint32_t v) {
    struct value_flow x = f->values[v];
    enum op_kind kind = (enum op_kind)f->g->kind[op];
    bool product = kind == K_MULTIPLY || kind == K_DIVIDE;
    bool normed = product && ((r->flags ^ x.flags) & IS_DEVIATION) != 0 && x.sources && r->sources;
    uint32_t set;
    if (!(kind == K_MULTIPLY && (gate(f, r, &x, &set) || gate(f, &x, r, &set))))
        set = join_sets(f, r->sources, x.sources);
    r->slice = r->sources == 0 ? x.slice : x.sources == 0 || r->slice == x.slice ? r->slice : 0;
    r->flags = joint_flags(r, &x) | (normed ? WAS_NORMED : 0);
    if (r->scores == 0 || (x.scores && r->turned == REDUCED))
        r->turned = (x.scores ? x.turned : r->turned) & 3u;
    else if (x.scores && x.turned != REDUCED && x.turned != r->turned)
        r->turned = UNCLEAR;
    if (r->axis == NO_AXIS)
        r->axis = x.axis;
    else if (x.axis != NO_AXIS && x.axis != r->axis)
        r->axis = ANY_AXIS;
    r->scores = r->scores == 0 ? x.scores : x.scores == 0 || x.scores == r->scores ? r->scores : 0;
    r->sources = set;
}

/* What the op itself adds to what its operands were. */
static void mark(const struct flow *f, uint32_t op, struct value_flow *r) {
    const struct graph *g = f->g;
    uint8_t how = passing[g->kind[op]];
    enum op_class c = graph_class(g, op);
    if (r->scores && (g->kind[op] == K_SOFTMAX || (g->kind[op] == K_SUM && r->flags & WAS_EXP)))
        r->axis = axis_of(g, op, r->turned) & 3u;
    if (how == ACTIVATION || how == EXPONENTIAL)
        r->flags |= how == ACTIVATION ? WAS_ACTIVATED : WAS_EXP;
    if (how == NORM)
        r->flags |= WAS_NORMED;
    if (how == ROOT && r->flags & IS_STATISTIC)
        r->flags |= IS_DEVIATION;
    if (c == OP_REDUCE) {
        r->flags |= IS_STATISTIC;
        r->turned = REDUCED;
    } else if (c == OP_SLICE) {
        r->slice = op + 1;
    } else if (c == OP_MOVE && r->scores) {
        r->turned = turned_by(g, op, r->turned) & 3u;
    }
}

static bool passes(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    uint8_t how = passing[g->kind[op]];
    return how == PASS || how == PASS_FIRST || c == OP_ELTWISE || c == OP_REDUCE || c == OP_AXISWISE || c == OP_ALIKE ||
           c == OP_SLICE || c == OP_JOIN || c == OP_MOVE || c == OP_CAST || c == OP_LAYOUT;
}

static uint32_t passing_operands(const struct graph *g, uint32_t op) {
    uint8_t how = passing[g->kind[op]];
    uint32_t n = graph_noperands(g, op);
    return n > 1 && (how == PASS_FIRST || how == NORM) ? 1 : n;
}

static struct value_flow looked_through(struct flow *f, uint32_t op) {
    const struct graph *g = f->g;
    struct value_flow r = {.end_at = NONE};
    bool first = true;
    uint32_t besides = modifier(f, op);
    for (uint32_t k = 0; k < passing_operands(g, op); k++) {
        uint32_t v = graph_operands(g, op)[k];
        if (v == NONE || v == besides || graph_is_parameter(g, v))
            continue;
        if (first) {
            r = f->values[v];
            r.flags &= (uint8_t) ~(IS_RESIDUAL | HAS_CORE | HAS_CORES);
        } else {
            join(f, op, &r, v);
        }
        first = false;
    }
    mark(f, op, &r);
    return r;
}

static void begin_source(struct flow *f, uint32_t op) {
    const struct graph *g = f->g;
    const struct mlir_op *o = &g->m->ops[op];
    for (uint32_t i = 0; i < o->nresults; i++) {
        uint32_t v = o->first_result + i;
        f->values[v].sources = set_of(f, v);
        if (graph_class(g, op) == OP_CONTRACT)
            begin_contraction(f, op, &f->values[v]);
    }
    if (passing[g->kind[op]] == ATTENTION && graph_noperands(g, op) >= 3) {
        const uint32_t *in = graph_operands(g, op);
        add_attention(f, (struct attention){op, op, in[0], in[1], in[2], true});
    }
}

static void down(struct flow *f, uint32_t op) {
    const struct graph *g = f->g;
    const struct mlir_op *o = &g->m->ops[op];
    const uint32_t *in = graph_operands(g, op);
    if (passing[g->kind[op]] == CACHE && graph_noperands(g, op) >= 2) {
        f->values[in[0]] = f->values[in[1]]; /* what is read of it from here on */
        return;
    }
    if (o->nresults == 0 || graph_is_parameter(g, o->first_result))
        return;
    if (!passes(g, op)) {
        begin_source(f, op);
        return;
    }
    if (is_residual_add(f, op)) {
        f->values[o->first_result].sources = set_of(f, o->first_result);
        f->values[o->first_result].flags = IS_RESIDUAL;
        return;
    }
    struct value_flow r = looked_through(f, op);
    for (uint32_t i = 0; i < o->nresults; i++)
        f->values[o->first_result + i] = r;
}

/* ---- up ---- */

static void reach(struct flow *f, uint32_t v, unsigned ends, uint32_t at) {
    if (v == NONE || graph_is_parameter(f->g, v))
        return;
    struct value_flow *x = &f->values[v];
    x->ends |= (uint16_t)ends;
    if (at != NONE)
        x->end_at = x->end_at == NONE || x->end_at == at ? at : MANY_ENDS;
}

/* Through an op: what only shifts or scales is no part of what comes out. */
static void reach_through(struct flow *f, uint32_t op, const struct value_flow *r) {
    uint32_t besides = modifier(f, op), n = passing_operands(f->g, op);
    for (uint32_t k = 0; k < graph_noperands(f->g, op); k++) {
        uint32_t v = graph_operands(f->g, op)[k];
        if (k < n && v != besides)
            reach(f, v, r->ends, r->end_at);
        else
            reach(f, v, END_OTHER, NONE);
    }
}

static void reach_all(struct flow *f, uint32_t op, unsigned ends, uint32_t at) {
    for (uint32_t k = 0; k < graph_noperands(f->g, op); k++)
        reach(f, graph_operands(f->g, op)[k], ends, at);
}

/* What a product with weights is to who feeds it; its role is known once all ends are. */
static unsigned linear_end(const struct flow *f, uint32_t op, bool with_roles) {
    if (!with_roles)
        return END_LINEAR;
    unsigned role = flow_linear_role(f, op), ends = f->values[f->g->m->ops[op].first_result].ends;
    if (role & ROLE_QUERY)
        return END_LINEAR | TO_QUERY;
    if (role & (ROLE_KEY | ROLE_VALUE))
        return END_LINEAR | TO_KEY_VALUE;
    if (role & (ROLE_GATE | ROLE_UP | ROLE_FIRST))
        return END_LINEAR | TO_MLP;
    return END_LINEAR | (role == 0 && ends == END_RETURN ? TO_RETURN : TO_REST);
}

static void reach_attention(struct flow *f, const struct attention *a) {
    reach(f, a->q, a->ordered ? END_QUERY : END_QUERY_OR_KEY, a->op);
    reach(f, a->k, a->ordered ? END_KEY : END_QUERY_OR_KEY, a->op);
}

static void up_contraction(struct flow *f, uint32_t op, bool with_roles) {
    const struct graph *g = f->g;
    uint32_t x = flow_linear_input(g, op), at = f->values[g->m->ops[op].first_result].end_at;
    const struct attention *a = flow_attention(f, op);
    if (x != NONE) {
        reach(f, x, linear_end(f, op, with_roles), op);
    } else if (a) {
        const uint32_t *o = graph_operands(g, op);
        reach(f, o[0] == a->v ? o[1] : o[0], END_WEIGHTS, op);
        reach(f, a->v, END_VALUE, op);
    } else {
        a = at < MANY_ENDS ? flow_attention(f, at) : NULL;
        if (a && a->scores == op)
            reach_attention(f, a);
        else
            reach_all(f, op, END_OTHER, NONE);
    }
}

static void up(struct flow *f, uint32_t op, bool with_roles) {
    const struct graph *g = f->g;
    const struct mlir_op *o = &g->m->ops[op];
    const uint32_t *in = graph_operands(g, op);
    const struct attention *a;
    if (passing[g->kind[op]] == CACHE && graph_noperands(g, op) >= 2) {
        reach(f, in[1], f->values[in[0]].ends, f->values[in[0]].end_at);
    } else if (graph_class(g, op) == OP_RETURN) {
        reach_all(f, op, END_RETURN, NONE);
    } else if (graph_class(g, op) == OP_CONTRACT) {
        up_contraction(f, op, with_roles);
    } else if (passing[g->kind[op]] == ATTENTION && (a = flow_attention(f, op)) != NULL) {
        for (uint32_t k = 3; k < graph_noperands(g, op); k++)
            reach(f, in[k], END_OTHER, NONE);
        reach_attention(f, a);
        reach(f, a->v, END_VALUE, op);
    } else if (o->nresults == 1 && f->values[o->first_result].flags & IS_RESIDUAL) {
        reach_all(f, op, END_RESIDUAL, op);
    } else if (o->nresults > 0 && passes(g, op)) {
        for (uint32_t i = 0; i < o->nresults; i++)
            reach_through(f, op, &f->values[o->first_result + i]);
    } else if (graph_class(g, op) != OP_NO_USE && graph_class(g, op) != OP_STRUCTURE) {
        reach_all(f, op, END_OTHER, NONE);
    }
}

/* ---- all ---- */

static bool audited(const struct graph *g, uint32_t op) {
    uint32_t func = g->m->ops[op].func;
    return func == NONE || g->func_kind[func] == FUNC_MAIN;
}

static void begin_arguments(struct flow *f, uint32_t first, uint32_t end) {
    const struct graph *g = f->g;
    for (uint32_t i = first; i < end; i++) {
        const struct mlir_func *func = &g->m->funcs[i];
        for (uint32_t k = 0; g->func_kind[i] == FUNC_MAIN && k < func->nargs; k++)
            if (!is_weight(g, func->first_arg + k))
                f->values[func->first_arg + k].sources = set_of(f, func->first_arg + k);
    }
}

/* Attributes are read from all over the text. */
static void release_text(const struct mlir *m, uint32_t op, size_t *last) {
    size_t at = m->ops[op].text.begin;
    if (source_step(*last, at))
        source_release(m->source, m->text.p, m->text.n);
    *last = at;
}

/* A run of functions that shares no values with others: sets and attentions of its own until all runs are done. */
struct flow_run {
    struct flow flow;
    uint32_t first_func, end_func, first_op, end_op, first_value, end_value;
};

static void make_run(void *context, uint32_t i, uint32_t slot) {
    struct flow_run *run = (struct flow_run *)context + i;
    struct flow *f = &run->flow;
    size_t at = 0;
    (void)slot;
    add_set(f, (struct source_set){.n = 0});
    begin_arguments(f, run->first_func, run->end_func);
    for (uint32_t op = run->first_op; op < run->end_op; op++) {
        release_text(f->g->m, op, &at);
        if (audited(f->g, op))
            down(f, op);
    }
    for (int round = 0; round < 2; round++)
        for (uint32_t op = run->end_op; op-- > run->first_op;) {
            release_text(f->g->m, op, &at);
            if (audited(f->g, op))
                up(f, op, round == 1);
        }
}

static uint32_t cut_runs(const struct graph *g, struct value_flow *values, uint32_t jobs, struct flow_run *runs) {
    uint32_t funcs[MAX_RUNS], n = graph_cuts(g, work_pieces(jobs, MAX_RUNS), funcs);
    const struct mlir *m = g->m;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t f = i ? funcs[i - 1] : 0, next = i + 1 < n ? funcs[i] : NONE;
        runs[i] = (struct flow_run){.flow = {.g = g, .values = values},
                                    .first_func = f,
                                    .end_func = next == NONE ? m->nfuncs : next,
                                    .first_op = i ? m->funcs[f].op : 0,
                                    .end_op = next == NONE ? m->nops : m->funcs[next].op,
                                    .first_value = i ? m->funcs[f].first_arg : 0,
                                    .end_value = next == NONE ? m->nvalues : m->funcs[next].first_arg};
    }
    return n;
}

/* Puts what a run has found behind what is there. Its empty set is that of all. */
static void take_run(struct flow *f, struct flow_run *run) {
    const struct flow *own = &run->flow;
    uint32_t by = f->nsets - 1;
    f->sets = grow(f->sets, &f->sets_cap, f->nsets + own->nsets - 1, sizeof *f->sets);
    memcpy(f->sets + f->nsets, own->sets + 1, (own->nsets - 1) * sizeof *f->sets);
    f->nsets += own->nsets - 1;
    for (uint32_t v = run->first_value; v < run->end_value; v++)
        f->values[v].sources += f->values[v].sources ? by : 0;
    f->attentions = grow(f->attentions, &f->attentions_cap, f->nattentions + own->nattentions, sizeof *f->attentions);
    if (own->nattentions)
        memcpy(f->attentions + f->nattentions, own->attentions, own->nattentions * sizeof *f->attentions);
    f->nattentions += own->nattentions;
    free(own->sets);
    free(own->attentions);
}

struct flow *flow_new(const struct graph *g, uint32_t jobs) {
    struct flow *f = xcalloc(1, sizeof *f);
    struct flow_run runs[MAX_RUNS];
    f->g = g;
    f->values = xcalloc((size_t)g->m->nvalues + 1, sizeof *f->values);
    for (uint32_t v = 0; v <= g->m->nvalues; v++)
        f->values[v].end_at = NONE;
    add_set(f, (struct source_set){.n = 0});
    uint32_t n = cut_runs(g, f->values, jobs, runs);
    work_run(n, jobs, make_run, runs);
    for (uint32_t i = 0; i < n; i++)
        take_run(f, &runs[i]);
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
