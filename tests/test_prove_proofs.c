/* Verdicts: the same function is validated, a different one is refuted with a counterexample, and what cannot be
 * evaluated has a reason. */
#include "pattern_text.h"
#include "proof/prove/proofs.h"
#include "proof/prove/select.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

static struct proofs *proofs;

static void setup(void) {
    search_setup();
    proofs = proofs_new(&set);
}

static void teardown(void) {
    proofs_free(proofs);
    search_teardown();
}

TestSuite(prove_proofs, .init = setup, .fini = teardown, .timeout = 30);

/* `fused`: what the op computes, and any other keys; or NULL. */
static void claim(const char *match, const char *fused) {
    proofs_free(proofs); /* they know patterns by where they are */
    proofs = proofs_new(&set);
    pattern(match, fused ? arena_printf(&arena, "fused: %s", fused).p : "");
}

/* The verdict of the only match. */
static struct proved ask(const char *args, const char *ops) {
    cr_assert_eq(search_all(args, ops), 1, "%u places", list.n);
    return proofs_ask(proofs, &list.items[0], false);
}

#define SILU "s = ttnn.sigmoid x -> 96x640xbf16; o = ttnn.multiply x s -> 96x640xbf16; return o"

/* "key: value", line by line. */
static struct str figures_text(const struct proved *v) {
    struct figures f = verdict_figures(v, &arena);
    struct buf out = {0};
    for (uint32_t i = 0; i < f.n; i++)
        buf_printf(&out, "%.*s: %.*s\n", (int)f.items[i].key.n, f.items[i].key.p, (int)f.items[i].value.n,
                   f.items[i].value.p);
    return buf_take(&out, &arena);
}

Test(prove_proofs, the_same_function_is_validated_with_figures) {
    claim("out = x * sigmoid(x)", "silu(x)");
    struct proved v = ask("x:96x640xbf16", SILU);
    struct str line = verdict_line(&v, &arena), details = figures_text(&v);
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
    cr_assert(v.evaluated);
    cr_assert(v.device.known);
    cr_assert_gt(v.device.pcc[1], 0.999);
    cr_assert_lt(v.device.relative_l2[1], v.device.relative_l2[0]); /* one rounding fewer */
    cr_assert_leq(v.device.ulp[1], 0.5);
    cr_assert(str_starts(line, STR("validated: same function (f64), emulated PCC 0.9999")), "%s", line.p);
    cr_assert(str_ends(line, STR(" (bf16, wormhole_b0)")), "%s", line.p);
    cr_assert(str_starts(details, STR("verdict: same_function\narithmetic: f64\n")), "%s", details.p);
}

Test(prove_proofs, the_chip_is_that_of_the_model) {
    claim("out = x * sigmoid(x)", "silu(x)");
    ask("x:96x640xbf16", SILU);
    struct proved v = proofs_ask(proofs, &list.items[0], true);
    cr_assert(str_ends(verdict_line(&v, &arena), STR("(bf16, blackhole)")));
}

