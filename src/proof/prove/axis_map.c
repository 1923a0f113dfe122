/* A term of a map or an axis is a digit of an index: index / lo % size * stride (ir/graph/index.h). */
#include "proof/prove/axis_map.h"

#include <string.h>

/* Each term of the map lies within the terms of the axes. */
bool axes_determine(const struct axes *axes, const struct imap *map) {
    struct imap all = {.n = axes->n ? axes->end[axes->n - 1] : 0};
    memcpy(all.t, axes->t, all.n * sizeof *all.t);
    for (uint32_t i = 0; i < all.n; i++)
        all.t[i].stride = 1;
    imap_canonical(&all);
    return imap_within(map, &all);
}

/* The terms of the axes give the index in each space; the terms of the map take their digits out of that. */
int64_t axes_element(const struct axes *axes, const struct imap *map, const int64_t *at) {
    int64_t element = 0;
    for (uint32_t k = 0; k < map->n; k++) {
        const struct term *m = &map->t[k];
        int64_t index = 0;
        for (uint32_t d = 0; d < axes->n; d++)
            for (uint32_t j = axes_begin(axes, d); j < axes->end[d]; j++)
                if (axes->t[j].space == m->space)
                    index += at[d] / axes->t[j].stride % axes->t[j].size * axes->t[j].lo;
        element += index / m->lo % m->size * m->stride;
    }
    return element;
}

int64_t map_size(const struct imap *map) {
    int64_t n = 1;
    for (uint32_t i = 0; i < map->n; i++)
        n *= map->t[i].size;
    return n;
}

struct shape axes_shape(const struct axes *axes) {
    struct shape s = {.rank = axes->n};
    for (uint32_t d = 0; d < axes->n; d++)
        s.dim[d] = axes_extent(axes, (int)d);
    return s;
}

bool axes_equal(const struct axes *a, const struct axes *b) {
    struct imap x, y;
    bool equal = a->n == b->n;
    for (uint32_t d = 0; equal && d < a->n; d++) {
        axes_axis(a, (int)d, &x);
        axes_axis(b, (int)d, &y);
        equal = imap_equal(&x, &y);
    }
    return equal;
}
