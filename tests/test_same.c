/* Whether two values are the same function, by elements at their own shapes. */
#include "ir_text.h"
#include "patterns/library/pattern.h"
#include "proof/same/same.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct arena arena;
static struct pattern_set patterns;

static void setup(void) {
    struct diags diags = {.arena = &arena};
    cr_assert(patterns_load(&patterns, getenv("FA_PATTERNS"), &diags));
}

static void teardown(void) {
    arena_free(&arena);
    patterns_free(&patterns);
}

TestSuite(same, .init = setup, .fini = teardown);

/* Of %x and %y; 1/49 may be what was rounded to bf16. */
static struct same_answer ask(const char *args, const char *body, uint64_t seed) {
    struct ir ir;
    ir_main(&ir, args, body);
    const struct loose_constant loose[] = {{.number = 2.038570e-02, .error = 0x1p-14},
                                           {.number = 2.099610e-02, .error = 0x1p-14}};
    struct same_question q = {.graph = &ir.g,
                              .lowerings = &patterns,
                              .loose = loose,
                              .nloose = 2,
                              .values = {ir_value(&ir, "%x"), ir_value(&ir, "%y")},
                              .seed = seed,
                              .most = 2e7};
    struct same_answer answer = same_function(&q, &arena);
    ir_free(&ir);
    return answer;
}

static void expect(enum same is, const char *args, const char *body) {
    for (uint64_t seed = 0; seed < 16; seed++) {
        struct same_answer a = ask(args, body, seed);
        cr_assert_eq(a.is, is, "seed %d: %d, %.*s", (int)seed, (int)a.is, (int)a.why.text.n, a.why.text.p);
    }
}

#define MAP(name, op, a, t) "%" name " = \"ttir." op "\"(%" a ") : (tensor<" t ">) -> tensor<" t ">\n"
#define TWO(name, op, a, b, t)                                                                                         \
    "%" name " = \"ttir." op "\"(%" a ", %" b ") : (tensor<" t ">, tensor<" t ">) -> tensor<" t ">\n"
#define FULL(name, number, t)                                                                                          \
    "%" name " = \"ttir.full\"() <{fill_value = " number " : f32, shape = array<i32: 4096, 4096>}> : () -> tensor<" t  \
    ">\n"
#define BIG "4096x4096xf32"

Test(same, a_function_written_in_two_ways) {
    expect(SAME, "%a: tensor<" BIG ">",
           MAP("x", "silu", "a", BIG) MAP("s", "sigmoid", "a", BIG) TWO("y", "multiply", "s", "a", BIG));
    expect(DIFFERENT, "%a: tensor<" BIG ">",
           MAP("x", "silu", "a", BIG) MAP("s", "sigmoid", "a", BIG) TWO("y", "multiply", "s", "s", BIG));
}

/* Only numbers next to 0 show that they differ. */
Test(same, a_threshold_that_few_numbers_reach) {
    expect(DIFFERENT, "%a: tensor<" BIG ">",
           FULL("c", "9.99999996E-13", BIG) MAP("p", "abs", "a", BIG) TWO("x", "maximum", "p", "c", BIG)
               MAP("y", "relu", "p", BIG));
    expect(DIFFERENT, "%a: tensor<" BIG ">",
           FULL("c", "9.99999996E-13", BIG) MAP("p", "abs", "a", BIG) TWO("m", "maximum", "p", "c", BIG)
               TWO("x", "div", "a", "m", BIG) MAP("n", "relu", "p", BIG) TWO("y", "div", "a", "n", BIG));
    expect(SAME, "%a: tensor<" BIG ">",
           FULL("c", "0.0", BIG) MAP("p", "neg", "a", BIG) TWO("x", "maximum", "p", "c", BIG)
               MAP("y", "relu", "p", BIG));
}

/* A clamp that begins far outside of what is drawn. */
Test(same, a_bound_that_is_named_by_a_constant) {
    expect(DIFFERENT, "%a: tensor<" BIG ">",
           FULL("c", "3000.0", BIG) TWO("x", "minimum", "a", "c", BIG) TWO("y", "minimum", "a", "a", BIG));
    expect(SAME, "%a: tensor<" BIG ">",
           FULL("c", "3000.0", BIG) TWO("x", "minimum", "a", "c", BIG) TWO("y", "minimum", "c", "a", BIG));
}

#define MEAN(scale)                                                                                                    \
    "%x = \"ttir.mean\"(%a) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4096x49xf32>) -> tensor<4096x1xf32>\n"  \
    "%s = \"ttir.sum\"(%a) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4096x49xf32>) -> tensor<4096x1xf32>\n"   \
    "%c = \"ttir.constant\"() <{value = dense<" scale "> : tensor<4096x1xbf16>}> : () -> tensor<4096x1xbf16>\n"        \
    "%y = \"ttir.multiply\"(%s, %c) : (tensor<4096x1xf32>, tensor<4096x1xbf16>) -> tensor<4096x1xf32>\n"

