/* Which of several overlapping matches is reported: the rule is in fusion-patterns(5). */
#include "pattern/match.h"

#include <stdlib.h>
#include <string.h>

static uint32_t root_of(const struct match *m) {
    return m->ops[m->nops - 1];
}

static int by_size(const void *pa, const void *pb) {
    const struct match *a = pa, *b = pb;
    if (a->nops != b->nops)
        return a->nops > b->nops ? -1 : 1;
    if (root_of(a) != root_of(b))
        return root_of(a) < root_of(b) ? -1 : 1;
    return a->pattern->order < b->pattern->order ? -1 : a->pattern->order > b->pattern->order;
}

static int by_root(const void *pa, const void *pb) {
    const struct match *a = pa, *b = pb;
    if (root_of(a) != root_of(b))
        return root_of(a) < root_of(b) ? -1 : 1;
    return a->pattern->order < b->pattern->order ? -1 : a->pattern->order > b->pattern->order;
}

/* Bit of a source in the marks of an op. */
static uint8_t source_bit(struct str source) {
    static const char *const names[] = {"ttnn", "torch", "triton", "cuda"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(source, names[i]))
            return (uint8_t)(1u << i);
    return 0;
}

enum { DIRECT = 1, THROUGH = 4 }; /* THROUGH: so many bits on is the mark of what was looked through */

/* Which of the kept direct matches an op belongs to, plus 1. NULL when no pattern contains others. */
static uint32_t *new_owners(const struct match_list *list, uint32_t nops) {
    bool any = false;
    for (uint32_t i = 0; i < list->n; i++)
        any |= list->items[i].pattern->ncontains > 0;
    if (!any)
        return NULL;
    uint32_t *owners = xrealloc(NULL, nops * sizeof *owners);
    memset(owners, 0, nops * sizeof *owners);
    return owners;
}

static bool contains(const struct pattern *outer, const struct pattern *inner) {
    for (uint32_t i = 0; i < outer->ncontains; i++)
        if (str_eq(outer->contains[i], inner->name))
            return true;
    return false;
}

/* The match lies inside of others that name its pattern as one of theirs. */
static bool contained(const struct match_list *list, const uint32_t *owners, const struct match *m) {
    for (uint32_t k = 0; k < m->nops; k++)
        if (!owners || (owners[m->ops[k]] && !contains(list->items[owners[m->ops[k]] - 1].pattern, m->pattern)))
            return false;
    return true;
}

static void settle_source(struct match_list *list, uint8_t *marks, uint32_t *owners, bool direct, bool *keep) {
    for (uint32_t i = 0; i < list->n; i++) {
        const struct match *m = &list->items[i];
        uint8_t mine = source_bit(m->pattern->source);
        if ((mine == DIRECT) != direct)
            continue;
        bool overlaps = false, more = direct;
        for (uint32_t k = 0; k < m->nops; k++) {
            overlaps |= (marks[m->ops[k]] & mine) != 0;
            more |= !(marks[m->ops[k]] & DIRECT);
        }
        keep[i] = more && (!overlaps || (direct && contained(list, owners, m)));
        for (uint32_t k = 0; keep[i] && k < m->nops; k++) {
            if (owners && direct && !(marks[m->ops[k]] & mine))
                owners[m->ops[k]] = i + 1;
            marks[m->ops[k]] |= mine;
        }
        for (uint32_t k = 0; keep[i] && k < m->nthrough; k++)
            marks[m->through[k]] |= (uint8_t)(mine << THROUGH);
    }
    for (uint32_t i = 0; i < list->n; i++) { /* movement inside of another place */
        const struct match *m = &list->items[i];
        uint8_t mine = source_bit(m->pattern->source);
        keep[i] &= (mine == DIRECT) != direct || !(marks[root_of(m)] & mine << THROUGH);
    }
}

void match_settle(struct match_list *list) {
    if (list->n == 0)
        return;
    uint32_t nops = list->items[0].graph->m->nops, n = 0;
    uint8_t *marks = xrealloc(NULL, nops);
    uint32_t *owners = new_owners(list, nops);
    bool *keep = xrealloc(NULL, list->n);
    memset(marks, 0, nops);
    memset(keep, 0, list->n);
    qsort(list->items, list->n, sizeof *list->items, by_size);
    settle_source(list, marks, owners, true, keep);
    settle_source(list, marks, owners, false, keep);
    for (uint32_t i = 0; i < list->n; i++)
        if (keep[i])
            list->items[n++] = list->items[i];
    list->n = n;
    qsort(list->items, n, sizeof *list->items, by_root);
    free(keep);
    free(owners);
    free(marks);
}
