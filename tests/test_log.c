/* src/log: where blocks begin and end, how lines are cleaned, which blocks are chosen and paired. */
#include "input/log/log.h"
#include "ir/mlir/mlir.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;
static struct diags diags;
static struct source source;

static void setup(void) {
    arena = (struct arena){0};
    diags = (struct diags){.arena = &arena};
}

static void forget_texts(void);

static void teardown(void) {
    forget_texts();
    diags_free(&diags);
    arena_free(&arena);
}

static struct buf texts[64];

static void forget_texts(void) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        buf_free(&texts[i]);
}

TestSuite(log, .init = setup, .fini = teardown);

#define TTIR_FUNC(name, op)                                                                                            \
    "  func.func @" name "(%arg0: tensor<8xf32>) -> tensor<8xf32> {\n"                                                 \
    "    %0 = \"" op "\"(%arg0) : (tensor<8xf32>) -> tensor<8xf32>\n"                                                  \
    "    return %0 : tensor<8xf32>\n"                                                                                  \
    "  }\n"
#define MODULE(name, op) "module @" name " {\n" TTIR_FUNC("main", op) "}\n"
#define CPU_MODULE       "module {\n" TTIR_FUNC("cpu_hoisted_const_eval_0", "ttir.exp") "}\n"
#define LOGURU           "2026-08-21 10:15:02.301 (  12.695s) [        7F3A1C40]      module_builder.cc:1278     1| "
#define END              "------------------ END OF MLIR MODULE ------------------\n"

static struct log_scan scan(const char *text) {
    struct log_scan out;
    source = (struct source){.path = "test", .data = text, .size = strlen(text)};
    log_scan(&source, &arena, &out);
    return out;
}

/* The text of a block; lives until the end of the test. */
static struct str text_of(const struct source *s, const struct log_block *b) {
    for (size_t i = 0;; i++)
        if (!texts[i].p)
            return log_text(s, b, &texts[i]);
}

static bool block_has(const struct log_block *b, const char *what) {
    return str_find(text_of(&source, b), str_of(what)) != NULL;
}

Test(log, plain_module_is_a_view) {
    struct log_scan s = scan("// comment\n" MODULE("m", "ttir.exp") "#loc1 = loc(\"x\")\n");
    cr_assert_eq(s.nblocks, 1);
    cr_assert_not(s.is_log);
    cr_assert_null(s.blocks[0].pieces);
    cr_assert_eq(s.blocks[0].text.p, source.data + 11);
    cr_assert_eq(s.blocks[0].stage, LOG_PLAIN);
    cr_assert_eq(s.blocks[0].first_line, 2);
    cr_assert_eq(s.blocks[0].last_line, 8);
    cr_assert(s.blocks[0].complete && s.blocks[0].has_ops && s.blocks[0].chosen && s.blocks[0].has_ttir);
    cr_assert(block_has(&s.blocks[0], "#loc1"));
    cr_assert_eq(s.ngraphs, 1);
}

Test(log, nothing_in_prose) {
    struct log_scan s = scan("the module is a thing\nmodules {\n\nnothing = 1\n%x\n");
    cr_assert_eq(s.nblocks, 0);
    cr_assert_eq(s.ngraphs, 0);
    s = scan("\n");
    cr_assert_eq(s.nblocks, 0);
}

Test(log, top_level_functions_are_one_block) {
    struct log_scan s = scan(TTIR_FUNC("a", "ttir.exp") TTIR_FUNC("b", "ttir.exp"));
    cr_assert_eq(s.nblocks, 1);
}

Test(log, wrapped_modules_are_one_block) {
    struct log_scan s = scan("module {\n  ttcore.device_module {\n    builtin.module @m {\n    }\n  }\n}\n");
    cr_assert_eq(s.nblocks, 1);
    cr_assert(s.blocks[0].complete);
}

Test(log, modules_in_one_file_are_blocks) {
    struct log_scan s = scan("#loc1 = loc(\"a\")\n" MODULE(
        "a", "ttir.exp") "#loc = loc(unknown)\n#loc2 = loc(\"b\")\n"
                         "#loc1 = loc(\"c\")\n" MODULE("b", "ttir.exp") "#dram = #ttnn.buffer_type<dram>\n" MODULE(
                             "c", "ttir.exp"));
    cr_assert_eq(s.nblocks, 3);
    cr_assert(block_has(&s.blocks[0], "#loc2"));
    cr_assert(block_has(&s.blocks[1], "loc(\"c\")"));
    cr_assert(block_has(&s.blocks[2], "#dram"));
    cr_assert_eq(s.ngraphs, 3);
}

