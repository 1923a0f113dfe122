/* Elements of the constant inputs of a subgraph that are no splat: lists, tables, masks, indices.
 *
 * A constant is read where it is computed from constants alone by few ops and is small enough. A larger one, one whose
 * elements are not in the text (dense_resource), or one that depends on arguments is not read; it counts as an
 * argument.
 */
#ifndef FA_PAYLOAD_H
#define FA_PAYLOAD_H

#include "proof/reduce/subgraph.h"
#include "proof/value/tensor.h"

struct payloads {
    const struct tensor *of[MAX_SUBGRAPH_INPUTS]; /* by input of the subgraph; NULL: not read */
    uint32_t n;                                   /* how many were read */
    int64_t elements;                             /* of all of them */
};

/* Reads constants of up to `max` elements together; tensors live in `a`. False where none could be read. */
bool payload_read(const struct subgraph *s, int64_t max, struct arena *a, struct payloads *out);

#endif
