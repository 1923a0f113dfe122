/* Whether a regular expression finds something in a name, often told without running it. */
#ifndef FA_REGEX_H
#define FA_REGEX_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/base.h"

/* A byte that every match has, by pcre2_pattern_info, is not in the text. Most names of a model end here. */
bool regex_is_ruled_out(const pcre2_code *re, struct str text);
/* False where matching costs too much, or `re` is NULL. */
bool regex_finds(const pcre2_code *re, struct str s);

#endif
