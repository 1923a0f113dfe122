/* What the search and its conditions say at the limits of what they know, where match.txt cannot ask it. */
#include "pattern_text.h"
#include "search/match/conditions.h"
#include "search/match/matcher.h"

#include <criterion/criterion.h>

TestSuite(match_limits, .init = search_setup, .fini = search_teardown, .timeout = 30);

#define GROUP(x, apart, mean)                                                                                          \
    "y = ttir.reshape " x " -> " apart "; m = ttir.mean y {dim_arg = [2], keep_dim = true} -> " mean                   \
    "; d = ttir.subtract y m -> " apart "\n"
#define FIRST(dim)                                                                                                     \
    "c = ttir.conv2d x w -> 1x2x1x3; p = ttir.permute c {permutation = [3, 0, 1, 2]} -> 3x1x2x1\n"                     \
    "o = ttir.batch_norm_inference p a b m v {dimension = " dim " : i32} -> 3x1x2x1; return o"

/* Places that compute what their formula does in another order of elements: `patterns test` would refute them. */
static const struct {
    const char *formula, *keys, *args, *found, *missed;
} rows[] = {
    {"m = mean(x)\nout = exp(x - m)", "where: channel_groups(m, 1)", "x:2x4x2x3 z:1x4x1x1",
     GROUP("x", "2x2x12", "2x2x1") "o = ttir.reshape d -> 2x4x2x3; e = ttir.exp o; return e",
     GROUP("z", "1x2x2", "1x2x1") "o = ttir.reshape d -> 1x4x1x1; e = ttir.exp o; return e"},
    {"m = mean(x)\nout = exp(x - m)", "where: channel_groups(m, 1)", "x:2x4x2x3 z:4x12",
     GROUP("x", "2x2x12", "2x2x1") "o = ttir.reshape d -> 2x4x2x3; e = ttir.exp o; return e",
     GROUP("z", "4x3x4", "4x3x1") "o = ttir.reshape d -> 4x12; e = ttir.exp o; return e"},
    {"c = conv2d(x, w)\nout = batch_norm_inference(c, a, b, m, v)", "where: normalizes_channels(out, c)",
     "x:1x2x1x2 w:3x2x1x1 a:3 b:3 m:3 v:3", FIRST("0"), FIRST("2")},
};

Test(match_limits, one_place_is_found_and_the_other_is_not) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pattern(rows[i].formula, rows[i].keys);
        cr_expect_eq(search_all(rows[i].args, rows[i].found), 1, "row %zu, %u places in\n%s", i, list.n, ir.text);
        pattern(rows[i].formula, rows[i].keys);
        cr_expect_eq(search_all(rows[i].args, rows[i].missed), 0, "row %zu: %u places in\n%s", i, list.n, ir.text);
    }
}

/* `n` ops in a row between the exp of x and a tanh. */
static const char *chain(const char *op, int n) {
    struct str text = STR("c0 = ttir.exp x;");
    for (int i = 0; i < n; i++)
        text = arena_printf(&arena, "%.*s c%d = ttir.%s;", (int)text.n, text.p, i + 1,
                            arena_printf(&arena, op, i, 100 - i - 1, 100 - i - 1).p);
    return arena_printf(&arena, "%.*s o = ttir.tanh c%d; return o", (int)text.n, text.p, n).p;
}

Test(match_limits, chains_of_movement_end) {
    for (int n = MAX_CHAIN; n <= MAX_CHAIN + 1; n++) {
        pattern("out = exp(x)", "where: no_user(out, \"[.]add$\")");
        cr_expect_eq(search_all("x:4xbf16", chain("typecast c%d -> 4xf32", n - 2)), n == MAX_CHAIN, "%d casts", n - 2);
    }
}

