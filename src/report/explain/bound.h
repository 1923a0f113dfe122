/* The most ops that parts of a formula can match in one function: where a search with a difference cannot come closer
 * than it did, it ends. What a name stands for counts once, wherever it is used. */
#ifndef FA_BOUND_H
#define FA_BOUND_H

#include "search/match/matcher.h"

enum { SLOT_WORDS = (MAX_SLOTS + 63) / 64 };

/* What can match at most: so many ops, and those that these names stand for. */
struct open_ops {
    uint32_t n;
    uint64_t names[SLOT_WORDS]; /* a bit for each slot */
};

struct bound {
    const struct graph *g;
    const struct automaton_run *ops; /* what is known of its ops; or NULL */
    uint32_t first, end;
    uint64_t kinds[(OPERATORS + 63) / 64]; /* of the ops, and what they read as */
    char *functions;                       /* by the subformula: 'y', 'n', or 0: not asked yet */
    struct {
        const struct node *of;
        struct open_ops most;
    } known[2048];
};

/* Of the ops from first to before end, which `ops` has read. */
void bound_begin(struct bound *b, const struct pattern_set *set, const struct automaton_run *ops, const struct graph *g,
                 uint32_t first, uint32_t end, struct arena *a);
/* Ops that the node itself may match. */
uint32_t bound_own(struct bound *b, const struct node *n);
/* That the goals (NULL: none) and the secondary roots that are left can match. */
uint32_t bound_most(struct bound *b, const struct matcher *m, const struct goal *g);

#endif
