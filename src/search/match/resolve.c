/* Which of several overlapping matches is reported: of one source the set that saves most, where a match counts for its
 * parts as long as it may save as much as these; what TTNN's dialect has before all others. The rule is in
 * fusion-patterns(5). */
#include "search/match/match.h"

#include <math.h>
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
        n += !graph_is_parameter(m->graph, m->graph->m->ops[m->ops[k]].first_result) &&
             !graph_looks_through(m->graph, m->ops[k]);
    return n;
}

/* What the dialect of TTNN has is a source of its own, the first one, and what its library has beyond that another. */
enum { DIALECT, LIBRARY, SOURCES = PATTERN_SOURCES + 1 };

static unsigned source_number(const struct pattern *p) {
    unsigned i = 0;
    if (pattern_is_direct(p))
        return pattern_reach(p) == REACH_DIALECT ? DIALECT : LIBRARY;
    while (i + 1 < PATTERN_SOURCES && !str_is(p->source, pattern_sources[i]))
        i++;
    return i + 1;
}

/* ---- which matches exclude each other ---- */

enum { TAKEN = 1, LOOKED_THROUGH = 2, ROOT = 4 };

bool match_excluded(const struct match *m, const uint8_t *marks) {
    bool found = (marks[m->root] & LOOKED_THROUGH) != 0;
    for (uint32_t i = 0; i < m->nops && !found; i++)
        found = (marks[m->ops[i]] & TAKEN) != 0;
    for (uint32_t i = 0; i < m->nthrough && !found; i++)
        found = (marks[m->through[i]] & ROOT) != 0;
    return found;
}

void match_mark(const struct match *m, uint8_t *marks) {
    marks[m->root] |= ROOT;
    for (uint32_t i = 0; i < m->nops; i++)
        marks[m->ops[i]] |= TAKEN;
    for (uint32_t i = 0; i < m->nthrough; i++)
        marks[m->through[i]] |= LOOKED_THROUGH;
}

static void unmark(const struct match *m, uint8_t *marks) {
    for (uint32_t i = 0; i < m->nops; i++)
        marks[m->ops[i]] = 0;
    for (uint32_t i = 0; i < m->nthrough; i++)
        marks[m->through[i]] = 0;
}

/* ---- the set that saves most ---- */

struct rival {
    const struct match *match;
    double us, most, gain;  /* that it saves, that it may save at best, and by which it is chosen */
    bool part;              /* of one that may save as much as all that are part of it */
    uint32_t group, number; /* of the match in the list, the larger one first */
};

