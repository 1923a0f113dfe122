/* Index maps as views: which element of a value stands at an index of some axes. */
#ifndef FA_AXIS_MAP_H
#define FA_AXIS_MAP_H

#include "proof/prove/proof.h"

/* The element of the value is determined by the axes alone. */
bool axes_determine(const struct axes *axes, const struct imap *map);
/* What stands at each index of the axes, of which those of extent 1 in `extents` are not gone along: a view of the
 * elements of a value in row-major order, reshaped. NULL with a reason in the context where the factors of both overlap
 * unevenly, or lead beyond the value. */
const struct tensor *tensor_along(struct eval_context *ctx, const struct axes *axes, const struct imap *map,
                                  const struct tensor *t, const struct shape *extents);
/* Elements that a map tells apart. */
int64_t map_size(const struct imap *map);
struct shape axes_shape(const struct axes *axes);
bool axes_equal(const struct axes *a, const struct axes *b);

#endif
