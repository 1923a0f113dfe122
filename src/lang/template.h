/* Texts of patterns may have {names}, {numbers} and the words here between braces. */
#ifndef FA_TEMPLATE_H
#define FA_TEMPLATE_H

#include "lang/formula.h"

/* {found}: the op that a condition of the rule found. {type(x)}: the tensor type of x, "4x32xbf16". */
bool template_word(const struct formula *f, struct str inner);
/* The slot of x in "type(x)"; NONE for other texts. */
uint32_t template_typed_slot(const struct formula *f, struct str inner);

#endif
