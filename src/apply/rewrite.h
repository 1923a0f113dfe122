/* A module with replacements in it: the text, of which all other bytes stay. */
#ifndef FA_REWRITE_H
#define FA_REWRITE_H

#include "apply/replace.h"
#include "apply/text_edit.h"

/* The replacements that are marked, each with a text, and without the ops that nothing uses any more. To be freed with
 * text_edits_free. */
struct text_edits rewrite_module(const struct graph *g, const struct replacement *all, const bool *marked, uint32_t n,
                                 struct arena *a);
/* The module with constants in place of the arguments of functions that are taken to hold a number. In `a`. */
struct str with_numbers(const struct mlir *m, const struct taken_number *taken, uint32_t n, struct arena *a);
/* The same text with the argument of the function of this name and number in place of a value's id. */
bool same_argument(const struct mlir *m, uint32_t value, const struct mlir *other, uint32_t *out);

#endif
