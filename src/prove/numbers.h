/* Random numbers for the inputs of a proof, the same for the same seed. */
#ifndef FA_NUMBERS_H
#define FA_NUMBERS_H

#include "prove/proof.h"

/* Kinds of trials. What a pattern may exclude from its claim, and numbers that an ordinary trial does not meet, have a
 * trial of their own. */
enum trial {
    TRIAL_PLAIN,        /* both signs, rows of different size, a row of zeros, some numbers 8 times as large */
    TRIAL_POSITIVE,     /* the same, positive: for roots and logarithms */
    TRIAL_MASKED,       /* masks hide some scores of each row, never all */
    TRIAL_COARSE,       /* few different numbers up to 4: larger ones, with many equal */
    TRIAL_MASKED_ROWS,  /* masks hide whole rows */
    TRIAL_EQUAL,        /* 0, 1 and 2 only: equal elements of a sort */
    TRIAL_THRESHOLDS,   /* numbers on and around the thresholds of the reference */
    TRIAL_NEAR_EPSILON, /* numbers so small that an epsilon counts */
    TRIALS
};

/* The trial has other numbers for this reference than the trials before it. */
bool trial_differs(const struct reference *r, enum trial trial);
/* Fills run->given. What the pattern states of inputs holds, except for the input `violated` (NONE: for all).
 * Replicated inputs are those of `first`, the run of the first device. False with a reason in the context. */
bool numbers_make(struct device_run *run, const struct device_run *first, enum trial trial, uint32_t violated);
/* Mixes a seed and an index to another seed; neighbouring ones give unrelated seeds. */
static inline uint64_t seed_of(uint64_t seed, uint64_t i) {
    uint64_t x = (seed + i * 0x632be59bd9b4e019u + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    return (x ^ x >> 27) >> 8;
}

#endif
