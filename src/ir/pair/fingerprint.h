/* What each value is, told by a few numbers: its fingerprint in a model where every tensor has one element.
 *
 * Arguments are random numbers, the same at both levels; what moves, casts or lays out data is the identity; arithmetic
 * is arithmetic. What needs more than one element is a fixed smooth function: a reduction one of the element and of how
 * many there are, an op of which nothing else is known one of its operands, and so are thresholds (the fingerprint of
 * relu(x) is never that of x). Algebra holds: a product and a sum are a linear, exp(x - max(x)) / sum(...) is a
 * softmax, a weight that is folded into another is a product. So two values with equal fingerprints are one value up to
 * movement, however the levels spell it, but for chance; and values of another axis of the same extent. */
#ifndef FA_FINGERPRINT_H
#define FA_FINGERPRINT_H

#include "ir/graph/graph.h"

enum { FINGERPRINT_NUMBERS = 3 };

struct fingerprint {
    double x[FINGERPRINT_NUMBERS]; /* the first is NaN: not known */
    uint32_t parts;                /* of several values side by side: the first one in fingerprints.parts; else 0 */
};

struct fingerprint_part {
    struct fingerprint fingerprint;
    double extent; /* along the dimension that is joined; 0 ends the list */
};

static inline bool fingerprint_known(const struct fingerprint *i) {
    return i->x[0] == i->x[0];
}

struct fingerprints {
    const struct graph *g;
    const uint32_t *identity; /* per function: a number that it has in common with the same one of the other level */
    const uint32_t *numbers;  /* per value: of an argument, the same; or NULL: by position */
    struct fingerprint *of;   /* per value */
    const struct fingerprint_index *known;
    uint8_t *settled; /* per value: its fingerprint is given, and stays */
    struct fingerprint_part *parts;
    uint32_t nparts, parts_cap;
    uint64_t steps, most_steps;
};

/* Values of audited functions that ops make which do more than move data, in the order of their fingerprints. */
struct fingerprint_index {
    const struct fingerprints *fingerprints;
    uint32_t *values, n;
};

/* Values that are in `known`, the other level's, get the fingerprint that is there, digit by digit: the error of
 * arithmetic does not add up. `known` and `numbers` may be NULL. */
void fingerprints_begin(struct fingerprints *s, const struct graph *g, const uint32_t *identity,
                        const uint32_t *numbers, const struct fingerprint_index *known);
/* Fingerprints of all values that are not settled. */
void fingerprints_look(struct fingerprints *s);
void fingerprints_free(struct fingerprints *s);
void fingerprint_index_build(struct fingerprint_index *x, const struct fingerprints *s);
void fingerprint_index_free(struct fingerprint_index *x);
/* The first of the values with that fingerprint, and how many follow it (itself too), counted up to `most`; 0: none. */
uint32_t fingerprint_find(const struct fingerprint_index *x, const struct fingerprint *i, uint32_t most,
                          uint32_t *first);
bool fingerprint_equal(const struct fingerprint *a, const struct fingerprint *b);
/* The fingerprint of one result of an op, from those of its operands. */
void fingerprint_of_op(const struct fingerprints *s, uint32_t op, uint32_t result, struct fingerprint *i);
/* The value behind what moves data: it has the same fingerprint. */
uint32_t fingerprint_source(const struct graph *g, uint32_t v);
/* True where an op makes a value of its own: it does more than move data, and stands in an audited function. */
bool fingerprint_is_made(const struct graph *g, uint32_t op);

#endif
