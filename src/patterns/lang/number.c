#include "patterns/lang/number.h"

#include <math.h>

#include "ir/ops/scalar.h"

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
    case NUM_POW:
        return pow(a, b);
    case NUM_FUNCTION:
        return unary_of((enum op_kind)n->call)(a);
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

static void add_slot(struct asked_names *to, uint32_t slot) {
    to->slots[slot / 64] |= 1ull << slot % 64;
}

static void add_names(const struct number *n, struct asked_names *to) {
    if (!n)
        return;
    to->late |= (n->op == NUM_EXTENT && n->slot == NONE) || (n->op == NUM_CALL && n->nargs == 0);
    if (n->slot != NONE && (n->op == NUM_EXTENT || n->op == NUM_VALUE_OF || n->op == NUM_MEASURE))
        add_slot(to, n->slot);
    for (uint32_t i = 0; n->op == NUM_CALL && i < n->nargs; i++)
        add_slot(to, n->args[i]);
    if (is_arithmetic(n->op)) {
        add_names(n->a, to);
        add_names(n->b, to);
    }
}

struct asked_names number_names(const struct number *n) {
    struct asked_names names = {.late = false};
    add_names(n, &names);
    return names;
}
