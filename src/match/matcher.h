/* The matcher's own state and steps, shared by the files that make it up: match.c works the goals
 * off, operators.c knows how each class of operators treats indices, finish.c checks and keeps what
 * was found. Private to the room. */
#ifndef FA_MATCHER_H
#define FA_MATCHER_H

#include "match/cache.h"
#include "match/match.h"

enum {
    SCRATCH = 4 << 20, /* bytes for goals and maps of one anchor */
    MAX_MATCHED = 128,
    MAX_THROUGH = 256,
    MAX_TRAIL = 1024,
    MAX_CHAIN = 48,
    AS_PRINTED = 16, /* bits of a number that people print: 0.166667 is 1/6 */
    MAX_PRECONDITIONS = 16,
    MAX_TIES = 32,
    MAX_FRESH = 64,
    MAX_SEEN = 96,
    FRESH_SPACE = 1 << 24, /* spaces of axes that the formula's own do not have: of parts, of wholes */
    CONTRACTIONS = 64
};

struct goal {
    const struct node *node;
    uint32_t value;
    const struct imap *map;
    const struct axes *axes;
    const struct axes *outer; /* the axes before a slice or a concatenation changed one of them; or NULL */
    uint32_t slot;            /* named value that this is the definition of, or NONE */
    uint32_t parent;          /* index of the matched op that asks for it, or NONE */
    uint32_t arg;
    bool turned; /* under transposed(): its last two axes are meant the other way round */
    bool inside; /* an operand of a contraction: its axes are exact */
    const struct goal *next;
};

struct matched {
    uint32_t op, parent, arg;
    uint32_t depth; /* matched ops from the root to it */
};

struct looked_through {
    uint32_t op;
    bool inner; /* between two matched ops: its result may have no other user */
};

struct undo {
    uint32_t slot;
    struct binding before;
};

/* The axis that another axis is a part of: the same one wherever the same part of it is taken. */
struct fresh_axis {
    struct imap part;
    int64_t extent;
};

struct matcher {
    const struct graph *g;
    const struct pattern *pattern;
    uint32_t func;
    char *scratch;
    size_t at;
    uint64_t steps, max_steps;
    uint32_t spaces;
    uint32_t nmatched, nlooked_through, ntrail, npreconditions, nties;
    const struct axes *root_axes;
    uint32_t line; /* further lines of the formula that were begun; 0: the root's own */
    uint32_t nfresh;
    uint32_t lowest, highest; /* ops that were tried */
    uint32_t nseen;
    struct arena *arena;
    struct match found;          /* what match_finish kept; without a pattern: locations told that it is none */
    struct match_detail *detail; /* or NULL */
    struct templates templates;
    struct diagnosis *diagnosis; /* asks why nothing is found; NULL: nobody does */
    struct hashes *alike;
    bool forget; /* what alike remembers is not asked */
    struct told told;
    bool far;     /* more was looked at than numbers of places cover (alike.h) */
    bool full;    /* a fixed limit was reached */
    bool refused; /* the first match did not meet what the pattern requires */

    struct binding slots[MAX_SLOTS]; /* from here on nothing is read that was not set: see matcher_new */
    struct matched matched[MAX_MATCHED];
    struct fresh_axis fresh[MAX_FRESH];
    struct looked_through looked_through[MAX_THROUGH];
    struct undo trail[MAX_TRAIL];
    struct seen seen[MAX_SEEN];
    struct str preconditions[MAX_PRECONDITIONS];
    struct tie ties[MAX_TIES];                     /* where the match is looked at closer */
    struct contraction contractions[CONTRACTIONS]; /* of the ops seen last; result NONE: it is none */
    uint32_t contraction_ops[CONTRACTIONS];
    struct slice_memo slices;
};

struct mark {
    size_t at;
    uint32_t spaces, nmatched, nlooked_through, ntrail, npreconditions, nties;
};

/* Why the search cannot go on. */
enum failure_kind {
    FAILED_OPERATOR,  /* another one stands there */
    FAILED_LINE,      /* no op further on is what a further line says */
    FAILED_FOLDED,    /* more is folded into the op than its operator says */
    FAILED_ATTRIBUTE, /* of the op */
    FAILED_SETTING,   /* an operand that is printed as an attribute */
    FAILED_OPERANDS,  /* their number */
    FAILED_RESULT,    /* its number */
    FAILED_AXIS,
    FAILED_PART,  /* of a slice */
    FAILED_ROLES, /* rows and columns of a product */
    FAILED_INDEX, /* elements that cannot be followed */
    FAILED_NUMBER,
    FAILED_SAME, /* another value than the one that has the name */
    FAILED_WHERE,
    FAILED_USER,
    FAILED_REQUIRE,
    FAILED_UNLESS,
    FAILED_DECOMPOSED,
    FAILED_BLOCKED,
    FAILED_LIMIT
};

struct link {
    uint32_t value, op; /* op: what was looked through to get here; NONE for the first */
    struct imap map;
};

