/* What a line of IR starts. Private to the folder. */
#ifndef FA_LOG_SHAPE_H
#define FA_LOG_SHAPE_H

#include "base/base.h"

struct str skip_blanks(struct str t);
struct str without_return(struct str t); /* without a carriage return at its end */
/* "#name = " or "!name = "; the length of the name, or 0. */
size_t alias_name(struct str t);
/* N + 1 of a line that defines "#locN", 0 for "#loc", NONE for any other line. */
uint32_t loc_alias_number(struct str t);
bool has_word(struct str t, struct str word); /* t starts with this whole word */
bool is_module(struct str t);
bool is_func(struct str t);
bool is_op(struct str t);                   /* with results, or in generic form */
bool is_generic(struct str t);              /* an op whose name stands in quotes, with results or without */
bool begins_op(struct str t);               /* an op, a function, a module or a block */
size_t string_end(struct str t, size_t at); /* of the string that begins at t.p[at]: its closing quote, or the end */
size_t without_comment(struct str t);       /* length before a comment */
/* Open brackets and strings at the end of a line, those of regions host_function. */
bool is_unfinished(struct str t);
/* Whether the line is text that no IR at this place begins with: a title before a module, a fence around it. */
bool is_prose(struct str t);
/* Whether the line starts with blanks or with what starts an op, a block or an alias. */
bool starts_afresh(struct str t);

#endif
