/* Products that have one left operand. */
#ifndef FA_SIBLINGS_H
#define FA_SIBLINGS_H

#include "ir/graph/graph.h"

/* Fills graph.siblings, once uses, attributes and shapes are known. */
void siblings_build(struct graph *g);

#endif
