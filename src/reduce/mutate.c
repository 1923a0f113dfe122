/* Parses the printed module, chooses the change and prints it again (mutate_print.c). A leading dimension is added to
 * or taken from the arguments and constants of the largest rank, and with them from all results that depend on one. */
#include "reduce/mutate.h"

#include <string.h>

#include "reduce/mutator.h"
#include "reduce/parsed_module.h"

enum { NEW_BATCH = 2, MAX_KINDS = 16 }; /* extent of a new batch dimension; kinds of optional ops of a formula */

static bool changes_rank(const struct mutator *x) {
    return x->mu->change == CHANGE_BATCH || x->mu->change == CHANGE_RANK || x->mu->change == CHANGE_NO_LEAD;
}

/* ---- leading dimensions ---- */

static uint32_t largest_rank(const struct mutator *x) {
    uint32_t rank = 0;
    for (uint32_t v = 0; v < x->m->nvalues; v++)
        rank = mutator_rank(x, v) > rank ? mutator_rank(x, v) : rank;
    return rank;
}

static int64_t first_dim(const struct mutator *x, uint32_t value) {
    uint32_t rank;
    const int64_t *dims = graph_shape(x->g, value, &rank);
    return dims && rank ? dims[0] : 0;
}

static void set_lead(struct mutator *x, uint32_t value, int64_t extent) {
    x->leads[value] = true;
    x->extent[value] = extent;
    x->impossible |= x->mu->change == CHANGE_NO_LEAD && first_dim(x, value) != 1;
}

/* Ops that treat a further leading dimension as a batch dimension, where all operands have it or those without
 * broadcast. */
static bool is_batched(enum op_kind k, enum op_class c) {
    return c == OP_ELTWISE || c == OP_REDUCE || c == OP_SLICE || c == OP_JOIN || class_moves(c) || op_is(k, BATCHES);
}

static void lead_results(struct mutator *x, uint32_t op) {
    const struct graph *g = x->g;
    enum op_class c = graph_class(g, op);
    bool any = false, all = true;
    int64_t extent = 1;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t v = graph_operands(g, op)[i];
        if (v == NONE)
            continue;
        any |= x->leads[v];
        all &= x->leads[v];
        extent = x->leads[v] && x->extent[v] > extent ? x->extent[v] : extent;
    }
    x->impossible |=
        any && x->m->ops[op].nresults > 0 && (!is_batched((enum op_kind)g->kind[op], c) || (!all && c == OP_JOIN));
    for (uint32_t r = 0; r < x->m->ops[op].nresults && any; r++)
        set_lead(x, x->m->ops[op].first_result + r, extent);
}

static void find_leads(struct mutator *x) {
    uint32_t rank = largest_rank(x);
    for (uint32_t i = 0; i < x->f->nargs; i++)
        if (mutator_rank(x, x->f->first_arg + i) == rank)
            set_lead(x, x->f->first_arg + i, x->mu->change == CHANGE_BATCH ? NEW_BATCH : 1);
    for (uint32_t op = x->f->first_op; op < x->f->end_op; op++) {
        if (graph_class(x->g, op) != OP_CONSTANT)
            lead_results(x, op);
        else if (mutator_rank(x, x->m->ops[op].first_result) == rank)
            set_lead(x, x->m->ops[op].first_result, 1);
    }
    x->impossible |= rank == 0 || (x->mu->change == CHANGE_NO_LEAD && rank < 2);
}

/* ---- one op more or less ---- */

/* The op of the module that a matched op became. */
static uint32_t op_of(const struct mutator *x, const struct subgraph *s, const struct printed_module *w, uint32_t op) {
    for (uint32_t i = 0; i < s->nops; i++)
        if (s->ops[i] == op)
            return x->f->first_op + w->line[i];
    return NONE;
}

static bool same_type(const struct mutator *x, uint32_t a, uint32_t b) {
    return str_eq(x->m->types[x->m->values[a].type].text, x->m->types[x->m->values[b].type].text);
}

/* Chooses, by the seed, one of all pairs of a matched elementwise op and an operand of its result's type. The first
 * round counts them. */
