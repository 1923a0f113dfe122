/* What ops do with their operands decides which numbers these get and which extents they keep. */
#include "ir_text.h"
#include "proof/trials/shapes.h"

#include <criterion/criterion.h>

static struct ir ir;
static struct fact_table facts;

static void teardown(void) {
    facts_free(&facts);
    ir_free(&ir);
}

TestSuite(equal, .fini = teardown, .timeout = 30);

static uint32_t list_ops(uint32_t ops[256]) {
    uint32_t n = 0;
    for (uint32_t op = 0; op < ir.m.nops; op++)
        if (graph_class(&ir.g, op) != OP_STRUCTURE && ir.g.kind[op] != K_RETURN)
            ops[n++] = op;
    return n;
}

/* Of the argument number `i`. */
static const struct facts *facts_of_argument(const char *args, const char *ops, uint32_t i) {
    uint32_t list[256];
    ir_short(&ir, args, ops);
    facts = facts_of(&ir.g, list, list_ops(list));
    return facts_at(&facts, ir.m.funcs[0].first_arg + i);
}

Test(equal, facts_of_a_chain_take_one_pass) {
    struct arena a = {0};
    struct str ops = STR("y0 = ttir.exp x -> 4x8");
    for (int i = 0; i < 60; i++)
        ops = arena_printf(&a, "%s; y%d = ttir.add y%d y%d -> 4x8", ops.p, i + 1, i, i);
    ops = arena_printf(&a, "%s; o = ttir.softmax y60 {dimension = 1 : si32} -> 4x8; return o", ops.p);
    const struct facts *f = facts_of_argument("x:4x8", ops.p, 0);
    cr_assert(f->used && f->taken);
    cr_assert_eq(f->mask_sign, 0);
    arena_free(&a);
}

/* The ops of a proof are few in a module that may be large. */
Test(equal, facts_have_room_for_the_values_of_the_program_alone) {
    uint32_t list[256];
    ir_short(&ir, "x:4x8 y:4x8", "a = ttir.add x x -> 4x8; b = ttir.exp a -> 4x8; c = ttir.add b y -> 4x8; return c");
    uint32_t n = list_ops(list);
    facts = facts_of(&ir.g, &list[n - 1], 1);
    uint32_t sum = ir.m.ops[list[n - 1]].first_result;
    cr_assert_eq(facts.n, 3);
    cr_assert(facts_at(&facts, ir.m.funcs[0].first_arg + 1)->used && facts_at(&facts, sum - 1)->used);
    cr_assert_not(facts_at(&facts, sum)->used || facts_at(&facts, ir.m.funcs[0].first_arg)->used ||
                  facts_at(&facts, NONE)->used);
}

Test(equal, a_mask_is_found_behind_what_moves_it) {
    const char *ops = "n = ttir.neg x -> 4x8; t = ttir.typecast m -> 4x8xf32; s = ttir.subtract n t -> 4x8xf32\n"
                      "o = ttir.softmax s {dimension = 1 : si32} -> 4x8xf32; return o";
    cr_assert_eq(facts_of_argument("x:4x8 m:4x8xbf16", ops, 1)->mask_sign, -1);
    cr_assert_eq(facts_at(&facts, ir.m.funcs[0].first_arg)->mask_sign, 0);
}

Test(equal, indices_are_those_of_the_table) {
    const char *ops = "c = ttir.full {fill_value = 2 : i32} -> 1x16xsi32; j = ttir.add i c -> 1x16xsi32\n"
                      "t = ttir.typecast j -> 1x16xui32; o = ttir.embedding t w -> 1x16x8; return o";
    cr_assert_eq(facts_of_argument("i:1x16xsi32 w:100x8", ops, 0)->indices, 98);
    cr_assert_not(facts_at(&facts, ir.m.funcs[0].first_arg)->bounded);
}

#define WRITTEN(cache)                                                                                                 \
    "c = ttir.update_cache x n i {batch_offset = 0 : i32} -> " cache "; o = ttir.exp c -> " cache "; return o"

Test(equal, positions_in_a_cache_are_all_of_its_rows) {
    cr_assert_eq(facts_of_argument("x:2x4x32x8 n:1x4x2x8 i:1xsi32", WRITTEN("2x4x32x8"), 2)->indices, 32);
}

Test(equal, positions_in_pages_are_those_of_a_user) {
    const char *ops =
        "c = ttir.paged_update_cache x n i p {share_cache = false} -> 6x4x32x8; o = ttir.exp c -> 6x4x32x8\n"
        "return o";
    cr_assert_eq(facts_of_argument("x:6x4x32x8 n:1x2x4x8 i:2xsi32 p:2x3xsi32", ops, 2)->indices, 96);
    cr_assert_eq(facts_of_argument("x:6x4x32x8 n:1x2x4x8 i:2xsi32 p:2x3xsi32", ops, 3)->indices, 6);
}

Test(equal, what_a_root_is_taken_of_is_not_negative) {
    const char *ops =
        "e = ttir.full {fill_value = 1.0e-5 : f32} -> 1x1; a = ttir.add x e -> 4x8; r = ttir.rsqrt a -> 4x8\n"
        "o = ttir.multiply r y -> 4x8; return o";
    cr_assert(facts_of_argument("x:4x8 y:4x8", ops, 0)->rooted);
    cr_assert_not(facts_at(&facts, ir.m.funcs[0].first_arg + 1)->rooted);
}

