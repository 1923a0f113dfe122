/* The state of the compiler with respect to a fusion: which pass makes it, and why it did not here. */
#ifndef FA_CLASSIFY_H
#define FA_CLASSIFY_H

#include "match/match.h"

/* Keys that --classify adds to an entry; an empty text is printed as null. */
struct classification {
    bool given; /* --classify was given */
    struct str dialect_level, pass_status, owning_pass, existing_pattern;
};

struct classification classify(const struct pattern *p, bool undone);
/* What is known where a pass of the compiler is spoken of. */
struct claim {
    const struct pattern_set *set;
    const struct pattern *pattern;
    const struct match_detail *detail; /* of the ops that the pass sees, as far as they are known */
    bool before;                       /* the ops are TTIR from before the compiler's passes */
    bool lowered;                      /* the pass works on TTIR, but `detail` is of the TTNN ops */
};

/* The text behind `compiler:` in the notes: whether the compiler's own pattern fires, or why it does not. Empty when
 * the pattern says nothing of the compiler. */
struct str classification_note(const struct claim *c, struct arena *a);
/* The version of the compiler that such claims were taken from; or empty. */
struct str version_of_claims(const struct pattern_set *set, const struct pattern *p);

#endif
