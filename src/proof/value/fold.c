#include "proof/value/fold.h"

#include "proof/numeric/elementwise.h"

#include <math.h>

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
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}
