/* What the constants of a part hold that are no single number: lists, tables, masks, indices.
 *
 * Read are those that are made of constants alone, in few ops, up to a number of elements; of what is larger, is not in
 * the text or is made of arguments nothing is known, and it counts as an argument. */
#ifndef FA_PAYLOAD_H
#define FA_PAYLOAD_H

#include "numeric/tensor.h"
#include "reduce/part.h"

struct held {
    const struct tensor *of[MAX_OUTER]; /* by outer value of the part; NULL: not read */
    uint32_t n;                         /* of those that were read */
    int64_t elements;                   /* of all of them */
    /* The first elements of each dimension are to a smaller constant what all are to this one: each is the numbers from
     * 0 along one dimension, or one number above a diagonal and another below. */
    bool alike;
};

/* Constants of up to `max` elements together. False where there are none. */
bool payload_read(const struct part *p, int64_t max, struct arena *a, struct held *out);

#endif
