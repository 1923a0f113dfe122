/* The leaves of a match get random numbers (numbers.c). The matched ops make of them the value of the root, the fused
 * form makes its own of what the match binds (form.c). Both are in doubles, so a difference is one of meaning. */
#include "prove/prove.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "prove/devices.h"
#include "prove/form.h"
#include "prove/numbers.h"
#include "prove/proofs.h"

enum { VARIATIONS = 3, CHOICES = 512 };

enum { BUDGET = 1 << 22, CHOICE_COST = 1 << 14 }; /* elements and steps after which no further choice is tried */

static const double relative = 1e-9, floor_of_largest = 1e-3;

/* ---- the verdict ---- */

static struct str index_text(struct arena *a, const struct shape *s, int64_t at) {
    int64_t index[TENSOR_RANK];
    struct str text = STR("[");
    for (uint32_t d = s->rank; d-- > 0; at /= s->dim[d])
        index[d] = at % s->dim[d];
    for (uint32_t d = 0; d < s->rank; d++)
        text = arena_printf(a, "%.*s%s%lld", (int)text.n, text.p, d ? ", " : "", (long long)index[d]);
    return arena_printf(a, "%.*s]", (int)text.n, text.p);
}

/* The elements of the operands that stand where the result differs, as far as they have its index. */
static struct str inputs_text(const struct proof *p, const struct tensor *root, int64_t at) {
    const struct mlir *m = p->match->graph->m;
    struct str text = STR("");
    for (uint32_t i = 0; i < p->nleaves; i++) {
        const struct tensor *t = p->given[i].tensor;
        struct str name = mlir_span(m, m->values[p->leaves[i].value].name);
        if (t->n == root->n && t->n > 0)
            text = arena_printf(p->arena, "%.*s%s%.*s = %.6g", (int)text.n, text.p, text.n ? ", " : "", (int)name.n,
                                name.p, t->x[at]);
    }
    return text.n ? arena_printf(p->arena, " (input %.*s)", (int)text.n, text.p) : text;
}

/* The sign of what is no number says nothing. */
static double unsigned_nan(double x) {
    return isnan(x) ? fabs(x) : x;
}

static struct str difference_text(const struct proof *p, const struct tensor *root, struct difference d) {
    struct str index = index_text(p->arena, &root->shape, d.at), inputs = inputs_text(p, root, d.at);
    return arena_printf(p->arena, "the fused form computes something else: at %.*s %.6g instead of %.6g%.*s",
                        (int)index.n, index.p, unsigned_nan(d.got), unsigned_nan(d.want), (int)inputs.n, inputs.p);
}

/* Where the match makes no number of inputs that are far out, the form may. */
static const struct tensor *where_finite(struct proof *p, const struct outcome *o) {
    struct tensor *t = tensor_copy(&p->bench, o->got);
    for (int64_t i = 0; t && i < t->n; i++)
        if (!isfinite(o->want->x[i]))
            t->x[i] = o->want->x[i];
    return t ? t : o->got;
}

/* What is wrong with a line of the form; empty: nothing. */
static struct str compare(struct proof *p, const struct outcome *o, int64_t *compared) {
    if (!shape_eq(&o->want->shape, &o->got->shape))
        return arena_printf(p->arena, "the fused form makes %s of what is %s", shape_text(p->arena, &o->got->shape).p,
                            shape_text(p->arena, &o->want->shape).p);
    const struct tensor *got = p->finite ? where_finite(p, o) : o->got;
    struct difference d = compare_worst(got, o->want, floor_of_largest, compared);
    double bound = p->match->pattern->approximate;
    bool exact = d.error <= relative;
    bool same = exact || (bound > 0 && d.error < INFINITY && compare_relative_l2(got, o->want) <= bound);
    p->approximate |= same && !exact;
    return same || d.at < 0 ? STR("") : difference_text(p, o->want, d);
}

/* ---- trials ---- */

enum verdict { SAME, NOT_EVALUATED, DIFFERENT };

/* Elements that are a number on some side, and those that are one on none. */
struct tally {
    int64_t compared, skipped;
};

struct finding {
    enum verdict verdict;
    struct str text; /* the difference, or why it was not evaluated */
};

