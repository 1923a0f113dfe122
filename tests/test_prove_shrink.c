/* Small extents keep every relation that ops and shapes state, or fail with a reason; the module that is printed in
 * them. */
#include "ir/mlir/print.h"
#include "ir_text.h"
#include "proof/reduce/resize.h"

#include <criterion/criterion.h>
#include <math.h>

static struct ir ir;
static struct subgraph subgraph;
static struct extents e;
static struct reason why;

static void setup(void) {
    memset(&ir, 0, sizeof ir);
}

static void teardown(void) {
    if (ir.text)
        ir_free(&ir);
}

TestSuite(prove_shrink, .init = setup, .fini = teardown, .timeout = 30);

/* All ops of a function as one match. */
static bool all_ops(void) {
    uint32_t all[64], n = 0;
    for (uint32_t op = 0; op < ir.m.nops; op++)
        if (graph_class(&ir.g, op) != OP_STRUCTURE && ir.g.kind[op] != K_RETURN &&
            graph_class(&ir.g, op) != OP_CONSTANT)
            all[n++] = op;
    struct match m = {.graph = &ir.g, .ops = all, .root = all[n - 1], .nops = n};
    why.text = STR("");
    return subgraph_of_match(&m, &subgraph, &why);
}

static bool read_subgraph(const char *args, const char *ops) {
    ir_short(&ir, args, ops);
    return all_ops();
}

/* In large subgraphs different extents may become equal. */
static void shrink_large(const char *args, const char *ops) {
    cr_assert(read_subgraph(args, ops), "%.*s", (int)why.text.n, why.text.p);
    cr_assert(extents_shrink(&subgraph, &(struct shrink_options){.which = 0}, &e, &why), "%.*s", (int)why.text.n,
              why.text.p);
    for (uint32_t i = 0; i < e.n; i++) {
        cr_assert_leq(e.to[i], e.from[i]);
        cr_assert_geq(e.to[i], 2, "%ld", (long)e.from[i]);
    }
}

static void shrink(const char *args, const char *ops) {
    shrink_large(args, ops);
    for (uint32_t i = 0; i < e.n; i++) {
        for (uint32_t k = 0; k < i; k++)
            cr_assert_neq(e.to[i], e.to[k], "%ld and %ld", (long)e.from[i], (long)e.from[k]);
    }
}

static int64_t to(int64_t from) {
    return extent_to(&e, from);
}

Test(prove_shrink, tiles_stay_tiles_and_multiples_multiples) {
    shrink("x:96x64 w:64x128 b:1x100", "p = ttnn.matmul x w -> 96x128; n = ttnn.neg b -> 1x100; return p n");
    cr_assert_eq(to(1), 1);
    cr_assert_eq(to(64), 4);
    cr_assert_eq(to(128) % to(64), 0);
    cr_assert_eq(to(96) % SMALL_TILE, 0);
    cr_assert_neq(to(100) % SMALL_TILE, 0);
}

Test(prove_shrink, reshapes_keep_their_products) {
    shrink("x:3072x768", "r = ttnn.reshape x {shape = [8 : i32, 384 : i32, 12 : i32, 64 : i32]} -> 8x384x12x64\n"
                         "p = ttnn.permute r {permutation = array<i64: 0, 2, 1, 3>} -> 8x12x384x64\n"
                         "s = ttnn.softmax p {dimension = 3 : si32} -> 8x12x384x64; return s");
    cr_assert_eq(to(8) * to(384), to(3072));
    cr_assert_eq(to(12) * to(64), to(768));
    cr_assert_lt(to(768), 100);
}

Test(prove_shrink, slices_and_concats_keep_sums) {
    shrink("x:2x32x2304", "q = ttir.slice_static x {begins = [0 : i32, 0 : i32, 0 : i32], ends = [2 : i32, 32 : i32, "
                          "768 : i32], step = [1 : "
                          "i32, 1 : i32, 1 : i32]} -> 2x32x768\n"
                          "v = ttir.slice_static x {begins = [0 : i32, 0 : i32, 768 : i32], ends = [2 : i32, 32 : i32, "
                          "2304 : i32], step = [1 "
                          ": i32, 1 : i32, 1 : i32]} -> 2x32x1536\n"
                          "c = ttir.concat v q {dim = 2 : si32} -> 2x32x2304; return c");
    cr_assert_eq(to(768) + to(1536), to(2304));
}

