/* The search for one pattern at one root: a list of goals (this node of the formula at that value), worked off depth
 * first with backtracking. Private to the folder and to report/explain/diagnose.c, which observes a search.
 *
 * From the bottom up: state.c keeps what it has done and undoes it; maps.c computes index maps;
 * plausible.c looks ahead, by the automaton; finish.c decides conditions and keeps a match; operators.c,
 * reductions.c, contractions.c, slices.c know how each class of operators maps the indices of its result to those of
 * its operands; values.c binds names and numbers; secondary.c looks for secondary roots; solve.c works the goals off;
 * search.c tries patterns at roots. */
#ifndef FA_MATCHER_H
#define FA_MATCHER_H

#include "search/automaton/automaton.h"
#include "search/match/conditions.h"

enum {
    SCRATCH_BYTES = 4 << 20, /* bytes for goals and maps of one search */
    MAX_MATCHED = 128,
    MAX_THROUGH = 256,
    MAX_TRAIL = 1024,
    WHOLE_SPACE = FRESH_SPACE + MAX_FRESH +
                  1, /* plus a value: the index space of that value, for operands of ops without index maps */
    MAX_REDUCED = 16,
    REDUCED_SPACE = FRESH_SPACE - MAX_REDUCED /* the first of axes that the formula has below a reduction only */
};

/* The axes of the formula before a slice or a concatenation changed one of them, and those before that. */
struct outer_axes {
    const struct axes *axes;
    const struct outer_axes *before; /* NULL: there are none */
};

/* A node of the formula has to match at a value. */
struct goal {
    const struct node *node;
    uint32_t value;
    const struct imap *map;         /* which element of the value: from the index of the root's result */
    const struct axes *axes;        /* the formula's axes at this node */
    const struct outer_axes *outer; /* NULL: they are those of the root */
    uint32_t slot;                  /* of the named value that this is the definition of; or NONE */
    uint32_t parent;                /* index of the matched op that it is an operand of; NONE: a root */
    bool turned;                    /* under transposed(): its last two axes are exchanged */
    bool inside; /* operand of a contraction: rows and columns are the last two axes of the formula */
    const struct goal *next;
};

struct matched {
    uint32_t op, parent; /* as in struct goal */
};

/* A binding that was replaced. */
struct trail_entry {
    uint32_t slot;
    struct binding before;
};

/* What the search has done on its way to the goal at hand. The arrays are stacks, which matcher_undo cuts back. */
struct search_state {
    struct binding slots[MAX_SLOTS];
    struct matched matched[MAX_MATCHED];
    struct looked_through looked_through[MAX_THROUGH];
    struct trail_entry trail[MAX_TRAIL];
    struct assumptions assumed;
    uint32_t nmatched, nlooked_through, ntrail;
    uint32_t spaces;    /* of axes that were given out */
    uint32_t line;      /* secondary roots that were begun */
    bool optional;      /* the goals are those of one that may be missing */
    uint32_t edits;     /* differences that the search has gone on from: at most one, and none in an audit */
    uint32_t functions; /* that were found by their values */
    size_t used;        /* bytes of scratch */
};

/* Lengths of the stacks of struct search_state. */
struct mark {
    size_t used;
    uint32_t spaces, nmatched, nlooked_through, ntrail, edits, functions, npreconditions, nconstants, nsliced;
};

/* An axis that an axis of the formula is a part of; one for all slices that take the same part of an extent. */
struct fresh_axis {
    struct imap part;
    int64_t extent;
};

struct fresh_axes {
    struct fresh_axis axes[MAX_FRESH]; /* the space of axes[i] is FRESH_SPACE + i */
    uint32_t n;
};

