/* The promises of src/source. */
#include "source/source.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
        struct place p = source_place(&s, want[i].offset);
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

Test(source, names_the_tool_for_compressed_input) {
    const char *path = write_file("\x1f\x8b\x08 rest", 8);
    refused(path, "compressed");
    cr_assert_not_null(strstr(diags.items[0].hint, "gzip"));
}
