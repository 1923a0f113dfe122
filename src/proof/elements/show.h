/* A counterexample as lines of text, as small as it gets. */
#ifndef FA_ELEMENTS_SHOW_H
#define FA_ELEMENTS_SHOW_H

#include "proof/trials/equal.h"

/* `v` shows a difference. `names`: by input, what it is called. In `a`. */
struct str same_show(const struct problem *p, const struct verdict *v, const struct str *names, struct arena *a);

#endif
