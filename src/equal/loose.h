/* Whether a difference is one of rounded constants: there are numbers, none further from its constant than that was
 * rounded by, with which both sides agree on everything. */
#ifndef FA_EQUAL_LOOSE_H
#define FA_EQUAL_LOOSE_H

#include "equal/mesh.h"

/* Numbers of one evaluation in which the sides differ, with the constants of the problem moved by `shift`: sets `shift`
 * to what makes them agree there, but for a last rest. False: nothing does, or nothing else than before. */
bool loose_settle(const struct lockstep *l, double shift[MAX_LOOSE]);

#endif
