/* An elementwise op read as another operator that computes the same: x + (-y) as x - y, x / 4 as x * 0.25, the larger
 * of two as -min(-x, -y) or as where(x > y, x, y), and x + (y + z) as (x + y) + z. */
#ifndef FA_VIEW_H
#define FA_VIEW_H

#include "ir/graph/graph.h"

enum { MAX_VIEWS = 8, MAX_INNER = 3 };

/* What the operator of a view takes of a constant in place of its number. */
enum number_change { NUMBER_AS_IS, NUMBER_NEGATED, NUMBER_INVERTED };

struct viewed_operand {
    uint32_t op, k; /* operand k of the op itself, or of an inner one */
    enum number_change change;
};

/* An op before it that is part of the view; movement may stand between. */
struct inner_op {
    uint32_t op, from, at; /* operand `at` of `from`, the op itself or an earlier inner one, leads to it */
};

struct op_view {
    enum op_kind kind;
    struct inner_op inner[MAX_INNER];
    struct viewed_operand operands[2];
    uint32_t ninner, n;
    /* Unless NO_OPERATOR: operand `at` is no value of the graph but what this operator makes of `group`. In its place
     * is the result of an inner op. */
    enum op_kind grouped;
    uint32_t at, in_place;
    struct viewed_operand group[2];
    uint32_t state; /* of what is grouped, in the automaton that read the op */
};

/* Their number. */
uint32_t op_views(const struct graph *g, uint32_t op, struct op_view out[MAX_VIEWS]);
double number_changed(double x, enum number_change how);
/* Of one operand and a number, 1 / x, the operator of one operand that it reads as; of another op its own. */
enum op_kind op_kind_alone(const struct graph *g, uint32_t op);

#endif
