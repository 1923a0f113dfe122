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
static void add_todo(struct promise *all, uint32_t *n, const struct entry_todo *t) {
    double first = t->todo.then.n ? t->undone : 0;
    struct promise *p = promise_of(all, n, t->todo.what);
    p->saved += first;
    p->at_most |= t->todo.at_most;
    if (t->todo.then.n)
        p = promise_of(all, n, t->todo.then);
    p->saved += t->saved - first;
    p->around += t->around;
    p->at_most |= t->todo.at_most;
    p->needs = t->todo.needs;
    p->second |= t->todo.then.n || t->todo.needs.n;
}

struct promise *report_promises(const struct report *r, uint32_t *n) {
    size_t most = r->nparts + (size_t)1;
    for (uint32_t i = 0; i < r->nentries; i++)
        most += 2 * (size_t)r->entries[i].ntodos;
    struct promise *all = xcalloc(most, sizeof *all);
    *n = 0;
    for (uint32_t i = 0; i < r->nentries && r->total_us > 0; i++)
        for (uint32_t k = 0; k < r->entries[i].ntodos; k++)
            if (r->entries[i].todos[k].todo.kind == TODO_OPTION)
                add_todo(all, n, &r->entries[i].todos[k]);
    for (uint32_t i = 0; i < r->nparts && r->total_us > 0; i++) {
        struct promise *p = promise_of(all, n, r->parts[i].option);
        p->saved += r->parts[i].saved;
        p->parts += r->parts[i].saved;
        p->at_most |= r->parts[i].at_most;
    }
    qsort(all, *n, sizeof *all, by_order);
    return all;
}
