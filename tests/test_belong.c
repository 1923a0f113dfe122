/* Which TTIR and TTNN are taken for two levels of one compile: what the lowering does to functions is accepted. */
#include "ir/pair/belong.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    struct log_block block;
    struct source source;
    struct level level;
};

static struct arena arena;
static struct diags diags = {.arena = &arena};
static struct text ttir, ttnn;

static void read_level(struct text *t, const char *path, const char *text) {
    struct str s = arena_printf(&arena, "%s", text);
    t->source = (struct source){.path = path, .data = s.p, .size = s.n};
    t->block = (struct log_block){.text = s, .first_line = 1};
    level_read(&t->level, &(struct level_text){&t->block, &t->source}, &diags);
    cr_assert_eq(diags.n, 0, "%s in\n%s", diags.n ? diags.items[0].message : "", text);
}

static void forget(void) {
    level_free(&ttir.level);
    level_free(&ttnn.level);
    diags_free(&diags);
}

static void teardown(void) {
    forget();
    arena_free(&arena);
}

TestSuite(belong, .fini = teardown, .timeout = 30);

/* The error or warning, "" for none; the two texts are modules or functions. */
static const char *verdict(const char *before, const char *after) {
    forget();
    read_level(&ttir, "a.ttir", before);
    read_level(&ttnn, "a.ttnn", after);
    struct level_pair l = {&ttir.level, &ttnn.level, 0};
    struct pairing p;
    bool agree = signatures_agree(&l, &diags), quiet = diags.n == 0;
    pair_build(&p, &ttir.level.graph, &ttnn.level.graph, false);
    cr_assert(agree == quiet);
    if (agree)
        agree = origins_suffice(&l, &p, &diags);
    pair_free(&p);
    cr_assert_eq(agree, diags.errors == 0);
    uint32_t said = diags.n;
    cr_assert_eq(levels_belong(&l, &diags), agree);
    cr_assert_eq(diags.n, 2 * said);
    return diags.n ? diags.items[0].message : "";
}

#define ACCEPTED(before, after)         cr_assert_str_eq(verdict(before, after), "")
#define REFUSED(message, before, after) cr_assert_str_eq(verdict(before, after), "not of one compile: " message)

/* func.func @NAME(ARGS) that returns %x of TYPE */
#define F(name, args, type) "func.func @" name "(" args ") -> " type " {\n return %x : " type "\n}\n"

Test(belong, numbers_of_arguments_and_results) {
    REFUSED("@main has 2 arguments, and 1 in a.ttir:1", F("main", "%x: tensor<4xf32>", "tensor<4xf32>"),
            F("main", "%x: tensor<4xf32>, %y: tensor<4xf32>", "tensor<4xf32>"));
    REFUSED("@main has 1 result, and 2 in a.ttir:1",
            "func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n"
            "return %x, %x : tensor<4xf32>, tensor<4xf32>\n}\n",
            F("main", "%x: tensor<4xf32>", "tensor<4xf32>"));
    cr_assert_eq(diags.items[0].line, 1);
    cr_assert_str_eq(diags.items[0].file, "a.ttnn");
    cr_assert(strstr(diags.items[0].hint, "--unpaired"));
}

Test(belong, device_handles_are_no_arguments) {
    ACCEPTED(F("main", "%x: tensor<4xf32>, %y: tensor<8xf32>", "tensor<4xf32>"),
             F("main", "%d: !ttnn.device, %x: tensor<4xf32>, %y: tensor<8xf32>", "tensor<4xf32>"));
    ACCEPTED(F("main", "%x: tensor<4xf32>, %y: tensor<8xf32>", "tensor<4xf32>"),
             F("main", "%x: tensor<4xf32>, %d: !ttnn.device, %y: tensor<8xf32>", "tensor<4xf32>"));
    REFUSED("argument 1 of @main is 9, and 8 in a.ttir:1",
            F("main", "%x: tensor<4xf32>, %y: tensor<8xf32>", "tensor<4xf32>"),
            F("main", "%x: tensor<4xf32>, %d: !ttnn.device, %y: tensor<9xf32>", "tensor<4xf32>"));
}

