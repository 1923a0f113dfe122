/* In f64 rounding is far below a difference in meaning: a sum of n terms of one sign has a relative error of at most
 * about n * 2^-53, 1e-12 for ten thousand terms, in whatever order it is taken (Higham, Accuracy and Stability of
 * Numerical Algorithms, 4.2). So what differs by more than 1e-9 is another function, unless the result is what is left
 * of larger terms that cancel. */
#include "proof/trials/equal.h"

#include <math.h>
#include <stdlib.h>

#include "proof/trials/compare.h"
#include "proof/trials/loose.h"
#include "proof/trials/mesh.h"

/* Readings of the other side are bounded by what they cost: a reading counts something beside its elements and steps.
 */
enum {
    INDICES_COUNT = 4,
    MAX_AGREEING = 8,
    MAX_SETTLED = 6,
    READING_COST = 1 << 14,
    BUDGET = 1 << 24,
    ENOUGH = 256,
    MANY = 4096
};

static const double tolerance = 1e-9, tolerance_of_sorted = 1e-6;

/* What an output of an approximate form differs by, over all numbers of a kind. */
struct distance {
    double error, size; /* sums of squares */
    int64_t n;          /* elements */
    struct str text;    /* the last difference */
};

/* Both sides on one set of numbers. */
struct sample {
    struct arena arena;
    struct draw draw;
    struct eval_context how;
    struct lockstep lockstep;
    bool ready; /* the program was evaluated */
};

/* One question. */
struct inquiry {
    const struct problem *p;
    struct effort how;
    struct arena *a;
    uint64_t cost;
    uint32_t nfailed, nbeyond; /* evaluations of the other side that failed, and of which the evaluator is the cause */
    int64_t compared, skipped; /* elements that the program makes numbers, and that it does not */
    uint64_t met[2];           /* by truth value: the conditions of the problem that had it, a bit each */
    struct distance distance[MAX_OUTPUTS];
    double shift[MAX_LOOSE]; /* of loose constants, so that the sides agree */
    double error;            /* the largest difference, relative */
    bool settled;            /* the last one goes where constants are what they are shifted to now */
    uint32_t nsettled;       /* differences for which that was tried */
    struct verdict v;        /* of the reading at hand */
};

/* ---- texts ---- */

struct str index_text(struct arena *a, const struct shape *s, int64_t at) {
    int64_t index[MAX_RANK];
    struct str text = STR("[");
    for (uint32_t d = s->rank; d-- > 0; at /= s->dim[d])
        index[d] = at % s->dim[d];
    for (uint32_t d = 0; d < s->rank; d++)
        text = arena_printf(a, "%.*s%s%lld", (int)text.n, text.p, d ? ", " : "", (long long)index[d]);
    return arena_printf(a, "%.*s]", (int)text.n, text.p);
}

/* The elements of those inputs that have as many as the result, at the same place: they help to read elementwise ops.
 */
static struct str inputs_text(const struct inquiry *t, const struct given *given, const struct tensor *root,
                              int64_t at) {
    const struct mlir *m = t->p->program.graph->m;
    struct str text = STR("");
    for (uint32_t i = 0; i < t->p->ninputs; i++) {
        const struct tensor *x = given[i].tensor;
        struct str name = mlir_span(m, m->values[given[i].value].name);
        if (x->n == root->n && x->n > 0)
            text = arena_printf(t->a, "%.*s%s%.*s = %.6g", (int)text.n, text.p, text.n ? ", " : "", (int)name.n, name.p,
                                x->x[at]);
    }
    return text.n ? arena_printf(t->a, " (input %.*s)", (int)text.n, text.p) : text;
}

static struct str difference_text(const struct inquiry *t, const struct given *given, const struct tensor *root,
                                  struct difference d) {
    struct str index = index_text(t->a, &root->shape, d.at), inputs = inputs_text(t, given, root, d.at);
    return arena_printf(t->a, "%s computes something else: at %.*s %.6g instead of %.6g%.*s", t->p->name, (int)index.n,
                        index.p, unsigned_nan(d.got), unsigned_nan(d.want), (int)inputs.n, inputs.p);
}

