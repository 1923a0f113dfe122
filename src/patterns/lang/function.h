/* A function of one value, known by what it makes of a few numbers, however it is spelled. */
#ifndef FA_FUNCTION_H
#define FA_FUNCTION_H

#include "patterns/lang/formula.h"

enum { FUNCTION_POINTS = 32 };

/* Where functions are compared: on both sides of 0 and of the bounds that activations have, far out, and near 0, where
 * an epsilon counts. */
extern const double function_points[FUNCTION_POINTS];

/* The function of a node (N_FUNCTION) at the first n points; false where it is none of one value by operators of one
 * and two numbers. */
bool function_values(const struct node *n, uint32_t npoints, double values[]);
/* The operator that the function of a node (N_FUNCTION) is written as; NO_OPERATOR: it takes several. */
enum op_kind function_op(const struct node *n);
/* Both are values of one function, at one point, at all. */
bool function_same_at(double a, double b, double within);
bool function_same(const double a[FUNCTION_POINTS], const double b[FUNCTION_POINTS], double within);
/* The op is of an operator of one, two or three numbers whose value is known by them alone. */
bool function_operator(enum op_kind k);

#endif
