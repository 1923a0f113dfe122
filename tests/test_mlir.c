/* The promises of src/mlir. */
#include "ir/mlir/attributes.h"
#include "ir/mlir/builder.h"
#include "ir/mlir/print.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;
static struct diags diags;
static struct source source;
static struct log_block block;
static struct mlir m;

static void setup(void) {
    arena = (struct arena){0};
    diags = (struct diags){.arena = &arena};
}

static void teardown(void) {
    if (m.tables)
        mlir_free(&m);
    diags_free(&diags);
    arena_free(&arena);
}

TestSuite(mlir, .init = setup, .fini = teardown);

static void parse(const char *text) {
    if (m.tables)
        mlir_free(&m);
    diags_free(&diags);
    source = (struct source){.path = "test", .data = text, .size = strlen(text)};
    block = (struct log_block){.text = {text, strlen(text)}};
    mlir_parse(&m, &source, &block, &diags);
}

static void clean(const char *text) {
    parse(text);
    cr_assert_eq(diags.n, 0, "%s: %d: %s", text, (int)diags.items[0].line, diags.items[0].message);
    cr_assert_eq(m.bad_ops, 0, "%s", text);
    cr_assert_eq(m.undefined_values, 0, "%s", text);
}

static bool named(uint32_t op, const char *name) {
    return op < m.nops && str_is(mlir_op_name(&m, op), name);
}

static uint32_t operand(uint32_t op, uint32_t i) {
    cr_assert_lt(i, m.ops[op].noperands);
    return m.operands[m.ops[op].first_operand + i];
}

static const struct mlir_type *type_of(uint32_t value) {
    return &m.types[m.values[value].type];
}

static bool text_is(struct span s, const char *want) {
    return str_is(mlir_span(&m, s), want);
}

Test(mlir, generic_op) {
    clean("func.func @f(%a: tensor<2x3xf32>) {\n"
          "  %0:2 = \"x.op\"(%a, %a) <{k = 1 : i32}> {d} : (tensor<2x3xf32>, tensor<2x3xf32>) -> (i32, f32) loc(#l1)\n"
          "  \"x.end\"(%0#1, %0) : (f32, i32) -> ()\n}\n#l1 = loc(\"n\")\n");
    cr_assert_eq(m.nops, 3);
    cr_assert(named(1, "x.op"));
    cr_assert_eq(m.ops[1].nresults, 2);
    cr_assert_eq(operand(1, 0), m.funcs[0].first_arg);
    cr_assert_eq(operand(2, 0), m.ops[1].first_result + 1);
    cr_assert_eq(operand(2, 1), m.ops[1].first_result);
    cr_assert_eq(m.values[m.ops[1].first_result + 1].index, 1);
    cr_assert(text_is(m.values[m.ops[1].first_result + 1].name, "%0"));
    cr_assert(text_is(m.ops[1].props, "k = 1 : i32"));
    cr_assert(text_is(m.ops[1].attrs, "d"));
    cr_assert(text_is(m.ops[1].loc, "#l1"));
    cr_assert(str_ends(mlir_span(&m, m.ops[1].text), STR("loc(#l1)")));
    cr_assert(str_starts(mlir_span(&m, m.ops[1].text), STR("%0:2 = ")));
    cr_assert_eq(m.ops[1].func, 0);
    cr_assert_eq(m.ops[1].parent, 0);
}

Test(mlir, functions) {
    clean("module @top attributes {a = 1} {\n"
          "  ttcore.device_module {\n    builtin.module @m attributes {b} {\n"
          "      func.func private @decl(tensor<1xf32>, tensor<2xf32>) -> (tensor<1xf32> {x}) attributes {k = \"v\"} "
          "loc(#loc)\n"
          "      func.func @main(%arg0: tensor<1xf32> {ttir.name = \"w}\", u} loc(\"p0\"), %arg1: tensor<2xf32>) -> "
          "tensor<1xf32> "
          "attributes {t = 1} {\n        return %arg0 : tensor<1xf32> loc(#loc)\n      } loc(#loc2)\n    } loc(#loc)\n "
          " }\n"
          "  ttcore.cpu_module {\n    builtin.module {\n      func.func @decl(%arg0: tensor<1xf32>, %arg1: "
          "tensor<2xf32>) {\n"
          "        return\n      }\n    }\n  }\n}\n");
    cr_assert_eq(m.nfuncs, 3);
    const struct mlir_func *f = m.funcs;
    cr_assert(f[0].declaration && f[0].complete);
    cr_assert_eq(f[0].nargs, 2);
    cr_assert_not(f[1].declaration || f[1].in_cpu_module);
    cr_assert(f[2].in_cpu_module);
    cr_assert(text_is(f[1].attributes, "t = 1"));
    cr_assert(named(f[1].module, "builtin.module"));
    cr_assert_eq(f[1].end_op - f[1].first_op, 1);
    cr_assert(named(f[1].first_op, "func.return"));
    cr_assert_eq(mlir_find_func(&m, f[0].name), 2, "the one with a body");
    cr_assert_eq(mlir_find_func(&m, NONE), NONE);
    struct str v;
    cr_assert(mlir_arg_attr(&m, 1, 0, "ttir.name", &v) && str_is(v, "\"w}\""));
    cr_assert(mlir_arg_attr(&m, 1, 0, "u", &v) && v.n == 0);
    cr_assert_not(mlir_arg_attr(&m, 1, 0, "name", &v));
    cr_assert_not(mlir_arg_attr(&m, 1, 1, "u", &v));
    cr_assert_not(mlir_arg_attr(&m, 1, 2, "u", &v));
    cr_assert(str_ends(mlir_span(&m, m.ops[f[1].op].text), STR("{t = 1}")), "ends before its region");
    cr_assert(text_is(m.ops[f[1].op].loc, "#loc2"));
    cr_assert_eq(m.custom_ops, 0);
}

Test(mlir, generic_functions) {
    clean("\"builtin.module\"() ({\n  \"func.func\"() <{function_type = (f32) -> f32, sym_name = \"g\"}> ({\n"
          "  ^bb0(%arg0: f32):\n    \"func.return\"(%arg0) : (f32) -> ()\n  }) : () -> ()\n}) : () -> ()\n");
    cr_assert_eq(m.nfuncs, 1);
    cr_assert(str_is(m.names[m.funcs[0].name], "g"));
    cr_assert_eq(m.funcs[0].nargs, 1);
    cr_assert_eq(operand(2, 0), m.funcs[0].first_arg);
    cr_assert(str_ends(mlir_span(&m, m.ops[1].text), STR("\"g\"}>")));
}

