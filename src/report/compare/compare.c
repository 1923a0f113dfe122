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

static int order_by_all(const struct item *x, const struct item *y) {
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
    int c = order_by_all(x, y);
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
    join(x, y, by_place, order_by_all, before_of);
    join(x, y, by_place, compare_places, before_of);
    join(x, y, by_rank, compare_shifted, before_of);
    free(x.items);
    free(y.items);
    return before_of;
}

struct indexed_key {
    uint64_t key;
    uint32_t index;
};

static int by_key(const void *pa, const void *pb) {
    const struct indexed_key *a = pa, *b = pb;
    int c = compare_numbers(a->key, b->key);
    return c ? c : compare_numbers(a->index, b->index);
}

/* Those with a key that are not taken, sorted; to be freed. */
static struct indexed_key *sorted_keys(const uint64_t *keys, uint32_t n, const bool *taken, uint32_t *count) {
    struct indexed_key *out = xcalloc(n + (size_t)1, sizeof *out);
    *count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (keys[i] && !taken[i])
            out[(*count)++] = (struct indexed_key){keys[i], i};
    qsort(out, *count, sizeof *out, by_key);
    return out;
}

void keys_pair(const uint64_t *before, uint32_t nbefore, const uint64_t *now, uint32_t nnow, uint32_t *before_of) {
    bool *was = xcalloc(nbefore + (size_t)1, sizeof *was), *is = xcalloc(nnow + (size_t)1, sizeof *is);
    for (uint32_t i = 0; i < nnow; i++)
        if (before_of[i] != NONE)
            is[i] = was[before_of[i]] = true;
    uint32_t nx, ny;
    struct indexed_key *x = sorted_keys(before, nbefore, was, &nx), *y = sorted_keys(now, nnow, is, &ny);
    for (uint32_t i = 0, k = 0; i < nx && k < ny;) {
        int c = compare_numbers(x[i].key, y[k].key);
        if (c == 0)
            before_of[y[k].index] = x[i].index;
        i += c <= 0;
        k += c >= 0;
    }
    free(x);
    free(y);
    free(was);
    free(is);
}

/* ---- findings ---- */

/* Of a fused op at a place that has a name. */
static const uint64_t *place_keys(const struct finding_list *l, struct arena *a) {
    uint64_t *keys = arena_alloc(a, (l->n + (size_t)1) * sizeof *keys);
    for (uint32_t i = 0; i < l->n; i++)
        if (l->items[i]->fingerprint.place)
            keys[i] = str_hash(l->items[i]->fused_op) ^ l->items[i]->fingerprint.place;
    return keys;
}

static struct fingerprints fingerprints_of(const struct finding_list *l, struct arena *a) {
    struct fingerprint *all = arena_alloc(a, (l->n + (size_t)1) * sizeof *all);
    for (uint32_t i = 0; i < l->n; i++)
        all[i] = l->items[i]->fingerprint;
    return (struct fingerprints){all, l->n, sizeof *all};
}

static void add_change(struct findings_compared *c, enum finding_change kind, struct finding *f) {
    c->changes = grow(c->changes, &c->cap, c->nchanges + 1, sizeof *c->changes);
    c->changes[c->nchanges++] = (struct changed_finding){kind, f};
    c->counts[kind]++;
}

struct findings_compared findings_compare(const struct finding_list *before, const struct finding_list *now) {
    struct arena a = {0};
    struct findings_compared c = {.is_there = xcalloc(before->n + (size_t)1, sizeof *c.is_there)};
    uint32_t *same = fingerprints_pair(fingerprints_of(before, &a), fingerprints_of(now, &a));
    c.before_of = xrealloc(NULL, (now->n + (size_t)1) * sizeof *c.before_of);
    memcpy(c.before_of, same, now->n * sizeof *same);
    keys_pair(place_keys(before, &a), before->n, place_keys(now, &a), now->n, c.before_of);
    for (uint32_t i = 0; i < now->n; i++) {
        uint32_t *was = &c.before_of[i];
        if (same[i] == NONE && *was != NONE && now->items[i]->saved_us > before->items[*was]->saved_us)
            *was = NONE;
        if (*was == NONE)
            add_change(&c, FINDING_NEW, now->items[i]);
        else
            c.is_there[*was] = true;
    }
    for (uint32_t i = 0; i < now->n; i++)
        if (same[i] != c.before_of[i])
            add_change(&c, FINDING_CHANGED, now->items[i]);
    for (uint32_t i = 0; i < before->n; i++)
        if (!c.is_there[i])
            add_change(&c, FINDING_GONE, before->items[i]);
    free(same);
    arena_free(&a);
    return c;
}

void findings_compared_free(struct findings_compared *c) {
    free(c->before_of);
    free(c->is_there);
    free(c->changes);
}

static void write_change(struct writer *w, const struct changed_finding *x) {
    static const char *const words[] = {"new", "changed", "gone"};
    const struct finding *f = x->finding;
    char fingerprint[FINGERPRINT_TEXT];
    write_map(w);
    write_pair(w, "change", str_of(words[x->kind]), TEXT_NAME);
    write_pair(w, "fused_op", f->fused_op, TEXT_NAME);
    write_pair_if_any(w, "place", f->place, TEXT_QUOTED);
    write_pair_if_any(w, "ir_loc", f->ir_loc, TEXT_QUOTED);
    write_pair_positive(w, "saved_us", f->saved_us);
    if (f->fingerprint.count)
        write_pair(w, "fingerprint", str_of(fingerprint_text(&f->fingerprint, fingerprint)), TEXT_QUOTED);
    if (x->kind == FINDING_NEW && f->fails)
        write_pair_bool(w, "fails", true);
    write_close(w);
}

void findings_compared_write(const struct findings_compared *c, struct writer *w) {
    write_list(w);
    for (uint32_t i = 0; i < c->nchanges; i++)
        write_change(w, &c->changes[i]);
    write_close(w);
}
