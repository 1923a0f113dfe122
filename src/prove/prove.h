/* Compares what a match computes with the fused form of its pattern, on numbers. */
#ifndef FA_PROVE_H
#define FA_PROVE_H

#include "match/match.h"

enum verdict_kind { VERDICT_NONE, VERDICT_SAME, VERDICT_DIFFERENT };

/* How far a device is from f64, fused and not: inputs rounded to their element types, what the unfused ops store
 * rounded at each of them, what the fused one keeps inside not. */
struct effect {
    bool known;
    enum dtype type; /* of the result */
    bool blackhole;
    double pcc[2], error[2], ulp[2]; /* unfused, fused: PCC, relative L2, largest distance in units of the last place */
};

struct proved {
    enum verdict_kind kind; /* VERDICT_NONE: not evaluated */
    struct str text;        /* the difference, or why nothing was evaluated */
    bool misfit;            /* VERDICT_NONE: the fused form does not fit what is matched */
    uint32_t shapes;        /* VERDICT_SAME: in so many; or 0 */
    bool for_constants;           /* VERDICT_SAME: for what constants of the match hold, not for any */
    double bound;           /* VERDICT_SAME: the relative L2 that the pattern allows and needs; 0: it is exact */
    uint32_t needed;        /* VERDICT_SAME: preconditions without each of which it is something else */
    struct str needless;    /* names of those of which the same holds without; or empty */
    bool same_outside;      /* VERDICT_SAME: in what is stated to be outside of the claim, too */
    struct effect effect;   /* VERDICT_SAME */
    uint64_t spent;         /* elements and steps on plain numbers, and some for each evaluation */
};

struct prover {
    const struct pattern_set *set; /* of the lowerings */
    uint64_t seed;                 /* of the numbers, and of what is varied */
    struct diags *diags;
    bool say_unproved;                   /* a note for each example that cannot be compared */
    uint32_t proved, unproved, formless; /* formless: those of `unproved` whose pattern has no fused form */
    uint32_t varied;                     /* other shapes and types that were evaluated besides */
};

/* What the matched ops compute against the fused form of the match's pattern, on numbers of several kinds. Tensors live
 * in `a`. */
struct proved prove_match(const struct pattern_set *set, const struct match *m, bool blackhole, struct arena *a);

/* The verdict alone, on numbers of a seed. */
struct proved prove_function(const struct pattern_set *set, const struct match *m, uint64_t seed, struct arena *a);

/* For struct example_judge; `self` is a struct prover. Text where the fused form computes something else. */
struct str prove_example(void *self, const struct match *m, const struct example *e, struct arena *a);

#endif
