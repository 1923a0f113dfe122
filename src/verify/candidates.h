/* Values of BEFORE that a value of AFTER may be: by their images (graph/align.h), then by location. */
#ifndef FA_CANDIDATES_H
#define FA_CANDIDATES_H

#include "graph/align.h"
#include "verify/region.h"

enum { MAX_CANDIDATES_OF_CUT = 12 };

struct cut_candidate {
    uint32_t before;
    struct relation relation;
};

struct candidates {
    const struct cuts *cuts;
    struct alignment align;
    uint32_t *by_name, nnames; /* steps of BEFORE in the order of the hashes of their locations */
    uint64_t *hashes;          /* by step of BEFORE */
};

/* `func_of` as for align_build. */
void candidates_begin(struct candidates *c, const struct cuts *cuts, const uint32_t *func_of);
void candidates_free(struct candidates *c);
/* Those of a value of AFTER, the likeliest first. Returns how many. */
uint32_t candidates_of(const struct candidates *c, uint32_t after, struct cut_candidate out[MAX_CANDIDATES_OF_CUT]);

#endif
