/* The reference lowering of fused ops: against NumPy through the text of the op (fixtures/numeric), and formulas on
 * tensors. */
#include "ir_text.h"
#include "numeric_fixtures.h"
#include "proof/numeric/formula_run.h"
#include "proof/trials/compare.h"
#include "proof/value/evaluate.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct arena arena;
static struct eval_context context;
static struct lazies nodes;
static struct diags diags;
static struct pattern_set set;

static void setup(void) {
    context = (struct eval_context){.arena = &arena, .nodes = &nodes};
    diags = (struct diags){.arena = &arena};
    cr_assert(patterns_load_bundled(&set, getenv("FA_PATTERNS"), &diags), "%s", diags.n ? diags.items[0].message : "");
}

static void teardown(void) {
    patterns_free(&set);
    lazies_free(&nodes);
    arena_free(&arena);
}

TestSuite(lowering, .init = setup, .fini = teardown);

/* ---- ops by their lowering ---- */

struct lowered_count {
    size_t agree, refused;
    bool seen[OPERATORS];
};

static const struct tensor *operand_of(struct fixture_op *f, uint32_t v) {
    for (uint32_t i = 0; v != NONE && i < f->ngiven; i++)
        if (f->given[i].value == v)
            return f->given[i].tensor;
    return NULL;
}

/* Reshapes results as the text declares them: a reduction without keep_dim, a flattened convolution. */
static bool in_declared_shapes(struct eval_context *b, const struct call *c,
                               const struct tensor *results[MAX_RESULTS]) {
    for (uint32_t i = 0; i < c->nresults && i < MAX_RESULTS; i++) {
        const struct shape *declared = declared_shape(c, i);
        if (!results[i] || !(results[i] = as_declared(b, c, i, results[i])))
            return eval_fail(b, "the lowering of %s has no result %u", op_table[c->kind].name, i);
        if (declared && !shape_eq(declared, &results[i]->shape))
            return eval_fail(b, "the lowering of %s makes %s where the text says %s", op_table[c->kind].name,
                             shape_text(b->arena, &results[i]->shape).p, shape_text(b->arena, declared).p);
    }
    return true;
}

struct lowered_call {
    const struct call *c;
    const struct tensor **results;
};

static void attempt_lowered(struct eval_context *ctx, void *self) {
    const struct lowered_call *l = self;
    struct formula_run r = {.eval = ctx, .set = &set};
    evaluate_lowered(&r, lowering_of_kind(&set, l->c->kind), l->c, NULL, l->results);
    in_declared_shapes(ctx, l->c, l->results);
}

static bool interpret_lowered(struct eval_context *ctx, const struct call *c,
                              const struct tensor *results[MAX_RESULTS]) {
    return eval_attempt(ctx, attempt_lowered, &(struct lowered_call){c, results});
}

/* The op of a fixture, evaluated by its lowering. */
static bool lowered(struct fixture_op *f, const struct tensor *results[MAX_RESULTS]) {
    const struct graph *g = &f->ir.g;
    const struct tensor *operands[8] = {NULL};
    struct shape shapes[MAX_RESULTS];
    enum dtype types[MAX_RESULTS];
    for (uint32_t i = 0; i < graph_noperands(g, f->op); i++)
        operands[i] = operand_of(f, graph_operands(g, f->op)[i]);
    for (uint32_t i = 0; i < f->nresults; i++) {
        shapes[i] = f->want[i]->shape;
        types[i] = graph_dtype(g, f->ir.m.ops[f->op].first_result + i);
    }
    struct call c = {.kind = (enum op_kind)g->kind[f->op],
                     .ttnn = str_starts(mlir_op_name(&f->ir.m, f->op), STR("ttnn.")),
                     .noperands = graph_noperands(g, f->op),
                     .operands = operands,
                     .nresults = f->nresults,
                     .shapes = shapes,
                     .types = types,
                     .attributes = graph_attributes(g, f->op)};
    return interpret_lowered(&context, &c, results);
}

