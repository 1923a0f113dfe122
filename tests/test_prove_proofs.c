/* Verdicts: what is the same function is validated once, what is not is refuted with a counterexample, and what cannot
 * be told says why. */
#include "pattern_text.h"
#include "prove/proofs.h"

#include <criterion/criterion.h>
#include <math.h>

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
    pattern(match, fused ? arena_printf(&arena, "fused: %s", fused).p : "");
}

/* The verdict of the only place. */
static struct proved ask(const char *args, const char *ops) {
    cr_assert_eq(search_all(args, ops), 1, "%u places", list.n);
    return proofs_ask(proofs, &list.items[0], false);
}

#define SILU "s = ttnn.sigmoid x -> 96x640xbf16; o = ttnn.multiply x s -> 96x640xbf16; return o"

Test(prove_proofs, the_same_function_is_validated_with_figures) {
    claim("out = x * sigmoid(x)", "silu(x)");
    struct proved v = ask("x:96x640xbf16", SILU);
    struct str line = verdict_line(&v, &arena), details = verdict_details(&v, &arena);
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
    cr_assert_eq(v.shapes, 2);
    cr_assert(v.effect.known);
    cr_assert_gt(v.effect.pcc[1], 0.999);
    cr_assert_lt(v.effect.error[1], v.effect.error[0]); /* one rounding less */
    cr_assert_leq(v.effect.ulp[1], 0.5);
    cr_assert(str_starts(line, STR("validated: same function (f64, 2 shapes), device PCC 0.9999")), "%s", line.p);
    cr_assert(str_ends(line, STR("x of unfused (bf16, wormhole_b0)")), "%s", line.p);
    cr_assert(str_starts(details, STR("verdict: same_function\narithmetic: f64\nshapes: 2\n")), "%s", details.p);
}

Test(prove_proofs, the_chip_is_that_of_the_model) {
    claim("out = x * sigmoid(x)", "silu(x)");
    ask("x:96x640xbf16", SILU);
    struct proved v = proofs_ask(proofs, &list.items[0], true);
    cr_assert(str_ends(verdict_line(&v, &arena), STR("(bf16, blackhole)")));
}

Test(prove_proofs, another_function_is_refuted_by_a_counterexample) {
    claim("out = x * sigmoid(x)", "sigmoid(x)");
    struct proved v = ask("x:96x640xbf16", SILU);
    cr_assert(verdict_refutes(&v));
    cr_assert(str_find(v.text, STR("something else: at [")), "%s", v.text.p);
    cr_assert(str_find(v.text, STR(" instead of ")), "%s", v.text.p);
    cr_assert(str_find(v.text, STR("(input %x = ")), "%s", v.text.p);
}

