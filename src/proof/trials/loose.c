/* Constants that are near one another are the same number, and the more precise one says which. What is left is solved
 * for: f(c) - g(c) = 0 over all elements of the results, by Newton's method with one Jacobian, since a rounding is
 * small. Of many solutions the one that moves the constants least, in units of their rounding, is taken, which
 * conjugate gradients find from 0 (Björck, Numerical Methods for Least Squares Problems, 7.4). */
#include "proof/trials/loose.h"

#include <math.h>
#include <stdlib.h>

#include "proof/trials/compare.h"

enum { STEPS = 5, MAX_MOVED = 8 };

/* Rounded to a format, and once more to the digits that are printed. */
static const double furthest = 1.1;
static const double settled = 1e-3; /* what may be left of a difference, of its first size */
/* Squares of what tells nothing: a gradient relative to the first one, since differences of constants that matter alike
 * are noise; a difference of an element, which is solved for until it is that small, and which rounding leaves. */
static const double told = 1e-12, nothing = 1e-24, noise = 1e-22;

/* The differences of elements, relative to these: infinite where an element is a number no more. */
struct equations {
    const struct loose_question *q;
    double *weights, *want, *got;
};

static void weigh(struct equations *e) {
    double largest = 0;
    for (uint32_t i = 0; i < e->q->nelements; i++)
        largest = isfinite(e->want[i]) ? fmax(largest, fabs(e->want[i])) : largest;
    for (uint32_t i = 0; i < e->q->nelements; i++)
        e->weights[i] = both_finite(e->want[i], e->got[i]) && largest > 0
                            ? 1 / fmax(fabs(e->want[i]), floor_of_largest * largest)
                            : 0;
}

static void compare(const struct equations *e, double *out) {
    for (uint32_t i = 0; i < e->q->nelements; i++)
        out[i] = both_finite(e->want[i], e->got[i]) ? (e->got[i] - e->want[i]) * e->weights[i]
                 : e->weights[i] > 0                ? (double)INFINITY
                                                    : 0;
}

static bool differences(struct equations *e, const double *shift, double *out) {
    bool good = e->q->evaluate(e->q->self, shift, e->want, e->got);
    if (good)
        compare(e, out);
    return good;
}

