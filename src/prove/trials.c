/* Both sides are evaluated in f64, where rounding is far below a difference in meaning: a sum of n terms of one sign
 * has a relative error of at most about n * 2^-53, 1e-12 for ten thousand terms, in whatever order it is taken (Higham,
 * Accuracy and Stability of Numerical Algorithms, 4.2). So what differs by more than 1e-9 is another function. */
#include "prove/trials.h"

#include <math.h>

#include "prove/compare.h"
#include "prove/devices.h"
#include "prove/form_attributes.h"
#include "prove/reference.h"

/* Alternatives of a form that are tried in a frame, and what an evaluation counts beside its elements and steps, so
 * that the budget bounds the alternatives of small tensors, too. */
enum { MAX_ALTERNATIVES = 512, MAX_AGREEING = 4, CHOICE_COST = 1 << 14 };

/* A difference is relative to the element, or to a thousandth of the largest element of the tensor where the element is
 * smaller than that: sums that cancel leave small elements with large relative errors. */
static const double tolerance = 1e-9, floor_of_largest = 1e-3;

/* ---- one output ---- */

struct str index_text(struct arena *a, const struct shape *s, int64_t at) {
    int64_t index[TENSOR_RANK];
    struct str text = STR("[");
    for (uint32_t d = s->rank; d-- > 0; at /= s->dim[d])
        index[d] = at % s->dim[d];
    for (uint32_t d = 0; d < s->rank; d++)
        text = arena_printf(a, "%.*s%s%lld", (int)text.n, text.p, d ? ", " : "", (long long)index[d]);
    return arena_printf(a, "%.*s]", (int)text.n, text.p);
}

/* The elements of those inputs that have as many as the result, at the same place: they help to read elementwise ops.
 */
static struct str inputs_text(const struct device_run *run, const struct tensor *root, int64_t at) {
    const struct mlir *m = reference_graph(run->ref)->m;
    struct str text = STR("");
    for (uint32_t i = 0; i < run->ref->ninputs; i++) {
        const struct tensor *t = run->given[i].tensor;
        struct str name = mlir_span(m, m->values[run->ref->inputs[i].value].name);
        if (t->n == root->n && t->n > 0)
            text = arena_printf(run->ref->arena, "%.*s%s%.*s = %.6g", (int)text.n, text.p, text.n ? ", " : "",
                                (int)name.n, name.p, t->x[at]);
    }
    return text.n ? arena_printf(run->ref->arena, " (input %.*s)", (int)text.n, text.p) : text;
}

/* NaN prints as "nan" whatever its sign bit is, which depends on the machine. */
static double unsigned_nan(double x) {
    return isnan(x) ? fabs(x) : x;
}

static struct str difference_text(const struct device_run *run, const struct tensor *root, struct difference d) {
    struct arena *a = run->ref->arena;
    struct str index = index_text(a, &root->shape, d.at), inputs = inputs_text(run, root, d.at);
    return arena_printf(a, "the fused form computes something else: at %.*s %.6g instead of %.6g%.*s", (int)index.n,
                        index.p, unsigned_nan(d.got), unsigned_nan(d.want), (int)inputs.n, inputs.p);
}

/* The result of the form with the elements that are not finite in the match taken from there: they are not compared. */
static const struct tensor *where_finite(struct device_run *run, const struct output *o) {
    struct tensor *t = tensor_copy(&run->eval, o->got);
    for (int64_t i = 0; t && i < t->n; i++)
        if (!isfinite(o->want->x[i]))
            t->x[i] = o->want->x[i];
    return t ? t : o->got;
}

/* Adds what is finite on both sides. */
static void add_distance(struct distance *d, const struct tensor *got, const struct tensor *want) {
    for (int64_t i = 0; i < want->n; i++)
        if (isfinite(got->x[i]) && isfinite(want->x[i])) {
            d->error += (got->x[i] - want->x[i]) * (got->x[i] - want->x[i]);
            d->size += want->x[i] * want->x[i];
        }
    d->n += want->n;
}

