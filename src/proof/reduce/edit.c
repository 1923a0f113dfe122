/* A leading dimension is added to or taken from the inputs of the largest rank, and with them from all results that
 * depend on one. */
#include "proof/reduce/edit.h"

enum {
    NEW_BATCH = 2,            /* extent of a new batch dimension */
    MAX_KINDS = 16,           /* of optional ops of a formula */
    MAX_OPERANDS_OF_EDIT = 64 /* of an op, that an op is inserted at */
};

/* ---- leading dimensions ---- */

static uint32_t rank_of(const struct graph *g, uint32_t value) {
    uint32_t rank;
    return graph_shape(g, value, &rank) ? rank : 0;
}

static uint32_t largest_rank(const struct subgraph *s) {
    uint32_t rank = 0;
    for (uint32_t i = 0; i < s->ninputs; i++)
        rank = rank_of(s->graph, s->inputs[i]) > rank ? rank_of(s->graph, s->inputs[i]) : rank;
    for (uint32_t i = 0; i < s->nops; i++) {
        const struct mlir_op *op = &s->graph->m->ops[s->ops[i]];
        for (uint32_t v = op->first_result; v < op->first_result + op->nresults; v++)
            rank = rank_of(s->graph, v) > rank ? rank_of(s->graph, v) : rank;
    }
    return rank;
}

/* False where the value has no dimension that could go. */
static bool set_lead(struct edit *e, const struct graph *g, uint32_t value, int64_t extent) {
    uint32_t rank;
    const int64_t *dims = graph_shape(g, value, &rank);
    e->leads[value] = extent;
    return !e->less || (dims && rank && dims[0] == 1);
}

/* Ops that treat a further leading dimension as a batch dimension, where all operands have it or those without
 * broadcast. One that reduces all dimensions does not. */
static bool is_batched(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    return c == OP_REDUCE ? graph_axes(g, op) != NULL
                          : c == OP_ELTWISE || c == OP_SLICE || c == OP_JOIN || class_moves(c) ||
                                op_is((enum op_kind)g->kind[op], BATCHES);
}

static bool lead_results(struct edit *e, const struct graph *g, uint32_t op) {
    const struct mlir_op *o = &g->m->ops[op];
    bool all = true, good = true;
    int64_t extent = 0;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t v = graph_operands(g, op)[i];
        if (!is_tensor_operand(g, v))
            continue;
        all &= e->leads[v] != 0;
        extent = e->leads[v] > extent ? e->leads[v] : extent;
        /* broadcast from the right it would stand beside another dimension than the first one of the result */
        good &= e->leads[v] <= 1 || graph_class(g, op) != OP_ELTWISE || rank_of(g, v) == rank_of(g, o->first_result);
    }
    if (extent == 0)
        return true;
    for (uint32_t v = o->first_result; v < o->first_result + o->nresults; v++)
        good &= set_lead(e, g, v, extent);
    return good && (o->nresults == 0 || (is_batched(g, op) && (all || graph_class(g, op) != OP_JOIN)));
}

/* Rows of data: neither weights nor the right operand of a product, nor what is broadcast along its first dimension. */
static bool has_rows(const struct subgraph *s, uint32_t value) {
    const struct graph *g = s->graph;
    uint32_t rank;
    const int64_t *dims = graph_shape(g, value, &rank);
    bool rows = dims && rank && dims[0] > 1 && !graph_is_parameter(g, value) && !graph_constant(g, value).known;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && rows; u++)
        rows = graph_class(g, g->uses[u]) != OP_CONTRACT || graph_operands(g, g->uses[u])[0] == value;
    return rows;
}

static bool choose_leads(struct edit *e, enum change change, const struct subgraph *s, struct arena *a) {
    const struct graph *g = s->graph;
    uint32_t rank = largest_rank(s);
    bool good = rank > (change == CHANGE_NO_LEAD), any = false;
    e->leads = arena_alloc(a, (g->m->nvalues + (size_t)1) * sizeof *e->leads);
    e->less = change == CHANGE_NO_LEAD;
    for (uint32_t i = 0; i < s->ninputs && good; i++) {
        bool batch = change != CHANGE_RANK && !graph_constant(g, s->inputs[i]).known;
        if (rank_of(g, s->inputs[i]) != rank || (change == CHANGE_ROWS && !has_rows(s, s->inputs[i])))
            continue;
        any = true;
        good = set_lead(e, g, s->inputs[i], batch ? NEW_BATCH : 1);
    }
    for (uint32_t i = 0; i < s->nops && good; i++)
        good = lead_results(e, g, s->ops[i]);
    return good && any;
}

/* ---- an op less ---- */

static bool same_type(const struct graph *g, uint32_t a, uint32_t b) {
    uint32_t ranks[2];
    const int64_t *x = graph_shape(g, a, &ranks[0]), *y = graph_shape(g, b, &ranks[1]);
    return graph_dtype(g, a) == graph_dtype(g, b) && x && y && ranks[0] == ranks[1] &&
           memcmp(x, y, ranks[0] * sizeof *x) == 0;
}

/* Chooses, by the seed, one of all pairs of a matched elementwise op and an operand of its result's type. The first
 * round counts them. */
