/* Along which dimensions each value may vary: what it depends on, whatever the shape that it is printed in. */
#ifndef FA_DEPEND_H
#define FA_DEPEND_H

#include "graph/graph.h"

/* Sets `varies`; all else of the graph is set. */
void dependence_build(struct graph *g);

#endif
