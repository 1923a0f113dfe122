/* Whether both results of a miter are the same function of its arguments: evaluated in f64 on random numbers of several
 * kinds, in small shapes; where they differ there, in shapes that keep what constants may be tied to. */
#ifndef FA_JUDGE_H
#define FA_JUDGE_H

#include "library/pattern.h"

enum answer { ANSWER_PROVED, ANSWER_DIFFERENT, ANSWER_NOT_COMPARED };

struct judgement {
    enum answer answer;
    uint32_t shapes;  /* proved: in so many shapes */
    double bound;     /* proved: the largest difference that the rounding of constants made, relative; 0: none */
    struct str why;   /* not compared: the reason; different: on which inputs it matters, or empty */
    struct str shown; /* different: lines of the counterexample, once it was asked for */
    struct str text;  /* different: of the miter */
};

/* The texts live in `a`. Not `thorough`: in small shapes only; what they do not prove is not compared. */
struct judgement miter_judge(struct str text, const struct pattern_set *lowerings, bool thorough, struct arena *a);
/* The counterexample, of a miter whose sides are different, as small as it gets. */
struct str miter_show(struct str text, const struct pattern_set *lowerings, struct arena *a);

#endif
