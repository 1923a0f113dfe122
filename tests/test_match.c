/* The promises of the matcher: for each feature of the language a place that matches and one that almost does. */
#include "pattern_text.h"
#include "search/match/search_graph.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int hits, misses;

static void setup(void) {
    search_setup();
    hits = misses = 0;
}

/* An assertion that fails here would be printed and not count. */
static void teardown(void) {
    if (hits != misses) {
        fprintf(stderr, "%d places and %d near misses\n", hits, misses);
        abort();
    }
    search_teardown();
}

TestSuite(match, .init = setup, .fini = teardown, .timeout = 30);

static void hit(const char *args, const char *ops) {
    hits++;
    cr_assert_eq(search_all(args, ops), 1, "%u places, not 1, in\n%s", list.n, ir.text);
}

static void miss(const char *args, const char *ops) {
    misses++;
    cr_assert_eq(search_all(args, ops), 0, "%u places, not 0, in\n%s", list.n, ir.text);
}

static const struct match *found(void) {
    cr_assert_eq(list.n, 1);
    return &list.items[0];
}

static uint32_t bound(const char *name) {
    struct match_detail d;
    match_details(found(), &arena, &d);
    cr_assert_not_null(d.slots);
    uint32_t slot = formula_slot(&found()->pattern->formula, str_of(name));
    cr_assert_neq(slot, NONE);
    return d.slots[slot].value;
}

#define MM "a:2x4 b:4x3 c:3 x:2x3 y:2x3 z:2x3 w:2x3 "

/* ---- operators ---- */

Test(match, sums_and_products_match_in_either_order_and_differences_do_not) {
    pattern("out = exp(x) + y", "");
    hit("x:2x3 y:2x3", "e = ttir.exp x -> 2x3\n o = ttir.add e y -> 2x3\n return o");
    hit("x:2x3 y:2x3", "e = ttir.exp x -> 2x3\n o = ttir.add y e -> 2x3\n return o");
    miss("x:2x3 y:2x3", "e = ttir.exp x -> 2x3\n o = ttir.multiply y e -> 2x3\n return o");
    miss("x:2x3 y:2x3", "e = ttir.abs x -> 2x3\n o = ttir.add y e -> 2x3\n return o");
    pattern("out = exp(x) - y", "");
    hit("x:2x3 y:2x3", "e = ttnn.exp x -> 2x3\n o = ttnn.subtract e y -> 2x3\n return o");
    miss("x:2x3 y:2x3", "e = ttnn.exp x -> 2x3\n o = ttnn.subtract y e -> 2x3\n return o");
    pattern("out = exp(x) / y", "");
    hit("x:2x3 y:2x3", "e = ttir.exp x -> 2x3\n o = ttir.div e y -> 2x3\n return o");
    miss("x:2x3 y:2x3", "e = ttir.exp x -> 2x3\n o = ttir.div y e -> 2x3\n return o");
}

Test(match, both_operands_may_have_to_be_swapped_at_once) {
    pattern("out = (exp(x) + y) * (neg(x) + z)", "");
    hit("x:2x3 y:2x3 z:2x3", "e = ttir.exp x -> 2x3; s = ttir.add y e -> 2x3; n = ttir.neg x -> 2x3\n"
                             "t = ttir.add z n -> 2x3; o = ttir.multiply t s -> 2x3; return o");
    miss("x:2x3 y:2x3 z:2x3", "e = ttir.exp x -> 2x3; s = ttir.add y e -> 2x3; n = ttir.neg y -> 2x3\n"
                              "t = ttir.add z n -> 2x3; o = ttir.multiply t s -> 2x3; return o");
}

Test(match, the_order_of_ops_in_the_text_does_not_matter) {
    pattern("out = exp(x) * (neg(y) + z)", "");
    const char *first = "e = ttir.exp x -> 2x3; n = ttir.neg y -> 2x3; s = ttir.add n z -> 2x3; q = ttir.abs w -> 2x3\n"
                        "o = ttir.multiply e s -> 2x3; return o q";
    const char *last = "n = ttir.neg y -> 2x3; q = ttir.abs w -> 2x3; s = ttir.add n z -> 2x3; e = ttir.exp x -> 2x3\n"
                       "o = ttir.multiply e s -> 2x3; return o q";
    hit(MM, first);
    cr_assert_eq(found()->nops, 4);
    uint32_t ops[4];
    memcpy(ops, found()->ops, sizeof ops);
    cr_assert_eq(ops[3], ir_op(&ir, "%o"), "the root is the last");
    hit(MM, last);
    static const char *const order[] = {"%e", "%n", "%s", "%o"};
    for (int i = 0; i < 4; i++)
        cr_assert_eq(found()->ops[i], ir_op(&ir, order[i]), "ops are listed in the formula's order");
    miss(MM,
         "e = ttir.exp x -> 2x3; n = ttir.neg y -> 2x3; s = ttir.subtract n z -> 2x3; o = ttir.multiply e s -> 2x3; "
         "return o");
    miss(MM, "e = ttir.exp x -> 2x3; s = ttir.add y z -> 2x3; o = ttir.multiply e s -> 2x3; return o");
}

Test(match, attributes_are_compared_or_absent) {
    pattern("out = exp(matmul(a, b, transpose_b=true))", "");
    hit("a:2x4 b:3x4", "p = ttnn.matmul a b {transpose_b = true} -> 2x3; o = ttnn.exp p -> 2x3; return o");
    miss("a:2x4 b:4x3", "p = ttnn.matmul a b {transpose_b = false} -> 2x3; o = ttnn.exp p -> 2x3; return o");
    pattern("out = exp(matmul(a, b, memory_config=absent))", "");
    hit("a:2x4 b:4x3", "p = ttnn.matmul a b -> 2x3; o = ttnn.exp p -> 2x3; return o");
    miss("a:2x4 b:4x3", "p = ttnn.matmul a b {memory_config = #x} -> 2x3; o = ttnn.exp p -> 2x3; return o");
    pattern("out = exp(leaky_relu(x, parameter=0.01))", "");
    hit("x:2x3", "p = ttir.leaky_relu x {parameter = 1.0e-2 : f32} -> 2x3; o = ttir.exp p -> 2x3; return o");
    miss("x:2x3", "p = ttir.leaky_relu x {parameter = 2.0e-2 : f32} -> 2x3; o = ttir.exp p -> 2x3; return o");
}

Test(match, what_has_an_activation_folded_in_is_no_plain_operator) {
    pattern("out = matmul(a, b) + c", "");
    hit(MM, "p = ttnn.matmul a b -> 2x3; o = ttnn.add p c -> 2x3; return o");
    miss(MM, "p = ttnn.matmul a b {activation = \"relu\"} -> 2x3; o = ttnn.add p c -> 2x3; return o");
}

Test(match, three_ops_for_a_product) {
    pattern("out = exp(matmul(a, b))", "");
    hit(MM, "p = ttnn.linear a b -> 2x3; o = ttnn.exp p -> 2x3; return o");
    miss(MM, "p = ttnn.linear a b c -> 2x3; o = ttnn.exp p -> 2x3; return o");
    hit(MM, "p = ttir.dot_general a b {batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = "
            "array<i64: 1>, contract_dims_rhs = array<i64: 0>} -> 2x3; o = ttir.exp p -> 2x3; return o");
    miss("a:2x4 b:4x3", "p = ttir.dot_general a b {batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, "
                        "contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>} -> 2x3\n"
                        "o = ttir.abs p -> 2x3; return o");
}

Test(match, an_exponent_may_be_an_attribute) {
    pattern("out = exp(pow(x, 2))", "");
    hit("x:2x3", "p = ttnn.pow_scalar x {rhs = 2 : i32} -> 2x3; o = ttnn.exp p -> 2x3; return o");
    miss("x:2x3", "p = ttnn.pow_scalar x {rhs = 3 : i32} -> 2x3; o = ttnn.exp p -> 2x3; return o");
    hit("x:2x3",
        "t = ttir.full {fill_value = 2.0 : f32} -> 1x1; p = ttir.pow x t -> 2x3; o = ttir.exp p -> 2x3; return o");
    miss("x:2x3", "t = ttir.full {fill_value = 2.0 : f32} -> 1x1; p = ttir.pow t x -> 2x3; o = ttir.exp p -> 2x3; "
                  "return o");
}

/* ---- names ---- */

Test(match, a_variable_is_the_same_value_both_times) {
    pattern("out = exp(x) * neg(x)", "");
    hit("x:2x3 y:2x3", "e = ttir.exp x -> 2x3; n = ttir.neg x -> 2x3; o = ttir.multiply e n -> 2x3; return o");
    miss("x:2x3 y:2x3", "e = ttir.exp x -> 2x3; n = ttir.neg y -> 2x3; o = ttir.multiply e n -> 2x3; return o");
    /* reshapes and casts are looked through: what counts is the element at each index */
    hit("x:6", "r = ttir.reshape x {shape = [2 : i32, 3 : i32]} -> 2x3; e = ttir.exp r -> 2x3; n = ttir.neg x -> 6\n"
               "q = ttir.reshape n {shape = [2 : i32, 3 : i32]} -> 2x3; o = ttir.multiply e q -> 2x3; return o");
    miss("x:6",
         "r = ttir.reshape x {shape = [3 : i32, 2 : i32]} -> 3x2\n"
         "t = ttir.permute r {permutation = array<i64: 1, 0>} -> 2x3; e = ttir.exp t -> 2x3; n = ttir.neg x -> 6\n"
         "q = ttir.reshape n {shape = [2 : i32, 3 : i32]} -> 2x3; o = ttir.multiply e q -> 2x3; return o");
    hit("x:2x3", "t = ttir.typecast x -> 2x3xbf16; e = ttir.exp t -> 2x3xbf16; n = ttir.neg x -> 2x3\n"
                 "c = ttir.typecast n -> 2x3xbf16; o = ttir.multiply e c -> 2x3xbf16; return o");
    miss("x:2x3", "t = ttir.abs x -> 2x3; e = ttir.exp t -> 2x3; n = ttir.neg x -> 2x3; o = ttir.multiply e n -> 2x3; "
                  "return o");
}

Test(match, a_name_is_matched_once_and_is_the_same_op_afterwards) {
    pattern("c = exp(x)\nout = c * neg(c)", "");
    hit("x:2x3", "e = ttir.exp x -> 2x3; n = ttir.neg e -> 2x3; o = ttir.multiply e n -> 2x3; return o");
    miss("x:2x3", "e = ttir.exp x -> 2x3; f = ttir.exp x -> 2x3; n = ttir.neg f -> 2x3; o = ttir.multiply e n -> 2x3; "
                  "return o");
}

