/* Inputs of the match get random numbers; the matched ops compute the value of the root from them, the fused form
 * computes its own from the values that the pattern binds (fused_form.c). A form claims that one of its alternatives,
 * in the axes of some op, computes what the match does: each is a reading. */
#include "proof/prove/prove.h"

#include <math.h>

#include "proof/elements/same.h"
#include "proof/prove/form_attributes.h"
#include "proof/prove/fused_form.h"
#include "proof/prove/reference.h"

struct proof *proof_new(const struct pattern_set *set, const struct match *m, uint64_t seed, struct arena *a) {
    struct proof *p = arena_alloc(a, sizeof *p);
    *p = (struct proof){.ref = {.set = set, .match = m, .arena = a}, .effort = {.seed = seed, .samples = 1}};
    return p;
}

/* ---- the form as the other side ---- */

/* Names of the form in one frame, kept on a device from one alternative to the next. */
struct bound_names {
    uint32_t frame;
    const struct tensor *of[MAX_SLOTS];
};

static void bind_names(const struct proof *p, struct form_run *run, struct evaluated *e) {
    struct bound_names *names = e->kept;
    bool bound = names && names->frame == p->frame;
    if (!bound)
        names = e->kept = arena_alloc(e->eval->arena, sizeof *names);
    run->names = names->of;
    names->frame = NONE;
    if (!bound)
        form_bind(run);
    names->frame = p->frame;
}

struct form_attempt {
    const struct proof *proof;
    struct form_run *run;
    struct evaluated *evaluated;
    const struct tensor **got;
};

static void attempt_form(struct eval_context *ctx, void *self) {
    const struct form_attempt *a = self;
    (void)ctx;
    bind_names(a->proof, a->run, a->evaluated);
    form_evaluate(a->run, a->got);
}

/* For problem.other. */
static bool evaluate_form(void *self, struct evaluated *e, const struct tensor *got[MAX_OUTPUTS]) {
    struct proof *p = self;
    struct form_run run = {.ref = &p->ref,
                           .form = &p->form,
                           .eval = e->eval,
                           .given = e->given,
                           .values = e->values,
                           .frame = &p->form.frames[p->frame],
                           .choice = p->choice};
    bool good = eval_attempt(e->eval, attempt_form, &(struct form_attempt){p, &run, e, got});
    if (e->eval->device == 0)
        p->choice = run.choice;
    return good;
}

/* For problem.next. */
static bool next_reading(void *self) {
    struct proof *p = self;
    if (formula_choice_next(&p->choice))
        return true;
    p->choice.n = 0;
    return ++p->frame < p->form.nframes;
}

static struct verdict try_from_first(struct proof *p) {
    p->frame = 0;
    p->choice.n = 0;
    return same_try(&p->ref.problem, p->effort, p->ref.arena);
}

/* One that agrees is looked for before it is known how others differ. */
static struct verdict try_readings(struct proof *p) {
    p->effort.hasty = true;
    struct verdict v = try_from_first(p);
    p->effort.hasty = false;
    if (v.left && v.kind != VERDICT_SAME)
        v = try_from_first(p);
    if (v.kind == VERDICT_NONE && v.misfit) {
        p->effort.fixed = true;
        v = try_from_first(p);
    }
    return v;
}

/* ---- setting up ---- */

/* Everything below the compared values and the operands of the form is evaluated or is an input. */
static bool prepare_reference(struct proof *p, struct eval_context *b) {
    struct reference *r = &p->ref;
    const struct mlir *m = reference_graph(r)->m;
    for (uint32_t i = 0; i < p->form.formula->nslots; i++)
        if (p->form.name_at[i] != NONE)
            reference_give(r, p->form.values[p->form.name_at[i]]);
    for (uint32_t i = 0; i < p->form.noutputs; i++)
        reference_add(r, p->form.values[p->form.outputs[i].value]);
    for (uint32_t i = 0; i < r->match->nops; i++)
        for (uint32_t k = 0; k < m->ops[r->match->ops[i]].nresults; k++)
            reference_add(r, m->ops[r->match->ops[i]].first_result + k);
    for (uint32_t i = 0; i < p->form.formula->nslots; i++)
        if (p->form.name_at[i] != NONE)
            reference_add(r, p->form.values[p->form.name_at[i]]);
    if (r->full)
        return eval_fail(b, "too many operands");
    reference_inputs(r);
    return true;
}

/* Trials that the pattern excludes from its claim. */
static unsigned excluded_trials(const struct proof *p) {
    static const struct {
        enum trial trial;
        enum outside what;
    } rules[] = {
        {TRIAL_MASKED_ROWS, OUTSIDE_MASKED_ROWS}, {TRIAL_EQUAL, OUTSIDE_TIES}, {TRIAL_NEAR_EPSILON, OUTSIDE_SMALL}};
    unsigned excluded = 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (form_excludes(&p->ref, &p->form, rules[i].what))
            excluded |= 1u << rules[i].trial;
    return excluded;
}

