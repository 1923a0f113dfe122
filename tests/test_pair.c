/* The promises of pairing: a TTNN op finds the TTIR op that it was made of, or none. */
#include "ir/graph/functions.h"
#include "ir/graph/hosted.h"
#include "ir/pair/pair.h"
#include "ir_text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;
static struct ir ttir, ttnn;
static struct pairing p;

static void forget(void) {
    if (p.ttir)
        pair_free(&p);
    if (ttir.text)
        ir_free(&ttir);
    if (ttnn.text)
        ir_free(&ttnn);
    memset(&p, 0, sizeof p);
    ttir.text = ttnn.text = NULL;
}

static void teardown(void) {
    forget();
    arena_free(&arena);
}

TestSuite(pair, .fini = teardown, .timeout = 30);

static void pair(const char *args, const char *before, const char *after) {
    forget();
    ir_short(&ttir, args, before);
    ir_short(&ttnn, args, after);
    pair_build(&p, &ttir.g, &ttnn.g, true);
}

/* `want` NULL: no pair. */
static void is(const char *after, const char *want) {
    uint32_t got = p.ttir_of[ir_op(&ttnn, after)];
    if (want)
        cr_assert_eq(got, ir_op(&ttir, want), "%s is not %s", after, want);
    else
        cr_assert_eq(got, NONE, "%s has a pair", after);
}

/* ---- by location ---- */

Test(pair, a_location_of_one_op_decides) {
    pair("x:4 y:4", "a = ttir.exp x -> 4 @exp.1; b = ttir.add a y -> 4 @add.2; return b",
         "b = ttnn.exp x -> 4 @exp.1; c = ttnn.to_layout b -> 4 @add.2; d = ttnn.add c y -> 4 @add.2; return d");
    is("%b", "%a");
    is("%c", NULL);
    is("%d", "%b");
    cr_assert_eq(p.nlocation, 2, "movement has none, and is not counted");
    cr_assert_eq(p.ndataflow, 0);
    cr_assert_eq(p.nunpaired, 0);
}

Test(pair, passes_wrap_names_and_the_outermost_known_one_counts) {
    pair("x:4 y:4",
         "a = ttir.sum x {dim_arg = [0 : i32]} -> 1 @sum.140; b = ttir.mean x {dim_arg = [0 : i32]} -> 1 @mean.1; "
         "return a b",
         "m = ttnn.max x -> 1 @sum.140_mean>sum.140; n = ttnn.min x -> 1 @sum.140>mean.1; o = ttnn.neg m -> 1 "
         "@new>newer; return m n o");
    is("%m", "%a");
    is("%n", "%a");
    is("%o", NULL);
    cr_assert_eq(p.nunpaired, 1);
}

Test(pair, an_op_of_the_same_kind_and_another_size_is_another_op) {
    pair("x:4 y:8", "a = ttir.exp x -> 4 @e; b = ttir.neg x -> 4 @n; return a b",
         "a = ttnn.exp y -> 8 @e; b = ttnn.abs y -> 8 @n; return a b");
    is("%a", NULL);
    is("%b", "%b");
    cr_assert_eq(p.nlocation, 1);
    cr_assert_eq(p.nunpaired, 1);
}

/* A cumsum that was taken apart has the location of the slice behind it. */
Test(pair, several_parts_are_not_the_one_part_at_their_location) {
#define FIRST  "{begins = [0], ends = [2], step = [1]} -> 2 @a; "
#define SECOND "{begins = [2], ends = [4], step = [1]} -> 2 @a; "
    const char *before = "t = ttir.cumsum x {dim = 0} -> 4 @a; s = ttir.slice_static t " FIRST "return s";
    pair("x:4", before, "t = ttnn.cumsum x {dim = 0} -> 4 @a; s = ttnn.slice_static t " FIRST "return s");
    is("%s", "%s");
    pair("x:4", before,
         "u = ttnn.sin x -> 4 @a; p = ttnn.slice_static u " FIRST "q = ttnn.slice_static u " SECOND
         "o = ttnn.add p q -> 2 @a; return o");
    is("%p", NULL);
    is("%q", NULL);
    pair("x:4", "s = ttir.slice_static x " FIRST "return s",
         "p = ttnn.slice_static x " FIRST "q = ttnn.slice_static x " FIRST "return p q");
    is("%p", "%s"); /* twice the same */
    is("%q", "%s");
}

Test(pair, a_location_that_no_op_of_the_other_side_has_is_no_pair) {
    pair("x:4", "a = ttir.exp x -> 4 @e; return a",
         "a = ttnn.sin x -> 4 @f; b = ttnn.to_layout a -> 4 @g; c = ttnn.full {fill_value = 1.0 : f32} -> 4 @h; return "
         "a b c");
    is("%a", NULL);
    is("%b", NULL);
    cr_assert_eq(p.nunpaired, 1, "movement is not counted, nor are constants");
    pair("x:4", "a = ttir.exp x -> 4 @e; return a",
         "a = ttnn.exp x -> 4 @e; b = ttnn.point_to_point a -> 4 @p; return b");
    cr_assert_eq(p.nunpaired, 0, "nor is what sends it to another chip");
}