struct mark matcher_mark(const struct matcher *m);
void matcher_undo(struct matcher *m, struct mark k); /* back to where the mark was set */
void *matcher_scratch(struct matcher *m, size_t n);  /* NULL when there is no more: the search gives up */
void matcher_bind(struct matcher *m, uint32_t slot, struct binding b);
void matcher_look_through(struct matcher *m, uint32_t op, bool inner);       /* an op was looked through */
uint32_t matcher_take(struct matcher *m, uint32_t op, const struct goal *g); /* an op was matched: its number */
bool matcher_solve(struct matcher *m, const struct goal *g);                 /* the goal and all after it */
void matcher_reach(struct matcher *m, uint32_t op);                          /* an op was tried */
struct goal *matcher_goal(struct matcher *m, const struct goal *of, const struct node *node, uint32_t value,
                          const struct imap *map, const struct axes *axes, const struct goal *next);
/* match.c: sets a search up and undoes it; false when nothing is found. */
bool match_at(struct matcher *m, const struct pattern *p, uint32_t op);
struct matcher *matcher_new(const struct graph *g, uint32_t func, uint64_t max_steps, struct arena *a);
void matcher_free(struct matcher *m);
bool matcher_plausible(const struct matcher *m, const struct node *node, uint32_t value);
struct evaluation matcher_evaluation(struct matcher *m, const struct axes *axes);
uint32_t matcher_chain(const struct graph *g, uint32_t value, const struct imap *map, struct link *out, uint32_t max);
bool close_to(double actual, double expected, int bits);
/* The same of a number made of a count of elements, which is told from one more or one less. */
bool counts_as(double actual, double expected, double count, int bits);

/* probe.c: the goal (NULL: of a further line) is not met at this op, or at this value where no op is meant. A probe
 * notes it and goes on without the goal once: what comes after it tells how close it was. */
bool diagnose_failure(struct matcher *m, enum failure_kind why, const struct goal *g, uint32_t at);
static inline bool matcher_failed(struct matcher *m, enum failure_kind why, const struct goal *g, uint32_t at) {
    return m->diagnosis && diagnose_failure(m, why, g, at);
}
/* The op is the right one, but not as the goal says. Goes on without the goal, and with it all the same. */
bool diagnose_wrong(struct matcher *m, enum failure_kind why, const struct goal *g, uint32_t op,
                    const struct imap *map);
static inline bool matcher_wrong(struct matcher *m, enum failure_kind why, const struct goal *g, uint32_t op,
                                 const struct imap *map) {
    return m->diagnosis && diagnose_wrong(m, why, g, op, map);
}
/* Whether the search goes on with it all the same. */
bool diagnosis_excuses(const struct diagnosis *p, enum failure_kind why, uint32_t op);
static inline bool matcher_excuses(const struct matcher *m, enum failure_kind why, uint32_t op) {
    return m->diagnosis && diagnosis_excuses(m->diagnosis, why, op);
}
/* The op that `value` is a result of is none that the node stands for. Goes on without the goal, and as if it were. */
bool diagnose_operator(struct matcher *m, const struct goal *g, uint32_t value, const struct imap *map);
/* Whether something was gone on without. */
bool diagnosis_is_off(const struct diagnosis *p);
/* A `where` that does not hold; the miss that follows is about it. */
void diagnose_condition(struct diagnosis *p, const struct number *condition);
/* True when all goals but one are met: noted, and there is no match. */
bool diagnose_complete(struct matcher *m);
/* The verdict of a pattern over a whole match, as far as it is against it. */
void diagnose_verdict(struct matcher *m, const struct evaluation *e, const struct pattern *p);

/* operators.c: the op that `value` is a result of, if it is what the goal's node stands for, and all goals after it. */
bool match_op(struct matcher *m, const struct goal *g, uint32_t value, const struct imap *map);
bool match_kind_fits(const struct node *node, enum op_kind kind);
/* Matches the operands of an op as if its operator were right; false where that makes no sense. */
bool match_stand_in(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map);
bool match_axis_fits(const struct goal *g, const struct imap *axis); /* what `dim=` says, if it says anything */
/* NULL when all attributes are as the node says. */
const struct attr_spec *match_wrong_attribute(const struct matcher *m, const struct node *node, uint32_t op);
/* The attribute that stands for operand `role`; false when there is none of that form. */
bool match_setting(const struct matcher *m, uint32_t op, uint32_t role, char key[32], double *actual);
/* parts.c: slices and concatenations. */
bool match_slice(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map);
bool match_concat(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map);
/* further.c: the further lines of the formula that are left, and the end of the match. */
bool match_secondary(struct matcher *m);
bool matcher_root_axes(const struct imap *map, const int64_t *shape, uint32_t rank, struct axes *out);
bool matcher_root_plausible(const struct matcher *m, const struct node *n, uint32_t op);
/* finish.c: false when a `where` of the pattern whose names are all bound does not hold. */
bool match_still_fits(struct matcher *m, uint32_t slot);
bool match_lines_fit(struct matcher *m);
/* finish.c: a user outside of the match of an op inside; false when there is none. */
bool match_outside_user(const struct matcher *m, uint32_t *op, uint32_t *user);
/* finish.c: all goals hold; true when uses and conditions do too, and the match is kept. */
bool match_finish(struct matcher *m);

#endif
