/* The fused ops of two compiles, by op and place, then their findings. */
#include "report/compare/diff.h"

#include <stdlib.h>

enum state { SAME, LOST, PARTLY_LOST, GAINED, CHANGED, INTO /* another fused op at the same place */ };

struct changes {
    const struct compile_summary *before, *now;
    uint32_t *before_of;  /* by fused op now: the one that it was, or whose place it took; NONE */
    enum state *was, *is; /* by fused op before and now */
    uint32_t *into;       /* by fused op before of INTO: what stands there now */
};

static bool is_part_of(const struct fused_op *now, const struct fused_op *before) {
    return now->operands < before->operands || (before->active && !now->active) || (before->fused && !now->fused);
}

static enum state state_of(const struct fused_op *before, const struct fused_op *now) {
    if (is_part_of(now, before))
        return PARTLY_LOST;
    if (is_part_of(before, now))
        return GAINED;
    return before->rest == now->rest ? SAME : CHANGED;
}

/* Of the fused ops in one state that are at a named place, that place; to be freed. */
static uint64_t *places_of(const struct inventory *v, const enum state *states, enum state which) {
    uint64_t *places = xcalloc(v->n + (size_t)1, sizeof *places);
    for (uint32_t i = 0; i < v->n; i++)
        places[i] = states[i] == which ? v->items[i].fingerprint.place : 0;
    return places;
}

/* One that is lost where another one is gained became that one. */
static void find_replaced(struct changes *c) {
    const struct inventory *b = &c->before->fused, *n = &c->now->fused;
    uint64_t *lost = places_of(b, c->was, LOST), *gained = places_of(n, c->is, GAINED);
    uint32_t *before_of = xrealloc(NULL, (n->n + (size_t)1) * sizeof *before_of);
    memcpy(before_of, c->before_of, n->n * sizeof *before_of);
    keys_pair(lost, b->n, gained, n->n, before_of);
    for (uint32_t k = 0; k < n->n; k++)
        if (before_of[k] != c->before_of[k]) {
            c->was[before_of[k]] = c->is[k] = INTO;
            c->into[before_of[k]] = k;
        }
    free(before_of);
    free(lost);
    free(gained);
}

static struct fingerprints fused_fingerprints(const struct inventory *v) {
    return (struct fingerprints){v->n ? &v->items->fingerprint : NULL, v->n, sizeof *v->items};
}

static void find_changes(struct changes *c) {
    const struct inventory *b = &c->before->fused, *n = &c->now->fused;
    c->before_of = fingerprints_pair(fused_fingerprints(b), fused_fingerprints(n));
    c->was = xcalloc(b->n + (size_t)1, sizeof *c->was);
    c->is = xcalloc(n->n + (size_t)1, sizeof *c->is);
    c->into = xcalloc(b->n + (size_t)1, sizeof *c->into);
    for (uint32_t i = 0; i < b->n; i++)
        c->was[i] = b->items[i].fused ? LOST : SAME;
    for (uint32_t k = 0; k < n->n; k++) {
        uint32_t i = c->before_of[k];
        if (i == NONE)
            c->is[k] = n->items[k].fused ? GAINED : SAME;
        else
            c->was[i] = c->is[k] = state_of(&b->items[i], &n->items[k]);
    }
    find_replaced(c);
}

static uint32_t count_of(const struct inventory *v, struct str op) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n; i++)
        n += v->items[i].fused && str_eq(v->items[i].op, op);
    return n;
}

static struct change *add_change(struct diff *d, enum change_kind kind, struct str op, struct str place) {
    d->changes = grow(d->changes, &d->changes_cap, d->nchanges + 1, sizeof *d->changes);
    d->changes[d->nchanges] = (struct change){.kind = kind, .op = op, .place = place};
    return &d->changes[d->nchanges++];
}

static void add_lost(struct changes *c, struct str op, struct diff *d) {
    for (uint32_t i = 0; i < c->before->fused.n; i++) {
        const struct fused_op *f = &c->before->fused.items[i];
        if (!str_eq(f->op, op))
            continue;
        if (c->was[i] == LOST)
            add_change(d, OP_LOST, op, f->place);
        else if (c->was[i] == INTO)
            add_change(d, OP_CHANGED, op, f->place)->now = c->now->fused.items[c->into[i]].op;
    }
}

