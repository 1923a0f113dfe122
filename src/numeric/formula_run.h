/* What the evaluation of formulas and that of lowerings share. Private to the room. */
#ifndef FA_FORMULA_RUN_H
#define FA_FORMULA_RUN_H

#include "numeric/evaluators.h"
#include "numeric/formula_value.h"

enum { MAX_DEPTH = 24 };

/* One evaluation of one formula. */
struct formula_run {
    struct bench *bench;
    const struct pattern_set *set;
    const struct formula *formula;
    const struct tensor *values[MAX_SLOTS][MAX_RESULTS]; /* by slot, as far as they are known */
    const struct node *named[MAX_SLOTS];                 /* the node of a named value */
    const struct lowering *inside;                       /* the lowering that the formula is, or NULL */
    const struct call *outer;                            /* the op that it stands for */
    const struct formula_like *like;                     /* or NULL */
    struct number_memo *numbers;                         /* or NULL */
    uint32_t depth;
    bool busy[MAX_SLOTS];          /* a named value that is being evaluated */
    bool bound[MAX_SLOTS];         /* given, not evaluated */
    struct formula_choice *choice; /* NULL: the first alternative that is there */
    const struct node **decided;   /* alternatives in the order in which they were asked for, where there is a choice */
    uint32_t ndecided;
};

/* The attributes of an op in a formula. */
struct formula_op {
    struct formula_run *run;
    const struct node *node;
};

/* Text of an attribute of an op in a formula, for struct call; `self` is a struct formula_op. */
bool formula_attribute(const void *self, const char *key, struct str *text);
/* An activation is what follows an op's lowering, not a part of it. */
bool is_activation_key(const char *key);
/* The results of the formula of a run whose slots are bound. */
bool run_formula(struct formula_run *r, const struct tensor *results[MAX_RESULTS]);
/* lowered.c: an op by its lowering, as a part of a run. */
bool lower(struct formula_run *r, const struct lowering *w, const struct call *c,
           const struct tensor *results[MAX_RESULTS]);

#endif