/* What is wrong with an output of the form on a device; empty: nothing, but perhaps its distance. `compared`: elements
 * that are a number on some side. */
static struct str compare(struct proof *p, struct device_run *run, const struct output *o, struct distance *distance,
                          bool finite, int64_t *compared) {
    struct arena *a = run->ref->arena;
    if (!shape_eq(&o->want->shape, &o->got->shape))
        return arena_printf(a, "the fused form makes %s of what is %s", shape_text(a, &o->got->shape).p,
                            shape_text(a, &o->want->shape).p);
    const struct tensor *got = finite ? where_finite(run, o) : o->got;
    struct difference d = compare_worst(got, o->want, floor_of_largest, compared);
    bool finite_here =
        isfinite(d.got) && isfinite(d.want); /* 0 wanted is infinitely far in relation, and may be near */
    if (finite_here)
        add_distance(distance, got, o->want);
    if (d.error <= tolerance)
        return STR("");
    struct str text = difference_text(run, o->want, d);
    if (!finite_here || p->ref.match->pattern->approximate == 0)
        return text;
    distance->text = text;
    return STR("");
}

/* ---- one trial ---- */

/* Elements of the outputs of trials: those that are a number on some side, and those that are NaN on both. */
struct tally {
    int64_t compared, skipped;
};

/* Compares the outputs on one device. */
static struct trial_result compare_outputs(struct proof *p, struct device_run *run, const struct output *outputs,
                                           uint32_t n, bool finite, struct tally *tally) {
    struct trial_result result = {TRIAL_SAME, STR("")};
    for (uint32_t i = 0; i < n && result.verdict == TRIAL_SAME; i++) {
        int64_t compared = 0;
        result.text = compare(p, run, &outputs[i], &p->distance[i], finite, &compared);
        result.verdict = result.text.n ? TRIAL_DIFFERENT : TRIAL_SAME;
        tally->compared += compared;
        tally->skipped += outputs[i].want->n - compared;
    }
    return result;
}

static struct trial_result not_evaluated(struct proof *p) {
    return (struct trial_result){TRIAL_NOT_EVALUATED, arena_str(p->ref.arena, p->run.eval.error)};
}

/* Evaluates the form with the choice at hand and compares it on all devices. In the trial of thresholds elements that
 * the match does not make finite are not compared. */
static struct trial_result evaluate_choice(struct proof *p, struct tally *tally) {
    bool finite = p->trial == TRIAL_THRESHOLDS;
    struct output outputs[MAX_OUTPUTS] = {0};
    struct trial_result result = {TRIAL_SAME, STR("")};
    struct eval_context *b = &p->run.eval;
    b->elements = b->steps = 0;
    b->error = STR("");
    uint32_t n = devices_evaluate_form(&p->run, outputs);
    p->totals.cost += b->elements + b->steps;
    if (n > 0)
        result = compare_outputs(p, &p->run, outputs, n, finite, tally);
    struct device_run *other;
    for (uint32_t i = 1; n > 0 && result.verdict == TRIAL_SAME && (other = devices_other(&p->run, i)); i++)
        if ((n = devices_evaluate_other(&p->run, i, outputs)) > 0)
            result = compare_outputs(p, other, outputs, n, finite, tally);
    if (n > 0)
        return result;
    p->totals.nfailed++;
    p->totals.nbeyond += b->beyond;
    return not_evaluated(p);
}

/* The bound of an approximate form is one of many numbers: all of a few may be where it is far, or where it is near.
 * False: there are enough, or no others could be evaluated. */
static bool take_more_numbers(struct proof *p) {
    enum { ENOUGH = 256 };
    if (p->ref.match->pattern->approximate == 0 || p->distance[0].n >= ENOUGH || p->run.sample >= ENOUGH)
        return false;
    p->run.sample++;
    return devices_make_numbers(&p->run, p->trial, p->violated) && devices_evaluate_match(&p->run) &&
           form_bind(&p->run);
}

