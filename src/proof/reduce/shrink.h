/* Smaller extents for a subgraph that keep every relation between its dimensions, so that what is proved in small
 * shapes says something of the large ones.
 *
 * Equal dimensions stay equal and 1 stays 1. Extents that differ stay different, and a multiple of another extent or of
 * the tile of 32 stays one (the small tile is 4), unless that leaves no small solution. What ops state of extents holds
 * again: products of a reshape or a repeat, sums of a concatenation, bounds of a slice, counts of heads and groups. The
 * windows of convolutions and pools keep their sizes, and so do all operands and results of an op of an unknown kind.
 */
#ifndef FA_SHRINK_H
#define FA_SHRINK_H

#include "proof/reduce/subgraph.h"

enum { MAX_EXTENTS = 48, SMALL_TILE = 4 };

struct extents {
    uint32_t n;
    int64_t from[MAX_EXTENTS], to[MAX_EXTENTS]; /* ascending in `from` */
    bool given_up;                              /* some relation beyond those that ops need */
};

/* What an extent or a slice bound becomes; one that is not listed stays. */
static inline int64_t extent_to(const struct extents *e, int64_t from) {
    for (uint32_t i = 0; i < e->n; i++)
        if (e->from[i] == from)
            return e->to[i];
    return from;
}

/* Extents that were different became equal. */
bool extents_merged(const struct extents *e);
/* All extents of the subgraph, unchanged. False with a reason where there are too many. */
bool extents_unchanged(const struct subgraph *s, struct extents *out, struct reason *why);

struct shrink_options {
    uint32_t which;                 /* 0: the smallest extents; 1, ...: others, where there are any */
    bool keep[MAX_SUBGRAPH_INPUTS]; /* inputs that keep their shapes */
    const int64_t *fixed;           /* extents that stay what they are */
    uint32_t nfixed;
};
/* False with a reason where no solution is found. */
bool extents_shrink(const struct subgraph *s, const struct shrink_options *how, struct extents *out,
                    struct reason *why);
/* Elements of all values and multiplications of all products, with these extents. */
double extents_cost(const struct subgraph *s, const struct extents *e);

#endif
