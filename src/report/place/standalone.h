/* Ops as a module of their own, each as it is written in the input. */
#ifndef FA_STANDALONE_H
#define FA_STANDALONE_H

#include "ir/graph/graph.h"
#include "patterns/library/pattern.h"
#include "report/place/segment.h"

/* One function, whose arguments are what the ops take from outside; it returns what others take of them. Numbers that
 * matter come along as constants. With the aliases that it needs, in the order of their definitions, and no others.
 * Empty where the ops are not those of one straight-line function. In `a`. */
struct str standalone_module(const struct graph *g, const struct segment *s, struct arena *a);
/* Equal for those that make the same module, names and locations aside; 0: they make none. */
uint64_t standalone_kind(const struct graph *g, const struct segment *s, struct arena *a);

#endif
