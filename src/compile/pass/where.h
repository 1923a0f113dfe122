#ifndef FA_PASS_WHERE_H
#define FA_PASS_WHERE_H

#include "compile/pass/writer.h"

/* What the pattern asks beside its formula: conditions that must not hold, with " || " between, of shapes or types, or
 * of numbers that the rewrite reads; else as the pattern has it, with "; " between. It holds at this place. */
void pass_where(struct pass_writer *w, struct buf *guards, struct buf *constants, struct buf *comment);

#endif
