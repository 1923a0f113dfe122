/* Places that look alike: what comes before an op, as far as a search looks, as a number. A pattern
 * that was not found at one place is not found at any that is alike, so it need not be searched for
 * there: the layers of a model are alike.
 *
 * The number covers kinds, attributes, shapes, constants, how far apart in the text the ops stand (so
 * which values are the same one), and who uses them,
 * HASH_DEPTH ops deep with all movement between, and no further apart than HASH_SPAN. What a search looked at behind
 * a value is told by the numbers of the ops there (`struct seen`). A search that looked elsewhere (matcher.h, `far`)
 * says nothing about other places.
 *
 * What is remembered outlives the graph: a log holds the same model many times. */
#ifndef FA_MATCH_CACHE_H
#define FA_MATCH_CACHE_H

#include "graph/index.h"
#include "match/match.h"

struct hashes;

enum {
    HASH_SPAN = 1024,    /* ops from the first to the last one covered, in the text */
    HASH_DEPTH = 16,     /* ops that are no movement, from the place to the deepest one covered */
    CACHE_PATTERNS = 256 /* of one operator that are remembered; more are searched for each time */
};

/* With what is remembered of other graphs, searched for the same patterns; NULL: of none. */
struct hashes *hashes_new(const struct graph *g, struct match_cache *memory);
void hashes_free(struct hashes *a);
/* Numbers the places of a function (ops first to before end); what is remembered of earlier ones stays. */
void hashes_function(struct hashes *a, uint32_t first, uint32_t end);

/* What was looked at behind a value, beside the place itself. */
struct seen {
    uint32_t op;
    uint32_t slot; /* NONE: the place that the op is; else all that use this operand of it */
};

struct cached_dependency {
    int32_t op; /* counted from the root */
    uint32_t slot;
    uint64_t number;
};

struct cache_entry {
    struct cache_entry *next;
    const struct pattern *pattern;  /* the one that accepted the match; NULL: none did */
    struct cached_dependency *seen; /* has to be the same */
    uint32_t nseen;
    uint32_t index, nops, nthrough;
    int32_t *ops, *through; /* counted from the root */
    uint64_t names;         /* of the ops: match.h */
    struct told told;
};

struct cache_bucket {
    uint64_t failed[CACHE_PATTERNS / 64]; /* bit i: pattern i of those with such a root failed */
    struct cache_entry *hits;             /* what was found, and what failed with something seen */
    uint32_t nhits;
};

/* What is known of places like op; to be read and added to until the next call. */
struct cache_bucket *cache_bucket(struct hashes *a, uint32_t op);
/* What a search says of the places that are alike. */
struct search_result {
    uint32_t index, root;      /* pattern and op */
    const struct match *found; /* NULL: nothing; without a pattern: what locations told to be none */
    const struct told *told;
    const struct seen *seen;
    uint32_t nseen;
};
void cache_store(struct hashes *a, struct cache_bucket *place, const struct search_result *search);

enum cache_answer { CACHE_UNKNOWN, CACHE_FOUND, CACHE_FAILED };
/* What is known of pattern `index` at `op`. CACHE_FOUND: `out` is the match that was remembered, moved to `op`: its
 * ops, what was looked through and the pattern. */
enum cache_answer cache_lookup(const struct hashes *a, const struct cache_bucket *place, uint32_t index, uint32_t op,
                               struct arena *arena, struct match *out);
/* The number of a place tells who uses the results of the op. */
bool hash_covers_users(const struct graph *g, uint32_t op);

#endif
