/* What ops do with their operands decides which numbers these get and which extents they keep. */
#include "equal/shapes.h"
#include "ir_text.h"

#include <criterion/criterion.h>

static struct ir ir;
static struct facts *facts;

static void teardown(void) {
    free(facts);
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
    return &facts[ir.m.funcs[0].first_arg + i];
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

Test(equal, a_mask_is_found_behind_what_moves_it) {
    const char *ops = "n = ttir.neg x -> 4x8; t = ttir.typecast m -> 4x8xf32; s = ttir.subtract n t -> 4x8xf32\n"
                      "o = ttir.softmax s {dimension = 1 : si32} -> 4x8xf32; return o";
    cr_assert_eq(facts_of_argument("x:4x8 m:4x8xbf16", ops, 1)->mask_sign, -1);
    cr_assert_eq(facts[ir.m.funcs[0].first_arg].mask_sign, 0);
}

Test(equal, indices_are_those_of_the_table) {
    const char *ops = "c = ttir.full {fill_value = 2 : i32} -> 1x16xsi32; j = ttir.add i c -> 1x16xsi32\n"
                      "t = ttir.typecast j -> 1x16xui32; o = ttir.embedding t w -> 1x16x8; return o";
    cr_assert_eq(facts_of_argument("i:1x16xsi32 w:100x8", ops, 0)->indices, 98);
    cr_assert_not(facts[ir.m.funcs[0].first_arg].bounded);
}

static int64_t extent(const char *args, const char *ops, int64_t from) {
    struct subgraph *s = xcalloc(1, sizeof *s);
    struct extents *e = xcalloc(1, sizeof *e);
    uint32_t list[256];
    struct str why = STR("");
    ir_short(&ir, args, ops);
    struct match m = {.graph = &ir.g, .ops = list, .nops = list_ops(list)};
    struct shapes_question q = {.subgraph = s};
    cr_assert(subgraph_of_match(&m, s, &why) && shapes_choose(&q, false, 1 << 22, e, &why), "%s", why.p);
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