Test(prove_shrink, slices_of_rows_begin_where_parts_do) {
    shrink("q:4096x512 k:1280x512",
           "c = ttir.concat q k {dim = 0 : si32} -> 5376x512\n"
           "r = ttir.reshape c {shape = [42 : i32, 128 : i32, 512 : i32]} -> 42x128x512\n"
           "s = ttir.slice_static r {begins = [32 : i32, 0 : i32, 0 : i32], ends = [42 : i32, 128 : i32, 512 : i32], "
           "step = [1 : i32, 1 : i32, 1 : i32]} -> 10x128x512; return s");
    cr_assert_eq(to(32) * to(128), to(4096));
    cr_assert_eq(to(10) * to(128), to(1280));
}

Test(prove_shrink, a_strided_slice_keeps_its_sizes) {
    shrink("x:4x128",
           "h = ttir.slice_static x {begins = [0 : i32, 1 : i32], ends = [4 : i32, 128 : i32], step = [1 : i32, 2 : "
           "i32]} -> 4x64; return h");
    cr_assert(to(128) == 128 && to(64) == 64);
}

Test(prove_shrink, repeated_heads_are_a_multiple) {
    shrink("k:1x8x128x64",
           "r = ttir.repeat_interleave k {dim = 1 : si32, repeats = 4 : ui32} -> 1x32x128x64; return r");
    cr_assert_eq(to(8) * to(4), to(32));
}

Test(prove_shrink, a_window_stays_and_the_image_shrinks) {
    shrink(
        "x:1x224x224x3 w:64x3x7x7",
        "y = ttir.conv2d x w {batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = array<i32: 1, 1>, groups = 1 : "
        "i32, height_dim = 1 : i64, padding = array<i32: 3, 3, 3, 3>, stride = array<i32: 2, 2>, width_dim = 2 : i64} "
        "-> 1x112x112x64; return y");
    cr_assert_eq(to(7), 7);
    cr_assert_eq((to(224) + 6 - 7) / 2 + 1, to(112));
    cr_assert_lt(to(224), 100);
}

Test(prove_shrink, a_pad_stays_and_so_does_the_window_of_a_pool) {
    shrink(
        "x:2x112x112x64",
        "p = ttir.pad x {padding = array<i32: 0, 0, 1, 1, 1, 1, 0, 0>, value = 0.0 : f32} -> 2x114x114x64\n"
        "y = ttir.max_pool2d p {ceil_mode = false, dilation = array<i32: 1, 1>, kernel = array<i32: 3, 3>, padding = "
        "array<i32: 0, 0, 0, 0>, stride = array<i32: 2, 2>} -> 2x56x56x64; return y");
    cr_assert_eq(to(112) + 2, to(114));
    cr_assert_eq((to(114) - 3) / 2 + 1, to(56));
    cr_assert_lt(to(114), 60);
}

Test(prove_shrink, a_window_of_one_dimension_slides_too) {
    shrink(
        "x:2x1500x80 w:64x80x3",
        "y = ttir.conv1d x w {batch_dim = 0 : i64, channel_dim = 2 : i64, dilation = array<i32: 1>, groups = 1 : i32, "
        "length_dim = 1 : i64, padding = array<i32: 1, 1>, stride = array<i32: 2>} -> 2x750x64; return y");
    cr_assert_eq(to(3), 3);
    cr_assert_eq((to(1500) + 2 - 3) / 2 + 1, to(750));
    cr_assert_lt(to(1500), 60);
}

Test(prove_shrink, a_flattened_image_keeps_its_sizes) {
    shrink("x:1x1x3000x80 w:64x80x3",
           "y = ttnn.conv1d x w {batch_size = 2 : i32, dilation = 1 : i32, groups = 1 : i32, in_channels = 80 : i32, "
           "input_length = 1500 : i32, kernel_size = 3 : i32, out_channels = 64 : i32, padding = array<i32: 1, 1>, "
           "stride = 2 : i32} -> 1x1x1500x64; return y");
    cr_assert_eq(2 * to(1500), to(3000));
    cr_assert_eq((to(1500) + 2 - 3) / 2 + 1, to(750));
    cr_assert_lt(to(3000), 100);
}

