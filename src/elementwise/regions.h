/* Elementwise regions: ops of TTNN that one generated kernel could run.
 *
 * They are grown as the compiler's pass ttnn-create-d2m-subgraphs grows its groups: from an exit, a listed op with no
 * listed user, backwards to producers all of whose users are in the group. Within a group a kernel fuses trees: a
 * producer and the one op that uses it, where types, layouts and shapes allow it (legal.h). A tree that exceeds what a
 * kernel may hold is cut into as few kernels as there can be; no two of them could be one, and no op could be added to
 * one. All of it takes time in proportion to the ops.
 *
 * Registers are counted as the generated code uses them: each input is loaded into one right before the op that takes
 * it; an op of several operands puts its result into one more, while one of a single operand works in place. The
 * order that needs fewest computes the operand that needs most first (Sethi and Ullman, The Generation of Optimal Code
 * for Arithmetic Expressions, 1970). */
#ifndef FA_REGIONS_H
#define FA_REGIONS_H

#include "elementwise/legal.h"
#include "search/match/match.h"

struct region {
    struct match match; /* of the rules' claim; its ops are in textual order */
    uint32_t ninputs;   /* operands from outside, each time that one is taken */
    uint32_t registers; /* destination registers in the order that needs fewest */
    bool wide;          /* some tensor has elements of more than 16 bits */
    bool grid_known;    /* TTNN says which grid the tensors lie on */
};

struct region_list {
    struct region *items;
    uint32_t n, cap;
};

/* Two kernels that exceed one limit together, by one; or an op and the one that uses it, which break one rule. */
struct region_near {
    enum region_fault fault;
    uint32_t producer, consumer; /* ops */
    uint32_t value;              /* the first that is wrong; or NONE */
    uint32_t count, most;        /* FAULT_INPUTS, FAULT_REGISTERS */
    bool wide;                   /* as in struct region */
};

struct region_near_list {
    struct region_near *items;
    uint32_t n, cap;
};

/* The regions of a graph, in the order of their last ops, of two ops or more; `kind`: REGION_REDUCTION for those that
 * end in a reduction, too. `near` may be NULL. What regions point to lives in `a`; the caller frees both items. */
void regions_find(const struct graph *g, const struct region_rules *rules, enum region_kind kind, struct arena *a,
                  struct region_list *out, struct region_near_list *near);

/* Its limits as remarks, and its precondition; in `a`. */
struct match_detail region_detail(const struct graph *g, const struct region_rules *rules, const struct region *r,
                                  struct arena *a);

#endif
