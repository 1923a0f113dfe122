/* The error of a region. It is the same ops in one kernel, so that nothing has to be compared. */
#ifndef FA_REGION_PROOF_H
#define FA_REGION_PROOF_H

#include "elementwise/regions.h"
#include "proof/prove/verdict.h"

/* A verdict without shapes. The error of the device is that of intermediates which stay in 32-bit registers, beside
 * that of results which are stored by each op, from the same numbers in small shapes. */
struct proved region_prove(const struct pattern_set *lowerings, const struct match *m, bool figures, struct arena *a);

#endif
