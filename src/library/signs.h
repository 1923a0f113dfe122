/* Whether anything in a TTNN module is fused at all. */
#ifndef FA_SIGNS_H
#define FA_SIGNS_H

#include "library/pattern.h"

/* True when the graph has one of the ops that are listed under `fused_ops`, or an op into which something is folded.
 * True, too, when no file has such a list: nothing can be said then. */
bool signs_of_fusing(const struct pattern_set *set, const struct graph *g);

#endif