Test(mlir, calls) {
    clean("func.func @f(%a: i32) {\n  %0 = call @g(%a) {x} : (i32) -> i32 loc(#loc)\n"
          "  %1 = func.call @\"h h\"(%0) : (i32) -> i32\n"
          "  %2:2 = ttcore.load_cached(@c, [%a, %1]) : (i32, i32) -> (i32, i32)\n"
          "  %3 = \"ttcore.load_cached\"(%a) <{callee = @d}> : (i32) -> i32\n  return %2#1, %3 : i32, i32\n}\n");
    cr_assert(named(1, "func.call") && named(2, "func.call") && named(3, "ttcore.load_cached"));
    static const char *const want[] = {"g", "h h", "c", "d"};
    for (uint32_t i = 0; i < 4; i++)
        cr_assert(str_is(m.names[m.ops[1 + i].callee], want[i]), "%s", want[i]);
    cr_assert_eq(m.ops[5].callee, NONE);
    cr_assert_eq(operand(5, 0), m.ops[3].first_result + 1);
    cr_assert_eq(m.custom_ops, 0);
}

/* The assembly of other dialects: what looks like operands, types, symbols and regions is taken for them. */
Test(mlir, assembly_of_other_dialects) {
    clean("func.func @f(%a: i32, %t: tensor<2xf32>) {\n"
          "  %0 = foo.cast %t : tensor<2xf32> into tensor<2xbf16>\n"
          "  %1 = foo.pick %a, %t : i32, tensor<2xf32>\n"
          "  %2 = foo.apply @g, @h %t : (tensor<2xf32>, i32) -> tensor<3xf32>\n"
          "  %3 = foo.empty : () -> tensor<4xf32>\n"
          "  %4 = \"x.b\"(%a)[^bb0, ^bb1] : (i32) -> i32\n"
          "  %5 = \"x.c\"(%a) <{callee = 3 : i32}> : (i32) -> i32\n}\n");
    static const struct {
        const char *op;
        enum dtype dtype;
        int rank;
    } want[] = {{"foo.cast", DT_BF16, 1}, {"foo.pick", DT_F32, 1}, {"foo.apply", DT_F32, 1},
                {"foo.empty", DT_F32, 1}, {"x.b", DT_I32, 0},      {"x.c", DT_I32, 0}};
    for (uint32_t i = 0; i < sizeof want / sizeof *want; i++) {
        cr_assert(named(1 + i, want[i].op));
        cr_expect_eq(type_of(m.ops[1 + i].first_result)->dtype, want[i].dtype, "%s", want[i].op);
        cr_expect_eq(type_of(m.ops[1 + i].first_result)->rank, (uint32_t)want[i].rank, "%s", want[i].op);
        cr_expect_eq(m.ops[1 + i].callee, NONE);
    }
}

Test(mlir, custom_assembly) {
    clean("func.func @f(%a: tensor<4xf32>, %c: i1) -> tensor<4xf32> {\n"
          "  %0 = ttir.empty() : tensor<4xf32>\n  %1 = stablehlo.add %a, %0 : tensor<4xf32> loc(#loc3)\n"
          "  %cst = arith.constant dense<1.0> : tensor<4xf32>\n"
          "  %2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = [\"parallel\"]} "
          "ins(%1 : tensor<4xf32>) outs(%0 : tensor<4xf32>) {\n  ^bb0(%in: f32, %out: f32):\n"
          "    %9 = arith.addf %in, %out : f32\n    linalg.yield %9 : f32\n  } -> tensor<4xf32>\n"
          "  %3 = weird.thing of %2 with\n    (%1) and\n    \"text {\" : tensor<4xf32>\n"
          "  %4 = scf.if %c -> (tensor<4xf32>) {\n    scf.yield %3 : tensor<4xf32>\n  } else {\n"
          "    scf.yield %2 : tensor<4xf32>\n  }\n"
          "  %5 = arith.extf %a : tensor<4xf32> to tensor<4xf64>\n  return %4 : tensor<4xf32>\n}\n");
    cr_assert_eq(m.custom_ops, 1);
    cr_assert(named(1, "ttir.empty") && named(2, "stablehlo.add") && named(4, "linalg.generic"));
    cr_assert_eq(operand(2, 1), m.ops[1].first_result);
    cr_assert_eq(m.ops[4].noperands, 2);
    cr_assert_eq(m.ops[5].parent, 4);
    cr_assert(named(7, "weird.thing"));
    cr_assert_eq(m.ops[7].noperands, 2);
    cr_assert_eq(type_of(m.ops[4].first_result)->rank, 1);
    cr_assert(named(8, "scf.if"));
    cr_assert_eq(m.ops[9].parent, 8);
    cr_assert_eq(m.ops[10].parent, 8);
    cr_assert_eq(type_of(m.ops[11].first_result)->dtype, DT_F64);
    cr_assert(text_is(m.ops[2].loc, "#loc3"));
}

Test(mlir, operands_of_assembly_may_begin_on_a_line_of_their_own) {
    clean("func.func @main(%a: tensor<4xf32>) {\n  %0 = stablehlo.concatenate\n      %a, %a,\n      %a, %a,\n      dim "
          "= 0 : "
          "(\n      tensor<4xf32>, tensor<4xf32>,\n      tensor<4xf32>, tensor<4xf32>) -> tensor<16xf32>\n"
          "  %v, %i = stablehlo.pair %0 : tensor<16xf32>\n  %1 = stablehlo.neg %0\n  %x, %y:2 = stablehlo.three %1 : "
          "tensor<16xf32>\n  return %0 : tensor<16xf32>\n}\n");
    cr_assert(named(1, "stablehlo.concatenate") && named(2, "stablehlo.pair") && named(3, "stablehlo.neg"));
    cr_assert_eq(m.ops[1].noperands, 4);
    cr_assert_eq(m.ops[3].noperands, 1);
    cr_assert(named(4, "stablehlo.three") && m.ops[4].nresults == 3);
}

Test(mlir, loop_variables_belong_to_the_region) {
    clean("func.func @f(%n: index, %s: f32) {\n  %r = scf.for %i = %n to %n step %n iter_args(%acc = %s) -> (f32) {\n"
          "    %x = \"x.use\"(%i, %acc) : (index, f32) -> f32\n    scf.yield %x : f32\n  }\n"
          "  %i = \"x.new\"() : () -> f32\n  return %r, %i : f32, f32\n}\n");
    cr_assert_eq(m.ops[1].noperands, 4);
    cr_assert_eq(m.values[operand(2, 0)].def, NONE);
    cr_assert_eq(operand(5, 1), m.ops[4].first_result);
}

Test(mlir, braces_of_attributes_are_no_region) {
    clean("func.func @f(%a: tensor<4xf32>) {\n"
          "  %0 = weird.op %a {some.note = \"seen\", flag} : tensor<4xf32>\n  %1 = weird.op %a {some.flag} : "
          "tensor<4xf32>\n"
          "  %2 = weird.op %a {weird.inner %a : tensor<4xf32>\n} : tensor<4xf32>\n  return\n}\n");
    cr_assert_eq(m.nops, 6);
    cr_assert(text_is(m.ops[1].attrs, "some.note = \"seen\", flag") && text_is(m.ops[2].attrs, "some.flag"));
    cr_assert(named(4, "weird.inner"));
    cr_assert_eq(m.ops[4].parent, 3);
    cr_assert_eq(m.ops[5].parent, 0);
}