/* ---- what is no difference ---- */

static void add_change(const struct tensor *moved, const struct tensor *was, double *change) {
    for (int64_t i = 0; i < was->n && moved->n == was->n; i++) {
        double d = fabs(moved->x[i] - was->x[i]);
        change[i] += isfinite(d) ? 8 * d : 0;
    }
}

/* By how much an element changes when each result of the program does by some 2^-46 of itself, more than it is rounded
 * by, where the element is far below the terms that it is left of. */
static void add_noise(const struct lockstep *from, const double *shift, uint32_t device, uint32_t output,
                      const struct tensor *const was[2], double *slack) {
    struct arena *a = from->eval[0].arena;
    struct lockstep *l = arena_alloc(a, sizeof *l);
    double *noise = arena_alloc(a, ((size_t)was[0]->n + 1) * sizeof *noise);
    const struct tensor *want[MAX_OUTPUTS], *got[MAX_OUTPUTS];
    lockstep_again(l, from, a, shift, 0x1p-46);
    if (!lockstep_program(l) || !lockstep_outputs(l, device, want, got))
        return;
    add_change(want[output], was[0], noise);
    add_change(got[output], was[1], noise);
    for (int64_t i = 0; i < was[0]->n; i++)
        if (fabs(was[0]->x[i] - was[1]->x[i]) <= tolerance * l->eval[device].largest)
            slack[i] += noise[i];
}

/* ---- constants that were rounded ---- */

/* Elements of results, of one output of a device or of all, every so many, in other numbers for constants. */
struct shifted {
    const struct lockstep *at;
    struct lockstep *again;
    struct arena arena;
    uint32_t device, output; /* NONE: all */
    int64_t every;
};

/* For struct loose_question. */
static bool evaluate_shifted(void *self, const double *shift, double *want, double *got) {
    struct shifted *s = self;
    const struct tensor *sides[2][MAX_OUTPUTS];
    arena_reset(&s->arena);
    lockstep_again(s->again, s->at, &s->arena, shift, 0);
    bool good = lockstep_program(s->again);
    for (uint32_t device = 0; good && device < s->at->p->devices; device++) {
        good = lockstep_outputs(s->again, device, sides[0], sides[1]);
        for (uint32_t k = 0; good && k < s->at->p->noutputs; k++) {
            good = shape_eq(&sides[0][k]->shape, &sides[1][k]->shape);
            if (s->device != NONE && (s->device != device || s->output != k))
                continue;
            for (int64_t i = 0; good && i < sides[0][k]->n; i += s->every) {
                *want++ = sides[0][k]->x[i];
                *got++ = sides[1][k]->x[i];
            }
        }
    }
    return good;
}

static struct loose_question loose_of(struct shifted *s, uint32_t nelements) {
    s->again = arena_alloc(s->at->eval[0].arena, sizeof *s->again);
    return (struct loose_question){s->at->p->loose, s->at->p->nloose, nelements, evaluate_shifted, s};
}

static bool settle_constants(const struct lockstep *l, double shift[MAX_LOOSE]) {
    enum { MAX_EQUATIONS = 4096 };
    struct shifted s = {.at = l, .device = NONE, .every = 1};
    const struct problem *p = l->p;
    uint32_t n = 0;
    int64_t all = 0;
    for (uint32_t i = 0; i < p->noutputs; i++)
        all += graph_numel(p->program.graph, p->values[p->outputs[i].want]) * p->devices;
    s.every = all / MAX_EQUATIONS + 1;
    for (uint32_t i = 0; i < p->noutputs; i++)
        n += (uint32_t)((graph_numel(p->program.graph, p->values[p->outputs[i].want]) + s.every - 1) / s.every);
    struct loose_question q = loose_of(&s, n * p->devices);
    bool good = p->nloose > 0 && all > 0 && loose_settle(&q, shift);
    arena_free(&s.arena);
    return good;
}

