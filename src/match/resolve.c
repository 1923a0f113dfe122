/* Which of several overlapping matches is reported: the larger one first, ttnn (direct) before all other sources. The
 * rule is in fusion-patterns(5). */
#include "match/match.h"

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

/* The bit of a source in the marks of an op. */
static uint8_t source_bit(struct str source) {
    static const char *const names[] = {"ttnn", "torch", "triton", "cuda"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(source, names[i]))
            return (uint8_t)(1u << i);
    return 0;
}

/* Marks of an op: bits 0-3 are the sources that matched it, bits 4-7 (<< THROUGH) those that looked through it. DIRECT
 * is the bit of ttnn. */
enum { DIRECT = 1, THROUGH = 4 };

struct resolution {
    struct match_list *list;
    uint32_t first; /* op of marks[0] */
    uint8_t *marks;
    bool *keep; /* by match */
};

static void keep_one(struct resolution *s, uint32_t i, uint8_t source) {
    const struct match *m = &s->list->items[i];
    for (uint32_t k = 0; k < m->nops; k++)
        s->marks[m->ops[k] - s->first] |= source;
    for (uint32_t k = 0; k < m->nthrough; k++)
        s->marks[m->through[k] - s->first] |= (uint8_t)(source << THROUGH);
    s->keep[i] = true;
}

/* The list is sorted: the largest match takes its ops first. */
static void resolve_source(struct resolution *s, bool direct) {
    for (uint32_t i = 0; i < s->list->n; i++) {
        const struct match *m = &s->list->items[i];
        uint8_t source = source_bit(m->pattern->source);
        if ((source == DIRECT) != direct)
            continue;
        bool overlaps = false, more = direct;
        for (uint32_t k = 0; k < m->nops; k++) {
            overlaps |= (s->marks[m->ops[k] - s->first] & source) != 0;
            more |= !(s->marks[m->ops[k] - s->first] & DIRECT);
        }
        if (more && !overlaps)
            keep_one(s, i, source);
    }
    /* drop a match whose root another match of its source looks through */
    for (uint32_t i = 0; i < s->list->n; i++) {
        const struct match *m = &s->list->items[i];
        uint8_t source = source_bit(m->pattern->source);
        s->keep[i] &= (source == DIRECT) != direct || !(s->marks[m->root - s->first] & source << THROUGH);
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

void match_resolve(struct match_list *list) {
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
    list->n = n;
    qsort(list->items, n, sizeof *list->items, by_root);
    free(s.keep);
    free(s.marks);
}
