/* A match in the module that its subgraph was printed as: the text is parsed and searched again, so that a verdict
 * depends on nothing but that text. */
#ifndef FA_REMATCH_H
#define FA_REMATCH_H

#include "match/match.h"
#include "reduce/mutate.h"
#include "reduce/parsed_module.h"

struct rematch {
    struct parsed_module module;
    struct pattern pattern; /* of the match, without the conditions that it met already */
    struct match match;     /* of that pattern in this graph */
};

/* Finds the match in which the same ops have the same roles. The module may be that of a mutation (mutate.h), or NULL:
 * then it is the match without the op that went and with the one that came, and all conditions of the pattern hold.
 * False where it is not found. What was set up lives in `a` and in the result, in either case: rematch_free. */
bool rematch_find(struct rematch *r, const struct pattern_set *set, const struct match *m, const struct subgraph *s,
                  const struct printed_module *w, const struct mutation *mu, struct arena *a);
void rematch_free(struct rematch *r);

/* "%a3" in a text about the module is input 3 of the subgraph: replaces such names by those of the graph. In `a`. */
struct str original_names(const struct subgraph *s, struct str text, struct arena *a);

#endif
