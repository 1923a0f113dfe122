/* A term of a map or an axis is a digit of an index: index / lo % size * stride (ir/graph/index.h). */
#include "proof/prove/axis_map.h"
#include "proof/value/lazy.h"

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

/* Where a digit of an axis is divided by the terms of the map: the next factor from `lo` on, and how far a step of it
 * goes in the value. */
static int64_t next_factor(const struct imap *map, uint32_t space, int64_t lo, int64_t end, int64_t *step) {
    int64_t to = end;
    *step = 0;
    for (uint32_t k = 0; k < map->n; k++) {
        const struct term *m = &map->t[k];
        if (m->space != space)
            continue;
        if (m->lo <= lo && lo < m->lo * m->size) {
            to = m->lo * m->size < to ? m->lo * m->size : to;
            *step += lo % m->lo == 0 ? m->stride * (lo / m->lo) : 0;
        } else if (m->lo > lo && m->lo < to) {
            to = m->lo;
        }
    }
    return to % lo == 0 && end % to == 0 ? to / lo : 0;
}

/* A view whose dimensions are factors of axes, in the making. */
struct factors {
    const struct imap *map;
    struct view from, out;
    int64_t reach[MAX_RANK]; /* how far they go along each dimension of `from` */
};

/* Along one dimension of `from`, of which the step is in row-major elements: as many of the factor as fit. 0: none. */
static int64_t along_dimension(struct factors *f, int64_t factor, int64_t step, int64_t *stride) {
    int64_t elements = 1;
    *stride = 0;
    if (step == 0)
        return factor;
    for (uint32_t d = f->from.shape.rank; d-- > 0; elements *= f->from.shape.dim[d]) {
        int64_t room = elements * f->from.shape.dim[d] / step, fits = room < factor ? room : factor;
        if (step % elements != 0 || room < 2)
            continue;
        f->reach[d] += (fits - 1) * (step / elements);
        *stride = f->from.stride[d] * (step / elements);
        return factor % fits == 0 && f->reach[d] < f->from.shape.dim[d] ? fits : 0;
    }
    return 0;
}

/* Adds the factors of a digit, the smallest last. */
static bool add_digit(struct factors *f, const struct term *digit) {
    int64_t end = digit->lo * digit->size, step, size[MAX_RANK], strides[MAX_RANK];
    uint32_t n = 0;
    for (int64_t lo = digit->lo; lo < end; lo *= size[n - 1]) {
        int64_t factor = next_factor(f->map, digit->space, lo, end, &step);
        if (factor < 2 || n == MAX_RANK || (factor = along_dimension(f, factor, step, &strides[n])) < 2)
            return false;
        size[n++] = factor;
    }
    for (; n > 0 && f->out.shape.rank < MAX_RANK; f->out.shape.rank++) {
        f->out.shape.dim[f->out.shape.rank] = size[--n];
        f->out.stride[f->out.shape.rank] = strides[n];
    }
    return n == 0;
}

/* The digits of an axis, the largest first. */
static bool add_axis(struct factors *f, const struct axes *axes, uint32_t d) {
    int64_t last = INT64_MAX;
    for (uint32_t n = axes_begin(axes, d); n < axes->end[d]; n++) {
        const struct term *next = NULL;
        for (uint32_t k = axes_begin(axes, d); k < axes->end[d]; k++)
            if (axes->t[k].stride < last && (!next || axes->t[k].stride > next->stride))
                next = &axes->t[k];
        if (!next || !add_digit(f, next))
            return false;
        last = next->stride;
    }
    return true;
}

const struct tensor *tensor_along(struct eval_context *ctx, const struct axes *axes, const struct imap *map,
                                  const struct tensor *t, const struct shape *extents) {
    struct factors f = {.map = map, .from = view_of(t)};
    bool good = true;
    f.out = (struct view){.x = f.from.x, .lazy = f.from.lazy, .offset = f.from.offset};
    for (uint32_t d = 0; d < axes->n && good; d++)
        good = extents->dim[d] == 1 || add_axis(&f, axes, d);
    return good && shape_count(&f.out.shape) == shape_count(extents)
               ? tensor_reshape(ctx, lazy_of_view(ctx, f.out), extents)
               : NULL;
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
