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

/* ---- operators ---- */

bool function_operator(enum op_kind k) {
    return op_table[k].class == OP_ELTWISE && (unary_of(k) || binary_of(k) || op_is(k, SELECTS) || op_is(k, PIECEWISE));
}

uint32_t function_operands_of(enum op_kind k) {
    return !function_operator(k) ? 0 : unary_of(k) ? 1 : binary_of(k) ? 2 : 3;
}

double function_apply(enum op_kind k, const double x[3]) {
    if (unary_of(k))
        return unary_of(k)(x[0]);
    if (binary_of(k))
        return binary_of(k)(x[0], x[1]);
    return op_is(k, SELECTS) ? (x[0] != 0 ? x[1] : x[2]) : fmin(fmax(x[0], x[1]), x[2]);
}

/* ---- functions ---- */

/* The node that this one stands for in a function: without names of lines and of idioms, of alternatives the first. */
static struct node *part_of(const struct node *n) {
    return n->kind == N_FUNCTION ? n->form : n->args[0];
}

static bool is_looked_into(const struct node *n) {
    return n->kind == N_NAMED || n->kind == N_EITHER || n->kind == N_FUNCTION;
}

bool function_operands(struct node *form, struct node *operands[1 + MOST_CAPTURED], uint32_t *n) {
    for (uint32_t i = 0; i < *n; i++)
        if (same_name(form, operands[i]))
            return true;
    if (form->kind == N_VARIABLE) {
        if (*n > MOST_CAPTURED)
            return false;
        operands[(*n)++] = form;
        return true;
    }
    if (form->kind == N_NUMBER)
        return !isnan(number_evaluate(form->number, unknown, NULL));
    if (is_looked_into(form))
        return function_operands(part_of(form), operands, n);
    bool good = form->kind == N_OP && function_operands_of(form->op) == form->nargs;
    for (uint32_t i = 0; i < form->nargs && good; i++)
        good = function_operands(form->args[i], operands, n);
    return good;
}

struct function_arguments {
    const struct node *of;
    double x;
    const double *captured;
};

static double value_at(const struct node *n, const struct function_arguments *at) {
    double numbers[3] = {0};
    for (uint32_t i = 0; i < at->of->nargs; i++)
        if (same_name(n, at->of->args[i]))
            return i ? at->captured[i - 1] : at->x;
    if (n->kind == N_NUMBER)
        return number_evaluate(n->number, unknown, NULL);
    if (is_looked_into(n))
        return value_at(part_of(n), at);
    for (uint32_t i = 0; i < n->nargs; i++)
        numbers[i] = value_at(n->args[i], at);
    return function_apply(n->op, numbers);
}

double function_at(const struct node *n, double x, const double *captured) {
    return value_at(n->form, &(struct function_arguments){n, x, captured});
}

void function_values(const struct node *n, double values[FUNCTION_POINTS]) {
    for (uint32_t i = 0; i < FUNCTION_POINTS; i++)
        values[i] = function_at(n, function_points[i], NULL);
}

enum op_kind function_op(const struct node *n) {
    const struct node *f = n->form;
    bool own = f->kind == N_OP && f->nargs == n->nargs;
    for (uint32_t i = 0; i < n->nargs && own; i++)
        own = same_name(f->args[i], n->args[i]);
    return own ? f->op : NO_OPERATOR;
}

/* What is added to x counts next to x; below 1e-9 doubles are too rough for that. */
bool function_same_at(double a, double b, double within, double x) {
    double size = fmax(fabs(a), fmin(1, fmax(1e-9, fabs(x))));
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= within * size;
}

bool function_same(const double a[FUNCTION_POINTS], const double b[FUNCTION_POINTS], double within) {
    for (int i = 0; i < FUNCTION_POINTS; i++)
        if (!function_same_at(a[i], b[i], within, function_points[i]))
            return false;
    return true;
}
