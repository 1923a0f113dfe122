/* All patterns at all ops of a function that an automaton finds may be their roots; from a cache where the search for
 * one has been done at a root like it. */
#include "match/search.h"

#include <stdlib.h>

#include "match/matcher.h"

struct searcher {
    const struct pattern_set *set;
    struct matcher *m;
    struct match_cache *cache; /* NULL: none */
    struct hashes *hashes;     /* NULL: no cache */
    struct automaton_run *ops; /* likewise */
};

struct searcher *searcher_new(const struct graph *g, struct match_cache *cache, struct arena *a) {
    struct searcher *s = xcalloc(1, sizeof *s);
    s->m = cache ? match_cache_matcher(cache, g, a) : matcher_new(g, NONE, 0, a);
    s->cache = cache;
    s->hashes = cache ? match_cache_hashes(cache, g) : NULL;
    s->m->ops = s->ops = cache ? automaton_run_new(match_cache_automaton(cache), g) : NULL;
    return s;
}

void searcher_free(struct searcher *s) {
    if (!s)
        return;
    automaton_run_free(s->ops);
    hashes_free(s->hashes);
    if (!s->cache)
        matcher_free(s->m);
    free(s);
}

static void add_match(struct match_list *out, const struct match *found) {
    out->items = grow(out->items, &out->cap, out->n + 1, sizeof *out->items);
    out->items[out->n++] = *found;
}

static void search_root(struct searcher *s, const struct pattern *p, uint32_t op, struct match_list *out) {
    if (match_at(s->m, p, op))
        add_match(out, &s->m->found);
    out->gave_up += s->m->full;
}

static void search_cached(struct searcher *s, struct cache_bucket *bucket, const struct pattern *p, uint32_t index,
                          uint32_t op, struct match_list *out) {
    struct cached_search search = {s->hashes, op, index};
    struct match known = {.graph = s->m->g, .func = s->m->func};
    enum cache_answer answer = cache_lookup(bucket, &search, s->m->arena, &known);
    if (answer == CACHE_FOUND)
        add_match(out, &known);
    if (answer != CACHE_UNKNOWN)
        return;
    search_root(s, p, op, out);
    if (!s->m->full)
        cache_store(s->cache, bucket, &search, s->m->found.nops ? &s->m->found : NULL, &s->m->record);
}

static void search_op(struct searcher *s, struct pattern *const *patterns, uint32_t n, uint32_t op,
                      struct match_list *out) {
    struct cache_bucket *bucket = NULL;
    const uint64_t *roots = s->ops ? automaton_roots(s->ops, op) : NULL;
    for (uint32_t i = 0; !roots && i < n; i++) /* else the automaton has done so for its roots */
        pattern_complete(s->set, patterns[i]);
    for (uint32_t from = 0; from < n; from += 64) {
        uint64_t left = n - from < 64 ? (1ull << (n - from)) - 1 : ~0ull;
        if (roots)
            left &= roots[from / 64];
        if (left && s->cache && !bucket)
            bucket = cache_bucket(s->cache, hash_of_root(s->hashes, op));
        if (bucket)
            left &= ~cache_failures(bucket, from);
        for (; left; left &= left - 1) {
            uint32_t i = from + (uint32_t)__builtin_ctzll(left);
            if (bucket)
                search_cached(s, bucket, patterns[i], i, op, out);
            else
                search_root(s, patterns[i], op, out);
        }
    }
}

void searcher_run(struct searcher *s, const struct pattern_set *set, uint32_t func, struct match_list *out) {
    const struct graph *g = s->m->g;
    uint32_t first = func == NONE ? 0 : g->m->funcs[func].first_op;
    uint32_t end = func == NONE ? g->m->nops : g->m->funcs[func].end_op;
    s->set = set;
    s->m->func = func;
    s->m->max_steps = search_steps(set->max_steps);
    if (s->cache) {
        hashes_function(s->hashes, first, end);
        automaton_run(s->ops, first, end);
    }
    for (uint32_t op = first; op < end; op++) {
        uint32_t i = set->first_rooted[g->kind[op]], n = set->first_rooted[g->kind[op] + 1] - i;
        if (n > 0 && g->m->ops[op].func == func && g->m->ops[op].nresults == 1)
            search_op(s, set->rooted + i, n, op, out);
    }
}

void match_function(const struct pattern_set *set, const struct graph *g, uint32_t func, struct arena *a,
                    struct match_list *out) {
    struct searcher *s = searcher_new(g, NULL, a);
    searcher_run(s, set, func, out);
    searcher_free(s);
}
