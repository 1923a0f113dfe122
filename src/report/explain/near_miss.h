/* Near misses: where a pattern almost matches, and the first thing that is different there. `explain` prints them; an
 * audit never looks for them. */
#ifndef FA_NEAR_MISS_H
#define FA_NEAR_MISS_H

#include "search/automaton/automaton.h"
#include "search/match/match.h"

struct near_miss {
    const struct pattern *pattern;
    const struct graph *graph;
    uint32_t func, root;
    const uint32_t *ops;  /* those that match, textual order */
    uint32_t nops, total; /* total: nops and the fewest more that the formula asks for */
    uint32_t op;          /* where the difference is; NONE: an argument, or no op in particular */
    uint32_t others;      /* conditions that do not hold either */
    bool whole;           /* all ops match: only a user or a condition is against it */
    bool excluded;        /* an optional part that must be absent is there: it is for another pattern */
    const char *kind;     /* of difference: "operator", "number"; static */
    struct str part;      /* of the formula, or the condition, as printed; may be empty */
    struct str reason;    /* "%3 is 7, sqrt(64) = 8 expected" */
    const char *hint;     /* static; or NULL */
};

/* More is closer: how many ops match, times their share in all, so that five of six are closer than one of one. */
double near_miss_rank(const struct near_miss *c);

/* The closest first; of equals the one with fewer conditions that do not hold, the first one in the text. */
int near_miss_compare(const void *a, const void *b);

struct near_misses {
    struct near_miss *items;
    uint32_t n, cap;
};

enum { LEAST_OPS = 2 }; /* that a near miss matches, or else it is far */

/* Which near misses are looked for: what is different is put into words of no others. */
struct near_query {
    uint32_t least;                                             /* ops that match; LEAST_OPS: and half of all */
    bool (*wants)(const void *self, const struct near_miss *c); /* which has no words yet; NULL: any */
    const void *self;
    const bool *reported; /* per op: near misses of such ops alone are not wanted; NULL: no op is */
    const bool *far;      /* near_misses_far; NULL: no pattern is */
};

/* Of each pattern, by its order: near to nothing, since it needs an op of which the graph has none. In `a`. */
const bool *near_misses_far(const struct pattern_set *set, const struct graph *g, struct arena *a);

/* Searches a function as match_function does. Where a pattern does not match although the op may be its root, adds the
 * nearest miss for that op and pattern. Texts live in `a`; the caller frees the items. */
void near_misses_find(const struct pattern_set *set, struct automaton_run *ops, const struct graph *g, uint32_t func,
                      const struct near_query *query, struct arena *a, struct near_misses *near);
/* The nearest miss in a function of one pattern, which shares its formula with `leader`; where nothing comes close,
 * what its last op is instead of the root. False when there is no op. */
bool near_miss_of(const struct pattern *leader, const struct pattern *p, const struct graph *g, uint32_t func,
                  uint64_t max_steps, struct arena *a, struct near_miss *out);

#endif
