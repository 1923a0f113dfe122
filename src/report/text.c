/* Scalar styles. libyaml itself avoids the literal style for tabs, blanks before a line break or at the end, control
 * characters, the byte order mark and everything beyond U+FFFF. This file adds what libyaml does not check: line
 * separators that YAML 1.1 and 1.2 treat differently, what has to be escaped for a terminal, and plain words that
 * resolve to a boolean or null (YAML 1.1, section 10). */
#include "report/text.h"

#include "base/utf8.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool name_char(char c) {
    return isalnum((unsigned char)c) || (c && strchr("._-/+", c));
}

yaml_scalar_style_t text_name_style(struct str s) {
    /* The words that YAML 1.1 readers take for booleans and null; numbers and dates start with no letter. */
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"};
    bool relative = str_starts(s, STR("./")) || str_starts(s, STR("../"));
    if (s.n == 0 || !(relative || isalpha((unsigned char)s.p[0]) || s.p[0] == '/' || s.p[0] == '_'))
        return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    for (size_t i = 0; i < s.n; i++)
        if (!name_char(s.p[i]))
            return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (s.n == strlen(words[i]) && strncasecmp(s.p, words[i], s.n) == 0)
            return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    return YAML_PLAIN_SCALAR_STYLE;
}

yaml_scalar_style_t text_block_style(struct str s) {
    /* Two line breaks at the end would make libyaml keep the document open with a "..." line. */
    if (s.n == 0 || str_is(s, "\n") || str_ends(s, STR("\n\n")))
        return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    return utf8_clean_end(s, 0, "\n") < s.n ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_LITERAL_SCALAR_STYLE;
}