static bool add_bends(const struct lockstep *l, const double *shift, uint32_t device, uint32_t output, int64_t n,
                      double *slack) {
    struct shifted s = {.at = l, .device = device, .output = output, .every = 1};
    struct loose_question q = loose_of(&s, (uint32_t)n);
    bool any = l->p->compares && l->p->devices == 1 && loose_bends(&q, shift, slack);
    arena_free(&s.arena);
    return any;
}

/* ---- one set of numbers ---- */

/* Adds what is finite on both sides. */
static void add_distance(struct distance *d, const struct tensor *got, const struct tensor *want) {
    for (int64_t i = 0; i < want->n; i++)
        if (both_finite(got->x[i], want->x[i])) {
            d->error += (got->x[i] - want->x[i]) * (got->x[i] - want->x[i]);
            d->size += want->x[i] * want->x[i];
        }
    d->n += want->n;
}

/* The largest difference that is not left of larger terms, nor a jump where a constant is rounded: `bends`. */
static struct difference unexplained(const struct lockstep *l, const double *shift, uint32_t device, uint32_t output,
                                     const struct tensor *want, const struct tensor *got, int64_t *compared,
                                     bool *bends) {
    struct difference d = compare_worst(got, want, floor_of_largest, NULL, compared);
    if (d.error <= tolerance || d.at < 0 || !both_finite(d.got, d.want))
        return d;
    const struct tensor *both[] = {want, got};
    double *slack = arena_alloc(l->eval[0].arena, ((size_t)want->n + 1) * sizeof *slack);
    add_noise(l, shift, device, output, both, slack);
    d = compare_worst(got, want, floor_of_largest, slack, compared);
    if (d.error > tolerance && both_finite(d.got, d.want) && add_bends(l, shift, device, output, want->n, slack)) {
        d = compare_worst(got, want, floor_of_largest, slack, compared);
        *bends |= d.error <= tolerance;
    }
    return d;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
}

static struct difference unexplained_in_any_order(struct arena *a, const struct tensor *want, const struct tensor *got,
                                                  int64_t *compared) {
    struct tensor sorted[] = {*want, *got};
    for (int i = 0; i < 2; i++) {
        double *x = arena_alloc(a, ((size_t)sorted[i].n + 1) * sizeof *x);
        memcpy(x, sorted[i].x, (size_t)sorted[i].n * sizeof *x);
        qsort(x, (size_t)sorted[i].n, sizeof *x, by_size);
        sorted[i].x = x;
    }
    struct difference d = compare_worst(&sorted[1], &sorted[0], floor_of_largest, NULL, compared);
    d.error = d.error <= tolerance_of_sorted ? 0 : d.error;
    return d;
}

static enum verdict_kind differ(struct inquiry *t, struct str text) {
    t->v.why = (struct reason){.text = text};
    return VERDICT_DIFFERENT;
}

static enum verdict_kind compare_output(struct inquiry *t, const struct lockstep *l, uint32_t device, uint32_t output,
                                        const struct tensor *want, const struct tensor *got) {
    if (!shape_eq(&want->shape, &got->shape))
        return differ(t, arena_printf(t->a, "%s makes %s of what is %s", t->p->name, shape_text(t->a, &got->shape).p,
                                      shape_text(t->a, &want->shape).p));
    int64_t compared = 0;
    struct difference d = t->p->any_order ? unexplained_in_any_order(l->eval[0].arena, want, got, &compared)
                                          : unexplained(l, t->shift, device, output, want, got, &compared, &t->v.bends);
    bool finite = both_finite(d.got, d.want); /* 0 wanted is infinitely far in relation, and may be near */
    t->compared += compared;
    t->skipped += want->n - compared;
    if (finite && t->p->bound > 0)
        add_distance(&t->distance[output], got, want);
    if (d.error <= tolerance)
        return VERDICT_SAME;
    t->error = fmax(t->error, d.error);
    struct str text = difference_text(t, l->given[device], want, d);
    if (!finite || t->p->bound == 0)
        return differ(t, text);
    t->distance[output].text = text;
    return VERDICT_SAME;
}