Test(prove_proofs, blackhole_is_named_in_either_spelling_before_the_first_op) {
    static const struct {
        const char *head;
        bool is;
    } cases[] = {{"#d = {arch = <blackhole>}\n", true},
                 {"#d = #ttcore.arch<blackhole>\n", true},
                 {"#d = {arch = <wormhole_b0>}\n", false},
                 {"", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t begin = (uint32_t)strlen(cases[i].head);
        struct mlir_op op = {.text = {begin, begin + 1}};
        struct str text = arena_printf(&arena, "%s%%0 = \"a.b\"() {x = \"#ttcore.arch<blackhole>\"}", cases[i].head);
        cr_expect_eq(is_for_blackhole(&(struct mlir){.text = text, .ops = &op, .nops = 1}), cases[i].is, "%zu", i);
        struct mlir_op two[] = {op, {.text = {(uint32_t)text.n, (uint32_t)text.n}}};
        struct mlir_func funcs[] = {{.op = 0}, {.op = 1}};
        struct mlir m = {.text = text, .ops = two, .nops = 2, .funcs = funcs, .nfuncs = 2};
        cr_expect_eq(is_for_blackhole(&m), cases[i].is, "%zu with functions", i);
    }
}

/* What programs read, key by key. */
Test(prove_proofs, details_have_a_figure_for_each_side) {
    struct proved v = {.kind = VERDICT_SAME,
                       .evaluated = true,
                       .bound = 0.5,
                       .device = {.known = true,
                                  .type = DT_BF16,
                                  .pcc = {0.25, 0.75},
                                  .relative_l2 = {0.125, 0},
                                  .ulp = {4, INFINITY},
                                  .steady = true}};
    cr_assert_str_eq(figures_text(&v).p,
                     "verdict: same_function\narithmetic: f64\nwithin: 0.5\n"
                     "chip: wormhole_b0\ndtype: bf16\npcc_unfused: 0.25\n"
                     "relative_l2_unfused: 0.125\nulp_unfused: 4\npcc_fused: 0.75\nrelative_l2_fused: 0\n");
    cr_assert_str_eq(verdict_line(&v, &arena).p, "validated: same function within 0.5 (f64), emulated PCC "
                                                 "0.75000, error 0x that of the unfused ops (bf16, wormhole_b0)");
    v.device.relative_l2[1] = 0.17;
    cr_assert(str_find(verdict_line(&v, &arena), STR("0.75000, error 1x that of")));
    v.device.steady = false; /* other numbers give another figure */
    cr_assert(str_find(verdict_line(&v, &arena), STR("PCC 0.75000 (bf16")));
    v = (struct proved){.text = STR("why")};
    cr_assert_str_eq(figures_text(&v).p, "verdict: not_validated\nreason: why\n");
}

/* Of a product of f32 and bf16, too, the fused op is as exact as the product that is not fused. */
Test(prove_proofs, the_matrix_unit_is_set_up_as_for_the_first_operand) {
    claim("out = matmul(x, w) + b", "linear(x, w, b)");
    struct proved v =
        ask("x:64x96 w:96x64xbf16 b:64", "m = ttnn.matmul x w -> 64x64; o = ttnn.add m b -> 64x64; return o");
    cr_assert(v.device.known, "%s", v.text.p);
    cr_assert_lt(v.device.relative_l2[1], 1.5 * v.device.relative_l2[0]);
}

/* A bound is said only where the results do not agree without it. */
Test(prove_proofs, a_bound_that_is_not_needed_is_not_said) {
    claim("out = x * sigmoid(x)", "silu(x)\napproximate: 0.05");
    cr_expect_eq(ask("x:96x640xbf16", SILU).bound, 0);
}

Test(prove_proofs, a_bound_that_is_needed_is_said) {
    claim("out = x * sigmoid(x)", "x * sigmoid(1.001 * x)\napproximate: 0.05");
    cr_expect_eq(ask("x:96x640xbf16", SILU).bound, 0.05);
}

Test(prove_proofs, another_function_is_refuted_by_a_counterexample) {
    claim("out = x * sigmoid(x)", "sigmoid(x)");
    struct proved v = ask("x:96x640xbf16", SILU);
    cr_assert(verdict_refutes(&v));
    cr_assert(str_find(v.text, STR("something else: at [")), "%s", v.text.p);
    cr_assert(str_find(v.text, STR(" instead of ")), "%s", v.text.p);
    cr_assert(str_find(v.text, STR("(input %x = ")), "%s", v.text.p);
}

/* The same pattern stays where it is right; what lost against it where it is wrong is found there. */
Test(prove_proofs, a_refuted_match_makes_room_for_others) {
    pattern_file("name: doubled\nfused_op: ttnn.doubled\nsource: ttnn\nmatch: out = exp(x) * c\nwhere: [constant(c)]\n"
                 "fused: exp(x) * 2\n---\nname: e\nfused_op: ttnn.e\nsource: ttnn\nmatch: out = exp(x)\n"
                 "fused: exp(x)\n");
    ir_short(&ir, "x:32x64 y:32x64",
             "a = ttnn.exp x -> 32x64; p = ttnn.multiply a 2.0 -> 32x64\n"
             "b = ttnn.exp y -> 32x64; q = ttnn.multiply b 3.0 -> 32x64; return p q");
    struct match_cache *cache = match_cache_new(&set);
    struct selection s = {.verdicts = NULL};
    select_matches(&(struct search_setup){&set, &cache, 1, NULL}, &(struct fa_patterns){.nfiles = 0}, proofs, &ir.g,
                   NULL, &arena, &s);
    cr_assert_eq(s.nrefuted, 1);
    cr_expect_eq(s.refuted[0].match.root, ir_op(&ir, "%q"));
    cr_assert_eq(s.matches.n, 2);
    cr_expect_eq(s.matches.items[0].root, ir_op(&ir, "%p"));
    cr_expect_eq(s.matches.items[1].root, ir_op(&ir, "%b"));
    selection_free(&s);
    match_cache_free(cache);
}

Test(prove_proofs, small_relative_differences_are_refuted) {
    static const char *const wrong[] = {
        "softmax(x * scale, dim=-2)", /* the wrong axis */
        "softmax(x / scale)",         /* the scale inverted */
        "softmax(x) * scale",         /* after instead of before */
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        claim("out = op softmax(x * scale, dim=-1)", wrong[i]);
        struct proved v = ask("x:4x96x96 s:1x1x1", "p = ttnn.multiply x s -> 4x96x96\n"
                                                   "o = ttnn.softmax p {dimension = 2 : si32} -> 4x96x96; return o");
        cr_assert(verdict_refutes(&v), "%s: %s", wrong[i], v.text.p);
    }
    claim("out = x * rsqrt(mean(x * x, dim=-1) + eps)", "x / (sqrt(mean(x * x)) + eps)"); /* outside of the root */
    struct proved v = ask("x:32x640", "q = ttir.multiply x x -> 32x640\n"
                                      "m = ttir.mean q {dim_arg = [1 : i32], keep_dim = true} -> 32x1\n"
                                      "c = ttir.full {fill_value = 1.0E-2 : f32} -> 1x1\n"
                                      "a = ttir.add m c -> 32x1; r = ttir.rsqrt a -> 32x1\n"
                                      "o = ttir.multiply x r -> 32x640; return o");
    cr_assert(verdict_refutes(&v), "%s", v.text.p);
}

#define MEAN(c)                                                                                                        \
    "s = ttir.sum x {dim_arg = [1 : i32], keep_dim = true} -> 32x1xbf16\n"                                             \
    "c = ttir.full {fill_value = " c " : f32, shape = array<i32: 1, 1>} -> 1x1xbf16\n"                                 \
    "m = ttir.multiply s c -> 32x1xbf16; d = ttir.subtract x m -> 32x768xbf16; return d"

Test(prove_proofs, a_constant_tied_to_an_extent_is_exact) {
    claim("out = x - sum(x, dim=-1) * (1 / extent(x, -1))", "x - mean(x)");
    struct proved v = ask("x:32x768xbf16", MEAN("1.3021E-3"));
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
}

Test(prove_proofs, nothing_proved_has_a_reason) {
    claim("out = x * sigmoid(x)", NULL); /* the formula is the form */
    struct proved v = ask("x:96x640xbf16", SILU);
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
    claim("out = neg(rearrange(x))", "neg(x)");
    v = ask("x:32x64", "g = ttir.rearrange x {pattern = \"a b -> b a\"} -> 64x32; o = ttir.neg g -> 64x32; return o");
    cr_assert_eq(v.kind, VERDICT_NONE);
    cr_assert(str_find(v.text, STR("no evaluator for")), "%s", v.text.p);
}

Test(prove_proofs, equal_matches_are_proved_once) {
    claim("out = x * sigmoid(x)", "silu(x)");
    ask("x:96x640xbf16", SILU);
    uint32_t n = proofs_count(proofs);
    cr_assert_eq(n, 1);
    ask("y:96x640xbf16", "t = ttnn.sigmoid y -> 96x640xbf16; o = ttnn.multiply y t -> 96x640xbf16; return o");
    cr_assert_eq(proofs_count(proofs), n);
    ask("y:64x160xbf16", "t = ttnn.sigmoid y -> 64x160xbf16; o = ttnn.multiply y t -> 64x160xbf16; return o");
    cr_assert_gt(proofs_count(proofs), n, "other extents");
    n = proofs_count(proofs);
    ask("y:96x640", "t = ttnn.sigmoid y -> 96x640; o = ttnn.multiply y t -> 96x640; return o");
    cr_assert_gt(proofs_count(proofs), n, "another element type");
}

/* The root of a form that is no op of the match is the form's own name, even where an operand of the match has it. */
Test(prove_proofs, a_form_may_name_its_result_as_it_likes) {
    static const char *const forms[] = {"e = exp(y)\\nout = x * e", "result = x * exp(y)", "x = exp(y) * z"};
    static const char *const ops = "e = ttir.exp y -> 32x64; o = ttir.multiply x e -> 32x64; return o";
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        claim(i == 2 ? "out = z * exp(y) + x * 0" : "out = x * exp(y)", arena_printf(&arena, "\"%s\"", forms[i]).p);
        struct proved v =
            i < 2 ? ask("x:32x64 y:32x64", ops)
                  : ask("x:32x64 y:32x64 z:32x64",
                        "e = ttir.exp y -> 32x64; m = ttir.multiply z e -> 32x64; n = ttir.full {fill_value = 0.0 : "
                        "f32} -> 1x1\nq = ttir.multiply x n -> 32x64; o = ttir.add m q -> 32x64; return o");
        cr_expect_eq(v.kind, VERDICT_SAME, "%s: %s", forms[i], v.text.p);
    }
}

