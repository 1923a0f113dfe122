/* Valid UTF-8 out of any bytes, and text that a terminal only shows. */
#include "base/utf8.h"

#include "fusion_audit.h"

#include <string.h>

struct utf8_form {
    unsigned char mask, lead; /* first byte: (b & mask) == lead */
    uint32_t length, least;   /* bytes; smallest code point that needs them */
};

static const struct utf8_form utf8_forms[] = {
    {0x80, 0x00, 1, 0x0}, {0xE0, 0xC0, 2, 0x80}, {0xF0, 0xE0, 3, 0x800}, {0xF8, 0xF0, 4, 0x10000}};

/* Length of the valid sequence at p[0], or 0; the character. */
static size_t utf8_decode(const unsigned char *p, size_t left, uint32_t *character) {
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
        *character = code;
        return code < form->least || code > 0x10FFFF || surrogate ? 0 : form->length;
    }
    return 0;
}

/* Eight bytes a step: most text has no other. */
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
    uint32_t character;
    while ((i = ascii_end(s, i)) < s.n) {
        size_t length = utf8_decode((const unsigned char *)s.p + i, s.n - i, &character);
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

/* Directional marks and overrides, Unicode Standard Annex 9, table 2; U+2028 and U+2029 end lines. */
static bool is_control(uint32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x61C || c == 0x200E || c == 0x200F ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/* Eight bytes of ASCII without control characters: below 0x80, not below 0x20 and not 0x7F. */
static bool is_plain(const char *p) {
    const uint64_t ones = 0x0101010101010101u;
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return !((word | (word - 0x20 * ones) | (word + ones)) & 0x80 * ones);
}

size_t utf8_clean_end(struct str s, size_t i, const char *keep) {
    uint32_t character;
    for (size_t n; i < s.n; i += n) {
        n = sizeof(uint64_t);
        if (s.n - i >= n && is_plain(s.p + i))
            continue;
        const unsigned char *p = (const unsigned char *)s.p + i;
        n = 1;
        if (*p - 0x20u < 0x5Fu || (*p && *p < 0x20 && strchr(keep, *p)))
            continue;
        n = utf8_decode(p, s.n - i, &character);
        if (n == 0 || is_control(character))
            break;
    }
    return i;
}

struct str utf8_clean(struct str s, const char *keep, struct buf *out) {
    if (utf8_clean_end(s, 0, keep) == s.n)
        return s;
    out->n = 0;
    for (size_t i = 0, n = 0; i < s.n; i += n) {
        uint32_t character;
        size_t end = utf8_clean_end(s, i, keep);
        buf_add(out, (struct str){s.p + i, end - i});
        i = end;
        n = i < s.n ? utf8_decode((const unsigned char *)s.p + i, s.n - i, &character) : 0;
        if (n && character >= 0x7F) {
            buf_printf(out, "\\u%04X", (unsigned)character);
        } else if (i < s.n) {
            buf_printf(out, "\\x%02X", (unsigned)(unsigned char)s.p[i]);
            n = 1;
        }
    }
    return buf_str(out);
}

void print_clean(struct str s, const char *keep, FILE *out) {
    struct buf scratch = {0};
    struct str clean = utf8_clean(s, keep, &scratch);
    if (clean.n)
        fwrite(clean.p, 1, clean.n, out);
    buf_free(&scratch);
}

void fa_print_clean(const char *text, size_t n, const char *keep, FILE *out) {
    print_clean((struct str){text, n}, keep, out);
}
