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
/* The text behind `compiler:` in the notes; empty when the pattern says nothing of the compiler. `before`: the ops are
 * TTIR from before the compiler's passes. `lowered`: the pass works on TTIR, but its preconditions were evaluated in
 * TTNN. */
struct str classification_note(const struct pattern *p, const struct match_detail *d, bool before, bool lowered,
                               struct arena *a);

#endif