Test(match_limits, a_chain_has_as_many_links_as_there_is_room_for) {
    struct link links[3] = {{.op = 7}, {.op = 7}, {.op = 7}};
    struct imap identity;
    pattern("out = exp(x)", "");
    search_all("x:6", "a = ttir.reshape x -> 2x3; b = ttir.reshape a -> 3x2; return b");
    imap_identity(&identity, 0, 6);
    cr_expect_eq(movement_chain(&ir.g, ir_value(&ir, "%b"), &identity, links, 2), 2);
    cr_expect(links[1].value == ir_value(&ir, "%a") && links[2].op == 7);
    cr_expect_eq(movement_chain(&ir.g, ir_value(&ir, "%b"), &identity, links, 3), 3);
    cr_expect_eq(links[2].value, ir_value(&ir, "%x"));
}

/* A fragment may hold an op that is made of itself: the way up from it ends. */
Test(match_limits, a_slice_of_itself_has_an_end) {
    pattern("m = matmul(a, b) | linear(a, b, c)\nout = slice(m)", "");
    forget_ir();
    ir_read_bad(&ir, "%s = \"ttir.slice_static\"(%s) <{begins = [0 : i32], ends = [4 : i32], step = [1 : i32]}> : "
                     "(tensor<8xf32>) -> tensor<4xf32>\n");
    match_function(&set, &ir.g, NONE, &arena, &list);
    cr_expect_eq(list.n, 0);
}

static struct binding bound(const char *name) {
    struct match_detail d;
    cr_assert_eq(list.n, 1);
    match_details(&list.items[0], &arena, &d);
    return d.slots[formula_slot(&list.items[0].pattern->formula, str_of(name))];
}

/* A factor that the formula has is looked for among those that change something. */
Test(match_limits, a_factor_of_one_is_none) {
    pattern("out = -(x * w)", "");
    search_all("x:2x3 w:2x3",
               "m = ttir.multiply x w; c = ttir.ones -> 2x1; n = ttir.multiply m c; o = ttir.neg n; return o");
    cr_expect_eq(bound("w").value, ir_value(&ir, "%w"));
    cr_expect_eq(search_all("x:2x3", "c = ttir.ones -> 2x1; n = ttir.multiply x c; o = ttir.neg n; return o"), 0);
}

/* Along windows in any order of the dimensions, and of one element. */
Test(match_limits, pads_of_a_window) {
    struct window_pads w;
    pattern("p = pad(x)\nout = conv2d(p, w)", "where: pads_window(p, out)");
    search_all("x:4x1x1x3 w:8x3x1x1",
               "p = ttir.pad x {padding = array<i32: 1, 2, 0, 0, 0, 0, 0, 0>} -> 7x1x1x3\n"
               "o = ttir.conv2d p w {batch_dim = 1, height_dim = 0, width_dim = 2, channel_dim = 3, "
               "padding = array<i32: 0, 0, 0, 0>} -> 7x1x1x8\n"
               "q:2 = ttir.max_pool2d_with_indices -> 7x1x1x3, 7x1x1x3; return o");
    struct binding pad = bound("p");
    cr_assert(window_pads(&ir.g, ir_op(&ir, "%o"), &pad, &w));
    cr_expect(w.n == 2 && w.size[0] == 7 && w.size[1] == 1 && w.stride[0] == 3 && w.stride[1] == 3);
    cr_expect(w.before[0] == 1 && w.after[0] == 2 && w.before[1] == 0 && w.after[1] == 0);
    cr_expect_not(window_pads(&ir.g, ir_op(&ir, "%p"), &pad, &w), "no window");
    cr_expect_not(window_pads(&ir.g, NONE, &pad, &w), "no op");
    cr_expect_not(window_pads(&ir.g, ir_op(&ir, "%q"), &pad, &w), "nothing to pad");
    search_all("x:1x4x5x3 w:8x3x1x1",
               "p = ttir.pad x {padding = array<i32: 0, 0, 1, 1, 2, 2, 0, 0>} -> 1x6x9x3\n"
               "o = ttnn.conv2d p w {batch_size = 1, input_height = 6, input_width = 9, in_channels = 3, "
               "out_channels = 8, kernel_size = [1, 1], padding = [0, 0]} -> 1x6x9x8; return o");
    pad = bound("p");
    cr_assert(window_pads(&ir.g, ir_op(&ir, "%o"), &pad, &w));
    cr_expect(w.n == 2 && w.size[0] == 6 && w.size[1] == 9);
    cr_expect(w.before[0] == 1 && w.after[0] == 1 && w.before[1] == 2 && w.after[1] == 2);
}

