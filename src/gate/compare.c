/* Pairs fingerprints: both lists are sorted by structure, and the groups of one structure compared. */
#include "gate/compare.h"

#include <stdlib.h>

struct side {
    const struct fingerprint *all;
    uint32_t *order; /* indices by structure, place, rank */
    uint32_t n;
    bool *taken; /* by index */
};

struct item {
    const struct fingerprint *f;
    uint32_t index;
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

static struct side side_new(const struct fingerprint *all, uint32_t n) {
    struct item *items = xcalloc(n + (size_t)1, sizeof *items);
    struct side s = {all, xcalloc(n + (size_t)1, sizeof *s.order), n, xcalloc(n + (size_t)1, sizeof *s.taken)};
    for (uint32_t i = 0; i < n; i++)
        items[i] = (struct item){&all[i], i};
    qsort(items, n, sizeof *items, compare_items);
    for (uint32_t i = 0; i < n; i++)
        s.order[i] = items[i].index;
    free(items);
    return s;
}

static void side_free(struct side *s) {
    free(s->order);
    free(s->taken);
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

/* One structure: [begin, end) in the order of each side. */
static void pair_group(struct side *before, uint32_t b, uint32_t bend, struct side *now, uint32_t n, uint32_t nend,
                       uint32_t *before_of) {
    static bool (*const ways[])(const struct fingerprint *, const struct fingerprint *) = {is_equal, is_same_place,
                                                                                           is_shifted};
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
        for (uint32_t i = n; i < nend; i++) {
            uint32_t y = now->order[i];
            for (uint32_t k = b; k < bend && !now->taken[y]; k++) {
                uint32_t x = before->order[k];
                if (before->taken[x] || !ways[way](&before->all[x], &now->all[y]))
                    continue;
                before->taken[x] = now->taken[y] = true;
                before_of[y] = x;
            }
        }
}

void fingerprints_pair(const struct fingerprint *before, uint32_t nbefore, const struct fingerprint *now, uint32_t nnow,
                       uint32_t *before_of) {
    struct side a = side_new(before, nbefore), b = side_new(now, nnow);
    memset(before_of, 0xff, nnow * sizeof *before_of); /* NONE */
    for (uint32_t i = 0, k = 0; i < nbefore && k < nnow;) {
        uint64_t x = before[a.order[i]].structure, y = now[b.order[k]].structure;
        uint32_t iend = i, kend = k;
        while (iend < nbefore && before[a.order[iend]].structure == x)
            iend++;
        while (kend < nnow && now[b.order[kend]].structure == y)
            kend++;
        if (x == y)
            pair_group(&a, i, iend, &b, k, kend, before_of);
        i = x <= y ? iend : i;
        k = y <= x ? kend : k;
    }
    side_free(&a);
    side_free(&b);
}
