/* The promises made to authors of patterns: examples, printed formulas, signs of fusing, what is known of the
 * compiler. */
#include "authoring/examples.h"
#include "base/tree.h"
#include "pattern_text.h"
#include "patterns/lang/printer.h"
#include "patterns/library/image.h"
#include "patterns/library/lint.h"
#include "patterns/library/signs.h"
#include "report/place/classify.h"
#include "report/place/notes.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(library, .init = search_setup, .fini = search_teardown, .timeout = 30);

static const struct pattern *read_pattern(const char *text) {
    const struct pattern *p = patterns_load_text(&set, "p.yml", str_of(text), &diags);
    cr_assert_not_null(p, "%s: %s", text, diags.n ? diags.items[0].message : "");
    return p;
}

#define HEAD(name, match) "name: " name "\nfused_op: ttnn." name "\nsource: ttnn\nmatch: " match "\n"
#define OP(name)          "%0 = \"ttir." name "\"(%x, %y) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>\n"

/* ---- YAML ---- */

/* "[a, b]" for a sequence, "{k: v}" for a mapping, each with its place. */
static void print_tree(const struct tree *t, struct buf *out) {
    const char *brackets = t->kind == TREE_MAPPING ? "{}" : "[]";
    buf_printf(out, "%u:%u ", (unsigned)t->line, t->column);
    if (t->kind == TREE_SCALAR) {
        buf_printf(out, "%s'%.*s'", t->block ? "|" : "", (int)t->text.n, t->text.p);
        return;
    }
    buf_addc(out, brackets[0]);
    uint32_t n = 0;
    for (const struct tree *k = t->first; k; k = k->next, n++) {
        buf_addc(out, ' ');
        print_tree(k, out);
        if (k->value) {
            buf_add(out, STR(": "));
            print_tree(k->value, out);
        }
    }
    buf_addc(out, brackets[1]);
    cr_assert_eq(n, t->n);
}

static const char *trees(const char *text) {
    struct tree_file f = tree_read(str_of(text), &set.arena);
    struct buf b = {0};
    for (const struct tree *t = f.documents; t; t = t->next, buf_addc(&b, ';'))
        print_tree(t, &b);
    if (f.wrong)
        buf_printf(&b, "%u:%u %s", (unsigned)f.line, f.column, f.wrong);
    struct str s = arena_str(&set.arena, buf_str(&b));
    buf_free(&b);
    return s.p;
}

/* ---- the image of the bundled files ---- */

static bool is_read(const char *name) {
    return str_ends(str_of(name), STR(".yml")) && !str_ends(str_of(name), STR(".test.yml"));
}

static const char *image_of(const char *directory) {
    return arena_printf(&arena, "%s.image", directory).p;
}

/* The bundled files in a directory of their own, their image beside it, with a line behind one of them that says
 * nothing. */
static const char *copied_files(const char *with_line) {
    char *directory = mkdtemp(arena_strdup(&arena, STR("/tmp/fa-patterns-XXXXXX")));
    DIR *d = opendir(getenv("FA_PATTERNS"));
    for (struct dirent *e; (e = readdir(d));) {
        if (!is_read(e->d_name))
            continue;
        FILE *from = fopen(arena_printf(&arena, "%s/%s", getenv("FA_PATTERNS"), e->d_name).p, "rb");
        FILE *to = fopen(arena_printf(&arena, "%s/%s", directory, e->d_name).p, "wb");
        for (int c; (c = fgetc(from)) != EOF;)
            fputc(c, to);
        if (with_line && strcmp(e->d_name, with_line) == 0)
            fputs("# end\n", to);
        fclose(from);
        fclose(to);
    }
    closedir(d);
    cr_assert_eq(symlink(arena_printf(&arena, "%s.image", getenv("FA_PATTERNS")).p, image_of(directory)), 0);
    return directory;
}

static void remove_files(const char *directory) {
    DIR *d = opendir(directory);
    for (struct dirent *e; (e = readdir(d));)
        remove(arena_printf(&arena, "%s/%s", directory, e->d_name).p);
    closedir(d);
    remove(directory);
    remove(image_of(directory));
}

/* Whether it was taken, and the files not read. */
static bool load_files_of(const char *directory) {
    patterns_free(&set);
    cr_assert(patterns_load_bundled(&set, directory, &diags));
    return set.image != NULL;
}

