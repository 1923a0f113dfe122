/* The points have enough digits that no two functions agree at all of them by chance. */
#include "patterns/lang/function.h"

#include <math.h>

#include "ir/ops/scalar.h"
#include "patterns/lang/number.h"

const double function_points[FUNCTION_POINTS] = {-311.7, -14.77,  -8.126, -6.341,  -5.209, -3.618,  -2.874,  -2.113,
                                                 -1.437, -0.962,  -0.531, -0.127,  0.083,  0.374,   0.729,   1.184,
                                                 1.693,  2.351,   2.937,  3.462,   5.118,  6.274,   13.42,   298.3,
                                                 3.1e-4, -4.7e-5, 5.3e-6, -2.3e-7, 6.1e-8, -3.7e-9, 2.9e-10, -1.3e-11};

static double unknown(void *self, const struct number *n) {
    (void)self;
    (void)n;
    return NAN;
}

static bool same_name(const struct node *a, const struct node *b) {
    return a == b || (a->kind == N_VARIABLE && b->kind == N_VARIABLE && a->slot == b->slot);
}

static bool value_at(const struct node *n, const struct node *x, double at, double *y) {
    double a, b;
    *y = at;
    if (same_name(n, x))
        return true;
    switch (n->kind) {
    case N_NAMED:
    case N_EITHER:
    case N_FUNCTION:
        return value_at(n->kind == N_FUNCTION ? n->form : n->args[0], x, at, y);
    case N_NUMBER:
        *y = number_evaluate(n->number, unknown, NULL);
        return !isnan(*y);
    case N_OP:
        if (n->nargs == 1 && unary_of(n->op) && value_at(n->args[0], x, at, &a)) {
            *y = unary_of(n->op)(a);
            return true;
        }
        if (n->nargs != 2 || !binary_of(n->op) || !value_at(n->args[0], x, at, &a) || !value_at(n->args[1], x, at, &b))
            return false;
        *y = binary_of(n->op)(a, b);
        return true;
    default:
        return false;
    }
}

bool function_values(const struct node *n, uint32_t npoints, double values[]) {
    for (uint32_t i = 0; i < npoints; i++)
        if (!value_at(n->form, n->args[0], function_points[i], &values[i]))
            return false;
    return true;
}

enum op_kind function_op(const struct node *n) {
    const struct node *f = n->form;
    return f->kind == N_OP && f->nargs == 1 && same_name(f->args[0], n->args[0]) ? f->op : NO_OPERATOR;
}

bool function_same_at(double a, double b, double within) {
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= within * fmax(1, fabs(a));
}

bool function_same(const double a[FUNCTION_POINTS], const double b[FUNCTION_POINTS], double within) {
    for (int i = 0; i < FUNCTION_POINTS; i++)
        if (!function_same_at(a[i], b[i], within))
            return false;
    return true;
}

bool function_operator(enum op_kind k) {
    return op_table[k].class == OP_ELTWISE && (unary_of(k) || binary_of(k) || op_is(k, SELECTS) || op_is(k, PIECEWISE));
}
