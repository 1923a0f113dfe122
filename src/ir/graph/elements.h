/* The elements of values that are made of constants alone, as the matrices of zeros and ones by which a frontend moves
 * elements. */
#ifndef FA_ELEMENTS_H
#define FA_ELEMENTS_H

#include "ir/graph/graph.h"

/* In row-major order, for the caller to free. NULL: not of constants alone, too many, or not known. */
double *graph_elements(const struct graph *g, uint32_t value);

#endif