static const char *pattern_as_text(const struct pattern *p) {
    struct buf b = {0};
    buf_printf(&b, "%s:%u %u %u %u %u %u %u %u %u %u %u\n", strrchr(p->file->path, '/'), (unsigned)p->line, p->nwhere,
               p->nrequire, p->nunless, p->nnotes, p->nblock, p->noutside, p->ndecomposed, p->nlocate, p->nescapes,
               p->nholds);
    formula_print(&p->formula, 0, &b);
    for (uint32_t i = 0; i < p->nwhere; i++)
        number_print(&p->formula, NULL, p->where[i], &b);
    if (p->fused)
        formula_print(p->fused->formula, 0, &b);
    return buf_take(&b, &arena).p;
}

static void assert_same(const struct pattern_set *a, const struct pattern_set *b) {
    cr_assert_eq(a->n, b->n);
    for (uint32_t i = 0; i < a->n; i++)
        cr_assert_str_eq(pattern_as_text(a->items[i]), pattern_as_text(b->items[i]));
}

Test(library, an_image_has_the_patterns_of_the_files) {
    const char *same = copied_files(NULL), *changed = copied_files("linear.yml");
    struct pattern_set bundled = {0}, moved = {0};
    cr_assert(patterns_load_bundled(&bundled, getenv("FA_PATTERNS"), &diags));
    cr_assert(patterns_load_bundled(&moved, same, &diags));
    cr_assert(bundled.image && moved.image && moved.image != bundled.image, "its address is taken");
    cr_assert(str_starts(str_of(moved.items[0]->file->path), str_of(same)), "%s", moved.items[0]->file->path);
    assert_same(&bundled, &moved);
    cr_assert_not(load_files_of(changed));
    assert_same(&bundled, &set);
    patterns_free(&bundled);
    patterns_free(&moved);
    remove_files(same);
    remove_files(changed);
}

Test(library, an_image_of_another_build_is_not_taken) {
    const char *directory = copied_files(NULL);
    struct image_header other = {0};
    FILE *image = fopen(image_of(directory), "rb");
    cr_assert_eq(fread(&other, sizeof other, 1, image), 1);
    fclose(image);
    remove(image_of(directory));
    for (int k = 0; k < 3; k++) { /* of another, cut off, empty */
        size_t n = k < 2 ? sizeof other : 0;
        other.build += k == 0 ? 1 : (uint64_t)-1;
        image = fopen(image_of(directory), "wb");
        fwrite(&other, 1, n, image);
        fclose(image);
        cr_assert_not(load_files_of(directory));
        cr_assert_gt(set.n, 0);
    }
    remove_files(directory);
}

Test(library, further_files_change_no_bundled_pattern) {
    char path[] = "/tmp/fa-further-XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");
    fputs("demands: [{of: ttnn.*, say: more}]\n", f);
    fclose(f);
    load_files_of(getenv("FA_PATTERNS"));
    cr_assert(patterns_load(&set, path, &diags));
    for (uint32_t i = 0; i < set.n; i++)
        for (uint32_t k = 0; k < set.items[i]->nnotes; k++)
            cr_assert_not(str_is(set.items[i]->notes[k].say, "more"));
    remove(path);
}

Test(library, documents_become_trees_with_places) {
    cr_assert_str_eq(trees("# c\n---\na: b # c\nc:\n- d\n- e: |\n    f\n\n    g\n---\n[h, {'i': \"j\\n\"}]\n"),
                     "3:1 { 3:1 'a': 3:4 'b' 4:1 'c': 5:1 [ 5:3 'd' 6:3 { 6:3 'e': 6:6 |'f\n\ng\n'}]};"
                     "11:1 [ 11:2 'h' 11:5 { 11:6 'i': 11:11 'j\n'}];");
    cr_assert_str_eq(trees("a: &x [b]\nc: *x\nd: &x e\nf: *x\n"),
                     "1:1 { 1:1 'a': 1:4 [ 1:8 'b'] 2:1 'c': 1:4 [ 1:8 'b'] 3:1 'd': 3:4 'e' 4:1 'f': 3:4 'e'};");
    cr_assert_str_eq(trees(""), "");
}

Test(library, what_is_no_yaml_has_a_message_and_a_place) {
    struct buf deep = {0};
    for (int i = 0; i < 100000; i++)
        buf_addc(&deep, '[');
    buf_addc(&deep, '\0');
    cr_assert_str_eq(trees("a: [b\n"), "2:1 did not find expected ',' or ']'");
    cr_assert_str_eq(trees("a: b\n c: d\n"), "2:3 mapping values are not allowed in this context");
    cr_assert_str_eq(trees("a: *x\n"), "1:4 no such anchor");
    cr_assert_str_eq(trees("a: &x [*x]\n"), "1:8 no such anchor");
    cr_assert_str_eq(trees(deep.p), "1:66 nested too deeply");
    buf_free(&deep);
}

