/* Whether both results of a miter are the same function of its arguments. */
#ifndef FA_JUDGE_H
#define FA_JUDGE_H

#include "patterns/library/pattern.h"
#include "proof/trials/device_error.h"

enum answer { ANSWER_PROVED, ANSWER_DIFFERENT, ANSWER_NOT_COMPARED };

struct judgement {
    enum answer answer;
    uint32_t shapes; /* proved: in so many shapes */
    double bound;    /* proved: the largest difference that the rounding of constants made, relative; 0: none */
    bool bends;      /* proved: rounded constants make comparisons or clamps begin at other numbers */
    bool differs;    /* not compared: it differs in small shapes */
    bool agrees;     /* not compared: no number that was tried, at its own shapes where they were, shows a difference */
    struct reason why;        /* not compared; different: on which inputs it matters, or empty */
    struct str shown;         /* different: lines of the counterexample, once it was asked for */
    const struct mlir *miter; /* different: lives as long as what asked */
};

struct judging {
    uint64_t seed;     /* of random numbers */
    double bound;      /* L2 of the difference relative to the results that is no difference; 0: none */
    unsigned excluded; /* kinds of trials (numbers.h) that nothing is claimed of, a bit each */
    bool thorough;     /* or in small shapes only: what they do not prove is not compared */
    bool any_order;    /* elements may stand anywhere */
    bool confirmed;    /* what differs in small shapes does so at those of the model, too, for all that is compared */
};

/* What was judged, by miter and how: of layers that repeat one is judged. Zeroed, it is empty. */
struct judged {
    struct judged_miter *all;
    struct arena arena;
};

/* The texts live as long as what was judged. */
struct judgement miter_judge(struct judged *known, const struct mlir *miter, const struct pattern_set *lowerings,
                             struct judging how);
void judged_free(struct judged *known);
/* The counterexample, of a miter whose sides are different, as small as it gets. */
struct str miter_show(const struct mlir *miter, const struct pattern_set *lowerings, uint64_t seed, struct arena *a);
/* Of a miter in its own types: AFTER on a device [1], and BEFORE with each result rounded to its type [0]. Extents of
 * reductions are kept where that is cheap enough. Not known where the miter is NULL. */
struct device_error miter_error(const struct mlir *miter, const struct pattern_set *lowerings, bool blackhole);

#endif
