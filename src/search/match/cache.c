#include "search/match/cache.h"
#include "search/match/matcher.h"

#include <stdlib.h>
#include <string.h>

enum { KNOWN_FUNCTIONS = 256 }; /* by the low bits of their fingerprints */

/* Ops count from the first one of the function. */
struct known_function {
    uint64_t fingerprint; /* 0: none */
    struct match *matches;
    struct op_answer *answers;
    uint32_t nmatches, nanswers;
    struct arena arena;
};

struct match_cache {
    struct automaton *automaton;
    struct matcher *matcher;
    struct known_function known[KNOWN_FUNCTIONS];
};

struct match_cache *match_cache_new(const struct pattern_set *set) {
    struct match_cache *cache = xcalloc(1, sizeof *cache);
    cache->automaton = automaton_new(set);
    cache->matcher = matcher_new(NULL, NONE, 0, NULL);
    return cache;
}

void match_cache_free(struct match_cache *cache) {
    if (!cache)
        return;
    for (uint32_t i = 0; i < KNOWN_FUNCTIONS; i++)
        arena_free(&cache->known[i].arena);
    automaton_free(cache->automaton);
    matcher_free(cache->matcher);
    free(cache);
}

struct automaton *match_cache_automaton(struct match_cache *cache) {
    return cache->automaton;
}

struct matcher *match_cache_matcher(struct match_cache *cache, const struct graph *g, struct arena *a) {
    cache->matcher->g = g;
    cache->matcher->arena = a;
    return cache->matcher;
}

/* `by` is negative, modulo 2^32, where they are counted from the first one. */
static const uint32_t *moved(const uint32_t *ops, uint32_t n, uint32_t by, struct arena *a) {
    uint32_t *out = arena_alloc(a, (n + (size_t)1) * sizeof *out);
    for (uint32_t i = 0; i < n; i++)
        out[i] = ops[i] + by;
    return out;
}

static struct match moved_match(const struct match *m, uint32_t by, struct arena *a) {
    struct match out = *m;
    out.ops = moved(m->ops, m->nops, by, a);
    out.through = moved(m->through, m->nthrough, by, a);
    out.root += by;
    return out;
}

struct op_answer *answers_from(const struct op_answer *answers, uint32_t n, uint32_t first, struct arena *a) {
    struct op_answer *out = arena_alloc(a, (n + (size_t)1) * sizeof *out);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *ops = arena_alloc(a, (answers[i].nops + (size_t)1) * sizeof *ops);
        for (uint32_t k = 0; k < answers[i].nops; k++)
            ops[k] = answers[i].ops[k] - first;
        out[i] = answers[i];
        out[i].ops = ops;
    }
    return out;
}

bool answers_hold(const struct op_answer *answers, uint32_t n, const struct graph *g, uint32_t first) {
    uint32_t ops[MAX_MATCHED];
    struct evaluation over = {.graph = g, .ops = ops};
    for (uint32_t i = 0; i < n; i++) {
        over.nops = answers[i].nops;
        for (uint32_t k = 0; k < over.nops; k++)
            ops[k] = answers[i].ops[k] + first;
        if (evaluates_to_true(&over, answers[i].condition) != answers[i].holds)
            return false;
    }
    return true;
}

bool known_place_is(const struct known_place *k, uint64_t key, const struct match *m) {
    return key && k->key == key && answers_hold(k->answers, k->nanswers, m->graph, match_first_op(m));
}

bool known_place_keep(struct known_place *k, uint64_t key, const struct match_detail *d, struct arena *a) {
    if (!key || d->named)
        return false;
    *k = (struct known_place){key, answers_from(d->answers, d->nanswers, 0, a), d->nanswers};
    return true;
}

bool match_cache_recall(const struct match_cache *cache, uint64_t fingerprint, const struct graph *g, uint32_t func,
                        struct arena *a, struct match_list *out) {
    const struct known_function *k = &cache->known[fingerprint % KNOWN_FUNCTIONS];
    uint32_t first = g->m->funcs[func].first_op;
    if (k->fingerprint != fingerprint || !answers_hold(k->answers, k->nanswers, g, first))
        return false;
    out->items = grow(out->items, &out->cap, out->n + k->nmatches, sizeof *out->items);
    for (uint32_t i = 0; i < k->nmatches; i++) {
        struct match *m = &out->items[out->n++];
        *m = moved_match(&k->matches[i], first, a);
        m->graph = g;
        m->func = func;
    }
    return true;
}

void match_cache_keep(struct match_cache *cache, uint64_t fingerprint, const struct graph *g, uint32_t func,
                      const struct match *matches, uint32_t n, const struct search_record *record) {
    struct known_function *k = &cache->known[fingerprint % KNOWN_FUNCTIONS];
    uint32_t first = g->m->funcs[func].first_op;
    arena_reset(&k->arena);
    k->fingerprint = fingerprint;
    k->nmatches = n;
    k->matches = arena_alloc(&k->arena, (n + (size_t)1) * sizeof *k->matches);
    for (uint32_t i = 0; i < n; i++)
        k->matches[i] = moved_match(&matches[i], 0 - first, &k->arena);
    k->nanswers = record->nanswers;
    k->answers = answers_from(record->answers, record->nanswers, first, &k->arena);
}
