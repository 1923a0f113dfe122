/* Two modules of one compile compared: which ops of both are proved to compute the same. */
#ifndef FA_COMPARE_MODULES_H
#define FA_COMPARE_MODULES_H

#include "compile/verify/dag.h"
#include "compile/verify/judge.h"

/* What was compared with one another: ops from shared values on. */
struct compared_region {
    struct judgement judgement;
    uint32_t *ops[SIDES], nops[SIDES]; /* ids of the graph, ascending, each once */
    const struct mlir *own_types;      /* different: the miter in its own types; or NULL */
    bool needed;                       /* some result depends on it */
    bool freed; /* different: ops[AFTER] are a deallocation and an op behind it that reads the value */
    /* private to the sweep */
    uint32_t *nodes, nnodes;   /* of the dag */
    uint32_t *leaves, nleaves; /* values of AFTER that it starts from */
    uint32_t result[SIDES];
    struct movement moved;
    bool in_own_type; /* as in struct cone_pair */
    bool doubtful;    /* different, and other candidates cannot be told */
};

struct what_to_compare {
    unsigned excluded; /* kinds of trials (proof/trials/numbers.h) that nothing is claimed of, a bit each */
    bool same_names;   /* values of one name are likely the same: AFTER is BEFORE with changes */
    unsigned seed;     /* of random numbers */
};

struct module_comparison {
    struct arena arena;
    struct what_to_compare what;
    const struct pattern_set *lowerings; /* what fused ops compute */
    struct judged judged;
    struct compared_region *regions;
    uint32_t nregions, regions_cap;
    uint32_t answers[SIDES][ANSWER_NOT_COMPARED + 1]; /* compute ops by answer */
    struct str why;                                   /* no functions were compared, and why; or empty */
    uint8_t *answer[SIDES];                           /* by op that computes: 1 + its answer; else 0 */
    uint32_t *twin;           /* by op of AFTER: that of BEFORE which does the same to the same values; or NONE */
    bool *reads_freed;        /* by op of AFTER: it reads a value that was deallocated */
    uint32_t *copy_of[SIDES]; /* by op: an earlier one that does the same to the same values, or NONE */
    struct mlir **miters;     /* all of these, to be freed */
    uint32_t nmiters, miters_cap;
    uint32_t nundecided; /* needed regions that differ, and may yet be right */
};

/* `before` and `after` have to outlive it. */
void compare_modules(struct module_comparison *m, const struct pattern_set *lowerings, const struct graph *before,
                     const struct graph *after, struct what_to_compare what);
/* The last compute op of AFTER in the region that does not only slice, or its last op. */
uint32_t fused_op_of(const struct compared_region *r, const struct graph *after);
void module_comparison_free(struct module_comparison *m);

#endif
