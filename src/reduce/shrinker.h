/* What the search for small extents and the rules of ops share. Private to shrink*.c.
 *
 * First every op names its numbers, then its rules over them: numbers are found by value, so that dimensions that are
 * equal are one number. */
#ifndef FA_PROVE_SHRINKER_H
#define FA_PROVE_SHRINKER_H

#include "reduce/shrink.h"

enum { MAX_RULES = 192, MAX_SIDE = 14 };

enum rule_kind { PRODUCT, SUM, AT_MOST };

/* k times (or plus) the numbers on the left, compared with the same on the right. */
struct side {
    int64_t k;
    uint32_t n;
    uint8_t number[MAX_SIDE];
};

struct rule {
    enum rule_kind kind;
    struct side side[2];
};

struct shrinker {
    const struct part *part;
    struct extents *e; /* `to` is 0 until it is chosen */
    bool fixed[MAX_EXTENTS];
    struct rule rules[MAX_RULES];
    uint32_t nrules, tries, skip;
    int64_t least[MAX_EXTENTS]; /* that is tried before what is less */
    unsigned kept;              /* relations beyond the rules */
    bool full;                  /* too many numbers or rules */
};

/* ---- shrink.c ---- */

/* A number that may become smaller; 1 and what is there already are none. */
void shrink_number(struct shrinker *s, int64_t x);
/* A number that stays, where it is one. */
void shrink_fix(struct shrinker *s, int64_t x);
void shrink_fix_shape(struct shrinker *s, uint32_t value);
struct rule *shrink_rule(struct shrinker *s, enum rule_kind kind);
/* One more factor or summand; what is no number of its own counts as it is. */
void shrink_put(struct shrinker *s, struct rule *r, int side, int64_t x);
/* The same for what always counts as it is. */
void shrink_put_constant(struct shrinker *s, struct rule *r, int side, int64_t x);

/* ---- shrink_rules.c ---- */

/* Numbers of an op that only appear between the extents: how often something is repeated, how many heads there are. */
void numbers_of_op(struct shrinker *s, uint32_t op);
void rules_of_op(struct shrinker *s, uint32_t op);
/* A whole number in an attribute; -1: there is none. */
int64_t shrink_attr(const struct graph *g, uint32_t op, const char *key);

/* ---- shrink_window.c: convolutions, pools and upsamplings of one to three spatial dimensions ---- */

bool has_window(enum op_kind k);
void numbers_of_window(struct shrinker *s, uint32_t op);
/* Batch and channels are free, the window stays, and so does the image where it is not understood. */
void rules_of_window(struct shrinker *s, uint32_t op);

#endif
