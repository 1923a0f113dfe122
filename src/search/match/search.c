/* All patterns at all ops of a function that an automaton finds may be their roots; from a cache where a function like
 * it has been searched. */
#include "search/match/search.h"

#include <stdlib.h>
#include <string.h>

#include "search/match/fingerprint.h"
#include "search/match/matcher.h"

struct searcher {
    const struct pattern_set *set;
    struct matcher *m;
    struct match_cache *cache;   /* NULL: none */
    const struct sought *sought; /* NULL: all, everywhere */
    uint64_t aliases;
    struct automaton_run *ops; /* NULL: no cache */
    uint32_t *meets;           /* likewise */
    struct search_record record;
};

struct searcher *searcher_new(const struct graph *g, struct match_cache *cache, struct arena *a) {
    struct searcher *s = xcalloc(1, sizeof *s);
    s->m = cache ? match_cache_matcher(cache, g, a) : matcher_new(g, NONE, 0, a);
    s->cache = cache;
    s->aliases = mlir_aliases_hash(g->m);
    s->m->ops = s->ops = cache ? automaton_run_new(match_cache_automaton(cache), g) : NULL;
    s->m->meets = s->meets = cache ? xrealloc(NULL, (g->m->nops + (size_t)1) * sizeof *s->meets) : NULL;
    return s;
}

void searcher_seek(struct searcher *s, const struct sought *sought) {
    s->sought = sought;
}

void searcher_free(struct searcher *s) {
    if (!s)
        return;
    automaton_run_free(s->ops);
    free(s->meets);
    free(s->record.answers);
    s->m->record = NULL;
    if (!s->cache)
        matcher_free(s->m);
    free(s);
}

static bool is_sought(const struct searcher *s, const struct pattern *p, uint32_t op) {
    bool found = !s->sought;
    for (uint32_t i = 0; !found && i < s->sought->n; i++)
        found = s->sought->items[i].roots[op] && str_eq(s->sought->items[i].name, p->fused_op);
    return found;
}

/* Of what is sought at these ops, in any graph; 0: nothing is. */
static uint64_t sought_hash(const struct sought *all, uint32_t first, uint32_t end) {
    uint64_t hash = 0;
    for (uint32_t i = 0; i < all->n; i++) {
        struct str roots = {(const char *)(all->items[i].roots + first), end - first};
        if (roots.n && memchr(roots.p, 1, roots.n))
            hash = hash_mix(hash_mix(hash, str_hash(all->items[i].name)), str_hash(roots)) | 1;
    }
    return hash;
}

/* The patterns that the automaton finds at the op. */
static void search_op(struct searcher *s, uint32_t op, struct match_list *out) {
    enum op_kind kind = (enum op_kind)s->m->g->kind[op];
    const uint64_t *roots = s->ops ? automaton_roots(s->ops, op) : NULL;
    uint32_t first = s->set->first_rooted[kind], n = s->set->first_rooted[kind + 1] - first;
    struct pattern *const *patterns = s->set->rooted + first;
    for (uint32_t i = 0; i < n; i++) {
        if ((roots && !(roots[i / 64] >> i % 64 & 1)) || !is_sought(s, patterns[i], op))
            continue;
        out->items = grow(out->items, &out->cap, out->n + 1, sizeof *out->items);
        if (match_at(s->m, patterns[i], op))
            out->items[out->n++] = s->m->found;
        out->gave_up += s->m->full;
    }
}

/* x * 1 or x + 0, which no fused op is needed for. */
static bool is_neutral(const struct graph *g, uint32_t op) {
    return graph_class(g, op) == OP_ELTWISE && graph_looks_through(g, op) &&
           !op_is((enum op_kind)g->kind[op], PIECEWISE);
}

static void search_ops(struct searcher *s, uint32_t func, uint32_t first, uint32_t end, struct match_list *out) {
    const struct graph *g = s->m->g;
    if (s->ops)
        automaton_run(s->ops, first, end);
    if (s->meets)
        matcher_meetings(g, first, end, s->meets);
    for (uint32_t op = first; op < end; op++)
        if (g->m->ops[op].func == func && g->m->ops[op].nresults == 1 && !is_neutral(g, op))
            search_op(s, op, out);
}

uint64_t searcher_run(struct searcher *s, const struct pattern_set *set, uint32_t func, struct match_list *out) {
    const struct graph *g = s->m->g;
    uint32_t n = out->n, gave_up = out->gave_up, first = func == NONE ? 0 : g->m->funcs[func].first_op;
    uint32_t end = func == NONE ? g->m->nops : g->m->funcs[func].end_op;
    uint64_t sought = s->sought ? sought_hash(s->sought, first, end) : 0;
    if (s->sought && !sought)
        return 0;
    uint64_t fingerprint = s->cache && func != NONE ? function_fingerprint(g, func, s->aliases) : 0;
    uint64_t alike = fingerprint ? function_alike(g, func, fingerprint) : 0;
    fingerprint = fingerprint && sought ? hash_mix(fingerprint, sought) : fingerprint;
    if (fingerprint && match_cache_recall(s->cache, fingerprint, g, func, s->m->arena, out))
        return alike;
    s->set = set;
    s->m->func = func;
    s->m->max_steps = search_steps(set->max_steps);
    s->m->record = fingerprint ? &s->record : NULL;
    s->record.elsewhere = s->record.spelled = false;
    s->record.nanswers = 0;
    search_ops(s, func, first, end, out);
    if (fingerprint && !s->record.elsewhere && !s->record.spelled && out->gave_up == gave_up)
        match_cache_keep(s->cache, fingerprint, g, func, out->n > n ? &out->items[n] : NULL, out->n - n, &s->record);
    return alike;
}

void match_function(const struct pattern_set *set, const struct graph *g, uint32_t func, struct arena *a,
                    struct match_list *out) {
    struct searcher *s = searcher_new(g, NULL, a);
    searcher_run(s, set, func, out);
    searcher_free(s);
}