static bool choose_dropped(struct mutator *x, const struct subgraph *s, const struct match *m,
                           const struct printed_module *w) {
    uint32_t n = 0, choice = 0;
    for (int counted = 0; counted < 2; counted++) {
        for (uint32_t i = 0, k = 0; i < m->nops; i++) {
            uint32_t op = op_of(x, s, w, m->ops[i]);
            for (uint32_t j = 0; j < x->m->ops[op].noperands && graph_class(x->g, op) == OP_ELTWISE; j++) {
                uint32_t v = x->m->operands[x->m->ops[op].first_operand + j];
                if (!same_type(x, v, x->m->ops[op].first_result))
                    continue;
                if (counted && k == choice) {
                    x->dropped = op;
                    x->stand_in = v;
                    return true;
                }
                k++;
                n += !counted;
            }
        }
        if (n == 0)
            return false;
        choice = (uint32_t)(x->mu->seed % n);
    }
    return false;
}

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

/* The name of the op in a dialect; empty: it has none. */
static struct str spelling(enum op_kind k, const char *dialect) {
    for (const char *p = op_table[k].spellings; *p; p += strspn(p, " ")) {
        struct str one = {p, strcspn(p, " ")};
        if (str_starts(one, str_of(dialect)))
            return one;
        p += one.n;
    }
    return STR("");
}

/* Chooses, by the seed, a result or operand of a matched op and an optional operator of the formula to apply to it. */
static bool choose_inserted(struct mutator *x, const struct subgraph *s, const struct match *m,
                            const struct printed_module *w) {
    const struct formula *f = m->pattern->is_variant ? &m->pattern->variant_of->formula : &m->pattern->formula;
    struct optional all = {.n = 0};
    uint64_t seed = x->mu->seed;
    formula_find(f, find_optional, &all);
    if (all.n == 0)
        return false;
    uint32_t op = op_of(x, s, w, m->ops[seed % m->nops]), kind = (uint32_t)(seed / m->nops % all.n);
    const struct mlir_op *o = &x->m->ops[op];
    seed /= (uint64_t)m->nops * all.n;
    uint32_t which = (uint32_t)(seed % (1 + o->noperands));
    seed /= 1 + o->noperands;
    x->at = which < 1 ? o->first_result : x->m->operands[o->first_operand + which - 1];
    x->unary = all.unary[kind];
    x->insert = spelling(all.kinds[kind], mutator_dialect(x));
    x->second = (enum second_operand)(seed % SECOND_OPERANDS);
    x->parameter = seed / SECOND_OPERANDS % 2;
    enum dtype t = graph_dtype(x->g, x->at);
    return x->insert.n && graph_numel(x->g, x->at) > 0 && mutator_rank(x, x->at) > 0 &&
           (t == DT_F32 || t == DT_BF16 || t == DT_F16);
}

/* ---- entry ---- */

const char *change_name(enum change c) {
    static const char *const names[CHANGES] = {[CHANGE_BATCH] = "with one more leading dimension",
                                               [CHANGE_RANK] = "with one more leading dimension",
                                               [CHANGE_NO_LEAD] = "with one leading dimension less",
                                               [CHANGE_DROP] = "without an optional part",
                                               [CHANGE_INSERT] = "with one more optional part"};
    return names[c] ? names[c] : "";
}

static bool change(struct mutator *x, const struct subgraph *s, const struct match *m, struct printed_module *w) {
    x->leads = arena_alloc(x->arena, (x->m->nvalues + 1) * sizeof *x->leads);
    x->extent = arena_alloc(x->arena, (x->m->nvalues + 1) * sizeof *x->extent);
    if (changes_rank(x))
        find_leads(x);
    else if (!(x->mu->change == CHANGE_DROP ? choose_dropped : choose_inserted)(x, s, m, w))
        return false;
    if (!x->impossible)
        mutator_print(x, s, w);
    w->text = buf_take(&x->out, x->arena);
    return !x->impossible;
}

bool mutate(struct mutation *mu, const struct subgraph *s, const struct match *m, struct arena *a,
            struct printed_module *w) {
    struct parsed_module p;
    bool good = parsed_module_read(&p, w->text, a) && p.ir.nops > 1;
    mu->added = NONE;
    struct mutator x = {.m = &p.ir, .g = &p.graph, .f = p.ir.funcs, .mu = mu, .arena = a};
    x.dropped = x.stand_in = x.at = NONE;
    good = good && change(&x, s, m, w);
    parsed_module_free(&p);
    return good;
}
