/* What computes one value of AFTER, and what computes the value of BEFORE that it may be, down to values of BEFORE that
 * represent others: a cut of the graph, whose inputs both sides share. */
#ifndef FA_CONE_H
#define FA_CONE_H

#include "compile/verify/dag.h"
#include "proof/value/reason.h"

enum { MAX_CONE_NODES = 480, MAX_CONE_INPUTS = 60, MAX_OPENED = 256 };

struct cone_pair {
    uint32_t result[SIDES];                    /* values that are compared */
    struct movement moved;                     /* of the one of AFTER */
    uint32_t nodes[MAX_CONE_NODES], nnodes;    /* ascending: those of BEFORE first */
    uint32_t inputs[MAX_CONE_INPUTS], ninputs; /* values of BEFORE */
    uint8_t used[MAX_CONE_INPUTS];             /* by which sides, a bit each */
    uint32_t leaves[MAX_CONE_INPUTS], nleaves; /* values of AFTER that are inputs */
    uint32_t opened[MAX_OPENED], nopened;      /* values of BEFORE that represent others, but are no inputs here */
    bool in_own_type;                          /* the result of BEFORE: it is not cast to the type of that of AFTER */
    enum merge weakest;                        /* how sure the least sure of the inputs is */
    struct reason why;                         /* why there is no cone; or empty */
};

/* From `result`, `moved` and `opened`. Values that are merged less surely than `least` are no inputs, nor are
 * positions that are moved. False with `why`.
 */
bool cone_build(struct cone_pair *c, const struct dag *d, enum merge least);
/* One layer larger: of the inputs that only one side needs the latest are opened, or else all that ops make. False
 * where there is none, or with `why`. */
bool cone_grow(struct cone_pair *c, const struct dag *d, enum merge least);
/* The same, but first what both sides need and may be made of an input that one of them needs: x of x + f(x) beside
 * f(x) is then an input of both. */
bool cone_grow_to_shared(struct cone_pair *c, const struct dag *d, enum merge least);
/* So far that no input that says what is seen, a truth value, a whole number or a mask of these, is made of others:
 * they are not arbitrary. False where none is, or with `why`. */
bool cone_grow_masks(struct cone_pair *c, const struct dag *d, enum merge least);
/* How many inputs one side needs alone. */
uint32_t cone_one_sided_inputs(const struct cone_pair *c);
/* Some value that ops make is an input of one side only. */
bool cone_has_foreign_input(const struct cone_pair *c, const struct dag *d);
/* Each of these depends on an argument that nothing of the other side does, and is a float that hides nothing: it may
 * be any number whatever the other side's inputs are. Bits are of `a`. */
bool cone_foreign_are_free(const struct cone_pair *c, const struct dag *d, struct arena *a);
/* A constant of which the text leaves the elements out is in one side only, or taken for one of the other by a guess.
 */
bool cone_has_elided_constant(const struct cone_pair *c, const struct dag *d);
/* One side has a constant of different numbers that the other is not known to have: it may compute them. */
bool cone_has_table_of_one_side(const struct cone_pair *c, const struct dag *d);
/* It is made of what an empty tensor happens to hold. */
bool cone_reads_unwritten(const struct cone_pair *c, const struct dag *d);

#endif