/* The form with one choice of its alternatives. */
static struct finding try_choice(struct proof *p, struct tally *tally) {
    struct outcome lines[MAX_OUTCOMES] = {0};
    struct finding f = {SAME, STR("")};
    int64_t n = 0;
    p->bench.elements = p->bench.steps = 0;
    p->bench.error = STR("");
    uint32_t count = form_evaluate(p, lines);
    p->spent += CHOICE_COST + p->bench.elements + p->bench.steps;
    for (uint32_t device = 0; count > 0 && f.verdict == SAME; device++) {
        struct proof *q = device ? devices_other(p, device) : p;
        if (!q || (device && (count = devices_evaluate(p, device, lines)) == 0))
            break;
        for (uint32_t i = 0; i < count && f.verdict == SAME; i++) {
            f.text = compare(q, &lines[i], &n);
            f.verdict = f.text.n ? DIFFERENT : SAME;
            tally->compared += n;
            tally->skipped += lines[i].want->n - n;
        }
        p->approximate |= q->approximate;
    }
    if (count > 0)
        return f;
    p->nfailed++;
    p->nbeyond += p->bench.beyond;
    return (struct finding){NOT_EVALUATED, arena_str(p->arena, p->bench.error)};
}

static bool says_more(const struct finding *f, const struct finding *than) {
    return !than->text.n || f->verdict > than->verdict;
}

static struct finding try_frame(struct proof *p, struct tally *tally) {
    struct finding first = {NOT_EVALUATED, STR("")};
    p->choice.n = 0;
    p->bench.error = STR("");
    if (!form_names(p))
        return (struct finding){NOT_EVALUATED, arena_str(p->arena, p->bench.error)};
    uint32_t tried = 0;
    do {
        struct finding f = try_choice(p, tally);
        if (f.verdict == SAME)
            return f;
        if (says_more(&f, &first))
            first = f;
    } while (++tried < CHOICES && p->spent < p->budget && formula_choice_next(&p->choice));
    return first;
}

/* The fused op computes the same where one of the alternatives that its form writes does, in the axes of one of the
 * ops; that is left in `p`. The first of them speaks for all where none does. */
static struct finding find_choice(struct proof *p, struct tally *tally) {
    struct finding first = {NOT_EVALUATED, STR("")};
    for (uint32_t k = 0; k < p->nframes; k++) {
        p->frame = p->frames[k];
        struct finding f = try_frame(p, tally);
        if (f.verdict == SAME)
            return f;
        if (says_more(&f, &first))
            first = f;
    }
    return first;
}

/* Inputs of a trial that may be stated to be no part of the claim. */
static enum outside what_is_tried(enum trial trial) {
    return trial == TRIAL_SHUT    ? OUTSIDE_MASKED_ROWS
           : trial == TRIAL_TIES  ? OUTSIDE_TIES
           : trial == TRIAL_SMALL ? OUTSIDE_SMALL
                                  : OUTSIDE_NOTHING;
}

/* Where the order of equal elements can be seen, the form has to keep that of the match whatever it does with them. */
static struct finding try_ties(struct proof *p, bool ordered, struct tally *tally) {
    struct finding f = try_choice(p, tally);
    if (f.verdict != SAME || !ordered)
        return f;
    p->bench.equals = EQUALS_LAST;
    return try_choice(p, tally);
}

static struct finding try_once(struct proof *p, enum trial trial, uint32_t violated, struct tally *tally) {
    struct arena scratch = {0};
    struct finding f = {NOT_EVALUATED, STR("")};
    bool ordered = numbers_show_order(p);
    p->bench = (struct bench){.arena = &scratch, .mesh = devices_mesh(p)};
    p->bench.equals = trial == TRIAL_TIES && !ordered ? EQUALS_POINTED : EQUALS_FIRST;
    if (!numbers_make(p, trial, violated) || !form_begin(p) || (trial != TRIAL_PLAIN && !form_names(p)))
        f.text = arena_str(p->arena, p->bench.error);
    else if (trial == TRIAL_PLAIN)
        f = find_choice(p, tally);
    else
        f = try_ties(p, trial == TRIAL_TIES && ordered, tally);
    arena_free(&scratch);
    return f;
}

/* A first look has what says something of this match, and not more of the same. */
static bool is_tried(const struct proof *p, enum trial trial) {
    return numbers_differ(p, trial) && !(p->few && trial == TRIAL_COARSE);
}

/* It is the same in a trial that is stated to be no part of the claim. What is no number on both sides does not tell.
 */
