/* Whether a difference is one of constants: of rounded ones, where numbers none of which is further from its constant
 * than that was rounded by make both sides agree on everything; or of such as stand for something else. */
#ifndef FA_EQUAL_LOOSE_H
#define FA_EQUAL_LOOSE_H

#include "proof/equal/mesh.h"

/* Numbers of one evaluation in which the sides differ, with the constants of the problem moved by `shift`: sets `shift`
 * to what makes them agree there, but for a last rest. False: nothing does, or nothing else than before. */
bool loose_settle(const struct lockstep *l, double shift[MAX_LOOSE]);
/* Whether other numbers of the same signs in the place of `all` make the sides agree there, as far as Newton's method
 * tells from several numbers on. At most MAX_LOOSE. */
bool loose_explain(const struct lockstep *l, const struct loose_constant *all, uint32_t n);

#endif
