/* Whether two levels are made by one compile. What speaks against it is an error or a warning in `d`. */
#ifndef FA_BELONG_H
#define FA_BELONG_H

#include "ir/graph/level.h"
#include "ir/pair/pair.h"

struct level_pair {
    const struct level *ttir, *ttnn;
    uint32_t graph; /* number that messages name; 0: there is one graph only */
};

/* False where the lowering cannot have made one of the other: no function has a counterpart, or those of one name, or
 * the only audited ones, differ in their mesh, in the number of arguments or results (device handles apart), or of one
 * of these in static extents, its name in the model or the format given to a weight. What one level does not print is
 * not compared. */
bool signatures_agree(const struct level_pair *l, struct diags *d);
/* False where less than a tenth of the TTNN ops that pair_build judged have an origin; below half, a warning. */
bool origins_suffice(const struct level_pair *l, const struct pairing *p, struct diags *d);
/* Both, in pairing no more than that takes. True where a level is absent. */
bool levels_belong(const struct level_pair *l, struct diags *d);

#endif
