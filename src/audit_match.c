/* Matching over threads: the functions of a level one by one, each with a list of its own. */
#include "audit.h"

#include <stdlib.h>
#include <string.h>

/* Functions of a level, each with its own list so that threads need not meet. */
struct level_match {
    const struct pattern_set *patterns;
    const struct graph *graph;
    const uint32_t *funcs;
    struct match_list *lists; /* per function */
    bool *apart;              /* per function: nothing in its list reaches into another one */
    struct arena *arenas;     /* per thread */
    struct matcher **searchers;
    struct alike_memory **memories;
};

/* Of ops outside of functions: the beginning of the text. */
static size_t begin_of_function(const struct mlir *m, uint32_t func) {
    return func == NONE || m->funcs[func].op == NONE ? 0 : m->ops[m->funcs[func].op].text.begin;
}

/* What is matched is looked at again only where something was found: the pages before each 4 MB of text may go. */
static void release_matched(const struct level_match *l, uint32_t i) {
    const struct mlir *m = l->graph->m;
    size_t at = begin_of_function(m, l->funcs[i]), before = i ? begin_of_function(m, l->funcs[i - 1]) : 0;
    if (source_step(before, at))
        source_release(m->source, m->text.p, at);
}

static void match_one(void *context, uint32_t i, uint32_t slot) {
    struct level_match *l = context;
    if (!l->searchers[slot])
        l->searchers[slot] = match_searcher_new(l->graph, l->memories[slot], &l->arenas[slot]);
    match_search(l->searchers[slot], l->patterns, l->funcs[i], &l->lists[i]);
    l->apart[i] = match_stays_inside(&l->lists[i], l->funcs[i]);
    release_matched(l, i);
}

static void take_matches(struct match_list *to, struct match_list *from) {
    to->steps += from->steps;
    to->gave_up += from->gave_up;
    if (from->n)
        memcpy(to->items + to->n, from->items, from->n * sizeof *to->items);
    to->n += from->n;
    free(from->items);
}

static void take_all(struct match_list *to, struct match_list *lists, uint32_t n) {
    uint64_t all = to->n;
    for (uint32_t i = 0; i < n; i++)
        all += lists[i].n;
    to->items = grow(to->items, &to->cap, all < UINT32_MAX ? (uint32_t)all : UINT32_MAX, sizeof *to->items);
    for (uint32_t i = 0; i < n; i++)
        take_matches(to, &lists[i]);
}

static void settle_one(void *context, uint32_t i, uint32_t slot) {
    struct level_match *l = context;
    (void)slot;
    match_settle(&l->lists[i]);
}

/* Of those that overlap the winners: function by function, unless a match reaches into another function. */
static void settle_level(struct level_match *l, uint32_t n, uint32_t jobs, struct match_list *all) {
    bool apart = true;
    for (uint32_t i = 0; i < n && apart; i++)
        apart = l->apart[i];
    if (apart)
        work_run(n, jobs, settle_one, l);
    take_all(all, l->lists, n);
    if (!apart)
        match_settle(all);
}

void audit_match_level(struct graph_audit *g, const struct graph *graph, bool settle, struct match_list *out) {
    uint32_t *funcs = arena_alloc(&g->arena, (graph->m->nfuncs + 1) * sizeof *funcs);
    uint32_t n = match_functions(graph, funcs);
    struct match_list *lists = arena_alloc(&g->arena, (n + 1) * sizeof *lists);
    bool *apart = arena_alloc(&g->arena, (n + 1) * sizeof *apart);
    struct arena *arenas = arena_alloc(&g->arena, (g->jobs + 1) * sizeof *arenas);
    struct matcher **searchers = arena_alloc(&g->arena, (g->jobs + 1) * sizeof *searchers);
    struct level_match l = {&g->a->patterns, graph, funcs, lists, apart, arenas, searchers, g->memories};
    work_run(n, g->jobs, match_one, &l);
    if (settle)
        settle_level(&l, n, g->jobs, out);
    else
        take_all(out, lists, n);
    for (uint32_t i = 0; i < g->jobs; i++) {
        match_closer_free(searchers[i]);
        arena_merge(&g->arena, &arenas[i]);
    }
}
