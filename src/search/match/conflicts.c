/* Conflicts: matches that share ops, one of what TTNN's dialect has, of what only its library has, of what only others
 * have, or of what a generated kernel could run, and one of another of these. Both are reported, and only one of them
 * can be fused. */
#include "search/match/match.h"

#include <stdlib.h>
#include <string.h>

enum rank { IN_DIALECT, IN_LIBRARY, ELSEWHERE, GENERATED };

static enum rank rank_of(const struct match *m) {
    enum pattern_reach reach = pattern_reach(m->pattern);
    if (m->pattern->formula.nslots == 0) /* no formula: a region */
        return GENERATED;
    return reach == REACH_DIALECT ? IN_DIALECT : reach == REACH_ELSEWHERE ? ELSEWHERE : IN_LIBRARY;
}

static void add_conflict(struct str_list *c, struct str name, struct arena *a) {
    for (uint32_t i = 0; i < c->n; i++)
        if (str_eq(c->items[i], name))
            return;
    struct str *names = arena_alloc(a, (c->n + 1) * sizeof *names);
    if (c->n)
        memcpy(names, c->items, c->n * sizeof *names);
    names[c->n++] = name;
    c->items = names;
}

/* Matches of each op, as lists: one may lie inside of another. */
struct owner {
    uint32_t match, next; /* index in `owners`; 0: the last */
};

struct owners {
    uint32_t *first; /* per op, index in `items`; 0: none */
    struct owner *items;
    uint32_t n;
};

static struct owners owners_of(const struct match_list *list) {
    uint32_t nops = list->items[0].graph->m->nops, total = 1;
    for (uint32_t i = 0; i < list->n; i++)
        total += list->items[i].nops;
    struct owners o = {
        .first = xcalloc(nops, sizeof *o.first), .items = xrealloc(NULL, total * sizeof *o.items), .n = 1};
    for (uint32_t i = 0; i < list->n; i++)
        for (uint32_t k = 0; k < list->items[i].nops; k++) {
            uint32_t *first = &o.first[list->items[i].ops[k]];
            o.items[o.n] = (struct owner){i, *first};
            *first = o.n++;
        }
    return o;
}

struct str_list *match_conflicts(const struct match_list *list, struct arena *a) {
    bool mixed = false;
    for (uint32_t i = 1; i < list->n; i++)
        mixed |= rank_of(&list->items[i]) != rank_of(&list->items[0]);
    if (!mixed)
        return NULL;
    struct owners o = owners_of(list);
    struct str_list *all = arena_alloc(a, list->n * sizeof *all);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct match *m = &list->items[i];
        for (uint32_t k = 0; k < m->nops; k++)
            for (uint32_t at = o.first[m->ops[k]]; at; at = o.items[at].next) {
                uint32_t other = o.items[at].match;
                if (rank_of(&list->items[other]) >= rank_of(m))
                    continue;
                add_conflict(&all[i], list->items[other].pattern->fused_op, a);
                add_conflict(&all[other], m->pattern->fused_op, a);
            }
    }
    free(o.first);
    free(o.items);
    return all;
}
