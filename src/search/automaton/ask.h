/* What a node of a formula asks of one op or one constant. */
#ifndef FA_ASK_H
#define FA_ASK_H

#include "patterns/lang/formula.h"

/* The first attribute that is not as the node says; NULL when there is none. */
const struct attr_spec *node_wrong_attribute(const struct node *node, const struct graph *g, uint32_t op);
/* The node says which activation is folded into its op. */
bool node_says_folded(const struct node *node);
/* The constant is what a number comes to. */
bool node_number_is(const struct node *n, struct constant c, double expected);
/* Equal up to the rounding of a format of so many significant bits. */
bool close_to(double actual, double expected, int bits);

/* The same for a number made of `count` elements, which is told from one of an element more or less. */
bool count_close_to(double actual, double expected, double count, int bits);

#endif
