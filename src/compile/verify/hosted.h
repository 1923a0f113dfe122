/* Values that functions on the host make, of which the module has no body that is understood: what BEFORE makes of the
 * same arguments is taken for them, on trust, where what follows is proved with it in their place. */
#ifndef FA_HOSTED_H
#define FA_HOSTED_H

#include "compile/verify/cone.h"

enum { MAX_HOSTED_CANDIDATES = 24, MAX_HOSTED = 6 /* in one region */ };

/* Calls make it, and it is merged with nothing. */
bool is_hosted(const struct dag *d, uint32_t value);
/* The values of AFTER in a cone that are; how many, or MAX_HOSTED + 1. */
uint32_t hosted_in_cone(const struct dag *d, const struct cone_pair *c, uint32_t out[MAX_HOSTED]);
/* Values of BEFORE with as many elements that are made of the same arguments, and that other ops take; of those that a
 * reshape alone tells apart the first one. Where there are none, several side by side, one made of each operand of the
 * call. How many; 0 where there are more than can be tried. */
uint32_t hosted_candidates(const struct dag *d, uint32_t value, struct dag_join out[MAX_HOSTED_CANDIDATES]);
/* What a value is before it was moved. */
uint32_t hosted_base(const struct dag *d, uint32_t value);

#endif
