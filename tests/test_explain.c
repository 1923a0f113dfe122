/* What explain says: for each kind of difference a place that has it, the ops that count as matched, and the words. */
#include "pattern_text.h"
#include "report/explain/near_miss.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct near_misses near;

static void forget(void) {
    free(near.items);
    memset(&near, 0, sizeof near);
    forget_ir();
}

static void teardown(void) {
    forget();
    search_teardown();
}

TestSuite(explain, .init = search_setup, .fini = teardown, .timeout = 30);

static void search(const char *args, const char *ops, bool all) {
    forget();
    ir_short(&ir, args, ops);
    struct automaton *automaton = automaton_new(&set);
    struct automaton_run *run = automaton_run_new(automaton, &ir.g);
    for (uint32_t f = 0; f < ir.m.nfuncs; f++) {
        match_function(&set, &ir.g, f, &arena, &list);
        near_misses_find(&set, run, &ir.g, f, all, &arena, &near);
    }
    automaton_run_free(run);
    automaton_free(automaton);
}

/* The closest place: so many ops of so many, and this difference. */
static const struct near_miss *differs(const char *args, const char *ops, const char *kind, const char *part,
                                       const char *reason, uint32_t n, uint32_t total) {
    const struct near_miss *best = NULL;
    search(args, ops, true);
    cr_assert_eq(list.n, 0, "it matches\n%s", ir.text);
    for (uint32_t i = 0; i < near.n; i++)
        if (!best || near_miss_rank(&near.items[i]) > near_miss_rank(best))
            best = &near.items[i];
    cr_assert_not_null(best, "nothing is near in\n%s", ir.text);
    cr_assert(str_is(best->reason, reason), "\"%s\"\nnot \"%s\"", best->reason.p, reason);
    cr_assert(str_is(best->part, part), "\"%s\"\nnot \"%s\"", best->part.p, part);
    cr_assert_str_eq(best->kind, kind);
    cr_assert_eq(best->nops, n, "%u of %u ops, not %u of %u", best->nops, best->total, n, total);
    cr_assert_eq(best->total, total, "%u of %u ops, not %u of %u", best->nops, best->total, n, total);
    return best;
}

#define XYZ "x:2x3 y:2x3 z:2x3"

/* ---- the ops ---- */

Test(explain, another_operator) {
    pattern("out = exp(neg(x)) + y", "");
    const struct near_miss *c =
        differs(XYZ, "a = ttir.abs x -> 2x3; e = ttir.exp a -> 2x3; o = ttir.add e y -> 2x3; return o", "operator",
                "neg(x)", "%a is ttir.abs at line 2, neg expected", 2, 3);
    cr_assert_eq(c->op, ir_op(&ir, "%a"));
    cr_assert_eq(c->root, ir_op(&ir, "%o"));
    cr_assert_not(c->whole);
    differs(XYZ, "e = ttir.exp x -> 2x3; o = ttir.add e y -> 2x3; return o", "operator", "neg(x)",
            "%x is an argument, neg expected", 2, 3);
}

Test(explain, all_alternatives_are_named) {
    pattern("s = relu(x) | silu(x) | gelu(x)\nout = exp(s) + y", "");
    differs(XYZ, "a = ttir.tanh x -> 2x3; e = ttir.exp a -> 2x3; o = ttir.add e y -> 2x3; return o", "operator",
            "s = relu(x) | silu(x) | gelu(x)", "%a is ttir.tanh at line 2, relu, silu or gelu expected", 2, 3);
}

Test(explain, what_comes_after_the_difference_counts) {
    pattern("out = exp(x) * neg(abs(y))", "");
    differs(
        XYZ,
        "e = ttir.sin x -> 2x3; a = ttir.abs y -> 2x3; n = ttir.neg a -> 2x3; o = ttir.multiply e n -> 2x3; return o",
        "operator", "exp(x)", "%e is ttir.sin at line 2, exp expected", 3, 4);
}

Test(explain, what_is_below_another_operator_counts_too) {
    pattern("out = exp(neg(abs(x))) + y", "");
    differs(XYZ,
            "a = ttir.abs x -> 2x3\nn = ttir.sin a -> 2x3\ne = ttir.exp n -> 2x3\no = ttir.add e y -> 2x3\nreturn o",
            "operator", "neg(abs(x))", "%n is ttir.sin at line 3, neg expected", 3, 4);
    pattern("m = softmax(neg(x), dim=-1)\nout = exp(m) * m", "");
    differs(XYZ,
            "n = ttir.neg x -> 2x3\ns = ttir.sigmoid n -> 2x3\ne = ttir.exp s -> 2x3\no = ttir.multiply e s -> 2x3\n"
            "return o",
            "operator", "m = softmax(neg(x), dim=-1)", "%s is ttir.sigmoid at line 3, softmax expected", 3, 4);
}

