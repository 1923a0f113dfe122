/* Whether both sides of a problem are the same function: elements of their results at the shapes of the text, which ask
 * for the elements of operands that they are made of, on numbers of several kinds (proof/trials/numbers.h). What costs
 * more than its budget, or cannot be evaluated, is not compared. */
#ifndef FA_SAME_H
#define FA_SAME_H

#include "proof/trials/equal.h"

/* Readings of the other side are tried until one agrees, which is left as the current one. In `a`. */
struct verdict same_try(const struct problem *p, struct effort how, struct arena *a);

#endif
