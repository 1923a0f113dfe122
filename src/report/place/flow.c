/* Links of values: in textual order to the landmarks that they come from, against it to those that take them. Each op
 * is looked at once in either direction. */
#include "report/place/flow.h"

#include <stdlib.h>

/* ---- sets of links ---- */

static uint32_t add_set(struct flow *f, struct flow_links s) {
    f->sets = grow(f->sets, &f->sets_cap, f->nsets + 1, sizeof *f->sets);
    f->sets[f->nsets] = s;
    return f->nsets++;
}

static uint32_t one_link(struct flow *f, uint32_t at, enum link_kind kind) {
    return add_set(f, (struct flow_links){.items = {{at, (uint16_t)kind}}, .kinds = (uint16_t)kind, .n = 1});
}

static bool has_link(const struct flow_links *s, struct flow_link l) {
    for (uint32_t i = 0; i < s->n; i++)
        if (s->items[i].at == l.at && s->items[i].kind == l.kind)
            return true;
    return false;
}

static uint32_t join_sets(struct flow *f, uint32_t a, uint32_t b) {
    if (a == b || b == 0)
        return a;
    if (a == 0)
        return b;
    struct flow_links all = f->sets[a], more = f->sets[b];
    bool grown = (more.truncated && !all.truncated) || (more.kinds & ~all.kinds) != 0;
    for (uint32_t i = 0; i < more.n; i++) {
        if (has_link(&all, more.items[i]) || (all.n == MAX_LINKS && all.truncated))
            continue;
        grown = true;
        if (all.n < MAX_LINKS)
            all.items[all.n++] = more.items[i];
        else
            all.truncated = true;
    }
    if (!grown)
        return a;
    all.truncated |= more.truncated;
    all.kinds |= more.kinds;
    all.gated = false;
    return add_set(f, all);
}

bool flow_comes_from(const struct flow_links *from, uint32_t v) {
    for (uint32_t i = 0; i < from->n; i++)
        if (from->items[i].at == v)
            return true;
    return false;
}

bool flow_unrelated(const struct flow *f, uint32_t a, uint32_t b) {
    const struct flow_links *x = flow_from(f, a), *y = flow_from(f, b);
    for (uint32_t i = 0; i < x->n; i++)
        if (flow_comes_from(y, x->items[i].at))
            return false;
    return true;
}

uint32_t flow_source(const struct flow *f, uint32_t v) {
    const struct flow_links *s = flow_from(f, v);
    return s->n == 1 && !s->truncated ? s->items[0].at : NONE;
}

uint32_t flow_taker(const struct flow *f, uint32_t v) {
    const struct flow_links *s = flow_to(f, v);
    uint32_t taker = NONE;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t at = s->items[i].at;
        if (at != NONE && taker != NONE && at != taker)
            return NONE;
        taker = at != NONE ? at : taker;
    }
    return s->truncated ? NONE : taker;
}

bool flow_is_residual(const struct flow *f, uint32_t v) {
    const struct flow_links *s = flow_from(f, v);
    return s->kinds == LINK_RESIDUAL && s->n == 1 && s->items[0].at == v;
}

void value_list_add(struct value_list *l, uint32_t v) {
    for (uint32_t i = 0; i < l->n; i++)
        if (l->items[i] == v)
            return;
    if (v != NONE && l->n < MAX_VALUES)
        l->items[l->n++] = v;
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
    const struct flow_links *to = flow_to(f, a->scores);
    return flow_def(f, a->scores) == a->op ||
           (!(to->kinds & (unsigned)~(LINK_WEIGHTS | LINK_RETURN)) && flow_taker(f, a->scores) == a->op);
}

/* ---- ops that let data through ---- */

static enum op_flow how(const struct graph *g, uint32_t op) {
    return op_table[g->kind[op]].flow;
}

static bool lets_through(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    return how(g, op) == FLOW_ALL || how(g, op) == FLOW_FIRST || c == OP_ELTWISE || c == OP_REDUCE ||
           c == OP_AXISWISE || c == OP_ALIKE || c == OP_SLICE || c == OP_JOIN || class_moves(c);
}

static bool is_attention(const struct graph *g, uint32_t op) {
    return how(g, op) == FLOW_ATTENTION && graph_noperands(g, op) >= 3;
}

/* The number of leading operands that carry the data; the others are parameters such as scales or cosines. */
static uint32_t data_operands(const struct graph *g, uint32_t op) {
    uint32_t n = graph_noperands(g, op);
    return n > 1 && (how(g, op) == FLOW_FIRST || how(g, op) == FLOW_NORM) ? 1 : n;
}

