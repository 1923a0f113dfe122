/* Near misses of elementwise regions: what keeps an op out of the kernel of the op that uses it. */
#ifndef FA_NEAR_REGION_H
#define FA_NEAR_REGION_H

#include "elementwise/regions.h"
#include "report/explain/near_miss.h"

/* Adds one for each pair of ops that breaks one rule, or exceeds one limit by one. Texts live in `a`. */
void near_regions_add(const struct graph *g, const struct region_rules *rules, const struct region_near_list *from,
                      struct arena *a, struct near_misses *near);

#endif