Test(mlir, regions_hide_names) {
    clean("func.func @f() {\n  %0 = \"x.a\"() : () -> i32\n  \"x.r\"() ({\n    %1 = \"x.b\"(%0) : (i32) -> i32\n"
          "    \"builtin.module\"() ({\n      %0 = \"x.c\"() : () -> i32\n      \"x.d\"(%0) : (i32) -> ()\n    }) : () "
          "-> ()\n"
          "    \"x.e\"(%0, %1) : (i32, i32) -> ()\n  }, {\n    %1 = \"x.f\"() : () -> i32\n  }) : () -> ()\n"
          "  %1 = \"x.g\"(%0) : (i32) -> i32\n  return %1 : i32\n}\n");
    uint32_t e = 7;
    cr_assert(named(e, "x.e"));
    cr_assert_eq(operand(e, 0), m.ops[1].first_result);
    cr_assert_eq(operand(6, 0), m.ops[5].first_result);
    cr_assert_eq(operand(9, 0), m.ops[1].first_result);
    cr_assert_eq(operand(10, 0), m.ops[9].first_result);
}

Test(mlir, uses_before_definitions) {
    parse("func.func @f() {\n  \"x.a\"(%1#1, %late) : (i32, f32) -> ()\n  \"x.r\"() ({\n    \"x.b\"(%late) : (f32) -> "
          "()\n  }) : () -> ()\n"
          "  %1:2 = \"x.c\"() : () -> (i32, i32)\n  %late = \"x.d\"() : () -> f32\n  return\n}\n");
    cr_assert_eq(operand(1, 0), m.ops[4].first_result + 1);
    cr_assert_eq(operand(1, 1), m.ops[5].first_result);
    cr_assert_eq(operand(3, 0), m.ops[5].first_result);
    cr_assert(m.ops[1].bad && !m.ops[2].bad && m.ops[3].bad && !m.ops[4].bad);
    clean("module {\n  \"x.a\"(%1) : (i32) -> ()\n  %1 = \"x.c\"() : () -> i32\n}\n"); /* a graph region */
    cr_assert(!m.ops[1].bad);
    clean("func.func @f() {\n  cf.br ^bb2\n^bb1:\n  \"x.a\"(%1) : (i32) -> ()\n  return\n^bb2:\n"
          "  %1 = \"x.c\"() : () -> i32\n  cf.br ^bb1\n}\n"); /* ^bb2 dominates ^bb1 */
}

/* One function as each form of MLIR's printer, and as one may write it. */
#define FORM_TYPES "(tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>"
#define FORM_HEAD                                                                                                      \
    "module {\n  func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x2xf32> {ttcore.argument_type = "                       \
    "#ttcore.argument_type<parameter>}) -> tensor<4x2xf32> {\n"
#define FORM(op) FORM_HEAD "    %0 = " op "\n    return %0 : tensor<4x2xf32> loc(#loc)\n  }\n}\n#loc = loc(\"n\")\n"

static const char *const forms[] = {
    FORM("\"ttir.matmul\"(%x, %w) <{transpose_b = false}> : " FORM_TYPES " loc(#loc)"),
    FORM("\"ttir.matmul\" (%x, %w)\t<{transpose_b = false}> : " FORM_TYPES),
    FORM("\"ttir.matmul\"(%x, %w) <{transpose_b = false\n    }\n    > : " FORM_TYPES),
    FORM("\"ttir.matmul\"(%x, %w) <{\n      transpose_b = false}> : " FORM_TYPES),
    FORM("\"ttir.matmul\"(%x, %w) <{transpose_b = false\n    }> : " FORM_TYPES),
    FORM("\"ttir.matmul\"(%x, %w) < {transpose_b = false} > : " FORM_TYPES),
    FORM("\"ttir.matmul\"(%x,\n %w)\n {\n transpose_b = false}\n : " FORM_TYPES),
    FORM("\"ttir.matmul\"(%x, %w) {\n a = \"}{\", transpose_b = false} : " FORM_TYPES),
    FORM("\"ttir.matmul\" // { \"\n (%x, %w) <{ // }}\n transpose_b = false}> : " FORM_TYPES " // { users: %1"),
    FORM("\"ttir.matmul\"\n(\n%x\n,\n%w\n)\n<\n{\ntranspose_b\n=\nfalse\n}\n>\n:\n" FORM_TYPES "\nloc(\n#loc\n)"),
    FORM("\"ttir.matmul\"(%x, %w) <{transpose_b = false}> : " FORM_TYPES " loc(fused<\"m\">[\"a\", callsite(\"b\" at "
         "\"f\":1:2)])"),
    /* --mlir-print-op-generic, of today and of old */
    "\"builtin.module\"() ({\n  \"func.func\"() <{arg_attrs = [{}, {ttcore.argument_type = "
    "#ttcore.argument_type<parameter>}], function_type = " FORM_TYPES ", sym_name = \"f\"}> ({\n"
    "  ^bb-0(%x: tensor<4x8xf32> loc(\"x\"), %w: tensor<8x2xf32>):\n"
    "    %0 = \"ttir.matmul\"(%x, %w) <{transpose_b = false}> : " FORM_TYPES "\n"
    "    \"func.return\"(%0) : (tensor<4x2xf32>) -> ()\n  }) : () -> ()\n}) : () -> ()\n",
    "\"builtin.module\"() ({\n  \"func.func\"() ({\n  ^bb0(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>):\n"
    "    %0 = \"ttir.matmul\"(%x, %w) {transpose_b = false} : " FORM_TYPES "\n"
    "    \"func.return\"(%0) : (tensor<4x2xf32>) -> ()\n  }) {arg_attrs = [{}, {ttcore.argument_type = "
    "#ttcore.argument_type<parameter>}], function_type = " FORM_TYPES ", sym_name = \"f\"} : () -> ()\n}) : () -> ()\n",
};

static void check_form(const char *text) {
    struct str value;
    struct log_scan s;
    source = (struct source){.path = "test", .data = text, .size = strlen(text)};
    log_scan(&source, &arena, &s);
    cr_assert_eq(s.nblocks, 1, "%s", text);
    cr_assert(s.blocks[0].complete && s.blocks[0].has_ttir, "%s", text);
    clean(text);
    cr_assert_eq(m.nops, 4, "%s", text);
    cr_assert(named(2, "ttir.matmul"));
    cr_assert(mlir_attr(&m, 2, "transpose_b", &value) && str_is(value, "false"), "%s", text);
    cr_assert_eq(m.nfuncs, 1);
    cr_assert(str_is(m.names[m.funcs[0].name], "f") && !m.funcs[0].declaration && m.funcs[0].nargs == 2, "%s", text);
    cr_assert_not(mlir_arg_attr(&m, 0, 0, "ttcore.argument_type", &value), "%s", text);
    cr_assert(mlir_arg_attr(&m, 0, 1, "ttcore.argument_type", &value), "%s", text);
    cr_assert_eq(operand(2, 1), m.funcs[0].first_arg + 1, "%s", text);
}

