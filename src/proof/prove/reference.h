/* Sets up the reference side of a proof: the ops below a match that are evaluated, the inputs that they start from, and
 * what is known of each input. */
#ifndef FA_REFERENCE_H
#define FA_REFERENCE_H

#include "proof/prove/proof.h"

/* What a matched op without an evaluator yields and the fused form names is an input: any value, the same one on both
 * sides. Before all others. */
void reference_give(struct reference *r, uint32_t value);
/* Adds the ops and inputs below a value: matched ops, movement and readable constants are evaluated; a value that the
 * pattern ties to a number or a formula, and everything else, is an input. */
void reference_add(struct reference *r, uint32_t value);
/* After all of that: what the pattern states of each input. */
void reference_inputs(struct reference *r);

#endif