static void note_conditions(struct inquiry *t, const struct evaluated *e) {
    uint32_t first = t->p->nvalues - t->p->nconditions;
    for (uint32_t k = 0; k < t->p->nconditions; k++) {
        const struct tensor *c = e->values[first + k];
        for (int64_t i = 0; i < c->n && !(t->met[0] & t->met[1] & (uint64_t)1 << k); i++)
            t->met[c->x[i] != 0] |= (uint64_t)1 << k;
    }
}

/* Each choice was made both ways. */
static bool met_all(const struct inquiry *t) {
    uint64_t all = t->p->nconditions == MAX_CONDITIONS ? UINT64_MAX : ((uint64_t)1 << t->p->nconditions) - 1;
    return (t->met[0] & t->met[1]) == all;
}

static enum verdict_kind not_evaluated(struct inquiry *t, const struct eval_context *b) {
    t->v.why = (struct reason){arena_str(t->a, b->error), b->why};
    return VERDICT_NONE;
}

/* The reading at hand on all devices. */
static enum verdict_kind compare_sample(struct inquiry *t, struct sample *s) {
    const struct tensor *want[MAX_OUTPUTS], *got[MAX_OUTPUTS];
    struct lockstep *l = &s->lockstep;
    enum verdict_kind v = VERDICT_SAME;
    if (!s->ready)
        return not_evaluated(t, &l->eval[0]);
    for (uint32_t device = 0; device < t->p->devices && v == VERDICT_SAME; device++) {
        bool good = lockstep_outputs(l, device, want, got);
        t->cost += l->eval[device].elements + l->eval[device].steps;
        if (!good) {
            t->nfailed++;
            t->nbeyond += l->eval[0].why != REASON_OTHER;
            return not_evaluated(t, &l->eval[0]);
        }
        note_conditions(t, &l->devices[device]);
        for (uint32_t i = 0; i < t->p->noutputs && v == VERDICT_SAME; i++)
            v = compare_output(t, l, device, i, want[i], got[i]);
    }
    t->v.at = s->draw;
    t->v.order = s->how.equals;
    t->settled = v == VERDICT_DIFFERENT && t->nsettled++ < MAX_SETTLED && settle_constants(l, t->shift);
    return v;
}

static void begin_sample(const struct inquiry *t, struct sample *s, enum trial trial, uint32_t sample,
                         enum equals order) {
    *s = (struct sample){.draw = {trial, t->how.seed, sample},
                         .how = {.arena = &s->arena, .lowerings = t->p->lowerings, .equals = order}};
    lockstep_begin(&s->lockstep, t->p, &s->how);
    s->ready = lockstep_numbers(&s->lockstep, s->draw);
    lockstep_shift(&s->lockstep, t->shift);
    s->ready = s->ready && lockstep_program(&s->lockstep);
}

/* ---- one kind of numbers ---- */

/* Numbers of one set that may meet what is rare: those of the largest input, or of indices and places that are compared
 * or narrowed beside a table. */
static int64_t numbers_of_a_set(const struct problem *p) {
    int64_t most = 1, indices = 0;
    for (uint32_t i = 0; i < p->ninputs; i++) {
        const struct facts *f = &p->inputs[i].facts;
        int64_t n = graph_numel(p->program.graph, p->inputs[i].value);
        most = n > most ? n : most;
        indices = (f->indices || f->places) && f->bounded && n > indices ? n : indices;
    }
    return indices ? INDICES_COUNT * indices : most;
}

/* What a trial has to meet, a threshold or equal numbers in two inputs, needs many numbers, and more where only those
 * between a constant and what it was rounded to may differ; those of one sign come in pairs. */
static uint32_t samples_of(const struct inquiry *t, enum trial trial) {
    int64_t most = numbers_of_a_set(t->p);
    bool many = trial == TRIAL_THRESHOLDS || (trial == TRIAL_COARSE && t->how.samples > 1);
    bool beside = trial == TRIAL_THRESHOLDS && t->p->nloose > 0 && t->p->compares;
    int64_t enough = beside ? MANY : ENOUGH;
    uint32_t wanted = many && most > 0 && most < enough ? (uint32_t)(enough / most) : trial == TRIAL_POSITIVE ? 2 : 1;
    return wanted > t->how.samples ? wanted : t->how.samples;
}

