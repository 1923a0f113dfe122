/* Evaluators: subgraphs, what is refused, the matrix unit, collectives. */
#include "ir/mlir/attributes.h"
#include "ir_text.h"
#include "numeric_fixtures.h"
#include "patterns/library/pattern.h"
#include "proof/numeric/interpret_graph.h"
#include "proof/trials/compare.h"
#include "proof/value/evaluate.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct ir ir;
static struct arena arena;
static struct eval_context context;
static struct lazies nodes;
static struct pattern_set patterns;

static void reset(void) {
    lazies_free(&nodes);
    nodes = (struct lazies){0};
    context = (struct eval_context){.arena = &arena, .lowerings = &patterns, .nodes = &nodes};
}

static void setup(void) {
    struct diags diags = {.arena = &arena};
    cr_assert(patterns_load_bundled(&patterns, getenv("FA_PATTERNS"), &diags), "%s",
              diags.n ? diags.items[0].message : "");
    reset();
}

static void forget(void) {
    if (ir.text)
        ir_free(&ir);
    ir.text = NULL;
    reset();
    arena_free(&arena);
}

static void teardown(void) {
    forget();
    patterns_free(&patterns);
}

TestSuite(numeric_ops, .init = setup, .fini = teardown);

/* ---- what NumPy computes (test_value.c) ---- */

static const char *const files[] = {"elementwise", "reductions", "products", "norms",
                                    "movement",    "selection",  "windows",  "attention"};

Test(numeric_ops, every_evaluator_has_a_fixture) {
    bool seen[OPERATORS] = {false};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct fixture_file file;
        fixture_open(&file, files[i]);
        for (struct fixture_op f; fixture_next(&file, &context, &f); ir_free(&f.ir))
            seen[f.ir.g.kind[f.op]] = true;
        fixture_close(&file);
    }
    for (int k = 1; k < OPERATORS; k++)
        if (interpretable((enum op_kind)k) && op_table[k].class != OP_LAYOUT && !op_is((enum op_kind)k, COLLECTIVE) &&
            !strstr(op_table[k].name, "prepare_") && k != K_SCATTER_IN_DIM) /* collectives: below */
            cr_assert(seen[k], "%s", op_table[k].name);
}

Test(numeric_ops, measures_agree_with_numpy) {
    struct fixture_file file;
    fixture_open(&file, "measures");
    for (json_object *c; (c = fixture_entry(&file));) {
        const struct tensor *x = fixture_tensor(&context, c, "x"), *want = fixture_tensor(&context, c, "want");
        cr_assert_float_eq(compare_pcc(x, want), fixture_number(c, "pcc"), 1e-14);
        cr_assert_float_eq(compare_relative_l2(x, want), fixture_number(c, "relative_l2"), 1e-14);
        cr_assert_float_eq(compare_ulp(x, want, DT_F32) / fixture_number(c, "ulp_f32"), 1, 1e-14);
    }
    fixture_close(&file);
}

static const struct tensor *vector(const double *x, int64_t n) {
    struct tensor *t = tensor_new(&context, &(struct shape){1, {n}});
    memcpy(t->x, x, (size_t)n * sizeof *x);
    return t;
}
#define V(...) vector((const double[]){__VA_ARGS__}, (int64_t)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))

