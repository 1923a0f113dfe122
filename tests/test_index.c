/* The promises of index maps: whatever they say is what evaluation on actual arrays says. */
#include "ir/graph/index.h"
#include "ir_text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_N = 4096, MAX_CHAIN = 6 };

static struct ir ir;

static void teardown(void) {
    if (ir.text)
        ir_free(&ir);
    ir.text = NULL;
}

TestSuite(index, .fini = teardown, .timeout = 60);

static void body(const char *args, const char *text) {
    teardown();
    ir_main(&ir, args, text);
}

static uint64_t seed;

static uint32_t below(uint32_t n) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % n;
}

static int64_t at(const struct imap *m, const int64_t *index) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < m->n; i++)
        sum += index[m->t[i].space] / m->t[i].lo % m->t[i].size * m->t[i].stride;
    return sum;
}

static struct imap of_terms(uint32_t n, const struct term *t) {
    struct imap m = {.n = n};
    memcpy(m.t, t, n * sizeof *t);
    imap_canonical(&m);
    return m;
}

#define MAP(...) of_terms(sizeof((struct term[]){__VA_ARGS__}) / sizeof(struct term), (struct term[]){__VA_ARGS__})

/* ---- single functions ---- */

Test(index, identity_is_every_element_in_its_place) {
    struct imap m;
    imap_identity(&m, 0, 12);
    for (int64_t i = 0; i < 12; i++)
        cr_assert_eq(at(&m, &i), i);
    imap_identity(&m, 0, 1);
    cr_assert_eq(m.n, 0);
    m = MAP({0, 3, 1, 7});
    cr_assert_eq(m.n, 0, "a single element is not counted");
}

Test(index, canonical_maps_are_equal_when_they_are_the_same_function) {
    struct imap whole = MAP({0, 1, 12, 1}), parts = MAP({0, 4, 3, 4}, {0, 1, 2, 1}, {0, 2, 2, 2});
    cr_assert(imap_equal(&whole, &parts));
    struct imap padded = MAP({0, 3, 1, 7}, {0, 1, 12, 1}, {0, 2, 6, 0});
    cr_assert(imap_equal(&whole, &padded));
    struct imap swapped = MAP({0, 1, 3, 4}, {0, 3, 4, 1}), other_space = MAP({1, 1, 12, 1});
    cr_assert_not(imap_equal(&whole, &swapped));
    cr_assert_not(imap_equal(&whole, &other_space));
}

Test(index, coordinates_of_a_shape_and_back) {
    struct imap m, back;
    struct axes c;
    const int64_t shape[] = {2, 1, 3, 4};
    imap_identity(&m, 0, 24);
    cr_assert(imap_coordinates(&m, shape, 4, &c));
    for (int64_t i = 0; i < 24; i++) {
        const int64_t want[] = {i / 12, 0, i / 4 % 3, i % 4};
        for (int d = 0; d < 4; d++) {
            struct imap axis;
            axes_axis(&c, d, &axis);
            cr_assert_eq(at(&axis, &i), want[d]);
        }
    }
    cr_assert(imap_of_coordinates(&c, shape, 4, &back));
    cr_assert(imap_equal(&m, &back));
    cr_assert_eq(axes_extent(&c, -1), 4);
    cr_assert_eq(axes_extent(&c, 1), 1);
    cr_assert_eq(axes_extent(&c, -5), 1, "out of range");
}

Test(index, coordinates_refuse_what_straddles_dimensions) {
    struct imap m = MAP({0, 1, 6, 2});
    struct axes c;
    const int64_t even[] = {3, 4}, odd[] = {4, 3}, dynamic[] = {-1, 4}, huge[] = {INT64_MAX / 2, 4};
    cr_assert(imap_coordinates(&m, even, 2, &c));
    cr_assert_not(imap_coordinates(&m, odd, 2, &c));
    cr_assert_not(imap_coordinates(&m, dynamic, 2, &c));
    cr_assert_not(imap_coordinates(&m, huge, 2, &c));
    struct imap diagonal = MAP({0, 1, 2, 4});
    cr_assert_not(imap_coordinates(&diagonal, odd, 2, &c), "(0, 0) and (1, 1)");
}

Test(index, maps_of_shapes_that_are_dynamic_or_too_large_are_refused) {
    struct axes c;
    struct imap m;
    struct term t = {0, 1, 2, 1};
    axes_clear(&c);
    cr_assert(axes_add(&c, &t, 1));
    cr_assert(axes_add(&c, NULL, 0));
    cr_assert(axes_add(&c, NULL, 0));
    const int64_t dynamic[] = {4, -1, 4}, huge[] = {4, INT64_C(1) << 62, INT64_C(1) << 62};
    cr_assert_not(imap_of_coordinates(&c, dynamic, 3, &m));
    cr_assert_not(imap_of_coordinates(&c, huge, 3, &m));
}

Test(index, joined_axes_count_row_major) {
    struct imap m, joined;
    struct axes c;
    const int64_t shape[] = {2, 3, 4};
    imap_identity(&m, 0, 24);
    cr_assert(imap_coordinates(&m, shape, 3, &c));
    axes_join(&c, 1, 2, &joined);
    for (int64_t i = 0; i < 24; i++)
        cr_assert_eq(at(&joined, &i), i % 12);
    axes_join(&c, 0, 0, &joined);
    cr_assert_eq(joined.n, 0);
}

