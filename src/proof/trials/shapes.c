#include "proof/trials/shapes.h"

#include <math.h>
#include <stdlib.h>

#include "proof/reduce/scale_constant.h"

enum { MAX_FIXED = 64, MAX_CHOICES_OF_EXTENTS = 8, MIN_SHAPES = 2, MAX_SHAPES = 4 };

/* Of extents_cost: in further choices of small extents, which are worth more where extents that differ became equal;
 * and above which one sample has to do. */
static const double further_cost = 1 << 16, further_merged_cost = 1 << 18, cheap = 1 << 13;

/* ---- extents that stay ---- */

struct fixed_extents {
    int64_t of[MAX_FIXED];
    uint32_t n;
};

static void fix(struct fixed_extents *f, int64_t extent) {
    for (uint32_t i = 0; i < f->n; i++)
        if (f->of[i] == extent)
            return;
    if (f->n < MAX_FIXED)
        f->of[f->n++] = extent;
}

/* Of the operand, along which the op reduces, adds up or sorts. */
static void fix_reduced(struct fixed_extents *f, const struct graph *g, uint32_t op) {
    uint32_t rank = 0;
    bool reduced[MAX_RANK] = {false};
    const int64_t *dims = graph_shape(g, graph_operands(g, op)[0], &rank);
    if (!dims || graph_reduced_dims(g, op, rank, reduced) == NONE)
        return;
    for (uint32_t d = 0; d < rank; d++)
        if (reduced[d])
            fix(f, dims[d]);
}

/* A number is taken several times, few enough for all to be written out instead. */
static bool repeats_one(const struct graph *g, uint32_t op) {
    enum { MAX_WRITTEN_OUT = 16 };
    uint32_t rank = 0, value = graph_operands(g, op)[0];
    bool reduced[MAX_RANK] = {false}, repeats = false;
    const int64_t *dims = graph_shape(g, value, &rank);
    if ((g->kind[op] != K_SUM && g->kind[op] != K_PROD) || !dims || graph_reduced_dims(g, op, rank, reduced) == NONE)
        return false;
    for (uint32_t d = 0; d < rank; d++)
        repeats |= reduced[d] && dims[d] <= MAX_WRITTEN_OUT && !(g->varies[value] >> d & 1);
    return repeats;
}

/* Truth values are counted, perhaps as numbers. */
static bool counts_truths(const struct graph *g, uint32_t op) {
    uint32_t v = graph_operands(g, op)[0];
    for (uint32_t i = 0; i < MAX_RANK && graph_dtype(g, v) != DT_I1; i++) {
        uint32_t def = g->m->values[v].def;
        if (def == NONE || !class_moves(graph_class(g, def)))
            return false;
        v = graph_operands(g, def)[0];
    }
    return graph_dtype(g, v) == DT_I1;
}

/* More numbers are added up than their type holds. */
static bool may_overflow(const struct graph *g, uint32_t op) {
    enum { MAX_BITS = 8 };
    uint32_t rank = 0;
    const int64_t *dims = graph_shape(g, graph_operands(g, op)[0], &rank);
    enum dtype t = graph_dtype(g, g->m->ops[op].first_result);
    bool narrow = format_is_integer(t) && t != DT_I1 && dtype_table[t].bits <= MAX_BITS, more = false;
    for (uint32_t d = 0; narrow && dims && d < rank; d++)
        more |= dims[d] >> (dtype_table[t].bits - dtype_table[t].is_signed) > 0;
    return more;
}

/* Counts and positions that the op computes reach a bound only along as many elements as there are. */
static void fix_counted(struct fixed_extents *f, const struct graph *g, uint32_t op, const struct fact_table *facts) {
    const struct mlir_op *o = &g->m->ops[op];
    enum op_kind k = (enum op_kind)g->kind[op];
    bool bounded = o->nresults > 0 && facts_at(facts, o->first_result)->bounded;
    bool indices = o->nresults > 1 && facts_at(facts, o->first_result + 1)->bounded;
    if (graph_noperands(g, op) == 0 || graph_operands(g, op)[0] == NONE)
        return;
    bounded |= op_is(k, TOTALS) && (may_overflow(g, op) || narrowed_at(g, op) > 0);
    bool total = op_is(k, TOTALS) && (op_table[k].class != OP_REDUCE || counts_truths(g, op) || may_overflow(g, op));
    if (repeats_one(g, op) || (op_is(k, SORTS) && indices) || (bounded && (total || op_is(k, LOCATES))))
        fix_reduced(f, g, op);
}

