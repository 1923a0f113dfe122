/* One value of AFTER: whether it is one of its candidates, and what a difference of it says. */
#ifndef FA_VERIFY_VALUE_H
#define FA_VERIFY_VALUE_H

#include "compile/verify/sweep.h"

void value_compare(struct sweep *s, uint32_t after);
/* The results of a node that does the same as one of BEFORE, and was merged with it. */
void value_compare_twin(struct sweep *s, uint32_t node);
/* Results of the functions are the same ones whatever they hold. Returns the region that compared them; NONE: they were
 * merged before. */
uint32_t value_compare_result(struct sweep *s, uint32_t after, uint32_t before);
/* Whether a difference of the region stands, before it is told. */
void value_settle(struct sweep *s, uint32_t region);

#endif
