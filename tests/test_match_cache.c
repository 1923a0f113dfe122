/* The match cache changes nothing of what is found: fixtures are searched with all bundled patterns, with a cache of
 * its own, with one that all share, and without. What a fingerprint does not cover is asked again, or not kept. */
#include "pattern_text.h"
#include "search/match/fingerprint.h"
#include "search/match/search.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *whole(const char *path) {
    FILE *f = fopen(path, "rb");
    cr_assert_not_null(f, "%s", path);
    fseek(f, 0, SEEK_END);
    size_t n = (size_t)ftell(f);
    rewind(f);
    char *text = calloc(n + 1, 1);
    cr_assert_eq(fread(text, 1, n, f), n);
    fclose(f);
    return text;
}

/* Without a cache when it is NULL. */
static void search(const struct graph *g, struct match_cache *cache, struct match_list *out) {
    struct searcher *s = searcher_new(g, cache, &arena);
    memset(out, 0, sizeof *out);
    for (uint32_t f = 0; f < g->m->nfuncs; f++)
        if (g->func_kind[f] == FUNC_MAIN)
            searcher_run(s, &set, f, out);
    searcher_free(s);
}

static void same(const struct match_list *a, const struct match_list *b, const char *path) {
    cr_assert_eq(a->n, b->n, "%s: %u and %u", path, a->n, b->n);
    for (uint32_t i = 0; i < a->n; i++) {
        const struct match *x = &a->items[i], *y = &b->items[i];
        cr_assert(x->pattern == y->pattern && x->nops == y->nops && x->nthrough == y->nthrough, "%s", path);
        cr_assert_eq(memcmp(x->ops, y->ops, x->nops * sizeof *x->ops), 0, "%s", path);
        cr_assert_eq(memcmp(x->through, y->through, x->nthrough * sizeof *x->through), 0, "%s", path);
    }
}

static void setup(void) {
    search_setup();
    set.no_examples = true;
    const char *fixtures = getenv("FA_FIXTURES");
    cr_assert_not_null(fixtures);
    cr_assert(patterns_load(&set, arena_printf(&arena, "%s/../patterns", fixtures).p, &diags));
}

TestSuite(match_cache, .init = setup, .fini = search_teardown, .timeout = 100);

/* `cache` is kept from file to file. */
static uint32_t search_file(const char *path, struct match_cache *cache) {
    char *text = whole(path);
    struct match_cache *own = match_cache_new(&set);
    struct match_list with, across, without;
    ir_read_bad(&ir, text);
    search(&ir.g, own, &with);
    search(&ir.g, cache, &across);
    search(&ir.g, NULL, &without);
    same(&with, &without, path);
    same(&across, &without, path);
    uint32_t found = with.n;
    match_cache_free(own);
    free(with.items);
    free(across.items);
    free(without.items);
    forget_ir();
    free(text);
    return found;
}

