/* A fingerprint of a function: two functions with one are searched alike, in whatever graph they are. */
#ifndef FA_FUNCTION_FINGERPRINT_H
#define FA_FUNCTION_FINGERPRINT_H

#include "search/match/match.h"

/* Of all that a search can ask about the ops of a function and its arguments, but locations, names of values and what
 * other functions hold. `aliases`: mlir_aliases_hash of its module. 0: it has none, since a value of it is made or used
 * elsewhere. */
uint64_t function_fingerprint(const struct graph *g, uint32_t func, uint64_t aliases);
/* Of a function with that fingerprint: two of one graph with one are written alike, but for names of arguments and
 * locations. */
uint64_t function_alike(const struct graph *g, uint32_t func, uint64_t fingerprint);
/* Of a place in a function of which `alike` is that: two of one graph are the same ops of such functions. */
uint64_t match_alike(const struct match *m, uint64_t alike);

#endif