Test(log, lit_separators_split) {
    struct log_scan s = scan(TTIR_FUNC("a", "ttir.exp") "// -----\n" TTIR_FUNC("b", "ttir.exp") "// ------\n");
    cr_assert_eq(s.nblocks, 2);
    cr_assert_not(block_has(&s.blocks[0], "-----"));
    cr_assert_not(s.is_log);
}

Test(log, ttnn_joins_the_ttir_of_its_name) {
    struct log_scan s =
        scan(MODULE("a", "ttir.exp") MODULE("b", "ttir.exp") MODULE("a", "ttnn.exp") MODULE("x", "ttnn.exp"));
    cr_assert_eq(s.nblocks, 4);
    cr_assert_eq(s.ngraphs, 2);
    cr_assert_eq(s.blocks[2].graph, 1);
    cr_assert_eq(s.blocks[3].graph, 2);
}

Test(log, staged_log) {
    struct log_scan s;
    const char *dir = getenv("FA_FIXTURES");
    char path[512];
    snprintf(path, sizeof path, "%s/reader/xla.log", dir ? dir : "fixtures");
    cr_assert(source_open(&source, path, &diags));
    log_scan(&source, &arena, &s);
    cr_assert_eq(s.nblocks, 5);
    cr_assert_eq(s.ngraphs, 2);
    cr_assert(s.is_log);
    static const struct {
        enum log_stage stage;
        uint32_t graph, dropped;
        bool chosen, complete, ttir, ttnn;
    } want[] = {{LOG_OTHER, 1, 0, false, true, false, false},
                {LOG_TTIR, 1, 3, true, true, true, false},
                {LOG_TTNN, 1, 0, true, true, false, true},
                {LOG_TTNN_RUNTIME, 1, 0, false, true, false, true},
                {LOG_TTIR, 2, 0, true, false, true, false}};
    for (uint32_t i = 0; i < s.nblocks; i++) {
        const struct log_block *b = &s.blocks[i];
        cr_assert_eq(b->stage, want[i].stage, "block %u", i);
        cr_assert_eq(b->graph, want[i].graph, "block %u", i);
        cr_assert_eq(b->dropped_lines, want[i].dropped, "block %u: %u", i, b->dropped_lines);
        cr_assert_eq(b->chosen, want[i].chosen, "block %u", i);
        cr_assert_eq(b->complete, want[i].complete, "block %u", i);
        cr_assert_eq(b->has_ttir, want[i].ttir, "block %u", i);
        cr_assert_eq(b->has_ttnn, want[i].ttnn, "block %u", i);
    }
    const struct log_block *ttir = &s.blocks[1];
    cr_assert_not(block_has(ttir, "other_thread"));
    struct str text = text_of(&source, ttir);
    const char *tail = str_find(text, STR("return %0"));
    cr_assert_eq(log_place(&source, ttir, (size_t)(tail - text.p)).line, 18);
    cr_assert_eq(log_place(&source, ttir, (size_t)(tail - text.p)).column, 5);
    source_close(&source);
}

Test(log, headers_without_ir_are_counted) {
    struct log_scan s =
        scan(LOGURU "MLIR Module vhlo:\n" LOGURU "MLIR Module ttir:\n" LOGURU "other\n" LOGURU "MLIR Module ttnn:\n");
    cr_assert_eq(s.nblocks, 0);
    cr_assert_eq(s.bare_headers, 3);
}

Test(log, threads_pair_their_own) {
#define THREAD(id) "2026-08-21 10:15:02.301 (  12.695s) [        " id "]      module_builder.cc:1278     1| "
    struct log_scan s = scan(THREAD("AAAA") "MLIR Module ttir:\n" MODULE("m", "ttir.exp")
                                 END THREAD("BBBB") "MLIR Module ttir:\n" MODULE("m", "ttir.exp")
                                     END THREAD("AAAA") "MLIR Module ttnn:\n" MODULE("m", "ttnn.exp")
                                         END THREAD("BBBB") "MLIR Module ttnn:\n" MODULE("m", "ttnn.exp") END);
    cr_assert_eq(s.nblocks, 4);
    cr_assert_eq(s.blocks[2].graph, 1);
    cr_assert_eq(s.blocks[3].graph, 2);
}

