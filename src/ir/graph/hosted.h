/* Values that are made on the host. What the compiler hoists to it is a call without a body in TTNN; TTIR has what it
 * computes, and of the values there that have its shape and are made of the same arguments it must be one. */
#ifndef FA_HOSTED_H
#define FA_HOSTED_H

#include "ir/graph/graph.h"

/* Takes into `varies` of TTNN what all of these values have in common: the dimensions along which they are the same. */
void hosted_take(struct graph *ttnn, const struct graph *ttir);

#endif
