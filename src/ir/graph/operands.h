/* The data operands of an op by role, and whether op, operands and results hold together. Private to the folder. An op
 * that does not is said to `d` and gets NO_OPERATOR. */
#ifndef FA_OPERANDS_H
#define FA_OPERANDS_H

#include "ir/graph/graph.h"

enum { MAX_ROLES = 8 };

/* The op is not what its name says: what is wrong with it, after its name. */
void bad_op(struct graph *g, uint32_t op, struct diags *d, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* How many data operands a kind has; `all` is -1 for any number. */
struct arity {
    bool counted; /* false: the rest is not set yet */
    bool optional;
    int all, required, destination; /* destination: its role, -1: it has none */
    bool needed[MAX_ROLES];         /* by role */
};

/* Writes them to `out`, which has room for all operands in the text and MAX_ROLES more; returns how many. `arity` is
 * that of the op's kind, set at first sight. */
uint32_t data_operands(struct graph *g, uint32_t op, struct arity *arity, uint32_t *out, struct diags *d);
/* Aliases and types of no meaning, static shapes of results that do not follow from those of the operands. */
void check_ops(struct graph *g, struct diags *d);

#endif
