/* What turns expressions into the nodes of a formula, shared by formula.c and number.c. Private to the room. */
#ifndef FA_BUILD_H
#define FA_BUILD_H

#include "lang/expr.h"

struct scope {
    const struct definition *lines;
    struct node *built[MAX_LINES]; /* N_NAMED of a line once it has been met */
    bool building[MAX_LINES];
    uint32_t nlines;
    const struct idiom *idiom; /* NULL: the pattern itself */
    struct node *params[6];
    struct axis_spec dim;
    struct parser *parser; /* of this text, for places */
};

struct builder {
    struct formula *f;
    struct arena *arena;   /* of what is built */
    struct arena *scratch; /* of what it is built from */
    const struct idioms *idioms;
    struct diags *diags;
    struct regexes *regexes; /* where those of conditions are kept, or NULL */
    uint32_t depth, nnodes;
    bool failed;
};

/* One diagnostic at a piece of the scope's text; later ones are dropped. */
void build_fail(struct builder *b, struct scope *s, struct str at, const char *hint, const char *what);
/* extent(...) as a number. */
const struct number *build_extent_number(struct builder *b, struct scope *s, const struct expr *e);
/* Operator of the elementwise table and of numbers for an infix sign; false when there is none. */
bool infix_operator(struct str sign, enum op_kind *op, enum number_op *number);

#endif