Test(mlir, printed_and_written_forms) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char crlf[2048];
        size_t n = 0;
        check_form(forms[i]);
        for (const char *p = forms[i]; *p; p++) {
            if (*p == '\n')
                crlf[n++] = '\r';
            crlf[n++] = *p;
        }
        crlf[n] = 0;
        check_form(crlf);
    }
}

Test(mlir, resources_with_any_string) {
    clean("\"x.a\"() : () -> ()\n{-# external_resources: {\n  x: { y: \"a#-}b\" }\n} #-}\n");
}

Test(mlir, generic_declaration_has_arguments) {
    clean("\"func.func\"() <{function_type = (tensor<2xf32>, (i32) -> i32) -> i32, sym_name = \"g\", sym_visibility = "
          "\"private\"}> ({\n}) : () -> ()\n");
    cr_assert(m.funcs[0].declaration && m.funcs[0].nargs == 2);
    cr_assert(str_is(type_of(m.funcs[0].first_arg)->text, "tensor<2xf32>"));
    cr_assert(str_is(type_of(m.funcs[0].first_arg + 1)->text, "(i32) -> i32"));
}

Test(mlir, fragments) {
    parse("%a = \"ttnn.cos\"(%f) : (tensor<1x16xf32>) -> tensor<1x16xf32>\n// comment\n"
          "%b = \"ttnn.multiply\"(%a, %s) // why\n    : (tensor<1x16xf32>,\n       tensor<1xf32>)\n  -> "
          "tensor<1x16xf32>\n");
    cr_assert_eq(m.nops, 2);
    cr_assert_eq(diags.n, 0);
    cr_assert_eq(m.undefined_values, 2);
    cr_assert_eq(m.ops[0].func, NONE);
    cr_assert_eq(operand(1, 0), m.ops[0].first_result);
    cr_assert_eq(type_of(operand(1, 1))->rank, 1);
}

Test(mlir, comments_and_strings) {
    clean("// \"x.no\"() : () -> ()\nmodule { // CHECK: {\n  // CHECK-NEXT: }\n"
          "  \"x.a\"() {s = \"// } \\\" {\", t = [1, // in brackets )\n  2]} : () -> () // after\n}\n");
    cr_assert_eq(m.nops, 2);
    struct str v;
    cr_assert(mlir_attr(&m, 1, "s", &v) && str_is(v, "\"// } \\\" {\""));
}

Test(mlir, cut_text) {
    parse("module {\n  func.func @a() {\n    return\n  }\n  func.func @b() {\n    %0 = \"x.a\"() : () -> i32\n    %1 = "
          "\"x.b\"(%0) : (i3");
    cr_assert_eq(diags.n, 1, "%u", diags.n);
    cr_assert_eq(m.nfuncs, 2);
    cr_assert(m.funcs[0].complete);
    cr_assert_not(m.funcs[1].complete);
    cr_assert_eq(m.funcs[1].end_op - m.funcs[1].first_op, 1);
    parse("module {\n  func.func @a() {\n    return\n");
    cr_assert_eq(diags.n, 1);
    cr_assert_eq(m.bad_ops, 0);
}

Test(mlir, deep_nesting_is_refused) {
    struct buf b = {0};
    for (int i = 0; i < 2000; i++)
        buf_add(&b, STR("\"x.r\"() ({\n"));
    buf_addc(&b, 0);
    parse(b.p);
    cr_assert_gt(diags.n, 0);
    b.n = 0;
    buf_add(&b, STR("%0 = \"x.a\"() {a = "));
    for (int i = 0; i < 2000; i++)
        buf_addc(&b, '[');
    buf_addc(&b, 0);
    parse(b.p);
    cr_assert_eq(m.bad_ops, 1);
    buf_free(&b);
}

static const struct mlir_type *read_type(const char *type) {
    static char text[512];
    snprintf(text, sizeof text, "!t = tensor<2x!e>\n!e = bf16\n!own = !x.y<1>\n%%0 = \"x.a\"() : () -> %s\n", type);
    clean(text);
    return type_of(m.ops[0].first_result);
}

Test(mlir, types) {
    static const struct {
        const char *text;
        enum type_kind kind;
        enum dtype dtype;
        int rank; /* -1: unranked */
        int64_t dims[4];
    } want[] = {
        {"tensor<1x32xbf16>", TYPE_TENSOR, DT_BF16, 2, {1, 32}},
        {"tensor<f32>", TYPE_TENSOR, DT_F32, 0, {0}},
        {"tensor<*xf32>", TYPE_TENSOR, DT_F32, -1, {0}},
        {"tensor<?x32xsi32, #l>", TYPE_TENSOR, DT_I32, 2, {DIM_DYNAMIC, 32}},
        {"tensor<2048x2048x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout16>", TYPE_TENSOR, DT_BFP8, 2, {2048, 2048}},
        {"tensor<4x!tt.tile<32x32, u16>>", TYPE_TENSOR, DT_U16, 1, {4}},
        {"tensor<4x!quant.uniform<i8:f32, 1.0:3>>", TYPE_TENSOR, DT_OTHER, 1, {4}},
        {"tensor<8x4xi1, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1xi1, #dram>>>",
         TYPE_TENSOR,
         DT_I1,
         2,
         {8, 4}},
        {"!ttnn.device", TYPE_DEVICE, DT_NONE, -1, {0}},
        {"!tt.device", TYPE_DEVICE, DT_NONE, -1, {0}},
        {"!ttcore.device", TYPE_DEVICE, DT_NONE, -1, {0}},
        {"index", TYPE_SCALAR, DT_INDEX, -1, {0}},
        {"ui32", TYPE_SCALAR, DT_U32, -1, {0}},
        {"!own", TYPE_OTHER, DT_NONE, -1, {0}},
        {"!t", TYPE_TENSOR, DT_BF16, 1, {2}},
        {"memref<4xf32>", TYPE_OTHER, DT_NONE, -1, {0}},
        {"((tensor<2xf32>, i1) -> tensor<3xf32>)", TYPE_OTHER, DT_NONE, -1, {0}},
        {"((i1) -> (i1, i2))", TYPE_OTHER, DT_NONE, -1, {0}},
        {"i1234567890123", TYPE_OTHER, DT_NONE, -1, {0}},
        {"tensor<99999999999999999999xf32>", TYPE_TENSOR, DT_OTHER, 0, {0}},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct mlir_type *t = read_type(want[i].text);
        cr_assert_eq(t->kind, want[i].kind, "%s", want[i].text);
        cr_assert_eq(t->dtype, want[i].dtype, "%s: %s", want[i].text, dtype_table[t->dtype].name);
        cr_assert_eq(t->ranked, want[i].rank >= 0, "%s", want[i].text);
        cr_assert_eq(t->rank, want[i].rank < 0 ? 0 : (uint32_t)want[i].rank, "%s", want[i].text);
        for (uint32_t k = 0; k < t->rank; k++)
            cr_assert_eq(m.dims[t->first_dim + k], want[i].dims[k], "%s", want[i].text);
    }
}