/* ---- examples ---- */

static uint32_t failed(const char *tests) {
    char text[2048];
    snprintf(text, sizeof text, HEAD("p", "out = a + b") "tests:\n%s", tests);
    struct example_counts counts = {0, 0};
    examples_run(&set, read_pattern(text), &diags, NULL, &counts);
    cr_assert_gt(counts.run, 0);
    cr_assert_eq(counts.failed, diags.errors > 0 ? diags.errors : 0);
    return counts.failed;
}

Test(library, examples_hit_and_miss) {
    cr_assert_eq(failed("  - hit: |\n      " OP("add") "  - miss: |\n      " OP("multiply")), 0);
    cr_assert_eq(failed("  - miss: |\n      " OP("add") "  - hit: |\n      " OP("multiply")), 2);
}

Test(library, what_an_example_does_not_use_is_returned) {
    const char *inner = "%1 = \"ttir.exp\"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>\n";
    struct example_counts counts = {0, 0};
    char text[1024];
    snprintf(text, sizeof text, HEAD("p", "out = exp(a + b)") "tests:\n  - hit: |\n      %s      %s", OP("add"), inner);
    examples_run(&set, read_pattern(text), &diags, NULL, &counts);
    cr_assert_eq(counts.failed, 0);
    snprintf(text, sizeof text, HEAD("p", "out = exp(a + b)") "tests:\n  - miss: |\n      %s      %s      %s",
             OP("add"), inner, "return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>\n");
    examples_run(&set, read_pattern(text), &diags, NULL, &counts);
    cr_assert_eq(counts.failed, 0);
    cr_assert_eq(counts.run, 2);
}

Test(library, a_parse_error_has_its_place_in_the_pattern_file) {
    cr_assert_eq(failed("  - hit: |\n      " OP("add") "      %1 = \"ttir.add\"(%0 : tensor<4xf32>\n"), 1);
    cr_assert_str_eq(diags.items[0].file, "p.yml");
    cr_assert_eq(diags.items[0].line, 8);
}

Test(library, one_result_of_several_is_returned_by_its_number) {
    const char *pair = "%0:2 = \"ttir.split\"(%x) : (tensor<4x4xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>)\n";
    char tests[1024];
    snprintf(tests, sizeof tests, "  - miss: |\n      %s      %s", pair,
             "%1 = \"ttir.exp\"(%0#1) : (tensor<4x2xf32>) -> tensor<4x2xf32>\n");
    failed(tests);
    for (uint32_t i = 0; i < diags.n; i++)
        cr_assert_not_null(strstr(diags.items[i].message, "ttir.split"), "%s", diags.items[i].message);
}

Test(library, an_example_is_that_of_the_pattern_and_not_of_one_like_it) {
    read_pattern(HEAD("p", "out = a + b") "require: extent(a, -1) == 8\n");
    const struct pattern *q =
        read_pattern("name: q\nfused_op: ttnn.q\nsource: ttnn\nlike: p\ntests:\n  - hit: |\n      " OP("add"));
    const struct pattern *r =
        read_pattern("name: r\nfused_op: ttnn.r\nsource: ttnn\nlike: p\ntests:\n  - hit: |\n      " OP("add"));
    struct example_counts counts = {0, 0};
    examples_run(&set, q, &diags, NULL, &counts);
    cr_assert_eq(counts.failed, 0);
    examples_run(&set, r, &diags, NULL, &counts);
    cr_assert_eq(counts.failed, 1);
    cr_assert_not_null(strstr(diags.items[0].message, "matched by q instead"));
}

/* ---- formulas as text ---- */

static void written(const char *match, const char *want) {
    struct buf out = {0};
    char text[512];
    snprintf(text, sizeof text, HEAD("w", "|\n  %s"), match);
    formula_print(&read_pattern(text)->formula, 0, &out);
    buf_addc(&out, '\0');
    cr_assert_str_eq(out.p, want);
    buf_free(&out);
}

Test(library, a_formula_is_written_with_the_brackets_that_it_needs) {
    written("out = (a + b) * c - (d - e)", "out = (a + b) * c - (d - e)\n");
    written("out = a / (b * c) / d", "out = a / (b * c) / d\n");
    written("out = (a | b) + 1 / extent(-1)", "out = (a | b) + 1 / extent(-1)\n");
    written("out = max(x - -2, dim=-1) == -inf", "out = max(x - -2, dim=-1) == -inf\n");
}