static bool is_same_outside(struct proof *p, enum trial trial) {
    struct tally tally = {0};
    return try_once(p, trial, NONE, &tally).verdict == SAME && tally.skipped == 0;
}

/* Around the limits. What cannot be evaluated there says nothing. */
static struct finding try_limits(struct proof *p, uint32_t violated) {
    struct tally none = {0};
    p->finite = true;
    struct finding f = try_once(p, TRIAL_LIMITS, violated, &none);
    p->finite = false;
    return f.verdict == DIFFERENT ? f : (struct finding){SAME, STR("")};
}

/* On numbers of all kinds. `violated`: the leaf of which what is stated does not hold, or NONE. */
static struct finding try_all(struct proof *p, uint32_t violated) {
    struct finding f = {SAME, STR("")};
    struct tally tally = {0};
    for (uint32_t i = 0; i < TRIALS && f.verdict == SAME; i++) {
        enum trial trial = (enum trial)i;
        enum outside what = what_is_tried(trial);
        if (!is_tried(p, trial))
            continue;
        if (trial == TRIAL_LIMITS)
            f = try_limits(p, violated);
        else if (what == OUTSIDE_NOTHING || !form_outside(p, what))
            f = try_once(p, trial, violated, &tally);
        else if (violated == NONE)
            p->same_outside |= is_same_outside(p, trial);
        if (trial == TRIAL_PLAIN && violated == NONE)
            p->plain = p->spent;
    }
    if (f.verdict == SAME && tally.compared == 0)
        return (struct finding){NOT_EVALUATED, STR("the result is no number anywhere")};
    return f;
}

/* ---- preconditions ---- */

/* Each one violated on its own, while the others hold: how many make a difference, and the leaves of those that make
 * none. */
struct preconditions {
    uint32_t needed, nneedless, needless[MAX_LEAVES];
};

static void violate(struct proof *p, struct preconditions *out) {
    *out = (struct preconditions){0};
    bool approximate = p->approximate;
    for (uint32_t i = 0; i < p->nleaves; i++) {
        if (!numbers_stated(p, i))
            continue;
        p->spent = 0;
        enum verdict v = try_all(p, i).verdict;
        out->needed += v == DIFFERENT;
        if (v == SAME)
            out->needless[out->nneedless++] = i;
    }
    p->approximate = approximate;
}

static struct str needless_names(const struct proof *p, const struct preconditions *all) {
    const struct mlir *m = p->match->graph->m;
    struct str text = STR("");
    for (uint32_t i = 0; i < all->nneedless; i++) {
        struct str name = mlir_span(m, m->values[p->leaves[all->needless[i]].value].name);
        text = arena_printf(p->arena, "%.*s%s%.*s", (int)text.n, text.p, i ? ", " : "", (int)name.n, name.p);
    }
    return text;
}

/* ---- the device ---- */

static void round_given(struct proof *p) {
    struct proof *q;
    for (uint32_t i = 1; (q = devices_other(p, i)); i++)
        round_given(q);
    for (uint32_t i = 0; i < p->nleaves; i++) {
        struct tensor *t = tensor_copy(&p->bench, p->given[i].tensor);
        if (!t)
            return;
        tensor_round(t, graph_dtype(p->match->graph, p->given[i].value), ROUND_EVEN);
        p->given[i].tensor = t;
    }
}

/* Products of the fused op are made as the first one of the match is. */
static void product_as_matched(struct proof *p) {
    const struct match *m = p->match;
    for (uint32_t i = 0; i < m->nops; i++)
        if (graph_class(m->graph, m->ops[i]) == OP_CONTRACT) {
            p->bench.product_type = graph_dtype(m->graph, graph_operands(m->graph, m->ops[i])[0]);
            mlir_attr(m->graph->m, m->ops[i], "compute_config", &p->bench.product_config);
            return;
        }
}

/* The first line: what the ops make of the inputs at hand in one kind of arithmetic, and the form in another. */
static bool first_line(struct proof *p, enum arithmetic ops, enum arithmetic form, struct outcome *out) {
    struct outcome lines[MAX_OUTCOMES];
    p->bench.arithmetic = ops;
    if (!form_begin(p) || !form_names(p))
        return false;
    p->bench.arithmetic = form;
    if (!form_evaluate(p, lines) || !shape_eq(&lines[0].want->shape, &lines[0].got->shape))
        return false;
    *out = lines[0];
    return true;
}

