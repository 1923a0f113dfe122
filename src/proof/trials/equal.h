/* Whether two programs over shared inputs are the same function: both are evaluated whole, in f64, on random numbers of
 * several kinds, and compared. proof/elements does the same by some elements at the shapes of a model.
 *
 * - facts.h    what the ops do with an input
 * - problem.h  the two programs, their inputs, what is known of them
 * - numbers.h  kinds of trials, and their numbers
 * - compare.h  how far a tensor is from another
 * - shapes.h   in which extents
 * - show.h     a counterexample, as small as it gets
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
};

struct effort {
    uint64_t seed;
    bool fixed;       /* an input of one number has it in all trials: an attribute may ask for it */
    bool thorough;    /* more elements, where they are had for a low price */
    uint32_t samples; /* of each kind of numbers, at least; more where what they have to meet is rare */
};

/* Readings of the other side are tried until one agrees, which is left as the current one. In `a`. */
struct verdict equal_try(const struct problem *p, struct effort how, struct arena *a);

/* Two results on numbers that are given. */
struct comparison {
    bool evaluated, differs;
    int64_t at;
    double before, after; /* there */
    struct shape shape;
};
/* Of the first output, by device; what is given may differ from what was drawn. */
struct comparison equal_compare(const struct problem *p, struct given *const given[MAX_DEVICES], enum equals order,
                                struct arena *scratch);

/* Where the element number `at` of a tensor stands: "[0, 2, 1]", in `a`. */
struct str index_text(struct arena *a, const struct shape *s, int64_t at);

#endif
