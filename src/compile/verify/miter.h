/* A cone as one function that computes both sides from shared inputs and returns both results, that of BEFORE first:
 * the miter of circuit verification. Equal cones have equal keys (ir/mlir/print.h). */
#ifndef FA_MITER_H
#define FA_MITER_H

#include "compile/verify/cone.h"

struct miter {
    struct mlir ir; /* to be freed */
    bool has_gelu;
};

struct miter_options {
    bool tanh_gelu;    /* every gelu in the form with tanh, which devices and the compiler take for it */
    bool in_own_types; /* with the casts between floats, for the arithmetic of a device */
};

/* False with a reason where a type cannot be told. */
bool miter_build(const struct cone_pair *c, const struct dag *d, struct miter_options how, struct miter *out,
                 struct reason *why);

#endif
