#include "lang/number.h"

#include <math.h>

static bool is_arithmetic(enum number_op op) {
    return op >= NUM_NEG && op <= NUM_MOD;
}

double number_evaluate(const struct number *n, number_leaf *leaf, void *self) {
    if (!is_arithmetic(n->op))
        return n->op == NUM_VALUE ? n->value : leaf(self, n);
    double a = number_evaluate(n->a, leaf, self);
    if (n->op == NUM_AND || n->op == NUM_OR)
        return (a != 0) == (n->op == NUM_OR) ? n->op == NUM_OR : number_evaluate(n->b, leaf, self) != 0;
    double b = n->b ? number_evaluate(n->b, leaf, self) : 0;
    switch (n->op) {
    case NUM_NEG:
        return -a;
    case NUM_ADD:
        return a + b;
    case NUM_SUB:
        return a - b;
    case NUM_MUL:
        return a * b;
    case NUM_DIV:
        return b == 0 ? leaf(self, n) : a / b;
    case NUM_MOD:
        return b == 0 ? leaf(self, n) : fmod(a, b);
    case NUM_SQRT:
        return sqrt(a);
    case NUM_EQ:
        return a == b;
    case NUM_NE:
        return a != b;
    case NUM_LT:
        return a < b;
    case NUM_LE:
        return a <= b;
    case NUM_GT:
        return a > b;
    case NUM_GE:
        return a >= b;
    default:
        return a == 0; /* NUM_NOT */
    }
}