static void check_lowered(struct fixture_op *f, struct lowered_count *n) {
    const struct tensor *got[MAX_RESULTS];
    int64_t compared;
    enum op_kind k = (enum op_kind)f->ir.g.kind[f->op];
    if (!lowering_of_kind(&set, k))
        return;
    if (!lowered(f, got)) {
        bool expected = str_find(context.error, STR("is along one dimension")) ||
                        str_find(context.error, STR("makes 2x3x1x4 where the text says 2x3x32x4")); /* padding rows */
        cr_assert(expected, "%s: %s", f->label, context.error.p);
        context.error = STR("");
        n->refused++;
        return;
    }
    for (uint32_t i = 0; i < f->nresults; i++) {
        const struct tensor *t = elements_read(&context, got[i], 1e7);
        cr_assert(t, "%s: %s", f->label, context.error.p);
        struct difference d = compare_worst(t, f->want[i], 1e-3, NULL, &compared);
        cr_assert(d.error <= 1e-11, "%s result %u: %.17g for %.17g at %lld", f->label, i, d.got, d.want,
                  (long long)d.at);
    }
    n->seen[k] = true;
    n->agree++;
}

Test(lowering, every_lowered_op_agrees_with_numpy) {
    static const char *const files[] = {"elementwise", "reductions", "products", "norms",
                                        "selection",   "windows",    "attention"};
    struct lowered_count n = {0};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct fixture_file file;
        fixture_open(&file, files[i]);
        for (struct fixture_op f; fixture_next(&file, &context, &f);) {
            check_lowered(&f, &n);
            ir_free(&f.ir);
        }
        fixture_close(&file);
    }
    for (uint32_t i = 0; i < set.nlowerings; i++)
        cr_assert(set.lowerings[i].kind == NO_OPERATOR || n.seen[set.lowerings[i].kind], "%.*s",
                  (int)set.lowerings[i].op.name.n, set.lowerings[i].op.name.p);
    cr_assert_geq(n.agree, 95, "%zu", n.agree);
    cr_assert_leq(n.refused, 10, "%zu", n.refused);
}

Test(lowering, every_lowering_says_what_it_follows) {
    cr_assert_geq(set.nlowerings, 45);
    for (uint32_t i = 0; i < set.nlowerings; i++)
        cr_assert_gt(set.lowerings[i].source.n, 4, "%s", set.lowerings[i].op.name.p);
}

/* ---- formulas ---- */

static const struct formula *formula;
static const struct tensor *slots[MAX_SLOTS];

static void read_formula(const char *text) {
    memset(slots, 0, sizeof slots);
    struct idioms all = set.lowered;
    struct formula *f = arena_alloc(&arena, sizeof *f);
    all.others = &set.idioms;
    cr_assert(form_parse(f, &arena, &all, NULL, str_of(text), (struct text_origin){NULL, 1, 1}, &diags), "%s", text);
    formula = f;
}

static struct tensor *counting(uint32_t rank, int64_t a, int64_t b, int64_t c) {
    struct tensor *t = tensor_new(&context, &(struct shape){rank, {a, b, c}});
    for (int64_t i = 0; i < t->n; i++)
        t->x[i] = sin(1.7 * (double)i + (double)rank + 0.3 * (double)a);
    return t;
}

static const struct tensor *bind(const char *name, const struct tensor *t) {
    uint32_t s = formula_slot(formula, str_of(name));
    cr_assert_neq(s, NONE, "%s", name);
    return slots[s] = t;
}

static const struct tensor *result(void) {
    const struct tensor *r[MAX_RESULTS];
    return formula_value(&context, &set, formula, slots, r) ? elements_read(&context, r[0], 1e6) : NULL;
}

static const struct tensor *root(void) {
    const struct tensor *t = result();
    cr_assert(t, "%s", context.error.p);
    return t;
}

static void close_to(const struct tensor *a, const struct tensor *b, const char *what) {
    int64_t n;
    struct difference d = compare_worst(a, b, 1e-3, NULL, &n);
    cr_assert(d.error < 1e-12, "%s: %g for %g", what, d.got, d.want);
    cr_assert_gt(n, 0, "%s", what);
}

/* Two formulas over x, w (a row), b (a row) mean the same. */
static void same(const char *one, const char *other) {
    const struct tensor *x = counting(3, 2, 3, 4), *w = counting(1, 4, 0, 0), *b = counting(1, 4, 1, 0), *got[2];
    for (int i = 0; i < 2; i++) {
        read_formula(i ? other : one);
        const struct {
            const char *name;
            const struct tensor *t;
        } names[] = {{"x", x}, {"w", w}, {"b", b}};
        for (size_t k = 0; k < 3; k++)
            if (formula_slot(formula, str_of(names[k].name)) != NONE)
                bind(names[k].name, names[k].t);
        got[i] = root();
    }
    close_to(got[0], got[1], one);
}

