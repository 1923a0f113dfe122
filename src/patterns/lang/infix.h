/* Infix signs of formulas and conditions. */
#ifndef FA_INFIX_H
#define FA_INFIX_H

#include "patterns/lang/formula.h"

/* How tightly a piece of text holds together; a looser one inside of a tighter one needs parentheses. */
enum binding_power { P_EITHER, P_AND, P_COMPARISON, P_SUM, P_PRODUCT, P_POWER, P_WORD };

struct infix {
    const char *sign;
    enum op_kind op;       /* of tensors; NO_OPERATOR: there is none */
    enum number_op number; /* of numbers; NUM_NONE: there is none */
    enum binding_power power;
};

/* NULL where there is none. Formulas write logical_and as a call: infix_of_op has none. */
const struct infix *infix_of_sign(struct str sign);
const struct infix *infix_of_op(enum op_kind op);
const struct infix *infix_of_number(enum number_op number);

#endif
