/* Whether a difference is one of rounded constants: numbers none of which is further from its constant than that was
 * rounded by make both sides agree. */
#ifndef FA_TRIALS_LOOSE_H
#define FA_TRIALS_LOOSE_H

#include "proof/trials/problem.h"

/* Elements of both sides on one set of numbers in which they differ, as functions of the constants. */
struct loose_question {
    const struct loose_constant *all; /* at most MAX_LOOSE */
    uint32_t n, nelements;
    /* With each constant moved by `shift`. False: not evaluated. */
    bool (*evaluate)(void *self, const double *shift, double *want, double *got);
    void *self;
};

/* Sets `shift` to what makes the sides agree, but for a last rest. False: nothing does, or nothing else than before. */
bool loose_settle(const struct loose_question *q, double shift[MAX_LOOSE]);
/* Adds to `slack`, by element, the differences that go where a constant is moved by its rounding, from where `shift`
 * has it: a comparison with it comes out otherwise between the constant and what it was rounded to. False: none does.
 */
bool loose_bends(const struct loose_question *q, const double shift[MAX_LOOSE], double *slack);

#endif
