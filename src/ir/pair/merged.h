/* What an op of TTNN is to the ops of TTIR, by itself: whether it may have an origin, whether it has several. */
#ifndef FA_MERGED_H
#define FA_MERGED_H

#include "ir/graph/graph.h"

enum { MAX_BEHIND = 4 /* ops between what a lowering made of one op: a cast, a reshape, a bias */ };

/* Not what moves, cuts, joins, pads or makes data, nor what shards it: these come and go between the levels. */
bool pair_computes(const struct graph *g, uint32_t op);
/* Where an op is one that several with a common operand were merged into, as products with weights side by side are:
 * the op behind it whose result is used in slices only, which is itself or an elementwise one. NONE: it is none. */
uint32_t pair_cut_up(const struct graph *g, uint32_t op);
/* A product that is such an op. */
bool pair_is_merged(const struct graph *g, uint32_t op);

#endif
