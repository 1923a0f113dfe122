/* Functions of one and of two numbers, by operator. */
#ifndef FA_SCALAR_H
#define FA_SCALAR_H

#include "ir/ops/ops.h"

typedef double unary_function(double x);
typedef double binary_function(double x, double y);

/* unary_EXP, binary_ADD, ... of the rows of ops.def. */
#define UNARY(id, value)  unary_function unary_##id;
#define BINARY(id, value) binary_function binary_##id;
#include "ir/ops/ops.def"

/* The nearest number with so many bits of fraction, ties to even. */
double round_to_bits(double x, int bits);
/* Without the fraction; saturates, and is 0 for a NaN. */
int64_t whole_of(double x);
/* NULL where the operator is none of one (two) numbers. */
unary_function *unary_of(enum op_kind k);
binary_function *binary_of(enum op_kind k);
/* It is an order of two numbers, or whether they are equal: 0 or 1. */
bool is_comparison(binary_function *f);
/* An activation by the name that ops print: "relu", "gelu_approx". NULL where there is none. */
unary_function *activation_of(struct str name);
/* The attributes that fold an activation into an op, up to NULL; its name in the text of one of them, empty for none.
 */
extern const char *const activation_keys[];
struct str activation_name(const char *key, struct str text);
/* The attributes of an elementwise op that are numbers of it as an activation, in this order, up to NULL. */
extern const char *const activation_numbers[];

#endif
