/* A counterexample as lines of text, as small as it gets. */
#ifndef FA_SHOWN_H
#define FA_SHOWN_H

#include "verify/trial.h"

/* `trial` and `seed` show a difference. */
struct str counterexample_show(const struct circuit *c, enum trial trial, uint64_t seed, struct arena *a);

#endif
