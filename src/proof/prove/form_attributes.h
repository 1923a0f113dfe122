/* Attributes of a fused form that speak of the match: padding="p" adds up a matched pad and a convolution's own
 * padding, activation="act" names a matched operator, and expressions may measure operands. */
#ifndef FA_FORM_ATTRIBUTES_H
#define FA_FORM_ATTRIBUTES_H

#include "proof/prove/proof.h"

/* Callbacks for the evaluation of formulas, with the numbers of this run; it has to outlive them. */
struct formula_context form_like(const struct form_run *run);
/* The pattern says of this match that such inputs are no part of its claim. */
bool form_excludes(const struct reference *r, const struct fused_form *f, enum outside what);
/* The operand of this name is to be read without the pad that the op which takes it absorbs. */
bool form_absorbs_pad(const struct form_run *run, uint32_t slot);
/* That operand. Within eval_attempt, as the next. */
const struct tensor *form_unpadded(struct form_run *run, uint32_t slot);

/* ---- absorbed_pad.c ---- */

/* The first operand of a convolution or pool, without the elements that a matched pad added. */
const struct tensor *operand_unpadded(struct form_run *run, uint32_t op, const struct binding *pad);
/* An attribute of the op once it absorbs the pad: `padding`, or a size of the operand. False: the pad does not change
 * it. */
bool absorbed_attribute(const struct reference *r, uint32_t op, const struct binding *pad, const char *key,
                        const struct attr **out);

#endif
