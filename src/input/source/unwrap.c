/* Text that is not written as plain lines in UTF-8. What only begins like it stays as it is. */
#include "input/source/unpack.h"

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
    } forms[] = {{is_utf16, utf8_of_utf16}, {is_executable, text_of_executable}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (!forms[i].is(buf_str(b)))
            continue;
        struct buf text = forms[i].text(buf_str(b));
        buf_free(b);
        *b = text;
    }
}