static void measure(struct proof *p, struct effect *e) {
    struct outcome exact, device;
    if (!numbers_make(p, TRIAL_PLAIN, NONE))
        return;
    product_as_matched(p);
    round_given(p);
    if (!first_line(p, EXACT, EXACT, &exact) || !first_line(p, DEVICE, INSIDE, &device))
        return;
    struct tensor *stored = tensor_copy(&p->bench, device.got);
    if (!stored)
        return;
    tensor_round(stored, e->type, ROUND_PACKER);
    const struct tensor *both[] = {device.want, stored};
    for (int i = 0; i < 2; i++) {
        e->pcc[i] = compare_pcc(both[i], exact.want);
        e->error[i] = compare_relative_l2(both[i], exact.want);
        e->ulp[i] = compare_ulp(both[i], exact.want, e->type);
    }
    e->known = isfinite(e->pcc[1]) && isfinite(e->error[0]) && isfinite(e->error[1]);
}

static struct effect effect_of(struct proof *p, bool blackhole) {
    struct effect e = {.type = graph_dtype(p->match->graph, form_root(p)), .blackhole = blackhole};
    struct arena scratch = {0};
    if (e.type == DT_NONE || e.type == DT_OTHER || format_is_integer(e.type))
        return e;
    p->bench = (struct bench){.arena = &scratch, .mesh = devices_mesh(p), .blackhole = blackhole};
    measure(p, &e);
    arena_free(&scratch);
    return e;
}

/* ---- one match ---- */

static bool prepare(struct proof *p) {
    if (!form_prepare(p))
        return false;
    numbers_find(p, form_root(p));
    for (uint32_t i = 0; i < p->match->nops; i++)
        for (uint32_t r = 0; r < p->match->graph->m->ops[p->match->ops[i]].nresults; r++)
            numbers_find(p, p->match->graph->m->ops[p->match->ops[i]].first_result + r);
    for (uint32_t i = 0; i < p->fused->nslots; i++)
        if (p->fused->slot_is_variable[i] && form_is_bound(p, form_slot(p, i)))
            numbers_find(p, p->bound.slots[form_slot(p, i)].value);
    return (!p->too_many || bench_fail(&p->bench, "too many operands")) && numbers_roles(p) && devices_prepare(p);
}

static struct finding examine(struct proof *p) {
    if (!p->match->pattern->fused.n)
        return (struct finding){NOT_EVALUATED, STR("the pattern has no `fused`")};
    if (!prepare(p))
        return (struct finding){NOT_EVALUATED, p->bench.error};
    return try_all(p, NONE);
}

/* What was searched for has to give what the ops give: else it is the reading of the place that is wrong, not the fused
 * form. */
static bool reads_rightly(const struct proof *p) {
    struct proof *own = arena_alloc(p->arena, sizeof *own);
    *own = (struct proof){
        .prover = p->prover, .match = p->match, .arena = p->arena, .budget = BUDGET, .few = p->few, .own = true};
    own->bench.arena = p->arena;
    return prepare(own) && try_all(own, NONE).verdict == SAME;
}

static struct proved verdict_of(struct proof *p) {
    struct finding f = examine(p);
    if (f.verdict == NOT_EVALUATED)
        return (struct proved){.text = f.text, .misfit = p->nfailed > 0 && p->nbeyond == 0};
    if (f.verdict == DIFFERENT && !reads_rightly(p))
        return (struct proved){.text = STR("how the place is laid out is not understood")};
    if (f.verdict == DIFFERENT)
        return (struct proved){.kind = VERDICT_DIFFERENT, .text = f.text};
    return (struct proved){.kind = VERDICT_SAME};
}

static struct proof *proof_new(struct prover *self, const struct match *m, struct arena *a) {
    struct proof *p = arena_alloc(a, sizeof *p);
    *p = (struct proof){.prover = self, .match = m, .arena = a, .bench = {.arena = a}, .budget = BUDGET};
    return p;
}

struct proved prove_match(const struct pattern_set *set, const struct match *m, bool blackhole, struct arena *a) {
    struct prover self = {.set = set};
    struct proof *p = proof_new(&self, m, a);
    struct proved v = verdict_of(p);
    if (v.kind == VERDICT_SAME) {
        struct preconditions all;
        v.effect = effect_of(p, blackhole);
        violate(p, &all);
        v.needed = all.needed;
        v.needless = needless_names(p, &all);
    }
    v.same_outside = p->same_outside;
    v.bound = p->approximate ? m->pattern->approximate : 0;
    v.spent = p->plain;
    return v;
}

