/* Both sides are made once for each reading, as nodes; then elements of them are computed for each set of numbers. */
#include "proof/elements/same.h"

#include "proof/trials/compare.h"
#include "proof/trials/drawn.h"
#include "proof/trials/loose.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST_ELEMENTS = 128, /* of an output, where they are had for a low price */
    ALL_ELEMENTS = 4096,
    MOST_WIDE = 1 << 16,
    SOME_ELEMENTS = 24,
    FEW_ELEMENTS = 6,
    RUN_ELEMENTS = 5, /* of a row, where elements are dear */
    ENOUGH = 256,     /* elements that thresholds and bounds are seen in */
    MANY = 4096,
    MAX_AGREEING = 8,
    MAX_READINGS = 256,
    MOST_NODES = 2048, /* of readings that were tried, too */
    MAX_BOUNDS = 32,
    MAX_SETTLED = 6,
    MOST_SORTED = 1 << 14 /* elements that are compared in any order */
};

static const double tolerance = 1e-9, beyond_rounding = 0.1, tolerance_of_sorted = 1e-6, size_of_jitter = 0x1p-46;
/* Elements that are read for one set of numbers: at most, for many and for some of the results; and in all. */
static const double most_read = 2e6, most_narrow = 1.2e7, cheap = 2e4, dear = 2e5, wide = 1e6, budget = 1e8;

/* What is compared: one output on one device. */
struct compared {
    uint32_t device, output;
    const struct tensor *sides[2]; /* want, got */
    int64_t *at;
    uint32_t n, room;
    double *x[2], *moved[2], *slack;
};

struct squared_distance {
    double error, size; /* sums of squares */
    int64_t n;          /* elements */
    struct str text;    /* the last difference */
};

struct trying {
    const struct problem *p;
    struct effort how;
    struct arena *a; /* of the answer */
    struct arena scratch;
    struct eval_context ctx;
    struct lazies all;
    struct lockstep *lockstep;
    enum equals equals;
    uint32_t narrow; /* 0: inputs vary along all dimensions; else along which of them (narrow_strides) */
    double read;
    uint32_t nfailed, nbeyond;
    /* of the reading at hand */
    struct compared *compared;
    struct wanted_elements *asked;
    uint32_t ncompared;
    struct lazy_demand *demand;
    int64_t elements; /* that the program makes numbers */
    int64_t skipped;  /* and that it does not */
    struct squared_distance distance[MAX_OUTPUTS];
    struct drawn numbers;
    double shift[MAX_LOOSE]; /* of loose constants, so that the sides agree */
    double error;            /* the largest difference, relative */
    bool given;              /* what both sides take is drawn */
    bool rounded;            /* the last difference may be one of rounding, */
    bool settled;            /* and goes where constants are what they are shifted to now */
    uint32_t nsettled;       /* differences for which that was tried */
    struct verdict v;
};

/* ---- which elements ---- */

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 20;
}

/* For so many elements. */
static void make_room(struct trying *t, struct compared *c, uint32_t n) {
    if (n <= c->room)
        return;
    double *room = arena_alloc(&t->scratch, (size_t)5 * n * sizeof *room);
    c->room = n;
    c->at = arena_alloc(&t->scratch, n * sizeof *c->at);
    for (int side = 0; side < 2; side++) {
        c->x[side] = room + (size_t)side * n;
        c->moved[side] = room + (size_t)(2 + side) * n;
    }
    c->slack = room + (size_t)4 * n;
}

static bool by_index(const struct compared *c, int64_t at) {
    for (uint32_t i = 0; i < c->n; i++)
        if (c->at[i] == at)
            return true;
    return false;
}

static void add_element(struct compared *c, int64_t at, uint32_t most) {
    if (at >= 0 && at < c->sides[0]->n && c->n < most && (most > MOST_ELEMENTS || !by_index(c, at)))
        c->at[c->n++] = at;
}

/* Where parts of values begin: of a slice, a pad, what is put together. */
struct bounds {
    int64_t at[MAX_BOUNDS];
    uint32_t n;
};

static void add_bound(struct bounds *b, int64_t at) {
    for (uint32_t i = 0; i < b->n; i++)
        if (b->at[i] == at)
            return;
    if (at > 0 && b->n < MAX_BOUNDS)
        b->at[b->n++] = at;
}

