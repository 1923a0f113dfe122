/* How a match and its fused form were found to be the same function: the axes of the form, and its alternatives. */
#ifndef FA_READING_H
#define FA_READING_H

#include "proof/prove/proof.h"
#include "proof/prove/verdict.h"

struct reading {
    struct reference ref; /* the match, whose names are bound */
    struct fused_form form;
    struct axis_frame frame;
    struct formula_choice choice;
    unsigned excluded; /* kinds of trials (proof/trials/numbers.h) that the pattern does not claim, a bit each */
};

/* Proves the match, or takes the reading that is known, and keeps it in `a`. False with a reason. */
bool reading_find(struct reading *out, const struct pattern_set *set, const struct match *m,
                  const struct proved_reading *known, struct arena *a, struct str *why);

#endif
