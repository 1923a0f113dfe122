/* A match in the module that its subgraph was made into (proof/reduce/resize.h). */
#ifndef FA_REBIND_H
#define FA_REBIND_H

#include "proof/reduce/resize.h"

/* Does not move: its parts point to one another. */
struct rebound {
    struct graph graph;     /* of the module */
    struct pattern pattern; /* of the match, alone */
    struct match match;     /* of that pattern in this graph */
};

/* The same ops in the same roles. Conditions that the match met in its model (require, unless) are left out: with other
 * extents or locations they may be false, which says nothing of the function. The ids live in `a`; the module has to
 * outlive it. Freed by graph_free(&out->graph). */
void match_rebind(const struct match *m, const struct subgraph *s, const struct resized *w, struct arena *a,
                  struct rebound *out);

/* "%a3" in a text about the module is input 3 of the subgraph: replaces such names by those of the graph. In `a`. */
struct str original_names(const struct subgraph *s, struct str text, struct arena *a);

#endif
