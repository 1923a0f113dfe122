/* Which of several near misses explain speaks of, and how near they are; what it says of each difference: explain.txt.
 */
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
        near_misses_find(&set, run, &ir.g, f, &(struct near_query){.least = all ? 1 : LEAST_OPS}, &arena, &near);
    }
    automaton_run_free(run);
    automaton_free(automaton);
}

/* As explain searches: only where enough ops can match. */
static bool is_found_near(const char *args, const char *ops, const char *reason) {
    bool found = false;
    search(args, ops, false);
    for (uint32_t i = 0; i < near.n; i++)
        found |= str_is(near.items[i].reason, reason);
    return found;
}

/* The closest place: so many ops of so many, and this difference. */
static const struct near_miss *differs(const char *args, const char *ops, const char *kind, const char *part,
                                       const char *reason, uint32_t n, uint32_t total) {
    const struct near_miss *best = NULL;
    bool is_near = n >= LEAST_OPS && 2 * n >= total;
    cr_assert(!is_near || is_found_near(args, ops, reason), "\"%s\" is lost", reason);
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

Test(explain, what_is_near_behind_one_difference_alone) {
    pattern("out = exp(neg(abs(x)))", "");
    differs("x:2x3", "a = ttir.abs x -> 2x3; t = ttir.tanh a -> 2x3; o = ttir.exp t -> 2x3; return o", "operator",
            "neg(abs(x))", "%t is ttir.tanh at line 2, neg expected", 2, 3);
    differs("x:2x3", "a = ttir.abs x -> 2x3; o = ttir.exp a -> 2x3; return o", "operator", "neg(abs(x))",
            "%a is ttir.abs at line 2, neg expected", 2, 3);
    pattern("out = exp(neg(x))", "");
    differs("x:2x3", "n = ttir.neg x -> 2x3; t = ttir.tanh n -> 2x3; o = ttir.exp t -> 2x3; return o", "operator",
            "neg(x)", "%t is ttir.tanh at line 2, neg expected", 2, 2);
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
    pattern("out = exp(x) + y", "where: same_dtype(x, y) & row_vector(y)"); /* the part that fails is said */
    c = differs(XYZ, ops, "where", "row_vector(y)", "does not hold: y is %y 2x3", 2, 2);
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
    pattern("out = exp(x) + y", "decomposed: one_location() & extent(x, -1) == 3"); /* all of it holds */
    differs(XYZ, ops, "decomposed", "one_location() & extent(x, -1) == 3", "the compiler took it apart on purpose", 2,
            2);
    pattern("out = exp(x) + y", "require: one_location() & extent(x, -1) == 4"); /* the part that fails */
    differs(XYZ, ops, "require", "extent(x, -1) == 4", "does not hold: 3 == 4; x is %x 2x3", 2, 2);
    pattern("out = exp(x) + y", "block: [{when: 'extent(x, -1) == 3', say: too few columns.}]");
    differs(XYZ, ops, "block", "extent(x, -1) == 3", "too few columns", 2, 2);
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

Test(explain, matches_are_those_of_an_audit) {
    pattern("out = exp(x) + y", "");
    search(XYZ, "e = ttir.exp x -> 2x3; o = ttir.add e y -> 2x3; return o", true);
    cr_assert_eq(list.n, 1);
    cr_assert_eq(near.n, 0);
}