#define SCALED                                                                                                         \
    "p = ttnn.multiply q f -> 1x4x96x64\n"                                                                             \
    "o = ttnn.scaled_dot_product_attention p k v {is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 0, "    \
    "0>, "                                                                                                             \
    "scale = 5.0E-1 : f32} -> 1x4x96x64; return o"

Test(prove_proofs, a_scalar_argument_may_be_an_attribute) {
    const char *match = "out = scaled_dot_product_attention(q * f, k, v)",
               *args = "q:1x4x96x64 k:1x4x96x64 v:1x4x96x64";
    claim(match, "scaled_dot_product_attention(q, k, v, scale=\"value(f) * attribute(out, \'scale\')\")");
    struct proved v = ask(arena_printf(&arena, "%s f:1x1x1x1", args).p, SCALED);
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
    v = ask(arena_printf(&arena, "%s f:1x4x1x1", args).p, SCALED);
    cr_assert_eq(v.kind, VERDICT_NONE, "several numbers: %s", v.text.p);
    proofs_free(proofs);
    proofs = proofs_new(&set);
    claim(match, "scaled_dot_product_attention(q, k, v, scale=\"attribute(out, \'scale\') / value(f)\")");
    v = ask(arena_printf(&arena, "%s f:1x1x1x1", args).p, SCALED);
    cr_assert(verdict_refutes(&v), "%s", v.text.p);
}

/* Two places may be of the same ops, with another root. */
Test(prove_proofs, a_place_is_not_taken_for_another) {
    pattern("out = x * a\nalso second = x * b",
            "where: [constant(a), constant(b)]\nfused: \"out = 2 * x\\nalso second = 3 * x\"");
    cr_assert_eq(
        search_all("x:64x96", "p = ttir.multiply x 2.0 -> 64x96; q = ttir.multiply x 3.0 -> 64x96; return p q"), 2);
    for (uint32_t i = 0; i < 2; i++) {
        bool right = list.items[i].root == ir_op(&ir, "%p");
        struct proved v = proofs_ask(proofs, &list.items[i], false);
        cr_expect_eq(v.kind, right ? VERDICT_SAME : VERDICT_DIFFERENT, "%u: %s", i, v.text.p);
    }
}

