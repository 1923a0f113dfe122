/* What is said of verdicts, and what cannot be evaluated; which forms are the same and which are not: verdicts.txt. */
#include "pattern_text.h"
#include "proof/prove/proofs.h"
#include "proof/prove/select.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

static struct proofs *proofs;

static void setup(void) {
    search_setup();
    proofs = proofs_new(&set, true);
}

static void teardown(void) {
    proofs_free(proofs);
    search_teardown();
}

TestSuite(prove_proofs, .init = setup, .fini = teardown, .timeout = 30);

/* `fused`: what the op computes, and any other keys; or NULL. */
static void claim(const char *match, const char *fused) {
    proofs_free(proofs); /* they know patterns by where they are */
    proofs = proofs_new(&set, true);
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
    select_matches(&(struct search_setup){.patterns = &set, .caches = &cache, .threads = 1},
                   &(struct fa_patterns){.nfiles = 0}, proofs, &ir.g, NULL, &arena, &s);
    cr_assert_eq(s.nrefuted, 1);
    cr_expect_eq(s.refuted[0].match.root, ir_op(&ir, "%q"));
    cr_assert_eq(s.matches.n, 2);
    cr_expect_eq(s.matches.items[0].root, ir_op(&ir, "%p"));
    cr_expect_eq(s.matches.items[1].root, ir_op(&ir, "%b"));
    selection_free(&s);
    match_cache_free(cache);
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

Test(prove_proofs, what_is_no_number_anywhere_proves_nothing) {
    claim("out = x * log(c)", "log(c) * x");
    struct proved v = ask("x:4x4", "c = ttir.constant {value = dense<[-1.0, -2.0, -3.0, -4.0]> : tensor<4xf32>} -> 4\n"
                                   "l = ttir.log c -> 4; o = ttir.multiply x l -> 4x4; return o");
    cr_assert_eq(v.kind, VERDICT_NONE);
    cr_assert(str_find(v.text, STR("no number")), "%s", v.text.p);
}

/* ---- devices ---- */

#define ALL_REDUCE(type)                                                                                               \
    "r = ttir.all_reduce x {cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<" type ">} -> 96x640\n"

struct collective {
    const char *match, *fused, *args, *ops;
};

static struct proved ask_collective(const struct collective *c) {
    proofs_free(proofs);
    proofs = proofs_new(&set, true);
    claim(c->match, c->fused);
    return ask(c->args, c->ops);
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

Test(prove_proofs, what_cannot_be_evaluated_is_not_proved) {
    static const struct collective untold[] = {
        {"out = all_reduce(all_reduce(x))", "all_reduce(all_reduce(x))", "x:96x640",
         ALL_REDUCE("sum") "e = ttir.all_reduce r {cluster_axis = 0 : ui32, reduce_type = #ttcore.reduce_type<sum>} -> "
                           "96x640; return e"},
        {"out = -(all_reduce(x))", "all_reduce(-x)", "x:96x640",
         ALL_REDUCE("std") "e = ttir.neg r -> 96x640; return e"},
        /* of several numbers there is none to take as an attribute */
        {"out = scaled_dot_product_attention(q * f, k, v)",
         "scaled_dot_product_attention(q, k, v, scale=\"value(f) * attribute(out, 'scale')\")",
         "q:1x4x96x64 k:1x4x96x64 v:1x4x96x64 f:1x4x1x1",
         "p = ttnn.multiply q f -> 1x4x96x64; o = ttnn.scaled_dot_product_attention p k v {is_causal = false, "
         "operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, scale = 5.0E-1 : f32} -> 1x4x96x64; return o"},
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
