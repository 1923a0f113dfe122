/* A term of a map or an axis is a digit of an index: index / lo % size * stride (graph/index.h). Evaluating all terms
 * for each element is exact for any map; where the axes determine it, no term takes a part of a digit that carries into
 * another, so that the element is a sum over the axes. */
#include "prove/axis_map.h"

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

/* Both terms have digits of the same space in common. */
static bool overlap(const struct term *t, const struct term *m) {
    return t->space == m->space && t->lo < m->lo * m->size && m->lo < t->lo * t->size;
}

/* The element depends on axis d. */
static bool depends_on(const struct axes *axes, const struct imap *map, uint32_t d) {
    bool found = false;
    for (uint32_t j = axes_begin(axes, d); j < axes->end[d]; j++)
        for (uint32_t k = 0; k < map->n; k++)
            found |= overlap(&axes->t[j], &map->t[k]);
    return found;
}

static int64_t *table_of(struct arena *a, const struct axes *axes, const struct imap *map, uint32_t d) {
    int64_t n = axes_extent(axes, (int)d), at[MAX_RANK] = {0};
    int64_t *table = arena_alloc(a, (size_t)n * sizeof *table);
    for (at[d] = 0; at[d] < n; at[d]++)
        table[at[d]] = axes_element(axes, map, at);
    return table;
}

struct axis_tables axis_tables_new(struct arena *a, const struct axes *axes, const struct imap *map) {
    struct axis_tables t = {.naxes = axes->n};
    for (uint32_t d = 0; d < axes->n; d++)
        if (depends_on(axes, map, d))
            t.table[d] = table_of(a, axes, map, d);
    return t;
}

int64_t axis_tables_element(const struct axis_tables *t, const int64_t *at) {
    int64_t element = 0;
    for (uint32_t d = 0; d < t->naxes; d++)
        element += t->table[d] ? t->table[d][at[d]] : 0;
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