static void find_bounds(const struct lazies *all, struct bounds *b) {
    for (uint32_t i = 0; i < all->n; i++) {
        const struct lazy *l = all->all[i];
        for (uint32_t k = 1; k < l->nparts; k++)
            add_bound(b, l->begin[k]);
        for (uint32_t d = 0; l->kind == LAZY_PLACE && d < l->shape.rank; d++) {
            add_bound(b, l->before[d]);
            add_bound(b, l->before[d] + (l->in[0].shape.dim[d] - 1) * l->spread[d] + 1);
        }
    }
}

static int64_t random_index(const struct shape *s, uint64_t *state, uint32_t dim, int64_t index) {
    int64_t at = 0;
    for (uint32_t d = 0; d < s->rank; d++)
        at = at * s->dim[d] + (d == dim ? index : (int64_t)(next_random(state) % (uint64_t)s->dim[d]));
    return at;
}

/* All, or corners, both sides of each bound, and others in a few rows and anywhere. */
static void choose_elements(struct trying *t, struct compared *c, const struct bounds *b, uint32_t most) {
    enum { ROWS = 4 };
    const struct shape *s = &c->sides[0]->shape;
    int64_t n = c->sides[0]->n, row = s->rank ? s->dim[s->rank - 1] : 1, rows[ROWS];
    uint64_t state = t->how.seed * 77 + 1;
    c->n = 0;
    if (most <= RUN_ELEMENTS && n > most) { /* side by side, so that they are made of the same */
        int64_t from = (int64_t)(next_random(&state) % (uint64_t)n);
        for (uint32_t i = 0; i < most; i++)
            c->at[c->n++] = from < most ? from + i : from - i;
        return;
    }
    for (int64_t i = 0; n <= most && i < n; i++)
        c->at[c->n++] = i;
    if (n <= most)
        return;
    add_element(c, 0, most);
    add_element(c, n - 1, most);
    for (uint32_t i = 0; i < b->n; i++)
        for (uint32_t d = s->rank; d-- > 0 && c->n < most / 2;)
            for (int64_t side = -1; side <= 0; side++)
                if (b->at[i] < s->dim[d])
                    add_element(c, random_index(s, &state, d, b->at[i] + side), most / 2);
    for (int i = 0; i < ROWS; i++)
        rows[i] = (int64_t)(next_random(&state) % (uint64_t)(n / row)) * row;
    for (uint32_t tries = 0; c->n < most && c->n < n && tries < 4 * most; tries++)
        add_element(c,
                    tries % 4 == 3 ? (int64_t)(next_random(&state) % (uint64_t)n)
                                   : rows[tries % ROWS] + (int64_t)(next_random(&state) % (uint64_t)row),
                    most);
}

/* ---- what both sides take ---- */

enum { SIDE_WANT = 1, SIDE_GOT = 2, BOTH = 3 };

/* Which sides have each node in them. */
static uint8_t *sides_of(const struct trying *t) {
    uint8_t *in = xcalloc(t->all.n + (size_t)1, sizeof *in);
    for (uint32_t k = 0; k < t->ncompared; k++)
        for (int side = 0; side < 2; side++)
            in[t->compared[k].sides[side]->lazy->id] |= side ? SIDE_GOT : SIDE_WANT;
    for (uint32_t i = t->all.n; i-- > 0;) {
        const struct lazy *l = t->all.all[i];
        for (uint32_t k = 0; k < l->nin; k++)
            in[l->in[k].lazy->id] |= in[i];
        for (uint32_t k = 0; k < l->nparts; k++)
            in[l->parts[k].lazy->id] |= in[i];
    }
    return in;
}

static bool give(struct lazy *l) {
    bool computed = l->kind != LAZY_INPUT && l->kind != LAZY_TABLE && l->drawn;
    l->given = computed;
    return computed;
}

/* What one side makes something else of than the other becomes an input: what is the same for all numbers there is so
 * for those that it is. */
static bool give_shared(struct trying *t) {
    uint8_t *in = sides_of(t);
    bool any = false;
    lazies_settle(&t->all);
    for (uint32_t k = 0; k < t->ncompared; k++)
        for (int side = 0; side < 2; side++)
            if (in[t->compared[k].sides[side]->lazy->id] == BOTH)
                any |= give(t->compared[k].sides[side]->lazy);
    for (uint32_t i = 0; i < t->all.n; i++) {
        const struct lazy *l = t->all.all[i];
        for (uint32_t k = 0; in[i] && in[i] != BOTH && k < l->nin + l->nparts; k++) {
            struct lazy *of = k < l->nin ? l->in[k].lazy : l->parts[k - l->nin].lazy;
            any |= in[of->id] == BOTH && give(of);
        }
    }
    free(in);
    return any;
}