Test(prove_shrink, a_window_of_three_dimensions_slides_too) {
    shrink_large("x:1x28x130x194x64 w:48x64x3x3x3",
                 "y = ttir.conv3d x w {groups = 1 : i32, padding = array<i32: 0, 1, 1>, stride = array<i32: 1, 2, 2>} "
                 "-> 1x26x65x97x48; return y");
    cr_assert_eq(to(28) - 2, to(26));
    cr_assert_eq((to(130) + 2 - 3) / 2 + 1, to(65));
    cr_assert_eq((to(194) + 2 - 3) / 2 + 1, to(97));
    cr_assert_lt(to(28) * to(130) * to(194), 2000);
}

Test(prove_shrink, a_transposed_window_spreads_the_image) {
    shrink("x:1x60x40x128 w:128x16x4x4",
           "y = ttir.conv_transpose2d x w {dilation = array<i32: 1, 1>, groups = 4 : i32, output_padding = array<i32: "
           "1, 1>, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 2, 2>} -> 1x121x81x64; return y");
    cr_assert_eq((to(60) - 1) * 2 - 2 + 4 + 1, to(121));
    cr_assert_eq((to(40) - 1) * 2 - 2 + 4 + 1, to(81));
    cr_assert_eq(to(16) * to(4), to(64));
    cr_assert_eq(to(128) % to(4), 0);
    cr_assert_lt(to(60), 30);
}

Test(prove_shrink, ceil_mode_rounds_up_again) {
    shrink("x:2x112x111x64",
           "y = ttir.max_pool2d x {ceil_mode = true, dilation = array<i32: 1, 1>, kernel = array<i32: 3, 3>, padding = "
           "array<i32: 0, 0, 0, 0>, stride = array<i32: 2, 2>} -> 2x56x55x64; return y");
    cr_assert_eq((to(112) - 3 + 1) / 2 + 1, to(56));
    cr_assert_eq((to(112) - 3) % 2, 1);
    cr_assert_eq((to(111) - 3) / 2 + 1, to(55));
    cr_assert_lt(to(112), 60);
}

Test(prove_shrink, an_upsampling_keeps_its_scale) {
    shrink("x:1x64x48x320", "y = ttir.upsample2d x {mode = \"nearest\", scale_factor = array<i32: 2, 3>} "
                            "-> 1x128x144x320; return y");
    cr_assert_eq(2 * to(64), to(128));
    cr_assert_eq(3 * to(48), to(144));
    cr_assert_lt(to(64), 30);
}

/* Its sizes stand inside of an attribute, and the image is one dimension of the operand. */
Test(prove_shrink, a_flattened_image_of_ttir_shrinks_as_others_do) {
    shrink("x:1x1x12544x64 w:96x64x1x1",
           "y = ttir.conv2d x w {flattened_compat_info = #ttir.flattened_compat<batch_size = 4, input_height = 56, "
           "input_width = 56>} -> 1x1x12544x96; return y");
    cr_assert_eq(to(4) * to(56) * to(56), to(12544));
    cr_assert_lt(to(56), 28);
}

/* A pool of few elements may take as long as a product of large ones. */
Test(prove_shrink, a_pool_costs_what_is_in_its_windows) {
    static const char *const sizes[] = {"4096", "3"};
    for (int i = 0; i < 2; i++) {
        char ops[256];
        snprintf(ops, sizeof ops,
                 "y = ttir.max_pool2d x {kernel = array<i32: %s, %s>, stride = array<i32: 1, 1>} -> 2x1x1x4; return y",
                 sizes[i], sizes[i]);
        cr_assert(read_subgraph(i ? "x:2x3x3x4" : "x:2x4096x4096x4", ops));
        e = (struct extents){0};
        double windows = extents_cost(&subgraph, &e) - (i ? 2 * 9 * 4 : 2 * 0x1p24 * 4);
        cr_assert_eq(windows, i ? 2 * 4 * 9 : 2 * 4 * 0x1p24);
        teardown();
        setup();
    }
}

/* The window and the channels of the image are the rows of the weights. */
Test(prove_shrink, weights_that_are_prepared_shrink_with_their_channels) {
    shrink(
        "x:1x1x12544x64 w:1x1x576x96",
        "y = ttnn.conv2d x w {batch_size = 4 : i32, input_height = 56 : i32, input_width = 56 : i32, in_channels = 64 "
        ": i32, out_channels = 96 : i32, kernel_size = array<i32: 3, 3>, padding = array<i32: 1, 1, 1, 1>, stride = "
        "array<i32: 1, 1>} -> 1x1x12544x96; return y");
    cr_assert_eq(9 * to(64), to(576));
    cr_assert_lt(to(64), 32);
    cr_assert_lt(to(96), 48);
}

