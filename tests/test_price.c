/* What a match costs with and without the fusion: what is counted exactly, what is estimated against worked examples.
 */
#include "device/price/price.h"
#include "pattern_text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(price, .init = search_setup, .fini = search_teardown, .timeout = 30);

#define LINEAR "name: linear\nfused_op: ttnn.linear\nsource: ttnn\nmatch: |\n  p = matmul(a, b)\n  out = p + c\n"
#define ACTIVE                                                                                                         \
    "name: active\nfused_op: ttnn.linear\nsource: ttnn\nmatch: |\n  p = matmul(a, b)\n  q = p + c\n  out = op "        \
    "gelu(q)\n"
#define NORM                                                                                                           \
    "name: norm\nfused_op: ttnn.rms_norm\nsource: ttnn\nmatch: |\n  m = mean(x * x, dim=-1)\n"                         \
    "  out = x * rsqrt(m + eps) * w\n"
#define ATTENTION                                                                                                      \
    "name: attention\nfused_op: ttnn.scaled_dot_product_attention\nsource: ttnn\nmatch: |\n"                           \
    "  s = matmul(q, transposed(k)) * scale + mask\n  out = matmul(softmax(s, dim=-1), v)\n"

static struct chips chips;
static struct device device;

static void on(const char *chip) {
    chips_free(&chips);
    cr_assert(chips_load(&chips, getenv("FA_DEVICES"), &arena, &diags));
    const struct chip *c = chip_named(&chips, str_of(chip));
    cr_assert(c, "%s", chip);
    device = (struct device){*c, CHIP_CHOSEN};
}

/* The price of the only match in `ir`. */
static struct price price_here(void) {
    struct match_detail d;
    struct pricer p;
    if (!chips.n)
        on("n150");
    list.n = 0;
    match_function(&set, &ir.g, 0, &arena, &list);
    cr_assert_eq(list.n, 1, "%u places in\n%s", list.n, ir.text);
    cr_assert(match_details(&list.items[0], &arena, &d));
    pricer_begin(&p, &ir.g, &device, chips.cycles);
    struct price x = price_match(&p, &list.items[0], &d);
    pricer_end(&p);
    return x;
}

static struct price price_short(const char *args, const char *ops) {
    forget_ir();
    ir_short(&ir, args, ops);
    return price_here();
}

/* `%s` of the body stands for a type with this layout. */
static struct price price_with_layout(const char *layout, const char *body) {
    char text[4096];
    snprintf(text, sizeof text, "#dram = #ttnn.buffer_type<dram>\n#l1 = #ttnn.buffer_type<l1>\n#layout = %s\n%s",
             layout, body);
    forget_ir();
    ir_read(&ir, text);
    return price_here();
}

static int64_t traffic(const struct cost *c) {
    return c->counted.dram_read + c->counted.dram_written;
}
static double saved_bytes(const struct price *x) {
    return (double)(traffic(&x->without) - traffic(&x->with));
}
static bool near(double a, double b, double tolerance) {
    return a > b * (1 - tolerance) && a < b * (1 + tolerance);
}

#define M4096 "a:4096x4096xbf16!input b:4096x4096xbf16!parameter c:1x4096xbf16!parameter"
#define PLUS  "p = ttnn.matmul a b -> 4096x4096xbf16; o = ttnn.add p c -> 4096x4096xbf16; return o"

/* ---- counted ---- */

Test(price, a_bias_saves_one_launch_and_two_passes_over_the_product) {
    pattern_file(LINEAR);
    struct price x = price_short(M4096, PLUS);
    const int64_t e = 4096L * 4096 * 2, bias = 128 * 2048;
    cr_assert(x.known);
    cr_expect_eq(x.without.counted.launches, 2);
    cr_expect_eq(x.with.counted.launches, 1);
    cr_expect_eq(x.without.counted.dram_read, 3 * e + bias);
    cr_expect_eq(x.without.counted.dram_written, 2 * e);
    cr_expect_eq(x.with.counted.dram_read, 2 * e + bias);
    cr_expect_eq(x.with.counted.dram_written, e);
    cr_expect_eq(x.without.counted.held, e);
    cr_expect_eq(x.with.counted.held, 0);
    cr_expect_not(x.apart.bias || x.apart.activation);
}

Test(price, a_bias_of_several_rows_stays_an_addition) {
    pattern_file(LINEAR);
    struct price x = price_short("a:64x64xbf16!input b:64x64xbf16!parameter c:64x64xbf16!input",
                                 "p = ttnn.matmul a b -> 64x64xbf16; o = ttnn.add p c -> 64x64xbf16; return o");
    cr_expect_eq(x.with.counted.launches, 2);
    cr_expect_eq(traffic(&x.with), traffic(&x.without));
    cr_expect(x.apart.bias && !x.apart.activation);
}

/* Of a weight (features, heads, size) the columns are two dimensions. */
Test(price, a_bias_of_heads_is_one_row) {
    pattern_file(LINEAR);
    const char *ops = "p = ttir.dot_general a b {batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, "
                      "contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>} -> 64x4x32xbf16; "
                      "o = ttir.add p c -> 64x4x32xbf16; return o";
    const char *args = "a:64x96xbf16!input b:96x4x32xbf16!parameter ";
    struct price x = price_short(arena_printf(&arena, "%sc:4x32xbf16!parameter", args).p, ops);
    cr_expect_eq(x.without.counted.launches - x.with.counted.launches, 1);
    x = price_short(arena_printf(&arena, "%sc:64x4x32xbf16!parameter", args).p, ops);
    cr_expect_eq(x.without.counted.launches, x.with.counted.launches);
}

Test(price, a_stored_factor_of_columns_goes_into_the_weight) {
    for (int stored = 0; stored < 2; stored++) {
        pattern_file(
            "name: scaled\nfused_op: ttnn.matmul\nsource: ttnn\nmatch: |\n  p = matmul(a, b)\n  out = p * c\n");
        struct price x =
            price_short(stored ? "a:64x64xbf16!input b:64x64xbf16!parameter c:1x64xbf16!parameter"
                               : "a:64x64xbf16!input b:64x64xbf16!parameter c:1x64xbf16!input",
                        "p = ttnn.matmul a b -> 64x64xbf16; o = ttnn.multiply p c -> 64x64xbf16; return o");
        cr_expect_eq(x.with.counted.launches, stored ? 1 : 2);
        cr_expect_eq(x.apart.activation, !stored);
    }
}

Test(price, an_activation_stays_an_op_unless_a_config_says_how_it_is_fused) {
    pattern_file(ACTIVE);
    const char *args = "a:64x64xbf16!input b:64x64xbf16!parameter c:64xbf16!parameter";
    struct price x = price_short(
        args, "p = ttnn.matmul a b -> 64x64xbf16; q = ttnn.add p c -> 64x64xbf16; o = ttnn.gelu q; return o");
    cr_expect_eq(x.without.counted.launches - x.with.counted.launches, 1);
    cr_expect(x.apart.activation && !x.apart.bias);
    x = price_short(args,
                    "p = ttnn.matmul a b {matmul_program_config = #ttnn.matmul_multi_core_reuse_program_config<a = 1>} "
                    "-> 64x64xbf16; q = ttnn.add p c -> 64x64xbf16; o = ttnn.gelu q; return o");
    cr_expect_eq(x.without.counted.launches - x.with.counted.launches, 2);
    cr_expect_not(x.apart.bias || x.apart.activation);
}

#define L1_BODY                                                                                                        \
    "module {\nfunc.func @main(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>, %x: tensor<64x64xbf16>) -> "            \
    "tensor<64x64xbf16> {\n"                                                                                           \
    "%0 = \"ttnn.sigmoid\"(%x) : (tensor<64x64xbf16>) -> tensor<64x64xbf16, #layout>\n"                                \
    "%1 = \"ttnn.multiply\"(%x, %0) : (tensor<64x64xbf16>, tensor<64x64xbf16, #layout>) -> tensor<64x64xbf16>\n"       \
    "return %1 : tensor<64x64xbf16>\n}\n}\n"
#define SILU "name: silu\nfused_op: ttnn.silu\nsource: ttnn\nmatch: out = x * op sigmoid(x)\n"

Test(price, an_intermediate_in_l1_costs_no_dram_traffic) {
    pattern_file(SILU);
    struct price dram = price_with_layout("#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, "
                                          "memref<2x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>",
                                          L1_BODY);
    struct price l1 = price_with_layout("#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <2x1>, "
                                        "memref<1x2x!ttcore.tile<32x32, bf16>, #l1>, <height_sharded>>",
                                        L1_BODY);
    cr_expect_eq((int64_t)saved_bytes(&dram), 3 * 8192);
    cr_expect_eq((int64_t)saved_bytes(&l1), 8192); /* x is read once and not twice */
    cr_expect_eq(l1.without.counted.l1_read + l1.without.counted.l1_written, 2 * 8192);
    cr_expect_eq(l1.with.counted.l1_read + l1.with.counted.l1_written, 0);
}

Test(price, padding_is_traffic_and_views_are_not) {
    pattern_file("name: silu\nfused_op: ttnn.silu\nsource: ttnn\nmatch: out = x * op sigmoid(x)\n");
    struct price x = price_short("x:1x33xbf16!input", "s = ttnn.sigmoid x; o = ttnn.multiply x s; return o");
    cr_expect_eq(x.without.counted.dram_written, 2 * 2 * 2048);
    pattern_file("name: two\nfused_op: ttnn.two\nsource: ttnn\nmatch: out = exp(op sigmoid(x))\n");
    x = price_short("x:2x32x64xbf16!input",
                    "s = ttnn.sigmoid x; t = ttnn.reshape s -> 64x64xbf16; o = ttnn.exp t; return o");
    cr_expect_eq(x.without.counted.launches, 2);
    x = price_short("x:2x32x64xbf16!input",
                    "s = ttnn.sigmoid x; t = ttnn.reshape s -> 32x128xbf16; o = ttnn.exp t; return o");
    cr_expect_eq(x.without.counted.launches, 3);
    cr_expect_eq(x.with.counted.launches, 2); /* the result is reshaped all the same */
}

