/* Fusions that need the same ops as a region. */
#ifndef FA_REGION_RIVALS_H
#define FA_REGION_RIVALS_H

#include "match/match.h"
#include "regions/regions.h"

/* For each region the fused ops of matches that share ops with it, in `a`; to `of_matches`, by match, is added what
 * those regions are called. It may be NULL, and is made then. */
struct str_list *region_rivals(const struct region_list *regions, const struct region_rules *rules,
                               const struct match_list *matches, struct str_list **of_matches, struct arena *a);

#endif
