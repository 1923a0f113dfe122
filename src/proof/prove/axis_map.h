/* Index maps by enumeration: which element of a value stands at an index of some axes. */
#ifndef FA_AXIS_MAP_H
#define FA_AXIS_MAP_H

#include "proof/prove/proof.h"

/* The element of the value is determined by the axes alone. */
bool axes_determine(const struct axes *axes, const struct imap *map);
/* Index along each axis to element of the value. */
int64_t axes_element(const struct axes *axes, const struct imap *map, const int64_t *at);
/* Elements that a map tells apart. */
int64_t map_size(const struct imap *map);
struct shape axes_shape(const struct axes *axes);
bool axes_equal(const struct axes *a, const struct axes *b);

#endif
