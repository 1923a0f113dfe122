/* From expressions to nodes: shared by build.c, parse_formula.c and parse_condition.c. Private to the folder. */
#ifndef FA_BUILD_H
#define FA_BUILD_H

#include "patterns/lang/expr.h"

/* What the names in a text mean: those of the lines of a formula, or of one use of an idiom. */
struct formula_scope {
    const struct definition *lines;
    struct node *built[MAX_LINES]; /* N_NAMED node of a line, once something has used it */
    bool building[MAX_LINES];      /* its own expression must not use it */
    uint32_t nlines;
    const struct idiom *idiom;              /* NULL: the formula itself */
    struct node *params[MOST_IDIOM_PARAMS]; /* arguments of the idiom, or of a definition of a condition */
    struct axis_spec dim;                   /* the idiom's argument `dim` */
    struct formula_parser *parser;          /* of this text: for diagnostics */
};

/* Ops with attributes, from the last one built. */
struct attributed {
    struct node *op;
    const struct attributed *before;
};

struct builder {
    struct formula *f;
    struct arena *arena;   /* of nodes and numbers; lives as long as the formula */
    struct arena *scratch; /* of expressions and scopes; freed when the formula is built */
    const struct idioms *idioms;
    struct diags *diags;
    struct condition_parts *parts; /* of conditions; NULL: none are allowed */
    uint32_t depth, nnodes;        /* of idioms inside of each other; of the whole formula */
    struct attributed *attributed; /* the last op with attributes */
    bool form;                     /* it is a fused form */
    bool failed;
};

/* A diagnostic at a piece of the scope's text; only the first counts. */
void build_fail(struct builder *b, struct formula_scope *s, struct str at, const char *hint, const char *what);
/* The N_NAMED node of line i, which is used at `at`. */
struct node *build_line(struct builder *b, struct formula_scope *s, uint32_t i, struct str at);
/* Fills in node.any and node.kinds, operands first; shared nodes are visited once. */
void node_set_kinds(struct node *n);
/* extent(...) as a number. */
const struct number *build_extent_number(struct builder *b, struct formula_scope *s, const struct expr *e);

#endif
