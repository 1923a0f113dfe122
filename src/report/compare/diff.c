/* The fused ops of two compiles, by op and place, then their findings. What a lost fusion costs is what the finding at
 * its place would save. */
#include "report/compare/diff.h"

#include <stdlib.h>

#include "report/compare/findings.h"

enum state { SAME, LOST, PARTLY_LOST, GAINED, CHANGED, INTO /* another fused op at the same place */ };

/* The findings of a compile. */
struct missed {
    const struct finding_list *list;
    struct placed *placed; /* those at named places, by place */
    bool *there, *of_op; /* by finding: the other compile has it; a fused op is listed that was lost or gained there */
    uint32_t nplaced;
};

struct changes {
    const struct compile_summary *before, *now;
    uint32_t *before_of;  /* by fused op now: the one that it was, or NONE */
    enum state *was, *is; /* by fused op before and now */
    uint32_t *into;       /* by fused op before of INTO: what stands there now */
    struct missed missed_before, missed_now;
    bool *moved; /* by finding now: the same is missed at its place before, in other ops */
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
            all[(*count)++] = (struct placed){n->items[k].fingerprint.place, k};
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
        uint32_t k = c->was[i] == LOST && place ? placed_find(gained, count, place) : count;
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

/* ---- findings ---- */

/* By place; to be freed. */
static struct placed *placed_findings(const struct finding_list *l, uint32_t *count) {
    struct placed *all = xcalloc(l->n + (size_t)1, sizeof *all);
    *count = 0;
    for (uint32_t i = 0; i < l->n; i++)
        if (l->items[i]->fingerprint.place)
            all[(*count)++] = (struct placed){l->items[i]->fingerprint.place, i};
    placed_sort(all, *count);
    return all;
}

static struct missed missed_of(const struct finding_list *l) {
    struct missed m = {.list = l,
                       .there = xcalloc(l->n + (size_t)1, sizeof *m.there),
                       .of_op = xcalloc(l->n + (size_t)1, sizeof *m.of_op)};
    m.placed = placed_findings(l, &m.nplaced);
    return m;
}

static void missed_free(struct missed *m) {
    free(m->placed);
    free(m->there);
    free(m->of_op);
}

/* Of the findings at a named place the first, as an index of `placed`; those of the place follow it. */
static uint32_t first_at(const struct missed *m, uint32_t place) {
    return place ? placed_find(m->placed, m->nplaced, place) : m->nplaced;
}

static void pair_findings(struct changes *c) {
    struct missed *b = &c->missed_before, *n = &c->missed_now;
    struct arena a = {0};
    uint32_t *before_of = fingerprints_pair(finding_fingerprints(b->list, &a), finding_fingerprints(n->list, &a));
    arena_free(&a);
    c->moved = xcalloc(n->list->n + (size_t)1, sizeof *c->moved);
    for (uint32_t i = 0; i < n->list->n; i++)
        if (before_of[i] != NONE)
            n->there[i] = b->there[before_of[i]] = true;
    free(before_of);
}

/* ---- what each change costs ---- */

static const struct finding *take(struct missed *m, uint32_t i) {
    m->of_op[i] = true;
    return m->list->items[i];
}

static bool is_open(const struct missed *m, uint32_t i) {
    return !m->there[i] && !m->of_op[i];
}

/* "attention_decode" is one of "attention". */
static bool is_variant(struct str op, struct str general) {
    return op.n > general.n && str_starts(op, general) && op.p[general.n] == '_';
}

/* The finding of this op at its place, or else of an op that it is a variant of, which is told with it; NULL: there is
 * none. */
static const struct finding *finding_of(struct missed *m, const struct fused_op *f) {
    uint32_t place = f->fingerprint.place, general = NONE;
    for (uint32_t k = first_at(m, place); k < m->nplaced && m->placed[k].place == place; k++) {
        uint32_t i = m->placed[k].index;
        if (!is_open(m, i))
            continue;
        if (str_eq(f->op, m->list->items[i]->fused_op))
            return take(m, i);
        if (general == NONE && is_variant(f->op, m->list->items[i]->fused_op))
            general = i;
    }
    return general == NONE ? NULL : take(m, general);
}

/* Where places have other names in the other compile: of as many changes of this op, and as many findings of it, that
 * are left, one each, in the order of the text. */
static void find_rest(struct missed *m, struct str op, struct change *changes, uint32_t n, enum change_kind kind) {
    uint32_t nchanges = 0, nfindings = 0, i = 0;
    for (uint32_t k = 0; k < n; k++)
        nchanges += changes[k].kind == kind && !changes[k].finding;
    for (uint32_t k = 0; nchanges && k < m->list->n; k++)
        nfindings += is_open(m, k) && str_eq(m->list->items[k]->fused_op, op);
    for (uint32_t k = 0; nchanges == nfindings && nchanges && k < n; k++) {
        if (changes[k].kind != kind || changes[k].finding)
            continue;
        while (!is_open(m, i) || !str_eq(m->list->items[i]->fused_op, op))
            i++;
        changes[k].finding = take(m, i);
    }
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
            add_change(d, OP_LOST, op, f->place)->finding = finding_of(&c->missed_now, f);
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
        new->finding = kind == OP_GAINED        ? finding_of(&c->missed_before, f)
                       : kind == OP_PARTLY_LOST ? finding_of(&c->missed_now, f)
                                                : NULL;
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
    find_rest(&c->missed_now, op, d->changes + x.first, x.n, OP_LOST);
    find_rest(&c->missed_before, op, d->changes + x.first, x.n, OP_GAINED);
    for (uint32_t i = x.first; i < d->nchanges; i++) {
        x.lost += d->changes[i].kind == OP_LOST || d->changes[i].kind == OP_PARTLY_LOST;
        x.gained += d->changes[i].kind == OP_GAINED;
    }
    d->lost += x.lost;
    d->gained += x.gained;
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

/* ---- the whole ---- */

/* The finding before of the same op and place that costs as much or more; one that no op is told with comes first.
 * NONE: there is none. */
static uint32_t moved_from(const struct missed *b, const struct finding *now) {
    uint32_t place = now->fingerprint.place, found = NONE;
    for (uint32_t k = first_at(b, place); k < b->nplaced && b->placed[k].place == place; k++) {
        uint32_t i = b->placed[k].index;
        const struct finding *before = b->list->items[i];
        if (!b->there[i] && (found == NONE || (b->of_op[found] && !b->of_op[i])) &&
            str_eq(before->fused_op, now->fused_op) && now->saved_us <= before->saved_us)
            found = i;
    }
    return found;
}

/* What is left of both: the same fused op at the same named place is missed in other ops, and costs no more. */
static void find_moved(struct changes *c) {
    struct missed *b = &c->missed_before, *n = &c->missed_now;
    for (uint32_t i = 0; i < n->list->n; i++) {
        uint32_t from = is_open(n, i) ? moved_from(b, n->list->items[i]) : NONE;
        if (from != NONE)
            b->there[from] = n->there[i] = c->moved[i] = true;
    }
}

static void add_finding(struct diff *d, enum finding_change kind, const struct missed *m, uint32_t i) {
    d->findings = grow(d->findings, &d->findings_cap, d->nfindings + 1, sizeof *d->findings);
    d->findings[d->nfindings++] = (struct changed_finding){kind, m->list->items[i], m->of_op[i]};
    d->counts[kind]++;
    d->of_ops[kind] += m->of_op[i];
}

static void add_findings(const struct changes *c, struct diff *d) {
    const struct missed *b = &c->missed_before, *n = &c->missed_now;
    for (uint32_t i = 0; i < n->list->n; i++)
        if (!n->there[i])
            add_finding(d, FINDING_NEW, n, i);
    for (uint32_t i = 0; i < n->list->n; i++)
        if (c->moved[i])
            add_finding(d, FINDING_CHANGED, n, i);
    for (uint32_t i = 0; i < b->list->n; i++)
        if (!b->there[i])
            add_finding(d, FINDING_GONE, b, i);
}

struct diff diff_make(const struct compile_summary *before, const struct compile_summary *now, struct arena *a) {
    struct diff d = {.before = before, .now = now};
    struct changes c = {before, now, .missed_before = missed_of(before->missed), .missed_now = missed_of(now->missed)};
    find_changes(&c);
    pair_findings(&c);
    add_ops(&c, &d, a);
    find_moved(&c);
    add_findings(&c, &d);
    free(c.before_of);
    free(c.was);
    free(c.is);
    free(c.into);
    free(c.moved);
    missed_free(&c.missed_before);
    missed_free(&c.missed_now);
    return d;
}

void diff_free(struct diff *d) {
    free(d->changes);
    free(d->ops);
    free(d->findings);
}
