/* What the compiler's options bring, one after the other. */
#include <stdlib.h>

#include "report/report.h"

static struct promise *promise_of(struct promise *all, uint32_t *n, struct str option) {
    uint32_t i = 0;
    while (i < *n && !str_eq(all[i].option, option))
        i++;
    if (i == *n)
        all[(*n)++] = (struct promise){.option = option};
    return &all[i];
}

static int by_order(const void *pa, const void *pb) {
    const struct promise *a = pa, *b = pb;
    if (a->second != b->second)
        return a->second ? 1 : -1;
    return (a->saved < b->saved) - (a->saved > b->saved);
}

/* The first of two options saves some of it alone; the rest is of the second, which completes it. */
static void add_entry(struct promise *all, uint32_t *n, const struct report_entry *e) {
    const struct todo *t = entry_todo(e);
    double first = t->then.n ? e->undone : 0;
    struct promise *p = promise_of(all, n, t->what);
    p->saved += first;
    p->at_most |= t->at_most;
    if (t->then.n)
        p = promise_of(all, n, t->then);
    else
        p->spelled = t->spelled;
    p->saved += e->by_pass - first;
    p->around += e->around;
    p->at_most |= t->at_most;
    p->needs = t->needs;
    p->second |= t->then.n || t->needs.n;
}

struct promise *report_promises(const struct report *r, uint32_t *n) {
    struct promise *all = xcalloc(r->nparts + 2 * (size_t)r->nentries + 1, sizeof *all);
    *n = 0;
    for (uint32_t i = 0; i < r->nentries && r->total_us > 0; i++)
        if (entry_todo(&r->entries[i])->kind == TODO_OPTION)
            add_entry(all, n, &r->entries[i]);
    for (uint32_t i = 0; i < r->nparts && r->total_us > 0; i++) {
        if (r->parts[i].of->left_out || r->parts[i].saved <= 0)
            continue;
        struct promise *p = promise_of(all, n, r->parts[i].option);
        p->spelled = r->parts[i].spelled;
        p->saved += r->parts[i].saved;
        p->parts += r->parts[i].saved;
        p->at_most |= r->parts[i].at_most;
    }
    qsort(all, *n, sizeof *all, by_order);
    return all;
}