Test(belong, extents_of_arguments_and_results) {
    REFUSED("argument 0 of @main is 2048x2048, and 4096x4096 in a.ttir:2",
            "\n" F("main", "%x: tensor<4096x4096xbf16>", "tensor<4096x4096xbf16>"),
            F("main", "%x: tensor<2048x2048xbf16>", "tensor<2048x2048xbf16>"));
    REFUSED("argument 0 of @main is 4x4, and 16 in a.ttir:1", F("main", "%x: tensor<16xf32>", "tensor<16xf32>"),
            F("main", "%x: tensor<4x4xf32>", "tensor<4x4xf32>"));
    REFUSED("result 0 of @main is 8, and 4 in a.ttir:1",
            F("main", "%x: tensor<4xf32>, %y: tensor<8xf32>", "tensor<4xf32>"),
            "func.func @main(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {\n"
            "return %y : tensor<8xf32>\n}\n");
    REFUSED("argument 0 of @main is 0x4, and 2x4 in a.ttir:1", F("main", "%x: tensor<2x4xf32>", "tensor<2x4xf32>"),
            F("main", "%x: tensor<0x4xf32>", "tensor<0x4xf32>"));
    REFUSED("argument 0 of @main is a scalar, and ?x4 in a.ttir:1", F("main", "%x: tensor<?x4xf32>", "tensor<?x4xf32>"),
            F("main", "%x: tensor<f32>", "tensor<f32>"));
}

Test(belong, what_the_lowering_changes_is_accepted) {
    ACCEPTED(F("main", "%x: tensor<4xi64>", "tensor<4xi64>"), F("main", "%x: tensor<4xsi32>", "tensor<4xsi32>"));
    ACCEPTED(F("main", "%x: tensor<4x8xf32>", "tensor<4x8xf32>"),
             "#dram = #ttnn.buffer_type<dram>\n"
             "#l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<4x8xf32, #dram>, <interleaved>>\n" F(
                 "main", "%x: tensor<4x8xf32, #l>", "tensor<4x8xf32, #l>"));
    ACCEPTED(F("main", "%x: tensor<?x8xf32>", "tensor<?x8xf32>"), F("main", "%x: tensor<4x8xf32>", "tensor<4x8xf32>"));
    ACCEPTED(F("main", "%x: tensor<f32>", "tensor<f32>"), F("main", "%x: tensor<1x1xf32>", "tensor<1x1xf32>"));
    ACCEPTED(F("main", "%x: tensor<4xf32>, %y: tensor<8xf32>", "tensor<4xf32>"),
             F("main", "%x: tensor<4xf32>", "tensor<4xf32>")); /* nothing took y */
}

Test(belong, functions_are_compared_by_name_or_where_there_is_one) {
    ACCEPTED(F("f", "%x: tensor<4xf32>", "tensor<4xf32>") F("g", "%x: tensor<8xf32>", "tensor<8xf32>"),
             F("g", "%x: tensor<8xf32>", "tensor<8xf32>") F("f", "%x: tensor<4xf32>", "tensor<4xf32>"));
    REFUSED("argument 0 of @g is 4, and 8 in a.ttir:4",
            F("f", "%x: tensor<4xf32>", "tensor<4xf32>") F("g", "%x: tensor<8xf32>", "tensor<8xf32>"),
            F("g", "%x: tensor<4xf32>", "tensor<4xf32>") F("f", "%x: tensor<4xf32>", "tensor<4xf32>"));
    ACCEPTED(F("forward", "%x: tensor<4xf32>", "tensor<4xf32>"), F("main", "%x: tensor<4xf32>", "tensor<4xf32>"));
    REFUSED("argument 0 of @main is 4, and 8 in a.ttir:1", F("forward", "%x: tensor<8xf32>", "tensor<8xf32>"),
            F("main", "%x: tensor<4xf32>", "tensor<4xf32>"));
    REFUSED("argument 0 of @main is 4, and 8 in a.ttir:1",
            F("main", "%x: tensor<8xf32>", "tensor<8xf32>") F("helper", "%x: tensor<4xf32>", "tensor<4xf32>"),
            F("main", "%x: tensor<4xf32>", "tensor<4xf32>"));
    REFUSED("none of its functions is among those in a.ttir:1",
            F("forward", "%x: tensor<8xf32>", "tensor<8xf32>") F("helper", "%x: tensor<8xf32>", "tensor<8xf32>"),
            F("main", "%x: tensor<4xf32>", "tensor<4xf32>"));
}