static bool choose_dropped(struct edit *e, uint64_t seed, const struct match *m) {
    const struct graph *g = m->graph;
    uint32_t n = 0;
    for (int counted = 0; counted < 2; counted++)
        for (uint32_t i = 0, k = 0; i < m->nops; i++)
            for (uint32_t j = 0; j < graph_noperands(g, m->ops[i]) && graph_class(g, m->ops[i]) == OP_ELTWISE; j++) {
                uint32_t v = graph_operands(g, m->ops[i])[j];
                if (!is_tensor_operand(g, v) || !same_type(g, v, g->m->ops[m->ops[i]].first_result))
                    continue;
                if (counted && k++ == seed % n) {
                    e->dropped = m->ops[i];
                    e->stand_in = v;
                    return true;
                }
                n += !counted;
            }
    return false;
}

/* ---- an op more ---- */

/* Elementwise operators that the formula makes optional by an alternative without them: x + y | x. */
struct optional {
    enum op_kind kinds[MAX_KINDS];
    bool unary[MAX_KINDS];
    uint32_t n;
};

/* The same expression. Names inside of idioms are numbered anew at each use, so only slots of the same name count. */
static bool same_node(const struct node *a, const struct node *b) {
    bool same = a->kind == b->kind && a->nargs == b->nargs && str_eq(a->text, b->text);
    if (a->kind == N_VARIABLE || (a->kind == N_NAMED && a->slot == b->slot))
        return same && a->slot == b->slot;
    for (uint32_t i = 0; i < a->nargs && same; i++)
        same = same_node(a->args[i], b->args[i]);
    return same && a->op == b->op;
}

static void add_optional(struct optional *all, const struct node *either, const struct node *n) {
    bool without = false;
    if (n->kind == N_NAMED && n->nargs)
        n = n->args[0];
    for (uint32_t i = 0; i < either->nargs && n->kind == N_OP; i++)
        for (uint32_t k = 0; k < n->nargs; k++)
            without |= same_node(either->args[i], n->args[k]);
    if (!without || op_table[n->op].class != OP_ELTWISE || n->nargs > 2 || all->n == MAX_KINDS)
        return;
    all->kinds[all->n] = n->op;
    all->unary[all->n++] = n->nargs == 1;
}

static bool find_optional(const struct node *n, void *all) {
    for (uint32_t i = 0; i < n->nargs && n->kind == N_EITHER; i++)
        add_optional(all, n, n->args[i]);
    return false;
}

/* The result of an op, or an operand that is a tensor. */
static uint32_t choose_value(const struct graph *g, uint32_t op, uint64_t *seed) {
    uint32_t n = 0, values[1 + MAX_OPERANDS_OF_EDIT];
    values[n++] = g->m->ops[op].first_result;
    for (uint32_t i = 0; i < graph_noperands(g, op) && i < MAX_OPERANDS_OF_EDIT; i++)
        if (is_tensor_operand(g, graph_operands(g, op)[i]))
            values[n++] = graph_operands(g, op)[i];
    uint32_t v = values[*seed % n];
    *seed /= n;
    return v;
}

/* Chooses, by the seed, a result or operand of a matched op and an optional operator of the formula to apply to it. */
static bool choose_inserted(struct edit *e, uint64_t seed, const struct match *m) {
    const struct formula *f = m->pattern->is_variant ? &m->pattern->variant_of->formula : &m->pattern->formula;
    const struct graph *g = m->graph;
    struct optional all = {.n = 0};
    formula_find(f, find_optional, &all);
    if (all.n == 0)
        return false;
    uint32_t op = m->ops[seed % m->nops], kind = (uint32_t)(seed / m->nops % all.n);
    seed /= (uint64_t)m->nops * all.n;
    e->at = choose_value(g, op, &seed);
    e->unary = all.unary[kind];
    e->insert = op_spelling(all.kinds[kind], str_starts(mlir_op_name(g->m, op), STR("ttnn.")) ? "ttnn." : "ttir.", "");
    e->second = (enum second_operand)(seed % SECOND_OPERANDS);
    e->parameter = seed / SECOND_OPERANDS % 2;
    enum dtype t = graph_dtype(g, e->at);
    return e->insert.n && graph_numel(g, e->at) > 0 && rank_of(g, e->at) > 0 &&
           (t == DT_F32 || t == DT_BF16 || t == DT_F16);
}

/* ---- entry ---- */

const char *change_name(enum change c) {
    static const char *const names[CHANGES] = {
        [CHANGE_BATCH] = "with one more leading dimension", [CHANGE_ROWS] = "with rows in one more leading dimension",
        [CHANGE_RANK] = "with one more leading dimension",  [CHANGE_NO_LEAD] = "with one leading dimension less",
        [CHANGE_DROP] = "without an optional part",         [CHANGE_INSERT] = "with one more optional part"};
    return names[c] ? names[c] : "";
}

bool edit_choose(struct edit *out, enum change change, uint64_t seed, const struct subgraph *s, const struct match *m,
                 struct arena *a) {
    switch (change) {
    case CHANGE_BATCH:
    case CHANGE_ROWS:
    case CHANGE_RANK:
    case CHANGE_NO_LEAD:
        return choose_leads(out, change, s, a);
    case CHANGE_DROP:
        return choose_dropped(out, seed, m);
    case CHANGE_INSERT:
        return choose_inserted(out, seed, m);
    default:
        return true;
    }
}
