/* The promises of src/source. */
#include "base/work.h"
#include "source/source.h"
#include "source/unpack.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

static struct arena arena;
static struct diags diags;

static void setup(void) {
    arena = (struct arena){0};
    diags = (struct diags){.arena = &arena};
}

static void teardown(void) {
    diags_free(&diags);
    arena_free(&arena);
}

TestSuite(source, .init = setup, .fini = teardown);

static const char *write_file(const char *data, size_t n) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/fa-source-%d", (int)getpid());
    FILE *f = fopen(path, "wb");
    fwrite(data, 1, n, f);
    fclose(f);
    return path;
}

Test(source, maps_a_file) {
    struct source s;
    const char *path = write_file("one\ntwo\n", 8);
    cr_assert(source_open(&s, path, &diags));
    cr_assert(s.mapped);
    cr_assert_eq(s.size, 8);
    cr_assert_eq(memcmp(s.data, "one\ntwo\n", 8), 0);
    source_close(&s);
    unlink(path);
    cr_assert_eq(diags.n, 0);
}

Test(source, reads_a_pipe) {
    struct source s;
    char path[64];
    snprintf(path, sizeof path, "/tmp/fa-fifo-%d", (int)getpid());
    cr_assert_eq(mkfifo(path, 0600), 0);
    if (fork() == 0) {
        FILE *f = fopen(path, "wb");
        for (int i = 0; i < 100000; i++)
            fputs("0123456789", f);
        fclose(f);
        _exit(0);
    }
    cr_assert(source_open(&s, path, &diags));
    cr_assert_not(s.mapped);
    cr_assert_eq(s.size, 1000000);
    source_close(&s);
    unlink(path);
}

Test(source, places_in_any_order) {
    struct source s;
    const char *path = write_file("a\nbcd\n\nx", 8);
    cr_assert(source_open(&s, path, &diags));
    static const struct {
        size_t offset;
        uint64_t line;
        uint32_t column;
    } want[] = {{0, 1, 1}, {1, 1, 2}, {2, 2, 1}, {4, 2, 3}, {6, 3, 1}, {7, 4, 1},
                {8, 4, 2}, {4, 2, 3}, {0, 1, 1}, {7, 4, 1}, {6, 3, 1}, {99, 4, 2}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct source_location p = source_place(&s, want[i].offset);
        cr_assert_eq(p.line, want[i].line, "offset %zu: line %d", want[i].offset, (int)p.line);
        cr_assert_eq(p.column, want[i].column, "offset %zu: column %d", want[i].offset, (int)p.column);
        cr_assert_str_eq(p.file, path);
    }
    source_close(&s);
    unlink(path);
}

static void refused(const char *path, const char *word) {
    struct source s;
    cr_assert_not(source_open(&s, path, &diags));
    cr_assert_eq(diags.n, 1);
    cr_assert_eq(diags.errors, 1);
    cr_assert_not_null(strcasestr(diags.items[0].message, word), "%s", diags.items[0].message);
    cr_assert_str_eq(diags.items[0].file, path);
}

Test(source, refuses_what_is_missing) {
    refused("/nonexistent/file.mlir", "no such file");
}

Test(source, refuses_a_directory) {
    refused("/tmp", "directory");
}

Test(source, refuses_an_empty_file) {
    refused(write_file("", 0), "empty");
}

Test(source, refuses_an_empty_device) {
    refused("/dev/null", "empty");
}