static int by_gain(const void *pa, const void *pb) {
    const struct rival *a = pa, *b = pb;
    if (a->gain != b->gain)
        return a->gain > b->gain ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

enum { MOST_EXACT = 16 };

struct best_choice {
    const struct rival *rivals; /* by gain */
    uint32_t n, excludes[MOST_EXACT], best;
    double most;
};

/* Of the rivals from `i` on that are `free`, beside those that are taken: with the i-th, and without. */
static void choose_best(struct best_choice *c, uint32_t i, uint32_t free, uint32_t taken, double gain) {
    double bound = gain;
    while (i < c->n && !(free >> i & 1))
        i++;
    for (uint32_t k = i; k < c->n; k++)
        bound += free >> k & 1 ? c->rivals[k].gain : 0;
    if (bound <= c->most)
        return;
    if (i == c->n) {
        c->best = taken;
        c->most = gain;
        return;
    }
    choose_best(c, i + 1, free & ~c->excludes[i], taken | 1U << i, gain + c->rivals[i].gain);
    if (c->excludes[i] & free & ~(1U << i))
        choose_best(c, i + 1, free & ~(1U << i), taken, gain);
}

static void keep_best(const struct rival *rivals, uint32_t n, uint8_t *marks, bool *keep) {
    struct best_choice c = {.rivals = rivals, .n = n};
    for (uint32_t i = 0; i < n; i++) {
        match_mark(rivals[i].match, marks);
        for (uint32_t k = 0; k < n; k++)
            c.excludes[i] |= (uint32_t)match_excluded(rivals[k].match, marks) << k;
        unmark(rivals[i].match, marks);
    }
    choose_best(&c, 0, (1U << n) - 1, 0, 0);
    for (uint32_t i = 0; i < n; i++)
        keep[rivals[i].number] = c.best >> i & 1;
}

static void keep_in_order(const struct rival *rivals, uint32_t n, uint8_t *marks, bool *keep) {
    for (uint32_t i = 0; i < n; i++) {
        keep[rivals[i].number] = !match_excluded(rivals[i].match, marks);
        if (keep[rivals[i].number])
            match_mark(rivals[i].match, marks);
    }
    for (uint32_t i = 0; i < n; i++)
        unmark(rivals[i].match, marks);
}

/* ---- groups of rivals ---- */

struct resolution {
    const struct match_list *list;
    const struct savings *by;
    uint8_t *marks;       /* by op */
    uint32_t *dialect;    /* by op: a match of the dialect that is kept and has it, or NONE */
    uint32_t *owner;      /* by op: a match that has it, or NONE */
    uint32_t *first;      /* by match: of its group, after set_first */
    uint32_t *rooted;     /* by op: a match with this root, or NONE */
    uint32_t *next;       /* by match: another one with its root */
    struct rival **rival; /* by match: where it stands in its group */
    bool *inside;         /* by op: the match whose parts are looked for has it */
    bool *keep;           /* by match */
};

/* Takes its ops, and joins those that had one of them before. */
static void group_by_ops(struct resolution *s, uint32_t i) {
    const struct match *m = &s->list->items[i];
    for (uint32_t k = 0; k < m->nops; k++) {
        uint32_t *owner = &s->owner[m->ops[k]];
        if (*owner != NONE)
            sets_join(s->first, i, *owner);
        *owner = i;
    }
    s->next[i] = s->rooted[m->root];
    s->rooted[m->root] = i;
}

static void group_by_movement(struct resolution *s, uint32_t i) {
    const struct match *m = &s->list->items[i];
    for (uint32_t k = 0; k < m->nthrough; k++)
        if (s->rooted[m->through[k]] != NONE)
            sets_join(s->first, i, s->owner[m->through[k]]);
}

/* Among those that save the same the larger one counts. */
static void add_gain(const struct resolution *s, struct rival *r) {
    struct saving x = s->by ? s->by->saving(s->by->context, r->match) : (struct saving){0};
    r->us = fmax(x.us, 0);
    r->most = fmax(x.most_us, r->us);
    r->gain = r->us + 0.01 * r->match->nruns + 1e-6;
}

static void mark_inside(const struct resolution *s, const struct match *m, bool inside) {
    for (uint32_t k = 0; k < m->nops; k++)
        s->inside[m->ops[k]] = inside;
}

static bool is_inside(const struct resolution *s, const struct match *m) {
    bool inside = true;
    for (uint32_t k = 0; k < m->nops && inside; k++)
        inside = s->inside[m->ops[k]];
    return inside;
}

enum { MOST_PARTS = 64 };

/* Rivals that have ops of one, and no others; of those with the same ops the first one is the whole. */
static uint32_t parts_of(const struct resolution *s, const struct rival *of, struct rival **parts) {
    const struct match *whole = of->match;
    uint32_t n = 0;
    mark_inside(s, whole, true);
    for (uint32_t k = 0; k < whole->nops; k++)
        for (uint32_t i = s->rooted[whole->ops[k]]; i != NONE && n < MOST_PARTS; i = s->next[i])
            if ((s->list->items[i].nops < whole->nops || i > of->number) && is_inside(s, &s->list->items[i]))
                parts[n++] = s->rival[i];
    mark_inside(s, whole, false);
    return n;
}

static void drop_parts(struct resolution *s, const struct rival *whole) {
    struct rival *parts[MOST_PARTS], sorted[MOST_PARTS] = {{0}};
    uint32_t n = parts_of(s, whole, parts), nsorted = 0;
    double all = 0;
    for (uint32_t i = 0; i < n; i++)
        if (parts[i]->match->nops < whole->match->nops)
            sorted[nsorted++] = *parts[i];
        else
            parts[i]->part = true;
    qsort(sorted, nsorted, sizeof *sorted, by_gain);
    for (uint32_t i = 0; i < nsorted; i++)
        if (!match_excluded(sorted[i].match, s->marks)) {
            match_mark(sorted[i].match, s->marks);
            all += sorted[i].us;
        }
    for (uint32_t i = 0; i < nsorted; i++)
        unmark(sorted[i].match, s->marks);
    for (uint32_t i = 0; i < n; i++)
        parts[i]->part |= all <= whole->most;
}

/* What saves time and is a part of none that is kept stands for itself. */
static void keep_freed_parts(struct resolution *s, struct rival *parts, uint32_t n, const struct rival *others,
                             uint32_t nothers) {
    uint32_t freed = 0;
    for (uint32_t i = 0; i < n; i++)
        if (parts[i].us > 0)
            parts[freed++] = parts[i];
    qsort(parts, freed, sizeof *parts, by_gain);
    for (uint32_t i = 0; i < nothers; i++)
        if (s->keep[others[i].number])
            match_mark(others[i].match, s->marks);
    keep_in_order(parts, freed, s->marks, s->keep);
    for (uint32_t i = 0; i < nothers; i++)
        unmark(others[i].match, s->marks);
}

static void resolve_group(struct resolution *s, struct rival *rivals, uint32_t n) {
    uint32_t left = 0;
    if (n == 1) {
        s->keep[rivals->number] = true;
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        add_gain(s, &rivals[i]);
        s->rival[rivals[i].number] = &rivals[i];
    }
    for (uint32_t i = 0; i < n; i++)
        if (!rivals[i].part)
            drop_parts(s, &rivals[i]);
    for (uint32_t i = 0; i < n; i++)
        if (!rivals[i].part) {
            struct rival whole = rivals[i];
            rivals[i] = rivals[left];
            rivals[left++] = whole;
        }
    qsort(rivals, left, sizeof *rivals, by_gain);
    if (left <= MOST_EXACT)
        keep_best(rivals, left, s->marks, s->keep);
    else
        keep_in_order(rivals, left, s->marks, s->keep);
    keep_freed_parts(s, rivals + left, n - left, rivals, left);
}

static int by_group(const void *pa, const void *pb) {
    const struct rival *a = pa, *b = pb;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* It has an op that no match of the dialect has. */
static bool has_more(const struct resolution *s, const struct match *m) {
    bool more = false;
    for (uint32_t k = 0; k < m->nops && !more; k++)
        more = s->dialect[m->ops[k]] == NONE;
    return more;
}

/* It takes all that the dialect has at its ops, as linears whose weights are put side by side, and saves more,
 * launches, too: of as many the estimate is too coarse. */
static bool saves_more(const struct resolution *s, const struct match *m) {
    struct saving left = s->by->saving(s->by->context, m), of;
    bool whole = true;
    mark_inside(s, m, true);
    for (uint32_t k = 0; k < m->nops && whole; k++) {
        const struct match *other = &s->list->items[s->dialect[m->ops[k]]];
        whole = is_inside(s, other);
        if (!whole || other->root != m->ops[k] || (of = s->by->saving(s->by->context, other)).us <= 0)
            continue;
        left.us -= of.us;
        left.launches -= of.launches;
    }
    mark_inside(s, m, false);
    return whole && left.us > 0 && left.launches > 0;
}

static bool may_be_kept(const struct resolution *s, unsigned source, const struct match *m) {
    return source_number(m->pattern) == source && (has_more(s, m) || (source == LIBRARY && s->by && saves_more(s, m)));
}

static void resolve_source(struct resolution *s, unsigned source, struct rival *rivals) {
    uint32_t n = 0, end;
    memset(s->owner, 0xff, s->list->items->graph->m->nops * sizeof *s->owner);
    memset(s->rooted, 0xff, s->list->items->graph->m->nops * sizeof *s->rooted);
    for (uint32_t i = 0; i < s->list->n; i++)
        if (may_be_kept(s, source, &s->list->items[i])) {
            rivals[n++] = (struct rival){.match = &s->list->items[i], .number = i};
            group_by_ops(s, i);
        }
    for (uint32_t i = 0; i < n; i++)
        group_by_movement(s, rivals[i].number);
    for (uint32_t i = 0; i < n; i++)
        rivals[i].group = set_first(s->first, rivals[i].number);
    qsort(rivals, n, sizeof *rivals, by_group);
    for (uint32_t i = 0; i < n; i = end) {
        for (end = i + 1; end < n && rivals[end].group == rivals[i].group;)
            end++;
        resolve_group(s, rivals + i, end - i);
    }
    for (uint32_t i = 0; i < s->list->n && source == DIALECT; i++)
        for (uint32_t k = 0; k < s->list->items[i].nops && s->keep[i]; k++)
            s->dialect[s->list->items[i].ops[k]] = i;
}

void match_list_add(struct match_list *list, const struct match *m) {
    list->items = grow(list->items, &list->cap, list->n + 1, sizeof *list->items);
    list->items[list->n++] = *m;
}

static void resolve_sources(struct resolution *s) {
    struct rival *rivals = xcalloc(s->list->n, sizeof *rivals);
    for (uint32_t i = 0; i < s->list->n; i++)
        s->first[i] = i;
    for (unsigned source = DIALECT; source < SOURCES; source++)
        resolve_source(s, source, rivals);
    free(rivals);
}

static void resolution_free(struct resolution *s) {
    free(s->keep);
    free(s->inside);
    free((void *)s->rival);
    free(s->next);
    free(s->rooted);
    free(s->first);
    free(s->owner);
    free(s->dialect);
    free(s->marks);
}

void match_resolve(struct match_list *list, const struct savings *by, struct match_list *gave_way) {
    uint32_t n = 0, nops = list->n ? list->items->graph->m->nops : 0;
    if (list->n == 0)
        return;
    struct resolution s = {.list = list,
                           .by = by,
                           .marks = xcalloc(nops, sizeof *s.marks),
                           .dialect = xcalloc(nops, sizeof *s.dialect),
                           .owner = xcalloc(nops, sizeof *s.owner),
                           .first = xcalloc(list->n, sizeof *s.first),
                           .rooted = xcalloc(nops, sizeof *s.rooted),
                           .next = xcalloc(list->n, sizeof *s.next),
                           .rival = xcalloc(list->n, sizeof *s.rival),
                           .inside = xcalloc(nops, sizeof *s.inside),
                           .keep = xcalloc(list->n, sizeof *s.keep)};
    for (uint32_t i = 0; i < list->n; i++)
        list->items[i].nruns = count_runs(&list->items[i]);
    qsort(list->items, list->n, sizeof *list->items, by_size);
    memset(s.dialect, 0xff, nops * sizeof *s.dialect);
    resolve_sources(&s);
    for (uint32_t i = 0; i < list->n; i++)
        if (s.keep[i])
            list->items[n++] = list->items[i];
        else if (gave_way)
            match_list_add(gave_way, &list->items[i]);
    list->n = n;
    qsort(list->items, n, sizeof *list->items, by_root);
    resolution_free(&s);
}