Test(pair, an_operand_made_below_is_nothing_to_merge_by) {
    forget();
    const char *text = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                       "  %b = \"ttir.exp\"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
                       "  %c = \"ttir.exp\"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
                       "  %a = \"ttir.neg\"(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  return %b : tensor<4xf32>\n}\n";
    ir_read_bad(&ttir, text);
    ir_read_bad(&ttnn, text);
    pair_build(&p, &ttir.g, &ttnn.g, true);
    cr_assert_eq(p.segments.equal[ir_op(&ttir, "%c")], ir_op(&ttir, "%b"));
    cr_assert_eq(p.segments.equal[ir_op(&ttir, "%b")], ir_op(&ttir, "%b"));
}

Test(pair, only_audited_functions_are_paired) {
    forget();
    const char *f =
        "func.func private @f_const_eval_0(%p: tensor<4xf32>) -> tensor<4xf32> attributes {tt.function_type = "
        "\"const_eval\"} {\n  %q = \"%s.exp\"(%p) : (tensor<4xf32>) -> tensor<4xf32> loc(\"exp.1\")\n"
        "  return %q : tensor<4xf32>\n}\n";
    const char *g =
        "func.func @f(%x: tensor<4xf32>) {\n  %a = \"%s.exp\"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc(\"exp.1\")\n"
        "  return %a : tensor<4xf32>\n}\n";
    struct ir *const irs[] = {&ttir, &ttnn};
    for (int i = 0; i < 2; i++) {
        struct buf b = {0};
        for (int k = 0; k < 2; k++)
            for (const char *c = k ? g : f; *c; c++)
                if (c[0] == '%' && c[1] == 's' && c[2] == '.')
                    buf_add(&b, i ? STR("ttnn") : STR("ttir")), c++;
                else
                    buf_addc(&b, *c);
        buf_addc(&b, '\0');
        ir_read(irs[i], b.p);
        buf_free(&b);
    }
    pair_build(&p, &ttir.g, &ttnn.g, true);
    is("%a", "%a");
    is("%q", NULL);
    cr_assert_eq(p.nlocation, 1);
}

Test(pair, functions_are_of_one_name_where_both_are_audited) {
    struct ir *const irs[] = {&ttir, &ttnn};
    forget();
    for (int i = 0; i < 2; i++)
        ir_read(irs[i], i ? "func.func @f() {\nreturn\n}\nfunc.func @g() {\nreturn\n}\nfunc.func @h() {\nreturn\n}\n"
                          : "func.func @g() attributes {tt.function_type = \"const_eval\"} {\nreturn\n}\n"
                            "func.func @f() {\nreturn\n}\n");
    uint32_t *same = pair_functions(&ttir.g, &ttnn.g);
    cr_assert_eq(same[ir_func(&ttnn, "f")], ir_func(&ttir, "f"));
    cr_assert_eq(same[ir_func(&ttnn, "g")], NONE);
    cr_assert_eq(same[ir_func(&ttnn, "h")], NONE);
    free(same);
}

/* ---- by dataflow ---- */

Test(pair, ops_of_one_name_are_told_apart_by_what_feeds_them) {
    pair("x:4 y:4",
         "a = ttir.exp x -> 4 @e; b = ttir.exp y -> 4 @e; c = ttir.neg a -> 4 @n; d = ttir.neg b -> 4 @n; return c d",
         "a = ttnn.exp y -> 4 @e; b = ttnn.exp x -> 4 @e; c = ttnn.neg a -> 4 @n; d = ttnn.neg b -> 4 @n; return c d");
    is("%a", "%b");
    is("%b", "%a");
    is("%c", "%d");
    is("%d", "%c");
    cr_assert_eq(p.ndataflow, 4);
    pair(
        "x:4 y:4", "a = ttir.exp x -> 4 @e; b = ttir.exp y -> 4 @e; return a b",
        "a = ttnn.exp x -> 4 @e; b = ttnn.sin y -> 4 @e; return a"); /* another value, of which nothing else is known */
    is("%b", "%b");
}

Test(pair, what_comes_behind_a_value_that_was_changed_is_found) {
    pair("x:4", "a = ttir.multiply x 0.5:1 -> 4; e = ttir.exp a -> 4; s = ttir.sin a -> 4; return e",
         "a = ttnn.multiply x 0.25:1 -> 4; e = ttnn.exp a -> 4; s = ttnn.sin a -> 4; return e");
    is("%a", "%a");
    is("%s", "%s");
    pair("x:4", "a = ttir.multiply x 0.5:1 -> 4; e = ttir.exp a -> 4; s = ttir.sin a -> 4; return e",
         "a = ttnn.multiply x 0.25:1 -> 4; e = ttnn.exp a -> 4; s = ttnn.cos a -> 4; return e");
    is("%a", "%a");
    is("%s", NULL);
}