/* An op stands for another one of as many operands only: the operand behind is that of another op. */
Test(explain, what_is_below_an_op_of_fewer_operands_does_not_count) {
    const char *ops = "n = ttir.neg y; r = ttir.%s; t = ttir.tanh n; e = ttir.exp r; o = ttir.add e z; return o t";
    pattern("out = exp(x * neg(y)) + z", "");
    differs(XYZ, arena_printf(&arena, ops, "subtract x n").p, "operator", "x * neg(y)",
            "%r is ttir.subtract at line 2, multiply expected", 3, 4);
    differs(XYZ, arena_printf(&arena, ops, "relu x").p, "operator", "x * neg(y)",
            "%r is ttir.relu at line 2, multiply expected", 2, 4);
}

Test(explain, a_sum_of_nothing_or_of_too_much_has_no_index) {
    static const char *const shapes[][2] = {{"x:2x0 y:2x3", "2x1"}, {"x:4611686018427387904x4 y:2x3", "1x1"}};
    for (int i = 0; i < 2; i++) {
        pattern("out = exp(sum(neg(x))) + y", "");
        differs(shapes[i][0],
                arena_printf(&arena,
                             "n = ttir.neg x; s = ttir.sum n {dim_arg = [%s1], keep_dim = true} -> %s; e = ttir.exp s\n"
                             "o = ttir.add e y; return o",
                             i ? "0, " : "", shapes[i][1])
                    .p,
                "index", "sum(neg(x))", "%s (ttir.sum at line 2) moves elements in a way that is not understood", 2, 4);
    }
}

Test(explain, an_op_that_is_missing_and_one_too_many) {
    pattern("out = exp(neg(abs(x))) + y", "");
    const struct near_miss *c =
        differs(XYZ, "a = ttir.abs x -> 2x3\ne = ttir.exp a -> 2x3\no = ttir.add e y -> 2x3\nreturn o", "operator",
                "neg(abs(x))", "%a is ttir.abs at line 2, neg expected", 3, 4);
    cr_assert_str_eq(c->hint, "all else matches: the op is missing");
    c = differs(XYZ,
                "a = ttir.abs x -> 2x3\nn = ttir.neg a -> 2x3\nt = ttir.tanh n -> 2x3\ne = ttir.exp t -> 2x3\n"
                "o = ttir.add e y -> 2x3\nreturn o",
                "operator", "neg(abs(x))", "%t is ttir.tanh at line 4, neg expected", 4, 4);
    cr_assert_str_eq(c->hint, "all else matches: the op is one too many");
}

Test(explain, operands_in_either_order) {
    pattern("out = exp(neg(x)) + abs(y)", "");
    differs(XYZ, "e = ttir.exp x -> 2x3; a = ttir.abs y -> 2x3; o = ttir.add a e -> 2x3; return o", "operator",
            "neg(x)", "%x is an argument, neg expected", 3, 4);
}

Test(explain, movement_is_looked_through) {
    pattern("out = exp(neg(x)) + y", "");
    differs(
        "x:3x2 y:2x3",
        "a = ttir.abs x -> 3x2; t = ttir.transpose a {dim0 = 0 : si32, dim1 = 1 : si32} -> 2x3; e = ttir.exp t -> 2x3\n"
        "o = ttir.add e y -> 2x3; return o",
        "operator", "neg(x)", "%a is ttir.abs at line 2, neg expected", 2, 3);
}

Test(explain, more_is_folded_in) {
    pattern("out = exp(matmul(a, b))", "");
    differs("a:2x4 b:4x3", "p = ttnn.matmul a b {activation = \"relu\"} -> 2x3; o = ttnn.exp p -> 2x3; return o",
            "folded", "a @ b", "%p (ttnn.matmul at line 2) has more folded into it: activation = \"relu\"", 1, 2);
}

