/* The promises of number formats and tensors. */
#include "proof/value/evaluate.h"

#include <criterion/criterion.h>
#include <math.h>

static struct arena arena;
static struct eval_context context;
static struct lazies nodes;

static void setup(void) {
    context = (struct eval_context){.arena = &arena, .nodes = &nodes};
}

static void teardown(void) {
    lazies_free(&nodes);
    arena_free(&arena);
}

TestSuite(numeric, .init = setup, .fini = teardown);

/* ---- formats ---- */

static float float_of_bits(uint32_t w) {
    float f;
    memcpy(&f, &w, sizeof f);
    return f;
}

static uint32_t bits_of_float(double x) {
    float f = (float)x;
    uint32_t w;
    memcpy(&w, &f, sizeof w);
    return w;
}

static double bf16(uint32_t bits) {
    return (double)float_of_bits(bits << 16);
}

static bool is_normal_bf16(uint32_t b) {
    return (b >> 7 & 255) != 0 && (b >> 7 & 255) != 255;
}

/* FormatConversion.md, Dst FP32 to L1 BF16: the bits with half of the last place added, cut. */
static uint32_t packed_bf16(uint32_t w) {
    if ((w >> 23 & 255) == 0)
        return 0;
    if ((w >> 23 & 255) == 255)
        return w >> 16 & 0xff80;
    return (w + 0x8000) >> 16;
}

/* bfloat16.cpp of the host: to even by the last bit that stays. */
static uint32_t even_bf16(uint32_t w) {
    return (w + 0x7fff + (w >> 16 & 1)) >> 16;
}

Test(numeric, every_bf16_value_stays_what_it_is) {
    for (uint32_t b = 0; b < 0x10000; b++) {
        double x = bf16(b);
        bool nan = isnan(x), tiny = (b >> 7 & 255) == 0;
        double even = format_round(x, DT_BF16, ROUND_EVEN), packed = format_round(x, DT_BF16, ROUND_PACKER);
        double cut = format_round(x, DT_BF16, ROUND_TRUNCATE);
        cr_assert(nan ? isnan(even) : even == x && signbit(even) == signbit(x), "%04x", b);
        cr_assert(nan ? isinf(packed) && signbit(packed) == signbit(x)
                      : packed == (tiny ? 0 : x) && !(tiny && signbit(packed)),
                  "%04x", b);
        cr_assert(nan || cut == (tiny ? 0 : x), "%04x", b);
    }
}

Test(numeric, bf16_rounding_is_the_recipe_at_and_beside_every_tie) {
    for (uint32_t b = 0; b < 0x10000; b++)
        for (uint32_t low = 0x7fff; low <= 0x8001; low++) {
            uint32_t w = b << 16 | low;
            double x = (double)float_of_bits(w);
            if (isnan(x))
                continue;
            cr_assert_eq(format_round(x, DT_BF16, ROUND_PACKER), bf16(packed_bf16(w)), "packed %08x", w);
            cr_assert_eq(format_round(x, DT_BF16, ROUND_EVEN), bf16(even_bf16(w)), "even %08x", w);
            if (is_normal_bf16(b))
                cr_assert_eq(format_round(x, DT_BF16, ROUND_TRUNCATE), bf16(b), "cut %08x", w);
        }
}

Test(numeric, ties_differ_between_packer_and_host_and_go_through_f32_only_on_the_device) {
    double tie = 1 + 0x1p-8;
    cr_assert_eq(format_round(tie, DT_BF16, ROUND_PACKER), 1 + 0x1p-7);
    cr_assert_eq(format_round(tie, DT_BF16, ROUND_EVEN), 1);
    cr_assert_eq(format_round(-tie, DT_BF16, ROUND_PACKER), -1 - 0x1p-7);
    cr_assert_eq(format_round(tie - 0x1p-40, DT_BF16, ROUND_PACKER), 1 + 0x1p-7, "f32 first");
    cr_assert_eq(format_round(tie - 0x1p-40, DT_BF16, ROUND_EVEN), 1);
    cr_assert_eq(format_round(0x1.ffp127, DT_BF16, ROUND_PACKER), INFINITY);
    cr_assert_eq(format_round(0x1.ffp127, DT_BF16, ROUND_TRUNCATE), 0x1.fep127);
}