Test(log, runtime_module_stands_in_for_a_missing_ttnn) {
    struct log_scan s = scan(LOGURU "MLIR Module ttir:\n" MODULE("m", "ttir.exp") END LOGURU
                             "MLIR Module ttnn_runtime:\n" MODULE("m", "ttnn.exp") END);
    cr_assert(s.blocks[1].chosen);
    cr_assert_eq(s.blocks[1].graph, 1);
}

Test(log, pass_dumps) {
#define DUMP(when, pass) "// -----// IR Dump " when " " pass " //----- //\n"
    struct log_scan s = scan(DUMP("After", "Canonicalizer (canonicalize)") MODULE("m", "ttir.exp") "\n\n" DUMP(
        "After", "TTIRFusing (ttir-fusing) ('builtin.module' operation: @m)") MODULE("m", "ttir.neg")
                                 DUMP("After", "ConvertTTIRToTTNN (convert-ttir-to-ttnn)") MODULE("m", "ttnn.exp")
                                     DUMP("After", "TTNNDeallocate Failed (ttnn-deallocate)") MODULE("m", "ttnn.neg")
                                         DUMP("Before", "TTIRFusing: ttir-fusing{x=1} ('builtin.module' operation)")
                                             MODULE("m", "ttir.tanh"));
    cr_assert_eq(s.nblocks, 5);
    static const bool chosen[] = {true, false, false, false, true};
    static const uint32_t graph[] = {1, 1, 1, 1, 2};
    for (uint32_t i = 0; i < 5; i++) {
        cr_assert_eq(s.blocks[i].chosen, chosen[i], "block %u", i);
        cr_assert_eq(s.blocks[i].graph, graph[i], "block %u", i);
    }
    cr_assert(s.blocks[3].failed);
    cr_assert(str_is(s.blocks[4].label, "TTIRFusing"));
    cr_assert_eq(s.blocks[4].stage, LOG_PASS_BEFORE);
}

/* A message of the compiler quotes the line of source that it is about, and a line with a caret follows. */
Test(log, quoted_source_is_no_block) {
#define QUOTE "/x/m.mlir:7:1: warning: Empty argument type map provided.\nmodule {\n"
    struct log_scan s = scan(DUMP("After", "A (a)") MODULE("m", "ttir.exp") "\n" QUOTE "^\n" DUMP("After", "B (b)")
                                 MODULE("m", "ttir.neg"));
    cr_assert_eq(s.nblocks, 2);
    cr_assert_eq(s.blocks[0].last_line, 8);
    s = scan(DUMP("After", "A (a)") QUOTE "^~~~~~\n" MODULE("m", "ttir.exp"));
    cr_assert_eq(s.nblocks, 1);
    cr_assert(str_is(s.blocks[0].label, "A"));
    s = scan(DUMP("After", "A (a)") QUOTE "  func.func @f() {\n    return\n  }\n}\n");
    cr_assert_eq(s.nblocks, 1);
    cr_assert(s.blocks[0].complete);
}

Test(log, stages_win_over_pass_dumps) {
    struct log_scan s = scan(LOGURU "MLIR Module ttir:\n" MODULE("m", "ttir.exp")
                                 END DUMP("After", "Canonicalizer (canonicalize)") MODULE("m", "ttir.exp"));
    cr_assert_eq(s.nblocks, 2);
    cr_assert(s.blocks[0].chosen);
    cr_assert_not(s.blocks[1].chosen);
}

Test(log, forge_prints_ttir_twice) {
#define FORGE "2026-01-30 11:39:38.432 | TRACE    | MLIRCompiler    - /src/lower_to_mlir.cpp:237 - "
    struct log_scan s = scan(FORGE "TTIR module after lowering ForgeGraphModule:\n" MODULE("m", "ttir.exp") FORGE
                             "TTIR module after lowering ForgeGraphModule (with debug info):\n" MODULE(
                                 "m", "ttir.exp") "#loc1 = loc(\"x\")\n" FORGE
                                                  "MLIR module after running passes:\n" MODULE("m", "ttnn.exp") FORGE
                             "TTNN module after running mlir passes:\n" MODULE("m", "ttnn.exp") FORGE "done\n");
    cr_assert_eq(s.nblocks, 4);
    cr_assert_eq(s.ngraphs, 1);
    cr_assert_not(s.blocks[0].chosen);
    cr_assert(s.blocks[1].chosen);
    cr_assert_not(s.blocks[2].chosen);
    cr_assert(s.blocks[3].chosen);
}