/* Digits of I in 0..5: I / 3 is no function of I / 2, and I % 2 matters to I / 3. */
Test(index, digits_of_different_radix_are_not_told_apart) {
    struct imap third = MAP({0, 3, 2, 1}), half = MAP({0, 2, 3, 1}), low = MAP({0, 1, 2, 1});
    struct axes context, out;
    const int64_t shape[] = {3, 2}, two[] = {2};
    struct imap all;
    cr_assert_not(imap_within(&third, &half));
    cr_assert_not(imap_within(&half, &third));
    cr_assert(imap_touches(&third, &half));
    cr_assert(imap_touches(&third, &low), "I = 2 and I = 3 differ in I %% 2 only");
    cr_assert(imap_touches(&low, &third));
    cr_assert_not(imap_touches(&half, &low));
    imap_identity(&all, 0, 6);
    cr_assert(imap_coordinates(&all, shape, 2, &context));
    cr_assert_not(imap_complement(&context, &third, two, 1, &out));
    /* I / 4 without I / 2 % 3 */
    struct term quarter = {0, 4, 6, 1};
    struct imap middle = MAP({0, 2, 3, 1});
    const int64_t four[] = {4};
    axes_clear(&context);
    cr_assert(axes_add(&context, &quarter, 1));
    cr_assert_not(imap_complement(&context, &middle, four, 1, &out));
}

/* ---- movement, against evaluation on arrays ---- */

struct array {
    int64_t shape[MAX_RANK];
    uint32_t rank;
    int64_t n;
    int64_t v[MAX_N]; /* the offset of the element in the first array */
};

static int64_t numel(const int64_t *shape, uint32_t rank) {
    int64_t n = 1;
    for (uint32_t d = 0; d < rank; d++)
        n *= shape[d];
    return n;
}

static void coordinates(const struct array *a, int64_t i, int64_t *c) {
    for (uint32_t d = a->rank; d-- > 0; i /= a->shape[d])
        c[d] = i % a->shape[d];
}

static int64_t offset(const struct array *a, const int64_t *c) {
    int64_t i = 0;
    for (uint32_t d = 0; d < a->rank; d++)
        i = i * a->shape[d] + c[d];
    return i;
}

static void type_text(struct buf *b, const struct array *a) {
    buf_add(b, STR("tensor<"));
    for (uint32_t d = 0; d < a->rank; d++)
        buf_printf(b, "%dx", (int)a->shape[d]);
    buf_add(b, STR("f32>"));
}

static void list_text(struct buf *b, const int64_t *v, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        buf_printf(b, "%s%d", i ? ", " : "", (int)v[i]);
}

static void gather(struct array *out, const struct array *in, const int64_t *from) {
    for (int64_t i = 0; i < out->n; i++)
        out->v[i] = in->v[from[i]];
}

static void random_reshape(const struct array *in, struct array *out, struct buf *b) {
    int64_t rest = in->n;
    out->rank = 0;
    while (rest > 1 && out->rank < 5) {
        int64_t f = 1 + below(rest > 12 ? 12 : (uint32_t)rest);
        if (rest % f == 0 && (f > 1 || below(4) == 0)) {
            out->shape[out->rank++] = f;
            rest /= f;
        }
    }
    if (rest > 1 || below(3) == 0)
        out->shape[out->rank++] = rest;
    out->n = in->n;
    memcpy(out->v, in->v, (size_t)in->n * sizeof *in->v);
    buf_printf(b, "\"ttir.reshape\"(%%%%) <{shape = [");
    for (uint32_t d = 0; d < out->rank; d++)
        buf_printf(b, "%s%d : i32", d ? ", " : "", (int)out->shape[d]);
    buf_printf(b, "]}>");
}

static void random_permute(const struct array *in, struct array *out, struct buf *b) {
    int64_t perm[MAX_RANK], from[MAX_N];
    for (uint32_t d = 0; d < in->rank; d++)
        perm[d] = d;
    bool swap = in->rank > 1 && below(2);
    uint32_t x = swap ? below(in->rank) : 0, y = swap ? below(in->rank) : 0;
    for (uint32_t d = in->rank; !swap && d > 1; d--) {
        uint32_t k = below(d);
        int64_t t = perm[d - 1];
        perm[d - 1] = perm[k];
        perm[k] = t;
    }
    if (swap) {
        perm[x] = y;
        perm[y] = x;
        buf_printf(b, "\"ttnn.transpose\"(%%%%) <{dim0 = %d : si32, dim1 = %d : si32}>", (int)x - (int)in->rank,
                   (int)y);
    } else {
        buf_printf(b, "\"ttir.permute\"(%%%%) <{permutation = array<i64%s", in->rank ? ": " : "");
        list_text(b, perm, in->rank);
        buf_printf(b, ">}>");
    }
    out->rank = in->rank;
    out->n = in->n;
    for (uint32_t d = 0; d < in->rank; d++)
        out->shape[d] = in->shape[perm[d]];
    for (int64_t i = 0; i < out->n; i++) {
        int64_t c[MAX_RANK], s[MAX_RANK];
        coordinates(out, i, c);
        for (uint32_t d = 0; d < in->rank; d++)
            s[perm[d]] = c[d];
        from[i] = offset(in, s);
    }
    gather(out, in, from);
}

/* One of the ops that repeat elements: broadcast, repeat, repeat_interleave. */
static void random_expand(const struct array *in, struct array *out, struct buf *b) {
    int64_t times[MAX_RANK], from[MAX_N];
    uint32_t how = below(3), only = in->rank ? below(in->rank) : 0;
    out->rank = in->rank;
    out->n = in->n;
    for (uint32_t d = 0; d < in->rank; d++) {
        bool may = how == 0 ? in->shape[d] == 1 : how == 1 ? below(2) == 0 : d == only;
        int64_t t = 1 + below(4);
        times[d] = may && out->n * t <= MAX_N ? t : 1;
        out->n *= times[d];
        out->shape[d] = in->shape[d] * times[d];
    }
    for (int64_t i = 0; i < out->n; i++) {
        int64_t c[MAX_RANK];
        coordinates(out, i, c);
        for (uint32_t d = 0; d < in->rank; d++)
            c[d] = how == 2 ? c[d] / times[d] : c[d] % in->shape[d];
        from[i] = offset(in, c);
    }
    gather(out, in, from);
    if (how == 2 && in->rank) {
        buf_printf(b, "\"ttir.repeat_interleave\"(%%%%) <{repeats = %d : ui32, dim = %d : si32}>", (int)times[only],
                   (int)only - (below(2) ? (int)in->rank : 0));
        return;
    }
    buf_printf(b, how ? "\"ttnn.repeat\"(%%%%) <{repeat_dims = #ttnn.shape<1>}>"
                      : "\"ttir.broadcast\"(%%%%) <{broadcast_dimensions = array<i64: 1>}>");
}

