/* Limits of the search, which of several matches stay, and the cache of matches; the language itself: match.txt. */
#include "pattern_text.h"
#include "search/match/search_graph.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(match, .init = search_setup, .fini = search_teardown, .timeout = 30);

static void hit(const char *args, const char *ops) {
    cr_assert_eq(search_all(args, ops), 1, "%u places, not 1, in\n%s", list.n, ir.text);
}

static void miss(const char *args, const char *ops) {
    cr_assert_eq(search_all(args, ops), 0, "%u places, not 0, in\n%s", list.n, ir.text);
}

static const struct match *found(void) {
    cr_assert_eq(list.n, 1);
    return &list.items[0];
}

#define MM "x:2x3 y:2x3 z:2x3 w:2x3 "

Test(match, movement_between_two_ops_has_a_limit) {
    pattern("out = exp(x) + y", "");
    for (uint32_t n = 48; n < 50; n++) {
        struct buf ops = {0};
        buf_printf(&ops, "m0 = ttir.exp x -> 2x3; ");
        for (uint32_t i = 0; i < n; i++)
            buf_printf(&ops, "m%u = ttir.typecast m%u -> 2x3; ", i + 1, i);
        buf_printf(&ops, "o = ttir.add m%u y -> 2x3; return o%c", n, '\0');
        (n == 48 ? hit : miss)("x:2x3 y:2x3", ops.p);
        buf_free(&ops);
    }
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

#define RULE(name, match) "---\nname: " name "\nfused_op: f\nsource: ttnn\nmatch: out = " match "\n"

/* What is kept of matches that overlap, by what each saves for certain and at most. */
Test(match, of_what_overlaps_the_set_that_saves_most_is_kept) {
    static const char *const ops = "e = ttir.exp x; s = ttir.add e y; m = ttir.multiply s z; o = ttir.tanh m; return o";
    struct {
        const char *yaml;
        struct saved_by by[3];
        uint32_t n; /* that are kept */
        const char *first;
    } rows[] = {
        /* a part only where it saves more than the whole may */
        {RULE("small", "exp(x) + y") RULE("large", "(exp(x) + y) * z"),
         {{"small", {3, 4, 0}}, {"large", {1, 2, 0}}},
         1,
         "small"},
        {RULE("small", "exp(x) + y") RULE("large", "(exp(x) + y) * z"),
         {{"small", {3, 4, 0}}, {"large", {1, 5, 0}}},
         1,
         "large"},
        {RULE("first", "exp(x) + y") RULE("middle", "(x + y) * z") RULE("last", "tanh(x * z)"),
         {{"first", {3, 3, 0}}, {"middle", {5, 9, 0}}, {"last", {3, 3, 0}}},
         2,
         "first"},
        {RULE("first", "exp(x) + y") RULE("middle", "(x + y) * z") RULE("last", "tanh(x * z)"),
         {{"first", {3, 3, 0}}, {"middle", {7, 9, 0}}, {"last", {3, 3, 0}}},
         1,
         "middle"},
        /* a part of what is not kept stands for itself */
        {RULE("small", "exp(x) + y") RULE("large", "(exp(x) + y) * z") RULE("last", "tanh(x * z)"),
         {{"small", {3, 3, 0}}, {"large", {5, 5, 0}}, {"last", {4, 9, 0}}},
         1,
         "large"},
        {RULE("small", "exp(x) + y") RULE("large", "(exp(x) + y) * z") RULE("last", "tanh(x * z)"),
         {{"small", {3, 3, 0}}, {"large", {5, 5, 0}}, {"last", {7, 9, 0}}},
         2,
         "small"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        resolve_by(rows[i].yaml, ops, rows[i].by);
        cr_expect_eq(list.n, rows[i].n, "row %zu", i);
        cr_expect(str_is(list.items[0].pattern->name, rows[i].first), "row %zu", i);
    }
}

Test(match, what_only_the_library_has_stays_where_it_saves_more_than_what_it_takes) {
    const char *yaml = "name: one\nfused_op: ttnn.one\nstatus: {level: ttir}\nmatch: out = exp(x) * w\n---\n"
                       "name: two\nfused_op: ttnn.two\nsource: ttnn\nstatus: {level: library}\n"
                       "match: |\n  out = exp(x) * w\n  also other = exp(y) * w\nwhere: [\"after(other, out)\"]\n";
    const char *ops = "a = ttir.exp x; p = ttir.multiply a z; b = ttir.exp y; q = ttir.multiply b z; return p q";
    static const struct {
        struct saved_by by[2];
        uint32_t n; /* that are kept */
    } rows[] = {{{{"one", {3, 3, 1}}, {"two", {5, 9, 3}}}, 2},
                {{{"one", {3, 3, 1}}, {"two", {7, 9, 3}}}, 3},
                {{{"one", {3, 3, 1}}, {"two", {7, 9, 2}}}, 2},
                /* what the dialect has is slower */
                {{{"one", {-1, 0, 1}}, {"two", {1, 2, 1}}}, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        resolve_by(yaml, ops, (struct saved_by[]){rows[i].by[0], rows[i].by[1]});
        cr_expect_eq(list.n, rows[i].n, "row %zu", i);
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
               b.p, (struct saved_by[]){{"two", {1, 1, 0}}, {"last", {2, 2, 0}}});
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

Test(match, what_is_to_be_run_on_the_host_is_in_no_match) {
    pattern("out = exp(x) + y", "");
    const char *text = "module {\nfunc.func @f(%%x: tensor<2x3xf32>, %%y: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
                       "%%0 = \"ttir.exp\"(%%x) %s: (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
                       "%%1 = \"ttir.add\"(%%0, %%y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n"
                       "return %%1 : tensor<2x3xf32>\n}\n}\n";
    cr_expect_eq(search_text(arena_printf(&arena, text, "").p), 1);
    cr_expect_eq(search_text(arena_printf(&arena, text, "{ttir.should_hoist} ").p), 0);
}