/* An op that is matched is not told as one that was looked through. */
Test(match_limits, a_matched_op_is_no_op_between) {
    pattern("out = permute(x)\nalso k = exp(x)", "");
    cr_assert_eq(search_all("x:2x3", "p = ttir.permute x {permutation = [1, 0]}; e = ttir.exp p; return e"), 1);
    cr_expect_eq(list.items[0].nthrough, 0);
    cr_assert_eq(search_all("x:2x3", "p = ttir.permute x {permutation = [1, 0]}; c = ttir.typecast x -> 2x3xbf16\n"
                                     "e = ttir.exp c; return p e"),
                 1);
    cr_expect_eq(list.items[0].nthrough, 1);
}

/* Nothing uses the roots, whose hashes would differ by where. What is found at one holds at another like it, but for
 * locations, users and what is deeper: each in a second function, whose operands are not the first ones. */
Test(match_limits, roots_alike_are_told_apart_by_what_was_asked) {
    static const struct {
        const char *formula, *keys, *refused, *accepted;
    } pairs[] = {
        {"out = exp(x) + y", "unless: one_location()", "a = ttir.exp x @s.1; b = ttir.add a x @s.1;",
         "c = ttir.exp z @exp.1; d = ttir.add c z @add.2;"},
        {"out = exp(x)", "where: no_user(out, \"[.]add$\")",
         "k = ttir.neg x; b = ttir.exp x; f = ttir.abs b; g = ttir.add b x; j = ttir.sin k;",
         "l = ttir.neg z; d = ttir.exp z; h = ttir.abs d; i = ttir.multiply d z; m = ttir.sin l;"},
        {"out = exp(neg(x))", "where: no_user(x, \"[.]add$\")",
         "a = ttir.neg x; b = ttir.exp a; f = ttir.sin x; g = ttir.add f x;",
         "c = ttir.neg z; d = ttir.exp c; h = ttir.sin z; i = ttir.multiply h z;"},
        {"out = exp(neg(softmax(x, dim=-1)))", "",
         "p = ttir.softmax x {dimension = 0}; a = ttir.neg p; b = ttir.exp a;",
         "q = ttir.softmax z {dimension = 1}; c = ttir.neg q; d = ttir.exp c;"},
        {"out = exp(neg(x))", "where: extent(-1) == 5", "a = ttir.neg x; b = ttir.exp a;",
         "c = ttir.neg w; d = ttir.exp c;"},
    };
    for (size_t i = 0; i < 2 * sizeof pairs / sizeof *pairs; i++) {
        const char *one = pairs[i / 2].refused, *two = pairs[i / 2].accepted;
        pattern(pairs[i / 2].formula, pairs[i / 2].keys);
        search_all(
            "u:2x3",
            arena_printf(&arena,
                         "t = ttir.tanh u; r = ttir.multiply u t; return r\nfunc g x:3x3 z:3x3 w:3x5\n%s%s return",
                         i % 2 ? one : two, i % 2 ? two : one)
                .p);
        cr_assert_eq(list.n, 1, "%s: %u places in\n%s", pairs[i / 2].formula, list.n, ir.text);
        cr_expect_eq(list.items[0].root, ir_op(&ir, "%d"));
    }
}