/* Number of elements before broadcasts and other movement: a bias repeated along the rows counts one row. */
static int64_t elements_of(const struct graph *g, uint32_t v) {
    int64_t n = graph_numel(g, v);
    for (int step = 0; step < 8 && g->m->values[v].def != NONE; step++) {
        uint32_t op = g->m->values[v].def;
        if (!class_moves(graph_class(g, op)))
            break;
        v = graph_operands(g, op)[0];
        int64_t before = graph_numel(g, v);
        n = before >= 0 && before < n ? before : n;
    }
    return n;
}

static bool is_made(const struct flow *f, uint32_t v) {
    return v != NONE && f->values[v].from != 0;
}

/* The operand that only shifts, scales or selects: it shares no landmark with the other one and is broadcast to it, as
 * the cosines of a rotary embedding; the condition of a select. The result is made of the other operand. NONE where
 * there is no such operand. */
static uint32_t modifier_of(const struct flow *f, uint32_t op) {
    const struct graph *g = f->g;
    const uint32_t *o = graph_operands(g, op);
    if (graph_op_is(g, op, SELECTS))
        return is_made(f, o[0]) && flow_unrelated(f, o[0], o[1]) && flow_unrelated(f, o[0], o[2]) ? o[0] : NONE;
    if (graph_class(g, op) != OP_ELTWISE || graph_noperands(g, op) != 2 || !is_made(f, o[0]) || !is_made(f, o[1]) ||
        !flow_unrelated(f, o[0], o[1]))
        return NONE;
    int64_t a = elements_of(g, o[0]), b = elements_of(g, o[1]);
    return a < b ? o[0] : a > b ? o[1] : NONE;
}

/* ---- what values come from ---- */

/* An argument without a stated kind is taken for a weight by its rank: inputs of an attention have three dimensions or
 * more. */
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

/* The sum of two values of one size that share no landmark, neither of which is scores. A shift or a bias has fewer
 * elements than what it is added to, and the two halves of a rotary embedding come from one product. */
static bool is_residual_add(const struct flow *f, uint32_t op) {
    const struct graph *g = f->g;
    const uint32_t *o = graph_operands(g, op);
    if (!op_is_all((enum op_kind)g->kind[op], ADDS | COMMUTES) || !is_made(f, o[0]) || !is_made(f, o[1]))
        return false;
    const struct flow_links *s = flow_from(f, o[0]), *t = flow_from(f, o[1]);
    return !((s->kinds | t->kinds) & LINK_PRODUCT) && (s->truncated || t->truncated || flow_unrelated(f, o[0], o[1])) &&
           elements_of(g, o[0]) == elements_of(g, o[1]);
}

/* A constant or a weight leaves the flags of the other operand as they are; otherwise the result has the history of
 * both, and is a statistic only where both are. */
static uint8_t joint_flags(const struct flow_value *a, const struct flow_value *b) {
    uint8_t any = a->flags | b->flags, both = a->flags & b->flags;
    uint8_t of_one = b->from == 0 ? a->flags : a->from == 0 ? b->flags : both;
    return (any & (WAS_ACTIVATED | WAS_EXP | WAS_NORMED)) | (of_one & (IS_STATISTIC | IS_DEVIATION));
}

/* activation(a) * b, of two landmarks or of two slices of one: the gate of a gated MLP. */
static bool gate(struct flow *f, const struct flow_value *a, const struct flow_value *b, uint32_t *set) {
    if (!(a->flags & WAS_ACTIVATED) || (b->flags & WAS_ACTIVATED))
        return false;
    struct flow_links s = f->sets[a->from], t = f->sets[b->from];
    if (s.n != 1 || t.n != 1 || s.truncated || t.truncated)
        return false;
    bool same = s.items[0].at == t.items[0].at;
    if (same && (!a->slice || !b->slice || a->slice == b->slice))
        return false;
    s.items[1] = t.items[0];
    s.n = same ? 1 : 2;
    s.kinds |= t.kinds;
    s.gated = true;
    *set = add_set(f, s);
    return true;
}

/* Adds what one more operand comes from to what the others do. */
static void join_operand(struct flow *f, uint32_t op, struct flow_value *r, const struct flow_value *x) {
    enum op_kind kind = (enum op_kind)f->g->kind[op];
    bool normed = op_is(kind, SCALES) && (r->flags ^ x->flags) & IS_DEVIATION && x->from && r->from;
    uint32_t set;
    if (!(op_is_all(kind, SCALES | COMMUTES) && (gate(f, r, x, &set) || gate(f, x, r, &set))))
        set = join_sets(f, r->from, x->from);
    r->slice = r->from == 0 ? x->slice : x->from == 0 || r->slice == x->slice ? r->slice : 0;
    r->flags = joint_flags(r, x) | (normed ? WAS_NORMED : 0);
    r->from = set;
}