Test(library, optional_parts_and_names_stay) {
    written("t = matmul(a, transposed(b)) [*|/ s]\n  out = t [+ c]", "t = a @ transposed(b) [*|/ s]\nout = t [+ c]\n");
    written("out = (exp(a) [+ b]) * c | a * c", "out = (exp(a) [+ b]) * c | a * c\n");
}

/* What is not written as an optional part is not printed as one. */
Test(library, alternatives_that_differ_stay_apart) {
    static const char *const apart[] = {
        "a * b | c",
        "exp(a) * b | exp(c)",
        "exp(a) * b | log(a)",
        "sum(a, dim=-1) * b | sum(a, dim=-2)",
        "sum(a, dim=-1) * b | sum(a)",
        "(a - 2) * b | a - 3",
        "(a - extent(-1)) * b | a - extent(-2)",
        "(a - extent(b, -1)) * b | a - extent(c, -1)",
        "(a - 1 / extent(-1)) * b | a - 2 / extent(-1)",
        "(a - 1 / extent(-1)) * b | a - 1 / extent(-2)",
        "exp(a) * b | exp(a) + b | exp(a)",
        "exp(a) * b | exp(a) / c | exp(a)",
    };
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        struct str text = arena_printf(&set.arena, "out = (%s) + d + c", apart[i]);
        written(text.p, arena_printf(&set.arena, "%s\n", text.p).p);
    }
}

Test(library, attributes_without_operands_are_written_with_commas) {
    written("out = a + arange(start=0, end=8)", "out = a + arange(start=0, end=8)\n");
    written("out = sum(a, dim=-1, keep_dim=true)", "out = sum(a, dim=-1, keep_dim=true)\n");
}

static void idiom(const char *text, uint64_t line) {
    static const struct text_file idiom_file = {"i.yml"};
    struct idiom idiom;
    cr_assert(definition_read(&idiom, &set.arena, str_of(text), (struct text_origin){&idiom_file, line, 1}, &diags) &&
              idiom_add(&set.idioms, &set.arena, idiom, &diags));
}

Test(library, idioms_are_expanded_and_what_they_share_gets_a_name) {
    idiom("twice(x): x * x | pow(x, 2)", 1);
    written("out = twice(exp(a)) + b", "t1 = exp(a)\nout = (t1 * t1 | t1 ** 2) + b\n");
}

/* ---- what authors are told ---- */

static bool check(const char *path) {
    set.library = STR("p deep.q");
    return patterns_check(&set, path, &diags);
}

static void refuses(const char *fused_op, const char *hint) {
    diags.n = 0;
    set.n = 0;
    read_pattern(arena_printf(&arena, "name: p\nfused_op: %s\nsource: ttnn\nmatch: out = exp(x)\n", fused_op).p);
    cr_assert_not(check("p.yml"));
    cr_assert_eq(diags.n, 1);
    cr_assert_eq(diags.items[0].line, 2);
    cr_assert_str_eq(diags.items[0].hint, hint);
}

Test(library, a_fused_op_that_no_dialect_or_library_has_is_refused) {
    refuses("ttnn.squar", "did you mean ttnn.square?");
    refuses("ttnn.deep.qq", "did you mean ttnn.deep.q?");
    refuses("deep.q", "did you mean ttnn.deep.q?");
    static const char *const ops[] = {"ttnn.p", "ttnn.deep.q", "ttnn.square"};
    for (int i = 0; i < 3; i++) {
        diags.n = 0;
        set.n = 0;
        read_pattern(arena_printf(&arena, "name: p\nfused_op: %s\nmatch: out = exp(x)\n", ops[i]).p);
        cr_assert(check("p.yml"));
        cr_assert_eq(diags.n, 0);
    }
    read_pattern("name: q\nfused_op: elsewhere.op\nsource: triton\nmatch: out = exp(x)\n");
    cr_assert(check("p.yml"));
}

Test(library, an_idiom_that_nobody_uses_is_warned_of) {
    idiom("twice(x): x * x", 3);
    idiom("four(x): twice(twice(x))", 3);
    check("i.yml");
    cr_assert_eq(diags.n, 1);
    cr_assert_str_eq(diags.items[0].message, "no pattern uses the idiom four");
    read_pattern(HEAD("p", "out = four(a)"));
    check("i.yml");
    cr_assert_eq(diags.n, 1);
}

