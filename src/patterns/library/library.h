/* A library of patterns (fusion_audit.h), as the calls take it that search for them. */
#ifndef FA_LIBRARY_H
#define FA_LIBRARY_H

#include "fusion_audit.h"
#include "patterns/library/pattern.h"

struct fa_library {
    struct arena arena;
    struct diags diags;
    struct pattern_set patterns;
    enum fa_status status;
    bool narrowed; /* read with less than all patterns */
};

/* The patterns that are asked for: of the library, or read into `own` without their examples. NULL with diagnostics. */
const struct pattern_set *patterns_asked_for(const struct fa_patterns *o, struct pattern_set *own, struct diags *d);

#endif