Test(log, torch_names_its_modules) {
    struct log_scan s = scan("Torch FX module\ngraph():\n  %x : [num_users=1]\nTTIR module\n" MODULE(
        "m", "ttir.exp") "TTNN module\n" MODULE("m", "ttnn.exp"));
    cr_assert_eq(s.nblocks, 2);
    cr_assert(s.blocks[0].chosen && s.blocks[1].chosen);
    cr_assert_eq(s.blocks[0].stage, LOG_TTIR);
    cr_assert_eq(s.bare_headers, 1);
}

Test(log, executed_ops_are_not_ir) {
    struct log_scan s =
        scan("            RuntimeTTNN |    DEBUG | Executing operation: %3 = \"ttnn.exp\"(%1) : (t) -> t\n"
             "            RuntimeTTNN |    DEBUG | Finished\n");
    cr_assert_eq(s.nblocks, 0);
    cr_assert(s.is_log);
}

Test(log, a_cut_module_ends_where_the_next_begins) {
    struct log_scan s = scan("module @a {\n  func.func @f() {\n" MODULE("b", "ttir.exp"));
    cr_assert_eq(s.nblocks, 2);
    cr_assert_not(s.blocks[0].complete);
    cr_assert(s.blocks[1].complete);
}

Test(log, markers_in_strings_are_text) {
    struct log_scan s =
        scan(LOGURU "MLIR Module ttir:\nmodule @m {\n"
                    "  %0 = \"ttir.constant\"() <{value = \"------ END OF MLIR MODULE // ----- {\"}> : () -> i32\n"
                    "}\n" END);
    cr_assert_eq(s.nblocks, 1);
    cr_assert(s.blocks[0].complete);
}

Test(log, copies_differ_in_locations_only) {
#define AT(loc, op) "module @m {\n" TTIR_FUNC("main", op) "} loc(" loc ")\n#loc7 = loc(\"" loc "\")\n"
    struct log_scan s =
        scan(AT("#loc1", "ttir.exp") AT("#loc2", "ttir.exp") AT("#loc2", "ttir.neg") AT("\"a (\"", "ttir.exp"));
    cr_assert_eq(s.nblocks, 4);
    static const uint32_t copies[] = {3, 0, 1, 0};
    for (uint32_t i = 0; i < 4; i++) {
        cr_assert_eq(s.blocks[i].copies, copies[i], "block %u: %u", i, s.blocks[i].copies);
        cr_assert_eq(s.blocks[i].chosen, copies[i] > 0);
    }
    cr_assert_eq(s.blocks[0].hash, s.blocks[1].hash);
    cr_assert_neq(s.blocks[0].hash, s.blocks[2].hash);
}

Test(log, a_module_on_one_line) {
    struct log_scan s = scan("module { func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> { %0 = \"ttir.neg\"(%a) : "
                             "(tensor<8xf32>) -> tensor<8xf32> return %0 : tensor<8xf32> } }\n");
    cr_assert_eq(s.nblocks, 1);
    cr_assert(s.blocks[0].has_ttir && !s.blocks[0].has_ttnn && s.blocks[0].chosen && s.blocks[0].complete);
}

Test(log, a_line_of_a_logger_in_a_string_is_text) {
    struct log_scan s = scan(LOGURU "MLIR Module ttir:\nmodule @m {\n"
                                    "  %0 = \"ttir.a\"() <{v = \"" LOGURU "a quoted line\"}> : () -> i32\n"
                                    "  %1 = \"ttir.b\"() <{v = \"a || b | c\"}> : () -> i32\n}\n" END);
    cr_assert_eq(s.nblocks, 1);
    cr_assert_eq(s.blocks[0].dropped_lines, 0);
    cr_assert(s.blocks[0].complete);
}

/* What runs on the CPU is compiled by a pipeline of its own, whose dumps have the module of the CPU alone. */
Test(log, what_belongs_to_the_cpu_is_no_graph) {
    struct log_scan s = scan("// -----// IR Dump After TTIRToTTIRDecomposition (a) //----- //\n" MODULE(
        "m",
        "ttir.exp") "// -----// IR Dump After CPUHoist (b) //----- //\n" CPU_MODULE
                    "// -----// IR Dump After TTIRToTTIRDecomposition (a) //----- //\n" CPU_MODULE
                    "// -----// IR Dump After Convert (c) //----- //\n" MODULE(
                        "m",
                        "ttnn.exp") "// -----// IR Dump After TTIRToTTIRDecomposition (a) //----- //\n" CPU_MODULE);
    cr_assert_eq(s.nblocks, 5);
    cr_assert_eq(s.ngraphs, 1);
    for (uint32_t i = 0; i < s.nblocks; i++) {
        cr_assert_eq(s.blocks[i].chosen, i == 0 || i == 3, "%u", i);
        cr_assert_eq(s.blocks[i].has_ttir, i == 0, "%u", i);
    }
}

