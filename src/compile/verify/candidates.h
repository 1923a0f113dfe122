/* Values of BEFORE that a value of AFTER may be: by their signatures (ir/pair/align.h), then by location; or first by
 * their names; where there are none, by what they are made of. */
#ifndef FA_CANDIDATES_H
#define FA_CANDIDATES_H

#include "compile/verify/dag.h"
#include "ir/pair/align.h"

enum { MAX_CANDIDATES = 16 };

struct merge_candidate {
    uint32_t before;
    struct movement moved;
    bool in_own_type; /* not what a cast to the type of the value makes of it, as results are */
};

struct candidates {
    const struct dag *d;
    const struct alignment *align;
    uint32_t *by_name, nnames; /* nodes of BEFORE in the order of the hashes of their locations */
    uint64_t *hashes;          /* by node of BEFORE */
    bool same_names;           /* as in what_to_compare */
};

/* `align`: of the two modules. */
void candidates_begin(struct candidates *c, const struct dag *d, const struct alignment *align, bool same_names);
void candidates_free(struct candidates *c);
/* Those of a value of AFTER, the likeliest first. Returns how many. */
uint32_t candidates_of(const struct candidates *c, uint32_t after, struct merge_candidate out[MAX_CANDIDATES]);

#endif
