/* Which functions and arguments of the two levels of a compile are the same. */
#ifndef FA_FUNCTIONS_H
#define FA_FUNCTIONS_H

#include "ir/graph/graph.h"

/* By function: it is audited, whole, and called by none. To be freed. */
bool *find_root_functions(const struct graph *g);

/* For each TTNN function the audited TTIR function of its name; of those that are left, and that nobody calls, the one
 * of its signature, where no others have it, and then the last one; or NONE. To be freed. */
uint32_t *pair_functions(const struct graph *ttir, const struct graph *ttnn);

/* A tensor of the model: device handles are none. */
bool is_model_argument(const struct graph *g, uint32_t value);

/* For each argument of the model of a TTNN function the number of the TTIR function's: the same, where both have as
 * many. Else, since passes drop arguments, the one of its name, or those in order that some op takes; or NONE. To be
 * freed. */
uint32_t *pair_arguments(const struct graph *ttir, uint32_t func, const struct graph *ttnn, uint32_t func_ttnn);

#endif