/* Each number is that of its own name. */
Test(prove_proofs, scalar_arguments_are_told_apart) {
    claim("out = scaled_dot_product_attention((q * g) * f, k, v)",
          "scaled_dot_product_attention(q * g, k, v, scale=\"value(f) * attribute(out, 'scale')\")");
    struct proved v = ask("g:1x1x1x1 q:1x4x96x64 k:1x4x96x64 v:1x4x96x64 f:1x1x1x1",
                          "r = ttnn.multiply q g -> 1x4x96x64\n"
                          "p = ttnn.multiply r f -> 1x4x96x64\n"
                          "o = ttnn.scaled_dot_product_attention p k v {is_causal = false, operandSegmentSizes = "
                          "array<i32: 1, 1, 1, 0, 0>, scale = 5.0E-1 : f32} -> 1x4x96x64; return o");
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
}

/* ---- windows ---- */

static const struct {
    const char *args, *op, *shape, *name;
} images[] = {
    {"x:2x1500x80 w:64x80x3 b:1x1x64", "ttir.conv1d x w {padding = array<i32: 1, 1>, stride = array<i32: 2>}",
     "2x750x64", "conv1d"},
    {"x:1x28x66x98x32 w:48x32x1x3x3 b:1x1x1x1x48",
     "ttir.conv3d x w {padding = array<i32: 0, 1, 1>, stride = array<i32: 1, 2, 2>}", "1x28x33x49x48", "conv3d"},
    {"x:1x60x40x128 w:128x64x4x4 b:1x1x1x64",
     "ttir.conv_transpose2d x w {padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 2, 2>}", "1x120x80x64",
     "conv_transpose2d"},
};

static struct proved ask_image(size_t i, const char *fused) {
    proofs_free(proofs);
    proofs = proofs_new(&set);
    claim(arena_printf(&arena, "out = %s(x, w) + b", images[i].name).p,
          arena_printf(&arena, "%s%s", images[i].name, fused).p);
    return ask(images[i].args, arena_printf(&arena, "c = %s -> %s; o = ttir.add c b -> %s; return o", images[i].op,
                                            images[i].shape, images[i].shape)
                                   .p);
}

Test(prove_proofs, images_of_any_dimensions_are_proved) {
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        struct proved v = ask_image(i, "(x, w, b)");
        cr_assert_eq(v.kind, VERDICT_SAME, "%s: %s", images[i].name, v.text.p);
    }
}

Test(prove_proofs, images_of_any_dimensions_are_refuted) {
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        struct proved v = ask_image(i, "(x, w)");
        cr_assert(verdict_refutes(&v), "%s: %s", images[i].name, v.text.p);
    }
}

/* Sizes of windows are attributes in TTNN: what is padded may be dimensions that the operand does not have. */
Test(prove_proofs, a_pad_is_absorbed_through_any_reshape) {
    static const char *const shapes[] = {"2x8x5x", "1x1x80x", "1x16x5x", "2x40x", "16x5x", "80x"};
    for (int i = 0; i < 24; i++) {
        int channels = i / 12 ? 1 : 3, right = i % 2;
        proofs_free(proofs);
        proofs = proofs_new(&set);
        claim("p = pad(x)\nout = conv2d(p, w)",
              right ? "conv2d(x, w, padding=\"p\", input_height=\"p\", input_width=\"p\")"
                    : "-(conv2d(x, w, padding=\"p\", input_height=\"p\", input_width=\"p\"))");
        struct proved v =
            ask(arena_printf(&arena, "x:2x6x5x%d w:4x%dx3x3", channels, channels).p,
                arena_printf(&arena,
                             "p = ttnn.pad x {padding = array<i32: 0, 0, 1, 1, 0, 0, 0, 0>, value = 0.0 : f32} -> "
                             "2x8x5x%d; r = ttnn.reshape p -> %s%d\n"
                             "o = ttnn.conv2d r w {batch_size = 2 : i32, input_height = 8 : i32, input_width = 5 : "
                             "i32, in_channels = %d : i32, out_channels = 4 : i32, kernel_size = array<i32: 3, 3>, "
                             "stride = array<i32: 1, 1>, padding = array<i32: 0, 0, 0, 0>, dilation = array<i32: "
                             "1, 1>, groups = 1 : i32} -> 1x1x36x4; return o",
                             channels, shapes[i / 2 % 6], channels, channels)
                    .p);
        cr_expect_eq(v.kind == VERDICT_SAME, right, "%s%d: %s", shapes[i / 2 % 6], channels, v.text.p);
        cr_expect(right || v.text.n, "%s%d: there is a reason", shapes[i / 2 % 6], channels);
    }
}

/* One less than the number of elements. */
Test(prove_proofs, a_number_near_that_of_the_elements_is_refuted) {
    claim("out = sum(x * x, dim=-1) * c", "sum(x * x, dim=-1)");
    struct proved v =
        ask("x:1000x7", "s = ttir.multiply x x -> 1000x7; t = ttir.sum s {dim_arg = [1 : i32], keep_dim = true} -> "
                        "1000x1\nc = ttir.full {fill_value = 0.16666667 : f32} -> 1000x1\n"
                        "o = ttir.multiply t c -> 1000x1; return o");
    cr_assert(verdict_refutes(&v), "%s", v.text.p);
}

Test(prove_proofs, an_unused_result_is_not_returned) {
    claim("out = abs(sort(x))", "abs(sort(x))");
    struct proved v = ask("x:128x512", "t:2 = ttir.sort x -> 128x512, 128x512; o = ttir.abs t#0 -> 128x512; "
                                       "return o");
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
    claim("s = sort(x)\nout = abs(result(s, 1))",
          "\"out = abs(result(sort(x), 1))\"\noutside: {what: ties, say: of two.}");
    v = ask("x:128x512", "t:2 = ttir.sort x -> 128x512, 128x512; o = ttir.abs t#1 -> 128x512; return o");
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
}

