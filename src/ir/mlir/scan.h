/* Scanning of MLIR text: character classes and jumps over balanced stretches. Private to the folder.
 *
 * All functions work on [p, end) and never read past `end`; NULL means "not well formed". */
#ifndef FA_MLIR_SCAN_H
#define FA_MLIR_SCAN_H

#include "base/base.h"

#define SCAN_DEPTH 256 /* brackets open at once; deeper text is refused */

enum { CH_BLANK = 1, CH_IDENT = 2, CH_DIGIT = 4, CH_ALPHA = 8, CH_MARK = 16 /* matters to balance */, CH_COMMA = 32 };
extern const uint8_t scan_class[256];

static inline bool scan_is(char c, int mask) {
    return (scan_class[(unsigned char)c] & mask) != 0;
}

/* From an opening bracket to one past its partner. Strings, comments and arrows inside are understood. */
const char *scan_balanced(const char *p, const char *end);
/* From an opening quote to one past the closing one. */
const char *scan_string(const char *p, const char *end);
/* From the first byte of a type to its end; p itself when there is no type. */
const char *scan_type(const char *p, const char *end);
/* Over blanks, newlines and comments. */
const char *scan_blanks(const char *p, const char *end);
static inline const char *scan_space(const char *p, const char *end) {
    p += p < end && *p == ' '; /* mostly there is nothing more */
    return p < end && (scan_is(*p, CH_BLANK) || *p == '/') ? scan_blanks(p, end) : p;
}
/* Over identifier characters. */
static inline const char *scan_ident(const char *p, const char *end) {
    while (p < end && scan_is(*p, CH_IDENT))
        p++;
    return p;
}
/* Over the name of a value or symbol, without its first byte. */
static inline const char *scan_name(const char *p, const char *end) {
    while (p < end && (scan_is(*p, CH_IDENT) || *p == '-'))
        p++;
    return p;
}
/* To the next `stop` or to a closing bracket, outside of strings and brackets; `end` when there is none. */
const char *scan_until(const char *p, const char *end, char stop);

/* Does an op with a result or a quoted name start here (after blanks)? */
bool scan_starts_op(const char *p, const char *end);
/* Does the name of an op in custom assembly start here? */
bool scan_op_word(const char *p, const char *end);

/* Walks a comma separated list at depth zero: false at its end. */
bool scan_item(const char **p, const char *end, struct str *item);

#endif
