/* What one line of IR begins and ends, told from its bytes. Private to the folder. */
#ifndef FA_LOG_IR_LINE_H
#define FA_LOG_IR_LINE_H

#include "base/base.h"

struct str skip_blanks(struct str t);
/* "#name = " or "!name = "; the length of the name, or 0. */
size_t alias_name(struct str t);
/* N + 1 of a line that defines "#locN", 0 for "#loc", NONE for any other line. */
uint32_t loc_alias_number(struct str t);
bool has_word(struct str t, struct str word); /* t starts with this whole word */
bool is_module(struct str t);
bool is_func(struct str t);
bool is_op(struct str t); /* with results, or in generic form */

/* Of lines behind a prefix, narrower than the above: what no line of a logger has. */
bool is_op_of_dialect(struct str t);
bool defines_alias(struct str t); /* of a location or of an attribute of a dialect */
bool closes_region(struct str t);

/* Whether a line, without its indentation, looks like one that MLIR prints. */
bool looks_like_ir(struct str t);
/* Whether it looks like a line of a logger: a date, or something in brackets or between bars, before the message. */
bool looks_logged(struct str t);
/* Brackets that it opens, less those that it closes, a string that is not closed counted as one; not the brace of a
 * region at its end. */
int64_t brackets_left_open(struct str t);
/* Braces that it opens, less those that it closes; not in strings and comments. Sets *any where it has one. */
int32_t open_braces(struct str t, bool *any);

#endif
