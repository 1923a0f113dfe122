/* The shape of a result, from those of the operands and the attributes: the rule of each class of operators. */
#ifndef FA_INFER_H
#define FA_INFER_H

#include "ir/ops/attributes.h"
#include "ir/ops/ops.h"
#include "ir/ops/shape.h"

enum inferred {
    INFER_SHAPE,   /* *out is it */
    INFER_NEVER,   /* no result fits: the operands contradict one another or the attributes */
    INFER_UNKNOWN, /* no rule, or an operand or attribute that the rule needs is missing or cannot be read */
};
/* An operand that is NULL is absent or of no known shape. */
enum inferred infer_shape(enum op_kind k, const struct attrs *a, const struct shape *const *operands, uint32_t n,
                          struct shape *out);
/* The operands, from the right, as NumPy broadcasts them. */
enum inferred infer_broadcast(const struct shape *const *operands, uint32_t n, struct shape *out);

/* The same of ops with a rule of their own, some of several results: how many; 0: no rule, or no result fits. The
 * first operand is there. */
enum { MOST_INFERRED = 3 };
uint32_t infer_results(enum op_kind k, const struct attrs *a, const struct shape *const *operands, uint32_t n,
                       struct shape out[MOST_INFERRED]);

/* The attribute that is there of those that number the dimensions that the operator works along; or NULL. */
const struct attr *attrs_axes(const struct attrs *a, enum op_kind k);
/* How many of `rank` dimensions a reduction reduces, and which: without a list all of them. NONE where that is not
 * known. */
uint32_t reduced_dims(enum op_kind k, const struct attrs *a, uint32_t rank, bool *reduced);
/* The dimension of the operand that each of the result's `rank` dimensions is, as a permute or transpose says. False
 * where it does not say each of them once. */
bool permuted_dims(enum op_kind k, const struct attrs *a, uint32_t rank, uint32_t *order);

#endif
