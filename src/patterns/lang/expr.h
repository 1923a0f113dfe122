/* Formula text as expressions, before names are resolved and idioms expanded. Expressions are in the arena of the
 * parser and point into its text. */
#ifndef FA_EXPR_H
#define FA_EXPR_H

#include "patterns/lang/lex.h"

enum { MAX_ARGS = 20, MAX_LINES = 32, MAX_PAREN_DEPTH = 64, MAX_NODES = 4096, LAST_OF_SERIES = 16 };

enum expr_kind { E_NUMBER, E_STRING, E_NAME, E_CALL, E_INFIX, E_NEG, E_EITHER, E_LIST };

struct expr {
    enum expr_kind kind;
    struct str text; /* name, sign or literal; where diagnostics point to */
    double value;
    bool forced_op; /* E_CALL: `op name(...)`, the operator although an idiom has its name */
    bool index;     /* E_CALL: x[..., 2:32] */
    bool optional;  /* E_EITHER: x + y | x - y | x, written x [+|- y]; all have the same x and y */
    uint32_t nargs;
    struct expr **args;
    struct str *keys; /* E_CALL: names of arguments, empty for those without */
};

/* One text being parsed; zeroed but for the first lines, with lexer.text. */
struct formula_parser {
    struct arena *arena;
    struct arena *kept; /* of names that the text does not have, which live as long as what is parsed; NULL: arena */
    struct diags *diags;
    struct str text;
    struct text_origin origin;
    struct lexer lexer;
    struct token token;
    uint32_t depth; /* of parentheses */
    uint32_t nexprs;
    const char *at_end; /* a hint where the text ends within parentheses; or NULL */
    bool series;        /* a name of a series stands in it */
    bool condition;     /* it is one: its series are left to series_member */
    bool failed;
};

enum line_kind { LINE_PLAIN, LINE_ALSO, LINE_MAYBE };

struct definition {
    struct str name; /* empty: the last line of an idiom, its value */
    enum line_kind kind;
    struct expr *expr;
};

/* A diagnostic at a piece of the text; only the first counts. */
void formula_fail(struct formula_parser *p, struct str at, const char *hint, const char *what);
/* All lines of the text, "[also|maybe] name = expression", at most MAX_LINES; a line without a name is the value of an
 * idiom. A line that defines a series stands there once for each of its names, a series among the arguments of another
 * one is all of them. Check p->failed. */
struct definition *formula_lines(struct formula_parser *p, uint32_t *n);
/* Series of names: `w4..` stands for w4, w5 and so on, up to w16. How many the first series in an expression has; 1
 * where there is none. */
uint32_t series_size(struct formula_parser *p, const struct expr *e);
/* A copy of the expression with name `i` of each series, counted from 0. */
struct expr *series_member(struct formula_parser *p, const struct expr *e, uint32_t i);
/* Reads "name(a, b):" or "op name(a, b):". Where the body begins; NULL with a diagnostic. */
const char *formula_definition_head(struct formula_parser *p, struct idiom *definition);

#endif
