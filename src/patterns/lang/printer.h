/* Formulas and conditions as text, with idioms expanded. */
#ifndef FA_PRINTER_H
#define FA_PRINTER_H

#include "patterns/lang/infix.h"

/* Values of the numbers of a formula in a match. */
struct number_values {
    double (*value)(const void *self, const struct number *n);
    const void *self;
};

/* How names are printed that are not those of a formula. */
struct number_names {
    void (*print)(void *self, uint32_t slot);
    void *self;
};

/* A line for each named value, the root last, then secondary roots; each indented by `indent` blanks. */
void formula_print(const struct formula *f, uint32_t indent, struct buf *out);
/* One node on one line; named values by their names. What has none is unfolded, which may take long: printing ends
 * somewhere behind the first `enough` bytes of `out`. */
void formula_print_part(const struct formula *f, const struct node *part, size_t enough, struct buf *out);
/* "-1", "[-2, -1]"; nothing where no axis is named. */
void axis_spec_print(const struct axis_spec *dim, struct buf *out);
/* A condition or a number. `v`: extents, value(x) and measures are printed as values, sqrt(64); NULL: as written. */
void number_print(const struct formula *f, const struct number_values *v, const struct number *n, struct buf *out);
/* The same with other names; in parentheses where `outer` holds together more tightly. */
void number_print_named(const struct number_names *names, const struct number *n, enum binding_power outer,
                        struct buf *out);
/* number_print prints something else with `v` than without. */
bool number_has_values(const struct number *n);

#endif