/* 262,144 bytes over a link of 12.5 GB/s take longer than over DRAM; what a chip keeps of its own goes nowhere. */
Test(price, a_collective_waits_for_its_link_with_the_fusion_and_without) {
    pattern_file("name: reduced\nfused_op: cuda.x.y\nsource: cuda\nmatch: out = exp(op all_reduce(x))\n");
    struct price x = price_short("x:32x4096xbf16!input", "r = ttnn.all_reduce x; o = ttnn.exp r; return o");
    cr_expect_eq(cost_bound(&x.without.estimated), BOUND_LINK);
    cr_expect(near(x.without.estimated.spent[BOUND_LINK], 262144 / 12.5e3, 0.001));
    cr_expect(near(x.with.estimated.spent[BOUND_LINK], 262144 / 12.5e3, 0.001));
    cr_expect(price_saved_us(&x) < 8, "%g", price_saved_us(&x)); /* a launch, and the passes of exp */
    pattern_file("name: part\nfused_op: cuda.x.y\nsource: cuda\nmatch: out = exp(op mesh_partition(x))\n");
    x = price_short("x:32x4096xbf16!input", "r = ttnn.mesh_partition x -> 32x2048xbf16; o = ttnn.exp r; return o");
    cr_expect_eq(x.without.estimated.spent[BOUND_LINK], 0);
}

static double total_us(struct pricer *p) {
    double *of_ops = arena_alloc(&arena, (ir.m.nops + (size_t)1) * sizeof *of_ops);
    return graph_us(p, NULL, of_ops);
}

/* What runs, each op once: not constants, views and what is computed once. */
Test(price, a_graph_costs_what_its_ops_do) {
    struct pricer p;
    pattern_file("name: silu\nfused_op: ttnn.silu\nsource: ttnn\nmatch: out = x * op sigmoid(x)\n");
    struct price x = price_short("x:32x4096xbf16!input", "s = ttnn.sigmoid x; o = ttnn.multiply x s; return o");
    pricer_begin(&p, &ir.g, &device, chips.cycles);
    cr_expect(near(total_us(&p), x.without.estimated.us, 1e-9));
    pricer_end(&p);
    forget_ir();
    ir_short(&ir, "w:32x32xbf16!parameter x:2x32x64xbf16!input",
             "e = ttnn.exp w; v = ttnn.reshape x -> 64x64xbf16; return e v");
    pricer_begin(&p, &ir.g, &device, chips.cycles);
    cr_expect_eq(total_us(&p), 0);
    pricer_end(&p);
}

/* Us of all ops of a module. */
static double us_of(const char *args, const char *ops) {
    struct pricer p;
    forget_ir();
    ir_short(&ir, args, ops);
    pricer_begin(&p, &ir.g, &device, chips.cycles);
    double us = total_us(&p);
    pricer_end(&p);
    return us;
}

/* It says that the devices have their parts already; that cuts a tensor up on the host. */
Test(price, a_tensor_that_lies_in_its_parts_is_handed_on) {
    static const char shard[] = "o = ttnn.mesh_shard x {shard_dims = [-1, 0], shard_direction = "
                                "#ttcore.shard_direction<full_to_shard>, shard_shape = [2, 1], shard_type = "
                                "#ttcore.shard_type<%s>} -> 512x1024xbf16; return o";
    char ops[512];
    on("n150");
    snprintf(ops, sizeof ops, shard, "identity");
    cr_expect_eq(us_of("x:1024x1024xbf16!input", ops), 0);
    snprintf(ops, sizeof ops, shard, "devices");
    cr_expect_gt(us_of("x:1024x1024xbf16!input", ops), 3);
}

Test(price, a_table_is_read_where_it_is_looked_up) {
    static const char body[] = "o = ttnn.embedding i t -> 32x512xbf16; return o";
    on("n150");
    double few = us_of("i:1x32xui32!input t:64x512xbf16!parameter", body),
           many = us_of("i:1x32xui32!input t:131072x512xbf16!parameter", body);
    cr_expect(near(few, many, 0.01), "%g, %g", few, many);
}

/* The compiler folds them; a square matrix that is turned has its old type, too. */
Test(price, ops_of_ttir_that_leave_their_operand_as_it_is_take_no_time) {
    static const char *const same[] = {"typecast x -> 64x64xbf16", "permute x {permutation = [0, 1]} -> 64x64xbf16",
                                       "repeat x {repeat_dimensions = [1, 1]} -> 64x64xbf16"};
    char ops[128];
    on("n150");
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        snprintf(ops, sizeof ops, "o = ttir.%s; return o", same[i]);
        cr_expect_eq(us_of("x:64x64xbf16!input", ops), 0, "%s", ops);
    }
    cr_expect_gt(us_of("x:64x64xbf16!input", "o = ttir.permute x {permutation = [1, 0]} -> 64x64xbf16; return o"), 1);
    cr_expect_gt(us_of("x:64x64xbf16!input", "o = ttnn.typecast x -> 64x64xbf16; return o"), 1);
}

Test(price, a_fused_op_of_the_graph_costs_what_was_said_of_it) {
    pattern_file(ACTIVE);
    const char *args = "a:1024x1024xbf16!input b:1024x1024xbf16!parameter c:%sx1024xbf16!parameter";
    static const char *const rows[] = {"1", "1024"};
    for (int i = 0; i < 2; i++) {
        char with_rows[128];
        snprintf(with_rows, sizeof with_rows, args, rows[i]);
        struct price x = price_short(with_rows, "p = ttnn.matmul a b -> 1024x1024xbf16; q = ttnn.add p c -> "
                                                "1024x1024xbf16; o = ttnn.gelu q; return o");
        double us = us_of(with_rows, "o = ttnn.linear a b c {activation = \"gelu\"} -> 1024x1024xbf16; return o");
        cr_expect(near(us, x.with.estimated.us, 1e-6), "%g, %g", us, x.with.estimated.us);
    }
    cr_expect_gt(us_of(M4096, "o = ttnn.linear a b c {activation = \"gelu\"} -> 4096x4096xbf16; return o"),
                 us_of(M4096, "o = ttnn.linear a b c -> 4096x4096xbf16; return o") + 500);
}

/* What an elementwise op of several operands broadcasts is read as large as it is; for all others it is written out. */
Test(price, a_broadcast_is_read_at_its_own_size_where_nothing_writes_it_out) {
    pattern_file(LINEAR);
    const char *args = "x:1024x1024xbf16!input b:1x1024xbf16!input",
               *spread = "s = ttir.broadcast b {broadcast_dimensions = array<i64: 1024, 1>} -> 1024x1024xbf16; ";
    char ops[512];
    on("n150");
    double plain = us_of(args, "o = ttir.add x b -> 1024x1024xbf16; return o");
    snprintf(ops, sizeof ops, "%so = ttir.add x s -> 1024x1024xbf16; return o", spread);
    cr_expect(near(us_of(args, ops), plain, 1e-9));
    snprintf(ops, sizeof ops, "%so = ttir.exp s; return o", spread);
    cr_expect_gt(us_of(args, ops), us_of(args, "o = ttir.exp x; return o") + 5);
}

/* The places of 64 x 512 elements are made of tensors of so many numbers; the ids of 64 rows are not. */
Test(price, what_looks_rows_up_has_one_position_for_each) {
    pattern_file("name: rows\nfused_op: ttnn.embedding\nsource: ttnn\nmatch: |\n"
                 "  place = concat(row, column, dim=-1) @ strides\n  e = embedding(place, reshape(table))\n"
                 "  out = reshape(e)\n");
    struct price x = price_short(
        "r:1x64x512x1xui32!input c:1x64x512x1xui32!parameter s:2x1xf32!parameter t:128x512xbf16!input",
        "k = ttnn.concat r c {dim = 3} -> 1x64x512x2xui32; f = ttnn.typecast k -> 1x64x512x2xf32; p = ttnn.matmul f s "
        "-> "
        "1x64x512x1xf32; n = ttnn.reshape p -> 1x32768xf32; u = ttnn.typecast n -> 1x32768xui32; w = ttnn.reshape t -> "
        "65536x1xbf16; e = ttnn.embedding u w -> 1x32768x1xbf16; o = ttnn.reshape e -> 64x512xbf16; return o");
    cr_expect_eq(x.with.counted.launches, 1);
    cr_expect_eq(x.with.counted.dram_written, 64 * 1024);
    cr_expect(price_saved_us(&x) > 0.9 * x.without.estimated.us, "%g of %g", price_saved_us(&x),
              x.without.estimated.us);
}

/* Of a cache of 16.8 MB one position of each head is written. */
Test(price, what_is_written_in_place_costs_what_is_written) {
    pattern_file(
        "name: update\nfused_op: ttnn.update_cache\nsource: ttnn\nmatch: out = scatter(cache, broadcast(at), new)\n");
    const char *args = "c:1x32x2048x128xbf16!input p:1x1x1x1xsi32!input u:1x32x1x128xbf16!input q:1xsi32!input";
    struct price x =
        price_short(args, "s = ttir.broadcast p {broadcast_dimensions = array<i64: 1, 32, 1, 128>} -> 1x32x1x128xsi32; "
                          "o = ttir.scatter c s u {dim = 2 : i32} -> 1x32x2048x128xbf16; return o");
    const int64_t new = 32L * 4 * 2048;
    cr_expect_geq(x.without.counted.dram_written, 16 << 20);
    cr_expect_eq(x.with.counted.dram_written, new);
    cr_expect_lt(x.with.counted.dram_read, 4 * new);
    cr_expect_gt(price_saved_us(&x), 100);
    double us = us_of(args, "ttnn.update_cache c u q {batch_offset = 0 : i32}; return c");
    cr_expect(us > 3 && us < 10, "%g", us);
    cr_expect_eq(us_of(args, "ttnn.deallocate c; return u"), 0);
}

