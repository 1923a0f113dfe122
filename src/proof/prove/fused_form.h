/* Evaluates both sides of a proof: the matched ops, and the fused form on the values that the match gives its names. */
#ifndef FA_FUSED_FORM_H
#define FA_FUSED_FORM_H

#include "proof/prove/proof.h"

/* Sets up the form of a reference whose names are bound; `formula` is the fused form, or the pattern's own formula.
 * False where the root of the pattern has no axes. */
bool form_prepare(struct fused_form *f, const struct formula *formula, const struct reference *r);
/* The value of the match that the root of the form stands for. */
static inline uint32_t form_root(const struct fused_form *f) {
    return f->values[0];
}

/* Values of the form's names in run->frame. Within eval_attempt, as the next. */
void form_bind(struct form_run *run);
/* After that: evaluates the form with run->choice, a result for each output. A result of another shape is left to the
 * caller to compare. */
void form_evaluate(struct form_run *run, const struct tensor *got[MAX_OUTPUTS]);

#endif
