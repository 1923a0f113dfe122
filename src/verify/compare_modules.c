/* Values of AFTER in textual order: each is the value of BEFORE that the same op of the same values makes, or one of
 * its candidates, if the region between is proved. A value of which no candidate is proved stays inside of larger
 * regions; where these are not proved either but would be if it were its candidate, the difference is there. */
#include "verify/compare_modules.h"

#include <stdlib.h>

#include "graph/pair.h"
#include "reduce/subgraph.h"
#include "verify/candidates.h"
#include "verify/miter.h"

enum { MAX_GROWTH = 5, MAX_REGION_OPERANDS = 64 };

struct comparer {
    struct module_comparison *m;
    struct cuts cuts;
    struct candidates candidates;
    uint32_t *region_of; /* per value of AFTER: the region that compared it, or NONE */
    uint32_t *twin;      /* per step of AFTER: the step of BEFORE that does the same to the same values, or NONE */
    uint8_t *mark[SIDES_OF_CUT]; /* per step: 0, or 1 + the answer */
    struct arena arena;
};

/* ---- regions ---- */

static bool has_call(const struct comparer *c, const struct cut_region *r) {
    bool found = false;
    for (int side = 0; side < SIDES_OF_CUT; side++)
        for (uint32_t i = 0; i < r->nsteps[side] && !found; i++)
            found = graph_class(c->cuts.side[side].g, c->cuts.side[side].steps[r->steps[side][i]].op) == OP_CALL;
    return found;
}

static struct judgement judge_region(struct comparer *c, const struct cut_region *r, bool thorough) {
    struct arena scratch = {0};
    struct miter w;
    struct judgement j = {.answer = ANSWER_NOT_COMPARED};
    struct str why;
    bool printed = miter_print(r, &c->cuts, (struct miter_options){0}, &scratch, &w, &why);
    if (printed)
        j = miter_judge(w.text, c->m->lowerings, thorough, &scratch);
    else
        j.why = why;
    j.text = j.answer == ANSWER_DIFFERENT ? w.text : STR("");
    if (printed && w.has_gelu && j.answer != ANSWER_PROVED &&
        miter_print(r, &c->cuts, (struct miter_options){.tanh_gelu = true}, &scratch, &w, &why)) {
        struct judgement other = miter_judge(w.text, c->m->lowerings, thorough, &scratch);
        if (other.answer == ANSWER_PROVED)
            j = other;
    }
    if (j.answer == ANSWER_NOT_COMPARED && has_call(c, r))
        j.why = STR("no evaluator for call: the function has no body, or one in another dialect");
    j.why = arena_str(&c->m->arena, j.why);
    j.text = arena_str(&c->m->arena, j.text);
    arena_free(&scratch);
    return j;
}

static uint32_t *copy_ids(struct arena *a, const uint32_t *ids, uint32_t n) {
    uint32_t *to = arena_alloc(a, (n + (size_t)1) * sizeof *to);
    if (n)
        memcpy(to, ids, n * sizeof *to);
    return to;
}

static struct str text_in_own_types(struct comparer *c, const struct cut_region *r) {
    struct arena scratch = {0};
    struct miter w = {0};
    struct str why, text = STR("");
    if (miter_print(r, &c->cuts, (struct miter_options){.in_own_types = true}, &scratch, &w, &why))
        text = arena_str(&c->m->arena, w.text);
    arena_free(&scratch);
    return text;
}

static uint32_t keep_region(struct comparer *c, const struct cut_region *r, struct judgement j) {
    struct module_comparison *m = c->m;
    m->regions = grow(m->regions, &m->regions_cap, m->nregions + 1, sizeof *m->regions);
    struct compared_region *k = &m->regions[m->nregions];
    *k = (struct compared_region){.judgement = j, .nreached = r->nreached};
    if (j.answer == ANSWER_DIFFERENT)
        k->own_types = text_in_own_types(c, r);
    k->reached = copy_ids(&m->arena, r->reached, r->nreached);
    k->inputs = arena_alloc(&m->arena, (r->ninputs + (size_t)1) * sizeof *k->inputs);
    for (uint32_t i = 0; i < r->ninputs; i++) {
        uint32_t step = c->cuts.side[BEFORE].values[r->inputs[i]].step;
        if (step == NONE || !op_generates(flat_kind(&c->cuts.side[BEFORE], step)))
            k->inputs[k->ninputs++] = c->cuts.side[BEFORE].values[r->inputs[i]].value;
    }
    for (int side = 0; side < SIDES_OF_CUT; side++) {
        k->steps[side] = copy_ids(&m->arena, r->steps[side], r->nsteps[side]);
        k->nsteps[side] = k->nops[side] = r->nsteps[side];
        k->ops[side] = arena_alloc(&m->arena, (r->nsteps[side] + (size_t)1) * sizeof *k->ops[side]);
        for (uint32_t i = 0; i < r->nsteps[side]; i++)
            k->ops[side][i] = c->cuts.side[side].steps[r->steps[side][i]].op;
        sort_ids(k->ops[side], k->nops[side]);
    }
    return m->nregions++;
}