struct proved prove_function(const struct pattern_set *set, const struct match *m, uint64_t seed, struct arena *a) {
    struct prover self = {.set = set, .seed = seed};
    return verdict_of(proof_new(&self, m, a));
}

/* ---- one example ---- */

static struct str unproved(struct proof *p, struct str why) {
    struct pattern const *pattern = p->match->pattern;
    p->prover->unproved++;
    if (p->prover->say_unproved)
        diag_add(p->prover->diags, SEV_NOTE, (struct place){pattern->file.p, p->example->line, 0}, NULL,
                 "%.*s: hit: not evaluated: %.*s", (int)pattern->name.n, pattern->name.p, (int)why.n, why.p);
    return STR("");
}

/* The smallest extents in which the difference is still there, and what was changed. */
static struct str smallest(const struct proof *p, const struct variation *v, struct str text) {
    struct variation least = *v;
    least.which = 0;
    least.types = TYPES_KEPT;
    struct proved small = prove_variation(p->prover->set, p->match, &least, p->arena);
    text = small.kind == VERDICT_DIFFERENT ? small.text : text;
    return v->change ? arena_printf(p->arena, "%s: %.*s", change_name(v->change), (int)text.n, text.p) : text;
}

/* Text where a variation is not the same. */
static struct str try_variation(struct proof *p, const struct variation *v) {
    struct proved r = prove_variation(p->prover->set, p->match, v, p->arena);
    p->prover->varied += r.kind == VERDICT_SAME;
    if (r.misfit && v->change)
        return arena_printf(p->arena, "%s the fused form does not fit the match: %.*s", change_name(v->change),
                            (int)r.text.n, r.text.p);
    return r.kind == VERDICT_DIFFERENT ? smallest(p, v, r.text) : STR("");
}

/* In other extents and element types, in another rank, with an op less and with one more, as the seed says. What is no
 * place of the pattern any more is none. */
static struct str vary(struct proof *p) {
    static const enum change changes[] = {CHANGE_RANK, CHANGE_BATCH,  CHANGE_NO_LEAD,
                                          CHANGE_DROP, CHANGE_INSERT, CHANGE_INSERT};
    uint64_t seed = p->prover->seed;
    struct str wrong = STR("");
    for (uint32_t i = 0; i < VARIATIONS && !wrong.n; i++)
        wrong = try_variation(p, &(struct variation){.which = (uint32_t)(i ? 1 + (seed + i) % 4 : 0),
                                                     .types = (enum variation_types)((seed + i) % TYPES_COUNT),
                                                     .seed = seed + i + 1});
    for (uint32_t i = 0; i < sizeof changes / sizeof *changes && !wrong.n; i++)
        wrong = try_variation(p, &(struct variation){.which = (uint32_t)((seed + i) % 3),
                                                     .types = TYPES_KEPT,
                                                     .change = changes[i],
                                                     .seed = seed_of(seed, i)});
    return wrong;
}

struct str prove_example(void *self, const struct match *m, const struct example *e, struct arena *a) {
    struct proof *p = proof_new(self, m, a);
    p->example = e;
    p->budget = UINT64_MAX;
    p->few = true;
    if (!m->pattern->fused.n)
        p->prover->formless++;
    struct finding f = examine(p);
    if (f.verdict == NOT_EVALUATED && p->nfailed > 0 && p->nbeyond == 0) /* as `misfit` */
        return arena_printf(a, "the fused form does not fit the match: %.*s", (int)f.text.n, f.text.p);
    if (f.verdict == NOT_EVALUATED)
        return unproved(p, f.text);
    if (f.verdict == DIFFERENT)
        return smallest(p, &(struct variation){.types = TYPES_KEPT, .seed = p->prover->seed}, f.text);
    if (p->same_outside)
        return STR("it computes the same in what is stated to be outside of the claim: that need not be stated");
    struct preconditions all;
    violate(p, &all);
    if (all.nneedless)
        return arena_printf(a,
                            "it computes the same where the precondition of %s does not hold: that need not be stated",
                            needless_names(p, &all).p);
    struct str wrong = vary(p);
    p->prover->proved += wrong.n == 0;
    return wrong;
}
