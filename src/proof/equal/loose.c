/* Constants that are near one another are the same number, and the more precise one says which. What is left is solved
 * for: f(c) - g(c) = 0 over all elements of the results, by Newton's method with one Jacobian, since a rounding is
 * small. Of many solutions the one that moves the constants least, in units of their rounding, is taken, which
 * conjugate gradients find from 0 (Björck, Numerical Methods for Least Squares Problems, 7.4). */
#include "proof/equal/loose.h"

#include <math.h>
#include <stdlib.h>

#include "proof/equal/compare.h"

enum { MAX_EQUATIONS = 4096, STEPS = 5, OCTAVES = 12, OCTAVES_APART = 2, HALVINGS = 4 };

/* Rounded to a format, and once more to the digits that are printed. */
static const double furthest = 1.1;
static const double settled = 1e-3; /* what may be left of a difference, of its first size */
/* Squares of what tells nothing: a gradient relative to the first one, since differences of constants that matter alike
 * are noise; a difference of an element, which is solved for until it is that small, and which rounding leaves. */
static const double told = 1e-12, nothing = 1e-24, noise = 1e-22;

/* The differences of elements, relative to these, as functions of the constants: infinite where an element is a number
 * no more. */
struct equations {
    const struct lockstep *at;
    struct lockstep *again;
    struct arena scratch; /* empty between evaluations */
    double *weights;
    int64_t first[MAX_DEVICES][MAX_OUTPUTS]; /* element that is taken first, so that the worst one is among them */
    uint32_t n;
};

static double largest_of(const struct tensor *t) {
    double largest = 0;
    for (int64_t i = 0; i < t->n; i++)
        largest = isfinite(t->x[i]) ? fmax(largest, fabs(t->x[i])) : largest;
    return largest;
}

/* Adds those of one output, every so many elements; `out`: the differences, or NULL: weights and the first element are
 * set. */
static void add_output(struct equations *e, const struct tensor *want, const struct tensor *got, int64_t *begin,
                       uint32_t *n, double *out) {
    int64_t every = want->n / (MAX_EQUATIONS / e->at->p->noutputs) + 1, compared;
    double largest = out ? 0 : largest_of(want);
    if (!out) {
        int64_t worst = compare_worst(got, want, floor_of_largest, NULL, &compared).at;
        *begin = worst < 0 ? 0 : worst % every;
    }
    for (int64_t i = *begin; i < want->n && *n < MAX_EQUATIONS; i += every, ++*n) {
        double x = want->x[i], y = got->x[i];
        if (out)
            out[*n] = both_finite(x, y) ? (y - x) * e->weights[*n] : e->weights[*n] > 0 ? (double)INFINITY : 0;
        else
            e->weights[*n] = both_finite(x, y) && largest > 0 ? 1 / fmax(fabs(x), floor_of_largest * largest) : 0;
    }
}

/* `out` as in add_output. */
static bool evaluate(struct equations *e, const double shift[MAX_LOOSE], double *out) {
    const struct tensor *want[MAX_OUTPUTS], *got[MAX_OUTPUTS];
    const struct problem *p = e->at->p;
    uint32_t n = 0;
    arena_reset(&e->scratch);
    lockstep_again(e->again, e->at, &e->scratch, shift, 0);
    if (!lockstep_program(e->again))
        return false;
    for (uint32_t device = 0; device < p->devices; device++) {
        if (!lockstep_outputs(e->again, device, want, got))
            return false;
        for (uint32_t i = 0; i < p->noutputs; i++) {
            if (!shape_eq(&want[i]->shape, &got[i]->shape))
                return false;
            add_output(e, want[i], got[i], &e->first[device][i], &n, out);
        }
    }
    e->n = n;
    return true;
}