/* The smallest region that is proved, or else the smallest. What differs may do so since inputs are not independent:
 * one is made of another, or two are equal. Then what makes them is part of the region. */
static struct judgement compare_grown(struct comparer *c, struct cut_region *r, bool assumed, bool thorough, int most) {
    struct cut_region *larger = arena_alloc(&c->arena, sizeof *larger);
    struct judgement first = judge_region(c, r, thorough), j = first;
    *larger = *r;
    for (int i = 0; i < most && j.answer != ANSWER_PROVED && region_grow(larger, &c->cuts, assumed, false); i++)
        j = judge_region(c, larger, thorough);
    if (first.answer == ANSWER_DIFFERENT && j.answer != ANSWER_PROVED) {
        *larger = *r;
        for (int i = 0; i < MAX_GROWTH && j.answer != ANSWER_PROVED && region_grow(larger, &c->cuts, assumed, true);
             i++)
            j = judge_region(c, larger, false);
    }
    if (j.answer != ANSWER_PROVED)
        return first;
    *r = *larger;
    return j;
}

/* For what is asked of proved values. */
static void keep_proved(struct comparer *c, const struct cut_region *r) {
    struct module_comparison *m = c->m;
    const struct flat *f = &c->cuts.side[AFTER];
    uint32_t step = f->values[r->after].step, n = 0, op, *ops;
    if (!m->keep_proved || step == NONE || f->values[r->after].result > 0)
        return;
    ops = arena_alloc(&m->arena, (r->nsteps[AFTER] + (size_t)1) * sizeof *ops);
    op = f->steps[step].op;
    for (uint32_t i = 0; i < r->nsteps[AFTER]; i++) {
        ops[n] = f->steps[r->steps[AFTER][i]].op;
        op = op_computes(f->g, ops[n]) && graph_class(f->g, ops[n]) != OP_SLICE ? ops[n] : op;
        n++;
    }
    m->proved = grow(m->proved, &m->proved_cap, m->nproved + 1, sizeof *m->proved);
    m->proved[m->nproved++] = (struct proved_value){text_in_own_types(c, r), op, ops, n, step};
}

static void set_cut(struct comparer *c, uint32_t after, struct cut_candidate x, uint8_t how) {
    c->cuts.before_of[after] = x.before;
    c->cuts.relation[after] = x.relation;
    c->cuts.cut[AFTER][after] = how;
    if (c->cuts.cut[BEFORE][x.before] != CUT_SURE)
        c->cuts.cut[BEFORE][x.before] = how;
}

/* Compares a value with a candidate; true where they are the same. *worst keeps the region of the first one that is
 * not. */
static bool try_candidate(struct comparer *c, uint32_t after, struct cut_candidate x, int growth, bool thorough,
                          uint32_t *worst) {
    bool proved = false;
    for (int assumed = 0; assumed < 2 && !proved; assumed++) {
        struct cut_region *r = arena_alloc(&c->arena, sizeof *r);
        *r = (struct cut_region){.before = x.before, .after = after, .relation = x.relation};
        bool built = region_build(r, &c->cuts, assumed);
        if (assumed && (!built || !r->assumes))
            break;
        struct judgement j = {.answer = ANSWER_NOT_COMPARED, .why = str_of(r->why)};
        if (built)
            j = compare_grown(c, r, assumed, thorough, growth);
        proved = j.answer == ANSWER_PROVED;
        if (proved) {
            c->region_of[after] = keep_region(c, r, j);
            keep_proved(c, r);
        } else if (worst && *worst == NONE &&
                   !assumed) /* a difference under an assumption may be that of the assumption */
            *worst = keep_region(c, r, j);
    }
    if (proved)
        set_cut(c, after, x, CUT_SURE);
    return proved;
}

