/* The fused ops of two compiles, by op and place, then their findings. What a lost fusion costs is what the finding at
 * its place would save. */
#include "gate/diff.h"

#include <stdlib.h>

#include "gate/findings.h"

enum state { SAME, LOST, PARTLY_LOST, GAINED, CHANGED, INTO /* another fused op at the same place */ };

/* The findings of a compile. */
struct missed {
    const struct finding_list *list;
    struct placed *placed; /* those at named places */
    uint32_t nplaced;
    bool *of_op; /* by finding: a fused op is listed that was lost or gained there */
};

struct changes {
    const struct compile_summary *before, *now;
    uint32_t *before_of;  /* by fused op now: the one that it was, or NONE */
    enum state *was, *is; /* by fused op before and now */
    uint32_t *into;       /* by fused op before of INTO: what stands there now */
    struct missed missed_before, missed_now;
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

/* Those that are gained at a named place; to be freed. */
static struct placed *gained_ops(const struct changes *c, uint32_t *count) {
    const struct inventory *n = &c->now->fused;
    struct placed *all = xcalloc(n->n + (size_t)1, sizeof *all);
    *count = 0;
    for (uint32_t k = 0; k < n->n; k++)
        if (c->is[k] == GAINED && c->before_of[k] == NONE && n->items[k].fingerprint.place)
            all[(*count)++] = (struct placed){STR(""), n->items[k].fingerprint.place, k};
    placed_sort(all, *count);
    return all;
}

/* One that is lost where another one is gained became that one. */
static void find_replaced(struct changes *c) {
    const struct inventory *b = &c->before->fused;
    uint32_t count;
    struct placed *gained = gained_ops(c, &count);
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t place = b->items[i].fingerprint.place;
        uint32_t k = c->was[i] == LOST && place ? placed_find(gained, count, STR(""), place) : count;
        while (k < count && gained[k].place == place && c->is[gained[k].index] != GAINED)
            k++;
        if (k == count || gained[k].place != place)
            continue;
        c->was[i] = c->is[gained[k].index] = INTO;
        c->into[i] = gained[k].index;
    }
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

/* ---- what each change costs ---- */

/* To be freed. */
static struct placed *placed_findings(const struct finding_list *l, uint32_t *count) {
    struct placed *all = xcalloc(l->n + (size_t)1, sizeof *all);
    *count = 0;
    for (uint32_t i = 0; i < l->n; i++)
        if (l->items[i]->fingerprint.place)
            all[(*count)++] = (struct placed){l->items[i]->fused_op, l->items[i]->fingerprint.place, i};
    placed_sort(all, *count);
    return all;
}

static struct missed missed_of(const struct finding_list *l) {
    struct missed m = {.list = l, .of_op = xcalloc(l->n + (size_t)1, sizeof *m.of_op)};
    m.placed = placed_findings(l, &m.nplaced);
    return m;
}

static void missed_free(struct missed *m) {
    free(m->placed);
    free(m->of_op);
}

/* By the finding of this op at that place, which is told with it; 0: there is none. */
static double price_at(struct missed *m, const struct fused_op *f) {
    uint32_t i = f->fingerprint.place ? placed_find(m->placed, m->nplaced, f->op, f->fingerprint.place) : m->nplaced;
    if (i == m->nplaced)
        return 0;
    m->of_op[m->placed[i].index] = true;
    return m->list->items[m->placed[i].index]->saved_us;
}

static uint32_t count_of(const struct inventory *v, struct str op) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n; i++)
        n += v->items[i].fused && str_eq(v->items[i].op, op);
    return n;
}

