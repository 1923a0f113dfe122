/* The evaluators: one function for each kind of op, or for several that differ little, as the rows of ops.def say.
 * Private to the folder. */
#ifndef FA_EVALUATORS_H
#define FA_EVALUATORS_H

#include "proof/numeric/interpret.h"
#include "proof/value/fold.h"

/* Puts the results of an op into `out`, which has room for MAX_RESULTS and is zeroed. Within eval_attempt. */

evaluator evaluate_elementwise; /* of the functions of one and of two numbers */
#define EVALUATOR(id, name) evaluator evaluate_##name;
#include "ir/ops/ops.def"

/* ---- shared by evaluators and lowerings ---- */

/* primitive.c: interpret() of an op that has an evaluator. */
bool interpret_primitive(struct eval_context *ctx, const struct call *c, const struct tensor *results[MAX_RESULTS]);
bool is_primitive(enum op_kind k);
/* Results as they are stored: of the declared shape, rounded to their element type. Within eval_attempt. */
void finish_results(struct eval_context *ctx, const struct call *c, const struct tensor *results[MAX_RESULTS]);

/* The product of two matrices, exact in every arithmetic (product.c): matmul of NumPy. */
const struct tensor *multiply_matrices(struct eval_context *ctx, const struct tensor *x, const struct tensor *y);

#endif
