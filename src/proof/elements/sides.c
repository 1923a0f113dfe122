#include "proof/elements/sides.h"

#include <math.h>
#include <stdlib.h>

#include "proof/trials/loose.h"

enum { MAX_SETTLED = 6 };

static const double beyond_rounding = 0.1, tolerance_of_sorted = 1e-6, size_of_jitter = 0x1p-46;
static const double budget = 1e8; /* elements that are read in all */

/* ---- as nodes ---- */

enum verdict_kind sides_differ(struct trying *t, struct str text) {
    t->v.why = (struct reason){.text = text};
    return VERDICT_DIFFERENT;
}

enum verdict_kind sides_not_evaluated(struct trying *t, const struct eval_context *b) {
    t->v.why = (struct reason){arena_str(t->a, b->error), b->why};
    return VERDICT_NONE;
}

static void add_compared(struct trying *t, uint32_t device, const struct tensor *const want[MAX_OUTPUTS],
                         const struct tensor *const got[MAX_OUTPUTS]) {
    for (uint32_t i = 0; i < t->p->noutputs; i++)
        t->compared[t->ncompared++] = (struct compared){.device = device, .output = i, .sides = {want[i], got[i]}};
}

static void lift(struct eval_context *ctx, void *self) {
    struct trying *t = self;
    for (uint32_t k = 0; k < t->ncompared; k++)
        for (int side = 0; side < 2; side++)
            t->compared[k].sides[side] = lazy_of_view(ctx, view_of(t->compared[k].sides[side]));
}

enum verdict_kind sides_make(struct trying *t) {
    const struct tensor *want[MAX_OUTPUTS], *got[MAX_OUTPUTS];
    struct lockstep *l = t->lockstep;
    t->ncompared = 0;
    demand_free(t->demand);
    t->demand = NULL;
    for (uint32_t device = 0; device < t->p->devices; device++) {
        if (!lockstep_outputs(l, device, want, got)) {
            t->nfailed++;
            t->nbeyond += l->eval[0].why != REASON_OTHER;
            return sides_not_evaluated(t, &l->eval[0]);
        }
        for (uint32_t i = 0; i < t->p->noutputs; i++)
            if (!shape_eq(&want[i]->shape, &got[i]->shape))
                return sides_differ(t, arena_printf(t->a, "%s makes %s of what is %s", t->p->name,
                                                    shape_text(t->a, &got[i]->shape).p,
                                                    shape_text(t->a, &want[i]->shape).p));
        add_compared(t, device, want, got);
    }
    t->ctx.error = STR("");
    return eval_attempt(&t->ctx, lift, t) ? VERDICT_SAME : sides_not_evaluated(t, &t->ctx);
}

bool sides_begin(struct trying *t, uint32_t narrow, enum equals equals) {
    struct arena *a = &t->scratch;
    demand_free(t->demand);
    t->demand = NULL;
    lazies_free(&t->all);
    arena_reset(a);
    t->all = (struct lazies){.shares = true};
    t->narrow = narrow;
    t->equals = equals;
    t->ctx = (struct eval_context){.arena = a, .lowerings = t->p->lowerings, .nodes = &t->all, .equals = equals};
    t->lockstep = arena_alloc(a, sizeof *t->lockstep);
    uint32_t most = t->p->devices * t->p->noutputs + 1;
    t->compared = arena_alloc(a, most * sizeof *t->compared);
    t->asked = arena_alloc(a, 2 * (size_t)most * sizeof *t->asked);
    lockstep_begin(t->lockstep, t->p, &t->ctx);
    if (!drawn_give(t->lockstep, &t->ctx, &(struct giving){t->how.seed, narrow, false, t->how.fixed}))
        return false;
    bool good = lockstep_program(t->lockstep);
    if (!good)
        eval_reason(&t->ctx, t->lockstep->eval[0].why, "%.*s", (int)t->lockstep->eval[0].error.n,
                    t->lockstep->eval[0].error.p);
    return good;
}