Test(log, regions_that_close_behind_an_op) {
    struct log_scan s = scan("module {\n  func.func @f(%x: f32) -> f32 {\n    %0 = \"ttir.exp\"(%x) : (f32) -> f32\n"
                             "    %1 = \"x.r\"(%0) ({ \"x.y\"() : () -> () }) : (f32) -> f32\n    return %0 : f32 }}\n"
                             "#loc1 = loc(\"a\")\n");
    cr_assert(s.nblocks == 1 && s.blocks[0].complete);
    s = scan("\"builtin.module\"() ({\n  \"x.r\"() ({\n  }, {\n    \"x.y\"() : () -> ()\n  }) : () -> ()\n"
             "  \"x.y\"() : () -> ()\n}) : () -> ()\n#loc1 = loc(\"a\")\n");
    cr_assert(s.nblocks == 1 && s.blocks[0].complete);
    /* the end of an op whose beginning was lost */
    s = scan("module {\n  func.func @f(%x: f32) -> f32 {\n    lost = 1}> : (f32) -> f32\n"
             "    %0 = \"ttir.exp\"(%x) : (f32) -> f32\n    return %0 : f32\n  }\n}\n#loc1 = loc(\"a\")\n");
    cr_assert(s.nblocks == 1 && s.blocks[0].complete && block_has(&s.blocks[0], "#loc1"));
}

/* ---- what stands in front of each line ---- */

#define PREFIXED_TEXT                                                                                                  \
    "#loc1 = loc(\"a\")\nmodule @a {\n" TTIR_FUNC("f", "ttir.exp") TTIR_FUNC("g", "ttir.exp") "}\n#loc2 = "            \
                                                                                              "loc(\"b\")\n"

/* Each line as printf prints it with its number (or without, if the format has none). */
static char *each_line(const char *text, const char *format) {
    struct buf b = {0};
    struct str rest = str_of(text);
    for (int n = 1; rest.n; n++) {
        struct str line = str_line(&rest);
        char margin[32];
        snprintf(margin, sizeof margin, format, n);
        buf_printf(&b, "%s%.*s\n", margin, (int)line.n, line.p);
    }
    buf_addc(&b, '\0');
    char *out = arena_strdup(&arena, buf_str(&b));
    buf_free(&b);
    return out;
}

static bool reads_as(const char *text, const char *want) {
    struct log_scan s = scan(text);
    return s.nblocks == 1 && s.blocks[0].complete && str_is(text_of(&source, &s.blocks[0]), want);
}

/* What only some lines have, what no module stands behind, and what is commented out. */
Test(log, what_only_looks_like_a_prefix_stays) {
    struct str commented = arena_printf(&arena, "%s%s", each_line(MODULE("b", "ttir.neg"), "// "), PREFIXED_TEXT);
    cr_expect(reads_as(commented.p, PREFIXED_TEXT));
    struct log_scan s = scan(arena_printf(&arena, "%s%s", PREFIXED_TEXT, each_line(MODULE("b", "ttir.neg"), "-")).p);
    cr_expect(s.nblocks == 1 && !block_has(&s.blocks[0], "neg"));
    s = scan(each_line("%0 = \"ttnn.exp\"(%1) : (t) -> t\n%2 = \"ttnn.exp\"(%0) : (t) -> t\n}\n", "Executing: "));
    cr_expect_eq(s.nblocks, 0);
}