Test(pair, among_ops_of_one_name_the_operator_counts_too) {
    pair("a:2x4 b:4x3 c:3", "p = ttir.matmul a b -> 2x3 @linear; o = ttir.add p c -> 2x3 @linear; return o",
         "p = ttnn.matmul a b -> 2x3 @linear; o = ttnn.add p c -> 2x3 @linear; return o");
    is("%p", "%p");
    is("%o", "%o");
}

Test(pair, what_feeds_an_op_is_seen_behind_movement_casts_and_calls) {
    pair("x:4 y:4",
         "a = ttir.exp x -> 4 @e; b = ttir.exp y -> 4 @e; c = ttir.neg a -> 4 @n; d = ttir.neg b -> 4 @n; return c d",
         "t = ttnn.typecast y -> 4; l = ttnn.to_layout t -> 4; a = ttnn.exp l -> 4 @e; b = ttnn.exp x -> 4 @e\n"
         "r = ttnn.reshape a {shape = [4 : i32]} -> 4; c = ttnn.neg r -> 4 @n; d = ttnn.neg b -> 4 @n; return c d");
    is("%a", "%b");
    is("%c", "%d");
    is("%d", "%c");
}

Test(pair, without_locations_all_producers_have_to_agree) {
    pair("x:4 y:4",
         "a = ttir.exp x -> 4; b = ttir.exp y -> 4; c = ttir.subtract a b -> 4; d = ttir.add c x -> 4; return d",
         "b = ttnn.exp y -> 4; a = ttnn.exp x -> 4; t = ttnn.typecast a -> 4; c = ttnn.subtract t b -> 4; d = ttnn.add "
         "x c -> 4\n"
         "e = ttnn.subtract b t -> 4; f = ttnn.add e c -> 4; return d f");
    is("%a", "%a");
    is("%b", "%b");
    is("%c", "%c");
    is("%d", "%d");
    is("%e", NULL);
    is("%f", NULL);
    cr_assert_eq(p.ndataflow, 4);
    pair("x:4 w:4", "a = ttir.layer_norm x w -> 4; return a",
         "a = ttnn.layer_norm x -> 4; b = ttnn.layer_norm x w -> 4; return a b");
    is("%a", NULL);
    is("%b", "%a");
}

/* Takes minutes if all functions of the other level are searched for each op. */
Test(pair, many_functions_without_locations) {
    enum { N = 40000 };
    struct ir *const irs[] = {&ttir, &ttnn};
    forget();
    for (int k = 0; k < 2; k++) {
        struct buf b = {0};
        buf_add(&b, STR("module {\n"));
        for (int i = 0; i < N; i++)
            buf_printf(&b,
                       "func.func @some_long_common_prefix_of_a_name_%d(%%x: tensor<4xf32>) {\n"
                       "%%a%d = \"%s.exp\"(%%x) : (tensor<4xf32>) -> tensor<4xf32>\nreturn\n}\n",
                       k ? i : N - 1 - i, i, k ? "ttnn" : "ttir");
        buf_printf(&b, "}\n%c", '\0');
        ir_read(irs[k], b.p);
        buf_free(&b);
    }
    pair_build(&p, &ttir.g, &ttnn.g, true);
    is("%a7", "%a39992");
    cr_assert_eq(p.ndataflow, N);
}

Test(pair, the_same_op_twice_is_one_op) {
    pair("x:4", "a = ttir.exp x -> 4; b = ttir.exp x -> 4; return a b", "a = ttnn.exp x -> 4; return a a");
    is("%a", "%a");
    pair("x:4", "a = ttir.exp x -> 4; b = ttir.exp x -> 4; return a b",
         "a = ttnn.exp x -> 4; b = ttnn.exp x -> 4; return a b");
    is("%a", "%a");
    is("%b", "%b");
    pair("x:4x4", "a = ttir.sum x {dim_arg = [0 : i32]} -> 4; b = ttir.sum x {dim_arg = [1 : i32]} -> 4; return a b",
         "a = ttnn.sum x {dim_arg = [1 : i32]} -> 4; b = ttnn.sum x {dim_arg = [-2 : i32]} -> 4; return a b");
    is("%a", "%b");
    is("%b", "%a"); /* what is left over */
}