static void random_step(const struct array *in, struct array *out, struct buf *b) {
    switch (below(8)) {
    case 0:
    case 1:
    case 2:
        random_reshape(in, out, b);
        return;
    case 3:
    case 4:
        random_permute(in, out, b);
        return;
    case 5:
    case 6:
        random_expand(in, out, b);
        return;
    default:
        memcpy(out, in, sizeof *out);
        buf_printf(b, below(2) ? "\"ttnn.typecast\"(%%%%)" : "\"ttnn.to_layout\"(%%%%)");
    }
}

static void random_shape(struct array *a, uint32_t most, const int64_t *extents, uint32_t nextents) {
    a->rank = below(most + 1);
    for (;;) {
        for (uint32_t d = 0; d < a->rank; d++)
            a->shape[d] = extents[below(nextents)];
        a->n = numel(a->shape, a->rank);
        if (a->n <= MAX_N / 4)
            break;
    }
    for (int64_t i = 0; i < a->n; i++)
        a->v[i] = i;
}

/* "%k = op(%j) : (type) -> type"; in the text of the op, %% is the place of its operand. */
static void add_line(struct buf *out, const struct buf *op, int k, const struct array *from, const struct array *to) {
    buf_printf(out, "%%%d = ", k);
    for (size_t i = 0; i < op->n; i++)
        if (op->p[i] == '%' && i + 1 < op->n && op->p[i + 1] == '%')
            buf_printf(out, k ? "%%%d" : "%%x", k - 1), i++;
        else
            buf_addc(out, op->p[i]);
    buf_add(out, STR(" : ("));
    type_text(out, from);
    buf_add(out, STR(") -> "));
    type_text(out, to);
    buf_addc(out, '\n');
}

static struct array arrays[MAX_CHAIN + 1];

/* A chain of up to MAX_CHAIN ops from %x; arrays[k] is the result of the k-th one, computed element by element. */
static int random_chain(const int64_t *extents, uint32_t nextents) {
    struct buf text = {0}, args = {0};
    int n = 1 + (int)below(MAX_CHAIN);
    random_shape(&arrays[0], 4, extents, nextents);
    buf_add(&args, STR("%x: "));
    type_text(&args, &arrays[0]);
    buf_addc(&args, '\0');
    for (int k = 0; k < n; k++) {
        struct buf op = {0};
        random_step(&arrays[k], &arrays[k + 1], &op);
        add_line(&text, &op, k, &arrays[k], &arrays[k + 1]);
        buf_free(&op);
    }
    buf_printf(&text, "return%c", '\0');
    body(args.p, text.p);
    buf_free(&text);
    buf_free(&args);
    return n;
}

static bool through_chain(int n, struct imap *m) {
    imap_identity(m, 0, arrays[n].n);
    for (int k = n; k-- > 0;) {
        char name[16];
        struct imap next;
        snprintf(name, sizeof name, "%%%d", k);
        if (!imap_through(&ir.g, ir_op(&ir, name), m, &next))
            return false;
        imap_canonical(&next);
        *m = next;
    }
    return true;
}

/* Returns how many of the chains could not be followed; the index maps of all others are checked at every index. */
static int follow_chains(int chains, const int64_t *extents, uint32_t nextents) {
    int gave_up = 0;
    for (int i = 0; i < chains; i++) {
        int n = random_chain(extents, nextents);
        struct imap m;
        if (!through_chain(n, &m)) {
            gave_up++;
            continue;
        }
        for (int64_t k = 0; k < arrays[n].n; k++)
            cr_assert_eq(at(&m, &k), arrays[n].v[k], "chain %d, element %d in\n%s", i, (int)k, ir.text);
    }
    return gave_up;
}

Test(index, chains_of_movement_are_followed_exactly) {
    static const int64_t extents[] = {1, 2, 3, 4, 5, 6, 8, 12};
    seed = 20261120;
    int gave_up = follow_chains(3000, extents, 8);
    cr_assert_lt(gave_up, 3000 / 20, "%d of 3000 were given up", gave_up);
}

/* Extents of real models mostly divide each other: with powers of two every chain has to be followed. */
Test(index, chains_over_powers_of_two_are_never_given_up) {
    static const int64_t extents[] = {1, 2, 4, 8};
    seed = 4;
    for (int i = 0; i < 4000; i++) {
        int n = random_chain(extents, 4);
        struct imap m;
        bool power = true;
        for (int k = 0; k <= n; k++)
            power &= (arrays[k].n & (arrays[k].n - 1)) == 0;
        cr_assert(!power || through_chain(n, &m), "%s", ir.text);
    }
}

/* Two chains from one value: their maps are equal if and only if they read the same element at every index. */
Test(index, two_roads_are_equal_when_their_elements_are) {
    static const int64_t extents[] = {1, 2, 2, 4};
    static struct array first;
    static struct imap map;
    int same = 0, compared = 0;
    seed = 99;
    first.rank = NONE;
    for (int i = 0; i < 10000; i++) {
        int n = random_chain(extents, 4);
        struct imap m;
        if (!through_chain(n, &m))
            continue;
        if (first.rank != NONE && first.n == arrays[n].n) {
            bool equal = memcmp(first.v, arrays[n].v, (size_t)first.n * sizeof *first.v) == 0;
            cr_assert_eq(imap_equal(&m, &map), equal, "%s", ir.text);
            same += equal;
            compared++;
        }
        first = arrays[n];
        map = m;
    }
    cr_assert_gt(same, 50);
    cr_assert_gt(compared - same, 50);
}

/* ---- shapes that do not fit each other ---- */

#define HUGE "4611686018427387904"