Test(log, modules_of_a_file_share_their_aliases) {
#define ALIASES   "#d = #ttnn.d<x>\n#l = #ttnn.l<#d,\n  b>\n#unused = #ttnn.u<x>\n"
#define USE(name) "module @" name " {\n" TTIR_FUNC("main", "ttnn.exp") "  \"ttnn.x\"() {l = #l} : () -> ()\n}\n"
    struct log_scan s = scan(ALIASES USE("a") USE("b") "// -----\n" USE("c") MODULE("d", "ttnn.exp"));
    cr_assert_eq(s.nblocks, 4);
    for (uint32_t i = 0; i < 3; i++)
        cr_expect(block_has(&s.blocks[i], "#l = #ttnn.l<#d,\n  b>\n") && block_has(&s.blocks[i], "#d = "), "block %u",
                  i);
    cr_expect_not(block_has(&s.blocks[1], "#unused"));
    cr_expect_null(s.blocks[3].pieces);
    cr_expect_eq(s.blocks[1].first_line, 12);
    struct str text = text_of(&source, &s.blocks[1]);
    cr_expect_eq(log_place(&source, &s.blocks[1], (size_t)(str_find(text, STR("module")) - text.p)).line, 12);
    /* what a module defines itself it takes from no other one, nor where a header begins it */
    s = scan(ALIASES USE("a") "#l = #ttnn.l<c>\n" USE("b"));
    cr_assert(s.nblocks == 2 && !block_has(&s.blocks[1], "#d"));
    s = scan("TTIR module\n" ALIASES MODULE("a", "ttir.exp") "TTNN module\n" USE("b"));
    cr_assert(s.nblocks == 2 && !block_has(&s.blocks[1], "#l = "));
}

Test(log, text_among_binary_begins_and_ends_at_zeros) {
    static const char bytes[] = "\x01{\x02\n\0\0\x10\0\0\0" PREFIXED_TEXT "\0\0\x03}{\n\x07{\0";
    struct log_scan s;
    source = (struct source){.path = "test", .data = bytes, .size = sizeof bytes};
    log_scan(&source, &arena, &s);
    cr_assert_eq(s.nblocks, 1);
    cr_expect(s.blocks[0].complete && str_is(text_of(&source, &s.blocks[0]), PREFIXED_TEXT));
}

Test(log, titles_and_fences_end_a_block) {
    static const char *const titles[] = {"TTNN Module:\n", "```\n\nWhat became of it (b):\n\n```mlir\n", "=====\n",
                                         "## TTNN\n"};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        struct log_scan s = scan(arena_printf(&arena, "TTIR Module:\n%s%s%s", MODULE("a", "ttir.exp"), titles[i],
                                              "#loc1 = loc(\"a\")\n" MODULE("a", "ttnn.exp"))
                                     .p);
        cr_expect_eq(s.nblocks, 2, "%s", titles[i]);
        cr_expect_not(block_has(&s.blocks[0], "ttnn") || block_has(&s.blocks[0], "TTNN"), "%s", titles[i]);
        cr_expect(s.ngraphs == 1 && s.blocks[1].complete && block_has(&s.blocks[1], "#loc1"), "%s", titles[i]);
    }
    /* what may be IR stays, for the parser to judge */
    cr_expect(reads_as(MODULE("a", "ttir.exp") "sdy.mesh @m = 1\n", MODULE("a", "ttir.exp") "sdy.mesh @m = 1\n"));
}

Test(log, modules_may_be_indented) {
    static const char *const blanks[] = {"    ", "\t", "\t\t"};
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++) {
        struct log_scan s =
            scan(each_line("10:00:00 begun\nMLIR Module ttir:\n#loc1 = loc(\"a\")\n" MODULE(
                               "a", "ttir.exp") "MLIR Module ttnn:\n#loc1 = loc(\"a\")\n" MODULE("a", "ttnn.exp"),
                           blanks[i]));
        cr_assert_eq(s.nblocks, 2);
        cr_assert_eq(s.ngraphs, 1);
        cr_assert(block_has(&s.blocks[1], "#loc1"));
    }
}

Test(log, many_processes_and_graphs) {
    enum { N = 200 };
    static const char *const modules[] = {MODULE("m", "ttir.exp"), MODULE("m", "ttnn.exp")};
    for (int processes = 0; processes < 2; processes++) {
        struct buf b = {0};
        for (int i = 0; i < 2 * N; i++) {
            const char *level = i < N ? "ttir" : "ttnn", *body = modules[i >= N] + strlen("module @m");
            struct str text =
                arena_printf(&arena, "MLIR Module %s:\nmodule @m%d%s", level, processes ? 0 : i % N, body);
            struct str process = arena_printf(&arena, "[1,%d]<stderr>:", i % N);
            buf_printf(&b, "%s", processes ? each_line(text.p, process.p) : text.p);
        }
        buf_addc(&b, '\0');
        struct log_scan s = scan(b.p);
        cr_assert_eq(s.nblocks, 2 * N);
        cr_expect_eq(s.ngraphs, N);
        for (uint32_t i = 0; i < N; i++)
            cr_assert_eq(s.blocks[i].graph, s.blocks[i + N].graph, "%u of %s", i, processes ? "processes" : "graphs");
        buf_free(&b);
    }
}
