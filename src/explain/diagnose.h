/* What a probe keeps while it searches. Private to probe.c and reason.c. */
#ifndef FA_DIAGNOSE_H
#define FA_DIAGNOSE_H

#include "explain/near_miss.h"
#include "match/matcher.h"

/* How the search went on without a goal. */
enum detour {
    DETOUR_NONE,   /* without the goal and all below it */
    DETOUR_AS_IF,  /* as if the op were the one that is expected; it does not count */
    DETOUR_ABSENT, /* as if the goal's op were not asked for */
    DETOUR_EXTRA   /* as if the op did not stand there */
};

/* A goal that is not met. */
struct failure {
    enum failure_kind why;
    const struct goal *goal; /* NULL: none in particular */
    uint32_t at;             /* op, or value where no op is meant; or NONE */
    const struct number *condition;
    const struct pattern *pattern; /* whose condition it is */
    const struct node *line;       /* FAILED_LINE */
    enum detour detour;
};

struct diagnosis {
    struct near_miss *best;
    uint32_t score, nops;        /* of the closest; 0: none yet */
    uint32_t nends;              /* how often the search has ended */
    uint32_t closest;            /* at which end it was closest, from 1 */
    uint32_t wanted;             /* the end that is to be described; 0: look for the closest */
    const struct pattern *only;  /* the verdict of no other one counts; or NULL */
    const struct failure *first; /* the goal that was gone on without, or NULL */
};

/* reason.c: the condition fails because an optional part is absent: an op is missing. */
bool reason_is_absence(const struct matcher *m, const struct failure *s);
/* reason.c: the condition fails because an optional part is there. */
bool reason_is_presence(const struct failure *s);
/* reason.c: the condition speaks of nothing that was gone on without. */
bool reason_is_decidable(const struct matcher *m, const struct number *n);
/* reason.c: what is different, in words and values. */
void reason_of(struct matcher *m, const struct failure *s, struct near_miss *out);
/* The op where it is different; NONE where it is none. */
uint32_t reason_op(const struct matcher *m, const struct failure *s);

#endif