static bool one_step(const char *args, const char *text) {
    teardown();
    struct buf b = {0};
    buf_printf(&b, "func.func @main(%s) {\n%s\n}\n%c", args, text, '\0');
    ir_read_bad(&ir, b.p);
    buf_free(&b);
    uint32_t rank, op = ir_op(&ir, "%0");
    struct imap m, out;
    imap_identity(&m, 0, graph_numel(&ir.g, ir.m.ops[op].first_result));
    (void)rank;
    return imap_through(&ir.g, op, &m, &out);
}

#define STEP(op, from, to) one_step("%x: tensor<" from ">", "%0 = " op " : (tensor<" from ">) -> tensor<" to ">")

/* Those that no reader lets pass are in input.txt. */
Test(index, movement_whose_shapes_do_not_fit_is_no_map) {
    cr_assert(STEP("\"ttir.reshape\"(%x) <{shape = [3 : i32, 2 : i32]}>", "2x3xf32", "3x2xf32"));
    cr_assert_not(STEP("\"ttir.reshape\"(%x) <{shape = [3 : i32, -1 : i32]}>", "?x3xf32", "3x?xf32"));
    cr_assert_not(STEP("\"ttnn.transpose\"(%x) <{dim0 = -3 : si32, dim1 = 0 : si32}>", "3x3xf32", "3x3xf32"));
    cr_assert_not(STEP("\"ttnn.transpose\"(%x)", "3x3xf32", "3x3xf32"));
    cr_assert(STEP("\"ttir.broadcast\"(%x)", "1x3xf32", "2x3xf32"));
    cr_assert_not(STEP("\"ttir.broadcast\"(%x)", "2x3xf32", "4x3xf32"), "only one element is broadcast");
    cr_assert_not(STEP("\"ttir.broadcast\"(%x)", "*xf32", "2x3xf32"));
    cr_assert(STEP("\"ttir.repeat\"(%x) <{repeat_dimensions = array<i64: 2, 1>}>", "2x3xf32", "4x3xf32"));
    cr_assert_not(STEP("\"ttir.repeat\"(%x) <{repeat_dimensions = array<i64: 2, 1>}>", "2x3xf32", "5x3xf32"));
    cr_assert_not(STEP("\"ttir.repeat\"(%x)", HUGE "x" HUGE "xf32", "4x3xf32"));
    cr_assert(STEP("\"ttir.repeat_interleave\"(%x) <{repeats = 2 : ui32, dim = 0 : si32}>", "2x3xf32", "4x3xf32"));
    cr_assert_not(STEP("\"ttir.repeat_interleave\"(%x) <{repeats = 2 : ui32, dim = 0 : si32}>", "2x3xf32", "6x3xf32"));
    cr_assert_not(STEP("\"ttir.repeat_interleave\"(%x) <{repeats = 4 : ui32, dim = 2 : si32}>", "2x3xf32", "2x3xf32"));
}

/* Elements 0, 3, 1, 4, 2, 5 of a result that repeats each element twice are 0, 1, 0, 2, 1, 2: no sum of digits. */
Test(index, repeated_elements_in_an_order_across_the_repeats_are_no_map) {
    struct imap across = MAP({0, 1, 2, 3}, {0, 2, 3, 1}), row, out;
    body("%x: tensor<3xf32>", "%0 = \"ttir.repeat_interleave\"(%x) <{repeats = 2 : ui32, dim = 0 : si32}> : "
                              "(tensor<3xf32>) -> tensor<6xf32>\nreturn");
    imap_identity(&row, 0, 6);
    cr_assert(imap_through(&ir.g, ir_op(&ir, "%0"), &row, &out));
    cr_assert_not(imap_through(&ir.g, ir_op(&ir, "%0"), &across, &out));
}

Test(index, operands_are_broadcast_from_the_right) {
    body("%a: tensor<2x3x4xf32>, %b: tensor<4xf32>, %c: tensor<3x1xf32>, %s: tensor<f32>, %w: tensor<3xf32>, "
         "%l: tensor<1x2x3x4xf32>",
         "return");
    struct imap m, out;
    uint32_t a = ir_value(&ir, "%a");
    imap_identity(&m, 0, 24);
    for (int64_t i = 0; i < 24; i++) {
        cr_assert(imap_operand(&ir.g, a, ir_value(&ir, "%b"), &m, &out));
        cr_assert_eq(at(&out, &i), i % 4);
        cr_assert(imap_operand(&ir.g, a, ir_value(&ir, "%c"), &m, &out));
        cr_assert_eq(at(&out, &i), i / 4 % 3);
        cr_assert(imap_operand(&ir.g, a, ir_value(&ir, "%s"), &m, &out));
        cr_assert_eq(at(&out, &i), 0);
        cr_assert(imap_operand(&ir.g, a, ir_value(&ir, "%l"), &m, &out));
        cr_assert_eq(at(&out, &i), i);
    }
    cr_assert_not(imap_operand(&ir.g, a, ir_value(&ir, "%w"), &m, &out));
    cr_assert_not(imap_operand(&ir.g, ir_value(&ir, "%b"), a, &m, &out), "an operand larger than the result");
}

Test(index, operands_have_ranks_up_to_a_limit_and_single_elements_repeat) {
    body("%a: tensor<2x1x1x1x1x1x1x1x1x1x1x3xf32>, %b: tensor<1x2x1x1x1x1x1x1x1x1x1x1x3xf32>, %c: tensor<4xf32>, "
         "%d: tensor<1xf32>, %s: tensor<f32>",
         "return");
    struct imap m, out;
    uint32_t a = ir_value(&ir, "%a"), b = ir_value(&ir, "%b"), c = ir_value(&ir, "%c"), s = ir_value(&ir, "%s");
    imap_identity(&m, 0, 6);
    cr_assert(imap_operand(&ir.g, a, a, &m, &out) && imap_equal(&m, &out));
    cr_assert_not(imap_operand(&ir.g, b, b, &m, &out));
    imap_identity(&m, 0, 4);
    cr_assert(imap_operand(&ir.g, c, ir_value(&ir, "%d"), &m, &out));
    cr_assert_eq(out.n, 0);
    imap_identity(&m, 0, 1);
    cr_assert(imap_operand(&ir.g, s, s, &m, &out));
}

