/* Text that is not written as plain lines in UTF-8. What only begins like it stays as it is. */
#include "input/unpack/unpack.h"

#include <string.h>

/* Appends a code point as UTF-8; there is room for four bytes. */
static size_t put_utf8(char *to, uint32_t c) {
    if (c < 0x80)
        return to[0] = (char)c, 1;
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c);
    return n;
}

static bool is_utf16(struct str b) {
    return b.n >= 2 && (memcmp(b.p, "\xff\xfe", 2) == 0 || memcmp(b.p, "\xfe\xff", 2) == 0);
}

static struct buf utf8_of_utf16(struct str b) {
    const unsigned char *p = (const unsigned char *)b.p;
    size_t low = p[0] == 0xff ? 0 : 1;
    struct buf out = {0};
    buf_more(&out, b.n / 2 * 3 + 4); /* pages beyond what is written are never touched */
    out.n = 0;
    for (size_t i = 2; i + 1 < b.n; i += 2) {
        uint32_t c = p[i + low] | (uint32_t)p[i + 1 - low] << 8;
        if ((c & 0xfc00) == 0xd800 && i + 3 < b.n) {
            uint32_t next = p[i + 2 + low] | (uint32_t)p[i + 3 - low] << 8;
            if ((next & 0xfc00) == 0xdc00) {
                c = 0x10000 + ((c & 0x3ff) << 10) + (next & 0x3ff);
                i += 2;
            }
        }
        out.n += put_utf8(out.p + out.n, c);
    }
    return out;
}

/* Four digits of base 16; false: they are none. */
static bool hex4(struct str t, uint32_t *value) {
    *value = 0;
    for (size_t i = 0; i < 4 && i < t.n; i++) {
        const char *digits = "0123456789abcdef",
                   *at = t.p[i] ? strchr(digits, t.p[i] | (t.p[i] >= 'A' ? 32 : 0)) : NULL;
        if (!at)
            return false;
        *value = *value << 4 | (uint32_t)(at - digits);
    }
    return t.n >= 4;
}

/* The character that an escape in a JSON string (RFC 8259) stands for, whose backslash is rest->p[0]. */
static uint32_t json_escape(struct str *rest) {
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    uint32_t c = rest->n > 1 ? (unsigned char)rest->p[1] : '\\', low;
    size_t n = rest->n > 1 ? 2 : 1;
    const char *at = strchr(from, (int)c);
    if (c == 'u' && hex4((struct str){rest->p + n, rest->n - n}, &c)) {
        n += 4;
        struct str next = {rest->p + n, rest->n - n};
        if ((c & 0xfc00) == 0xd800 && str_starts(next, STR("\\u")) &&
            hex4((struct str){next.p + 2, next.n - 2}, &low)) {
            c = 0x10000 + ((c & 0x3ff) << 10) + (low & 0x3ff);
            n += 6;
        }
    } else if (c && at) {
        c = (unsigned char)to[at - from];
    }
    rest->p += n;
    rest->n -= n;
    return c;
}

static const struct str log_key = {"{\"log\":\"", 8};

/* {"log":"text\n","stream":"stderr","time":"..."} */
static bool is_json_lines(struct str text) {
    struct str first = str_line(&text);
    return str_starts(first, log_key) && str_find(first, STR("\"stream\":\""));
}

/* Appends the text of one line; a long one goes on in the next one. False: it does. */
static bool add_json_line(struct buf *to, struct str line) {
    if (!str_starts(line, log_key)) {
        buf_add(to, line);
        return true;
    }
    struct str rest = {line.p + log_key.n, line.n - log_key.n};
    while (rest.n && rest.p[0] != '"') {
        if (rest.p[0] != '\\') {
            buf_addc(to, rest.p[0]);
            rest.p++, rest.n--;
            continue;
        }
        uint32_t c = json_escape(&rest);
        if (c == '\n' && rest.n && rest.p[0] == '"')
            return true;
        buf_more(to, 4);
        to->n -= 4;
        to->n += put_utf8(to->p + to->n, c);
    }
    return false;
}

/* Each line at its number: those that are joined are followed by empty ones. */
static struct buf text_of_json_lines(struct str text) {
    struct buf out = {0};
    uint32_t joined = 0;
    while (text.n) {
        bool ended = add_json_line(&out, str_line(&text));
        joined++;
        for (; ended && joined; joined--)
            buf_addc(&out, '\n');
    }
    return out;
}

static uint64_t little_endian(const char *p) {
    uint64_t v = 0;
    for (size_t i = 8; i-- > 0;)
        v = v << 8 | (unsigned char)p[i];
    return v;
}

enum { EXECUTABLE_HEAD = 56 };

/* "TTSERv00", then offset and length, from the end of this head, of the TTIR, the TTNN and the flatbuffer. */
static bool is_executable(struct str b) {
    if (b.n < EXECUTABLE_HEAD || !str_starts(b, STR("TTSERv00")))
        return false;
    for (size_t at = 8; at < EXECUTABLE_HEAD; at += 16) {
        uint64_t begin = little_endian(b.p + at), n = little_endian(b.p + at + 8), size = b.n - EXECUTABLE_HEAD;
        if (begin > size || n > size - begin)
            return false;
    }
    return true;
}

/* Both modules; the flatbuffer has the second one once more. */
static struct buf text_of_executable(struct str b) {
    struct buf out = {0};
    for (size_t at = 8; at < 40; at += 16) {
        buf_add(&out, (struct str){b.p + EXECUTABLE_HEAD + little_endian(b.p + at), little_endian(b.p + at + 8)});
        buf_addc(&out, '\n');
    }
    return out;
}

void unwrap(struct buf *b) {
    static const struct {
        bool (*is)(struct str bytes);
        struct buf (*text)(struct str bytes);
    } forms[] = {{is_utf16, utf8_of_utf16}, {is_json_lines, text_of_json_lines}, {is_executable, text_of_executable}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (!forms[i].is(buf_str(b)))
            continue;
        struct buf text = forms[i].text(buf_str(b));
        buf_free(b);
        *b = text;
    }
}
