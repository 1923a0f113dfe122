/* What a match is in a model, as the graph around it shows: a query projection, the norm before an attention. Only what
 * is unambiguous is said. */
#ifndef FA_ROLE_H
#define FA_ROLE_H

#include "match/match.h"
#include "place/flow.h"

/* Which way to look for names where a match has none of its own. */
enum look { LOOK_BOTH, LOOK_AHEAD };

struct role {
    struct str text;  /* empty: nothing is said */
    unsigned linears; /* enum linear_role of what it says */
    enum look look;
};

struct role role_of(const struct flow *f, const struct match *m, struct arena *a);
/* The name of a parameter says that it belongs to something else than the role does. */
bool role_contradicts(const struct role *r, struct str name);

#endif
