/* Direct and theoretical matches that share ops: only one of them can be carried out. */
#include "pattern/match.h"

#include <stdlib.h>
#include <string.h>

static bool is_direct(const struct match *m) {
    return str_is(m->pattern->source, pattern_sources[0]);
}

static void add_rival(struct rivals *r, struct str name, struct arena *a) {
    for (uint32_t i = 0; i < r->n; i++)
        if (str_eq(r->names[i], name))
            return;
    struct str *names = arena_alloc(a, (r->n + 1) * sizeof *names);
    if (r->n)
        memcpy(names, r->names, r->n * sizeof *names);
    names[r->n++] = name;
    r->names = names;
}

/* Per op the direct match that it belongs to, 1-based: settled ones share no ops. */
static uint32_t *owners(const struct match_list *list) {
    uint32_t nops = list->items[0].graph->m->nops, *owner = xrealloc(NULL, (nops + 1) * sizeof *owner);
    memset(owner, 0, (nops + 1) * sizeof *owner);
    for (uint32_t i = 0; i < list->n; i++)
        for (uint32_t k = 0; is_direct(&list->items[i]) && k < list->items[i].nops; k++)
            owner[list->items[i].ops[k]] = i + 1;
    return owner;
}

struct rivals *match_rivals(const struct match_list *list, struct arena *a) {
    uint32_t theoretical = 0;
    for (uint32_t i = 0; i < list->n; i++)
        theoretical += !is_direct(&list->items[i]);
    if (theoretical == 0 || theoretical == list->n)
        return NULL;
    uint32_t *owner = owners(list);
    struct rivals *all = arena_alloc(a, list->n * sizeof *all);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct match *m = &list->items[i];
        for (uint32_t k = 0; !is_direct(m) && k < m->nops; k++) {
            uint32_t other = owner[m->ops[k]];
            if (!other)
                continue;
            add_rival(&all[i], list->items[other - 1].pattern->fused_op, a);
            add_rival(&all[other - 1], m->pattern->fused_op, a);
        }
    }
    free(owner);
    return all;
}