/* The result of an op that lets its operands through. */
static struct flow_value through(struct flow *f, uint32_t op) {
    static const uint8_t passed[] = {
        [FLOW_ACTIVATION] = WAS_ACTIVATED, [FLOW_EXPONENTIAL] = WAS_EXP, [FLOW_NORM] = WAS_NORMED, [FLOW_ROOT] = 0};
    const struct graph *g = f->g;
    struct flow_value r = {0};
    bool first = true;
    uint32_t modifier = modifier_of(f, op);
    for (uint32_t k = 0; k < data_operands(g, op); k++) {
        uint32_t v = graph_operands(g, op)[k];
        if (v == NONE || v == modifier || graph_is_parameter(g, v))
            continue;
        struct flow_value x = f->values[v];
        if (first)
            r = x;
        else
            join_operand(f, op, &r, &x);
        first = false;
    }
    r.flags |= passed[how(g, op)];
    if (how(g, op) == FLOW_ROOT && r.flags & IS_STATISTIC)
        r.flags |= IS_DEVIATION;
    if (graph_class(g, op) == OP_REDUCE)
        r.flags |= IS_STATISTIC;
    if (graph_class(g, op) == OP_SLICE)
        r.slice = op + 1;
    return r;
}

static void add_attention(struct flow *f, struct attention_site a) {
    f->attentions = grow(f->attentions, &f->attentions_cap, f->nattentions + 1, sizeof *f->attentions);
    f->attentions[f->nattentions++] = a;
}

/* What an op is that does not let its operands through. */
static enum link_kind landmark(struct flow *f, uint32_t op) {
    const struct graph *g = f->g;
    const uint32_t *in = graph_operands(g, op);
    struct attention_site a;
    if (is_attention(g, op))
        a = (struct attention_site){op, g->m->ops[op].first_result, in[0], in[1], in[2], true};
    else if (graph_class(g, op) != OP_CONTRACT)
        return LINK_OTHER;
    else if (flow_linear_input(g, op) != NONE)
        return LINK_LINEAR;
    else if (!flow_find_attention(f, op, in[0], in[1], &a) && !flow_find_attention(f, op, in[1], in[0], &a))
        return LINK_PRODUCT;
    add_attention(f, a);
    return LINK_ATTENTION;
}

static void begin_at(struct flow *f, uint32_t op, enum link_kind kind) {
    const struct graph *g = f->g;
    bool activated = graph_class(g, op) == OP_CONTRACT && attrs_find(graph_attributes(g, op), "activation");
    for (uint32_t i = 0; i < g->m->ops[op].nresults; i++) {
        uint32_t v = g->m->ops[op].first_result + i;
        f->values[v] = (struct flow_value){.from = one_link(f, v, kind), .flags = activated ? WAS_ACTIVATED : 0};
    }
}

static void forward(struct flow *f, uint32_t op) {
    const struct graph *g = f->g;
    const struct mlir_op *o = &g->m->ops[op];
    if (graph_writes_in_place(g, op)) {
        const uint32_t *in = graph_operands(g, op);
        f->values[in[0]] = f->values[in[1]]; /* later reads of the cache see what was written */
        for (uint32_t i = 0; i < o->nresults; i++)
            f->values[o->first_result + i] = f->values[in[1]];
    } else if (o->nresults > 0 && !graph_is_parameter(g, o->first_result)) {
        if (!lets_through(g, op)) {
            begin_at(f, op, landmark(f, op));
        } else if (is_residual_add(f, op)) {
            begin_at(f, op, LINK_RESIDUAL);
        } else {
            struct flow_value r = through(f, op);
            for (uint32_t i = 0; i < o->nresults; i++)
                f->values[o->first_result + i] = r;
        }
    }
}

/* Inputs of main functions are landmarks; weights are not. */
static void begin_at_arguments(struct flow *f) {
    const struct graph *g = f->g;
    for (uint32_t i = 0; i < g->m->nfuncs; i++) {
        const struct mlir_func *func = &g->m->funcs[i];
        for (uint32_t v = func->first_arg; g->func_kind[i] == FUNC_MAIN && v < func->first_arg + func->nargs; v++)
            if (!is_weight(g, v))
                f->values[v].from = one_link(f, v, LINK_OTHER);
    }
}

/* ---- what takes values ---- */

static void add_to(struct flow *f, uint32_t v, uint32_t set) {
    if (v != NONE && !graph_is_parameter(f->g, v))
        f->values[v].to = join_sets(f, f->values[v].to, set);
}