Test(library, an_attribute_that_an_op_never_has_is_refused) {
    read_pattern(HEAD("p", "out = topk(exp(a), biggest=true)"));
    cr_assert_not(check("p.yml"));
    cr_assert_str_eq(diags.items[0].message, "topk has no such attribute: 'biggest'");
    set.n = 0;
    read_pattern(HEAD("p", "out = topk(exp(a), largest=true)"));
    cr_assert(check("p.yml"));
}

Test(library, a_product_of_what_only_an_op_moves_is_warned_of) {
    read_pattern(HEAD("p", "out = softmax(q @ transpose(k))"));
    cr_assert(check("p.yml"));
    cr_assert_eq(diags.n, 1);
    cr_assert(strstr(diags.items[0].message, "transposed(x)"));
    set.n = diags.n = 0;
    read_pattern(HEAD("p", "out = softmax(q @ transposed(k)) + transpose(exp(k))"));
    cr_assert(check("p.yml"));
    cr_assert_eq(diags.n, 0);
}

Test(library, a_name_that_no_rule_has_is_warned_of) {
    read_pattern(HEAD("p", "out = exp(a)") "notes: [no_such_rule, two words_here]\n");
    check("p.yml");
    cr_assert_eq(diags.n, 1);
    cr_assert_str_eq(diags.items[0].message, "no rule of the file has this name: no_such_rule");
}

/* ---- matches ---- */

static void search(const char *args, const char *ops) {
    ir_short(&ir, args, ops);
    match_function(&set, &ir.g, 0, &arena, &list);
    match_resolve(&list, NULL, NULL);
}

Test(library, what_is_hidden_shows_when_it_is_asked_for) {
    struct pattern *p = (struct pattern *)(uintptr_t)read_pattern(
        HEAD("p", "out = a + b") "decomposed: extent(a, -1) == 3\nblock:\n"
                                 "  - extent(a, -1) == 3: no\n  - {when: 'extent(a, -1) == 4', say: four}\n");
    search("x:2x3", "o = ttir.add x x -> 2x3; return o");
    cr_assert_eq(list.n, 0);
    p->show_decomposed = true;
    match_function(&set, &ir.g, 0, &arena, &list);
    cr_assert_eq(list.n, 0);
    p->show_blocked = true;
    match_function(&set, &ir.g, 0, &arena, &list);
    cr_assert_eq(list.n, 1);
    struct match_detail d;
    match_details(&list.items[0], &arena, &d);
    cr_assert(d.decomposed && d.blocked.n == 1 && str_is(d.blocked.items[0], "no"));
}

Test(library, signs_of_fusing) {
    ir_short(&ir, "x:2x4 w:4x3 b:3", "l = ttnn.linear x w b -> 2x3; e = ttnn.exp l -> 2x3; return e");
    cr_assert(signs_of_fusing(&set, &ir.g, NULL), "nothing is listed");
    cr_assert_null(patterns_load_text(&set, "f.yml", STR("fused_ops: [ttnn.*_norm]\n"), &diags));
    /* lists are read with the idioms, in the first pass over a file */
    char path[] = "/tmp/fa-signs-XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");
    fputs("fused_ops: [ttnn.*_norm]\n", f);
    fclose(f);
    cr_assert(patterns_load(&set, path, &diags));
    cr_assert_not(signs_of_fusing(&set, &ir.g, NULL));
    f = fopen(path, "w");
    fputs("fused_ops:\n  - {op: ttnn.linear, operands: 3}\n", f);
    fclose(f);
    cr_assert(patterns_load(&set, path, &diags));
    cr_assert(signs_of_fusing(&set, &ir.g, NULL));
    remove(path);
}

/* ---- demands ---- */

/* Reads a file with these demands and two patterns of one formula, of which the second takes what no TTNN op can. */
static bool read_demands(const char *demands) {
    char path[] = "/tmp/fa-demands-XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");
    fprintf(f,
            "demands:\n%s---\n" HEAD("p", "out = exp(x) + y [* w]") "notes: own\n---\nname: q\n"
                                                                    "fused_op: torch.p\nsource: torch\nlike: p\n",
            demands);
    fclose(f);
    patterns_free(&set);
    diags.n = 0;
    bool read = patterns_load(&set, path, &diags);
    if (read)
        check(path);
    remove(path);
    return read;
}

#define EXP(x, y) "x:" x " y:" y, "e = ttir.exp x -> " x "; o = ttir.add e y -> 2x3; return o"

