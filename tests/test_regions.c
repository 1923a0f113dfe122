/* Elementwise regions: the worked examples of ttnn.jit's documentation, and each rule and its opposite. */
#include "elementwise/regions.h"
#include "ir_text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;
static struct diags diags;
static struct region_rules rules;
static struct region_list found;
static struct region_near_list near;
static struct ir ir;

static void setup(void) {
    diags.arena = &arena;
    cr_assert(region_rules_load(&rules, getenv("FA_DEVICES"), &arena, &diags), "%s",
              diags.n ? diags.items[0].message : "");
}

static void drop(void) {
    free(found.items);
    free(near.items);
    found = (struct region_list){0};
    near = (struct region_near_list){0};
    ir_free(&ir);
}

static void teardown(void) {
    drop();
    region_rules_free(&rules);
    diags_free(&diags);
    arena_free(&arena);
}

TestSuite(regions, .init = setup, .fini = teardown, .timeout = 60);

/* The regions of a function, whose ops are written as MLIR. */
static void find(enum region_kind kind, const char *args, const char *body) {
    drop();
    ir_main(&ir, args, body);
    regions_find(&ir.g, &rules, kind, &arena, &found, &near);
}

/* "%5 = "ttnn.add"(%1, %2) : (T, T) -> T". */
static void add_op(char *out, const char *result, const char *op, const char *operands, const char *type) {
    char types[512] = "";
    uint32_t n = 1;
    for (const char *p = operands; *p; p++)
        n += *p == ',';
    for (uint32_t i = 0; i < n; i++)
        sprintf(types + strlen(types), "%s%s", i ? ", " : "", type);
    sprintf(out + strlen(out), "%s = \"ttnn.%s\"(%s) : (%s) -> %s\n", result, op, operands, types, type);
}

/* Ops as "result op operands" lines, all of one type. */
static void find_all(enum region_kind kind, const char *args, const char *type, const char *lines) {
    char body[16384] = "", declared[2048] = "", result[32], op[32], operands[256];
    for (const char *p = args; *p; p += strcspn(p, " "), p += *p == ' ')
        sprintf(declared + strlen(declared), "%s%.*s: %s", declared[0] ? ", " : "", (int)strcspn(p, " "), p, type);
    for (const char *p = lines; *p; p += strcspn(p, ";"), p += *p == ';') {
        cr_assert_eq(sscanf(p, " %31s %31s %255[^;]", result, op, operands), 3);
        if (strcmp(op, "return") == 0)
            sprintf(body + strlen(body), "return %s : %s\n", operands, type);
        else
            add_op(body, result, op, operands, type);
    }
    find(kind, declared, body);
}

#define TILES "tensor<64x64xbf16>"
#define WIDE  "tensor<64x64xf32>"

/* ---- the worked examples ---- */

Test(regions, chain_runs_in_one_register) {
    find_all(REGION_ELEMENTWISE, "%x", TILES, "%0 abs %x;%1 sin %0;%2 neg %1;%3 exp %2;_ return %3");
    cr_assert_eq(found.n, 1);
    cr_expect_eq(found.items[0].match.nops, 4);
    cr_expect_eq(found.items[0].ninputs, 1);
    cr_expect_eq(found.items[0].registers, 1);
}

/* A register has 32 bits: what TTNN stores in fewer between two ops is not rounded in the kernel. */
Test(regions, rounding_that_a_kernel_leaves_out_is_said) {
    static const char *const types[] = {TILES, "tensor<64x64x!ttcore.tile<32x32, bfp_bf8>>", WIDE};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        find_all(REGION_ELEMENTWISE, "%x", types[i], "%0 abs %x;%1 sin %0;_ return %1");
        cr_assert_eq(found.n, 1, "%s", types[i]);
        struct match_detail d = region_detail(&ir.g, &rules, &found.items[0], &arena);
        struct str last = d.remarks.items[d.remarks.n - 1];
        cr_expect_eq(str_starts(last, STR("intermediates are taken to stay in 32-bit registers")), i < 2, "%s: %.*s",
                     types[i], (int)last.n, last.p);
    }
}

