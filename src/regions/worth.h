/* What a region costs as it is, and as one kernel. */
#ifndef FA_REGION_WORTH_H
#define FA_REGION_WORTH_H

#include "price/perf.h"
#include "price/price.h"
#include "regions/regions.h"

struct price region_price(struct pricer *p, const struct region *r);
/* It saves a launch or traffic of DRAM. */
bool region_is_worth(const struct price *x);

#endif
