/* A function of one value, known by what it makes of a few numbers, however it is spelled; numbers of its ops may be
 * captured by name. */
#ifndef FA_FUNCTION_H
#define FA_FUNCTION_H

#include "patterns/lang/formula.h"

enum { FUNCTION_POINTS = 32, MOST_CAPTURED = 2 };

/* Where functions are compared: on both sides of 0 and of the bounds that activations have, far out, and near 0, where
 * an epsilon counts. */
extern const double function_points[FUNCTION_POINTS];

/* The operands of a function: operands[0] is known; adds the other names that it captures. False where there are more
 * than MOST_CAPTURED, or it is no function of numbers by elementwise operators. */
bool function_operands(struct node *form, struct node *operands[1 + MOST_CAPTURED], uint32_t *n);
/* The function of a node (N_FUNCTION) at x, with these numbers for the names that it captures. */
double function_at(const struct node *n, double x, const double *captured);
/* The function of a node that captures nothing, at all points. */
void function_values(const struct node *n, double values[FUNCTION_POINTS]);
static inline uint32_t function_captures(const struct node *n) {
    return n->nargs - 1u;
}
/* The operator that the function of a node (N_FUNCTION) is written as; NO_OPERATOR: it takes several. */
enum op_kind function_op(const struct node *n);
/* Both are values of one function, at a point x, at all. */
bool function_same_at(double a, double b, double within, double x);
bool function_same(const double a[FUNCTION_POINTS], const double b[FUNCTION_POINTS], double within);
/* The op is of an operator of one, two or three numbers whose value is known by them alone; that value. */
bool function_operator(enum op_kind k);
uint32_t function_operands_of(enum op_kind k); /* how many it takes; 0: it is none */
double function_apply(enum op_kind k, const double numbers[3]);

#endif