Test(lowering, formulas_mean_what_they_say) {
    same("x + 2 * x", "3 * x");
    same("mean(x, dim=-1) + x * 0", "sum(x, dim=-1) * (1 / extent(x, -1)) + x * 0");
    same("mean(x, dim=1) + x * 0", "sum(x, dim=1) * (1 / extent(x, 1)) + 0 * x");
    same("sum(x, dim=-1) / extent(x, -1)", "mean(x, dim=-1)");
    same("softmax(x, dim=1)", "softmax_written(x, dim=1)");
    same("softmax(x)", "softmax(x, dim=-1)");
    same("transposed(transposed(x)) + 0", "x + 0");
    same("concat(slice(x, part=0, of=2), slice(x, part=1, of=2))", "x + 0");
    same("concat(slice(x, dim=-2, part=0, every=3), slice(x, dim=-2, part=1, every=3), slice(x, dim=-2, part=2, "
         "every=3), dim=-2)",
         "x + 0");
    same("outer(x[..., :1], x[..., :1, :])", "x[..., :1] * x[..., :1, :]");
    same("layer_norm(x, w, b)", "a = rms_norm(x - mean(x, dim=-1), w, b)");
    same("result(sort(x, descending=true), 1) * 0 + sort(x, dim=-1)", "-sort(-x, descending=true)");
    same("gelu_tanh(x + w)",
         "0.5 * (x + w) * (1 + tanh(sqrt(2 / 3.141592653589793) * ((x + w) + 0.044715 * pow(x + w, 3))))");
    same("linear(x, outer(reshape(w, shape=\"4, 1\"), reshape(b, shape=\"1, 4\")), b)",
         "matmul(x, matmul(reshape(w, shape=\"4, 1\"), reshape(b, shape=\"1, 4\"))) + b");
}

Test(lowering, parts_that_are_not_bound_are_absent) {
    read_formula("y = rms_norm(x, w, b, epsilon=eps)");
    const struct tensor *x = bind("x", counting(2, 3, 4, 0));
    bind("eps", tensor_scalar(&context, 0.5));
    const struct tensor *plain = root();
    double squares = 0;
    for (int i = 0; i < 4; i++)
        squares += x->x[i] * x->x[i];
    cr_assert_float_eq(plain->x[1], x->x[1] / sqrt(squares / 4 + 0.5), 1e-14);
    const struct tensor *w = bind("w", counting(1, 4, 0, 0));
    cr_assert_float_eq(root()->x[1], plain->x[1] * w->x[1], 1e-14);
    read_formula("(x + w) [* b] | x + 0");
    bind("x", x);
    close_to(root(), x, "no w");
    bind("w", w);
    cr_assert_float_eq(root()->x[2], x->x[2] + w->x[2], 1e-15);
    read_formula("concat(x, y, z)");
    bind("x", x);
    bind("z", x);
    cr_assert_eq(root()->shape.dim[1], 8);
}

Test(lowering, a_choice_takes_other_alternatives_and_what_is_not_said_is_none) {
    const struct tensor *x = counting(1, 4, 0, 0), *r[MAX_RESULTS];
    struct formula_choice choice = {0};
    read_formula("(slice(x) | x + 1 | y | x + 2 | x + z) * 1");
    bind("x", x);
    cr_assert_float_eq(root()->x[0], x->x[0] + 1, 1e-15, "the first that is there");
    for (int i = 1; i <= 2; i++) {
        cr_assert(formula_value_of(&context, &set, formula, slots, &(struct formula_options){.choice = &choice}, r));
        cr_assert_float_eq(elements_read(&context, r[0], 1e6)->x[0], x->x[0] + i, 1e-15);
        cr_assert_eq(formula_choice_next(&choice), i == 1);
    }
    bind("z", counting(1, 4, 0, 0));
    choice.n = 0;
    cr_assert(formula_value_of(&context, &set, formula, slots, &(struct formula_options){.choice = &choice}, r));
    cr_assert_float_eq(elements_read(&context, r[0], 1e6)->x[1], 2 * x->x[1], 1e-15,
                       "the others leave out what is there");
    cr_assert_not(formula_choice_next(&choice));
}