Test(explain, attribute) {
    pattern("out = exp(gelu(x, compute_config=tanh))", "");
    differs("x:2x3", "g = ttir.gelu x {compute_config = \"none\"} -> 2x3; o = ttir.exp g -> 2x3; return o", "attribute",
            "gelu(x, compute_config=tanh)", "%g (ttir.gelu at line 2) has compute_config = \"none\", tanh expected", 1,
            2);
    differs("x:2x3", "g = ttir.gelu x -> 2x3; o = ttir.exp g -> 2x3; return o", "attribute",
            "gelu(x, compute_config=tanh)", "%g (ttir.gelu at line 2) has no compute_config, tanh expected", 1, 2);
    pattern("out = exp(gelu(neg(x), compute_config=tanh))", ""); /* what is below it counts too */
    differs("x:2x3", "n = ttir.neg x -> 2x3; g = ttir.gelu n -> 2x3; o = ttir.exp g -> 2x3; return o", "attribute",
            "gelu(neg(x), compute_config=tanh)", "%g (ttir.gelu at line 2) has no compute_config, tanh expected", 2, 3);
    pattern("out = exp(gelu(x, compute_config=none))", "");
    search("x:2x3", "g = ttir.gelu x {compute_config = \"tanh\"} -> 2x3; o = ttir.exp g -> 2x3; return o", true);
    cr_assert_eq(near.n, 1);
    cr_assert(str_ends(near.items[0].reason, STR("has compute_config = \"tanh\", none expected")));
}

Test(explain, operand_that_is_an_attribute) {
    pattern("out = exp(clamp(x, 0, 6))", "");
    differs("x:2x3",
            "c = ttir.clamp_scalar x {min = 0.0 : f32, max = 5.0 : f32} -> 2x3; o = ttir.exp c -> 2x3; return o",
            "attribute", "clamp(x, 0, 6)", "%c (ttir.clamp_scalar at line 2) has max = 5, 6 expected", 2, 2);
}

Test(explain, number_of_operands) {
    pattern("out = exp(linear(a, b, c))", "");
    differs("a:2x4 b:4x3", "p = ttnn.linear a b -> 2x3; o = ttnn.exp p -> 2x3; return o", "operands", "linear(a, b, c)",
            "%p (ttnn.linear at line 2) has 2 operands, 3 expected", 1, 2);
}

Test(explain, axis) {
    pattern("out = exp(mean(x, dim=-1))", "");
    differs("x:2x3", "m = ttir.mean x {dim_arg = [0 : i32], keep_dim = true} -> 1x3; o = ttir.exp m -> 1x3; return o",
            "axis", "mean(x, dim=-1)",
            "%m (ttir.mean at line 2), with dim_arg = [0 : i32], works along another axis than -1 of the formula", 1,
            2);
    pattern("out = exp(concat(x, y, dim=-1))", "");
    differs(XYZ, "c = ttir.concat x y {dim = 0} -> 4x3; o = ttir.exp c -> 4x3; return o", "axis",
            "concat(x, y, dim=-1)",
            "%c (ttir.concat at line 2), with dim = 0 : si32, works along another axis than -1 of the formula", 1, 2);
    pattern("out = exp(concat(neg(x), y, dim=-1))", "");
    differs(XYZ, "n = ttir.neg x; c = ttir.concat n y {dim = 0} -> 4x3; o = ttir.exp c -> 4x3; return o", "axis",
            "concat(neg(x), y, dim=-1)",
            "%c (ttir.concat at line 2), with dim = 0 : si32, works along another axis than -1 of the formula", 2, 3);
}

Test(explain, part_of_a_slice) {
    pattern("out = exp(slice(x, dim=-1, part=0, of=2))", "");
    differs(
        "x:2x8",
        "s = ttir.slice_static x {begins = [0 : i32, 4 : i32], ends = [2 : i32, 8 : i32], step = [1 : i32, 1 : i32]} "
        "-> 2x4; o = ttir.exp s -> 2x4; return o",
        "part", "slice(x, dim=-1, part=0, of=2)",
        "%s (ttir.slice_static at line 2) cuts dimension 1 from 4 to 8 by 1, part=0, of=2 expected", 1, 2);
}

Test(explain, rows_and_columns_of_a_product) {
    pattern("out = matmul(exp(matmul(a, b)), v)", "");
    differs("a:2x4 b:4x8 v:4x4",
            "s = ttir.matmul a b -> 2x8; r = ttir.reshape s {shape = [4 : i32, 4 : i32]} -> 4x4\n"
            "e = ttir.exp r -> 4x4; o = ttir.matmul e v -> 4x4; return o",
            "axis", "a @ b", "%s (ttir.matmul at line 2) has its rows and columns in other places than the formula", 2,
            3);
}

/* ---- numbers and names ---- */

