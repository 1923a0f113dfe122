/* A miter in shapes that can be evaluated. */
#ifndef FA_VERIFY_SHAPES_H
#define FA_VERIFY_SHAPES_H

#include "verify/trial.h"

static const double shapes_own_cost = 1 << 24;

struct miter_shapes {
    struct circuit own; /* as printed */
    struct payloads payloads;
    struct arena *a;
};

/* False with a reason where the text is no circuit. To be freed whatever it returns. */
bool shapes_read(struct miter_shapes *m, struct str text, const struct pattern_set *lowerings, struct arena *a,
                 struct str *why);
void shapes_free(struct miter_shapes *m);
/* Choice `which` of small extents; constants as they are or, `scale`, as functions of the extents. `out` is to be freed
 * whatever is returned, here and below. False with a reason. */
bool shapes_small(struct miter_shapes *m, uint32_t which, bool scale, double *cost, struct circuit *out,
                  struct str *why);
/* The extents over which something is reduced, to which constants may be tied, are kept. `most`: what it may cost, as
 * extents_cost says. */
bool shapes_reduced(struct miter_shapes *m, double most, struct circuit *out, struct str *why);
bool shapes_own(struct miter_shapes *m, struct circuit *out, struct str *why);

#endif
