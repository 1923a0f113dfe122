/* Compression and archives by libarchive. The first bytes decide, never a name: libarchive would take 512 NULs at the
 * begin of a log for a tar. */
#include "input/unpack/unpack.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#define ZLIB_CONST
#include <zlib.h>

#include "input/unpack/archive.h"

enum { STEP = 1 << 16, DEEPEST = 4 /* archives in archives */ };

bool refuse(struct opening *o, const char *path, const char *hint, const char *format, ...) {
    char message[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(message, sizeof message, format, ap);
    va_end(ap);
    diag_add(o->diags, SEV_ERROR, (struct source_location){.file = path}, hint, "%s", message);
    return false;
}

static bool refuse_packed(struct opening *o, const char *path, const char *why) {
    return refuse(o, path, NULL, "cannot be unpacked, and nothing of it is used: %s", why ? why : "it is cut off");
}

bool charge_bytes(struct opening *o, const char *path, size_t n) {
    if (n > o->left)
        return refuse(o, path, NULL, "takes more than %zu MB of memory, the limit for an input", o->limit >> 20);
    o->left -= n;
    return true;
}

static bool only_zeros(struct str s) {
    return s.n == 0 || (s.p[0] == 0 && memcmp(s.p, s.p + 1, s.n - 1) == 0);
}

static uint32_t little_endian(const char *p) {
    const unsigned char *u = (const unsigned char *)p;
    return u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

/* libarchive does not compare what a gzip member unpacks to with the CRC and the length (modulo 2^32) at its end: of
 * one member they are those of the text; several are unpacked once more by zlib, which compares. */
static bool gzip_is_whole(struct str packed, struct str text) {
    if (packed.n >= 18 && little_endian(packed.p + packed.n - 4) == (uint32_t)text.n &&
        little_endian(packed.p + packed.n - 8) == crc32_z(0, (const Bytef *)text.p, text.n))
        return true;
    char *out = xrealloc(NULL, STEP);
    z_stream z = {0};
    int r = inflateInit2(&z, 16 + MAX_WBITS);
    for (size_t at = 0; r == Z_OK && at < packed.n;) {
        uInt n = packed.n - at < UINT_MAX ? (uInt)(packed.n - at) : UINT_MAX;
        z.next_in = (const Bytef *)packed.p + at;
        z.avail_in = n;
        do {
            z.next_out = (Bytef *)out;
            z.avail_out = STEP;
            r = inflate(&z, Z_NO_FLUSH);
        } while (r == Z_OK && (z.avail_in > 0 || z.avail_out == 0));
        at += n - z.avail_in;
        if (r == Z_STREAM_END && at < packed.n)
            r = inflateReset(&z);
        else if (r == Z_BUF_ERROR)
            r = Z_OK; /* more is wanted */
    }
    inflateEnd(&z);
    free(out);
    if (r == Z_MEM_ERROR)
        out_of_memory();
    return r == Z_STREAM_END;
}

/* libarchive does not survive each allocation that fails (3.6 crashes, or ends the process with status 1): what it
 * takes for itself is there when it begins. */
static struct archive *new_archive(const struct libarchive *lib) {
    enum { ITS_OWN = 1 << 22 };
    free(xrealloc(NULL, ITS_OWN));
    return made(lib->archive_read_new());
}

/* What is wrong; memory is what all else may come of. */
static const char *reason_of(const struct libarchive *lib, struct archive *a) {
    check_memory(lib->archive_errno(a));
    return lib->archive_error_string(a);
}

/* The rest of an entry. */
static bool read_entry(const struct libarchive *lib, struct opening *o, const char *path, struct archive *a,
                       struct buf *b) {
    for (;;) {
        ssize_t n = lib->archive_read_data(a, buf_more(b, STEP), STEP);
        b->n -= STEP - (n > 0 ? (size_t)n : 0);
        if (n == 0)
            return true;
        if (n < 0)
            return refuse_packed(o, path, reason_of(lib, a));
        if (!charge_bytes(o, path, (size_t)n))
            return false;
    }
}

static bool decompress(const struct libarchive *lib, struct opening *o, const char *path, struct archive *a,
                       struct str packed, struct buf *b) {
    struct archive_entry *e;
    int r = lib->archive_read_next_header(a, &e);
    if (r != ARCHIVE_OK && r != ARCHIVE_EOF)
        return refuse_packed(o, path, reason_of(lib, a));
    if (lib->archive_filter_count(a) > 2)
        return refuse(o, path, "unpack it once: zcat FILE | fusion-audit -", "the file is compressed twice");
    if (r == ARCHIVE_OK && !read_entry(lib, o, path, a, b))
        return false;
    size_t used = (size_t)lib->archive_filter_bytes(a, -1);
    if (!only_zeros((struct str){packed.p + used, packed.n - used}))
        return refuse_packed(o, path, "other data follows what is compressed");
    if (lib->archive_filter_code(a, 0) == ARCHIVE_FILTER_GZIP &&
        !gzip_is_whole((struct str){packed.p, used}, buf_str(b)))
        return refuse_packed(o, path, "it is damaged, its checksum is another one");
    return true;
}

static bool is_packed(struct str b) {
    return str_starts(b, STR("\x1f\x8b")) || str_starts(b, STR("BZh")) || str_starts(b, STR("\3757zXZ")) ||
           (b.n >= 4 && (little_endian(b.p) == 0xfd2fb528 || little_endian(b.p) >> 4 == 0x184d2a5)); /* zstd */
}

/* The buffer becomes what it unpacks to; text that only begins like it stays as it is. */
static bool undo_compression(const struct libarchive *lib, struct opening *o, const char *path, struct buf *b) {
    struct archive *a = new_archive(lib);
    struct buf text = {0};
    lib->archive_read_support_filter_gzip(a);
    lib->archive_read_support_filter_bzip2(a);
    lib->archive_read_support_filter_xz(a);
    lib->archive_read_support_filter_zstd(a);
    lib->archive_read_support_format_raw(a);
    lib->archive_read_support_format_empty(a);
    check_memory(lib->archive_errno(a));
    bool ok = lib->archive_read_open_memory(a, b->p, b->n) == ARCHIVE_OK,
         packed = !ok || lib->archive_filter_count(a) > 1;
    if (!ok)
        refuse_packed(o, path, reason_of(lib, a));
    else if (packed)
        ok = decompress(lib, o, path, a, buf_str(b), &text);
    lib->archive_read_free(a);
    if (packed) {
        buf_free(b);
        *b = text;
    }
    return ok;
}

static bool is_zip(struct str b) {
    return str_starts(b, STR("PK\3\4"));
}

static bool is_tar(struct str b) {
    struct str magic = b.n >= 512 ? (struct str){b.p + 257, 8} : STR("");
    return str_eq(magic, STR("ustar\00000")) || str_eq(magic, STR("ustar  \0"));
}

static bool add_entries(const struct libarchive *lib, struct opening *o, const char *path, struct archive *a,
                        unsigned depth) {
    struct archive_entry *e;
    int r;
    while ((r = lib->archive_read_next_header(a, &e)) == ARCHIVE_OK || r == ARCHIVE_WARN) {
        const char *name = lib->archive_entry_pathname(e);
        const char *entry = arena_printf(o->diags->arena, "%s:%s", path, name ? name : "?").p;
        if (lib->archive_entry_filetype(e) != AE_IFREG || (o->only && !str_starts(str_of(o->only), str_of(entry))))
            continue;
        struct buf b = {0};
        if (!read_entry(lib, o, entry, a, &b)) {
            buf_free(&b);
            return false;
        }
        if (!unpack(o, entry, &b, depth + 1))
            return false;
    }
    return r == ARCHIVE_EOF || refuse_packed(o, path, reason_of(lib, a));
}

/* A tar ends with blocks of zeros. */
static bool is_whole(const struct libarchive *lib, struct archive *a, struct str bytes) {
    size_t used = (size_t)lib->archive_filter_bytes(a, -1);
    return is_zip(bytes) || (used >= 512 && used <= bytes.n && only_zeros((struct str){bytes.p + used - 512, 512}));
}

static bool unpack_archive(const struct libarchive *lib, struct opening *o, const char *path, struct str bytes,
                           unsigned depth) {
    struct archive *a = new_archive(lib);
    /* names are in UTF-8, whatever the locale of the process is */
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), before = utf8 ? uselocale(utf8) : (locale_t)0;
    check_memory(utf8 ? 0 : errno);
    if (is_zip(bytes))
        lib->archive_read_support_format_zip_seekable(a);
    else
        lib->archive_read_support_format_tar(a);
    lib->archive_read_set_format_option(a, NULL, "read_concatenated_archives", "1");
    check_memory(lib->archive_errno(a));
    bool ok = lib->archive_read_open_memory(a, bytes.p, bytes.n) == ARCHIVE_OK
                  ? add_entries(lib, o, path, a, depth)
                  : refuse_packed(o, path, reason_of(lib, a));
    if (ok && !is_whole(lib, a, bytes))
        ok = refuse_packed(o, path, NULL);
    lib->archive_read_free(a);
    if (utf8) {
        uselocale(before);
        freelocale(utf8);
    }
    return ok;
}

/* In 64 sums side by side, which compilers add up at once. */
static struct line_begin *index_lines(struct arena *a, struct str text) {
    struct line_begin *lines = arena_alloc(a, (text.n / SOURCE_STEP + 1) * sizeof *lines), line = {0};
    for (size_t at = 0; at + SOURCE_STEP <= text.n; at += SOURCE_STEP) {
        uint8_t sums[64] = {0};
        for (size_t i = 0; i < SOURCE_STEP; i += 64)
            for (size_t k = 0; k < 64; k++)
                sums[k] = (uint8_t)(sums[k] + (text.p[at + i + k] == '\n'));
        for (size_t k = 0; k < 64; k++)
            line.before += sums[k];
        const char *last = memrchr(text.p + at, '\n', SOURCE_STEP);
        if (last)
            line.at = (size_t)(last - text.p) + 1;
        lines[at / SOURCE_STEP + 1] = line;
    }
    return lines;
}

static void add_text(struct opening *o, const char *path, struct buf *b) {
    struct source_list *l = o->list;
    unwrap(b);
    l->items = grow(l->items, &l->cap, l->n + 1, sizeof *l->items);
    l->items[l->n++] = (struct source){path, b->p, b->n, index_lines(o->diags->arena, buf_str(b))};
    *b = (struct buf){0};
}

/* The archive library is loaded where something is packed: it brings a dozen others. */
static bool undo_packing(struct opening *o, const char *path, struct buf *b, unsigned depth, bool *is_archive) {
    struct libarchive lib;
    if (!libarchive_load(&lib))
        return refuse_packed(o, path, "libarchive is not installed");
    bool ok = !is_packed(buf_str(b)) || undo_compression(&lib, o, path, b);
    *is_archive = ok && depth < DEEPEST && (is_zip(buf_str(b)) || is_tar(buf_str(b)));
    if (*is_archive)
        ok = unpack_archive(&lib, o, path, buf_str(b), depth);
    libarchive_unload(&lib);
    return ok;
}

bool unpack(struct opening *o, const char *path, struct buf *b, unsigned depth) {
    struct str bytes = buf_str(b);
    bool ok = true, is_archive = false;
    if (is_packed(bytes) || is_zip(bytes) || is_tar(bytes))
        ok = undo_packing(o, path, b, depth, &is_archive);
    if (ok && !is_archive && b->n && (!o->only || strcmp(o->only, path) == 0))
        add_text(o, path, b);
    buf_free(b);
    return ok;
}
