/* Variations of a match: in other extents, of other element types, with one op or dimension changed, on other numbers.
 * What a pattern still matches there has to be what its fused form computes. */
#ifndef FA_VARIATION_H
#define FA_VARIATION_H

#include "proof/prove/verdict.h"
#include "proof/reduce/edit.h"
#include "search/match/match.h"

struct variation {
    uint32_t which; /* choice of extents, as shrink_options.which */
    enum edit_types types;
    enum change change;
    uint64_t seed; /* of the numbers, and of what is changed */
};

/* Elements and multiplications (extents_cost) up to which small shapes are evaluated. */
enum { MAX_SMALL_COST = 1 << 22 };

/* VERDICT_NONE where there is no such variation, the pattern does not match it, or it cannot be evaluated. The text
 * lives in `a`. */
struct proved prove_variation(const struct pattern_set *set, const struct match *m, const struct variation *v,
                              struct arena *a);

#endif