Test(prove_shrink, weights_that_are_neither_defined_nor_prepared_stay) {
    shrink_large(
        "x:1x1x12544x64 w:1x1x600x96",
        "y = ttnn.conv2d x w {batch_size = 4 : i32, input_height = 56 : i32, input_width = 56 : i32, in_channels = 64 "
        ": i32, out_channels = 96 : i32, kernel_size = array<i32: 3, 3>, padding = array<i32: 1, 1, 1, 1>, stride = "
        "array<i32: 1, 1>} -> 1x1x12544x96; return y");
    cr_assert_eq(to(600), 600);
    cr_assert_eq(to(96), 96);
}

Test(prove_shrink, an_image_that_does_not_fit_its_window_stays) {
    static const char *const ops[] = {
        "y = ttir.conv1d x w {padding = array<i32: 1>, stride = array<i32: 2>} -> 2x700x64; return y",
        "y = ttir.conv1d x w {padding = array<i32: 1, 1, 1>, stride = array<i32: 2>} -> 2x750x64; return y",
        "y = ttir.conv1d x w {padding = array<i32: 1>, stride = array<i32: 99>} -> 2x16x64; return y",
        "y = ttir.conv1d x w {padding = 1 : i32, stride = 2 : i32, length_dim = 2 : i64} -> 2x750x64; return y"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (ir.text)
            ir_free(&ir);
        shrink_large("x:2x1500x80 w:64x80x3", ops[i]);
        cr_assert_eq(to(1500), 1500, "%s", ops[i]);
    }
}

Test(prove_shrink, a_transposed_window_that_does_not_fit_stays) {
    shrink_large("x:1x60x40x128 w:128x64x4x4",
                 "y = ttir.conv_transpose2d x w {padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 2, 2>} -> "
                 "1x121x80x64; return y");
    cr_assert_eq(to(60), 60);
    cr_assert_eq(to(121), 121);
}

Test(prove_shrink, an_upsampling_that_does_not_fit_stays) {
    shrink("x:1x64x48x320", "y = ttir.upsample2d x {mode = \"nearest\", scale_factor = array<i32: 2, 2>} "
                            "-> 1x128x144x320; return y");
    cr_assert_eq(to(64), 64);
    cr_assert_eq(to(48), 48);
}

Test(prove_shrink, groups_that_do_not_fit_the_weights_stay) {
    shrink("x:1x60x40x128 w:128x33x3x3",
           "y = ttir.conv2d x w {groups = 4 : i32, padding = array<i32: 1, 1, 1, 1>} -> 1x60x40x128; return y");
    cr_assert_eq(to(128), 128);
    cr_assert_eq(to(4), 4);
}

Test(prove_shrink, shapes_of_an_unknown_op_stay) {
    shrink("x:32x640 y:32x640", "z = ttir.frobnicate x -> 32x96; s = ttir.add x y -> 32x640; return z s");
    cr_assert_eq(to(32), 32);
    cr_assert_eq(to(640), 640);
    cr_assert_eq(to(96), 96);
}

Test(prove_shrink, a_dynamic_shape_is_an_error) {
    cr_assert_not(read_subgraph("x:?x64", "y = ttir.exp x -> ?x64; return y"));
    cr_assert(str_find(why.text, STR("static shape")), "%.*s", (int)why.text.n, why.text.p);
}

Test(prove_shrink, second_solution_differs) {
    shrink("x:96x64", "y = ttir.exp x -> 96x64; return y");
    struct extents more;
    cr_assert(extents_shrink(&subgraph, &(struct shrink_options){.which = 1}, &more, &why));
    cr_assert_neq(memcmp(more.to, e.to, sizeof e.to), 0);
}

Test(prove_shrink, second_solution_is_larger_in_each_extent) {
    shrink("x:1000x7", "y = ttir.sum x {dim_arg = [1 : i32], keep_dim = true} -> 1000x1; return y");
    struct extents more;
    cr_assert(extents_shrink(&subgraph, &(struct shrink_options){.which = 1}, &more, &why));
    for (uint32_t i = 0; i < e.n; i++)
        cr_assert_gt(more.to[i], e.to[i], "%ld", (long)e.from[i]);
}

