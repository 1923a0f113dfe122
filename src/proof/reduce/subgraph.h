/* The subgraph that a match covers: its ops, and the values that they take from outside. */
#ifndef FA_SUBGRAPH_H
#define FA_SUBGRAPH_H

#include "proof/value/reason.h"
#include "search/match/match.h"

enum { MAX_SUBGRAPH_OPS = 256, MAX_SUBGRAPH_INPUTS = 96 };

struct subgraph {
    const struct graph *graph;
    uint32_t ops[MAX_SUBGRAPH_OPS]; /* matched or looked through; textual order, which is the order of ids */
    uint32_t nops;
    uint32_t inputs[MAX_SUBGRAPH_INPUTS]; /* operands that no op of it defines, constants among them; by first use */
    uint32_t ninputs;
};

/* False with a reason where there are too many ops or inputs, or a shape is not static. */
bool subgraph_of_match(const struct match *m, struct subgraph *out, struct reason *why);
bool subgraph_has(const struct subgraph *s, uint32_t op);
/* Some op of the subgraph takes the value. */
bool subgraph_uses(const struct subgraph *s, uint32_t value);
/* Some op compares with a constant that is neither a truth value nor as good as infinite, divides integers by one, or
 * adds one to what may be compared: then positions below and above it are treated differently, and a shorter sequence
 * of positions may miss one side. */
bool subgraph_has_thresholds(const struct subgraph *s);

/* graph_constant; not known for an absent operand. */
struct constant operand_constant(const struct graph *g, uint32_t value);

#endif