Test(mlir, same_text_same_type) {
    clean("%0 = \"x.a\"() : () -> tensor<1xf32>\n%1 = \"x.a\"() : () -> tensor<1xf32>\n%2 = \"x.a\"() : () -> "
          "tensor<2xf32>\n");
    cr_assert_eq(m.values[0].type, m.values[1].type);
    cr_assert_neq(m.values[0].type, m.values[2].type);
}

/* What was read a moment ago is taken where the same bytes stand, and where these go on it is not. */
Test(mlir, texts_that_begin_alike) {
    static const char *const types[][3] = {/* of the results */
                                           {"tensor<1x32x64x128xbf16>", "tensor<1x32x64x128xbf16>", NULL},
                                           {"tensor<1x32x64x128xbf16>, i32", "tensor<1x32x64x128xbf16>", "i32"},
                                           {"i32", "i32", NULL},
                                           {"(tensor<1x32x64x128xbf16>, i1)", "tensor<1x32x64x128xbf16>", "i1"}};
    struct buf text = {0};
    buf_printf(&text, "func.func @f(%%a: tensor<1x32x64x128xbf16>) {\n");
    for (int i = 0; i < 12; i++)
        buf_printf(&text, "  %%%d:%d = \"x.op\"(%%a) : (tensor<1x32x64x128xbf16>) -> %s\n", i,
                   types[i * 5 % 4][2] ? 2 : 1, types[i * 5 % 4][0]);
    buf_printf(&text, "  \"x.op\"(%%a, %%a) : (tensor<1x32x64x128xbf16>) -> tensor<1x32x64x128xbf16>\n}\n%c", 0);
    parse(text.p);
    cr_assert_eq(diags.n, 1); /* the last op, whose operands have one type */
    cr_assert(m.ops[13].bad);
    for (uint32_t i = 0; i < 12; i++)
        for (uint32_t k = 0; k < 2 && types[i * 5 % 4][k + 1]; k++)
            cr_assert(str_is(type_of(m.ops[i + 1].first_result + k)->text, types[i * 5 % 4][k + 1]), "%u", i);
    buf_free(&text);
}

/* The graph reads a dictionary once for each place of its text. */
Test(mlir, equal_dictionaries_have_one_place) {
    struct buf text = {0};
    buf_printf(&text, "func.func @f() {\n");
    for (int i = 0; i < 40; i++)
        buf_printf(&text, "  \"x.op\"() <{broadcast_dimensions = array<i64: 1, %d, 64>}> : () -> ()\n", i % 20);
    buf_printf(&text, "  return\n}\n%c", 0);
    clean(text.p);
    for (uint32_t i = 1; i <= 20; i++) {
        cr_assert_eq(m.ops[i].props.begin, m.ops[i + 20].props.begin, "%u", i);
        cr_assert(i == 1 || m.ops[i].props.begin > m.ops[i - 1].props.begin);
    }
    buf_free(&text);
}

Test(mlir, attributes) {
    clean("#map = affine_map<(d0, d1) -> (d1)>\n#two = #map\n"
          "\"x.a\"() <{a = [1, {b = 2}], \"q.x\" = \"a = 3, b\", c = #two, d = #x.y<z = 1, w = -> >, last}> {a = 9, e "
          "= dense<1> : "
          "tensor<2xi32>} : () -> ()\n");
    struct str v;
    cr_assert(mlir_attr(&m, 0, "a", &v) && str_is(v, "[1, {b = 2}]"));
    cr_assert(mlir_attr(&m, 0, "q.x", &v) && str_is(v, "\"a = 3, b\""));
    cr_assert(mlir_attr(&m, 0, "c", &v) && str_is(v, "affine_map<(d0, d1) -> (d1)>"));
    cr_assert(mlir_attr(&m, 0, "d", &v) && str_is(v, "#x.y<z = 1, w = -> >"));
    cr_assert(mlir_attr(&m, 0, "last", &v) && v.n == 0);
    cr_assert(mlir_attr(&m, 0, "e", &v) && str_is(v, "dense<1> : tensor<2xi32>"));
    cr_assert_not(mlir_attr(&m, 0, "b", &v));
    cr_assert_not(mlir_attr(&m, 0, "x", &v));
    cr_assert_not(mlir_attr(&m, 0, "z", &v));
    cr_assert_not(mlir_attr(&m, 0, "", &v));
    cr_assert(mlir_alias(&m, STR("#map"), &v));
    cr_assert_not(mlir_alias(&m, STR("#nomap"), &v));
    cr_assert_not(mlir_alias(&m, STR("#loc9"), &v));
}

Test(mlir, integers) {
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"3", 3},
                {"3 : i32", 3},
                {"-1 : si32", -1},
                {"true", 1},
                {"false", 0},
                {" 0x10 : i32 ", 16},
                {"0xFFFFFFE0 : i32", -32},
                {"0xFFFFFFE0 : ui32", 4294967264},
                {"0xFFFFFFE0", 4294967264},
                {"0xFF : si8", -1},
                {"0x7F : i8", 127},
                {"9223372036854775807", INT64_MAX}};
    static const char *const bad[] = {"",   "x",  "3.5", "-",  ": i32", "3 4", "99999999999999999999",
                                      "0x", "#a", "[3]", "+3", "1e3"};
    int64_t v;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_assert(mlir_int(str_of(good[i].text), &v) && v == good[i].value, "%s", good[i].text);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_not(mlir_int(str_of(bad[i]), &v), "%s", bad[i]);
}

Test(mlir, floats) {
    static const struct {
        const char *text;
        double value;
    } good[] = {{"1.52587891E-5 : f32", 0x1p-16},
                {"1.52587891E-5 : f64", 1.52587891E-5},
                {"0x7F80 : bf16", INFINITY},
                {"0xFF800000 : f32", -INFINITY},
                {"0x3C00 : f16", 1.0},
                {"0x3FF0000000000000 : f64", 1.0},
                {"3 : i32", 3},
                {"-2.5", -2.5},
                {"0x0001 : f16", 5.9604644775390625e-8}};
    static const char *const bad[] = {"", "nan", "inf", "x", "1.0.0", "dense<1.0>", "--1", "0x1FFFF : bf16", ": f32"};
    double v;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_assert(mlir_float(str_of(good[i].text), &v) && v == good[i].value, "%s", good[i].text);
    cr_assert(mlir_float(STR("0x7FC0 : bf16"), &v) && isnan(v));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_not(mlir_float(str_of(bad[i]), &v), "%s", bad[i]);
}

