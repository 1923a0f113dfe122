/* The order of elements as text: "b s (h d) -> b h s d", as einops writes it. */
#ifndef FA_REARRANGE_H
#define FA_REARRANGE_H

#include "patterns/lang/formula.h"

/* What is wrong with the text; NULL: nothing, and it is read. */
const char *rearrangement_read(struct str text, struct rearrangement *out);
/* The extents of the axes, by the shapes of both sides; at least one of these is of the rank that it says. False where
 * the shapes do not fit, or do not tell all. `from` or `to` may be NULL. */
bool rearrangement_extents(const struct rearrangement *r, const int64_t *from, const int64_t *to,
                           int64_t extents[MAX_RANK]);

#endif