Test(numeric_ops, measures_at_their_edges) {
    int64_t n;
    cr_assert_eq(compare_pcc(V(1, 2, 3), V(1, 2, 3)), 1);
    cr_assert_float_eq(compare_pcc(V(1, 2, 3), V(-2, -4, -6)), -1, 1e-15);
    cr_assert_float_eq(compare_pcc(V(1, 2, 3), V(11, 12, 13)), 1, 1e-15, "blind to a shift");
    cr_assert_eq(compare_pcc(V(2, 2), V(1, 3)), 0);
    cr_assert(isnan(compare_pcc(V(2), V(3))), "of a single number");
    cr_assert_eq(compare_pcc(V(3), V(3)), 1);
    cr_assert_eq(compare_pcc(V(2, 2), V(2 + 1e-9, 2)), 1);
    cr_assert_float_eq(compare_pcc(V(1, NAN, 3, 5), V(2, 7, 6, 10)), 1, 1e-15);
    cr_assert(isnan(compare_pcc(V(1, 2), V(1, 2, 3))));
    cr_assert_eq(compare_relative_l2(V(0, 0), V(0, 0)), 0);
    cr_assert_eq(compare_relative_l2(V(3, 4), V(0, 0)), INFINITY);
    cr_assert_eq(compare_relative_l2(V(3, 4), V(6, 8)), 0.5);
    cr_assert_eq(compare_ulp(V(1 + 0x1p-6, NAN), V(1, NAN), DT_BF16), 2);
    cr_assert_eq(compare_ulp(V(INFINITY), V(1), DT_BF16), INFINITY);
    cr_assert_lt(compare_ulp(V(1e-20, 1), V(1e-30, 1), DT_BF16), 1e-10); /* 0 beside 1 */
    cr_assert(isnan(compare_ulp(V(1, 2), V(1, 2, 3), DT_BF16)));
    cr_assert_eq(compare_worst(V(1, NAN), V(1, NAN), 0, NULL, &n).error, 0);
    cr_assert_eq(n, 1);
    cr_assert_eq(compare_worst(V(1, NAN), V(1, 2), 0, NULL, &n).at, 1);
    cr_assert_eq(compare_worst(V(1, 2), V(1, NAN), 0, NULL, &n).error, 0, "anything will do");
    cr_assert_eq(compare_worst(V(1, 3), V(1, 2), 0, (const double[]){0, 0.5}, &n).error, 0.25);
    cr_assert_eq(compare_worst(V(2, 1, 2), V(1, 1, 1), 0, NULL, &n).at, 0, "the first of the worst");
    cr_assert_eq(compare_worst(V(1, 2), V(1, 2), 0, NULL, &n).at, -1);
    cr_assert_eq(compare_worst(V(1, 2), V(1, 2, 3), 0, NULL, &n).at, -1, "of other shapes");
    cr_assert_eq(compare_worst(V(-INFINITY), V(INFINITY), 0, NULL, &n).error, INFINITY);
    cr_assert_eq(compare_worst(V(NAN, NAN), V(NAN, NAN), 0, NULL, &n).error, 0);
    cr_assert_eq(n, 0, "nothing to compare");
    cr_assert_eq(compare_worst(V(1e-9, 2), V(0, 2), 1e-3, NULL, &n).error, 5e-7);
}

/* ---- sub-graphs ---- */

static const struct tensor *value_of(const char *name, const struct program *p) {
    uint32_t v = ir_value(&ir, name);
    const struct tensor *out;
    return interpret_values(&context, p, &v, 1, &out) ? elements_read(&context, out, 1e6) : NULL;
}

static struct program program_of(const char *args, const char *ops) {
    ir_short(&ir, args, ops);
    return (struct program){.graph = &ir.g};
}

Test(numeric_ops, a_subgraph_runs_op_by_op_and_rounds_at_each_boundary_on_the_device) {
    struct program p = program_of("x:2xbf16 y:2xbf16", "s = ttnn.add x y -> 2xbf16; t = ttnn.subtract s y -> 2xbf16");
    struct given given[] = {{ir_value(&ir, "%x"), V(0x1p-8, 0x1p-9)}, {ir_value(&ir, "%y"), V(1, 1)}};
    p.given = given;
    p.ngiven = 2;
    const struct tensor *t = value_of("%t", &p);
    cr_assert_eq(t->x[0], 0x1p-8);
    cr_assert_eq(t->x[1], 0x1p-9);
    context.arithmetic = ARITHMETIC_DEVICE;
    t = value_of("%t", &p);
    cr_assert_eq(t->x[0], 0x1p-7, "1 + 2^-8 is a tie and goes up");
    cr_assert_eq(t->x[1], 0);
}

