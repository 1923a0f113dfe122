/* Most fusions are right: they are compared alone first, all other values taken to be what they seem. Only where that
 * leaves a doubt the whole modules are, which decides. */
#include "compile/verify/beside.h"

#include "compile/verify/compare_modules.h"
#include "ir/pair/image.h"
#include "patterns/library/unchecked.h"
#include "proof/reduce/subgraph.h"
#include "search/match/evaluate.h"

/* Ops of TTNN, and the values that they share with others. */
struct neighbours {
    const struct graph *g;
    const bool *chosen; /* per op */
    uint32_t *last;     /* per value: the last chosen op that has it as an operand, or NONE */
};

/* What counts as shared: no constant, which many have. */
static uint32_t shared_value(const struct graph *g, uint32_t v) {
    if (v == NONE || !is_tensor_operand(g, v) || graph_constant(g, v).known)
        return NONE;
    return image_source(g, v);
}

static struct neighbours neighbours_of(const struct graph *g, const bool *chosen, struct arena *a) {
    struct neighbours x = {g, chosen, arena_alloc(a, (g->m->nvalues + (size_t)1) * sizeof *x.last)};
    memset(x.last, 0xff, (g->m->nvalues + (size_t)1) * sizeof *x.last);
    for (uint32_t op = 0; op < g->m->nops; op++)
        for (uint32_t i = 0; chosen[op] && i < graph_noperands(g, op); i++) {
            uint32_t v = shared_value(g, graph_operands(g, op)[i]);
            if (v != NONE)
                x.last[v] = op;
        }
    return x;
}

/* The chosen op that makes or takes a value. */
static uint32_t chosen_at(const struct neighbours *x, uint32_t value) {
    uint32_t v = shared_value(x->g, value), op = v == NONE ? NONE : x->g->m->values[v].def;
    return op != NONE && x->chosen[op] ? op : v == NONE ? NONE : x->last[v];
}

/* A chosen op that makes or takes a value of the match; NONE: there is none. */
static uint32_t chosen_beside(const struct neighbours *x, const struct match *m) {
    uint32_t found = NONE;
    for (uint32_t k = 0; k < m->nops && found == NONE; k++) {
        const struct mlir_op *o = &x->g->m->ops[m->ops[k]];
        for (uint32_t i = 0; i < o->nresults && found == NONE; i++)
            found = chosen_at(x, o->first_result + i);
        for (uint32_t i = 0; i < graph_noperands(x->g, m->ops[k]) && found == NONE; i++)
            found = chosen_at(x, graph_operands(x->g, m->ops[k])[i]);
    }
    return found;
}

/* Ops that may be fused wrongly, and those of them that are beside a place. */
static bool choose(const struct pattern_set *set, const struct graph *ttir, const struct graph *ttnn,
                   const struct match *places, uint32_t n, bool *suspects, bool *asked, struct arena *a) {
    bool found = false;
    uint32_t nsuspects = unchecked_ops(set, ttir, ttnn, suspects);
    struct neighbours x = {0};
    if (nsuspects)
        x = neighbours_of(ttnn, suspects, a);
    for (uint32_t i = 0; nsuspects && i < n; i++) {
        uint32_t op = chosen_beside(&x, &places[i]);
        if (op != NONE)
            asked[op] = found = true;
    }
    return found;
}

/* Which ops the whole modules show to be wrong, and why. */
static bool find_wrong(const struct pattern_set *lowerings, const struct graph *ttir, const struct graph *ttnn,
                       const bool *asked, bool *wrong, struct str *condition, struct arena *a) {
    struct module_comparison m;
    bool found = false;
    compare_modules(&m, lowerings, ttir, ttnn, (struct what_to_compare){.only = asked});
    bool doubtful = m.doubtful;
    module_comparison_free(&m);
    if (!doubtful)
        return false;
    compare_modules(&m, lowerings, ttir, ttnn, (struct what_to_compare){.only = NULL});
    for (uint32_t i = 0; i < m.nregions; i++) {
        const struct compared_region *r = &m.regions[i];
        uint32_t op = fused_op_of(r, ttnn);
        if (!r->needed || r->judgement.answer != ANSWER_DIFFERENT || op == NONE)
            continue;
        condition[op] = unchecked_text(
            lowerings, unchecked_of(lowerings, NULL, ttnn->kind[op], ttir, r->ops[BEFORE], r->nops[BEFORE]), a);
        wrong[op] = condition[op].n > 0;
        found |= wrong[op];
    }
    module_comparison_free(&m);
    return found;
}

struct str *wrong_fusions_beside(const struct pattern_set *lowerings, const struct graph *ttir,
                                 const struct graph *ttnn, const struct match *places, uint32_t n, struct arena *a) {
    size_t nops = ttnn->m->nops + (size_t)1;
    bool *suspects = arena_alloc(a, nops), *asked = arena_alloc(a, nops), *wrong = arena_alloc(a, nops);
    struct str *said = NULL;
    if (!choose(lowerings, ttir, ttnn, places, n, suspects, asked, a))
        return NULL;
    struct str *condition = arena_alloc(a, nops * sizeof *condition);
    if (find_wrong(lowerings, ttir, ttnn, asked, wrong, condition, a)) {
        struct neighbours x = neighbours_of(ttnn, wrong, a);
        said = arena_alloc(a, (n + (size_t)1) * sizeof *said);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t op = chosen_beside(&x, &places[i]);
            if (op == NONE)
                continue;
            bool writes = ttnn->m->ops[op].nresults == 0;
            struct str name = mlir_op_name(ttnn->m, op),
                       label =
                           value_label(ttnn, writes ? graph_operands(ttnn, op)[0] : ttnn->m->ops[op].first_result, a);
            said[i] = arena_printf(a, "%.*s (%.*s) is not what it replaced: %.*s; see `fusion-audit verify`.",
                                   (int)label.n, label.p, (int)name.n, name.p, (int)condition[op].n, condition[op].p);
        }
    }
    return said;
}