/* ---- values in order ---- */

/* The same op of the same values. */
static bool find_twin(struct comparer *c, uint32_t step) {
    const struct flat *f = &c->cuts.side[AFTER], *b = &c->cuts.side[BEFORE];
    const struct flat_step *s = &f->steps[step];
    uint32_t operands[MAX_REGION_OPERANDS];
    if (s->noperands > MAX_REGION_OPERANDS)
        return false;
    for (uint32_t i = 0; i < s->noperands; i++) {
        uint32_t v = flat_operands(f, step)[i], w = v == NONE ? NONE : c->cuts.before_of[v];
        if (v != NONE && (w == NONE || c->cuts.cut[AFTER][v] != CUT_SURE || c->cuts.relation[v].rank ||
                          !same_dims(f->g, f->values[v].value, b->g, b->values[w].value)))
            return false;
        operands[i] = w;
    }
    uint32_t twin = flat_find(b, f->g, s->op, operands, s->noperands);
    if (twin == NONE && s->noperands == 2 && op_is(flat_kind(f, step), COMMUTES)) {
        uint32_t swapped[2] = {operands[1], operands[0]};
        twin = flat_find(b, f->g, s->op, swapped, 2);
    }
    if (twin == NONE)
        return false;
    c->twin[step] = twin;
    for (uint32_t i = 0; i < s->nresults; i++)
        set_cut(c, s->first_result + i, (struct cut_candidate){.before = b->steps[twin].first_result + i}, CUT_SURE);
    if (c->m->keep_proved && flat_computes(f, step)) {
        struct cut_region r = {.before = b->steps[twin].first_result, .after = s->first_result};
        if (region_build(&r, &c->cuts, false))
            keep_proved(c, &r);
    }
    return true;
}

static void compare_value(struct comparer *c, uint32_t after, bool sought) {
    struct cut_candidate all[MAX_CANDIDATES_OF_CUT];
    uint32_t n = candidates_of(&c->candidates, after, all), worst = NONE;
    for (uint32_t i = 0; i < n; i++)
        if (try_candidate(c, after, all[i], sought && i == 0 ? MAX_GROWTH : 1, false, sought || i > 0 ? NULL : &worst))
            return;
    if (sought && n > 0 && try_candidate(c, after, all[0], 1, true, &worst))
        return;
    if (worst != NONE) {
        set_cut(c, after, all[0], CUT_ASSUMED);
        c->region_of[after] = worst;
    }
}

/* Takes it for the likeliest value of BEFORE. */
static void assume(struct comparer *c, uint32_t after) {
    struct cut_candidate all[MAX_CANDIDATES_OF_CUT];
    if (candidates_of(&c->candidates, after, all) > 0)
        set_cut(c, after, all[0], CUT_SURE);
}

static void compare_steps(struct comparer *c) {
    const struct flat *f = &c->cuts.side[AFTER];
    for (uint32_t step = 0; step < f->nsteps; step++) {
        bool calls = graph_class(f->g, f->steps[step].op) == OP_CALL;
        bool asked = !c->m->asked || c->m->asked[f->steps[step].op];
        bool sought = !c->m->sought || c->m->sought[f->steps[step].op];
        if (find_twin(c, step) || !(calls || flat_computes(f, step)))
            continue;
        for (uint32_t i = 0; i < f->steps[step].nresults; i++) {
            uint32_t after = f->steps[step].first_result + i;
            if (asked)
                compare_value(c, after, sought);
            if (c->m->asked && c->cuts.cut[AFTER][after] != CUT_SURE) {
                c->m->doubtful |= asked;
                assume(c, after);
            }
        }
    }
}

/* ---- what results depend on ---- */

static void mark_step(struct comparer *c, int side, uint32_t step, enum answer answer) {
    uint8_t *mark = &c->mark[side][step];
    if (*mark < 1 + answer)
        *mark = (uint8_t)(1 + answer);
}

/* Values whose regions are still to be marked. */
struct pending {
    uint32_t *values, n, cap;
    uint8_t *seen;
};

