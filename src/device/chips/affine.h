/* Affine maps as MLIR prints them: (d0, d1)[s0] -> (d0 floordiv 8, d1 mod 8 + s0). They are read once, and evaluated
 * from their text: what a layout or a grid asks of one is a handful of points. */
#ifndef FA_AFFINE_H
#define FA_AFFINE_H

#include "base/base.h"

enum { MAX_AFFINE_DIMS = 16, MAX_AFFINE_RESULTS = 8, MAX_GRID_RANK = MAX_AFFINE_RESULTS };

struct affine_map {
    uint32_t ndims, nresults;
    struct str results[MAX_AFFINE_RESULTS]; /* views of the text */
};

/* False when the text is no such map, or has more dims or results than there is room for. */
bool affine_read(struct str text, struct affine_map *out);
/* The results at a point of `ndims` numbers, where all symbols are 0. False: a result has an unknown name, divides by
 * no positive number or overflows. */
bool affine_apply(const struct affine_map *m, const int64_t *point, int64_t *out);

/* The extents that a text begins with ("8x8", "4x4x!tile"), and what follows them to `rest`. Their number; 0: none, or
 * more than MAX_GRID_RANK. */
uint32_t extents_read(struct str text, int64_t out[MAX_GRID_RANK], struct str *rest);

#endif