Test(numeric, f32_is_the_machines_own) {
    static const double x[] = {0.1, -1.0 / 3, 3e38, 1e39, -1e39, 0x1p-126, 1 + 0x1p-24, 1 + 0x1.8p-23};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        cr_assert_eq(format_round(x[i], DT_F32, ROUND_EVEN), (double)(float)x[i]);
        cr_assert_eq(format_round(x[i], DT_F32, ROUND_PACKER), (double)(float)x[i]);
    }
    cr_assert_eq(format_round(1e-40, DT_F32, ROUND_EVEN), (double)1e-40f);
    cr_assert_eq(format_round(-1e-40, DT_F32, ROUND_PACKER), 0);
    cr_assert(!signbit(format_round(-1e-40, DT_F32, ROUND_PACKER)));
}

Test(numeric, f16_has_ten_bits_and_a_small_range) {
    cr_assert_eq(format_round(2049, DT_F16, ROUND_EVEN), 2048);
    cr_assert_eq(format_round(2049, DT_F16, ROUND_PACKER), 2050);
    cr_assert_eq(format_round(65519, DT_F16, ROUND_EVEN), 65504);
    cr_assert_eq(format_round(65520, DT_F16, ROUND_EVEN), INFINITY);
    cr_assert_eq(format_round(0x1p-24, DT_F16, ROUND_EVEN), 0x1p-24);
    cr_assert_eq(format_round(0x1p-25, DT_F16, ROUND_EVEN), 0);
    cr_assert_eq(format_round(0x1p-20, DT_F16, ROUND_PACKER), 0);
}