static void push(struct pending *p, uint32_t value) {
    if (p->seen[value])
        return;
    p->seen[value] = 1;
    p->values = grow(p->values, &p->cap, p->n + 1, sizeof *p->values);
    p->values[p->n++] = value;
}

static void mark_region(struct comparer *c, uint32_t region, struct pending *p) {
    struct compared_region *k = &c->m->regions[region];
    k->needed = true;
    for (int side = 0; side < SIDES_OF_CUT; side++)
        for (uint32_t i = 0; i < k->nsteps[side]; i++)
            mark_step(c, side, k->steps[side][i], k->judgement.answer);
    for (uint32_t i = 0; i < k->nreached; i++)
        push(p, k->reached[i]);
}

static void mark_value(struct comparer *c, uint32_t value, struct pending *p) {
    const struct flat *f = &c->cuts.side[AFTER];
    uint32_t step = f->values[value].step;
    if (c->region_of[value] != NONE) {
        mark_region(c, c->region_of[value], p);
    } else if (step != NONE) {
        bool same = c->twin[step] != NONE;
        mark_step(c, AFTER, step, same ? ANSWER_PROVED : ANSWER_NOT_COMPARED);
        if (same)
            mark_step(c, BEFORE, c->twin[step], ANSWER_PROVED);
        for (uint32_t i = 0; i < f->steps[step].noperands; i++)
            if (flat_operands(f, step)[i] != NONE)
                push(p, flat_operands(f, step)[i]);
    }
}

/* Results of the function: they are the same ones whatever they hold. */
static void compare_results(struct comparer *c, struct pending *p) {
    const struct flat *f = &c->cuts.side[AFTER], *b = &c->cuts.side[BEFORE];
    for (uint32_t i = 0; i < f->noutputs; i++) {
        uint32_t after = f->outputs[i], before = b->outputs[i], worst = NONE;
        if (after == NONE || before == NONE)
            continue;
        if (c->cuts.cut[AFTER][after] == CUT_SURE && c->cuts.before_of[after] == before &&
            !c->cuts.relation[after].rank) {
            push(p, after);
            continue;
        }
        uint8_t was = c->cuts.cut[AFTER][after];
        uint32_t region = c->region_of[after], was_before = c->cuts.before_of[after];
        struct relation relation = c->cuts.relation[after];
        c->region_of[after] = NONE;
        if (!try_candidate(c, after, (struct cut_candidate){.before = before}, MAX_GROWTH, true, &worst))
            c->region_of[after] = worst;
        mark_value(c, after, p);
        c->region_of[after] = region;
        c->cuts.cut[AFTER][after] = was;
        c->cuts.before_of[after] = was_before;
        c->cuts.relation[after] = relation;
    }
}

/* Of the proved values from `first` on. */
static void drop_what_is_not_needed(struct comparer *c, uint32_t first) {
    uint32_t n = first;
    for (uint32_t i = first; i < c->m->nproved; i++)
        if (c->mark[AFTER][c->m->proved[i].step] == 1 + ANSWER_PROVED)
            c->m->proved[n++] = c->m->proved[i];
    c->m->nproved = n;
}

/* What no result depends on has no effect: it counts as proved. */
static void find_dead(struct comparer *c, int side) {
    const struct flat *f = &c->cuts.side[side];
    uint8_t *alive = xcalloc(f->nsteps + (size_t)1, 1);
    for (uint32_t i = 0; i < f->noutputs; i++)
        if (f->outputs[i] != NONE && f->values[f->outputs[i]].step != NONE)
            alive[f->values[f->outputs[i]].step] = 1;
    for (uint32_t s = f->nsteps; s-- > 0;) {
        alive[s] |= f->g->m->ops[f->steps[s].op].nresults == 0;
        for (uint32_t i = 0; alive[s] && i < f->steps[s].noperands; i++) {
            uint32_t v = flat_operands(f, s)[i];
            if (v != NONE && f->values[v].step != NONE)
                alive[f->values[v].step] = 1;
        }
        if (!alive[s])
            mark_step(c, side, s, ANSWER_PROVED);
    }
    free(alive);
}