Test(mlir, strings) {
    struct str s;
    cr_assert(mlir_string(STR("\"a\\\"b\""), &s) && str_is(s, "a\\\"b"));
    cr_assert_not(mlir_string(STR("a"), &s));
    cr_assert_not(mlir_string(STR("\"a"), &s));
    cr_assert_not(mlir_string(STR("\"a\" b"), &s));
}

static void ints(const char *text, int n, int64_t a, int64_t b) {
    int64_t v[2] = {-7, -7};
    int got = mlir_ints(str_of(text), v, 2);
    cr_assert_eq(got, n, "%s: %d", text, got);
    if (n > 0)
        cr_assert_eq(v[0], a, "%s", text);
    if (n > 1)
        cr_assert_eq(v[1], b, "%s", text);
}

Test(mlir, integer_lists) {
    ints("[0 : i32, 2 : i32]", 2, 0, 2);
    ints("[]", 0, 0, 0);
    ints("array<i64: 5, -2>", 2, 5, -2);
    ints("array<i64>", 0, 0, 0);
    ints("#ttnn.shape<1x64>", 2, 1, 64);
    ints("#ttnn.shape<>", 0, 0, 0);
    ints("dense<[3, 4, 5]> : tensor<3xi64>", 3, 3, 4);
    ints("dense<[[3], [4]]> : tensor<2x1xi64>", 2, 3, 4);
    ints("dense<7> : tensor<2xi64>", 2, 7, 7);
    ints("dense<\"0x01000000FFFFFFFF\"> : tensor<2xi32>", 2, 1, -1);
    ints("dense<[0xFFFFFFE0, 3]> : tensor<2xi32>", 2, -32, 3);
    ints("dense<> : tensor<0xi32>", 0, 0, 0);
    ints("2 : i32", 1, 2, 0);
}

