/* Index maps: which element of one tensor an element of another is made of, as an affine function of axis factors.
 *
 * The row-major index I of a tensor is seen as a number in mixed radix. A term picks one of its factors (digits),
 * (I / lo) mod size, and multiplies it by a stride; an imap is a sum of terms: the row-major offset in the other
 * tensor.
 *
 *   %y = permute(%x : tensor<2x3x4>) {permutation = [0, 2, 1]} : tensor<2x4x3>
 *
 * An element of %y has the index I = 12*a + 3*b + c, and is the element 12*a + 4*c + b of %x. The factors of I are
 * c = (I / 1) mod 3, b = (I / 3) mod 4 and a = (I / 12) mod 2, so the imap from %y to %x is
 *
 *   {lo 1, size 3, stride 4} + {lo 3, size 4, stride 1} + {lo 12, size 2, stride 12}
 *
 * A reshape leaves an imap as it is (row-major offsets do not change); a broadcast dimension has no term; a permute and
 * its inverse give the identity {lo 1, size numel, stride 1} again. So two chains of movement are the same function iff
 * their imaps are equal, whatever reshapes are on the way. `space` tells index spaces apart: that of the root of a
 * search, and one more for the contracting dimensions of each matmul on the way.
 *
 * Invariant of a canonical imap: sorted by space and lo, no factor of size 1 or stride 0, neighbours that continue each
 * other are merged. Two canonical imaps are the same function iff they are equal. */
#ifndef FA_INDEX_H
#define FA_INDEX_H

#include "ir/graph/graph.h"

#include <string.h>

enum { MAX_TERMS = 24 };

struct term {
    uint32_t space;
    int64_t lo, size, stride;
};

struct imap {
    uint32_t n;
    struct term t[MAX_TERMS];
};

/* One index expression for each axis: the coordinate along axis i is the sum of its terms, in units of that axis. Both
 * the coordinates of a value (axis = dimension) and the logical axes of a formula are written like this. */
struct axes {
    uint32_t n;
    uint32_t end[MAX_RANK]; /* axis i has terms end[i-1] .. end[i] */
    struct term t[MAX_TERMS];
};

/* Copies of what is in use: the room for terms is large and mostly empty. */
static inline void imap_copy(struct imap *to, const struct imap *from) {
    to->n = from->n;
    memcpy(to->t, from->t, from->n * sizeof *from->t);
}
static inline void axes_copy(struct axes *to, const struct axes *from) {
    to->n = from->n;
    memcpy(to->end, from->end, from->n * sizeof *from->end);
    memcpy(to->t, from->t, (from->n ? from->end[from->n - 1] : 0) * sizeof *from->t);
}

/* The element that index i has, of a map of one space. */
static inline int64_t imap_at(const struct imap *m, int64_t i) {
    int64_t at = 0;
    for (uint32_t k = 0; k < m->n; k++)
        at += i / m->t[k].lo % m->t[k].size * m->t[k].stride;
    return at;
}

/* The elements of a value of `numel` elements, indexed by `space` itself. */
void imap_identity(struct imap *m, uint32_t space, int64_t numel);
void imap_canonical(struct imap *m);
/* Both are canonical. */
static inline bool imap_equal(const struct imap *a, const struct imap *b) {
    for (uint32_t i = 0; i < a->n && a->n == b->n; i++)
        if (a->t[i].space != b->t[i].space || a->t[i].lo != b->t[i].lo || a->t[i].size != b->t[i].size ||
            a->t[i].stride != b->t[i].stride)
            return false;
    return a->n == b->n;
}

/* The factors of the map along dimensions in which the value varies, in `varying`, and those that lead to equal
 * elements, in `equal`. False where there are none of these. */
bool imap_split(const struct graph *g, uint32_t value, const struct imap *map, struct imap *varying,
                struct imap *equal);
/* The factors of a map that another one has, and its others. False where factors of the two overlap unevenly. */
bool imap_part(const struct imap *map, const struct imap *by, struct imap *had, struct imap *others);

/* Splits an imap into a shape of static extents by dimension. False when a factor straddles dimensions unevenly. */
bool imap_coordinates(const struct imap *m, const int64_t *shape, uint32_t rank, struct axes *out);
/* The converse. False when there are too many terms. */
bool imap_of_coordinates(const struct axes *c, const int64_t *shape, uint32_t rank, struct imap *out);
/* A map to a value of `numel` elements, and on from there by another one, of the value's index, whatever its space.
 * Both are canonical. False when factors of the two overlap unevenly. */
