/* The ops between a value and the one value that it is made of, element for element: what a function (N_FUNCTION) is
 * looked for in. */
#ifndef FA_COMPUTATION_H
#define FA_COMPUTATION_H

#include "ir/graph/index.h"
#include "patterns/lang/function.h"
#include "patterns/lang/net.h"

enum { MOST_COMPUTED = 40, MOST_OPEN = 8 };

/* A value and which element of it an element of the result is made of. */
struct open_value {
    uint32_t value;
    struct imap map;
};

struct computation {
    const struct graph *g;
    uint32_t root;
    uint32_t ops[MOST_COMPUTED],
        nops; /* from the root on, each before those that it is made of; also what moves data */
    struct open_value open[MOST_OPEN]; /* what the ops are made of, but constants */
    uint32_t nopen;
    uint32_t constants[MOST_COMPUTED], nconstants;
};

/* The op may be the last one of a function: it computes, and changes something. */
bool computation_ends(const struct graph *g, uint32_t op);
/* `map`: which element of the root is meant; NULL: of its own index. */
void computation_begin(struct computation *c, const struct graph *g, uint32_t root, const struct imap *map);
/* Goes on to the next value x that all of the root is made of, and is as large: open[0]. False when there is none. */
bool computation_next(struct computation *c);
/* What the ops make of x; NaN: they lack an operand. */
double computation_at(const struct computation *c, double x);
/* Of at most 64 functions those that the ops are a spelling of, a bit each: two ops or more, which make the same
 * numbers of x at function_points, and its own op is not among them. */
uint64_t computation_finds(const struct computation *c, const struct subformula *const *functions, uint32_t n);
/* The constants among those of the ops that a function captures, so that the ops are a spelling of it; for each name of
 * it one. False: there are none. */
bool computation_captures(const struct computation *c, const struct node *n, uint32_t constants[MOST_CAPTURED]);

#endif