static double dot(const double *x, const double *y, uint32_t n) {
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* By how much each difference changes when a constant is rounded the other way. */
static bool find_jacobian(struct equations *e, const double shift[MAX_LOOSE], const double *rest, double *jacobian) {
    const struct loose_question *q = e->q;
    double moved[MAX_LOOSE];
    for (uint32_t k = 0; k < q->n; k++) {
        double *column = jacobian + (size_t)k * q->nelements;
        memcpy(moved, shift, sizeof moved);
        moved[k] += moved[k] > 0 ? -q->all[k].error : q->all[k].error;
        if (!differences(e, moved, column))
            return false;
        for (uint32_t i = 0; i < q->nelements; i++)
            column[i] = (column[i] - rest[i]) * (moved[k] > shift[k] ? 1 : -1);
    }
    return true;
}

/* The least `x` with the least |jacobian x + rest|. */
static void solve(const struct equations *e, const double *jacobian, const double *rest, double x[MAX_LOOSE]) {
    uint32_t n = e->q->n, m = e->q->nelements;
    double *left = xcalloc(2 * (size_t)m, sizeof *left), *q = left + m;
    double gradient[MAX_LOOSE], direction[MAX_LOOSE] = {0}, was = 0, first = 0;
    memset(x, 0, MAX_LOOSE * sizeof *x);
    for (uint32_t i = 0; i < m; i++)
        left[i] = -rest[i];
    for (uint32_t step = 0; step <= 2 * n; step++) {
        for (uint32_t k = 0; k < n; k++)
            gradient[k] = dot(jacobian + (size_t)k * m, left, m);
        double now = dot(gradient, gradient, n);
        first = step == 0 ? now : first;
        if (!(now > first * told))
            break;
        memset(q, 0, m * sizeof *q);
        for (uint32_t k = 0; k < n; k++) {
            direction[k] = gradient[k] + (step ? now / was * direction[k] : 0);
            for (uint32_t i = 0; i < m; i++)
                q[i] += jacobian[(size_t)k * m + i] * direction[k];
        }
        double by = now / dot(q, q, m);
        for (uint32_t k = 0; k < n; k++)
            x[k] += by * direction[k];
        for (uint32_t i = 0; i < m; i++)
            left[i] -= by * q[i];
        was = now;
    }
    free(left);
}

/* Each constant becomes the nearest of those that are more precise and may be the same number, or else what casts make
 * of it. */
static void pair_up(const struct loose_question *q, double shift[MAX_LOOSE]) {
    for (uint32_t i = 0; i < q->n; i++) {
        double nearest = INFINITY;
        for (uint32_t k = 0; k < q->n; k++) {
            double d = q->all[k].number - q->all[i].number;
            bool better = q->all[k].error < q->all[i].error && fabs(d) <= q->all[i].error + q->all[k].error;
            nearest = better && fabs(d) < fabs(nearest) ? d : nearest;
        }
        shift[i] = isfinite(nearest) ? nearest : q->all[i].rounded - q->all[i].number;
    }
}

static bool is_moved(const struct loose_question *q, const double shift[MAX_LOOSE]) {
    bool moved = false;
    for (uint32_t i = 0; i < q->n; i++)
        moved |= shift[i] != 0;
    return moved;
}

/* One step of Newton's method, where that makes the differences smaller. */
static bool improve(struct equations *e, const double *jacobian, double shift[MAX_LOOSE], double *rest, double *next) {
    const struct loose_question *q = e->q;
    double x[MAX_LOOSE], to[MAX_LOOSE] = {0};
    solve(e, jacobian, rest, x);
    for (uint32_t k = 0; k < q->n; k++) {
        double most = furthest * q->all[k].error;
        to[k] = fmax(-most, fmin(shift[k] + x[k] * q->all[k].error, most));
    }
    if (!differences(e, to, next) || !(dot(next, next, q->nelements) < dot(rest, rest, q->nelements)))
        return false;
    memcpy(shift, to, sizeof to);
    memcpy(rest, next, q->nelements * sizeof *rest);
    return true;
}

/* `rest`: room for the differences, for others, and for the Jacobian. */
static bool settle(struct equations *e, double shift[MAX_LOOSE], double *rest) {
    uint32_t n = e->q->nelements;
    double *next = rest + n, *jacobian = next + n;
    if (!e->q->evaluate(e->q->self, shift, e->want, e->got))
        return false;
    weigh(e);
    compare(e, rest);
    double first = dot(rest, rest, n);
    if (!is_moved(e->q, shift)) {
        pair_up(e->q, shift);
        if (is_moved(e->q, shift) && !differences(e, shift, rest))
            return false;
    }
    if (dot(rest, rest, n) > nothing * n && !find_jacobian(e, shift, rest, jacobian))
        return false;
    for (int step = 0; step < STEPS && dot(rest, rest, n) > nothing * n; step++)
        if (!improve(e, jacobian, shift, rest, next))
            break;
    return dot(rest, rest, n) <= fmax(settled * settled * first, noise * n);
}

bool loose_settle(const struct loose_question *q, double shift[MAX_LOOSE]) {
    if (q->n == 0)
        return false;
    double *all = xcalloc((q->n + (size_t)5) * q->nelements, sizeof *all), to[MAX_LOOSE];
    struct equations e = {q, all, all + q->nelements, all + (size_t)2 * q->nelements};
    memcpy(to, shift, sizeof to);
    bool good = settle(&e, to, all + (size_t)3 * q->nelements) && memcmp(to, shift, q->n * sizeof *to) != 0;
    if (good)
        memcpy(shift, to, sizeof to);
    free(all);
    return good;
}

/* ---- what jumps ---- */

static bool is_near(double x, double y) {
    static const double same = 1e-9;
    return x == y || (both_finite(x, y) && fabs(x - y) <= same * fmax(fabs(x), fabs(y)));
}

/* What one side has with the constants moved, the other had before. */
static bool add_explained(struct equations *e, const double *want, const double *got, double *slack) {
    bool any = false;
    for (uint32_t i = 0; i < e->q->nelements; i++) {
        double x = want[i], y = got[i];
        if (!both_finite(x, y) || is_near(x, y) || (!is_near(e->want[i], y) && !is_near(e->got[i], x)))
            continue;
        slack[i] = fmax(slack[i], fabs(x - y));
        any = true;
    }
    return any;
}

/* Each constant is moved to either end of what rounds to it, alone and with all others. */
bool loose_bends(const struct loose_question *q, const double shift[MAX_LOOSE], double *slack) {
    static const double beyond = 1.001; /* an end may be the tie itself */
    if (q->n == 0 || q->n > MAX_MOVED)
        return false;
    double *all = xcalloc((size_t)4 * q->nelements, sizeof *all), to[MAX_LOOSE], *got = all + q->nelements;
    struct equations e = {.q = q, .want = got + q->nelements, .got = got + (size_t)2 * q->nelements};
    bool any = false, good = q->evaluate(q->self, shift, all, got);
    for (uint32_t i = 0; good && i < 2 * (q->n + 1); i++) {
        memcpy(to, shift, sizeof to);
        for (uint32_t k = 0; k < q->n; k++)
            to[k] = i / 2 == k || i / 2 == q->n ? (i % 2 ? 1 : -1) * beyond * q->all[k].error : to[k];
        any |= q->evaluate(q->self, to, e.want, e.got) && add_explained(&e, all, got, slack);
    }
    free(all);
    return any;
}
