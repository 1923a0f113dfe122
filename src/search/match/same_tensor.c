/* Whether two occurrences of a value are one tensor to the formula: the same elements by the index of the root, or by
 * the axes that the formula has at each of them. */
#include "search/match/conditions.h"

#include <string.h>

/* The factors of the map as positions along the axes; false where it depends on others. */
static bool along_axes(const struct imap *map, const struct axes *axes, struct imap *out) {
    struct imap left, had, others;
    imap_copy(&left, map);
    out->n = 0;
    for (uint32_t i = 0; i < axes->n; i++)
        for (uint32_t k = axes_begin(axes, i); k < axes->end[i]; k++) {
            const struct term *u = &axes->t[k];
            if (!imap_part(&left, &(struct imap){1, {*u}}, &had, &others) || out->n + had.n > MAX_TERMS)
                return false;
            for (uint32_t j = 0; j < had.n; j++)
                out->t[out->n++] =
                    (struct term){axes->n - i, u->stride * (had.t[j].lo / u->lo), had.t[j].size, had.t[j].stride};
            imap_copy(&left, &others);
        }
    imap_canonical(out);
    return left.n == 0;
}

/* Without the factors that both have. */
static void drop_common(struct imap *a, struct imap *b) {
    for (uint32_t i = a->n; i-- > 0;)
        for (uint32_t k = b->n; k-- > 0;)
            if (imap_equal(&(struct imap){1, {a->t[i]}}, &(struct imap){1, {b->t[k]}})) {
                memmove(&a->t[i], &a->t[i + 1], (--a->n - i) * sizeof *a->t);
                memmove(&b->t[k], &b->t[k + 1], (--b->n - k) * sizeof *b->t);
                break;
            }
}

bool match_same_elements(const struct graph *g, uint32_t value, const struct imap *a, const struct axes *a_axes,
                         const struct imap *b, const struct axes *b_axes) {
    struct imap x, y, here, there, equal;
    if (imap_equal(a, b))
        return true;
    imap_copy(&x, imap_split(g, value, a, &here, &equal) ? &here : a);
    imap_copy(&y, imap_split(g, value, b, &there, &equal) ? &there : b);
    if (imap_equal(&x, &y))
        return true;
    drop_common(&x, &y);
    return along_axes(&x, a_axes, &here) && along_axes(&y, b_axes, &there) && imap_equal(&here, &there);
}