Test(price, numbers_become_attributes_and_what_is_computed_once_costs_nothing) {
    pattern_file(NORM);
    struct price x =
        price_short("x:1024x4096xbf16!input w:4096xbf16!parameter",
                    "e = ttnn.full {fill_value = 1.0e-5, shape = #ttnn.shape<1x1>} -> 1x1xbf16\n"
                    "s = ttnn.multiply x x; m = ttnn.mean s {dim_arg = [-1], keep_dim = true} -> 1024x1xbf16\n"
                    "n = ttnn.add m e -> 1024x1xbf16; r = ttnn.rsqrt n; y = ttnn.multiply x r -> 1024x4096xbf16\n"
                    "v = ttnn.multiply w w; o = ttnn.multiply y v -> 1024x4096xbf16; return o");
    cr_assert(x.known);
    cr_expect_eq(x.without.counted.launches, 6);
    cr_expect_eq(x.with.counted.launches, 1);
    cr_expect_eq(x.with.counted.dram_read, 1024L * 4096 * 2 + 128 * 2048);
    cr_expect_eq(x.with.counted.dram_written, 1024L * 4096 * 2);
}

Test(price, what_is_used_elsewhere_stays) {
    pattern_file("name: two\nfused_op: ttnn.two\nsource: ttnn\nmatch: out = exp(op sigmoid(x))\n");
    struct price x =
        price_short("x:64x64xf32!input", "c = ttnn.typecast x -> 64x64xbf16; s = ttnn.sigmoid c -> 64x64xbf16\n"
                                         "o = ttnn.exp s -> 64x64xbf16; return o c");
    cr_expect_eq(x.with.counted.launches, 1); /* the cast is none of its ops */
    pattern_file(
        "name: two\nfused_op: ttnn.two\nsource: ttnn\nmatch: |\n  s = op sigmoid(x)\n  out = exp(s)\nescapes: [s]\n");
    x = price_short("x:64x64xf32!input", "s = ttnn.sigmoid x; o = ttnn.exp s; return o s");
    cr_expect_eq(x.with.counted.launches, 1);
    cr_expect_eq(x.with.counted.dram_written, 2 * 4 * 4096); /* both results */
}

Test(price, an_operand_in_another_order_is_charged_a_permute) {
    pattern_file("name: s\nfused_op: ttnn.softmax\nsource: ttnn\nmatch: |\n  e = exp(x)\n  out = e / sum(e, dim=-1)\n");
    const char *rest =
        "s = ttnn.sum e {dim_arg = [-1], keep_dim = true} -> 64x1xbf16; o = ttnn.divide e s -> 64x64xbf16; return o";
    char ops[512];
    snprintf(ops, sizeof ops, "e = ttnn.exp x; %s", rest);
    struct price x = price_short("x:64x64xbf16!input", ops);
    cr_expect_eq(x.with.counted.launches, 1);
    pattern_file("name: s\nfused_op: ttnn.softmax\nsource: ttnn\nmatch: |\n  e = exp(x)\n  out = e / sum(e, dim=-1)\n");
    x = price_short("x:64x64xbf16!input",
                    "e = ttnn.exp x; p = ttnn.permute e {permutation = array<i64: 1, 0>} -> 64x64xbf16\n"
                    "s = ttnn.sum p {dim_arg = [-1], keep_dim = true} -> 64x1xbf16\n"
                    "o = ttnn.divide p s -> 64x64xbf16; return o");
    cr_expect_eq(x.with.counted.launches, 2);
}

/* What a demand moves is read and written once more, each, but where a permute is there that the fused op makes
 * needless. */
