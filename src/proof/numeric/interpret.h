/* Evaluates one op on tensors.
 *
 * Semantics: the TTIR and TTNN op definitions of tt-mlir (August 2026) and the golden functions of its builder, where
 * the two differ from NumPy. What has no evaluator ends with the reason "no evaluator for X". */
#ifndef FA_INTERPRET_H
#define FA_INTERPRET_H

#include "proof/numeric/call.h"

enum { MAX_RESULTS = 4 };

/* There is an evaluator or a lowering. */
bool interpretable(enum op_kind k);
/* The results are in the arena of the context and may share elements with operands; those that the op does not have are
 * NULL. False with a reason in the context.
 *
 * A constant is rounded to its element type, to nearest even, in every arithmetic: the host does that. Other results
 * are rounded to their type in device arithmetic as the packer does it, and results of integer type in every
 * arithmetic. A result whose shape is not the declared one is an error, except that of a change of layout. */
bool interpret(struct eval_context *b, const struct call *c, const struct tensor *results[MAX_RESULTS]);

#endif
