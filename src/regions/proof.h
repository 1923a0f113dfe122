/* The proof of a region: its ops in textual order, and its schedule on as many registers as it claims to need, from the
 * same numbers in small shapes. */
#ifndef FA_REGION_PROOF_H
#define FA_REGION_PROOF_H

#include "prove/verdict.h"
#include "regions/regions.h"

/* Texts are in `a`. The error of the device is that of intermediates which stay in 32-bit registers, beside that of
 * results which are stored by each op. */
struct proved region_prove(const struct pattern_set *lowerings, const struct graph *g, const struct region *r,
                           struct arena *a);

#endif