Test(numeric_ops, only_the_ops_asked_for_run) {
    struct program p = program_of("x:2 w:2", "a = ttir.exp x -> 2; b = ttir.add a w -> 2");
    uint32_t ops[] = {ir_op(&ir, "%b")};
    struct given given[] = {{ir_value(&ir, "%w"), V(1, 2)}, {ir_value(&ir, "%a"), V(5, 6)}};
    p.ops = ops;
    p.nops = 1;
    p.given = given;
    p.ngiven = 1;
    cr_assert_null(value_of("%b", &p));
    cr_assert_str_eq(context.error.p, "%a is not given");
    reset();
    p.ngiven = 2;
    cr_assert_eq(value_of("%b", &p)->x[1], 8);
}

Test(numeric_ops, constants_are_seen_through_const_eval_functions) {
    ir_read(&ir,
            "func.func private @main_const_eval_0(%p: tensor<2xf32>) -> tensor<2xf32> attributes {tt.function_type "
            "= \"const_eval\"} {\n"
            "%c = \"ttir.full\"() <{fill_value = 3.0 : f32, shape = array<i32: 2>}> : () -> tensor<2xf32>\n"
            "%m = \"ttir.multiply\"(%p, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n"
            "return %m : tensor<2xf32>\n}\n"
            "func.func @main(%w: tensor<2xf32>, %x: tensor<2xf32>) -> tensor<2xf32> {\n"
            "%k = ttcore.load_cached(@main_const_eval_0, [%w]) : (tensor<2xf32>) -> tensor<2xf32>\n"
            "%y = \"ttir.add\"(%x, %k) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n"
            "return %y : tensor<2xf32>\n}\n");
    uint32_t ops[] = {ir_op(&ir, "%y")};
    struct given given[] = {{ir_value(&ir, "%w"), V(1, 2)}, {ir_value(&ir, "%x"), V(10, 20)}};
    struct program p = {.graph = &ir.g, .given = given, .ngiven = 2, .ops = ops, .nops = 1};
    const struct tensor *t = value_of("%y", &p);
    cr_assert(t, "%s", context.error.p);
    cr_assert_eq(t->x[0], 13);
    cr_assert_eq(t->x[1], 26);
}

Test(numeric_ops, constants_are_rounded_to_even_by_the_host) {
    struct program p = program_of("x:1xbf16", "c = ttir.full {fill_value = 1.00390625 : f32} -> 1xbf16; "
                                              "y = ttir.add x c -> 1xbf16");
    cr_assert_eq(value_of("%c", &p)->x[0], 1);
}

static bool other_shape(const void *self, uint32_t value, struct shape *out) {
    (void)self, (void)value;
    *out = (struct shape){2, {2, 3}};
    return true;
}

Test(numeric_ops, shapes_may_be_others_than_the_texts) {
    struct program p = program_of("x:8x6", "y = ttir.reshape x {shape = [8 : i32, 6 : i32]} -> 8x6");
    struct given given[] = {{ir_value(&ir, "%x"), V(1, 2, 3, 4, 5, 6)}};
    p.given = given;
    p.ngiven = 1;
    p.shape = other_shape;
    cr_assert_eq(value_of("%y", &p)->shape.dim[1], 3);
}

static void fails(const char *args, const char *ops) {
    struct given given[8];
    uint32_t n = 0;
    forget();
    reset();
    struct program p = program_of(args, ops);
    for (uint32_t i = 0; i < ir.m.funcs[0].nargs; i++) {
        uint32_t v = ir.m.funcs[0].first_arg + i, rank;
        const int64_t *dims = graph_shape(&ir.g, v, &rank);
        struct shape s = {.rank = rank};
        memcpy(s.dim, dims, rank * sizeof *dims);
        given[n++] = (struct given){v, tensor_new(&context, &s)};
    }
    p.given = given;
    p.ngiven = n;
    cr_expect_null(value_of("%y", &p), "%s", ops);
    cr_expect(context.error.n, "%s", ops);
}

/* What the text of an op asks for and its operands do not have, or nobody computes: fixtures/numeric/refused.txt. */
Test(numeric_ops, what_cannot_be_evaluated_has_a_reason) {
    char line[512];
    FILE *f = fopen(arena_printf(&arena, "%s/numeric/refused.txt", getenv("FA_FIXTURES")).p, "r");
    cr_assert(f);
    int rows = 0;
    for (; fgets(line, sizeof line, f); rows++) {
        char *ops = strstr(line, " | ");
        cr_assert(ops, "%s", line);
        *ops = '\0';
        fails(line, ops + 3);
    }
    cr_assert_gt(rows, 50);
    fclose(f);
}