static struct str_list remarks_of(const char *values, const char *ops, const char *pattern) {
    struct match_detail d = {0};
    forget_ir();
    search(values, ops);
    cr_assert_eq(list.n, 1);
    cr_assert(str_is(list.items[0].pattern->name, pattern));
    match_details(&list.items[0], &arena, &d);
    return d.remarks;
}

static void demands_of_linear(const char *bias, const char *weight) {
    char path[] = "/tmp/fa-demands-XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");
    fprintf(f,
            "demands:\n- {of: [ttnn.linear], for: [b, w, bias], when: dtype(a) != dtype(it), say: cast}\n"
            "- {of: ttnn.*, for: [other], when: dtype(x) != dtype(it), say: cast}\n---\n"
            "name: p\nfused_op: ttnn.linear\nmatch: out = matmul(a, %s) + %s\nfused: linear(a, %s, %s)\n",
            weight, bias, weight, bias);
    fclose(f);
    patterns_free(&set);
    diags.n = 0;
    cr_assert(patterns_load(&set, path, &diags), "%s", diags.n ? diags.items[0].message : "");
    check(path);
    remove(path);
}

/* A demand is on names; an operand that the pattern calls otherwise loses it, which is said. */
Test(library, an_operand_of_another_name_than_demands_have_is_warned_of) {
    demands_of_linear("bias", "b");
    cr_assert_eq(diags.n, 1);
    cr_assert_not_null(strstr(diags.items[0].message, "no pattern of these ops")); /* of `other` */
    demands_of_linear("bias", "w");
    cr_assert_eq(diags.n, 1, "the weight has one of the names");
    demands_of_linear("beta", "b");
    cr_assert_eq(diags.n, 2);
    cr_assert_not_null(strstr(diags.items[0].message, "its operand bias, which is called beta here"));
}

Test(library, demands_are_said_of_each_operand) {
    cr_assert(
        read_demands("  - {of: ttnn.*, for: [x, y, w, z], when: rank(it) < 2, say: '{it} is of rank {rank(it)}'}\n"));
    cr_assert_eq(diags.n, 0);
    cr_assert_eq(set.items[0]->nnotes, 4, "z is no name of the formula");
    struct str_list r = remarks_of(EXP("2x3", "3"), "p");
    cr_assert_eq(r.n, 2);
    cr_assert(str_is(r.items[0], "own"));
    cr_assert(str_is(r.items[1], "%y is of rank 1"), "%s", r.items[1].p);
    cr_assert_eq(remarks_of(EXP("2x3", "2x3"), "p").n, 1);
}

Test(library, what_no_adaptation_helps_is_theoretical) {
    cr_assert(read_demands("  - {of: ttnn.p, for: [x, y], when: rank(it) < 2, say: 'no {it}', theoretical: true}\n"));
    cr_assert_eq(remarks_of(EXP("2x3", "2x3"), "p").n, 1);
    struct str_list r = remarks_of(EXP("2x3", "3"), "q");
    cr_assert_eq(r.n, 1);
    cr_assert(str_is(r.items[0], "no %y"));
    cr_assert_not(pattern_is_direct(list.items[0].pattern));
}

Test(library, faults_of_demands) {
    static const struct {
        const char *demands, *says;
    } cases[] = {
        {"  - {of: ttnn.p, when: rank(x) < 2}\n", "lacks the key say"},
        {"  - {of: ttnn.p, when: rank(x) < 2, say: a, unless: b}\n", "unknown key: unless"},
        {"  - {of: ttnn.p, when: ranks(x) < 2, say: a}\n", "no condition is called ranks"},
        {"  - {of: [[ttnn.p]], when: rank(x) < 2, say: a}\n", "text expected"},
        {"  {of: ttnn.p}\n", "`demands` is a list"},
        {"  - {of: ttnn.other, when: rank(x) <, say: x}\n", "an expression expected"}, /* of no pattern */
        {"  - {of: ttnn.p, when: rank(a) + rank(b) + rank(c) + rank(d) + rank(e) + rank(f) + rank(g) + rank(h) + "
         "rank(i) + rank(j) + rank(k) + rank(l) == rank(m), say: x}\n",
         "too many names in one condition"},
        {"  - {of: ttnn.p, when: rank(x) < 2, say: x, theoretical: yes}\n", "not a value of theoretical"},
        {"  - {of: ttnn.p, when: rank(x), say: x}\n", "not a condition"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert_not(read_demands(cases[i].demands));
        cr_assert(str_find(str_of(diags.items[0].message), str_of(cases[i].says)), "%s", diags.items[0].message);
    }
    static const char *const nowhere[] = {"  - {of: ttnn.p, when: rank(misspelt) < 2, say: a}\n",
                                          "  - {of: ttnn.p, when: rank(it) < 2, say: a}\n",
                                          "  - {of: ttnn.p, for: [x, y], when: rank(it) < rank(z), say: a}\n",
                                          "  - {of: ttnn.p?, when: rank(x) < 2, say: a}\n"};
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        cr_assert(read_demands(nowhere[i]));
        cr_assert_eq(diags.n, 1);
        cr_assert(
            str_find(str_of(diags.items[0].message), STR("no pattern of these ops has the names of this demand")));
    }
}

