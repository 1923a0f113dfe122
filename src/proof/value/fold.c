#include "proof/value/fold.h"

#include "ir/ops/scalar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double fold_sum(const double *x, const double *y, int64_t n) {
    double sum = 0;
    (void)y;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

double fold_mean(const double *x, const double *y, int64_t n) {
    return fold_sum(x, y, n) / (double)n;
}

double fold_max(const double *x, const double *y, int64_t n) {
    double most = -INFINITY;
    (void)y;
    for (int64_t i = 0; i < n; i++)
        most = binary_MAXIMUM(most, x[i]);
    return most;
}

double fold_min(const double *x, const double *y, int64_t n) {
    double least = INFINITY;
    (void)y;
    for (int64_t i = 0; i < n; i++)
        least = binary_MINIMUM(least, x[i]);
    return least;
}

double fold_prod(const double *x, const double *y, int64_t n) {
    double product = 1;
    (void)y;
    for (int64_t i = 0; i < n; i++)
        product *= x[i];
    return product;
}

double fold_or(const double *x, const double *y, int64_t n) {
    bool any = false;
    (void)y;
    for (int64_t i = 0; i < n; i++)
        any |= x[i] != 0;
    return any;
}

double fold_and(const double *x, const double *y, int64_t n) {
    bool all = true;
    (void)y;
    for (int64_t i = 0; i < n; i++)
        all &= x[i] != 0;
    return all;
}

double fold_dot(const double *x, const double *y, int64_t n) {
    double sums[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            sums[k] += x[i + k] * y[i + k];
    for (; i < n; i++)
        sums[0] += x[i] * y[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

double fold_argmax(const double *x, const double *y, int64_t n) {
    int64_t best = 0;
    (void)y;
    for (int64_t i = 1; i < n; i++)
        if (x[i] > x[best] || (isnan(x[i]) && !isnan(x[best])))
            best = i;
    return (double)best;
}

/* ---- order ---- */

struct ranked {
    double x;
    int64_t index, order; /* order: among equal elements */
};

/* A NaN is larger than all numbers. */
static int by_value(const struct ranked *a, const struct ranked *b) {
    bool na = isnan(a->x), nb = isnan(b->x);
    if (na || nb)
        return na - nb;
    return (a->x > b->x) - (a->x < b->x);
}

static bool is_before(const struct ranked *a, const struct ranked *b, bool down) {
    int value = down ? by_value(b, a) : by_value(a, b);
    return value ? value < 0 : a->order < b->order;
}

/* One step of a selection (Hoare): x[*first .. *last] is in two parts, of which each element of the one is before each
 * of the other. The one then ends with *last, the other begins with *first; what is between is where it belongs. */
static void part(struct ranked *x, int64_t *first, int64_t *last, bool down) {
    const struct ranked pivot = x[*first + (*last - *first) / 2];
    int64_t i = *first, k = *last;
    while (i <= k) {
        while (is_before(&x[i], &pivot, down))
            i++;
        while (is_before(&pivot, &x[k], down))
            k--;
        if (i > k)
            break;
        struct ranked other = x[i];
        x[i++] = x[k];
        x[k--] = other;
    }
    *first = i;
    *last = k;
}

/* The element that would stand at `place` of all that are sorted; `turned`: equal ones in the opposite order. */
static struct ranked ranked_at(const double *x, int64_t place, int64_t n, bool down, bool turned) {
    struct ranked *all = xcalloc((size_t)n, sizeof *all), at;
    for (int64_t i = 0; i < n; i++)
        all[i] = (struct ranked){x[i], i, turned ? -i : i};
    for (int64_t from = 0, to = n - 1; from < to;) {
        int64_t first = from, last = to;
        part(all, &first, &last, down);
        from = place > last ? first : from;
        to = place < first ? last : to;
    }
    at = all[place];
    free(all);
    return at;
}

#define SORTED(name, down, turned, member)                                                                             \
    double fold_##name(const double *x, const double *y, int64_t n) {                                                  \
        return (double)ranked_at(x, (int64_t)y[0], n, down, turned).member;                                            \
    }
SORTED(ascending, false, false, x)
SORTED(descending, true, false, x)
SORTED(ascending_index, false, false, index)
SORTED(descending_index, true, false, index)
SORTED(ascending_index_of_last, false, true, index)
SORTED(descending_index_of_last, true, true, index)

static double of_block(const double *x, double at, int64_t n, enum dtype type) {
    double block[BLOCK];
    memcpy(block, x, (size_t)n * sizeof *x);
    format_round_row(block, (size_t)n, type, ROUND_PACKER);
    return block[(int)at];
}

double fold_bfp8(const double *x, const double *y, int64_t n) {
    return of_block(x, y[0], n, DT_BFP8);
}

double fold_bfp4(const double *x, const double *y, int64_t n) {
    return of_block(x, y[0], n, DT_BFP4);
}

double fold_bfp2(const double *x, const double *y, int64_t n) {
    return of_block(x, y[0], n, DT_BFP2);
}

double fold_last(const double *x, const double *y, int64_t n) {
    while (n > 0 && x[n - 1] == 0)
        n--;
    return n > 0 ? y[n - 1] : 0;
}

double fold_at_max(const double *x, const double *y, int64_t n) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        best = x[i] > x[best] || isnan(x[i]) ? i : best;
    return y[best];
}
