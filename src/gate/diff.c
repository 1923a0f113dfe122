/* The fused ops of two compiles, by op and place, then their findings. What a lost fusion costs is what the finding at
 * its place would save. */
#include "gate/diff.h"

#include <stdlib.h>

#include "gate/findings.h"
#include "report/report.h"

enum change { SAME, LOST, PARTLY_LOST, GAINED, CHANGED, INTO /* another fused op at the same place */ };

struct changes {
    const struct compile_summary *before, *now;
    uint32_t *before_of;                       /* by fused op now: the one that it was, or NONE */
    enum change *was, *is;                     /* by fused op before and now */
    uint32_t *into;                            /* by fused op before of INTO: what stands there now */
    struct placed *missed_before, *missed_now; /* findings at named places */
    uint32_t nmissed_before, nmissed_now;
};

static bool is_part_of(const struct fused_op *now, const struct fused_op *before) {
    return now->operands < before->operands || (before->active && !now->active) || (before->fused && !now->fused);
}

static enum change change_of(const struct fused_op *before, const struct fused_op *now) {
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
            c->was[i] = c->is[k] = change_of(&b->items[i], &n->items[k]);
    }
    find_replaced(c);
}

/* ---- printing ---- */

static void print_str(struct str s, FILE *out) {
    fprintf(out, "%.*s", (int)s.n, s.n ? s.p : "");
}

static void print_place(struct str place, FILE *out) {
    print_str(place.n ? place : STR("at a place without a name"), out);
}

static void print_time(double us, FILE *out) {
    if (us >= 0.05)
        fprintf(out, us < 9.95 ? ", about %.1f us" : ", about %.0f us", us);
}

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

/* By the finding of this op at that place; 0: there is none. */
static double price_at(const struct finding_list *l, const struct placed *placed, uint32_t n,
                       const struct fused_op *f) {
    uint32_t i = f->fingerprint.place ? placed_find(placed, n, f->op, f->fingerprint.place) : n;
    return i < n ? l->items[placed[i].index]->saved_us : 0;
}

static double price_before(const struct changes *c, const struct fused_op *f) {
    return price_at(c->before->missed, c->missed_before, c->nmissed_before, f);
}

static double price_now(const struct changes *c, const struct fused_op *f) {
    return price_at(c->now->missed, c->missed_now, c->nmissed_now, f);
}

static uint32_t count_of(const struct inventory *v, struct str op) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n; i++)
        n += v->items[i].fused && str_eq(v->items[i].op, op);
    return n;
}

static void print_op_head(const struct changes *c, struct str op, uint32_t lost, uint32_t gained, FILE *out) {
    uint32_t before = count_of(&c->before->fused, op), now = count_of(&c->now->fused, op);
    print_str(op, out);
    fprintf(out, ": %u before, %u now%s\n", before, now,
            lost && gained ? ", lost and gained"
            : lost && !now ? ", lost"
            : lost         ? ", partly lost"
            : gained       ? ", gained"
                           : "");
}

static void print_lost(const struct changes *c, struct str op, FILE *out) {
    for (uint32_t i = 0; i < c->before->fused.n; i++) {
        const struct fused_op *f = &c->before->fused.items[i];
        if (!str_eq(f->op, op) || (c->was[i] != LOST && c->was[i] != INTO))
            continue;
        fputs(c->was[i] == INTO ? "  changed: " : "  lost: ", out);
        print_place(f->place, out);
        if (c->was[i] == INTO) {
            fputs(", now ", out);
            print_str(c->now->fused.items[c->into[i]].op, out);
        } else {
            print_time(price_now(c, f), out);
        }
        fputc('\n', out);
    }
}

static void print_others(const struct changes *c, struct str op, FILE *out) {
    for (uint32_t k = 0; k < c->now->fused.n; k++) {
        const struct fused_op *f = &c->now->fused.items[k];
        const struct fused_op *old = c->before_of[k] == NONE ? NULL : &c->before->fused.items[c->before_of[k]];
        if (!str_eq(f->op, op) || c->is[k] == SAME || c->is[k] == INTO)
            continue;
        fputs(c->is[k] == GAINED ? "  gained: " : c->is[k] == CHANGED ? "  changed: " : "  partly lost: ", out);
        print_place(f->place, out);
        if (old && old->operands != f->operands)
            fprintf(out, ", %u operands instead of %u", f->operands, old->operands);
        else if (old && old->active != f->active)
            fputs(f->active ? ", with an op folded into it" : ", without the op that was folded into it", out);
        else if (old)
            fputs(", other attributes or operands", out);
        print_time(c->is[k] == GAINED ? price_before(c, f) : c->is[k] == PARTLY_LOST ? price_now(c, f) : 0, out);
        fputc('\n', out);
    }
}

