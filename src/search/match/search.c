/* All patterns at all ops of a function that an automaton finds may be their roots; from a cache where a function like
 * it has been searched. */
#include "search/match/search.h"

#include <stdlib.h>

#include "search/match/fingerprint.h"
#include "search/match/matcher.h"

struct searcher {
    const struct pattern_set *set;
    struct matcher *m;
    struct match_cache *cache; /* NULL: none */
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

/* Some patterns begin with the op and with what it reads as. */
static bool is_found(const struct match_list *found, const struct pattern *p, uint32_t op) {
    bool known = false;
    for (uint32_t i = found->n; i-- > 0 && found->items[i].root == op && !known;) {
        const struct pattern *of = found->items[i].pattern;
        known = of == p || (of->is_variant && of->variant_of == p);
    }
    return known;
}

/* `viewed`: the automaton finds the pattern only where the op is read as another one. */
static void search_root(struct searcher *s, const struct pattern *p, uint32_t op, bool viewed, struct match_list *out) {
    if (is_found(out, p, op))
        return;
    out->items = grow(out->items, &out->cap, out->n + 1, sizeof *out->items);
    s->m->only_views = viewed;
    if (match_at(s->m, p, op))
        out->items[out->n++] = s->m->found;
    s->m->only_views = false;
    out->gave_up += s->m->full;
}

/* An op as what it is, or as one of its views. */
struct root_reading {
    enum op_kind kind;
    const uint64_t *roots; /* of the patterns that begin with the kind; NULL: all of them */
};

/* The patterns that begin with an op of the kind of the first reading, as this and as those after it. */
static void search_op(struct searcher *s, uint32_t op, const struct root_reading *r, uint32_t nreadings, bool viewed,
                      struct match_list *out) {
    uint32_t first = s->set->first_rooted[r->kind], n = s->set->first_rooted[r->kind + 1] - first;
    struct pattern *const *patterns = s->set->rooted + first;
    for (uint32_t from = 0; from < n; from += 64) {
        uint64_t all = n - from < 64 ? (1ull << (n - from)) - 1 : ~0ull, left = 0, unknown = 0, own = 0;
        for (uint32_t i = 0; i < nreadings; i++)
            if (r[i].kind == r->kind)
                *(r[i].roots ? &left : &unknown) |= r[i].roots ? r[i].roots[from / 64] : all;
        if (!viewed)
            own = r->roots ? r->roots[from / 64] : all;
        for (left |= unknown; left; left &= left - 1) {
            uint32_t at = (uint32_t)__builtin_ctzll(left);
            if (unknown) /* else the automaton has done so for its roots */
                pattern_complete(s->set, patterns[from + at]);
            search_root(s, patterns[from + at], op, !(own >> at & 1), out);
        }
    }
}

static void search_readings(struct searcher *s, uint32_t op, struct match_list *out) {
    struct op_view room[MAX_VIEWS];
    const struct op_view *views;
    struct root_reading r[MAX_VIEWS + 1] = {
        {(enum op_kind)s->m->g->kind[op], s->ops ? automaton_roots(s->ops, op) : NULL}};
    uint32_t n = matcher_views(s->m, op, room, &views) + 1;
    for (uint32_t i = 1; i < n; i++)
        r[i] = (struct root_reading){views[i - 1].kind, s->ops ? automaton_view_roots(s->ops, op, i - 1) : NULL};
    for (uint32_t i = 0; i < n; i++) {
        bool done = false;
        for (uint32_t j = 0; j < i; j++)
            done |= r[j].kind == r[i].kind;
        if (!done)
            search_op(s, op, r + i, n - i, i > 0, out);
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
            search_readings(s, op, out);
}

uint64_t searcher_run(struct searcher *s, const struct pattern_set *set, uint32_t func, struct match_list *out) {
    const struct graph *g = s->m->g;
    uint64_t fingerprint = s->cache && func != NONE ? function_fingerprint(g, func, s->aliases) : 0;
    uint64_t alike = fingerprint ? function_alike(g, func, fingerprint) : 0;
    uint32_t n = out->n, gave_up = out->gave_up;
    if (fingerprint && match_cache_recall(s->cache, fingerprint, g, func, s->m->arena, out))
        return alike;
    s->set = set;
    s->m->func = func;
    s->m->max_steps = search_steps(set->max_steps);
    s->m->record = fingerprint ? &s->record : NULL;
    s->record.elsewhere = s->record.spelled = false;
    s->record.nanswers = 0;
    search_ops(s, func, func == NONE ? 0 : g->m->funcs[func].first_op,
               func == NONE ? g->m->nops : g->m->funcs[func].end_op, out);
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