/* Six in the order as written. */
Test(regions, tree_of_eight_inputs_needs_five_registers) {
    find_all(REGION_ELEMENTWISE, "%a %b %c %d %e %f %g %h", TILES,
             "%0 add %a, %b;%1 add %c, %d;%2 add %e, %f;%3 add %g, %h;%4 add %0, %1;%5 add %2, %3;%6 add %4, %5;"
             "_ return %6");
    cr_assert_eq(found.n, 1);
    const struct region *r = &found.items[0];
    cr_expect_eq(r->ninputs, 8);
    cr_expect_eq(r->registers, 5);
    cr_expect_eq(r->match.nops, 7);
    cr_expect_eq(r->match.root, ir_op(&ir, "%6"));
    struct match_detail d = region_detail(&ir.g, &rules, r, &arena);
    cr_expect(str_is(d.remarks.items[0], "7 ops, 8 inputs of at most 31."), "%s", d.remarks.items[0].p);
    cr_expect(str_is(d.remarks.items[1], "5 of 8 destination registers."), "%s", d.remarks.items[1].p);
}

/* ttnn.full is no elementwise op: its result is an input. */
Test(regions, cosh_is_one_kernel) {
    find(REGION_ELEMENTWISE, "%x: tensor<32x32xbf16>, %device: !ttnn.device",
         "%1 = \"ttnn.exp\"(%x) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>\n"
         "%2 = \"ttnn.neg\"(%x) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>\n"
         "%3 = \"ttnn.exp\"(%2) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>\n"
         "%4 = \"ttnn.add\"(%1, %3) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>\n"
         "%5 = \"ttnn.full\"(%device) <{dtype = #ttcore.supportedDataTypes<bf16>, fill_value = 5.000000e-01 : f32, "
         "layout = #ttnn.layout<tile>, shape = #ttnn.shape<32x32>}> : (!ttnn.device) -> tensor<32x32xbf16>\n"
         "%6 = \"ttnn.multiply\"(%4, %5) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>\n"
         "return %6 : tensor<32x32xbf16>\n");
    cr_assert_eq(found.n, 1);
    cr_expect_eq(found.items[0].match.nops, 5);
    cr_expect_eq(found.items[0].ninputs, 3);
    cr_expect_eq(found.items[0].registers, 3);
}

/* The figures of "Fusion Zoo": unary after unary, unary into binary, binary into unary, two binaries into one. */
Test(regions, the_four_shapes_that_fuse) {
    static const struct {
        const char *lines;
        uint32_t nops, ninputs, registers;
    } shapes[] = {{"%0 exp %a;%1 neg %0;_ return %1", 2, 1, 1},
                  {"%0 exp %a;%1 add %0, %b;_ return %1", 2, 2, 3},
                  {"%0 add %a, %b;%1 exp %0;_ return %1", 2, 2, 3},
                  {"%0 add %a, %b;%1 add %c, %d;%2 add %0, %1;_ return %2", 3, 4, 4}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        find_all(REGION_ELEMENTWISE, "%a %b %c %d", TILES, shapes[i].lines);
        cr_assert_eq(found.n, 1, "%zu", i);
        cr_expect_eq(found.items[0].match.nops, shapes[i].nops);
        cr_expect_eq(found.items[0].ninputs, shapes[i].ninputs);
        cr_expect_eq(found.items[0].registers, shapes[i].registers);
    }
}

/* ---- limits ---- */

