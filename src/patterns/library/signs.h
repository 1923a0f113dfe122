/* Whether anything in a TTNN module was fused: then the compiler's fusing passes were on. */
#ifndef FA_SIGNS_H
#define FA_SIGNS_H

#include "patterns/library/pattern.h"

/* True when the graph has an op of the lists `fused_ops`, or one with a folded activation or the like, and of its kind
 * more than its TTIR had by itself; `ttir` may be NULL. Also true when no file has such a list, since nothing is known
 * then. */
bool signs_of_fusing(const struct pattern_set *set, const struct graph *g, const struct graph *ttir);

/* The same of one op of a graph. */
struct sign_reader;
struct sign_reader *sign_reader_new(const struct pattern_set *set, const struct graph *g);
bool is_sign_of_fusing(const struct sign_reader *r, uint32_t op);
/* The op has the name of one that is a sign with enough operands. */
bool is_named_sign(const struct sign_reader *r, uint32_t op);
/* An op of this name is a sign where it has enough operands. */
bool is_sign_by_name(const struct pattern_set *set, struct str op);
void sign_reader_free(struct sign_reader *r);

#endif
