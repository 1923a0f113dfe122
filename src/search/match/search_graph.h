/* Searches a graph for all patterns, its functions on threads. */
#ifndef FA_SEARCH_GRAPH_H
#define FA_SEARCH_GRAPH_H

#include "search/match/match.h"
#include "search/match/search.h"

/* What a search of any graph needs. */
struct search_setup {
    const struct pattern_set *patterns;
    struct match_cache **caches; /* one for each thread */
    uint32_t threads;
    const struct sought *sought; /* NULL: all, everywhere */
};

/* Functions to audit; NONE first when ops stand outside of any function (a fragment). Room for nfuncs + 1. */
uint32_t match_functions(const struct graph *g, uint32_t *funcs);
/* All matches in all functions, function by function; overlaps are not resolved yet. What they point to lives in `a`;
 * the caller frees out->items. */
void match_graph(const struct search_setup *setup, const struct graph *graph, struct arena *a, struct match_list *out);

#endif