Test(numeric_ops, bounds_beyond_all_integers_are_the_ends_of_a_slice) {
    struct program p = program_of("", "x = ttir.arange {start = 0 : i64, end = 4 : i64, step = 1 : i64} -> 4xf64; "
                                      "b = ttir.constant {value = dense<-1.0e300> : tensor<1xf64>} -> 1xf64; "
                                      "e = ttir.constant {value = dense<1.0e300> : tensor<1xf64>} -> 1xf64; "
                                      "y = ttir.slice_dynamic x b e {step = [9223372036854775807 : i64]} -> 1xf64");
    const struct tensor *y = value_of("%y", &p);
    cr_assert_not_null(y, "%s", context.error.p);
    cr_assert(y->n == 1 && y->x[0] == 0);
}

/* ---- the matrix unit ---- */

/* One row times one column of n equal terms x * y, computed on the device. */
static double device_product(const char *config, const char *in, const char *out, int64_t n, double x, double y) {
    char args[128], op[256];
    teardown();
    reset();
    snprintf(args, sizeof args, "x:1x%lldx%s y:%lldx1x%s", (long long)n, in, (long long)n, in);
    snprintf(op, sizeof op, "z = ttnn.matmul x y {%s} -> 1x1x%s", config, out);
    struct program p = program_of(args, op);
    struct tensor *a = tensor_new(&context, &(struct shape){2, {1, n}}),
                  *b = tensor_new(&context, &(struct shape){2, {n, 1}});
    for (int64_t i = 0; i < n; i++) {
        a->x[i] = x;
        b->x[i] = y;
    }
    struct given given[] = {{ir_value(&ir, "%x"), a}, {ir_value(&ir, "%y"), b}};
    p.given = given;
    p.ngiven = 2;
    context.arithmetic = ARITHMETIC_DEVICE;
    const struct tensor *t = value_of("%z", &p);
    cr_assert(t, "%s", context.error.p);
    return t->x[0];
}

#define CONFIG(fidelity, wide)                                                                                         \
    "compute_config = #ttnn.device_compute_kernel_config<math_fidelity = " fidelity ", fp32_dest_acc_en = " wide ">"

Test(numeric_ops, the_matrix_unit_multiplies_in_phases) {
    double x = 1.9921875, a5 = 1.9375, b7 = 1.984375; /* all bits of a bf16; 5 of SrcA, 7 of SrcB */
    cr_assert_eq(device_product(CONFIG("lofi", "true"), "bf16", "f32", 1, x, x), b7 * a5);
    cr_assert_eq(device_product(CONFIG("hifi2", "true"), "bf16", "f32", 1, x, x), b7 * x);
    cr_assert_eq(device_product(CONFIG("hifi3", "true"), "bf16", "f32", 1, x, x), b7 * x + (x - b7) * a5);
    cr_assert_eq(device_product(CONFIG("hifi4", "true"), "bf16", "f32", 1, x, x), x * x);
    cr_assert_eq(device_product("", "bf16", "f32", 1, x, x), b7 * x, "HiFi2 by default");
}

Test(numeric_ops, the_matrix_unit_rounds_what_it_adds_up_every_16_terms) {
    cr_assert_eq(device_product(CONFIG("hifi4", "true"), "bf16", "f32", 4096, 1, 0x1p-4), 256);
    cr_assert_eq(device_product(CONFIG("hifi4", "true"), "bf16", "f32", 4112, 1, 0x1p-4), 257);
    cr_assert_eq(device_product(CONFIG("lofi", "false"), "bf16", "bf16", 4112, 1, 0x1p-4), 256,
                 "256 + 1 is a tie in bf16, and goes to even");
    cr_assert_eq(device_product(CONFIG("lofi", "false"), "bf16", "f32", 8192, 1, 0x1p-4), 256, "and there it stays");
}