struct trying *sides_of(const struct problem *p, struct effort how, struct arena *a) {
    struct trying *t = xcalloc(1, sizeof *t);
    *t = (struct trying){.p = p, .how = how, .a = a, .numbers.p = p, .draw = drawn_numbers};
    t->drawer = &t->numbers;
    return t;
}

void sides_free(struct trying *t) {
    demand_free(t->demand);
    lazies_free(&t->all);
    arena_free(&t->numbers.arena);
    arena_free(&t->scratch);
    free(t);
}

/* ---- one set of numbers ---- */

struct str index_text(struct arena *a, const struct shape *s, int64_t at) {
    int64_t index[MAX_RANK];
    struct str text = STR("[");
    for (uint32_t d = s->rank; d-- > 0; at /= s->dim[d])
        index[d] = at % s->dim[d];
    for (uint32_t d = 0; d < s->rank; d++)
        text = arena_printf(a, "%.*s%s%lld", (int)text.n, text.p, d ? ", " : "", (long long)index[d]);
    return arena_printf(a, "%.*s]", (int)text.n, text.p);
}

/* Those that are loose are moved. */
void sides_shift(struct trying *t, const double *shift) {
    const struct problem *p = t->p;
    for (uint32_t i = 0; i < t->all.n && p->nloose; i++) {
        struct lazy *l = t->all.all[i];
        for (uint32_t k = 0; k < p->nloose && l->kind == LAZY_TABLE && l->n == 1; k++)
            if (l->of[0] == p->loose[k].number)
                l->x[0] = l->of[0] + shift[k];
    }
}

static bool evaluate(struct trying *t, uint32_t jitter) {
    struct evaluating how = {
        .draw = t->draw, .self = t->drawer, .jitter = jitter ? size_of_jitter : 0, .jitter_seed = jitter};
    t->read += demand_size(t->demand);
    if (t->read > budget)
        return eval_reason(&t->ctx, REASON_TOO_LARGE, "it is made of more than %.0f elements", budget);
    return demand_compute(t->demand, &how);
}

/* Inputs that vary along some dimensions alone have equal elements, of which no sort tells the order. */
double sides_most(const struct trying *t) {
    if (t->confirms)
        return most_confirmed;
    if (t->narrow)
        return most_narrow;
    return t->p->sorts ? most_read : (t->patient ? 2 : 1) * most_wide;
}

bool sides_evaluate(struct trying *t) {
    return evaluate(t, 0);
}

static struct tensor as_tensor(const struct compared *c, int side) {
    return (struct tensor){.shape = {1, {c->n}}, .n = c->n, .x = c->x[side]};
}

/* How far changes of the arithmetic move each element. */
static bool find_slack(struct trying *t) {
    for (uint32_t k = 0; k < t->ncompared; k++)
        for (int side = 0; side < 2; side++)
            memcpy(t->compared[k].moved[side], t->compared[k].x[side], t->compared[k].n * sizeof(double));
    for (uint32_t k = 0; k < t->ncompared; k++)
        memset(t->compared[k].slack, 0, t->compared[k].n * sizeof(double));
    bool good = evaluate(t, 1);
    for (uint32_t k = 0; k < t->ncompared; k++) {
        struct compared *c = &t->compared[k];
        for (uint32_t i = 0; i < c->n; i++)
            for (int side = 0; side < 2; side++) {
                double d = fabs(c->x[side][i] - c->moved[side][i]);
                c->slack[i] += isfinite(d) ? 8 * d : 0;
            }
        for (int side = 0; side < 2; side++)
            memcpy(c->x[side], c->moved[side], c->n * sizeof(double));
    }
    return good;
}

static struct difference worst_of(const struct compared *c, const double *slack, int64_t *compared) {
    struct tensor want = as_tensor(c, 0), got = as_tensor(c, 1);
    return compare_worst(&got, &want, floor_of_largest, slack, compared);
}

