/* What a pattern states to be outside of its claim for nothing is an error here: it would hide matches. */
#include "proof/prove/example.h"

#include "proof/prove/prove.h"

static struct str note_unproved(struct prover *self, const struct match *m, const struct example *e, struct str why) {
    const struct pattern *pattern = m->pattern;
    self->unproved++;
    if (self->say_unproved)
        diag_add(self->diags, SEV_NOTE, (struct source_location){e->origin.file->path, e->line, 0}, NULL,
                 "%.*s: hit: not evaluated: %.*s", (int)pattern->name.n, pattern->name.p, (int)why.n, why.p);
    return STR("");
}

struct str prove_example(void *self_, const struct match *m, const struct example *e, struct arena *a) {
    struct prover *self = self_;
    struct proof *p = proof_new(self->set, m, self->seed, a);
    struct verdict r = proof_run(p);
    if (r.kind == VERDICT_NONE && r.misfit && !m->pattern->fused->own)
        return arena_printf(a, "the fused form does not fit the match: %.*s", (int)r.why.text.n, r.why.text.p);
    if (r.kind == VERDICT_NONE)
        return note_unproved(self, m, e, r.why.text);
    if (r.kind == VERDICT_DIFFERENT)
        return r.why.text;
    if (r.same_outside)
        return STR("it computes the same in what is stated to be outside of the claim: that need not be stated");
    self->proved++;
    return STR("");
}
