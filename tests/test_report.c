/* The report: entries and their order, segments, what libyaml reads back, files and stale reports.
 * What PyYAML reads back is tested by report_yaml_test.py. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "base/file.h"
#include "base/utf8.h"
#include "fusion_audit.h"
#include "report/report.h"

/* One op from `begin` to the end of `text`, or several that end where the next begins. */
static struct mlir ir_of(const char *text, struct mlir_op *ops, uint32_t nops) {
    return (struct mlir){.text = str_of(text), .ops = ops, .nops = nops};
}

static char *print_as(struct report *r, const char *format) {
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    cr_assert(report_format_named(format)->print(r, out));
    fclose(out);
    return text;
}

static char *print_text(struct report *r) {
    return print_as(r, "yaml");
}

struct formatted {
    const struct report *report;
    const struct report_format *format;
};

static bool print_formatted(void *what, FILE *out) {
    const struct formatted *f = what;
    return f->format->print(f->report, out);
}

static bool report_write(const struct report *r, const struct report_format *format, const char *path, char *error,
                         size_t n) {
    struct formatted f = {r, format};
    struct printing p = {print_formatted, &f};
    return file_write(&p, path, error, n);
}

static struct finding finding_of(const char *fused, const char *source, const char *component) {
    static struct str components[64];
    static int n;
    struct str *own = &components[n++ % 64];
    *own = str_of(component);
    return (struct finding){
        .fused_op = str_of(fused), .source = str_of(source), .component_ops = {own, 1}, .places = 1, .counted = 1};
}

static void add_place(struct report *r, const char *fused, const char *component, const char *place) {
    struct finding f = finding_of(fused, "ttnn", component);
    f.place = str_of(place);
    report_add(r, &f);
}

/* Two entries. */
static void add_many(struct report *r, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        add_place(r, i % 3 ? "ttnn.linear" : "ttnn.relu", "ttnn.add", "a: \"b\"");
    report_sort(r);
}

