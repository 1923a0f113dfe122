/* Conditions that the compiler is known not to check where it fuses. */
#ifndef FA_UNCHECKED_H
#define FA_UNCHECKED_H

#include "graph/graph.h"

/* Of a fused op of AFTER and the ops of BEFORE that it replaced; empty: none is known. */
struct str unchecked_condition(const struct graph *before, const uint32_t *ops, uint32_t n, const struct graph *after,
                               uint32_t fused);
/* Ops of AFTER, by op, that may have been fused so, since BEFORE has an op of a kind that is replaced. Returns how
 * many. */
uint32_t unchecked_ops(const struct graph *before, const struct graph *after, bool *found);

#endif