/* Of eight dimensions, by another extent than that which is summed. */
Test(prove_proofs, a_mean_by_another_extent_is_refuted) {
    claim("out = sum(x, dim=-1) * c", "mean(x)");
    struct proved v =
        ask("x:3x5x7x11x13x17x23x19", "s = ttir.sum x {dim_arg = [7 : i32], keep_dim = true} -> 3x5x7x11x13x17x23x1\n"
                                      "c = ttir.full {fill_value = 0.05882353 : f32} -> 1x1x1x1x1x1x1x1\n"
                                      "o = ttir.multiply s c -> 3x5x7x11x13x17x23x1; return o");
    cr_assert(verdict_refutes(&v), "%s", v.text.p);
}

/* ---- thresholds and epsilons ---- */

/* With verdicts of its own: a pattern that is gone may have had the address of this one. */
static void differs(const char *match, const char *fused, const char *args, const char *ops) {
    patterns_free(&set);
    proofs_free(proofs);
    proofs = proofs_new(&set);
    claim(match, fused);
    struct proved v = ask(args, ops);
    cr_assert(verdict_refutes(&v), "%s: %s", match, v.text.p);
}

Test(prove_proofs, differences_beyond_a_threshold_are_refuted) {
    differs("out = abs(minimum(x, c))", "abs(x)", "x:32x64",
            "c = ttir.full {fill_value = 1000.0 : f32} -> 1x1; m = ttir.minimum x c -> 32x64\n"
            "o = ttir.abs m -> 32x64; return o");
    differs("out = where(x == c, a, b)", "b + 0", "x:32x64xsi32 a:32x64 b:32x64",
            "c = ttir.full {fill_value = -100 : i32} -> 1x1xsi32; m = ttir.eq x c -> 32x64xi1\n"
            "o = ttir.where m a b -> 32x64; return o");
    differs("out = sin(minimum(x * c, d))", "sin(x * c)", "x:32x64",
            "c = ttir.full {fill_value = 0.001 : f32} -> 1x1; d = ttir.full {fill_value = 50.0 : f32} -> 1x1\n"
            "p = ttir.multiply x c -> 32x64; m = ttir.minimum p d -> 32x64; o = ttir.sin m -> 32x64; return o");
    differs("out = cos(x % c)", "cos(x)", "x:32x64",
            "c = ttir.full {fill_value = 500.0 : f32} -> 1x1; m = ttir.remainder x c -> 32x64\n"
            "o = ttir.cos m -> 32x64; return o");
}

/* Beyond the threshold the index is not in the table. */
Test(prove_proofs, what_cannot_be_evaluated_beyond_a_threshold_says_nothing) {
    claim("out = embedding((maximum(x, c) - c) * d, w)", "embedding((maximum(x, 100) - 100) * 1000, w)");
    struct proved v = ask("x:9x20x33 w:64x16",
                          "c = ttir.full {fill_value = 100.0 : f32} -> 1x1x1; m = ttir.maximum x c -> 9x20x33\n"
                          "s = ttir.subtract m c -> 9x20x33; d = ttir.full {fill_value = 1000.0 : f32} -> 1x1x1\n"
                          "t = ttir.multiply s d -> 9x20x33; i = ttir.typecast t -> 9x20x33xsi32\n"
                          "o = ttir.embedding i w -> 9x20x33x16; return o");
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
}

Test(prove_proofs, integers_are_more_than_0_and_1) {
    differs("out = -(x * x)", "-x", "x:32x64xsi32",
            "m = ttir.multiply x x -> 32x64xsi32; o = ttir.neg m -> 32x64xsi32; return o");
}

#define LENGTH                                                                                                         \
    "q = ttir.multiply x x -> 1x5x64; s = ttir.sum q {dim_arg = [2 : i32], keep_dim = true} -> 1x5x1\n"                \
    "r = ttir.sqrt s -> 1x5x1; c = ttir.full {fill_value = 1.0E-12 : f32} -> 1x1x1; "

Test(prove_proofs, an_epsilon_counts_however_small_it_is) {
    const char *ops = LENGTH "a = ttir.add r c -> 1x5x1; o = ttir.div x a -> 1x5x64; return o";
    const char *match = "out = x / (sqrt(sum(x * x, dim=-1)) + eps)";
    differs(match, "x * rsqrt(sum(x * x) + eps)", "x:1x5x64", ops);
    patterns_free(&set);
    claim(match, "x / (sqrt(sum(x * x)) + eps)");
    struct proved v = ask("x:1x5x64", ops);
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
}

Test(prove_proofs, small_numbers_may_be_outside_of_the_claim) {
    const char *ops = LENGTH "a = ttir.maximum r c -> 1x5x1; o = ttir.div x a -> 1x5x64; return o";
    const char *match = "out = x / maximum(sqrt(sum(x * x, dim=-1)), eps)", *fused = "x * rsqrt(sum(x * x) + 1e-24)";
    differs(match, fused, "x:1x5x64", ops);
    patterns_free(&set);
    claim(match, arena_printf(&arena, "%s\noutside: {what: small_numbers, say: short rows.}", fused).p);
    struct proved v = ask("x:1x5x64", ops);
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
    cr_assert_not(v.same_outside);
}

#define FROM(n)                                                                                                        \
    "i = ttir.arange {start = 0 : si64, end = " n " : si64, step = 1 : si64, arange_dimension = 1 : i64} -> 1x" n      \
    "xsi32; c = ttir.full {fill_value = 32 : i32} -> 1x1xsi32; m = ttir.ge i c -> 1x" n "xi1\n"                        \
    "o = ttir.where m a b -> 32x" n "; return o"

