/* fa_apply, for what needs more of it than the text. */
#ifndef FA_APPLY_H
#define FA_APPLY_H

#include "fusion_audit.h"
#include "ir/mlir/mlir.h"

/* The module before and after, with constants in place of the arguments that are taken to hold a number. In the arena
 * of the application; empty: it is refused. */
struct applied {
    struct str before, after;
    struct str unknown; /* names of formulas whose numbers nothing told, by commas */
};

/* As fa_apply. `stand_in`: the number of an argument that has to be known, and that nothing tells; NAN: what needs it
 * is left. */
struct fa_application *apply_module(const struct fa_apply_options *options, double stand_in);
struct applied applied_texts(struct fa_application *a);

#endif