Test(match, a_variable_may_stand_for_what_it_was_before_a_broadcast) {
    pattern("out = exp(x) * w", "");
    hit("x:2x3 w:3", "e = ttir.exp x -> 2x3; r = ttir.reshape w {shape = [1 : i32, 3 : i32]} -> 1x3\n"
                     "b = ttir.broadcast r -> 2x3; o = ttir.multiply e b -> 2x3; return o");
    cr_assert_eq(bound("w"), ir_value(&ir, "%r"));
    pattern("out = exp(x) * w", "where: row_vector(w)");
    hit("x:2x3 w:3", "e = ttir.exp x -> 2x3; r = ttir.reshape w {shape = [1 : i32, 3 : i32]} -> 1x3\n"
                     "b = ttir.broadcast r -> 2x3; o = ttir.multiply e b -> 2x3; return o");
    miss("x:2x3 w:2", "e = ttir.exp x -> 2x3; r = ttir.reshape w {shape = [2 : i32, 1 : i32]} -> 2x1\n"
                      "b = ttir.broadcast r -> 2x3; o = ttir.multiply e b -> 2x3; return o");
    pattern("out = exp(x) * w", "where: extent(x, 0) == 3");
    miss("x:2x3 w:2x3", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
}

#define COUNTED(start)                                                                                                 \
    "e = ttir.exp x -> 2x3; c = ttir.arange {start = " start " : si64, end = 3 : si64, step = 1 : si64, "              \
    "arange_dimension = 1 : i64} -> 1x3; o = ttir.multiply e c -> 2x3; return o"

Test(match, conditions_on_the_numbers_of_constants) {
    pattern("out = exp(x) * c", "where: counts(c, -1)");
    hit("x:2x3", COUNTED("0"));
    miss("x:2x3", COUNTED("1"));
    pattern("out = exp(x) * c", "where: counts(c, -2)");
    miss("x:2x3", COUNTED("0"));
#define WIDENED(rows)                                                                                                  \
    "e = ttir.exp x -> 3x2; u = ttir.constant {value = dense<" rows "> : tensor<2x4xf32>} -> 2x4; "                    \
    "o = ttir.matmul e u -> 3x4; return o"
    pattern("out = matmul(exp(x), u)", "where: repeats_columns(u, 2)");
    hit("x:3x2", WIDENED("[[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]"));
    miss("x:3x2", WIDENED("[[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]"));
    pattern("out = matmul(exp(x), u)", "where: repeats_columns(u, 4)");
    miss("x:3x2", WIDENED("[[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]"));
    pattern("out = matmul(exp(x), u)", "");
    hit("x:3x2", WIDENED("[[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]"));
    hit("x:3x2", WIDENED("[[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]"));
}

Test(match, conditions_on_what_a_broadcast_repeats) {
    pattern("out = exp(x) * w", "where: repeated(w)");
    hit("x:2x3 w:3", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
    miss("x:2x3 w:2x3", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
    hit("x:1x2x3 w:2x1", "e = ttir.exp x -> 1x2x3; o = ttir.multiply e w -> 1x2x3; return o");
    miss("x:1x2x3 w:2x3", "e = ttir.exp x -> 1x2x3; o = ttir.multiply e w -> 1x2x3; return o");
    pattern("out = exp(x) * w", "where: rowwise(w)");
    hit("x:2x3 w:2x1", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
    miss("x:2x3 w:3", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
    pattern("out = exp(x) * w", "where: same_along(w, x, -2)");
    hit("x:2x3 w:3", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
    hit("x:4x2x3 w:4x1x3", "e = ttir.exp x -> 4x2x3; o = ttir.multiply e w -> 4x2x3; return o");
    miss("x:2x3 w:2x1", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
    miss("x:2x3 w:2x3", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
}

Test(match, two_products_read_the_same_operand) {
    pattern("out = exp(matmul(x, a)) * matmul(y, b)", "where: same(x, y)");
    hit("x:2x3 a:3x4 b:3x4", "p = ttir.matmul x a -> 2x4; q = ttir.matmul x b -> 2x4\n"
                             "e = ttir.exp p -> 2x4; o = ttir.multiply e q -> 2x4; return o");
    miss("x:2x3 y:2x3 a:3x4 b:3x4", "p = ttir.matmul x a -> 2x4; q = ttir.matmul y b -> 2x4\n"
                                    "e = ttir.exp p -> 2x4; o = ttir.multiply e q -> 2x4; return o");
    hit("x:6 a:3x4 b:3x4", "r = ttir.reshape x {shape = [2 : i32, 3 : i32]} -> 2x3\n"
                           "s = ttir.reshape x {shape = [2 : i32, 3 : i32]} -> 2x3\n"
                           "p = ttir.matmul r a -> 2x4; q = ttir.matmul s b -> 2x4\n"
                           "e = ttir.exp p -> 2x4; o = ttir.multiply e q -> 2x4; return o");
    miss("x:3x3 a:3x4 b:3x4", "t = ttir.permute x {permutation = array<i64: 1, 0>} -> 3x3\n"
                              "p = ttir.matmul x a -> 3x4; q = ttir.matmul t b -> 3x4\n"
                              "e = ttir.exp p -> 3x4; o = ttir.multiply e q -> 3x4; return o");
}

/* ---- who else uses a value ---- */

Test(match, inner_values_have_no_other_user) {
    pattern("out = exp(x) + y", "");
    hit("x:2x3 y:2x3",
        "e = ttnn.exp x -> 2x3; o = ttnn.add e y -> 2x3; ttnn.deallocate e; q = ttnn.neg o -> 2x3; return o q");
    miss("x:2x3 y:2x3", "e = ttnn.exp x -> 2x3; o = ttnn.add e y -> 2x3; q = ttnn.neg e -> 2x3; return o q");
    hit("x:2x3 y:2x3", "e = ttnn.exp x -> 2x3; o = ttnn.add e y -> 2x3; q = ttnn.neg y -> 2x3; r = ttnn.neg x -> 2x3; "
                       "return o q r");
    miss("x:2x3 y:2x3", "e = ttnn.exp x -> 2x3; o = ttnn.add e y -> 2x3; return o e");
    /* neither may an op that is looked through between two matched ones */
    hit("x:2x3 y:2x3", "e = ttnn.exp x -> 2x3; t = ttnn.typecast e -> 2x3; o = ttnn.add t y -> 2x3; return o");
    miss("x:2x3 y:2x3", "e = ttnn.exp x -> 2x3; t = ttnn.typecast e -> 2x3; o = ttnn.add t y -> 2x3; return o t");
}

/* ---- alternatives ---- */

Test(match, optional_parts_are_taken_where_they_are) {
    pattern("out = exp(x) * y [+ z]", "");
    cr_assert_eq(
        search_all(MM, "e = ttir.exp x -> 2x3; m = ttir.multiply e y -> 2x3; o = ttir.add m z -> 2x3; return o"), 2);
    cr_assert_eq(list.items[0].nops, 2);
    cr_assert_eq(list.items[1].nops, 3, "at its own root each");
    hit(MM, "e = ttir.exp x -> 2x3; m = ttir.multiply e y -> 2x3; return m");
    cr_assert_eq(bound("z"), NONE);
    miss(MM, "e = ttir.exp x -> 2x3; o = ttir.add e y -> 2x3; return o");
    pattern("out = exp(x) [*|/ w] + y", "");
    hit(MM, "e = ttir.exp x -> 2x3; m = ttir.div e w -> 2x3; o = ttir.add m y -> 2x3; return o");
    miss(MM, "e = ttir.exp x -> 2x3; m = ttir.div w e -> 2x3; o = ttir.add m y -> 2x3; return o");
    hit(MM, "e = ttir.exp x -> 2x3; o = ttir.add e y -> 2x3; return o");
    miss(MM, "e = ttir.exp x -> 2x3; m = ttir.subtract e w -> 2x3; o = ttir.add m y -> 2x3; return o");
}

Test(match, the_first_alternative_with_which_all_else_holds_is_taken) {
    pattern("c = exp(x) | neg(x) | exp(y)\nout = c * abs(y)", "");
    hit(MM, "e = ttir.neg x -> 2x3; n = ttir.abs z -> 2x3; o = ttir.multiply e n -> 2x3; return o");
    /* exp(x) matches c as well, but leaves abs(y) without a match of c; exp(y) binds y */
    hit(MM, "e = ttir.exp z -> 2x3; n = ttir.abs z -> 2x3; o = ttir.multiply e n -> 2x3; return o");
    miss(MM, "e = ttir.sin x -> 2x3; n = ttir.abs z -> 2x3; o = ttir.multiply e n -> 2x3; return o");
    misses++; /* the first place stands without a miss of its own: the third one is its near miss */
}

/* `where` is part of the search, `require` and `unless` are a verdict on its first match. */
Test(match, where_sends_the_search_on_and_a_verdict_ends_it) {
    const char *ops = "e = ttir.exp z -> 2x3; n = ttir.abs z -> 2x3; o = ttir.multiply e n -> 2x3; return o";
    const char *formula = "c = exp(x) | exp(y)\nout = c * abs(z)";
    pattern(formula, "where: not(present(x))");
    hit(MM, ops);
    cr_assert_eq(bound("x"), NONE);
    cr_assert_eq(bound("y"), ir_value(&ir, "%z"));
    pattern(formula, "unless: present(x)");
    miss(MM, ops);
    pattern(formula, "require: present(x)");
    hit(MM, ops);
    cr_assert_eq(bound("y"), NONE);
    pattern(formula, "require: not(present(x))");
    miss(MM, ops);
}

Test(match, idioms_match_each_of_their_forms) {
    pattern_file("define:\n  - \"square(x): x * x | pow(x, 2) | op square(x)\"\n---\n"
                 "name: p\nfused_op: f\nsource: ttnn\nmatch: out = exp(square(x + y))\n");
    hit(MM, "s = ttir.add x y -> 2x3; q = ttir.multiply s s -> 2x3; o = ttir.exp q -> 2x3; return o");
    miss(MM, "s = ttir.add x y -> 2x3; t = ttir.add x y -> 2x3; q = ttir.multiply s t -> 2x3; o = ttir.exp q -> 2x3; "
             "return o");
    hit(MM, "s = ttir.add x y -> 2x3; t = ttir.full {fill_value = 2.0 : f32} -> 1; q = ttir.pow s t -> 2x3\n"
            "o = ttir.exp q -> 2x3; return o");
    miss(MM, "s = ttir.add x y -> 2x3; t = ttir.full {fill_value = 2.5 : f32} -> 1; q = ttir.pow s t -> 2x3\n"
             "o = ttir.exp q -> 2x3; return o");
    hit(MM, "s = ttir.add x y -> 2x3; q = ttir.square s -> 2x3; o = ttir.exp q -> 2x3; return o");
    miss(MM, "s = ttir.add x y -> 2x3; q = ttir.sqrt s -> 2x3; o = ttir.exp q -> 2x3; return o");
}

/* ---- what is looked through ---- */

Test(match, movement_between_matched_ops_is_looked_through) {
    pattern("p = matmul(a, b)\nout = p + c", "where: row_vector(c, p)");
    hit("a:2x4 b:4x3 c:3",
        "p = ttnn.matmul a b -> 2x3; r = ttnn.reshape p {shape = [1 : i32, 2 : i32, 3 : i32]} -> 1x2x3\n"
        "t = ttnn.typecast r -> 1x2x3xbf16; l = ttnn.to_layout t -> 1x2x3xbf16\n"
        "o = ttnn.add l c -> 1x2x3xbf16; return o");
    cr_assert_eq(found()->nops, 2);
    cr_assert_eq(found()->nthrough, 3);
    cr_assert_eq(found()->through[0], ir_op(&ir, "%r"));
    cr_assert_eq(found()->through[2], ir_op(&ir, "%l"));
    miss("a:2x4 b:4x3 c:3",
         "p = ttnn.matmul a b -> 2x3; r = ttnn.reshape p {shape = [3 : i32, 2 : i32]} -> 3x2\n"
         "t = ttnn.permute r {permutation = array<i64: 1, 0>} -> 2x3; o = ttnn.add t c -> 2x3; return o");
    hit("a:6x4 b:4x3 c:3",
        "p = ttnn.matmul a b -> 6x3; r = ttnn.reshape p {shape = [2 : i32, 3 : i32, 3 : i32]} -> 2x3x3\n"
        "t = ttnn.permute r {permutation = array<i64: 1, 0, 2>} -> 3x2x3; o = ttnn.add t c -> 3x2x3; "
        "return o");
    miss("a:6x4 b:4x3 c:3",
         "p = ttnn.matmul a b -> 6x3; r = ttnn.reshape p {shape = [2 : i32, 3 : i32, 3 : i32]} -> 2x3x3\n"
         "t = ttnn.permute r {permutation = array<i64: 0, 2, 1>} -> 2x3x3; o = ttnn.add t c -> 2x3x3; "
         "return o");
    /* an op that is no movement is not looked through */
    hit("a:2x4 b:4x3 c:3",
        "p = ttnn.matmul a b -> 2x3; r = ttnn.to_memory_config p -> 2x3; o = ttnn.add r c -> 2x3; return o");
    miss("a:2x4 b:4x3 c:3", "p = ttnn.matmul a b -> 2x3; r = ttnn.all_gather p {all_gather_dim = 0, cluster_axis = 0} "
                            "-> 2x3; o = ttnn.add r c -> 2x3; return o");
}

Test(match, heads_that_are_moved_into_rows_are_no_rows_of_the_bias) {
    pattern("p = matmul(a, b)\nout = p + c", "where: row_vector(c)");
    hit("a:2x3x4 b:2x4x5 c:5", "p = ttir.matmul a b -> 2x3x5; o = ttir.add p c -> 2x3x5; return o");
    miss("a:2x3x4 b:2x4x5 c:10",
         "p = ttir.matmul a b -> 2x3x5; t = ttir.permute p {permutation = array<i64: 1, 0, 2>} -> 3x2x5\n"
         "r = ttir.reshape t {shape = [3 : i32, 10 : i32]} -> 3x10; o = ttir.add r c -> 3x10; return o");
    /* row 1 of a 2 x 3 product is elements 3 .. 5: no column of 3 x 2 */
    hit("a:2x4 b:4x3 c:3",
        "p = ttir.matmul a b -> 2x3; r = ttir.reshape p {shape = [2 : i32, 1 : i32, 3 : i32]} -> 2x1x3\n"
        "o = ttir.add r c -> 2x1x3; return o");
    miss("a:2x4 b:4x3 c:2", "p = ttir.matmul a b -> 2x3; r = ttir.reshape p {shape = [3 : i32, 2 : i32]} -> 3x2\n"
                            "o = ttir.add r c -> 3x2; return o");
}

/* ---- numbers ---- */

Test(match, constants_are_compared_by_value) {
    pattern("out = exp(x) * 0.1", "");
    hit("x:2x3", "e = ttir.exp x -> 2x3; s = ttir.full {fill_value = 1.0e-1 : f32} -> 1; o = ttir.multiply e s -> 2x3; "
                 "return o");
    miss("x:2x3", "e = ttir.exp x -> 2x3; s = ttir.full {fill_value = 1.01e-1 : f32} -> 1; o = ttir.multiply e s -> "
                  "2x3; return o");
    /* 0.10009765625 is 0.1 rounded to bf16 */
    hit("x:2x3xbf16", "e = ttir.exp x -> 2x3xbf16; s = ttir.full {fill_value = 0.10009765625 : f32} -> 1xbf16\n"
                      "o = ttir.multiply e s -> 2x3xbf16; return o");
    miss("x:2x3",
         "e = ttir.exp x -> 2x3; s = ttir.full {fill_value = 0.10009765625 : f32} -> 1; o = ttir.multiply e s -> 2x3; "
         "return o");
    hit("x:2x3",
        "e = ttir.exp x -> 2x3; s = ttir.full {fill_value = 1.0e+1 : f32} -> 1x1; r = ttir.reciprocal s -> 1x1\n"
        "b = ttir.broadcast r -> 2x3; o = ttir.multiply e b -> 2x3; return o");
    miss("x:2x3 s:1x1", "e = ttir.exp x -> 2x3; b = ttir.broadcast s -> 2x3; o = ttir.multiply e b -> 2x3; return o");
}

Test(match, a_constant_may_be_an_expression_of_extents) {
    pattern("out = x - sum(exp(x), dim=-1) * (1 / extent(-1))", "");
    hit("x:2x4", "e = ttir.exp x -> 2x4; s = ttir.sum e {dim_arg = [1 : i32], keep_dim = true} -> 2x1\n"
                 "q = ttir.full {fill_value = 2.5e-1 : f32} -> 2x1; m = ttir.multiply s q -> 2x1; o = ttir.subtract x "
                 "m -> 2x4; return o");
    miss("x:2x4", "e = ttir.exp x -> 2x4; s = ttir.sum e {dim_arg = [1 : i32], keep_dim = true} -> 2x1\n"
                  "q = ttir.full {fill_value = 5.0e-1 : f32} -> 2x1; m = ttir.multiply s q -> 2x1; o = ttir.subtract x "
                  "m -> 2x4; return o");
    pattern("out = matmul(a, b) / sqrt(extent(a, -1))", "");
    hit("a:2x4 b:4x3",
        "p = ttir.matmul a b -> 2x3; t = ttir.full {fill_value = 2.0 : f32} -> 1; o = ttir.div p t -> 2x3; return o");
    miss("a:2x4 b:4x3",
         "p = ttir.matmul a b -> 2x3; t = ttir.full {fill_value = 4.0 : f32} -> 1; o = ttir.div p t -> 2x3; return o");
}

/* The result has lost the axis, or has it as one of 1. */
Test(match, extents_of_what_is_reduced_at_the_root) {
    pattern("e = exp(x)\nout = sum(e, dim=-1) * (1 / extent(e, -1))", "");
    static const char *const kept[] = {"true} -> 2x1", "false} -> 2"};
    for (int i = 0; i < 2; i++) {
        const char *shape = i ? "2" : "2x1";
        for (int rows = 0; rows < 2; rows++) { /* a mean of the rows' extent is none */
            struct str ops =
                arena_printf(&arena,
                             "e = ttir.exp x -> 2x4; s = ttir.sum e {dim_arg = [1 : i32], keep_dim = %s\n"
                             "q = ttir.full {fill_value = %s : f32} -> %s; o = ttir.multiply s q -> %s; return o",
                             kept[i], rows ? "5.0e-1" : "2.5e-1", shape, shape);
            if (rows)
                miss("x:2x4", ops.p);
            else
                hit("x:2x4", ops.p);
        }
    }
}

Test(match, a_number_of_elements_may_be_an_argument_that_is_stated_to_hold_it) {
    const char *ops = "e = ttir.exp x -> 2x3; o = ttir.multiply e s -> 2x3; return o";
    struct match_detail d;
    pattern("out = exp(x) * (1 / extent(-1))", "");
    hit("x:2x3 s:1!parameter!scale", ops);
    match_details(found(), &arena, &d);
    cr_assert_eq(d.preconditions.n, 1);
    cr_assert(str_is(d.preconditions.items[0], "every element of %s (scale) is 0.333333333"), "%s",
              d.preconditions.items[0].p);
    miss("x:2x3 s:1!input!scale", ops);
    hit("x:2x3 s:1!constant", ops);
    miss("x:2x3 y:1", "e = ttir.exp x -> 2x3; s = ttir.full {fill_value = 5.0e-1 : f32} -> 1; o = ttir.multiply e s -> "
                      "2x3; return o");
    hit("x:2x3", "e = ttir.exp x -> 2x3; s = ttir.full {fill_value = 0.33333333 : f32} -> 1; o = ttir.multiply e s -> "
                 "2x3; return o");
    match_details(found(), &arena, &d);
    cr_assert_eq(d.preconditions.n, 0);
    miss("x:2x3 t:1", "e = ttir.exp x -> 2x3; s = ttir.neg t -> 1; o = ttir.multiply e s -> 2x3; return o");
}

Test(match, another_number_is_no_argument) {
    pattern("out = exp(x) * 2", "");
    hit("x:2x3", "e = ttir.exp x -> 2x3; s = ttir.full {fill_value = 2.0 : f32} -> 1; o = ttir.multiply e s -> 2x3; "
                 "return o");
    miss("x:2x3 s:1!parameter!scale", "e = ttir.exp x -> 2x3; o = ttir.multiply e s -> 2x3; return o");
}

Test(match, beside_a_constant_an_argument_is_no_number) {
    pattern("out = x * (1 / extent(-1))", "");
    hit("x:2x3 s:2x3!parameter", "o = ttir.multiply x s -> 2x3; return o");
    miss("s:2x3!parameter", "c = ttir.full {fill_value = 7.0 : f32} -> 1; o = ttir.multiply c s -> 2x3; return o");
}

/* ---- axes ---- */

Test(match, a_reduction_runs_along_the_axis_that_is_said) {
    pattern("out = x - mean(x, dim=-1)", "");
    hit("x:4x4",
        "m = ttir.mean x {dim_arg = [1 : i32], keep_dim = true} -> 4x1; o = ttir.subtract x m -> 4x4; return o");
    miss("x:4x4",
         "m = ttir.mean x {dim_arg = [0 : i32], keep_dim = true} -> 1x4; o = ttir.subtract x m -> 4x4; return o");
    hit("x:4x4", "m = ttir.mean x {dim_arg = [-1 : i32], keep_dim = false} -> 4\n"
                 "r = ttir.reshape m {shape = [4 : i32, 1 : i32]} -> 4x1; o = ttir.subtract x r -> 4x4; return o");
    miss("x:4x4",
         "m = ttir.mean x {dim_arg = [-1 : i32], keep_dim = false} -> 4; o = ttir.subtract x m -> 4x4; return o");
    hit("x:2x3x4",
        "f = ttir.reshape x {shape = [6 : i32, 4 : i32]} -> 6x4; m = ttir.mean f {dim_arg = [1 : i32]} -> 6\n"
        "r = ttir.reshape m {shape = [2 : i32, 3 : i32, 1 : i32]} -> 2x3x1; o = ttir.subtract x r -> 2x3x4; return o");
    miss("x:2x3x4", "m = ttir.mean x {dim_arg = [1 : i32, 2 : i32], keep_dim = true} -> 2x1x1\n"
                    "o = ttir.subtract x m -> 2x3x4; return o");
    pattern("out = x - mean(x)", "");
    hit("x:2x3x4", "m = ttir.mean x {dim_arg = [1 : i32, 2 : i32], keep_dim = true} -> 2x1x1\n"
                   "o = ttir.subtract x m -> 2x3x4; return o");
    miss("x:4x4",
         "m = ttir.mean x {dim_arg = [-1 : i32], keep_dim = false} -> 4; o = ttir.subtract x m -> 4x4; return o");
}

Test(match, softmax_and_norms_have_one_axis) {
    pattern("out = exp(softmax(x, dim=-1))", "");
    hit("x:4x4", "s = ttir.softmax x {dimension = 1 : si32} -> 4x4; o = ttir.exp s -> 4x4; return o");
    miss("x:4x4", "s = ttir.softmax x {dimension = 0 : si32} -> 4x4; o = ttir.exp s -> 4x4; return o");
    hit("x:4x4",
        "t = ttir.permute x {permutation = array<i64: 1, 0>} -> 4x4; s = ttir.softmax t {dimension = 0 : si32} -> 4x4\n"
        "u = ttir.permute s {permutation = array<i64: 1, 0>} -> 4x4; o = ttir.exp u -> 4x4; return o");
    miss("x:4x4", "s = ttir.softmax x {dimension = -1 : si32} -> 4x4\n"
                  "u = ttir.permute s {permutation = array<i64: 1, 0>} -> 4x4; o = ttir.exp u -> 4x4; return o");
    pattern("out = exp(layer_norm(x, dim=-1))", "");
    hit("x:4x4 w:4",
        "s = ttir.layer_norm x {normalized_shape = array<i64: 4>} -> 4x4; o = ttir.exp s -> 4x4; return o");
    miss("x:4x4 w:4",
         "s = ttir.layer_norm x w {normalized_shape = array<i64: 4>} -> 4x4; o = ttir.exp s -> 4x4; return o");
    hit("x:4x4", "s = ttir.layer_norm x {normalized_shape = array<i64: 4>} -> 4x4; o = ttir.exp s -> 4x4; return o");
    miss("x:4x4",
         "s = ttir.layer_norm x {normalized_shape = array<i64: 4, 4>} -> 4x4; o = ttir.exp s -> 4x4; return o");
}

#define SOFTMAX "e = exp(x)\nout = e / sum(e, dim=-1)"

Test(match, a_softmax_is_one_along_the_axis_of_its_sum) {
    pattern(SOFTMAX, "");
    hit("x:4x4",
        "e = ttir.exp x -> 4x4; s = ttir.sum e {dim_arg = [1 : i32], keep_dim = true} -> 4x1; o = ttir.div e s -> 4x4; "
        "return o");
    miss(
        "x:4x4",
        "e = ttir.exp x -> 4x4; s = ttir.sum e {dim_arg = [0 : i32], keep_dim = true} -> 1x4; o = ttir.div e s -> 4x4; "
        "return o");
    hit("x:1x4",
        "e = ttir.exp x -> 1x4; s = ttir.sum e {dim_arg = [1 : i32], keep_dim = true} -> 1x1; o = ttir.div e s -> 1x4; "
        "return o");
    miss(
        "x:1x4",
        "e = ttir.exp x -> 1x4; s = ttir.sum e {dim_arg = [0 : i32], keep_dim = true} -> 1x4; o = ttir.div e s -> 1x4; "
        "return o");
    /* the operand is transposed, so the axis of the sum is that of the formula */
    hit("x:4x4", "e = ttir.exp x -> 4x4; t = ttir.permute e {permutation = array<i64: 1, 0>} -> 4x4\n"
                 "s = ttir.sum t {dim_arg = [0 : i32]} -> 4; r = ttir.reshape s {shape = [4 : i32, 1 : i32]} -> 4x1\n"
                 "o = ttir.div e r -> 4x4; return o");
    miss("x:4x4", "e = ttir.exp x -> 4x4; t = ttir.permute e {permutation = array<i64: 1, 0>} -> 4x4\n"
                  "s = ttir.sum t {dim_arg = [1 : i32]} -> 4; r = ttir.reshape s {shape = [4 : i32, 1 : i32]} -> 4x1\n"
                  "o = ttir.div e r -> 4x4; return o");
}

/* ---- contractions ---- */

#define SCORES "out = matmul(softmax(matmul(q, transposed(k)), dim=-1), v)"

Test(match, inside_a_product_rows_and_columns_are_exact) {
    pattern(SCORES, "where: extent(q, -1) == extent(k, -1)");
    hit("q:5x8 k:7x8 v:7x8", "t = ttir.permute k {permutation = array<i64: 1, 0>} -> 8x7; s = ttir.matmul q t -> 5x7\n"
                             "w = ttir.softmax s {dimension = 1 : si32} -> 5x7; o = ttir.matmul w v -> 5x8; return o");
    cr_assert_eq(bound("k"), ir_value(&ir, "%k"), "the permute is that of transposed()");
    miss("q:5x8 k:7x8 v:5x8",
         "t = ttir.permute k {permutation = array<i64: 1, 0>} -> 8x7; s = ttir.matmul q t -> 5x7\n"
         "w = ttir.softmax s {dimension = 1 : si32} -> 5x7\n"
         "u = ttir.permute w {permutation = array<i64: 1, 0>} -> 7x5; o = ttir.matmul u v -> 7x8; return o");
    hit("q:5x8 k:7x8 v:7x8",
        "s = ttnn.matmul q k {transpose_b = true} -> 5x7; w = ttnn.softmax s {dimension = 1 : si32} -> 5x7\n"
        "o = ttnn.matmul w v -> 5x8; return o");
    miss("q:5x8 k:5x8 v:5x8",
         "s = ttnn.matmul q k {transpose_b = true} -> 5x5; w = ttnn.softmax s {dimension = 0 : si32} -> 5x5\n"
         "o = ttnn.matmul w v -> 5x8; return o");
    /* heads in between: [S, H, D] and back */
    hit("q:2x5x8 k:2x7x8 v:2x7x8",
        "s = ttir.dot_general q k {batch_dims_lhs = array<i64: 0>, batch_dims_rhs = array<i64: 0>, contract_dims_lhs = "
        "array<i64: 2>, contract_dims_rhs = array<i64: 2>} -> 2x5x7; w = ttir.softmax s {dimension = 2 : si32} -> "
        "2x5x7\n"
        "o = ttir.matmul w v -> 2x5x8; return o");
    miss(
        "q:5x5x8 k:5x5x8 v:5x5x8",
        "s = ttir.dot_general q k {batch_dims_lhs = array<i64: 0>, batch_dims_rhs = array<i64: 0>, contract_dims_lhs = "
        "array<i64: 2>, contract_dims_rhs = array<i64: 2>} -> 5x5x5; w = ttir.softmax s {dimension = 2 : si32} -> "
        "5x5x5\n"
        "u = ttir.permute w {permutation = array<i64: 1, 0, 2>} -> 5x5x5; x = ttir.permute u {permutation = array<i64: "
        "0, 2, 1>} "
        "-> 5x5x5; o = ttir.matmul x v -> 5x5x8; return o");
}

/* (q k^T)^T = k q^T: the scores may be computed the other way round and transposed. */
Test(match, a_product_may_be_computed_transposed) {
    pattern(SCORES, "");
    hit("q:5x8 k:7x8 v:7x8",
        "s = ttnn.matmul k q {transpose_b = true} -> 7x5; t = ttnn.permute s {permutation = array<i64: 1, 0>} -> 5x7\n"
        "w = ttnn.softmax t {dimension = 1 : si32} -> 5x7; o = ttnn.matmul w v -> 5x8; return o");
    cr_assert_eq(bound("q"), ir_value(&ir, "%q"));
    cr_assert_eq(bound("k"), ir_value(&ir, "%k"));
    miss("q:5x8 k:7x8 v:7x8",
         "s = ttnn.matmul k q {transpose_b = true} -> 7x5; t = ttnn.reshape s {shape = [5 : i32, 7 : i32]} -> 5x7\n"
         "w = ttnn.softmax t {dimension = 1 : si32} -> 5x7; o = ttnn.matmul w v -> 5x8; return o");
    pattern("out = matmul(softmax(matmul(softmax(q, dim=-1), transposed(k)), dim=-1), v)", "");
#define SCORES_OF_SOFTMAX(dim)                                                                                         \
    "n = ttnn.softmax q {dimension = " dim " : si32} -> 5x8; s = ttnn.matmul k n {transpose_b = true} -> 7x5\n"        \
    "t = ttnn.permute s {permutation = array<i64: 1, 0>} -> 5x7\n"                                                     \
    "w = ttnn.softmax t {dimension = 1 : si32} -> 5x7; o = ttnn.matmul w v -> 5x8; return o"
    hit("q:5x8 k:7x8 v:7x8", SCORES_OF_SOFTMAX("1"));
    miss("q:5x8 k:7x8 v:7x8", SCORES_OF_SOFTMAX("0"));
}

Test(match, an_outer_product_is_a_broadcast_multiply) {
    pattern("out = outer(exp(p), v)", "");
    hit("p:2x1 v:2x3", "e = ttir.exp p -> 2x1; o = ttir.multiply e v -> 2x3; return o");
    miss("p:2x3 v:2x3", "e = ttir.exp p -> 2x3; o = ttir.multiply e v -> 2x3; return o");
    hit("p:4x2x1 v:4x2x3",
        "e = ttir.exp p -> 4x2x1; b = ttir.broadcast e -> 4x2x3; o = ttir.multiply v b -> 4x2x3; return o");
    miss("p:4x2x1 v:4x1x1", "e = ttir.exp p -> 4x2x1; o = ttir.multiply v e -> 4x2x1; return o");
}

/* ---- conditions ---- */

Test(match, conditions_decide) {
    pattern("out = exp(x) * w", "where: [scalar(w), parameter(w)]");
    hit("x:2x3 w:1!parameter", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
    miss("x:2x3 w:3!parameter", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
    miss("x:2x3 w:1!input", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
    pattern("out = exp(x) * w", "where: stored(w)");
    hit("x:2x3 w:3!parameter", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
    miss("x:2x3 w:3!input", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
    hit("x:2x3 w:3", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
    miss("x:2x3 y:3", "e = ttir.exp x -> 2x3; w = ttir.exp y -> 3; o = ttir.multiply e w -> 2x3; return o");
    pattern("out = exp(x) * w", "where: constant(w)");
    hit("x:2x3",
        "e = ttir.exp x -> 2x3; w = ttir.full {fill_value = 2.0 : f32} -> 3; o = ttir.multiply e w -> 2x3; return o");
    miss("x:2x3 w:3", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
    pattern("out = exp(x) * w", "where: value(w) <= -10");
    hit("x:2x3", "e = ttir.exp x -> 2x3; w = ttir.full {fill_value = -1.0e+9 : f32} -> 3; o = ttir.multiply e w -> "
                 "2x3; return o");
    miss("x:2x3",
         "e = ttir.exp x -> 2x3; w = ttir.full {fill_value = -9.0 : f32} -> 3; o = ttir.multiply e w -> 2x3; return o");
    pattern("out = exp(x) * w", "where: same_dtype(x, w)");
    hit("x:2x3 w:3", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
    miss("x:2x3 w:3xbf16", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
    pattern("p = matmul(a, b)\nout = p + c", "where: matrix(b)");
    hit("a:5x2x4 b:4x3 c:3", "p = ttir.matmul a b -> 5x2x3; o = ttir.add p c -> 5x2x3; return o");
    miss("a:5x2x4 b:5x4x3 c:3", "p = ttir.matmul a b -> 5x2x3; o = ttir.add p c -> 5x2x3; return o");
    hit("a:5x2x4 b:1x4x3 c:3", "p = ttir.matmul a b -> 5x2x3; o = ttir.add p c -> 5x2x3; return o");
}

Test(match, conditions_that_do_not_say_that_a_name_is_constant) {
    const char *conditions[] = {"where: not(floating(x) & constant(w) & floating(w))",
                                "where: matrix(w) & (constant(w) | parameter(w))"};
    for (int i = 0; i < 2; i++) {
        pattern("out = exp(x) * w", conditions[i]);
        hit("x:2x3 w:3!parameter", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
    }
    miss("x:2x3 w:3!input", "e = ttir.exp x -> 2x3; o = ttir.multiply e w -> 2x3; return o");
    pattern("out = exp(x) * w", conditions[0]);
    miss("x:2x3",
         "e = ttir.exp x -> 2x3; w = ttir.full {fill_value = 2.0 : f32} -> 3; o = ttir.multiply e w -> 2x3; return o");
}

Test(match, counts_of_what_a_reduction_sums) {
    const char *of[] = {
        "c = ttir.full {fill_value = 12.0 : f32} -> 2",         "c = ttir.full {fill_value = 11.0 : f32} -> 2",
        "c = ttir.full {fill_value = 0.0833333358 : f32} -> 2", "c = ttir.full {fill_value = 0.08334 : f32} -> 2",
        "c = ttir.full {fill_value = 3.46410155 : f32} -> 2",   "c = ttir.full {fill_value = 3.464 : f32} -> 2",
        "c = ttir.full {fill_value = 144.0 : f32} -> 2",        "c = ttir.full {fill_value = 12.0 : f32} -> 2"};
    const char *names[] = {"count_of(c, s)", "one_over_count_of(c, s)", "root_count_of(c, s)",
                           "count_power(c, s, 2, 1)"};
    for (int i = 0; i < 8; i++) {
        char ops[256], keys[64];
        snprintf(ops, sizeof ops,
                 "s = ttir.sum x {dim_arg = [1 : i32, 2 : i32], keep_dim = false} -> 2; %s;"
                 " o = ttir.multiply s c -> 2; return o",
                 of[i]);
        snprintf(keys, sizeof keys, "where: %s", names[i / 2]);
        pattern("s = sum(x)\nout = s * c", keys);
        (i % 2 ? miss : hit)("x:2x3x4", ops);
    }
}

/* 1/199 and 1/200 are different numbers in bf16. */
Test(match, counts_are_exact_up_to_the_rounding_of_the_format) {
    pattern("s = sum(x)\nout = s * c", "where: one_over_count_of(c, s)");
    const char *ops = "s = ttir.sum x {dim_arg = [1 : i32], keep_dim = false} -> 2xbf16\n"
                      "c = ttir.full {fill_value = 0.005 : f32} -> 2xbf16; o = ttir.multiply s c -> 2xbf16; return o";
    hit("x:2x200xbf16", ops);
    miss("x:2x199xbf16", ops);
    pattern("s = sum(x)\nout = s * c", "where: count_of(c, s)");
    ops = "s = ttir.sum x {dim_arg = [1 : i32], keep_dim = false} -> 2xbf16\n"
          "c = ttir.full {fill_value = 255.0 : f32} -> 2xbf16; o = ttir.multiply s c -> 2xbf16; return o";
    hit("x:2x255xbf16", ops);
    miss("x:2x256xbf16", ops);
}

/* 1/12 in f32 with the digits that are usually printed, and rounded to bf16. */
Test(match, counts_are_as_people_print_them) {
    const char *numbers[] = {"0.083333 : f32} -> 1x1", "0.0834961 : f32} -> 1x1xbf16"};
    pattern("out = x - sum(x, dim=-1) * (1 / extent(-1))", "");
    for (int i = 0; i < 4; i++) {
        char ops[256];
        snprintf(ops, sizeof ops,
                 "s = ttir.sum x {dim_arg = [1 : i32], keep_dim = true} -> 2x1; c = ttir.full {fill_value = %s; "
                 "m = ttir.multiply s c -> 2x1; o = ttir.subtract x m -> 2x%d; return o",
                 numbers[i / 2], 12 + i % 2);
        (i % 2 ? miss : hit)(i % 2 ? "x:2x13" : "x:2x12", ops);
    }
}

/* A multiplication or division by 1 is looked through, also where the formula has a factor. */
Test(match, factors_of_one) {
    const char *by = "e = ttir.exp x -> 2x3; c = ttir.full {fill_value = %s : f32} -> 1x1; m = ttir.%s -> 2x3; o = "
                     "ttir.neg m -> 2x3; return o";
    const char *ways[] = {"multiply e c", "multiply c e", "div e c", "div c e", "add e c"};
    pattern("out = -exp(x)", "");
    for (int i = 0; i < 6; i++) {
        char ops[256];
        snprintf(ops, sizeof ops, by, i < 5 ? "1.0" : "2.0", ways[i % 5]);
        (i < 3 ? hit : miss)("x:2x3", ops);
    }
    hit("x:1x3", "e = ttir.exp x -> 1x3; c = ttir.ones -> 2x1; m = ttir.multiply e c -> 2x3; o = ttir.neg m -> 2x3;"
                 " return o"); /* which repeats it */
    miss("x:1x3", "e = ttir.exp x -> 1x3; c = ttir.full {fill_value = 2.0 : f32} -> 2x1; m = ttir.multiply e c -> 2x3\n"
                  "o = ttir.neg m -> 2x3; return o");
    pattern("out = -(exp(x) * w)", "");
    miss("x:2x3", "e = ttir.exp x -> 2x3; c = ttir.ones -> 2x1; m = ttir.multiply e c -> 2x3; o = ttir.neg m -> 2x3;"
                  " return o");
    hit("x:2x3 w:2x1", "e = ttir.exp x -> 2x3; m = ttir.multiply e w -> 2x3; o = ttir.neg m -> 2x3; return o");
}

/* An op that is matched before what the fused op yields, and stands below that, too, has users behind it. */
Test(match, below_what_is_yielded) {
#define BELOW "e = ttir.exp x -> 2x3; l = ttir.log e -> 2x3; s = ttir.add l y -> 2x3; o = ttir.multiply e s -> 2x3\n"
    pattern("e = exp(x)\ns = log(e) + y\nout = e * s", "escapes: s");
    hit(MM, BELOW "return o s");
    miss(MM, BELOW "return o s e");
    pattern("s = log(x) + y\nout = sin(exp(s))", "escapes: s");
    hit(MM, "l = ttir.log x -> 2x3; s = ttir.add l y -> 2x3; e = ttir.exp s -> 2x3; o = ttir.sin e -> 2x3; return o s");
    miss(MM,
         "l = ttir.log x -> 2x3; s = ttir.add l y -> 2x3; e = ttir.exp s -> 2x3; o = ttir.sin e -> 2x3; return o e");
}

Test(match, along_what_was_reduced) {
    const char *ops = "m = ttir.mean x {dim_arg = [1 : i32], keep_dim = true} -> 2x1x4; e = ttir.exp m -> 2x1x4\n"
                      "n = ttir.multiply x e -> 2x3x4; o = ttir.multiply n w -> 2x3x4; return o";
    pattern("m = mean(x, dim=-2)\nout = (x * exp(m)) * w", "where: along_reduced(w, m)");
    hit("x:2x3x4 w:3x1", ops);
    miss("x:2x3x4 w:4", ops);
    pattern("out = exp(x) * w + v", "where: same_axis(w, v)");
    hit("x:2x3x4 w:3x1 v:1x3x1", "e = ttir.exp x -> 2x3x4; n = ttir.multiply e w -> 2x3x4; o = ttir.add n v -> 2x3x4\n"
                                 "return o");
    miss("x:2x3x4 w:3x1 v:4", "e = ttir.exp x -> 2x3x4; n = ttir.multiply e w -> 2x3x4; o = ttir.add n v -> 2x3x4\n"
                              "return o");
    miss("x:2x3x4 w:3x4 v:3x4", "e = ttir.exp x -> 2x3x4; n = ttir.multiply e w -> 2x3x4\n"
                                "o = ttir.add n v -> 2x3x4; return o");
    misses--;
}

Test(match, groups_of_channels_and_rows_that_are_no_rows) {
    const char *ops = "y = ttir.reshape x {shape = [2 : i32, 2 : i32, 12 : i32]} -> 2x2x12; m = ttir.mean y {dim_arg = "
                      "[2 : i32], keep_dim = true} -> 2x2x1\n"
                      "d = ttir.subtract y m -> 2x2x12; o = ttir.reshape d {shape = [2 : i32, 4 : i32, 2 : i32, 3 : "
                      "i32]} -> 2x4x2x3; e = ttir.exp o -> 2x4x2x3\n"
                      "return e";
    pattern("m = mean(x)\nout = exp(x - m)", "where: channel_groups(m, 1)");
    hit("x:2x4x2x3", ops);
    miss("x:2x4x2x3", "m = ttir.mean x {dim_arg = [1 : i32], keep_dim = true} -> 2x1x2x3\n"
                      "d = ttir.subtract x m -> 2x4x2x3; e = ttir.exp d -> 2x4x2x3; return e");
    miss("x:2x1x2x3", "m = ttir.mean x {dim_arg = [2 : i32, 3 : i32], keep_dim = true} -> 2x1x1x1\n"
                      "d = ttir.subtract x m -> 2x1x2x3; e = ttir.exp d -> 2x1x2x3; return e");
    misses--;
    pattern("out = x - mean(x, dim=-1)", "unless: regrouped(x, out)");
    miss("x:2x4x2x3", ops);
    hit("x:2x4x2x3",
        "y = ttir.reshape x {shape = [2 : i32, 2 : i32, 12 : i32]} -> 2x2x12; m = ttir.mean y {dim_arg = [2 : i32], "
        "keep_dim = true} -> 2x2x1\n"
        "d = ttir.subtract y m -> 2x2x12; o = ttir.reshape d {shape = [4 : i32, 12 : i32]} -> 4x12; return o");
}

Test(match, floating_point_and_adjacent) {
    pattern("out = maximum(x, 0)", "where: floating(x)");
    hit("x:2xbf16", "z = ttir.zeros -> 2xbf16; o = ttir.maximum x z -> 2xbf16; return o");
    miss("x:2xsi32", "z = ttir.zeros -> 2xsi32; o = ttir.maximum x z -> 2xsi32; return o");
    pattern("e = exp(x)\nout = tanh(e)", "where: adjacent(e, out)");
    hit("x:2x3", "e = ttir.exp x -> 2x3; c = ttir.typecast e -> 2x3xbf16; o = ttir.tanh c -> 2x3xbf16; return o");
    hit("x:2x3", "e = ttir.exp x -> 2x3; c = ttir.reshape e -> 6; o = ttir.tanh c -> 6; return o");
    hit("x:2x3", "e = ttir.exp x -> 2x3; p = ttir.permute e {permutation = [1, 0]} -> 3x2\n"
                 "c = ttir.permute p {permutation = [1, 0]} -> 2x3; o = ttir.tanh c -> 2x3; return o");
    miss("x:2x3", "e = ttir.exp x -> 2x3; c = ttir.permute e {permutation = [1, 0]} -> 3x2\n"
                  "o = ttir.tanh c -> 3x2; return o");
    miss("x:2x3", "e = ttir.exp x -> 2x3; p = ttir.permute e {permutation = [1, 0]} -> 3x2\n"
                  "c = ttir.reshape p -> 2x3; o = ttir.tanh c -> 2x3; return o");
    miss("x:1x3", "e = ttir.exp x -> 1x3; c = ttir.broadcast e -> 2x3; o = ttir.tanh c -> 2x3; return o");
    pattern("e = exp(x)\nout = distributed_rms_norm(e, w)", "where: adjacent(e, out)");
#define NORM "o = ttnn.distributed_rms_norm r w {operandSegmentSizes = array<i32: 1, 1, 0, 0>}"
    hit("x:2x64 w:2x32", "e = ttir.exp x -> 2x64; r = ttir.typecast e -> 2x64xbf16; " NORM " -> 2x64xbf16; return o");
    miss("x:2x64 w:2x32", "e = ttir.exp x -> 2x64; r = ttir.reshape e -> 1x2x64; " NORM " -> 1x2x64; return o");
}

/* Rows of eight elements, read as rows of six: no row is the same all along. */
Test(match, digits_of_other_radices_are_not_independent) {
    static const char *const keys[] = {"where: same_along(x, out, -1)", "where: repeated(x)"};
    for (size_t i = 0; i < 2; i++) {
        pattern("out = exp(y) + x", keys[i]);
        for (int rows = 3; rows < 5; rows++) {
            const char *repeated = rows == 3 ? "r = ttnn.repeat x {repeat_dims = #ttnn.shape<1x8>} -> 3x8\n"
                                               "s = ttnn.reshape r {shape = [4 : i32, 6 : i32]} -> 4x6\n"
                                             : "s = ttnn.repeat x {repeat_dims = #ttnn.shape<1x6>} -> 4x6\n";
            char ops[400];
            snprintf(ops, sizeof ops, "e = ttnn.exp y -> 4x6\n%so = ttnn.add e s -> 4x6; return o", repeated);
            if (rows == 3)
                miss("y:4x6 x:3x1", ops);
            else
                hit("y:4x6 x:4x1", ops);
        }
    }
}

Test(match, a_condition_on_an_absent_part_holds) {
    static const char *const keys[] = {"where: row_vector(b)",        "where: same(y, b)",
                                       "where: same(b, y)",           "where: same_along(y, b, -1)",
                                       "where: same_along(b, y, -1)", "where: normalizes_channels(y, b)"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        pattern("out = exp(x) * y [+ b]", keys[i]);
        hit("x:2x3 y:2x3", "e = ttir.exp x -> 2x3; o = ttir.multiply e y -> 2x3; return o");
        misses += i > 0;
    }
    pattern("out = exp(x) * y [+ b]", "where: present(b)");
    miss("x:2x3 y:2x3", "e = ttir.exp x -> 2x3; o = ttir.multiply e y -> 2x3; return o");
}

Test(match, an_absent_part_is_like_nothing) {
    static const char *const keys[] = {"where: same_window(out, b)", "where: repeats(b, out, 0)",
                                       "where: repeats(out, b, 0)", "where: read_as(b, out, 0, 1)",
                                       "where: read_as(out, b, 0, 1)"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        pattern("out = exp(x) * y [+ b]", keys[i]);
        miss("x:2x3 y:2x3", "e = ttir.exp x -> 2x3; o = ttir.multiply e y -> 2x3; return o");
        hits++;
    }
}

Test(match, stated_constants_are_preconditions) {
    const char *ops = "e = ttir.exp x -> 2x3; o = ttir.add e s -> 2x3; return o";
    struct match_detail d;
    pattern("out = exp(x) + eps", "where: stated_constant(eps)");
    hit("x:2x3 s:1!parameter!eps", ops);
    match_details(found(), &arena, &d);
    cr_assert_eq(d.preconditions.n, 1);
    cr_assert(str_is(d.preconditions.items[0], "%s (eps) holds one known number in every element"));
    miss("x:2x3 s:1!input!eps", ops);
}

Test(match, that_an_argument_is_a_parameter_is_a_precondition) {
    const char *ops = "e = ttir.exp x -> 2x3; r = ttir.reshape s -> 1x3; o = ttir.multiply e r -> 2x3; return o";
    struct match_detail d;
    pattern("out = exp(x) * w", "where: [present(x) | stored(x), stored(w)]\nnotes: [{when: stored(x), say: stored}]");
    hit("x:2x3 s:3", ops);
    match_details(found(), &arena, &d);
    cr_assert_eq(d.preconditions.n, 1);
    cr_assert(str_is(d.preconditions.items[0], "%s is a parameter"));
    hit("x:2x3 s:3!parameter", ops);
    match_details(found(), &arena, &d);
    cr_assert_eq(d.preconditions.n, 0);
    miss("x:2x3 s:3!input", ops);
    miss("x:2x3 s:3", "e = ttir.exp x -> 2x3; r = ttir.reshape s -> 1x3; o = ttir.add e r -> 2x3; return o");
}

/* Ops with one location are the compiler's decomposition of one op of the model. */
Test(match, one_location_tells_what_was_taken_apart) {
    pattern("out = exp(x) + y", "unless: one_location()");
    hit("x:2x3 y:2x3", "e = ttir.exp x -> 2x3 @exp.1; o = ttir.add e y -> 2x3 @add.2; return o");
    miss("x:2x3 y:2x3", "e = ttir.exp x -> 2x3 @softplus.1; o = ttir.add e y -> 2x3 @softplus.1; return o");
    hit("x:2x3 y:2x3", "e = ttir.exp x -> 2x3; o = ttir.add e y -> 2x3; return o");
    pattern("p = matmul(a, b)\nout = p + c", "unless: located(\"_decomp_(matmul|add)$\")");
    hit(MM, "p = ttnn.matmul a b -> 2x3 @linear.1; o = ttnn.add p c -> 2x3 @linear.1; return o");
    miss(MM,
         "p = ttnn.matmul a b -> 2x3 @linear.1_decomp_matmul; o = ttnn.add p c -> 2x3 @linear.1_decomp_add; return o");
    misses++; /* the place without locations matches: it has no near miss */
}

Test(match, notes_apply_when_their_condition_does) {
    struct match_detail d;
    pattern("out = exp(x) * y [+ b]",
            "notes:\n  - {when: present(b), say: \"bias {b} of {extent(b, -1)}\"}\n"
            "  - {when: not(present(b)), say: no bias}\n  - always\ntorch: \"n={extent(-1)}\"");
    hit("x:2x3 y:2x3", "e = ttir.exp x -> 2x3; o = ttir.multiply e y -> 2x3; return o");
    match_details(found(), &arena, &d);
    cr_assert_eq(d.remarks.n, 2);
    cr_assert(str_is(d.remarks.items[0], "no bias"));
    cr_assert(str_is(d.remarks.items[1], "always"));
    cr_assert(str_is(d.torch, "n=3"), "%s", d.torch.p);
    pattern("out = exp(x) * y + b", "notes:\n  - {when: present(b), say: \"bias {b} of {extent(b, -1)}\"}");
    hit("x:2x3 y:2x3 b:3!parameter!bias",
        "e = ttir.exp x -> 2x3; m = ttir.multiply e y -> 2x3; o = ttir.add m b -> 2x3; return o");
    match_details(found(), &arena, &d);
    cr_assert(str_is(d.remarks.items[0], "bias %b (bias) of 3"), "%s", d.remarks.items[0].p);
    pattern("out = exp(x) | tanh(x)", "torch:\n  - {when: has_op(\"exp$\"), say: torch.exp}\n"
                                      "  - {when: has_op(\"tanh$\"), say: torch.tanh}\n  - some function");
    hit("x:2x3", "e = ttir.tanh x -> 2x3; return e");
    match_details(found(), &arena, &d);
    cr_assert(str_is(d.torch, "torch.tanh"), "%s", d.torch.p);
    misses += 3; /* notes are not about whether there is a match */
}

/* ---- how ops are printed ---- */

Test(match, a_value_has_other_views) {
    pattern("out = exp(x) + y", "require: dtype(source(y)) != dtype(y)");
    hit("x:2x3xf32 y:2x3xbf16",
        "e = ttir.exp x -> 2x3xf32; c = ttir.typecast y -> 2x3xf32; o = ttir.add e c -> 2x3xf32; "
        "return o");
    miss("x:2x3xf32 y:2x3xf32",
         "e = ttir.exp x -> 2x3xf32; c = ttir.reshape y -> 2x3xf32; o = ttir.add e c -> 2x3xf32; "
         "return o");
    pattern("out = exp(x) + y", "require: size(printed(y), 0) > size(y, 0)");
    hit("x:2x3 y:1x3", "e = ttir.exp x -> 2x3; b = ttir.broadcast y -> 2x3; o = ttir.add e b -> 2x3; return o");
    miss("x:2x3 y:1x3", "e = ttir.exp x -> 2x3; o = ttir.add e y -> 2x3; return o");
    pattern("out = exp(x) + y", "require: same_location(x, out)");
    const char *at = "x = ttir.tanh a -> 2x3 @%s; e = ttir.exp x -> 2x3 @b.2; o = ttir.add e y -> 2x3 @c.3; return o";
    char text[256];
    snprintf(text, sizeof text, at, "c.3");
    hit("a:2x3 y:2x3", text);
    snprintf(text, sizeof text, at, "a.1");
    miss("a:2x3 y:2x3", text);
}

/* As many as there are, and none twice. */
Test(match, preconditions_have_no_limit) {
    enum { N = 40 };
    struct buf formula = {0}, args = {0}, ops = {0};
    struct match_detail d;
    buf_printf(&formula, "e = exp(x)\n  out = e");
    buf_printf(&args, "x:2x3");
    buf_printf(&ops, "s0 = ttir.exp x -> 2x3; ");
    for (int i = 1; i <= N; i++) {
        buf_printf(&formula, " + w%d", i);
        buf_printf(&args, " w%d:3", i);
        buf_printf(&ops, "s%d = ttir.add s%d w%d -> 2x3; ", i, i - 1, i);
    }
    buf_printf(&ops, "return s%d", N);
    struct str where = STR("where: stored(w1)");
    for (int i = 2; i <= N; i++)
        where = arena_printf(&arena, "%s & stored(w%d)", where.p, i);
    buf_addc(&formula, '\0');
    buf_addc(&args, '\0');
    buf_addc(&ops, '\0');
    pattern(formula.p, where.p);
    hit(args.p, ops.p);
    match_details(found(), &arena, &d);
    cr_assert_eq(d.preconditions.n, N);
    miss(arena_printf(&arena, "%s!input", args.p).p, ops.p);
    buf_free(&formula);
    buf_free(&args);
    buf_free(&ops);
}

Test(match, products_of_one_operand_are_siblings) {
    pattern("p = matmul(a, b)\nout = exp(p)", "require: siblings(p) == 3");
#define THREE(right, then)                                                                                             \
    "p = ttir.matmul x u -> 2x4; q = ttir.matmul x " right                                                             \
    " -> 2x4; r = ttir.matmul x w -> 2x4; o = ttir.exp p -> 2x4; " then
    hit("x:2x3 u:3x4 v:3x4 w:3x4", THREE("v", "return o q r"));
    miss("x:2x3 u:3x4 v:1x3x4 w:3x4",
         "p = ttir.matmul x u -> 2x4; q = ttir.matmul x v -> 1x2x4; r = ttir.matmul x w -> "
         "2x4; o = ttir.exp p -> 2x4; return o q r");
    hit("x:2x3 u:3x4 w:3x4", THREE("u", "return o q r"));
    miss("x:2x3 u:3x4 v:3x4 w:3x4 b:4", THREE("v", "s = ttir.add q b -> 2x4; return o s r"));
}

/* ---- limits and strange input ---- */

static void chain_of_moves(uint32_t n) {
    struct buf ops = {0};
    buf_printf(&ops, "m0 = ttir.exp x -> 2x3; ");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&ops, "m%u = ttir.typecast m%u -> 2x3; ", i + 1, i);
    buf_printf(&ops, "o = ttir.add m%u y -> 2x3; return o", n);
    buf_addc(&ops, 0);
    if (n <= 48)
        hit("x:2x3 y:2x3", ops.p);
    else
        miss("x:2x3 y:2x3", ops.p);
    buf_free(&ops);
}

Test(match, movement_between_two_ops_has_a_limit) {
    pattern("out = exp(x) + y", "");
    chain_of_moves(47);
    chain_of_moves(48);
    chain_of_moves(49);
    chain_of_moves(200);
}

/* A tree of 15 sums whose 16 leaves are two values: 2^15 orders of operands, and none fulfils the condition. Where
 * both operands are one value, there is one order. */
Test(match, a_search_ends_at_the_step_limit) {
    const char *ops = "s = ttir.add x y -> 2x3; r = ttir.add y x -> 2x3; t = ttir.add s r -> 2x3\n"
                      "q = ttir.add r s -> 2x3; u = ttir.add t q -> 2x3; w = ttir.add q t -> 2x3\n"
                      "v = ttir.add u w -> 2x3; return v";
    const char *one_value =
        "s = ttir.add x x -> 2x3; t = ttir.add s s -> 2x3; u = ttir.add t t -> 2x3; v = ttir.add u u -> 2x3\n"
        "return v";
    pattern("out = (((a + b) + (c + d)) + ((e + f) + (g + h))) + (((i + j) + (k + l)) + ((m + n) + (o + p)))",
            "where: extent(-1) == 77");
    cr_assert_eq(search_all("x:2x3 y:2x3", ops), 0);
    cr_assert_eq(list.gave_up, 1);
    cr_assert_eq(search_all("x:2x3", one_value), 0);
    cr_assert_eq(list.gave_up, 0);
    pattern("out = (a + b) + (c + d)", "where: extent(-1) == 77");
    cr_assert_eq(search_all("x:2x3 y:2x3", ops), 0);
    cr_assert_eq(list.gave_up, 0);
}

Test(match, shapes_that_are_not_static_are_no_places) {
    pattern("out = exp(x) + y", "");
    hit("x:2x3 y:2x3", "e = ttir.exp x -> 2x3; o = ttir.add e y -> 2x3; return o");
    miss("x:?x3 y:?x3", "e = ttir.exp x -> ?x3; o = ttir.add e y -> ?x3; return o");
    hit("x:f32 y:f32", "e = ttir.exp x -> f32; o = ttir.add e y -> f32; return o");
    miss("x:4611686018427387904x4 y:1x4",
         "e = ttir.exp x -> 4611686018427387904x4; o = ttir.add e y -> 4611686018427387904x4; return o");
}

Test(match, shapes_of_many_dimensions_are_no_places) {
#define ONES "1x1x1x1x1x1x1x1x1x1x1x"
#define SUMS(dims)                                                                                                     \
    "s = ttir.sum x {dim_arg = [" dims "], keep_dim = false} -> " ONES "1; o = ttir.exp s -> " ONES "1; return o"
    pattern("out = exp(sum(x))", "");
    hit("x:1x3", "s = ttir.sum x {dim_arg = [1 : i32], keep_dim = false} -> 1; o = ttir.exp s -> 1; return o");
    miss("x:" ONES "1x2x3", SUMS("12 : i32, 13 : i32"));
}

Test(match, fragments_without_a_function_are_searched) {
    pattern("out = exp(x) + y", "");
    forget_ir();
    ir_read_bad(&ir, "%e = \"ttir.exp\"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
                     "%o = \"ttir.add\"(%y, %e) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n");
    uint32_t funcs[2] = {0};
    cr_assert_eq(match_functions(&ir.g, funcs), 1);
    cr_assert_eq(funcs[0], NONE);
    match_function(&set, &ir.g, NONE, &arena, &list);
    cr_assert_eq(list.n, 1);
    ir_short(&ir, "x:2x3", "e = ttir.exp x; return e");
    cr_assert_eq(match_functions(&ir.g, funcs), 1, "what frames a function is no fragment");
    cr_assert_eq(funcs[0], 0);
}

/* Every place is found however many there are, in time that grows with their number only. */
Test(match, many_places) {
    enum { N = 30000 };
    struct buf b = {0};
    pattern("p = matmul(a, b)\nout = p + c", "where: row_vector(c, p)");
    buf_printf(&b, "func.func @main(%%a: tensor<2x4xf32>, %%b: tensor<4x3xf32>, %%c: tensor<3xf32>) {\n");
    for (int i = 0; i < N; i++)
        buf_printf(&b, "%%p%d = \"ttnn.matmul\"(%%a, %%b) : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>\n",
                   i);
    for (int i = 0; i < N; i++)
        buf_printf(&b, "%%o%d = \"ttnn.add\"(%%p%d, %%c) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>\n", i,
                   i);
    buf_printf(&b, "return\n}\n%c", '\0');
    ir_read(&ir, b.p);
    buf_free(&b);
    match_function(&set, &ir.g, 0, &arena, &list);
    cr_assert_eq(list.n, N);
    match_resolve(&list, NULL, NULL);
    cr_assert_eq(list.n, N);
}

/* ---- overlaps ---- */

static const char *const two = "name: small\nfused_op: ttnn.small\nsource: ttnn\nmatch: out = exp(x) + y\n---\n"
                               "name: large\nfused_op: ttnn.large\nsource: %s\nmatch: out = (exp(x) + y) * z\n---\n"
                               "name: other\nfused_op: ttnn.other\nsource: ttnn\nmatch: out = exp(x) + y\n";

static void resolve(const char *source) {
    char yaml[512];
    snprintf(yaml, sizeof yaml, two, source);
    pattern_file(yaml);
    ir_short(&ir, MM,
             "e = ttir.exp x -> 2x3; s = ttir.add e y -> 2x3; o = ttir.multiply s z -> 2x3\n"
             "f = ttir.exp w -> 2x3; t = ttir.add f y -> 2x3; return o t");
    match_function(&set, &ir.g, 0, &arena, &list);
    cr_assert_eq(list.n, 5, "two for each sum, one for the product");
    match_resolve(&list, NULL, NULL);
}

Test(match, of_overlapping_places_the_one_that_covers_most_is_kept) {
    resolve("ttnn");
    cr_assert_eq(list.n, 2);
    cr_assert(str_is(list.items[0].pattern->name, "large"));
    cr_assert(str_is(list.items[1].pattern->name, "small"), "among equals the first one loaded");
    cr_assert_eq(list.items[1].ops[1], ir_op(&ir, "%t"), "in the order of their roots");
}

Test(match, a_theoretical_fusion_is_kept_beside_a_direct_one_where_it_covers_more) {
    resolve("triton");
    cr_assert_eq(list.n, 3);
    cr_assert(str_is(list.items[0].pattern->name, "small"));
    cr_assert(str_is(list.items[1].pattern->name, "large"));
    pattern_file("name: direct\nfused_op: f\nsource: ttnn\nmatch: out = (exp(x) + y) * z\n---\n"
                 "name: theory\nfused_op: f\nsource: torch\nmatch: out = exp(x) + y\n");
    ir_short(&ir, MM, "e = ttir.exp x -> 2x3; s = ttir.add e y -> 2x3; o = ttir.multiply s z -> 2x3; return o");
    match_function(&set, &ir.g, 0, &arena, &list);
    cr_assert_eq(list.n, 2);
    match_resolve(&list, NULL, NULL);
    cr_assert_eq(list.n, 1, "a direct one that covers it all leaves nothing to wish for");
    cr_assert(str_is(list.items[0].pattern->name, "direct"));
}

struct saved_by {
    const char *name;
    struct saving saving;
};

static struct saving saving_by_name(void *context, const struct match *m) {
    const struct saved_by *by = context;
    while (!str_is(m->pattern->name, by->name))
        by++;
    return by->saving;
}

static void resolve_by(const char *yaml, const char *ops, struct saved_by *by) {
    pattern_file(yaml);
    ir_short(&ir, "x:2x3 y:2x3 z:2x3", ops);
    match_function(&set, &ir.g, 0, &arena, &list);
    match_resolve(&list, &(struct savings){saving_by_name, by}, NULL);
}

Test(match, a_part_is_kept_only_where_it_saves_more_than_the_whole_may) {
    const char *yaml = "name: small\nfused_op: f\nsource: ttnn\nmatch: out = exp(x) + y\n---\n"
                       "name: large\nfused_op: f\nsource: ttnn\nmatch: out = (exp(x) + y) * z\n";
    const char *ops = "e = ttir.exp x; s = ttir.add e y; o = ttir.multiply s z; return o";
    for (int i = 0; i < 2; i++) {
        resolve_by(yaml, ops, (struct saved_by[]){{"small", {3, 4}}, {"large", {1, i ? 5 : 2}}});
        cr_assert_eq(list.n, 1);
        cr_assert(str_is(list.items[0].pattern->name, i ? "large" : "small"));
        forget_ir();
    }
}

Test(match, of_what_overlaps_the_set_that_saves_most_is_kept) {
    const char *yaml = "name: first\nfused_op: f\nsource: ttnn\nmatch: out = exp(x) + y\n---\n"
                       "name: middle\nfused_op: f\nsource: ttnn\nmatch: out = (x + y) * z\n---\n"
                       "name: last\nfused_op: f\nsource: ttnn\nmatch: out = tanh(x * z)\n";
    const char *ops = "e = ttir.exp x; s = ttir.add e y; m = ttir.multiply s z; o = ttir.tanh m; return o";
    for (int i = 0; i < 2; i++) {
        resolve_by(yaml, ops, (struct saved_by[]){{"first", {3, 3}}, {"middle", {i ? 7 : 5, 9}}, {"last", {3, 3}}});
        cr_assert_eq(list.n, i ? 1 : 2);
        cr_assert(str_is(list.items[0].pattern->name, i ? "middle" : "first"));
        forget_ir();
    }
}

Test(match, a_part_of_what_is_not_kept_stands_for_itself) {
    const char *yaml = "name: small\nfused_op: f\nsource: ttnn\nmatch: out = exp(x) + y\n---\n"
                       "name: large\nfused_op: f\nsource: ttnn\nmatch: out = (exp(x) + y) * z\n---\n"
                       "name: last\nfused_op: f\nsource: ttnn\nmatch: out = tanh(x * z)\n";
    const char *ops = "e = ttir.exp x; s = ttir.add e y; m = ttir.multiply s z; o = ttir.tanh m; return o";
    for (int i = 0; i < 2; i++) {
        resolve_by(yaml, ops, (struct saved_by[]){{"small", {3, 3}}, {"large", {5, 5}}, {"last", {i ? 7 : 4, 9}}});
        cr_assert_eq(list.n, i ? 2 : 1);
        cr_assert(str_is(list.items[0].pattern->name, i ? "small" : "large"));
        forget_ir();
    }
}

Test(match, what_only_the_library_has_stays_where_it_saves_more_than_what_it_takes) {
    const char *yaml = "name: one\nfused_op: ttnn.one\nstatus: {level: ttir}\nmatch: out = exp(x) * w\n---\n"
                       "name: two\nfused_op: ttnn.two\nsource: ttnn\nstatus: {level: library}\n"
                       "match: |\n  out = exp(x) * w\n  also other = exp(y) * w\nwhere: [\"after(other, out)\"]\n";
    const char *ops = "a = ttir.exp x; p = ttir.multiply a z; b = ttir.exp y; q = ttir.multiply b z; return p q";
    for (int i = 0; i < 2; i++) {
        resolve_by(yaml, ops, (struct saved_by[]){{"one", {3, 3}}, {"two", {i ? 7 : 5, 9}}});
        cr_assert_eq(list.n, i ? 3 : 2);
        forget_ir();
    }
}

/* More than are compared set by set: the one that saves most first. */
Test(match, many_that_overlap_are_taken_by_what_they_save) {
    struct buf b = {0};
    buf_printf(&b, "v0 = ttir.exp x");
    for (int i = 1; i < 40; i++)
        buf_printf(&b, "; v%d = ttir.exp v%d", i, i - 1);
    buf_printf(&b, "; o = ttir.tanh v39; return o%c", '\0');
    resolve_by("name: two\nfused_op: f\nsource: ttnn\nmatch: out = exp(exp(x))\n---\n"
               "name: last\nfused_op: f\nsource: ttnn\nmatch: out = tanh(exp(x))\n",
               b.p, (struct saved_by[]){{"two", {1, 1}}, {"last", {2, 2}}});
    buf_free(&b);
    cr_assert_eq(list.n, 20, "19 of two and the last");
    cr_assert(str_is(list.items[19].pattern->name, "last"));
}

/* As query and key of many layers are turned by one cos and sin. */
Test(match, pairs_that_share_an_operand_find_the_partner_that_is_next) {
    pattern_file("name: pair\nfused_op: f\nsource: ttnn\nmatch: |\n  out = exp(x) * w\n  also other = exp(y) * w\n");
    ir_short(&ir, "q1:2x3 k1:2x3 q2:2x3 k2:2x3 w:2x3",
             "a = ttir.exp q1; aw = ttir.multiply a w; b = ttir.exp k1; bw = ttir.multiply b w\n"
             "c = ttir.exp q2; cw = ttir.multiply c w; d = ttir.exp k2; dw = ttir.multiply d w; return aw bw cw dw");
    match_function(&set, &ir.g, 0, &arena, &list);
    match_resolve(&list, NULL, NULL);
    cr_assert_eq(list.n, 2);
    cr_assert_eq(list.items[0].root, ir_op(&ir, "%aw"));
    cr_assert_eq(list.items[1].root, ir_op(&ir, "%cw"));
}

/* Movement that a larger direct match looks through is not reported as a match of its own. */
Test(match, movement_inside_of_a_larger_place_is_not_reported) {
    const char *ops = "r = ttir.reshape x -> 2x3x1\n"
                      "b = ttir.broadcast r {broadcast_dimensions = array<i64: 1, 1, 4>} -> 2x3x4\n"
                      "m = ttir.reshape b -> 2x12; e = ttir.exp m -> 2x12; s = ttir.add e y -> 2x12\n"
                      "o = ttir.multiply s z -> 2x12; return o";
    const char *both = "name: moved\nfused_op: f\nsource: %s\nmatch: out = reshape(broadcast(reshape(x)))\n---\n"
                       "name: large\nfused_op: f\nsource: %s\nmatch: out = (exp(x) + y) * z\n";
    static const char *const sources[][2] = {{"ttnn", "ttnn"}, {"torch", "torch"}, {"ttnn", "torch"}};
    char yaml[512];
    for (int i = 0; i < 3; i++) {
        snprintf(yaml, sizeof yaml, both, sources[i][0], sources[i][1]);
        pattern_file(yaml);
        ir_short(&ir, "x:2x3 y:2x12 z:2x12", ops);
        match_function(&set, &ir.g, 0, &arena, &list);
        match_resolve(&list, NULL, NULL);
        cr_assert_eq(list.n, i < 2 ? 1 : 2, "of %s and %s", sources[i][0], sources[i][1]);
        cr_assert(str_is(list.items[list.n - 1].pattern->name, "large"));
        forget_ir();
    }
}

/* ---- slices, concatenations and secondary roots ---- */

Test(match, a_part_knows_which_axis_it_cuts_and_where) {
    pattern("out = exp(slice(x, dim=-1, part=1, of=2))", "");
    hit("x:2x6",
        "s = ttir.slice_static x {begins = [0, 3], ends = [2, 6], step = [1, 1]} -> 2x3; o = ttir.exp s -> 2x3; "
        "return o");
    miss("x:2x6", "s = ttir.slice_static x {begins = [0, 0], ends = [2, 3], step = [1, 1]} -> 2x3; o = ttir.exp s -> "
                  "2x3; return o");
    hit("x:2x6", "s = ttnn.slice_static x {begins = [0, -3], ends = [2, 6], step = [1, 1]} -> 2x3; o = ttnn.exp s -> "
                 "2x3; return o");
    miss("x:4x3", "s = ttir.slice_static x {begins = [2, 0], ends = [4, 3], step = [1, 1]} -> 2x3; o = ttir.exp s -> "
                  "2x3; return o");
    hit("x:1x6", "s = ttir.slice_static x {begins = [0, 3], ends = [1, 6], step = [9223372036854775807 : i64, 1]} -> "
                 "1x3; o = ttir.exp s -> 1x3; return o");
    miss("x:1x9",
         "t = ttir.slice_static x {begins = [0, 0], ends = [1, 6], step = [9223372036854775807 : i64, 1]} -> 1x6; "
         "s = ttir.slice_static t {begins = [0, 0], ends = [1, 3], step = [9223372036854775807 : i64, 1]} -> 1x3; "
         "o = ttir.exp s -> 1x3");
    pattern("out = exp(x[..., :n])", "");
    hit("x:2x6", "s = ttir.slice_static x {begins = [0, 0], ends = [2, 3], step = [1, 1]} -> 2x3; o = ttir.exp s -> "
                 "2x3; return o");
    miss("x:2x6", "s = ttir.slice_static x {begins = [0, 1], ends = [2, 4], step = [1, 1]} -> 2x3; o = ttir.exp s -> "
                  "2x3; return o");
    miss("x:2x6", "s = ttir.slice_static x {begins = [0, 0], ends = [2, 6], step = [1, 2]} -> 2x3; o = ttir.exp s -> "
                  "2x3; return o");
    pattern("out = exp(x[..., 2:])", "");
    hit("x:2x6", "s = ttir.slice_static x {begins = [0, 2], ends = [2, 6], step = [1, 1]} -> 2x4; o = ttir.exp s -> "
                 "2x4; return o");
    hit("x:2x6", "s = ttnn.slice_static x {begins = [0, -4], ends = [2, 6], step = [1, 1]} -> 2x4; o = ttnn.exp s -> "
                 "2x4; return o");
    miss("x:2x6", "s = ttir.slice_static x {begins = [0, 2], ends = [2, 5], step = [1, 1]} -> 2x3; o = ttir.exp s -> "
                  "2x3; return o");
    pattern("out = exp(slice(x, part=1, every=2))", "");
    hit("x:2x6",
        "s = ttir.slice_static x {begins = [0, 1], ends = [2, 6], step = [1, 2]} -> 2x3; o = ttir.exp s -> 2x3; "
        "return o");
    miss("x:2x6", "s = ttir.slice_static x {begins = [0, 0], ends = [2, 6], step = [1, 2]} -> 2x3; o = ttir.exp s -> "
                  "2x3; return o");
    pattern("out = exp(slice(x, part=0, every=1))", ""); /* all of it, which is no slice */
    miss("x:2x6", "s = ttir.slice_static x {begins = [0, 0], ends = [2, 3], step = [1, 1]} -> 2x3; o = ttir.exp s -> "
                  "2x3; return o");
    hits++;
}

Test(match, the_axes_below_a_part_are_those_of_the_whole) {
    const char *half = "s = ttir.slice_static x {begins = [0, 3], ends = [2, 6], step = [1, 1]} -> 2x3\n"
                       "o = ttir.exp s -> 2x3; return o";
    pattern("out = exp(slice(x, dim=-1))", "where: extent(x, -1) == 6");
    hit("x:2x6", half);
    pattern("out = exp(slice(x, dim=-1))", "where: extent(x, -1) == 3");
    miss("x:2x6", half);
}

#define HALVES                                                                                                         \
    "h = ttir.slice_static x {begins = [0, 3], ends = [2, 6], step = [1, 1]} -> 2x3\n"                                 \
    "l = ttir.slice_static x {begins = [0, 0], ends = [2, 3], step = [1, 1]} -> 2x3\n"

/* Two slices are parts of one value if that holds element for element. */
Test(match, a_value_is_the_same_below_its_parts) {
    pattern("out = x * concat(-slice(x, part=1, of=2), slice(x, part=0, of=2), dim=-1)", "");
    hit("x:2x6", HALVES "n = ttir.neg h -> 2x3; c = ttir.concat n l {dim = 1} -> 2x6; o = ttir.multiply x c -> 2x6; "
                        "return o");
    miss("x:2x6", HALVES "n = ttir.neg l -> 2x3; c = ttir.concat n h {dim = 1} -> 2x6; o = ttir.multiply x c -> 2x6; "
                         "return o");
    hit("x:2x6", HALVES "n = ttir.neg h -> 2x3; c = ttir.concat n l {dim = -1} -> 2x6; o = ttir.multiply c x -> 2x6; "
                        "return o");
    miss("x:2x6 y:2x6", HALVES "n = ttir.neg h -> 2x3; c = ttir.concat n l {dim = 1} -> 2x6; "
                               "o = ttir.multiply y c -> 2x6; return o");
    const char *turned = "p = ttir.permute x {permutation = array<i64: 1, 0>} -> 6x2\n"
                         "h = ttir.slice_static p {begins = [3, 0], ends = [6, 2], step = [1, 1]} -> 3x2\n"
                         "l = ttir.slice_static p {begins = [0, 0], ends = [3, 2], step = [1, 1]} -> 3x2\n"
                         "n = ttir.neg h -> 3x2; c = ttir.concat n l {dim = 0} -> 6x2\n"
                         "b = ttir.permute c {permutation = array<i64: 1, 0>} -> 2x6; o = ttir.multiply x b -> 2x6; "
                         "return o";
    hit("x:2x6", turned);
    miss("x:2x6",
         "h = ttir.slice_static x {begins = [1, 0], ends = [2, 6], step = [1, 1]} -> 1x6\n"
         "l = ttir.slice_static x {begins = [0, 0], ends = [1, 6], step = [1, 1]} -> 1x6\n"
         "n = ttir.neg h -> 1x6; c = ttir.concat n l {dim = 0} -> 2x6; o = ttir.multiply x c -> 2x6; return o");
}

Test(match, what_was_cut_is_aligned_where_it_is_put_together_again) {
    pattern("out = x * concat(-slice(x, part=1, of=2), slice(x, part=0, of=2), dim=-1)", "where: aligned(x)");
    hit("x:2x6", HALVES "n = ttir.neg h -> 2x3; c = ttir.concat n l {dim = 1} -> 2x6; o = ttir.multiply x c -> 2x6; "
                        "return o");
    pattern("out = exp(slice(x, part=0, of=2))", "where: aligned(x)");
    miss("x:2x6", HALVES "o = ttir.exp l -> 2x3; return o");
    cr_assert_not(match_axis_is_cut(&(struct imap){.n = 0}), "an axis of one element is whole");
}

Test(match, halves_of_two_roads_are_of_one_value) {
    pattern("out = silu(slice(y, dim=-1, part=0, of=2)) * slice(y, dim=-1, part=1, of=2)", "");
    hit("x:2x6", HALVES "a = ttir.silu l -> 2x3; o = ttir.multiply a h -> 2x3; return o");
    miss("x:2x6", HALVES "a = ttir.silu h -> 2x3; o = ttir.multiply a l -> 2x3; return o");
    hit("x:2x6", HALVES "a = ttir.silu l -> 2x3; o = ttir.multiply h a -> 2x3; return o");
    miss("x:2x6 y:2x6", HALVES "k = ttir.slice_static y {begins = [0, 3], ends = [2, 6], step = [1, 1]} -> 2x3\n"
                               "a = ttir.silu l -> 2x3; o = ttir.multiply a k -> 2x3; return o");
}

#define SORTED     "v:2 = ttir.sort x {descending = true, dim = 1} -> 2x6, 2x6\n"
#define HEAD(s, n) n " = ttir.slice_static " s " {begins = [0, 0], ends = [2, 2], step = [1, 1]} -> 2x2\n"

/* Each axis that is cut is one of its own, and the same wherever it is cut. */
Test(match, parts_of_two_values_are_of_their_axes) {
#define PART(r, of, from, to)                                                                                          \
    r " = ttir.slice_static " of " {begins = [0, " from "], ends = [2, " to "], step = [1, 1]} -> 2x3\n"
#define PARTS(last)                                                                                                    \
    PART("a", "y", "0", "3") PART("b", "y", "3", "6") PART("c", "z", "0", "3") PART("d", last, "3", "6") SUM_OF_PRODUCTS
#define SUM_OF_PRODUCTS "m = ttir.multiply a b -> 2x3; n = ttir.multiply c d -> 2x3; o = ttir.add m n -> 2x3; return o"
    pattern("out = slice(y, dim=-1, part=0, of=2) * slice(y, dim=-1, part=1, of=2)\n"
            "  + slice(z, dim=-1, part=0, of=3) * slice(z, dim=-1, part=1, of=3)",
            "");
    hit("y:2x6 z:2x9 v:2x9", PARTS("z"));
    miss("y:2x6 z:2x9 v:2x9", PARTS("v"));
}

Test(match, secondary_roots_are_found_behind_what_is_bound) {
    pattern("s = sort(x)\nout = slice(s)\nmaybe indices = slice(result(s, 1))", "where: begin(out) == 0");
    hit("x:2x6", SORTED HEAD("v#0", "a") HEAD("v#1", "b") "return a b");
    cr_assert_eq(found()->nops, 3);
    miss("x:2x6", SORTED HEAD("v#0", "a") HEAD("v#1", "b") "e = ttir.exp v#1 -> 2x6; return a b e");
    hit("x:2x6", SORTED HEAD("v#0", "a") "return a");
    miss("x:2x6", SORTED HEAD("v#1", "b") "return b");
    pattern("out = slice(y)\nalso other = slice(y)", "where: [begin(out) == 0, begin(other) == end(out)]");
    hit("x:2x6", HALVES "return l h");
    miss("x:2x6", "l = ttir.slice_static x {begins = [0, 0], ends = [2, 3], step = [1, 1]} -> 2x3; return l");
}

#define TWO "e = ttir.exp x -> 2x6; a = ttir.abs y -> 2x6; "

Test(match, a_root_without_bound_names_is_found_where_the_first_one_goes) {
    pattern("out = exp(x)\nalso other = abs(y)", "");
    hit("x:2x6 y:2x6", TWO "s = ttir.matmul e a {transpose_b = true} -> 2x2; return s");
    cr_assert_eq(found()->nops, 2);
    hit("x:2x6 y:2x6", TWO "t = ttir.permute a {permutation = array<i64: 1, 0>} -> 6x2\n"
                           "h = ttir.full {fill_value = 0.5} -> 1x1; u = ttir.multiply t h -> 6x2\n"
                           "s = ttir.matmul e u -> 2x2; return s");
    hit("x:2x6 y:2x6", TWO "h = ttir.full {fill_value = 3.0} -> 1x1; d = ttir.div e h -> 2x6\n"
                           "s = ttir.matmul a d {transpose_b = true} -> 2x2; return s");
    hit("x:1x1x2x6 y:1x1x2x6", "e = ttir.exp x -> 1x1x2x6; a = ttir.abs y -> 1x1x2x6\n"
                               "o = ttir.scaled_dot_product_attention a e e -> 1x1x2x6; return o");
    miss("x:1x1x2x6 y:1x1x2x6", "e = ttir.exp x -> 1x1x2x6; a = ttir.abs y -> 1x1x2x6\n"
                                "o = ttir.scaled_dot_product_attention e e a -> 1x1x2x6; return o");
    hit("x:2x6 y:2x6", TWO "s = ttir.matmul a e {transpose_b = true} -> 2x2; return s");
    miss("x:2x6 y:2x6", TWO "s = ttir.add e a -> 2x6; return s");
    hit("x:2x6 y:2x6", TWO "return e a");
    miss("x:2x6 y:2x6", TWO "n = ttir.sin e -> 2x6; return n a");
    miss("x:2x6 y:2x6", TWO "n = ttir.sin a -> 2x6; return e n");
    miss("x:2x6 y:2x6", TWO "n = ttir.sin a -> 2x6; s = ttir.matmul e n {transpose_b = true} -> 2x2; return s");
    miss("x:2x6 y:2x6 z:2x6",
         TWO "n = ttir.multiply a z -> 2x6; s = ttir.matmul e n {transpose_b = true} -> 2x2; return s");
}

/* A concatenation in a concatenation: what is cut inside is a part of what the outer one joins. */
Test(match, slices_of_slices_meet_below_two_concatenations) {
    pattern("rot = slice(x, dim=-1, part=0, of=2)\nlo = slice(rot, dim=-1, part=0, of=2)\n"
            "hi = slice(rot, dim=-1, part=1, of=2)\nturned = concat(neg(hi), lo)\n"
            "out = concat(rot * c + turned * s, slice(x, dim=-1, part=1, of=2))",
            "");
#define CUT(name, of, begin, end, to)                                                                                  \
    name " = ttir.slice_static " of " {begins = [0, " #begin "], ends = [3, " #end "], step = [1, 1]} -> " to "; "
#define ROTATED(first, second, rest)                                                                                   \
    CUT("r", "x", 0, 4, "3x4")                                                                                         \
    CUT("p", "x", 4, 8, "3x4")                                                                                         \
    CUT("l", "r", 0, 2, "3x2")                                                                                         \
    CUT("h", "r", 2, 4, "3x2")                                                                                         \
    "n = ttir.neg " first "; t = ttir.concat n " second " {dim = 1} -> 3x4; a = ttir.multiply r c; "                   \
    "b = ttir.multiply t s; d = ttir.add a b; o = ttir.concat d " rest " {dim = 1} -> 3x8; return o"
    hit("x:3x8 c:3x4 s:3x4", ROTATED("h", "l", "p"));
    hit("x:3x8 c:4 s:1x4", ROTATED("h", "l", "p"));
    miss("x:3x8 c:3x4 s:3x4", ROTATED("l", "h", "p")); /* the halves are exchanged */
    miss("x:3x8 c:3x4 s:3x4", ROTATED("h", "l", "r")); /* the other half of x */
}

Test(match, what_the_fused_op_yields_may_escape) {
    pattern("s = x + r\nout = rms_norm(s, w)", "escapes: [s]");
    hit("x:2x3 r:2x3 w:3",
        "s = ttir.add x r -> 2x3; o = ttir.rms_norm s w {operandSegmentSizes = array<i32: 1, 1, 0>} -> "
        "2x3; return o s");
    hit("x:2x3 r:2x3 w:3", "s = ttir.add x r -> 2x3; t = ttir.typecast s -> 2x3xbf16; o = ttir.rms_norm t w "
                           "{operandSegmentSizes = array<i32: 1, 1, 0>} -> 2x3xbf16; return o t");
    pattern("s = x + r\nout = rms_norm(s, w)", "");
    miss("x:2x3 r:2x3 w:3", "s = ttir.add x r -> 2x3; t = ttir.typecast s -> 2x3xbf16; o = ttir.rms_norm t w "
                            "{operandSegmentSizes = array<i32: 1, 1, 0>} -> 2x3xbf16; return o t");
    miss("x:2x3 r:2x3 w:3", "s = ttir.add x r -> 2x3; o = ttir.rms_norm s w {operandSegmentSizes = array<i32: 1, 1, "
                            "0>} -> 2x3; return o s");
}

Test(match, a_line_of_movement_is_read_in_the_order_of_dimensions) {
    pattern("out = reshape(permute(x))", "where: read_as(out, x, 0, 2, 1, 3)");
    hit("x:2x3x4x5",
        "p = ttir.permute x {permutation = array<i64: 0, 2, 1, 3>} -> 2x4x3x5; o = ttir.reshape p -> 2x4x15; "
        "return o");
    miss("x:2x3x4x5", "p = ttir.permute x {permutation = array<i64: 0, 1, 3, 2>} -> 2x3x5x4; o = ttir.reshape p -> "
                      "2x3x20; return o");
    pattern("out = permute(reshape(s))", "where: read_as(s, out, 0, 2, 1, 3)");
    hit("x:2x4x15",
        "r = ttir.reshape x -> 2x4x3x5; o = ttir.permute r {permutation = array<i64: 0, 2, 1, 3>} -> 2x3x4x5; "
        "return o");
    miss("x:2x4x15", "r = ttir.reshape x -> 2x4x3x5; o = ttir.permute r {permutation = array<i64: 0, 3, 1, 2>} -> "
                     "2x5x4x3; return o");
    pattern("out = reshape(broadcast(reshape(x)))", "where: interleaved(out, x)");
    hit("x:2x3", "r = ttir.reshape x -> 2x3x1; b = ttir.broadcast r {broadcast_dimensions = array<i64: 1, 1, 4>} -> "
                 "2x3x4; o = ttir.reshape b -> 2x12; return o");
    miss("x:2x3", "r = ttir.reshape x -> 2x1x3; b = ttir.broadcast r {broadcast_dimensions = array<i64: 1, 4, 1>} -> "
                  "2x4x3; o = ttir.reshape b -> 2x12; return o");
}

Test(match, what_nothing_is_known_of_has_operands_as_wholes) {
    pattern("out = relu(conv2d(x, w))", "");
    hit("x:1x4x4x3 w:8x3x1x1", "c = ttir.conv2d x w -> 1x4x4x8; o = ttir.relu c -> 1x4x4x8; return o");
    miss("x:1x4x4x3 w:8x3x1x1 b:1x1x1x8", "c = ttir.conv2d x w b -> 1x4x4x8; o = ttir.relu c -> 1x4x4x8; return o");
    pattern("y = conv2d(x, w)\nout = y + b", "where: along_axis(b, y, -1)");
    hit("x:1x4x4x3 w:8x3x1x1 b:1x1x1x8", "c = ttir.conv2d x w -> 1x4x4x8; o = ttir.add c b -> 1x4x4x8; return o");
    miss("x:1x4x4x3 w:8x3x1x1 b:1x4x1x8", "c = ttir.conv2d x w -> 1x4x4x8; o = ttir.add c b -> 1x4x4x8; return o");
    pattern("out = conv2d(x, w) + conv2d(x, v)", "");
    hit("x:1x4x4x3 w:8x3x1x1 v:8x3x1x1", "c = ttir.conv2d x w -> 1x4x4x8; d = ttir.conv2d x v -> 1x4x4x8; "
                                         "o = ttir.add c d -> 1x4x4x8; return o");
    miss("x:1x4x4x3 y:1x4x4x3 w:8x3x1x1 v:8x3x1x1", "c = ttir.conv2d x w -> 1x4x4x8; d = ttir.conv2d y v -> 1x4x4x8; "
                                                    "o = ttir.add c d -> 1x4x4x8; return o");
}

/* ---- windows, sorts and transposed operands ---- */

#define PAD(amounts) "p = ttir.pad x {padding = array<i32: " amounts ">, value = 0.0 : f32} -> 1x6x7x3\n"
#define NHWC         "height_dim = 1, width_dim = 2, channel_dim = 3, "

/* A pad can become padding of the window if it pads the dimensions of the window only, whatever their order. */
Test(match, a_pad_along_a_window_is_padding_of_it) {
    pattern("p = pad(x)\nout = conv2d(p, w)", "where: pads_window(p, out)");
    hit("x:1x4x5x3 w:8x3x1x1",
        PAD("0, 0, 1, 1, 1, 1, 0, 0") "o = ttir.conv2d p w {" NHWC "padding = 0 : i32} -> 1x6x7x8; return o");
    miss("x:1x4x5x2 w:8x3x1x1",
         PAD("0, 0, 1, 1, 1, 1, 0, 1") "o = ttir.conv2d p w {" NHWC "padding = 0 : i32} -> 1x6x7x8; return o");
    hit("x:1x3x5x3 w:8x3x1x1",
        PAD("0, 0, 1, 2, 1, 1, 0, 0") "o = ttir.conv2d p w {padding = array<i32: 0, 0, 0, 0>} -> 1x6x7x8; return o");
    miss("x:1x3x5x3 w:8x3x1x1",
         PAD("0, 0, 1, 2, 1, 1, 0, 0") "o = ttir.conv2d p w {padding = array<i32: 0, 0>} -> 1x6x7x8; return o");
    const char *flat = "r = ttnn.reshape p -> 1x1x42x3\n"
                       "o = ttnn.conv2d r w {batch_size = 1, input_height = 6, input_width = 7, in_channels = 3,\n"
                       "out_channels = 8, kernel_size = [1, 1], padding = [0, 0]} -> 1x1x42x8; return o";
    char ops[512];
    snprintf(ops, sizeof ops, "%s%s", PAD("0, 0, 1, 1, 1, 1, 0, 0"), flat);
    hit("x:1x4x5x3 w:8x3x1x1", ops);
    snprintf(ops, sizeof ops, "%s%s", PAD("0, 0, 1, 1, 0, 0, 1, 1"), flat);
    miss("x:1x4x7x1 w:8x3x1x1", ops);
    pattern("p = pad(x)\nout = max_pool2d(p)", "where: pads_window(p, out)");
    hit("x:1x4x5x3",
        PAD("0, 0, 1, 1, 1, 1, 0, 0") "o = ttir.max_pool2d p {kernel = [2, 2], stride = [1, 1], padding = 0 : i32} -> "
                                      "1x5x6x3; return o");
    miss("x:1x4x5x3",
         PAD("0, 0, 1, 1, 1, 1, 0, 0") "o = ttir.max_pool2d p {kernel = [2, 2], stride = [1, 1], padding = 1 : i32} "
                                       "-> 1x7x8x3; return o");
}

#define TWO_CONVS(a, b) "c = ttir.conv2d x w {" a "} -> 1x4x4x4; d = ttir.conv2d x v {" b "} -> 1x4x4x4\n"

Test(match, windows_are_the_same_where_their_attributes_are) {
    pattern("c = conv2d(x, w)\nd = conv2d(x, v)\nout = c - d", "where: same_window(c, d)");
    hit("x:1x4x4x4 w:4x4x3x3 v:4x4x1x1",
        TWO_CONVS("stride = 1 : i32, groups = 1", "stride = array<i32: 1, 1>, groups = 1") "o = ttir.subtract c d -> "
                                                                                           "1x4x4x4; return o");
    miss("x:1x4x4x4 w:4x4x3x3 v:4x4x1x1",
         TWO_CONVS("stride = array<i32: 1, 1>", "stride = array<i32: 1, 2>") "o = ttir.subtract c d -> 1x4x4x4; "
                                                                             "return o");
    const char *turn = "t = ttir.permute d {permutation = array<i64: 0, 2, 1, 3>} -> 1x4x4x4\n"
                       "u = ttir.permute c {permutation = array<i64: 0, 2, 1, 3>} -> 1x4x4x4\n"
                       "o = ttir.subtract %s t -> 1x4x4x4; return o";
    char ops[512], rest[256];
    snprintf(rest, sizeof rest, turn, "u");
    snprintf(ops, sizeof ops, "%s%s", TWO_CONVS("stride = 1", "stride = 1"), rest);
    hit("x:1x4x4x4 w:4x4x3x3 v:4x4x1x1", ops);
    snprintf(rest, sizeof rest, turn, "c");
    snprintf(ops, sizeof ops, "%s%s", TWO_CONVS("stride = 1", "stride = 1"), rest);
    miss("x:1x4x4x4 w:4x4x3x3 v:4x4x1x1", ops);
}

Test(match, a_batch_norm_normalises_channels_or_not) {
    const char *args = "x:1x4x4x3 w:8x3x1x1 a:8 b:8 m:8 v:8";
    pattern("c = conv2d(x, w)\nout = batch_norm_inference(c, a, b, m, v)", "where: normalizes_channels(out, c)");
    hit(args, "c = ttir.conv2d x w -> 1x4x4x8; o = ttir.batch_norm_inference c a b m v {dimension = 3 : i32} -> "
              "1x4x4x8; return o");
    miss(args, "c = ttir.conv2d x w -> 1x4x4x8; o = ttir.batch_norm_inference c a b m v {dimension = 2 : i32} -> "
               "1x4x4x8; return o");
#define TTNN_CONV                                                                                                      \
    "c = ttnn.conv2d x w {batch_size = 1, input_height = 4, input_width = 4, in_channels = 3, out_channels = 8,\n"     \
    "kernel_size = [1, 1]} -> 1x4x4x8\n"
#define EACH "{operandSegmentSizes = [1, 1, 1, 1, 1]} "
    hit(args, TTNN_CONV "p = ttnn.permute c {permutation = [0, 3, 1, 2]} -> 1x8x4x4\n"
                        "o = ttnn.batch_norm_inference p a b m v " EACH "-> 1x8x4x4; return o");
    miss(args, TTNN_CONV "o = ttnn.batch_norm_inference c a b m v " EACH "-> 1x4x4x8; return o");
}

Test(match, a_slice_cuts_what_was_sorted_or_not) {
    pattern("s = sort(x)\nout = slice(s)", "where: cuts_along(out, s)");
    hit("x:2x6", "v:2 = ttir.sort x {dim = -1} -> 2x6, 2x6\n" HEAD("v#0", "a") "return a");
    miss("x:2x6", "v:2 = ttir.sort x {dim = 0} -> 2x6, 2x6\n" HEAD("v#0", "a") "return a");
    hit("x:2x6", "v:2 = ttir.sort x -> 2x6, 2x6; c = ttir.typecast v#0 -> 2x6xbf16\n" HEAD("c", "a") "return a");
    miss("x:3x4", "v:2 = ttir.sort x -> 3x4, 3x4; r = ttir.reshape v#0 -> 2x6\n" HEAD("r", "a") "return a");
}

Test(match, what_uses_a_value_is_asked_for_by_name) {
    pattern("out = exp(x)", "where: no_user(out, \"[.]add$\")");
    hit("x:2x3", "e = ttir.exp x -> 2x3; o = ttir.abs e -> 2x3; return o");
    miss("x:2x3 y:2x3", "e = ttir.exp x -> 2x3; o = ttir.add e y -> 2x3; return o");
    hit("x:2x3 y:6", "e = ttir.exp x -> 2x3; r = ttir.reshape e -> 6; o = ttir.multiply r y -> 6; return o");
    miss("x:2x3 y:6", "e = ttir.exp x -> 2x3; r = ttir.reshape e -> 6; o = ttir.add y r -> 6; return o");
}

Test(match, members_of_a_series_stand_one_after_the_other) {
    pattern("p1 = exp(x)\nalso p2 = exp(x)\nmaybe p3.. = exp(x)", "where: after(p2.., p1..)");
    miss("x:2x3", "a = ttir.exp x -> 2x3; return a");
    hit("x:2x3", "a = ttir.exp x -> 2x3; b = ttir.exp x -> 2x3; return a b");
    cr_assert_eq(found()->nops, 2);
    cr_assert_eq(search_all("x:2x3", "a = ttir.exp x -> 2x3; b = ttir.exp x -> 2x3; c = ttir.exp x -> 2x3\n"
                                     "d = ttir.abs x -> 2x3; return a b c d"),
                 2, "each that one stands behind");
    cr_assert_eq(list.items[0].nops, 3);
    cr_assert_eq(list.items[1].nops, 2);
}

Test(match, nothing_takes_what_is_written_in_place_behind_it) {
    pattern("out = subtract(x, y)", "where: last_use(x, out)");
    hit("x:2x3 y:2x3", "e = ttir.exp x -> 2x3; o = ttir.subtract x y -> 2x3; return o e");
    miss("x:2x3 y:2x3", "o = ttir.subtract x y -> 2x3; e = ttir.exp x -> 2x3; return o e");
    pattern("out = subtract(x, y)\nalso k = add(x, y)", "where: last_use(x, out, k)");
    hit("x:2x3 y:2x3", "o = ttir.subtract x y -> 2x3; k = ttir.add x y -> 2x3; e = ttir.exp x -> 2x3; return o k e");
    hit("x:2x3 y:2x3", "e = ttir.exp x -> 2x3; k = ttir.add x y -> 2x3; o = ttir.subtract x y -> 2x3; return o k e");
    miss("x:2x3 y:2x3", "o = ttir.subtract x y -> 2x3; e = ttir.exp x -> 2x3; k = ttir.add x y -> 2x3; return o k e");
    miss("x:2x3 y:2x3", "k = ttir.add x y -> 2x3; e = ttir.exp x -> 2x3; o = ttir.subtract x y -> 2x3; return o k e");
}

static bool notes_say(const char *text) {
    struct match_detail d;
    match_details(found(), &arena, &d);
    return d.remarks.n == 1 && strcmp(d.remarks.items[0].p, text) == 0;
}

/* Conditions on the spelling of ops, which formulas do not distinguish. */
Test(match, how_a_place_is_written_is_asked_for_by_name) {
    const char *args = "x:2x3 y:2x3";
    pattern("out = exp(x) + y | exp(x) - y", "require: has_op(\"[.]add$\")");
    hit(args, "e = ttir.exp x -> 2x3; o = ttir.add e y -> 2x3; return o");
    miss(args, "e = ttir.exp x -> 2x3; o = ttir.subtract e y -> 2x3; return o");
    pattern("e = exp(x)\nout = e + y",
            "require: made_by(y, \"tanh$\") & made_by(e, \"exp$\") & not(made_by(x, \".\"))");
    hit(args,
        "t = ttir.tanh y -> 2x3; c = ttir.typecast t -> 2x3xbf16; e = ttir.exp x -> 2x3; o = ttir.add e c -> 2x3\n"
        "return o");
    miss(args, "t = ttir.abs y -> 2x3; e = ttir.exp x -> 2x3; o = ttir.add e t -> 2x3; return o");
    pattern("s = sum(x)\nout = s + y", "require: spelled(s, \"keep_dim = false\")");
    hit("x:2x3 y:2", "s = ttir.sum x {dim_arg = [1 : i32], keep_dim = false} -> 2; o = ttir.add s y -> 2; return o");
    miss("x:2x3 y:2x1",
         "s = ttir.sum x {dim_arg = [1 : i32], keep_dim = true} -> 2x1; o = ttir.add s y -> 2x1; return o");
}

Test(match, texts_have_types_as_bound_and_as_printed) {
    pattern("out = exp(x) + y", "notes:\n  - {when: present(x), say: \"{type(source(x))}, {type(x)}, {type(y)}, "
                                "{type(printed(y))}\"}");
    hit("x:2x3 y:1x3", "c = ttir.typecast x -> 2x3xbf16; e = ttir.exp c -> 2x3; b = ttir.broadcast y -> 2x3\n"
                       "o = ttir.add e b -> 2x3; return o");
    cr_assert(notes_say("2x3xf32, 2x3xbf16, 1x3xf32, 2x3xf32"));
    misses++;
}

/* The weight has the shape (extent / 32, 32), which does not broadcast to that of the operand. */
Test(match, operands_of_distributed_norms_are_wholes_where_they_do_not_broadcast) {
    pattern("out = distributed_rms_norm(exp(x), w)", "");
    hit("x:2x64 w:2x32", "e = ttir.exp x -> 2x64; o = ttnn.distributed_rms_norm e w {operandSegmentSizes = "
                         "array<i32: 1, 1, 0, 0>} -> 2x64; return o");
    miss("x:2x64 w:2x32 r:2x64", "e = ttir.exp x -> 2x64; o = ttnn.distributed_rms_norm e w r {operandSegmentSizes = "
                                 "array<i32: 1, 1, 1, 0>} -> 2x64; return o");
}

/* What failed at one root is not searched for at roots with the same structural hash: so roots that differ in anything
 * that matters have different hashes. In each pair the first root misses and the second is found; nothing uses them, or
 * the hashes would differ by where. */
Test(match, roots_that_differ_have_different_hashes) {
    static const struct {
        const char *formula, *args, *first, *second;
    } pairs[] = {
        {"out = x * sigmoid(x)", "x:2x3 y:2x3 z:2x3", "a = ttir.sigmoid x -> 2x3; b = ttir.multiply y a -> 2x3",
         "c = ttir.sigmoid z -> 2x3; d = ttir.multiply z c -> 2x3"},
        {"out = x * 2", "x:2x3", "k = ttir.full {fill_value = 3.0 : f32} -> 2x3; b = ttir.multiply x k -> 2x3",
         "l = ttir.full {fill_value = 2.0 : f32} -> 2x3; d = ttir.multiply x l -> 2x3"},
        {"out = exp(neg(x))", "x:2x3",
         "a = ttir.neg x -> 2x3; h = ttir.exp a -> 2x3; e = ttir.abs a -> 2x3; b = ttir.add h e -> 2x3",
         "c = ttir.neg x -> 2x3; d = ttir.exp c -> 2x3; f = ttir.abs x -> 2x3; g = ttir.add d f -> 2x3"},
        {"out = exp(sum(x, dim=-1))", "x:3x3",
         "a = ttir.sum x {dim_arg = [0 : i32], keep_dim = true} -> 1x3; b = ttir.exp a -> 1x3",
         "c = ttir.sum x {dim_arg = [1 : i32], keep_dim = true} -> 3x1; d = ttir.exp c -> 3x1"},
        {"out = exp(softmax(x, dim=-1))", "x:3x3", "a = ttir.softmax x {dimension = 0} -> 3x3; b = ttir.exp a -> 3x3",
         "c = ttir.softmax x {dimension = 1} -> 3x3; d = ttir.exp c -> 3x3"},
        {"out = exp(softmax(x, dim=-1))", "x:3x3",
         "k = ttir.ones -> 3x3; a = ttir.softmax x {dimension = 0} -> 3x3; e = ttir.multiply a k -> 3x3\n"
         "b = ttir.exp e -> 3x3",
         "l = ttir.ones -> 3x3; c = ttir.softmax x {dimension = 1} -> 3x3; f = ttir.multiply c l -> 3x3\n"
         "d = ttir.exp f -> 3x3"},
        {"out = exp(x) + y", "x:2x3 y:2x3 z:3", "a = ttir.exp x -> 2x3; b = ttir.add a y -> 2x3",
         "c = ttir.exp x -> 2x3; d = ttir.add c z -> 2x3"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct buf b = {0};
        pattern(pairs[i].formula, i == 6 ? "where: row_vector(y)" : "");
        buf_printf(&b, "%s\n%s\nreturn%c", pairs[i].first, pairs[i].second, '\0');
        hit(pairs[i].args, b.p);
        cr_assert_eq(found()->ops[found()->nops - 1], ir_op(&ir, "%d"), "%s", pairs[i].formula);
        b.n = 0;
        buf_printf(&b, "%s\nreturn b%c", pairs[i].first, '\0');
        miss(pairs[i].args, b.p);
        buf_free(&b);
    }
}

/* An argument that was used long before is told from another that was. */
Test(match, arguments_used_far_away_do_not_hash_alike) {
    struct buf b = {0};
    pattern("out = x * sigmoid(x)", "");
    buf_printf(&b, "func.func @main(%%x: tensor<4xf32>, %%y: tensor<4xf32>) {\n");
#define UNARY_OP(result, of, op) "%%" result " = \"ttir." op "\"(%%" of ") : (tensor<4xf32>) -> tensor<4xf32>\n"
#define PRODUCT(result, of, by)                                                                                        \
    "%%" result " = \"ttir.multiply\"(%%" of ", %%" by ") : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n"
    buf_printf(&b,
               UNARY_OP("u", "x", "abs") UNARY_OP("v", "y", "abs") UNARY_OP("w", "y", "abs") UNARY_OP("t", "y", "abs"));
    for (int i = 0; i < 1100; i++)
        buf_printf(&b, UNARY_OP("f%d", "u", "abs"), i);
    buf_printf(&b,
               UNARY_OP("a", "x", "sigmoid") PRODUCT("b", "y", "a") UNARY_OP("c", "x", "sigmoid")
                   PRODUCT("d", "x", "c") "return\n}\n%c",
               '\0');
    search_text(b.p);
    buf_free(&b);
    cr_assert_eq(found()->ops[1], ir_op(&ir, "%d"));
    hits++, misses++;
}

/* And what was found at one root is found at all with the same hash, each with its own ops. */
Test(match, matches_from_the_cache_have_ops_of_their_own) {
    pattern("out = x * sigmoid(neg(x))", "");
    const char *both = "n = ttir.neg x -> 2x3; a = ttir.sigmoid n -> 2x3; b = ttir.multiply x a -> 2x3\n"
                       "m = ttir.neg y -> 2x3; c = ttir.sigmoid m -> 2x3; d = ttir.multiply y c -> 2x3; return";
    cr_assert_eq(search_all("x:2x3 y:2x3", both), 2);
    static const char *const names[2][3] = {{"%n", "%a", "%b"}, {"%m", "%c", "%d"}};
    for (uint32_t i = 0; i < 2; i++) {
        cr_assert_eq(list.items[i].nops, 3);
        for (uint32_t k = 0; k < 3; k++)
            cr_assert_eq(list.items[i].ops[k], ir_op(&ir, names[i][k]));
    }
}

/* Two uses of one argument and one use each of two arguments have different hashes, even where the other users of the
 * arguments are the same. */
Test(match, one_argument_used_twice_does_not_hash_like_two) {
    pattern("out = x * sigmoid(x)", "");
    const char *first = "a = ttir.sigmoid x -> 2x3; c = ttir.exp y -> 2x3; b = ttir.multiply y a -> 2x3\n"
                        "e = ttir.exp x -> 2x3";
    const char *second = "f = ttir.sigmoid z -> 2x3; g = ttir.exp z -> 2x3; d = ttir.multiply z f -> 2x3\n"
                         "h = ttir.exp w -> 2x3; i = ttir.exp w -> 2x3";
    struct buf both = {0};
    buf_printf(&both, "%s\n%s\nreturn%c", first, second, '\0');
    hit("x:2x3 y:2x3 z:2x3 w:2x3", both.p);
    cr_assert_eq(found()->ops[1], ir_op(&ir, "%d"));
    both.n = 0;
    buf_printf(&both, "%s\nreturn b%c", first, '\0');
    miss("x:2x3 y:2x3", both.p);
    buf_free(&both);
}

Test(match, a_variable_is_not_what_the_match_computes) {
    pattern("p = matmul(a, b)\nout = p + c", "");
    hit("a:4x4 b:4x4 c:4x4", "p = ttir.matmul a b -> 4x4; o = ttir.add p c -> 4x4; return o");
    miss("a:4x4 b:4x4", "p = ttir.matmul a b -> 4x4; o = ttir.add p p -> 4x4; return o");
    hit("a:4x4 b:4x4", "p = ttir.matmul a b -> 4x4; o = ttir.add p a -> 4x4; return o");
    miss("a:4x4 b:4x4", "p = ttir.matmul a b -> 4x4; t = ttir.permute p {permutation = array<i64: 1, 0>} -> 4x4; "
                        "o = ttir.add p t -> 4x4; return o");
}

/* Nothing is known of the concatenation, nor of what moves it. */
Test(match, values_that_move_one_of_many_operands_are_searched) {
    const char *joined = "c = ttir.concat x x x x x x x x x x x x x {dim = 0} -> 26x3; r = ttir.reshape c -> 3x26\n"
                         "e = ttir.exp y -> 3x26; o = ttir.%s e r -> 3x26; return o";
    pattern("out = exp(x) + y", "");
    hit("x:2x3 y:3x26", arena_printf(&arena, joined, "add").p);
    miss("x:2x3 y:3x26", arena_printf(&arena, joined, "subtract").p);
}

Test(match, a_function_is_searched_alone) {
    pattern("out = exp(x) + y", "");
    ir_short(&ir, "x:2x3 y:2x3",
             "e = ttir.exp x -> 2x3; o = ttir.add e y -> 2x3; return o\n"
             "func other x:2x3 y:2x3\ne = ttir.exp x -> 2x3; p = ttir.add e y -> 2x3; return p");
    for (uint32_t f = 0; f < ir.m.nfuncs; f++) {
        list.n = 0;
        match_function(&set, &ir.g, f, &arena, &list);
        cr_assert_eq(list.n, 1, "%u places in function %u", list.n, f);
        cr_assert_eq(list.items[0].root, ir_op(&ir, f ? "%p" : "%o"));
    }
}
