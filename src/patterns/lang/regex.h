/* Regular expressions of patterns (PCRE2). */
#ifndef FA_REGEX_H
#define FA_REGEX_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/base.h"

/* Compiled expressions that live as long as a set of patterns. */
struct regexes {
    struct regex {
        struct str text;
        pcre2_code *code;
    } * items;
    uint32_t n, cap;
};

void regexes_free(struct regexes *all);
/* The expression of this text, which is compiled once and has to live as long as they do; NULL with a message in arena
 * `a` where the text is wrong. */
const pcre2_code *regexes_add(struct regexes *all, struct str text, struct arena *a, const char **message);

/* Compiled, to be freed with pcre2_code_free; NULL with a message in arena `a` where the text is wrong. */
pcre2_code *regex_compile(struct str text, struct arena *a, const char **message);
/* Whether it matches somewhere in the text. False where that costs too much, or `re` is NULL. */
bool regex_finds(const pcre2_code *re, struct str s);

#endif
