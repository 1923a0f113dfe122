/* Where in the model a match lives, read out of the names of the parameters that feed it. */
#ifndef FA_LOCATE_H
#define FA_LOCATE_H

#include "pattern/match.h"

/* "layer 0, encoder.layer.0.attention.self (query, key, value)"; empty when no name says anything. */
struct str locate_match(const struct pattern_set *set, const struct match *m, const struct match_detail *detail,
                        struct arena *a);

#endif