/* A chain of additions: n inputs, n - 1 ops. */
static void find_sum(uint32_t n, const char *type) {
    char body[16384] = "", args[4096] = "", result[16], operands[40];
    for (uint32_t i = 0; i < n; i++)
        sprintf(args + strlen(args), "%s%%a%u: %s", i ? ", " : "", i, type);
    for (uint32_t i = 1; i < n; i++) {
        sprintf(result, "%%%u", i);
        sprintf(operands, i > 1 ? "%%%u, %%a%u" : "%%a%u, %%a%u", i - 1, i);
        add_op(body, result, "add", operands, type);
    }
    sprintf(body + strlen(body), "return %%%u : %s\n", n - 1, type);
    find(REGION_ELEMENTWISE, args, body);
}

Test(regions, inputs_and_result_have_32_buffers) {
    find_sum(31, TILES);
    cr_assert_eq(found.n, 1);
    cr_expect_eq(found.items[0].ninputs, 31);
    find_sum(32, TILES);
    cr_assert_eq(found.n, 1); /* the other kernel is a single addition */
    cr_expect_leq(found.items[0].ninputs, 31);
    cr_expect_eq(found.items[0].match.nops, 30);
    cr_assert_eq(near.n, 1);
    cr_expect(near.items[0].fault == FAULT_INPUTS && near.items[0].count == 32 && near.items[0].most == 31);
}

Test(regions, seven_inputs_where_a_tensor_is_wide) {
    find_sum(7, WIDE);
    cr_assert_eq(found.n, 1);
    cr_expect(found.items[0].wide && found.items[0].ninputs == 7);
    find_sum(8, WIDE);
    cr_assert_eq(found.n, 1);
    cr_expect_eq(found.items[0].match.nops, 6);
    cr_assert_eq(near.n, 1);
    cr_expect(near.items[0].fault == FAULT_INPUTS && near.items[0].most == 7 && near.items[0].wide);
    find_sum(8, TILES);
    cr_expect_eq(found.items[0].match.nops, 7);
}

/* Four registers of 32 bits: an op of three inputs needs them all, and one more where an operand is computed before. */
Test(regions, registers_limit_ops_of_three_operands) {
    const char *lines = "%0 clamp_tensor %a, %b, %c;%1 add %d, %0;_ return %1";
    find_all(REGION_ELEMENTWISE, "%a %b %c %d", WIDE, lines);
    cr_assert_eq(found.n, 1);
    cr_expect_eq(found.items[0].registers, 4);
    lines = "%0 add %a, %b;%1 clamp_tensor %c, %d, %e;%2 clamp_tensor %f, %0, %1;_ return %2";
    find_all(REGION_ELEMENTWISE, "%a %b %c %d %e %f", WIDE, lines);
    cr_assert_eq(found.n, 1);
    lines = "%0 clamp_tensor %a, %b, %c;%1 clamp_tensor %d, %e, %f;%2 add %0, %1;_ return %2";
    find_all(REGION_ELEMENTWISE, "%a %b %c %d %e %f", WIDE, lines);
    cr_assert_eq(found.n, 1); /* one of the two, with the addition */
    cr_expect_eq(found.items[0].match.nops, 2);
    cr_assert_eq(near.n, 1);
    cr_expect(near.items[0].fault == FAULT_REGISTERS && near.items[0].count == 5 && near.items[0].most == 4);
    find_all(REGION_ELEMENTWISE, "%a %b %c %d %e %f", TILES, lines);
    cr_expect_eq(found.items[0].match.nops, 3);
}

/* ---- trees ---- */

Test(regions, a_value_with_two_users_ends_a_kernel) {
    find_all(REGION_ELEMENTWISE, "%a", TILES, "%0 exp %a;%1 neg %0;%2 abs %0;%3 add %1, %2;_ return %3");
    cr_assert_eq(found.n, 1);
    cr_expect_eq(found.items[0].match.nops, 3);
    find_all(REGION_ELEMENTWISE, "%a", TILES, "%0 exp %a;%1 multiply %0, %0;_ return %1");
    cr_assert_eq(found.n, 1); /* one user, which takes it twice */
    cr_expect_eq(found.items[0].registers, 2);
}

