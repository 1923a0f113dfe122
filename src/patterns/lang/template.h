/* Texts of patterns may have {names}, {numbers} and the words here between braces. */
#ifndef FA_TEMPLATE_H
#define FA_TEMPLATE_H

#include "patterns/lang/formula.h"

/* {type(x)}: the tensor type of x, "4x32xbf16";
 * {type(source(x))}, {type(printed(x))}: of what casts and movement made x of, and make of it. {op(x)}: the neutral
 * name of the op that makes x, "silu". {activation(x)}: the same as Python writes it, with its numbers: "silu",
 * ("leaky_relu", 0.1). */
bool template_word(const struct formula *f, struct str inner);
/* The slot of x in "type(x)" or "type(source(x))", with what stands around x in `view`; NONE for other texts. */
uint32_t template_typed_slot(const struct formula *f, struct str inner, struct str *view);

/* The slot of x in "op(x)" or "activation(x)", by the word before it; NONE for other texts. */
uint32_t template_op_slot(const struct formula *f, struct str inner, const char *word);

#endif