Test(numeric_ops, the_matrix_unit_cuts_f32_to_ten_bits) {
    double x = 1 + 0x1p-11 + 0x1p-10;
    cr_assert_eq(device_product(CONFIG("hifi4", "true"), "f32", "f32", 1, x, 1), 1 + 0x1p-10);
    cr_assert_eq(device_product("", "si32", "si32", 3, 5, 7), 105, "integers are exact");
}

/* ---- collectives ---- */

/* Every device has the same numbers, ten times as large as those of the one before. */
static bool tenfold(struct eval_context *b, const struct tensor *x, const struct tensor *all[MAX_DEVICES]) {
    double by = 1;
    for (uint32_t d = 0; d < b->mesh->devices; d++, by *= 10)
        all[d] = lazy_binary(b, binary_MULTIPLY, x, tensor_scalar(b, by));
    return true;
}

static struct mesh three = {3, tenfold};

struct attribute {
    const char *key, *text;
};

static const struct attr *read_text(const char *key, const char *text) {
    struct attr *x = arena_alloc(&arena, sizeof *x);
    *x = mlir_read_attr(str_of(key), str_of(text), &arena);
    return x;
}

static const struct attr *attribute_of(const void *self, const char *key) {
    for (const struct attribute *a = self; a->key; a++)
        if (strcmp(a->key, key) == 0)
            return read_text(key, a->text);
    return NULL;
}

/* The elements of the first result. */
static const struct tensor *interpreted(const struct call *c) {
    const struct tensor *results[MAX_RESULTS];
    return interpret(&context, c, results) ? elements_read(&context, results[0], 1e6) : NULL;
}

static const struct tensor *exchanged(enum op_kind k, uint32_t device, const struct attribute *attributes) {
    const struct tensor *x = V(1, 2, 3);
    struct attrs all = {.computed = attribute_of, .self = attributes};
    struct call c = {.kind = k, .noperands = 1, .operands = &x, .nresults = 1, .attributes = &all};
    context.mesh = &three;
    context.device = device;
    context.error = STR("");
    return interpreted(&c);
}

#define A(...)                                                                                                         \
    (const struct attribute[]) {                                                                                       \
        __VA_ARGS__, {                                                                                                 \
            NULL, NULL                                                                                                 \
        }                                                                                                              \
    }

static void holds(const struct tensor *t, int n, const double *want) {
    cr_assert(t, "%.*s", (int)context.error.n, context.error.p);
    cr_assert_eq(t->n, n);
    for (int i = 0; i < n; i++)
        cr_assert_float_eq(t->x[i], want[i], 1e-12, "%d: %g", i, t->x[i]);
}
#define W(...)                                                                                                         \
    (const double[]) {                                                                                                 \
        __VA_ARGS__                                                                                                    \
    }

Test(numeric_ops, collectives_exchange) {
    holds(exchanged(K_ALL_REDUCE, 0, A({"x", ""})), 3, W(111, 222, 333));
    holds(exchanged(K_ALL_REDUCE, 2, A({"reduce_type", "#ttcore.reduce_type<max>"})), 3, W(100, 200, 300));
    holds(exchanged(K_ALL_REDUCE, 1, A({"reduce_type", "#ttcore.reduce_type<mean>"})), 3, W(37, 74, 111));
    holds(exchanged(K_REDUCE_SCATTER, 1, A({"scatter_dim", "0 : si32"})), 1, W(222));
    holds(exchanged(K_ALL_GATHER, 1, A({"all_gather_dim", "0 : si32"})), 9, W(1, 2, 3, 10, 20, 30, 100, 200, 300));
    holds(exchanged(K_MESH_PARTITION, 2, A({"dim", "-1 : si32"})), 1, W(3));
    holds(exchanged(K_ALL_TO_ALL, 1, A({"split_dim", "0 : si32"}, {"concat_dim", "0 : si32"})), 3, W(2, 20, 200));
    holds(exchanged(K_COLLECTIVE_BROADCAST, 2, A({"replica_groups", "dense<[[0, 1, 2]]> : tensor<1x3xi64>"})), 3,
          W(1, 2, 3));
    const struct attribute *shift = A({"source_target_pairs", "dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>"});
    holds(exchanged(K_COLLECTIVE_PERMUTE, 0, shift), 3, W(0, 0, 0));
    holds(exchanged(K_COLLECTIVE_PERMUTE, 2, shift), 3, W(10, 20, 30));
    const struct attribute *send = A({"sender_coord", "array<i64: 0, 2>"}, {"receiver_coord", "array<i64: 0, 1>"});
    holds(exchanged(K_POINT_TO_POINT, 1, send), 3, W(100, 200, 300));
    holds(exchanged(K_POINT_TO_POINT, 0, send), 3, W(0, 0, 0));
}

