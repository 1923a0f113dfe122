/* An example is proved as it stands, with its preconditions violated, and in variations whose choice follows from the
 * seed. What a pattern states for nothing is an error here: it would hide matches. */
#include "proof/prove/example.h"

#include "proof/prove/prove.h"
#include "proof/prove/variation.h"

static struct str note_unproved(struct prover *self, const struct match *m, const struct example *e, struct str why) {
    const struct pattern *pattern = m->pattern;
    self->unproved++;
    if (self->say_unproved)
        diag_add(self->diags, SEV_NOTE, (struct source_location){e->origin.file, e->line, 0}, NULL,
                 "%.*s: hit: not evaluated: %.*s", (int)pattern->name.n, pattern->name.p, (int)why.n, why.p);
    return STR("");
}

/* The text of the difference in the smallest extents that still have it, after what was changed. */
static struct str smallest_difference(const struct prover *self, const struct match *m, const struct variation *v,
                                      struct str text, struct arena *a) {
    struct variation least = *v;
    least.which = 0;
    least.types = TYPES_KEPT;
    struct proved small = prove_variation(self->set, m, &least, a);
    text = small.kind == VERDICT_DIFFERENT ? small.text : text;
    return v->change ? arena_printf(a, "%s: %.*s", change_name(v->change), (int)text.n, text.p) : text;
}

/* Text where a variation differs. One that the pattern does not match, or that cannot be evaluated, is passed over. */
static struct str try_variation(struct prover *self, const struct match *m, const struct variation *v,
                                struct arena *a) {
    struct proved r = prove_variation(self->set, m, v, a);
    self->varied += r.kind == VERDICT_SAME;
    if (r.misfit && v->change)
        return arena_printf(a, "%s the fused form does not fit the match: %.*s", change_name(v->change), (int)r.text.n,
                            r.text.p);
    return r.kind == VERDICT_DIFFERENT ? smallest_difference(self, m, v, r.text, a) : STR("");
}

/* Three variations of extents and types, then one for each change of rank or ops (two insertions). */
static struct str try_variations(struct prover *self, const struct match *m, struct arena *a) {
    enum { SHAPES_AND_TYPES = 3 };
    static const enum change changes[] = {CHANGE_RANK,   CHANGE_BATCH,  CHANGE_NO_LEAD, CHANGE_DROP,
                                          CHANGE_INSERT, CHANGE_INSERT, CHANGE_ROWS};
    uint64_t seed = self->seed;
    struct str wrong = STR("");
    for (uint32_t i = 0; i < SHAPES_AND_TYPES && !wrong.n; i++)
        wrong = try_variation(self, m,
                              &(struct variation){.which = (uint32_t)(i ? 1 + (seed + i) % 4 : 0),
                                                  .types = (enum edit_types)((seed + i) % TYPES_COUNT),
                                                  .seed = seed + i + 1},
                              a);
    for (uint32_t i = 0; i < sizeof changes / sizeof *changes && !wrong.n; i++)
        wrong = try_variation(self, m,
                              &(struct variation){.which = (uint32_t)((seed + i) % 3),
                                                  .types = TYPES_KEPT,
                                                  .change = changes[i],
                                                  .seed = seed_of(seed, i)},
                              a);
    return wrong;
}

struct str prove_example(void *self_, const struct match *m, const struct example *e, struct arena *a) {
    struct prover *self = self_;
    struct proof *p = proof_new(self->set, m, self->seed, a);
    if (!m->pattern->fused)
        self->formless++;
    struct verdict r = proof_run(p);
    if (r.kind == VERDICT_NONE && r.misfit)
        return arena_printf(a, "the fused form does not fit the match: %.*s", (int)r.why.text.n, r.why.text.p);
    if (r.kind == VERDICT_NONE)
        return note_unproved(self, m, e, r.why.text);
    if (r.kind == VERDICT_DIFFERENT)
        return smallest_difference(self, m, &(struct variation){.types = TYPES_KEPT, .seed = self->seed}, r.why.text,
                                   a);
    if (r.same_outside)
        return STR("it computes the same in what is stated to be outside of the claim: that need not be stated");
    struct preconditions all;
    proof_violate(p, &all);
    if (all.nneedless)
        return arena_printf(a,
                            "it computes the same where the precondition of %s does not hold: that need not be stated",
                            needless_names(p, &all).p);
    struct str wrong = try_variations(self, m, a);
    self->proved += wrong.n == 0;
    return wrong;
}
