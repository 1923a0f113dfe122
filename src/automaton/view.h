/* An elementwise op read as another operator that computes the same: x + (-y) as x - y, x / 4 as x * 0.25. */
#ifndef FA_VIEW_H
#define FA_VIEW_H

#include "graph/graph.h"

enum { MAX_VIEWS = 4 };

/* What the operator of a view takes of a constant in place of its number. */
enum number_change { NUMBER_AS_IS, NUMBER_NEGATED, NUMBER_INVERTED };

struct viewed_operand {
    uint32_t op, k; /* operand k of the op itself, or of the one before it */
    enum number_change change;
};

struct op_view {
    enum op_kind kind;
    uint32_t inner, at; /* the op before it that is part of the view, and which operand leads to it; NONE */
    struct viewed_operand operands[2];
    uint32_t n;
};

/* Their number. */
uint32_t op_views(const struct graph *g, uint32_t op, struct op_view out[MAX_VIEWS]);
double number_changed(double x, enum number_change how);
/* Of one operand and a number, 1 / x, the operator of one operand that it reads as; of another op its own. */
enum op_kind op_kind_alone(const struct graph *g, uint32_t op);

#endif
