/* A value in another layout: the same elements along other dimensions, by reshape, permute and broadcast.
 *
 * A layout says of each dimension which digits of an index it is (ir/graph/index.h), the most significant one first. */
#ifndef FA_REARRANGE_H
#define FA_REARRANGE_H

#include "compile/apply/emit.h"
#include "ir/graph/index.h"

struct digit {
    uint32_t space;
    int64_t lo, size;
};

enum { MAX_DIGITS = 2 * MAX_TERMS };

struct digits {
    struct digit at[MAX_DIGITS];
    uint32_t n;
};

/* The digits of the axes; along an axis whose extent in `extents` is 1 there are none. */
void digits_of_axes(struct eval_context *ctx, const struct axes *axes, const struct shape *extents, struct digits *out);
/* The value, whose elements in row-major order are those of `from`, as a tensor of shape `s` whose elements are those
 * of `to`, repeated along digits that `from` does not have. The last two dimensions may stay swapped. */
struct written rearrange(struct emitter *e, struct written v, const struct digits *from, const struct digits *to,
                         const struct shape *s);

#endif
