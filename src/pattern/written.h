/* A formula as text again, with its idioms expanded: what is searched for. */
#ifndef FA_WRITTEN_H
#define FA_WRITTEN_H

#include "pattern/formula.h"

struct evaluation;

/* A line for each named value, the root last, indented by `indent` blanks. */
void formula_write(const struct formula *f, uint32_t indent, struct buf *out);
/* One part of it on one line; named values by their names. */
void formula_write_part(const struct formula *f, const struct node *part, struct buf *out);
/* A condition or a number. With `e` what can be told of a match stands as a number: sqrt(64). */
void number_write(const struct formula *f, const struct evaluation *e, const struct number *n, struct buf *out);
/* Whether number_write says something else with `e`. */
bool number_has_values(const struct number *n);

#endif