static int compare_strs(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void print_ops(const struct changes *c, struct diff_total *total, FILE *out) {
    const struct inventory *b = &c->before->fused, *n = &c->now->fused;
    struct str *ops = xcalloc((size_t)b->n + n->n + 1, sizeof *ops);
    for (uint32_t i = 0; i < b->n; i++)
        ops[i] = b->items[i].op;
    for (uint32_t i = 0; i < n->n; i++)
        ops[b->n + i] = n->items[i].op;
    qsort(ops, (size_t)b->n + n->n, sizeof *ops, compare_strs);
    for (uint32_t i = 0; i < b->n + n->n; i++) {
        uint32_t lost = 0, gained = 0, others = 0;
        if (i > 0 && str_eq(ops[i], ops[i - 1]))
            continue;
        for (uint32_t k = 0; k < b->n; k++)
            if (str_eq(b->items[k].op, ops[i])) {
                lost += c->was[k] == LOST || c->was[k] == PARTLY_LOST;
                others += c->was[k] == INTO || c->was[k] == CHANGED;
            }
        for (uint32_t k = 0; k < n->n; k++)
            gained += str_eq(n->items[k].op, ops[i]) && c->is[k] == GAINED;
        total->lost += lost;
        total->gained += gained;
        if (!lost && !gained && !others)
            continue;
        total->any = true;
        print_op_head(c, ops[i], lost, gained, out);
        print_lost(c, ops[i], out);
        print_others(c, ops[i], out);
    }
    free(ops);
}

static void print_finding(const char *word, const struct finding *f, FILE *out) {
    fprintf(out, "  %s: ", word);
    print_str(f->fused_op, out);
    fputs(", ", out);
    print_str(finding_place(f), out);
    if (f->ir_loc.n) {
        fputs(" [", out);
        print_str(f->ir_loc, out);
        fputc(']', out);
    }
    print_time(f->saved_us, out);
    fputc('\n', out);
}

/* Findings of two compiles, paired. */
struct paired {
    const struct finding_list *before, *now;
    uint32_t *before_of;   /* by finding now: the one that it was, or NONE */
    bool *there, *changed; /* by finding before, and by finding now: in other ops */
    uint32_t nnew, ngone, nchanged;
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
                p->nchanged++;
                break;
            }
    }
    free(before);
}

static struct paired pair_findings(const struct finding_list *b, const struct finding_list *n) {
    struct arena a = {0};
    struct paired p = {b,
                       n,
                       fingerprints_pair(finding_fingerprints(b, &a), finding_fingerprints(n, &a)),
                       xcalloc(b->n + (size_t)1, sizeof *p.there),
                       xcalloc(n->n + (size_t)1, sizeof *p.changed),
                       n->n,
                       b->n,
                       0};
    arena_free(&a);
    for (uint32_t i = 0; i < n->n; i++)
        if (p.before_of[i] != NONE)
            p.there[p.before_of[i]] = true;
    pair_changed(&p);
    for (uint32_t i = 0; i < n->n; i++) {
        p.nnew -= p.before_of[i] != NONE;
        p.ngone -= p.before_of[i] != NONE;
    }
    return p;
}

static void print_findings(const struct finding_list *b, const struct finding_list *n, struct diff_total *total,
                           FILE *out) {
    struct paired p = pair_findings(b, n);
    total->new_findings = p.nnew;
    total->any |= p.nnew || p.ngone || p.nchanged;
    if (p.nnew || p.ngone || p.nchanged)
        fprintf(out, "findings: %u before, %u now, %u new, %u gone, %u changed\n", b->n, n->n, p.nnew, p.ngone,
                p.nchanged);
    for (uint32_t i = 0; i < n->n; i++)
        if (p.before_of[i] == NONE)
            print_finding("new", n->items[i], out);
    for (uint32_t i = 0; i < n->n; i++)
        if (p.changed[i])
            print_finding("changed", n->items[i], out);
    for (uint32_t i = 0; i < b->n; i++)
        if (!p.there[i])
            print_finding("gone", b->items[i], out);
    free(p.before_of);
    free(p.there);
    free(p.changed);
}

struct diff_total diff_print(const struct compile_summary *before, const struct compile_summary *now, FILE *out) {
    struct diff_total total = {.any = false};
    struct changes c = {.before = before, .now = now};
    find_changes(&c);
    c.missed_before = placed_findings(before->missed, &c.nmissed_before);
    c.missed_now = placed_findings(now->missed, &c.nmissed_now);
    print_ops(&c, &total, out);
    print_findings(before->missed, now->missed, &total, out);
    if (total.any && before->total_us > 0 && now->total_us > 0) {
        struct buf line = {0};
        buf_add(&line, STR("all ops: about "));
        report_add_time(&line, before->total_us);
        buf_add(&line, STR(" before, "));
        report_add_time(&line, now->total_us);
        fprintf(out, "%.*s now\n", (int)line.n, line.p);
        buf_free(&line);
    }
    free(c.before_of);
    free(c.was);
    free(c.is);
    free(c.into);
    free(c.missed_before);
    free(c.missed_now);
    return total;
}
