/* A counterexample as lines of text, as small as it gets. */
#ifndef FA_SHOWN_H
#define FA_SHOWN_H

#include "verify/trial.h"

/* `at` shows a difference. */
struct str counterexample_show(const struct circuit *c, struct trial_of_circuit at, struct arena *a);

#endif