static uint32_t occurrences(const char *text, const char *what) {
    uint32_t n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

Test(report, each_entry_and_instance_is_printed_once) {
    for (uint32_t n = 0; n < 400; n += n < 3 ? 1 : 61) {
        struct report r = {0};
        add_many(&r, n);
        char *text = print_text(&r);
        cr_assert_eq(occurrences(text, "missed_fusions:"), 1);
        cr_assert_eq(occurrences(text, "instances:"), n > 1 ? 2 : n);
        cr_assert_eq(occurrences(text, "notes: "), n);
        cr_assert_eq(occurrences(text, "fused_op: "), n > 1 ? 2 : n);
        free(text);
        report_free(&r);
    }
}

/* ---- the summary ---- */

static void add_todo(struct report *r, const char *fused, const char *source, enum todo_kind kind, const char *what,
                     double saved) {
    struct finding f = finding_of(fused, source, "x");
    f.counts_us = f.saved_us = saved;
    f.todo = (struct todo){.kind = kind, .what = str_of(what)};
    report_add(r, &f);
}

static void add_todo_of(struct report *r, const char *fused, const char *component, const char *why) {
    struct finding f = finding_of(fused, "ttnn", component);
    f.counts_us = f.saved_us = 1;
    f.todo = (struct todo){.kind = TODO_LOOK, .what = STR("P"), .why = str_of(why)};
    report_add(r, &f);
}

/* Up to the next one. */
static char *summary_of(struct report *r, uint32_t width) {
    static char *text;
    size_t n = 0;
    free(text);
    text = NULL;
    FILE *out = open_memstream(&text, &n);
    report_sort(r);
    report_summary(r, "r.yml", width, out);
    fclose(out);
    report_free(r);
    return text;
}

Test(report, summary_has_a_row_for_each_option_and_requests_below) {
    struct report r = {0};
    add_todo(&r, "ttnn.a", "ttnn", TODO_OPTION, "level=1", 30);
    add_todo(&r, "ttnn.a", "ttnn", TODO_WRITE, "TTIR", 20000);
    add_todo(&r, "ttnn.ab", "ttnn", TODO_OPTION, "level=1", 40);
    add_todo(&r, "ttnn.slow", "ttnn", TODO_LEAVE, "", -3);
    add_todo(&r, "cuda.k", "cuda", TODO_KERNEL, "", 90000);
    add_todo(&r, "cuda.l", "cuda", TODO_KERNEL, "", 1);
    r.saved_us = 2;
    r.total_us = 3000;
    cr_assert_str_eq(summary_of(&r, 100), "r.yml: 6 places, 5 fused ops; about 2.0 us of 3.0 ms to save\n"
                                          "  saves  places  fused op: what to do\n"
                                          "  20 ms       1  ttnn.a: no pass makes it; write one in TTIR\n"
                                          "  70 us       2  ttnn.ab, ttnn.a: set level=1\n"
                                          "-3.0 us       1  ttnn.slow: leave it: fusing is estimated to be slower\n"
                                          "set level=1: saves 70 us of 3.0 ms\n"
                                          "kernels to request (2 places, 90 ms): cuda.k, cuda.l\n");
}

/* What others take the ops of is told, and is in no sum. */
Test(report, what_does_not_count_is_in_no_sum) {
    struct report r = {.total_us = 900, .saved_us = 40};
    struct finding f = finding_of("ttnn.a", "ttnn", "y");
    struct str taker = STR("ttnn.b");
    f.saved_us = 300;
    f.instead_of = (struct str_list){&taker, 1};
    f.todo = (struct todo){.kind = TODO_OPTION, .what = STR("fuse")};
    report_add(&r, &f);
    add_todo(&r, "ttnn.b", "ttnn", TODO_OPTION, "fuse", 40);
    f.source = STR("cuda");
    f.fused_op = STR("cuda.k");
    f.todo = (struct todo){.kind = TODO_KERNEL};
    report_add(&r, &f);
    f.source = STR("ttnn");
    f.fused_op = STR("ttnn.c");
    f.todo = (struct todo){.kind = TODO_WRITE, .what = STR("TTNN")};
    report_add(&r, &f);
    cr_assert_str_eq(summary_of(&r, 100), "r.yml: 4 places, 4 fused ops; about 40 of 900 us to save\n"
                                          "saves  places  fused op: what to do\n"
                                          "40 us       2  ttnn.b, ttnn.a: set fuse\n"
                                          "    -       1  ttnn.c: no pass makes it; write one in TTNN\n"
                                          "set fuse: saves 40 of 900 us\n"
                                          "kernels to request (1 place, nothing beside the rows above): cuda.k\n");
}

/* What takes two options counts for the second one, which comes later, as one that asks something of the compiler. */
Test(report, summary_promises_options_in_order) {
    struct report r = {.total_us = 900};
    struct finding two = finding_of("ttnn.c", "ttnn", "x");
    two.counts_us = two.saved_us = 500;
    two.todo =
        (struct todo){.kind = TODO_OPTION, .what = STR("fuse"), .then = STR("level=1"), .needs = STR("a new one")};
    add_todo(&r, "ttnn.a", "ttnn", TODO_OPTION, "fuse", 30);
    add_todo(&r, "ttnn.b", "ttnn", TODO_OPTION, "other", 70);
    report_add(&r, &two);
    cr_assert_str_eq(summary_of(&r, 100), "r.yml: 3 places, 3 fused ops\n"
                                          " saves  places  fused op: what to do\n"
                                          "500 us       1  ttnn.c: set fuse and level=1\n"
                                          " 70 us       1  ttnn.b: set other\n"
                                          " 30 us       1  ttnn.a: set fuse\n"
                                          "set other: saves 70 of 900 us\n"
                                          "then set fuse: 30 us more\n"
                                          "then set level=1: 500 us more (needs a new one)\n");
}

/* Entries of one op for which the same is to be done have one row, of whatever they are made. */
Test(report, summary_has_a_row_for_each_thing_to_do) {
    struct report r = {0};
    add_todo_of(&r, "ttnn.a", "ttnn.add", "it wants x");
    add_todo_of(&r, "ttnn.a", "ttnn.multiply", "it wants x");
    add_todo_of(&r, "ttnn.a", "ttnn.divide", "it wants y");
    add_todo_of(&r, "ttnn.b", "ttnn.add", "it wants x");
    cr_assert_str_eq(summary_of(&r, 100), "r.yml: 4 places, 2 fused ops\n"
                                          " saves  places  fused op: what to do\n"
                                          "2.0 us       2  ttnn.a: P left it, it wants x\n"
                                          "1.0 us       1  ttnn.a: P left it, it wants y\n"
                                          "1.0 us       1  ttnn.b: P left it, it wants x\n");
}

/* Also of ops whose names begin alike; those of several entries are named once. */
Test(report, summary_names_each_op_of_a_row) {
    static const char *const ops[] = {"ttnn.abc", "ttnn.ab", "ttnn.a", "ttnn.a", "ttnn.ab"};
    struct report r = {0};
    for (int i = 0; i < 5; i++) {
        struct finding f = finding_of(ops[i], "ttnn", ops[4 - i]);
        f.counts_us = f.saved_us = 9 - i;
        f.todo = (struct todo){.kind = TODO_OPTION, .what = STR("x")};
        report_add(&r, &f);
    }
    cr_assert_str_eq(summary_of(&r, 100), "r.yml: 5 places, 3 fused ops\n"
                                          "saves  places  fused op: what to do\n"
                                          "35 us       5  ttnn.abc, ttnn.ab, ttnn.a: set x\n");
}

Test(report, rows_that_save_the_same_stay_in_order) {
    struct report r = {0};
    char name[16], option[16];
    for (int k = 0; k < 8; k++) {
        snprintf(name, sizeof name, "ttnn.%c", 'a' + k);
        snprintf(option, sizeof option, "level=%d", k);
        add_todo(&r, name, "ttnn", TODO_OPTION, option, 30);
    }
    const char *text = summary_of(&r, 100), *at = text;
    for (int k = 0; k < 8; k++) {
        snprintf(option, sizeof option, "set level=%d\n", k);
        cr_assert(at = strstr(at, option), "%s", text);
    }
}

Test(report, summary_counts_the_rows_beyond_twenty_and_keeps_its_width) {
    for (uint32_t width = 20; width <= 100; width += 16) {
        struct report r = {0};
        for (int i = 0; i < 25; i++) {
            char fused[80], option[80];
            snprintf(fused, sizeof fused, "ttnn.an_op_with_a_name_that_has_no_end_%d", i);
            snprintf(option, sizeof option, "enable-%d-of-all-the-options-that-there-are-in-the-pipeline", i);
            add_todo(&r, fused, "ttnn", TODO_OPTION, option, 100 - i);
            add_todo(&r, fused, "triton", TODO_KERNEL, "", 1);
        }
        char *text = summary_of(&r, width);
        size_t most = width < 40 ? 40 : width; /* but for longer words */
        cr_assert(strstr(text, " in 5 more rows"), "%s", text);
        cr_assert(strstr(text, " more\nrequest") || strstr(text, "more\n"), "%s", text);
        cr_assert(!strstr(text, "an_op_with_a_name_that_has_no_end_20 "));
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            cr_assert((strlen(line) <= most || !strchr(line + strspn(line, " "), ' ')) && line[strlen(line) - 1] != ' ',
                      "%u: %s", width, line);
    }
}

/* Rows are of several entries: their order is not that of the entries. */
Test(report, summary_sorts_rows) {
    struct report r = {0};
    add_todo(&r, "ttnn.a", "ttnn", TODO_OPTION, "level=3", 60);
    add_todo(&r, "ttnn.b", "ttnn", TODO_OPTION, "level=1", 50);
    add_todo(&r, "ttnn.c", "ttnn", TODO_OPTION, "level=1", 40);
    char *text = summary_of(&r, 100);
    cr_expect(str_starts(str_of(strstr(text, "set level")), STR("set level=1\n")), "%s", text);
}

Test(report, summary_counts_places_that_are_alike_once) {
    struct report r = {0};
    struct finding f = finding_of("ttnn.a", "ttnn", "x");
    f.counts_us = f.saved_us = 1;
    f.todo.kind = TODO_LEAVE;
    f.alike = 7;
    for (int i = 0; i < 3; i++)
        report_add(&r, &f);
    cr_assert_str_eq(summary_of(&r, 100),
                     "r.yml: 3 places, 1 fused op\n"
                     " saves  places  distinct  fused op: what to do\n"
                     "3.0 us       3         1  ttnn.a: leave it: fusing is estimated to be slower\n");
}

Test(report, summary_counts_ops_that_have_a_pair) {
    struct report all = {.npaired = 3}, some = {.npaired = 3, .nunpaired = 1}, none = {.nunpaired = 4};
    struct report *reports[] = {&all, &some, &none};
    static const char *const said[] = {"; all 3 TTNN ops paired", "; 3 of 4 TTNN ops paired",
                                       "; 0 of 4 TTNN ops paired"};
    for (int i = 0; i < 3; i++) {
        char *text = summary_of(reports[i], 100);
        cr_expect(strstr(text, said[i]), "%s", text);
    }
}

Test(report, times_have_two_digits_at_least) {
    static const struct {
        double us;
        const char *text;
    } times[] = {{0, "0.0 us"},      {9.94, "9.9 us"},  {9.96, "10 us"},     {-3, "-3.0 us"},     {-9.96, "-10 us"},
                 {999.4, "999 us"},  {999.5, "1.0 ms"}, {-999.4, "-999 us"}, {-999.5, "-1.0 ms"}, {12345, "12 ms"},
                 {331610, "332 ms"}, {1.6e6, "1.6 s"},  {3e9, "3000 s"}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct buf out = {0};
        report_add_time(&out, times[i].us);
        cr_expect(str_is(buf_str(&out), times[i].text), "%s: %.*s", times[i].text, (int)out.n, out.p);
        buf_free(&out);
    }
}

Test(report, the_first_place_of_an_entry_has_the_action) {
    struct report r = {0};
    add_todo(&r, "ttnn.a", "ttnn", TODO_OPTION, "level=1", 3);
    add_todo(&r, "ttnn.a", "ttnn", TODO_OPTION, "level=1", 2);
    report_sort(&r);
    char *text = print_text(&r);
    cr_expect_eq(occurrences(text, "\n      action: set level=1"), 1, "%s", text);
    cr_expect_eq(occurrences(text, "action: "), 1, "%s", text);
    free(text);
    report_free(&r);
}

Test(report, an_entry_has_one_action) {
    struct report r = {0};
    add_todo(&r, "ttnn.a", "ttnn", TODO_OPTION, "level=1", 3);
    add_todo(&r, "ttnn.a", "ttnn", TODO_LOOK, "P", 2);
    add_todo(&r, "ttnn.a", "ttnn", TODO_OPTION, "level=1", 1);
    report_sort(&r);
    cr_assert_eq(r.nentries, 2);
    cr_expect_eq(r.entries[0].nfindings, 2);
    cr_expect(str_is(r.entries[0].findings[1]->action, "set level=1 in ttir-to-ttnn-backend-pipeline"));
    cr_expect(str_is(r.entries[1].findings[0]->action, "P left it"));
    report_free(&r);
}

static char *segment_of(const char *text, struct mlir_op *ops, uint32_t nops) {
    struct mlir ir = ir_of(text, ops, nops);
    uint32_t ids[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct segment s = {&ir, ids, nops};
    struct buf out = {0};
    segment_text(&s, &out);
    buf_addc(&out, '\0');
    return out.p;
}

static struct mlir_op op_at(const char *text, const char *what) {
    uint32_t begin = (uint32_t)(strstr(text, what) - text);
    return (struct mlir_op){.text = {begin, begin + (uint32_t)strlen(what)}};
}

static void expect_segment(const char *text, const char *op, const char *expected) {
    struct mlir_op ops[] = {op_at(text, op)};
    char *got = segment_of(text, ops, 1);
    cr_expect_str_eq(got, expected);
    free(got);
}

Test(report, segment_ops_one_after_another) {
    const char *text = "  func {\n    %1 = \"a\"(%0)\n    \"ttnn.deallocate\"(%0)\n    %2 = \"b\"(%1) loc(#loc)\n";
    struct mlir_op ops[] = {op_at(text, "%1 = \"a\"(%0)"), op_at(text, "%2 = \"b\"(%1) loc(#loc)")};
    char *got = segment_of(text, ops, 2);
    cr_expect_str_eq(got, "%1 = \"a\"(%0)\n%2 = \"b\"(%1) loc(#loc)\n");
    free(got);
}

Test(report, segment_indentation_of_later_lines) {
    expect_segment("    %1 = a(\n      x,\n\n    y)", "%1 = a(\n      x,\n\n    y)", "%1 = a(\n  x,\n\ny)\n");
    /* Later lines that are less indented than the first lose only what they share. */
    expect_segment("    %1 = a(\n      x,\n  y)", "%1 = a(\n      x,\n  y)", "%1 = a(\n    x,\ny)\n");
    expect_segment("    %1 = a(\ny)", "%1 = a(\ny)", "%1 = a(\ny)\n");
    expect_segment("\t%1 = a(\n\t  y)", "%1 = a(\n\t  y)", "%1 = a(\n  y)\n");
    expect_segment("\t%1 = a(\n    y)", "%1 = a(\n    y)", "%1 = a(\n    y)\n");
    expect_segment("  ^bb0: %1 = a(\n  y)", "%1 = a(\n  y)", "%1 = a(\ny)\n");
}

Test(report, segment_blanks_at_the_end_go) {
    expect_segment("%1 = \"r\"() ({", "%1 = \"r\"() ", "%1 = \"r\"()\n");
    expect_segment("%1 = a\r\n", "%1 = a\r\n", "%1 = a\n");
}

Test(report, one_entry_for_each_key) {
    struct report r = {0};
    struct str ops[] = {STR("ttnn.matmul"), STR("ttnn.add")};
    const struct finding keys[] = {
        {.fused_op = STR("ttnn.linear"), .source = STR("ttnn"), .places = 1, .component_ops = {ops, 2}},
        {.fused_op = STR("ttnn.linear"), .source = STR("ttnn"), .places = 1, .component_ops = {ops, 1}},
        {.fused_op = STR("ttnn.linear"), .source = STR("torch"), .places = 1, .component_ops = {ops, 2}},
        {.fused_op = STR("ttnn.linearttnn"), .source = STR(""), .places = 1, .component_ops = {ops, 2}}};
    for (int i = 0; i < 2; i++)
        report_add(&r, &keys[0]);
    for (int i = 0; i < 4; i++)
        report_add(&r, &keys[i]);
    report_sort(&r);
    cr_assert_eq(r.nentries, 4);
    cr_assert_eq(r.entries[0].nfindings, 3);
    report_free(&r);
    cr_assert_eq(r.nentries, 0);
}

/* One fused op is several entries where its places are of several classes; by name they are in the order of these. */
Test(report, classes_are_entries_of_their_own_in_order) {
    struct report r = {0};
    const struct classification classes[] = {{true, STR("ttir"), STR("done"), STR("a"), STR("P"), STR("")},
                                             {true, STR("ttnn"), STR("done"), STR("a"), STR("P"), STR("")},
                                             {true, STR("ttir"), STR("done"), STR("a"), STR("Q"), STR("")},
                                             {true, STR("ttir"), STR("done"), STR("b"), STR("P"), STR("")},
                                             {true, STR("ttir"), STR("none"), STR("a"), STR("P"), STR("")}};
    uint32_t n = sizeof classes / sizeof *classes;
    for (uint32_t i = 0; i < 2 * n; i++) {
        struct finding f = finding_of("ttnn.a", "ttnn", "x");
        f.class = classes[i * 3 % n];
        report_add(&r, &f);
    }
    report_sort(&r);
    cr_assert_eq(r.nentries, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct classification *c = &r.entries[i].findings[0]->class;
        cr_expect_eq(r.entries[i].nfindings, 2);
        cr_expect(str_eq(c->pass_status, classes[i].pass_status) && str_eq(c->owning_pass, classes[i].owning_pass) &&
                      str_eq(c->existing_pattern, classes[i].existing_pattern) &&
                      str_eq(c->dialect_level, classes[i].dialect_level),
                  "%u", i);
    }
    report_free(&r);
}

static bool is_entry(const struct report *r, uint32_t i, const char *fused, const char *component) {
    const struct finding *f = r->entries[i].findings[0];
    return str_is(f->fused_op, fused) && str_is(f->component_ops.items[0], component);
}

Test(report, order_of_entries_and_findings) {
    struct report r = {0};
    add_place(&r, "b", "x", "1");
    add_place(&r, "a", "y", "1");
    add_place(&r, "a", "x", "1");
    add_place(&r, "c", "x", "early");
    add_place(&r, "c", "x", "late");
    report_sort(&r);
    cr_assert(is_entry(&r, 0, "c", "x") && is_entry(&r, 1, "a", "x") && is_entry(&r, 2, "a", "y"));
    cr_assert(is_entry(&r, 3, "b", "x"));
    cr_assert(str_is(r.entries[0].findings[0]->place, "early"));
    report_free(&r);
}

static void add_saving(struct report *r, const char *fused, const char *source, double saved) {
    struct finding f = finding_of(fused, source, "x");
    f.counts_us = f.saved_us = saved;
    report_add(r, &f);
}

Test(report, what_saves_most_comes_first_direct_before_theoretical_and_slower_last) {
    static const char *const wanted[] = {"ttnn.two",   "ttnn.one",   "ttnn.none",
                                         "torch.much", "torch.none", "ttnn.slower"};
    struct report r = {0};
    add_saving(&r, "ttnn.none", "ttnn", 0);
    add_saving(&r, "torch.much", "torch", 100);
    add_saving(&r, "ttnn.slower", "ttnn", 3);
    add_saving(&r, "ttnn.slower", "ttnn", -4);
    add_saving(&r, "torch.none", "torch", 0);
    add_saving(&r, "ttnn.one", "ttnn", 5);
    add_saving(&r, "ttnn.two", "ttnn", 2);
    add_saving(&r, "ttnn.two", "ttnn", 4);
    report_sort(&r);
    for (uint32_t i = 0; i < r.nentries; i++)
        cr_expect(is_entry(&r, i, wanted[i], "x"), "%u", i);
    const struct report_entry *two = &r.entries[0];
    cr_expect_eq(two->findings[0]->saved_us, 4);
    report_free(&r);
}

Test(report, places_that_save_the_same_stay_in_order) {
    struct report r = {0};
    for (uint64_t i = 0; i < 50; i++)
        add_saving(&r, "ttnn.a", "ttnn", i % 2 ? 3 : 4);
    report_sort(&r);
    for (uint32_t i = 0; i < 50; i++) {
        struct finding *const *all = r.entries[0].findings;
        cr_assert_eq(all[i]->saved_us, i < 25 ? 4 : 3);
        cr_assert(i % 25 == 0 || all[i]->number > all[i - 1]->number, "%u: %u behind %u", i, all[i]->number,
                  all[i - 1]->number);
    }
    report_free(&r);
}

Test(report, many_findings) {
    struct report r = {0};
    for (uint32_t i = 0; i < 200000; i++)
        add_place(&r, i % 2 ? "a" : "b", "x", "n");
    report_sort(&r);
    cr_assert_eq(r.nentries, 2);
    cr_assert_eq(r.entries[0].nfindings, 100000);
    report_free(&r);
}

Test(report, print_layout) {
    struct report r = {.ttir_path = "m.ttir.mlir"};
    struct str components[] = {STR("ttnn.matmul"), STR("ttnn.add")};
    struct finding f = {.fused_op = STR("ttnn.linear"),
                        .source = STR("ttnn"),
                        .component_ops = {components, 2},
                        .ir_loc = STR("#loc1"),
                        .ttir = {.text = STR("%5 = \"ttir.matmul\"(%a, %b)\n    : (t) -> t loc(#loc1)\n")},
                        .place = STR("q")};
    report_add(&r, &f);
    report_sort(&r);
    char *got = print_text(&r);
    cr_expect_str_eq(got, "input:\n"
                          "  ttir: m.ttir.mlir\n"
                          "missed_fusions:\n"
                          "- fused_op: ttnn.linear\n"
                          "  source: ttnn\n"
                          "  component_ops:\n"
                          "  - ttnn.matmul\n"
                          "  - ttnn.add\n"
                          "  instances:\n"
                          "  - ir_loc: \"#loc1\"\n"
                          "    ttir_segment: |\n"
                          "      %5 = \"ttir.matmul\"(%a, %b)\n"
                          "          : (t) -> t loc(#loc1)\n"
                          "    notes: |\n"
                          "      model location: q\n"
                          "      source torch ops: not stated in the input\n");
    free(got);
    report_free(&r);
}

/* ---- other formats ---- */

/* Notes of the places of one entry, each with remarks, the last one NULL. */
static const char *entry_of(const char *const remarks[][4], const struct proved *const proofs[], uint32_t n) {
    static char *text;
    struct report r = {0};
    for (uint32_t i = 0; i < n; i++) {
        struct finding f = finding_of("f", "ttnn", "x");
        struct str lines[4];
        f.notes.sentence = STR("a and b; collapses to f.");
        f.proof = proofs ? proofs[i] : NULL;
        for (; remarks[i][f.notes.remarks.n]; f.notes.remarks.n++)
            lines[f.notes.remarks.n] = str_of(remarks[i][f.notes.remarks.n]);
        f.notes.remarks.items = lines;
        report_add(&r, &f);
    }
    report_sort(&r);
    free(text);
    text = print_text(&r);
    report_free(&r);
    return text;
}

/* A line that an earlier place says of other values is left out, and one of another thing is not. */
Test(report, an_entry_says_once_what_a_fused_op_demands) {
    static const char *const same[][4] = {{"it takes rank 1; %1 (a.weight) is 1x32xf32.", NULL},
                                          {"it takes rank 1; %arg7 is 1x1x64xbf16.", NULL}},
                             *const other[][4] = {{"it takes rank 1; %1 is 1x32xf32.", NULL},
                                                  {"it takes one type; %1 is 1x32xf32.", NULL}},
                             *const must[][4] = {{"precondition: %1 is 3", NULL}, {"precondition: %2 is 3", NULL}};
    const char *text = entry_of(same, NULL, 2);
    cr_expect_eq(occurrences(text, "it takes"), 1, "%s", text);
    cr_expect_eq(occurrences(text, "collapses to f."), 2, "%s", text);
    cr_expect_eq(occurrences(entry_of(other, NULL, 2), "it takes"), 2);
    cr_expect_eq(occurrences(entry_of(must, NULL, 2), "precondition: "), 2);
}

/* Of several values at one place it is one line, which names them. */
Test(report, a_place_says_once_what_holds_for_several_values) {
    static const char *const both[][4] = {{"rank 1; %1 is 2x3xf32.", "rank 1; %2 (b) is 4x3xf32.", "no; %1 is.", NULL}};
    const char *text = entry_of(both, NULL, 1);
    cr_expect(strstr(text, "rank 1; %1 is 2x3xf32. Likewise %2 (b)\n      no; %1 is.\n"), "%s", text);
}

Test(report, the_first_place_speaks_for_the_proofs_that_say_the_same) {
    static const char *const none[][4] = {{NULL}, {NULL}, {NULL}};
    const struct proved same = {.kind = VERDICT_SAME, .evaluated = true},
                        other = {.kind = VERDICT_NONE, .text = STR("why")};
    const struct proved *agree[] = {&same, &same, &same}, *differ[] = {&same, &other, &same}, *no[] = {NULL, NULL};
    const char *text = entry_of(none, agree, 3);
    cr_expect_eq(occurrences(text, "validated: same function (all 3 places)\n"), 1, "%s", text);
    cr_expect_eq(occurrences(text, "validated"), 1, "%s", text);
    text = entry_of(none, differ, 3);
    cr_expect_eq(occurrences(text, "validated: same function (2 of 3 places)\n"), 1, "%s", text);
    cr_expect_eq(occurrences(text, "not validated: why\n"), 1, "%s", text);
    cr_expect_eq(occurrences(text, "validated"), 2, "%s", text);
    cr_expect(!strstr(entry_of(none, no, 2), "validated"));
}

Test(report, print_markdown_counts_places) {
    struct report r = {0};
    add_place(&r, "ttnn.a", "x", "n");
    add_many(&r, 3);
    char *text = print_as(&r, "markdown");
    cr_expect(strstr(text, "**fusion-audit**: 4 places where 3 fused ops could stand\n"), "%s", text);
    cr_expect(strstr(text, "<summary>ttnn.a: 1 place</summary>"), "%s", text);
    cr_expect(strstr(text, "<summary>ttnn.linear: 2 places</summary>"), "%s", text);
    free(text);
    r.findings.items[0]->known = STR("since");
    text = print_as(&r, "markdown");
    cr_expect(strstr(text, "**fusion-audit**: 3 places where 3 fused ops could stand, 1 known\n"), "%s", text);
    cr_expect(strstr(text, "<summary>1 known</summary>"), "%s", text);
    free(text);
    report_free(&r);
}

/* Rows and places beyond what a comment may have are counted, escapes included. */
Test(report, print_markdown_fits_a_comment) {
    struct report r = {0};
    struct arena a = {0};
    char long_name[200];
    memset(long_name, '\x1b', sizeof long_name);
    for (int i = 0; i < 400; i++) {
        struct finding f = finding_of("x", "ttnn", "y");
        f.fused_op = arena_printf(&a, "ttnn.op%d_%s", i, i % 2 ? "********************************" : "");
        f.ttnn.text = (struct str){long_name, sizeof long_name};
        report_add(&r, &f);
    }
    report_sort(&r);
    char *text = print_as(&r, "markdown");
    cr_expect_lt(strlen(text), 30000);
    cr_expect(strstr(text, " more places are in the report.\n"));
    free(text);
    struct report many = {0};
    for (int i = 0; i < 2400; i++)
        add_place(&many, arena_printf(&a, "ttnn.more%d", i).p, "y", "z");
    report_sort(&many);
    text = print_as(&many, "markdown");
    cr_expect_lt(strlen(text), 30000);
    cr_expect(strstr(text, " more fused ops are in the report.\n"));
    free(text);
    report_free(&many);
    report_free(&r);
    arena_free(&a);
}

/* A fence is longer than any run of its sign inside. */
Test(report, print_markdown_keeps_segments_in_a_fence) {
    static const char *const cases[][2] = {{"%1 = a\n", "\n\n```mlir\n%1 = a\n```\n"},
                                           {"%1 = \"````\"\n", "\n\n`````mlir\n%1 = \"````\"\n`````\n"},
                                           {"```\n", "\n\n````mlir\n```\n````\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct report r = {0};
        struct finding f = finding_of("f", "ttnn", "x");
        f.ttnn.text = str_of(cases[i][0]);
        report_add(&r, &f);
        report_sort(&r);
        char *text = print_as(&r, "markdown");
        cr_expect(strstr(text, cases[i][1]), "%s", text);
        free(text);
        report_free(&r);
    }
}

/* Paths become URIs; rules are numbered as they are listed; each message is of its own place. */
Test(report, print_sarif_names_files_and_rules) {
    static const char *const uris[][2] = {{"m.mlir", "\"uri\": \"m.mlir\""},
                                          {"/a/m 1.mlir", "\"uri\": \"file:///a/m%201.mlir\""},
                                          {"//a/m.mlir", "\"uri\": \"file:///.//a/m.mlir\""}};
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        struct report r = {.ttir_path = uris[i][0]};
        struct pattern rules[] = {{.name = STR("one"), .summary = STR("It is.")},
                                  {.name = STR("two"), .summary = STR("It is.")}};
        for (int k = 0; k < 2; k++) {
            struct finding f = finding_of("ttnn.a", "ttnn", "x");
            f.pattern = &rules[k];
            report_add(&r, &f);
        }
        report_sort(&r);
        char *text = print_as(&r, "sarif"), *one = strstr(text, "\"id\": \"one\""),
             *two = strstr(text, "\"id\": \"two\"");
        cr_expect(strstr(text, uris[i][1]), "%s", text);
        cr_expect(one && two && one < two, "%s", text);
        cr_expect_eq(occurrences(text, "\"text\": \"ttnn.a is missed: It is."), 2, "%s", text);
        cr_expect_eq(occurrences(text, "fusionAudit/v1"), 0, "%s", text); /* they have none */
        for (int k = 0; k < 2; k++)
            cr_expect_eq(occurrences(text, k ? "\"ruleIndex\": 1," : "\"ruleIndex\": 0,"), 1, "%s", text);
        free(text);
        report_free(&r);
    }
}

/* A directory of its own for each test of files; the test runs in it. */
static void enter_temporary(void) {
    char dir[] = "/tmp/fusion-audit-report-XXXXXX";
    cr_assert(mkdtemp(dir) && chdir(dir) == 0);
}

static void leave_temporary(void) {
    char dir[64], command[96];
    cr_assert(getcwd(dir, sizeof dir) && strncmp(dir, "/tmp/fusion-audit-report-", 25) == 0);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    cr_assert(chdir("/") == 0 && system(command) == 0);
}

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static int files_here(void) {
    FILE *p = popen("ls -A | wc -l", "r");
    int n = -1;
    cr_assert(p && fscanf(p, "%d", &n) == 1);
    pclose(p);
    return n;
}

Test(report, file_written_with_the_mode_of_a_new_file, .init = enter_temporary, .fini = leave_temporary) {
    struct report r = {.ttnn_path = "m.mlir"};
    struct stat st;
    char error[256];
    add_place(&r, "a", "x", "n");
    report_sort(&r);
    umask(027);
    cr_assert(report_write(&r, &report_formats[0], "out.yml", error, sizeof error), "%s", error);
    cr_assert(stat("out.yml", &st) == 0 && (st.st_mode & 0777) == 0640);
    cr_assert(report_write(&r, &report_formats[0], "./out.yml", error, sizeof error)); /* again, over the first */
    cr_assert_eq(files_here(), 1);
    cr_assert(mkdir("to", 0777) == 0);
    cr_expect(report_write(&r, &report_formats[0], "to/out.yml", error, sizeof error), "%s", error);
    cr_expect_eq(access("to/out.yml", R_OK), 0);
    report_free(&r);
}

/* A file with another name is overwritten: by all of the report, whatever it is printed as. */
Test(report, file_each_format_is_written_whole, .init = enter_temporary, .fini = leave_temporary) {
    struct report r = {.ttnn_path = "m.mlir"};
    struct stat fresh, over;
    char error[256];
    add_place(&r, "a", "x", "n");
    report_sort(&r);
    for (int i = 0; report_formats[i].name; i++) {
        cr_assert(report_write(&r, &report_formats[i], "new", error, sizeof error), "%s", error);
        write_file("old", "older");
        cr_assert(link("old", "other") == 0);
        cr_assert(report_write(&r, &report_formats[i], "old", error, sizeof error), "%s", error);
        cr_assert(stat("new", &fresh) == 0 && stat("other", &over) == 0);
        cr_expect(over.st_nlink == 2 && fresh.st_size > 20);
        cr_expect_eq(system("cmp -s new other"), 0, "%s", report_formats[i].name);
        cr_assert(unlink("new") == 0 && unlink("old") == 0 && unlink("other") == 0);
    }
    report_free(&r);
}

/* A file of somebody else is overwritten where it may be, so that it stays theirs, else replaced, as a compiler does.
 */
Test(report, file_of_another_owner, .init = enter_temporary, .fini = leave_temporary) {
    struct report r = {0};
    struct stat st;
    char error[256];
    if (geteuid() != 0)
        cr_skip("not root");
    cr_assert(chmod(".", 0777) == 0);
    for (mode_t mode = 0644; mode <= 0666; mode += 022) {
        write_file("out.yml", "old");
        cr_assert(chown("out.yml", 0, 0) == 0 && chmod("out.yml", mode) == 0);
        cr_assert(seteuid(1234) == 0);
        cr_expect(report_write(&r, &report_formats[0], "out.yml", error, sizeof error), "%s", error);
        cr_assert(seteuid(0) == 0 && stat("out.yml", &st) == 0);
        cr_expect_eq(st.st_uid, mode == 0644 ? 1234u : 0u);
        cr_expect_eq(st.st_mode & 0777, mode);
        cr_expect_eq(st.st_size, (off_t)strlen("input: {}\nmissed_fusions: []\n"));
    }
}

Test(report, file_nothing_is_written_in_a_format_that_there_is_not, .init = enter_temporary, .fini = leave_temporary) {
    const char *files[] = {"m.mlir"};
    write_file("m.mlir", "module {\n  func.func @f() {\n    return\n  }\n}\n");
    struct fa_audit_options o = {.inputs = {.files = files, .nfiles = 1, .levels = FA_TTNN_ONLY},
                                 .patterns = {.no_bundled = true}};
    struct fa_audit *a = fa_run_audit(&o);
    char error[256];
    cr_expect_not(fa_write_report(a, "yml", "out.yml", error, sizeof error));
    cr_expect_str_eq(error, "there is no format yml");
    cr_expect_eq(files_here(), 1);
    fa_free(a);
}

/* A file with a hole of a gigabyte behind a quote: reading it whole would take seconds and memory. */
Test(report, stale_large_files_are_not_slurped, .init = enter_temporary, .fini = leave_temporary, .timeout = 5) {
    struct report r = {0};
    write_file("s.yml", "\"");
    cr_assert(truncate("s.yml", 1 << 30) == 0);
    cr_assert_not(report_remove_stale(&r, "s.yml"));
    FILE *f = fopen("t.yml", "w");
    for (int i = 0; i < 3000000; i++)
        fputs("some words of prose\n", f);
    fclose(f);
    cr_assert_not(report_remove_stale(&r, "t.yml"));
}
