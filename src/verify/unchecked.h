/* Conditions that the compiler is known not to check where it fuses. */
#ifndef FA_UNCHECKED_H
#define FA_UNCHECKED_H

#include "graph/graph.h"

/* Of a fused op of AFTER and the ops of BEFORE that it replaced; empty: none is known. */
struct str unchecked_condition(const struct graph *before, const uint32_t *ops, uint32_t n, const struct graph *after,
                               uint32_t fused);

#endif
