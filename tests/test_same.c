/* Whether two values are the same function, by elements at their own shapes. */
#include "ir_text.h"
#include "patterns/library/pattern.h"
#include "proof/elements/same.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct arena arena;
static struct pattern_set patterns;

static void setup(void) {
    struct diags diags = {.arena = &arena};
    cr_assert(patterns_load_bundled(&patterns, getenv("FA_PATTERNS"), &diags));
}

static void teardown(void) {
    arena_free(&arena);
    patterns_free(&patterns);
}

TestSuite(same, .init = setup, .fini = teardown);

enum { SAME = VERDICT_SAME, DIFFERENT = VERDICT_DIFFERENT, NOT_COMPARED = VERDICT_NONE };

/* Of %x and %y; 1/49 may be what was rounded to bf16. */
static struct verdict ask(const char *args, const char *body, uint64_t seed) {
    static const struct loose_constant loose[] = {{.number = 2.038570e-02, .error = 0x1p-14},
                                                  {.number = 2.099610e-02, .error = 0x1p-14}};
    struct ir ir;
    struct problem *p = arena_alloc(&arena, sizeof *p);
    ir_main(&ir, args, body);
    uint32_t *ops = arena_alloc(&arena, (ir.m.nops + (size_t)1) * sizeof *ops), n = 0;
    for (uint32_t op = 0; op < ir.m.nops; op++)
        if (graph_class(&ir.g, op) != OP_STRUCTURE && graph_class(&ir.g, op) != OP_CONSTANT &&
            ir.g.kind[op] != K_RETURN)
            ops[n++] = op;
    const uint32_t values[] = {ir_value(&ir, "%x"), ir_value(&ir, "%y")};
    *p = (struct problem){.lowerings = &patterns,
                          .program = {.graph = &ir.g, .ops = ops, .nops = n},
                          .values = values,
                          .nvalues = 2,
                          .outputs = {{0, 1}},
                          .noutputs = 1,
                          .name = "AFTER",
                          .devices = 1,
                          .product_op = NONE,
                          .loose = loose,
                          .nloose = 2,
                          .choices = true};
    for (uint32_t i = 0; i < ir.m.funcs[0].nargs; i++)
        problem_add_input(p, ir.m.funcs[0].first_arg + i, NULL);
    problem_facts(p);
    struct verdict v = same_try(p, (struct effort){.seed = seed, .samples = 2, .thorough = true}, &arena);
    ir_free(&ir);
    return v;
}

static void expect(unsigned is, const char *args, const char *body) {
    for (uint64_t seed = 0; seed < 16; seed++) {
        struct verdict v = ask(args, body, seed);
        cr_assert_eq((unsigned)v.kind, is, "seed %d: %d, %.*s", (int)seed, (int)v.kind, (int)v.why.text.n,
                     v.why.text.p);
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
    struct verdict a = ask("%a: tensor<4096x49xf32>", MEAN("2.038570e-02"), 0);
    cr_assert_eq((unsigned)a.kind, SAME);
    cr_assert(a.rounding > 1e-6 && a.rounding < 1e-2, "%g", a.rounding);
    expect(DIFFERENT, "%a: tensor<4096x49xf32>", MEAN("2.099610e-02"));
}

Test(same, what_is_large_or_not_known) {
    struct verdict a = ask("%a: tensor<65536x65536xf32>",
                           "%x = \"ttir.sum\"(%a) <{keep_dim = false}> : (tensor<65536x65536xf32>) -> tensor<f32>\n"
                           "%y = \"ttir.mean\"(%a) <{keep_dim = false}> : (tensor<65536x65536xf32>) -> tensor<f32>\n",
                           0);
    cr_assert_eq((unsigned)a.kind, DIFFERENT); /* of inputs that vary along one dimension */
    a = ask("%a: tensor<" BIG ">",
            "%x = \"ttir.nonsense\"(%a) : (tensor<" BIG ">) -> tensor<" BIG ">\n" MAP("y", "relu", "a", BIG), 0);
    cr_assert_eq((unsigned)a.kind, NOT_COMPARED);
    cr_assert(str_find(a.why.text, STR("nonsense")));
    a = ask("%a: tensor<8x8xf32>",
            "%x = \"ttir.constant\"() <{value = unread}> : () -> tensor<8x8xf32>\n" MAP("y", "relu", "a", "8x8xf32"),
            0);
    cr_assert_eq((unsigned)a.kind, NOT_COMPARED);
}

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
    expect(DIFFERENT, many, PART("x", "1000", "700", "300") PART("y", "1000", "701", "299"));
}

Test(same, whole_numbers_and_jumps) {
    expect(SAME, "%a: tensor<8x8xi32>", TWO("x", "add", "a", "a", "8x8xi32") TWO("y", "add", "a", "a", "8x8xi32"));
    expect(DIFFERENT, "%a: tensor<8x8xf32>, %b: tensor<8x8xf32>",
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

/* Whole numbers that are compared meet both answers, or tell nothing. */
#define CHOSEN(name, op)                                                                                               \
    "%t" name " = \"ttir." op "\"(%n, %c) : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>\n"                    \
    "%" name " = \"ttir.where\"(%t" name ", %a, %b) : (tensor<8x8xi1>, tensor<8x8xf32>, tensor<8x8xf32>) -> "          \
    "tensor<8x8xf32>\n"

Test(same, a_choice_that_no_number_makes) {
    const char *args = "%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %n: tensor<8x8xi32>, %m: tensor<8x8xi32>";
    const char *same =
        "%c = \"ttir.abs\"(%m) : (tensor<8x8xi32>) -> tensor<8x8xi32>\n" CHOSEN("x", "lt") CHOSEN("y", "lt");
    const char *far = "%z = \"ttir.constant\"() <{value = dense<0> : tensor<8x8xi32>}> : () -> tensor<8x8xi32>\n"
                      "%c = \"ttir.multiply\"(%m, %z) : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi32>\n"
                      "%n2 = \"ttir.multiply\"(%n, %z) : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi32>\n"
                      "%tx = \"ttir.lt\"(%n2, %c) : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>\n"
                      "%x = \"ttir.where\"(%tx, %a, %b) : (tensor<8x8xi1>, tensor<8x8xf32>, tensor<8x8xf32>) -> "
                      "tensor<8x8xf32>\n" MAP("y", "abs", "b", "8x8xf32");
    expect(SAME, args, same);
    cr_assert_neq((unsigned)ask(args, far, 0).kind, SAME);
}
