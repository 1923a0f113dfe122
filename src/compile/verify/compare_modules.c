/* Functions of two modules by pairs, and what is counted of them. */
#include "compile/verify/compare_modules.h"

#include <stdlib.h>

#include "compile/verify/sweep.h"
#include "ir/graph/functions.h"

/* ---- counting ---- */

/* Calls are nodes where the function has no body, or one for the host. It is an op of the modules if both have it; if
 * one has, it stands for ops of the other, which may all move data: where it is not compared, it is one all the same.
 */
static bool is_op_of_both(const struct dag *d, int side, uint32_t op) {
    const struct mlir *m = d->side[side].g->m, *other = d->side[!side].g->m;
    bool found = false;
    for (uint32_t f = 0; m->ops[op].callee != NONE && f < other->nfuncs && !found; f++)
        found = str_eq(other->names[other->funcs[f].name], m->names[m->ops[op].callee]);
    return found;
}

static void count_op(struct sweep *s, int side, uint32_t op, uint32_t node) {
    enum answer answer = s->mark && s->mark[node] ? (enum answer)(s->mark[node] - 1) : ANSWER_NOT_COMPARED;
    const struct graph *g = s->d.side[side].g;
    if (side == AFTER && s->m->reads_freed[op])
        answer = ANSWER_DIFFERENT;
    bool call = graph_class(g, op) == OP_CALL && (answer == ANSWER_NOT_COMPARED || is_op_of_both(&s->d, side, op));
    if (!op_computes(g, op) && !call)
        return;
    s->m->answers[side][answer]++;
    uint8_t *kept = &s->m->answer[side][op]; /* of a function that is called twice, the worst */
    *kept = *kept > 1 + answer ? *kept : (uint8_t)(1 + answer);
    if (side == AFTER && s->d.nodes[node].twin != NONE)
        s->m->twin[op] = s->d.nodes[s->d.nodes[node].twin].op;
}

static void count(struct sweep *s, int side) {
    const struct dag_side *f = &s->d.side[side];
    for (uint32_t node = f->first_node; node < f->end_node; node++)
        count_op(s, side, s->d.nodes[node].op, node);
    for (uint32_t i = 0; i < f->ncopies; i++) {
        count_op(s, side, f->copies[i].op, f->copies[i].node);
        s->m->copy_of[side][f->copies[i].op] = s->d.nodes[f->copies[i].node].op;
    }
}

/* What AFTER reads behind its deallocation, unless BEFORE has such reads, too. */
static void keep_freed_uses(struct sweep *s) {
    const struct dag_side *f = &s->d.side[AFTER];
    struct module_comparison *m = s->m;
    for (uint32_t i = 0; s->d.side[BEFORE].nfreed_uses == 0 && i < f->nfreed_uses; i++) {
        uint32_t *ops = arena_alloc(&m->arena, 2 * sizeof *ops);
        ops[0] = f->freed_uses[i].deallocation;
        ops[1] = f->freed_uses[i].op;
        m->reads_freed[ops[1]] = true;
        m->regions = grow(m->regions, &m->regions_cap, m->nregions + 1, sizeof *m->regions);
        m->regions[m->nregions++] = (struct compared_region){.judgement = {.answer = ANSWER_DIFFERENT},
                                                             .freed = true,
                                                             .needed = true,
                                                             .ops = {NULL, ops},
                                                             .nops = {0, 2}};
    }
}

/* ---- functions ---- */

static bool share_arguments(const struct dag *d) {
    const struct dag_side *b = &d->side[BEFORE], *a = &d->side[AFTER];
    bool any = a->nargs == b->nargs;
    for (uint32_t v = a->first_arg; v < a->first_arg + a->nargs && !any; v++)
        any = d->values[v].rep != NONE;
    return any;
}

static struct str why_not(const struct dag *d) {
    const struct dag_side *b = &d->side[BEFORE], *a = &d->side[AFTER];
    return d->cut_short                 ? STR("functions call one another without end, or it has too many ops")
           : !b->returns || !a->returns ? STR("a function has no return, or several")
           : !share_arguments(d)        ? STR("the functions have different numbers of arguments")
           : b->noutputs != a->noutputs ? STR("the functions have different numbers of results")
                                        : STR("");
}