/* All attributes have the text; no attributes for NULL. */
static const struct attr *one_text(const void *self, const char *key) {
    return self ? read_text(key, self) : NULL;
}

/* Nothing here was checked as the ops of a graph are: a formula may write any op with any attribute. */
Test(numeric_ops, each_op_has_a_result_or_a_reason_whatever_its_operands_and_attributes) {
    static const struct shape shapes[] = {{0, {0}},       {1, {3}},          {2, {2, 3}},
                                          {3, {1, 2, 4}}, {4, {1, 2, 3, 4}}, {2, {0, 3}}};
    static const char *const texts[] = {NULL,
                                        "",
                                        "0 : i64",
                                        "-1 : si32",
                                        "2 : ui32",
                                        "true",
                                        "[1 : i32]",
                                        "x",
                                        "array<i64: 1, 0>",
                                        "array<i64: 1, 1>",
                                        "array<i64: 0, 2, 1, 3>",
                                        "array<i64: -1, 2, 2>",
                                        "dense<[[0, 1]]> : tensor<1x2xi64>",
                                        "4294967297 : i64"};
    for (uint32_t k = NO_OPERATOR + 1; k < OPERATORS; k++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes * (sizeof texts / sizeof *texts); i++)
            for (uint32_t n = 0; n < 6; n++) {
                reset();
                arena_free(&arena);
                const struct tensor *x = tensor_new(&context, &shapes[i % 6]), *results[MAX_RESULTS] = {0};
                const struct tensor *operands[] = {x, x, x, x, x, x};
                struct attrs all = {.computed = one_text, .self = texts[i / 6]};
                struct call c = {
                    .kind = k, .ttnn = i % 2, .noperands = n, .operands = operands, .nresults = 1, .attributes = &all};
                bool good = interpret(&context, &c, results);
                good = good && elements_read(&context, results[0], 1e5);
                cr_assert(good || context.error.n > 0, "%s of %u operands, %s", op_table[k].name, n, texts[i / 6]);
            }
}

static const struct tensor *of_text(const char *args, const char *op, const struct tensor *x) {
    if (ir.text)
        ir_free(&ir);
    ir_short(&ir, args, op);
    reset();
    struct given given[] = {{ir_value(&ir, "%x"), x}, {ir_value(&ir, "%y"), x}, {ir_value(&ir, "%z"), x}};
    struct program p = {.graph = &ir.g, .given = given, .ngiven = 3};
    return value_of("%r", &p);
}

Test(numeric_ops, integers_wrap_without_losing_the_low_bits_of_a_product) {
    const char *args = "x:1xsi32 y:1xsi32 z:1";
    cr_assert_eq(of_text(args, "r = ttir.multiply x y -> 1xsi32", V(2147483647))->x[0], 1);
    cr_assert_eq(of_text(args, "r = ttir.multiply x y -> 1xui32", V(4294967295))->x[0], 1);
    cr_assert_eq(of_text(args, "r = ttir.multiply x y -> 1xsi16", V(-32767))->x[0], 1);
    cr_assert_eq(of_text(args, "r = ttir.multiply x y -> 1xf32", V(65536))->x[0], 4294967296);
    cr_assert_eq(of_text(args, "r = ttir.add x y -> 1xsi16", V(30000))->x[0], -5536, "narrowed");
    cr_assert_eq(of_text(args, "r = ttir.add x y -> 1xsi32", V(30000))->x[0], 60000);
    cr_assert_eq(of_text(args, "r = ttir.neg x -> 1xsi32", V(-2147483648))->x[0], -2147483648);
    cr_assert_eq(of_text(args, "r = ttir.multiply x y -> 1xsi64", V(3000000))->x[0], 9e12);
    cr_assert_null(of_text(args, "r = ttir.multiply x y -> 1xsi64", V(3e9)), "more bits than a double has");
    cr_assert(context.why == REASON_NO_EVALUATOR);
}

