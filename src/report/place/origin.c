/* Finds the TTIR counterpart of a TTNN match: a TTIR match of the same fused op that covers at least half of the TTIR
 * ops which the TTNN ops are paired with; without one, or where that is a part of them, the connected TTIR ops between
 * them. */
#include "report/place/origin.h"

/* What the ops that are shown of a match are paired with, sorted. */
static uint32_t *paired_ops(const struct pairing *p, const struct match *m, struct arena *a, uint32_t *n) {
    struct segment shown = match_segment(m, a);
    uint32_t *found = arena_alloc(a, (shown.nops + (size_t)1) * sizeof *found);
    *n = 0;
    for (uint32_t i = 0; i < shown.nops; i++)
        if (p->ttir_of[shown.ops[i]] != NONE)
            found[(*n)++] = p->ttir_of[shown.ops[i]];
    sort_ids(found, *n);
    return found;
}

/* ---- the search ---- */

/* From the first op to the last one that a match is paired with. */
struct range {
    const struct match *match;
    uint32_t first, last;
};

static uint32_t list_ranges(const struct pairing *p, const struct match_list *list, struct arena *a,
                            struct range *out) {
    uint32_t n = 0, npaired;
    for (uint32_t i = 0; i < list->n; i++) {
        const uint32_t *ops = paired_ops(p, &list->items[i], a, &npaired);
        if (npaired)
            out[n++] = (struct range){&list->items[i], ops[0], ops[npaired - 1]};
        arena_reset(a);
    }
    return n;
}

/* The ops of all ranges of a fused op. `begun`: room for one more than all ops. */
static void mark_ranges(const struct range *ranges, uint32_t n, struct sought_op *of, int32_t *begun, uint32_t nops) {
    memset(begun, 0, (nops + (size_t)1) * sizeof *begun);
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(ranges[i].match->pattern->fused_op, of->name)) {
            begun[ranges[i].first]++;
            begun[ranges[i].last + 1]--;
        }
    int32_t open = 0;
    for (uint32_t op = 0; op < nops; op++) {
        open += begun[op];
        of->roots[op] = open > 0;
    }
}

static void add_sought(struct sought *all, struct str name) {
    uint32_t i = 0;
    while (i < all->n && !str_eq(all->items[i].name, name))
        i++;
    if (i == all->n)
        all->items[all->n++].name = name;
}

void origins_search(struct origins *o, const struct search_setup *setup, const struct match_list *matches,
                    const struct match_list *gave_way, struct arena *a) {
    const struct graph *ttir = o->pairing.ttir;
    uint32_t nops = ttir->m->nops, n;
    struct arena scratch = {0}, kept = {0};
    struct range *ranges = arena_alloc(&kept, (matches->n + gave_way->n + (size_t)1) * sizeof *ranges);
    n = list_ranges(&o->pairing, matches, &scratch, ranges);
    n += list_ranges(&o->pairing, gave_way, &scratch, ranges + n);
    struct sought sought = {.items = arena_alloc(&kept, (n + (size_t)1) * sizeof *sought.items)};
    for (uint32_t i = 0; i < n; i++)
        add_sought(&sought, ranges[i].match->pattern->fused_op);
    int32_t *begun = arena_alloc(&kept, (nops + (size_t)1) * sizeof *begun);
    for (uint32_t i = 0; i < sought.n; i++) {
        sought.items[i].roots = arena_alloc(&kept, nops + (size_t)1);
        mark_ranges(ranges, n, &sought.items[i], begun, nops);
    }
    struct search_setup how = *setup;
    how.sought = &sought;
    match_graph(&how, ttir, a, &o->matches);
    arena_free(&kept);
    arena_free(&scratch);
}

/* ---- one match ---- */

static uint32_t overlap(const struct match *m, const uint32_t *ops, uint32_t n) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        count += in_match(m, ops[i]);
    return count;
}

static int64_t root_elements(const struct match *m) {
    return graph_numel(m->graph, m->graph->m->ops[m->root].first_result);
}

/* Index of the first match whose root is `op` or stands behind it. */
static uint32_t first_match_from(const struct match_list *list, uint32_t op) {
    uint32_t lo = 0, hi = list->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (list->items[mid].root < op)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The match that shares most of the n ops, sorted; of equal ones the smallest. NULL if none shares half of them. */
static const struct match *find_counterpart(const struct origins *o, const struct match *m, const uint32_t *ttir,
                                            uint32_t n) {
    const struct match *best = NULL;
    uint32_t most = 0;
    for (uint32_t i = first_match_from(&o->matches, ttir[0]); i < o->matches.n; i++) {
        const struct match *t = &o->matches.items[i];
        if (t->root > ttir[n - 1])
            break;
        if (!str_eq(t->pattern->fused_op, m->pattern->fused_op) || root_elements(t) != root_elements(m))
            continue;
        uint32_t shared = overlap(t, ttir, n);
        if (shared > most || (shared == most && best && t->nops < best->nops)) {
            most = shared;
            best = t;
        }
    }
    return most * 2 >= n ? best : NULL;
}

static bool contains(const struct segment *whole, const struct segment *part) {
    uint32_t i = 0, k = 0;
    for (; i < whole->nops && k < part->nops; i++)
        k += whole->ops[i] == part->ops[k];
    return k == part->nops;
}

/* Casts have no signature to be paired by. */
static void add_last_cast(const struct pairing *p, const struct match *m, struct arena *a, struct segment *s) {
    const struct graph *g = m->graph, *t = p->ttir;
    if (!s->nops || graph_class(g, m->root) != OP_CAST || p->ttir_of[m->root] != NONE)
        return;
    uint32_t v = t->m->ops[s->ops[s->nops - 1]].first_result;
    uint32_t user = graph_nuses(t, v) == 1 ? t->uses[t->first_use[v]] : NONE;
    if (user == NONE || graph_class(t, user) != OP_CAST ||
        graph_dtype(t, t->m->ops[user].first_result) != graph_dtype(g, g->m->ops[m->root].first_result))
        return;
    uint32_t *ops = arena_alloc(a, (s->nops + (size_t)1) * sizeof *ops);
    memcpy(ops, s->ops, s->nops * sizeof *ops);
    ops[s->nops] = user;
    *s = (struct segment){s->ir, ops, s->nops + 1};
}

struct segment origin_segment(const struct origins *o, const struct match *m, struct arena *a,
                              const struct match **counterpart) {
    struct segment none = {NULL, NULL, 0};
    uint32_t *ops, n, *found = paired_ops(&o->pairing, m, a, &n);
    *counterpart = NULL;
    if (n == 0)
        return none;
    const struct match *best = find_counterpart(o, m, found, n);
    struct segment its = best ? match_segment(best, a) : none, between = none;
    if (!best || best->pattern != m->pattern) /* of another pattern: it may be a part of what the match descends from */
        if (pair_segment(&o->pairing, m->ops, m->nops, a, &ops, &n))
            between = (struct segment){o->pairing.ttir->m, ops, n};
    add_last_cast(&o->pairing, m, a, &between);
    if (!best || (between.nops > its.nops && contains(&between, &its)))
        return between;
    *counterpart = best;
    return its;
}