Test(pair, a_tie_is_no_pair) {
    pair("x:4x4", "a = ttir.sum x {dim_arg = [0 : i32]} -> 4; b = ttir.sum x {dim_arg = [1 : i32]} -> 4; return a b",
         "a = ttnn.sum x {dim_arg = [-1 : i32]} -> 4; return a a");
    is("%a", NULL);
    cr_assert_eq(p.nunpaired, 1);
    /* neither operator nor operands agree */
    pair("x:4 y:4", "a = ttir.exp x -> 4 @e; b = ttir.neg x -> 4 @e; return a b", "a = ttnn.sqrt y -> 4 @e; return a");
    is("%a", NULL);
}

/* Only so many ops of one location are compared. Where there are more, the right one may be among the rest: no pair. */
Test(pair, more_ops_of_one_name_than_are_looked_at_are_no_pair) {
    struct buf before = {0}, after = {0};
    for (int i = 0; i < 400; i++)
        buf_printf(&before, "a%d = ttir.%s x -> 4 @e\n", i, i == 3 || i == 90 ? "exp" : "neg");
    buf_printf(&before, "return a0%c", '\0');
    buf_printf(&after, "a = ttnn.sin x -> 4 @e; return a%c", '\0');
    pair("x:4", before.p, after.p);
    is("%a", NULL);
    buf_free(&before);
    buf_free(&after);
}

Test(pair, what_is_read_twice_is_one_unknown) {
    pair("x:1x2x4x8 y:1x2x4x8",
         "q = ttir.multiply x 0.5:1 -> 1x2x4x8; k = ttir.multiply y 0.5:1 -> 1x2x4x8\n"
         "a = ttir.scaled_dot_product_attention q k k -> 1x2x4x8; return a",
         "q = ttnn.multiply x 0.25:1 -> 1x2x4x8; k = ttnn.multiply y 0.25:1 -> 1x2x4x8\n"
         "a = ttnn.scaled_dot_product_attention q k k -> 1x2x4x8; return a");
    is("%a", "%a");
    is("%q", "%q");
    is("%k", "%k");
}

/* What was joined in TTIR alone is put for an operand that TTNN cuts. */
Test(pair, a_value_that_is_cut_may_stand_for_one_that_was_joined) {
    pair("x:2x3 y:2x5 z:2x8",
         "c = ttir.concat x y {dim = 1} -> 2x8\n"
         "s = ttir.slice_static c {begins = [0, 0], ends = [2, 3], step = [1, 1]} -> 2x3; e = ttir.exp s -> 2x3; "
         "return e",
         "c = ttnn.sin z -> 2x8\n"
         "s = ttnn.slice_static c {begins = [0, 0], ends = [2, 3], step = [1, 1]} -> 2x3; e = ttnn.exp s -> 2x3; "
         "return e");
    is("%e", "%e");
    is("%c", NULL);
}

/* A square is that of a value and of its negative: what was changed may be either. */
Test(pair, a_changed_operand_that_may_be_two_values_has_no_pair) {
#define SQUARE(first) "n = ttir.neg x; m = ttir." first "; s = ttir.square m; return s n"
    const char *after = "c = ttnn.cos x; s = ttnn.square c; n = ttnn.neg x; return s n";
    pair("x:4", SQUARE("sin x"), after);
    is("%s", "%s");
    is("%c", "%m");
    pair("x:4", SQUARE("neg n"), after);
    is("%s", "%s");
    is("%c", NULL);
}

/* Of two that were changed nothing tells which is which. */
Test(pair, two_changed_operands_that_are_like_nothing_have_no_pair) {
    const char *before = "q = ttir.multiply x 0.5:1 -> 1x2x4x8; k = ttir.multiply y 0.5:1 -> 1x2x4x8\n"
                         "a = ttir.scaled_dot_product_attention q k k -> 1x2x4x8; return a";
    pair("x:1x2x4x8 y:1x2x4x8", before,
         "q = ttnn.sin x -> 1x2x4x8; k = ttnn.cos y -> 1x2x4x8\n"
         "a = ttnn.scaled_dot_product_attention q k k -> 1x2x4x8; return a");
    is("%a", "%a");
    is("%q", NULL);
    is("%k", NULL);
}

/* What was changed may have stood before any of the ops that compute the same. */
Test(pair, a_value_that_two_ops_compute_is_made_of_the_operands_of_both) {
    const char *before =
        "a = ttir.multiply x 5.0:1 -> 4; b = ttir.multiply x 0.3:1 -> 4; c = ttir.multiply a 0.3:1 -> 4\n"
        "d = ttir.multiply b 5.0:1 -> 4; return c d";
    pair("x:4", before, "a = ttnn.sin x -> 4; c = ttnn.multiply a 0.3:1 -> 4; d = ttnn.exp x -> 4; return c d");
    is("%a", "%a");
    pair("x:4", before, "b = ttnn.sin x -> 4; c = ttnn.exp x -> 4; d = ttnn.multiply b 5.0:1 -> 4; return c d");
    is("%b", "%b");
}

