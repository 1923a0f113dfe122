/* Random numbers for the inputs of a problem, the same for the same seed. */
#ifndef FA_NUMBERS_H
#define FA_NUMBERS_H

#include "proof/trials/problem.h"

/* Kinds of trials. What a pattern may exclude from its claim, and numbers that an ordinary trial does not meet, have a
 * trial of their own. */
enum trial {
    TRIAL_PLAIN,        /* both signs, rows of different size, a row of zeros, some numbers 8 times as large */
    TRIAL_POSITIVE,     /* the same, positive: for roots and logarithms; every second sample negative */
    TRIAL_MASKED,       /* masks hide some scores of each row, never all */
    TRIAL_COARSE,       /* few different numbers up to 4: larger ones, with many equal */
    TRIAL_MASKED_ROWS,  /* masks hide whole rows */
    TRIAL_EQUAL,        /* 0, 1 and 2 only: equal elements of a sort */
    TRIAL_THRESHOLDS,   /* numbers on and around the thresholds of the program */
    TRIAL_NEAR_EPSILON, /* numbers so small that an epsilon counts */
    TRIAL_NAN,          /* some elements are no numbers */
    TRIALS
};

/* One set of numbers. */
struct draw {
    enum trial trial;
    uint64_t seed;
    uint32_t sample; /* the how many-th of this seed and trial */
};

/* The trial has other numbers for this problem than the trials before it. */
bool trial_differs(const struct problem *p, enum trial trial);
/* The numbers of one input, of which each is a function of its index: what the elements are before the input is told to
 * repeat some, to be a constant or a formula of them (struct input). In `a`; NULL where it has no static shape. */
struct filling;
struct filling *filling_of(const struct problem *p, struct draw d, uint32_t device, uint32_t input, struct arena *a);
/* Of a value of which no more is known than whether it is `truths`; `index`: an input that the problem does not have.
 */
struct filling *filling_plain(const struct problem *p, struct draw d, uint32_t index, const struct shape *s,
                              bool truths, struct arena *a);
/* `n` elements by their indices, ascending. */
void filling_numbers(const struct filling *f, const int64_t *at, int64_t n, double *out);
/* The formula that a pattern says the input is, of those numbers. NULL with a reason in the context. */
const struct tensor *as_stated(struct eval_context *b, const struct formula *holds, const struct tensor *t);

/* Mixes a seed and an index to another seed; neighbouring ones give unrelated seeds. */
static inline uint64_t seed_of(uint64_t seed, uint64_t i) {
    uint64_t x = (seed + i * 0x632be59bd9b4e019u + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    return (x ^ x >> 27) >> 8;
}

#endif
