/* All patterns at all ops of a function. */
#ifndef FA_SEARCH_H
#define FA_SEARCH_H

#include "search/match/cache.h"

struct sought_op {
    struct str name;
    bool *roots; /* per op of the graph: a match of it may have its root there */
};

/* Fused ops that are looked for at some ops alone. */
struct sought {
    struct sought_op *items;
    uint32_t n;
};

/* Searches the functions of one graph, one after another. With no cache each root is searched for itself: slower, and
 * the same matches, which tests/test_match_cache.c holds it to. Matches live in `a`. */
struct searcher *searcher_new(const struct graph *g, struct match_cache *cache, struct arena *a);
/* No others are searched for from then on. They have to outlive it. */
void searcher_seek(struct searcher *s, const struct sought *sought);
/* Returns function_alike of the function; 0: not known. */
uint64_t searcher_run(struct searcher *s, const struct pattern_set *set, uint32_t func, struct match_list *out);
void searcher_free(struct searcher *s); /* NULL is fine */

#endif
