/* The promises of src/base. */
#include "base/base.h"
#include "base/embedded.h"
#include "base/tree.h"

#include "fusion_audit.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Test(base, str_parts_and_globs) {
    struct str rest = STR("a,,b"), none = {0};
    cr_assert(str_is(str_part(&rest, ','), "a"));
    cr_assert(str_is(str_part(&rest, ','), ""));
    cr_assert(str_is(str_part(&rest, ','), "b"));
    cr_assert_eq(rest.n, 0);
    cr_assert_eq(str_line(&none).n, 0);
    cr_assert(str_matches(STR("ttnn.conv2d"), STR("ttnn.conv?d")));
    cr_assert_not(str_matches(STR("ttnn.conv2d"), STR("conv*")));
    cr_assert_not(str_matches(STR("ttnn.conv2d"), STR("ttnn.conv")));
    cr_assert_not(str_matches(STR("ttnn.conv"), STR("ttnn.conv2d")));
    cr_assert(str_matches(STR("a*"), STR("a\\*")));
    cr_assert_not(str_matches(STR("ab"), STR("a\\*")));
    cr_assert(str_matches(none, STR("*")));
    cr_assert_not(str_matches(STR("a"), none));
    char name[600];
    memset(name, 'n', sizeof name);
    cr_assert(str_matches((struct str){name, sizeof name}, STR("*n")), "names of any length");
    cr_assert_not(str_matches((struct str){name, sizeof name}, STR("*n?m")));
}

/* Texts of all lengths, into chunks of the smallest size: some fit into what is left, others do not. */
static bool is_zero(const char *p, size_t n) {
    bool zero = true;
    for (size_t i = 0; i < n; i++)
        zero &= p[i] == 0;
    return zero;
}

/* Small ones of a chunk that was in use, large ones beside it. */
Test(base, arena_gives_zeroed_memory_that_overlaps_no_other) {
    static const size_t sizes[] = {1, 16, 3000, 40, 5000, 17, 1 << 21, 64, 200};
    enum { N = sizeof sizes / sizeof *sizes };
    struct arena a = {0}, other = {0};
    for (int round = 0; round < 4; round++) {
        char *all[N];
        for (size_t i = 0; i < N; i++) {
            all[i] = arena_alloc(&a, sizes[i]);
            cr_expect((uintptr_t)all[i] % 16 == 0 && is_zero(all[i], sizes[i]), "round %d, %zu bytes", round, sizes[i]);
            memset(all[i], (int)i + 1, sizes[i]);
        }
        for (size_t i = 0; i < N; i++)
            cr_expect(all[i][0] == (char)(i + 1) && all[i][sizes[i] - 1] == (char)(i + 1));
        if (round == 1) { /* of one that owns the memory of another one, too */
            memset(arena_alloc(&other, 100), 1, 100);
            arena_merge(&a, &other);
        }
        arena_reset(&a);
    }
    arena_free(&a);
}

Test(base, arena_prints_texts_that_do_not_fit) {
    struct arena a = {0};
    char digits[] = "0123456789";
    for (int n = 0; n < 5000; n += 37) {
        struct str text = arena_printf(&a, "%s%0*d", digits, n + 1, 1);
        char *next = arena_alloc(&a, 8);
        cr_assert_eq(text.n, (size_t)n + 11);
        cr_assert_eq(strlen(text.p), text.n);
        cr_assert_eq(text.p[0], '0');
        cr_assert_eq(text.p[text.n - 1], '1');
        for (int i = 0; i < 8; i++)
            cr_assert_eq(next[i], 0, "what is allocated behind a text is zero");
    }
    arena_free(&a);
}

Test(base, diags_keeps_the_first_and_counts_the_rest) {
    struct arena a = {0};
    struct diags d = {.arena = &a, .limit = 2};
    for (int i = 0; i < 5; i++)
        diag_add(&d, i % 2 ? SEV_ERROR : SEV_NOTE, (struct source_location){"f", 3, 4}, i ? "hint" : NULL, "message %d",
                 i);
    cr_assert_eq(d.n, 2);
    cr_assert_eq(d.dropped, 3);
    cr_assert_eq(d.errors, 2);
    cr_assert_str_eq(d.items[1].message, "message 1");
    cr_assert_str_eq(d.items[1].hint, "hint");
    cr_assert_null(d.items[0].hint);
    cr_assert_eq(d.items[0].line, 3);
    diags_free(&d);
    cr_assert_eq(d.n, 0);
    arena_free(&a);
}

