/* A hash table from structural hashes to buckets. Where a pattern failed at a root without looking beyond what the hash
 * covers, a bit says so; every other result is an entry: what it depends on besides, and its ops counted from the
 * root. */
#include "match/cache.h"
#include "match/matcher.h"
#include "match/structural_hash.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_ENTRIES = 64,     /* of one bucket */
    FIRST_TABLE = 64,     /* buckets at first */
    LAST_TABLE = 1 << 15, /* buckets at most: then all are forgotten */
};

struct cached_dependency {
    int32_t op; /* counted from the root */
    uint32_t operand;
    uint64_t hash;
};

struct cache_entry {
    struct cache_entry *next;
    const struct pattern *pattern;          /* that accepted the match; NULL: none did */
    struct cached_dependency *dependencies; /* have to have the same hashes */
    uint32_t ndependencies;
    struct recorded_predicates predicates; /* have to hold as they did */
    uint32_t index, nops, nthrough;
    int32_t *ops, *through; /* counted from the root */
    uint64_t names;         /* as in struct match */
};

struct cache_bucket {
    uint64_t hash;                        /* 0: empty */
    uint64_t failed[CACHE_PATTERNS / 64]; /* bit i: pattern i fails at such a root */
    struct cache_entry *entries;
    uint32_t nentries;
};

struct match_cache {
    struct cache_bucket *buckets;
    uint32_t size, used;
    uint64_t graphs; /* numbers given out */
    struct known_functions *functions;
    struct automaton *automaton;
    struct matcher *matcher;
    struct arena arena; /* of entries */
};

struct match_cache *match_cache_new(const struct pattern_set *set) {
    struct match_cache *cache = xcalloc(1, sizeof *cache);
    cache->functions = known_functions_new();
    cache->automaton = automaton_new(set);
    cache->matcher = matcher_new(NULL, NONE, 0, NULL);
    return cache;
}

void match_cache_free(struct match_cache *cache) {
    if (!cache)
        return;
    free(cache->buckets);
    known_functions_free(cache->functions);
    automaton_free(cache->automaton);
    matcher_free(cache->matcher);
    arena_free(&cache->arena);
    free(cache);
}

struct automaton *match_cache_automaton(struct match_cache *cache) {
    return cache->automaton;
}

struct matcher *match_cache_matcher(struct match_cache *cache, const struct graph *g, struct arena *a) {
    cache->matcher->g = g;
    cache->matcher->arena = a;
    cache->matcher->known.op = NONE;
    return cache->matcher;
}

struct hashes *match_cache_hashes(struct match_cache *cache, const struct graph *g) {
    return hashes_new(g, ++cache->graphs, cache->functions);
}

/* The bucket of the hash, or the empty one where it belongs. */
static struct cache_bucket *find(struct cache_bucket *buckets, uint32_t size, uint64_t hash) {
    uint32_t at = (uint32_t)(hash >> 20) & (size - 1);
    while (buckets[at].hash && buckets[at].hash != hash)
        at = (at + 1) & (size - 1);
    return &buckets[at];
}

static void make_room(struct match_cache *cache) {
    bool keep = cache->size < LAST_TABLE;
    uint32_t size = cache->size == 0 ? FIRST_TABLE : keep ? cache->size * 2 : cache->size;
    struct cache_bucket *buckets = xcalloc(size, sizeof *buckets);
    for (uint32_t i = 0; keep && i < cache->size; i++)
        if (cache->buckets[i].hash)
            *find(buckets, size, cache->buckets[i].hash) = cache->buckets[i];
    if (!keep) {
        cache->used = 0;
        arena_free(&cache->arena);
    }
    free(cache->buckets);
    cache->buckets = buckets;
    cache->size = size;
}

struct cache_bucket *cache_bucket(struct match_cache *cache, uint64_t hash) {
    if (cache->used * 4 >= cache->size * 3)
        make_room(cache);
    struct cache_bucket *bucket = find(cache->buckets, cache->size, hash);
    cache->used += bucket->hash == 0;
    bucket->hash = hash;
    return bucket;
}

