/* A module read by several threads is the module that one thread reads, to the last id. */
#include "mlir/mlir.h"

#include <criterion/criterion.h>
#include <string.h>

struct read {
    struct source source;
    struct log_block block;
    struct mlir m;
    struct arena arena;
    struct diags diags;
};

static void read_text(struct read *r, struct str text, uint32_t jobs) {
    memset(r, 0, sizeof *r);
    r->diags.arena = &r->arena;
    r->source = (struct source){.path = "x.mlir", .data = text.p, .size = text.n};
    r->block = (struct log_block){.text = text, .first_line = 1, .complete = true};
    mlir_parse_jobs(&r->m, &r->source, &r->block, jobs, &r->diags);
}

static void read_free(struct read *r) {
    mlir_free(&r->m);
    diags_free(&r->diags);
    arena_free(&r->arena);
}

static void add_function(struct buf *b, unsigned i) {
    buf_printf(b, "  func.func @f%u(%%arg0: tensor<%ux64xbf16> {ttir.name = \"x%u\"}, %%arg1: tensor<64xbf16>) -> ", i,
               i % 7 + 1, i);
    buf_printf(b, "tensor<%ux64xbf16> {\n", i % 7 + 1);
    for (unsigned k = 0; k < 40; k++)
        buf_printf(b,
                   "    %%%u = \"ttir.add\"(%%%s, %%arg1) <{k = %u : i32}> : (tensor<%ux64xbf16>, tensor<64xbf16>) -> "
                   "tensor<%ux64xbf16> loc(#loc%u)\n",
                   k, k ? (char[]){(char)('0' + (k - 1) / 10), (char)('0' + (k - 1) % 10), 0} + (k <= 10) : "arg0", k,
                   i % 7 + 1, i % 7 + 1, k % 5 + 1);
    buf_printf(b, "    return %%39 : tensor<%ux64xbf16> loc(#loc1)\n  } loc(#loc2)\n", i % 7 + 1);
}

static const char plain_tail[] = "} loc(#loc3)\n#loc2 = loc(\"b\")\n#loc3 = loc(unknown)\n#loc4 = loc(\"d\")\n"
                                 "#loc5 = loc(\"e\"(#loc2))\n";

static struct buf module(unsigned functions, const char *between, unsigned behind, const char *tail) {
    struct buf b = {0};
    buf_add(&b, STR("#loc1 = loc(\"a\")\nmodule @m {\n"));
    for (unsigned i = 0; i < functions; i++) {
        add_function(&b, i);
        if (i == behind)
            buf_add(&b, str_of(between));
    }
    buf_add(&b, str_of(tail));
    return b;
}

static bool same_span(struct span a, struct span b) {
    return (a.begin == b.begin && a.end == b.end) || (a.begin == a.end && b.begin == b.end);
}

static void expect_same(const struct mlir *a, const struct mlir *b) {
    cr_assert_eq(a->nops, b->nops);
    cr_assert_eq(a->nvalues, b->nvalues);
    cr_assert_eq(a->noperands, b->noperands);
    cr_assert_eq(a->nfuncs, b->nfuncs);
    cr_assert_eq(a->nnames, b->nnames);
    cr_assert_eq(a->ntypes, b->ntypes);
    cr_assert(memcmp(a->operands, b->operands, a->noperands * sizeof *a->operands) == 0);
    for (uint32_t i = 0; i < a->nops; i++) {
        const struct mlir_op *x = &a->ops[i], *y = &b->ops[i];
        cr_assert(x->name == y->name && x->func == y->func && x->parent == y->parent && x->callee == y->callee &&
                  x->first_operand == y->first_operand && x->first_result == y->first_result &&
                  x->noperands == y->noperands && x->nresults == y->nresults);
        cr_assert(same_span(x->text, y->text) && same_span(x->loc, y->loc));
        cr_assert(str_eq(mlir_span(a, x->props), mlir_span(b, y->props)));
    }
    for (uint32_t i = 0; i < a->nvalues; i++)
        cr_assert(a->values[i].type == b->values[i].type && a->values[i].def == b->values[i].def &&
                  same_span(a->values[i].name, b->values[i].name));
    for (uint32_t i = 0; i < a->nfuncs; i++)
        cr_assert(a->funcs[i].name == b->funcs[i].name && a->funcs[i].op == b->funcs[i].op &&
                  a->funcs[i].first_op == b->funcs[i].first_op && a->funcs[i].end_op == b->funcs[i].end_op &&
                  a->funcs[i].first_arg == b->funcs[i].first_arg && a->funcs[i].module == b->funcs[i].module &&
                  a->funcs[i].in_cpu_module == b->funcs[i].in_cpu_module &&
                  a->funcs[i].complete == b->funcs[i].complete &&
                  mlir_find_func(a, a->funcs[i].name) == mlir_find_func(b, b->funcs[i].name));
}

