/* All formulas of a set of patterns as one net: what their nodes ask of the ops at a value, without names, axes and
 * conditions, but which variables are constants. Parts that ask the same are one subformula, whatever pattern, line or
 * idiom they are written in, so that a search answers each once for a value. This is the alpha part of a Rete (Forgy
 * 1982), with hash-consed terms as in an e-graph (Willsey et al. 2021); bindings and index maps, which differ by
 * pattern, are left to the search. */
#ifndef FA_NET_H
#define FA_NET_H

#include "patterns/lang/formula.h"

enum subformula_kind {
    SUB_NUMBER,   /* a constant; `literal`: of this value */
    SUB_CONSTANT, /* of a variable that stands for one: a constant, moved or not */
    SUB_OP,
    SUB_FUNCTION,
    SUB_EITHER,
    SUB_RESULT,
    SUB_SAME /* of a name without an op of its own that is used again */
};

/* NULL stands for anything. */
struct subformula {
    enum subformula_kind kind;
    uint32_t id;             /* counted from 1 */
    const struct node *node; /* the first one that asks this: its operator, attributes and number */
    const struct subformula **args;
    uint32_t nargs;
    bool literal;
    double value;
    double *values; /* SUB_FUNCTION: at function_points (patterns/lang/function.h); NULL: it captures numbers */
    struct subformula *chained; /* of the same hash */
};

struct net {
    struct subformula **items; /* by id, less 1: operands come first */
    struct subformula **buckets;
    uint32_t n, cap, size;
};

/* Fills in node.sub of all nodes of a formula; what is added, and the net, lives in `a`. */
void net_add(struct net *net, const struct formula *f, struct arena *a);
/* The same conditions on attributes. */
bool node_same_attributes(const struct node *a, const struct node *b);

#endif