Test(explain, constant_of_another_value) {
    pattern("s = x * sqrt(extent(x, -1))\nout = exp(s) + y", "");
    differs("x:2x64 y:2x64",
            "c = ttir.full {shape = array<i32: 1, 1>, fill_value = 7.0 : f32} -> 1x1; m = ttir.multiply x c -> 2x64\n"
            "e = ttir.exp m -> 2x64; o = ttir.add e y -> 2x64; return o",
            "number", "sqrt(extent(x, -1))", "%c is 7, sqrt(64) = 8 expected", 3, 3);
}

Test(explain, number_that_is_not_known) {
    pattern("out = exp(x * 2)", "");
    const char *const ops = "m = ttir.multiply x y -> 2x3; o = ttir.exp m -> 2x3; return o";
    differs("x:2x3!input y:2x3!input", ops, "number", "2", "%y is an input of the model, 2 expected", 2, 2);
    differs("x:2x3!parameter y:2x3!parameter!scale", ops, "number", "2",
            "%y (scale) is an argument whose value is not in the file, 2 expected", 2, 2);
    differs(XYZ,
            "n = ttir.neg y -> 2x3; m = ttir.subtract x n -> 2x3; o = ttir.multiply m n -> 2x3; p = ttir.exp o -> 2x3; "
            "return p",
            "number", "2", "%n (ttir.neg at line 2) is no known number, 2 expected", 2, 2);
}

Test(explain, another_value_of_a_name) {
    pattern("out = exp(x) * neg(x)", "");
    differs(XYZ, "e = ttir.exp x -> 2x3\nn = ttir.neg y -> 2x3\no = ttir.multiply e n -> 2x3\nreturn o", "value", "x",
            "x is %y here and %x elsewhere", 3, 3);
    pattern("s = exp(x)\nout = neg(s) * abs(s)", "");
    differs(XYZ,
            "e = ttir.exp x -> 2x3\nf = ttir.exp x -> 2x3\nn = ttir.neg e -> 2x3\na = ttir.abs f -> 2x3\n"
            "o = ttir.multiply n a -> 2x3\nreturn o",
            "value", "s = exp(x)", "s is %f (ttir.exp at line 3) here and %e (ttir.exp at line 2) elsewhere", 4, 4);
}

Test(explain, the_same_value_at_another_index) {
    pattern("out = exp(x) * neg(x)", "");
    differs("x:3x3",
            "t = ttir.transpose x {dim0 = 0 : si32, dim1 = 1 : si32} -> 3x3; e = ttir.exp x -> 3x3\n"
            "n = ttir.neg t -> 3x3; o = ttir.multiply e n -> 3x3; return o",
            "value", "x",
            "x is %x both times, but with its elements at other places: moved, cut or broadcast in another way", 3, 3);
}

/* ---- whole matches ---- */

Test(explain, user_outside) {
    pattern("out = exp(neg(x)) + y", "");
    const struct near_miss *c = differs(
        XYZ, "n = ttir.neg x -> 2x3\ne = ttir.exp n -> 2x3\no = ttir.add e y -> 2x3\nq = ttir.abs n -> 2x3\nreturn o q",
        "user", "", "%n (ttir.neg at line 2) has a user outside: %q (ttir.abs at line 5)", 3, 3);
    cr_assert(c->whole);
    differs(XYZ, "n = ttir.neg x -> 2x3\ne = ttir.exp n -> 2x3\no = ttir.add e y -> 2x3\nreturn o e", "user", "",
            "%e (ttir.exp at line 3) has a user outside: func.return at line 5", 3, 3);
}

Test(explain, conditions) {
    const char *const ops = "e = ttir.exp x -> 2x3; o = ttir.add e y -> 2x3; return o";
    pattern("out = exp(x) + y", "where: row_vector(y)");
    const struct near_miss *c = differs(XYZ, ops, "where", "row_vector(y)", "does not hold: y is %y 2x3", 2, 2);
    cr_assert_str_eq(c->hint, "row_vector(x, of): varies along the last axis only");
    pattern("out = exp(x) + y", "require: extent(x, -1) == 4 * size(y, 0)");
    differs(XYZ, ops, "require", "extent(x, -1) == 4 * size(y, 0)", "does not hold: 3 == 8; x is %x 2x3, y is %y 2x3",
            2, 2);
    pattern("out = exp(x) + y", "unless: numel(x) < 10 & not(constant(y))");
    differs(XYZ, ops, "unless", "numel(x) < 10 & not(constant(y))",
            "holds: 6 < 10 & not(constant(y)); x is %x 2x3, y is %y 2x3", 2, 2);
    pattern("out = exp(x) + y", "require: same_dtype(x, y)"); /* and not the numbers that it is made of */
    differs("x:2x3 y:2x3xbf16", ops, "require", "same_dtype(x, y)", "does not hold: x is %x 2x3xf32, y is %y 2x3xbf16",
            2, 2);
}

