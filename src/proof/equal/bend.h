/* Differences of elements that jump where a rounded constant decides: a comparison with it comes out otherwise for
 * numbers between the constant and what it was rounded to. */
#ifndef FA_EQUAL_BEND_H
#define FA_EQUAL_BEND_H

#include "proof/equal/mesh.h"

/* Adds to `slack`, by element of an output of a device, the differences that go where a loose constant is moved by its
 * rounding, from where `shift` has it. False: none does. */
bool bends_explain(const struct lockstep *l, const double *shift, uint32_t device, uint32_t output,
                   const struct tensor *want, const struct tensor *got, double *slack);

#endif