static void take_back(struct trying *t) {
    for (uint32_t i = 0; i < t->all.n; i++)
        t->all.all[i]->given = false;
}

/* The result may be another function of its inputs at some elements. */
static bool has_parts(const struct trying *t) {
    bool found = t->compared[0].sides[0]->n <= (int64_t)4 * MOST_ELEMENTS;
    for (uint32_t i = 0; i < t->all.n && !found; i++) {
        const struct lazy *l = t->all.all[i];
        found = l->kind == LAZY_JOIN || l->kind == LAZY_PLACE || l->kind == LAZY_TAKE ||
                (l->kind == LAZY_TABLE && l->n > 1);
    }
    return found;
}

/* False: they cost more than `read` elements. */
static bool ask_for(struct trying *t, uint32_t most, double read) {
    struct bounds b = {.n = 0};
    find_bounds(&t->all, &b);
    for (uint32_t k = 0; k < t->ncompared; k++) {
        struct compared *c = &t->compared[k];
        make_room(t, c, most);
        choose_elements(t, c, &b, most);
        for (int side = 0; side < 2; side++)
            t->asked[2 * k + side] = (struct wanted_elements){c->sides[side], c->at, c->n, c->x[side]};
    }
    demand_free(t->demand);
    t->ctx.error = STR("");
    t->demand = demand_of(&t->ctx, &t->all, t->asked, 2 * t->ncompared, read);
    return t->demand;
}

/* As many as are had for a low price, of a result that is not the same function of its inputs everywhere more. */
static bool settle_elements(struct trying *t) {
    const struct {
        uint32_t most;
        double read;
    } tries[] = {{ALL_ELEMENTS, t->how.thorough && has_parts(t) ? dear : 0},
                 {MOST_ELEMENTS, cheap},
                 {SOME_ELEMENTS, dear},
                 {FEW_ELEMENTS, dear}};
    double most = t->narrow ? most_narrow : most_read;
    if (t->p->any_order)
        return t->compared[0].sides[0]->n > MOST_SORTED
                   ? eval_reason(&t->ctx, REASON_TOO_LARGE, "%lld elements in any order",
                                 (long long)t->compared[0].sides[0]->n)
                   : ask_for(t, MOST_SORTED, most);
    if (!ask_for(t, 2, most))
        return false;
    double two = demand_size(t->demand);
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        if (two < tries[i].read && ask_for(t, tries[i].most, tries[i].read))
            return true;
    return (t->p->nloose && ask_for(t, RUN_ELEMENTS, most)) || t->demand || ask_for(t, 2, most);
}

/* ---- one set of numbers ---- */

/* Those that are loose are moved. */
static void shift_constants(struct trying *t, const double *shift) {
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
        .draw = drawn_numbers, .self = &t->numbers, .jitter = jitter ? size_of_jitter : 0, .jitter_seed = jitter};
    t->read += demand_size(t->demand);
    if (t->read > budget)
        return eval_reason(&t->ctx, REASON_TOO_LARGE, "it is made of more than %.0f elements", budget);
    return demand_compute(t->demand, &how);
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

static struct str difference_text(struct trying *t, const struct compared *c, struct difference d) {
    const struct mlir *m = t->p->program.graph->m;
    const struct shape *s = &c->sides[0]->shape;
    int64_t at = c->at[d.at];
    struct str index = index_text(t->a, s, at), inputs = STR("");
    for (uint32_t i = 0; i < t->p->ninputs; i++) {
        struct str name = mlir_span(m, m->values[t->p->inputs[i].value].name);
        struct shape own;
        double x = 0;
        if (!program_shape(&t->p->program, t->p->inputs[i].value, &own) || shape_count(&own) != c->sides[0]->n ||
            t->p->inputs[i].holds)
            continue;
        filling_numbers(t->numbers.fillings[c->device * t->p->ninputs + i], at, 1, &x);
        inputs = arena_printf(t->a, "%.*s%s%.*s = %.6g", (int)inputs.n, inputs.p, inputs.n ? ", " : "", (int)name.n,
                              name.p, x);
    }
    struct str text = arena_printf(t->a, "%s computes something else: at %.*s %.6g instead of %.6g", t->p->name,
                                   (int)index.n, index.p, unsigned_nan(d.got), unsigned_nan(d.want));
    return inputs.n ? arena_printf(t->a, "%.*s (input %.*s)", (int)text.n, text.p, (int)inputs.n, inputs.p) : text;
}