/* Truth values are eight to a byte, or a byte each; their three readers agree. */
Test(mlir, truth_values_as_a_string_of_bytes) {
    static const struct {
        const char *text;
        int n, first, second;
        bool splat;
    } cases[] = {
        {"dense<\"0x0101\"> : tensor<16xi1>", 16, 1, 0, false}, {"dense<\"0x55\"> : tensor<7xi1>", 7, 1, 0, false},
        {"dense<\"0x0E\"> : tensor<4xi1>", 4, 0, 1, false},     {"dense<\"0x0100\"> : tensor<2xi1>", 2, 1, 0, false},
        {"dense<\"0xFF\"> : tensor<1xi1>", 1, 1, 1, true},      {"dense<\"0xFFFF\"> : tensor<16xi1>", 16, 1, 1, true},
        {"dense<\"0x7F\"> : tensor<7xi1>", 7, 1, 1, true},      {"dense<\"0x0000\"> : tensor<12xi1>", 12, 0, 0, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str text = str_of(cases[i].text);
        double x[16] = {0}, v = -1;
        ints(cases[i].text, cases[i].n, cases[i].first, cases[i].second);
        cr_assert_eq(mlir_numbers(text, x, 16), cases[i].n, "%s", cases[i].text);
        cr_assert(x[0] == cases[i].first && (cases[i].n == 1 || x[1] == cases[i].second), "%s", cases[i].text);
        cr_assert_eq(mlir_splat(text, &v), cases[i].splat, "%s", cases[i].text);
        cr_assert(!cases[i].splat || v == cases[i].first, "%s", cases[i].text);
    }
}

Test(mlir, what_is_no_integer_list) {
    static const char *const bad[] = {"",
                                      "[a]",
                                      "[1",
                                      "array<i64: x>",
                                      "#ttnn.shape<1xa>",
                                      "#ttnn.shape<1x>",
                                      "dense<1.5> : tensor<2xf32>",
                                      "dense<\"0x01\"> : tensor<2xi32>",
                                      "#other<1x2>",
                                      "\"text\"",
                                      "dense_resource<__elided__> : tensor<2xi32>",
                                      "dense<7> : tensor<99999999x99999999xi32>"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ints(bad[i], -1, 0, 0);
}

Test(mlir, splats) {
    static const struct {
        const char *text;
        double value;
    } good[] = {{"dense<1.0> : tensor<4xf32>", 1},
                {"dense<[[2.0, 2.0]]> : tensor<1x2xbf16>", 2},
                {"dense<0xFF800000> : tensor<4xf32>", -INFINITY},
                {"dense<\"0x0000803F0000803F\"> : tensor<2xf32>", 1},
                {"dense<\"0x803F803F803F\"> : tensor<3xbf16>", 1},
                {"dense<\"0xFFFFFFFF\"> : tensor<1xsi32>", -1},
                {"dense<true> : tensor<4xi1>", 1},
                {"dense<-3> : tensor<i64>", -3}};
    static const char *const bad[] = {"dense<[1.0, 2.0]> : tensor<2xf32>",
                                      "dense<\"0x0000803F00000040\"> : tensor<2xf32>",
                                      "dense<> : tensor<0xf32>",
                                      "dense_resource<__elided__> : tensor<2xf32>",
                                      "dense<__elided__> : tensor<2xf32>",
                                      "1.0 : f32",
                                      "dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>",
                                      "dense<\"0x00\"> : tensor<2xf32>",
                                      "dense<1.0",
                                      "dense<[1.0, 1.0, 0.0]> : tensor<3xf32>"};
    double v;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_assert(mlir_splat(str_of(good[i].text), &v) && v == good[i].value, "%s", good[i].text);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_not(mlir_splat(str_of(bad[i]), &v), "%s", bad[i]);
}

static void names(const char *loc, const char *want) {
    static char text[1024];
    snprintf(text, sizeof text,
             "\"x.a\"() : () -> () loc(%s)\n#loc = loc(unknown)\n#loc1 = loc(\"sum.140\")\n#loc2 = "
             "loc(\"sum.140_mean\"(#loc1))\n"
             "#loc3 = loc(fused[#loc1, #loc, \"x, y\"])\n#loc4 = loc(#loc5)\n#loc5 = loc(#loc4)\n#named = "
             "loc(\"f.py\":3:4)\n",
             loc);
    clean(text);
    struct str out[8];
    struct buf b = {0};
    int n = mlir_loc_names(&m, 0, out, 8);
    for (int i = 0; i < n; i++)
        buf_printf(&b, "%s%.*s", i ? "|" : "", (int)out[i].n, out[i].p);
    cr_assert(str_is(buf_str(&b), want), "%s: [%.*s]", loc, (int)b.n, b.p ? b.p : "");
    buf_free(&b);
}

Test(mlir, locations) {
    names("\"n\"", "n");
    names("#loc2", "sum.140_mean|sum.140");
    names("\"a\"(\"b\"(\"c\"))", "a|b|c");
    names("\"file.mlir\":12:3", "file.mlir:12:3");
    names("\"file.mlir\":12:3 to 13:4", "file.mlir:12:3");
    names("#named", "f.py:3:4");
    names("#loc3", "sum.140|x, y");
    names("fused<\"meta\">[\"a\", \"b\"]", "a|b");
    names("fused<#x.y<[1]>>[\"a\"(#loc1)]", "a|sum.140");
    names("callsite(\"a at b\" at \"f\":1:2)", "a at b|f:1:2");
    names("callsite(#loc1 at callsite(\"x\" at \"y\"))", "sum.140|x|y");
}

Test(mlir, locations_without_names) {
    names("unknown", "");
    names("#loc", "");
    names("#loc4", "");
    names("#missing", "");
    names("fused[]", "");
    names("", "");
}

Test(mlir, location_walks_are_bounded) {
    struct buf b = {0};
    buf_add(&b, STR("\"x.a\"() : () -> () loc(#loc1)\n"));
    for (int i = 1; i < 60; i++)
        buf_printf(&b, "#loc%d = loc(fused[#loc%d, #loc%d])\n", i, i + 1, i + 1);
    buf_addc(&b, '\n');
    buf_addc(&b, 0);
    parse(b.p);
    struct str out[4];
    cr_assert_eq(mlir_loc_names(&m, 0, out, 4), 0);
    cr_assert_eq(mlir_loc_names(&m, 0, out, 0), 0);
    buf_free(&b);
}

Test(mlir, aliases_may_be_anywhere_and_trailers_are_skipped) {
    clean("#loc2 = loc(\"a\")\nmodule {\n} loc(#loc)\n#loc = loc(unknown)\n!t = tensor<1xf32>\n"
          "{-#\n  dialect_resources: {\n    builtin: {\n      x: \"0x00\"\n    }\n  }\n#-}\n");
    struct str v;
    cr_assert(mlir_alias(&m, STR("#loc"), &v) && str_is(v, "loc(unknown)"));
    cr_assert(mlir_alias(&m, STR("!t"), &v) && str_is(v, "tensor<1xf32>"));
    cr_assert(mlir_alias(&m, STR("#loc2"), &v));
    cr_assert_not(mlir_alias(&m, STR("#loc1"), &v));
}

Test(mlir, huge_numbers_are_names) {
    clean("%4000000000 = \"x.a\"() : () -> i32\n%007 = \"x.a\"() : () -> i32\n%7 = \"x.b\"(%4000000000, %007) : (i32, "
          "i32) -> i32\n"
          "#loc4294967299 = loc(\"x\")\n");
    cr_assert_eq(operand(2, 0), 0);
    cr_assert_eq(operand(2, 1), 1);
    struct str v;
    cr_assert(mlir_alias(&m, STR("#loc4294967299"), &v));
    cr_assert_not(mlir_alias(&m, STR("#loc3"), &v));
}

/* The number of results of an op in unknown custom assembly has a limit: names of results beyond it are undefined. */
Test(mlir, many_results_of_unknown_assembly) {
    parse("%0:60000 = foo.bar %a : tensor<2xf32>\n%1 = \"x.b\"(%0#59999, %0#2) : (i32, i32) -> i32\n");
    for (uint32_t i = 0; i < m.noperands; i++)
        cr_assert(m.operands[i] == NONE || m.operands[i] < m.nvalues, "operand %u is value %u", i, m.operands[i]);
    cr_assert_eq(m.undefined_values, 2); /* %a and %0#59999 */
}

Test(mlir, windows_newlines) {
    clean("#loc1 = loc(\"x\")\r\nmodule {\r\n  %0 = \"x.a\"() : () -> i32 loc(#loc1)\r\n}\r\n");
    struct str out[2];
    cr_assert_eq(mlir_loc_names(&m, 1, out, 2), 1);
    cr_assert(str_is(out[0], "x"));
}

/* Aliases that only begin like "#loc12" are looked up by name. */
Test(mlir, named_locations) {
    clean(
        "\"ttir.a\"() : () -> () loc(#loc_x)\n\"ttir.b\"() : () -> () loc(#loc007)\n\"ttir.c\"() : () -> () loc(#loc)\n"
        "#loc2 = loc(\"b\")\n#loc_x = loc(\"x\")\n#loc007 = loc(\"y\")\n#loc = loc(\"z\")\n");
    static const char *const want[] = {"x", "y", "z"};
    for (uint32_t op = 0; op < 3; op++) {
        struct str name;
        cr_assert_eq(mlir_loc_names(&m, op, &name, 1), 1);
        cr_assert(str_is(name, want[op]));
    }
}

/* A function's location may stand on the line behind the one that closes it. */
Test(mlir, location_on_the_next_line) {
    clean("module {\n  func.func @f() {\n    return\n  } // comment\n  loc(#loc1)\n}\n#loc1 = loc(\"b\")\n");
    struct str name;
    cr_assert_eq(mlir_loc_names(&m, 1, &name, 1), 1);
    cr_assert(str_is(name, "b"));
}

/* ---- attributes as trees ---- */

static struct attr attribute(const char *text) {
    return mlir_read_attr(STR("key"), str_of(text), &arena);
}

Test(mlir, a_unit_attribute_is_a_flag_that_is_true) {
    clean("%0 = \"ttir.constant\"() {keep, drop = false, also = true} : () -> tensor<1xf32>\n");
    struct attrs all = mlir_read_attrs(&m, 0, &arena);
    cr_assert(attrs_flag(&all, "keep"));
    cr_assert(attrs_flag(&all, "also"));
    cr_assert_not(attrs_flag(&all, "drop"));
    cr_assert_not(attrs_flag(&all, "absent"));
    cr_assert_eq(attrs_int(&all, "keep", 7), 1);
    cr_assert_eq(attrs_int(&all, "absent", 7), 7);
}

Test(mlir, hexadecimal_digits_of_a_float_are_no_integer) {
    struct attr x = attribute("0x3FC00000 : f32");
    cr_assert(x.is_number && !x.is_whole);
    cr_assert_eq(x.number, 1.5);
    cr_assert_eq(x.n, -1);
    x = attribute("0x3FC0 : bf16");
    cr_assert(x.is_number && !x.is_whole);
    cr_assert_eq(x.number, 1.5);
    for (int typed = 0; typed < 2; typed++) { /* without a type it is an i64 */
        x = attribute(typed ? "0x7F800000 : i32" : "0x7F800000");
        cr_assert(x.is_number && x.is_whole);
        cr_assert_eq(x.number, 0x7f800000);
        cr_assert_eq(x.whole, 0x7f800000);
    }
}

Test(mlir, entries_inside_of_an_attribute_are_attributes) {
    struct attr x = attribute("#d.config<first = 3, pad = [1, 2], inner = #d.more<second = true>, word>");
    const int64_t *list;
    cr_assert_eq(x.inside.n, 3);
    cr_assert_eq(attrs_int(&x.inside, "first", 0), 3);
    cr_assert_eq(attrs_list(&x.inside, "pad", &list), 2);
    cr_assert_eq(list[1], 2);
    cr_assert_eq(attrs_list(&x.inside, "absent", &list), -1);
    const struct attr *inner = attrs_find(&x.inside, "inner");
    cr_assert(inner && attrs_flag(&inner->inside, "second"));
    cr_assert_null(attrs_find(&x.inside, "second"));
    cr_assert_eq(attribute("[1, 2]").inside.n, 0);
}

/* ---- modules that are built ---- */

/* y, i = topk of x, a ui32 input k times 1, z = x / a constant; `dim` and `divisor` tell modules apart. */
static void build(struct mlir *out, const char *dim, const char *divisor) {
    const int64_t dims[] = {4, 32}, top[] = {4, 2};
    build_begin(out, STR("part"));
    uint32_t x = build_tensor(out, dims, 2, DT_BF16), scalar = build_tensor(out, NULL, 0, DT_F32);
    uint32_t tops[] = {build_tensor(out, top, 2, DT_BFP8), build_tensor(out, top, 2, DT_I32)};
    uint32_t arg = build_argument(out, STR("%a0"), x, STR("ttcore.argument_type = #ttcore.argument_type<input>"));
    uint32_t half = build_op(
        out, &(struct new_op){.name = STR("ttir.constant"), .props = str_of(divisor), .types = &scalar, .nresults = 1});
    uint32_t topk = build_op(out, &(struct new_op){.name = STR("ttir.topk"),
                                                   .props = str_of(dim),
                                                   .operands = &arg,
                                                   .noperands = 1,
                                                   .types = tops,
                                                   .nresults = 2});
    uint32_t operands[] = {arg, out->ops[half].first_result};
    uint32_t divide = build_op(
        out,
        &(struct new_op){.name = STR("ttir.div"), .operands = operands, .noperands = 2, .types = &x, .nresults = 1});
    uint32_t returned[] = {out->ops[divide].first_result, out->ops[topk].first_result + 1};
    build_return(out, returned, 2);
    build_end(out);
}

Test(mlir, a_built_module_is_what_its_print_says) {
    struct mlir built;
    struct buf text = {0};
    build(&built, "dim = -1 : i32, k = 2 : i32", "value = dense<5.0e-01> : tensor<f32>");
    mlir_print(&built, NULL, &text);
    buf_addc(&text, 0);
    clean(text.p);
    cr_assert_eq(m.nops, built.nops);
    cr_assert_eq(m.nvalues, built.nvalues);
    for (uint32_t i = 1; i < m.nops; i++) {
        const struct mlir_op *x = &m.ops[i], *y = &built.ops[i];
        cr_assert(named(i, mlir_op_name(&built, i).p) &&
                      text_is(x->props, arena_str(&arena, mlir_span(&built, y->props)).p),
                  "op %u in\n%s", i, text.p);
        cr_assert(x->noperands == y->noperands && x->nresults == y->nresults && x->first_result == y->first_result);
        for (uint32_t k = 0; k < x->noperands; k++)
            cr_assert_eq(operand(i, k), built.operands[y->first_operand + k]);
    }
    for (uint32_t v = 0; v < m.nvalues; v++)
        cr_assert(str_eq(type_of(v)->text, built.types[built.values[v].type].text) &&
                      text_is(m.values[v].name, arena_str(&arena, mlir_span(&built, built.values[v].name)).p),
                  "value %u in\n%s", v, text.p);
    struct str kind;
    cr_assert(mlir_arg_attr(&built, 0, 0, "ttcore.argument_type", &kind));
    cr_assert_str_eq(text.p, "func.func @part(%a0: tensor<4x32xbf16> {ttcore.argument_type = "
                             "#ttcore.argument_type<input>}) -> (tensor<4x32xbf16>, tensor<4x2xsi32>) {\n"
                             "  %1 = \"ttir.constant\"() <{value = dense<5.0e-01> : tensor<f32>}> : () -> tensor<f32>\n"
                             "  %2:2 = \"ttir.topk\"(%a0) <{dim = -1 : i32, k = 2 : i32}> : (tensor<4x32xbf16>) -> "
                             "(tensor<4x2x!ttcore.tile<32x32, bfp_bf8>>, tensor<4x2xsi32>)\n"
                             "  %4 = \"ttir.div\"(%a0, %1) : (tensor<4x32xbf16>, tensor<f32>) -> tensor<4x32xbf16>\n"
                             "  return %4, %2#1 : tensor<4x32xbf16>, tensor<4x2xsi32>\n}\n");
    mlir_free(&built);
    buf_free(&text);
}

Test(mlir, equal_modules_have_equal_keys) {
    static const char *const variants[][2] = {{"dim = -1 : i32", "value = dense<1.0> : tensor<f32>"},
                                              {"dim = -1 : i32", "value = dense<1.0> : tensor<f32>"},
                                              {"dim = -2 : i32", "value = dense<1.0> : tensor<f32>"},
                                              {"dim = -1 : i32", "value = dense<2.0> : tensor<f32>"}};
    struct str keys[4];
    for (int i = 0; i < 4; i++) {
        struct mlir built;
        build(&built, variants[i][0], variants[i][1]);
        keys[i] = mlir_key(&built, &arena);
        mlir_free(&built);
    }
    cr_assert(str_eq(keys[0], keys[1]));
    cr_assert(!str_eq(keys[0], keys[2]) && !str_eq(keys[0], keys[3]) && !str_eq(keys[2], keys[3]));
}

Test(mlir, lists_are_written_like_others) {
    static const char *const likes[][2] = {{"[1 : i32, 2 : i32]", "[5 : i32, 6 : i32, 7 : i32]"},
                                           {"[]", "[5, 6, 7]"},
                                           {"array<i64: 3>", "array<i64: 5, 6, 7>"},
                                           {"array<i32: 3>", "array<i32: 5, 6, 7>"},
                                           {"#ttnn.shape<1x2>", "#ttnn.shape<5x6x7>"}};
    const int64_t list[] = {5, 6, 7};
    for (size_t i = 0; i < sizeof likes / sizeof *likes; i++) {
        struct str text = ints_like(str_of(likes[i][0]), list, 3, &arena);
        cr_assert(str_is(text, likes[i][1]), "%.*s", (int)text.n, text.p);
    }
    cr_assert(str_is(ints_like(STR("3 : i32"), list, 1, &arena), "5 : i32"));
    cr_assert(str_is(ints_like(STR("array<i64: 1>"), list, 0, &arena), "array<i64>"));
}