/* The bound of an approximate form is one of many numbers: all of a few may be where it is far, or where it is near. */
static bool needs_more(const struct inquiry *t, enum trial trial, uint32_t sample) {
    return sample < samples_of(t, trial) || (t->p->bound > 0 && t->distance[0].n < ENOUGH && sample < ENOUGH);
}

static enum verdict_kind within_bound(struct inquiry *t) {
    bool approximate = false;
    for (uint32_t i = 0; i < t->p->noutputs; i++) {
        const struct distance *d = &t->distance[i];
        if (d->text.n && !(d->error <= t->p->bound * t->p->bound * d->size))
            return differ(t, d->text);
        approximate |= d->text.n > 0;
    }
    t->v.approximate |= approximate;
    return VERDICT_SAME;
}

/* Orders that a trial is evaluated in, and how many they are. What is distinct shows which of them need not be sorted.
 */
static uint32_t orders_of(const struct problem *p, enum trial trial, enum equals orders[MAX_ORDERS]) {
    orders[0] = EQUALS_FIRST;
    orders[1] = EQUALS_UNSORTED;
    if (trial != TRIAL_EQUAL)
        return trial == TRIAL_PLAIN && p->unsorted ? 2 : 1;
    memcpy(orders, p->orders, sizeof p->orders);
    return p->norders;
}

/* `first`: the first sample, which is evaluated already; or NULL. Where further numbers cannot be evaluated, those
 * before have to do. */
static enum verdict_kind try_kind(struct inquiry *t, enum trial trial, struct sample *first) {
    enum verdict_kind v = VERDICT_SAME;
    enum equals orders[MAX_ORDERS];
    uint32_t norders = orders_of(t->p, trial, orders);
    memset(t->distance, 0, sizeof t->distance);
    for (uint32_t sample = 0; v == VERDICT_SAME && needs_more(t, trial, sample); sample++)
        for (uint32_t o = 0; v == VERDICT_SAME && o < norders; o++) {
            if (first && sample == 0 && o == 0) {
                v = compare_sample(t, first);
                continue;
            }
            struct sample *s = xcalloc(1, sizeof *s);
            begin_sample(t, s, trial, sample, orders[o]);
            v = compare_sample(t, s);
            arena_free(&s->arena);
            free(s);
            if (v == VERDICT_NONE && sample > 0)
                return within_bound(t);
        }
    return v == VERDICT_SAME ? within_bound(t) : v;
}

/* ---- one reading ---- */

/* The sides agree in a trial that is excluded. Elements that are no numbers do not tell. */
static bool is_same_outside(struct inquiry *t, enum trial trial) {
    struct inquiry alone = *t;
    alone.skipped = 0;
    return try_kind(&alone, trial, NULL) == VERDICT_SAME && alone.skipped == 0;
}

/* `first`: numbers of the first kind, or NULL. What cannot be evaluated far beyond a threshold says nothing. */
static enum verdict_kind try_kinds(struct inquiry *t, struct sample *first) {
    enum verdict_kind v = VERDICT_SAME;
    t->compared = t->skipped = 0;
    t->met[0] = t->met[1] = 0;
    t->v = (struct verdict){.kind = VERDICT_NONE};
    for (enum trial trial = 0; trial < TRIALS && v == VERDICT_SAME; trial++) {
        if (!trial_differs(t->p, trial))
            continue;
        if (t->p->excluded >> trial & 1) {
            t->v.same_outside |= is_same_outside(t, trial);
            continue;
        }
        v = try_kind(t, trial, trial == TRIAL_PLAIN ? first : NULL);
        if (trial == TRIAL_THRESHOLDS && v == VERDICT_NONE)
            v = VERDICT_SAME;
    }
    if (v == VERDICT_SAME && (t->compared == 0 || !met_all(t))) {
        t->v.why.text = t->compared == 0 ? STR("the result is no number anywhere")
                                         : STR("a condition is the same for all numbers that were tried");
        t->v.agrees = t->compared > 0;
        v = VERDICT_NONE;
    }
    return v;
}