Test(explain, hidden_places) {
    const char *const ops = "e = ttir.exp x -> 2x3 @a; o = ttir.add e y -> 2x3 @a; return o";
    pattern("out = exp(x) + y", "decomposed: one_location()");
    const struct near_miss *c =
        differs(XYZ, ops, "decomposed", "one_location()", "the compiler took it apart on purpose", 2, 2);
    cr_assert(c->whole);
    cr_assert_str_eq(c->hint, "--include=decomposed reports it");
    pattern("out = exp(x) + y", "block: [{when: 'extent(x, -1) == 3', say: no}]");
    differs(XYZ, ops, "block", "extent(x, -1) == 3", "known to be unsafe or disabled", 2, 2);
}

Test(explain, the_condition_is_that_of_the_pattern_which_failed) {
    pattern_file("name: p\nfused_op: ttnn.p\nsource: ttnn\nmatch: out = exp(x) + y\nrequire: extent(x, -1) == 4\n---\n"
                 "name: q\nlike: p\nfused_op: ttnn.q\nsource: ttnn\nrequire: extent(x, -1) == 5\n");
    const struct pattern *q = set.items[1];
    cr_assert(str_is(q->name, "q"));
    ir_short(&ir, XYZ, "e = ttir.exp x -> 2x3; o = ttir.add e y -> 2x3; return o");
    struct near_miss c;
    cr_assert(near_miss_of(q->variant_of, q, &ir.g, ir_func(&ir, "main"), 0, &arena, &c));
    cr_assert_eq(c.pattern, q);
    cr_assert(str_is(c.part, "extent(x, -1) == 5"), "%s", c.part.p);
}

Test(explain, of_places_that_are_as_close_the_last_one_is_meant) {
    pattern("out = x * exp(y)", "");
    ir_short(&ir, XYZ, "a = ttir.multiply x x -> 2x3; l = ttir.log y -> 2x3; o = ttir.multiply a l -> 2x3; return o");
    struct near_miss c;
    cr_assert(near_miss_of(set.items[0], set.items[0], &ir.g, ir_func(&ir, "main"), 0, &arena, &c));
    cr_expect(str_is(c.reason, "%l is ttir.log at line 2, exp expected"), "%s", c.reason.p);
}

Test(explain, secondary_root) {
    pattern("a = exp(x)\nout = neg(a)\nalso b = abs(a)", "escapes: [a]");
    differs(XYZ, "e = ttir.exp x -> 2x3; n = ttir.neg e -> 2x3; b = ttir.sin e -> 2x3; return n b", "line",
            "b = abs(a)", "no further op is that", 2, 3);
}

Test(explain, condition_on_the_first_line_of_several) {
    pattern("a = exp(x)\nout = neg(a)\nalso b = abs(a)", "escapes: [a]\nwhere: extent(x, -1) == 4");
    differs(XYZ, "e = ttir.exp x -> 2x3; n = ttir.neg e -> 2x3; b = ttir.abs e -> 2x3; return n b", "where",
            "extent(x, -1) == 4", "does not hold: 3 == 4; x is %x 2x3", 3, 3);
}

Test(explain, search_limit) {
    pattern("out = exp(exp(exp(exp(x)))) + y", "");
    set.max_steps = 3;
    search(XYZ,
           "a = ttir.exp x -> 2x3; b = ttir.exp a -> 2x3; c = ttir.exp b -> 2x3; d = ttir.exp c -> 2x3\n"
           "o = ttir.add d y -> 2x3; return o",
           false);
    cr_assert_eq(near.n, 1);
    cr_assert_str_eq(near.items[0].kind, "limit");
    cr_assert(str_is(near.items[0].reason, "the search was given up after 3 steps"), "%s", near.items[0].reason.p);
}

/* ---- what is close ---- */

