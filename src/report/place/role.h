/* The role of a match in a model, read from the dataflow around it: query projection, pre-attention norm. Nothing is
 * said where more than one role is possible. */
#ifndef FA_ROLE_H
#define FA_ROLE_H

#include "report/place/flow.h"
#include "search/match/match.h"

/* Where names of weights are looked for when a match has none of its own: LOOK_AHEAD for norms, which belong to the
 * block that follows. */
enum look { LOOK_BOTH, LOOK_AHEAD };

struct role {
    struct str text;  /* empty: nothing is said */
    unsigned linears; /* roles of linears that the text names (enum linear_role); 0: none */
    enum look look;
};

/* The text is in the arena or static. */
struct role role_of(const struct flow *f, const struct match *m, struct arena *a);
/* Whether the name of a parameter, such as k_proj, names another linear than the role does. */
bool role_contradicts(const struct role *r, struct str name);

#endif
