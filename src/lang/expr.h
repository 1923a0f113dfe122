/* Formula text as plain expressions, before names and idioms mean anything. Private to the room. */
#ifndef FA_EXPR_H
#define FA_EXPR_H

#include "lang/lex.h"

enum { MAX_ARGS = 16, MAX_LINES = 32, MAX_PAREN_DEPTH = 64 };

enum expr_kind { E_NUMBER, E_STRING, E_NAME, E_CALL, E_INFIX, E_NEG, E_EITHER };

struct expr {
    enum expr_kind kind;
    struct str text; /* the token that names it */
    double value;
    bool forced_op; /* E_CALL: `op name(...)` */
    uint32_t nargs;
    struct expr **args;
    struct str *keys; /* E_CALL: name of a named argument, or empty */
};

struct parser {
    struct arena *arena;
    struct diags *diags;
    struct str text;
    struct text_origin origin;
    struct lexer lexer;
    struct token token;
    uint32_t depth;
    bool failed;
};

enum line_kind { LINE_PLAIN, LINE_ALSO, LINE_MAYBE };

struct definition {
    struct str name; /* empty: the value of an idiom */
    enum line_kind kind;
    struct expr *expr;
};

/* One diagnostic at a piece of the text; later ones are dropped. */
void formula_fail(struct parser *p, struct str at, const char *hint, const char *what);
/* "[also|maybe] name = expression" lines up to MAX_LINES; a line without a name is the value of an idiom. */
const struct definition *formula_lines(struct parser *p, uint32_t *n);
/* "name(a, b):" of an idiom; the body starts after it. NULL with a diagnostic. */
const char *formula_idiom_head(struct parser *p, struct idiom *idiom);

#endif
