/* Regular expressions of patterns (PCRE2). */
#ifndef FA_REGEX_H
#define FA_REGEX_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/base.h"

struct regex {
    struct str text;
    pcre2_code *code;
};

/* Those of a set of patterns, in its arena. */
struct regexes {
    struct regex **items;
    uint32_t n, cap;
};

/* What was compiled, which is outside of the arena; and compiles it again. */
void regexes_free(struct regexes *all);
void regexes_compile(struct regexes *all, struct arena *a);
/* The expression of this text, which is compiled once; in arena `a`, where the list of them is. NULL with a message
 * there where the text is wrong. */
const struct regex *regexes_add(struct regexes *all, struct str text, struct arena *a, const char **message);

/* Compiled, to be freed with pcre2_code_free; NULL with a message in arena `a` where the text is wrong. */
pcre2_code *regex_compile(struct str text, struct arena *a, const char **message);
/* Whether it matches somewhere in the text. False where that costs too much, or `re` is NULL. */
bool regex_finds(const struct regex *re, struct str s);

#endif
