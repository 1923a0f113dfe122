#ifndef FA_PASS_DEFINITION_H
#define FA_PASS_DEFINITION_H

#include "search/match/match.h"

/* Why nothing is written for the match, whose fused op TTIR has not, and what its definition would be. */
struct str pass_definition(const struct match *m, const struct match_detail *d, struct arena *a);

#endif