Test(index, dimensions_that_there_are_not_are_no_permutation) {
    static const char *const dims[] = {"1", "-2", "-3", "2"};
    for (int i = 0; i < 16; i++) {
        uint32_t order[2];
        struct buf b = {0};
        buf_printf(&b, "%%0 = \"ttir.transpose\"(%%x) <{dim0 = %s : si32, dim1 = %s : si32}> : ", dims[i / 4],
                   dims[i % 4]);
        buf_printf(&b, "(tensor<3x3xf32>) -> tensor<3x3xf32>\n%c", '\0');
        teardown();
        ir_read_bad(&ir, b.p);
        buf_free(&b);
        cr_expect_eq(permutation_of(&ir.g, ir_op(&ir, "%0"), 2, order), i / 4 < 2 && i % 4 < 2, "%d", i);
    }
}

/* A value that is the same along the columns: a map along them, along the rows only, and along both. */
Test(index, a_map_is_split_where_some_of_it_leads_to_equal_elements) {
    body("%x: tensor<2x1xf32>", "%0 = \"ttir.broadcast\"(%x) <{broadcast_dimensions = array<i64: 1, 3>}> : "
                                "(tensor<2x1xf32>) -> tensor<2x3xf32>\nreturn");
    uint32_t v = ir_value(&ir, "%0");
    struct imap rows = MAP({0, 1, 2, 3}), columns = MAP({0, 1, 3, 1}), both, varying, equal;
    imap_identity(&both, 0, 6);
    cr_expect_not(imap_split(&ir.g, v, &rows, &varying, &equal));
    cr_expect(imap_split(&ir.g, v, &columns, &varying, &equal));
    cr_expect(varying.n == 0 && imap_equal(&equal, &columns));
    cr_expect(imap_split(&ir.g, v, &both, &varying, &equal));
    cr_expect(varying.n == 1 && varying.t[0].size == 2 && equal.n == 1 && equal.t[0].size == 3);
}

static struct slice_bounds bounds;

static bool slices(const char *from, const char *attributes, const char *to) {
    struct buf b = {0};
    teardown();
    buf_printf(&b,
               "func.func @main(%%x: tensor<%s>) {\n%%0 = \"ttir.slice_static\"(%%x) <{%s}> : (tensor<%s>) -> "
               "tensor<%s>\nreturn\n}\n%c",
               from, attributes, from, to, '\0');
    ir_read_bad(&ir, b.p);
    buf_free(&b);
    return slice_bounds(&ir.g, ir_op(&ir, "%0"), &bounds);
}

#define BOUNDS(b, e, s) "begins = [" b "], ends = [" e "], step = [" s "]"

Test(index, bounds_of_slices_that_make_the_extents_of_the_result) {
    cr_assert(slices("4x6xf32", BOUNDS("0, -4", "4, 6", "1, 2"), "4x2xf32"));
    cr_assert(bounds.ncut == 1 && bounds.cut[1] && bounds.begin[1] == 2 && bounds.end[1] == 6 && bounds.step[1] == 2);
    cr_assert(slices("4x6xf32", "begins = [0, 2], ends = [4, 6]", "4x4xf32"));
    cr_assert_not(slices("4x6xf32", "begins = [0, 2]", "4x4xf32"), "and not the ends of the slice before");
    cr_assert_not(slices("4x6xf32", "begins = [0, 2], ends = [4]", "4x4xf32"));
    cr_assert_not(slices("4x6xf32", BOUNDS("0, 2", "4, 6", "1, 0"), "4x4xf32"));
    cr_assert_not(slices("4x6xf32", BOUNDS("0, 2", "4, 6", "1, -1"), "4x4xf32"));
    cr_assert_not(slices("4x6xf32", BOUNDS("0, 2", "4, 2", "1, 2"), "4x1xf32"));
    cr_assert_not(slices("4x6xf32", BOUNDS("0, 2", "4, 7", "1, 1"), "4x5xf32"));
    cr_assert_not(slices("4x6xf32", BOUNDS("0, -7", "4, 6", "1, 1"), "4x6xf32"));
    cr_assert_not(slices("4x6xf32", BOUNDS("0, 2", "4, 6", "1, 1"), "4x3xf32"));
    cr_assert_not(slices("4x6xf32", BOUNDS("0, 0", "4, 6", "1, 1"), "4x6x1xf32"));
    cr_assert_not(slices("4x6xf32", BOUNDS("0, 0", "4, 6", "1, 1"), "*xf32"));
    cr_assert_not(slices("f32", BOUNDS("", "", ""), "*xf32"));
    cr_assert_not(slices("1x1x1x1x1x1x1x1x1x1x1x1x3xf32", /* of more dimensions than there is room for */
                         BOUNDS("0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1", "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3",
                                "3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1"),
                         "1x1x1x1x1x1x1x1x1x1x1x1x2xf32"));
}

/* ---- dependence, against trying all indices ---- */

/* Terms with one index space of n, cut out of a chain of factors: each digit is aligned with all others. */
static uint32_t random_digits(struct term *t, int64_t *n) {
    static const int64_t factors[] = {2, 3, 2, 5, 2};
    uint32_t k = 0;
    int64_t lo = 1;
    for (uint32_t i = 0; i < 3 + below(3); i++) {
        t[k++] = (struct term){0, lo, factors[i], 1};
        lo *= factors[i];
    }
    *n = lo;
    return k;
}

static struct imap some_of(const struct term *t, uint32_t n) {
    struct imap m = {0};
    int64_t stride = 1;
    for (uint32_t i = 0; i < n; i++)
        if (below(2)) {
            m.t[m.n] = t[i];
            m.t[m.n++].stride = stride;
            stride *= t[i].size;
        }
    imap_canonical(&m);
    return m;
}