Test(pair, a_product_with_weights_side_by_side_is_the_first_of_its_parts) {
#define CUT(r, from, to, extent)                                                                                       \
    r " = ttnn.slice_static p {begins = [0, " from "], ends = [2, " to "], step = [1, 1]} -> 2x" extent "\n"
#define SIDES "c = ttnn.concat w v {dim = 1} -> 4x8; p = ttnn.matmul x c -> 2x8\n"
    const char *before = "a = ttir.matmul x w -> 2x3; b = ttir.matmul x v -> 2x5; e = ttir.exp a -> 2x3\n"
                         "f = ttir.sin b -> 2x5; return e f";
    pair("x:2x4 w:4x3 v:4x5", before,
         SIDES CUT("b", "3", "8", "5") CUT("a", "0", "3", "3") "e = ttnn.exp a -> 2x3; f = ttnn.sin b -> 2x5\n"
                                                               "return e f");
    is("%a", "%a");
    is("%b", "%b");
    is("%p", "%a");
    pair("x:2x4 w:4x3 v:4x5", before,
         SIDES CUT("b", "3", "8", "5") CUT("a", "0", "3", "3") "e = ttnn.exp a -> 2x3; f = ttnn.sin b -> 2x5\n"
                                                               "g = ttnn.sin p -> 2x8; return e f g");
    is("%p", NULL);
    pair("x:2x4 w:4x3 v:4x5", before,
         "c = ttnn.concat w v {dim = 1} -> 4x8; p = ttnn.matmul x c {activation = \"relu\"} -> 2x8\n" CUT(
             "b", "3", "8", "5") "f = ttnn.cos b -> 2x5; return f");
    is("%b", NULL);
    before =
        "a = ttir.matmul x w -> 2x3; i = ttir.add a y -> 2x3; b = ttir.matmul x v -> 2x5; j = ttir.add b z -> 2x5\n"
        "e = ttir.exp i -> 2x3; f = ttir.sin j -> 2x5; return e f";
    pair("x:2x4 w:4x3 v:4x5 y:3 z:5", before,
         "c = ttnn.concat w v {dim = 1} -> 4x8; d = ttnn.concat y z {dim = 0} -> 8; m = ttnn.matmul x c -> 2x8\n"
         "p = ttnn.add m d -> 2x8\n" CUT("b", "3", "8", "5")
             CUT("a", "0", "3", "3") "e = ttnn.exp a -> 2x3\n"
                                     "f = ttnn.sin b -> 2x5; return e f");
    is("%b", "%j");
    is("%p", "%i");
    is("%m", "%a");
    is("%f", "%f");
}

/* By its location, where a weight was made on the host; what comes of it by value. */
Test(pair, a_value_of_which_nothing_is_shown) {
#define OPAQUE "h = ttnn.unheard_of w -> 4x4; a = ttnn.matmul x h -> 4x4 "
    const char *before =
        "a = ttir.matmul x w -> 4x4 @one; b = ttir.sin a -> 4x4; c = ttir.cos a -> 4x4; d = ttir.exp b -> 4x4\n"
        "e = ttir.exp c -> 4x4; return d e";
    pair("x:4x4 w:4x4", before,
         OPAQUE "@one; c = ttnn.cos a -> 4x4; b = ttnn.sin a -> 4x4; e = ttnn.tanh c -> 4x4; d = ttnn.tanh b -> 4x4\n"
                "return e d");
    is("%a", "%a");
    is("%b", "%b");
    is("%c", "%c");
    pair("x:4x4 w:4x4", before,
         OPAQUE "@other; c = ttnn.cos a -> 4x4; b = ttnn.sin a -> 4x4; e = ttnn.tanh c -> 4x4; d = ttnn.tanh b -> 4x4\n"
                "return e d");
    is("%b", NULL);
}

/* Movement is found by what it does to the elements: nothing is like one that cannot be told. */
Test(pair, movement_that_cannot_be_told_has_no_pair) {
#define REPEATED(d)                                                                                                    \
    "e = " d ".exp x -> 3; i = " d ".repeat_interleave e {repeats = 2 : ui32, dim = 0 : si32} -> 6\n"                  \
    "r = " d ".reshape i {shape = [2 : i32, 3 : i32]} -> 2x3; p = " d                                                  \
    ".permute r {permutation = array<i64: 1, 0>} -> "                                                                  \
    "3x2\n"
    pair("x:3", REPEATED("ttir") "return p",
         REPEATED("ttnn") "s = ttnn.reshape p {shape = [2 : i32, 3 : i32]} -> 2x3\n"
                          "t = ttnn.transpose s {dim0 = 0 : si32, dim1 = 1 : si32} -> 3x2; return t");
    is("%p", "%p");
    is("%t", NULL);
}

