/* What the choice of a change and the printing of the changed module share. Private to mutate*.c. */
#ifndef FA_MUTATOR_H
#define FA_MUTATOR_H

#include "reduce/mutate.h"

/* The second operand of an inserted binary op: of the first one's shape, of its last dimension only, a single element,
 * or a constant of a single element. */
enum second_operand { SECOND_FULL, SECOND_ROW, SECOND_ONE, SECOND_CONSTANT, SECOND_OPERANDS };

struct mutator {
    const struct mlir *m; /* of the printed module, parsed again */
    const struct graph *g;
    const struct mlir_func *f; /* its only function */
    struct mutation *mu;
    struct arena *arena;
    struct buf out;
    bool impossible; /* the module has no such change */

    /* a change of rank, by value */
    bool *leads;     /* its leading dimension is new, or goes */
    int64_t *extent; /* of that dimension */

    /* an op less */
    uint32_t dropped;  /* NONE: none */
    uint32_t stand_in; /* the operand that replaces its result */

    /* an op more */
    uint32_t at;       /* the value whose users take the new op's result instead; NONE: none */
    struct str insert; /* spelling of the op */
    bool unary;
    enum second_operand second;
    bool parameter; /* the second operand is a parameter of the model */
};

uint32_t mutator_rank(const struct mutator *x, uint32_t value);
/* "ttnn" or "ttir". */
const char *mutator_dialect(const struct mutator *x);
/* Prints the changed module to `out` and moves the lines in `w` with their ops; sets `impossible` where an attribute
 * cannot follow the change of rank. */
void mutator_print(struct mutator *x, const struct subgraph *s, struct printed_module *w);

#endif