static struct buf gz(const char *text, size_t n) {
    struct buf b = {0};
    z_stream z = {0};
    cr_assert_eq(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    b.cap = deflateBound(&z, n);
    b.p = malloc(b.cap);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (unsigned)n;
    z.next_out = (Bytef *)b.p;
    z.avail_out = (unsigned)b.cap;
    cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    b.n = z.total_out;
    deflateEnd(&z);
    return b;
}

static struct buf zst(const char *text, size_t n) {
    struct buf b = {.p = malloc(ZSTD_compressBound(n)), .cap = ZSTD_compressBound(n)};
    b.n = ZSTD_compress(b.p, b.cap, text, n, 3);
    cr_assert_not(ZSTD_isError(b.n));
    return b;
}

static struct buf (*const packers[])(const char *, size_t) = {gz, zst};

static struct buf many_lines(void) {
    struct buf b = {0};
    for (int i = 0; i < 200000; i++)
        buf_printf(&b, "line %d of a text that is longer than the first room\n", i);
    return b;
}

static void opens_as_text(struct str bytes, struct str want) {
    struct source s;
    const char *path = write_file(bytes.p, bytes.n);
    cr_assert(source_open(&s, path, &diags), "%s", diags.n ? diags.items[0].message : "");
    cr_assert(str_eq((struct str){s.data, s.size}, want), "%zu bytes and not %zu", s.size, want.n);
    source_close(&s);
    unlink(path);
}

Test(source, unpacks) {
    struct buf text = many_lines();
    for (size_t i = 0; i < 2; i++) {
        struct buf one = packers[i](text.p, text.n), first = packers[i](text.p, 12345),
                   rest = packers[i](text.p + 12345, text.n - 12345), none = packers[i]("", 0);
        opens_as_text(buf_str(&one), buf_str(&text));
        buf_add(&first, buf_str(&none));
        buf_add(&first, buf_str(&rest));
        opens_as_text(buf_str(&first), buf_str(&text)); /* several members or frames */
        if (i == 0)
            buf_add(&one, (struct str){"\0\0\0\0\0\0", 6}); /* padding */
        else
            buf_add(&one, (struct str){"\x53\x2a\x4d\x18\x02\0\0\0xx", 10}); /* a frame to skip */
        opens_as_text(buf_str(&one), buf_str(&text));
        buf_free(&one), buf_free(&first), buf_free(&rest), buf_free(&none);
    }
    buf_free(&text);
}

Test(source, unpacks_standard_input) {
    struct buf packed = gz("hello\n", 6);
    int fd[2];
    struct source s;
    cr_assert_eq(pipe(fd), 0);
    cr_assert_eq(write(fd[1], packed.p, packed.n), (ssize_t)packed.n);
    close(fd[1]);
    dup2(fd[0], STDIN_FILENO);
    cr_assert(source_open(&s, "-", &diags));
    cr_assert(str_eq((struct str){s.data, s.size}, STR("hello\n")));
    source_close(&s);
    buf_free(&packed);
}

/* A file that is cut off at any length is refused. */
Test(source, refuses_what_is_cut_off) {
    for (size_t i = 0; i < 2; i++) {
        struct buf packed = packers[i]("some text some text some text\n", 30);
        for (size_t n = 4; n < packed.n; n++) {
            diags_free(&diags);
            diags.errors = 0;
            refused(write_file(packed.p, n), "cut off");
        }
        buf_free(&packed);
    }
}

Test(source, refuses_what_is_damaged) {
    for (size_t i = 0; i < 2; i++) {
        struct buf text = many_lines(), packed = packers[i](text.p, text.n), more = packers[i]("x", 1);
        packed.p[packed.n / 2] ^= 0x55;
        packed.p[packed.n / 2 + 1] ^= 0x55;
        refused(write_file(packed.p, packed.n), "damaged");
        diags_free(&diags);
        diags.errors = 0;
        buf_add(&more, STR("plain text after it"));
        refused(write_file(more.p, more.n), "damaged");
        diags_free(&diags);
        diags.errors = 0;
        buf_free(&text), buf_free(&packed), buf_free(&more);
    }
}

Test(source, refuses_to_unpack_to_nothing_or_twice) {
    struct buf none = zst("", 0), once = gz("text", 4), twice = zst(once.p, once.n);
    refused(write_file(none.p, none.n), "empty");
    diags_free(&diags);
    diags.errors = 0;
    refused(write_file(twice.p, twice.n), "twice");
    buf_free(&none), buf_free(&once), buf_free(&twice);
}

Test(source, unpacks_no_more_than_the_limit) {
    struct buf text = many_lines();
    for (size_t i = 0; i < 2; i++) {
        struct unpacked u;
        struct buf packed = packers[i](text.p, text.n);
        enum packing kind = packing_of(buf_str(&packed));
        cr_assert_not(unpack(kind, buf_str(&packed), text.n - 1, &u));
        cr_assert_null(u.data);
        cr_assert_not_null(strstr(u.error, "memory"));
        cr_assert(unpack(kind, buf_str(&packed), text.n, &u));
        cr_assert_eq(u.size, text.n);
        munmap(u.data, u.size);
        buf_free(&packed);
    }
    buf_free(&text);
}

Test(source, names_the_tool_for_compressed_input) {
    const char *path = write_file("BZh91AY&SY", 10);
    refused(path, "bzip2");
    cr_assert_not_null(strstr(diags.items[0].hint, "bzip2 -dc"));
}

Test(source, reads_utf16) {
    static const struct str want = {"a\nb\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 12};
    opens_as_text((struct str){"\xff\xfe"
                               "a\0\n\0b\0\xe9\0\xac\x20\x3d\xd8\x00\xde\0",
                               17},
                  want); /* half a unit at the end is dropped */
    opens_as_text((struct str){"\xfe\xff\0a\0\n\0b\0\xe9\x20\xac\xd8\x3d\xde\x00", 16}, want);
}

enum { PLACES = 20000, LINE_BYTES = 7 };

struct asked {
    struct source source;
    char text[PLACES];
    bool right[PLACES];
};

static void ask_place(void *context, uint32_t i, uint32_t slot) {
    struct asked *a = context;
    size_t offset = i % 2 ? i : PLACES - 1 - i; /* alternately from the end and from the begin */
    (void)slot;
    struct source_location at = source_place(&a->source, offset);
    a->right[i] = at.line == offset / LINE_BYTES + 1 && at.column == offset % LINE_BYTES + 1;
}

Test(source, threads_ask_for_places) {
    static struct asked a;
    for (size_t i = 0; i < PLACES; i++)
        a.text[i] = i % LINE_BYTES == LINE_BYTES - 1 ? '\n' : 'x';
    a.source = (struct source){.path = "x", .data = a.text, .size = PLACES, .line_cache_line = 1};
    for (int round = 0; round < 5; round++) {
        work_run(PLACES, 4, ask_place, &a);
        for (size_t i = 0; i < PLACES; i++)
            cr_assert(a.right[i], "place %zu", i);
    }
}
