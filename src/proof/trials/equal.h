/* What is asked of two programs over shared inputs, and what is said: whether they are the same function, on random
 * numbers of several kinds (proof/elements decides).
 *
 * - facts.h    what the ops do with an input
 * - problem.h  the two programs, their inputs, what is known of them
 * - numbers.h  kinds of trials, and their numbers
 * - compare.h  how far a tensor is from another
 * - shapes.h   in which extents
 * - device_error.h  how far a device is from f64 */
#ifndef FA_EQUAL_H
#define FA_EQUAL_H

#include "proof/trials/numbers.h"

/* Ordered by what they tell. */
enum verdict_kind { VERDICT_NONE, VERDICT_SAME, VERDICT_DIFFERENT };

struct verdict {
    enum verdict_kind kind; /* VERDICT_NONE: not evaluated */
    struct reason why;      /* the difference, or why it was not evaluated */
    struct draw at;         /* VERDICT_DIFFERENT: numbers that show it, */
    enum equals order;      /* and the order of equal elements */
    double rounding;        /* the largest relative difference that the precision of loose constants explains */
    bool bends;             /* which makes comparisons or clamps begin at other numbers */
    bool approximate;       /* some output agrees within the bound of the problem only */
    bool same_outside;      /* the sides agree in a trial that is excluded */
    bool agrees;            /* VERDICT_NONE: evaluated without a difference, but not all choices were met */
    bool misfit;            /* VERDICT_NONE: the other side cannot be evaluated, and the evaluator lacks nothing */
    bool dear;              /* two elements are made of too many inputs for them to vary along all dimensions */
    bool left;              /* some alternative was left, in haste */
    bool few;     /* of many elements few were compared, since they are dear, at one index of some dimension */
    bool one_way; /* some choice by constants alone went one way: in other extents it may go the other */
};

struct effort {
    uint64_t seed;
    bool hasty;       /* what differs as a function of what both sides take is left: the inputs may be special */
    bool fixed;       /* an input of one number has it in all trials: an attribute may ask for it */
    bool thorough;    /* more elements, where they are had for a low price, */
    bool whole;       /* of any result, and more numbers that meet what is rare: of small shapes */
    uint32_t samples; /* of each kind of numbers, at least; more where what they have to meet is rare */
};

#endif