Test(price, what_a_demand_moves_is_charged_unless_it_is_moved_anyway) {
    static const struct {
        const char *before, *behind;
        int launches;
    } cases[] = {
        {"p = ttnn.exp x", "r = ttnn.exp o -> 8x64x64xbf16; return r", 3},
        {"p = ttnn.exp x", "r = ttnn.permute o {permutation = array<i64: 1, 0, 2>} -> 64x8x64xbf16; return r", 2},
        {"q = ttnn.exp x; p = ttnn.permute q {permutation = array<i64: 1, 0, 2>} -> 8x64x64xbf16", "return o", 2},
        {"p = ttnn.exp x", "q = ttnn.reshape o {shape = [8, 4096]} -> 8x4096xbf16; return q", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pattern_file(
            "name: d\nfused_op: ttnn.upsample\nsource: ttnn\nmatch: |\n  s = op sigmoid(x)\n  out = tanh(s)\n---\n"
            "demands:\n- of: ttnn.upsample\n  when: size(x, -1) == 64\n  say: permutes around it.\n"
            "  moves: [x, out]\n- of: ttnn.upsample\n  when: size(x, -1) == 32\n  say: none.\n  moves: [s]\n");
        char ops[512];
        const char *from = strchr(cases[i].before, ';') ? "64x8x64" : "8x64x64";
        char args[64];
        snprintf(args, sizeof args, "x:%sxbf16!input", from);
        snprintf(ops, sizeof ops, "%s; s = ttnn.sigmoid p; o = ttnn.tanh s -> 8x64x64xbf16; %s", cases[i].before,
                 cases[i].behind);
        struct price x = price_short(args, ops);
        cr_assert(x.known);
        cr_expect_eq(x.with.counted.launches, cases[i].launches, "%zu: %lld", i, (long long)x.with.counted.launches);
    }
}

/* A permute of the match brings nothing from or to that order. */
Test(price, what_a_demand_moves_is_charged_where_the_match_permutes_it) {
    pattern_file("name: d\nfused_op: ttnn.upsample\nsource: ttnn\nmatch: |\n  p = permute(x)\n  s = op sigmoid(p)\n"
                 "  out = tanh(s)\n---\ndemands:\n- of: ttnn.upsample\n  when: size(x, -1) == 64\n  say: a permute.\n"
                 "  moves: [x]\n");
    struct price x =
        price_short("x:8x64x64xbf16!input", "p = ttnn.permute x {permutation = array<i64: 1, 0, 2>} -> 64x8x64xbf16; "
                                            "s = ttnn.sigmoid p; o = ttnn.tanh s; return o");
    cr_assert(x.known);
    cr_expect_eq(x.with.counted.launches, 2);
}

/* What brings an operand from the order that the fused op takes is not needed any more, but by others. */
Test(price, what_moves_an_operand_from_the_order_that_is_demanded_goes) {
    static const struct {
        const char *order, *rest;
        bool goes;
    } cases[] = {{"0, 2, 1", "return o", true},
                 {"1, 0, 2", "return o", false},
                 {"0, 2, 1", "e = ttnn.exp p; return o e", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pattern_file(
            "name: d\nfused_op: ttnn.upsample\nsource: ttnn\nmatch: |\n  s = op sigmoid(x)\n  out = tanh(s)\n---\n"
            "demands:\n- of: ttnn.upsample\n  when: size(x, -1) == 64\n  say: permutes around it.\n  moves: [x]\n");
        char ops[512];
        snprintf(ops, sizeof ops,
                 "p = ttnn.permute x {permutation = array<i64: %s>} -> 64x64x64xbf16; s = ttnn.sigmoid p; "
                 "o = ttnn.tanh s; %s",
                 cases[i].order, cases[i].rest);
        struct price x = price_short("x:64x64x64xbf16!input", ops);
        cr_assert(x.known);
        cr_expect_eq(x.around_us > 0, cases[i].goes, "%zu: %g", i, x.around_us);
    }
}

/* A kernel has rows of tiles to share out where it normalises, and tiles of the result where it multiplies. */
Test(price, a_norm_beside_a_product_computes_on_the_cores_of_its_rows) {
    static const char *const shapes[] = {"32", "2048"};
    double cycles[2];
    for (int i = 0; i < 2; i++) {
        char args[128], ops[256];
        snprintf(args, sizeof args, "x:%sx4096xbf16!input w:4096x4096xbf16!parameter g:4096xbf16!parameter", shapes[i]);
        snprintf(ops, sizeof ops,
                 "n = ttnn.rms_norm x g -> %sx4096xbf16; o = ttnn.matmul n w -> %sx4096xbf16; return o", shapes[i],
                 shapes[i]);
        pattern_file("name: n\nfused_op: triton.norm_matmul\nsource: triton\nmatch: out = rms_norm(x, g) @ w\n");
        struct price x = price_short(args, ops);
        cr_assert(x.known);
        cr_expect_eq(x.with.estimated.cores, 64);
        cycles[i] = x.with.estimated.vector_cycles / x.without.estimated.vector_cycles;
    }
    cr_expect_float_eq(cycles[0], 64, 1e-6); /* one core has all rows */
    cr_expect_float_eq(cycles[1], 1, 1e-6);
}

/* The kernel that splits heads moves them; in front of it is a product, behind it may be a norm. */
Test(price, what_splits_heads_computes_nothing) {
    for (int normed = 0; normed < 2; normed++) {
        char ops[512];
        snprintf(ops, sizeof ops,
                 "p = ttnn.matmul x w; r = ttnn.reshape p -> 1x64x4x64xbf16; %s"
                 "q = ttnn.permute %s {permutation = array<i64: 0, 2, 1, 3>} -> 1x4x64x64xbf16; return q",
                 normed ? "n = ttnn.rms_norm r g -> 1x64x4x64xbf16; " : "", normed ? "n" : "r");
        pattern_file("name: h\nfused_op: ttnn.split_query_key_value_and_split_heads\nsource: ttnn\nmatch: |\n"
                     "  r = reshape(x @ w)\n  out = permute(rms_norm(r, g) | r)\n");
        struct price x = price_short("x:64x64xbf16!input w:64x256xbf16!parameter g:64xbf16!parameter", ops);
        cr_assert(x.known);
        cr_expect_eq(x.with.counted.launches, 2 + normed);
        cr_expect_eq(x.with.counted.dram_written, (2 + normed) * 64 * 256 * 2);
    }
}

/* Its own weight and bias are joined with the factor and the term behind it: three rows in each run, or once. */
Test(price, a_norm_that_takes_rows_in_joins_them_with_its_own) {
    pattern_file("name: n\nfused_op: ttnn.layer_norm\nsource: ttnn\nmatch: out = layer_norm(x, w, b) * f + t\n");
    for (int stored = 0; stored < 2; stored++) {
        char args[256];
        snprintf(args, sizeof args,
                 "x:64x512xbf16!input w:512xbf16!parameter b:512xbf16!parameter f:1x512xbf16!%s "
                 "t:1x512xbf16!%s",
                 stored ? "parameter" : "input", stored ? "parameter" : "input");
        struct price x = price_short(args, "n = ttnn.layer_norm x w b -> 64x512xbf16; m = ttnn.multiply n f -> "
                                           "64x512xbf16; o = ttnn.add m t -> 64x512xbf16; return o");
        cr_assert(x.known);
        cr_expect_eq(x.with.counted.launches, stored ? 1 : 4);
    }
}

Test(price, a_product_of_which_few_rows_are_used_is_one_of_these) {
    pattern_file("name: s\nfused_op: ttnn.matmul\nsource: ttnn\nmatch: out = slice(a @ w)\nfused: a[..., :1, :] @ w\n");
    struct price x = price_short(
        "a:1x512x64xbf16!input w:64x4096xbf16!parameter",
        "p = ttnn.matmul a w -> 1x512x4096xbf16\n"
        "o = ttnn.slice_static p {begins = [0 : i32, 511 : i32, 0 : i32], ends = [1 : i32, 512 : i32, 4096 : i32], "
        "step = [1 : i32, 1 : i32, 1 : i32]} -> 1x1x4096xbf16; return o");
    cr_assert(x.known);
    cr_expect_float_eq(x.without.estimated.matrix_cycles, 16 * x.with.estimated.matrix_cycles,
                       1e-6); /* rows of tiles */
    cr_expect_gt(price_saved_us(&x), 0.5 * x.without.estimated.us);
}

Test(price, a_product_grows_by_the_padding_that_its_weight_takes_over) {
    pattern_file("name: h\nfused_op: ttnn.concatenate_heads\nsource: ttnn\nmatch: |\n"
                 "  h = reshape(permute(slice(x)))\n  out = h @ w\n");
    struct price x = price_short(
        "x:1x4x64x64xbf16!input w:128x64xbf16!parameter",
        "c = ttnn.slice_static x {begins = [0 : i32, 0 : i32, 0 : i32, 0 : i32], ends = [1 : i32, 4 : i32, 64 : i32, "
        "32 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]} -> 1x4x64x32xbf16\n"
        "p = ttnn.permute c {permutation = array<i64: 0, 2, 1, 3>} -> 1x64x4x32xbf16\n"
        "r = ttnn.reshape p -> 64x128xbf16; o = ttnn.matmul r w -> 64x64xbf16; return o");
    cr_assert(x.known);
    cr_expect_eq(x.with.counted.launches, 2);
    cr_expect_float_eq(x.with.estimated.matrix_cycles, 2 * x.without.estimated.matrix_cycles, 1e-6);
    pattern_file("name: h\nfused_op: ttnn.split_query_key_value_and_split_heads\nsource: ttnn\nmatch: |\n"
                 "  r = reshape(x @ w)\n  out = permute(r)\n");
    for (int width = 48; width <= 64; width += 16) { /* to whole tiles */
        char ops[512];
        snprintf(ops, sizeof ops,
                 "p = ttnn.matmul x w; r = ttnn.reshape p -> 1x64x4x%dxbf16; q = ttnn.permute r {permutation = "
                 "array<i64: 0, 2, 1, 3>} -> 1x4x64x%dxbf16; return q",
                 width, width);
        x = price_short(width == 48 ? "x:64x64xbf16!input w:64x192xbf16!parameter"
                                    : "x:64x64xbf16!input w:64x256xbf16!parameter",
                        ops);
        cr_expect_float_eq(x.with.estimated.matrix_cycles, 64.0 / width * x.without.estimated.matrix_cycles, 1e-6);
    }
}

/* An elementwise op stands before what moves its result, or behind it where that is the order of its operands. */
Test(price, an_elementwise_op_moves_its_result_or_its_operands_but_not_both) {
    static const struct {
        const char *formula, *ops;
        int launches;
    } cases[] = {
        {"relu(x + y)",
         "a = ttnn.add x y; p = ttnn.permute a {permutation = array<i64: 1, 0>} -> 32x64xbf16; o = ttnn.relu p", 2},
        {"x * sigmoid(x)",
         "p = ttnn.permute x {permutation = array<i64: 1, 0>} -> 32x64xbf16; s = ttnn.sigmoid p; r = "
         "ttnn.permute s {permutation = array<i64: 1, 0>} -> 64x32xbf16; o = ttnn.multiply x r",
         1},
        {"relu(x) * z",
         "a = ttnn.relu x; p = ttnn.permute a {permutation = array<i64: 1, 0>} -> 32x64xbf16; o = ttnn.multiply p z",
         2},
        {"relu(x) * y", "a = ttnn.relu x; o = ttnn.multiply a y", 1},
        /* a reshape to other rows stays, too, unless there is one back */
        {"relu(x) * z", "a = ttnn.relu x; p = ttnn.reshape a {shape = [32, 64]} -> 32x64xbf16; o = ttnn.multiply p z",
         2},
        {"x * sigmoid(x)",
         "p = ttnn.reshape x {shape = [32, 64]} -> 32x64xbf16; s = ttnn.sigmoid p; r = ttnn.reshape s {shape = [64, "
         "32]} -> 64x32xbf16; o = ttnn.multiply x r",
         1},
        /* a column is in order, and one that was a row is not */
        {"y / relu(c)", "a = ttnn.relu c; o = ttnn.divide y a -> 64x32xbf16", 1},
        {"y / relu(w)",
         "a = ttnn.relu w; p = ttnn.reshape a {shape = [64, 1]} -> 64x1xbf16; o = ttnn.divide y p -> 64x32xbf16", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char pattern[128], ops[512];
        snprintf(pattern, sizeof pattern, "name: a\nfused_op: ttnn.multiply\nsource: ttnn\nmatch: out = %s\n",
                 cases[i].formula);
        snprintf(ops, sizeof ops, "%s; return o", cases[i].ops);
        pattern_file(pattern);
        struct price x = price_short("x:64x32xbf16!input y:64x32xbf16!input z:32x64xbf16!input c:64x1xbf16!input "
                                     "w:1x64xbf16!input",
                                     ops);
        cr_expect_eq(x.with.counted.launches, cases[i].launches, "%s: %lld", cases[i].formula,
                     (long long)x.with.counted.launches);
    }
}

/* What it multiplies is exchanged: only another movement of its result stays. */
Test(price, a_product_is_transposed_for_nothing) {
    static const char *const moves[] = {"p = ttnn.permute m {permutation = array<i64: 0, 2, 1>} -> 2x64x32xbf16",
                                        "p = ttnn.permute m {permutation = array<i64: 1, 0, 2>} -> 32x2x64xbf16"};
    for (int i = 0; i < 2; i++) {
        char ops[512];
        snprintf(ops, sizeof ops, "m = ttnn.matmul a b -> 2x32x64xbf16; %s; o = ttnn.relu p; return o", moves[i]);
        pattern_file("name: l\nfused_op: ttnn.matmul\nsource: ttnn\nmatch: out = relu(matmul(x, y))\n");
        struct price x = price_short("a:2x32x16xbf16!input b:2x16x64xbf16!input", ops);
        cr_expect_eq(x.with.counted.launches, 2 + i, "%d: %lld", i, (long long)x.with.counted.launches);
    }
}

/* Its kernel works along rows: others are moved there and back. */
Test(price, a_norm_of_channels_is_charged_the_way_to_its_rows) {
    static const struct {
        const char *x, *m, *dims;
        int launches;
    } cases[] = {{"2x32x64", "2x32x1", "-1", 1},
                 {"2x32x64", "2x32x1", "2", 1},
                 {"2x1x64", "2x1x1", "1, 2", 1},
                 {"2x32x64", "2x1x1", "1, 2", 3},
                 {"2x64x1", "2x1x1", "1", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char args[64], pattern[256], ops[512];
        snprintf(pattern, sizeof pattern,
                 "name: norm\nfused_op: ttnn.rms_norm\nsource: ttnn\nmatch: |\n  m = op mean(op multiply(x, x))\n"
                 "  out = x * op rsqrt(m)\n");
        pattern_file(pattern);
        snprintf(args, sizeof args, "x:%sxbf16!input", cases[i].x);
        snprintf(ops, sizeof ops,
                 "s = ttnn.multiply x x; m = ttnn.mean s {dim_arg = [%s], keep_dim = true} -> %sxbf16\n"
                 "r = ttnn.rsqrt m; o = ttnn.multiply x r -> %sxbf16; return o",
                 cases[i].dims, cases[i].m, cases[i].x);
        struct price x = price_short(args, ops);
        cr_expect_eq(x.with.counted.launches, cases[i].launches, "%s over %s: %d", cases[i].x, cases[i].dims,
                     (int)x.with.counted.launches);
    }
}

/* One core has each row of tiles, three times as many of them have their columns, for a copy before and one behind. */
Test(price, a_norm_of_few_rows_has_its_columns_sharded) {
    static const struct {
        const char *x, *m;
        bool sharded;
    } cases[] = {{"1x3072", "1x1", true}, {"1x128", "1x1", false}, {"2048x3072", "2048x1", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char args[64], ops[256];
        pattern_file("name: norm\nfused_op: ttnn.rms_norm\nsource: ttnn\nmatch: |\n"
                     "  m = op mean(op multiply(x, x))\n  out = x * op rsqrt(m)\n");
        snprintf(args, sizeof args, "x:%sxbf16!input", cases[i].x);
        snprintf(ops, sizeof ops,
                 "s = ttnn.multiply x x; m = ttnn.mean s {dim_arg = [1], keep_dim = true} -> %sxbf16\n"
                 "r = ttnn.rsqrt m; o = ttnn.multiply x r; return o",
                 cases[i].m);
        struct price x = price_short(args, ops);
        cr_expect_eq(x.sharding_us > 0, cases[i].sharded, "%s", cases[i].x);
        double by_pass = price_saved_by_pass_us(&x), saved = price_saved_us(&x);
        cr_expect_eq(by_pass < saved, cases[i].sharded && saved > 0, "%s: %g of %g", cases[i].x, by_pass, saved);
        cr_expect_eq(x.with.counted.launches, cases[i].sharded ? 3 : 1, "%s", cases[i].x);
        cr_expect_eq(x.with.estimated.cores == 1, i == 1, "%s", cases[i].x);
        struct str line = price_line(&x, NULL, STR(""), &arena);
        cr_expect_eq(str_find(line, STR("columns are sharded")) != NULL, cases[i].sharded && saved > 0, "%s",
                     cases[i].x);
    }
}

/* As a norm that is there may have them all the same. */
Test(price, a_norm_that_is_there_is_no_reason_to_shard_its_columns) {
    pattern_file("name: norm\nfused_op: ttnn.rms_norm\nsource: ttnn\nmatch: out = rms_norm(op add(x, y))\n");
    struct price x = price_short("x:1x3072xbf16!input y:1x3072xbf16!input",
                                 "s = ttnn.add x y; o = ttnn.rms_norm s -> 1x3072xbf16; return o");
    cr_expect_eq(x.sharding_us, 0);
    cr_expect_eq(x.with.counted.launches, 1);
}

/* What a reshape in the match pads, it does not work on. */
Test(price, a_norm_works_on_the_rows_that_it_takes) {
    double cycles[2];
    for (int i = 0; i < 2; i++) {
        char ops[256];
        pattern_file("name: norm\nfused_op: ttnn.rms_norm\nsource: ttnn\nmatch: |\n"
                     "  m = op mean(op multiply(x, x))\n  out = x * op rsqrt(m)\n");
        snprintf(ops, sizeof ops,
                 "%ss = ttnn.multiply %s; m = ttnn.mean s {dim_arg = [%d], keep_dim = true} -> 32x%s1xbf16\n"
                 "r = ttnn.rsqrt m; %so = ttnn.multiply x %s; return o",
                 i ? "v = ttnn.reshape x -> 32x1x512xbf16; " : "", i ? "v v" : "x x", i + 1, i ? "1x" : "",
                 i ? "w = ttnn.reshape r -> 32x1xbf16; " : "", i ? "w" : "r");
        cycles[i] = price_short("x:32x512xbf16!input", ops).with.estimated.vector_cycles;
    }
    cr_expect_eq(cycles[0], cycles[1], "%g, %g", cycles[0], cycles[1]);
}

/* The fused op is one of the match, and takes its operand in the order that it took it in. */
Test(price, what_brings_an_operand_to_the_op_that_takes_in_the_rest_stays) {
    const char *pool = "o = ttnn.max_pool2d t {batch_size = 1 : si32, channels = 32 : si32, input_height = 32 : si32, "
                       "input_width = 32 : si32, kernel_size = array<i32: 3, 3>, stride = array<i32: 1, 1>, padding = "
                       "array<i32: 1, 1>, dilation = array<i32: 1, 1>, ceil_mode = false} -> 1x1x1024x32xbf16";
    const char *moved = "e = ttnn.exp x\nt = ttnn.permute e {permutation = array<i64: 0, 1, 3, 2>} -> 1x1x1024x32xbf16",
               *straight = "t = ttnn.exp x";
    for (int i = 0; i < 2; i++) {
        char ops[768];
        pattern_file(
            "name: s\nfused_op: ttnn.max_pool2d\nsource: ttnn\nmatch: |\n  e = op exp(x)\n  out = max_pool2d(e)\n");
        snprintf(ops, sizeof ops, "%s\n%s", i ? moved : straight, pool);
        struct price x = price_short(i ? "x:1x1x32x1024xbf16!input" : "x:1x1x1024x32xbf16!input", ops);
        cr_expect_eq(x.without.counted.launches, 2 + i);
        cr_expect_eq(x.with.counted.launches, 1 + i);
    }
}

Test(price, a_tensor_beyond_all_memory_has_no_price) {
    pattern_file(SILU);
    forget_ir();
    ir_read(
        &ir,
        "module {\nfunc.func @main(%x: tensor<1048576x1048576x1048576xbf16>) -> tensor<1048576x1048576x1048576xbf16> "
        "{\n"
        "%0 = \"ttnn.sigmoid\"(%x) : (tensor<1048576x1048576x1048576xbf16>) -> tensor<1048576x1048576x1048576xbf16>\n"
        "%1 = \"ttnn.multiply\"(%x, %0) : (tensor<1048576x1048576x1048576xbf16>, tensor<1048576x1048576x1048576xbf16>) "
        "-> tensor<1048576x1048576x1048576xbf16>\n"
        "return %1 : tensor<1048576x1048576x1048576xbf16>\n}\n}\n");
    struct price x = price_here();
    cr_expect_not(x.known);
    cr_expect_eq(price_line(&x, &device, STR(""), &arena).n, 0);
    cr_expect_eq(price_figures(&x, &device, &arena).n, 0);
}

/* ---- around a place ---- */

#define CONV "name: conv\nfused_op: ttnn.conv2d\nsource: ttnn\nmatch: |\n  c = conv2d(x, w)\n  out = c * scale\n"
#define MOVED                                                                                                          \
    "c = ttnn.conv2d x w {in_channels = 64 : i32, out_channels = 64 : i32, batch_size = 8 : i32, "                     \
    "input_height = 14 : i32, input_width = 14 : i32, kernel_size = array<i32: 1, 1>, stride = array<i32: 1, 1>, "     \
    "padding = array<i32: 0, 0, 0, 0>, dilation = array<i32: 1, 1>, groups = 1 : i32} -> 1x1x1568x64xbf16\n"           \
    "r = ttnn.reshape c {shape = [8, 14, 14, 64]} -> 8x14x14x64xbf16\n"                                                \
    "p = ttnn.permute r {permutation = array<i64: 0, 3, 1, 2>} -> 8x64x14x14xbf16\n"
#define NORMED MOVED "n = ttnn.multiply p s -> 8x64x14x14xbf16\n"
#define BACK(value)                                                                                                    \
    "b = ttnn.permute " value " {permutation = array<i64: 0, 2, 3, 1>} -> 8x14x14x64xbf16\n"                           \
    "o = ttnn.reshape b {shape = [1, 1, 1568, 64]} -> 1x1x1568x64xbf16; return o"

/* The movement cancels with that of the result, and the activation has tiles of 32x32 for 14x14 no more. */
Test(price, what_moves_a_result_back_goes_with_what_moves_it) {
    static const char args[] = "x:1x1x1568x64xbf16!input w:64x64x1x1xbf16!parameter s:1x64x1x1xbf16!parameter "
                               "z:8x64x14x14xbf16!input";
    pattern_file(CONV);
    struct price x = price_short(args, NORMED "a = ttnn.relu n -> 8x64x14x14xbf16; " BACK("a"));
    double relu = us_of("n:8x64x14x14xbf16!input", "a = ttnn.relu n -> 8x64x14x14xbf16; return a");
    double back = us_of("a:8x64x14x14xbf16!input", BACK("a"));
    double moving = us_of("c:1x1x1568x64xbf16!input",
                          "r = ttnn.reshape c {shape = [8, 14, 14, 64]} -> 8x14x14x64xbf16\n"
                          "p = ttnn.permute r {permutation = array<i64: 0, 3, 1, 2>} -> 8x64x14x14xbf16; return p");
    double padding = 1 - 49.0 * 2 / (8 * 64); /* tiles */
    cr_expect(near(x.around_us, moving + back + relu * padding, 0.01), "%g", x.around_us);
    cr_expect_gt(price_saved_at_best_us(&x), price_saved_us(&x));
    /* what else uses it wants it moved: */
    x = price_short(
        args, NORMED
        "a = ttnn.relu n; m = ttnn.mean a {dim_arg = [2, 3], keep_dim = true} -> 8x64x1x1xbf16; " BACK("a") " m");
    cr_expect(near(x.around_us, back + relu * padding, 0.01), "%g", x.around_us);
    /* it is of the way of the first operand, which z is: */
    x = price_short(args, NORMED "a = ttnn.add z n -> 8x64x14x14xbf16; " BACK("a"));
    cr_expect(near(x.around_us, moving, 0.01), "%g", x.around_us);
    x = price_short(args, NORMED "a = ttnn.relu n -> 8x64x14x14xbf16; return a");
    cr_expect_eq(x.around_us, 0);
    x = price_short(args, NORMED "a = ttnn.mean n {dim_arg = [2, 3], keep_dim = true} -> 8x64x1x1xbf16; return a");
    cr_expect_eq(x.around_us, 0);
    /* beside a value that is moved back, it is moved behind the addition: */
    static const char sum[] =
        "a = ttnn.add n z; o = ttnn.mean a {dim_arg = [2, 3], keep_dim = true} -> 8x64x1x1xbf16; return o";
    char ops[2048];
    snprintf(ops, sizeof ops, NORMED "%s", sum);
    x = price_short(args, ops);
    cr_expect_eq(x.around_us, 0);
    snprintf(ops, sizeof ops,
             NORMED "b = ttnn.permute z {permutation = array<i64: 0, 2, 3, 1>} -> 8x14x14x64xbf16\n%s b", sum);
    x = price_short(args, ops);
    double add = us_of("n:8x64x14x14xbf16!input z:8x64x14x14xbf16!input", "a = ttnn.add n z; return a");
    cr_expect(near(x.around_us, add * padding, 0.01), "%g, %g", x.around_us, add * padding);
}

/* A weight of 2048 x 512 x 1 x 1 is a matrix of 2 MB, and no million of tiles. */
Test(price, a_convolution_reads_its_weight_as_a_matrix) {
    on("n150");
    double us =
        us_of("x:1x7x7x512xbf16!input w:2048x512x1x1xbf16!parameter",
              "o = ttir.conv2d x w {dilation = array<i32: 1, 1>, groups = 1 : i32, padding = array<i32: 0, 0, 0, 0>, "
              "stride = array<i32: 1, 1>} -> 1x7x7x2048xbf16; return o");
    cr_expect(us > 5 && us < 50, "%g", us);
}

/* A scale of each channel by a parameter is one of the weight; the convolution yields what is moved then. */
Test(price, a_convolution_is_no_slower_for_a_scale_of_its_weight) {
    static const char args[] = "x:1x1x1568x64xbf16!input w:64x64x1x1xbf16!parameter s:1x64x1x1xbf16!%s";
    char text[256];
    pattern_file(CONV);
    snprintf(text, sizeof text, args, "parameter");
    struct price x = price_short(text, NORMED "return n");
    double alone = us_of(text, MOVED "return p");
    cr_expect(near(x.with.estimated.us, alone, 0.02), "%g, %g", x.with.estimated.us, alone);
    double cycles = x.with.estimated.vector_cycles;
    int64_t read = x.with.counted.dram_read;
    snprintf(text, sizeof text, args, "unknown");
    x = price_short(text, NORMED "return n");
    cr_expect_eq(x.with.counted.dram_read, read);
    snprintf(text, sizeof text, args, "input");
    x = price_short(text, NORMED "return n");
    cr_expect_eq(x.with.counted.dram_read, read + 64 * 2048); /* a tile for each channel */
    cr_expect_gt(x.with.estimated.vector_cycles, cycles);
}

/* One row of each of 32 batches is a tile of rows each, unless a reshape behind it puts them into one. */
Test(price, rows_of_a_product_are_written_as_a_reshape_has_them) {
    static const char *const behind[] = {"o = ttnn.reshape s -> 32x65536xbf16; return o", "o = ttnn.relu s; return o",
                                         "o = ttnn.reshape s -> 32x1x2x32768xbf16; return o"};
    double around[3];
    for (int i = 0; i < 3; i++) {
        char ops[512];
        pattern_file(
            "name: rows\nfused_op: ttnn.matmul\nsource: ttnn\nmatch: |\n  p = matmul(a, b)\n  out = slice(p)\n");
        snprintf(ops, sizeof ops,
                 "p = ttnn.matmul a b -> 32x17x65536xbf16; s = ttnn.slice_static p {begins = [0, 16, 0], ends = "
                 "[32, 17, 65536], step = [1, 1, 1]} -> 32x1x65536xbf16; %s",
                 behind[i]);
        around[i] = price_short("a:32x17x1024xbf16!input b:1024x65536xbf16!parameter", ops).around_us;
    }
    cr_expect_gt(around[0], us_of("s:32x1x65536xbf16!input", behind[0]));
    cr_expect(around[1] == 0 && around[2] == 0, "%g, %g", around[1], around[2]);
}

/* That a product whose layout leaves it few cores could have more is no gain of a fused op. */
Test(price, a_fused_product_keeps_the_cores_of_a_layout) {
    static const char body[] =
        "module {\nfunc.func @main(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>, %x: tensor<64x64xbf16>) -> "
        "tensor<64x64xbf16> {\n"
        "%0 = \"ttnn.matmul\"(%a, %b) : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16, #layout>\n"
        "%1 = \"ttnn.add\"(%0, %x) : (tensor<64x64xbf16, #layout>, tensor<64x64xbf16>) -> tensor<64x64xbf16>\n"
        "return %1 : tensor<64x64xbf16>\n}\n}\n";
    pattern_file("name: t\nfused_op: ttnn.t\nsource: ttnn\nmatch: out = a @ b + c\n");
    struct price x = price_with_layout("#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <2x1>, "
                                       "memref<1x2x!ttcore.tile<32x32, bf16>, #l1>, <height_sharded>>",
                                       body);
    cr_expect_eq(x.with.estimated.cores, 2);
    x = price_with_layout("#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, "
                          "memref<2x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>",
                          body);
    cr_expect_eq(x.with.estimated.cores, 4);
}

/* A padding behind a product is none of its activations. */
Test(price, what_moves_a_product_is_no_activation_of_it) {
    pattern_file("name: t\nfused_op: ttnn.matmul\nsource: ttnn\nmatch: out = pad(a @ b)\nfused: a @ b\n");
    struct price x = price_short("a:64x64xbf16!input b:64x80xbf16!input",
                                 "p = ttnn.matmul a b -> 64x80xbf16\n"
                                 "q = ttnn.pad p {padding = array<i32: 0, 0, 0, 16>, value = 0.0 : f32} -> 64x96xbf16\n"
                                 "return q");
    cr_expect_not(x.apart.activation);
    cr_expect_eq(x.with.counted.launches, 1);
}

Test(price, a_semaphore_has_no_bytes) {
#define TILES "tensor<64x64xbf16>"
    pattern_file("name: t\nfused_op: ttnn.t\nsource: ttnn\nmatch: out = op distributed_rms_norm(x + r)\n");
    forget_ir();
    ir_read(&ir, "module {\nfunc.func @main(%x: " TILES ", %r: " TILES ", %s: !ttnn.global_semaphore) -> " TILES " {\n"
                 "%0 = \"ttnn.add\"(%x, %r) : (" TILES ", " TILES ") -> " TILES "\n"
                 "%1 = \"ttnn.distributed_rms_norm\"(%0, %s) <{cluster_axis = 1 : ui32, epsilon = 1.0E-5 : f32, "
                 "operandSegmentSizes = array<i32: 1, 0, 0, 0, 1, 0>}> : (" TILES ", !ttnn.global_semaphore) -> " TILES
                 "\nreturn %1 : " TILES "\n}\n}\n");
    struct price x = price_here();
    cr_expect(x.known);
    cr_expect_eq((int64_t)saved_bytes(&x), 2 * 4 * 2048); /* the sum */
}

/* Of one row of tiles a kernel has one row of cores that cuts rows along one side of the grid. */
Test(price, a_kernel_that_cuts_along_the_grid_has_few_cores_for_few_rows) {
    static const char *const args[] = {"a:32x1024xbf16!input b:1024x4096xbf16!parameter c:32x4096xbf16!input",
                                       "a:512x1024xbf16!input b:1024x4096xbf16!parameter c:512x4096xbf16!input"};
    static const char *const ops[] = {"p = ttnn.matmul a b -> 32x4096xbf16\no = ttnn.add p c\nreturn o",
                                      "p = ttnn.matmul a b -> 512x4096xbf16\no = ttnn.add p c\nreturn o"};
    pattern_file("demands:\n  - {of: ttnn.experimental.m*, gridded: true, say: s}\n---\n"
                 "name: t\nfused_op: ttnn.experimental.mm\nsource: ttnn\nmatch: out = a @ b + c\nfused: a @ b + c\n");
    cr_expect_eq(price_short(args[0], ops[0]).with.estimated.cores, 8);
    cr_expect_eq(price_short(args[1], ops[1]).with.estimated.cores, 64);
}

/* ---- estimated: worked examples, bf16 in DRAM ---- */

Test(price, a_large_bias_saves_its_passes_at_the_bandwidth_that_ops_reach) {
    pattern_file(LINEAR);
    struct price x = price_short(M4096, PLUS);
    cr_expect(near(price_saved_us(&x), 344.7, 0.05), "%f", price_saved_us(&x));
    on("p150");
    x = price_short(M4096, PLUS);
    cr_expect(near(price_saved_us(&x), 203.6, 0.05), "%f", price_saved_us(&x));
}

#define Q2048                                                                                                          \
    "q:1x32x2048x128xbf16!input k:1x32x2048x128xbf16!input v:1x32x2048x128xbf16!input m:1x1x2048x2048xbf16!input"
#define ATTEND                                                                                                         \
    "c = ttnn.full {fill_value = 0.0883883461, shape = #ttnn.shape<1x1x1x1>} -> 1x1x1x1xbf16\n"                        \
    "t = ttnn.permute k {permutation = array<i64: 0, 1, 3, 2>} -> 1x32x128x2048xbf16; s = ttnn.matmul q t -> "         \
    "1x32x2048x2048xbf16\n"                                                                                            \
    "u = ttnn.multiply s c -> 1x32x2048x2048xbf16; x = ttnn.add u m -> 1x32x2048x2048xbf16\n"                          \
    "w = ttnn.softmax x {dimension = 3} -> 1x32x2048x2048xbf16; o = ttnn.matmul w v -> 1x32x2048x128xbf16; return o"

/* Eight passes over scores of 268 MB; measured fused kernels are 9 to 44 times as fast as unfused attention
 * (tt-metal tech_reports/FlashAttention). */
Test(price, attention_saves_eight_passes_over_its_scores) {
    pattern_file(ATTENTION);
    struct price x = price_short(Q2048, ATTEND);
    cr_expect(near(saved_bytes(&x), 8 * 268.4e6, 0.05), "%f", saved_bytes(&x));
    cr_expect(near(price_saved_us(&x), 11000, 0.2), "%f", price_saved_us(&x));
    double ratio = x.without.estimated.us / x.with.estimated.us;
    cr_expect(ratio > 6 && ratio < 44, "%f times", ratio);
    double us = us_of(Q2048, "o = ttnn.scaled_dot_product_attention q k v m {is_causal = false, scale = 0.0883883461 : "
                             "f32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} -> 1x32x2048x128xbf16; return o");
    cr_expect(near(us, x.with.estimated.us, 1e-6), "%g, %g", us, x.with.estimated.us);
    on("p150");
    x = price_short(Q2048, ATTEND);
    cr_expect(near(price_saved_us(&x), 6500, 0.2), "%f", price_saved_us(&x));
}

/* Both products, the scale, the mask, which is repeated for all heads, and a softmax are left. */
Test(price, an_attention_that_is_taken_apart_costs_what_is_left_of_it) {
    pattern_file(ATTENTION);
    struct price x = price_short(Q2048, ATTEND);
    double left = us_of("q:1x32x2048x128xbf16!input t:1x32x128x2048xbf16!input v:1x32x2048x128xbf16!input "
                        "m:1x1x2048x2048xbf16!input",
                        "c = ttnn.full {fill_value = 0.0883883461, shape = #ttnn.shape<1x1x1x1>} -> 1x1x1x1xbf16\n"
                        "s = ttnn.matmul q t -> 1x32x2048x2048xbf16; u = ttnn.multiply s c -> 1x32x2048x2048xbf16\n"
                        "r = ttnn.repeat m {repeat_dims = #ttnn.shape<1x32x1x1>} -> 1x32x2048x2048xbf16\n"
                        "x = ttnn.add u r -> 1x32x2048x2048xbf16; w = ttnn.softmax x {dimension = 3}\n"
                        "o = ttnn.matmul w v -> 1x32x2048x128xbf16; return o");
    cr_expect(near(x.undone_us, left, 0.15), "%f, %f", x.undone_us, left);
}

/* A query that is scaled before its heads are split is split all the same; a transpose of a scaled key is not wanted.
 */
Test(price, heads_that_are_split_behind_a_scale_are_split_for_the_fused_op) {
    static const char head[] = "c = ttnn.full {fill_value = 0.125, shape = #ttnn.shape<1x1>} -> 1x1xbf16\n",
                      tail[] = "x = ttnn.matmul h t -> 1x12x384x384xbf16; w = ttnn.softmax x {dimension = 3}\n"
                               "o = ttnn.matmul w v -> 1x12x384x64xbf16; return o";
    char ops[1024];
    pattern_file("name: attention\nfused_op: ttnn.scaled_dot_product_attention\nsource: ttnn\n"
                 "match: out = matmul(softmax(matmul(q [* scale], transposed(k [* scale2])), dim=-1), v)\n");
    snprintf(
        ops, sizeof ops,
        "%su = ttnn.multiply q c -> 384x768xbf16; r = ttnn.reshape u {shape = [1, 384, 12, 64]} -> 1x384x12x64xbf16\n"
        "h = ttnn.permute r {permutation = array<i64: 0, 2, 1, 3>} -> 1x12x384x64xbf16\n"
        "t = ttnn.permute k {permutation = array<i64: 0, 1, 3, 2>} -> 1x12x64x384xbf16\n%s",
        head, tail);
    struct price x = price_short("q:384x768xbf16!input k:1x12x384x64xbf16!input v:1x12x384x64xbf16!input", ops);
    cr_expect_eq(x.without.counted.launches, 7);
    cr_expect_eq(x.with.counted.launches, 3, "%ld", (long)x.with.counted.launches);
    snprintf(ops, sizeof ops,
             "%sh = ttnn.multiply q c -> 1x12x384x64xbf16; u = ttnn.multiply k c -> 1x12x384x64xbf16\n"
             "t = ttnn.permute u {permutation = array<i64: 0, 1, 3, 2>} -> 1x12x64x384xbf16\n%s",
             head, tail);
    x = price_short("q:1x12x384x64xbf16!input k:1x12x384x64xbf16!input v:1x12x384x64xbf16!input", ops);
    cr_expect_eq(x.with.counted.launches, 1, "%ld", (long)x.with.counted.launches);
}

#define ATTEND_TO(keys, width)                                                                                         \
    "t = ttnn.permute k {permutation = array<i64: 0, 1, 3, 2>} -> 1x12x" width "x384xf32\n"                            \
    "x = ttnn.matmul q t -> 1x12x" keys "x384xf32; w = ttnn.softmax x {dimension = 3}\n"                               \
    "o = ttnn.matmul w v -> 1x12x" keys "x" width "xf32; return o"

/* The heads of 80 that it takes are of 96: two operands more than one are padded, and the result is cut. */
Test(price, heads_that_are_no_tiles_are_padded_unless_one_query_is_asked_for) {
    pattern_file("name: attention\nfused_op: ttnn.scaled_dot_product_attention\nsource: ttnn\n"
                 "match: out = matmul(softmax(matmul(q, transposed(k)), dim=-1), v)\n");
    struct price x =
        price_short("q:1x12x384x80xf32!input k:1x12x384x80xf32!input v:1x12x384x80xf32!input", ATTEND_TO("384", "80"));
    cr_expect_eq(x.with.counted.launches, 5);
    x = price_short("q:1x12x384x96xf32!input k:1x12x384x96xf32!input v:1x12x384x96xf32!input", ATTEND_TO("384", "96"));
    cr_expect_eq(x.with.counted.launches, 1);
    x = price_short("q:1x12x1x80xf32!input k:1x12x384x80xf32!input v:1x12x384x80xf32!input", ATTEND_TO("1", "80"));
    cr_expect_eq(x.with.counted.launches, 1);
}

/* The kernel takes what they were before; of 32 bits at first, or for another op too, they stay. */
Test(price, casts_that_widen_what_attention_takes_go_with_it) {
    static const char args[] = "q:1x12x384x64xf32!input a:1x12x384x64xbf16!input v:1x12x384x64xf32!input",
                      same[] = "k = ttnn.typecast a -> 1x12x384x64xf32; v = ttnn.multiply k k; " ATTEND_TO("384", "64");
    pattern_file("name: attention\nfused_op: ttnn.scaled_dot_product_attention\nsource: ttnn\n"
                 "match: out = matmul(softmax(matmul(q, transposed(k)), dim=-1), v)\n");
    struct price x = price_short(args, "k = ttnn.typecast a -> 1x12x384x64xf32; " ATTEND_TO("384", "64"));
    double cast = us_of("a:1x12x384x64xbf16!input", "k = ttnn.typecast a -> 1x12x384x64xf32; return k");
    cr_expect(near(x.around_us, cast, 1e-6), "%g", x.around_us);
    x = price_short(args, "k = ttnn.typecast a -> 1x12x384x64xf32; " ATTEND_TO("384", "64") " k");
    cr_expect_eq(x.around_us, 0);
    x = price_short("q:1x12x384x64xf32!input a:1x12x384x64xbf16!input", same);
    cr_expect_eq(x.around_us, 0);
    x = price_short("q:1x12x384x64xf32!input k:1x12x384x64xf32!input v:1x12x384x64xf32!input", ATTEND_TO("384", "64"));
    cr_expect_eq(x.around_us, 0);
    x = price_short("a:1x12x384x64xbf16!input", "k = ttnn.typecast a -> 1x12x384x64xf32\n"
                                                "t = ttnn.permute k {permutation = array<i64: 0, 1, 3, 2>}\n"
                                                "x = ttnn.matmul k t; w = ttnn.softmax x {dimension = 3}\n"
                                                "o = ttnn.matmul w k; return o");
    cr_expect_eq(x.casts_us, 0);
    cr_expect(near(x.around_us, cast, 1e-6), "three operands of one cast: %g, %g", x.around_us, cast);
}

/* With them and the cast behind, all of it has 16 bits, what is padded too; the cast stays where the result is used
 * besides. */
Test(price, attention_between_casts_is_that_of_their_narrow_values) {
#define HEADS80 "1x12x384x80x"
#define OF80(q, k, v, type)                                                                                            \
    "t = ttnn.permute " k " {permutation = array<i64: 0, 1, 3, 2>} -> 1x12x80x384x" type "\n"                          \
    "x = ttnn.matmul " q " t -> 1x12x384x384x" type "; w = ttnn.softmax x {dimension = 3}\n"                           \
    "o = ttnn.matmul w " v " -> " HEADS80 type "; "
#define WIDENED80                                                                                                      \
    "d = ttnn.typecast q -> " HEADS80 "f32; e = ttnn.typecast k -> " HEADS80 "f32; f = ttnn.typecast v -> " HEADS80    \
    "f32\n" OF80("d", "e", "f", "f32") "n = ttnn.typecast o -> " HEADS80 "bf16; "
    static const char args[] = "q:" HEADS80 "bf16!input k:" HEADS80 "bf16!input v:" HEADS80 "bf16!input";
    pattern_file("name: attention\nfused_op: ttnn.scaled_dot_product_attention\nsource: ttnn\n"
                 "match: out = matmul(softmax(matmul(q, transposed(k)), dim=-1), v)\n");
    struct price plain = price_short(args, OF80("q", "k", "v", "bf16") "return o");
    double narrow = plain.with.estimated.us;
    cr_expect_eq(plain.casts_us, 0);
    double widen = us_of(args, "d = ttnn.typecast q -> " HEADS80 "f32; return d");
    double back = us_of("o:" HEADS80 "f32!input", "n = ttnn.typecast o -> " HEADS80 "bf16; return n");
    struct price x = price_short(args, WIDENED80 "return n");
    cr_expect(near(x.with.estimated.us, narrow, 1e-6), "%g, %g", x.with.estimated.us, narrow);
    cr_expect(near(x.around_us, 3 * widen + back, 1e-6), "%g", x.around_us);
    cr_expect_gt(x.casts_us, x.around_us, "a pass that pads in between keeps the casts");
    x = price_short(args, WIDENED80 "return n o");
    cr_expect(near(x.around_us, 3 * widen, 1e-6), "%g", x.around_us);
    cr_expect_gt(x.with.estimated.us, narrow + widen / 2, "it is cast for the other use");
}

/* So do those on both sides of a norm, which works on the type that they are casts from and to. */
Test(price, casts_around_a_norm_go_with_it) {
    static const char norm[] = "s = ttnn.multiply x x; m = ttnn.mean s {dim_arg = [1], keep_dim = true} -> 64x1xf32\n"
                               "r = ttnn.rsqrt m; o = ttnn.multiply x r; %s",
                      widen[] = "x = ttnn.typecast a -> 64x64xf32; ",
                      narrow[] = "h = ttnn.reshape o -> 1x64x64xf32; n = ttnn.typecast h -> 1x64x64xbf16; return n";
    on("n150");
    double wide = us_of("a:64x64xbf16!input", "x = ttnn.typecast a -> 64x64xf32; return x");
    double narrowed = us_of("h:1x64x64xf32!input", "n = ttnn.typecast h -> 1x64x64xbf16; return n");
    const struct {
        const char *first, *last;
        bool go;
    } cases[] = {{widen, narrow, true},
                 {widen, "return o", false},
                 {"", narrow, false},
                 {widen, "n = ttnn.typecast o -> 64x64xbf16; return n x", false},
                 {widen, "n = ttnn.typecast o -> 64x64xbf16; w = ttnn.multiply n n; return w", false},
                 {widen, "n = ttnn.typecast o -> 64x64xbf16; return n o", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char ops[512], all[640];
        pattern_file("name: norm\nfused_op: ttnn.rms_norm\nsource: ttnn\nmatch: |\n"
                     "  m = op mean(op multiply(x, x))\n  out = x * op rsqrt(m)\n");
        snprintf(ops, sizeof ops, norm, cases[i].last);
        snprintf(all, sizeof all, "%s%s", cases[i].first, ops);
        struct price x = price_short(*cases[i].first ? "a:64x64xbf16!input" : "x:64x64xf32!input", all);
        cr_expect_eq(traffic(&x.with), 2 * 64 * 64 * (cases[i].go ? 2 : 4), "%zu", i);
        cr_expect(near(x.around_us + 1, cases[i].go ? wide + narrowed + 1 : 1, 1e-6), "%zu: %g", i, x.around_us);
    }
}

/* What is made of parameters is computed once and costs nothing, but the scores have to be of a type that is known. */
Test(price, scores_of_an_unknown_type_have_no_price) {
    static const char *const types[] = {"bf16", "f8E4M3FN"};
    for (int i = 0; i < 2; i++) {
        pattern_file("name: attention\nfused_op: ttnn.scaled_dot_product_attention\nsource: ttnn\n"
                     "match: out = matmul(softmax(matmul(q, transposed(k)), dim=-1), v)\n");
        struct str text = arena_printf(
            &arena,
            "func.func @main(%%q: tensor<1x2x64x32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, "
            "%%k: tensor<1x2x64x32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, "
            "%%v: tensor<1x2x64x32xf32>) -> tensor<1x2x64x32xf32> {\n"
            "%%s = \"ttnn.matmul\"(%%q, %%k) <{transpose_a = false, transpose_b = true}> : (tensor<1x2x64x32xf32>, "
            "tensor<1x2x64x32xf32>) -> tensor<1x2x64x64x%s>\n"
            "%%w = \"ttnn.softmax\"(%%s) <{dimension = 3 : si32}> : (tensor<1x2x64x64x%s>) -> tensor<1x2x64x64x%s>\n"
            "%%c = \"ttnn.typecast\"(%%w) : (tensor<1x2x64x64x%s>) -> tensor<1x2x64x64xf32>\n"
            "%%o = \"ttnn.matmul\"(%%c, %%v) <{transpose_a = false, transpose_b = false}> : (tensor<1x2x64x64xf32>, "
            "tensor<1x2x64x32xf32>) -> tensor<1x2x64x32xf32>\nreturn %%o : tensor<1x2x64x32xf32>\n}\n",
            types[i], types[i], types[i], types[i]);
        forget_ir();
        ir_read(&ir, text.p);
        cr_expect_eq(price_here().known, i == 0, "%s", types[i]);
    }
}

Test(price, an_exact_gelu_stays_bound_by_the_vector_unit) {
    pattern_file("name: g\nfused_op: ttnn.g\nsource: ttnn\nmatch: out = op gelu(relu(x))\n");
    struct price x = price_short("x:4096x4096xbf16!input", "r = ttnn.relu x; o = ttnn.gelu r; return o");
    cr_expect_eq(cost_bound(&x.with.estimated), BOUND_COMPUTE);
    double alone = 128.0 * 128 * 2849 / 64 / 1000; /* tiles, cycles, cores, cycles a us */
    cr_expect_gt(x.with.estimated.us, alone);
}

/* What an op computes in passing it computes all the same. */
Test(price, activations_of_an_elementwise_op_keep_the_vector_unit_busy) {
    static const char *const texts[] = {
        "name: p\nfused_op: ttnn.multiply\nsource: ttnn\nmatch: out = op multiply(gelu(x), y)\n",
        "name: q\nfused_op: ttnn.unary_chain\nsource: ttnn\nmatch: out = op multiply(gelu(x), y)\n",
        "name: r\nfused_op: ttnn.silu\nsource: ttnn\nmatch: out = op multiply(gelu(x), y)\n",
    };
    for (int i = 0; i < 3; i++) {
        pattern_file(texts[i]);
        struct price x = price_short("x:32x9216xbf16!input y:32x9216xbf16!input",
                                     "g = ttnn.gelu x; o = ttnn.multiply g y; return o");
        bool same = x.with.estimated.vector_cycles == x.without.estimated.vector_cycles;
        cr_assert_eq(same, i < 2, "%s", texts[i]);
    }
}

Test(price, a_softmax_of_few_rows_runs_on_few_cores_and_may_be_slower) {
    pattern_file("name: s\nfused_op: ttnn.softmax\nsource: ttnn\nmatch: |\n  e = op exp(x)\n"
                 "  out = e / op sum(e, dim=-1)\n");
    struct price x = price_short("x:32x4096xbf16!input",
                                 "e = ttnn.exp x; s = ttnn.sum e {dim_arg = [-1], keep_dim = true} -> 32x1xbf16\n"
                                 "o = ttnn.divide e s; return o");
    cr_expect_eq(x.with.estimated.cores, 1);
    cr_expect_eq(x.without.counted.launches - x.with.counted.launches, 2);
    cr_expect_lt(price_saved_us(&x), 0);
    struct str line = price_line(&x, &device, STR(""), &arena);
    cr_expect_not_null(str_find(line, STR("slower by about ")), "%.*s", (int)line.n, line.p);
    cr_expect_not_null(str_find(line, STR(" on 1 core, ")), "%.*s", (int)line.n, line.p);
}

/* That of a norm whose width is spread over devices shares out the columns, too. */
Test(price, a_distributed_norm_of_few_rows_has_all_cores) {
    pattern_file("name: d\nfused_op: ttnn.distributed_rms_norm\nsource: ttnn\n"
                 "match: out = x * op rsqrt(all_reduce(op sum(x * x)))\n");
    struct price x = price_short(
        "x:32x4096xbf16!input", "s = ttnn.multiply x x; m = ttnn.sum s {dim_arg = [-1], keep_dim = true} -> 32x1xbf16\n"
                                "a = ttnn.all_reduce m; r = ttnn.rsqrt a; o = ttnn.multiply x r -> 32x4096xbf16\n"
                                "return o");
    cr_expect_eq(x.with.estimated.cores, 64);
    cr_expect_gt(price_saved_us(&x), 0);
}

/* ---- text ---- */

Test(price, the_line_says_counted_figures_estimate_device_and_bound) {
    pattern_file(LINEAR);
    struct price x = price_short(M4096, PLUS);
    struct str line = price_line(&x, &device, STR(""), &arena);
    cr_expect(str_starts(line, STR("about 338 us of 2.")), "%.*s", (int)line.n, line.p);
    cr_expect(str_ends(line, STR(" (1 launch, 67.1 MB of DRAM traffic; compute-bound, n150)")), "%.*s", (int)line.n,
              line.p);
    device.choice = CHIP_ASSUMED;
    cr_expect_not_null(str_find(price_line(&x, &device, STR(""), &arena), STR(", n150 assumed)")));
    device.choice = CHIP_OF_MODULE;
    cr_expect_not_null(str_find(price_line(&x, &device, STR(""), &arena), STR(", wormhole_b0)")));
    line = price_line(&x, NULL, STR("1 us more than ttnn.f"), &arena);
    cr_expect(str_ends(line, STR(", 1 us more than ttnn.f (1 launch, 67.1 MB of DRAM traffic; compute-bound)")), "%.*s",
              (int)line.n, line.p);
}

/* A kernel of norms works on a row of tiles at a time. */
Test(price, what_does_not_fit_into_l1_is_read_twice) {
    pattern_file(NORM);
    const char *ops = "e = ttnn.full {fill_value = 1.0e-5, shape = #ttnn.shape<1x1>} -> 1x1xbf16\n"
                      "s = ttnn.multiply x x; m = ttnn.mean s {dim_arg = [-1], keep_dim = true} -> 2048x1xbf16\n"
                      "n = ttnn.add m e -> 2048x1xbf16; r = ttnn.rsqrt n; y = ttnn.multiply x r -> 2048x%dxbf16\n"
                      "o = ttnn.multiply y w -> 2048x%dxbf16; return o";
    static const int widths[2] = {1024, 16384};
    double per_element[2];
    for (int i = 0; i < 2; i++) {
        char args[128], text[1024];
        snprintf(args, sizeof args, "x:2048x%dxbf16!input w:%dxbf16!parameter", widths[i], widths[i]);
        snprintf(text, sizeof text, ops, widths[i], widths[i]);
        struct price x = price_short(args, text);
        per_element[i] = x.with.estimated.us / widths[i];
    }
    cr_expect_gt(per_element[1], 1.2 * per_element[0]);
}

/* An estimate that is a little slower than another is no difference. */
Test(price, the_error_of_the_model_is_no_difference) {
    struct price x = {.known = true, .without.estimated.us = 10, .with.estimated.us = 12};
    cr_expect_not(price_is_slower(&x));
    cr_expect_eq(price_saved_us(&x), 0);
    x.with.estimated.us = 15;
    cr_expect(price_is_slower(&x));
    cr_expect_eq(price_saved_us(&x), -5);
}

static void check_read_back(const struct price *x, double us) {
    struct arena a = {0};
    struct device d = {.choice = CHIP_ASSUMED};
    cr_expect_eq(price_line_us(price_line(x, &d, STR(""), &a)), us_as_said(us), "%g", us);
    arena_free(&a);
}

/* A report in YAML says it in this line only. */
Test(price, what_a_line_says_is_read_back) {
    struct price x = {.known = true, .without.estimated.us = 402.4, .with.estimated.us = 284.1};
    check_read_back(&x, 118.3);
    x.around_us = 40;
    check_read_back(&x, 158.3);
    x.around_us = 0;
    x.with.estimated.us = 400;
    check_read_back(&x, 2.4);
    x.measured_us = 804;
    check_read_back(&x, 4.8);
    x.with.estimated.us = 410; /* within the error of the model */
    check_read_back(&x, 0);
    x.measured_us = 0;
    x.with.estimated.us = 1000;
    check_read_back(&x, -598);
    x.without.estimated.us = 331610;
    x.with.estimated.us = 36105;
    check_read_back(&x, 295505);
    x.with.estimated.us = 331300;
    check_read_back(&x, 310);
    cr_expect_eq(price_line_us(STR("about 1.5 of 3.0 s (x)")), 1.5e6);
    cr_expect_eq(price_line_us(STR("")), 0);
}

/* No time: fewer launches alone count where the compiler has the fusion. */
Test(price, what_saves_nothing) {
    struct price x = {.known = true, .without.estimated.us = 40, .with.estimated.us = 39.9};
    cr_expect_not(price_saves_nothing(&x, false));
    x.with.estimated.us = 40;
    cr_expect(price_saves_nothing(&x, true));
    x.without.counted.launches = 1;
    cr_expect(price_saves_nothing(&x, false));
    cr_expect_not(price_saves_nothing(&x, true));
    x.around_us = 3;
    cr_expect_not(price_saves_nothing(&x, false));
    x.with.estimated.us = 90;
    cr_expect(price_saves_nothing(&x, true));
    x.known = false;
    cr_expect_not(price_saves_nothing(&x, true));
}
