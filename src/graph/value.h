/* What is known of values: constants, and what they depend on. Built once with the graph. */
#ifndef FA_VALUE_H
#define FA_VALUE_H

#include "graph/graph.h"

/* Room for all values, and where they may be cut into ranges that do not ask for each other: at most `wanted`, from
 * at[i] to before at[i + 1]. */
uint32_t values_begin(struct graph *g, uint32_t wanted, uint32_t *at);
void values_build(struct graph *g, uint32_t begin, uint32_t end);
void values_free(struct graph *g);

#endif