Test(numeric_ops, a_reduction_over_an_empty_list_is_over_all_dimensions) {
    const char *args = "x:2x2xf32 y:1 z:1";
    struct tensor *x = tensor_new(&context, &(struct shape){2, {2, 2}});
    for (int i = 0; i < 4; i++)
        x->x[i] = i;
    cr_assert_eq(of_text(args, "r = ttir.sum x {dim_arg = [], keep_dim = true} -> 1x1xf32", x)->x[0], 6);
    cr_assert_eq(of_text(args, "r = ttir.sum x {dim_arg = [1], keep_dim = true} -> 2x1xf32", x)->x[0], 1);
}

Test(numeric_ops, bits_of_what_is_no_integer_are_those_of_the_nearest) {
    const char *args = "x:3xsi32 y:3xsi32 z:1";
    const struct tensor *t = of_text(args, "r = ttir.bitwise_and x y -> 3xsi32", V(NAN, 7.5, -1));
    cr_assert(t->x[0] == 0 && t->x[1] == 7 && t->x[2] == -1);
    t = of_text(args, "r = ttir.bitwise_or x y -> 3xsi32", V(1e300, -INFINITY, 3));
    cr_assert(t->x[0] == -1 && t->x[1] == 0 && t->x[2] == 3, "of 64 bits");
}

Test(numeric_ops, words_that_are_not_known_are_no_defaults) {
    static const struct attribute dim = {"dim", "0 : i64"};
    const struct tensor *results[MAX_RESULTS], *x = V(1, 0, 2), *i = V(0, 1, 2), *operands[] = {x, i, x};
    struct attrs all = {.computed = attribute_of};
    struct call c = {.kind = K_SCATTER, .noperands = 3, .operands = operands, .nresults = 1, .attributes = &all};
    all.self = A(dim, {"scatter_reduce_type", "#ttcore.reduce_type<invalid>"});
    cr_assert_eq(interpreted(&c)->x[2], 2);
    all.self = A(dim, {"scatter_reduce_type", "#ttcore.reduce_type<mean>"});
    cr_assert_not(interpret(&context, &c, results));
    cr_assert(context.why == REASON_NO_EVALUATOR);
    const struct attribute *modes[] = {A({"scale_factor", "2 : si32"}, {"mode", "\"nearest\""}),
                                       A({"scale_factor", "2 : si32"}, {"mode", "\"bicubic\""}),
                                       A({"padding_mode", "\"zeros\""}, {"x", ""}),
                                       A({"padding_mode", "\"reflect\""}, {"x", ""})};
    for (int k = 0; k < 4; k++) {
        reset();
        const struct tensor *image = tensor_new(&context, &(struct shape){k < 2 ? 4 : 5, {1, 1, 1, 1, 1}});
        const struct tensor *both[] = {image, image};
        c = (struct call){.kind = k < 2 ? K_UPSAMPLE2D : K_CONV3D, .noperands = 2, .operands = both};
        c.attributes = &all;
        all.self = modes[k];
        cr_assert_eq(interpret(&context, &c, results), k % 2 == 0, "%s", modes[k][0].text);
        cr_assert_eq(context.why != REASON_OTHER, k % 2 == 1, "%s", modes[k][0].text);
    }
}

