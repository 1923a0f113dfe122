#include "regions/rivals.h"

#include <stdlib.h>

static void add_name(struct str_list *to, struct str name, struct arena *a) {
    for (uint32_t i = 0; i < to->n; i++)
        if (str_eq(to->items[i], name))
            return;
    struct str *names = arena_alloc(a, (to->n + (size_t)1) * sizeof *names);
    if (to->n)
        memcpy(names, to->items, to->n * sizeof *names);
    names[to->n++] = name;
    to->items = names;
}

struct str_list *region_rivals(const struct region_list *regions, const struct region_rules *rules,
                               const struct match_list *matches, struct str_list **of_matches, struct arena *a) {
    struct str_list *all = arena_alloc(a, (regions->n + (size_t)1) * sizeof *all);
    if (!matches->n || !regions->n)
        return all;
    uint32_t *owner = xcalloc(matches->items[0].graph->m->nops + (size_t)1, sizeof *owner); /* 1 + the region */
    for (uint32_t i = 0; i < regions->n; i++)
        for (uint32_t k = 0; k < regions->items[i].nops; k++)
            owner[regions->items[i].ops[k]] = i + 1;
    if (!*of_matches)
        *of_matches = arena_alloc(a, matches->n * sizeof **of_matches);
    for (uint32_t i = 0; i < matches->n; i++) {
        const struct match *m = &matches->items[i];
        for (uint32_t k = 0; k < m->nops + m->nthrough; k++) {
            uint32_t at = owner[k < m->nops ? m->ops[k] : m->through[k - m->nops]];
            if (!at)
                continue;
            add_name(&all[at - 1], m->pattern->fused_op, a);
            add_name(&(*of_matches)[i], rules->claims[regions->items[at - 1].kind].fused_op, a);
        }
    }
    free(owner);
    return all;
}
