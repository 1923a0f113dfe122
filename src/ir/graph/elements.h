/* The elements of values that are made of constants alone, as the matrices of zeros and ones by which a frontend moves
 * elements. */
#ifndef FA_ELEMENTS_H
#define FA_ELEMENTS_H

#include "ir/graph/graph.h"

/* By row-major index. NaN: there is none, or it is not of constants alone, of too many elements, or not known. */
double graph_element(const struct graph *g, uint32_t value, int64_t at);
/* A product of any rows and the value repeats each of their columns as often as it has columns for each row: constants
 * alone make it a matrix of ones where the row is the column divided by that number, rounded down, and of zeros
 * elsewhere. */
bool graph_repeats_columns(const struct graph *g, uint32_t value);
/* For graph_build and graph_free. */
void elements_build(struct graph *g);
void elements_free(struct graph *g);

#endif
