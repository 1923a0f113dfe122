/* The state of a diagnostic search. Private to diagnose.c, near_bound.c, missing_ops.c and reason.c. */
#ifndef FA_DIAGNOSE_H
#define FA_DIAGNOSE_H

#include "report/explain/near_miss.h"
#include "search/match/matcher.h"

/* How the search went on after a failure. */
enum detour {
    DETOUR_NONE,   /* without the goal and its operands */
    DETOUR_AS_IF,  /* with the op's operands, as if it were the expected one; it does not count as matched */
    DETOUR_ABSENT, /* as if the formula had no such op */
    DETOUR_EXTRA   /* as if the module had no such op */
};

/* A goal that is not met. */
struct failure {
    enum failure_kind why;
    const struct goal *goal; /* NULL: none in particular */
    uint32_t at;             /* op, or value where no op is meant; or NONE: see reason_op */
    const struct number *condition, *part; /* of which this does not hold, or all */
    const struct pattern *pattern; /* whose condition it is */
    const struct node *line;       /* FAILED_LINE */
    struct str why_blocked;        /* FAILED_BLOCKED: as the pattern says it */
    enum detour detour;
};

/* Of alternatives for one value the search has gone on without one whose operator is not there: without another one it
 * would end alike. */
struct gone_on {
    const struct goal *next; /* the goal behind them */
    uint32_t value, ntrail;  /* ntrail: names that were bound then; value: NONE: of none */
};

struct diagnosis {
    struct near_miss *best;
    uint32_t score;             /* of the closest end of the search; 0: none yet */
    const struct pattern *only; /* the conditions of no other pattern count; NULL: of any */
    const struct near_query *query;
    uint32_t root;
    struct failure edit; /* that the search has gone on from, while state.edits is 1 */
    struct gone_on gone_on;
};

/* ---- near_bound.c ---- */

/* The search may take the op for another one that the node stands for: the node's arguments may be its operands. */
bool near_bound_stands_in(const struct matcher *m, const struct node *node, uint32_t op);
struct near_bound *near_bound_new(const struct matcher *m, const struct near_query *query);
void near_bound_free(struct near_bound *b);
/* False: at this root no search for the pattern ends in a near miss that the query wants. */
bool near_bound_allows(struct near_bound *b, const struct pattern *p, uint32_t op);

/* ---- missing_ops.c ---- */

/* The fewest ops of the formula that the search ended without: those of the failures, and of the goals behind the
 * second one, which is NULL where all other goals were met. */
uint32_t ops_missing(const struct matcher *m, const struct failure *first, const struct failure *second);
/* ---- reason.c ---- */

/* The condition fails because an optional part is absent: an op is missing. */
bool reason_is_absence(const struct matcher *m, const struct failure *s);
/* The condition fails because an optional part is there. */
bool reason_is_presence(const struct failure *s);
/* The condition speaks of nothing that the search went on without. */
bool reason_is_decidable(const struct matcher *m, const struct number *n);
/* What is different, in words and values: kind, part, reason and hint of `out`. */
void reason_of(struct matcher *m, const struct failure *s, struct near_miss *out);
/* "%o is ttir.linear at line 4, add expected": of an op that is no root, where nothing comes close. */
struct str reason_root(const struct pattern *p, const struct graph *g, uint32_t op, struct arena *a);
/* The op where the difference is; NONE where it is none. */
uint32_t reason_op(const struct matcher *m, const struct failure *s);

#endif