/* The locations too, which are looked up by number. */
static void expect_same_names(const struct mlir *a, const struct mlir *b) {
    for (uint32_t i = 0; i < a->nops; i++) {
        struct str x[4], y[4];
        int n = mlir_loc_names(a, i, x, 4);
        cr_assert_eq(n, mlir_loc_names(b, i, y, 4));
        for (int k = 0; k < n && k < 4; k++)
            cr_assert(str_eq(x[k], y[k]));
    }
}

static void compare_text(struct str text) {
    struct read one, four;
    read_text(&one, text, 1);
    read_text(&four, text, 4);
    cr_assert_gt(text.n, 1u << 20, "large enough to be cut");
    cr_assert_eq(one.diags.n, four.diags.n);
    expect_same(&one.m, &four.m);
    struct str value;
    expect_same_names(&one.m, &four.m);
    cr_assert(mlir_arg_attr(&four.m, 1, 0, "ttir.name", &value) && str_is(value, "\"x1\""));
    read_free(&one);
    read_free(&four);
}

static void compare_behind(const char *between, unsigned behind, const char *tail) {
    struct buf text = module(400, between, behind, tail);
    compare_text(buf_str(&text));
    buf_free(&text);
}

static void compare_with(const char *between, const char *tail) {
    compare_behind(between, 200, tail);
}

/* In what one thread reads while the others read the rest, too. */
static void compare(const char *between) {
    compare_with(between, plain_tail);
    compare_behind(between, 2, plain_tail);
    compare_behind(between, 390, plain_tail);
}

Test(parallel, same_as_one_thread) {
    compare("");
}

/* The lines of locations behind the functions, as they are and as they should not be. */
Test(parallel, locations_behind) {
    compare_with("", "}\n#loc2 = loc(\"b\")\n#loc3 = loc(unknown)\n");
    compare_with("", "}\n#loc2 = loc(\"b\")\n#loc1 = loc(\"again\")\n#loc2 = loc(\"again\")");
    compare_with("", "}\n#loc2 = loc(\"b\") // said\n#loc3 = loc(\"c\")\n");
    compare_with("", "}\n#loc2 = loc(\"b\")\n#map = affine_map<(d0) -> (d0)>\n#loc3 = loc(\"c\")\n");
    compare_with("", "}\n#loc2 = loc(\"b\")\n#loc3 = loc(\"c\n#loc4 = loc(\"d\")\n");
    compare_with("", "}\n#loc2 = loc(\"b\")\n#loc3 loc(\"c\")\n#loc4 = loc(\"d\")\n");
    compare_with("", "} loc(#loc9)\n\n#loc9 = loc(\"b\")\n{-#\n  dialect_resources: {}\n#-}\n");
    compare_with("", "} loc(#loc");
    compare_with("", "");
}

/* A name that only begins like those that are read ahead. */
Test(parallel, named_locations_behind) {
    const char *use = "  func.func @x() {\n    \"ttir.a\"() : () -> () loc(#loc_x)\n    return loc(#loc007)\n  }\n";
    compare_behind(use, 390, "}\n#loc2 = loc(\"b\")\n#loc_x = loc(\"x\")\n#loc007 = loc(\"y\")\n#loc3 = loc(\"c\")\n");
    compare_behind(use, 390, "}\n#loc_x = loc(\"x\")\n#loc2 = loc(\"b\")\n#location = loc(\"y\")\n#loc = loc(\"z\")\n");
}