/* Each line has three alternatives that use the line before it: 3^28 ways to take them. */
Test(explain, alternatives_of_alternatives_are_counted_once_each) {
    struct str lines = STR("l0 = exp(x) | neg(x)");
    for (int i = 1; i < 29; i++)
        lines = arena_printf(&arena, "%.*s\nl%d = exp(l%d) * l%d | neg(l%d) * l%d | tanh(l%d) * l%d", (int)lines.n,
                             lines.p, i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    char *text = strdup(arena_printf(&arena, "%.*s\nout = relu(l28) + y", (int)lines.n, lines.p).p);
    pattern(text, "");
    free(text);
    differs(XYZ, "s = ttir.sin x -> 2x3; r = ttir.relu s -> 2x3; o = ttir.add r y -> 2x3; return o", "operator",
            "l28 = exp(l27) * l27 | neg(l27) * l27 | tanh(l27) * l27", "%s is ttir.sin at line 2, multiply expected", 2,
            2 + 28 * 2 + 1);
}

Test(explain, nothing_is_close) {
    pattern("out = exp(neg(abs(x))) + y", "");
    search(XYZ, "a = ttir.sin x -> 2x3; o = ttir.add a y -> 2x3; return o", false);
    cr_assert_eq(near.n, 0, "one op of four is not close");
    search(XYZ, "a = ttir.abs x -> 2x3; e = ttir.exp a -> 2x3; o = ttir.add e y -> 2x3; return o", false);
    cr_assert_eq(near.n, 1, "two of four are");
    search(XYZ, "a = ttir.sin x -> 2x3; return a", true);
    cr_assert_eq(near.n, 0, "there is no op that could be the root");
}

static uint32_t taken[8], ntaken, done;

static void take(void *self, const struct near_miss *c) {
    (void)self;
    taken[ntaken++] = c->root;
}

static bool is_done(void *self, const struct pattern *p, uint32_t root) {
    (void)self;
    (void)p;
    return root == done;
}

Test(explain, the_closest_is_taken_first_and_no_root_that_is_done_is_searched) {
    pattern("out = exp(neg(abs(x))) + y", "");
    search(XYZ,
           "e = ttir.exp x -> 2x3; o = ttir.add e y -> 2x3\n"
           "n = ttir.neg z -> 2x3; f = ttir.exp n -> 2x3; p = ttir.add f o -> 2x3; return p",
           false);
    uint32_t far = ir_op(&ir, "%o"), close = ir_op(&ir, "%p");
    cr_assert_eq(near.n, 2);
    for (int i = 0; i < 2; i++) {
        free(near.items);
        near = (struct near_misses){.take = take, .is_done = is_done};
        done = i ? far : NONE;
        ntaken = 0;
        near_misses_find(&set, NULL, &ir.g, ir_func(&ir, "main"), false, &arena, &near);
        cr_assert_eq(ntaken, i ? 1 : 2);
        cr_assert_eq(taken[0], close);
        cr_assert(i || taken[1] == far);
    }
}

/* Of alternatives that differ in their operator alone the first one says it for all; one that is there behind an op too
 * many, or has other operands, is closer. */
Test(explain, alternatives_of_another_operator) {
    pattern("u = exp(x) | neg(x) | abs(x)\nout = relu(u) + y", "");
    differs(XYZ, "s = ttir.sin x -> 2x3; r = ttir.relu s -> 2x3; o = ttir.add r y -> 2x3; return o", "operator",
            "u = exp(x) | neg(x) | abs(x)", "%s is ttir.sin at line 2, exp, neg or abs expected", 2, 3);
    differs(XYZ,
            "a = ttir.abs x -> 2x3; s = ttir.sin a -> 2x3; r = ttir.relu s -> 2x3; o = ttir.add r y -> 2x3; return o",
            "operator", "u = exp(x) | neg(x) | abs(x)", "%s is ttir.sin at line 2, exp, neg or abs expected", 3, 3);
    pattern("u = exp(x) * x | exp(x) - tanh(x)\nout = relu(u) + y", "");
    differs(XYZ,
            "e = ttir.exp x -> 2x3; t = ttir.tanh x -> 2x3; m = ttir.maximum e t -> 2x3; r = ttir.relu m -> 2x3\n"
            "o = ttir.add r y -> 2x3; return o",
            "operator", "u = exp(x) * x | exp(x) - tanh(x)",
            "%m is ttir.maximum at line 2, multiply or subtract expected", 4, 5);
}

Test(explain, matches_are_those_of_an_audit) {
    pattern("out = exp(x) + y", "");
    search(XYZ, "e = ttir.exp x -> 2x3; o = ttir.add e y -> 2x3; return o", true);
    cr_assert_eq(list.n, 1);
    cr_assert_eq(near.n, 0);
}
