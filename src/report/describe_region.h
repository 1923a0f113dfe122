/* A region as a match, with what its notes say. */
#ifndef FA_DESCRIBE_REGION_H
#define FA_DESCRIBE_REGION_H

#include "match/match.h"
#include "regions/regions.h"

/* The ops in the order of the schedule. Of a very long one only the last ops, since notes take time in proportion to
 * the square of theirs. */
struct match region_match(const struct graph *g, const struct region_rules *rules, const struct region *r);
/* Its limits, registers and order as remarks; in `a`. */
struct match_detail region_detail(const struct graph *g, const struct region_rules *rules, const struct region *r,
                                  struct arena *a);

#endif
