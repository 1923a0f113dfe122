/* Two modules of one compile compared: which ops of both are proved to compute the same. */
#ifndef FA_COMPARE_MODULES_H
#define FA_COMPARE_MODULES_H

#include "verify/judge.h"
#include "verify/region.h"

/* Ops of a region, ids of the graph. */
struct compared_region {
    struct judgement judgement;
    uint32_t *ops[SIDES_OF_CUT], nops[SIDES_OF_CUT]; /* ascending, each once */
    uint32_t *reached, nreached;                     /* values of AFTER that it starts from */
    uint32_t *inputs, ninputs;                       /* of its counterexample: values of the graph of BEFORE */
    uint32_t *steps[SIDES_OF_CUT], nsteps[SIDES_OF_CUT];
    struct str own_types; /* different: the miter in its own types; or empty */
    bool needed;          /* some result depends on it */
    bool freed;           /* different: ops[AFTER] are a deallocation and an op behind it that reads the value */
};

/* A value of AFTER that is proved, for what the device loses on it. */
struct proved_value {
    struct str text;     /* of the miter in its own types, in the arena of the comparison */
    uint32_t op;         /* of AFTER, the last one that computes; no slice of it */
    uint32_t *ops, nops; /* of AFTER, of its region */
    uint32_t step;       /* private */
};

struct module_comparison {
    struct arena arena;
    const struct pattern_set *lowerings; /* what fused ops compute */
    struct compared_region *regions;
    uint32_t nregions, regions_cap;
    uint32_t answers[SIDES_OF_CUT][ANSWER_NOT_COMPARED + 1]; /* compute ops by answer */
    struct str why;                                          /* no functions were compared, and why; or empty */
    uint8_t *answer[SIDES_OF_CUT];                           /* by op that computes: 1 + its answer; else 0 */
    uint32_t *twin;    /* by op of AFTER: that of BEFORE which does the same to the same values; or NONE */
    bool *reads_freed; /* by op of AFTER: it reads a value that was deallocated */
    uint32_t *copy_of[SIDES_OF_CUT]; /* by op: an earlier one that does the same to the same values, or NONE */
    bool keep_proved;                /* asked for: `proved` */
    struct proved_value *proved;     /* that results depend on */
    uint32_t nproved, proved_cap;
    const bool *asked, *sought; /* as in what_to_compare */
    bool doubtful;              /* some of those that are asked for was not proved */
};

struct what_to_compare {
    bool keep_proved;
    const bool *only;   /* per op of AFTER; NULL: all. Else nothing is counted, and all others are taken to be right */
    const bool *sought; /* per op of AFTER; NULL: all. Else differences are looked for in these only */
};

/* `before` and `after` have to outlive it. */
void compare_modules(struct module_comparison *m, const struct pattern_set *lowerings, const struct graph *before,
                     const struct graph *after, struct what_to_compare what);
/* The last compute op of AFTER in the region that does not only slice, or its last op. */
uint32_t fused_op_of(const struct compared_region *r, const struct graph *after);
void module_comparison_free(struct module_comparison *m);

#endif