/* Adds the names of those that the other op has not, or has otherwise. */
static void add_differing(struct buf *out, const struct fused_op *f, const struct fused_op *other, bool absent_only) {
    for (uint32_t i = 0; i < f->nattributes; i++) {
        const struct attribute_hash *x = &f->attributes[i], *y = NULL;
        for (uint32_t k = 0; k < other->nattributes && !y; k++)
            y = str_eq(other->attributes[k].name, x->name) ? &other->attributes[k] : NULL;
        if (!y || (!absent_only && y->hash != x->hash))
            buf_printf(out, "%s%.*s", out->n ? ", " : "other ", (int)x->name.n, x->name.p);
    }
}

/* "other padding, stride" */
static struct str how_changed(const struct fused_op *old, const struct fused_op *f, struct arena *a) {
    struct buf out = {0};
    add_differing(&out, f, old, false);
    add_differing(&out, old, f, true);
    if (!out.n)
        buf_add(&out, STR("other operands"));
    return buf_take(&out, a);
}

static void add_others(struct changes *c, struct str op, struct diff *d, struct arena *a) {
    for (uint32_t k = 0; k < c->now->fused.n; k++) {
        const struct fused_op *f = &c->now->fused.items[k];
        const struct fused_op *old = c->before_of[k] == NONE ? NULL : &c->before->fused.items[c->before_of[k]];
        enum change_kind kind = c->is[k] == GAINED ? OP_GAINED : c->is[k] == CHANGED ? OP_CHANGED : OP_PARTLY_LOST;
        if (!str_eq(f->op, op) || c->is[k] == SAME || c->is[k] == INTO)
            continue;
        struct change *new = add_change(d, kind, op, f->place);
        if (old && old->operands != f->operands)
            new->how = arena_printf(a, "%u operands instead of %u", f->operands, old->operands);
        else if (old && old->active != f->active)
            new->how = f->active ? STR("with an op folded into it") : STR("without the op that was folded into it");
        else if (old)
            new->how = how_changed(old, f, a);
    }
}

static int compare_strs(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void add_op(struct changes *c, struct str op, struct diff *d, struct arena *a) {
    struct op_changes x = {
        .op = op, .before = count_of(&c->before->fused, op), .now = count_of(&c->now->fused, op), .first = d->nchanges};
    add_lost(c, op, d);
    add_others(c, op, d, a);
    x.n = d->nchanges - x.first;
    if (x.n == 0)
        return;
    for (uint32_t i = x.first; i < d->nchanges; i++)
        d->lost += d->changes[i].kind == OP_LOST || d->changes[i].kind == OP_PARTLY_LOST;
    d->ops = grow(d->ops, &d->ops_cap, d->nops + 1, sizeof *d->ops);
    d->ops[d->nops++] = x;
}

static void add_ops(struct changes *c, struct diff *d, struct arena *a) {
    const struct inventory *b = &c->before->fused, *n = &c->now->fused;
    struct str *ops = xcalloc((size_t)b->n + n->n + 1, sizeof *ops);
    for (uint32_t i = 0; i < b->n; i++)
        ops[i] = b->items[i].op;
    for (uint32_t i = 0; i < n->n; i++)
        ops[b->n + i] = n->items[i].op;
    qsort(ops, (size_t)b->n + n->n, sizeof *ops, compare_strs);
    for (uint32_t i = 0; i < b->n + n->n; i++)
        if (i == 0 || !str_eq(ops[i], ops[i - 1]))
            add_op(c, ops[i], d, a);
    free(ops);
}

struct diff diff_make(const struct compile_summary *before, const struct compile_summary *now, struct arena *a) {
    struct diff d = {.before = before, .now = now, .findings = findings_compare(before->missed, now->missed)};
    struct changes c = {before, now, .before_of = NULL};
    find_changes(&c);
    add_ops(&c, &d, a);
    free(c.before_of);
    free(c.was);
    free(c.is);
    free(c.into);
    return d;
}

void diff_free(struct diff *d) {
    free(d->changes);
    free(d->ops);
    findings_compared_free(&d->findings);
}