/* Marks what results depend on. */
static void follow_results(struct comparer *c, uint32_t first_proved) {
    struct pending p = {.seen = xcalloc(c->cuts.side[AFTER].nvalues + (size_t)1, 1)};
    compare_results(c, &p);
    while (p.n > 0)
        mark_value(c, p.values[--p.n], &p);
    drop_what_is_not_needed(c, first_proved);
    find_dead(c, BEFORE);
    find_dead(c, AFTER);
    free(p.values);
    free(p.seen);
}

/* Calls are steps where the function has no body, or one for the host. It is an op of the modules if both have it; if
 * one has, it stands for ops of the other. */
static bool is_op_of_both(struct comparer *c, int side, uint32_t op) {
    const struct mlir *m = c->cuts.side[side].g->m, *other = c->cuts.side[!side].g->m;
    bool found = false;
    for (uint32_t f = 0; m->ops[op].callee != NONE && f < other->nfuncs && !found; f++)
        found = str_eq(other->names[other->funcs[f].name], m->names[m->ops[op].callee]);
    return found;
}

static void count_op(struct comparer *c, int side, uint32_t op, uint32_t step) {
    enum answer answer = c->mark[side][step] ? (enum answer)(c->mark[side][step] - 1) : ANSWER_NOT_COMPARED;
    if (side == AFTER && c->m->reads_freed[op])
        answer = ANSWER_DIFFERENT;
    const struct graph *g = c->cuts.side[side].g;
    if (!op_computes(g, op) && !(graph_class(g, op) == OP_CALL && is_op_of_both(c, side, op)))
        return;
    c->m->answers[side][answer]++;
    uint8_t *kept = &c->m->answer[side][op]; /* of a function that is called twice, the worst */
    *kept = *kept > 1 + answer ? *kept : (uint8_t)(1 + answer);
    if (side == AFTER && c->twin && c->twin[step] != NONE)
        c->m->twin[op] = c->cuts.side[BEFORE].steps[c->twin[step]].op;
}

static void count(struct comparer *c, int side) {
    const struct flat *f = &c->cuts.side[side];
    for (uint32_t s = 0; s < f->nsteps; s++)
        count_op(c, side, f->steps[s].op, s);
    for (uint32_t i = 0; i < f->ncopies; i++) {
        count_op(c, side, f->copies[i].op, f->copies[i].step);
        c->m->copy_of[side][f->copies[i].op] = f->steps[f->copies[i].step].op;
    }
}

