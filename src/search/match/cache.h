/* What the search of a function found, by the function's fingerprint: a log or a module that has one many times has it
 * searched once. A cache outlives its graphs.
 *
 * It changes nothing of what is found: tests/test_match_cache.c searches with and without one (searcher_new takes NULL
 * for none) and compares. */
#ifndef FA_MATCH_CACHE_H
#define FA_MATCH_CACHE_H

#include "search/automaton/automaton.h"
#include "search/match/evaluate.h"

/* For the searches for one set of patterns; used by one thread at a time. */
struct match_cache *match_cache_new(const struct pattern_set *set);
void match_cache_free(struct match_cache *cache);                   /* NULL is fine */
struct automaton *match_cache_automaton(struct match_cache *cache); /* of the patterns */
/* The matcher of all searches with the cache, for a graph: its memory is large. */
struct matcher *match_cache_matcher(struct match_cache *cache, const struct graph *g, struct arena *a);

/* Adds to `out` what is known of a function with this fingerprint; what the matches point to lives in `a`. False:
 * nothing is. */
bool match_cache_recall(const struct match_cache *cache, uint64_t fingerprint, const struct graph *g, uint32_t func,
                        struct arena *a, struct match_list *out);
/* Keeps the matches of a function that was searched, in place of what another one had left there. */
void match_cache_keep(struct match_cache *cache, uint64_t fingerprint, const struct graph *g, uint32_t func,
                      const struct match *matches, uint32_t n, const struct search_record *record);

/* Answers with ops counted from `first` on, in `a`, and whether they hold where another op is that one. */
struct op_answer *answers_from(const struct op_answer *answers, uint32_t n, uint32_t first, struct arena *a);
bool answers_hold(const struct op_answer *answers, uint32_t n, const struct graph *g, uint32_t first);

/* A place of which something is known that holds for others of a graph that are alike. */
struct known_place {
    uint64_t key; /* match_alike; 0: none */
    const struct op_answer *answers;
    uint32_t nanswers;
};
/* It is alike, and locations and texts do not tell the two apart. */
bool known_place_is(const struct known_place *k, uint64_t key, const struct match *m);
/* Keeps the place in `a`. False: what a query says of it depends on names, or on other functions. */
bool known_place_keep(struct known_place *k, uint64_t key, const struct match_detail *d, struct arena *a);

#endif
