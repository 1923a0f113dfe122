/* Remembered texts (mlir/recent.h) change nothing but speed: with and without them a module is the same, to the last
 * id. */
#include "mlir/parser.h"
#include "source/source.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static bool same_span(const struct mlir *a, struct span x, const struct mlir *b, struct span y) {
    return str_eq(mlir_span(a, x), mlir_span(b, y));
}

static bool same_op(const struct mlir *a, const struct mlir *b, uint32_t i) {
    const struct mlir_op *x = &a->ops[i], *y = &b->ops[i];
    return x->name == y->name && x->func == y->func && x->parent == y->parent && x->callee == y->callee &&
           x->first_operand == y->first_operand && x->noperands == y->noperands && x->first_result == y->first_result &&
           x->nresults == y->nresults && x->text.begin == y->text.begin && x->text.end == y->text.end &&
           x->loc.begin == y->loc.begin && same_span(a, x->props, b, y->props) && same_span(a, x->attrs, b, y->attrs);
}

static void expect_same(const struct mlir *a, const struct mlir *b, const char *path) {
    cr_assert(a->nops == b->nops && a->nvalues == b->nvalues && a->noperands == b->noperands, "%s", path);
    cr_assert(a->nfuncs == b->nfuncs && a->nnames == b->nnames && a->ntypes == b->ntypes, "%s", path);
    cr_assert(a->bad_ops == b->bad_ops && a->undefined_values == b->undefined_values, "%s", path);
    for (uint32_t i = 0; i < a->noperands; i++)
        cr_assert_eq(a->operands[i], b->operands[i], "%s: operand %u", path, i);
    for (uint32_t i = 0; i < a->nops; i++)
        cr_assert(same_op(a, b, i), "%s: op %u", path, i);
    for (uint32_t i = 0; i < a->nvalues; i++)
        cr_assert(a->values[i].type == b->values[i].type && a->values[i].def == b->values[i].def &&
                      a->values[i].name.begin == b->values[i].name.begin,
                  "%s: value %u", path, i);
    for (uint32_t i = 0; i < a->ntypes; i++)
        cr_assert(str_eq(a->types[i].text, b->types[i].text), "%s: type %u", path, i);
}

static void compare(struct source *s, const struct log_block *block, const char *path, struct arena *arena) {
    struct diags d1 = {.arena = arena}, d2 = {.arena = arena};
    struct recent_texts *recent = xcalloc(1, sizeof *recent);
    struct mlir with, without;
    mlir_parse_with(&with, s, block, recent, &d1);
    mlir_parse_with(&without, s, block, NULL, &d2);
    cr_assert_eq(d1.n, d2.n, "%s", path);
    expect_same(&with, &without, path);
    mlir_free(&with);
    mlir_free(&without);
    diags_free(&d1);
    diags_free(&d2);
    free(recent);
}

Test(recent, corpus, .timeout = 120) {
    const char *corpus = getenv("FA_CORPUS");
    char path[4096];
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    snprintf(path, sizeof path, "%s/models", corpus ? corpus : "");
    DIR *dir = opendir(path);
    if (!dir)
        cr_skip_test("no corpus at %s", path);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        struct source s;
        struct log_scan scan;
        snprintf(path, sizeof path, "%s/models/%s", corpus, e->d_name);
        if (!strstr(e->d_name, ".mlir") || !source_open(&s, path, &diags))
            continue;
        log_scan(&s, &arena, &scan);
        for (uint32_t i = 0; i < scan.nblocks; i++)
            compare(&s, &scan.blocks[i], path, &arena);
        source_close(&s);
    }
    closedir(dir);
    diags_free(&diags);
    arena_free(&arena);
}

/* What ends in the middle of a text that was read before, and what goes on behind it. */
Test(recent, texts_that_begin_alike) {
    static const char text[] =
        "func.func @f(%a: tensor<1x32x64x128xbf16, #l1>, %b: tensor<1x32x64x128xbf16, #l2>) {\n"
        "  %0 = \"ttir.abs\"(%a) <{dims = [0 : i32, 1 : i32, 2 : i32, 3 : i32, 4 : i32, 5 : i32]}> : "
        "(tensor<1x32x64x128xbf16, #l1>) -> tensor<1x32x64x128xbf16, #l1>\n"
        "  %1 = \"ttir.abs\"(%b) <{dims = [0 : i32, 1 : i32, 2 : i32, 3 : i32, 4 : i32, 6 : i32]}> : "
        "(tensor<1x32x64x128xbf16, #l2>) -> tensor<1x32x64x128xbf16, #l2>\n"
        "  %2:2 = \"ttir.abs\"(%a) <{dims = [0 : i32, 1 : i32, 2 : i32, 3 : i32, 4 : i32, 5 : i32]}> : "
        "(tensor<1x32x64x128xbf16, #l1>) -> tensor<1x32x64x128xbf16, #l1>, tensor<1x32x64x128xbf16, #l2>\n"
        "  %3 = \"ttir.abs_\"(%0) : (tensor<1x32x64x128xbf16, #l1>) -> tensor<1x32x64x128xbf16, #l";
    struct arena arena = {0};
    for (size_t n = 0; n < sizeof text; n++) {
        struct source s = {.path = "x.mlir", .data = text, .size = n};
        struct log_block block = {.text = {text, n}, .first_line = 1};
        compare(&s, &block, "text", &arena);
    }
    arena_free(&arena);
}