static double dot(const double *x, const double *y, uint32_t n) {
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* By how much each difference changes when a constant is rounded the other way. */
static bool find_jacobian(struct equations *e, const double shift[MAX_LOOSE], const double *rest, double *jacobian) {
    const struct problem *p = e->at->p;
    double moved[MAX_LOOSE];
    for (uint32_t k = 0; k < p->nloose; k++) {
        double *column = jacobian + (size_t)k * MAX_EQUATIONS;
        memcpy(moved, shift, sizeof moved);
        moved[k] += moved[k] > 0 ? -p->loose[k].error : p->loose[k].error;
        if (!evaluate(e, moved, column))
            return false;
        for (uint32_t i = 0; i < e->n; i++)
            column[i] = (column[i] - rest[i]) * (moved[k] > shift[k] ? 1 : -1);
    }
    return true;
}

/* The least `x` with the least |jacobian x + rest|. */
static void solve(const struct equations *e, const double *jacobian, const double *rest, double x[MAX_LOOSE]) {
    uint32_t n = e->at->p->nloose;
    double *left = xcalloc(2 * (size_t)MAX_EQUATIONS, sizeof *left), *q = left + MAX_EQUATIONS;
    double gradient[MAX_LOOSE], direction[MAX_LOOSE] = {0}, was = 0, first = 0;
    memset(x, 0, MAX_LOOSE * sizeof *x);
    for (uint32_t i = 0; i < e->n; i++)
        left[i] = -rest[i];
    for (uint32_t step = 0; step <= 2 * n; step++) {
        for (uint32_t k = 0; k < n; k++)
            gradient[k] = dot(jacobian + (size_t)k * MAX_EQUATIONS, left, e->n);
        double now = dot(gradient, gradient, n);
        first = step == 0 ? now : first;
        if (!(now > first * told))
            break;
        memset(q, 0, e->n * sizeof *q);
        for (uint32_t k = 0; k < n; k++) {
            direction[k] = gradient[k] + (step ? now / was * direction[k] : 0);
            for (uint32_t i = 0; i < e->n; i++)
                q[i] += jacobian[(size_t)k * MAX_EQUATIONS + i] * direction[k];
        }
        double by = now / dot(q, q, e->n);
        for (uint32_t k = 0; k < n; k++)
            x[k] += by * direction[k];
        for (uint32_t i = 0; i < e->n; i++)
            left[i] -= by * q[i];
        was = now;
    }
    free(left);
}

/* Each constant becomes the nearest of those that are more precise and may be the same number, or else what casts make
 * of it. */
static void pair_up(const struct problem *p, double shift[MAX_LOOSE]) {
    for (uint32_t i = 0; i < p->nloose; i++) {
        double nearest = INFINITY;
        for (uint32_t k = 0; k < p->nloose; k++) {
            double d = p->loose[k].number - p->loose[i].number;
            bool better = p->loose[k].error < p->loose[i].error && fabs(d) <= p->loose[i].error + p->loose[k].error;
            nearest = better && fabs(d) < fabs(nearest) ? d : nearest;
        }
        shift[i] = isfinite(nearest) ? nearest : p->loose[i].rounded - p->loose[i].number;
    }
}

static bool is_moved(const struct problem *p, const double shift[MAX_LOOSE]) {
    bool moved = false;
    for (uint32_t i = 0; i < p->nloose; i++)
        moved |= shift[i] != 0;
    return moved;
}

/* One step of Newton's method, where that makes the differences smaller. */
static bool improve(struct equations *e, const double *jacobian, double shift[MAX_LOOSE], double *rest, double *next) {
    const struct problem *p = e->at->p;
    double x[MAX_LOOSE], to[MAX_LOOSE] = {0};
    solve(e, jacobian, rest, x);
    for (uint32_t k = 0; k < p->nloose; k++) {
        double most = furthest * p->loose[k].error;
        to[k] = fmax(-most, fmin(shift[k] + x[k] * p->loose[k].error, most));
    }
    if (!evaluate(e, to, next) || !(dot(next, next, e->n) < dot(rest, rest, e->n)))
        return false;
    memcpy(shift, to, sizeof to);
    memcpy(rest, next, e->n * sizeof *rest);
    return true;
}

/* `all`: room for the differences, for others, and for the Jacobian. */
static bool settle(struct equations *e, double shift[MAX_LOOSE], double *all) {
    const struct problem *p = e->at->p;
    double *rest = all, *next = all + MAX_EQUATIONS, *jacobian = next + MAX_EQUATIONS;
    if (!evaluate(e, shift, NULL) || !evaluate(e, shift, rest))
        return false;
    double first = dot(rest, rest, e->n);
    if (!is_moved(p, shift))
        pair_up(p, shift);
    if (!evaluate(e, shift, rest) || !find_jacobian(e, shift, rest, jacobian))
        return false;
    for (int step = 0; step < STEPS && dot(rest, rest, e->n) > nothing * e->n; step++)
        if (!improve(e, jacobian, shift, rest, next))
            break;
    return dot(rest, rest, e->n) <= fmax(settled * settled * first, noise * e->n);
}

bool loose_settle(const struct lockstep *l, double shift[MAX_LOOSE]) {
    struct equations *e = xcalloc(1, sizeof *e);
    double *all = xcalloc((l->p->nloose + (size_t)3) * MAX_EQUATIONS, sizeof *all), to[MAX_LOOSE];
    memcpy(to, shift, sizeof to);
    *e = (struct equations){.at = l, .again = xcalloc(1, sizeof *e->again), .weights = all};
    bool good = false;
    if (l->p->nloose > 0 && settle(e, to, all + MAX_EQUATIONS))
        for (uint32_t k = 0; k < l->p->nloose; k++)
            good |= to[k] != shift[k];
    if (good)
        memcpy(shift, to, sizeof to);
    arena_free(&e->scratch);
    free(e->again);
    free(all);
    free(e);
    return good;
}

/* ---- numbers that may be anything ---- */

/* Constants times powers of e. */
static void set_shift(const struct problem *p, const double *powers, double shift[MAX_LOOSE]) {
    for (uint32_t k = 0; k < p->nloose; k++)
        shift[k] = p->loose[k].number * expm1(powers[k]);
}

static bool evaluate_powers(struct equations *e, const double *powers, double *out) {
    double shift[MAX_LOOSE];
    set_shift(e->at->p, powers, shift);
    return evaluate(e, shift, out);
}

/* One step of Newton's method, or a part of it. */
static bool approach(struct equations *e, double *powers, double *rest, double *next, double *jacobian) {
    static const double apart = 1e-5, most = 2;
    uint32_t n = e->at->p->nloose;
    double x[MAX_LOOSE] = {0}, to[MAX_LOOSE] = {0}, now = dot(rest, rest, e->n);
    for (uint32_t k = 0; k < n; k++) {
        double *column = jacobian + (size_t)k * MAX_EQUATIONS, was = powers[k];
        powers[k] += apart;
        bool good = evaluate_powers(e, powers, column);
        powers[k] = was;
        for (uint32_t i = 0; good && i < e->n; i++)
            column[i] = (column[i] - rest[i]) / apart;
        if (!good || !isfinite(dot(column, column, e->n)))
            return false;
    }
    solve(e, jacobian, rest, x);
    for (int step = 0; step < HALVINGS; step++) {
        for (uint32_t k = 0; k < n; k++)
            to[k] = powers[k] + fmax(-most, fmin(ldexp(x[k], -step), most));
        if (evaluate_powers(e, to, next) && dot(next, next, e->n) < now / 2) {
            memcpy(powers, to, n * sizeof *powers);
            memcpy(rest, next, e->n * sizeof *rest);
            return true;
        }
    }
    return false;
}

/* From there, as near as it gets; `first`: the square of all differences of the constants themselves. What is left is
 * seen relative to the results as they are then: a constant may make nothing of both. */
static bool agrees_from(struct equations *e, double *powers, double first, double *all) {
    double *rest = all, *next = all + MAX_EQUATIONS, *jacobian = next + MAX_EQUATIONS;
    bool good = evaluate_powers(e, powers, rest) && isfinite(dot(rest, rest, e->n));
    while (good && dot(rest, rest, e->n) > settled * settled * first)
        good = approach(e, powers, rest, next, jacobian);
    return good && evaluate_powers(e, powers, NULL) && evaluate_powers(e, powers, rest) &&
           dot(rest, rest, e->n) <= settled * settled * first;
}

bool loose_explain(const struct lockstep *l, const struct loose_constant *all, uint32_t n) {
    if (n == 0)
        return false;
    struct problem *p = xcalloc(1, sizeof *p);
    struct lockstep *at = xcalloc(1, sizeof *at);
    struct equations *e = xcalloc(1, sizeof *e);
    double *room = xcalloc((n + (size_t)3) * MAX_EQUATIONS, sizeof *room), none[MAX_LOOSE] = {0};
    *p = *l->p;
    *at = *l;
    p->loose = all;
    p->nloose = n;
    at->p = p;
    *e = (struct equations){.at = at, .again = xcalloc(1, sizeof *e->again), .weights = room};
    bool good = evaluate_powers(e, none, NULL) && evaluate_powers(e, none, room + MAX_EQUATIONS), found = !good;
    double first = good ? dot(room + MAX_EQUATIONS, room + MAX_EQUATIONS, e->n) : 0;
    for (int octave = -OCTAVES; octave <= OCTAVES; octave += OCTAVES_APART)
        for (uint32_t which = 0; which <= (n > 1 ? n : 0) && !found; which++) { /* one of them, or all */
            double powers[MAX_LOOSE] = {0};
            for (uint32_t k = 0; k < n; k++)
                powers[k] = which == k || which == n || n == 1 ? octave * M_LN2 : 0;
            found = evaluate_powers(e, none, NULL) && agrees_from(e, powers, first, room + MAX_EQUATIONS);
        }
    arena_free(&e->scratch);
    free(e->again);
    free(room);
    free(e);
    free(at);
    free(p);
    return found;
}