/* ---- the changes of one fused op ---- */

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
            add_change(d, OP_LOST, op, f->place)->us = price_at(&c->missed_now, f);
        else if (c->was[i] == INTO)
            add_change(d, OP_CHANGED, op, f->place)->now = c->now->fused.items[c->into[i]].op;
    }
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
            new->how = STR("other attributes or operands");
        new->us = kind == OP_GAINED        ? price_at(&c->missed_before, f)
                  : kind == OP_PARTLY_LOST ? price_at(&c->missed_now, f)
                                           : 0;
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
    for (uint32_t i = x.first; i < d->nchanges; i++) {
        x.lost += d->changes[i].kind == OP_LOST || d->changes[i].kind == OP_PARTLY_LOST;
        x.gained += d->changes[i].kind == OP_GAINED;
    }
    d->lost += x.lost;
    d->gained += x.gained;
    if (!x.n)
        return;
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

/* ---- findings ---- */

/* Findings of two compiles, paired. */
struct paired {
    const struct finding_list *before, *now;
    uint32_t *before_of;   /* by finding now: the one that it was, or NONE */
    bool *there, *changed; /* by finding before, and by finding now: in other ops */
};

/* What is left of both: the same fused op at the same named place is missed in other ops, and costs no more. */
static void pair_changed(struct paired *p) {
    uint32_t count;
    struct placed *before = placed_findings(p->before, &count);
    for (uint32_t i = 0; i < p->now->n; i++) {
        const struct finding *now = p->now->items[i];
        uint32_t place = now->fingerprint.place;
        uint32_t k = p->before_of[i] == NONE && place ? placed_find(before, count, now->fused_op, place) : count;
        for (; k < count && before[k].place == place && str_eq(before[k].op, now->fused_op); k++)
            if (!p->there[before[k].index] && now->saved_us <= p->before->items[before[k].index]->saved_us) {
                p->there[before[k].index] = p->changed[i] = true;
                p->before_of[i] = before[k].index;
                break;
            }
    }
    free(before);
}

static struct paired pair_findings(const struct finding_list *b, const struct finding_list *n) {
    struct arena a = {0};
    struct paired p = {b, n, fingerprints_pair(finding_fingerprints(b, &a), finding_fingerprints(n, &a)),
                       xcalloc(b->n + (size_t)1, sizeof *p.there), xcalloc(n->n + (size_t)1, sizeof *p.changed)};
    arena_free(&a);
    for (uint32_t i = 0; i < n->n; i++)
        if (p.before_of[i] != NONE)
            p.there[p.before_of[i]] = true;
    pair_changed(&p);
    return p;
}

static void add_finding(struct diff *d, enum finding_change kind, const struct missed *m, uint32_t i) {
    bool of_op = kind != FINDING_CHANGED && m->of_op[i];
    d->findings = grow(d->findings, &d->findings_cap, d->nfindings + 1, sizeof *d->findings);
    d->findings[d->nfindings++] = (struct changed_finding){kind, m->list->items[i], of_op};
    d->counts[kind]++;
    d->of_ops[kind] += of_op;
}

static void add_findings(const struct changes *c, struct diff *d) {
    const struct missed *b = &c->missed_before, *n = &c->missed_now;
    struct paired p = pair_findings(b->list, n->list);
    for (uint32_t i = 0; i < n->list->n; i++)
        if (p.before_of[i] == NONE)
            add_finding(d, FINDING_NEW, n, i);
    for (uint32_t i = 0; i < n->list->n; i++)
        if (p.changed[i])
            add_finding(d, FINDING_CHANGED, n, i);
    for (uint32_t i = 0; i < b->list->n; i++)
        if (!p.there[i])
            add_finding(d, FINDING_GONE, b, i);
    free(p.before_of);
    free(p.there);
    free(p.changed);
}

struct diff diff_make(const struct compile_summary *before, const struct compile_summary *now, struct arena *a) {
    struct diff d = {.before = before, .now = now};
    struct changes c = {before, now, .missed_before = missed_of(before->missed), .missed_now = missed_of(now->missed)};
    find_changes(&c);
    add_ops(&c, &d, a);
    add_findings(&c, &d);
    free(c.before_of);
    free(c.was);
    free(c.is);
    free(c.into);
    missed_free(&c.missed_before);
    missed_free(&c.missed_now);
    return d;
}

void diff_free(struct diff *d) {
    free(d->changes);
    free(d->ops);
    free(d->findings);
}
