/* The pattern reader: a file of patterns, idioms and rules. Patterns that it accepts are searched for in a small
 * module, checked and printed, and their examples are run. */
#include "authoring/examples.h"
#include "fuzz.h"
#include "patterns/lang/printer.h"
#include "patterns/library/lint.h"
#include "patterns/library/pattern.h"
#include "patterns/library/signs.h"
#include "search/match/match.h"

#include <stdlib.h>

static const char module[] =
    "module {\n"
    "  func.func @main(%x: tensor<2x4x8xbf16>, %w: tensor<8x8xbf16>, %b: tensor<8xbf16>) -> tensor<2x4x8xbf16> {\n"
    "    %0 = \"ttir.matmul\"(%x, %w) <{transpose_a = false, transpose_b = true}> : (tensor<2x4x8xbf16>, "
    "tensor<8x8xbf16>) -> tensor<2x4x8xbf16>\n"
    "    %1 = \"ttir.reshape\"(%b) <{shape = [1 : i32, 1 : i32, 8 : i32]}> : (tensor<8xbf16>) -> tensor<1x1x8xbf16>\n"
    "    %2 = \"ttir.add\"(%0, %1) : (tensor<2x4x8xbf16>, tensor<1x1x8xbf16>) -> tensor<2x4x8xbf16>\n"
    "    %3 = \"ttir.mean\"(%2) <{dim_arg = [2 : i32], keep_dim = true}> : (tensor<2x4x8xbf16>) -> "
    "tensor<2x4x1xbf16>\n"
    "    %4 = \"ttir.subtract\"(%2, %3) : (tensor<2x4x8xbf16>, tensor<2x4x1xbf16>) -> tensor<2x4x8xbf16>\n"
    "    %5 = \"ttir.multiply\"(%4, %4) : (tensor<2x4x8xbf16>, tensor<2x4x8xbf16>) -> tensor<2x4x8xbf16>\n"
    "    %6 = \"ttir.sum\"(%5) <{dim_arg = [2 : i32], keep_dim = true}> : (tensor<2x4x8xbf16>) -> tensor<2x4x1xbf16>\n"
    "    %7 = \"ttir.rsqrt\"(%6) : (tensor<2x4x1xbf16>) -> tensor<2x4x1xbf16>\n"
    "    %8 = \"ttir.multiply\"(%4, %7) : (tensor<2x4x8xbf16>, tensor<2x4x1xbf16>) -> tensor<2x4x8xbf16>\n"
    "    %9 = \"ttir.softmax\"(%8) <{dimension = 2 : si32}> : (tensor<2x4x8xbf16>) -> tensor<2x4x8xbf16>\n"
    "    return %9 : tensor<2x4x8xbf16>\n"
    "  }\n"
    "}\n";

static void search(const struct pattern_set *set) {
    static struct source source;
    static struct arena arena;
    static struct log_scan scan;
    static struct mlir ir;
    static struct graph graph;
    if (!source.data) { /* read once: it stays the same */
        struct diags diags = {.arena = &arena};
        source = fuzz_source((const uint8_t *)module, sizeof module - 1);
        log_scan(&source, &arena, &scan);
        FUZZ_PROMISE(scan.nblocks == 1);
        mlir_parse(&ir, &source, &scan.blocks[0], &diags);
        graph_build(&graph, &ir, NULL);
        FUZZ_PROMISE(ir.nfuncs == 1 && diags.n == 0);
        diags_free(&diags);
    }
    struct arena own = {0};
    struct match_list found = {0};
    match_function(set, &graph, 0, &own, &found);
    match_resolve(&found, NULL, NULL);
    (void)signs_of_fusing(set, &graph, NULL);
    for (uint32_t i = 0; i < found.n; i++) {
        struct match_detail detail;
        match_details(&found.items[i], &own, &detail);
        const struct str_list said[] = {detail.remarks, detail.preconditions, detail.blocked};
        for (size_t s = 0; s < sizeof said / sizeof *said; s++)
            for (uint32_t k = 0; k < said[s].n; k++)
                fuzz_touch(said[s].items[k]);
        fuzz_touch(detail.torch);
    }
    free(found.items);
    arena_free(&own);
}

/* The printed formula can be parsed again. */
static void write_again(const struct pattern *p, struct diags *diags) {
    struct arena own = {0};
    struct buf text = {0};
    struct formula again;
    formula_print(&p->formula, 2, &text);
    (void)formula_parse(&again, &own, NULL, buf_str(&text), (struct text_origin){NULL, 1, 1}, diags);
    buf_free(&text);
    arena_free(&own);
}

static void ask(struct pattern_set *set, const char *file, struct diags *diags) {
    struct example_counts counts = {0, 0};
    patterns_check(set, file, diags);
    for (uint32_t i = 0; i < set->n; i++) {
        write_again(set->items[i], diags);
        examples_run(set, set->items[i], diags, NULL, &counts);
    }
    FUZZ_PROMISE(counts.failed <= counts.run && (!counts.failed || diags->errors > 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    struct pattern_set set = {0};
    struct str bad;
    const char *file = fuzz_file(0, (struct str){(const char *)data, size});
    bool good = patterns_load(&set, file, &diags);
    FUZZ_PROMISE(good || diags.errors > 0);
    if (good && patterns_select(&set, NULL, NULL, &bad)) {
        search(&set);
        ask(&set, file, &diags);
    }
    diags_free(&diags);
    patterns_free(&set);
    arena_free(&arena);
    return 0;
}