Test(belong, const_eval_functions_are_the_compilers_own) {
    ACCEPTED(
        F("forward", "%x: tensor<8xf32>", "tensor<8xf32>"),
        "func.func private @forward_const_eval_0(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes "
        "{tt.function_type = \"const_eval\"} {\n  return %x : tensor<4xf32>\n}\n" F("forward", "%x: tensor<8xf32>",
                                                                                    "tensor<8xf32>"));
}

#define MESH(mesh)   "module attributes {ttcore.meshes = #ttcore.meshes<[<\"mesh\" = " mesh ">]>} {\n"
#define IN_MODULE(f) "module {\n" f "}\n}\n"

Test(belong, meshes_that_both_print) {
    const char one[] = MESH("1x1") IN_MODULE(F("main", "%x: tensor<4xf32>", "tensor<4xf32>"));
    const char two[] = MESH("1x2") IN_MODULE(F("main", "%x: tensor<4xf32>", "tensor<4xf32>"));
    ACCEPTED(one, one);
    ACCEPTED(F("main", "%x: tensor<4xf32>", "tensor<4xf32>"), two);
    REFUSED("the mesh is <[<\"mesh\" = 1x2>]>, and <[<\"mesh\" = 1x1>]> in a.ttir:3", one, two);
    const char old[] = "module attributes {tt.meshes = #tt.meshes<[<\"mesh\" = 1x1>]>} {\n" IN_MODULE(
        F("main", "%x: tensor<4xf32>", "tensor<4xf32>"));
    ACCEPTED(old, one);
    REFUSED("the mesh is <[<\"mesh\" = 1x2>]>, and <[<\"mesh\" = 1x1>]> in a.ttir:3", old, two);
}

Test(belong, names_and_formats_that_both_print) {
    REFUSED("ttir.name of argument 1 is \"b\", and \"a\" in a.ttir:1",
            F("main", "%x: tensor<4xf32>, %y: tensor<4xf32> {ttir.name = \"a\"}", "tensor<4xf32>"),
            F("main", "%x: tensor<4xf32>, %y: tensor<4xf32> {ttir.name = \"b\"}", "tensor<4xf32>"));
    REFUSED("ttcore.weight_dtype of argument 0 is \"bfp_bf8\", and \"bfp_bf4\" in a.ttir:1",
            F("main", "%x: tensor<4xf32> {ttcore.weight_dtype = \"bfp_bf4\"}", "tensor<4xf32>"),
            F("main", "%x: tensor<4xf32> {ttcore.weight_dtype = \"bfp_bf8\"}", "tensor<4xf32>"));
    ACCEPTED(F("main", "%x: tensor<4xf32> {ttir.name = \"a\"}", "tensor<4xf32>"),
             F("main", "%x: tensor<4xf32>", "tensor<4xf32>"));
}

Test(belong, long_names_are_cut) {
    struct buf b = {0};
    for (int i = 0; i < 400; i++)
        buf_addc(&b, 'n');
    struct str before = arena_printf(&arena, "func.func @%.*s(%%x: tensor<4xf32>) {\nreturn\n}\n", (int)b.n, b.p);
    struct str after = arena_printf(&arena, "func.func @%.*s(%%x: tensor<8xf32>) {\nreturn\n}\n", (int)b.n, b.p);
    cr_assert(str_starts(str_of(verdict(before.p, after.p)), STR("not of one compile: argument 0 of @nnn")));
    cr_assert_lt(strlen(diags.items[0].message), 200);
    buf_free(&b);
}

/* ---- origins ---- */

/* A function of n ops of an operand of unknown size, op i of the i-th size of `sizes`, at the location LOC.i. */
static const char *ops_of(const char *op, const char *location, const int *sizes, int n) {
    struct buf b = {0};
    buf_printf(&b, "func.func @main(%%x: tensor<?xf32>) {\n");
    for (int i = 0; i < n; i++) {
        buf_printf(&b, "%%%d = \"%s\"(%%x) : (tensor<?xf32>) -> tensor<%dxf32>", i, op, sizes[i]);
        if (location)
            buf_printf(&b, " loc(\"%s.%d\")", location, i);
        buf_addc(&b, '\n');
    }
    buf_printf(&b, "return\n}\n");
    struct str s = arena_printf(&arena, "%.*s", (int)b.n, b.p);
    buf_free(&b);
    return s.p;
}