Test(numeric_ops, a_limit_of_steps_holds_for_windows_of_any_size) {
    char op[300];
    static const char *const sizes[] = {"1073741824, 1073741824", "3, 3"}, *const pads[] = {"536870912", "1"};
    for (int k = 0; k < 2; k++) {
        snprintf(op, sizeof op,
                 "r = ttir.avg_pool2d x {kernel = array<i32: %s>, padding = array<i32: %s, %s, %s, %s>, stride = "
                 "array<i32: 2, 2>, dilation = array<i32: 1, 1>, ceil_mode = false} -> 32x1x1x32",
                 sizes[k], pads[k], pads[k], pads[k], pads[k]);
        const struct tensor *t = tensor_new(&context, &(struct shape){4, {32, 1, 1, 32}});
        t = of_text("x:32x1x1x32 y:1 z:1", op, t);
        cr_assert_eq(t != NULL, k == 1, "%s", context.error.p);
        cr_assert_eq(context.why != REASON_OTHER, k == 0, "%s", context.error.p);
    }
}

Test(numeric_ops, a_unit_attribute_is_true) {
    const struct tensor *x = V(3, 1, 4, 2), *t;
    struct attrs all = {.computed = attribute_of};
    struct call c = {.kind = K_SORT, .noperands = 1, .operands = &x, .nresults = 1, .attributes = &all};
    all.self = A({"dim", "0 : si32"}, {"descending", ""});
    cr_assert(t = interpreted(&c));
    cr_assert(t->x[0] == 4 && t->x[3] == 1);
    all.self = A({"dim", "0 : si32"}, {"x", ""});
    cr_assert(t = interpreted(&c));
    cr_assert(t->x[0] == 1 && t->x[3] == 4);
}

Test(numeric_ops, quantized_numbers_fill_their_type) {
    static const struct {
        enum dtype type;
        double x, want;
    } cases[] = {{DT_I32, 100, 1000}, {DT_I8, 100, 127}, {DT_U8, -100, 0}, {DT_U8, 20, 200}, {DT_I8, -100, -128}};
    const struct tensor *results[MAX_RESULTS];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct tensor *operands[] = {V(cases[i].x), V(0.1), V(0)};
        struct call c = {
            .kind = K_QUANTIZE, .noperands = 3, .operands = operands, .nresults = 1, .types = &cases[i].type};
        cr_assert_eq(interpreted(&c)->x[0], cases[i].want);
        c.types = (const enum dtype[]){DT_OTHER};
        reset();
        cr_assert_not(interpret(&context, &c, results));
        cr_assert(context.why == REASON_NO_EVALUATOR);
    }
}

Test(numeric_ops, collectives_that_do_not_fit) {
    cr_assert_null(exchanged(K_ALL_REDUCE, 0, A({"reduce_type", "#ttcore.reduce_type<std>"})));
    cr_assert_null(exchanged(K_ALL_GATHER, 0, A({"x", ""})));
    cr_assert_null(exchanged(K_ALL_GATHER, 0, A({"all_gather_dim", "1 : si32"})));
    cr_assert_null(exchanged(K_REDUCE_SCATTER, 0, A({"scatter_dim", "2 : si32"})));
    cr_assert_null(exchanged(K_ALL_TO_ALL, 0, A({"split_dim", "0 : si32"})));
    cr_assert_null(exchanged(K_COLLECTIVE_BROADCAST, 0, A({"replica_groups", "dense<[[0, 2, 1]]> : tensor<1x3xi64>"})));
    cr_assert_null(exchanged(K_COLLECTIVE_PERMUTE, 0, A({"source_target_pairs", "dense<[[0, 3]]> : tensor<1x2xi64>"})));
    cr_assert_null(exchanged(K_POINT_TO_POINT, 0,
                             A({"sender_coord", "array<i64: 0, 3>"}, {"receiver_coord", "array<i64: 0, 1>"})));
    cr_assert_null(exchanged(K_POINT_TO_POINT, 0,
                             A({"sender_coord", "array<i64: 1, 1>"}, {"receiver_coord", "array<i64: 0, 2>"})));
    context.mesh = NULL;
    const struct tensor *results[MAX_RESULTS], *x = V(1, 2);
    struct call c = {.kind = K_ALL_REDUCE, .noperands = 1, .operands = &x, .nresults = 1};
    context.error = STR("");
    cr_assert_not(interpret(&context, &c, results));
    cr_assert(str_find(context.error, STR("no evaluator for all_reduce")));
}