/* The choice at hand. */
static struct trial_result try_choice(struct proof *p, struct tally *tally) {
    double bound = p->ref.match->pattern->approximate;
    struct trial_result r;
    bool approximate = false;
    memset(p->distance, 0, sizeof p->distance);
    p->totals.cost += CHOICE_COST;
    do
        r = evaluate_choice(p, tally);
    while (r.verdict == TRIAL_SAME && take_more_numbers(p));
    for (uint32_t i = 0; i < p->form.noutputs && r.verdict == TRIAL_SAME; i++) {
        const struct distance *d = &p->distance[i];
        approximate |= d->text.n > 0;
        if (d->text.n && !(d->error <= bound * bound * d->size))
            r = (struct trial_result){TRIAL_DIFFERENT, d->text};
    }
    p->totals.approximate |= approximate && r.verdict == TRIAL_SAME;
    return r;
}

/* The first result counts, but one that was evaluated counts more than one that was not. */
static bool says_more(const struct trial_result *r, const struct trial_result *than) {
    return !than->text.n || r->verdict > than->verdict;
}

/* Tries the alternatives of the form in the frame at hand; the one that agrees is left in the run. `skip`: those that
 * agree and are passed over. */
static struct trial_result try_frame(struct proof *p, uint32_t *skip, struct tally *tally) {
    struct trial_result first = {TRIAL_NOT_EVALUATED, STR("")};
    p->run.choice.n = 0;
    p->run.eval.error = STR("");
    if (!form_bind(&p->run))
        return not_evaluated(p);
    uint32_t tried = 0;
    bool more = true, can = true;
    do {
        struct trial_result r = try_choice(p, tally);
        if (r.verdict == TRIAL_SAME && (*skip)-- == 0)
            return r;
        if (r.verdict != TRIAL_SAME && says_more(&r, &first))
            first = r;
        more = formula_choice_next(&p->run.choice);
        can = ++tried < MAX_ALTERNATIVES && p->totals.cost < p->budget;
    } while (more && can);
    p->totals.untried |= more;
    return first;
}

/* A form claims that one of its alternatives, in the axes of some op, computes what the match does. Both are left in
 * the run. Where none agrees, the first one that was evaluated gives the text. */
static struct trial_result find_choice(struct proof *p, struct tally *tally) {
    struct trial_result first = {TRIAL_NOT_EVALUATED, STR("")};
    uint32_t skip = p->skip;
    for (uint32_t k = 0; k < p->form.nframes; k++) {
        p->run.frame = p->form.frames[k];
        struct trial_result r = try_frame(p, &skip, tally);
        if (r.verdict == TRIAL_SAME)
            return r;
        if (says_more(&r, &first))
            first = r;
    }
    return first;
}

/* What a pattern excludes from its claim to leave this trial out. */
static enum outside excluded_by(enum trial trial) {
    return trial == TRIAL_MASKED_ROWS    ? OUTSIDE_MASKED_ROWS
           : trial == TRIAL_EQUAL        ? OUTSIDE_TIES
           : trial == TRIAL_NEAR_EPSILON ? OUTSIDE_SMALL
                                         : OUTSIDE_NOTHING;
}

/* One trial. Where the order of equal elements can be observed, the form has to keep that of the match both if sorts
 * keep their order and if they reverse it; where it cannot, indices count as the elements that they point to. */
static struct trial_result try_once(struct proof *p, enum trial trial, uint32_t violated, struct tally *tally) {
    struct arena scratch = {0};
    struct trial_result r;
    struct device_run *run = &p->run;
    bool ordered = reference_shows_order(&p->ref);
    p->trial = trial;
    p->violated = violated;
    run->eval = (struct eval_context){.arena = &scratch, .lowerings = p->ref.set, .mesh = run->mesh};
    run->eval.equals = trial == TRIAL_EQUAL && !ordered ? EQUALS_POINTED : EQUALS_FIRST;
    bool ready = devices_make_numbers(run, trial, violated) && devices_evaluate_match(run);
    if (!ready || (trial != TRIAL_PLAIN && !form_bind(run)))
        r = not_evaluated(p);
    else if (trial == TRIAL_PLAIN)
        r = find_choice(p, tally);
    else
        r = try_choice(p, tally);
    if (trial == TRIAL_EQUAL && ordered && r.verdict == TRIAL_SAME) {
        run->eval.equals = EQUALS_LAST;
        r = try_choice(p, tally);
    }
    run->sample = 0;
    arena_free(&scratch);
    return r;
}

