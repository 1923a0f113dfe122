/* A formula as text again, with its idioms expanded: what is searched for. */
#ifndef FA_PRINTER_H
#define FA_PRINTER_H

#include "lang/formula.h"

/* What numbers of a formula are in a match. */
struct number_values {
    double (*value)(const void *self, const struct number *n);
    const void *self;
};

/* A line for each named value, the root last, indented by `indent` blanks. */
void formula_print(const struct formula *f, uint32_t indent, struct buf *out);
/* One part of it on one line; named values by their names. */
void formula_print_part(const struct formula *f, const struct node *part, struct buf *out);
/* A condition or a number. With `v` (else NULL) what can be told of a match stands as a number: sqrt(64). */
void number_print(const struct formula *f, const struct number_values *v, const struct number *n, struct buf *out);
/* Whether number_print says something else with `v`. */
bool number_has_values(const struct number *n);

#endif