/* ---- the compiler ---- */

static void says(const char *keys, bool before, enum fusing fusing, const char *status, const char *note) {
    static struct compiler_pass pass = {.name = {"f", 1}, .off = {"no-f", 4}, .version = {"v1", 2}};
    char text[512];
    snprintf(text, sizeof text, HEAD("c", "out = a + b") "%s", keys);
    const struct pattern *p = read_pattern(text);
    struct pattern_set passes = {.passes = &pass, .npasses = 1};
    struct claim claim = {.set = &passes, .pattern = p, .before = before, .fusing = fusing};
    struct str said = claim_behind(&claim, &arena);
    cr_assert(str_is(said, note), "%.*s", (int)said.n, said.p);
    cr_assert(str_is(classify(&claim).pass_status, status));
    cr_assert(str_is(claim_version(&claim), p->status.pass.n ? "v1" : ""));
}

Test(library, how_far_the_compiler_is) {
    const char *exists = "pass_exists_not_fired";
    says("", false, FUSING_UNKNOWN, "no_pass", "");
#define PASS "status: {level: ttir, pass: f, pattern: P}\n"
    says(PASS, false, FUSING_UNKNOWN, exists, " (f)");
    says("status: {level: ttir, pass: f, pattern: P, file: F}\n", false, FUSING_ON, exists, " (f, F)");
    says("status: {level: ttnn, pass: f, pattern: P, gated: g}\n", false, FUSING_UNKNOWN, "gated_off", " (f)");
}

/* Days of the compile, and what the texts around it show. */
static void expect_todo(const char *status, struct day_span days, const struct seen_texts *texts, enum fusing fusing,
                        const char *todo) {
    struct fact had[] = {
        {.pattern = STR("P"), .since = STR("2025-10-01")},
        {.pass = STR("f"), .since = STR("2025-05-01")},
        {.option = STR("fuse"), .since = STR("2025-05-01"), .defaults = STR("2025-05-01 false, 2025-08-01 true")},
        {.option = STR("level"),
         .since = STR("2025-11-01"),
         .defaults = STR("2025-11-01 0"),
         .xla = STR("opt_level"),
         .xla_default = STR("2025-11-01 0")},
        {.pattern = STR("O"), .since = STR("2025-06-01"), .until = STR("2025-12-01")},
        {.pattern = STR("S"), .since = STR("2025-06-01")}};
    struct compiler_pass pass = {.name = STR("f"), .off = STR("fuse=false")};
    struct pattern_set own = {.passes = &pass, .npasses = 1, .facts = {.had = had, .nhad = 6}};
    struct buf said = {0};
    char text[512];
    snprintf(text, sizeof text, HEAD("c", "out = a + b") "status: {level: ttir, pass: f, %s}\n", status);
    const struct pattern *p = read_pattern(text);
    uint64_t made_at[8] = {0};
    struct seen_texts seen = *texts;
    for (uint32_t i = 0; i < seen.n; i++)
        seen.facts[i].fact = &had[1];
    struct seen_compile compile = {.set = &own, .texts = &seen, .days = days, .made_at = made_at};
    struct claim claim = {.set = &own, .compile = &compile, .pattern = p, .fusing = fusing};
    struct todo t = todo_of(&claim, &arena);
    todo_text(&t, &said);
    cr_expect(str_is(buf_str(&said), todo), "%s: %.*s", status, (int)said.n, said.p);
    buf_free(&said);
}

