/* Which findings of two lists are the same. */
#ifndef FA_COMPARE_H
#define FA_COMPARE_H

#include "place/fingerprint.h"

/* For each of `now` the index of the one of `before` that it is, or NONE; each is taken once. First those that are
 * equal; then those of one structure at one named place; then those of one structure whose ranks are what they were, or
 * have shifted as far as ops of their like came or went before them. So a gain and a loss in two layers that are alike
 * are two changes, and a layer more is one. */
void fingerprints_pair(const struct fingerprint *before, uint32_t nbefore, const struct fingerprint *now, uint32_t nnow,
                       uint32_t *before_of);

#endif
