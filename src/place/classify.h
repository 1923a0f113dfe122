/* How far the compiler is with a fusion: its passes, and why none made it here. */
#ifndef FA_CLASSIFY_H
#define FA_CLASSIFY_H

#include "match/match.h"

/* What --classify says of an entry; an empty text is printed as null. */
struct classification {
    bool given;
    struct str dialect_level, pass_status, owning_pass, existing_pattern;
};

/* What --classify adds to an entry. */
struct classification classify(const struct pattern *p);
/* The line of the notes, without its key; empty when the pattern says nothing. `before`: the ops are those from before
 * the compiler's passes. `lowered`: the preconditions were looked for in TTNN although the pass works on TTIR. */
struct str classification_note(const struct pattern *p, const struct match_detail *d, bool before, bool lowered,
                               struct arena *a);

#endif
