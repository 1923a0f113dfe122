/* What YAML can carry. libyaml itself leaves the literal style for tabs, blanks before a line break
 * or at the end, control characters, the byte order mark and everything beyond U+FFFF; this file adds
 * what it does not see: line separators that YAML 1.1 and 1.2 read differently, and plain words that
 * a reader would resolve to something else than a string. */
#include "report/text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct utf8_form {
    unsigned char mask, lead; /* first byte: (b & mask) == lead */
    uint32_t length, least;   /* bytes; smallest code point that needs them */
};

static const struct utf8_form utf8_forms[] = {
    {0x80, 0x00, 1, 0x0}, {0xE0, 0xC0, 2, 0x80}, {0xF0, 0xE0, 3, 0x800}, {0xF8, 0xF0, 4, 0x10000}};

/* Length of the valid sequence at p[0], or 0. */
static size_t utf8_length(const unsigned char *p, size_t left) {
    for (size_t f = 0; f < sizeof utf8_forms / sizeof *utf8_forms; f++) {
        const struct utf8_form *form = &utf8_forms[f];
        if ((p[0] & form->mask) != form->lead)
            continue;
        if (form->length > left)
            return 0;
        uint32_t code = (uint32_t)p[0] & ~(uint32_t)form->mask;
        for (uint32_t i = 1; i < form->length; i++) {
            if ((p[i] & 0xC0) != 0x80)
                return 0;
            code = code << 6 | (p[i] & 0x3Fu);
        }
        bool surrogate = code >= 0xD800 && code <= 0xDFFF;
        return code < form->least || code > 0x10FFFF || surrogate ? 0 : form->length;
    }
    return 0;
}

/* From `i` to the first byte that is not ASCII, eight bytes a step: most text has none. */
static size_t ascii_end(struct str s, size_t i) {
    uint64_t word;
    for (; s.n - i >= sizeof word; i += sizeof word) {
        memcpy(&word, s.p + i, sizeof word);
        if (word & 0x8080808080808080u)
            break;
    }
    while (i < s.n && !(s.p[i] & 0x80))
        i++;
    return i;
}

static size_t utf8_prefix(struct str s) {
    size_t i = 0;
    while ((i = ascii_end(s, i)) < s.n) {
        size_t length = utf8_length((const unsigned char *)s.p + i, s.n - i);
        if (length == 0)
            break;
        i += length;
    }
    return i;
}

struct str text_utf8(struct str s, struct buf *scratch) {
    size_t good = utf8_prefix(s);
    if (good == s.n)
        return s;
    scratch->n = 0;
    while (s.n > 0) {
        buf_add(scratch, (struct str){s.p, good});
        if (good < s.n) {
            buf_add(scratch, STR("\xEF\xBF\xBD"));
            good++;
        }
        s = (struct str){s.p + good, s.n - good};
        good = utf8_prefix(s);
    }
    return buf_str(scratch);
}

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
    static const char *const separators[] = {"\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"}; /* NEL, LS, PS */
    /* Two line breaks at the end would make libyaml keep the document open with a "..." line. */
    if (s.n == 0 || str_is(s, "\n") || str_ends(s, STR("\n\n")))
        return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    size_t ascii = ascii_end(s, 0);
    s = (struct str){s.p + ascii, s.n - ascii};
    for (size_t i = 0; s.n > 0 && i < sizeof separators / sizeof *separators; i++)
        if (str_find(s, str_of(separators[i])))
            return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    return YAML_LITERAL_SCALAR_STYLE;
}