static void add_distance(struct squared_distance *d, const struct compared *c) {
    for (uint32_t i = 0; i < c->n; i++)
        if (both_finite(c->x[1][i], c->x[0][i])) {
            d->error += (c->x[1][i] - c->x[0][i]) * (c->x[1][i] - c->x[0][i]);
            d->size += c->x[0][i] * c->x[0][i];
        }
    d->n += c->n;
}

static struct difference worst_of(const struct compared *c, const double *slack, int64_t *compared) {
    struct tensor want = as_tensor(c, 0), got = as_tensor(c, 1);
    return compare_worst(&got, &want, floor_of_largest, slack, compared);
}

static enum verdict_kind differ(struct trying *t, struct str text) {
    t->v.why = (struct reason){.text = text};
    return VERDICT_DIFFERENT;
}

static enum verdict_kind not_evaluated(struct trying *t, const struct eval_context *b) {
    t->v.why = (struct reason){arena_str(t->a, b->error), b->why};
    return VERDICT_NONE;
}

/* ---- constants that were rounded ---- */

/* For struct loose_question: elements of all that is compared, one after the other. */
static bool evaluate_shifted(void *self, const double *shift, double *want, double *got) {
    struct trying *t = self;
    shift_constants(t, shift);
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

/* To be asked for last: what was compared is another then. */
static void settle_constants(struct trying *t) {
    struct loose_question q = loose_of(t);
    if (q.nelements <= q.n && q.nelements < t->compared[0].sides[0]->n)
        return;
    t->settled = t->nsettled++ < MAX_SETTLED && loose_settle(&q, t->shift);
    shift_constants(t, t->shift);
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
    shift_constants(t, t->shift);
    return evaluate(t, 0) && any;
}

/* ---- the comparison ---- */

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
static bool may_be_rounded(const struct trying *t, const struct compared *c) {
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

/* The largest difference that is not left of larger terms, nor a jump where a constant is rounded. */
static bool unexplained(struct trying *t, const struct compared *c, bool *slack, struct difference *d) {
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
    if (d->error <= tolerance || !both_finite(d->got, d->want) || !may_be_rounded(t, c) || !add_bends(t))
        return true;
    *d = worst_of(c, c->slack, &compared);
    t->v.bends |= d->error <= tolerance;
    return true;
}

static enum verdict_kind compare_all(struct trying *t) {
    bool slack = false;
    for (uint32_t k = 0; k < t->ncompared; k++) {
        struct compared *c = &t->compared[k];
        struct difference d;
        if (!unexplained(t, c, &slack, &d))
            return not_evaluated(t, &t->ctx);
        bool finite = both_finite(d.got, d.want);
        if (finite && t->p->bound > 0)
            add_distance(&t->distance[c->output], c);
        if (d.error <= tolerance)
            continue;
        t->error = fmax(t->error, d.error);
        struct str text = difference_text(t, c, d);
        if (!finite || t->p->bound == 0) {
            t->rounded = finite && may_be_rounded(t, c);
            return differ(t, text);
        }
        t->distance[c->output].text = text;
    }
    return VERDICT_SAME;
}

static enum verdict_kind try_numbers(struct trying *t, struct draw d) {
    t->ctx.error = STR("");
    drawn_begin(&t->numbers, d, &t->all);
    t->v.at = d;
    t->settled = t->rounded = false;
    if (!evaluate(t, 0))
        return not_evaluated(t, &t->ctx);
    enum verdict_kind v = compare_all(t);
    if (v == VERDICT_DIFFERENT && t->rounded)
        settle_constants(t);
    return v;
}

/* ---- one kind of numbers ---- */

/* Between a constant and what it was rounded to few numbers are. */
static uint32_t samples_of(const struct trying *t, enum trial trial) {
    uint32_t n = t->ncompared ? t->compared[0].n : 1, enough = t->p->nloose && t->p->compares ? MANY : ENOUGH;
    uint32_t least = t->how.samples ? t->how.samples : 1;
    if (trial == TRIAL_POSITIVE)
        return least > 2 ? least : 2;
    if (demand_size(t->demand) > cheap)
        return 1;
    uint32_t wanted = trial == TRIAL_NEAR_EPSILON ? 4 : trial == TRIAL_THRESHOLDS && n < enough ? enough / n : 1;
    return wanted > least ? wanted : least;
}

/* The bound of an approximate form is one of many numbers: all of a few may be where it is far, or where it is near. */
static bool needs_more(const struct trying *t, enum trial trial, uint32_t sample) {
    bool near = false;
    for (uint32_t i = 0; i < t->p->noutputs; i++)
        near |= t->distance[i].text.n && t->distance[i].n < ENOUGH;
    return sample < samples_of(t, trial) || (near && sample < ENOUGH);
}

static enum verdict_kind within_bound(struct trying *t) {
    bool approximate = false;
    for (uint32_t i = 0; i < t->p->noutputs; i++) {
        const struct squared_distance *d = &t->distance[i];
        if (d->text.n && !(d->error <= t->p->bound * t->p->bound * d->size))
            return differ(t, d->text);
        approximate |= d->text.n > 0;
    }
    t->v.approximate |= approximate;
    return VERDICT_SAME;
}

static enum verdict_kind try_kind(struct trying *t, enum trial trial) {
    enum verdict_kind v = VERDICT_SAME;
    memset(t->distance, 0, sizeof t->distance);
    for (uint32_t sample = 0; v == VERDICT_SAME && needs_more(t, trial, sample); sample++) {
        v = try_numbers(t, (struct draw){trial, t->how.seed, sample});
        if (v == VERDICT_NONE && sample > 0)
            return within_bound(t);
    }
    return v == VERDICT_SAME ? within_bound(t) : v;
}

/* ---- one reading ---- */

/* The sides agree in a trial that is excluded. Elements that are no numbers do not tell. */
static bool is_same_outside(struct trying *t, enum trial trial) {
    struct verdict kept = t->v;
    int64_t elements = t->elements, skipped = t->skipped;
    t->skipped = 0;
    bool same = try_kind(t, trial) == VERDICT_SAME && t->skipped == 0;
    t->v = kept;
    t->elements = elements;
    t->skipped = skipped;
    return same;
}

static bool is_decided(const struct lazy *l) {
    return l->nin == 3 ? l->in[0].lazy->decided : l->decided;
}

/* Some choice all elements of which, and some, went one way. What is infinite is met only by what the inputs make. */
static bool has_one_way(const struct trying *t) {
    bool found = false;
    for (uint32_t i = 0; i < t->all.n && t->p->choices; i++)
        found |= lazy_has_one_way(t->all.all[i]) && (t->given || is_decided(t->all.all[i]));
    return found;
}

/* Many elements on one set of numbers, where parts may be few of all. */
static enum verdict_kind try_widely(struct trying *t) {
    uint32_t n = t->compared[0].n;
    double each = demand_size(t->demand) / n;
    uint32_t most = (uint32_t)fmin(wide / fmax(each, 1), MOST_WIDE);
    if (t->compared[0].sides[0]->n == n || t->p->any_order || most <= n || !has_parts(t))
        return VERDICT_SAME;
    enum verdict_kind v = ask_for(t, most, 2 * wide) ? try_kind(t, TRIAL_PLAIN) : VERDICT_SAME;
    return ask_for(t, n, most_narrow) ? v : not_evaluated(t, &t->ctx);
}

static enum verdict_kind try_kinds_once(struct trying *t) {
    enum verdict_kind v = VERDICT_SAME;
    t->elements = t->skipped = 0;
    for (uint32_t i = 0; i < t->all.n; i++)
        t->all.all[i]->met[0] = t->all.all[i]->met[1] = false;
    for (enum trial trial = 0; trial < TRIALS && v == VERDICT_SAME; trial++) {
        if (trial == TRIAL_EQUAL) /* try_orders */
            continue;
        bool many = trial == TRIAL_POSITIVE || trial == TRIAL_COARSE;
        if (!trial_differs(t->p, trial) || (many && t->narrow && demand_size(t->demand) > dear))
            continue;
        if (t->p->excluded >> trial & 1) {
            t->v.same_outside |= is_same_outside(t, trial);
            continue;
        }
        v = try_kind(t, trial);
        if (v == VERDICT_SAME && trial == TRIAL_PLAIN && t->how.thorough)
            v = try_widely(t);
        if (trial == TRIAL_THRESHOLDS && v == VERDICT_NONE)
            v = VERDICT_SAME;
    }
    if (v == VERDICT_SAME && (t->elements == 0 || has_one_way(t))) {
        t->v.why.text = t->elements == 0 ? STR("the result is no number anywhere")
                                         : STR("a condition is the same for all numbers that were tried");
        t->v.agrees = t->elements > 0;
        v = VERDICT_NONE;
    }
    return v;
}

/* A constant is one number: where another choice of them explains a difference, it has to explain all numbers. */
static enum verdict_kind try_kinds(struct trying *t) {
    t->nsettled = 0;
    t->error = 0;
    t->settled = false;
    memset(t->shift, 0, sizeof t->shift);
    shift_constants(t, t->shift);
    enum verdict_kind v = try_kinds_once(t);
    while (v == VERDICT_DIFFERENT && t->settled) {
        t->settled = false;
        t->v = (struct verdict){.kind = VERDICT_NONE};
        v = try_kinds_once(t);
    }
    t->v.rounding = t->nsettled ? t->error : 0;
    t->v.bends |= t->nsettled && t->p->thresholds.n > 0;
    return v;
}

static void add_compared(struct trying *t, uint32_t device, const struct tensor *const want[MAX_OUTPUTS],
                         const struct tensor *const got[MAX_OUTPUTS]) {
    for (uint32_t i = 0; i < t->p->noutputs; i++) {
        t->compared[t->ncompared++] = (struct compared){.device = device, .output = i, .sides = {want[i], got[i]}};
    }
}

static void lift(struct eval_context *ctx, void *self) {
    struct trying *t = self;
    for (uint32_t k = 0; k < t->ncompared; k++)
        for (int side = 0; side < 2; side++)
            t->compared[k].sides[side] = view_copy(ctx, view_of(t->compared[k].sides[side]));
}

/* Both sides of the reading at hand, on all devices. */
static enum verdict_kind make_sides(struct trying *t) {
    const struct tensor *want[MAX_OUTPUTS], *got[MAX_OUTPUTS];
    struct lockstep *l = t->lockstep;
    t->ncompared = 0;
    demand_free(t->demand);
    t->demand = NULL;
    for (uint32_t device = 0; device < t->p->devices; device++) {
        if (!lockstep_outputs(l, device, want, got)) {
            t->nfailed++;
            t->nbeyond += l->eval[0].why != REASON_OTHER;
            return not_evaluated(t, &l->eval[0]);
        }
        for (uint32_t i = 0; i < t->p->noutputs; i++)
            if (!shape_eq(&want[i]->shape, &got[i]->shape))
                return differ(t, arena_printf(t->a, "%s makes %s of what is %s", t->p->name,
                                              shape_text(t->a, &got[i]->shape).p, shape_text(t->a, &want[i]->shape).p));
        add_compared(t, device, want, got);
    }
    t->ctx.error = STR("");
    return eval_attempt(&t->ctx, lift, t) ? VERDICT_SAME : not_evaluated(t, &t->ctx);
}

/* The program on inputs that are made for it. */
static bool begin(struct trying *t, uint32_t narrow, enum equals equals) {
    struct arena *a = &t->scratch;
    demand_free(t->demand);
    t->demand = NULL;
    lazies_free(&t->all);
    arena_reset(a);
    t->all = (struct lazies){.shares = true};
    t->narrow = narrow;
    t->equals = equals;
    t->ctx = (struct eval_context){
        .arena = a, .lowerings = t->p->lowerings, .lazy = &lazy_maker, .lazy_state = &t->all, .equals = equals};
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

static bool is_dear(const struct trying *t) {
    return t->demand ? demand_size(t->demand) > (t->narrow ? most_narrow : most_read) : t->ctx.why == REASON_TOO_LARGE;
}

/* The reading at hand, in elements that are the same function of what both sides take, or else of the inputs. */
static enum verdict_kind try_sides(struct trying *t, bool *too_dear) {
    enum verdict_kind v = make_sides(t);
    *too_dear = false;
    if (v != VERDICT_SAME)
        return v;
    t->given = give_shared(t);
    bool agrees = t->given && settle_elements(t) && !is_dear(t) && try_kinds(t) == VERDICT_SAME;
    t->given = false;
    take_back(t);
    if (agrees)
        return VERDICT_SAME;
    t->v = (struct verdict){.kind = VERDICT_NONE};
    bool settled = settle_elements(t);
    *too_dear = is_dear(t);
    return !settled || *too_dear ? not_evaluated(t, &t->ctx) : try_kinds(t);
}

/* What is equal is tried in each order that a sort may leave it in; what need not be sorted, reversed. */
static enum verdict_kind try_orders(struct trying *t) {
    const struct problem *p = t->p;
    enum equals orders[MAX_ORDERS + 1];
    uint32_t n = p->norders;
    enum verdict_kind v = VERDICT_SAME;
    bool excluded = p->excluded >> TRIAL_EQUAL & 1, outside = excluded;
    memcpy(orders, p->orders, sizeof p->orders);
    if (p->unsorted)
        orders[n++] = EQUALS_UNSORTED;
    for (uint32_t i = 0; i < n && v == VERDICT_SAME; i++) {
        enum trial trial = orders[i] == EQUALS_UNSORTED ? TRIAL_PLAIN : TRIAL_EQUAL;
        bool good = begin(t, 0, orders[i]);
        v = good ? make_sides(t) : not_evaluated(t, &t->ctx);
        if (v == VERDICT_SAME && !settle_elements(t))
            v = not_evaluated(t, &t->ctx);
        if (v == VERDICT_SAME && excluded && trial == TRIAL_EQUAL)
            outside = outside && is_same_outside(t, trial);
        else if (v == VERDICT_SAME)
            v = try_kind(t, trial);
    }
    t->v.same_outside |= outside;
    return v;
}

static void try_reading(struct trying *t) {
    bool too_dear, still;
    t->v = (struct verdict){.kind = VERDICT_NONE};
    bool other = t->narrow || t->equals != EQUALS_FIRST || t->all.n > MOST_NODES;
    if (other && !begin(t, 0, EQUALS_FIRST)) {
        t->v.kind = not_evaluated(t, &t->ctx);
        return;
    }
    enum verdict_kind v = try_sides(t, &too_dear), narrowed;
    uint32_t parts = too_dear ? narrow_parts(t->p) : 0;
    for (uint32_t i = 0; i < 2 * parts && (i == 0 || v == VERDICT_SAME); i++) {
        if (i >= parts && t->p->product_op == NONE)
            break; /* no operand has to vary along what another one does */
        uint32_t narrow = i < parts ? i + 1 : i - parts + 1 + NARROW / 2;
        narrowed = begin(t, narrow, EQUALS_FIRST) ? try_sides(t, &still) : not_evaluated(t, &t->ctx);
        v = i >= parts && narrowed == VERDICT_NONE && still ? v : narrowed;
    }
    if (v == VERDICT_SAME && t->p->sorts)
        v = try_orders(t);
    t->v.kind = v;
}

/* ---- all readings ---- */

struct verdict same_try(const struct problem *p, struct effort how, struct arena *a) {
    struct trying *t = xcalloc(1, sizeof *t);
    struct verdict v = {.kind = VERDICT_NONE};
    *t = (struct trying){.p = p, .how = how, .a = a, .numbers.p = p};
    bool more = begin(t, 0, EQUALS_FIRST);
    if (!more)
        v.why = (struct reason){arena_str(a, t->ctx.error), t->ctx.why};
    uint32_t agreeing = 0, n = 0;
    for (; more && agreeing < MAX_AGREEING && n < MAX_READINGS && t->read < budget && v.kind != VERDICT_SAME; n++) {
        struct verdict said = v;
        try_reading(t);
        agreeing += t->v.kind == VERDICT_DIFFERENT && t->v.at.trial != TRIAL_PLAIN;
        /* the first reading that differs is told of; one that was evaluated says more than one that was not */
        v = t->v.kind == VERDICT_SAME || !said.why.text.n || t->v.kind > said.kind ? t->v : said;
        more = t->v.kind != VERDICT_SAME && p->next && p->next(p->self);
    }
    if (v.kind == VERDICT_DIFFERENT && more && agreeing < MAX_AGREEING)
        v = (struct verdict){.kind = VERDICT_NONE,
                             .why.text = arena_printf(a, "%s has more alternatives than are tried", p->name)};
    v.misfit = v.kind == VERDICT_NONE && t->nfailed > 0 && t->nbeyond == 0;
    demand_free(t->demand);
    lazies_free(&t->all);
    arena_free(&t->numbers.arena);
    arena_free(&t->scratch);
    free(t);
    return v;
}
