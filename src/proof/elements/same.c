/* Both sides are made once for each reading, as nodes; then elements of them are computed for each set of numbers. */
#include "proof/elements/same.h"

#include "proof/elements/sides.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST_WIDE = 1 << 14,
    FEW = 8,
    ENOUGH = 256, /* elements that thresholds and bounds are seen in */
    MANY = 4096,
    MOST_GIVEN = 4096, /* elements that vary along all dimensions */
    MAX_AGREEING = 8,
    MAX_READINGS = 256,
    MOST_NODES = 2048 /* of readings that were tried, too */
};

static const double wide = 1e6, budget = 1e8; /* elements that are read for many of the results, and in all */

/* ---- what both sides take ---- */

enum { SIDE_WANT = 1, SIDE_GOT = 2, BOTH = 3 };

/* Which sides have each node in them. */
static uint8_t *sides_with(const struct trying *t) {
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
    uint8_t *in = sides_with(t);
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

static void replace_given(struct eval_context *ctx, void *self) {
    struct trying *t = self;
    uint32_t n = t->all.n, turn = 0;
    for (uint32_t i = 0; i < n; i++)
        if (t->all.all[i]->given && t->all.all[i]->n > MOST_GIVEN) {
            uint32_t parts = drawn_instead(ctx, t->p, t->all.all[i], turn++, t->narrow);
            t->parts = parts > t->parts ? parts : t->parts;
        }
}

/* Where inputs vary along some dimensions alone, so does what is given and large: then both sides are made anew. */
static bool narrow_given(struct trying *t) {
    uint32_t n = t->all.n;
    bool good = eval_attempt(&t->ctx, replace_given, t);
    t->replaced = t->all.n > n;
    if (good && t->replaced)
        good = lockstep_program(t->lockstep) && sides_make(t) == VERDICT_SAME;
    lazies_settle(&t->all);
    return good;
}

static void take_back(struct trying *t) {
    for (uint32_t i = 0; i < t->all.n; i++) {
        struct lazy *l = t->all.all[i];
        l->given &= l->kind == LAZY_INPUT; /* of those that nodes read no more */
        l->instead = NULL;
    }
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
        filling_numbers(t->numbers.fillings[c->device * t->p->ninputs + i], &at, 1, &x);
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

/* ---- the comparison ---- */

static enum verdict_kind compare_all(struct trying *t) {
    bool slack = false;
    for (uint32_t k = 0; k < t->ncompared; k++) {
        struct compared *c = &t->compared[k];
        struct difference d;
        if (!sides_difference(t, c, &slack, &d))
            return sides_not_evaluated(t, &t->ctx);
        bool finite = both_finite(d.got, d.want);
        if (finite && t->p->bound > 0)
            add_distance(&t->distance[c->output], c);
        if (d.error <= tolerance)
            continue;
        t->error = fmax(t->error, d.error);
        struct str text = difference_text(t, c, d);
        if (!finite || t->p->bound == 0) {
            t->rounded = finite && sides_may_be_rounded(t, c);
            return sides_differ(t, text);
        }
        t->distance[c->output].text = text;
    }
    return VERDICT_SAME;
}

/* Ways that choices go on numbers of which nothing was compared say nothing. */
static void note_ways(struct trying *t, bool compared) {
    for (uint32_t i = 0; i < t->all.n && t->p->choices; i++) {
        struct lazy *l = t->all.all[i];
        for (int way = 0; way < 2; way++) {
            l->met[way] |= compared && l->meets[way];
            l->meets[way] = false;
        }
    }
}

static enum verdict_kind try_numbers(struct trying *t, struct draw d) {
    t->ctx.error = STR("");
    drawn_begin(&t->numbers, d, &t->all);
    note_ways(t, false);
    t->v.at = d;
    t->v.order = t->equals;
    t->settled = t->rounded = false;
    if (!sides_evaluate(t))
        return sides_not_evaluated(t, &t->ctx);
    int64_t before = t->elements;
    enum verdict_kind v = compare_all(t);
    note_ways(t, t->elements > before);
    if (v == VERDICT_DIFFERENT && t->rounded)
        sides_settle(t);
    return v;
}

/* ---- one kind of numbers ---- */

/* Between a constant and what it was rounded to few numbers are, and few numbers are equal in two inputs. */
static uint32_t samples_of(const struct trying *t, enum trial trial) {
    uint32_t n = t->ncompared ? t->compared[0].n : 1, enough = t->p->nloose && t->p->compares ? MANY : ENOUGH;
    uint32_t least = t->how.samples ? t->how.samples : 1;
    bool many = trial == TRIAL_THRESHOLDS || (trial == TRIAL_COARSE && t->how.whole);
    if (trial == TRIAL_POSITIVE)
        return least > 2 ? least : 2;
    if (demand_size(t->demand) > cheap)
        return 1;
    uint32_t wanted = trial == TRIAL_NEAR_EPSILON ? 4 : many && n < enough ? enough / n : 1;
    if (trial == TRIAL_COARSE && t->p->covers > wanted)
        wanted = t->p->covers;
    return wanted > least ? wanted : least;
}

/* The bound of an approximate form is one of many numbers: all of a few may be where it is far, or where it is near.
 * Where nothing is drawn all samples are one. */
static bool needs_more(const struct trying *t, enum trial trial, uint32_t sample) {
    bool near = false;
    if (t->p->ninputs == 0)
        return sample == 0;
    for (uint32_t i = 0; i < t->p->noutputs; i++)
        near |= t->distance[i].text.n && t->distance[i].n < ENOUGH;
    return sample < samples_of(t, trial) || (near && sample < ENOUGH);
}

static enum verdict_kind within_bound(struct trying *t) {
    bool approximate = false;
    for (uint32_t i = 0; i < t->p->noutputs; i++) {
        const struct squared_distance *d = &t->distance[i];
        if (d->text.n && !(d->error <= t->p->bound * t->p->bound * d->size))
            return sides_differ(t, d->text);
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

/* Some choice all elements of which, and some, went one way: by numbers that are drawn, or by constants alone, which
 * differ from element to element. What is infinite is met only by what the inputs make. */
static bool has_one_way(const struct trying *t, bool drawn) {
    bool found = false;
    for (uint32_t i = 0; i < t->all.n && t->p->choices; i++) {
        const struct lazy *l = t->all.all[i], *by = l->nin == 3 ? l->in[0].lazy : l;
        found |= lazy_has_one_way(l) && by->drawn == drawn && (drawn ? t->given || by->decided : by->tabled);
    }
    return found;
}

/* Many elements on one set of numbers, where parts may be few of all. */
static enum verdict_kind try_widely(struct trying *t) {
    uint32_t n = t->compared[0].n;
    double each = demand_size(t->demand) / n;
    uint32_t most = (uint32_t)fmin(wide / fmax(each, 1), MOST_WIDE);
    if (t->compared[0].sides[0]->n == n || t->p->any_order || most <= n || !elements_have_parts(t))
        return VERDICT_SAME;
    enum verdict_kind v = elements_ask(t, most, 2 * wide) ? try_kind(t, TRIAL_PLAIN) : VERDICT_SAME;
    return elements_ask(t, n, most_narrow) ? v : sides_not_evaluated(t, &t->ctx);
}

static enum verdict_kind try_kinds_once(struct trying *t) {
    enum verdict_kind v = VERDICT_SAME;
    t->elements = t->skipped = 0;
    for (uint32_t i = 0; i < t->all.n; i++)
        t->all.all[i]->met[0] = t->all.all[i]->met[1] = false;
    for (enum trial trial = 0; trial < TRIALS && v == VERDICT_SAME; trial++) {
        bool confirms = trial == TRIAL_PLAIN || trial == TRIAL_MASKED; /* where scores count, and where masks do */
        if (trial == TRIAL_EQUAL /* try_orders */ || (t->confirms && !confirms))
            continue;
        bool many = trial == TRIAL_POSITIVE || trial == TRIAL_COARSE;
        if (!trial_differs(t->p, trial) || (many && t->narrow && demand_size(t->demand) > dear))
            continue;
        if (t->p->excluded >> trial & 1) {
            t->v.same_outside |= is_same_outside(t, trial);
            continue;
        }
        v = try_kind(t, trial);
        if (v == VERDICT_SAME && trial == TRIAL_PLAIN && t->how.thorough && !t->confirms)
            v = try_widely(t);
        if (trial == TRIAL_THRESHOLDS && v == VERDICT_NONE)
            v = VERDICT_SAME;
    }
    t->v.one_way = has_one_way(t, false);
    if (v == VERDICT_SAME && (t->elements == 0 || has_one_way(t, true))) {
        t->v.why.text = t->elements == 0 ? STR("the result is no number anywhere")
                                         : STR("a condition is the same for all numbers that were tried");
        t->v.agrees = t->elements > 0;
        v = VERDICT_NONE;
    }
    return v;
}

/* Few elements, at one index of some dimension. */
static bool compares_few(const struct trying *t) {
    const struct compared *first = &t->compared[0];
    const struct shape *s = &first->sides[0]->shape;
    int64_t stride = 1;
    bool along = false;
    for (uint32_t d = s->rank; d-- > 0; stride *= s->dim[d]) {
        bool varies = s->dim[d] == 1;
        for (uint32_t i = 1; i < first->n && !varies; i++)
            varies = first->at[i] / stride % s->dim[d] != first->at[0] / stride % s->dim[d];
        along |= !varies;
    }
    return first->n <= FEW && first->sides[0]->n > first->n && along;
}

/* A constant is one number: where another choice of them explains a difference, it has to explain all numbers. */
static enum verdict_kind try_kinds(struct trying *t) {
    t->nsettled = 0;
    t->error = 0;
    t->settled = false;
    memset(t->shift, 0, sizeof t->shift);
    sides_shift(t, t->shift);
    enum verdict_kind v = try_kinds_once(t);
    while (v == VERDICT_DIFFERENT && t->settled) {
        t->settled = false;
        t->v = (struct verdict){.kind = VERDICT_NONE};
        v = try_kinds_once(t);
    }
    t->v.few = compares_few(t);
    t->v.rounding = t->nsettled ? t->error : 0;
    t->v.bends |= t->nsettled && t->p->thresholds.n > 0;
    return v;
}

static bool is_dear(const struct trying *t) {
    return t->demand ? t->least > sides_most(t) : t->ctx.why == REASON_TOO_LARGE;
}

static void count_inputs(struct trying *t) {
    uint32_t n = t->demand ? demand_inputs(t->demand) : 0;
    t->ninputs = n > t->ninputs ? n : t->ninputs;
}

/* Both sides, of inputs alone. */
static bool make_again(struct trying *t) {
    return sides_begin(t, t->narrow, t->equals) && sides_make(t) == VERDICT_SAME;
}

/* The reading at hand, in elements that are the same function of what both sides take, or else of the inputs. */
static enum verdict_kind try_sides(struct trying *t, bool *too_dear) {
    enum verdict_kind v = sides_make(t);
    *too_dear = false;
    if (v != VERDICT_SAME)
        return v;
    t->replaced = false;
    t->given = give_shared(t) && (!t->narrow || narrow_given(t));
    bool settled = t->given && elements_settle(t);
    count_inputs(t);
    *too_dear = t->given && is_dear(t); /* and made of the inputs they would be made of more */
    bool agrees = settled && !*too_dear && try_kinds(t) == VERDICT_SAME;
    t->given = false;
    take_back(t);
    if (agrees)
        return VERDICT_SAME;
    if (settled && !*too_dear && t->how.hasty) {
        t->nleft++;
        return VERDICT_NONE;
    }
    if (t->replaced && !*too_dear && !make_again(t))
        return sides_not_evaluated(t, &t->ctx);
    t->v = (struct verdict){.kind = VERDICT_NONE};
    settled = !*too_dear && elements_settle(t);
    count_inputs(t);
    *too_dear |= is_dear(t);
    return !settled || *too_dear ? sides_not_evaluated(t, &t->ctx) : try_kinds(t);
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
        bool good = sides_begin(t, 0, orders[i]);
        v = good ? sides_make(t) : sides_not_evaluated(t, &t->ctx);
        if (v == VERDICT_SAME && !elements_settle(t))
            v = sides_not_evaluated(t, &t->ctx);
        if (v == VERDICT_SAME && excluded && trial == TRIAL_EQUAL)
            outside = outside && is_same_outside(t, trial);
        else if (v == VERDICT_SAME)
            v = try_kind(t, trial);
    }
    t->v.same_outside |= outside;
    return v;
}

static enum verdict_kind try_varying(struct trying *t, uint32_t narrow, bool *too_dear) {
    *too_dear = false;
    return sides_begin(t, narrow, EQUALS_FIRST) ? try_sides(t, too_dear) : sides_not_evaluated(t, &t->ctx);
}

static enum verdict_kind try_narrow(struct trying *t) {
    bool too_dear;
    enum verdict_kind v = VERDICT_SAME;
    t->parts = narrow_parts(t->p);
    t->ninputs = 0;
    for (uint32_t i = 0; i < t->parts && v == VERDICT_SAME; i++)
        v = try_varying(t, i + 1, &too_dear);
    /* an operand of a product has to vary along what another one does not */
    for (uint32_t i = 0; i < t->parts && v == VERDICT_SAME && t->p->product_op != NONE && t->ninputs > 1; i++) {
        enum verdict_kind now = try_varying(t, i + 1 + NARROW / 2, &too_dear);
        v = now == VERDICT_NONE && too_dear ? v : now;
    }
    return v;
}

/* Anywhere, or else side by side: of so many a mask does not hide all. */
static bool ask_to_confirm(struct trying *t) {
    enum { CONFIRMED = 32 };
    if (elements_ask(t, CONFIRMED, most_confirmed))
        return true;
    t->in_a_row = true;
    bool asked = elements_ask(t, CONFIRMED, most_confirmed) || elements_settle(t);
    t->in_a_row = false;
    return asked;
}

/* Inputs that vary along some dimensions alone make rows alike, or columns: what takes one for another is not seen, as
 * in an attention without its mask. A few elements have to agree where inputs vary along all, if that can be had. */
static enum verdict_kind confirm(struct trying *t) {
    struct verdict told = t->v;
    t->confirms = true;
    bool asked = sides_begin(t, 0, EQUALS_FIRST) && sides_make(t) == VERDICT_SAME && ask_to_confirm(t) && !is_dear(t);
    enum verdict_kind v = asked ? try_kinds(t) : VERDICT_NONE;
    t->confirms = false;
    if (v == VERDICT_DIFFERENT)
        return v;
    t->v = told;
    t->v.few |= asked && compares_few(t);
    t->v.dear &= v == VERDICT_NONE;
    return VERDICT_SAME;
}

/* What two elements are made of is too much for inputs that vary along all dimensions: unless nothing else tells. */
static enum verdict_kind try_dear(struct trying *t) {
    bool too_dear;
    uint32_t left = t->nleft;
    enum verdict_kind v = try_narrow(t);
    t->v.dear = v == VERDICT_SAME && t->ncompared == 1;
    if (v == VERDICT_SAME && t->how.thorough && !t->p->sorts)
        return confirm(t);
    if (v != VERDICT_NONE || t->nleft > left || t->p->sorts)
        return v;
    struct verdict told = t->v;
    t->patient = true;
    v = try_varying(t, 0, &too_dear);
    t->patient = false;
    if (v == VERDICT_NONE)
        t->v = told;
    return v;
}

static void try_reading(struct trying *t) {
    bool too_dear;
    t->v = (struct verdict){.kind = VERDICT_NONE};
    bool other = t->narrow || t->equals != EQUALS_FIRST || t->all.n > MOST_NODES;
    enum verdict_kind v = other ? try_varying(t, 0, &too_dear) : try_sides(t, &too_dear);
    if (too_dear)
        v = try_dear(t);
    if (v == VERDICT_SAME)
        t->v.why = (struct reason){.text = STR("")}; /* of what was tried before */
    if (v == VERDICT_SAME && t->p->sorts)
        v = try_orders(t);
    t->v.kind = v;
}

/* ---- all readings ---- */

struct verdict same_try(const struct problem *p, struct effort how, struct arena *a) {
    struct trying *t = sides_of(p, how, a);
    struct verdict v = {.kind = VERDICT_NONE};
    bool more = sides_begin(t, 0, EQUALS_FIRST);
    if (!more)
        v.why = (struct reason){arena_str(a, t->ctx.error), t->ctx.why};
    uint32_t agreeing = 0, n = 0;
    for (; more && agreeing < MAX_AGREEING && n < MAX_READINGS && t->read < budget && v.kind != VERDICT_SAME; n++) {
        struct verdict said = v;
        uint32_t left = t->nleft;
        try_reading(t);
        agreeing += (t->v.kind == VERDICT_DIFFERENT || t->nleft > left) && t->v.at.trial != TRIAL_PLAIN;
        /* the first reading that differs is told of; one that was evaluated says more than one that was not */
        v = t->v.kind == VERDICT_SAME || !said.why.text.n || t->v.kind > said.kind ? t->v : said;
        more = t->v.kind != VERDICT_SAME && p->next && p->next(p->self);
    }
    if (v.kind == VERDICT_DIFFERENT && more && agreeing < MAX_AGREEING)
        v = (struct verdict){.kind = VERDICT_NONE,
                             .why.text = arena_printf(a, "%s has more alternatives than are tried", p->name)};
    v.misfit = v.kind == VERDICT_NONE && t->nfailed > 0 && t->nbeyond == 0;
    v.left = t->nleft > 0;
    sides_free(t);
    return v;
}