/* What AFTER reads behind its deallocation, unless BEFORE has such reads, too. */
static void keep_freed_uses(struct comparer *c) {
    const struct flat *f = &c->cuts.side[AFTER];
    struct module_comparison *m = c->m;
    for (uint32_t i = 0; c->cuts.side[BEFORE].nfreed_uses == 0 && i < f->nfreed_uses; i++) {
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

static bool begin(struct comparer *c) {
    struct flat *f = c->cuts.side;
    struct str why = STR("");
    if (f[BEFORE].cut_short || f[AFTER].cut_short)
        why = STR("functions call one another without end, or it has too many ops");
    else if (!f[BEFORE].returns || !f[AFTER].returns)
        why = STR("a function has no return, or several");
    else if (f[BEFORE].nargs != f[AFTER].nargs)
        why = STR("the functions have different numbers of arguments");
    else if (f[BEFORE].noutputs != f[AFTER].noutputs)
        why = STR("the functions have different numbers of results");
    if (why.n) {
        c->m->why = why;
        return false;
    }
    c->cuts.before_of = no_ids(f[AFTER].nvalues);
    c->cuts.relation = xcalloc(f[AFTER].nvalues + (size_t)1, sizeof *c->cuts.relation);
    c->region_of = no_ids(f[AFTER].nvalues);
    c->twin = no_ids(f[AFTER].nsteps);
    for (int side = 0; side < SIDES_OF_CUT; side++) {
        c->cuts.cut[side] = xcalloc(f[side].nvalues + (size_t)1, 1);
        c->mark[side] = xcalloc(f[side].nsteps + (size_t)1, 1);
    }
    for (uint32_t i = 0; i < f[AFTER].nargs; i++)
        set_cut(c, i, (struct cut_candidate){.before = i}, CUT_SURE);
    return true;
}

static void compare_functions(struct module_comparison *m, const struct graph *before, uint32_t func,
                              const struct graph *after, uint32_t func_after, const uint32_t *func_of) {
    struct comparer c = {.m = m};
    uint32_t first = m->nproved;
    flat_build(&c.cuts.side[BEFORE], before, func);
    flat_build(&c.cuts.side[AFTER], after, func_after);
    if (begin(&c)) {
        candidates_begin(&c.candidates, &c.cuts, func_of);
        compare_steps(&c);
        if (!m->asked)
            follow_results(&c, first);
        keep_freed_uses(&c);
        candidates_free(&c.candidates);
    }
    for (int side = 0; side < SIDES_OF_CUT; side++) {
        if (!c.mark[side])
            c.mark[side] = xcalloc(c.cuts.side[side].nsteps + (size_t)1, 1);
        count(&c, side);
    }
    for (int side = 0; side < SIDES_OF_CUT; side++) {
        free(c.mark[side]);
        free(c.cuts.cut[side]);
        flat_free(&c.cuts.side[side]);
    }
    free(c.cuts.before_of);
    free(c.cuts.relation);
    free(c.region_of);
    free(c.twin);
    arena_free(&c.arena);
}

/* Functions that run on their own: no op of the module calls them. */
static bool *find_roots(const struct graph *g, struct arena *a) {
    bool *root = arena_alloc(a, g->m->nfuncs + (size_t)1);
    for (uint32_t f = 0; f < g->m->nfuncs; f++)
        root[f] = g->func_kind[f] == FUNC_MAIN && g->m->funcs[f].complete;
    for (uint32_t op = 0; op < g->m->nops; op++) {
        uint32_t f = g->m->ops[op].callee == NONE ? NONE : mlir_find_func(g->m, g->m->ops[op].callee);
        if (f != NONE)
            root[f] = false;
    }
    return root;
}

static uint32_t only_root(const struct graph *g, const bool *root) {
    uint32_t found = NONE, n = 0;
    for (uint32_t f = 0; f < g->m->nfuncs; f++)
        if (root[f]) {
            found = f;
            n++;
        }
    return n == 1 ? found : NONE;
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

static void count_unpaired(struct module_comparison *m, const struct graph *const g[SIDES_OF_CUT],
                           bool *const root[SIDES_OF_CUT], const uint32_t *func_of) {
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
    *m = (struct module_comparison){
        .lowerings = lowerings, .keep_proved = what.keep_proved, .asked = what.only, .sought = what.sought};
    for (int side = 0; side < SIDES_OF_CUT; side++) {
        size_t nops = (side == AFTER ? after : before)->m->nops + (size_t)1;
        m->answer[side] = arena_alloc(&m->arena, nops);
        m->copy_of[side] = no_ops(&m->arena, nops);
    }
    m->twin = no_ops(&m->arena, after->m->nops + (size_t)1);
    m->reads_freed = arena_alloc(&m->arena, after->m->nops + (size_t)1);
    const struct graph *g[SIDES_OF_CUT] = {before, after};
    bool *root[SIDES_OF_CUT] = {find_roots(before, &m->arena), find_roots(after, &m->arena)};
    uint32_t *func_of = pair_functions(before, after), only = only_root(after, root[AFTER]), compared = 0;
    if (only != NONE && func_of[only] == NONE)
        func_of[only] = only_root(before, root[BEFORE]);
    for (uint32_t f = 0; f < after->m->nfuncs; f++)
        if (root[AFTER][f] && func_of[f] != NONE) {
            compare_functions(m, before, func_of[f], after, f, func_of);
            compared++;
        }
    if (!m->asked)
        count_unpaired(m, g, root, func_of);
    if (!compared)
        m->why = STR("no function is in both modules");
    free(func_of);
}

uint32_t fused_op_of(const struct compared_region *r, const struct graph *after) {
    uint32_t op = r->nops[AFTER] ? r->ops[AFTER][r->nops[AFTER] - 1] : NONE;
    for (uint32_t i = 0; i < r->nops[AFTER]; i++)
        if (op_computes(after, r->ops[AFTER][i]) && graph_class(after, r->ops[AFTER][i]) != OP_SLICE)
            op = r->ops[AFTER][i];
    return op;
}

void module_comparison_free(struct module_comparison *m) {
    free(m->regions);
    free(m->proved);
    arena_free(&m->arena);
}
