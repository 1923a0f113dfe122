/* The promises of the operator table and of the graph: kinds, roles, uses, functions, constants. */
#include "ir_text.h"
#include "report/place/version.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ir ir;

static void teardown(void) {
    if (ir.text)
        ir_free(&ir);
    ir.text = NULL;
}

TestSuite(graph, .fini = teardown);

#define X "%x: tensor<2x4xf32>"
#define T "tensor<2x4xf32>"

static void body(const char *args, const char *text) {
    teardown();
    ir_main(&ir, args, text);
}

static void module(const char *text) {
    teardown();
    ir_read(&ir, text);
}

static uint32_t operand(const char *result, uint32_t role) {
    uint32_t op = ir_op(&ir, result);
    cr_assert_lt(role, graph_noperands(&ir.g, op), "%s has no operand %u", result, role);
    return graph_operands(&ir.g, op)[role];
}

/* ---- the age of the compiler ---- */

static void expect_version(const char *since, const char *before, const char *args, const char *text) {
    struct version v;
    struct arena a = {0};
    struct diags diags = {.arena = &a};
    struct pattern_set facts = {0};
    body(args, text);
    cr_assert(patterns_load(&facts, arena_printf(&a, "%s/compiler_facts.yml", getenv("FA_PATTERNS")).p, &diags));
    version_of(&facts.facts, &ir.g, &a, &v);
    cr_expect(str_is(v.since.day, since), "%s: %.*s", text, (int)v.since.day.n, v.since.day.p);
    cr_expect(str_is(v.before.day, before), "%s: %.*s", text, (int)v.before.day.n, v.before.day.p);
    patterns_free(&facts);
    arena_free(&a);
}

#define CACHE "tensor<1x8x64x32xf32>"
#define UPDATE                                                                                                         \
    "\"ttir.update_cache\"(%c, %n, %i) <{batch_offset = 0 : i32}> : (" CACHE ", tensor<1x8x1x32xf32>, "                \
    "tensor<1xi32>) -> "

Test(graph, age_of_the_compiler) {
    const char *cache = "%c: " CACHE ", %n: tensor<1x8x1x32xf32>, %i: tensor<1xi32>";
    expect_version("", "2025-11-27", X,
                   "%e = ttir.empty() : " T "\n%r = \"ttir.neg\"(%x, %e) : (" T ", " T ") -> " T "\nreturn %r : " T);
    expect_version("2025-11-27", "", X, "%r = \"ttir.neg\"(%x) : (" T ") -> " T "\nreturn %r : " T);
    expect_version("2025-08-31", "2026-06-02", X,
                   "%r = \"ttnn.add\"(%x, %x) <{dtype = #ttcore.supportedDataTypes<f32>}> : (" T ", " T ") -> " T
                   "\nreturn %r : " T);
    expect_version("", "", X, "%r = \"ttnn.neg\"(%x) : (" T ") -> " T "\nreturn %r : " T);
    expect_version("", "2026-07-29", cache, "%r = " UPDATE CACHE "\nreturn %r : " CACHE);
    expect_version("2026-07-29", "", cache, UPDATE "()\nreturn %c : " CACHE);
    /* signs that no compiler prints together */
    expect_version("", "", cache,
                   UPDATE "()\n%e = ttir.empty() : " CACHE "\n%r = \"ttir.neg\"(%c, %e) : (" CACHE ", " CACHE
                          ") -> " CACHE "\nreturn %r : " CACHE);
}

/* ---- the table ---- */