/* By what it does to the elements, whatever op does it. */
Test(pair, movement_of_other_ops_that_does_the_same) {
#define MOVED(first) "e = ttir.exp x; p = ttir." first " -> 3x3; return p"
    const char *after = "e = ttnn.exp x; t = ttnn.transpose e {dim0 = 0 : si32, dim1 = 1 : si32} -> 3x3; return t";
    pair("x:3x3", MOVED("permute e {permutation = [1, 0]}"), after);
    is("%t", "%p");
    pair("x:3x3", MOVED("reshape e"), after);
    is("%t", NULL);
}

#define T       "tensor<4x4xf32>"
#define MOVE(d) "func.func @main(%%x: " T ") {\n%%e = \"" d ".exp\"(%%x) : (" T ") -> " T "\n%%t = \"" d "."

Test(pair, movement_of_a_value_with_very_many_users_has_no_pair) {
    for (int n = 100; n <= 2000; n += 1900) {
        struct buf b = {0};
        buf_printf(&b, MOVE("ttir") "reshape\"(%%e) <{shape = [4 : i32, 4 : i32]}> : (" T ") -> " T "\n");
        for (int i = 0; i < n; i++)
            buf_printf(&b, "%%a%d = \"ttir.sin\"(%%e) : (" T ") -> " T "\n", i);
        buf_printf(&b, "return\n}\n%c", '\0');
        forget();
        ir_read(&ttir, b.p);
        b.n = 0;
        buf_printf(&b, MOVE("ttnn") "reshape\"(%%e) <{shape = [4 : i32, 4 : i32]}> : (" T ") -> " T "\nreturn\n}%c",
                   '\0');
        ir_read(&ttnn, b.p);
        buf_free(&b);
        pair_build(&p, &ttir.g, &ttnn.g, true);
        is("%e", "%e");
        is("%t", n == 100 ? "%t" : NULL);
    }
}

Test(pair, a_call_is_no_origin) {
    forget();
    ir_read(&ttir, "func.func @main(%x: " T ") -> " T " {\n%a = func.call @g(%x) : (" T ") -> " T " loc(\"e\")\n"
                   "return %x : " T "\n}\nfunc.func private @g(%p: " T ") -> " T " {\n"
                   "%q = \"ttir.exp\"(%p) : (" T ") -> " T "\nreturn %q : " T "\n}\n");
    ir_short(&ttnn, "x:4x4", "a = ttnn.sin x -> 4x4 @e; return x");
    pair_build(&p, &ttir.g, &ttnn.g, true);
    is("%a", NULL);
}

Test(pair, nothing_has_a_pair_in_an_empty_text) {
    forget();
    ir_read(&ttir, "");
    ir_short(&ttnn, "x:4", "a = ttnn.exp x -> 4 @e; return a");
    pair_build(&p, &ttir.g, &ttnn.g, true);
    is("%a", NULL);
    cr_assert_eq(p.nunpaired, 1);
}

/* ---- segments ---- */

static bool segment(const char *const *after, uint32_t n, uint32_t **out, uint32_t *nout) {
    uint32_t ops[8];
    for (uint32_t i = 0; i < n; i++)
        ops[i] = ir_op(&ttnn, after[i]);
    bool ok = pair_segment(&p, ops, n, &arena, out, nout);
    for (uint32_t i = 0; i < ttir.m.nops; i++)
        cr_assert_eq(p.segments.marks[i], 0, "a mark stays");
    return ok;
}

static void segment_is(const char *const *after, uint32_t n, const char *const *want, uint32_t k) {
    uint32_t *ops, nops;
    cr_assert(segment(after, n, &ops, &nops));
    cr_assert_eq(nops, k, "%u ops, not %u", nops, k);
    for (uint32_t i = 0; i < k; i++)
        cr_assert_eq(ops[i], ir_op(&ttir, want[i]), "op %u is not %s", i, want[i]);
}

#define LIST(...) (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

Test(pair, a_segment_holds_what_lies_between_its_ops) {
    pair("x:4 y:4",
         "u = ttir.neg y -> 4 @u; a = ttir.exp x -> 4 @a; v = ttir.abs u -> 4 @v; m = ttir.sqrt a -> 4 @m; w = "
         "ttir.sin m -> 4 @w\n"
         "n = ttir.cos m -> 4 @n; b = ttir.add n v -> 4 @b; return b w",
         "a = ttnn.exp x -> 4 @a; v = ttnn.abs y -> 4 @v; b = ttnn.add a v -> 4 @b; return b");
    segment_is(LIST("%a", "%b"), LIST("%a", "%m", "%n", "%b"));
    segment_is(LIST("%b", "%a"), LIST("%a", "%m", "%n", "%b"));
    segment_is(LIST("%v", "%a", "%b"), LIST("%a", "%v", "%m", "%n", "%b"));
    segment_is(LIST("%b"), LIST("%b"));
}

