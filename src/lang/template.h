/* Text of patterns with {…} in it: what may stand between the braces besides numbers and names of the formula. */
#ifndef FA_TEMPLATE_H
#define FA_TEMPLATE_H

#include "lang/formula.h"

/* {found}, the op that a condition of the rule found, or {type(x)}, "4x32xbf16". */
bool template_word(const struct formula *f, struct str inner);
/* The name in "type(name)"; NONE where it is none of the formula. */
uint32_t template_typed_slot(const struct formula *f, struct str inner);

#endif