Test(same, a_constant_is_what_was_rounded) {
    struct same_answer a = ask("%a: tensor<4096x49xf32>", MEAN("2.038570e-02"), 0);
    cr_assert_eq(a.is, SAME);
    cr_assert(a.rounding > 1e-6 && a.rounding < 1e-2, "%g", a.rounding);
    expect(DIFFERENT, "%a: tensor<4096x49xf32>", MEAN("2.099610e-02"));
}

Test(same, what_costs_too_much_or_is_not_known) {
    struct same_answer a =
        ask("%a: tensor<65536x65536xf32>",
            "%x = \"ttir.sum\"(%a) <{keep_dim = false}> : (tensor<65536x65536xf32>) -> tensor<f32>\n"
            "%y = \"ttir.mean\"(%a) <{keep_dim = false}> : (tensor<65536x65536xf32>) -> tensor<f32>\n",
            0);
    cr_assert_eq(a.is, NOT_COMPARED);
    cr_assert_eq(a.why.kind, REASON_TOO_LARGE);
    cr_assert(str_find(a.why.text, STR("sum over 4294967296 elements")) ||
                  str_find(a.why.text, STR("mean over 4294967296 elements")),
              "%s", a.why.text.p);
    a = ask("%a: tensor<" BIG ">",
            "%x = \"ttir.nonsense\"(%a) : (tensor<" BIG ">) -> tensor<" BIG ">\n" MAP("y", "relu", "a", BIG), 0);
    cr_assert_eq(a.is, NOT_COMPARED);
    cr_assert(str_find(a.why.text, STR("nonsense")));
    a = ask("%a: tensor<8x8xf32>",
            "%x = \"ttir.constant\"() <{value = unread}> : () -> tensor<8x8xf32>\n" MAP("y", "relu", "a", "8x8xf32"),
            0);
    cr_assert_eq(a.is, NOT_COMPARED);
}

/* A few elements do not tell where parts begin, nor what whole numbers do. */
#define PART(name, n, end, begin)                                                                                      \
    "%a" name " = \"ttir.slice_static\"(%a) <{begins = [0 : i32], ends = [" end " : i32], step = [1 : i32]}> : "       \
    "(tensor<" n "xf32>) -> tensor<" end "xf32>\n"                                                                     \
    "%b" name " = \"ttir.slice_static\"(%b) <{begins = [" end " : i32], ends = [" n " : i32], step = [1 : i32]}> : "   \
    "(tensor<" n "xf32>) -> tensor<" begin "xf32>\n"                                                                   \
    "%" name " = \"ttir.concat\"(%a" name ", %b" name ") <{dim = 0 : si32}> : (tensor<" end "xf32>, tensor<" begin     \
    "xf32>) -> tensor<" n "xf32>\n"

Test(same, what_is_put_together) {
    const char *few = "%a: tensor<100xf32>, %b: tensor<100xf32>", *many = "%a: tensor<1000xf32>, %b: tensor<1000xf32>";
    expect(DIFFERENT, few, PART("x", "100", "70", "30") PART("y", "100", "71", "29"));
    expect(SAME, few, PART("x", "100", "70", "30") PART("y", "100", "70", "30"));
    expect(NOT_COMPARED, many, PART("x", "1000", "700", "300") PART("y", "1000", "701", "299"));
}

Test(same, whole_numbers_and_jumps) {
    expect(NOT_COMPARED, "%a: tensor<8x8xi32>",
           TWO("x", "add", "a", "a", "8x8xi32") TWO("y", "add", "a", "a", "8x8xi32"));
    expect(NOT_COMPARED, "%a: tensor<8x8xf32>, %b: tensor<8x8xf32>",
           TWO("s", "add", "a", "b", "8x8xf32") TWO("x", "gt", "s", "b", "8x8xf32")
               TWO("y", "ge", "s", "b", "8x8xf32"));
}

/* Of a function that tests for NaN there are trials with some. */
#define IF_NAN(name, then)                                                                                             \
    "%n" name " = \"ttir.ne\"(%a, %a) : (tensor<" BIG ">, tensor<" BIG ">) -> tensor<4096x4096xi1>\n"                  \
    "%" name " = \"ttir.where\"(%n" name ", %" then ", %b) : (tensor<4096x4096xi1>, tensor<" BIG ">, tensor<" BIG      \
    ">) -> tensor<" BIG ">\n"

Test(same, a_test_for_nan) {
    expect(SAME, "%a: tensor<" BIG ">", MAP("b", "abs", "a", BIG) IF_NAN("x", "a") MAP("y", "abs", "a", BIG));
    expect(DIFFERENT, "%a: tensor<" BIG ">",
           FULL("c", "0.0", BIG) MAP("b", "abs", "a", BIG) IF_NAN("x", "c") MAP("y", "abs", "a", BIG));
}

/* Nothing that is tried reaches it. */
Test(same, a_choice_that_no_number_makes) {
    expect(NOT_COMPARED, "%a: tensor<" BIG ">",
           FULL("c", "3000.0", BIG) MAP("t", "tanh", "a", BIG) TWO("x", "minimum", "t", "c", BIG)
               MAP("y", "tanh", "a", BIG));
}
