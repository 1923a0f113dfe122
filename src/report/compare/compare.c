/* Pairs fingerprints: both lists are sorted, then walked side by side, once for each way of being the same. */
#include "report/compare/compare.h"

#include <stdlib.h>

struct item {
    const struct fingerprint *f;
    uint32_t index;
    bool taken;
};

static int compare_numbers(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

/* ---- ways of being the same: which of two comes first, 0 where they are ---- */

static int compare_equal(const struct item *x, const struct item *y) {
    int c = compare_numbers(x->f->structure, y->f->structure);
    if (c == 0)
        c = compare_numbers(x->f->place, y->f->place);
    if (c == 0)
        c = compare_numbers(x->f->rank, y->f->rank);
    return c ? c : compare_numbers(x->f->count, y->f->count);
}

/* Those without a place, which are no pair, come first. */
static int compare_places(const struct item *x, const struct item *y) {
    int c = compare_numbers(x->f->structure, y->f->structure);
    if (c == 0)
        c = compare_numbers(x->f->place, y->f->place);
    return c == 0 && !x->f->place ? -1 : c;
}

/* The rank shifted by no more than as many as the like of its op are more, or fewer. */
static int compare_shifted(const struct item *x, const struct item *y) {
    int64_t shift = (int64_t)y->f->rank - x->f->rank, more = (int64_t)y->f->count - x->f->count;
    int c = compare_numbers(x->f->structure, y->f->structure);
    return c ? c : shift < (more < 0 ? more : 0) ? 1 : shift > (more > 0 ? more : 0) ? -1 : 0;
}

/* ---- orders in which these ways can be walked ---- */

static int by_place(const void *pa, const void *pb) {
    const struct item *x = pa, *y = pb;
    int c = compare_equal(x, y);
    return c ? c : compare_numbers(x->index, y->index);
}

static int by_rank(const void *pa, const void *pb) {
    const struct item *x = pa, *y = pb;
    int c = compare_numbers(x->f->structure, y->f->structure);
    if (c == 0)
        c = compare_numbers(x->f->rank, y->f->rank);
    return c ? c : compare_numbers(x->index, y->index);
}

struct items {
    struct item *items; /* to be freed */
    uint32_t n;
};

static struct items items_of(struct fingerprints all) {
    struct items out = {xcalloc(all.n + (size_t)1, sizeof *out.items), all.n};
    for (uint32_t i = 0; i < all.n; i++)
        out.items[i] = (struct item){(const void *)((const char *)all.first + i * all.step), i, false};
    return out;
}

static void join(struct items before, struct items now, int (*order)(const void *, const void *),
                 int (*compare)(const struct item *, const struct item *), uint32_t *before_of) {
    qsort(before.items, before.n, sizeof *before.items, order);
    qsort(now.items, now.n, sizeof *now.items, order);
    for (uint32_t i = 0, k = 0; i < before.n && k < now.n;) {
        struct item *x = &before.items[i], *y = &now.items[k];
        int c = x->taken ? -1 : y->taken ? 1 : compare(x, y);
        if (c == 0) {
            x->taken = y->taken = true;
            before_of[y->index] = x->index;
        }
        i += c <= 0;
        k += c >= 0;
    }
}

uint32_t *fingerprints_pair(struct fingerprints before, struct fingerprints now) {
    struct items x = items_of(before), y = items_of(now);
    uint32_t *before_of = xrealloc(NULL, (now.n + (size_t)1) * sizeof *before_of);
    memset(before_of, 0xff, now.n * sizeof *before_of); /* NONE */
    join(x, y, by_place, compare_equal, before_of);
    join(x, y, by_place, compare_places, before_of);
    join(x, y, by_rank, compare_shifted, before_of);
    free(x.items);
    free(y.items);
    return before_of;
}

static int compare_placed(const void *pa, const void *pb) {
    const struct placed *a = pa, *b = pb;
    int c = compare_numbers(a->place, b->place);
    return c ? c : compare_numbers(a->index, b->index);
}

void placed_sort(struct placed *all, uint32_t n) {
    if (n)
        qsort(all, n, sizeof *all, compare_placed);
}

uint32_t placed_find(const struct placed *all, uint32_t n, uint32_t place) {
    uint32_t begin = 0, end = n;
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        if (all[middle].place < place)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < n && all[begin].place == place ? begin : n;
}
