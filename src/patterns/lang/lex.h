/* Tokens of the formula language; their texts are views of the text that is scanned. */
#ifndef FA_LEX_H
#define FA_LEX_H

#include "patterns/lang/formula.h"

enum token_kind { T_END, T_LINE, T_NAME, T_NUMBER, T_STRING, T_PUNCT, T_BAD };

struct token {
    enum token_kind kind;
    struct str text;
    double value; /* T_NUMBER */
};

struct lexer {
    struct str text;
    size_t at;
    uint32_t depth; /* of brackets; a line end inside of them is no token */
};

/* The next token. A line end is T_LINE unless the next line begins with an operator that continues the expression. */
struct token lex_next(struct lexer *l);
/* Position in the pattern file of a byte of the text. */
struct source_location lex_place(struct text_origin origin, struct str whole, const char *at);

#endif