/* Indices that are bounded or narrowed on the way to a table show it in one that has as many rows. */
static void fix_table(struct fixed_extents *f, const struct graph *g, uint32_t op, const struct fact_table *facts) {
    const struct mlir_op *o = &g->m->ops[op];
    int64_t rows = o->nresults > 0 ? facts_at(facts, o->first_result)->indices : 0;
    if (rows > 2 && op_bounds(g, op))
        fix(f, rows);
}

/* Positions beyond those that a type holds which they have on the way. */
static void fix_positions(struct fixed_extents *f, const struct graph *g, uint32_t op, const struct fact_table *facts) {
    uint32_t rank = 0, result = g->m->ops[op].nresults ? g->m->ops[op].first_result : NONE;
    const int64_t *dims =
        result != NONE && op_is((enum op_kind)g->kind[op], COUNTS) ? graph_shape(g, result, &rank) : NULL;
    if (!dims)
        return;
    double own = narrowed_at(g, op), later = facts_at(facts, result)->narrowed;
    for (uint32_t d = 0; d < rank; d++)
        if ((own > 0 && own < (double)dims[d]) || (later > 0 && later < (double)dims[d]))
            fix(f, dims[d]);
}

static void fix_bounded(struct fixed_extents *f, const struct subgraph *s) {
    struct fact_table facts = facts_of(s->graph, s->ops, s->nops);
    for (uint32_t i = 0; i < s->nops; i++) {
        fix_counted(f, s->graph, s->ops[i], &facts);
        fix_table(f, s->graph, s->ops[i], &facts);
        fix_positions(f, s->graph, s->ops[i], &facts);
    }
    facts_free(&facts);
}

/* The extents over which something is reduced: constants may be tied to them. */
static void fix_all_reduced(struct fixed_extents *f, const struct subgraph *s) {
    const struct graph *g = s->graph;
    for (uint32_t i = 0; i < s->nops; i++) {
        uint32_t op = s->ops[i], rank = 0;
        const int64_t *dims = graph_noperands(g, op) && graph_operands(g, op)[0] != NONE
                                  ? graph_shape(g, graph_operands(g, op)[0], &rank)
                                  : NULL;
        struct contraction c;
        if (!dims || rank == 0)
            continue;
        if (graph_class(g, op) == OP_REDUCE)
            fix_reduced(f, g, op);
        else if (graph_class(g, op) == OP_CONTRACT && contraction_of(g, op, &c))
            for (uint32_t k = 0; k < c.nsummed; k++)
                fix(f, dims[c.a_summed[k]]);
        else if (graph_class(g, op) != OP_ELTWISE && !class_moves(graph_class(g, op)))
            fix(f, dims[rank - 1]);
    }
}

/* Extents in `also` stay, too; or NULL. */
static bool choose(const struct shapes_question *q, struct shrink_options how, const struct fixed_extents *also,
                   bool reduced, double most, struct extents *out, double *cost, struct reason *why) {
    struct fixed_extents fixed = also ? *also : (struct fixed_extents){.n = 0};
    fix_bounded(&fixed, q->subgraph);
    if (reduced)
        fix_all_reduced(&fixed, q->subgraph);
    how.fixed = fixed.of;
    how.nfixed = fixed.n;
    for (uint32_t i = 0; q->payloads && i < q->subgraph->ninputs; i++)
        how.keep[i] = q->payloads->of[i] != NULL;
    if (!extents_shrink(q->subgraph, &how, out, why))
        return false;
    *cost = extents_cost(q->subgraph, out);
    if (*cost > most)
        *why = (struct reason){STR("no shapes that are small enough keep all relations"), REASON_TOO_LARGE};
    return *cost <= most;
}

bool shapes_choose(const struct shapes_question *q, bool reduced, double most, struct extents *out,
                   struct reason *why) {
    double cost;
    return choose(q, (struct shrink_options){.which = 0}, NULL, reduced, most, out, &cost, why);
}

/* ---- the policy ---- */

/* Whether constants are tied to extents. What both sides take and what is no function of an extent that is known here
 * is not: an epsilon. One that is such a function is followed, and left as it is, which is all that it may mean, where
 * no other is on one side only, which might be its product with something. */
