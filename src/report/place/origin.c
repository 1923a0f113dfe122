/* Finds the TTIR counterpart of a TTNN match: a TTIR match of the same fused op that covers at least half of the TTIR
 * ops which the TTNN ops are paired with; without one, the connected TTIR ops between them. */
#include "report/place/origin.h"

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

struct segment origin_segment(const struct origins *o, const struct match *m, struct arena *a,
                              const struct match **counterpart) {
    struct segment none = {NULL, NULL, 0}, shown = match_segment(m, a);
    *counterpart = NULL;
    uint32_t *ops, n = 0, *found = arena_alloc(a, (shown.nops + (size_t)1) * sizeof *found);
    for (uint32_t i = 0; i < shown.nops; i++)
        if (o->pairing.ttir_of[shown.ops[i]] != NONE)
            found[n++] = o->pairing.ttir_of[shown.ops[i]];
    if (n == 0)
        return none;
    sort_ids(found, n);
    *counterpart = find_counterpart(o, m, found, n);
    if (*counterpart)
        return match_segment(*counterpart, a);
    if (pair_segment(&o->pairing, m->ops, m->nops, a, &ops, &n))
        return (struct segment){o->pairing.ttir->m, ops, n};
    return none;
}
