/* The table of infix signs. */
#include "patterns/lang/infix.h"

static const struct infix infixes[] = {
    {"+", K_ADD, NUM_ADD, P_SUM},         {"-", K_SUBTRACT, NUM_SUB, P_SUM},      {"*", K_MULTIPLY, NUM_MUL, P_PRODUCT},
    {"/", K_DIVIDE, NUM_DIV, P_PRODUCT},  {"%", K_REMAINDER, NUM_MOD, P_PRODUCT}, {"==", K_EQ, NUM_EQ, P_COMPARISON},
    {"!=", K_NE, NUM_NE, P_COMPARISON},   {"<", K_LT, NUM_LT, P_COMPARISON},      {"<=", K_LE, NUM_LE, P_COMPARISON},
    {">", K_GT, NUM_GT, P_COMPARISON},    {">=", K_GE, NUM_GE, P_COMPARISON},     {"&", K_LOGICAL_AND, NUM_AND, P_AND},
    {"|", NO_OPERATOR, NUM_OR, P_EITHER}, {"@", K_MATMUL, NUM_NONE, P_PRODUCT},   {"**", K_POW, NUM_POW, P_POWER},
};

enum { INFIXES = sizeof infixes / sizeof *infixes };

const struct infix *infix_of_sign(struct str sign) {
    if (strchr("(),[]", sign.p[0])) /* as most that is asked is */
        return NULL;
    for (int i = 0; i < INFIXES; i++)
        if (sign.p[0] == infixes[i].sign[0] && str_is(sign, infixes[i].sign))
            return &infixes[i];
    return NULL;
}

const struct infix *infix_of_op(enum op_kind op) {
    for (int i = 0; i < INFIXES; i++)
        if (infixes[i].power >= P_COMPARISON && infixes[i].op == op)
            return &infixes[i];
    return NULL;
}

const struct infix *infix_of_number(enum number_op number) {
    for (int i = 0; i < INFIXES; i++)
        if (infixes[i].number == number)
            return &infixes[i];
    return NULL;
}