static struct imap any_digits(int64_t n) {
    static const int64_t los[] = {1, 2, 3, 4, 6}, sizes[] = {2, 3, 4, 6};
    struct imap m = {0};
    for (uint32_t i = 0, want = 1 + below(2); i < want; i++) {
        struct term t = {0, los[below(5)], sizes[below(4)], i ? 7 : 1};
        if (n % (t.lo * t.size) == 0)
            m.t[m.n++] = t;
    }
    if (m.n == 2 && m.t[0].lo < m.t[1].lo * m.t[1].size && m.t[1].lo < m.t[0].lo * m.t[0].size)
        m.n = 1; /* digits of one map do not overlap */
    imap_canonical(&m);
    return m;
}

static int64_t digit(struct term t, int64_t i) {
    return i / t.lo % t.size;
}

/* Whether a change of one digit of the axis, all others fixed, changes m. */
static bool really_touches(const struct imap *m, const struct imap *axis, int64_t n) {
    for (uint32_t j = 0; j < axis->n; j++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t d = 0; d < axis->t[j].size; d++) {
                int64_t other = i + (d - digit(axis->t[j], i)) * axis->t[j].lo;
                if (at(m, &i) != at(m, &other))
                    return true;
            }
    return false;
}

static bool really_within(const struct imap *m, const struct imap *axis, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < i; k++) {
            bool same = true;
            for (uint32_t j = 0; j < axis->n; j++)
                same &= digit(axis->t[j], i) == digit(axis->t[j], k);
            if (same && at(m, &i) != at(m, &k))
                return false;
        }
    return true;
}

Test(index, touching_and_being_within_are_what_all_indices_say) {
    int yes = 0;
    seed = 7;
    for (int i = 0; i < 1500; i++) {
        struct term t[8];
        int64_t n;
        uint32_t k = random_digits(t, &n);
        struct imap m = some_of(t, k), axis = some_of(t, k);
        cr_assert_eq(imap_touches(&m, &axis), really_touches(&m, &axis, n));
        cr_assert_eq(imap_within(&m, &axis), really_within(&m, &axis, n));
        yes += imap_within(&m, &axis);
    }
    cr_assert_gt(yes, 100);
    cr_assert_lt(yes, 1400);
}

/* Digits of any radix: no dependence is overlooked. */
Test(index, no_dependence_is_overlooked) {
    int untouched = 0, within = 0;
    seed = 8;
    for (int i = 0; i < 3000; i++) {
        const int64_t n = 72;
        struct imap m = any_digits(n), axis = any_digits(n);
        if (!imap_touches(&m, &axis)) {
            untouched++;
            cr_assert_not(really_touches(&m, &axis, n), "(%d %d) (%d %d)", (int)m.t[0].lo, (int)m.t[0].size,
                          (int)axis.t[0].lo, (int)axis.t[0].size);
        }
        if (imap_within(&m, &axis)) {
            within++;
            cr_assert(really_within(&m, &axis, n), "(%d %d) (%d %d)", (int)m.t[0].lo, (int)m.t[0].size,
                      (int)axis.t[0].lo, (int)axis.t[0].size);
        }
    }
    cr_assert_gt(untouched, 100);
    cr_assert_gt(within, 100);
}

static int64_t distinct(const int64_t *a, const int64_t *b, int64_t n) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        bool seen = false;
        for (int64_t k = 0; k < i && !seen; k++)
            seen = a[k] == a[i] && b[k] == b[i];
        count += !seen;
    }
    return count;
}

/* What the complement says together with m is the whole context, and the two are independent. */
static void check_complement(const struct axes *context, const struct imap *m, const int64_t *extents, uint32_t n,
                             const struct axes *out, int64_t numel_) {
    static int64_t of_m[MAX_N], rest[MAX_N], whole[MAX_N], none[MAX_N];
    struct imap joined, all;
    cr_assert_eq(out->n, n);
    axes_join(out, 0, out->n, &joined);
    axes_join(context, 0, context->n, &all);
    for (int64_t i = 0; i < numel_; i++) {
        of_m[i] = at(m, &i);
        rest[i] = at(&joined, &i);
        whole[i] = at(&all, &i);
    }
    cr_assert_eq(distinct(rest, none, numel_), numel(extents, n), "every place of the extents is met");
    cr_assert_eq(distinct(of_m, rest, numel_), distinct(of_m, none, numel_) * numel(extents, n), "independent of m");
    cr_assert_eq(distinct(of_m, rest, numel_), distinct(whole, none, numel_), "nothing of the context is left out");
    for (uint32_t d = 0; d < n; d++)
        cr_assert_eq(axes_extent(out, (int)d), extents[d]);
}

Test(index, what_is_left_around_a_digit_stays_in_order) {
    struct imap middle = MAP({0, 2, 3, 1}), left;
    struct axes context, out;
    const int64_t extents[] = {8};
    axes_clear(&context);
    cr_assert(axes_add(&context, &(struct term){0, 1, 24, 1}, 1));
    cr_assert(imap_complement(&context, &middle, extents, 1, &out));
    axes_axis(&out, 0, &left);
    for (int64_t i = 0; i < 24; i++)
        cr_assert_eq(at(&left, &i), i / 6 * 2 + i % 2, "%lld", (long long)i);
}

Test(index, what_is_left_is_of_the_extents_that_are_asked_for_or_nothing) {
    static const int64_t extents[][2] = {{6, 2}, {4, 2}, {3, 4}};
    struct axes context, out;
    axes_clear(&context);
    cr_assert(axes_add(&context, &(struct term){0, 1, 6, 1}, 1) && axes_add(&context, &(struct term){1, 1, 2, 1}, 1));
    for (int i = 0; i < 3; i++)
        cr_expect_eq(imap_complement(&context, &(struct imap){.n = 0}, extents[i], 2, &out), i != 1, "%d", i);
}