enum { N = 20 };

/* Ops with locations, of which `same` are as large in TTIR. */
static const char *located(const char *ttir_op, const char *ttnn_op, int same, const char *at, const char *there) {
    int before[N], after[N];
    for (int i = 0; i < N; i++) {
        before[i] = 10 + i;
        after[i] = i < same ? before[i] : 100 + i;
    }
    return verdict(ops_of(ttir_op, there, before, N), ops_of(ttnn_op, at, after, N));
}

Test(belong, an_origin_is_of_the_same_kind_and_size) {
    const char *const few = "not of one compile: %d of 20 ops have an origin in a.ttir:1";
    char want[100];
    for (int same = 0; same <= N; same++) {
        snprintf(want, sizeof want, few, same);
        const char *got = located("ttir.neg", "ttnn.neg", same, "l", "l");
        if (same < 2)
            cr_assert_str_eq(got, want);
        else if (same < 10)
            cr_assert(str_starts(str_of(got), STR("perhaps not of one compile")) &&
                      diags.items[0].severity == SEV_WARNING);
        else
            cr_assert_str_eq(got, "");
    }
}

Test(belong, a_location_that_ttir_does_not_have_is_no_origin) {
    cr_assert_str_eq(located("ttir.neg", "ttnn.neg", N, "l", "k"),
                     "not of one compile: 0 of 20 ops have an origin in a.ttir:1");
}

Test(belong, an_op_that_was_made_of_others_is_judged_by_its_size) {
    cr_assert_str_eq(located("ttir.neg", "ttnn.rms_norm", N, "l", "l"), "");
    cr_assert_str_eq(located("ttir.neg", "ttnn.exp", 0, "l", "l"), "", "parts of what one op was lowered to");
}

/* Two products of one value, merged into one: its weights were joined on the host. */
Test(belong, a_merged_op_is_no_evidence_against) {
#define X "%x: tensor<2x4xf32>, %w: tensor<4x8xf32>"
#define R "(tensor<2x8xf32>, tensor<2x8xf32>)"
#define PRODUCTS                                                                                                       \
    "func.func @f(" X ") -> " R " {\n"                                                                                 \
    "%a = \"ttir.matmul\"(%x, %w) : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32> loc(\"a\")\n"                \
    "%b = \"ttir.matmul\"(%x, %w) : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32> loc(\"b\")\n"                \
    "return %a, %b : tensor<2x8xf32>, tensor<2x8xf32>\n}\n"
#define MERGED(ends)                                                                                                   \
    "func.func @f(" X ") -> " R " {\n"                                                                                 \
    "%c = \"ttnn.unheard_of\"(%w) : (tensor<4x8xf32>) -> tensor<4x16xf32>\n"                                           \
    "%p = \"ttnn.matmul\"(%x, %c) : (tensor<2x4xf32>, tensor<4x16xf32>) -> tensor<2x16xf32> loc(\"a\")\n" ends
#define SLICE(r, from, to)                                                                                             \
    r " = \"ttnn.slice_static\"(%p) <{begins = [0 : i32, " from " : i32], ends = [2 : i32, " to " : i32], "            \
      "step = [1 : i32, 1 : i32]}> : (tensor<2x16xf32>) -> tensor<2x8xf32>\n"
    ACCEPTED(PRODUCTS, MERGED(SLICE("%a", "0", "8") SLICE("%b", "8", "16") "return %a, %b : tensor<2x8xf32>, "
                                                                           "tensor<2x8xf32>\n}\n"));
    REFUSED("0 of 1 ops have an origin in a.ttir:1", PRODUCTS,
            MERGED("%a = \"ttnn.unheard_of\"(%p) : (tensor<2x16xf32>) -> tensor<2x8xf32>\n" SLICE(
                "%b", "8", "16") "return %a, %b : tensor<2x8xf32>, tensor<2x8xf32>\n}\n"));
}

