/* Along which dimensions each value may vary: what it depends on, whatever the shape that it is printed in. */
#ifndef FA_DEPEND_H
#define FA_DEPEND_H

#include "ir/graph/graph.h"

/* Sets `varies`; all else of the graph is set. */
void dependence_build(struct graph *g);
/* The same where more is known of what calls without a body return. Functions that run once come first, since the
 * others take what they return. */
void dependence_spread(struct graph *g);

#endif