/* Angles that a function which runs once makes: a table of positions before it repeats them for each head. */
Test(match_limits, positions_before_a_function_that_runs_once) {
#define TABLE(rows) "tensor<1x1x" rows "x8xf32>"
#define ALL         "tensor<1x4x7x8xf32>"
#define TURNED(rows, times)                                                                                            \
    "func.func private @once(%a: " TABLE(                                                                              \
        rows) ") -> " ALL " attributes {tt.function_type = \"const_eval\"} {\n"                                        \
              "  %b = \"ttir.broadcast\"(%a) <{broadcast_dimensions = array<i64: 1, 4, " times                         \
              ", 1>}> : (" TABLE(rows) ") -> " ALL "\n  return %b : " ALL "\n}\nfunc.func @main(%x: " ALL              \
                                       ", %t: " TABLE(rows) ") -> " ALL " {\n"                                         \
                                                            "  %c = ttcore.load_cached(@once, [%t]) : (" TABLE(        \
                                                                rows) ") -> " ALL "\n"                                 \
                                                                      "  %o = \"ttir.multiply\"(%x, %c) : (" ALL       \
                                                                      ", " ALL ") -> " ALL "\n  return %o : " ALL      \
                                                                      "\n}\n"
    pattern("out = x * cos", "where: positions(cos)");
    cr_expect_eq(search_text(TURNED("7", "1")), 1);
    pattern("out = x * cos", "where: positions(cos)");
    cr_expect_eq(search_text(TURNED("1", "7")), 0);
}

/* Where there is no room for what is to be done nothing is found. */
Test(match_limits, a_result_that_there_is_no_room_for) {
    pattern("s = sort(x)\nout = exp(result(s, 1))", "");
    cr_assert_eq(search_all("x:2x3", "v:2 = ttir.sort x -> 2x3, 2x3; e = ttir.exp v#1; return e"), 1);
    const struct pattern *p = list.items[0].pattern;
    struct matcher *m = matcher_new(&ir.g, 0, 0, &arena);
    cr_assert(match_at(m, p, ir_op(&ir, "%e")));
    matcher_undo(m, (struct mark){0});
    struct goal goal = *matcher_root_goal(m, p->formula.root, ir_op(&ir, "%e"), 0);
    while (goal.node->kind != N_RESULT)
        goal.node = goal.node->args[0];
    goal.value = ir_value(&ir, "%v#1");
    m->state.used = SCRATCH_BYTES;
    cr_expect_not(match_result(m, &goal));
    cr_expect(m->full);
    matcher_free(m);
}

/* Of many patterns that differ in a number each finds its own. */
Test(match_limits, numbers_of_many_patterns_are_told_apart) {
    struct buf b = {0};
    for (int i = 0; i < 400; i++)
        buf_printf(&b, "---\nname: p%d\nfused_op: ttnn.p%d\nsource: ttnn\nmatch: out = exp(x) * %d\n", i, i, i + 2);
    buf_addc(&b, '\0');
    pattern_file(b.p);
    buf_free(&b);
    for (int i = 0; i < 400; i++) {
        const char *ops = arena_printf(&arena,
                                       "k = ttir.full {fill_value = %d.0 : f32} -> 2x3; e = ttir.exp x\n"
                                       "o = ttir.multiply e k; return o",
                                       i + 2)
                              .p;
        cr_assert_eq(search_all("x:2x3", ops), 1, "%d", i + 2);
        cr_expect(str_eq(list.items[0].pattern->name, arena_printf(&arena, "p%d", i)));
    }
}

/* Where there is no more room the search is given up. */
Test(match_limits, assumptions_are_kept_once_and_up_to_a_limit) {
    struct assumptions a = {.nsliced = 0};
    for (uint32_t i = 0; i < 2 * MAX_ASSUMED_CONSTANTS + 2; i++) {
        cr_expect_eq(assumptions_are_full(&a), i > 2 * MAX_SLICED - 2, "%u", i);
        assume_slice(&a, i / 2);
        assume_constant(&a, i / 2, i, false);
        assume_precondition(&a, (struct precondition){i / 2, i / 2, false});
    }
    cr_expect_eq(a.nsliced, MAX_SLICED);
    cr_expect_eq(a.nconstants, MAX_ASSUMED_CONSTANTS);
    cr_expect_eq(a.npreconditions, MAX_PRECONDITIONS);
    for (uint32_t i = 0; i < MAX_SLICED; i++)
        cr_expect(a.sliced[i] == i && a.constants[i].value == i && a.constants[i].number == 2 * i);
}
