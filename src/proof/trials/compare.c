/* Measures of difference, each in one or two passes. */
#include "proof/trials/compare.h"

/* What is smaller is 0 in all formats of the device; what is larger stands for infinity, beside which all others would
 * be small. */
static const double least = 0x1p-126, most = 1e18;

static bool close_enough(double x, double y) {
    return fabs(x - y) <= 1e-6 * fmax(fabs(x), fabs(y));
}

double compare_pcc(const struct tensor *x, const struct tensor *y) {
    double mx = 0, my = 0, xy = 0, xx = 0, yy = 0, n = 0;
    bool equal = true, near = true;
    if (!shape_eq(&x->shape, &y->shape))
        return NAN;
    for (int64_t i = 0; i < x->n; i++) {
        equal &= x->x[i] == y->x[i] || (isnan(x->x[i]) && isnan(y->x[i]));
        if (!both_finite(x->x[i], y->x[i]))
            continue;
        near &= close_enough(x->x[i], y->x[i]);
        mx += x->x[i];
        my += y->x[i];
        n++;
    }
    if (equal || n == 0)
        return equal ? 1 : NAN;
    mx /= n;
    my /= n;
    for (int64_t i = 0; i < x->n; i++)
        if (both_finite(x->x[i], y->x[i])) {
            double dx = x->x[i] - mx, dy = y->x[i] - my;
            xy += dx * dy;
            xx += dx * dx;
            yy += dy * dy;
        }
    if (xx == 0 || yy == 0)
        return near ? 1 : n > 1 ? 0 : NAN; /* a single number correlates with nothing */
    return xy / sqrt(xx) / sqrt(yy);
}

double compare_relative_l2(const struct tensor *x, const struct tensor *want) {
    double error = 0, size = 0;
    if (!shape_eq(&x->shape, &want->shape))
        return NAN;
    for (int64_t i = 0; i < x->n; i++)
        if (both_finite(x->x[i], want->x[i])) {
            error += (x->x[i] - want->x[i]) * (x->x[i] - want->x[i]);
            size += want->x[i] * want->x[i];
        }
    return error == 0 ? 0 : sqrt(error / size);
}

static bool agree(double x, double y) {
    return x == y || (isnan(x) && isnan(y));
}

double compare_ulp(const struct tensor *x, const struct tensor *want, enum dtype t) {
    double worst = 0, largest = 0;
    if (!shape_eq(&x->shape, &want->shape))
        return NAN;
    for (int64_t i = 0; i < x->n; i++)
        if (isfinite(want->x[i]))
            largest = fmax(largest, fabs(want->x[i]));
    for (int64_t i = 0; i < x->n; i++) {
        if (agree(x->x[i], want->x[i]))
            continue;
        if (!both_finite(x->x[i], want->x[i]))
            return INFINITY;
        double d = fabs(x->x[i] - want->x[i]) / format_ulp(fmax(fabs(want->x[i]), largest * 0x1p-24), t);
        worst = d > worst || isnan(d) ? d : worst;
    }
    return worst;
}

struct difference compare_worst(const struct tensor *x, const struct tensor *want, double floor, const double *slack,
                                int64_t *compared) {
    struct difference worst = {-1, 0, 0, 0};
    double largest = 0;
    *compared = 0;
    if (!shape_eq(&x->shape, &want->shape))
        return (struct difference){-1, 0, 0, INFINITY};
    for (int64_t i = 0; i < want->n; i++)
        if (fabs(want->x[i]) < most && fabs(want->x[i]) > largest)
            largest = fabs(want->x[i]);
    double nothing = largest > 0 && largest < least ? 0 : least; /* where all are as small they tell what they are of */
    for (int64_t i = 0; i < x->n; i++) {
        double p = x->x[i], q = want->x[i];
        if (isnan(q))
            continue;
        ++*compared;
        double scale = fmax(fabs(q), floor * largest);
        double rest = fabs(p - q) - (slack ? slack[i] : 0);
        double error = p == q ? 0 : !both_finite(p, q) ? INFINITY : rest <= nothing ? 0 : rest / scale;
        if (error > worst.error)
            worst = (struct difference){i, p, q, error};
    }
    return worst;
}