Test(library, no_action_names_what_the_compile_cannot_have_or_has) {
    const struct seen_texts none = {0}, torch = {.frontend = FRONTEND_TORCH_XLA},
                            dump = {.facts = {{.line = 7}}, .n = 1};
    const struct day_span any = {STR(""), STR("")}, old = {STR(""), STR("2025-09-01")},
                          new = {STR("2026-01-01"), STR("")};
    expect_todo("pattern: P", old, &none, FUSING_ON,
                "your compiler (before 2025-09-01) lacks it: P came on 2025-10-01");
    expect_todo("pattern: P", new, &none, FUSING_ON, "P ran and left it");
    expect_todo("pattern: P", any, &none, FUSING_ON, "P (since 2025-10-01) left it");
    expect_todo("pattern: P", new, &none, FUSING_UNKNOWN, "P left it, unless fuse=false was given");
    expect_todo("pattern: P", new, &dump, FUSING_OFF, "P ran (its dump in line 7) and left it");
    expect_todo("pattern: P", new, &none, FUSING_OFF, "set fuse=true, if it was off; else P left it");
    expect_todo("pattern: R", (struct day_span){STR("2025-06-01"), STR("2025-07-01")}, &none, FUSING_OFF,
                "set fuse=true, which is off by default");
    expect_todo("pattern: Q, gated: level=1", old, &none, FUSING_ON,
                "your compiler (before 2025-09-01) lacks it: level came on 2025-11-01");
    expect_todo("pattern: Q, gated: level=1", new, &none, FUSING_ON, "set level=1");
    expect_todo("pattern: Q, gated: level=1", new, &torch, FUSING_ON,
                "torch_xla.set_custom_compile_options({\"opt_level\": 1})");
    expect_todo("pattern: Q, gated: level=0", new, &none, FUSING_ON, "Q ran and left it");
    const struct day_span between = {STR("2025-07-01"), STR("2025-09-01")},
                          last = {STR("2025-07-01"), STR("2025-10-01")};
    expect_todo("pattern: P, earlier: O", between, &none, FUSING_ON, "O ran and left it");
    expect_todo("pattern: P, earlier: O, earlier_gated: fuse=true", between, &none, FUSING_ON, "set fuse=true");
    expect_todo("pattern: P, earlier: O", last, &none, FUSING_ON, "O ran and left it");
    expect_todo("pattern: P, earlier: O", new, &none, FUSING_ON, "P ran and left it");
    expect_todo("pattern: P, earlier: O", old, &none, FUSING_ON, "O (2025-06-01 to 2025-12-01) left it");
    const struct day_span older = {STR(""), STR("2025-05-01")};
    expect_todo("pattern: P, earlier: O, keeps: level=1", older, &none, FUSING_ON,
                "your compiler (before 2025-05-01) lacks it: P came on 2025-10-01 and level=1 keeps it");
    expect_todo("pattern: P, earlier: S, earlier_gated: fuse=true", older, &none, FUSING_ON,
                "your compiler (before 2025-05-01) lacks it: S came on 2025-06-01 and takes fuse=true");
    expect_todo("pattern: P, earlier: S", old, &none, FUSING_ON, "S (since 2025-06-01) left it");
}

/* What is to be set where a pass has not run, and where it has. */
Test(library, options_that_a_fusion_takes) {
#define OPEN "if it was off; else P left it"
    struct compiler_pass pass = {.name = STR("f"), .off = STR("f=false")};
    struct compiler_option option = {STR("level=1"), STR("a new one")};
    struct pattern_set known = {.passes = &pass, .npasses = 1, .options = &option, .noptions = 1};
    const struct {
        const char *status;
        enum fusing fusing;
        const char *todo, *needs;
    } cases[] = {{"keeps: level=1", FUSING_OFF, "set f=true and level=1, " OPEN, "a new one"},
                 {"keeps: level=1", FUSING_ON, "P ran and left it", ""},
                 {"gated: g=true", FUSING_OFF, "set f=true and g=true, " OPEN, ""},
                 {"gated: g=true", FUSING_UNKNOWN, "set g=true", ""},
                 {"gated: level=1", FUSING_ON, "set level=1", "a new one"},
                 {"keeps: ''", FUSING_OFF, "set f=true, " OPEN, ""},
                 {"keeps: ''", FUSING_UNKNOWN, "P left it, unless f=false was given", ""},
                 {"keeps: ''", FUSING_ON, "P ran and left it", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf said = {0};
        char text[512];
        snprintf(text, sizeof text, HEAD("c", "out = a + b") "status: {level: ttir, pass: f, pattern: P, %s}\n",
                 cases[i].status);
        struct claim claim = {.set = &known, .pattern = read_pattern(text), .fusing = cases[i].fusing};
        struct todo todo = todo_of(&claim, &arena);
        todo_text(&todo, &said);
        cr_assert(str_is(buf_str(&said), cases[i].todo), "%zu: %.*s", i, (int)said.n, said.p);
        cr_assert(str_is(todo.needs, cases[i].needs));
        buf_free(&said);
    }
}