static uint32_t first_product(const struct match *m) {
    for (uint32_t i = 0; i < m->nops; i++)
        if (graph_class(m->graph, m->ops[i]) == OP_CONTRACT)
            return m->ops[i];
    return NONE;
}

/* The constants of a function that is known by its values are rounded. */
static double bound_of(const struct match *m) {
    return m->by_values ? fmax(m->pattern->approximate, m->pattern->formula.within) : m->pattern->approximate;
}

static bool prepare_problem(struct proof *p, struct eval_context *b) {
    struct problem *all = &p->ref.problem;
    const struct fused_form *f = &p->form;
    all->lowerings = p->ref.set;
    all->program = (struct program){.graph = reference_graph(&p->ref), .ops = p->ref.ops, .nops = p->ref.nops};
    all->values = f->values;
    all->nvalues = f->nvalues;
    for (uint32_t i = 0; i < f->noutputs; i++)
        all->outputs[i].want = f->outputs[i].value;
    all->noutputs = f->noutputs;
    all->other = evaluate_form;
    all->next = next_reading;
    all->self = p;
    all->name = "the fused form";
    all->bound = bound_of(p->ref.match);
    all->excluded = excluded_trials(p);
    all->product_op = first_product(p->ref.match);
    problem_facts(all);
    all->devices = problem_devices(all, b);
    return all->devices > 0;
}

/* False with a reason in the context. */
static bool prepare(struct proof *p, const struct formula *form, struct eval_context *b) {
    if (!match_details(p->ref.match, p->ref.arena, &p->ref.bound))
        return eval_fail(b, "the match is not found again by itself");
    if (!form_prepare(&p->form, form, &p->ref))
        return eval_fail(b, "the root has no axes");
    return prepare_reference(p, b) && prepare_problem(p, b);
}

static struct verdict run_with(struct proof *p, const struct formula *form) {
    struct eval_context b = {.arena = p->ref.arena};
    return prepare(p, form, &b) ? try_readings(p) : (struct verdict){.why.text = b.error};
}

/* A constant may be a rounded function of an extent, or look like one. */
static struct verdict run_all(struct proof *p, const struct formula *form) {
    struct verdict v = run_with(p, form), printed;
    if (v.kind == VERDICT_SAME || !p->ref.meant)
        return v;
    *p = *proof_new(p->ref.set, p->ref.match, p->effort.seed, p->ref.arena);
    p->ref.as_printed = true;
    printed = run_with(p, form);
    return printed.kind >= v.kind || printed.kind == VERDICT_SAME ? printed : v;
}

struct verdict proof_run(struct proof *p) {
    return run_all(p, p->ref.match->pattern->fused->formula);
}

bool proof_read(struct proof *p, const struct proved_reading *known, struct str *why) {
    struct eval_context b = {.arena = p->ref.arena};
    p->ref.as_printed = known->as_printed;
    bool good = prepare(p, p->ref.match->pattern->fused->formula, &b) && known->frame < p->form.nframes;
    p->frame = known->frame;
    p->choice = known->choice;
    *why = b.error;
    return good;
}

static struct proved_reading *reading_of(const struct proof *p) {
    struct proved_reading *r = arena_alloc(p->ref.arena, sizeof *r);
    *r = (struct proved_reading){p->ref.as_printed, p->frame, p->choice};
    return r;
}

/* ---- verdicts ---- */

/* The pattern's own formula agrees with the ops that it matched. Where it does not, the names or axes of this match
 * were read wrongly, and a difference says nothing of the fused form. */
static bool pattern_agrees(const struct proof *p) {
    struct proof *own = proof_new(p->ref.set, p->ref.match, p->effort.seed, p->ref.arena);
    return run_all(own, reference_formula(&own->ref)).kind == VERDICT_SAME;
}

static struct proved verdict_of(struct proof *p) {
    struct verdict v = proof_run(p);
    p->dear = v.dear;
    if (v.kind == VERDICT_DIFFERENT && !pattern_agrees(p))
        return (struct proved){.text = STR("how the place is laid out is not understood")};
    return (struct proved){.kind = v.kind,
                           .text = v.why.text,
                           .misfit = v.misfit,
                           .evaluated = v.kind == VERDICT_SAME,
                           .same_outside = v.same_outside,
                           .bound = v.approximate ? bound_of(p->ref.match) : 0};
}

struct proved prove_match(const struct pattern_set *set, const struct match *m, enum device_figures figures,
                          struct arena *a) {
    struct proof *p = proof_new(set, m, 0, a);
    struct proved v = verdict_of(p);
    if (v.kind == VERDICT_SAME) {
        v.reading = reading_of(p);
        if (figures != FIGURES_NONE && !p->dear)
            v.device = device_error_of(&p->ref.problem, figures == FIGURES_BLACKHOLE, p->effort.fixed);
        v.device.known = device_error_tells(&v.device);
    }
    return v;
}