Test(match_cache, a_cache_changes_nothing) {
    const char *fixtures = getenv("FA_FIXTURES");
    struct match_cache *cache = match_cache_new(&set);
    glob_t files;
    uint32_t found = 0;
    cr_assert_eq(glob(arena_printf(&arena, "%s/dit*.mlir", fixtures).p, 0, NULL, &files), 0);
    cr_assert_eq(glob(arena_printf(&arena, "%s/families/*.mlir", fixtures).p, GLOB_APPEND, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i += 4)
        found += search_file(files.gl_pathv[i], cache);
    for (size_t i = 0; i < files.gl_pathc; i += 8)
        search_file(files.gl_pathv[i], cache);
    cr_assert_gt(found, 40, "only %u places", found);
    globfree(&files);
    match_cache_free(cache);
}

static uint32_t found_in(const char *aliases, const char *op, struct match_cache *cache) {
    struct match_list out;
    struct str text = arena_printf(&arena,
                                   "%s\nmodule {\n  func.func @f(%%x: tensor<32x32xbf16>) -> tensor<32x32xbf16> {\n"
                                   "    %%0 = %s : (tensor<32x32xbf16>) -> tensor<32x32xbf16>\n"
                                   "    return %%0 : tensor<32x32xbf16>\n  }\n}\n",
                                   aliases, op);
    ir_read(&ir, text.p);
    search(&ir.g, cache, &out);
    free(out.items);
    forget_ir();
    return out.n;
}

/* The same text in two modules, and an alias in it that means something else in the second. */
Test(match_cache, an_alias_means_what_its_module_says) {
    const char *op = "\"ttir.clamp_scalar\"(%x) <{max = #top, min = 0.000000e+00 : f32}>";
    struct match_cache *cache = match_cache_new(&set);
    cr_assert_eq(found_in("#top = 7.000000e+00 : f32", op, cache), 0);
    cr_assert_eq(found_in("#top = 6.000000e+00 : f32", op, cache), 1);
    cr_assert_eq(found_in("#top = 7.000000e+00 : f32", op, cache), 0);
    cr_assert_eq(found_in("#top = 6.000000e+00 : f32", op, NULL), 1);
    match_cache_free(cache);
}

/* How many places are found where `name` is sought at one op; of two relu6 of one function. */
static uint32_t found_at(const char *name, uint32_t op, struct match_cache *cache) {
    struct match_list out = {0};
    const char *relu6 = "\"ttir.clamp_scalar\"(%x) <{max = 6.000000e+00 : f32, min = 0.000000e+00 : f32}> : "
                        "(tensor<32x32xbf16>) -> tensor<32x32xbf16>";
    ir_read(&ir, arena_printf(&arena, "func.func @f(%%x: tensor<32x32xbf16>) {\n  %%0 = %s\n  %%1 = %s\n  return\n}\n",
                              relu6, relu6)
                     .p);
    bool *roots = arena_alloc(&arena, ir.g.m->nops);
    struct sought sought = {.items = &(struct sought_op){str_of(name), roots}, .n = 1};
    struct searcher *s = searcher_new(&ir.g, cache, &arena);
    roots[ir.g.m->funcs[0].first_op + op] = true;
    searcher_seek(s, &sought);
    searcher_run(s, &set, 0, &out);
    searcher_free(s);
    uint32_t n = out.n, at = n ? out.items[0].root : ir.g.m->funcs[0].first_op + op;
    cr_expect_eq(at, ir.g.m->funcs[0].first_op + op);
    free(out.items);
    forget_ir();
    return n;
}

/* Of a function that is known as a whole, and as far as something else was sought in it. */
Test(match_cache, what_is_sought_alone_is_found) {
    struct match_cache *cache = match_cache_new(&set);
    for (int round = 0; round < 2; round++) {
        cr_expect_eq(found_at("ttnn.relu6", 0, cache), 1);
        cr_expect_eq(found_at("ttnn.relu6", 1, cache), 1);
        cr_expect_eq(found_at("ttnn.silu", 0, cache), 0);
        cr_expect_eq(found_at("ttnn.relu6", 0, NULL), 1);
        cr_expect_eq(found_at("ttnn.silu", 0, NULL), 0);
    }
    match_cache_free(cache);
}

/* The same kind of op of another dialect may be another fusion. */
Test(match_cache, an_op_is_known_by_its_name) {
    struct match_cache *cache = match_cache_new(&set);
    for (int round = 0; round < 2; round++) {
        cr_assert_eq(
            found_in("", "\"ttir.clamp_scalar\"(%x) <{max = 6.000000e+00 : f32, min = 0.000000e+00 : f32}>", cache), 1);
        cr_assert_eq(found_in("", "\"ttnn.relu6\"(%x)", cache), 0);
    }
    match_cache_free(cache);
}

/* Three products with the operand `a`, an argument or the result of an op, or two and one with operands `left` and
 * `right`; `a` has three users in all cases. */
static uint32_t shared_in(const char *a, const char *left, const char *right, struct match_cache *cache) {
    const char *parameter = "tensor<32x32xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>}";
    const char *type = "(tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>";
    struct match_list out;
    struct str text =
        arena_printf(&arena,
                     "func.func @f(%%x: tensor<32x32xbf16>, %%u: %s, %%v: %s, %%w: %s) {\n"
                     "  %%r = \"ttnn.relu\"(%%x) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>\n"
                     "  %%1 = \"ttnn.matmul\"(%s, %%u) : %s\n"
                     "  %%2 = \"ttnn.matmul\"(%s, %%v) : %s\n"
                     "  %%3 = \"ttnn.matmul\"(%s, %s) : %s\n"
                     "  return %%1, %%2, %s : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>\n}\n",
                     parameter, parameter, parameter, a, type, a, type, left, right, type, left == a ? "%3" : a);
    uint32_t shared = 0;
    ir_read(&ir, text.p);
    search(&ir.g, cache, &out);
    for (uint32_t i = 0; i < out.n; i++)
        shared += str_is(out.items[i].pattern->name, "matmul_shared");
    free(out.items);
    forget_ir();
    return shared;
}

/* The first product is the same in all of them; the other users of its operand are not. */
Test(match_cache, users_tell_functions_apart) {
    static const char *const operands[] = {"%x", "%r"};
    for (int i = 0; i < 2; i++) {
        struct match_cache *cache = match_cache_new(&set);
        const char *a = operands[i];
        for (int round = 0; round < 2; round++) {
            cr_assert_eq(shared_in(a, "%w", "%w", cache), 0, "%s: another left operand", a);
            cr_assert_eq(shared_in(a, a, "%w", cache), 1, "%s", a);
            cr_assert_eq(shared_in(a, a, "%2", cache), 0, "%s: weights that are no parameter", a);
        }
        match_cache_free(cache);
    }
}

/* Functions that differ in locations and names alone, searched with one cache for a pattern with this condition. */
static void found_where(const char *condition, const char *const *bodies, const bool *finds, uint32_t n) {
    struct match_cache *cache = match_cache_new(&set);
    for (uint32_t i = 0; i < 2 * n; i++) {
        struct match_list out;
        ir_read(&ir, bodies[i % n]);
        search(&ir.g, cache, &out);
        cr_assert_eq(out.n, finds[i % n], "%s in function %u, time %u", condition, i % n, i / n);
        free(out.items);
        forget_ir();
    }
    match_cache_free(cache);
}

#define BODY(x, exp, add, sum)                                                                                         \
    "func.func @f(%a: tensor<2x3xf32> {ttir.name = \"" x "\"}) {\n"                                                    \
    "  %0 = \"ttir.exp\"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc(\"" exp "\")\n"                                \
    "  %" sum " = \"ttir.add\"(%0, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc(\"" add "\")\n"     \
    "  return %" sum " : tensor<2x3xf32>\n}\n"

Test(match_cache, locations_and_names_are_asked_again) {
    static const char *const bodies[] = {BODY("w", "norm", "norm", "1"), BODY("w", "norm", "add", "s"),
                                         BODY("v", "add", "add", "1")};
    static const struct {
        const char *condition;
        bool finds[3];
    } cases[] = {{"one_location()", {true, false, true}},
                 {"located(\"norm\")", {true, true, false}},
                 {"same_location(e, out)", {true, false, true}},
                 {"spelled(out, \"^%1\")", {true, false, true}},
                 {"spelled(\"^%1\")", {true, false, true}},
                 {"spelled(out, \"norm\")", {false, false, false}}}; /* a location is not the text of its op */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pattern("e = exp(x)\nout = e + e", arena_printf(&arena, "where: %s", cases[i].condition).p);
        found_where(cases[i].condition, bodies, cases[i].finds, 3);
    }
}

/* A large module has the functions of its layers many times. */
Test(match_cache, what_bundled_patterns_find_is_kept) {
    char *text = whole(arena_printf(&arena, "%s/dit.ttir.mlir", getenv("FA_FIXTURES")).p);
    struct match_cache *cache = match_cache_new(&set);
    struct match_list searched, recalled = {0};
    ir_read_bad(&ir, text);
    search(&ir.g, cache, &searched);
    uint64_t aliases = mlir_aliases_hash(ir.g.m);
    for (uint32_t f = 0; f < ir.g.m->nfuncs; f++)
        if (ir.g.func_kind[f] == FUNC_MAIN)
            cr_assert(match_cache_recall(cache, function_fingerprint(&ir.g, f, aliases), &ir.g, f, &arena, &recalled));
    cr_assert_gt(searched.n, 0);
    same(&recalled, &searched, "dit.ttir.mlir");
    free(searched.items);
    free(recalled.items);
    forget_ir();
    match_cache_free(cache);
    free(text);
}