enum tie { UNTIED, FOLLOWED, TIED };

/* An input before this one is the same constant. */
static bool was_counted(const struct subgraph *s, uint32_t input, struct constant c) {
    bool found = false;
    for (uint32_t i = 0; i < input && !found; i++) {
        struct constant other = operand_constant(s->graph, s->inputs[i]);
        found = other.known && other.value == c.value;
    }
    return found;
}

static enum tie tie_of(const struct shapes_question *q, const struct constant_meanings *m, struct constant c,
                       uint32_t input, uint32_t *on_one_side) {
    uint32_t value = q->subgraph->inputs[input];
    double x = fabs(c.value);
    bool plain = x == 0 || x == 1 || x > 1e6 || x < 1e-8, common = x == 2 || x == 0.5; /* infinity, an epsilon */
    bool both = q->in_both && q->in_both(q->self, c), follows = constant_follows(m, c);
    *on_one_side += !plain && !both && !was_counted(q->subgraph, input, c);
    if (plain || (!follows && (common || both)))
        return UNTIED;
    return follows && q->in_both && format_is_float(graph_dtype(q->subgraph->graph, value)) ? FOLLOWED : TIED;
}

/* `followed`: extents that constants follow, where two or more constants are on one side only: one may become another
 * by chance. */
static enum tie tie_of_constants(const struct shapes_question *q, struct fixed_extents *followed) {
    const struct subgraph *s = q->subgraph;
    struct extents *own = xcalloc(1, sizeof *own);
    struct constant_meanings *m = xcalloc(1, sizeof *m);
    uint32_t on_one_side = 0;
    struct reason why;
    enum tie all = extents_unchanged(s, own, &why) ? UNTIED : TIED;
    constant_meanings(m, s, own, true);
    for (uint32_t i = 0; i < s->ninputs; i++) {
        struct constant c = operand_constant(s->graph, s->inputs[i]);
        enum tie of = c.known ? tie_of(q, m, c, i, &on_one_side) : UNTIED;
        all = of > all ? of : all;
        for (uint32_t k = 0; k < own->n && of != UNTIED; k++)
            if (constant_follows_extent(m, c, own->from[k]))
                fix(followed, own->from[k]);
    }
    free(own);
    free(m);
    followed->n = on_one_side > 1 ? followed->n : 0;
    return all == FOLLOWED && on_one_side > 1 ? TIED : all;
}

/* In one choice of extents; `at` is how. */
static struct verdict ask_in(const struct shapes_question *q, struct sized *at) {
    at->scaled = true;
    struct verdict scaled = q->ask(q->self, at);
    if (scaled.kind == VERDICT_SAME)
        return scaled;
    at->scaled = false;
    struct verdict plain = q->ask(q->self, at);
    at->scaled = plain.kind != VERDICT_SAME && scaled.kind >= plain.kind;
    return at->scaled ? scaled : plain;
}

static bool was_tried(const struct extents *tried, uint32_t n, const struct extents *e) {
    for (uint32_t i = 0; i < n; i++)
        if (memcmp(tried[i].to, e->to, e->n * sizeof *e->to) == 0)
            return true;
    return false;
}

/* The extents over which something is reduced stay. What agrees in few elements of one row or head, or on inputs
 * that vary along some dimensions alone, refutes no difference. */
static void ask_in_larger(const struct shapes_question *q, struct shapes_answer *out) {
    struct sized *at = xcalloc(1, sizeof *at);
    struct reason why;
    at->costly = true;
    bool there = shapes_choose(q, true, q->own_cost, &at->extents, &why);
    struct verdict v = there ? q->ask(q->self, at) : (struct verdict){.kind = VERDICT_NONE};
    bool tells = v.kind == VERDICT_DIFFERENT || (v.kind == VERDICT_SAME && !((v.dear || v.few) && out->doubtful));
    if (tells)
        *out = (struct shapes_answer){.verdict = v, .at = *at, .shapes = 1};
    else if (there && out->verdict.kind == VERDICT_NONE)
        out->verdict = v;
    free(at);
}