Test(numeric, integers_drop_the_fraction_and_saturate) {
    static const struct {
        enum dtype t;
        double x, y;
    } cases[] = {{DT_I32, -2.7, -2},  {DT_I32, 3e9, 0x1p31 - 1}, {DT_U8, -1, 0},
                 {DT_U8, 255.9, 255}, {DT_I8, -200, -128},       {DT_I1, -0.25, 1},
                 {DT_I1, 0, 0},       {DT_U16, 1e9, 65535},      {DT_I64, 1e18, 1e18},
                 {DT_I4, 9, 7},       {DT_F64, 0.1, 0.1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_eq(format_round(cases[i].x, cases[i].t, ROUND_EVEN), cases[i].y, "case %zu", i);
    cr_assert_eq(format_round(NAN, DT_I32, ROUND_PACKER), 0);
}

/* blockfloat_common.cpp, convert_u32_to_bfp: align by cutting, round to even, saturate, no -0. */
static double host_block_value(uint32_t w, uint32_t shared, int width) {
    uint32_t exponent = w >> 23 & 255, m = (w & 0x7fffff) | 0x800000, drop = (uint32_t)(24 - width);
    if (exponent == 0)
        return 0;
    m = shared - exponent > 31 ? 0 : m >> (shared - exponent);
    uint32_t half = 1u << (drop - 1), rest = m & ((1u << drop) - 1), kept = m >> drop;
    if (rest > half || (rest == half && (kept & 1)))
        kept++;
    if (kept >> width)
        kept = (1u << width) - 1;
    double v = kept * ldexp(1, (int)shared - 127 - (width - 1));
    return w >> 31 && kept ? -v : v;
}

static const struct {
    enum dtype t;
    int width;
} blocks[] = {{DT_BFP8, 7}, {DT_BFP4, 3}, {DT_BFP2, 1}};

Test(numeric, block_floats_of_the_host_follow_its_recipe_for_every_bf16_value) {
    for (size_t k = 0; k < 3; k++)
        for (uint32_t b = 0; b < 0x10000; b++) {
            if ((b >> 7 & 255) == 255)
                continue;
            double row[BLOCK] = {bf16(b), 1.0, -0.40625};
            uint32_t e = b >> 7 & 255, shared = e > 127 ? e : 127;
            format_round_row(row, 3, blocks[k].t, ROUND_EVEN);
            cr_assert_eq(row[0], host_block_value(b << 16, shared, blocks[k].width), "%04x width %d", b,
                         blocks[k].width);
            cr_assert(!(row[0] == 0 && signbit(row[0])));
            cr_assert_eq(row[1], host_block_value(0x3f800000, shared, blocks[k].width));
            cr_assert_eq(row[2], host_block_value(0xbed00000, shared, blocks[k].width));
        }
}

Test(numeric, block_floats_of_the_packer_are_within_half_a_step_and_narrow_ones_are_cut) {
    for (uint32_t b = 0; b < 0x10000; b++) {
        if (!is_normal_bf16(b))
            continue;
        double x = bf16(b), eight[BLOCK] = {x, 1.0}, four[BLOCK] = {x, 1.0};
        int e = (int)(b >> 7 & 255) > 127 ? (int)(b >> 7 & 255) - 127 : 0;
        format_round_row(eight, 2, DT_BFP8, ROUND_PACKER);
        format_round_row(four, 2, DT_BFP4, ROUND_PACKER);
        double step = ldexp(1, e - 6), most = 127 * step;
        double want = fmin(round(fabs(x) / step) * step, most), cut = trunc(want / (16 * step)) * 16 * step;
        cr_assert_eq(eight[0], copysign(want, want != 0 ? x : 1), "%04x", b);
        cr_assert_eq(four[0], copysign(cut, cut != 0 ? x : 1), "%04x", b);
    }
}

Test(numeric, small_elements_beside_a_large_one_die) {
    double row[BLOCK] = {1, 0x1p-6, 0x1p-7, 0x1p-8, -1};
    format_round_row(row, 5, DT_BFP8, ROUND_PACKER);
    cr_assert_eq(row[1], 0x1p-6);
    cr_assert_eq(row[2], 0x1p-6, "a tie goes away from zero");
    cr_assert_eq(row[3], 0);
    cr_assert_eq(row[4], -1);
    double host[BLOCK] = {1, 0x1p-7, 0x1p-2, 0x1p-3};
    format_round_row(host, 4, DT_BFP4, ROUND_EVEN);
    cr_assert_eq(host[1], 0);
    cr_assert_eq(host[2], 0x1p-2);
    cr_assert_eq(host[3], 0, "a tie goes to even");
}

Test(numeric, blocks_follow_the_last_dimension) {
    struct tensor *t = tensor_new(&context, &(struct shape){2, {2, 20}});
    for (int i = 0; i < 40; i++)
        t->x[i] = 0x1p-10;
    t->x[3] = 1;
    t->x[37] = 1;
    const struct tensor *r = elements_read(&context, lazy_rounded(&context, t, DT_BFP8, false), 1e6);
    for (int i = 0; i < 40; i++) {
        bool dead = i < 16 || i >= 36;
        cr_assert_eq(r->x[i], i == 3 || i == 37 ? 1 : dead ? 0 : 0x1p-10, "%d", i);
    }
}

Test(numeric, the_unit_in_the_last_place_is_the_distance_of_neighbours) {
    for (uint32_t b = 0x80; b < 0x7f7f; b++)
        cr_assert_eq(format_ulp(bf16(b), DT_BF16), bf16(b + 1) - bf16(b), "%04x", b);
    cr_assert_eq(format_ulp(1, DT_F32), 0x1p-23);
    cr_assert_eq(format_ulp(-1.5, DT_F16), 0x1p-10);
    cr_assert_eq(format_ulp(1, DT_BFP8), 0x1p-6);
    cr_assert_eq(format_ulp(1, DT_BFP4), 0x1p-2);
    cr_assert_eq(format_ulp(0, DT_BF16), 0x1p-133);
    cr_assert_eq(format_ulp(7, DT_I32), 1);
    cr_assert(isnan(format_ulp(INFINITY, DT_BF16)));
    cr_assert(isnan(format_ulp(1, DT_F64)));
}

Test(numeric, sources_of_the_matrix_unit_are_cut) {
    cr_assert_eq(bits_of_float(format_unpack((double)float_of_bits(0x3fffffff), DT_F32)), 0x3fffe000u);
    cr_assert_eq(bits_of_float(format_unpack((double)float_of_bits(0xbfffffff), DT_BF16)), 0xbfff0000u);
    cr_assert_eq(format_unpack(1e-40, DT_F32), 0);
}

/* SrcASrcB.md: the phases of HiFi4 together multiply bf16 exactly, LoFi keeps 5 and 7 bits. */
Test(numeric, phases_add_up_to_every_bf16_value) {
    for (uint32_t b = 0; b < 0x10000; b++) {
        if (!is_normal_bf16(b))
            continue;
        double x = bf16(b), y = 1.9921875, a[2], other[2], of_y[2];
        format_source_row(&x, 1, DT_BF16, false, true, &a[0], &a[1]);
        format_source_row(&x, 1, DT_BF16, false, false, &other[0], &other[1]);
        format_source_row(&y, 1, DT_BF16, false, false, &of_y[0], &of_y[1]);
        cr_assert_eq((a[0] + a[1]) * (of_y[0] + of_y[1]), x * y, "%04x", b);
        cr_assert_eq(a[0], (double)float_of_bits((b << 16) & 0xfff80000u));
        cr_assert_eq(other[0], (double)float_of_bits((b << 16) & 0xfffe0000u));
        cr_assert_eq(other[1], x - (double)float_of_bits((b << 16) & 0xfffe1fffu));
    }
}

/* ---- tensors ---- */

static struct tensor *counting(const struct shape *s) {
    struct tensor *t = tensor_new(&context, s);
    for (int64_t i = 0; t && i < t->n; i++)
        t->x[i] = (double)i;
    return t;
}

Test(numeric, a_view_reads_in_another_order) {
    struct tensor *t = counting(&(struct shape){3, {2, 3, 4}});
    uint32_t order[] = {2, 0, 1};
    struct view v = view_permuted(view_of(t), order);
    const struct tensor *p = elements_read(&context, lazy_of_view(&context, v), 100);
    cr_assert_eq(p->shape.dim[0], 4);
    cr_assert_eq(p->shape.dim[2], 3);
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 2; j++)
            for (int64_t k = 0; k < 3; k++)
                cr_assert_eq(p->x[i * 6 + j * 3 + k], t->x[j * 12 + k * 4 + i]);
    v = view_cut(view_of(t), 2, 3, -2, 2);
    p = elements_read(&context, lazy_of_view(&context, v), 100);
    cr_assert_eq(p->x[0], 3);
    cr_assert_eq(p->x[1], 1);
    cr_assert_eq(p->x[11], 21);
}

Test(numeric, broadcasting_is_from_the_right) {
    struct shape out, a = {2, {3, 1}}, b = {3, {2, 1, 4}}, wrong = {2, {2, 4}}, empty = {1, {0}};
    cr_assert(shape_broadcast(&context, &a, &b, &out));
    cr_assert_str_eq(shape_text(&arena, &out).p, "2x3x4");
    cr_assert(shape_broadcast(&context, &empty, &(struct shape){1, {1}}, &out));
    cr_assert_eq(out.dim[0], 0);
    cr_assert_not(shape_broadcast(&context, &a, &wrong, &out));
    cr_assert_str_eq(context.error.p, "shapes 3x1 and 2x4 do not broadcast");
}

Test(numeric, what_is_too_large_is_an_error_with_a_reason) {
    context.max_elements = 100;
    cr_assert(tensor_new(&context, &(struct shape){2, {9, 11}}));
    cr_assert_null(tensor_new(&context, &(struct shape){1, {2}}));
    cr_assert_str_eq(context.error.p, "a tensor 2: beyond the limit of 100 elements");
    setup();
    cr_assert_null(tensor_new(&context, &(struct shape){3, {INT64_MAX, 2, 2}}));
    cr_assert_null(tensor_new(&context, &(struct shape){1, {-1}}));
    setup();
    cr_assert_null(tensor_new(&context, &(struct shape){13, {1}}));
    cr_assert(str_find(context.error, STR("rank 13")));
    setup();
    cr_assert_null(tensor_reshape(&context, counting(&(struct shape){1, {6}}), &(struct shape){1, {7}}));
    cr_assert_str_eq(context.error.p, "6 cannot be reshaped to 7");
}
