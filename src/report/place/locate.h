/* The text behind `model location:` in the notes. */
#ifndef FA_LOCATE_H
#define FA_LOCATE_H

#include "report/place/flow.h"
#include "report/place/names.h"
#include "search/match/match.h"

/* Where in the model a match is: its role, the layer, and the names that say so; empty when nothing is known; and
 * these names. In the arena. */
struct str locate_match(const struct pattern_set *set, const struct flow *flow, const struct match *m,
                        const struct match_detail *detail, struct str_list *names, struct arena *a);
/* Adds the names of the parameters that an op uses. False: it uses none. */
bool operand_names(const struct graph *g, uint32_t op, struct names *names);

#endif