/* A constant is one number: where another choice of them explains a difference, it has to explain all numbers. */
static void try_reading(struct inquiry *t, struct sample *first) {
    t->cost += READING_COST;
    t->settled = false;
    t->nsettled = 0;
    t->error = 0;
    enum verdict_kind v = try_kinds(t, first);
    while (v == VERDICT_DIFFERENT && t->settled)
        v = try_kinds(t, NULL);
    t->v.kind = v;
    t->v.rounding = t->nsettled ? t->error : 0;
    t->v.bends |= t->nsettled && t->p->thresholds.n > 0;
}

/* ---- all readings ---- */

struct verdict equal_try(const struct problem *p, struct effort how, struct arena *a) {
    struct inquiry t = {.p = p, .how = how, .a = a};
    struct sample *first = xcalloc(1, sizeof *first);
    struct verdict v = {.kind = VERDICT_NONE};
    bool more = true;
    begin_sample(&t, first, TRIAL_PLAIN, 0, EQUALS_FIRST);
    for (uint32_t agreeing = 0; more && agreeing < MAX_AGREEING && t.cost < BUDGET && v.kind != VERDICT_SAME;) {
        struct verdict said = v;
        try_reading(&t, first);
        agreeing += t.v.kind == VERDICT_DIFFERENT && t.v.at.trial != TRIAL_PLAIN;
        /* the first reading that differs is told of; one that was evaluated says more than one that was not */
        v = t.v.kind == VERDICT_SAME || !said.why.text.n || t.v.kind > said.kind ? t.v : said;
        more = t.v.kind != VERDICT_SAME && p->next && p->next(p->self);
    }
    if (v.kind == VERDICT_DIFFERENT && more && t.cost >= BUDGET)
        v = (struct verdict){.kind = VERDICT_NONE,
                             .why.text = arena_printf(a, "%s has more alternatives than are tried", p->name)};
    v.misfit = v.kind == VERDICT_NONE && t.nfailed > 0 && t.nbeyond == 0;
    arena_free(&first->arena);
    free(first);
    return v;
}

/* The numbers of a question, in constants that are shifted. */
static struct comparison compare_given(struct lockstep *l, const double *shift) {
    struct comparison o = {.at = -1};
    const struct problem *p = l->p;
    const struct tensor *want[MAX_OUTPUTS], *got[MAX_OUTPUTS];
    int64_t compared;
    bool bends = false;
    lockstep_shift(l, shift);
    o.evaluated = lockstep_program(l);
    for (uint32_t device = 0; o.evaluated && device < p->devices && !o.differs; device++) {
        o.evaluated = lockstep_outputs(l, device, want, got) && shape_eq(&want[0]->shape, &got[0]->shape);
        if (!o.evaluated)
            break;
        struct difference d = unexplained(l, shift, device, 0, want[0], got[0], &compared, &bends);
        o.shape = want[0]->shape;
        if (d.error > tolerance) {
            o.differs = true;
            o.at = d.at;
            o.before = d.want;
            o.after = d.got;
        }
    }
    return o;
}

struct comparison equal_compare(const struct problem *p, struct given *const given[MAX_DEVICES], enum equals order,
                                struct arena *scratch) {
    struct eval_context how = {.arena = scratch, .lowerings = p->lowerings, .equals = order};
    struct lockstep *l = arena_alloc(scratch, sizeof *l);
    double shift[MAX_LOOSE] = {0};
    lockstep_begin(l, p, &how);
    for (uint32_t i = 0; i < p->devices; i++)
        memcpy(l->given[i], given[i], p->ninputs * sizeof *given[i]);
    struct comparison o = compare_given(l, shift), other;
    if (o.differs && settle_constants(l, shift)) {
        other = compare_given(l, shift);
        o = other.differs ? o : other;
    }
    return o;
}