Test(base, diags_a_hint_that_several_share_stands_behind_the_last) {
    struct arena a = {0};
    struct diags d = {.arena = &a};
    static const char *const files[] = {"f", "f", "g", "g", "g"}, *const hints[] = {"a", "a", "a", NULL, "b"};
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    for (int i = 0; i < 5; i++)
        diag_add(&d, SEV_ERROR, (struct source_location){files[i], 0, 0}, hints[i], "%d", i);
    fa_print_diagnostics((const void *)&d, out);
    fclose(out);
    cr_assert_str_eq(text, "f: error: 0\nf: error: 1\n  hint: a\ng: error: 2\n  hint: a\ng: error: 3\n"
                           "g: error: 4\n  hint: b\n");
    free(text);
    diags_free(&d);
    arena_free(&a);
}

Test(base, a_document_has_any_number_of_anchors) {
    struct arena arena = {0};
    struct buf b = {0};
    for (int i = 0; i < 100; i++)
        buf_printf(&b, "k%d: &a%d v%d\n", i, i, i);
    buf_printf(&b, "last: *a99\nfirst: *a0\n");
    struct tree_file f = tree_read(buf_str(&b), &arena);
    cr_assert_null(f.wrong);
    cr_assert(str_is(tree_lookup(f.documents, "last")->text, "v99"));
    cr_assert(str_is(tree_lookup(f.documents, "first")->text, "v0"));
    cr_assert(tree_read(STR("k: &a v\nl: *b\n"), &arena).wrong);
    buf_free(&b);
    arena_free(&arena);
}

static void is_filled(const char *text, const char *expected) {
    struct str two[] = {STR("a"), STR("bb")}, one = STR("x");
    const struct blank blanks[] = {{STR("{two}"), {two, 2}}, {STR("{one}"), {&one, 1}}, {STR("{none}"), {0}}};
    struct buf b = {0};
    fill_lines(&b, str_of(text), blanks, sizeof blanks / sizeof *blanks);
    cr_assert(str_is(buf_str(&b), expected), "%s became %.*s", text, (int)b.n, b.p);
    buf_free(&b);
}

Test(base, embedded_a_line_stands_once_for_each_value) {
    is_filled("begin\n{two}, {one}\nend\n", "begin\na, x\nbb, x\nend\n");
    is_filled("{one}{one} {none}\nkept", "kept");
    is_filled("-{two}", "-a-bb");
    is_filled("{one} { one } {other} {two", "x { one } {other} {two");
    is_filled("", "");
}

Test(base, embedded_files_are_as_they_are) {
    cr_assert(str_starts(embedded_text("page.html"), STR("<!DOCTYPE html>\n")));
    cr_assert(str_ends(embedded_text("page.html"), STR("</html>\n")));
}

Test(base, nearest_words) {
    const char *const words[] = {"--format", "--output", "--only", "--no-bundled"};
    cr_assert_str_eq(fa_nearest("--fromat", words, 4), "--format");
    cr_assert_str_eq(fa_nearest("--no-bun", words, 4), "--no-bundled");
    cr_assert_null(fa_nearest("--quiet", words, 4));
    cr_assert_null(fa_nearest("--format", words, 0));
}

Test(base, directories_are_made_with_those_above) {
    char name[] = "/tmp/test_base_XXXXXX", path[64], file[64];
    cr_assert(mkdtemp(name));
    snprintf(path, sizeof path, "%s/a//b/c/", name);
    cr_assert_eq(fa_make_directory(path), 0);
    cr_assert_eq(fa_make_directory(path), 0, "it is there");
    cr_assert_eq(access(path, W_OK), 0);
    snprintf(file, sizeof file, "%s/a/file", name);
    FILE *f = fopen(file, "w");
    cr_assert(f && fclose(f) == 0);
    cr_assert_eq(fa_make_directory(file), ENOTDIR);
    snprintf(path, sizeof path, "%s/a/file/d", name);
    cr_assert_eq(fa_make_directory(path), ENOTDIR);
    cr_assert_eq(fa_make_directory(""), ENOENT);
    const char *const made[] = {"a/file", "a/b/c", "a/b", "a"};
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", name, made[i]);
        cr_assert_eq(remove(path), 0);
    }
    cr_assert_eq(rmdir(name), 0);
}
