/* Which of several overlapping matches is reported: the larger one first, what TTNN's dialect has before all others.
 * The rule is in fusion-patterns(5). */
#include "search/match/match.h"

#include <stdlib.h>
#include <string.h>

static int by_root(const void *pa, const void *pb) {
    const struct match *a = pa, *b = pb;
    if (a->root != b->root)
        return a->root < b->root ? -1 : 1;
    return a->pattern->order < b->pattern->order ? -1 : a->pattern->order > b->pattern->order;
}

static int by_size(const void *pa, const void *pb) {
    const struct match *a = pa, *b = pb;
    if (a->nruns != b->nruns)
        return a->nruns > b->nruns ? -1 : 1;
    if (a->nops != b->nops)
        return a->nops > b->nops ? -1 : 1;
    return by_root(pa, pb);
}

static uint32_t count_runs(const struct match *m) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->nops; k++)
        n += !graph_is_parameter(m->graph, m->graph->m->ops[m->ops[k]].first_result);
    return n;
}

/* Marks of an op: bits 0-4 are the sources that matched it, bits 5-9 (<< THROUGH) those that looked through it. What
 * the dialect of TTNN has is a source of its own, and what its library has beyond that another. */
enum { DIALECT = 1, LIBRARY = 16, THROUGH = 5 };

static uint16_t source_bit(const struct pattern *p) {
    if (pattern_is_direct(p))
        return pattern_reach(p) == REACH_DIALECT ? DIALECT : LIBRARY;
    for (unsigned i = 1; i < PATTERN_SOURCES; i++)
        if (str_is(p->source, pattern_sources[i]))
            return (uint16_t)(1u << i);
    return 0;
}

struct resolution {
    struct match_list *list;
    uint32_t first; /* op of marks[0] */
    uint16_t *marks;
    bool *keep; /* by match */
};

static void keep_one(struct resolution *s, uint32_t i, uint16_t source) {
    const struct match *m = &s->list->items[i];
    for (uint32_t k = 0; k < m->nops; k++)
        s->marks[m->ops[k] - s->first] |= source;
    for (uint32_t k = 0; k < m->nthrough; k++)
        s->marks[m->through[k] - s->first] |= (uint16_t)(source << THROUGH);
    s->keep[i] = true;
}

/* The list is sorted: the largest match takes its ops first. */
static void resolve_source(struct resolution *s, bool dialect) {
    for (uint32_t i = 0; i < s->list->n; i++) {
        const struct match *m = &s->list->items[i];
        uint16_t source = source_bit(m->pattern);
        if ((source == DIALECT) != dialect)
            continue;
        bool overlaps = false, more = dialect;
        for (uint32_t k = 0; k < m->nops; k++) {
            overlaps |= (s->marks[m->ops[k] - s->first] & source) != 0;
            more |= !(s->marks[m->ops[k] - s->first] & DIALECT);
        }
        if (more && !overlaps)
            keep_one(s, i, source);
    }
    /* drop a match whose root another match of its source looks through */
    for (uint32_t i = 0; i < s->list->n; i++) {
        const struct match *m = &s->list->items[i];
        uint16_t source = source_bit(m->pattern);
        s->keep[i] &= (source == DIALECT) != dialect || !(s->marks[m->root - s->first] & source << THROUGH);
    }
}

/* The range of ops that matches have: from the first to before `end`. */
static uint32_t first_op(const struct match_list *list, uint32_t *end) {
    uint32_t first = NONE;
    *end = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct match *m = &list->items[i];
        for (uint32_t k = 0; k < m->nops + m->nthrough; k++) {
            uint32_t op = k < m->nops ? m->ops[k] : m->through[k - m->nops];
            first = op < first ? op : first;
            *end = op >= *end ? op + 1 : *end;
        }
    }
    return first;
}

void match_list_add(struct match_list *list, const struct match *m) {
    list->items = grow(list->items, &list->cap, list->n + 1, sizeof *list->items);
    list->items[list->n++] = *m;
}

void match_resolve(struct match_list *list, struct match_list *gave_way) {
    uint32_t end, n = 0, first = first_op(list, &end);
    if (list->n == 0)
        return;
    struct resolution s = {.list = list,
                           .first = first,
                           .marks = xcalloc(end - first, sizeof *s.marks),
                           .keep = xcalloc(list->n, sizeof *s.keep)};
    for (uint32_t i = 0; i < list->n; i++)
        list->items[i].nruns = count_runs(&list->items[i]);
    qsort(list->items, list->n, sizeof *list->items, by_size);
    resolve_source(&s, true);
    resolve_source(&s, false);
    for (uint32_t i = 0; i < list->n; i++)
        if (s.keep[i])
            list->items[n++] = list->items[i];
        else if (gave_way)
            match_list_add(gave_way, &list->items[i]);
    list->n = n;
    qsort(list->items, n, sizeof *list->items, by_root);
    free(s.keep);
    free(s.marks);
}