Test(lowering, attention_of_a_formula_is_causal_only_where_it_says_so) {
    const struct tensor *q = tensor_reshape(&context, counting(3, 2, 5, 4), &(struct shape){4, {1, 2, 5, 4}});
    const struct tensor *plain, *causal;
    read_formula("scaled_dot_product_attention(q, k, v, mask)");
    bind("q", q);
    bind("k", q);
    bind("v", q);
    plain = root();
    read_formula("scaled_dot_product_attention(q, k, v, mask, is_causal=true, scale=\"1 / sqrt(extent(q, -1))\")");
    bind("q", q);
    bind("k", q);
    bind("v", q);
    causal = root();
    cr_assert_float_eq(causal->x[0], q->x[0], 1e-15, "the first query sees the first key");
    cr_assert_gt(fabs(plain->x[0] - causal->x[0]), 1e-3);
    cr_assert_float_eq(causal->x[16], plain->x[16], 1e-15, "the last one sees all");
}

static void fails(const char *text, const char *reason) {
    read_formula(text);
    uint32_t x = formula_slot(formula, STR("x"));
    if (x != NONE)
        slots[x] = counting(2, 3, 4, 0);
    context.error = STR("");
    cr_assert_null(result(), "%s", text);
    cr_assert(str_find(context.error, str_of(reason)), "%s: %s", text, context.error.p);
}

Test(lowering, what_a_formula_leaves_open_has_a_reason) {
    fails("x + y", "add: y is absent");
    fails("exp(y)", "exp: y is absent");
    fails("x * (y * x | z)", "multiply: z is absent");
    fails("exp(y) | exp(z)", "no alternative of a formula has all it needs: z is absent");
    fails("x * (1 / (extent(x, -1) - 4))", "a formula divides by 0");
    fails("x / extent(-1)", "which value extent(-1) is of is not said, as extent(x, -1) does");
    fails("slice(x)", "which part a slice takes is not said");
    fails("slice(x, part=0, of=3)", "which part of 4 elements a slice takes is not said");
    fails("topk(x)", "absent");
    fails("reshape(x)", "what a reshape does is not said");
    fails("softsign(x, beta=2)", "softsign has no attribute beta");
    fails("sort(x, descnding=true)", "sort has no attribute descnding");
    fails("conv2d(x, x, x)", "conv2d of 3x4");
    fails("rms_norm(x, epsilom=1)", "the lowering of rms_norm has no parameter epsilom");
    fails("all_reduce(x)", "no evaluator for all_reduce");
    fails("batch_norm_inference(x, x, x, x, x, training=true)", "no evaluator for batch_norm that computes");
    fails("batch_norm_inference(x, x, x)", "lacks its mean or variance");
    fails("softmax(x, dim=2)", "no dimension 2 in a tensor of rank 2");
}

static void wrong(const char *yaml, const char *message) {
    char path[] = "/tmp/loweringXXXXXX.yml";
    int fd = mkstemps(path, 4);
    FILE *f = fdopen(fd, "w");
    fputs(yaml, f);
    fclose(f);
    diags.n = 0;
    cr_assert_not(patterns_load(&set, path, &diags), "%s", yaml);
    remove(path);
    cr_assert(strstr(diags.items[0].message, message), "%s", diags.items[0].message);
}

Test(lowering, a_wrong_lowering_is_an_error_with_its_place) {
    wrong("define: {a: b}\n", "`define` is a list");
    wrong("define:\n  - 'op mine(x): maximum(x, 0)'\n", "lacks the key source");
    wrong("define:\n  - 'op relu: maximum(x, 0)'\n", "'(' expected");
    wrong("define:\n  - 'op relu(): exp(x)'\n", "an op with its parameters expected");
    wrong("define:\n  - 'op relu(x): maximum(y, 0)'\n", "no parameter of the op: y");
    wrong("define:\n  - 'op relu(x): maximun(x, 0)'\n", "no operator or idiom is called");
    wrong("define:\n  - {is: 'op relu(x): maximum(x, 0)', source: s, as: t}\n", "unknown key: as");
    wrong("define:\n  - {is: 'relu(x): maximum(x, 0)', source: s}\n", "lacks the key says");
    wrong("define:\n  - {is: \"op pair(x):\\nout = x * 2\\nalso other = x * 3\", source: s}\n",
          "only ops of a dialect have further results");
}

Test(lowering, a_later_lowering_replaces_an_earlier_one_and_one_by_itself_ends) {
    char path[] = "/tmp/loweringXXXXXX.yml";
    FILE *f = fdopen(mkstemps(path, 4), "w");
    fputs("define:\n  - 'op relu(x): sigmoid(x) * 2'\n  - 'op sigmoid(x): relu(x) * 2'\n", f);
    fclose(f);
    cr_assert(patterns_load(&set, path, &diags), "%s", diags.n ? diags.items[0].message : "");
    remove(path);
    fails("op relu(x)", "is lowered to itself");
}