static void add_link(struct flow *f, uint32_t v, uint32_t at, enum link_kind kind) {
    add_to(f, v, one_link(f, at, kind));
}

static void add_all(struct flow *f, uint32_t op, uint32_t at, enum link_kind kind) {
    for (uint32_t k = 0; k < graph_noperands(f->g, op); k++)
        add_link(f, graph_operands(f->g, op)[k], at, kind);
}

/* The operands that carry data go where the results go; a modifier or parameter ends here. */
static void back_through(struct flow *f, uint32_t op) {
    const struct mlir_op *o = &f->g->m->ops[op];
    uint32_t modifier = modifier_of(f, op), n = data_operands(f->g, op), to = 0;
    for (uint32_t i = 0; i < o->nresults; i++)
        to = join_sets(f, to, f->values[o->first_result + i].to);
    for (uint32_t k = 0; k < graph_noperands(f->g, op); k++) {
        uint32_t v = graph_operands(f->g, op)[k];
        if (k < n && v != modifier)
            add_to(f, v, to);
        else
            add_link(f, v, op, LINK_OTHER);
    }
}

static void take_queries_and_keys(struct flow *f, const struct attention_site *a) {
    add_link(f, a->q, a->op, a->ordered ? LINK_QUERY : LINK_QUERY_OR_KEY);
    add_link(f, a->k, a->op, a->ordered ? LINK_KEY : LINK_QUERY_OR_KEY);
}

/* The attention whose scores a product makes, if it is the only op that they go to. */
static const struct attention_site *attention_of_scores(const struct flow *f, uint32_t scores) {
    uint32_t taker = flow_taker(f, scores);
    const struct attention_site *a = taker == NONE ? NULL : flow_attention(f, taker);
    return a && a->scores == scores ? a : NULL;
}

/* A fused attention, a linear, the second product of an attention, the first one, or another landmark. */
static void take_operands(struct flow *f, uint32_t op) {
    const struct graph *g = f->g;
    const uint32_t *in = graph_operands(g, op);
    const struct attention_site *a = flow_attention(f, op), *of;
    if (a && is_attention(g, op)) {
        for (uint32_t k = 3; k < graph_noperands(g, op); k++)
            add_link(f, in[k], op, LINK_OTHER);
        take_queries_and_keys(f, a);
        add_link(f, a->v, op, LINK_VALUE);
    } else if (flow_linear_input(g, op) != NONE) {
        add_link(f, flow_linear_input(g, op), op, LINK_LINEAR);
    } else if (a) {
        add_link(f, in[0] == a->v ? in[1] : in[0], op, LINK_WEIGHTS);
        add_link(f, a->v, op, LINK_VALUE);
    } else if (graph_class(g, op) == OP_CONTRACT && (of = attention_of_scores(f, g->m->ops[op].first_result)) != NULL) {
        take_queries_and_keys(f, of);
    } else {
        add_all(f, op, op, LINK_OTHER);
    }
}

static void backward(struct flow *f, uint32_t op) {
    const struct graph *g = f->g;
    const struct mlir_op *o = &g->m->ops[op];
    enum op_class c = graph_class(g, op);
    if (graph_writes_in_place(g, op)) {
        const uint32_t *in = graph_operands(g, op);
        if (o->nresults)
            add_to(f, in[0], f->values[o->first_result].to);
        add_to(f, in[1], f->values[in[0]].to);
    } else if (c == OP_RETURN) {
        add_all(f, op, NONE, LINK_RETURN);
    } else if (o->nresults == 1 && flow_is_residual(f, o->first_result)) {
        add_all(f, op, op, LINK_RESIDUAL);
    } else if (o->nresults > 0 && lets_through(g, op)) {
        back_through(f, op);
    } else if (c != OP_NO_USE && c != OP_STRUCTURE) {
        take_operands(f, op);
    }
}

struct flow *flow_new(const struct graph *g) {
    struct flow *f = xcalloc(1, sizeof *f);
    f->g = g;
    f->known = xcalloc(1, sizeof *f->known);
    f->values = xcalloc((size_t)g->m->nvalues + 1, sizeof *f->values);
    add_set(f, (struct flow_links){.n = 0});
    begin_at_arguments(f);
    for (uint32_t op = 0; op < g->m->nops; op++)
        if (graph_is_audited(g, op))
            forward(f, op);
    for (uint32_t op = g->m->nops; op-- > 0;)
        if (graph_is_audited(g, op))
            backward(f, op);
    return f;
}

void flow_free(struct flow *f) {
    if (!f)
        return;
    free(f->values);
    free(f->sets);
    free(f->attentions);
    known_names_free(f->known);
    free(f->known);
    free(f);
}
