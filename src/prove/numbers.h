/* What a proof gives the leaves of a match: random numbers of several kinds, what the pattern ties to a number, and
 * what it states, unless that is to be violated. */
#ifndef FA_PROVE_NUMBERS_H
#define FA_PROVE_NUMBERS_H

#include "prove/form.h"

enum trial { TRIAL_PLAIN, TRIAL_POSITIVE, TRIAL_HIDDEN, TRIAL_COARSE, TRIALS };

/* Below a value: matched ops, movement and constants are evaluated, what they start from is a leaf. */
void numbers_find(struct proof *p, uint32_t value);
/* What each leaf is for, as soon as all are found. */
void numbers_roles(struct proof *p);
/* Something is stated of the leaf that can fail to hold. */
bool numbers_stated(const struct proof *p, uint32_t leaf);
/* Into p->given. What is stated holds, but for that of the leaf `violated` (NONE: of all). False with a reason. */
bool numbers_make(struct proof *p, enum trial trial, uint32_t violated);

#endif
