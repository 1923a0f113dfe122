/* Valid UTF-8 out of any bytes. */
#include "base/utf8.h"

#include <string.h>

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

/* Eight bytes a step: most text has none. */
size_t utf8_ascii_end(struct str s, size_t i) {
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
    while ((i = utf8_ascii_end(s, i)) < s.n) {
        size_t length = utf8_length((const unsigned char *)s.p + i, s.n - i);
        if (length == 0)
            break;
        i += length;
    }
    return i;
}

struct str utf8_repair(struct str s, struct buf *scratch) {
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
