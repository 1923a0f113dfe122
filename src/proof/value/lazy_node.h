/* How nodes are made. Private to lazy.c and lazy_fold.c. */
#ifndef FA_LAZY_NODE_H
#define FA_LAZY_NODE_H

#include "proof/value/split.h"

/* Ends the attempt where a tensor of that shape cannot be made. */
void node_need_elements(struct eval_context *ctx, const struct shape *s);
struct lazy *node_new(struct eval_context *ctx, enum lazy_kind kind, const struct shape *s);
/* The view of a node, also where the tensor has its elements. */
struct view node_view(struct eval_context *ctx, struct view v);
/* Dimensions from `first` on that all views step through alike become one, so that runs of elements are long. */
void node_coalesce(struct shape *s, struct view *const *v, uint32_t n, uint32_t first);
/* With one element along dimensions in which no operand varies. */
struct shape node_varying_shape(const struct view *v, uint32_t n, const struct shape *s);
/* Splits dimensions where less varies then: parts of them may be the same elements again. Up to MOST_SPLIT views. */
bool node_split_repeated(struct view *v, uint32_t n, const struct shape *s, struct split *out);
/* The tensor of a node: of shape `s`, of which the node has one element along dimensions that are 1 in `own`. `order`:
 * the dimensions of the node, outermost first. */
const struct tensor *node_tensor_in_order(struct eval_context *ctx, struct lazy *l, const struct shape *own,
                                          const struct shape *s, const uint32_t *order);
const struct tensor *node_tensor(struct eval_context *ctx, struct lazy *l, const struct shape *own,
                                 const struct shape *s);

enum { MOST_PARTS = 8 }; /* of what is joined, in which nodes are told from others, or folded one by one */

#endif