Test(graph, spellings_of_both_dialects_and_every_age_are_one_operator) {
    static const struct {
        const char *spelling, *name;
    } same[] = {{"ttir.add", "add"},         {"ttnn.add", "add"},
                {"ttir.div", "divide"},      {"ttnn.divide", "divide"},
                {"ttnn.div", "divide"},      {"ttir.multiply", "multiply"},
                {"ttnn.mul", "multiply"},    {"ttnn.pow_scalar", "pow"},
                {"ttnn.pow_tensor", "pow"},  {"ttir.pow", "pow"},
                {"ttir.squeeze", "reshape"}, {"ttnn.reshape", "reshape"},
                {"tt.load_cached", "call"},  {"ttcore.load_cached", "call"},
                {"func.call", "call"},       {"tensor.empty", "empty"},
                {"ttnn.empty", "empty"},     {"stablehlo.dot_general", "dot_general"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        enum op_kind k = op_kind_of_spelling(str_of(same[i].spelling));
        cr_assert_str_eq(op_table[k].name, same[i].name, "%s", same[i].spelling);
        cr_assert_eq(k, op_kind_of_name(str_of(same[i].name)), "%s", same[i].name);
    }
}

Test(graph, no_spelling_is_claimed_twice_and_no_name_either) {
    for (int k = 1; k < OPERATORS; k++) {
        cr_assert_eq((int)op_kind_of_name(str_of(op_table[k].name)), k, "name %s", op_table[k].name);
        char words[512];
        snprintf(words, sizeof words, "%s", op_table[k].spellings);
        for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
            cr_assert_eq((int)op_kind_of_spelling(str_of(w)), k, "spelling %s", w);
    }
}

Test(graph, part_of_a_spelling_is_no_spelling) {
    cr_assert_eq(op_kind_of_spelling(STR("ttir.ad")), NO_OPERATOR);
    cr_assert_eq(op_kind_of_spelling(STR("ttir.adds")), NO_OPERATOR);
    cr_assert_eq(op_kind_of_spelling(STR("ttir.add ttnn.add")), NO_OPERATOR);
    cr_assert_eq(op_kind_of_spelling(STR("add")), NO_OPERATOR);
    cr_assert_eq(op_kind_of_spelling(STR("")), NO_OPERATOR);
    cr_assert_eq(op_kind_of_name(STR("ttir.add")), NO_OPERATOR);
    cr_assert_eq(op_kind_of_name(STR("")), NO_OPERATOR);
}

Test(graph, what_rows_say_of_attributes_is_understood) {
    struct str value;
    for (int k = 1; k < OPERATORS; k++) {
        char words[512];
        snprintf(words, sizeof words, "%s", op_table[k].dims ? op_table[k].dims : "");
        for (char *w = strtok(words, " "); w; w = strtok(NULL, " ")) {
            struct str key = {w, strcspn(w, ":")};
            cr_assert_neq(op_dims_role((enum op_kind)k, key), DIMS_NONE, "%s: %s", op_table[k].name, w);
        }
        cr_assert(op_table[k].window.kind != WINDOW_NONE || op_table[k].window.rank == 0, "%s", op_table[k].name);
        cr_assert_leq(op_table[k].window.rank, MAX_WINDOW, "%s", op_table[k].name);
    }
    cr_assert_eq(op_dims_role(K_SLICE, STR("ends")), DIMS_ENDS);
    cr_assert_eq(op_dims_role(K_SUM, STR("dim_arg")), DIMS_AXIS);
    cr_assert_eq(op_dims_role(K_SLICE, STR("end")), DIMS_NONE);
    cr_assert_eq(op_dims_role(K_SUM, STR("dimension")), DIMS_NONE);
    cr_assert(op_default("a=1 b=x/yz", STR("b"), false, &value) && str_is(value, "x"));
    cr_assert(op_default("a=1 b=x/yz", STR("b"), true, &value) && str_is(value, "yz"));
    cr_assert(op_default("a=1 b=x/yz", STR("a"), true, &value) && str_is(value, "1"));
    cr_assert_not(op_default("ab=1", STR("b"), false, &value));
    cr_assert_not(op_default("abc=1", STR("a"), false, &value));
    cr_assert_not(op_default(NULL, STR("b"), false, &value));
    cr_assert(str_is(op_role_attribute(K_CLAMP, STR("high")), "max"));
    cr_assert_eq(op_role_attribute(K_CLAMP, STR("x")).n, 0);
}

Test(graph, a_misspelt_name_finds_its_neighbour) {
    cr_assert_str_eq(op_nearest_name(STR("matmull")), "matmul");
    cr_assert_str_eq(op_nearest_name(STR("mutliply")), "multiply");
    cr_assert_null(op_nearest_name(STR("zzzzzzzz")));
}

/* ---- attributes ---- */

#define SUM(result, dim, shape)                                                                                        \
    result " = \"ttir.sum\"(%x) <{keep_dim = true, dim_arg = [" dim " : i32]}> : (" T ") -> tensor<" shape "xf32>\n"

/* The reader remembers the dictionaries of long texts only, so these ops stand behind many others. */
Test(graph, ops_that_share_a_dictionary_share_its_table) {
    struct buf text = {0};
    for (int i = 0; i < 200; i++)
        buf_printf(&text, "%%e%d = \"ttir.exp\"(%%x) : (" T ") -> " T "\n", i);
    buf_add(&text, STR(SUM("%0", "1", "2x1") SUM("%1", "1", "2x1") SUM("%2", "0", "1x4")));
    buf_addc(&text, '\0');
    body(X, buf_str(&text).p);
    buf_free(&text);
    const struct attrs *first = graph_attributes(&ir.g, ir_op(&ir, "%0"));
    const struct attrs *same = graph_attributes(&ir.g, ir_op(&ir, "%1"));
    const struct attrs *other = graph_attributes(&ir.g, ir_op(&ir, "%2"));
    const int64_t *list;
    cr_assert_eq(first->at, same->at);
    cr_assert_neq(first->at, other->at);
    cr_assert_eq(attrs_list(same, "dim_arg", &list), 1);
    cr_assert_eq(list[0], 1);
    cr_assert_eq(attrs_list(other, "dim_arg", &list), 1);
    cr_assert_eq(list[0], 0);
}

/* ---- operands by role ---- */

Test(graph, destination_of_old_text_is_no_operand) {
    body(X, "%0 = ttir.empty() : " T "\n"
            "%1 = \"ttir.add\"(%x, %x, %0) : (" T ", " T ", " T ") -> " T "\n"
            "%2 = \"ttir.add\"(%x, %1) : (" T ", " T ") -> " T "\n"
            "return %2 : " T);
    cr_assert_eq(graph_noperands(&ir.g, ir_op(&ir, "%1")), 2);
    cr_assert_eq(graph_noperands(&ir.g, ir_op(&ir, "%2")), 2);
    cr_assert_eq(graph_nuses(&ir.g, ir_value(&ir, "%0")), 0);
    cr_assert_eq(ir.g.ndestinations, 1);
}

Test(graph, a_returned_empty_is_no_destination) {
    body(X, "%0 = \"ttnn.empty\"() : () -> " T "\nreturn %0 : " T);
    cr_assert_eq(graph_nuses(&ir.g, ir_value(&ir, "%0")), 1);
}

Test(graph, destination_goes_before_roles_are_counted) {
    body("%a: tensor<2x4xf32>, %b: tensor<4x3xf32>",
         "%0 = \"ttnn.empty\"() : () -> tensor<2x3xf32>\n"
         "%1 = \"ttir.linear\"(%a, %b, %0) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : "
         "(tensor<2x4xf32>, tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\nreturn %1 : tensor<2x3xf32>");
    cr_assert_eq(operand("%1", 0), ir_value(&ir, "%a"));
    cr_assert_eq(operand("%1", 1), ir_value(&ir, "%b"));
    cr_assert_eq(operand("%1", 2), NONE);
}

/* In the place of an operand that the op needs, or of another type than its result. */
Test(graph, an_empty_may_be_an_operand) {
    static const struct {
        const char *type, *op;
        uint32_t noperands, ndestinations; /* of data */
    } cases[] = {
        {T, "\"ttir.relu\"(%e) : (" T ") -> " T, 1, 0},
        {T, "\"ttir.relu\"(%x, %e) : (" T ", " T ") -> " T, 1, 1},
        {T, "\"ttir.add\"(%x, %e) : (" T ", " T ") -> " T, 2, 0},
        {T, "\"ttir.layer_norm\"(%x, %e) <{normalized_shape = array<i64: 4>}> : (" T ", " T ") -> " T, 1, 1},
        {"tensor<4xf32>",
         "\"ttir.rms_norm\"(%x, %e) <{normalized_shape = array<i64: 4>, operandSegmentSizes = array<i32: 1, 1, 0>}> : "
         "(" T ", tensor<4xf32>) -> " T,
         2, 0},
        {"tensor<2x1xf32>", "\"ttir.concat\"(%x, %e) <{dim = 1 : si32}> : (" T ", tensor<2x1xf32>) -> tensor<2x5xf32>",
         2, 0},
        {"tensor<2x8xf32>",
         "\"ttir.concat\"(%x, %x, %e) <{dim = 1 : si32}> : (" T ", " T ", tensor<2x8xf32>) -> tensor<2x8xf32>", 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str text =
            arena_printf(&ir.arena, "%%e = ttir.empty() : %s\n%%0 = %s\nreturn", cases[i].type, cases[i].op);
        char *copy = xrealloc(NULL, text.n + 1);
        memcpy(copy, text.p, text.n + 1);
        body("%x: " T, copy);
        cr_expect_eq(graph_count_operands(&ir.g, ir_op(&ir, "%0")), cases[i].noperands, "%s", copy);
        cr_expect_eq(ir.g.ndestinations, cases[i].ndestinations, "%s", copy);
        free(copy);
    }
}

Test(graph, device_handles_are_no_operands) {
    body(X, "%0 = \"ttnn.get_device\"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device\n"
            "%1 = \"ttnn.to_device\"(%x, %0) : (" T ", !ttnn.device) -> " T "\n"
            "%2 = \"ttnn.full\"(%0) <{fill_value = 1.5 : f32}> : (!ttnn.device) -> " T "\nreturn %1 : " T);
    cr_assert_eq(graph_noperands(&ir.g, ir_op(&ir, "%1")), 1);
    cr_assert_eq(operand("%1", 0), ir_value(&ir, "%x"));
    cr_assert_eq(graph_noperands(&ir.g, ir_op(&ir, "%2")), 0);
    cr_assert_float_eq(graph_constant(&ir.g, ir_value(&ir, "%2")).value, 1.5, 0);
}

#define UNUSED                                                                                                         \
    "%0 = \"ttnn.exp\"(%x) : (" T ") -> " T "\n%1 = \"ttnn.neg\"(%0) : (" T ") -> " T "\n"                             \
    "%2 = \"ttnn.exp\"(%1) : (" T ") -> " T "\n%3 = \"ttnn.neg\"(%0) : (" T ") -> " T "\n"

Test(graph, what_nothing_uses_is_no_user) {
    body(X, UNUSED "return %3 : " T);
    cr_assert_eq(graph_nuses(&ir.g, ir_value(&ir, "%0")), 1);
    cr_assert_eq(graph_nuses(&ir.g, ir_value(&ir, "%1")), 0);
}

Test(graph, what_a_piece_without_return_does_not_use_may_be_used_elsewhere) {
    body(X, UNUSED);
    cr_assert_eq(graph_nuses(&ir.g, ir_value(&ir, "%0")), 2);
}

Test(graph, deallocate_is_no_use_and_return_is_one) {
    body(X, "%0 = \"ttnn.exp\"(%x) : (" T ") -> " T "\n"
            "\"ttnn.deallocate\"(%x) <{force = false}> : (" T ") -> ()\n"
            "%1 = \"ttnn.neg\"(%0) : (" T ") -> " T "\n"
            "\"ttnn.deallocate\"(%0) <{force = false}> : (" T ") -> ()\n"
            "return %0, %1 : " T ", " T);
    cr_assert_eq(graph_nuses(&ir.g, ir_value(&ir, "%x")), 1);
    cr_assert_eq(graph_nuses(&ir.g, ir_value(&ir, "%0")), 2);
    cr_assert_eq(graph_nuses(&ir.g, ir_value(&ir, "%1")), 1);
    uint32_t v = ir_value(&ir, "%0"), first = ir.g.first_use[v];
    cr_assert_eq(ir.g.uses[first], ir_op(&ir, "%1"));
    cr_assert_eq(ir.g.kind[ir.g.uses[first + 1]], K_RETURN);
}

Test(graph, a_value_used_twice_by_one_op_has_two_uses) {
    body(X, "%0 = \"ttir.multiply\"(%x, %x) : (" T ", " T ") -> " T "\nreturn %0 : " T);
    cr_assert_eq(graph_nuses(&ir.g, ir_value(&ir, "%x")), 2);
}

#define NORM(operands, sizes)                                                                                          \
    "%0 = \"ttir.layer_norm\"(" operands ") <{epsilon = 1.0e-5 : f32, normalized_shape = array<i64: 4>, "              \
    "operandSegmentSizes = array<i32: " sizes ">}> : "

Test(graph, segments_say_which_optional_operand_is_absent) {
    const char *args = "%x: tensor<2x4xf32>, %p: tensor<4xf32>";
    body(args, NORM("%x, %p", "1, 0, 1") "(" T ", tensor<4xf32>) -> " T "\nreturn %0 : " T);
    cr_assert_eq(operand("%0", 1), NONE);
    cr_assert_eq(operand("%0", 2), ir_value(&ir, "%p"));
    body(args, NORM("%x, %p", "1, 1, 0") "(" T ", tensor<4xf32>) -> " T "\nreturn %0 : " T);
    cr_assert_eq(operand("%0", 1), ir_value(&ir, "%p"));
    cr_assert_eq(operand("%0", 2), NONE);
    for (int i = 0; i < 2; i++) { /* a dialect without the last roles prints fewer segments */
        body(args, i ? NORM("%x", "1") "(" T ") -> " T "\nreturn %0 : " T
                     : NORM("%x", "1, 0, 0") "(" T ") -> " T "\nreturn %0 : " T);
        cr_assert_eq(graph_noperands(&ir.g, ir_op(&ir, "%0")), 3);
        cr_assert_eq(operand("%0", 1), NONE);
        cr_assert_eq(operand("%0", 2), NONE);
    }
    body(args, NORM("%x, %p, %p", "1, 1, 1") "(" T ", tensor<4xf32>, tensor<4xf32>) -> " T "\nreturn %0 : " T);
    cr_assert_eq(operand("%0", 2), ir_value(&ir, "%p"));
}

Test(graph, without_segments_operands_fill_the_roles_in_order) {
    body("%x: tensor<2x4xf32>, %w: tensor<4xf32>",
         "%0 = \"ttnn.rms_norm\"(%x, %w) <{epsilon = 1.0e-5 : f32}> : (" T ", tensor<4xf32>) -> " T "\nreturn %0 : " T);
    cr_assert_eq(operand("%0", 1), ir_value(&ir, "%w"));
    cr_assert_eq(operand("%0", 2), NONE);
}

Test(graph, what_is_folded_in_makes_an_op_not_plain) {
    const char *args = "%a: tensor<2x4xf32>, %b: tensor<4x3xf32>";
#define MM(attrs) "%0 = \"ttnn.matmul\"(%a, %b) <{" attrs "}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>\n"
    body(args, MM("transpose_a = false, transpose_b = false") "return %0 : tensor<2x3xf32>");
    cr_assert(graph_plain(&ir.g, ir_op(&ir, "%0")));
    body(args, MM("activation = \"relu\"") "return %0 : tensor<2x3xf32>");
    cr_assert_not(graph_plain(&ir.g, ir_op(&ir, "%0")));
    body(args, MM("matmul_program_config = #ttnn.matmul_multi_core_reuse_multi_cast_program_config<in0_block_w = 1, "
                  "fused_activation = #ttnn.unary_with_param<op_type = relu>>") "return %0 : tensor<2x3xf32>");
    cr_assert_not(graph_plain(&ir.g, ir_op(&ir, "%0")));
    body(args,
         MM("matmul_program_config = #ttnn.matmul_multi_core_reuse_multi_cast_program_config<in0_block_w = 1>") "return"
                                                                                                                " %0 : "
                                                                                                                "tensor"
                                                                                                                "<2x3xf"
                                                                                                                "32>");
    cr_assert(graph_plain(&ir.g, ir_op(&ir, "%0")));
}

/* ---- shapes ---- */

Test(graph, shapes_of_scalars_dynamic_and_huge_tensors) {
    body("%s: tensor<f32>, %d: tensor<?x4xf32>, %u: tensor<*xf32>, %h: tensor<4611686018427387904x4xf32>, %i: i32, "
         "%z: tensor<0x4xf32>",
         "return");
    uint32_t rank = 9;
    cr_assert_not_null(graph_shape(&ir.g, ir_value(&ir, "%s"), &rank));
    cr_assert_eq(rank, 0);
    cr_assert_eq(graph_numel(&ir.g, ir_value(&ir, "%s")), 1);
    cr_assert_not_null(graph_shape(&ir.g, ir_value(&ir, "%i"), &rank));
    cr_assert_eq(rank, 0);
    cr_assert_eq(graph_numel(&ir.g, ir_value(&ir, "%d")), -1);
    cr_assert_null(graph_shape(&ir.g, ir_value(&ir, "%u"), &rank));
    cr_assert_eq(graph_numel(&ir.g, ir_value(&ir, "%u")), -1);
    cr_assert_eq(graph_numel(&ir.g, ir_value(&ir, "%h")), -1, "more elements than can be counted");
    cr_assert_eq(graph_numel(&ir.g, ir_value(&ir, "%z")), 0);
}

Test(graph, dimensions_that_are_not_known_may_all_vary) {
    body("%x: tensor<1x4xf32>, %y: tensor<*xf32>, %z: tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>", "return");
    uint32_t first = ir.m.funcs[0].first_arg;
    cr_assert_eq(graph_dimensions(&ir.g, first), 2);
    cr_assert_eq(graph_dimensions(&ir.g, first + 1), ALL_DIMENSIONS);
    cr_assert_eq(graph_dimensions(&ir.g, first + 2), ALL_DIMENSIONS, "more than there are bits");
}

/* ---- functions ---- */

Test(graph, functions_are_told_apart) {
    module("module {\n"
           "func.func private @main_const_eval_0(%a: " T ") -> " T " attributes {tt.function_type = \"const_eval\"} {\n"
           "  return %a : " T "\n}\n"
           "func.func private @weights(%a: " T ") -> " T " attributes {tt.function_type = \"const_eval\"} {\n"
           "  return %a : " T "\n}\n"
           "func.func private @main_const_eval_1(%a: " T ") -> " T " {\n  return %a : " T "\n}\n"
           "func.func private @cpu_hoisted_neg(%a: " T ") -> " T "\n"
           "func.func private @elsewhere(%a: " T ") -> " T "\n"
           "func.func private @rms_body(%a: " T ") -> " T " {\n"
           "  return %a : " T "\n}\n"
           "func.func @main(%x: " T ") -> " T " attributes {tt.function_type = \"forward_device\"} {\n"
           "  %0 = ttcore.load_cached(@main_const_eval_0, [%x]) : (" T ") -> " T "\n"
           "  %1 = \"ttcore.composite\"(%0) <{name = \"rms\", decomposition = @rms_body}> : (" T ") -> " T "\n"
           "  %2 = func.call @helper(%1) : (" T ") -> " T "\n"
           "  return %2 : " T "\n}\n"
           "func.func private @helper(%a: " T ") -> " T " {\n"
           "  %0 = \"ttir.exp\"(%a) : (" T ") -> " T "\n  return %0 : " T "\n}\n"
           "}\n");
    static const struct {
        const char *name;
        enum func_kind kind;
    } want[] = {{"main_const_eval_0", FUNC_CONST_EVAL},
                {"weights", FUNC_CONST_EVAL},
                {"main_const_eval_1", FUNC_CONST_EVAL},
                {"cpu_hoisted_neg", FUNC_CPU},
                {"elsewhere", FUNC_DECLARATION},
                {"rms_body", FUNC_COMPOSITE},
                {"main", FUNC_MAIN},
                {"helper", FUNC_MAIN}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        cr_assert_eq(ir.g.func_kind[ir_func(&ir, want[i].name)], want[i].kind, "%s", want[i].name);
    cr_assert_eq(ir.g.ops_before[ir.m.nops], 2, "the exp and the composite are ops: what calls and returns is none");
}

Test(graph, levels_are_those_of_audited_functions) {
    module("module {\n"
           "func.func private @f_const_eval_0(%a: " T ") -> " T " attributes {tt.function_type = \"const_eval\"} {\n"
           "  %0 = \"ttir.exp\"(%a) : (" T ") -> " T "\n  return %0 : " T "\n}\n"
           "func.func @f(%x: " T ") -> " T " {\n"
           "  %0 = \"ttnn.exp\"(%x) : (" T ") -> " T "\n  return %0 : " T "\n}\n}\n");
    cr_assert(ir.g.has_ttnn);
    cr_assert_not(ir.g.has_ttir);
}

Test(graph, functions_in_a_cpu_module_run_on_the_host) {
    module("ttcore.device_module {\nbuiltin.module {\n"
           "func.func @f(%x: " T ") -> " T " {\n  return %x : " T "\n}\n}\n}\n"
           "ttcore.cpu_module {\nbuiltin.module {\n"
           "func.func @h(%x: " T ") -> " T " {\n  return %x : " T "\n}\n}\n}\n");
    cr_assert_eq(ir.g.func_kind[ir_func(&ir, "f")], FUNC_MAIN);
    cr_assert_eq(ir.g.func_kind[ir_func(&ir, "h")], FUNC_CPU);
}

Test(graph, values_are_followed_through_calls_in_both_directions) {
    module("module {\n"
           "func.func private @f_const_eval_0(%p: " T ", %q: " T ") -> (" T ", " T ") attributes "
           "{tt.function_type = \"const_eval\"} {\n  return %q, %p : " T ", " T "\n}\n"
           "func.func @f(%x: " T " {ttcore.argument_type = #ttcore.argument_type<parameter>, ttir.name = \"w.0\"}, "
           "%y: " T " {ttcore.argument_type = #ttcore.argument_type<input>}) -> " T " {\n"
           "  %0:2 = ttcore.load_cached(@f_const_eval_0, [%x, %y]) : (" T ", " T ") -> (" T ", " T ")\n"
           "  %1 = \"ttnn.add\"(%0#0, %0#1) : (" T ", " T ") -> " T "\n  return %1 : " T "\n}\n}\n");
    uint32_t x = ir_value(&ir, "%x"), y = ir_value(&ir, "%y");
    cr_assert_eq(graph_callee_value(&ir.g, ir_value(&ir, "%0#0")), ir_value(&ir, "%q"));
    cr_assert_eq(graph_callee_value(&ir.g, ir_value(&ir, "%0#1")), ir_value(&ir, "%p"));
    cr_assert_eq(graph_callee_value(&ir.g, ir_value(&ir, "%1")), NONE);
    cr_assert_eq(graph_caller_value(&ir.g, ir_value(&ir, "%p")), x);
    cr_assert_eq(graph_caller_value(&ir.g, ir_value(&ir, "%q")), y);
    cr_assert_eq(graph_caller_value(&ir.g, x), NONE);
    cr_assert_eq(graph_argument(&ir.g, ir_value(&ir, "%0#0")), y);
    cr_assert_eq(graph_argument(&ir.g, ir_value(&ir, "%0#1")), x);
    cr_assert_eq(graph_argument(&ir.g, ir_value(&ir, "%1")), NONE);
    cr_assert(str_is(graph_argument_type(&ir.g, x), "parameter"));
    cr_assert(str_is(graph_argument_type(&ir.g, y), "input"));
    cr_assert(str_is(graph_argument_name(&ir.g, x), "w.0"));
    cr_assert_eq(graph_argument_name(&ir.g, y).n, 0);
    cr_assert(graph_is_parameter(&ir.g, ir_value(&ir, "%0#1")) == false, "one operand of the call is an input");
}

Test(graph, a_device_handle_among_arguments_shifts_nothing) {
    module("module {\n"
           "func.func private @f_const_eval_0(%d: !ttnn.device, %p: " T ") -> (!ttnn.device, " T ") attributes "
           "{tt.function_type = \"const_eval\"} {\n  return %d, %p : !ttnn.device, " T "\n}\n"
           "func.func @f(%x: " T " {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> " T " {\n"
           "  %d0 = \"ttnn.get_device\"() : () -> !ttnn.device\n"
           "  %0:2 = ttcore.load_cached(@f_const_eval_0, [%d0, %x]) : (!ttnn.device, " T ") -> (!ttnn.device, " T ")\n"
           "  return %0#1 : " T "\n}\n}\n");
    cr_assert_eq(graph_caller_value(&ir.g, ir_value(&ir, "%p")), ir_value(&ir, "%x"));
    cr_assert_eq(graph_callee_value(&ir.g, ir_value(&ir, "%0#1")), ir_value(&ir, "%p"));
    cr_assert(graph_is_parameter(&ir.g, ir_value(&ir, "%0#1")));
}

Test(graph, an_argument_of_a_function_called_twice_has_no_caller_value) {
    module("module {\n"
           "func.func private @g(%p: " T ") -> " T " attributes {tt.function_type = \"const_eval\"} {\n"
           "  return %p : " T "\n}\n"
           "func.func @f(%x: " T ", %y: " T ") -> " T " {\n"
           "  %0 = func.call @g(%x) : (" T ") -> " T "\n"
           "  %1 = func.call @g(%y) : (" T ") -> " T "\n"
           "  %2 = \"ttnn.add\"(%0, %1) : (" T ", " T ") -> " T "\n  return %2 : " T "\n}\n}\n");
    cr_assert_eq(graph_caller_value(&ir.g, ir_value(&ir, "%p")), NONE);
    cr_assert_eq(graph_argument(&ir.g, ir_value(&ir, "%0")), NONE, "%%p is no argument of an audited function");
    cr_assert_eq(graph_argument(&ir.g, ir_value(&ir, "%x")), ir_value(&ir, "%x"));
}

Test(graph, a_function_that_calls_itself_ends) {
    module("func.func @f(%x: " T ") -> " T " {\n"
           "  %0 = func.call @f(%x) : (" T ") -> " T "\n  return %0 : " T "\n}\n");
    cr_assert_not(graph_constant(&ir.g, ir_value(&ir, "%0")).known);
    cr_assert_not(graph_is_parameter(&ir.g, ir_value(&ir, "%0")));
    cr_assert_eq(graph_argument(&ir.g, ir_value(&ir, "%0")), NONE);
}

Test(graph, arguments_are_found_among_functions_without_any) {
    module("module {\n"
           "func.func @a(%x: " T ") {\n  return\n}\n"
           "func.func @b() {\n  %0 = \"ttir.ones\"() <{shape = array<i32: 2, 4>}> : () -> " T "\n  return\n}\n"
           "func.func @c() {\n  return\n}\n"
           "func.func @d(%y: " T ", %z: " T ") {\n  %1 = \"ttir.exp\"(%z) : (" T ") -> " T "\n  return\n}\n}\n");
    uint32_t f = NONE, n = NONE;
    cr_assert(graph_argument_of(&ir.g, ir_value(&ir, "%z"), &f, &n));
    cr_assert_eq(f, ir_func(&ir, "d"));
    cr_assert_eq(n, 1);
    cr_assert(graph_argument_of(&ir.g, ir_value(&ir, "%x"), &f, &n));
    cr_assert_eq(f, ir_func(&ir, "a"));
    cr_assert_not(graph_argument_of(&ir.g, ir_value(&ir, "%0"), &f, &n));
    cr_assert_not(graph_argument_of(&ir.g, ir_value(&ir, "%1"), &f, &n));
    body(X, "\"scf.if\"(%x) ({\n^bb0(%b: " T "):\n  \"scf.yield\"(%b) : (" T ") -> ()\n}) : (" T ") -> ()\nreturn");
    cr_assert(graph_argument_of(&ir.g, ir_value(&ir, "%x"), &f, &n));
    cr_assert_not(graph_argument_of(&ir.g, ir_value(&ir, "%b"), &f, &n), "an argument of a block");
}

Test(graph, a_function_that_returns_in_two_places_says_nothing_of_its_result) {
    module("module {\n"
           "func.func private @g(%c: tensor<i1>) -> " T " {\n"
           "  cf.cond_br %c, ^bb1, ^bb2\n"
           "^bb1:\n  %0 = \"ttir.zeros\"() <{shape = array<i32: 2, 4>}> : () -> " T "\n  return %0 : " T "\n"
           "^bb2:\n  %1 = \"ttir.ones\"() <{shape = array<i32: 2, 4>}> : () -> " T "\n  return %1 : " T "\n}\n"
           "func.func @f(%x: tensor<i1>) {\n  %r = func.call @g(%x) : (tensor<i1>) -> " T "\n  return\n}\n}\n");
    cr_assert_eq(graph_callee_value(&ir.g, ir_value(&ir, "%r")), NONE);
    cr_assert_not(graph_constant(&ir.g, ir_value(&ir, "%r")).known);
}

/* ---- constants ---- */

static struct constant of(const char *name) {
    return graph_constant(&ir.g, ir_value(&ir, name));
}

static void is(const char *name, double value) {
    struct constant c = of(name);
    cr_assert(c.known, "%s is known", name);
    cr_assert(c.value == value || fabs(c.value - value) < 1e-6 * fabs(value), "%s is %.9g, not %.9g", name, c.value,
              value);
}

static void is_not(const char *name) {
    cr_assert_not(of(name).known, "%s is not known", name);
}

Test(graph, constants_of_every_spelling) {
    body(
        "%x: tensor<2x4xf32>",
        "%full = \"ttir.full\"() <{fill_value = 3.0 : f32, shape = array<i32: 2, 4>}> : () -> " T "\n"
        "%int = \"ttnn.full\"() <{fill_value = 7 : i32, shape = #ttnn.shape<2x4>}> : () -> " T "\n"
        "%value = \"ttir.full\"() <{value = 4.0 : f32, shape = array<i32: 2, 4>}> : () -> " T "\n"
        "%zeros = \"ttir.zeros\"() <{shape = array<i32: 2, 4>}> : () -> " T "\n"
        "%ones = \"ttnn.ones\"() <{shape = #ttnn.shape<2x4>}> : () -> " T "\n"
        "%splat = \"ttir.constant\"() <{value = dense<0.5> : " T "}> : () -> " T "\n"
        "%list = \"ttir.constant\"() <{value = dense<[2.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>\n"
        "%mixed = \"ttir.constant\"() <{value = dense<[2.0, 3.0]> : tensor<2xf32>}> : () -> tensor<2xf32>\n"
        "%hex = \"ttir.constant\"() <{value = dense<0xFF800000> : " T "}> : () -> " T "\n"
        "%bits = \"ttir.full\"() <{fill_value = 0xFF80 : bf16, shape = array<i32: 2>}> : () -> tensor<2xbf16>\n"
        "%bytes = \"ttir.constant\"() <{value = dense<\"0x0000003F0000003F\"> : tensor<2xf32>}> : () -> tensor<2xf32>\n"
        "%cut = \"ttir.constant\"() <{value = dense_resource<__elided__> : " T "}> : () -> " T "\n"
        "%empty = \"ttnn.empty\"() : () -> " T "\nreturn");
    is("%full", 3);
    is("%int", 7);
    is("%value", 4);
    is("%zeros", 0);
    is("%ones", 1);
    is("%splat", 0.5);
    is("%list", 2);
    is("%hex", -INFINITY);
    is("%bits", -INFINITY);
    is("%bytes", 0.5);
    is_not("%mixed");
    is_not("%cut");
    is_not("%empty");
    is_not("%x");
}

Test(graph, constants_pass_movement_casts_layouts_and_arithmetic) {
    body("%x: tensor<2x4xf32>",
         "%c = \"ttir.full\"() <{fill_value = 4.0 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>\n"
         "%r = \"ttir.reshape\"(%c) <{shape = [1 : i32, 1 : i32]}> : (tensor<1xf32>) -> tensor<1x1xf32>\n"
         "%b = \"ttir.broadcast\"(%r) <{broadcast_dimensions = array<i64: 2, 4>}> : (tensor<1x1xf32>) -> " T "\n"
         "%l = \"ttnn.to_layout\"(%b) : (" T ") -> " T "\n"
         "%t = \"ttnn.typecast\"(%l) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (" T ") -> tensor<2x4xbf16>\n"
         "%s = \"ttir.sqrt\"(%b) : (" T ") -> " T "\n"
         "%a = \"ttir.add\"(%b, %s) : (" T ", " T ") -> " T "\n"
         "%d = \"ttir.div\"(%s, %b) : (" T ", " T ") -> " T "\n"
         "%p = \"ttnn.pow_scalar\"(%b) <{rhs = 3 : i32}> : (" T ") -> " T "\n"
         "%n = \"ttir.neg\"(%a) : (" T ") -> " T "\n"
         "%m = \"ttir.subtract\"(%s, %b) : (" T ", " T ") -> " T "\n"
         "%q = \"ttir.multiply\"(%s, %b) : (" T ", " T ") -> " T "\n"
         "%h = \"ttir.rsqrt\"(%b) : (" T ") -> " T "\n"
         "%u = \"ttir.add\"(%b, %x) : (" T ", " T ") -> " T "\n"
         "%e = \"ttir.exp\"(%b) : (" T ") -> " T "\nreturn");
    is("%t", 4);
    is("%s", 2);
    is("%a", 6);
    is("%d", 0.5);
    is("%p", 64);
    is("%n", -6);
    is("%m", -2);
    is("%q", 8);
    is("%h", 0.5);
    is_not("%u");
    cr_assert_eq(of("%l").bits, 24);
    cr_assert_eq(of("%t").bits, 8);
}

Test(graph, the_narrowest_format_on_the_way_counts) {
    body("", "%c = \"ttir.full\"() <{fill_value = 0.3 : f32, shape = array<i32: 1>}> : () -> tensor<1xbf16>\n"
             "%f = \"ttir.typecast\"(%c) : (tensor<1xbf16>) -> tensor<1xf32>\n"
             "%o = \"ttir.ones\"() <{shape = array<i32: 1>}> : () -> tensor<1xf32>\n"
             "%s = \"ttir.add\"(%f, %o) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>\n"
             "%h = \"ttir.full\"() <{fill_value = 0.3 : f32, shape = array<i32: 1>}> : () -> tensor<1xf16>\n"
             "%i = \"ttir.full\"() <{fill_value = 3 : i32, shape = array<i32: 1>}> : () -> tensor<1xi32>\n"
             "%b = \"ttir.typecast\"(%c) : (tensor<1xbf16>) -> tensor<1x!ttcore.tile<32x32, bfp_bf8>>\nreturn");
    cr_assert_eq(of("%f").bits, 8);
    cr_assert_eq(of("%b").bits, 7);
    cr_assert_eq(of("%s").bits, 8);
    cr_assert_eq(of("%o").bits, 24);
    cr_assert_eq(of("%h").bits, 11);
    cr_assert_eq(of("%i").bits, 53);
}

Test(graph, a_cast_to_integers_rounds_toward_zero) {
    body("", "%c = \"ttir.full\"() <{fill_value = 2.75 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>\n"
             "%i = \"ttir.typecast\"(%c) : (tensor<1xf32>) -> tensor<1xsi32>\n"
             "%b = \"ttir.typecast\"(%c) : (tensor<1xf32>) -> tensor<1xi1>\n"
             "%z = \"ttir.full\"() <{fill_value = 0.0 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>\n"
             "%no = \"ttir.typecast\"(%z) : (tensor<1xf32>) -> tensor<1xi1>\n"
             "%n = \"ttir.full\"() <{fill_value = 0xFF800000 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>\n"
             "%m = \"ttir.typecast\"(%n) : (tensor<1xf32>) -> tensor<1xsi32>\n"
             "%two = \"ttir.full\"() <{fill_value = 2 : i32, shape = array<i32: 1>}> : () -> tensor<1xsi32>\n"
             "%seven = \"ttir.full\"() <{fill_value = 7 : i32, shape = array<i32: 1>}> : () -> tensor<1xsi32>\n"
             "%q = \"ttir.div\"(%seven, %two) : (tensor<1xsi32>, tensor<1xsi32>) -> tensor<1xsi32>\n"
             "%s = \"ttir.add\"(%seven, %two) : (tensor<1xsi32>, tensor<1xsi32>) -> tensor<1xsi32>\nreturn");
    is("%i", 2);
    is("%b", 1);
    is("%no", 0);
    is_not("%m");
    is_not("%q");
    is("%s", 9);
}

/* 200 + 62 is 6 in eight bits. */
Test(graph, what_an_integer_format_does_not_hold_is_not_folded) {
    static const struct {
        const char *type;
        bool known;
    } cases[] = {{"ui8", false}, {"si8", false}, {"ui16", true}, {"si32", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b = {0};
        const char *t = cases[i].type;
        buf_printf(
            &b,
            "func.func @main() {\n%%a = \"ttir.full\"() <{fill_value = 100 : i32, shape = array<i32: 1>}> : () -> "
            "tensor<1x%s>\n%%s = \"ttir.add\"(%%a, %%a) : (tensor<1x%s>, tensor<1x%s>) -> tensor<1x%s>\n"
            "%%r = \"ttir.add\"(%%s, %%a) : (tensor<1x%s>, tensor<1x%s>) -> tensor<1x%s>\nreturn\n}\n%c",
            t, t, t, t, t, t, t, '\0');
        teardown();
        ir_read(&ir, b.p);
        buf_free(&b);
        cr_expect_eq(graph_constant(&ir.g, ir_value(&ir, "%r")).known, cases[i].known, "%s", t);
    }
}

Test(graph, constants_are_seen_through_const_eval_functions) {
    module("module {\n"
           "func.func @main(%x: " T ") -> " T " {\n"
           "  %0 = ttcore.load_cached(@main_const_eval_0, []) : () -> " T "\n"
           "  %c = \"ttnn.full\"() <{fill_value = 5.0 : f32, shape = #ttnn.shape<2x4>}> : () -> " T "\n"
           "  %1 = ttcore.load_cached(@main_const_eval_1, [%c]) : (" T ") -> " T "\n"
           "  %2 = \"ttnn.add\"(%0, %1) : (" T ", " T ") -> " T "\n  return %2 : " T "\n}\n"
           "func.func private @main_const_eval_0() -> " T " attributes {tt.function_type = \"const_eval\"} {\n"
           "  %0 = \"ttnn.full\"() <{fill_value = 2.0 : f32, shape = #ttnn.shape<2x4>}> : () -> " T "\n"
           "  return %0 : " T "\n}\n"
           "func.func private @main_const_eval_1(%a: " T ") -> " T " attributes {tt.function_type = \"const_eval\"} {\n"
           "  %3 = \"ttnn.neg\"(%a) : (" T ") -> " T "\n  return %3 : " T "\n}\n}\n");
    is("%0", 2);
    is("%1", -5);
    is("%3", -5);
    is("%2", -3);
}

/* A chain longer than any fixed depth, in a function that stands after its use. */
Test(graph, long_chains_of_constants_are_followed_to_the_end) {
    enum { N = 200000 };
    struct buf b = {0};
    buf_printf(
        &b, "module {\nfunc.func @main() {\n  %%r = ttcore.load_cached(@main_const_eval_0, []) : () -> tensor<1xf32>\n"
            "  return\n}\nfunc.func private @main_const_eval_0() -> tensor<1xf32> attributes "
            "{tt.function_type = \"const_eval\"} {\n"
            "  %%0 = \"ttir.full\"() <{fill_value = 2.0 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>\n");
    for (int i = 1; i <= N; i++)
        buf_printf(&b, "  %%%d = \"ttir.neg\"(%%%d) : (tensor<1xf32>) -> tensor<1xf32>\n", i, i - 1);
    buf_printf(&b, "  return %%%d : tensor<1xf32>\n}\n}\n%c", N, '\0');
    module(b.p);
    buf_free(&b);
    is("%r", 2);
    is("%199999", -2);
    cr_assert(graph_is_parameter(&ir.g, ir_value(&ir, "%r")));
}

/* ---- parameters ---- */

Test(graph, parameters_are_what_depends_on_parameters_only) {
    module("module {\n"
           "func.func private @main_const_eval_0(%p: " T ") -> " T " attributes {tt.function_type = \"const_eval\"} {\n"
           "  %q = \"ttnn.exp\"(%p) : (" T ") -> " T "\n  return %q : " T "\n}\n"
           "func.func @main(%w: " T " {ttcore.argument_type = #ttcore.argument_type<parameter>}, "
           "%k: " T " {ttcore.argument_type = #ttcore.argument_type<constant>}, "
           "%x: " T " {ttcore.argument_type = #ttcore.argument_type<input>}, %z: " T ") -> " T " {\n"
           "  %0 = ttcore.load_cached(@main_const_eval_0, [%w]) : (" T ") -> " T "\n"
           "  %1 = \"ttnn.add\"(%0, %k) : (" T ", " T ") -> " T "\n"
           "  %2 = \"ttnn.add\"(%1, %x) : (" T ", " T ") -> " T "\n"
           "  %3 = \"ttnn.ones\"() <{shape = #ttnn.shape<2x4>}> : () -> " T "\n"
           "  %4 = func.call @late(%0) : (" T ") -> " T "\n  return %2 : " T "\n}\n"
           "func.func private @late(%l: " T ") -> " T " {\n"
           "  %m = \"ttnn.exp\"(%l) : (" T ") -> " T "\n  return %m : " T "\n}\n}\n");
    static const struct {
        const char *name;
        bool parameter;
    } want[] = {{"%w", true}, {"%k", true}, {"%x", false}, {"%z", false}, {"%0", true}, {"%1", true}, {"%2", false},
                {"%3", true}, {"%4", true}, {"%p", true},  {"%q", true},  {"%l", true}, {"%m", true}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        cr_assert_eq(graph_is_parameter(&ir.g, ir_value(&ir, want[i].name)), want[i].parameter, "%s", want[i].name);
}

Test(graph, an_argument_of_no_type_is_what_its_use_and_its_name_say) {
    module("module {\nfunc.func private @main_const_eval_0(%p: " T ") -> " T
           " attributes {tt.function_type = \"const_eval\"} {\n  return %p : " T "\n}\n"
           "func.func private @helper(%h: " T ") -> " T " {\n  return %h : " T "\n}\n"
           "func.func @main(%cached: " T ", %called: " T ", %w: " T " {ttir.name = \"layers.0.fc.weight\"}, "
           "%x: " T " {ttir.name = \"args_0\"}, %b: " T " {ttir.name = \"bias\"}, %i: " T
           " {ttcore.argument_type = #ttcore.argument_type<input>, ttir.name = \"fc.bias\"}) {\n"
           "  %0 = ttcore.load_cached(@main_const_eval_0, [%cached]) : (" T ") -> " T "\n"
           "  %1 = func.call @helper(%called) : (" T ") -> " T "\n  return\n}\n}\n");
    static const struct {
        const char *name;
        bool parameter, input;
    } want[] = {{"%cached", true, false}, {"%called", false, false}, {"%w", true, false},
                {"%x", false, false},     {"%b", false, false},      {"%i", false, true}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        cr_assert_eq(graph_is_parameter(&ir.g, ir_value(&ir, want[i].name)), want[i].parameter, "%s", want[i].name);
        cr_assert_eq(graph_argument_is_input(&ir.g, ir_value(&ir, want[i].name)), want[i].input, "%s", want[i].name);
    }
}

Test(graph, what_depends_on_nothing_is_a_parameter_only_when_it_is_always_the_same) {
    body("", "%c = \"ttir.zeros\"() <{shape = array<i32: 2, 4>}> : () -> " T "\n"
             "%a = \"ttir.arange\"() <{start = 0 : si64}> : () -> " T "\n"
             "%r = \"ttir.rand\"() <{low = 0.0 : f32}> : () -> " T "\n"
             "%u = \"ttir.unheard_of\"() : () -> " T "\n"
             "%s = \"ttir.add\"(%c, %r) : (" T ", " T ") -> " T "\nreturn");
    cr_assert(graph_is_parameter(&ir.g, ir_value(&ir, "%c")));
    cr_assert(graph_is_parameter(&ir.g, ir_value(&ir, "%a")));
    cr_assert_not(graph_is_parameter(&ir.g, ir_value(&ir, "%r")));
    cr_assert_not(graph_is_parameter(&ir.g, ir_value(&ir, "%u")));
    cr_assert_not(graph_is_parameter(&ir.g, ir_value(&ir, "%s")));
}

/* ---- text that is wrong or strange ---- */

Test(graph, fragments_without_a_function_have_a_graph) {
    teardown();
    ir_read_bad(&ir, "%1 = \"ttir.add\"(%a, %b) : (" T ", tensor<4xf32>) -> " T "\n"
                     "%2 = \"ttir.exp\"(%1) : (" T ") -> " T "\n");
    cr_assert_eq(ir.m.ops[ir_op(&ir, "%1")].func, NONE);
    cr_assert(ir.g.has_ttir && !ir.g.has_ttnn);
    cr_assert_eq(graph_noperands(&ir.g, ir_op(&ir, "%1")), 2);
    cr_assert_eq(graph_nuses(&ir.g, ir_value(&ir, "%1")), 1);
    uint32_t rank, f, n, b = operand("%1", 1);
    cr_assert_not_null(graph_shape(&ir.g, b, &rank));
    cr_assert_eq(rank, 1);
    cr_assert_not(graph_argument_of(&ir.g, b, &f, &n));
    cr_assert_not(graph_constant(&ir.g, b).known);
    cr_assert_not(graph_is_parameter(&ir.g, ir_value(&ir, "%2")));
}

Test(graph, an_empty_text_has_an_empty_graph) {
    module("");
    cr_assert_eq(ir.g.nedges, 0);
    cr_assert_eq(ir.m.nops, 0);
}

/* Takes minutes if all functions are searched for each value. */
Test(graph, many_functions_without_arguments, .timeout = 20) {
    enum { N = 100000 };
    struct buf b = {0};
    buf_printf(&b, "module {\nfunc.func @first(%%x: tensor<1xf32>) {\n  return\n}\n");
    for (int i = 0; i < N; i++)
        buf_printf(&b,
                   "func.func @f%d() {\n  %%0 = \"ttir.exp\"(%%undefined) : (tensor<1xf32>) -> tensor<1xf32>\n"
                   "  return\n}\n",
                   i);
    buf_printf(&b, "}\n%c", '\0');
    teardown();
    ir_read_bad(&ir, b.p);
    buf_free(&b);
    cr_assert_eq(ir.m.nfuncs, 100001);
}

/* The same for results of calls to a long function without a return. */
Test(graph, many_calls_of_a_function_without_return, .timeout = 20) {
    enum { N = 100000 };
    struct buf b = {0};
    buf_printf(&b, "module {\nfunc.func private @body(%%x: tensor<1xf32>) -> tensor<1xf32> {\n");
    for (int i = 0; i < N; i++)
        buf_printf(&b, "  %%%d = \"ttir.exp\"(%%x) : (tensor<1xf32>) -> tensor<1xf32>\n", i);
    buf_printf(&b, "}\nfunc.func @main(%%y: tensor<1xf32>) {\n");
    for (int i = 0; i < N; i++)
        buf_printf(&b, "  %%%d = func.call @body(%%y) : (tensor<1xf32>) -> tensor<1xf32>\n", i);
    buf_printf(&b, "  return\n}\n}\n%c", '\0');
    module(b.p);
    buf_free(&b);
    cr_assert_eq(graph_callee_value(&ir.g, ir.m.ops[ir_op_named(&ir, "func.call", 7)].first_result), NONE);
}

/* ---- dependence ---- */

static unsigned varies(const char *result) {
    return ir.g.varies[ir.m.ops[ir_op(&ir, result)].first_result];
}

Test(graph, a_value_varies_along_what_it_is_made_of) {
    body(
        "%x: tensor<2x4x8xf32>, %row: tensor<8xf32>, %w: tensor<8x6xf32>",
        "%z = \"ttir.zeros\"() : () -> tensor<2x4x8xf32>\n"
        "%i = \"ttir.arange\"() <{start = 0 : si64, end = 4 : si64, step = 1 : si64, arange_dimension = 1 : i64}> : () "
        "-> "
        "tensor<2x4x8xf32>\n"
        "%a = \"ttir.add\"(%row, %z) : (tensor<8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>\n"
        "%b = \"ttir.add\"(%a, %i) : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>\n"
        "%c = \"ttir.permute\"(%a) <{permutation = array<i64: 2, 0, 1>}> : (tensor<2x4x8xf32>) -> tensor<8x2x4xf32>\n"
        "%d = \"ttir.reshape\"(%b) <{shape = [8 : i32, 8 : i32]}> : (tensor<2x4x8xf32>) -> tensor<8x8xf32>\n"
        "%e = \"ttir.reshape\"(%a) <{shape = [8 : i32, 2 : i32, 4 : i32]}> : (tensor<2x4x8xf32>) -> tensor<8x2x4xf32>\n"
        "%s = \"ttir.sum\"(%b) <{dim_arg = [2 : i32], keep_dim = false}> : (tensor<2x4x8xf32>) -> tensor<2x4xf32>\n"
        "%k = \"ttir.sum\"(%b) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<2x4x8xf32>) -> tensor<2x1x8xf32>\n"
        "%m = \"ttir.matmul\"(%a, %w) : (tensor<2x4x8xf32>, tensor<8x6xf32>) -> tensor<2x4x6xf32>\n"
        "%t = \"ttir.concat\"(%a, %a) <{dim = 1 : si32}> : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> "
        "tensor<2x8x8xf32>\n"
        "%n = \"ttir.softmax\"(%b) <{dimension = 2 : si32}> : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>\n"
        "%o = \"ttir.add\"(%x, %a) : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>\n"
        "%u = \"ttir.cumsum\"(%a) <{dim = 1 : i64}> : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>\n");
    static const struct {
        const char *result;
        unsigned dimensions;
    } expected[] = {{"%z", 0}, {"%i", 2}, {"%a", 4}, {"%b", 6}, {"%c", 1}, {"%d", 3}, {"%e", 6},
                    {"%s", 2}, {"%k", 4}, {"%m", 4}, {"%t", 6}, {"%n", 6}, {"%o", 7}, {"%u", 7}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        cr_expect_eq(varies(expected[i].result), expected[i].dimensions, "%s: %u", expected[i].result,
                     varies(expected[i].result));
}

/* Of any rank that maps can have; where the order of dimensions is not known along all. */
Test(graph, a_value_varies_at_the_limits_of_ranks_and_orders) {
    uint32_t rank = 16;
    bool reduced[16];
    body("%y: tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x2xf32>, %r: tensor<4xf32>",
         "%l = \"ttir.zeros\"() : () -> tensor<3x2x1x1x1x1x1x1x1x1x1x4xf32>\n"
         "%v = \"ttir.add\"(%r, %l) : (tensor<4xf32>, tensor<3x2x1x1x1x1x1x1x1x1x1x4xf32>) -> "
         "tensor<3x2x1x1x1x1x1x1x1x1x1x4xf32>\n"
         "%s = \"ttir.sum\"(%v) <{dim_arg = [0 : i32], keep_dim = true}> : (tensor<3x2x1x1x1x1x1x1x1x1x1x4xf32>) -> "
         "tensor<1x2x1x1x1x1x1x1x1x1x1x4xf32>\n"
         "%a = \"ttir.sum\"(%y) <{dim_arg = [0 : i32, 1 : i32, 2 : i32, 3 : i32, 4 : i32, 5 : i32, 6 : i32, 7 : i32, "
         "8 : i32, 9 : i32, 10 : i32, 11 : i32, 12 : i32, 13 : i32, 14 : i32, 15 : i32], keep_dim = false}> : "
         "(tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x2xf32>) -> tensor<f32>\n"
         "%b = \"ttir.sum\"(%y) <{dim_arg = [0 : i32, 0 : i32, 0 : i32, 0 : i32, 0 : i32, 0 : i32, 0 : i32, 0 : i32, "
         "0 : i32, 0 : i32, 0 : i32, 0 : i32, 0 : i32, 0 : i32, 0 : i32, 0 : i32, 0 : i32], keep_dim = true}> : "
         "(tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x2xf32>) -> tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x2xf32>\n"
         "%z = \"ttir.zeros\"() : () -> tensor<2x3x4xf32>\n"
         "%e = \"ttir.add\"(%r, %z) : (tensor<4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>\n"
         "%p = \"ttir.permute\"(%e) <{permutation = array<i64: 2, 0, 1>}> : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>\n"
         "%t = \"ttir.transpose\"(%e) : (tensor<2x3x4xf32>) -> tensor<4x?x3xf32>\n"
         "%n = \"ttir.arange\"() <{start = 0 : si64, end = 4 : si64, step = 1 : si64, arange_dimension = "
         "9223372036854775808 : i64}> : () -> tensor<2x3x4xf32>\n");
    cr_expect_eq(varies("%s"), 1 << 11);
    cr_expect_eq(varies("%n"), 7, "along a dimension that is no number");
    cr_expect_eq(varies("%p"), 1);
    cr_expect_eq(varies("%t"), 7);
    cr_expect_eq(graph_reduced_dims(&ir.g, ir_op(&ir, "%a"), rank, reduced), 16);
    cr_expect_eq(graph_reduced_dims(&ir.g, ir_op(&ir, "%b"), rank, reduced), NONE);
}

/* ---- ops that change nothing ---- */

Test(graph, ops_that_change_nothing_are_looked_through) {
    static const struct {
        const char *text;
        bool through;
    } all[] = {
        {"%c = \"ttir.zeros\"() : () -> " T "\n%r = \"ttir.add\"(%c, %x) : (" T ", " T ") -> " T, true},
        {"%c = \"ttir.zeros\"() : () -> " T "\n%r = \"ttir.subtract\"(%x, %c) : (" T ", " T ") -> " T, true},
        {"%c = \"ttir.zeros\"() : () -> " T "\n%r = \"ttir.subtract\"(%c, %x) : (" T ", " T ") -> " T, false},
        {"%c = \"ttir.ones\"() : () -> " T "\n%r = \"ttir.divide\"(%c, %x) : (" T ", " T ") -> " T, false},
        {"%c = \"ttir.ones\"() : () -> " T "\n%r = \"ttir.maximum\"(%x, %c) : (" T ", " T ") -> " T, false},
        {"%r = \"ttir.slice_static\"(%x) <{begins = [0 : i32, 0 : i32], ends = [2 : i32, 4 : i32], step = [1 : i32, 1 "
         ": "
         "i32]}> : (" T ") -> " T,
         true},
        {"%c = \"ttir.reshape\"(%x) <{shape = [8 : i32, 1 : i32]}> : (" T ") -> tensor<8x1xf32>\n"
         "%r = \"ttir.sum\"(%c) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<8x1xf32>) -> tensor<8xf32>",
         true},
        {"%r = \"ttir.sum\"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : (" T ") -> tensor<2x1xf32>", false},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        body(X, all[i].text);
        cr_expect_eq(graph_looks_through(&ir.g, ir_op(&ir, "%r")), all[i].through, "%s", all[i].text);
    }
}
