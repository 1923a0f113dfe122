#include "proof/prove/reading.h"

#include "proof/prove/prove.h"

bool reading_find(struct reading *out, const struct pattern_set *set, const struct match *m,
                  const struct proved_reading *known, struct arena *a, struct str *why) {
    struct proof *p = proof_new(set, m, 0, a);
    bool found = known && proof_read(p, known, why);
    if (!known) {
        struct verdict v = proof_run(p);
        *why = v.why.text;
        found = v.kind == VERDICT_SAME;
    }
    if (found)
        *out = (struct reading){.ref = p->ref,
                                .form = p->form,
                                .frame = p->form.frames[p->frame],
                                .choice = p->choice,
                                .excluded = p->ref.problem.excluded};
    return found;
}
