/* gzip by zlib and zstd by libzstd, into one anonymous mapping that doubles as it fills: pages that
 * are not written to cost nothing, and mremap moves page tables, not bytes. */
#include "source/unpack.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { FIRST_SIZE = 1 << 20, STEP_MAX = 1 << 30 };

static const char *const too_big = "it unpacks to more than the memory of this machine";
static const char *const cut_off = "the compressed data is cut off: nothing of it is used";
static const char *const no_memory = "not enough memory to unpack it";

enum packing packing_of(struct str b) {
    static const struct {
        struct str magic;
        enum packing kind;
    } known[] = {{{"\x1f\x8b", 2}, PACK_GZIP},
                 {{"\x28\xb5\x2f\xfd", 4}, PACK_ZSTD},
                 {{"\xfd"
                   "7zXZ",
                   5},
                  PACK_XZ},
                 {{"BZh", 3}, PACK_BZIP2}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_starts(b, known[i].magic))
            return known[i].kind;
    /* a skippable frame may come first */
    bool skippable = b.n >= 8 && (b.p[0] & 0xf0) == 0x50 && memcmp(b.p + 1, "\x2a\x4d\x18", 3) == 0;
    return skippable ? PACK_ZSTD : PACK_NONE;
}

size_t unpack_limit(void) {
    const uint64_t most = (uint64_t)64 << 30;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t memory = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : most;
    if (memory > most)
        memory = most;
    return memory > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)memory;
}

struct out {
    char *p;
    size_t n, cap, limit;
    const char *error;
};

static bool fail(struct out *o, const char *error) {
    o->error = error;
    return false;
}

/* Room for at least one more byte; one byte beyond the limit tells that it is exceeded. */
static bool make_room(struct out *o) {
    if (o->n > o->limit)
        return fail(o, too_big);
    if (o->n < o->cap)
        return true;
    size_t cap = o->cap ? o->cap * 2 : FIRST_SIZE;
    if (cap > o->limit + FIRST_SIZE)
        cap = o->limit + FIRST_SIZE;
    void *p = o->p ? mremap(o->p, o->cap, cap, MREMAP_MAYMOVE)
                   : mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return fail(o, no_memory);
    o->p = p;
    o->cap = cap;
    return true;
}

static unsigned step(size_t n) {
    return n < STEP_MAX ? (unsigned)n : STEP_MAX;
}

/* gzip files may be padded with zeros to the size of a tape's block. */
static bool only_zeros(const char *p, size_t n) {
    return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

static bool gunzip_members(z_stream *z, struct str in, struct out *o) {
    while (in.n > 0) {
        if (!make_room(o))
            return false;
        unsigned given = step(in.n), room = step(o->cap - o->n);
        z->next_in = (const Bytef *)in.p;
        z->avail_in = given;
        z->next_out = (Bytef *)o->p + o->n;
        z->avail_out = room;
        int code = inflate(z, Z_NO_FLUSH);
        in.p += given - z->avail_in;
        in.n -= given - z->avail_in;
        o->n += room - z->avail_out;
        if (code == Z_STREAM_END) {
            if (only_zeros(in.p, in.n))
                return o->n <= o->limit || fail(o, too_big);
            if (packing_of(in) != PACK_GZIP)
                return fail(o, "other data follows the gzip stream: it is damaged");
            if (inflateReset(z) != Z_OK)
                return fail(o, no_memory);
        } else if (code == Z_MEM_ERROR) {
            return fail(o, no_memory);
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            return fail(o, "the gzip data is damaged: nothing of it is used");
        }
    }
    /* what inflate holds back may still exceed the room, but the end of the stream is not in it */
    return fail(o, cut_off);
}

static bool gunzip(struct str in, struct out *o) {
    z_stream z = {0};
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return fail(o, no_memory);
    bool ok = gunzip_members(&z, in, o);
    inflateEnd(&z);
    return ok;
}

static bool unzstd_frames(ZSTD_DStream *z, struct str bytes, struct out *o) {
    ZSTD_inBuffer in = {bytes.p, bytes.n, 0};
    size_t left = 1;
    for (;;) {
        if (!make_room(o))
            return false;
        ZSTD_outBuffer out = {o->p, o->cap, o->n};
        size_t before = in.pos;
        left = ZSTD_decompressStream(z, &out, &in);
        if (ZSTD_isError(left))
            return fail(o, ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation
                               ? no_memory
                               : "the zstd data is damaged: nothing of it is used");
        bool moved = out.pos > o->n || in.pos > before;
        o->n = out.pos;
        if (in.pos == in.size && (left == 0 || (!moved && o->n < o->cap)))
            break;
    }
    if (left != 0)
        return fail(o, cut_off);
    return o->n <= o->limit || fail(o, too_big);
}

static bool unzstd(struct str in, struct out *o) {
    ZSTD_DStream *z = ZSTD_createDStream();
    if (!z)
        return fail(o, no_memory);
    (void)ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, 31); /* zstd --long */
    bool ok = unzstd_frames(z, in, o);
    ZSTD_freeDStream(z);
    return ok;
}

bool unpack(enum packing kind, struct str bytes, size_t limit, struct unpacked *out) {
    struct out o = {.limit = limit};
    bool ok = kind == PACK_GZIP ? gunzip(bytes, &o) : unzstd(bytes, &o);
    *out = (struct unpacked){.error = o.error};
    if (!ok || o.n == 0) {
        if (o.p)
            munmap(o.p, o.cap);
        return ok;
    }
    /* the tail of the room goes back; the mapping never moves when it shrinks */
    void *p = mremap(o.p, o.cap, o.n, 0);
    out->data = p == MAP_FAILED ? o.p : p;
    out->size = o.n;
    return true;
}

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

bool is_utf16(struct str b) {
    return b.n >= 2 && (memcmp(b.p, "\xff\xfe", 2) == 0 || memcmp(b.p, "\xfe\xff", 2) == 0);
}

char *utf8_of_utf16(struct str b, size_t *size) {
    const unsigned char *p = (const unsigned char *)b.p;
    size_t low = p[0] == 0xff ? 0 : 1, n = 0;
    char *out = xrealloc(NULL, b.n / 2 * 3 + 4); /* pages beyond what is written are never touched */
    for (size_t i = 2; i + 1 < b.n; i += 2) {
        uint32_t c = p[i + low] | (uint32_t)p[i + 1 - low] << 8;
        if ((c & 0xfc00) == 0xd800 && i + 3 < b.n) {
            uint32_t next = p[i + 2 + low] | (uint32_t)p[i + 3 - low] << 8;
            if ((next & 0xfc00) == 0xdc00) {
                c = 0x10000 + ((c & 0x3ff) << 10) + (next & 0x3ff);
                i += 2;
            }
        }
        n += put_utf8(out + n, c);
    }
    *size = n;
    return out;
}