/* Products and heads that take many operations while all relations between extents are kept. */
#define HEADS                                                                                                          \
    "a = ttir.matmul x k {transpose_b = true} -> 32x128; b = ttir.matmul x q {transpose_b = true} -> 32x512\n"         \
    "c = ttir.reshape a {shape = [1 : i32, 32 : i32, 2 : i32, 64 : i32]} -> 1x32x2x64\n"                               \
    "d = ttir.reshape b {shape = [1 : i32, 32 : i32, 8 : i32, 64 : i32]} -> 1x32x8x64; return c d"

Test(prove_shrink, relations_are_given_up_for_smaller_extents) {
    shrink_large("x:32x512 k:128x512 q:512x512", HEADS);
    cr_assert_lt(extents_cost(&subgraph, &e), 1 << 15);
    cr_assert_neq(to(8) % to(2), 0);
}

/* ---- the module ---- */

/* The subgraph as a module in the extents `e`, printed. */
static struct str scaled_text_of(const struct payloads *payloads, bool scaled, struct arena *a) {
    struct resized w;
    struct buf text = {0};
    struct resize_options how = {.scaled = scaled, .payloads = payloads};
    cr_assert(subgraph_resize(&subgraph, &e, &how, a, &w, &why), "%.*s", (int)why.text.n, why.text.p);
    mlir_print(&w.ir, NULL, &text);
    mlir_free(&w.ir);
    return buf_take(&text, a);
}

static struct str text_of(const struct payloads *payloads, struct arena *a) {
    return scaled_text_of(payloads, true, a);
}

/* That of the elements of a mean, and the scale of an attention. */
Test(prove_shrink, a_constant_follows_its_extent) {
    struct arena a = {0};
    shrink("q:1x2x96x64 k:1x2x96x64 v:1x2x96x64",
           "c = ttir.full {fill_value = 0.125 : f32, shape = array<i32: 1, 1, 1, 1>} -> 1x1x1x1xf32\n"
           "n = ttir.full {fill_value = 96.0 : f32, shape = array<i32: 1, 1, 1, 1>} -> 1x1x1x1xf32\n"
           "d = ttir.div q n -> 1x2x96x64; m = ttir.multiply d c -> 1x2x96x64\n"
           "o = ttir.scaled_dot_product_attention m k v {is_causal = false, scale = 0.125 : f32, operandSegmentSizes = "
           "array<i32: 1, 1, 1, 0, 0>} -> 1x2x96x64; return o");
    struct str scale = arena_printf(&a, "dense<%.17e>", 1 / sqrt((double)to(64)));
    struct str elements = arena_printf(&a, "dense<%.17e>", (double)to(96));
    cr_assert_neq(to(64), 64);
    struct str text = text_of(NULL, &a);
    cr_expect(str_find(text, scale) && str_find(text, elements), "%s", text.p);
    text = scaled_text_of(NULL, false, &a);
    cr_expect(str_find(text, STR("dense<9.60000000000000000e+01>")), "%s", text.p);
    arena_free(&a);
}

Test(prove_shrink, a_constant_of_an_extent_follows_it) {
    struct arena a = {0};
    shrink("x:32x768", "s = ttir.sum x {dim_arg = [1 : i32], keep_dim = true} -> 32x1\n"
                       "c = ttir.full {fill_value = 1.302E-3 : f32, shape = array<i32: 1, 1>} -> 1x1xbf16\n"
                       "m = ttir.multiply s c -> 32x1; return m");
    struct str text = text_of(NULL, &a);
    struct str want = arena_printf(&a, "dense<%.17e>", 1.0 / (double)to(768));
    cr_assert(str_find(text, want), "%s not in %s", want.p, text.p);
    cr_assert(str_find(text, STR("tensor<1x1xf64>) -> tensor<1x1xbf16>")), "%s", text.p);
    arena_free(&a);
}

/* The root of a root of 16 is an exponent, too. */
Test(prove_shrink, a_square_stays_one) {
    struct arena a = {0};
    shrink("x:16x768", "c = ttir.full {fill_value = 2.0 : f32, shape = array<i32: 1, 1>} -> 1x1xf32\n"
                       "p = ttir.pow x c -> 16x768; return p");
    cr_assert_neq(to(16), 16);
    struct str text = text_of(NULL, &a);
    cr_assert(str_find(text, STR("dense<2.00000000000000000e+00>")), "%s", text.p);
    arena_free(&a);
}