/* The sides agree in a trial that the pattern excludes. Elements that are NaN on both do not tell. */
static bool is_same_outside(struct proof *p, enum trial trial) {
    struct tally tally = {0};
    return try_once(p, trial, NONE, &tally).verdict == TRIAL_SAME && tally.skipped == 0;
}

/* Far beyond a threshold numbers may not be finite; what cannot be evaluated there says nothing. */
static struct trial_result try_thresholds(struct proof *p, uint32_t violated) {
    struct tally unused = {0};
    struct trial_result r = try_once(p, TRIAL_THRESHOLDS, violated, &unused);
    return r.verdict == TRIAL_DIFFERENT ? r : (struct trial_result){TRIAL_SAME, STR("")};
}

/* Its numbers are those of TRIAL_PLAIN in other sizes. */
static bool is_of_other_size(enum trial trial) {
    return trial == TRIAL_POSITIVE || trial == TRIAL_COARSE || trial == TRIAL_NEAR_EPSILON;
}

/* `violated`: the input whose precondition does not hold, or NONE. */
static struct trial_result try_all(struct proof *p, uint32_t violated) {
    struct trial_result r = {TRIAL_SAME, STR("")};
    struct tally tally = {0};
    for (uint32_t i = 0; i < TRIALS && r.verdict == TRIAL_SAME; i++) {
        enum trial trial = (enum trial)i;
        enum outside excluded = excluded_by(trial);
        if (!trial_differs(&p->ref, trial) || (p->brief && tally.compared > 0 && is_of_other_size(trial)))
            continue;
        if (trial == TRIAL_THRESHOLDS)
            r = try_thresholds(p, violated);
        else if (excluded == OUTSIDE_NOTHING || !form_excludes(&p->ref, &p->form, excluded))
            r = try_once(p, trial, violated, &tally);
        else if (violated == NONE)
            p->totals.same_outside |= is_same_outside(p, trial);
    }
    if (r.verdict == TRIAL_SAME && tally.compared == 0)
        return (struct trial_result){TRIAL_NOT_EVALUATED, STR("the result is no number anywhere")};
    return r;
}

struct trial_result proof_try_all(struct proof *p) {
    struct trial_result first = try_all(p, NONE), r = first;
    while (r.verdict == TRIAL_DIFFERENT && ++p->skip < MAX_AGREEING)
        r = try_all(p, NONE);
    return r.verdict == TRIAL_SAME ? r : first;
}

/* ---- preconditions ---- */

void proof_violate(struct proof *p, struct preconditions *out) {
    *out = (struct preconditions){0};
    bool approximate = p->totals.approximate;
    for (uint32_t i = 0; i < p->ref.ninputs; i++) {
        if (!input_has_precondition(&p->ref, i, p->run.mesh != NULL))
            continue;
        p->totals.cost = 0;
        enum trial_verdict v = try_all(p, i).verdict;
        out->needed += v == TRIAL_DIFFERENT;
        if (v == TRIAL_SAME)
            out->needless[out->nneedless++] = i;
    }
    p->totals.approximate = approximate;
}

struct str needless_names(const struct proof *p, const struct preconditions *all) {
    const struct mlir *m = reference_graph(&p->ref)->m;
    struct str text = STR("");
    for (uint32_t i = 0; i < all->nneedless; i++) {
        struct str name = mlir_span(m, m->values[p->ref.inputs[all->needless[i]].value].name);
        text = arena_printf(p->ref.arena, "%.*s%s%.*s", (int)text.n, text.p, i ? ", " : "", (int)name.n, name.p);
    }
    return text;
}