/* The exit is an op without listed users; %0 is used by a listed op and by the return. */
Test(regions, what_is_used_besides_is_in_no_group) {
    find(REGION_ELEMENTWISE, "%a: " TILES,
         "%0 = \"ttnn.exp\"(%a) : (" TILES ") -> " TILES "\n%1 = \"ttnn.neg\"(%0) : (" TILES ") -> " TILES
         "\nreturn %0, %1 : " TILES ", " TILES "\n");
    cr_expect_eq(found.n, 0);
}

Test(regions, an_input_may_have_one_other_user_unless_it_is_an_argument) {
    const char *lines = "%m matmul %a, %b;%0 add %m, %a;%1 exp %0;%2 matmul %m, %b;%3 matmul %1, %2;_ return %3";
    find_all(REGION_ELEMENTWISE, "%a %b", TILES, lines);
    cr_expect_eq(found.n, 1);
    lines = "%m matmul %a, %b;%0 add %m, %a;%1 exp %0;%2 matmul %m, %b;%3 matmul %1, %2;%4 matmul %3, %m;_ return %4";
    find_all(REGION_ELEMENTWISE, "%a %b", TILES, lines);
    cr_expect_eq(found.n, 0);
    cr_assert_eq(near.n, 1);
    cr_expect(near.items[0].fault == FAULT_USERS && near.items[0].value == ir_value(&ir, "%m"));
    lines = "%0 add %a, %a;%1 exp %0;%2 matmul %a, %b;%3 matmul %1, %2;%4 matmul %3, %a;_ return %4";
    find_all(REGION_ELEMENTWISE, "%a %b", TILES, lines);
    cr_expect_eq(found.n, 1);
}

Test(regions, ops_that_are_not_listed_end_a_kernel) {
    find_all(REGION_ELEMENTWISE, "%a", TILES, "%0 exp %a;%1 typecast %0;%2 neg %1;_ return %2");
    cr_expect_eq(found.n, 0);
    find_all(REGION_ELEMENTWISE, "%a", TILES, "%0 exp %a;%1 leaky_relu %0;%2 neg %1;_ return %2");
    cr_expect_eq(found.n, 0);
}

/* ---- tensors ---- */