Test(index, the_complement_is_what_a_map_does_not_depend_on) {
    int found = 0, cuts = 0;
    seed = 11;
    for (int i = 0; i < 3000; i++) {
        static const int64_t extents[] = {1, 2, 3, 4, 6};
        struct array a;
        struct axes context, out;
        struct imap id, m = {0};
        int64_t missing[MAX_RANK];
        uint32_t n = 0;
        do
            random_shape(&a, 4, extents, 5);
        while (a.n > 300);
        imap_identity(&id, 0, a.n);
        cr_assert(imap_coordinates(&id, a.shape, a.rank, &context));
        for (uint32_t d = 0; d < a.rank; d++) {
            struct imap axis;
            axes_axis(&context, (int)d, &axis);
            if (below(2))
                missing[n++] = a.shape[d];
            else
                for (uint32_t k = 0; k < axis.n; k++)
                    m.t[m.n++] = axis.t[k];
        }
        for (uint32_t k = 0, stride = 1; k < m.n; stride *= (uint32_t)m.t[k++].size)
            m.t[k].stride = stride;
        imap_canonical(&m);
        cr_assert(imap_complement(&context, &m, missing, n, &out), "the dimensions left out are the complement");
        check_complement(&context, &m, missing, n, &out, a.n);
        found += n > 0;
        for (uint32_t first = 0; first < 2 && n > 0; first++) { /* other extents with the same product */
            int64_t cut[] = {first ? 2 : numel(missing, n) / 2, first ? numel(missing, n) / 2 : 2};
            if (numel(missing, n) % 2 == 0 && imap_complement(&context, &m, cut, 2, &out)) {
                check_complement(&context, &m, cut, 2, &out, a.n);
                cuts += missing[0] > 2 && missing[0] % 2 == 0;
            }
        }
        if (n > 1) { /* one extent of the same size is accepted, one of twice the size is not */
            int64_t one = numel(missing, n), more = one * 2;
            cr_assert(imap_complement(&context, &m, &one, 1, &out));
            check_complement(&context, &m, &one, 1, &out, a.n);
            cr_assert_not(imap_complement(&context, &m, &more, 1, &out));
            cr_assert_not(imap_complement(&context, &m, missing, n - 1, &out) && missing[n - 1] > 1);
        }
    }
    cr_assert_gt(found, 500);
    cr_assert_gt(cuts, 100);
}

/* ---- contractions, against enumeration ---- */

static void parse_contraction(const char *op, const struct array *a, const struct array *b, const struct array *r) {
    struct buf args = {0}, text = {0};
    buf_add(&args, STR("%a: "));
    type_text(&args, a);
    buf_add(&args, STR(", %b: "));
    type_text(&args, b);
    buf_addc(&args, '\0');
    buf_printf(&text, "%%0 = %s : (", op);
    type_text(&text, a);
    buf_add(&text, STR(", "));
    type_text(&text, b);
    buf_add(&text, STR(") -> "));
    type_text(&text, r);
    buf_printf(&text, "\nreturn%c", '\0');
    body(args.p, text.p);
    buf_free(&args);
    buf_free(&text);
}

static void contraction_of_text(const struct array *r, struct operand_maps *maps) {
    struct contraction c;
    struct imap id;
    imap_identity(&id, 0, r->n);
    cr_assert(contraction_of(&ir.g, ir_op(&ir, "%0"), &c), "%s", ir.text);
    cr_assert(contraction_maps(&ir.g, &c, &id, 1, maps), "%s", ir.text);
}

struct product {
    struct array a, b, r;
    int64_t k;
    bool ta, tb;
};

/* Result dimensions are batch (broadcast from the right), rows, columns. */
static void random_product(struct product *p) {
    int64_t m = 1 + below(4), n = 1 + below(4), batch[2];
    uint32_t na = below(3), nb = below(3), nr = na > nb ? na : nb;
    p->k = 1 + below(5);
    p->ta = below(2);
    p->tb = below(2);
    p->a.rank = na;
    p->b.rank = nb;
    p->r.rank = nr;
    for (uint32_t d = 0; d < nr; d++)
        p->r.shape[d] = batch[d] = 1 + below(3);
    for (uint32_t d = 0; d < na; d++)
        p->a.shape[d] = nb >= na - d && below(4) == 0 ? 1 : batch[nr - na + d];
    for (uint32_t d = 0; d < nb; d++) {
        bool full = na < nb - d || p->a.shape[na - nb + d] != batch[nr - nb + d];
        p->b.shape[d] = !full && below(4) == 0 ? 1 : batch[nr - nb + d];
    }
    p->a.shape[p->a.rank++] = p->ta ? p->k : m;
    p->a.shape[p->a.rank++] = p->ta ? m : p->k;
    p->b.shape[p->b.rank++] = p->tb ? n : p->k;
    p->b.shape[p->b.rank++] = p->tb ? p->k : n;
    p->r.shape[p->r.rank++] = m;
    p->r.shape[p->r.rank++] = n;
    p->a.n = numel(p->a.shape, p->a.rank);
    p->b.n = numel(p->b.shape, p->b.rank);
    p->r.n = numel(p->r.shape, p->r.rank);
}

static int64_t operand_at(const struct array *x, const struct array *r, const int64_t *c, int64_t before,
                          int64_t last) {
    int64_t s[MAX_RANK];
    for (uint32_t d = 0; d + 2 < x->rank; d++)
        s[d] = x->shape[d] == 1 ? 0 : c[r->rank - x->rank + d];
    s[x->rank - 2] = before;
    s[x->rank - 1] = last;
    return offset(x, s);
}

