/* How far a tensor is from another. NaN where a figure is not defined. */
#ifndef FA_COMPARE_H
#define FA_COMPARE_H

#include <math.h>

#include "proof/value/tensor.h"

/* NaN prints as "nan" whatever its sign bit is, which depends on the machine. */
static inline double unsigned_nan(double x) {
    return isnan(x) ? fabs(x) : x;
}

static inline bool both_finite(double x, double y) {
    return isfinite(x) && isfinite(y);
}

/* A difference is relative to the element, or to a thousandth of the largest element of the tensor where the element is
 * smaller than that: sums that cancel leave small elements with large relative errors. */
static const double floor_of_largest = 1e-3;

/* Where two tensors differ most. */
struct difference {
    int64_t at;       /* element; -1: none */
    double got, want; /* there */
    double error;     /* |got - want| relative to `want`, or to the largest of `want` where that is small */
};

/* Pearson's correlation of two tensors of one shape: sum (x - mean)(y - mean) / sqrt(sum (x - mean)^2 sum (y -
 * mean)^2). Elements that are NaN or infinite in either are left out (comp_pcc of tt-metal's tests makes them 0). Equal
 * tensors give 1, and so do a constant one and one that is within 1e-6 of it, relative; a constant one beside any other
 * gives 0, a single number beside another NAN. */
double compare_pcc(const struct tensor *x, const struct tensor *y);
/* sqrt(sum (x - want)^2 / sum want^2) over elements finite in both; 0 when all agree, infinite for want = 0. */
double compare_relative_l2(const struct tensor *x, const struct tensor *want);
/* Largest |x - want| in units of the last place of `want` in a format (format_ulp), or of 2^-24 of the largest `want`
 * where that is more: beside it what is nearly 0 counts as 0. Infinite where one of the two is finite and the other
 * not. */
double compare_ulp(const struct tensor *x, const struct tensor *want, enum dtype t);
/* The largest difference beyond `slack` (NULL: none), by element, relative to |want| or to `floor` times the largest
 * |want| below 1e18, whichever is larger. Elements that are NaN in `want` may be anything; an infinity, or a NaN in x,
 * on one side only is an infinite error, and less than the smallest normal f32 is none unless all of `want` is.
 * `compared` counts the elements that were. Tensors of different shape are an infinite error at -1. */
struct difference compare_worst(const struct tensor *x, const struct tensor *want, double floor, const double *slack,
                                int64_t *compared);

#endif
