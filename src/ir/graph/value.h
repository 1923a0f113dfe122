/* What is known of values: constants, and what they depend on. Built once with the graph. */
#ifndef FA_VALUE_H
#define FA_VALUE_H

#include "ir/graph/graph.h"

/* Sets value_flags, constants, constant_bits and through; all else of the graph is set. */
void values_build(struct graph *g);
void values_free(struct graph *g);

#endif
