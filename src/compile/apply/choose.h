/* Which findings of a module are written: of overlapping ones those that save more. */
#ifndef FA_APPLY_CHOOSE_H
#define FA_APPLY_CHOOSE_H

#include "compile/apply/replace.h"
#include "device/price/price.h"
#include "proof/prove/select.h"

struct choosing {
    struct replacing *how;
    struct pricer *pricer;
    const struct fa_apply_options *options;
    const bool *asked; /* per op; NULL: all */
};

/* Writes the fused ops of the matches, and of those that gave way to them, the one that saves most first, but for what
 * overlaps with one that is written. Returns all that an audit reports, and of the others those that are written, in
 * the order of the module; *n of them, in `a`. */
struct replacement *choose(const struct choosing *c, const struct selection *s, struct arena *a, uint32_t *n);

#endif
