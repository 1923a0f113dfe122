/* The promises of the folder device: affine maps, layouts, worker grids, chips. */
#include "device/chips/chip.h"
#include "device/chips/grid.h"
#include "device/chips/layout.h"
#include "ir_text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ir ir;

static void teardown(void) {
    if (ir.text)
        ir_free(&ir);
    ir.text = NULL;
}

TestSuite(device, .fini = teardown);

static void module(const char *text) {
    teardown();
    ir_read(&ir, text);
}

/* ---- affine maps ---- */

static bool applies(const char *text, const int64_t *point, uint32_t n, const int64_t *wanted) {
    struct affine_map map;
    int64_t out[MAX_AFFINE_RESULTS];
    return affine_read(str_of(text), &map) && map.nresults == n && affine_apply(&map, point, out) &&
           memcmp(out, wanted, n * sizeof *out) == 0;
}

Test(device, an_affine_map_has_the_precedence_and_the_divisions_of_mlir) {
    static const struct {
        const char *map;
        int64_t point[4], out[2];
        uint32_t n;
    } cases[] = {
        {"(d0, d1, d2, d3) -> (d0 * 192 + d1 * 64 + d2, d3)", {1, 1, 6, 100}, {262, 100}, 2},
        {"(d0, d1) -> (d0 floordiv 8, d1 mod 8)", {17, 17}, {2, 1}, 2},
        {"(d0) -> (d0 ceildiv 8, -d0 + 2)", {17}, {3, -15}, 2},
        {"(d0)[s0] -> (d0 * -1 + s0, (d0 + 1) * 2)", {3}, {-3, 8}, 2},
        {"(d0) -> (-d0 mod 8, -d0 floordiv 8)", {1}, {-1, 0}, 2},
        {"(d0) -> ((-d0) mod 8, (-d0) floordiv 8)", {1}, {7, -1}, 2},
        {"(d0) -> (d0 - 1 - 2)", {3}, {0}, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect(applies(cases[i].map, cases[i].point, cases[i].n, cases[i].out), "%s", cases[i].map);
}

Test(device, what_is_no_affine_map_is_refused) {
    static const char *const wrong[] = {"",
                                        "(d0",
                                        "d0 -> d0",
                                        "(d0) -> (d1)",
                                        "(d0) -> (d0 floordiv 0)",
                                        "(d0) -> (d0 mod s0)",
                                        "(d0) -> (d0 *)",
                                        "(d0) -> (9223372036854775807 + 1 + d0)",
                                        "(d0) -> (d0) trailing",
                                        "(d0) -> (x)"};
    int64_t point[1] = {5}, out[MAX_AFFINE_RESULTS];
    struct affine_map map;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect_not(affine_read(str_of(wrong[i]), &map) && affine_apply(&map, point, out), "%s", wrong[i]);
    char deep[200] = "(d0) -> (";
    memset(deep + 9, '(', 100);
    strcpy(deep + 109, "d0)");
    cr_expect_not(affine_read(str_of(deep), &map) && affine_apply(&map, point, out));
}

/* ---- layouts ---- */

static struct layout layout(const char *text) {
    struct layout l;
    if (!ir.text)
        module("module {\n}\n");
    cr_assert(layout_read(&ir.m, str_of(text), &l), "%s", text);
    return l;
}

/* The examples of the specification of tensor layouts: the shard follows from shape, map, grid and tile. */
Test(device, shards_follow_from_shape_map_grid_and_tile) {
    static const struct {
        const char *layout;
        uint32_t rank;
        int64_t dims[7];
    } cases[] = {
        {"#tt.layout<(d0, d1, d2, d3) -> (d0 * 192 + d1 * 64 + d2, d3), undef, <1x1>, "
         "memref<384x128xf32, #tt.memory_space<l1>>>",
         4,
         {2, 3, 64, 128}},
        {"#tt.layout<(d0, d1, d2, d3) -> (d0 * 192 + d1 * 64 + d2, d3), undef, <2x4>, "
         "memref<192x32xf32, #tt.memory_space<l1>>>",
         4,
         {2, 3, 64, 128}},
        {"#tt.layout<(d0, d1) -> (d0, d1), undef, <1x2>, memref<8x150xf32, #tt.memory_space<l1>>>", 2, {8, 300}},
        {"#tt.layout<(d0, d1, d2) -> (d0 * 96 + d1, d2), undef, <2x1>, memref<384x32xf32, #tt.memory_space<l1>>>",
         3,
         {8, 96, 32}},
        {"#tt.layout<(d0, d1, d2) -> (d0 * 96 + d1, d1, d2), undef, <2x1x2>, "
         "memref<384x96x16xf32, #tt.memory_space<l1>>>",
         3,
         {8, 96, 32}},
        {"#tt.layout<(d0, d1, d2, d3, d4, d5, d6) -> (d0 * 2688 + d1 * 896 + d2 * 448 + d3 * 224 + d4 * 32 + d5, d4, "
         "d5, d6), undef, <3x2x2x2>, memref<4480x4x16x16xf32, #tt.memory_space<l1>>>",
         7,
         {5, 3, 2, 2, 7, 32, 32}},
        {"#tt.layout<(d0, d1, d2) -> (d0 * 64 + d1, d2), undef, <3x2>, memref<64x64xf32, #tt.memory_space<l1>>>",
         3,
         {3, 64, 128}},
        {"#tt.layout<(d0, d1, d2) -> (d0 * 64 + d1, d2), undef, <3x2>, "
         "memref<2x2x!tt.tile<32 x 32, bfp_bf8>, #tt.memory_space<l1>>>",
         3,
         {3, 64, 128}},
        {"#tt.layout<(d0, d1) -> (d0, d1), undef, <3x2>, memref<18x32xf32, #tt.memory_space<l1>>>", 2, {53, 63}},
        {"#tt.layout<(d0, d1) -> (d0, d1), undef, <3x2>, memref<1x1x!tt.tile<32 x 32, bfp_bf8>, "
         "#tt.memory_space<l1>>>",
         2,
         {53, 63}},
        {"#tt.layout<(d0, d1, d2) -> (d0 * 8 + d1, d2), undef, <1x2>, memref<16x16xf32, #tt.memory_space<l1>>>",
         3,
         {2, 8, 32}},
        {"#tt.layout<(d0, d1, d2, d3) -> (d0, d1 * 64 + d2, d3), undef, <2x2x4>, "
         "memref<1x3x1x!tt.tile<32 x 32, bfp_bf8>, #tt.memory_space<l1>>>",
         4,
         {2, 3, 64, 128}},
        {"#tt.layout<(d0, d1, d2, d3) -> (d0, d1 * 64 + d2, d3), undef, <2x2x4>, "
         "memref<8x3x1x!tt.tile<32 x 32, bfp_bf8>, #tt.memory_space<l1>>>",
         4,
         {16, 3, 64, 128}},
        {"#tt.layout<(d0, d1) -> (d0, d1), undef, <4x16>, memref<2x2x!tt.tile<32 x 32, bfp_bf8>, "
         "#tt.memory_space<l1>>>",
         2,
         {256, 1024}},
        {"#ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 384 + d1 * 32 + d2, d3), <1x1>, "
         "memref<12x2x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, <interleaved>>",
         4,
         {1, 12, 1, 64}},
        {"#ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x3x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, "
         "<interleaved>>",
         1,
         {70}},
        {"#ttnn.ttnn_layout<() -> (0, 0), <1x1>, memref<1x1xf32, #ttnn.buffer_type<system_memory>>>", 0, {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct layout l = layout(cases[i].layout);
        int64_t shard[MAX_GRID_RANK];
        cr_expect(layout_shard(&l, cases[i].dims, cases[i].rank, shard), "%s", cases[i].layout);
        cr_expect_arr_eq(shard, l.shard, l.rank * sizeof *shard, "%s", cases[i].layout);
    }
}

Test(device, a_stride_above_the_rows_puts_each_batch_into_tiles_of_its_own) {
    struct layout tight = layout("#tt.layout<(d0, d1, d2) -> (d0 * 8 + d1, d2), undef, <1x1>, "
                                 "memref<1x1x!tt.tile<32x32, f32>, #tt.memory_space<l1>>>"),
                  apart = layout("#tt.layout<(d0, d1, d2) -> (d0 * 32 + d1, d2), undef, <1x1>, "
                                 "memref<2x1x!tt.tile<32x32, f32>, #tt.memory_space<l1>>>");
    int64_t dims[] = {2, 8, 32}, shard[MAX_GRID_RANK];
    cr_assert(layout_shard(&tight, dims, 3, shard) && shard[0] == 1);
    cr_assert(layout_shard(&apart, dims, 3, shard) && shard[0] == 2);
    cr_expect_eq(layout_bytes(&apart, 32), 2 * layout_bytes(&tight, 32));
}

Test(device, a_map_for_another_rank_gives_no_shard) {
    struct layout l = layout("#tt.layout<(d0, d1) -> (d0, d1), undef, <2x4x16>, "
                             "memref<32x2x2x!tt.tile<32 x 32, bfp_bf8>, #tt.memory_space<l1>>>");
    int64_t dims[] = {64, 256, 1024}, shard[MAX_GRID_RANK];
    cr_expect_not(layout_shard(&l, dims, 3, shard));
    cr_expect_eq(l.cores, 128); /* what it holds is known all the same */
}

/* Passes that take a collective apart give all of its steps one layout. */
Test(device, a_map_for_another_rank_comes_with_the_layout_of_another_tensor) {
    static const char form[] = "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, "
                               "memref<6x2x!ttcore.tile<32x32, f32>, #dram>, <%s>>";
    int64_t same[] = {3, 64, 40}, half[] = {3, 32, 40};
    char text[256];
    for (int sharded = 0; sharded < 2; sharded++) {
        snprintf(text, sizeof text, form, sharded ? "height_sharded" : "interleaved");
        struct layout l = layout(text);
        cr_expect(layout_settle(&l, same, 3), "%s", text);
        cr_expect_eq(layout_settle(&l, half, 3), !sharded, "%s", text);
        cr_expect_eq(layout_tiles(&l), sharded ? 12 : 6, "%s", text);
    }
}

Test(device, the_shard_that_an_undone_sharding_left_is_made_whole) {
    static const char form[] = "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, "
                               "memref<%sx!ttcore.tile<32x32, bf16>, #dram>, <%s>>";
    static const struct {
        const char *shard, *sharding;
        bool holds;
        int64_t bytes;
    } cases[] = {
        {"8x4", "interleaved", true, 32 * 2048},
        {"1x4", "interleaved", true, 32 * 2048}, /* of 8 cores */
        {"1x4", "height_sharded", false, 4 * 2048},
        {"9x1", "interleaved", false, 9 * 2048}, /* no shard of 8x4 tiles */
    };
    int64_t dims[] = {256, 128};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, form, cases[i].shard, cases[i].sharding);
        struct layout l = layout(text);
        cr_expect_eq(layout_settle(&l, dims, 2), cases[i].holds, "%s", text);
        cr_expect_eq(layout_bytes(&l, 32), cases[i].bytes, "%s", text);
    }
}

Test(device, an_encoding_that_is_no_layout_leaves_the_one_by_default) {
    struct layout l;
    ir_main(&ir, "%x: tensor<64x64xf32, #ttcore.mesh_sharding<\"mesh\">>, %y: tensor<64x64xf32, #a.layout<odd>>", "");
    const struct mlir *m = &ir.m;
    cr_assert(layout_of_type(m, &m->types[m->values[ir_value(&ir, "%x")].type], &l));
    cr_expect_eq(layout_bytes(&l, 32), 4 * 4096);
    cr_expect_not(layout_of_type(m, &m->types[m->values[ir_value(&ir, "%y")].type], &l));
}

/* Lines that end in CRLF make the text a copy of its own: nothing lies behind its last byte. */
Test(device, an_alias_of_nothing_is_no_element) {
    struct layout l;
    ir_read_bad(&ir, "module {\r\n}\r\n!t =");
    cr_expect_not(layout_read(&ir.m, STR("#ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x1x!t, #dram>>"), &l));
}

Test(device, layouts_of_every_age_say_memory_sharding_and_cores) {
    static const struct {
        const char *layout;
        enum memory memory;
        enum sharding sharding;
        int64_t cores, bytes;
    } cases[] = {
        {"#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<4x4x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>",
         MEMORY_DRAM, SHARDING_INTERLEAVED, 1, 16 * 4096},
        {"#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<448x1x!tt.tile<32x32, bf16>, #dram>, interleaved>",
         MEMORY_DRAM, SHARDING_INTERLEAVED, 1, 448 * 2048},
        {"#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, "
         "<height_sharded>, core_ranges = #ttnn.core_range_set<[#ttnn.core_range<(0,0), (7,0)>]>>",
         MEMORY_L1, SHARDING_HEIGHT, 8, 8 * 2048},
        {"#ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 256 + d1 * 32 + d2, d3), <8x8>, "
         "memref<1x1x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<l1>>, <block_sharded>, core_ranges = "
         "<[#ttnn.core_range<(0, 0), (7, 7)>]>>",
         MEMORY_L1, SHARDING_BLOCK, 64, 64 * 2048},
        {"#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x8, (d0, d1) -> (0, d0, d1)>, memref<1x2x!tt.tile<32x32, "
         "bfp_bf8>, #l1_>, width_sharded>",
         MEMORY_L1, SHARDING_WIDTH, 64, 128 * 1088},
        {"#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, mesh = <\"mesh\">, memref<2x2xf32, #system_memory>>",
         MEMORY_HOST, SHARDING_NONE, 1, 2 * 16},
        {"#ttnn.ttnn_nd_layout<#ttcore.grid<2x4>, memref<1x3x!ttcore.tile<32x32, bfp_bf4>, #ttnn.buffer_type<l1>>, "
         "<nd_sharded>, shard_orientation = <row_major>>",
         MEMORY_L1, SHARDING_ND, 8, 24 * 576},
        {"#tt.metal_layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xbf16, #l1_>>", MEMORY_L1, SHARDING_NONE, 1,
         64 * 256},
        {"#tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<2x4x!tt.tile<32x32, bfp_bf2>, #dram>, interleaved>",
         MEMORY_DRAM, SHARDING_INTERLEAVED, 1, 8 * 320},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct layout l = layout(cases[i].layout);
        cr_expect_eq(l.memory, cases[i].memory, "%s: %s", cases[i].layout, memory_name(l.memory));
        cr_expect_eq(l.sharding, cases[i].sharding, "%s: %s", cases[i].layout, sharding_name(l.sharding));
        cr_expect_eq(l.cores, cases[i].cores, "%s: %ld cores", cases[i].layout, (long)l.cores);
        cr_expect_eq(layout_bytes(&l, 16), cases[i].bytes, "%s: %ld bytes", cases[i].layout,
                     (long)layout_bytes(&l, 16));
    }
}

Test(device, rows_are_padded_to_what_the_memory_aligns_to) {
    struct layout l = layout("#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<3x5xbf16, #dram>, <interleaved>>");
    cr_expect_eq(layout_bytes(&l, 32), 3 * 32);
    cr_expect_eq(layout_bytes(&l, 64), 3 * 64);
    cr_expect_eq(layout_tiles(&l), 1);
}

Test(device, aliases_of_layouts_memories_and_elements_are_followed) {
    struct layout l;
    module("#elsewhere = #ttnn.buffer_type<l1>\n"
           "#layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x1x!tile, #elsewhere>, <interleaved>>\n"
           "!tile = !ttcore.tile<16x32, bf16>\n"
           "module {\n}\n");
    cr_assert(layout_read(&ir.m, STR("#layout"), &l));
    cr_expect_eq(l.memory, MEMORY_L1);
    cr_expect_eq(layout_bytes(&l, 32), 2 * 1024);
}

Test(device, what_is_no_layout_is_not_read) {
    static const char *const wrong[] = {
        "",
        "#nowhere",
        "#ttnn.ttnn_layout<>",
        "#ttnn.shape<1x1>",
        "#ttnn.ttnn_layout<(d0) -> (d9), <1x1>, memref<1x1xf32, #dram>, <sideways>>",
        "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x1xf32, #dram>>",
        "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1xf99, #dram>>",
        "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<0x32, f32>, #dram>>",
        "#ttcore.metal_layout<logical_shape = 64x64, dim_alignments = 32x32, undef, l1>"};
    struct layout l;
    module("module {\n}\n");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect_not(layout_read(&ir.m, str_of(wrong[i]), &l), "%s", wrong[i]);
}

Test(device, a_tensor_without_a_layout_is_padded_to_tiles) {
    struct layout l;
    module("module {\nfunc.func @main(%x: tensor<2x3x1x40xbf16>, %y: tensor<5xf32>, %z: tensor<?x4xf32>) "
           "{\nreturn\n}\n}\n");
    const struct mlir *m = &ir.m;
    cr_assert(layout_by_default(m, &m->types[m->values[ir_value(&ir, "%x")].type], &l));
    cr_expect_eq(layout_bytes(&l, 32), 2 * 3 * 2 * 2048);
    cr_assert(layout_by_default(m, &m->types[m->values[ir_value(&ir, "%y")].type], &l));
    cr_expect_eq(layout_bytes(&l, 32), 4096);
    cr_expect_not(layout_by_default(m, &m->types[m->values[ir_value(&ir, "%z")].type], &l));
}

/* Tile sizes: tech_reports/tensor_layouts of tt-metal, getSizeBytes of the tile type of tt-mlir. */
Test(device, tiles_of_block_floats_have_an_exponent_for_sixteen_elements) {
    cr_expect_eq(tile_bytes(DT_F32, 32, 32), 4096);
    cr_expect_eq(tile_bytes(DT_BF16, 32, 32), 2048);
    cr_expect_eq(tile_bytes(DT_U8, 32, 32), 1024);
    cr_expect_eq(tile_bytes(DT_BFP8, 32, 32), 1088);
    cr_expect_eq(tile_bytes(DT_BFP4, 32, 32), 576);
    cr_expect_eq(tile_bytes(DT_BFP2, 32, 32), 320);
    cr_expect_eq(tile_bytes(DT_OTHER, 32, 32), 0);
}

/* ---- worker grids ---- */

/* The examples of the specification of devices, and as newer text has them. */
Test(device, worker_grids_are_read) {
    static const struct {
        const char *device;
        int64_t chips;
        uint32_t rank, mesh_rank;
        int64_t extents[3], mesh[3];
    } cases[] = {
        {"workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, meshShape = 1, chipIds = [0]", 1, 2, 1, {8, 8}, {1}},
        {"workerGrid = #tt.grid<2x8x8, (d0, d1, d2) -> (d0, d1, d2)>, meshShape = 2x1x1, chipIds = [0, 1]",
         2,
         3,
         3,
         {2, 8, 8},
         {2, 1, 1}},
        {"workerGrid = #tt.grid<16x16, (d0, d1) -> ((d0 floordiv 8) * 2 + d1 floordiv 8, d0 mod 8, d1 mod 8)>, "
         "meshShape = 2x2, chipIds = [4, 5, 6, 7]",
         4,
         2,
         2,
         {16, 16},
         {2, 2}},
        {"workerGrid = #ttcore.grid<8x8, virt_to_physical_map = (d0, d1) -> (0, d0, d1), physical_to_virt_map = (d0, "
         "d1, d2) -> (d1, d2)>, dramGrid = #ttcore.grid<1x12>, meshShape = 1x2, chipIds = [0, 1]",
         2,
         2,
         2,
         {8, 8},
         {1, 2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct worker_grid g;
        cr_assert(worker_grid_read(str_of(cases[i].device), &g), "%s", cases[i].device);
        cr_expect_eq(g.chips, cases[i].chips, "%s", cases[i].device);
        cr_assert(g.rank == cases[i].rank && g.mesh_rank == cases[i].mesh_rank, "%s", cases[i].device);
        cr_expect_arr_eq(g.extents, cases[i].extents, g.rank * sizeof *g.extents, "%s", cases[i].device);
        cr_expect_arr_eq(g.mesh, cases[i].mesh, g.mesh_rank * sizeof *g.mesh, "%s", cases[i].device);
    }
}

/* ---- chips ---- */

static struct chips chips;
static struct arena arena;
static struct diags diags;

static void no_chips(void) {
    chips_free(&chips);
    diags_free(&diags);
    arena_free(&arena);
    diags = (struct diags){.arena = &arena};
}

static void bundled_chips(void) {
    no_chips();
    cr_assert(chips_load(&chips, getenv("FA_DEVICES"), &arena, &diags));
}

Test(device, the_bundled_chips_are_those_of_the_boards) {
    bundled_chips();
    static const struct {
        const char *name, *arch;
        int64_t cores;
    } boards[] = {{"n150", "wormhole_b0", 64},
                  {"n300", "wormhole_b0", 56},
                  {"p100", "blackhole", 110},
                  {"p150", "blackhole", 110},
                  {"p150-fw18", "blackhole", 130}};
    cr_assert_eq(chips.n, sizeof boards / sizeof *boards);
    for (size_t i = 0; i < sizeof boards / sizeof *boards; i++) {
        const struct chip *c = chip_named(&chips, str_of(boards[i].name));
        cr_assert(c && str_is(c->arch, boards[i].arch), "%s", boards[i].name);
        cr_expect_eq(chip_cores(c), boards[i].cores, "%s", boards[i].name);
    }
    cr_expect_null(chip_named(&chips, STR("n15")));
    no_chips();
}

static struct device device_stated(const char *desc, bool *stated) {
    struct device d = {.choice = CHIP_ASSUMED};
    char text[1024];
    snprintf(text, sizeof text, "module attributes {%s} {\n}\n", desc);
    module(text);
    *stated = device_of_module(&chips, &ir.g, &d);
    return d;
}

Test(device, a_module_states_its_chip_in_any_form_of_system_desc) {
    bool stated;
    bundled_chips();
    struct device d =
        device_stated("ttcore.system_desc = #ttcore.system_desc<[{role = host, target_triple = \"x\"}], "
                      "[{arch = <blackhole>, grid = 10x13, l1_size = 1572864, l1_unreserved_base = 98304, "
                      "num_dram_channels = 8, dram_grid = 1x8}], [0], [3 : i32], [ 0x0x0x0]>",
                      &stated);
    cr_assert(stated && d.choice == CHIP_OF_MODULE);
    cr_expect(str_is(d.chip.name, "p150-fw18"));
    cr_expect_eq(chip_l1(&d.chip), 1572864 - 98304);
    d = device_stated("tt.system_desc = #tt.system_desc<[<#tt.arch<wormhole_b0>, #tt.grid<8x8>>], [0], "
                      "[<pcie|host_mmio>], [<0, 0, 0, 0>]>",
                      &stated);
    cr_assert(stated && str_is(d.chip.name, "n150"));
    d = device_stated("tt.system_desc = #tt.system_desc<[{arch = <wormhole_b0>, grid = 7x8}], [0], [], []>", &stated);
    cr_assert(stated && str_is(d.chip.name, "n300"));
    d = device_stated("tt.system_desc = #tt.system_desc<[{arch = <wormhole_b0>, grid = 8x9}], [0], [], []>", &stated);
    cr_assert(stated && str_is(d.chip.name, "n150"));
    cr_expect_eq(chip_cores(&d.chip), 72);
    no_chips();
}

Test(device, a_module_that_states_no_chip_has_none) {
    bool stated;
    bundled_chips();
    device_stated("tt.system_desc = #tt.system_desc<[{role = host}], [], [0], [3 : i32], [ 0x0x0x0]>", &stated);
    cr_expect_not(stated);
    device_stated("tt.system_desc = #tt.system_desc<[{arch = <quasar>, grid = 8x4}], [0], [], []>", &stated);
    cr_expect_not(stated);
    device_stated("search = 1 : i32", &stated);
    cr_expect_not(stated);
    device_stated(
        "tt.system_desc = #tt.system_desc<[{arch = <wormhole_b0>, grid = 0x8, l1_unreserved_base = 9999999}], "
        "[0], [], []>",
        &stated);
    cr_expect(stated);
    no_chips();
}

Test(device, a_wrong_description_is_refused_at_its_place) {
    static const struct {
        const char *text, *message;
        uint64_t line;
    } wrong[] = {{"chip: x\narch: y\n", "lacks the key summary", 1},
                 {"chip: x\ncolour: red\n", "unknown key: colour", 2},
                 {"chip: x\ngrid: 8\n", "grid takes rows x columns", 2},
                 {"chip: x\nlike: y\n", "no such chip: y", 2},
                 {"chip: x\ndram_align_bytes: 48\n", "dram_align_bytes takes a power of two", 2},
                 {"chip: x\ngap_us: -1\n", "gap_us takes a number above 0", 2},
                 {"chip: n150\nlike: n150\n", "there is already a chip n150", 1},
                 {"chip: x\nlike: n150\nl1_reserved_bytes: 2000000\n", "more of L1 is reserved than there is", 1},
                 {"- 1\n", "keys and their values are meant", 1},
                 {"cycles:\n  gelu: 7\n", "`cycles` is a mapping of operators to numbers", 2},
                 {"cycles:\n  other: 1\n  gelo: 7\n", "no such operator: gelo", 3},
                 {"cycles:\n  other: 1\n  gelu: -7\n", "cycles are a number above 0", 3},
                 {"chip: [\n", "not YAML", 2}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bundled_chips();
        cr_expect_not(chips_load_text(&chips, "my.yml", str_of(wrong[i].text), &arena, &diags), "%s", wrong[i].text);
        cr_assert_eq(diags.n, 1, "%s", wrong[i].text);
        cr_expect(strncmp(diags.items[0].message, wrong[i].message, strlen(wrong[i].message)) == 0, "%s",
                  diags.items[0].message);
        cr_expect_eq(diags.items[0].line, wrong[i].line, "%s: line %lu", wrong[i].text,
                     (unsigned long)diags.items[0].line);
    }
    bundled_chips();
    cr_expect(chips_load_text(&chips, "my.yml", STR("chip: mine\nlike: p150\ngrid: 2x3\n"), &arena, &diags));
    cr_expect_eq(chip_cores(chip_named(&chips, STR("mine"))), 6);
    no_chips();
}
