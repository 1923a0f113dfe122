/* Pairs fingerprints: both lists are sorted by structure, and the groups of one structure compared. */
#include "gate/compare.h"

#include <stdlib.h>

struct item {
    const struct fingerprint *f;
    uint32_t index;
    bool taken;
};

/* Items of one structure. */
struct group {
    struct item *items;
    uint32_t n;
};

static int compare_numbers(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int compare_items(const void *pa, const void *pb) {
    const struct item *x = pa, *y = pb;
    int c = compare_numbers(x->f->structure, y->f->structure);
    if (c == 0)
        c = compare_numbers(x->f->place, y->f->place);
    if (c == 0)
        c = compare_numbers(x->f->rank, y->f->rank);
    return c ? c : compare_numbers(x->index, y->index);
}

static const struct fingerprint *fingerprint_at(struct fingerprints all, uint32_t i) {
    return (const void *)((const char *)all.first + i * all.step);
}

/* By structure, place, rank; to be freed. */
static struct item *sorted(struct fingerprints all) {
    struct item *items = xcalloc(all.n + (size_t)1, sizeof *items);
    for (uint32_t i = 0; i < all.n; i++)
        items[i] = (struct item){fingerprint_at(all, i), i, false};
    qsort(items, all.n, sizeof *items, compare_items);
    return items;
}

static bool is_equal(const struct fingerprint *a, const struct fingerprint *b) {
    return a->place == b->place && a->rank == b->rank && a->count == b->count;
}

static bool is_same_place(const struct fingerprint *a, const struct fingerprint *b) {
    return a->place && a->place == b->place;
}

/* The rank shifted by no more than as many as the like of its op are more, or fewer. */
static bool is_shifted(const struct fingerprint *before, const struct fingerprint *now) {
    int64_t shift = (int64_t)now->rank - before->rank, more = (int64_t)now->count - before->count;
    return more >= 0 ? shift >= 0 && shift <= more : shift <= 0 && shift >= more;
}

static void pair_groups(struct group before, struct group now, uint32_t *before_of) {
    static bool (*const ways[])(const struct fingerprint *, const struct fingerprint *) = {is_equal, is_same_place,
                                                                                           is_shifted};
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
        for (uint32_t i = 0; i < now.n; i++) {
            struct item *y = &now.items[i];
            for (uint32_t k = 0; k < before.n && !y->taken; k++) {
                struct item *x = &before.items[k];
                if (x->taken || !ways[way](x->f, y->f))
                    continue;
                x->taken = y->taken = true;
                before_of[y->index] = x->index;
            }
        }
}

/* Those of the structure of the first of `n` items. */
static struct group first_group(struct item *items, uint32_t n) {
    struct group g = {items, 1};
    while (g.n < n && items[g.n].f->structure == items->f->structure)
        g.n++;
    return g;
}

uint32_t *fingerprints_pair(struct fingerprints before, struct fingerprints now) {
    struct item *x = sorted(before), *y = sorted(now);
    uint32_t *before_of = xrealloc(NULL, (now.n + (size_t)1) * sizeof *before_of);
    memset(before_of, 0xff, now.n * sizeof *before_of); /* NONE */
    for (uint32_t i = 0, k = 0; i < before.n && k < now.n;) {
        struct group a = first_group(x + i, before.n - i), b = first_group(y + k, now.n - k);
        int order = compare_numbers(a.items->f->structure, b.items->f->structure);
        if (order == 0)
            pair_groups(a, b, before_of);
        i += order <= 0 ? a.n : 0;
        k += order >= 0 ? b.n : 0;
    }
    free(x);
    free(y);
    return before_of;
}
