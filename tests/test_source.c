/* The promises of src/source. */
#include "input/unpack/source.h"
#include "input/unpack/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <criterion/criterion.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct arena arena;
static struct diags diags;
static char written[64]; /* a path */

static void setup(void) {
    snprintf(written, sizeof written, "/tmp/fa-source-%d", (int)getpid());
    arena = (struct arena){0};
    diags = (struct diags){.arena = &arena};
}

static void teardown(void) {
    unlink(written);
    diags_free(&diags);
    arena_free(&arena);
}

TestSuite(source, .init = setup, .fini = teardown);

static const char *write_file(const char *data, size_t n) {
    unlink(written); /* to write over a file takes long on some file systems */
    FILE *f = fopen(written, "wb");
    fwrite(data, 1, n, f);
    fclose(f);
    return written;
}

Test(source, reads_a_file) {
    struct source s;
    const char *path = write_file("one\ntwo\n", 8);
    cr_assert(source_open(&s, path, &diags));
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
    cr_assert(str_starts(str_of(diags.items[0].file), str_of(path)), "%s", diags.items[0].file);
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

static void write_all(struct archive *a, unsigned kind, const char *name, struct str text) {
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname(e, name);
    archive_entry_set_filetype(e, kind);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_size(e, kind == AE_IFREG ? (la_int64_t)text.n : 0);
    if (kind == AE_IFLNK)
        archive_entry_set_symlink(e, "target.mlir");
    cr_assert_eq(archive_write_header(a, e), ARCHIVE_OK, "%s", archive_error_string(a));
    if (kind == AE_IFREG)
        cr_assert_eq(archive_write_data(a, text.p, text.n), (la_ssize_t)text.n);
    archive_entry_free(e);
}

static la_ssize_t add_packed(struct archive *a, void *to, const void *p, size_t n) {
    (void)a;
    buf_add(to, (struct str){p, n});
    return (la_ssize_t)n;
}

static struct archive *packer(struct buf *b, int filter, int format, const char *level) {
    setlocale(LC_ALL, "C.UTF-8"); /* names are in it; reading needs no locale */
    struct archive *a = archive_write_new();
    archive_write_add_filter(a, filter);
    archive_write_set_format(a, format);
    archive_write_set_bytes_in_last_block(a, 1);
    if (level)
        cr_assert_eq(archive_write_set_filter_option(a, NULL, "compression-level", level), ARCHIVE_OK);
    cr_assert_eq(archive_write_open(a, b, NULL, add_packed, NULL), ARCHIVE_OK);
    return a;
}

enum { NFILTERS = 4 };
static const int filters[NFILTERS] = {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_XZ,
                                      ARCHIVE_FILTER_ZSTD};

static struct buf pack(int filter, struct str text) {
    struct buf b = {0};
    struct archive *a = packer(&b, filter, ARCHIVE_FORMAT_RAW, NULL);
    write_all(a, AE_IFREG, "data", text);
    cr_assert_eq(archive_write_free(a), ARCHIVE_OK);
    setlocale(LC_ALL, "C");
    return b;
}

struct entry {
    const char *name;
    struct str text;
    unsigned kind; /* 0: a file */
};

static struct buf archive_of(int format, const struct entry *entries, size_t n) {
    struct buf b = {0};
    struct archive *a = packer(&b, ARCHIVE_FILTER_NONE, format, NULL);
    for (size_t i = 0; i < n; i++)
        write_all(a, entries[i].kind ? entries[i].kind : AE_IFREG, entries[i].name, entries[i].text);
    cr_assert_eq(archive_write_free(a), ARCHIVE_OK);
    setlocale(LC_ALL, "C");
    return b;
}

static const int formats[2] = {ARCHIVE_FORMAT_TAR_PAX_RESTRICTED, ARCHIVE_FORMAT_ZIP};

static struct buf many_lines(void) {
    struct buf b = {0};
    for (unsigned i = 0; i < 5000; i++)
        buf_printf(&b, "line %u of a text with %u numbers\n", i, i * 2654435761u);
    return b;
}

static void forget_diags(void) {
    diags_free(&diags);
    diags = (struct diags){.arena = &arena};
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
    for (size_t i = 0; i < NFILTERS; i++) {
        struct buf one = pack(filters[i], buf_str(&text)), first = pack(filters[i], (struct str){text.p, 12345}),
                   rest = pack(filters[i], (struct str){text.p + 12345, text.n - 12345});
        opens_as_text(buf_str(&one), buf_str(&text));
        buf_add(&first, buf_str(&rest)); /* several members or frames */
        opens_as_text(buf_str(&first), buf_str(&text));
        buf_free(&one), buf_free(&first), buf_free(&rest);
    }
    struct buf padded = pack(ARCHIVE_FILTER_GZIP, buf_str(&text));
    buf_add(&padded, (struct str){"\0\0\0\0\0\0", 6});
    opens_as_text(buf_str(&padded), buf_str(&text));
    buf_free(&text), buf_free(&padded);
}

/* What looks like the end of one member and the begin of the next at each eleventh byte, and is stored as it is: a CRC
 * at each of them took a minute. */
Test(source, unpacks_what_looks_like_many_members, .timeout = 10) {
    struct buf text = {0}, packed = {0};
    while (text.n < 1000000)
        buf_add(&text, (struct str){"\n%%%\x20\xa1\x07\0\x1f\x8b\x08", 11});
    struct archive *a = packer(&packed, ARCHIVE_FILTER_GZIP, ARCHIVE_FORMAT_RAW, "0");
    write_all(a, AE_IFREG, "data", buf_str(&text));
    cr_assert_eq(archive_write_free(a), ARCHIVE_OK);
    cr_assert_gt(packed.n, text.n);
    struct buf member = pack(ARCHIVE_FILTER_GZIP, STR("the end\n"));
    buf_add(&packed, buf_str(&member));
    buf_add(&packed, (struct str){"\0\0\0\0", 4});
    buf_add(&text, STR("the end\n"));
    opens_as_text(buf_str(&packed), buf_str(&text));
    buf_free(&text), buf_free(&packed), buf_free(&member);
}

Test(source, unpacks_standard_input) {
    struct buf packed = pack(ARCHIVE_FILTER_GZIP, STR("hello\n"));
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

/* Refused at whichever length, also at the end of a member. */
Test(source, refuses_what_is_cut_off) {
    for (size_t i = 0; i < NFILTERS; i++) {
        struct buf packed = pack(filters[i], STR("some text 1827364 with 9182734 numbers 7364\n"));
        for (size_t n = 24; n < packed.n; n += 3) {
            forget_diags();
            refused(write_file(packed.p, n), "cannot be unpacked");
        }
        buf_free(&packed);
    }
    struct buf text = many_lines();
    const struct entry entries[] = {{"a.mlir", buf_str(&text), 0}, {"b.mlir", STR("b\n"), 0}};
    for (size_t i = 0; i < 2; i++) {
        struct buf packed = archive_of(formats[i], entries, 2);
        for (size_t n = 512; n + 1024 < packed.n; n += n % 512 == 511 ? 1 : 511) {
            forget_diags();
            refused(write_file(packed.p, n), "cannot be unpacked");
        }
        buf_free(&packed);
    }
    buf_free(&text);
}

/* Whichever bit is damaged: it is refused, or nothing is lost. libarchive alone lets a damaged gzip pass. Not of zstd,
 * which libarchive packs without a checksum. */
Test(source, refuses_what_is_damaged) {
    struct buf all = many_lines();
    struct str text = {all.p, 3000};
    for (size_t i = 0; i < NFILTERS && filters[i] != ARCHIVE_FILTER_ZSTD; i++) {
        struct buf packed = pack(filters[i], text), member = pack(filters[i], text);
        size_t nrefused = 0, n = packed.n;
        buf_add(&packed, buf_str(&member));
        buf_free(&member);
        for (size_t at = 10; at < 2 * n; at += 5) {
            if (at >= n && at < n + 10)
                continue;
            struct source s;
            packed.p[at] = (char)(packed.p[at] ^ 1 << at % 8);
            const char *path = write_file(packed.p, packed.n);
            if (!source_open(&s, path, &diags)) {
                nrefused++;
            } else {
                cr_assert(s.size == 2 * text.n && memcmp(s.data, text.p, text.n) == 0 &&
                              memcmp(s.data + text.n, text.p, text.n) == 0,
                          "filter %zu, byte %zu", i, at);
                source_close(&s);
            }
            packed.p[at] = (char)(packed.p[at] ^ 1 << at % 8);
        }
        cr_assert_gt(nrefused, n / 5);
        forget_diags();
        buf_add(&packed, STR("plain text after it"));
        refused(write_file(packed.p, packed.n), "cannot be unpacked");
        forget_diags();
        buf_free(&packed);
    }
    buf_free(&all);
}

Test(source, refuses_to_unpack_to_nothing_or_twice) {
    struct buf none = pack(ARCHIVE_FILTER_ZSTD, STR("")), once = pack(ARCHIVE_FILTER_GZIP, STR("text")),
               twice = pack(ARCHIVE_FILTER_ZSTD, buf_str(&once));
    refused(write_file(none.p, none.n), "empty");
    forget_diags();
    refused(write_file(twice.p, twice.n), "twice");
    buf_free(&none), buf_free(&once), buf_free(&twice);
}

/* What other readers, or libarchive with all its formats, take for something else. */
Test(source, takes_text_for_text) {
    char nuls[2048] = {0}, ustar[600];
    memcpy(nuls + 1500, "\nmodule {}\n", 11);
    memset(ustar, 'x', sizeof ustar);
    memcpy(ustar + 257, "ustar  0000", 11);
    const struct str texts[] = {{nuls, sizeof nuls},
                                {ustar, sizeof ustar},
                                STR("BZh9 is a name\n"),
                                STR("PK is no zip\n"),
                                STR("#mtree\n. type=dir\n"),
                                STR("#!/bin/sh\n# This is a shell archive\n"),
                                STR("!<arch>\n"),
                                STR("070707000000\n"),
                                STR("WARC/1.0\r\n"),
                                STR("xar!\n"),
                                STR("Rar!\n"),
                                STR("begin 644 a.mlir\n"),
                                STR("\x1f\x8b"),
                                STR("x")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        opens_as_text(texts[i], texts[i]);
}

Test(source, takes_archives_apart) {
    struct buf packed = pack(ARCHIVE_FILTER_ZSTD, STR("packed\n"));
    const struct entry inner[] = {{"deep.mlir", STR("deep\n"), 0}};
    struct buf nested = archive_of(ARCHIVE_FORMAT_ZIP, inner, 1);
    const struct entry entries[] = {
        {"dir", STR(""), AE_IFDIR},       {"dir/a.mlir", STR("first\n"), 0},      {"empty", STR(""), 0},
        {"link.mlir", STR(""), AE_IFLNK}, {"b\xc3\xa9.mlir", STR("second\n"), 0}, {"c.mlir.zst", buf_str(&packed), 0},
        {"in.zip", buf_str(&nested), 0}};
    static const struct {
        const char *name, *text;
    } want[] = {{":dir/a.mlir", "first\n"},
                {":b\xc3\xa9.mlir", "second\n"},
                {":c.mlir.zst", "packed\n"},
                {":in.zip:deep.mlir", "deep\n"}};
    for (size_t i = 0; i < 2 * NFILTERS; i++) {
        struct buf plain = archive_of(formats[i % 2], entries, 7), b = pack(filters[i / 2], buf_str(&plain));
        struct buf *as[] = {&plain, &b};
        for (size_t k = 0; k < 2; k++) {
            struct source_list list = {0};
            const char *path = write_file(as[k]->p, as[k]->n);
            cr_assert(source_read(&list, &(struct fa_inputs){.files = &path, .nfiles = 1, .max_input = 0}, 0, &diags),
                      "%s", diags.n ? diags.items[0].message : "");
            cr_assert_eq(list.n, 4);
            for (uint32_t n = 0; n < 4; n++) {
                struct source one;
                cr_assert(str_starts(str_of(list.items[n].path), str_of(path)));
                cr_assert_str_eq(list.items[n].path + strlen(path), want[n].name);
                cr_assert(str_is((struct str){list.items[n].data, list.items[n].size}, want[n].text));
                cr_assert(source_open(&one, list.items[n].path, &diags));
                cr_assert(str_is((struct str){one.data, one.size}, want[n].text));
                source_close(&one);
                source_close(&list.items[n]);
            }
            free(list.items);
        }
        buf_free(&plain), buf_free(&b);
    }
    buf_free(&packed), buf_free(&nested);
}

Test(source, says_what_it_misses_in_an_archive) {
    const struct entry entries[] = {{"a", STR("a\n"), 0}, {"b", STR("b\n"), 0}};
    struct buf b = archive_of(formats[0], entries, 2),
               none = archive_of(formats[1], &(struct entry){"a", STR(""), 0}, 1);
    const char *path = write_file(b.p, b.n), *c = arena_printf(&arena, "%s:c", path).p;
    refused(path, "an archive of 2 files");
    cr_assert(str_ends(str_of(diags.items[0].hint), STR(":a")));
    forget_diags();
    refused(c, "no such file in the archive");
    forget_diags();
    refused(write_file(none.p, none.n), "empty");
    forget_diags();
    refused("/nonexistent:a", "no such file");
    buf_free(&b), buf_free(&none);
}

/* 8 MB of zeros in a few kB, in archives too. */
Test(source, holds_no_more_than_the_limit) {
    char *bytes_of_zeros = calloc(8, 1 << 20);
    struct str zeros = {bytes_of_zeros, (size_t)8 << 20};
    const struct entry entries[] = {{"small", STR("a\n"), 0}, {"big", zeros, 0}};
    struct source_list list = {0};
    for (size_t i = 0; i < NFILTERS + 3; i++) {
        struct buf tar = archive_of(formats[i > NFILTERS], entries, 2);
        struct buf b = i < NFILTERS ? pack(filters[i], zeros) : i == NFILTERS ? pack(filters[0], buf_str(&tar)) : tar;
        struct str bytes = i == NFILTERS + 2 ? zeros : buf_str(&b);
        const char *path = write_file(bytes.p, bytes.n);
        cr_assert_not(source_read(&list, &(struct fa_inputs){.files = &path, .nfiles = 1, .max_input = 7}, 0, &diags));
        cr_assert_eq(list.n, 0);
        cr_assert_not_null(strstr(diags.items[0].message, "7 MB"), "%s", diags.items[0].message);
        forget_diags();
        cr_assert(source_read(&list, &(struct fa_inputs){.files = &path, .nfiles = 1, .max_input = 30}, 0, &diags),
                  "%s", diags.n ? diags.items[0].message : "");
        while (list.n)
            source_close(&list.items[--list.n]);
        if (b.p != tar.p)
            buf_free(&b);
        buf_free(&tar);
        unlink(path);
    }
    free(list.items);
    free(bytes_of_zeros);
}

/* What happens to the file after the first read: this `read` takes the place of that of libc. */
static void (*meanwhile)(const char *path);
static const char *read_path;

ssize_t read(int fd, void *to, size_t n) {
    ssize_t got = (ssize_t)syscall(SYS_read, fd, to, n);
    void (*now)(const char *) = meanwhile;
    meanwhile = NULL;
    if (now)
        now(read_path);
    return got;
}

static void cut(const char *path) {
    cr_assert_eq(truncate(path, 3), 0);
}

static void append(const char *path) {
    FILE *f = fopen(path, "a");
    fputs("more\n", f);
    fclose(f);
}

static void overwrite(const char *path) {
    FILE *f = fopen(path, "r+");
    fputs("ONE", f);
    fclose(f);
}

static void replace(const char *path) {
    const char *other = arena_printf(&arena, "%s.new", path).p;
    FILE *f = fopen(other, "w");
    fputs("one\ntwo\n", f);
    fclose(f);
    cr_assert_eq(rename(other, path), 0);
}

static void leave(const char *path) {
    struct stat st;
    cr_assert_eq(stat(path, &st), 0);
}

Test(source, refuses_a_file_that_changes) {
    static void (*const changes[])(const char *) = {cut, append, overwrite, replace, leave};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct source s;
        read_path = write_file("one\ntwo\n", 8);
        usleep(20000); /* older kernels have file times in steps of 10 ms */
        meanwhile = changes[i];
        forget_diags();
        bool ok = source_open(&s, read_path, &diags);
        cr_assert_eq(ok, changes[i] == leave, "change %zu", i);
        if (ok)
            source_close(&s);
        else
            cr_assert_str_eq(diags.items[0].message, "the file changed while it was read");
        unlink(read_path);
    }
}

Test(source, reads_utf16) {
    static const struct str want = {"a\nb\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 12};
    opens_as_text((struct str){"\xff\xfe"
                               "a\0\n\0b\0\xe9\0\xac\x20\x3d\xd8\x00\xde\0",
                               17},
                  want); /* half a unit at the end is dropped */
    opens_as_text((struct str){"\xfe\xff\0a\0\n\0b\0\xe9\x20\xac\xd8\x3d\xde\x00", 16}, want);
}

/* Every place of a text of several steps, and a line that is longer than one. */
Test(source, counts_lines_by_steps) {
    struct buf b = many_lines();
    for (int i = 0; i < 3 * SOURCE_STEP; i++)
        buf_addc(&b, 'x');
    for (int i = 0; i < 2 * SOURCE_STEP; i++)
        buf_addc(&b, '\n');
    struct source s;
    const char *path = write_file(b.p, b.n);
    cr_assert(source_open(&s, path, &diags));
    uint64_t line = 1;
    size_t begin = 0;
    for (size_t i = 0; i < b.n; i++) {
        if (i % 37 == 0 || i + 3 * SOURCE_STEP > b.n) {
            struct source_location at = source_place(&s, i);
            cr_assert(at.line == line && at.column == i - begin + 1, "offset %zu", i);
        }
        if (b.p[i] == '\n')
            line++, begin = i + 1;
    }
    source_close(&s);
    buf_free(&b);
}