Test(pair, two_ops_of_one_pair_are_one) {
    pair("x:4", "a = ttir.softmax x {dimension = 0 : si32} -> 4 @s; return a",
         "e = ttnn.exp x -> 4 @s; t = ttnn.sum e -> 1 @s; d = ttnn.div e t -> 4 @s; return d");
    segment_is(LIST("%e", "%t", "%d"), LIST("%a"));
}

Test(pair, what_hangs_together_less_than_in_ttnn_is_no_segment) {
    uint32_t *ops, n;
    pair("x:4 y:4", "a = ttir.exp x -> 4 @a; b = ttir.neg y -> 4 @b; c = ttir.abs a -> 4 @c; return b c",
         "a = ttnn.exp x -> 4 @a; b = ttnn.neg a -> 4 @b; c = ttnn.abs a -> 4 @c; d = ttnn.sin c -> 4 @none; return d");
    cr_assert_not(segment(LIST("%a", "%b"), &ops, &n));
    cr_assert(segment(LIST("%b", "%c"), &ops, &n), "two ends in both");
    cr_assert(segment(LIST("%a", "%c"), &ops, &n));
    cr_assert_not(segment(LIST("%d"), &ops, &n), "it has no pair");
    cr_assert(segment(LIST("%c", "%d"), &ops, &n));
    cr_assert_eq(n, 1);
}

/* CSE has made one op of two: what uses either hangs together. */
Test(pair, equal_ops_are_one_in_a_segment) {
    static const char after[] = "a = ttnn.exp x -> 4 @a; b = ttnn.neg a -> 4 @b; c = ttnn.abs a -> 4 @c; d = ttnn.add "
                                "b c -> 4 @d; return d";
    pair("x:4",
         "a = ttir.exp x -> 4 @a; b = ttir.neg a -> 4 @b; e = ttir.exp x -> 4 @a; c = ttir.abs e -> 4 @c; d = "
         "ttir.add b c -> 4 @d; return d",
         after);
    segment_is(LIST("%a", "%c"), LIST("%a", "%c"));
    segment_is(LIST("%a", "%b", "%c"), LIST("%a", "%b", "%c"));
}

/* Products with a common operand are one product in TTNN, with weights side by side, that is cut up again. */
#define MERGED                                                                                                         \
    "c = ttnn.concat u v {dim = 1 : si32} -> 4x16 @c; p = ttnn.matmul n c -> 4x16 @p; "                                \
    "b = ttnn.slice_static p {begins = [0 : i32, 0 : i32], ends = [4 : i32, 8 : i32], step = [1 : i32, 1 : i32]} -> "  \
    "4x8 @p; d = ttnn.slice_static p {begins = [0 : i32, 8 : i32], ends = [4 : i32, 16 : i32], step = [1 : i32, 1 : "  \
    "i32]} -> 4x8 @p; "

Test(pair, a_segment_has_all_products_that_were_merged) {
    pair("x:4x4 u:4x8 v:4x8",
         "n = ttir.exp x -> 4x4 @n; a = ttir.matmul n u -> 4x8 @a; b = ttir.neg a -> 4x8 @b; c = ttir.matmul n v -> "
         "4x8 @c; d = ttir.abs c -> 4x8 @d; return b d",
         "n = ttnn.exp x -> 4x4 @n; " MERGED "e = ttnn.neg b -> 4x8 @b; f = ttnn.abs d -> 4x8 @d; return e f");
    segment_is(LIST("%p", "%b", "%d"), LIST("%a", "%c"));
    segment_is(LIST("%p", "%b", "%d", "%e", "%f"), LIST("%a", "%b", "%c", "%d"));
    segment_is(LIST("%e"), LIST("%b"));
}

Test(pair, what_moves_an_operand_is_no_part_of_the_op_at_its_location) {
    pair("x:4x4 y:4x4", "a = ttir.exp x -> 4x4 @a; s = ttir.add a y -> 4x4 @s; return s",
         "a = ttnn.exp x -> 4x4 @a; r = ttnn.reshape a {shape = [16 : i32]} -> 16 @s; t = ttnn.reshape r {shape = [4 : "
         "i32, 4 : i32]} -> 4x4 @s; s = ttnn.add t y -> 4x4 @s; return s");
    is("%r", NULL);
    is("%s", "%s");
    segment_is(LIST("%a", "%r"), LIST("%a"));
}