static double meant_by(const char *formula, struct arena *a) {
    struct pattern p = {0};
    struct diags d = {.arena = a};
    struct idioms none = {0};
    cr_assert(formula_parse(&p.formula, a, &none, str_of(formula), (struct text_origin){NULL, 1, 1}, &d));
    diags_free(&d);
    return meant_constant(&ir.g, subgraph.ops, subgraph.nops, &p, graph_constant(&ir.g, ir_value(&ir, "%c")));
}

Test(prove_shrink, a_constant_is_the_number_that_the_pattern_means) {
    struct arena a = {0};
    shrink("x:32x100", "c = ttir.full {fill_value = 0.707106769 : f32, shape = array<i32: 1, 1>} -> 1x1xf32\n"
                       "m = ttir.multiply x c -> 32x100; return m");
    cr_assert_eq(meant_by("out = x * (1 / sqrt(2))", &a), 1 / sqrt(2));
    cr_assert_float_eq(meant_by("out = x * 3", &a), 0.707106769, 1e-8);
    cr_assert_neq(meant_by("out = x * 3", &a), 1 / sqrt(2));
    arena_free(&a);
}

Test(prove_shrink, an_element_type_without_spelling_is_an_error) {
    struct arena a = {0};
    struct resized w;
    ir_main(&ir, "%x: tensor<4x4xcomplex<f32>>",
            "%y = \"ttir.neg\"(%x) : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>\n"
            "return %y : tensor<4x4xcomplex<f32>>");
    cr_assert(all_ops() && extents_unchanged(&subgraph, &e, &why), "%.*s", (int)why.text.n, why.text.p);
    cr_assert_not(subgraph_resize(&subgraph, &e, &(struct resize_options){0}, &a, &w, &why));
    cr_assert(str_find(why.text, STR("element type")), "%.*s", (int)why.text.n, why.text.p);
    mlir_free(&w.ir);
    arena_free(&a);
}

Test(prove_shrink, equal_subgraphs_give_one_text) {
    struct arena a = {0};
    const char *ops = "q = ttnn.multiply x x -> 4x64; n = ttnn.neg q -> 4x64; return n";
    shrink("x:4x64", ops);
    struct str one = text_of(NULL, &a);
    ir_free(&ir);
    shrink("y:4x640", "a = ttnn.multiply y y -> 4x640; b = ttnn.neg a -> 4x640; return b");
    struct str other = text_of(NULL, &a);
    cr_assert(str_eq(one, other), "%s\n%s", one.p, other.p);
    arena_free(&a);
}

/* ---- constant payloads ---- */

static bool read_payload(const char *value, const char *type, int64_t max, struct payloads *out) {
    static struct arena a;
    arena_free(&a);
    struct str ops = arena_printf(
        &a, "c = ttir.constant {value = dense<%s> : tensor<%sxf32>} -> %s; y = ttir.add c x -> %s; return y", value,
        type, type, type);
    if (ir.text)
        ir_free(&ir);
    cr_assert(read_subgraph(arena_printf(&a, "x:%s", type).p, ops.p));
    return payload_read(&subgraph, max, &a, out);
}

Test(prove_shrink, splats_and_large_constants_are_not_read) {
    struct payloads h;
    cr_assert(read_payload("[0.0, 1.0, 2.0, 3.0]", "4", 4, &h));
    cr_assert_not(read_payload("[0.0, 1.0, 2.0, 3.0]", "4", 3, &h));
    cr_assert_not(read_payload("7.0", "4", 100, &h));
    cr_assert_not(read_payload("[0.0, 1.0, 2.0]", "4", 100, &h));
}

Test(prove_shrink, payloads_have_their_elements) {
    struct arena a = {0};
    struct payloads h;
    cr_assert(read_payload("[0.0, 1.0, 2.0]", "3", 100, &h));
    cr_assert(extents_unchanged(&subgraph, &e, &why));
    struct str text = text_of(&h, &a);
    cr_assert(str_find(text, STR("dense<\"0x0000000000000000000000000000F03F0000000000000040\"> : tensor<3xf64>")),
              "%s", text.p);
    arena_free(&a);
}
