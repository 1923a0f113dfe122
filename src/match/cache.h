/* Results of searches by the structural hash of their root, so that a model of 80 equal layers is searched once. A
 * cache outlives its graphs: a log holds the same model many times.
 *
 * What it buys: an audit of a 50 MB log that has one block many times (bench/generate.py log 50 L; then
 * fusion-audit --dry-run --quiet L, on one processor) takes 0.25 s rather than 1.8 s, and 1.3 billion
 * instructions rather than 5.3. It costs a single model without equal layers (segformer, 183 million) 1 %.
 *
 * It changes nothing of what is found: tests/test_match_cache.c searches with and without one (searcher_new takes NULL
 * for none) and compares. */
#ifndef FA_MATCH_CACHE_H
#define FA_MATCH_CACHE_H

#include "automaton/automaton.h"
#include "match/structural_hash.h"

enum { CACHE_PATTERNS = 256 }; /* of one root operator that are cached; more are searched for each time */

/* For the searches for one set of patterns; used by one thread at a time. */
struct match_cache *match_cache_new(const struct pattern_set *set);
void match_cache_free(struct match_cache *cache);                   /* NULL is fine */
struct automaton *match_cache_automaton(struct match_cache *cache); /* of the patterns */
/* The matcher of all searches with the cache, for a graph: its memory is large. */
struct matcher *match_cache_matcher(struct match_cache *cache, const struct graph *g, struct arena *a);
/* The hashes of a graph that is searched with the cache; free with hashes_free. */
struct hashes *match_cache_hashes(struct match_cache *cache, const struct graph *g);

/* What is known of the roots of one hash; valid until the next call. */
struct cache_bucket *cache_bucket(struct match_cache *cache, uint64_t hash);

/* A search at a root: for the pattern with this index among those of the root's operator. */
struct cached_search {
    const struct hashes *hashes;
    uint32_t root, index;
};

/* Of 64 patterns from this one on (a multiple of 64), those that are known to fail at such a root: a bit each. */
uint64_t cache_failures(const struct cache_bucket *bucket, uint32_t from);

enum cache_answer { CACHE_UNKNOWN, CACHE_FOUND, CACHE_FAILED };
/* CACHE_FOUND: the match that the search would find, its ops in `a`, is in `out`; all but graph and func are set. */
enum cache_answer cache_lookup(const struct cache_bucket *bucket, const struct cached_search *search, struct arena *a,
                               struct match *out);
/* Keeps the result of a search that ran, as far as its record allows. `found`: as match_finish kept it; NULL when it
 * kept nothing. */
void cache_store(struct match_cache *cache, struct cache_bucket *bucket, const struct cached_search *search,
                 const struct match *found, const struct search_record *record);

#endif
