/* A pattern as a pass of the compiler: C++ for MLIR, or PDLL, its test, and what builds and registers it. */
#ifndef FA_REWRITE_H
#define FA_REWRITE_H

#include "patterns/library/lowering.h"

struct rewrite {
    struct str text;           /* NAME.cpp or NAME.pdll; empty: it cannot be written */
    struct str why;            /* then: the reason */
    struct str_list unchecked; /* what the pattern says and the pass does not check */
    struct str_list left;      /* what of the formula the pass does not match, for what reason: of PDLL */
};

/* Texts are in `a`. */
void rewrite_write(const struct pattern_set *set, const struct pattern *p, bool pdll, struct arena *a,
                   struct rewrite *out);
bool rewrite_is_possible(const struct pattern_set *set, const struct pattern *p);

#endif
