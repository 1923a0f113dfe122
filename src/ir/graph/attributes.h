/* The attributes of all ops, as tables. Built once with the graph. */
#ifndef FA_GRAPH_ATTRIBUTES_H
#define FA_GRAPH_ATTRIBUTES_H

#include "ir/graph/graph.h"

/* Sets `attributes`; of the graph only the module has to be set. */
void attributes_build(struct graph *g);

#endif
