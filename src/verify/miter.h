/* A region as one function that computes both sides from shared inputs and returns both results, that of BEFORE first:
 * the miter of circuit verification. Equal regions have equal texts. */
#ifndef FA_MITER_H
#define FA_MITER_H

#include "verify/region.h"

struct miter {
    struct str text; /* in the arena */
    bool has_gelu;
};

struct miter_options {
    bool tanh_gelu;    /* every gelu in the form with tanh, which devices and the compiler take for it */
    bool in_own_types; /* casts between floats are printed, for the arithmetic of a device */
};

/* False with a reason where a type has no text. */
bool miter_print(const struct cut_region *r, const struct cuts *c, struct miter_options how, struct arena *a,
                 struct miter *out, struct str *why);

#endif
