/* Tokens of the formula language. */
#ifndef FA_LEX_H
#define FA_LEX_H

#include "lang/formula.h"

enum token_kind { T_END, T_LINE, T_NAME, T_NUMBER, T_STRING, T_PUNCT, T_BAD };

struct token {
    enum token_kind kind;
    struct str text;
    double value; /* T_NUMBER */
};

struct lexer {
    struct str text;
    size_t at;
    uint32_t depth; /* of brackets: a line end inside them is no T_LINE */
};

/* The next token. A line end is T_LINE unless the next line goes on with an infix operator. */
struct token lex_next(struct lexer *l);
/* Place in the pattern file of a piece of the text. */
struct place lex_place(struct text_origin origin, struct str whole, const char *at);

#endif