Test(pair, a_segment_is_no_large_part_of_the_model) {
    struct buf before = {0};
    uint32_t *ops, n;
    buf_printf(&before, "a0 = ttir.exp x -> 4 @first\n");
    for (int i = 1; i < 60; i++)
        buf_printf(&before, "a%d = ttir.neg a%d -> 4 @n%d\n", i, i - 1, i);
    buf_printf(&before, "l = ttir.abs a59 -> 4 @last; return l%c", '\0');
    pair("x:4", before.p, "a = ttnn.exp x -> 4 @first; b = ttnn.sin a -> 4 @n20; l = ttnn.cos b -> 4 @last; return b");
    cr_assert(segment(LIST("%a", "%b"), &ops, &n));
    cr_assert_eq(n, 21);
    cr_assert_not(segment(LIST("%a", "%l"), &ops, &n));
    buf_free(&before);
}

/* The ops of a match are far apart in the text: the cost depends on the ops between them in dataflow, not in text. */
Test(pair, segments_of_distant_ops) {
    enum { N = 40000 };
    struct buf b[2] = {{0}, {0}};
    struct ir *const irs[] = {&ttir, &ttnn};
    forget();
    for (int k = 0; k < 2; k++) {
        const char *d = k ? "ttnn" : "ttir";
        buf_printf(&b[k], "func.func @main(%%x: tensor<4xf32>) {\n");
        for (int i = 0; i < N; i++)
            buf_printf(&b[k], "%%a%d = \"%s.exp\"(%%x) : (tensor<4xf32>) -> tensor<4xf32> loc(\"a%d\")\n", i, d, i);
        for (int i = 0; i < N; i++)
            buf_printf(&b[k], "%%b%d = \"%s.neg\"(%%a%d) : (tensor<4xf32>) -> tensor<4xf32> loc(\"b%d\")\n", i, d, i,
                       i);
        buf_printf(&b[k], "return\n}\n%c", '\0');
        ir_read(irs[k], b[k].p);
        buf_free(&b[k]);
    }
    pair_build(&p, &ttir.g, &ttnn.g, true);
    cr_assert_eq(p.nlocation, 2 * N);
    uint32_t first = ir_op(&ttnn, "%a0");
    for (uint32_t i = 0; i < N; i++) {
        uint32_t pair_of[] = {first + i, first + N + i}, *ops, n;
        cr_assert(pair_segment(&p, pair_of, 2, &arena, &ops, &n));
        cr_assert_eq(n, 2);
    }
}

/* ---- what is made on the host ---- */

#define HOSTED                                                                                                         \
    "module {\nfunc.func private @once(%a: tensor<8xf32>) -> tensor<8x16xf32> attributes {tt.function_type = "         \
    "\"const_eval\"} {\n%0 = call @cpu_hoisted_const_eval_1(%a) {ttir.cpu_hoist_call} : (tensor<8xf32>) -> "           \
    "tensor<8x16xf32>\nreturn %0 : tensor<8x16xf32>\n}\nfunc.func @main(%x: tensor<8x16xf32>, %w: tensor<8xf32> "      \
    "{ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<8x16xf32> {\n%0 = "                          \
    "ttcore.load_cached(@once, [%w]) : (tensor<8xf32>) -> tensor<8x16xf32>\n%1 = \"ttnn.add\"(%x, %0) : "              \
    "(tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>\nreturn %1 : tensor<8x16xf32>\n}\nfunc.func private "    \
    "@cpu_hoisted_const_eval_1(tensor<8xf32>) -> tensor<8x16xf32>\n}\n"

/* Along which dimensions the second operand of the addition varies. */
static unsigned hosted_varies(const char *before) {
    forget();
    ir_short(&ttir, "x:8x16xf32!input w:8xf32!parameter", before);
    ir_read(&ttnn, HOSTED);
    hosted_take(&ttnn.g, &ttir.g);
    return ttnn.g.varies[graph_operands(&ttnn.g, ir_op(&ttnn, "%1"))[1]];
}

Test(pair, a_value_of_the_host_is_the_same_along_what_all_that_it_may_be_are) {
    const char *one =
        "r = ttir.reshape w {shape = [8 : i32, 1 : i32]} -> 8x1xf32; b = ttir.broadcast r "
        "{broadcast_dimensions = array<i64: 1, 16>} -> 8x16xf32; %so = ttir.add x b -> 8x16xf32; return o";
    static const struct {
        const char *more;
        unsigned varies;
    } cases[] = {{"", 1},
                 {"n = ttir.neg b; ", 1},
                 {"t = ttir.arange {arange_dimension = 1 : i64, start = 0 : si64, end = 16 : si64, step = 1 : si64} -> "
                  "8x16xf32; n = ttir.multiply b t; ",
                  3},
                 {"n = ttir.multiply x b; ", 1}};
    char text[1024];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, one, cases[i].more);
        cr_expect_eq(hosted_varies(text), cases[i].varies, "%s: %u", cases[i].more, hosted_varies(text));
    }
    cr_expect_eq(hosted_varies("o = ttir.neg x; return o"), 3, "nothing there has its shape");
}