static void compare_functions(struct module_comparison *m, const struct graph *before, uint32_t func,
                              const struct graph *after, uint32_t func_after, const struct alignment *align) {
    struct sweep s = {.m = m};
    dag_build(&s.d, before, func, after, func_after);
    struct str why = why_not(&s.d);
    if (why.n) {
        m->why = why;
    } else {
        sweep_run(&s, align);
        keep_freed_uses(&s);
    }
    for (int side = 0; side < SIDES; side++)
        count(&s, side);
    sweep_free(&s);
}

/* What only one module has is compared with nothing. */
static void count_alone(struct module_comparison *m, const struct graph *g, int side, uint32_t func) {
    uint32_t n = 0;
    for (uint32_t op = g->m->funcs[func].first_op; op < g->m->funcs[func].end_op; op++)
        if (op_computes(g, op)) {
            m->answer[side][op] = 1 + ANSWER_NOT_COMPARED;
            n++;
        }
    m->answers[side][ANSWER_NOT_COMPARED] += n;
    if (n)
        m->why = STR("a function is in one module only");
}

static void count_unpaired(struct module_comparison *m, const struct graph *const g[SIDES], bool *const root[SIDES],
                           const uint32_t *func_of) {
    for (uint32_t f = 0; f < g[AFTER]->m->nfuncs; f++)
        if (root[AFTER][f] && func_of[f] == NONE)
            count_alone(m, g[AFTER], AFTER, f);
        else if (root[AFTER][f])
            root[BEFORE][func_of[f]] = false;
    for (uint32_t f = 0; f < g[BEFORE]->m->nfuncs; f++)
        if (root[BEFORE][f])
            count_alone(m, g[BEFORE], BEFORE, f);
}

static uint32_t *no_ops(struct arena *a, size_t n) {
    uint32_t *ops = arena_alloc(a, n * sizeof *ops);
    memset(ops, 0xff, n * sizeof *ops);
    return ops;
}

void compare_modules(struct module_comparison *m, const struct pattern_set *lowerings, const struct graph *before,
                     const struct graph *after, struct what_to_compare what) {
    *m = (struct module_comparison){.lowerings = lowerings, .what = what};
    for (int side = 0; side < SIDES; side++) {
        size_t nops = (side == AFTER ? after : before)->m->nops + (size_t)1;
        m->answer[side] = arena_alloc(&m->arena, nops);
        m->copy_of[side] = no_ops(&m->arena, nops);
    }
    m->twin = no_ops(&m->arena, after->m->nops + (size_t)1);
    m->reads_freed = arena_alloc(&m->arena, after->m->nops + (size_t)1);
    const struct graph *g[SIDES] = {before, after};
    bool *root[SIDES] = {find_root_functions(before), find_root_functions(after)};
    uint32_t *func_of = pair_functions(before, after), compared = 0;
    struct alignment align;
    align_build(&align, before, after, func_of);
    for (uint32_t f = 0; f < after->m->nfuncs; f++)
        if (root[AFTER][f] && func_of[f] != NONE) {
            compare_functions(m, before, func_of[f], after, f, &align);
            compared++;
        }
    count_unpaired(m, g, root, func_of);
    if (!compared)
        m->why = STR("no function is in both modules");
    align_free(&align);
    free(func_of);
    free(root[BEFORE]);
    free(root[AFTER]);
}

uint32_t fused_op_of(const struct compared_region *r, const struct graph *after) {
    uint32_t op = r->nops[AFTER] ? r->ops[AFTER][r->nops[AFTER] - 1] : NONE;
    for (uint32_t i = 0; i < r->nops[AFTER]; i++)
        if (op_computes(after, r->ops[AFTER][i]) && graph_class(after, r->ops[AFTER][i]) != OP_SLICE)
            op = r->ops[AFTER][i];
    return op;
}

void module_comparison_free(struct module_comparison *m) {
    for (uint32_t i = 0; i < m->nmiters; i++)
        mlir_free(m->miters[i]);
    free(m->miters);
    free(m->regions);
    judged_free(&m->judged);
    arena_free(&m->arena);
}
