/* Inputs of the match get random numbers (numbers.c); the matched ops compute the value of the root from them, the
 * fused form computes its own from the values that the pattern binds (fused_form.c); both are compared in f64
 * (trials.c). */
#include "prove/prove.h"

#include "prove/device_error.h"
#include "prove/devices.h"
#include "prove/reference.h"

/* Cost of a proof (struct proof) after which no further alternative of the form is tried: at most 256 of them. It is a
 * count, not a time, so that verdicts are the same on every machine. */
enum { BUDGET = 1 << 22 };

struct proof *proof_new(const struct pattern_set *set, const struct match *m, uint64_t seed, struct arena *a) {
    struct proof *p = arena_alloc(a, sizeof *p);
    *p = (struct proof){.ref = {.set = set, .match = m, .arena = a}, .budget = BUDGET};
    p->run = (struct device_run){.ref = &p->ref, .form = &p->form, .eval = {.arena = a}, .seed = seed};
    return p;
}

/* Everything below the compared values and the operands of the form is evaluated or is an input. */
static bool prepare_reference(struct proof *p) {
    struct reference *r = &p->ref;
    const struct mlir *m = reference_graph(r)->m;
    reference_add(r, form_root(&p->form));
    for (uint32_t i = 0; i < r->match->nops; i++)
        for (uint32_t k = 0; k < m->ops[r->match->ops[i]].nresults; k++)
            reference_add(r, m->ops[r->match->ops[i]].first_result + k);
    for (uint32_t i = 0; i < p->form.formula->nslots; i++)
        if (p->form.name_at[i] != NONE)
            reference_add(r, p->form.values[p->form.name_at[i]]);
    if (r->full)
        return eval_fail(&p->run.eval, "too many operands");
    return reference_inputs(r, &p->run.eval);
}

/* False with a reason in the context of the run. */
static bool prepare(struct proof *p, const struct formula *form) {
    struct eval_context *b = &p->run.eval;
    if (!form)
        return false;
    if (!match_details(p->ref.match, p->ref.arena, &p->ref.bound))
        return eval_fail(b, "the match is not found again");
    if (!form_prepare(&p->form, form, &p->run))
        return eval_fail(b, "the root has no axes");
    p->run.frame = p->form.frames[0];
    return prepare_reference(p) && devices_prepare(&p->run);
}

struct trial_result proof_run(struct proof *p) {
    struct str fused = p->ref.match->pattern->fused;
    if (!fused.n)
        return (struct trial_result){TRIAL_NOT_EVALUATED, STR("the pattern has no `fused`")};
    const struct formula *form = reference_parse(&p->ref, fused, &p->run.eval);
    p->totals.nfailed += form == NULL;
    if (!prepare(p, form))
        return (struct trial_result){TRIAL_NOT_EVALUATED, p->run.eval.error};
    struct trial_result r = proof_try_all(p);
    if (r.verdict == TRIAL_DIFFERENT && p->totals.untried)
        return (struct trial_result){TRIAL_NOT_EVALUATED, STR("the fused form has more alternatives than are tried")};
    return r;
}

bool proof_misfits(const struct proof *p) {
    return p->totals.nfailed > 0 && p->totals.nbeyond == 0;
}

/* The pattern's own formula agrees with the ops that it matched. Where it does not, the names or axes of this match
 * were read wrongly, and a difference says nothing of the fused form. */
static bool pattern_agrees(const struct proof *p) {
    struct proof *own = proof_new(p->ref.set, p->ref.match, p->run.seed, p->ref.arena);
    own->brief = p->brief;
    return prepare(own, reference_formula(&own->ref)) && proof_try_all(own).verdict == TRIAL_SAME;
}

static struct proved verdict_of(struct proof *p) {
    struct trial_result r = proof_run(p);
    if (r.verdict == TRIAL_NOT_EVALUATED)
        return (struct proved){.text = r.text, .misfit = proof_misfits(p)};
    if (r.verdict == TRIAL_DIFFERENT && !pattern_agrees(p))
        return (struct proved){.text = STR("how the place is laid out is not understood")};
    if (r.verdict == TRIAL_DIFFERENT)
        return (struct proved){.kind = VERDICT_DIFFERENT, .text = r.text};
    return (struct proved){.kind = VERDICT_SAME};
}

struct proved prove_match(const struct pattern_set *set, const struct match *m, enum device_figures figures,
                          bool further, struct arena *a) {
    struct proof *p = proof_new(set, m, 0, a);
    p->brief = further; /* what depends on extents differs on any numbers */
    struct proved v = verdict_of(p);
    if (v.kind == VERDICT_SAME) {
        struct preconditions all;
        if (figures != FIGURES_NONE)
            v.device = device_error_of(&p->run, figures == FIGURES_BLACKHOLE);
        proof_violate(p, &all);
        v.needed = all.needed;
        v.needless = needless_names(p, &all);
    }
    v.same_outside = p->totals.same_outside;
    v.bound = p->totals.approximate ? m->pattern->approximate : 0;
    return v;
}

struct proved prove_function(const struct pattern_set *set, const struct match *m, uint64_t seed, struct arena *a) {
    return verdict_of(proof_new(set, m, seed, a));
}