Test(index, matmuls_with_transposed_and_broadcast_operands) {
    seed = 5;
    for (int i = 0; i < 2000; i++) {
        struct product p;
        struct operand_maps maps;
        char op[128];
        random_product(&p);
        snprintf(op, sizeof op, "\"ttnn.matmul\"(%%a, %%b) <{transpose_a = %s, transpose_b = %s}>",
                 p.ta ? "true" : "false", p.tb ? "true" : "false");
        parse_contraction(op, &p.a, &p.b, &p.r);
        contraction_of_text(&p.r, &maps);
        struct imap row, column, a_summed, b_summed;
        axes_axis(&maps.result_axes, -2, &row);
        axes_axis(&maps.result_axes, -1, &column);
        axes_axis(&maps.a_axes, -1, &a_summed);
        axes_axis(&maps.b_axes, -2, &b_summed);
        for (int64_t e = 0; e < p.r.n * p.k; e++) {
            int64_t index[2] = {e / p.k, e % p.k}, c[MAX_RANK], s = index[1];
            coordinates(&p.r, index[0], c);
            int64_t m = c[p.r.rank - 2], n = c[p.r.rank - 1];
            cr_assert_eq(at(&maps.a, index), operand_at(&p.a, &p.r, c, p.ta ? s : m, p.ta ? m : s), "%s", ir.text);
            cr_assert_eq(at(&maps.b, index), operand_at(&p.b, &p.r, c, p.tb ? n : s, p.tb ? s : n), "%s", ir.text);
            cr_assert_eq(at(&column, index), n);
            cr_assert_eq(at(&a_summed, index), s);
            cr_assert_eq(at(&b_summed, index), s);
            if (p.b.rank >= p.a.rank) /* otherwise batch dimensions that only a has belong to the rows */
                cr_assert_eq(at(&row, index), m);
        }
    }
}

Test(index, rows_of_a_batch_that_only_the_left_operand_has) {
    struct operand_maps maps;
    struct array r = {.shape = {3, 2, 5}, .rank = 3, .n = 30};
    body("%a: tensor<3x2x4xf32>, %b: tensor<4x5xf32>",
         "%0 = \"ttir.matmul\"(%a, %b) : (tensor<3x2x4xf32>, tensor<4x5xf32>) -> tensor<3x2x5xf32>\nreturn");
    contraction_of_text(&r, &maps);
    struct imap row;
    axes_axis(&maps.result_axes, -2, &row);
    for (int64_t i = 0; i < 30; i++)
        cr_assert_eq(at(&row, &i), i / 5);
    cr_assert_eq(maps.result_axes.n, 2);
}

static bool is_product(const char *a, const char *b, const char *r) {
    struct buf text = {0};
    struct contraction c;
    teardown();
    buf_printf(&text,
               "func.func @main(%%a: tensor<%s>, %%b: tensor<%s>) {\n"
               "%%0 = \"ttir.matmul\"(%%a, %%b) : (tensor<%s>, tensor<%s>) -> tensor<%s>\nreturn\n}\n%c",
               a, b, a, b, r, '\0');
    ir_read_bad(&ir, text.p);
    buf_free(&text);
    return contraction_of(&ir.g, ir_op(&ir, "%0"), &c);
}

Test(index, products_whose_shapes_do_not_fit_are_none) {
    cr_assert(is_product("2x3xf32", "3x4xf32", "2x4xf32"));
    cr_assert_not(is_product("2x3xf32", "3x4xf32", "1x2x4xf32"));
    cr_assert_not(is_product("2x3xf32", "3x4xf32", "2xf32"));
    cr_assert_not(is_product("2x3xf32", "3x4xf32", "2x4x1xf32"));
    cr_assert_not(is_product("2x3xf32", "4x4xf32", "2x4xf32"));
    cr_assert_not(is_product("2x3xf32", "f32", "2xf32"));
    cr_assert_not(is_product("2x2xf32", "f32", "2xf32"));
    cr_assert_not(is_product("f32", "3x4xf32", "4xf32"));
    cr_assert_not(is_product("?x3xf32", "3x4xf32", "?x4xf32"));
    cr_assert_not(is_product("4x" HUGE "xf32", HUGE "xf32", "4xf32"), "more elements than can be counted");
    cr_assert_not(is_product(HUGE "xf32", HUGE "x4xf32", "4xf32"));
}

static bool is_linear(const char *bias, const char *r) {
    struct buf text = {0};
    struct contraction c;
    teardown();
    buf_printf(&text,
               "func.func @main(%%a: tensor<2x3xf32>, %%b: tensor<3x4xf32>, %%c: tensor<%s>) {\n"
               "%%0 = \"ttir.linear\"(%%a, %%b, %%c) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<%s>) -> tensor<%s>\n"
               "return\n}\n%c",
               bias, bias, r, '\0');
    ir_read_bad(&ir, text.p);
    buf_free(&text);
    return contraction_of(&ir.g, ir_op(&ir, "%0"), &c);
}

Test(index, a_bias_of_a_higher_rank_adds_dimensions_of_one) {
    cr_assert(is_linear("2x4xf32", "2x4xf32"));
    cr_assert(is_linear("1x2x4xf32", "1x2x4xf32"));
    cr_assert(is_linear("1x1x1x4xf32", "1x1x2x4xf32"));
    cr_assert_not(is_linear("5x2x4xf32", "5x2x4xf32"));
    cr_assert_not(is_linear("1x5x1x4xf32", "1x5x2x4xf32"));
}

Test(index, vectors_are_rows_and_columns_of_one) {
    struct operand_maps maps;
    struct array r = {.shape = {5}, .rank = 1, .n = 5}, s = {.rank = 0, .n = 1};
    body("%a: tensor<4xf32>, %b: tensor<4x5xf32>",
         "%0 = \"ttir.matmul\"(%a, %b) : (tensor<4xf32>, tensor<4x5xf32>) -> tensor<5xf32>\nreturn");
    contraction_of_text(&r, &maps);
    for (int64_t e = 0; e < 20; e++) {
        int64_t index[2] = {e / 4, e % 4};
        cr_assert_eq(at(&maps.a, index), index[1]);
        cr_assert_eq(at(&maps.b, index), index[1] * 5 + index[0]);
    }
    body("%a: tensor<4xf32>, %b: tensor<4xf32>",
         "%0 = \"ttir.matmul\"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>\nreturn");
    contraction_of_text(&s, &maps);
    for (int64_t e = 0; e < 4; e++) {
        int64_t index[2] = {0, e};
        cr_assert_eq(at(&maps.a, index), e);
        cr_assert_eq(at(&maps.b, index), e);
    }
}
