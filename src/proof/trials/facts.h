/* What the ops of a program do with each value, which decides the random numbers that its inputs get and the extents
 * that they keep. Found in one pass over the ops, from the last one back. */
#ifndef FA_FACTS_H
#define FA_FACTS_H

#include "ir/graph/graph.h"

/* What a truth value decides: nothing, a choice between two values, or which scores a mask hides from a softmax. */
enum predicate_use { PREDICATE_NONE, PREDICATE_SELECTS, PREDICATE_HIDES_TRUE, PREDICATE_HIDES_FALSE };
static inline bool predicate_hides(enum predicate_use use) {
    return use == PREDICATE_HIDES_TRUE || use == PREDICATE_HIDES_FALSE;
}

struct facts {
    enum predicate_use predicate;
    int mask_sign;   /* 1: an additive mask, which hides with -inf; -1: one that is subtracted, with inf; 0: neither */
    int64_t indices; /* an integer that selects elements, rows or the like: how many numbers do; else 0 */
    int64_t counted; /* so many in a row are reduced to one, or added up on the way; 0: none are */
    int64_t places;  /* an integer of which what is made is compared with the numbers of a row: how many are; else 0 */
    double narrowed; /* the smallest number that a type which holds it on the way does not hold; 0: all hold it */
    bool used;       /* some op takes it, */
    bool taken;      /* and does more with it than to move it */
    bool divides;    /* something is divided by it */
    /* It is compared with a number for equality, or a mask is its distance from one: what other numbers do; none, where
     * it is neither. */
    enum predicate_use beside;
    double level; /* that number */
    bool bounded; /* elementwise ops compare what they make of it with a constant, or narrow its integer type */

    /* on the way to an input */
    int score;   /* 1: it raises the scores of a softmax, -1: it lowers them, 0: it is no term of them */
    bool summed; /* its elements are added up */
    bool rooted; /* a root or the logarithm of it is taken: of a negative number there is none */
};

/* Of the values that the ops of a program take or make: it may be a small part of a large graph. */
struct fact_table {
    uint32_t *values; /* ascending */
    struct facts *of;
    uint32_t n;
};

/* `ops` may be in any order. */
struct fact_table facts_of(const struct graph *g, const uint32_t *ops, uint32_t nops);
/* Of another value nothing is known: all is 0. */
const struct facts *facts_at(const struct fact_table *t, uint32_t value);
void facts_free(struct fact_table *t);
/* The smallest number that the type of the result does not hold, where whole numbers are meant; 0: there is none. */
double narrowed_at(const struct graph *g, uint32_t op);
/* The op compares with a constant, or stores integers in a type that holds fewer. */
bool op_bounds(const struct graph *g, uint32_t op);

enum { MAX_THRESHOLDS = 16 };

/* Numbers at which a program becomes another function. */
struct thresholds {
    double at[MAX_THRESHOLDS];
    uint32_t n;
    double epsilon; /* the smallest of the small numbers that it adds, 0: none */
};

/* Random numbers around 1 hardly ever come near them, so a program that leaves a clamp out would look the same. */
struct thresholds thresholds_of(const struct graph *g, const uint32_t *ops, uint32_t nops);

#endif
