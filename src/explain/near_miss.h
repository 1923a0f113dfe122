/* Places where a pattern nearly matches, and what is different there: what `explain` tells. An audit
 * never looks for them. */
#ifndef FA_NEAR_MISS_H
#define FA_NEAR_MISS_H

#include "match/match.h"

struct near_miss {
    const struct pattern *pattern;
    const struct graph *graph;
    uint32_t func, root;
    const uint32_t *ops;  /* those that match, textual order */
    uint32_t nops, total; /* total: with the fewest more that would have to match */
    uint32_t op;          /* where it is different; NONE: an argument, or no op in particular */
    uint32_t others;      /* conditions that do not hold either */
    bool whole;           /* all ops match: a user, a condition or the verdict is against it */
    bool excluded;        /* by a part that must not be there: what is there is for another pattern */
    const char *kind;     /* of what is different: "operator", "number"; fixed words */
    struct str part;      /* of the formula, or the condition; may be empty */
    struct str reason;    /* values: "%3 is 7, sqrt(64) = 8 expected" */
    const char *hint;     /* or NULL */
};

/* How many ops match and how large a part they are: five of six say more than one of one. */
double near_miss_rank(const struct near_miss *c);

struct near_misses {
    struct near_miss *items;
    uint32_t n, cap;
};

/* Searches a function as match_function does; where a pattern does not match although an op may be its root, says how
 * close it came. The best for each op and pattern; with `all` also what is far off. */
void near_misses_find(const struct pattern_set *set, const struct graph *g, uint32_t func, bool all, struct arena *a,
                      struct match_list *found, struct near_misses *near);
/* The best place in a function for one pattern alone, whose formula is `leader`'s. False when there is none. */
bool near_miss_of(const struct pattern *leader, const struct pattern *p, const struct graph *g, uint32_t func,
                  uint64_t max_steps, struct arena *a, struct near_miss *out);

#endif