/* Why a goal is not met. */
enum failure_kind {
    FAILED_OPERATOR,  /* another one stands there */
    FAILED_LINE,      /* no op is what the line of a secondary root says */
    FAILED_FOLDED,    /* more is folded into the op than its operator says */
    FAILED_ATTRIBUTE, /* of the op */
    FAILED_SETTING,   /* an argument that the op has as an attribute */
    FAILED_OPERANDS,  /* their number */
    FAILED_RESULT,    /* its number */
    FAILED_AXIS,
    FAILED_PART,  /* of a slice */
    FAILED_ROLES, /* rows and columns of a product */
    FAILED_INDEX, /* the index map is not known */
    FAILED_ORDER, /* no movement puts elements into this order */
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

enum after_failure { SEARCH_STOPS, SEARCH_GOES_ON };

/* What a function that works off a goal and all goals after it tells: they are all met, and the matcher's `found` is
 * the match; or not from here on, or not within the limits (`full`), so that the caller undoes what was done and tries
 * its next way. */
enum search_outcome { MISSED, MATCHED };

struct matcher;

/* Is told where a search fails, and may make it go on once all the same: how `explain` measures what is nearly there.
 * It never makes it match. */
struct search_observer {
    /* The goal (NULL: a secondary root's) is not met at an op, or at a value where no op is meant. */
    void (*failed)(struct matcher *m, enum failure_kind why, const struct goal *g, uint32_t at);
    /* Another operator stands at the value, or none. */
    void (*other_op)(struct matcher *m, const struct goal *g, uint32_t value, const struct imap *map);
    /* The same at an op whose operands can be matched although this is wrong. */
    enum after_failure (*wrong)(struct matcher *m, enum failure_kind why, const struct goal *g, uint32_t op);
    /* All goals are met but for an edit. */
    void (*complete)(struct matcher *m);
    /* The conditions of a pattern are about to be decided over a whole match. */
    void (*verdict)(struct matcher *m, struct evaluation *e, const struct pattern *p);
    /* Those of the goal's alternatives that may match do not. */
    void (*other_alternatives)(struct matcher *m, const struct goal *g);
    void *self;
};

struct matcher {
    const struct graph *g;
    uint32_t func;
    const struct pattern *pattern; /* that is searched for, then the variant of it that accepted the match */
    const struct axes *root_axes;
    /* Works off a goal and all after it. Operators continue the search through it because solve.c, which defines it,
     * stands above them. */
    enum search_outcome (*solve)(struct matcher *m, const struct goal *g);
    const struct search_observer *observer; /* NULL in an audit */
    const char *prefix;                     /* of names of values in texts; or NULL */
    const struct automaton_run *ops;        /* what is known of the ops of the function; or NULL */
    const uint32_t *meets;                  /* matcher_meetings of the function; or NULL */
    const struct number *failed_condition;  /* the `where` that a FAILED_WHERE is about */

    char *scratch;
    uint64_t steps, max_steps;
    bool full;      /* a fixed limit was reached: nothing is known of this root */
    bool ones_lead; /* trailing axes of one element of the root are read as leading ones, */
    bool ones_stay; /* or stay at the second try, at secondary roots, too */
    bool refused;   /* the first whole match did not meet the pattern's conditions: there is no other */

    struct arena *arena;          /* of what is kept */
    struct match found;           /* what match_finish kept */
    struct search_record *record; /* collects; NULL: nobody asks */