Test(prove_proofs, positions_compared_with_a_number_keep_their_extent) {
    differs("out = where(i >= c, a, b)", "b + 0", "a:32x64 b:32x64", FROM("64"));
    differs("out = where(i >= c, a, b)", "b + 0", "a:32x16384 b:32x16384", FROM("16384"));
    patterns_free(&set);
    claim("i = arange()\n\n  out = where(i >= c, a, b)", "b + 0");
    struct proved v = ask("a:32x64 b:32x64", FROM("64"));
    cr_assert_neq(v.kind, VERDICT_SAME);
}

/* What is divided by is never 0, where a quotient is no number whatever the form is. */
Test(prove_proofs, divisors_stay_away_from_zero) {
    const char *ops = "p = ttir.multiply x y -> 32x64; o = ttir.div p y -> 32x64; return o";
    claim("out = (x * y) / y", "neg(neg(x))");
    struct proved v = ask("x:32x64 y:32x64", ops);
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
    differs("out = (x * y) / y", "neg(neg(y))", "x:32x64 y:32x64", ops);
}

Test(prove_proofs, truth_values_are_0_and_1) {
    const char *ops = "z = ttir.full {fill_value = 0.0 : f32} -> 1x1; o = ttir.where c x z -> 32x64; return o";
    claim("out = where(c, x, 0)", "x * c");
    struct proved v = ask("x:32x64 c:32x64xi1", ops);
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
    differs("out = where(c, x, 0)", "x * (1 - c)", "x:32x64 c:32x64xi1", ops);
}

/* ---- constants of several numbers ---- */

/* Multiplied by the identity, x stays; by what is not in the text, it does not. */
Test(prove_proofs, a_constant_of_several_numbers_is_what_is_printed) {
    static const char *const kinds[] = {"dense<[[1.0, 0.0], [0.0, 1.0]]>", "dense<[[1.0, 0.5], [0.0, 1.0]]>",
                                        "dense_resource<w>"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct str ops = arena_printf(
            &arena, "w = ttir.constant {value = %s : tensor<2x2xf32>} -> 2x2\no = ttir.matmul x w -> 64x2; return o",
            kinds[i]);
        claim("out = matmul(x, w)", "neg(neg(x))");
        struct proved v = ask("x:64x2", ops.p);
        cr_assert_eq(v.kind, i == 0 ? VERDICT_SAME : VERDICT_DIFFERENT, "%s: %s", kinds[i], v.text.p);
        claim("out = matmul(x, w)", "neg(neg(matmul(x, w)))");
        v = ask("x:64x2", ops.p);
        cr_assert_eq(v.kind, VERDICT_SAME, "%s: %s", kinds[i], v.text.p);
    }
}

Test(prove_proofs, what_is_no_number_anywhere_proves_nothing) {
    claim("out = x * log(c)", "log(c) * x");
    struct proved v = ask("x:4x4", "c = ttir.constant {value = dense<[-1.0, -2.0, -3.0, -4.0]> : tensor<4xf32>} -> 4\n"
                                   "l = ttir.log c -> 4; o = ttir.multiply x l -> 4x4; return o");
    cr_assert_eq(v.kind, VERDICT_NONE);
    cr_assert(str_find(v.text, STR("no number")), "%s", v.text.p);
}

/* ---- devices ---- */

#define EXP "e = ttir.exp r -> 96x640; return e"
#define ALL_REDUCE(type)                                                                                               \
    "r = ttir.all_reduce x {cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<" type ">} -> 96x640\n"

struct collective {
    const char *match, *fused, *args, *ops;
};

static struct proved ask_collective(const struct collective *c) {
    proofs_free(proofs);
    proofs = proofs_new(&set);
    claim(c->match, c->fused);
    return ask(c->args, c->ops);
}

