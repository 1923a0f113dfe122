/* Which findings of two lists are the same. */
#ifndef FA_COMPARE_H
#define FA_COMPARE_H

#include "report/place/fingerprint.h"

/* The fingerprints in an array of structs: where the first one is, and the size of a struct. */
struct fingerprints {
    const struct fingerprint *first;
    uint32_t n;
    size_t step;
};

/* For each of `now` the index of the one of `before` that it is, or NONE; each is taken once; to be freed. First those
 * that are equal; then those of one structure at one named place; then those of one structure whose ranks are what they
 * were, or have shifted as far as ops of their like came or went before them. So a gain and a loss in two layers that
 * are alike are two changes, and a layer more is one. */
uint32_t *fingerprints_pair(struct fingerprints before, struct fingerprints now);

/* What stands at a place of the model that has a name. */
struct placed {
    uint32_t place, index;
};

/* To find them by place. Sorts them; the order of equal ones is that of their indices. */
void placed_sort(struct placed *all, uint32_t n);
/* The first of this place; or n. */
uint32_t placed_find(const struct placed *all, uint32_t n, uint32_t place);

#endif
