/* What a proof gives the leaves of a match: random numbers of several kinds, what the pattern ties to a number, and
 * what it states, unless that is to be violated. */
#ifndef FA_PROVE_NUMBERS_H
#define FA_PROVE_NUMBERS_H

#include "prove/form.h"

/* What an ordinary trial leaves out is in one of its own: rows that are hidden as a whole, equal elements of a sort,
 * numbers around the limits of the match, and those beside which an epsilon counts. */
enum trial {
    TRIAL_PLAIN,
    TRIAL_POSITIVE,
    TRIAL_HIDDEN,
    TRIAL_COARSE,
    TRIAL_SHUT,
    TRIAL_TIES,
    TRIAL_LIMITS,
    TRIAL_SMALL,
    TRIALS
};

/* Below a value: matched ops, movement and constants are evaluated, what they start from is a leaf. */
void numbers_find(struct proof *p, uint32_t value);
/* What each leaf is for, as soon as all are found. False with a reason. */
bool numbers_roles(struct proof *p);
/* Something is stated of the leaf that can fail to hold. */
bool numbers_stated(const struct proof *p, uint32_t leaf);
/* The trial says something of this match that others do not. */
bool numbers_differ(const struct proof *p, enum trial trial);
/* The order of equal elements can be seen: a sort promises it, or its indices are used for more than to be moved. */
bool numbers_show_order(const struct proof *p);
/* Into p->given, and that of each other device. What is stated holds, but for that of the leaf `violated` (NONE: of
 * all). False with a reason. */
bool numbers_make(struct proof *p, enum trial trial, uint32_t violated);

/* ---- mask.c ---- */

/* What a value decides, whatever its element type is. */
enum truth mask_truth(const struct proof *p, uint32_t value, int depth);
/* 1: where it is -inf a softmax sees nothing; -1: where it is inf; 0: neither. */
int mask_sign(const struct proof *p, uint32_t value);

/* ---- limits.c ---- */

/* An integer that some op takes for a place, an offset or the like. */
bool limits_is_index(const struct proof *p, uint32_t value, int depth);
struct limits limits_find(const struct proof *p);
/* One around the limits, or `otherwise`; of three random numbers below 1. */
double limits_number(const struct limits *l, enum dtype type, double otherwise, const double u[3]);

#endif
