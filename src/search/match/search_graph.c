/* All functions of a graph on threads. Each function has a list of its own, and each thread a searcher, a cache and an
 * arena: they share nothing, and the order of matches is that of the functions. */
#include "search/match/search_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/work.h"
#include "search/match/search.h"

struct graph_search {
    const struct search_setup *setup;
    const struct graph *graph;
    const uint32_t *funcs;
    uint32_t nfuncs;
    struct match_list *lists;    /* per function */
    uint64_t *alike;             /* by function of the graph */
    struct arena *arenas;        /* per thread */
    struct searcher **searchers; /* per thread; NULL until it has begun */
};

uint32_t match_functions(const struct graph *g, uint32_t *funcs) {
    uint32_t n = 0;
    for (uint32_t op = 0; op < g->m->nops && n == 0; op++) {
        uint32_t f = g->m->ops[op].func;
        if (f != NONE && g->m->funcs[f].end_op > op) /* the ops up to there are in functions */
            op = g->m->funcs[f].end_op - 1;
        else if (f == NONE && g->kind[op] != NO_OPERATOR && graph_class(g, op) != OP_STRUCTURE)
            funcs[n++] = NONE;
    }
    for (uint32_t f = 0; f < g->m->nfuncs; f++)
        if (g->func_kind[f] == FUNC_MAIN && g->m->funcs[f].complete) /* of a cut one the last uses are unknown */
            funcs[n++] = f;
    return n;
}

static void search_one(void *context, uint32_t i, uint32_t slot) {
    struct graph_search *s = context;
    if (!s->searchers[slot]) {
        s->searchers[slot] = searcher_new(s->graph, s->setup->caches[slot], &s->arenas[slot]);
        searcher_seek(s->searchers[slot], s->setup->sought);
    }
    uint64_t alike = searcher_run(s->searchers[slot], s->setup->patterns, s->funcs[i], &s->lists[i]);
    if (s->funcs[i] != NONE)
        s->alike[s->funcs[i]] = alike;
}

static void move_matches(struct match_list *to, struct match_list *from) {
    to->gave_up += from->gave_up;
    to->items = grow(to->items, &to->cap, to->n + from->n, sizeof *to->items);
    if (from->n)
        memcpy(to->items + to->n, from->items, from->n * sizeof *to->items);
    to->n += from->n;
    free(from->items);
}

void match_graph(const struct search_setup *setup, const struct graph *graph, struct arena *a, struct match_list *out) {
    uint32_t *funcs = arena_alloc(a, (graph->m->nfuncs + (size_t)1) * sizeof *funcs);
    uint32_t n = match_functions(graph, funcs);
    struct graph_search s = {.setup = setup,
                             .graph = graph,
                             .funcs = funcs,
                             .nfuncs = n,
                             .lists = arena_alloc(a, (n + (size_t)1) * sizeof *s.lists),
                             .alike = arena_alloc(a, (graph->m->nfuncs + (size_t)1) * sizeof *s.alike),
                             .arenas = arena_alloc(a, setup->threads * sizeof *s.arenas),
                             .searchers = arena_alloc(a, setup->threads * sizeof *s.searchers)};
    work_run(n, setup->threads, search_one, &s);
    for (uint32_t i = 0; i < n; i++)
        move_matches(out, &s.lists[i]);
    out->alike = s.alike;
    for (uint32_t i = 0; i < setup->threads; i++) {
        searcher_free(s.searchers[i]);
        arena_merge(a, &s.arenas[i]);
    }
}