bool imap_compose(const struct imap *m, const struct imap *next, int64_t numel, struct imap *out);

/* From an imap of the result of an op to that of the operand that it moves at most (graph_through). */
bool imap_through(const struct graph *g, uint32_t op, const struct imap *result, struct imap *operand);
/* The same where the operand is known. */
bool imap_moved(const struct graph *g, uint32_t op, uint32_t to, const struct imap *result, struct imap *operand);
/* From the result of an op that broadcasts from the right to one of its operands. */
bool imap_operand(const struct graph *g, uint32_t result, uint32_t operand, const struct imap *map, struct imap *out);

/* The dimension of the operand that each of the result's `rank` dimensions is, as a permute or transpose says. */
bool permutation_of(const struct graph *g, uint32_t op, uint32_t rank, uint32_t *order);

/* What a slice takes along each dimension of its operand, from `begin` to before `end`; negative ends are counted from
 * the front. False when it is no slice that is understood. */
struct slice_bounds {
    uint32_t rank, ncut; /* ncut: dimensions that are not taken whole */
    bool cut[MAX_RANK];
    int64_t begin[MAX_RANK], end[MAX_RANK], step[MAX_RANK];
};
bool slice_bounds(const struct graph *g, uint32_t op, struct slice_bounds *out);

static inline void axes_clear(struct axes *a) {
    a->n = 0;
    memset(a->end, 0, sizeof a->end);
}
static inline uint32_t axes_begin(const struct axes *a, uint32_t i) {
    return i ? a->end[i - 1] : 0;
}
/* One more axis; false when full. gcc 12's -fanalyzer takes `e > 1` as `n` for more than one term. */
static inline bool axes_add(struct axes *a, const struct term *t, uint32_t n) {
    uint32_t at = axes_begin(a, a->n);
    if (a->n >= MAX_RANK || at + n > MAX_TERMS)
        return false;
    for (uint32_t i = 0; i < n; i++)
        a->t[at + i] = t[i];
    a->end[a->n++] = at + n;
    return true;
}
/* Axis i as a canonical imap (strides within the axis); i < 0 counts from the end. Empty when out of range. */
void axes_axis(const struct axes *a, int i, struct imap *out);
int64_t axes_extent(const struct axes *a, int i);
/* Axes i .. i+n-1 as one, row-major. */
void axes_join(const struct axes *a, uint32_t i, uint32_t n, struct imap *out);

/* True when `m` depends on a factor of `axis`. */
bool imap_touches(const struct imap *m, const struct imap *axis);
/* True when every factor that `m` depends on is a factor of one of `axis`. */
bool imap_within(const struct imap *m, const struct imap *axis);

/* The factors of `context` on which `m` does not depend, assigned to dimensions of the given extents from
 * the most significant down. False when their sizes do not fit the extents exactly. */
bool imap_complement(const struct axes *context, const struct imap *m, const int64_t *extents, uint32_t n,
                     struct axes *out);

/* How a contraction's result is made of its operands. */
enum contraction_role { ROLE_BATCH, ROLE_ROWS, ROLE_COLUMNS };

struct contraction {
    uint32_t a, b, result;                /* value ids */
    uint32_t rank;                        /* of the result */
    int a_dim[MAX_RANK], b_dim[MAX_RANK]; /* per result dimension, or -1 */
    uint8_t role[MAX_RANK];               /* per result dimension: enum contraction_role */
    uint32_t nsummed;
    int a_summed[MAX_RANK], b_summed[MAX_RANK];
};

/* False when the op is no contraction that is understood, or shapes are dynamic or do not fit. */
bool contraction_of(const struct graph *g, uint32_t op, struct contraction *c);
/* Maps of both operands from that of the result; summed factors are of `space`. Axes of a formula's
 * matmul: a has batch..., rows, summed; b has batch..., summed, columns; result has batch..., rows, columns. */
struct operand_maps {
    struct imap a, b;
    struct axes a_axes, b_axes, result_axes;
    uint32_t of_a, of_b; /* the values */
};
bool contraction_maps(const struct graph *g, const struct contraction *c, const struct imap *result, uint32_t space,
                      struct operand_maps *out);

#endif