Test(prove_proofs, a_collective_is_moved_past_what_commutes_with_it) {
    static const struct collective same[] = {
        {"out = exp(all_reduce(x))", "exp(all_reduce(x))", "x:96x640", ALL_REDUCE("sum") EXP},
        {"out = -(all_reduce(x))", "all_reduce(-x)", "x:96x640",
         ALL_REDUCE("sum") "e = ttir.neg r -> 96x640; return e"},
        {"out = exp(all_reduce(x))", "all_reduce(exp(x))", "x:96x640", ALL_REDUCE("max") EXP},
        {"out = matmul(all_reduce(x), w)", "matmul(all_reduce(x), w)", "x:96x640 w:640x128",
         ALL_REDUCE("sum") "e = ttir.matmul r w -> 96x128; return e"},
        {"out = exp(all_gather(x))", "all_gather(exp(x))", "x:96x640",
         "r = ttnn.all_gather x {all_gather_dim = 1 : si32, cluster_axis = 1 : ui32} -> 96x2560\n"
         "e = ttnn.exp r -> 96x2560; return e"},
        {"out = all_gather(reduce_scatter(x))", "all_reduce(x)", "x:96x640",
         "s = ttir.reduce_scatter x {cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>, scatter_dim = 1 "
         ": "
         "si32} -> 96x160\n"
         "g = ttir.all_gather s {all_gather_dim = 1 : si32, cluster_axis = 1 : ui32} -> 96x640; return g"},
        {"out = mesh_partition(all_gather(x))", "neg(neg(x))", "x:96x160",
         "g = ttir.all_gather x {all_gather_dim = 1 : si32, cluster_axis = 1 : ui32} -> 96x640\n"
         "s = ttir.mesh_partition g {cluster_axis = 1 : ui32, dim = 1 : si32} -> 96x160; return s"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct proved v = ask_collective(&same[i]);
        cr_assert_eq(v.kind, VERDICT_SAME, "%zu: %s", i, v.text.p);
        cr_assert(v.device.known, "%zu", i);
    }
}

/* More pairs than devices can form are too many, whichever devices they name. */
Test(prove_proofs, devices_are_counted_in_what_an_op_states) {
    for (int pairs = 1; pairs <= MAX_DEVICES + 1; pairs++) {
        struct buf b = {0};
        buf_printf(&b, "func.func @f(%%x: tensor<4xf32>) {\n%%0 = \"ttir.collective_permute\"(%%x) "
                       "<{source_target_pairs = dense<[");
        for (int i = 0; i < pairs; i++)
            buf_printf(&b, "%s[0, %d]", i ? ", " : "", i > 1 ? 1 : i);
        buf_printf(&b, "]> : tensor<%dx2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>\nreturn\n}\n%c", pairs, '\0');
        forget_ir();
        ir_read(&ir, b.p);
        int64_t n = devices_stated(&ir.g, ir_op(&ir, "%0"));
        cr_expect(pairs > MAX_DEVICES ? n > MAX_DEVICES : n == (pairs > 1 ? 2 : 1), "%d: %lld", pairs, (long long)n);
        buf_free(&b);
    }
}

Test(prove_proofs, what_is_stated_to_be_replicated_is) {
    struct collective c = {"out = all_reduce(x) * w", "all_reduce(x * w)\nreplicated: [w]", "x:96x640 w:96x640",
                           ALL_REDUCE("sum") "e = ttir.multiply r w -> 96x640; return e"};
    struct proved v = ask_collective(&c);
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
    c.fused = "all_reduce(x * w)";
    v = ask_collective(&c);
    cr_assert(verdict_refutes(&v), "%s", v.text.p);
}

/* Beyond the threshold the match overflows, which is left open on the first device and on all others. */
Test(prove_proofs, what_is_not_finite_beyond_a_threshold_is_compared_on_no_device) {
    struct collective c = {"s = all_reduce(x)\nout = minimum(s, 1000) * (exp(s) / exp(s))",
                           "minimum(all_reduce(x), 1000)", "x:96x640",
                           ALL_REDUCE("sum") "m = ttir.minimum r 1000.0 -> 96x640\ne = ttir.exp r -> 96x640\n"
                                             "d = ttir.div e e -> 96x640\no = ttir.multiply m d -> 96x640; return o"};
    struct proved v = ask_collective(&c);
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
}

Test(prove_proofs, a_collective_is_not_moved_past_what_does_not) {
    static const struct collective wrong[] = {
        {"out = exp(all_reduce(x))", "all_reduce(exp(x))", "x:96x640", ALL_REDUCE("sum") EXP},
        /* with numbers of one sign only, the relu of the sum would be the sum of the relus */
        {"out = relu(all_reduce(x))", "all_reduce(relu(x))", "x:96x640",
         ALL_REDUCE("sum") "e = ttir.relu r -> 96x640; return e"},
        {"out = op rms_norm(all_reduce(x))", "all_reduce(rms_norm(x))", "x:96x640",
         ALL_REDUCE("sum") "e = ttir.rms_norm r {epsilon = 1.0E-5 : f32, normalized_shape = array<i64: 640>, "
                           "operandSegmentSizes = array<i32: 1, 0, 0>} -> 96x640; return e"},
        {"out = -(all_reduce(x))", "-x", "x:96x640", ALL_REDUCE("sum") "e = ttir.neg r -> 96x640; return e"},
        {"out = -(all_reduce(x))", "all_reduce(-x)", "x:96x640",
         ALL_REDUCE("max") "e = ttir.neg r -> 96x640; return e"},
        {"out = all_reduce(x) + y", "all_reduce(x + y)", "x:96x640 y:96x640",
         ALL_REDUCE("sum") "e = ttir.add r y -> 96x640; return e"},
        {"out = all_gather(reduce_scatter(x))", "all_reduce(x)", "x:96x640",
         "s = ttir.reduce_scatter x {cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<max>, scatter_dim = 1 "
         ": "
         "si32} -> 96x160\n"
         "g = ttir.all_gather s {all_gather_dim = 1 : si32, cluster_axis = 1 : ui32} -> 96x640; return g"},
        /* it is the same on the first device only */
        {"out = op slice(all_gather(x), dim=1, part=0, of=4)", "neg(neg(x))", "x:96x160",
         "g = ttir.all_gather x {all_gather_dim = 1 : si32, cluster_axis = 1 : ui32} -> 96x640\n"
         "s = ttir.slice_static g {begins = [0 : i32, 0 : i32], ends = [96 : i32, 160 : i32], step = [1 : i32, 1 : "
         "i32]} "
         "-> 96x160; return s"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct proved v = ask_collective(&wrong[i]);
        cr_assert(verdict_refutes(&v), "%zu: %s", i, v.text.p);
    }
}

Test(prove_proofs, an_unsupported_mesh_is_an_error) {
    static const struct collective untold[] = {
        {"out = all_reduce(all_reduce(x))", "all_reduce(all_reduce(x))", "x:96x640",
         ALL_REDUCE("sum") "e = ttir.all_reduce r {cluster_axis = 0 : ui32, reduce_type = #ttcore.reduce_type<sum>} -> "
                           "96x640; return e"},
        {"out = -(all_reduce(x))", "all_reduce(-x)", "x:96x640",
         ALL_REDUCE("std") "e = ttir.neg r -> 96x640; return e"},
        {"out = op distributed_rms_norm(all_reduce(x))", "distributed_rms_norm(all_reduce(x))", "x:96x640",
         ALL_REDUCE("sum") "e = ttir.distributed_rms_norm r {cluster_axis = 1 : ui32, epsilon = 1.0E-5 : f32, "
                           "operandSegmentSizes = array<i32: 1, 0, 0>} -> 96x640; return e"},
    };
    for (size_t i = 0; i < sizeof untold / sizeof *untold; i++) {
        struct proved v = ask_collective(&untold[i]);
        cr_assert_eq(v.kind, VERDICT_NONE, "%zu: %s", i, v.text.p);
    }
}

#define FLOORED(stable)                                                                                                \
    "f = ttir.full {fill_value = -1.0E+9 : f32} -> 1x1x1; s = ttir.where keep x f -> 2x8x16\n"                         \
    "o = ttir.softmax s {dimension = 2 : si32, numericStable = " stable "} -> 2x8x16; return o"

Test(prove_proofs, what_is_outside_of_the_claim_is_named_where_it_is_the_same) {
    const char *args = "x:2x8x16 keep:1x8x16";
    claim("out = softmax(where(keep, x, floor), dim=-1)", "softmax(where(keep, x, floor), dim=-1)\n"
                                                          "outside: {what: masked_rows, say: of one floor.}");
    struct proved v = ask(args, FLOORED("true"));
    struct str line = verdict_line(&v, &arena), details = figures_text(&v);
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
    cr_assert(str_ends(line, STR("; same outside of the claim, too")), "%s", line.p);
    cr_assert(str_find(details, STR("\nsame_outside_of_the_claim: true\n")), "%s", details.p);
    v = ask(args, FLOORED("false")); /* such a row is not a number on both sides */
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
    cr_assert_not(v.same_outside);
}

Test(prove_proofs, a_masked_row_refutes_unless_it_is_outside_of_the_claim) {
    const char *args = "x:2x8x16 keep:1x8x16", *added = "softmax(x + where(keep, 0, floor), dim=-1)";
    claim("out = softmax(where(keep, x, floor), dim=-1)", added);
    struct proved v = ask(args, FLOORED("true"));
    cr_assert(verdict_refutes(&v), "%s", v.text.p);
    claim(
        "out = softmax(where(keep, x, floor), dim=-1)",
        arena_printf(&arena, "%s\noutside: {what: masked_rows, when: value(floor) < 0, say: of one floor.}", added).p);
    v = ask(args, FLOORED("true"));
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
    cr_assert_not(v.same_outside);
}

Test(prove_proofs, one_of_two_scores_is_masked) {
    const char *outside = "\noutside: {what: masked_rows, say: all hidden.}";
    for (int wrong = 0; wrong < 2; wrong++) {
        proofs_free(proofs); /* it knows patterns by where they are */
        proofs = proofs_new(&set);
        claim("out = softmax(x + b, dim=-1)",
              arena_printf(&arena, "softmax(%s, dim=-1)%s", wrong ? "x + (b + b - b)" : "b + x", outside).p);
        struct proved v = ask("x:64x2 b:64x2", "s = ttir.add x b -> 64x2\n"
                                               "o = ttir.softmax s {dimension = 1 : si32} -> 64x2; return o");
        cr_assert_eq(v.kind, wrong ? VERDICT_DIFFERENT : VERDICT_SAME, "%s", v.text.p);
    }
}

static struct proved mean_of_133(const char *factor) {
    struct str ops = arena_printf(&arena,
                                  "s = ttir.sum x {dim_arg = [1 : i32], keep_dim = true} -> 64x1xbf16\n"
                                  "c = ttir.full {fill_value = %s : f32} -> 64x1xbf16\n"
                                  "o = ttir.multiply s c -> 64x1xbf16; return o",
                                  factor);
    claim("out = sum(x, dim=-1) * c", "mean(x)");
    return ask("x:64x133xbf16", ops.p);
}

/* 1/133 rounded to bf16, and the next number in bf16, which is not 1/133. */
Test(prove_proofs, a_constant_is_what_the_number_is_rounded_to) {
    struct proved v = mean_of_133("0.00750732421875");
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
    patterns_free(&set);
    v = mean_of_133("0.007537841796875");
    cr_assert_neq(v.kind, VERDICT_SAME);
}

/* Two places may print the same and differ in what is matched: the cast in one, and behind it in the other, where
 * another op takes the input. A verdict on one is none on the other. */
Test(prove_proofs, a_place_is_told_by_what_is_matched_in_it) {
#define CAST "r = ttir.relu y -> 32x64; c = ttir.typecast r -> 32x64xbf16; o = ttir.exp c -> 32x64xbf16"
    pattern("r = relu(y)\nc = op typecast(r)\nout = exp(c | r)",
            "where: not(present(c)) | users(y) == 1\nfused: exp(relu(y))");
    ask("y:32x64", CAST "; z = ttir.neg y -> 32x64; return o z");
    cr_assert_eq(list.items[0].nops, 2);
    struct proved v = ask("y:32x64", CAST "; return o");
    cr_assert_eq(list.items[0].nops, 3);
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
}
