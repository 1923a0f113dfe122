/* What the compiler is known to fuse although it is another function, since a pattern of it does not look at something:
 * the section `unchecked` of pattern files. */
#ifndef FA_UNCHECKED_H
#define FA_UNCHECKED_H

#include "ir/graph/graph.h"
#include "patterns/library/pattern.h"

/* Of the op `makes` in place of these ops, by this pattern of the compiler, or by any where it is NULL. NULL:
 * none is known. */
const struct unchecked *unchecked_of(const struct pattern_set *set, const struct str *maker, enum op_kind makes,
                                     const struct graph *g, const uint32_t *ops, uint32_t n);
/* "MishFusingPattern accepts any threshold of the softplus, as of tt-mlir 19c86fca45ae"; of NULL empty. */
struct str unchecked_text(const struct pattern_set *set, const struct unchecked *u, struct arena *a);

#endif