/* An epsilon and a divisor that are arguments: else hardly a root of a long sum is a number. */
Test(equal, nor_are_its_terms_and_factors_but_what_is_squared_may_be) {
    const char *ops = "q = ttir.multiply x x -> 4x8; s = ttir.sum q {dim_arg = [1 : i32], keep_dim = true} -> 4x1\n"
                      "m = ttir.multiply n s -> 4x1; a = ttir.add m y -> 4x1; o = ttir.sqrt a -> 4x1; return o";
    cr_assert_not(facts_of_argument("x:4x8 n:4x1 y:4x1", ops, 0)->rooted);
    cr_assert(facts_at(&facts, ir.m.funcs[0].first_arg + 1)->rooted);
    cr_assert(facts_at(&facts, ir.m.funcs[0].first_arg + 2)->rooted);
}

Test(equal, what_is_subtracted_from_it_may_be_negative) {
    const char *ops = "a = ttir.subtract x y -> 4x8; o = ttir.sqrt a -> 4x8; return o";
    cr_assert_not(facts_of_argument("x:4x8 y:4x8", ops, 0)->rooted);
}

static int64_t extent(const char *args, const char *ops, int64_t from) {
    struct subgraph *s = xcalloc(1, sizeof *s);
    struct extents *e = xcalloc(1, sizeof *e);
    uint32_t list[256];
    struct reason why;
    ir_short(&ir, args, ops);
    struct match m = {.graph = &ir.g, .ops = list, .nops = list_ops(list)};
    struct shapes_question q = {.subgraph = s};
    cr_assert(subgraph_of_match(&m, s, &why) && shapes_choose(&q, false, 1 << 22, e, &why), "%s", why.text.p);
    int64_t to = extent_to(e, from);
    free(s);
    free(e);
    return to;
}

#define COUNTED(limit)                                                                                                 \
    "f = ttir.typecast m -> 64x32; s = ttir.cumsum f {dim = 0 : i64} -> 64x32; k = ttir.full {fill_value = " limit     \
    " : f32} -> 1x1; o = ttir.le s k -> 64x32xi1; return o"

Test(equal, what_is_counted_up_to_a_number_keeps_its_extent) {
    cr_assert_eq(extent("m:64x32xi1", COUNTED("20.0"), 64), 64);
}

Test(equal, what_is_counted_for_nothing_does_not) {
    cr_assert_lt(
        extent("m:64x32xi1", "f = ttir.typecast m -> 64x32; o = ttir.cumsum f {dim = 0 : i64} -> 64x32; return o", 64),
        64);
}

#define LOOKED_UP(type)                                                                                                \
    "n = ttir.typecast i -> 1x16x" type "; t = ttir.typecast n -> 1x16xui32; o = ttir.embedding t w -> 1x16x8; "       \
    "return o"

Test(equal, a_table_keeps_its_rows_where_its_indices_lose_bits) {
    cr_assert_eq(extent("i:1x16xui32 w:100000x8", LOOKED_UP("ui16"), 100000), 100000);
}

Test(equal, a_table_shrinks_where_its_indices_do_not) {
    cr_assert_lt(extent("i:1x16xui32 w:100000x8", LOOKED_UP("si32"), 100000), 100000);
}

#define CUT_AT(begin, end)                                                                                             \
    "p = ttir.concat w u v {dim = 1 : si32} -> 3072x5120; f = ttir.matmul x p -> 32x5120\n"                            \
    "m = ttir.slice_static f {begins = [0 : i32, 0 : i32], ends = [32 : i32, 3072 : i32], step = [1 : i32, 1 : i32]} " \
    "-> 32x3072; h = ttir.reshape m {shape = [32 : i32, 24 : i32, 1 : i32, 128 : i32]} -> 32x24x1x128\n"               \
    "a = ttir.slice_static h {begins = [0 : i32, 0 : i32, 0 : i32, 64 : i32], ends = [32 : i32, 24 : i32, 1 : i32, "   \
    "128 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]} -> 32x24x1x64\n"                                         \
    "b = ttir.slice_static h {begins = [0 : i32, 0 : i32, 0 : i32, " begin " : i32], ends = [32 : i32, 24 : i32, "     \
    "1 : i32, " end " : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]} -> 32x24x1x64\n"                            \
    "j = ttir.concat a b {dim = 3 : si32} -> 32x24x1x128\n"                                                            \
    "r = ttir.reshape c {shape = [32 : i32, 8 : i32, 1 : i32, 128 : i32, 128 : i32]} -> 32x8x1x128x128\n"              \
    "s = ttir.broadcast r {broadcast_dimensions = array<i64: 1, 1, 3, 1, 1>} -> 32x8x3x128x128\n"                      \
    "t = ttir.reshape s {shape = [32 : i32, 24 : i32, 128 : i32, 128 : i32]} -> 32x24x128x128\n"                       \
    "o = ttir.matmul j t -> 32x24x1x128; return o"

/* However much larger that makes them. */
Test(equal, what_is_cut_beside_a_place_is_cut_beside_it_in_small_shapes) {
    const char *args = "x:32x3072 w:3072x3072 u:3072x1024 v:3072x1024 c:32x8x128x128";
    cr_assert_lt(extent(args, CUT_AT("63", "127"), 63), extent(args, CUT_AT("63", "127"), 64));
}