Test(prove_proofs, what_is_wrong_by_a_hair_is_refuted) {
    static const char *const wrong[] = {
        "softmax(x * scale, dim=-2)", /* the wrong axis */
        "softmax(x / scale)",         /* the scale inverted */
        "softmax(x) * scale",         /* after instead of before */
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        claim("out = op softmax(x * scale, dim=-1)", wrong[i]);
        proofs_free(proofs);
        proofs = proofs_new(&set);
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
    struct proved v = ask("x:32x768xbf16", MEAN("1.302E-3"));
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
}

Test(prove_proofs, the_reason_is_told_where_nothing_is_proved) {
    claim("out = x * sigmoid(x)", NULL);
    struct proved v = ask("x:96x640xbf16", SILU);
    struct str line = verdict_line(&v, &arena);
    cr_assert(str_starts(line, STR("not validated: ")), "%s", line.p);
    cr_assert(str_find(line, STR("fused")), "%s", line.p);
    claim("out = neg(all_gather(x))", "neg(x)");
    v = ask("x:32x64",
            "g = ttnn.all_gather x {all_gather_dim = 1 : si32} -> 32x128; o = ttnn.neg g -> 32x128; return o");
    cr_assert_eq(v.kind, VERDICT_NONE);
    cr_assert(str_find(v.text, STR("no evaluator for")), "%s", v.text.p);
}

Test(prove_proofs, nan_on_both_sides_everywhere_is_no_proof) {
    claim("out = log(-(x * x) - 1)", "log(-1 - x * x)");
    struct proved v = ask("x:32x64", "q = ttir.multiply x x -> 32x64; n = ttir.neg q -> 32x64\n"
                                     "c = ttir.full {fill_value = 1.0 : f32} -> 1x1; d = ttir.subtract n c -> 32x64\n"
                                     "o = ttir.log d -> 32x64; return o");
    cr_assert_eq(v.kind, VERDICT_NONE);
    cr_assert(str_find(v.text, STR("no number")), "%s", v.text.p);
}

Test(prove_proofs, what_is_alike_is_proved_once) {
    claim("out = x * sigmoid(x)", "silu(x)");
    ask("x:96x640xbf16", SILU);
    uint32_t n = proofs_count(proofs);
    cr_assert_eq(n, 2); /* in two shapes */
    ask("y:96x640xbf16", "t = ttnn.sigmoid y -> 96x640xbf16; o = ttnn.multiply y t -> 96x640xbf16; return o");
    cr_assert_eq(proofs_count(proofs), n);
    ask("y:64x160xbf16", "t = ttnn.sigmoid y -> 64x160xbf16; o = ttnn.multiply y t -> 64x160xbf16; return o");
    cr_assert_eq(proofs_count(proofs), n, "other extents, the same relations");
    ask("y:96x640", "t = ttnn.sigmoid y -> 96x640; o = ttnn.multiply y t -> 96x640; return o");
    cr_assert_gt(proofs_count(proofs), n, "another element type");
}

#define SHARE                                                                                                          \
    "s = ttir.sum x {dim_arg = [1 : i32], keep_dim = true} -> 32x1; m = ttir.multiply s c -> 32x1\n"                   \
    "d = ttir.subtract x m -> 32x768"

Test(prove_proofs, a_precondition_that_is_violated_makes_a_difference) {
    claim("out = x - sum(x, dim=-1) * given(1 / extent(x, -1))", "x - mean(x)");
    struct proved v = ask("x:32x768 c:1x1!parameter", SHARE "; return d");
    struct str line = verdict_line(&v, &arena), details = verdict_details(&v, &arena);
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
    cr_assert(str_ends(line, STR("; differs without its precondition")), "%s", line.p);
    cr_assert(str_find(details, STR("\npreconditions_needed: 1\n")), "%s", details.p);
    cr_assert_not(str_find(details, STR("needless")), "%s", details.p);
}

Test(prove_proofs, a_precondition_that_makes_no_difference_is_named) {
    claim("out = (x - sum(x, dim=-1) * given(1 / extent(x, -1))) * 0", "(x - mean(x)) * 0");
    struct proved v = ask("x:32x768 c:1x1!parameter", SHARE "; z = ttir.full {fill_value = 0.0 : f32} -> 1x1\n"
                                                            "o = ttir.multiply d z -> 32x768; return o");
    struct str line = verdict_line(&v, &arena), details = verdict_details(&v, &arena);
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
    cr_assert(str_ends(line, STR("; same without the precondition of %c")), "%s", line.p);
    cr_assert(str_find(details, STR("\npreconditions_needless: %c\n")), "%s", details.p);
    cr_assert_not(str_find(details, STR("needed")), "%s", details.p);
}

Test(prove_proofs, each_precondition_is_violated_on_its_own) {
    claim("out = (x - sum(x, dim=-1) * given(1 / extent(x, -1))) + (y - sum(y, dim=-1) * given(1 / extent(x, -1))) * 0",
          "(x - mean(x)) + y * 0");
    struct proved v =
        ask("x:32x768 c:1x1!parameter y:32x768 k:1x1!parameter",
            SHARE "; t = ttir.sum y {dim_arg = [1 : i32], keep_dim = true} -> 32x1; n = ttir.multiply t k -> 32x1\n"
                  "e = ttir.subtract y n -> 32x768; z = ttir.full {fill_value = 0.0 : f32} -> 1x1\n"
                  "f = ttir.multiply e z -> 32x768; o = ttir.add d f -> 32x768; return o");
    struct str line = verdict_line(&v, &arena);
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
    cr_assert(str_ends(line, STR("; differs without one precondition; same without the precondition of %k")), "%s",
              line.p);
}

Test(prove_proofs, without_preconditions_nothing_is_said_of_them) {
    claim("out = x * sigmoid(x)", "silu(x)");
    struct proved v = ask("x:96x640xbf16", SILU);
    cr_assert_eq(v.needed, 0);
    cr_assert_eq(v.needless.n, 0);
    cr_assert_not(str_find(verdict_line(&v, &arena), STR("precondition")));
}

#define FLOORED(stable)                                                                                                \
    "f = ttir.full {fill_value = -1.0E+9 : f32} -> 1x1x1; s = ttir.where keep x f -> 2x8x16\n"                         \
    "o = ttir.softmax s {dimension = 2 : si32, numericStable = " stable "} -> 2x8x16; return o"

Test(prove_proofs, what_is_outside_of_the_claim_is_named_where_it_is_the_same) {
    const char *args = "x:2x8x16 keep:1x8x16";
    claim("out = softmax(where(keep, x, floor), dim=-1)", "softmax(where(keep, x, floor), dim=-1)\n"
                                                          "outside: {what: masked_rows, say: of one floor.}");
    struct proved v = ask(args, FLOORED("true"));
    struct str line = verdict_line(&v, &arena), details = verdict_details(&v, &arena);
    cr_assert_eq(v.kind, VERDICT_SAME, "%s", v.text.p);
    cr_assert(str_ends(line, STR("; same outside of the claim, too")), "%s", line.p);
    cr_assert(str_find(details, STR("\nsame_outside_of_the_claim: true\n")), "%s", details.p);
    v = ask(args, FLOORED("false")); /* no number on both sides in such a row */
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
