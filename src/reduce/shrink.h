/* Small extents for a part of a graph, so that every relation between its dimensions is kept.
 *
 * Extents are mapped by value: dimensions that are equal stay equal, 1 stays 1, extents that differ stay different, one
 * that is a multiple of another or of a tile stays so (the tile is scaled down to 4). What ops say of extents holds
 * again: products of a reshape or a repeat, sums of a concatenation, bounds of a slice, counts of heads and groups.
 * Windows of convolutions and pools stay as they are, and so does all that an op of an unknown kind sees. */
#ifndef FA_PROVE_SHRINK_H
#define FA_PROVE_SHRINK_H

#include "reduce/part.h"

enum { MAX_EXTENTS = 48, SMALL_TILE = 4 };

struct extents {
    uint32_t n;
    int64_t from[MAX_EXTENTS], to[MAX_EXTENTS]; /* ascending in `from` */
};

/* What an extent or an offset becomes; one that is not known stays. */
int64_t extent_to(const struct extents *e, int64_t from);
/* The extents as they are. False with a reason where there are too many. */
bool extents_of(const struct part *p, struct extents *out, struct str *why);
/* `which`: 0 the smallest, 1, ... further ones that are different where there are any. False with a reason where none
 * is found. */
bool extents_shrink(const struct part *p, uint32_t which, struct extents *out, struct str *why);
/* Zeroed: the smallest. */
struct shrinking {
    uint32_t which;
    bool whole[MAX_OUTER]; /* the extents of these outer values stay */
    bool strict; /* relations beyond those of the ops, such as what is a multiple of what, are given up only where there
                  * is no solution, not for smaller ones */
};
bool extents_shrink_as(const struct part *p, const struct shrinking *how, struct extents *out, struct str *why);
/* Elements of all values and multiplications of all products, with these extents. */
double extents_cost(const struct part *p, const struct extents *e);

#endif