/* ---- constants that were rounded ---- */

/* For struct loose_question: elements of all that is compared, one after the other. */
static bool evaluate_shifted(void *self, const double *shift, double *want, double *got) {
    struct trying *t = self;
    sides_shift(t, shift);
    if (!evaluate(t, 0))
        return false;
    for (uint32_t k = 0; k < t->ncompared; k++) {
        memcpy(want, t->compared[k].x[0], t->compared[k].n * sizeof *want);
        memcpy(got, t->compared[k].x[1], t->compared[k].n * sizeof *got);
        want += t->compared[k].n;
        got += t->compared[k].n;
    }
    return true;
}

static struct loose_question loose_of(struct trying *t) {
    struct loose_question q = {t->p->loose, t->p->nloose, 0, evaluate_shifted, t};
    for (uint32_t k = 0; k < t->ncompared; k++)
        q.nelements += t->compared[k].n;
    return q;
}

void sides_settle(struct trying *t) {
    struct loose_question q = loose_of(t);
    if (q.nelements <= q.n && q.nelements < t->compared[0].sides[0]->n)
        return;
    t->settled = t->nsettled++ < MAX_SETTLED && loose_settle(&q, t->shift);
    sides_shift(t, t->shift);
}

/* The slack of what jumps. */
static bool add_bends(struct trying *t) {
    struct loose_question q = loose_of(t);
    double *slack = xcalloc(q.nelements + (size_t)1, sizeof *slack), *at = slack;
    bool any = t->p->compares && t->p->devices == 1 && loose_bends(&q, t->shift, slack);
    for (uint32_t k = 0; k < t->ncompared; k++)
        for (uint32_t i = 0; i < t->compared[k].n; i++)
            t->compared[k].slack[i] = fmax(t->compared[k].slack[i], *at++);
    free(slack);
    sides_shift(t, t->shift);
    return evaluate(t, 0) && any;
}

/* ---- what differs ---- */

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
}

/* Elements may stand anywhere: those of each side are compared in order. */
static struct difference worst_in_any_order(const struct compared *c, int64_t *compared) {
    for (int side = 0; side < 2; side++)
        qsort(c->x[side], c->n, sizeof(double), by_size);
    struct difference d = worst_of(c, NULL, compared);
    d.error = d.error <= tolerance_of_sorted ? 0 : d.error;
    return d;
}

/* Whether constants are rounded otherwise is not asked for a high price where every difference is far beyond that. */
bool sides_may_be_rounded(const struct trying *t, const struct compared *c) {
    if (demand_size(t->demand) < dear || t->p->nloose == 0)
        return t->p->nloose > 0;
    double largest = 0;
    for (uint32_t i = 0; i < c->n; i++)
        largest = isfinite(c->x[0][i]) ? fmax(largest, fabs(c->x[0][i])) : largest;
    bool small = false;
    for (uint32_t i = 0; i < c->n; i++) {
        double size = fmax(fabs(c->x[0][i]), floor_of_largest * largest), d = fabs(c->x[1][i] - c->x[0][i]);
        small |= d > tolerance * size && d < beyond_rounding * size;
    }
    return small;
}

bool sides_difference(struct trying *t, const struct compared *c, bool *slack, struct difference *d) {
    int64_t compared;
    *d = t->p->any_order ? worst_in_any_order(c, &compared) : worst_of(c, *slack ? c->slack : NULL, &compared);
    t->elements += compared;
    t->skipped += c->n - compared;
    if (d->error <= tolerance || !both_finite(d->got, d->want) || t->p->any_order)
        return true;
    if (!*slack && !find_slack(t))
        return false;
    *slack = true;
    *d = worst_of(c, c->slack, &compared);
    if (d->error <= tolerance || !both_finite(d->got, d->want) || !sides_may_be_rounded(t, c) || !add_bends(t))
        return true;
    *d = worst_of(c, c->slack, &compared);
    t->v.bends |= d->error <= tolerance;
    return true;
}
