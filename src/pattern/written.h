/* A formula as text again, with its idioms expanded: what is searched for. */
#ifndef FA_WRITTEN_H
#define FA_WRITTEN_H

#include "pattern/formula.h"

/* A line for each named value, the root last, indented by `indent` blanks. */
void formula_write(const struct formula *f, uint32_t indent, struct buf *out);

#endif