static int32_t *counted_from(uint32_t root, const uint32_t *ops, uint32_t n, struct arena *a) {
    int32_t *out = arena_alloc(a, (n + 1) * sizeof *out);
    for (uint32_t i = 0; i < n; i++)
        out[i] = (int32_t)(ops[i] - root);
    return out;
}

static uint32_t *moved_to(uint32_t root, const int32_t *ops, uint32_t n, struct arena *a) {
    uint32_t *out = arena_alloc(a, (n + 1) * sizeof *out);
    for (uint32_t i = 0; i < n; i++)
        out[i] = root + (uint32_t)ops[i];
    return out;
}

static void add_entry(struct cache_bucket *bucket, const struct cached_search *search, const struct match *found,
                      const struct search_record *record, struct arena *a) {
    uint32_t n = record->ndependencies;
    struct cache_entry *e = arena_alloc(a, sizeof *e);
    *e = (struct cache_entry){
        .next = bucket->entries, .index = search->index, .predicates = record->predicates, .ndependencies = n};
    e->dependencies = arena_alloc(a, (n + 1) * sizeof *e->dependencies);
    for (uint32_t i = 0; i < n; i++) {
        struct dependency d = record->dependencies[i];
        uint64_t hash = hash_of_dependency(search->hashes, d, search->root);
        if (hash == 0)
            return;
        e->dependencies[i] = (struct cached_dependency){(int32_t)(d.op - search->root), d.operand, hash};
    }
    if (found) {
        e->pattern = found->pattern;
        e->nops = found->nops;
        e->nthrough = found->nthrough;
        e->names = found->names;
        e->ops = counted_from(search->root, found->ops, found->nops, a);
        e->through = counted_from(search->root, found->through, found->nthrough, a);
    }
    bucket->entries = e;
    bucket->nentries++;
}

void cache_store(struct match_cache *cache, struct cache_bucket *bucket, const struct cached_search *search,
                 const struct match *found, const struct search_record *record) {
    if (record->uncacheable || search->index >= CACHE_PATTERNS)
        return;
    if (!found && record->ndependencies == 0) /* nor predicates: they are asked of whole matches, which are kept */
        bucket->failed[search->index / 64] |= 1ull << search->index % 64;
    else if (bucket->nentries < MAX_ENTRIES)
        add_entry(bucket, search, found, record, &cache->arena);
}

uint64_t cache_failures(const struct cache_bucket *bucket, uint32_t from) {
    return from < CACHE_PATTERNS ? bucket->failed[from / 64] : 0;
}

static bool dependencies_are_equal(const struct cache_entry *e, const struct cached_search *search) {
    for (uint32_t i = 0; i < e->ndependencies; i++) {
        struct dependency d = {search->root + (uint32_t)e->dependencies[i].op, e->dependencies[i].operand};
        if (hash_of_dependency(search->hashes, d, search->root) != e->dependencies[i].hash)
            return false;
    }
    return true;
}

static bool predicates_are_equal(const struct cache_entry *e, const struct match *here) {
    struct evaluation over = {.graph = here->graph, .ops = here->ops, .nops = here->nops};
    for (uint32_t i = 0; i < e->predicates.n; i++)
        if (evaluates_to_true(&over, e->predicates.condition[i]) != e->predicates.holds[i])
            return false;
    return true;
}

enum cache_answer cache_lookup(const struct cache_bucket *bucket, const struct cached_search *search, struct arena *a,
                               struct match *out) {
    for (const struct cache_entry *e = bucket->entries; e; e = e->next) {
        if (e->index != search->index || !dependencies_are_equal(e, search))
            continue;
        if (!e->pattern && e->predicates.n == 0)
            return CACHE_FAILED;
        out->pattern = e->pattern;
        out->root = search->root;
        out->nops = e->nops;
        out->nthrough = e->nthrough;
        out->names = e->names;
        out->ops = moved_to(search->root, e->ops, e->nops, a);
        out->through = moved_to(search->root, e->through, e->nthrough, a);
        if (predicates_are_equal(e, out))
            return e->pattern ? CACHE_FOUND : CACHE_FAILED;
    }
    return CACHE_UNKNOWN;
}