    struct search_state state; /* not zeroed by matcher_new, since it is large: match_at resets the counts */
    struct fresh_axes fresh;
    int64_t reduced[MAX_REDUCED]; /* elements of the axis of REDUCED_SPACE + i */
    uint32_t nreduced;
};

/* ---- state.c ---- */

struct matcher *matcher_new(const struct graph *g, uint32_t func, uint64_t max_steps, struct arena *a);
void matcher_free(struct matcher *m); /* NULL is fine */
struct mark matcher_mark(const struct matcher *m);
void matcher_undo(struct matcher *m, struct mark k); /* back to where the mark was set */
void *matcher_scratch(struct matcher *m, size_t n);  /* until undone; NULL when there is no more: the search gives up */
void matcher_bind(struct matcher *m, uint32_t slot, struct binding b);
/* The first name in the node that is bound, or NONE. */
uint32_t matcher_bound_name(const struct matcher *m, const struct node *n);
void matcher_look_through(struct matcher *m, uint32_t op, bool inner);
void matcher_take(struct matcher *m, uint32_t op, const struct goal *g); /* the op is matched */
bool matcher_took(const struct matcher *m, uint32_t op);
struct goal *matcher_goal(struct matcher *m, const struct goal *of, const struct node *node, uint32_t value,
                          const struct imap *map, const struct axes *axes, const struct goal *next);
/* A goal for argument `arg` of the goal's node, of the op that was matched last. */
struct goal *matcher_operand(struct matcher *m, const struct goal *g, uint32_t arg, uint32_t value,
                             const struct imap *map, const struct axes *axes, const struct goal *next);
struct evaluation matcher_evaluation(struct matcher *m, const struct axes *axes);
static inline enum search_outcome matcher_solve(struct matcher *m, const struct goal *g) {
    return m->solve(m, g);
}
/* Who is told where the search fails, or NULL. What is missing of a line that may be missing is no failure. */
static inline const struct search_observer *matcher_observer(const struct matcher *m) {
    return m->state.optional ? NULL : m->observer;
}
/* MISSED. */
static inline enum search_outcome matcher_failed(struct matcher *m, enum failure_kind why, const struct goal *g,
                                                 uint32_t at) {
    if (matcher_observer(m))
        m->observer->failed(m, why, g, at);
    return MISSED;
}
static inline enum search_outcome matcher_other_op(struct matcher *m, const struct goal *g, uint32_t value,
                                                   const struct imap *map) {
    if (matcher_observer(m))
        m->observer->other_op(m, g, value, map);
    return MISSED;
}
/* The same where the search may go on at the op's operands. */
static inline enum after_failure matcher_wrong(struct matcher *m, enum failure_kind why, const struct goal *g,
                                               uint32_t op) {
    return matcher_observer(m) ? m->observer->wrong(m, why, g, op) : SEARCH_STOPS;
}

/* ---- maps.c ---- */

/* The map without the axes of the formula along which the value is the same. */
const struct imap *matcher_needed_map(struct matcher *m, const struct goal *g, uint32_t value, const struct imap *map);
/* The map of an operand of an op that broadcasts; NONE: of one that is looked through. NULL when there is none. */
const struct imap *matcher_operand_map(struct matcher *m, uint32_t op, uint32_t operand, const struct imap *map);
/* Looks through the op: the map of the value before it; NULL when it cannot be looked through. */
const struct imap *matcher_map_through(struct matcher *m, uint32_t op, const struct imap *map);
/* The goal that a search for `node` at the result of `op` begins with, over the index space `space`. NULL when the
 * shape is not known. */
struct goal *matcher_root_goal(struct matcher *m, const struct node *node, uint32_t op, uint32_t space);

/* The axis is what `dim=` of the goal's node names in the axes of the formula there, or it names none. */
bool match_axis_fits(const struct matcher *m, const struct goal *g, const struct imap *axis);

/* ---- plausible.c ---- */

/* False: the node cannot match at the value, by the ops there. */
bool matcher_may_match(const struct matcher *m, const struct node *node, uint32_t value);
/* The same; an observer wants to see why. */
bool matcher_plausible(const struct matcher *m, const struct node *node, uint32_t value);
/* The same for the op itself as the root of a line. */
bool matcher_root_plausible(const struct matcher *m, const struct node *n, uint32_t op);
/* Of the ops from first to before end, which are a function, where all ways on from each meet first: its immediate
 * postdominator. Of each op of the graph; others stay as they are. */
void matcher_meetings(const struct graph *g, uint32_t first, uint32_t end, uint32_t *meets);
/* False: a way on from the op does not lead to the root, so that some op inside would have a user outside. */
bool matcher_may_be_inside(const struct matcher *m, uint32_t op);

/* ---- finish.c ---- */

/* False when a `where` of the pattern whose names are all bound does not hold. `slot`: only those that speak of it;
 * NONE: all of them. */
bool match_where_holds(struct matcher *m, uint32_t slot);
/* A user outside of the match of an op inside; false when there is none. */
bool match_outside_user(const struct matcher *m, uint32_t *op, uint32_t *user);
/* All goals are met. MATCHED: users and conditions are as the pattern asks, too, and the match is kept. */
enum search_outcome match_finish(struct matcher *m);
/* Over a whole match of these ops. */
struct evaluation match_evaluation(struct matcher *m, const uint32_t *ops, uint32_t nops);
bool match_none_holds(struct evaluation *e, const struct number *const *conditions, uint32_t n);

/* ---- operators.c, reductions.c, contractions.c, slices.c, functions.c, rearranged.c ---- */

/* The op that `value` is a result of, if it is what the goal's node stands for, and all goals after it. */
enum search_outcome match_op(struct matcher *m, const struct goal *g, uint32_t value, const struct imap *map);
bool match_kind_fits(const struct node *node, enum op_kind kind);
/* Matches the operands of an op as if its operator were right; false where that makes no sense. */
enum search_outcome match_stand_in(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map);
/* The attribute that the op has instead of operand `role`; false when there is none of that form. */
bool match_setting(const struct matcher *m, uint32_t op, uint32_t role, char key[32], double *actual);
enum search_outcome match_reduction(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map);
enum search_outcome match_contraction(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map);
enum search_outcome match_outer(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map);
enum search_outcome match_slice(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map);
enum search_outcome match_concat(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map);
enum search_outcome match_by_values(struct matcher *m, const struct goal *g);
enum search_outcome match_rearranged(struct matcher *m, const struct goal *g);

/* ---- values.c ---- */

enum search_outcome match_variable(struct matcher *m, const struct goal *g);
enum search_outcome match_named(struct matcher *m, const struct goal *g);
enum search_outcome match_number(struct matcher *m, const struct goal *g);
enum search_outcome match_either(struct matcher *m, const struct goal *g);
/* One of the alternatives of the goal, and all goals after it. */
enum search_outcome match_alternative(struct matcher *m, const struct goal *g, const struct node *node);
enum search_outcome match_transposed(struct matcher *m, const struct goal *g);
enum search_outcome match_result(struct matcher *m, const struct goal *g);

/* ---- secondary.c, solve.c ---- */

/* The secondary roots that are left, then the end of the match. */
enum search_outcome match_secondary(struct matcher *m);
/* Searches for a pattern with its root at an op. */
bool match_at(struct matcher *m, const struct pattern *p, uint32_t op);

#endif
