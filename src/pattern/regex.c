#include "pattern/regex.h"

#include <string.h>

/* A letter may stand for its other case as well, and a byte beyond ASCII for part of a character. */
static bool means_itself(uint32_t unit) {
    bool letter = (unit >= 'A' && unit <= 'Z') || (unit >= 'a' && unit <= 'z');
    return unit < 128 && !letter;
}

static bool lacks(const pcre2_code *re, uint32_t type, uint32_t unit, struct str text) {
    uint32_t there = 0, c = 0;
    return pcre2_pattern_info(re, type, &there) == 0 && there == 1 && pcre2_pattern_info(re, unit, &c) == 0 &&
           means_itself(c) && (text.n == 0 || !memchr(text.p, (int)c, text.n));
}

bool regex_is_ruled_out(const pcre2_code *re, struct str text) {
    return lacks(re, PCRE2_INFO_FIRSTCODETYPE, PCRE2_INFO_FIRSTCODEUNIT, text) ||
           lacks(re, PCRE2_INFO_LASTCODETYPE, PCRE2_INFO_LASTCODEUNIT, text);
}
