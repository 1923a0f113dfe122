/* What each value is, told by a few numbers: its signature in a model where every tensor has one element.
 *
 * Arguments are random numbers, the same at both levels; what moves, casts or lays out data is the identity; arithmetic
 * is arithmetic. What needs more than one element is a fixed smooth function: a reduction one of the element and of how
 * many there are, an op of which nothing else is known one of its operands, and so are thresholds (the signature of
 * relu(x) is never that of x). Algebra holds: a product and a sum are a linear, exp(x - max(x)) / sum(...) is a
 * softmax, a weight that is folded into another is a product. So two values with equal signatures are one value up to
 * movement, however the levels spell it, but for chance; and values of another axis of the same extent. */
#ifndef FA_SIGNATURE_H
#define FA_SIGNATURE_H

#include "ir/graph/graph.h"

enum { SIGNATURE_NUMBERS = 3 };

struct signature {
    double x[SIGNATURE_NUMBERS]; /* the first is NaN: not known */
    uint32_t parts;              /* of several values side by side: the first one in signatures.parts; else 0 */
};

struct signature_part {
    struct signature signature;
    double extent; /* along the dimension that is joined; 0 ends the list */
};

static inline bool signature_known(const struct signature *i) {
    return i->x[0] == i->x[0];
}

struct signatures {
    const struct graph *g;
    const uint32_t *identity; /* per function: a number that it has in common with the same one of the other level */
    const uint32_t *numbers;  /* per value: of an argument, the same; or NULL: by position */
    struct signature *of;     /* per value */
    const struct signature_index *known;
    uint8_t *settled; /* per value: its signature is given, and stays */
    struct signature_part *parts;
    uint32_t nparts, parts_cap;
    uint64_t steps, most_steps;
};

/* Arguments, and results of ops of audited functions that do more than move data, in the order of their signatures. */
struct signature_index {
    const struct signatures *signatures;
    uint32_t *values, n;
};

/* Values that are in `known`, the other level's, get the signature that is there, digit by digit: the error of
 * arithmetic does not add up. `known` and `numbers` may be NULL. */
void signatures_begin(struct signatures *s, const struct graph *g, const uint32_t *identity, const uint32_t *numbers,
                      const struct signature_index *known);
/* Signatures of all values that are not settled. */
void signatures_look(struct signatures *s);
void signatures_free(struct signatures *s);
void signature_index_build(struct signature_index *x, const struct signatures *s);
void signature_index_free(struct signature_index *x);
/* The first of the values with that signature, and how many follow it (itself too), counted up to `most`; 0: none. */
uint32_t signature_find(const struct signature_index *x, const struct signature *i, uint32_t most, uint32_t *first);
bool signature_equal(const struct signature *a, const struct signature *b);
/* The signature of one result of an op, from those of its operands. */
void signature_of_op(const struct signatures *s, uint32_t op, uint32_t result, struct signature *i);
/* The value behind what moves data: it has the same signature. */
uint32_t signature_source(const struct graph *g, uint32_t v);
/* True where an op makes a value of its own: it does more than move data, and stands in an audited function. */
bool signature_is_made(const struct graph *g, uint32_t op);

#endif