Test(regions, tensors_are_tiled_and_aligned) {
    const char *lines = "%0 exp %a;%1 neg %0;_ return %1";
#define LAYOUT(memory, what)                                                                                           \
    "tensor<64x64xbf16, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<" what ", #ttnn.buffer_type<" memory ">" \
    ">"
    static const char *const good[] = {"tensor<2x64x96xbf16>", "tensor<32x32xf32>",
                                       LAYOUT("dram", "2x2x!ttcore.tile<32x32, bf16>") ", <interleaved>>>",
                                       LAYOUT("dram", "2x2x!ttcore.tile<32x32, bfp_bf8>") ", <interleaved>>>",
                                       LAYOUT("l1", "2x2x!ttcore.tile<32x32, bf16>") ", <block_sharded>>>"};
    static const char *const bad[] = {"tensor<1x64xbf16>",
                                      "tensor<64x40xbf16>",
                                      "tensor<64xbf16>",
                                      "tensor<64x64xsi32>",
                                      "tensor<64x64xui16>",
                                      LAYOUT("dram", "64x64xbf16") ", <interleaved>>>",
                                      LAYOUT("l1", "2x2x!ttcore.tile<32x32, bf16>") ", <interleaved>>>",
                                      LAYOUT("system_memory", "2x2x!ttcore.tile<32x32, bf16>") ">>"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        find_all(REGION_ELEMENTWISE, "%a", good[i], lines);
        cr_expect_eq(found.n, 1, "%s", good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        find_all(REGION_ELEMENTWISE, "%a", bad[i], lines);
        cr_expect(found.n == 0 && near.n == 1, "%s", bad[i]);
    }
    find_all(REGION_ELEMENTWISE, "%a %b", "tensor<64x64xsi32>", "%0 bitwise_and %a, %b;%1 bitwise_not %0;_ return %1");
    cr_expect_eq(found.n, 1);
    find_all(REGION_ELEMENTWISE, "%a %b", TILES, "%0 bitwise_and %a, %b;%1 bitwise_not %0;_ return %1");
    cr_expect_eq(found.n, 0);
}

Test(regions, one_row_keeps_two_ops_apart) {
    find(REGION_ELEMENTWISE, "%a: " TILES ", %b: tensor<1x64xbf16>",
         "%0 = \"ttnn.add\"(%a, %b) : (" TILES ", tensor<1x64xbf16>) -> " TILES "\n%1 = \"ttnn.exp\"(%0) : (" TILES
         ") -> " TILES "\nreturn %1 : " TILES "\n");
    cr_expect_eq(found.n, 0);
    cr_assert_eq(near.n, 1);
    cr_expect(near.items[0].fault == FAULT_ALIGNED && near.items[0].value == ir_value(&ir, "%b"));
}

/* What is broadcast inside of a kernel has fewer tiles than its result. */
Test(regions, results_have_one_shape) {
    find(REGION_ELEMENTWISE, "%a: tensor<1x32x32xbf16>, %b: tensor<4x32x32xbf16>",
         "%0 = \"ttnn.exp\"(%a) : (tensor<1x32x32xbf16>) -> tensor<1x32x32xbf16>\n"
         "%1 = \"ttnn.add\"(%b, %0) : (tensor<4x32x32xbf16>, tensor<1x32x32xbf16>) -> tensor<4x32x32xbf16>\n"
         "return %1 : tensor<4x32x32xbf16>\n");
    cr_expect_eq(found.n, 0);
    cr_assert_eq(near.n, 1);
    cr_expect_eq(near.items[0].fault, FAULT_SHAPE);
}

#define SHARDS(grid, shard)                                                                                            \
    "tensor<128x64xbf16, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <" grid ">, memref<" shard                            \
    "x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<l1>>, <block_sharded>>>"

Test(regions, shards_are_alike) {
    const char *a = SHARDS("2x2", "2x1"), *b = SHARDS("4x2", "1x1");
    char args[1024], body[4096];
    for (int alike = 0; alike < 2; alike++) {
        const char *c = alike ? a : b;
        sprintf(args, "%%a: %s, %%b: %s", a, c);
        sprintf(
            body,
            "%%0 = \"ttnn.add\"(%%a, %%b) : (%s, %s) -> %s\n%%1 = \"ttnn.exp\"(%%0) : (%s) -> %s\nreturn %%1 : %s\n", a,
            c, a, a, a, a);
        find(REGION_ELEMENTWISE, args, body);
        cr_expect_eq(found.n, (uint32_t)alike);
        cr_expect(!alike || found.items[0].grid_known);
    }
}

/* ---- reductions ---- */

static void find_reduction(enum region_kind kind, const char *from, const char *to, const char *dims) {
    char args[1024], body[4096];
    sprintf(args, "%%a: %s", from);
    sprintf(body,
            "%%0 = \"ttnn.exp\"(%%a) : (%s) -> %s\n%%1 = \"ttnn.sum\"(%%0) <{dim_arg = [%s], keep_dim = true}> : (%s) "
            "-> %s\nreturn %%1 : %s\n",
            from, from, dims, from, to, to);
    find(kind, args, body);
}

Test(regions, a_reduction_of_one_dimension_ends_a_kernel) {
    const char *from = SHARDS("2x2", "2x1");
    const char *to = "tensor<128x1xbf16, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <2x1>, memref<2x1x!ttcore.tile<32x32, "
                     "bf16>, #ttnn.buffer_type<l1>>, <height_sharded>>>";
    find_reduction(REGION_REDUCTION, from, to, "1 : i32");
    cr_assert_eq(found.n, 1);
    cr_expect(found.items[0].match.pattern == &rules.claims[REGION_REDUCTION] && found.items[0].registers == 2);
    find_reduction(REGION_ELEMENTWISE, from, to, "1 : i32");
    cr_expect_eq(found.n, 0);
    to = "tensor<1x1xbf16, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, "
         "#ttnn.buffer_type<l1>>, <height_sharded>>>";
    find_reduction(REGION_REDUCTION, from, to, "0 : i32, 1 : i32");
    cr_expect_eq(found.n, 0);
    find_reduction(REGION_REDUCTION, TILES, "tensor<64x1xbf16>", "1 : i32"); /* in DRAM */
    cr_expect_eq(found.n, 0);
}

/* ---- the file of the rules ---- */

/* The file of the rules with one text replaced by another. */
static struct str edited(struct str text, const char *from, const char *to) {
    const char *at = strstr(text.p, from);
    cr_assert(at, "%s", from);
    return arena_printf(&arena, "%.*s%s%s", (int)(at - text.p), text.p, to, at + strlen(from));
}

Test(regions, rules_that_are_wrong_are_refused_with_their_place) {
    static const struct {
        const char *from, *to, *message;
        uint32_t line;
    } wrong[] = {
        {"limits:", "limit:", "unknown key: limit", 1},
        {"types: [f32, bf16]", "types: 1", "types takes a list", 12},
        {"  registers: 8", "  register: 8", "unknown key: register", 4},
        {"registers: 8", "registers: 0", "registers takes a number from 1 to 1024", 4},
        {"registers: 8", "registers: 1025", "registers takes a number from 1 to 1024", 4},
        {"registers: 8", "registers: [8]", "registers takes a number from 1 to 1024", 4},
        {"elementwise:", "other:", "unknown key: other", 7},
        {"  registers: 8\n", "", "lacks the key registers", 2},
        {"  pass: a", "  passes: a", "unknown key: passes", 8},
        {"pattern: B", "pattern: {}", "pattern takes the name of a pattern", 9},
        {"  flag: c", "  f: c", "unknown key: f", 10},
        {"groups:", "group:", "unknown key: group", 11},
        {"- types: [f32, bf16]", "- type: [f32]", "unknown key: type", 12},
        {"[f32, bf16]", "[f32, float]", "no such element type: float", 12},
        {"ops: [abs]", "op: [abs]", "unknown key: op", 13},
        {"ops: [abs]", "ops: [matmul]", "no elementwise op: ttnn.matmul", 13},
        {"ops: [abs]", "ops: [[abs]]", "no elementwise op: ttnn.", 13},
        {"ops: [sum]", "ops: [abs]", "no reduction: ttnn.abs", 20},
        {"limits:", "limits: ]", "not YAML: ", 1},
    };
    const struct str text =
        STR("limits:\n  circular_buffers: 32\n  wide_inputs: 7\n  registers: 8\n  wide_registers: 4\n"
            "  other_users: 1\nelementwise:\n  pass: a\n  pattern: B\n  flag: c\n  groups:\n"
            "    - types: [f32, bf16]\n      ops: [abs]\nelementwise-reduction:\n  pass: a\n"
            "  pattern: C\n  flag: d\n  groups:\n    - types: [f32]\n      ops: [sum]\n");
    for (size_t i = 0; i <= sizeof wrong / sizeof *wrong; i++) {
        bool good = i == sizeof wrong / sizeof *wrong;
        struct str changed = good ? text : edited(text, wrong[i].from, wrong[i].to);
        struct region_rules r = {0};
        diags_free(&diags);
        diags = (struct diags){.arena = &arena};
        cr_assert_eq(region_rules_load_text(&r, "rules.yml", changed, &arena, &diags), good);
        cr_assert_eq(diags.n, !good);
        if (!good)
            cr_expect(strstr(diags.items[0].message, wrong[i].message) && diags.items[0].line == wrong[i].line,
                      "%u: %s", (unsigned)diags.items[0].line, diags.items[0].message);
        region_rules_free(&r);
    }
}