/* The last function goes on behind the line that closes it. */
Test(parallel, location_on_the_next_line) {
    const char *last = "  func.func @last() {\n    return\n  }\n  loc(#loc1)\n} loc(#loc3)\n#loc2 = loc(\"b\")\n";
    compare_with("", last);
    compare_with("", "  func.func @last() {\n    return\n  } // said\n  loc(#loc1)\n}\n#loc2 = loc(\"b\")\n");
}

Test(parallel, trailer_in_between) {
    compare("  {-# dialect_resources: {\n");
    compare("  {-# dialect_resources: {\n  }\n  #-}\n");
}

/* Regions are counted from the module on. */
Test(parallel, nested_as_deep_as_may_be) {
    for (int depth = 250; depth < 258; depth++) {
        struct buf b = {0};
        buf_add(&b, STR("  func.func @deep(%a: i32) {\n"));
        for (int i = 0; i < depth; i++)
            buf_add(&b, STR("    \"ttir.r\"() ({\n"));
        buf_add(&b, STR("    %5 = \"ttir.a\"() : () -> i32\n"));
        for (int i = 0; i < depth; i++)
            buf_add(&b, STR("    }) : () -> ()\n"));
        buf_add(&b, STR("    return\n  }\n"));
        buf_addc(&b, '\0');
        compare_behind(b.p, 390, plain_tail);
        buf_free(&b);
    }
}

/* What a symbol behind an alias means is said before the functions. */
Test(parallel, symbols_behind_aliases) {
    const char *use = "  func.func @uses(%a: i32) {\n"
                      "    %0 = \"ttcore.composite\"(%a) <{decomposition = #c0}> : (i32) -> i32\n    return\n  }\n";
    struct buf body = module(400, use, 390, plain_tail), text = {0};
    buf_add(&text, STR("#c0 = @f3\n"));
    buf_add(&text, buf_str(&body));
    compare_text(buf_str(&text));
    buf_free(&body);
    buf_free(&text);
}

/* One function alone is read in place, what is behind it meanwhile. */
Test(parallel, one_large_function) {
    struct buf b = {0};
    buf_add(&b, STR("#loc1 = loc(\"a\")\nmodule @m {\n  func.func @f0() {\n    return\n  }\n"
                    "  func.func @f1(%a: i32 {ttir.name = \"x1\"}) {\n"));
    for (unsigned i = 0; i < 20000; i++)
        buf_printf(&b, "    %%%u = \"ttir.neg\"(%%a) : (i32) -> i32 loc(#loc%u)\n", i, i % 900);
    buf_add(&b, STR("    return\n  }\n}\n"));
    for (unsigned i = 2; i < 900; i++)
        buf_printf(&b, "#loc%u = loc(\"l%u\")\n", i, i);
    compare_text(buf_str(&b));
    buf_free(&b);
}

/* The first one that has a body has the name. */
Test(parallel, function_in_one_of_the_same_name) {
    compare("  func.func @n() {\n    func.func @n() {\n      return\n    }\n    return\n  }\n");
}

/* What the cut does not expect between functions: the module is read as a whole. */
Test(parallel, other_ops_between_functions) {
    compare("  \"ttir.unknown\"() : () -> ()\n");
}
/* The parser is not where the functions belong when it comes to those that are read already. */
Test(parallel, region_open_at_the_cut) {
    compare("  \"ttir.unknown\"() ({\n");
    compare("  func.func @open() {\n");
    compare("  func.func @open() {\n    \"ttir.unknown\"() ({\n");
}
Test(parallel, cpu_module_at_the_cut) {
    compare("}\nttcore.cpu_module {\nbuiltin.module {\n");
    compare("}\n\"ttcore.cpu_module\"() ({\nmodule {\n");
}
Test(parallel, module_ends_in_between) {
    compare("}\nmodule @n {\n");
}
Test(parallel, type_alias) {
    compare("  }\n!t = tensor<2xf32>\n  {\n");
    compare("!t = tensor<2xf32>\n");
}
Test(parallel, bad_op) {
    compare("  func.func @bad() {\n    %0 = \"ttir.add\"(%1 : \n  }\n");
}
