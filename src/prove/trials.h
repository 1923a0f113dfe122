/* The trials of a proof: both sides are evaluated on random numbers of several kinds and compared. */
#ifndef FA_TRIALS_H
#define FA_TRIALS_H

#include "prove/numbers.h"
#include "prove/proof.h"

/* Ordered by what they tell. */
enum trial_verdict { TRIAL_SAME, TRIAL_NOT_EVALUATED, TRIAL_DIFFERENT };

struct trial_result {
    enum trial_verdict verdict;
    struct str text; /* the difference, or why it was not evaluated */
};

/* What the trials so far found. */
struct trial_totals {
    uint64_t cost;     /* elements and steps of all evaluations of the form, and CHOICE_COST for each choice */
    uint32_t nfailed;  /* evaluations of the form that failed, */
    uint32_t nbeyond;  /* and those of them that the evaluator is the cause of (eval_beyond) */
    bool untried;      /* some alternative was not tried: what differs may yet be the same */
    bool approximate;  /* some output agrees within the bound of the pattern only */
    bool same_outside; /* the sides agree in a trial that the pattern excludes from its claim */
};

/* What an output of an approximate form differs by, over all numbers that were tried. */
struct distance {
    double error, size; /* sums of squares */
    int64_t n;          /* elements */
    struct str text;    /* the last difference */
};

struct proof {
    struct reference ref;
    struct fused_form form;
    struct device_run run; /* of the first device; devices.h has the others */

    bool brief;      /* without trials on numbers of other sizes, once one has compared something */
    uint64_t budget; /* cost after which no further alternative of the form is tried */
    uint32_t skip;   /* alternatives that agreed in the first trial and not in all others */

    enum trial trial;  /* at hand */
    uint32_t violated; /* the input whose precondition does not hold in it, or NONE */
    struct distance distance[MAX_OUTPUTS];

    struct trial_totals totals;
};

/* The first trial finds the axis frame and the alternatives of the form that agree with the match; the others, with
 * these, look for a difference. Where there is one, the next alternatives that agree are tried. */
struct trial_result proof_try_all(struct proof *p);

/* Each precondition violated on its own, while the others hold. */
struct preconditions {
    uint32_t needed; /* those whose violation makes a difference */
    uint32_t nneedless;
    uint32_t needless[MAX_INPUTS]; /* inputs whose violated precondition makes none */
};
void proof_violate(struct proof *p, struct preconditions *out);
/* "%a, %b". */
struct str needless_names(const struct proof *p, const struct preconditions *all);

/* Where the element number `at` of a tensor stands: "[0, 2, 1]", in `a`. */
struct str index_text(struct arena *a, const struct shape *s, int64_t at);

#endif
