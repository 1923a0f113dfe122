/* Wrong fusions beside places of an audit: of the ops that the compiler is known to fuse without checking a condition
 * (patterns/library/unchecked.h) those that share a value with a place are compared. */
#ifndef FA_BESIDE_H
#define FA_BESIDE_H

#include "search/match/match.h"

/* A sentence for each place beside which an op of TTNN is proved to be other than what it replaced, empty for others;
 * NULL: there are none. In `a`. */
struct str *wrong_fusions_beside(const struct pattern_set *lowerings, const struct graph *ttir,
                                 const struct graph *ttnn, const struct match *places, uint32_t n, struct arena *a);

#endif
