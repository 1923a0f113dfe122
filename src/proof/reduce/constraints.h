/* The constraint system over the extents of a subgraph: what ops state of the dimensions of their operands and results.
 * Private to the files that make small shapes.
 *
 * Extents are variables by value: all dimensions, slice bounds and counts that are the same number are one variable.
 * What is asked of an op here is asked twice: the first time every number that occurs becomes a variable, the second
 * time constraints are made over them, by index. */
#ifndef FA_CONSTRAINTS_H
#define FA_CONSTRAINTS_H

#include "proof/reduce/shrink.h"

enum { MAX_CONSTRAINTS = 192, MAX_TERMS_OF_SIDE = 14 };

enum constraint_kind { PRODUCT, SUM, AT_MOST };

/* k times the variables (PRODUCT), or k plus the variables (SUM, AT_MOST). */
struct constraint_side {
    int64_t k;
    uint32_t n;
    uint8_t variable[MAX_TERMS_OF_SIDE];
};

/* Both sides are equal; AT_MOST: the first is not above the second. */
struct constraint {
    enum constraint_kind kind;
    struct constraint_side side[2];
};

struct constraints {
    const struct subgraph *subgraph;
    struct extents *e;       /* the variables, ascending; `to` is 0 until one is assigned */
    bool collecting;         /* the first time: variables only */
    bool fixed[MAX_EXTENTS]; /* by variable: it keeps its value, */
    bool cut[MAX_EXTENTS];   /* something is cut there, which is nowhere else then */
    struct constraint items[MAX_CONSTRAINTS];
    uint32_t n;
    bool crowded; /* too many variables, */
    bool full;    /* too many constraints or terms, or a constant overflows: no solution is looked for */
};

/* ---- constraints.c ---- */

/* Adds a variable, once; 1 and what is less are none. */
void constraints_add_extent(struct constraints *c, int64_t x);
/* The same for each dimension of a value. */
void constraints_add_shape(struct constraints *c, uint32_t value);
/* The variable keeps its value; nothing where `x` is none. */
void constraints_fix(struct constraints *c, int64_t x);
void constraints_cut(struct constraints *c, int64_t x); /* something is cut at the variable, as above */
void constraints_fix_shape(struct constraints *c, uint32_t value);
struct constraint *constraints_add(struct constraints *c, enum constraint_kind kind);
/* Multiplies or adds one more variable to a side (0, 1); a number that is none counts as a constant. */
void constraint_add_term(struct constraints *c, struct constraint *to, int side, int64_t x);
void constraint_add_constant(struct constraints *c, struct constraint *to, int side, int64_t x);
/* x * y = product; x + y = sum; x <= y. */
void constrain_product(struct constraints *c, int64_t x, int64_t y, int64_t product);
void constrain_sum(struct constraints *c, int64_t x, int64_t y, int64_t sum);
void constrain_at_most(struct constraints *c, int64_t x, int64_t y);

/* ---- constraints_of_ops.c ---- */

void constraints_of_op(struct constraints *c, uint32_t op);

/* ---- constraints_of_windows.c: convolutions, pools and upsamplings of one to three spatial dimensions ---- */

/* Batch and channels are free and the window is fixed; so is the image where its sizes are not understood. `x`, `y`:
 * the shapes of the image and the result. */
void constraints_of_window(struct constraints *c, uint32_t op, const struct shape *x, const struct shape *y);

#endif
