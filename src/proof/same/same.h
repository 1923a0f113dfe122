/* Whether two values of a graph are the same function of its arguments: elements of both, at the shapes of the text, on
 * numbers of several kinds (draw.h).
 *
 * A few elements tell what all are where each is the same function of inputs: what is put together of parts is not
 * compared, unless all elements are asked for, nor are whole numbers, or what jumps where numbers are equal.
 * They are the same only where all kinds of numbers were tried for each input, and every choice was met both ways. A
 * difference that vanishes in the rounding of the arithmetic is none, nor one that another number in place of one
 * loose constant takes away on all numbers. What costs more than its budget, or cannot be evaluated, is
 * not compared. */
#ifndef FA_SAME_H
#define FA_SAME_H

#include "proof/equal/problem.h"

struct pattern_set;

enum same { SAME, DIFFERENT, NOT_COMPARED };

struct same_question {
    const struct graph *graph;
    const struct pattern_set *lowerings;
    uint32_t values[2];                 /* of one shape */
    const struct loose_constant *loose; /* of which one may be another number */
    uint32_t nloose;
    uint64_t seed;
    double bound; /* L2 of the difference, relative, that is none; 0: none */
    double most;  /* elements, of all tensors, that may be computed in all */
};

struct same_answer {
    enum same is;
    struct reason why; /* not compared; in the arena */
    double rounding;   /* the same: how far from its number, relative, a constant was taken; 0: none was */
};

struct same_answer same_function(const struct same_question *q, struct arena *a);

#endif