static void add_shape(struct shapes_answer *all, const struct verdict *v) {
    struct verdict *sum = &all->verdict;
    double rounding = fmax(sum->rounding, v->rounding);
    bool approximate = sum->approximate || v->approximate, outside = sum->same_outside || v->same_outside;
    bool bends = sum->bends || v->bends, one_way = v->one_way && (all->shapes == 0 || sum->one_way);
    *sum = *v;
    sum->rounding = rounding;
    sum->approximate = approximate;
    sum->bends = bends;
    sum->one_way = one_way;
    sum->same_outside = outside;
    all->shapes++;
}

/* What was found in the choices of small extents so far. */
struct small_choices {
    struct extents tried[MAX_CHOICES_OF_EXTENTS];
    bool merged, given_up; /* some of them made extents equal that differ, gave up some relation */
    uint32_t refuted;      /* differences found; two where a relation was given up are no accident */
};

/* Small extents number `which`. False where there are no more, or what they say decides. */
static bool ask_small(const struct shapes_question *q, uint32_t which, enum tie tie, struct small_choices *all,
                      struct shapes_answer *out) {
    struct reason why;
    double cost;
    struct sized at = {.scaled = false};
    struct shrink_options how = {.which = which};
    double most = which == 0 || all->refuted ? q->small_cost : all->merged ? further_merged_cost : further_cost;
    if (!choose(q, how, NULL, false, most, &at.extents, &cost, &why)) {
        if (which == 0)
            out->verdict.why = why;
        return false;
    }
    if (was_tried(all->tried, which, &at.extents))
        return true;
    all->tried[which] = at.extents;
    at.costly = cost > cheap;
    struct verdict v = ask_in(q, &at);
    if (all->refuted) {
        all->refuted += v.kind == VERDICT_DIFFERENT;
        return v.kind == VERDICT_NONE;
    }
    all->merged |= extents_merged(&at.extents);
    all->given_up |= at.extents.given_up;
    if (v.kind == VERDICT_SAME) {
        add_shape(out, &v);
        return true;
    }
    if (v.kind == VERDICT_NONE && which > 0)
        return true;
    out->verdict = v;
    out->at = at;
    all->refuted = v.kind == VERDICT_DIFFERENT;
    return all->refuted && q->own_cost > 0 && (tie == FOLLOWED || all->given_up);
}

/* Constants keep their meaning where the extents that they follow stay. */
static void ask_with_constants(const struct shapes_question *q, const struct fixed_extents *followed,
                               struct shapes_answer *out) {
    struct sized *at = xcalloc(1, sizeof *at);
    struct verdict v = {.kind = VERDICT_NONE};
    double cost, most = q->own_cost > 0 ? q->own_cost : q->small_cost;
    at->costly = true;
    if (choose(q, (struct shrink_options){.which = 0}, followed, false, most, &at->extents, &cost, &v.why))
        v = q->ask(q->self, at);
    v.agrees |= v.kind == VERDICT_NONE;
    if (v.kind != VERDICT_SAME)
        *out = (struct shapes_answer){.verdict = v, .at = *at, .shapes = 1};
    else
        out->verdict.one_way &= v.one_way;
    free(at);
}

struct shapes_answer equal_in_shapes(const struct shapes_question *q) {
    struct shapes_answer out = {.verdict = {.kind = VERDICT_NONE}};
    struct small_choices *all = xcalloc(1, sizeof *all);
    struct fixed_extents followed = {.n = 0};
    enum tie tie = tie_of_constants(q, &followed);
    uint32_t which = 0;
    while (which < MAX_CHOICES_OF_EXTENTS && out.shapes < (uint32_t)(all->merged ? MAX_SHAPES : MIN_SHAPES) &&
           ask_small(q, which, tie, all, &out))
        which++;
    bool lost = all->given_up && all->refuted < 2;
    bool tied = tie == TIED || (tie == FOLLOWED && (all->given_up || all->refuted < 2));
    out.doubtful = out.verdict.kind == VERDICT_DIFFERENT && (lost || tied);
    free(all);
    bool same = out.verdict.kind == VERDICT_SAME;
    if (same && followed.n > 0)
        ask_with_constants(q, &followed, &out);
    else if (q->own_cost > 0 && (same ? out.verdict.one_way : out.verdict.kind == VERDICT_NONE || out.doubtful))
        ask_in_larger(q, &out);
    if (out.verdict.kind == VERDICT_SAME && out.verdict.one_way) {
        out.verdict.kind = VERDICT_NONE;
        out.verdict.agrees = true;
        out.verdict.why.text = STR("a condition is the same in all shapes that are small enough");
    }
    return out;
}