/* A slice of a product, taken of its weights before. */
Test(belong, a_part_of_what_is_cut_up_is_no_evidence_against) {
#define SLICED(dialect, x, from, to, ends)                                                                             \
    "%s = \"" dialect ".slice_static\"(" x ") <{begins = [0 : i32, 0 : i32], ends = [2 : i32, 4 : i32], "              \
    "step = [1 : i32, 1 : i32]}> : (tensor<" from ">) -> tensor<" to ">\n" ends
#define OF_WEIGHTS(body) "func.func @f(%x: tensor<2x2xf32>, %w: tensor<2x8xf32>) -> tensor<2x4xf32> {\n" body "}\n"
#define PRODUCT(dialect, w, from, to)                                                                                  \
    "%p = \"" dialect ".matmul\"(%x, " w ") : (tensor<2x2xf32>, tensor<" from ">) -> tensor<" to "> loc(\"p\")\n"
    const char *sliced = OF_WEIGHTS(SLICED("ttnn", "%w", "2x8xf32", "2x4xf32", )
                                        PRODUCT("ttnn", "%s", "2x4xf32", "2x4xf32") "return %p : tensor<2x4xf32>\n");
    ACCEPTED(OF_WEIGHTS(PRODUCT("ttir", "%w", "2x8xf32", "2x8xf32")
                            SLICED("ttir", "%p", "2x8xf32", "2x4xf32", "return %s : tensor<2x4xf32>\n")),
             sliced);
    REFUSED("0 of 1 ops have an origin in a.ttir:1",
            OF_WEIGHTS(PRODUCT("ttir", "%w", "2x8xf32", "2x8xf32") SLICED(
                "ttir", "%p", "2x8xf32", "2x4xf32",
                "%r = \"ttir.unheard_of\"(%s, %p) : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<2x4xf32>\n"
                "return %r : tensor<2x4xf32>\n")),
            sliced);
}

/* What is broadcast before an op may be broadcast behind it. */
Test(belong, an_op_beside_a_broadcast_may_have_another_size) {
#define ROW(dialect, first, second)                                                                                    \
    "func.func @f(%x: tensor<1x4xf32>) -> tensor<8x4xf32> {\n" first second "return %b : tensor<8x4xf32>\n}\n"
#define SPREAD(r, dialect, x, kind) r " = \"" dialect "." kind "\"(" x ") : (tensor<1x4xf32>) -> tensor<8x4xf32>\n"
#define EXP(r, dialect, x, t)       r " = \"" dialect ".exp\"(" x ") : (tensor<" t ">) -> tensor<" t "> loc(\"e\")\n"
    const char *behind = ROW("ttnn", EXP("%a", "ttnn", "%x", "1x4xf32"), SPREAD("%b", "ttnn", "%a", "repeat"));
    ACCEPTED(ROW("ttir", SPREAD("%a", "ttir", "%x", "broadcast"), EXP("%b", "ttir", "%a", "8x4xf32")), behind);
    REFUSED("0 of 1 ops have an origin in a.ttir:1",
            ROW("ttir", SPREAD("%a", "ttir", "%x", "unheard_of"), EXP("%b", "ttir", "%a", "8x4xf32")), behind);
}

/* A chain of n ops, in turns one of two. */
static const char *chain_of(const char *one, const char *other, int n) {
    struct buf b = {0};
    buf_printf(&b, "func.func @main(%%0: tensor<4xf32>) -> tensor<4xf32> {\n");
    for (int i = 0; i < n; i++)
        buf_printf(&b, "%%%d = \"%s\"(%%%d) : (tensor<4xf32>) -> tensor<4xf32>\n", i + 1, i % 2 ? other : one, i);
    buf_printf(&b, "return %%%d : tensor<4xf32>\n}\n", n);
    struct str s = arena_printf(&arena, "%.*s", (int)b.n, b.p);
    buf_free(&b);
    return s.p;
}

Test(belong, without_locations_values_are_compared) {
    const char *before = chain_of("ttir.tanh", "ttir.cos", N);
    ACCEPTED(before, chain_of("ttnn.tanh", "ttnn.cos", N));
    REFUSED("0 of 20 ops have an origin in a.ttir:1", before, chain_of("ttnn.cos", "ttnn.tanh", N));
    ACCEPTED(before, chain_of("ttnn.exp", "ttnn.exp", N)); /* TTIR has none of the kind */
}

