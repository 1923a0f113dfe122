#include "proof/prove/reading.h"

#include "proof/prove/prove.h"

bool reading_find(struct reading *out, const struct pattern_set *set, const struct match *m, struct arena *a,
                  struct str *why) {
    struct proof *p = proof_new(set, m, 0, a);
    struct verdict v = proof_run(p);
    *why = v.why.text;
    if (v.kind != VERDICT_SAME)
        return false;
    *out = (struct reading){.ref = p->ref,
                            .form = p->form,
                            .frame = p->form.frames[p->frame],
                            .choice = p->choice,
                            .excluded = p->ref.problem.excluded};
    return true;
}