/* What a function makes whose body is not shown speaks neither for nor against. */
Test(belong, what_is_not_shown_does_not_contradict) {
#define WEIGHED(dialect, weight, last)                                                                                 \
    "func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {\n" weight "%p = \"" dialect              \
    ".multiply\"(%x, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n"                                          \
    "%r = \"" dialect "." last "\"(%p) : (tensor<4xf32>) -> tensor<4xf32>\nreturn %r : tensor<4xf32>\n}\n"
#define CALL "%v = call @hoisted(%w) : (tensor<4xf32>) -> tensor<4xf32>\n"
#define HOSTED                                                                                                         \
    "func.func private @hoisted(%w: tensor<4xf32>) -> tensor<4xf32> attributes {tt.function_type = "                   \
    "\"forward_cpu\"} {\n%v = \"ttir.cos\"(%w) : (tensor<4xf32>) -> tensor<4xf32>\nreturn %v : tensor<4xf32>\n}\n"
#define COSINE "%v = \"ttnn.cos\"(%w) : (tensor<4xf32>) -> tensor<4xf32>\n"
    static const char before[] = WEIGHED("ttir", "%v = \"ttir.exp\"(%w) : (tensor<4xf32>) -> tensor<4xf32>\n", "tanh");
    ACCEPTED(before, WEIGHED("ttnn", CALL, "tanh"));
    ACCEPTED(before, "func.func private @hoisted(tensor<4xf32>) -> tensor<4xf32>\n" WEIGHED("ttnn", CALL, "tanh"));
    ACCEPTED(before, HOSTED WEIGHED("ttnn", CALL, "tanh")); /* how the host makes it is not compared here */
    REFUSED("0 of 2 ops have an origin in a.ttir:1", before, WEIGHED("ttnn", COSINE, "exp"));
}

Test(belong, without_locations_sizes_are_compared) {
    cr_assert_str_eq(located("ttir.neg", "ttnn.neg", N, NULL, NULL), "");
    cr_assert_str_eq(located("ttir.neg", "ttnn.neg", N, NULL, "l"), "");
    cr_assert_str_eq(located("ttir.neg", "ttnn.neg", N, "l", NULL), "");
    cr_assert_str_eq(located("ttir.neg", "ttnn.neg", 1, "l", NULL),
                     "not of one compile: 1 of 20 ops have an origin in a.ttir:1");
    cr_assert_str_eq(located("ttir.neg", "ttnn.exp", 0, NULL, NULL), "", "TTIR has none of the kind");
}

/* Many ops of one location, and one that is large: few steps for each, and only the first are judged. */
Test(belong, a_sample_is_judged) {
    enum { MANY = 5000 };
    int *sizes = xcalloc(MANY, sizeof *sizes);
    for (int i = 0; i < MANY; i++)
        sizes[i] = 7;
    const char *before = ops_of("ttir.neg", "l", sizes, MANY);
    for (int i = 1024; i < MANY; i++)
        sizes[i] = 8;
    cr_assert_str_eq(verdict(before, ops_of("ttnn.neg", "l", sizes, MANY)), "");
    sizes[0] = 9;
    for (int i = 0; i < 1000; i++)
        sizes[i] = 9;
    cr_assert_str_eq(verdict(before, ops_of("ttnn.neg", "l", sizes, MANY)),
                     "not of one compile: 24 of 1024 ops have an origin in a.ttir:1");
    free(sizes);
}

/* What TTNN begins with may stand far behind in TTIR. */
Test(belong, origins_behind_many_ops) {
    enum { MANY = 10000 };
    int *sizes = xcalloc(MANY, sizeof *sizes);
    for (int i = 0; i < MANY; i++)
        sizes[i] = 7;
    const char *first = ops_of("ttir.exp", "other", sizes, MANY), *main = ops_of("ttir.neg", "l", sizes, N);
    struct str both = arena_printf(&arena, "func.func @other%s%s", first + strlen("func.func @main"), main);
    cr_assert_str_eq(verdict(both.p, ops_of("ttnn.neg", "l", sizes, N)), "");
    free(sizes);
}

Test(belong, a_graph_of_several_is_named) {
    verdict(F("main", "%x: tensor<4xf32>", "tensor<4xf32>"), F("main", "%x: tensor<4xf32>", "tensor<4xf32>"));
    struct level_pair l = {&ttir.level, &ttnn.level, 3};
    struct pairing p = {.njudged = 10, .norigins = 0};
    cr_assert_not(origins_suffice(&l, &p, &diags));
    cr_assert_str_eq(diags.items[0].message, "graph 3: not of one compile: 0 of 10 ops have an origin in a.ttir:1");
}
