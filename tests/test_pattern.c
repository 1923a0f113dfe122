/* The promises of the formula language and of the loader: what a text means, and where exactly it is wrong. */
#include "patterns/lang/condition.h"
#include "patterns/lang/net.h"
#include "patterns/lang/printer.h"
#include "patterns/library/lowering.h"
#include "search/match/evaluate.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct arena arena;
static struct diags diags;
static struct pattern_set set;
static char dir[64];
static const struct text_file formula_file = {"f.yml"}, idiom_file = {"idioms"}, condition_file = {"c.yml"};

static void setup(void) {
    arena = (struct arena){0};
    diags = (struct diags){.arena = &arena};
    memset(&set, 0, sizeof set);
    cr_assert(patterns_load(&set, arena_printf(&arena, "%s/conditions.yml", getenv("FA_PATTERNS")).p, &diags));
    strcpy(dir, "/tmp/fa-pattern-XXXXXX");
    cr_assert_not_null(mkdtemp(dir));
}

static void teardown(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", dir);
    cr_assert_eq(system(command), 0);
    patterns_free(&set);
    diags_free(&diags);
    arena_free(&arena);
}

TestSuite(pattern, .init = setup, .fini = teardown);

/* ---- trees ---- */

static void show(struct buf *b, const struct formula *f, const struct node *n);

static void show_number(struct buf *b, const struct formula *f, const struct number *n) {
    static const char *const signs[] = {[NUM_ADD] = "+", [NUM_SUB] = "-", [NUM_MUL] = "*", [NUM_DIV] = "/"};
    switch (n->op) {
    case NUM_VALUE:
        buf_printf(b, "%g", n->value);
        return;
    case NUM_EXTENT:
        buf_printf(b, "extent(%.*s%s%d)", n->slot == NONE ? 0 : (int)f->slots[n->slot].name.n,
                   n->slot == NONE ? "" : f->slots[n->slot].name.p, n->slot == NONE ? "" : ", ", n->axis);
        return;
    case NUM_NEG:
    case NUM_FUNCTION:
        buf_printf(b, "%s%s", n->op == NUM_NEG ? "-" : op_table[n->call].name, n->op == NUM_NEG ? "" : " ");
        show_number(b, f, n->a);
        return;
    default:
        buf_addc(b, '(');
        show_number(b, f, n->a);
        buf_printf(b, " %s ", signs[n->op]);
        show_number(b, f, n->b);
        buf_addc(b, ')');
    }
}

static void show_list(struct buf *b, const struct formula *f, const struct node *n, const char *between) {
    for (uint32_t i = 0; i < n->nargs; i++) {
        buf_printf(b, "%s", i ? between : "");
        show(b, f, n->args[i]);
    }
}

static void show_op(struct buf *b, const struct formula *f, const struct node *n) {
    buf_printf(b, "%s(", op_table[n->op].name);
    show_list(b, f, n, ", ");
    buf_add(b, n->dim.n ? STR(", dim=") : STR(""));
    axis_spec_print(&n->dim, b);
    for (uint32_t i = 0; i < n->nattrs; i++)
        buf_printf(b, ", %s=%.*s", n->attrs[i].key, (int)n->attrs[i].value.n, n->attrs[i].value.p);
    buf_addc(b, ')');
}

/* Prints a formula: operators by name, alternatives in braces, the definition of a name behind it. */
static void show(struct buf *b, const struct formula *f, const struct node *n) {
    switch (n->kind) {
    case N_OP:
        show_op(b, f, n);
        return;
    case N_VARIABLE:
        buf_add(b, f->slots[n->slot].name);
        return;
    case N_NAMED:
        buf_add(b, f->slots[n->slot].name.n ? f->slots[n->slot].name : STR("_"));
        buf_addc(b, ':');
        show(b, f, n->args[0]);
        return;
    case N_NUMBER:
        show_number(b, f, n->number);
        return;
    case N_EITHER:
        buf_addc(b, '{');
        show_list(b, f, n, " | ");
        buf_addc(b, '}');
        return;
    case N_RESULT:
        buf_printf(b, "result(");
        show_list(b, f, n, ", ");
        buf_printf(b, ", %u)", n->result);
        return;
    case N_REARRANGED:
        buf_printf(b, "rearrange(");
        show_list(b, f, n, ", ");
        buf_printf(b, ", ");
        buf_add(b, n->order->text);
        buf_addc(b, ')');
        return;
    case N_FUNCTION:
    case N_TRANSPOSED:
    case N_OUTER:
        buf_printf(b, n->kind == N_OUTER ? "outer(" : "transposed(");
        show_list(b, f, n, ", ");
        buf_addc(b, ')');
    }
}

static struct idioms idioms;

static void means(const char *text, const char *want) {
    struct formula f;
    struct buf b = {0};
    struct text_origin origin = {&formula_file, 1, 1};
    cr_assert(formula_parse(&f, &arena, &idioms, str_of(text), origin, &diags), "%s: %s", text,
              diags.n ? diags.items[diags.n - 1].message : "");
    show(&b, &f, f.root);
    buf_addc(&b, '\0');
    cr_assert_str_eq(b.p, want, "%s", text);
    buf_free(&b);
}

static void idiom(const char *text) {
    struct text_origin origin = {&idiom_file, 10, 5};
    struct idiom idiom;
    cr_assert(definition_read(&idiom, &arena, str_of(text), origin, &diags) &&
              idiom_add(&idioms, &arena, idiom, &diags));
}

Test(pattern, products_bind_closer_than_sums_and_sums_than_alternatives) {
    means("out = a + b * c", "out:add(a, multiply(b, c))");
    means("out = a * b + c", "out:add(multiply(a, b), c)");
    means("out = (a + b) * c", "out:multiply(add(a, b), c)");
    means("out = a - b - c", "out:subtract(subtract(a, b), c)");
    means("out = a / b * c", "out:multiply(divide(a, b), c)");
    means("out = a + b | a * b", "out:{add(a, b) | multiply(a, b)}");
    means("out = a * (b | c + d)", "out:multiply(a, {b | add(c, d)})");
    means("out = a + b == c * d", "out:eq(add(a, b), multiply(c, d))");
    means("out = -a * b", "out:multiply(neg(a), b)");
    means("out = -exp(a)", "out:neg(exp(a))");
    means("out = a < b | a >= b", "out:{lt(a, b) | ge(a, b)}");
    means("out = a @ b * c", "out:multiply(matmul(a, b), c)");
    means("out = a * b ** 3", "out:multiply(a, pow(b, 3))");
    means("out = -a ** b ** c", "out:neg(pow(a, pow(b, c)))");
    means("out = a ** -0.5", "out:pow(a, -0.5)");
}

Test(pattern, some_powers_are_idioms) {
    idiom("square(x): x * x | op square(x)");
    means("out = a ** 2", "out:{multiply(a, a) | square(a)}");
    means("out = a ** 3", "out:pow(a, 3)");
}

Test(pattern, parts_and_orders_as_in_python) {
    means("out = a[..., 2:8]", "out:slice(a, dim=-1, begin=2, end=8)");
    means("out = exp(a)[..., :n, :] + b", "out:add(slice(exp(a), dim=-2, end=n), b)");
    means("out = a[..., :extent(b, -1) / 2, :] * b", "out:multiply(slice(a, dim=-2, end=extent(b, -1) / 2), b)");
    means("out = a[..., 1::2]", "out:slice(a, dim=-1, begin=1, step=2)");
    means("out = a[..., 1:, :2]", "out:slice(slice(a, dim=-2, begin=1), dim=-1, end=2)");
    means("out = exp(a) [+ b[..., :2]]", "out:{add(exp(a), slice(b, dim=-1, end=2)) | exp(a)}");
    means("out = rearrange(x, \"b s (h d) -> b h s d\")", "out:rearrange(x, b s (h d) -> b h s d)");
}

Test(pattern, numbers_are_worked_out_and_operators_are_matched) {
    means("out = a * (1 / 2)", "out:multiply(a, (1 / 2))");
    means("out = 1 / a", "out:divide(1, a)");
    means("out = a * sqrt(2)", "out:multiply(a, sqrt 2)");
    means("out = sqrt(a)", "out:sqrt(a)");
    means("out = a == -inf", "out:eq(a, -inf)");
    means("n = extent(a, -1)\nout = a / (n - 1) * log(n) / log(2)",
          "out:divide(multiply(divide(a, (extent(a, -1) - 1)), log extent(a, -1)), log 2)");
    means("out = a / sqrt(extent(a, -1))", "out:divide(a, sqrt extent(a, -1))");
    means("out = a * (1 / extent(-1))", "out:multiply(a, (1 / extent(-1)))");
}

Test(pattern, optional_parts_come_first_with_and_then_without) {
    means("out = exp(a) [* w]", "out:{multiply(exp(a), w) | exp(a)}");
    means("out = exp(a) [*|/ w]", "out:{multiply(exp(a), w) | divide(exp(a), w) | exp(a)}");
    means("out = exp(a) [* w] [+ b]", "out:{add({multiply(exp(a), w) | exp(a)}, b) | {multiply(exp(a), w) | exp(a)}}");
    means("out = exp(a) * b [+ c]", "out:{add(multiply(exp(a), b), c) | multiply(exp(a), b)}");
    means("out = exp(a) + b [* c]", "out:add(exp(a), {multiply(b, c) | b})");
}

Test(pattern, lines_give_names_and_a_name_is_one_value) {
    means("c = exp(a)\nout = c * c", "out:multiply(c:exp(a), c:exp(a))");
    means("out = c * a\nc = exp(a)\nroot = out + out",
          "root:add(out:multiply(c:exp(a), a), out:multiply(c:exp(a), a))");
    means("c = exp(a) # why\n\n  * b\nout = add(c,\na\n)\n- d", "out:subtract(add(c:multiply(exp(a), b), a), d)");
    means("also = exp(a)\nout = also * also", "out:multiply(also:exp(a), also:exp(a))");
}

Test(pattern, arguments_by_key) {
    means("out = sum(a, dim=-1)", "out:sum(a, dim=-1)");
    means("out = sum(a, dim=0)", "out:sum(a, dim=0)");
    means("out = sum(a, dim=[-2, -1], keepdim)", "out:sum(a, dim=[-2, -1])");
    means("out = matmul(a, b, activation=absent, transpose_a=false, k=2, s=\"x y\")",
          "out:matmul(a, b, activation=absent, transpose_a=false, k=2, s=x y)");
    means("out = transposed(matmul(a, b))", "out:transposed(matmul(a, b))");
    means("out = outer(p, v)", "out:outer(p, v)");
    means("out = op exp(a)", "out:exp(a)");
    means("out = layer_norm(a)", "out:layer_norm(a)");
    means("out = layer_norm(a, w, b)", "out:layer_norm(a, w, b)");
    means("out = pow(a, 2)", "out:pow(a, 2)");
}

Test(pattern, idioms_are_put_in_with_their_arguments) {
    idiom("square(x): x * x | op square(x)");
    idiom("norm2(x, dim):\ns = sum(square(x), dim=dim)\nsqrt(s)");
    means("out = square(a)", "out:{multiply(a, a) | square(a)}");
    means("out = square(exp(a))", "out:{multiply(_:exp(a), _:exp(a)) | square(_:exp(a))}");
    means("out = norm2(a, dim=-2)", "out:sqrt(_:sum({multiply(a, a) | square(a)}, dim=-2))");
    means("out = norm2(x=a, dim=-2)", "out:sqrt(_:sum({multiply(a, a) | square(a)}, dim=-2))");
    means("out = norm2(a)", "out:sqrt(_:sum({multiply(a, a) | square(a)}))");
    means("out = op square(a)", "out:square(a)");
    idiom("square(x): exp(x)");
    means("out = square(a)", "out:exp(a)");
}

/* More than there are buckets for. */
Test(pattern, an_operator_with_attributes_is_printed_as_a_call) {
    static const char *const parts[] = {"abs(x / y)", "abs(divide(x, y, rounding_mode=floor))"};
    for (int i = 0; i < 2; i++) {
        struct formula f;
        struct buf out = {0};
        cr_assert(formula_parse(&f, &arena, &idioms, arena_printf(&arena, "out = %s", parts[i]),
                                (struct text_origin){&formula_file, 1, 1}, &diags));
        formula_print_part(&f, f.root->args[0], 100, &out);
        cr_expect(str_is(buf_str(&out), parts[i]), "%.*s", (int)out.n, out.p);
        buf_free(&out);
    }
}

/* What idioms name is unfolded where it is used: all of it would be 2^20 signs. */
Test(pattern, a_part_is_printed_as_far_as_it_is_wanted) {
    struct formula f;
    struct buf out = {0};
    struct str text = STR("x");
    idiom("twice(x): exp(x) + x");
    for (int i = 0; i < 20; i++)
        text = arena_printf(&arena, "twice(%.*s)", (int)text.n, text.p);
    text = arena_printf(&arena, "out = %.*s", (int)text.n, text.p);
    cr_assert(formula_parse(&f, &arena, &idioms, text, (struct text_origin){&formula_file, 1, 1}, &diags));
    formula_print_part(&f, f.root->args[0], 100, &out);
    cr_assert(out.n > 100 && out.n < 1000, "%zu", out.n);
    cr_assert(str_starts(buf_str(&out), STR("exp(exp(exp(")));
    buf_free(&out);
}

/* Names inside an idiom are its own. */
Test(pattern, an_idiom_knows_nothing_of_the_formula_around_it) {
    struct formula f;
    idiom("double(x):\na = exp(x)\na + a");
    means("out = double(a) * a", "out:multiply(add(_:exp(a), _:exp(a)), a)");
    cr_assert(formula_parse(&f, &arena, &idioms, STR("out = double(a) * a"), (struct text_origin){&formula_file, 1, 1},
                            &diags));
    cr_assert_neq(formula_slot(&f, STR("a")), NONE);
    cr_assert_eq(formula_slot(&f, STR("x")), NONE);
}

static bool counts(const struct node *n, void *count) {
    (*(uint32_t *)count)++;
    return n->kind == N_OP && n->op == K_TANH;
}

/* Each line is twice the one before. */
Test(pattern, what_a_name_stands_for_is_asked_once) {
    struct formula f;
    struct buf text = {0};
    uint32_t asked = 0;
    buf_printf(&text, "a0 = exp(x)\n");
    for (int i = 1; i <= 28; i++)
        buf_printf(&text, "a%d = a%d + a%d\n", i, i - 1, i - 1);
    buf_printf(&text, "out = abs(a28)\nalso k = neg(out)");
    cr_assert(formula_parse(&f, &arena, NULL, buf_str(&text), (struct text_origin){&formula_file, 1, 1}, &diags), "%s",
              diags.n ? diags.items[diags.n - 1].message : "");
    cr_assert_null(formula_find(&f, counts, &asked));
    cr_assert_eq(asked, 2 + 2 * 28 + 3 + 2, "%u", asked);
    buf_free(&text);
    cr_assert(formula_parse(&f, &arena, NULL, STR("a = tanh(x)\nout = exp(a) + tanh(y)"),
                            (struct text_origin){&formula_file, 1, 1}, &diags));
    cr_assert_eq(formula_find(&f, counts, &asked), f.slots[formula_slot(&f, STR("a"))].named->args[0]);
}

/* ---- wrong formulas ---- */

static const struct diag *last(void) {
    cr_assert_gt(diags.n, 0);
    return &diags.items[diags.n - 1];
}

/* `place` is "line:column"; `message` a part of the message, `hint` of the hint. */
static void is_last(const char *text, const char *place, const char *message, const char *hint) {
    char at[32];
    const struct diag *d = last();
    snprintf(at, sizeof at, "%d:%d", (int)d->line, (int)d->column);
    cr_assert_str_eq(at, place, "%s: %s at %s", text, d->message, at);
    cr_assert_not_null(strstr(d->message, message), "%s: '%s'", text, d->message);
    if (hint)
        cr_assert(d->hint && strstr(d->hint, hint), "%s: hint '%s'", text, d->hint ? d->hint : "none");
    cr_assert_eq(d->severity, SEV_ERROR);
}

static void wrong(const char *text, const char *place, const char *message, const char *hint) {
    struct formula f;
    uint32_t before = diags.n;
    struct text_origin origin = {&formula_file, 10, 3};
    cr_assert_not(formula_parse(&f, &arena, &idioms, str_of(text), origin, &diags), "%s", text);
    cr_assert_eq(diags.n, before + 1, "%s: one error, not %u", text, diags.n - before);
    is_last(text, place, message, hint);
    cr_assert_str_eq(last()->file, "f.yml");
}

Test(pattern, a_formula_without_bounds_is_refused) {
    struct buf b = {0};
    buf_add(&b, STR("out = "));
    for (int i = 0; i < 200; i++)
        buf_add(&b, STR("exp("));
    buf_addc(&b, 'a');
    for (int i = 0; i < 200; i++)
        buf_addc(&b, ')');
    buf_addc(&b, '\0');
    wrong(b.p, "10:265", "nested too deeply", NULL);
    b.n = 0;
    buf_add(&b, STR("out = exp(v0)"));
    for (int i = 1; i < 200; i++)
        buf_printf(&b, "\n  + v%d", i);
    buf_addc(&b, '\0');
    wrong(b.p, "106:7", "too many names", NULL);
    b.n = 0;
    for (int i = 0; i < 40; i++)
        buf_printf(&b, "l%d = exp(a)\n", i);
    buf_addc(&b, '\0');
    wrong(b.p, "42:3", "too many lines", NULL);
    wrong("out = exp(a) | neg(a) | abs(a) | sin(a) | cos(a) | relu(a) | silu(a) | gelu(a) | erf(a) | tanh(a) | sqrt(a) "
          "| rsqrt(a) | log(a) | sign(a) | ceil(a) | floor(a) | cbrt(a) | asin(a) | acos(a) | atan(a) | tan(a)",
          "10:204", "too many alternatives", "idiom");
    buf_free(&b);
}

Test(pattern, idioms_that_multiply_are_refused) {
    idiom("e0(x): exp(x) | neg(x)");
    for (int i = 1; i < 12; i++) {
        char text[64];
        snprintf(text, sizeof text, "e%d(x): e%d(x) * e%d(x) | e%d(x)", i, i - 1, i - 1, i - 1);
        idiom(arena_strdup(&arena, str_of(text)));
    }
    struct formula f;
    cr_assert_not(
        formula_parse(&f, &arena, &idioms, STR("out = e11(a)"), (struct text_origin){&formula_file, 1, 1}, &diags));
    cr_assert_not_null(strstr(last()->message, "too large"));
}

Test(pattern, an_idiom_inside_itself_is_an_error) {
    idiom("exp(x): exp(x) | expm1(x)");
    struct formula f;
    cr_assert_not(
        formula_parse(&f, &arena, &idioms, STR("out = exp(a)"), (struct text_origin){&formula_file, 1, 1}, &diags));
    cr_assert_not_null(strstr(last()->message, "defined by itself"));
    cr_assert_not_null(strstr(last()->hint, "op name"));
    cr_assert_str_eq(last()->file, "idioms", "the place is in the idiom, not in the formula");
    cr_assert_eq(last()->line, 10);
}

static void wrong_in_idiom(const char *text, const char *use, const char *place, const char *message) {
    struct formula f;
    idiom(text);
    cr_assert_not(formula_parse(&f, &arena, &idioms, str_of(use), (struct text_origin){&formula_file, 1, 1}, &diags));
    is_last(text, place, message, NULL);
    cr_assert_str_eq(last()->file, "idioms");
}

Test(pattern, errors_inside_idioms_have_their_place_in_the_idiom) {
    wrong_in_idiom("f(x):\n  y = exp(x)\n  y + foo(x)", "out = f(a)", "12:11", "foo");
    wrong_in_idiom("f(x):\n  x + z", "out = f(a)", "11:11", "unknown name");
    wrong_in_idiom("f(x, dim): sum(x, dim=dimension)", "out = f(a, dim=-1)", "10:27", "an axis is a whole number");
}

static void wrong_idiom(const char *text, const char *place, const char *message) {
    struct text_origin origin = {&idiom_file, 10, 5};
    struct idiom idiom;
    cr_assert_not(definition_read(&idiom, &arena, str_of(text), origin, &diags) &&
                  idiom_add(&idioms, &arena, idiom, &diags));
    is_last(text, place, message, NULL);
}

Test(pattern, wrong_heads_and_uses_of_idioms) {
    wrong_idiom("2(x): x", "10:5", "starts with its name");
    wrong_idiom("f x: x", "10:7", "'(' expected");
    wrong_idiom("f(x: x", "10:8", "')' expected");
    wrong_idiom("f(x) x", "10:10", "':' expected");
    wrong_idiom("f(a, b, c, d, e, g, h, i, j, k, l, m, n): a", "10:43", "')' expected");
    idiom("f(x, y, dim): sum(x * y, dim=dim)");
    wrong("out = f(a)", "10:9", "an argument is missing", "f(x, y, dim=-1)");
    wrong("out = f(a, b, c)", "10:17", "no such parameter", "f(x, y, dim=-1)");
    wrong("out = exp(a) [*|/|*|/|* b]", "10:24", "an expression expected before", NULL);
    wrong("out = exp(a) [+|( b]", "10:19", "a sign like the first one expected", NULL);
    wrong("out = exp(a) [+|* b]", "10:19", "a sign like the first one expected", NULL);
    wrong("out = f(a, z=b)", "10:16", "no such parameter", NULL);
}

/* ---- conditions ---- */

static bool condition(const char *text, struct str formula) {
    struct formula f;
    const struct number *n;
    struct text_origin origin = {&condition_file, 4, 7};
    cr_assert(formula_parse(&f, &arena, NULL, formula, origin, &diags));
    return condition_parse(&n, &f, &arena, str_of(text), origin, NULL, &diags);
}

Test(pattern, conditions_are_over_names_of_the_formula) {
    struct str f = STR("c = a * b\nout = c [+ d]");
    cr_assert(condition("present(d)", f));
    cr_assert(condition("extent(c, -1) == extent(b, -1)", f));
    cr_assert(condition("not(matrix(a)) | extent(a, 0) > 2", f));
    cr_assert(condition("value(a) <= -10000", f));
    cr_assert(condition("along_axis(a, c, -1)", f));
    cr_assert_not(condition("", f));
    is_last("", "4:7", "one condition expected", NULL);
}

Test(pattern, numbers_have_their_values) {
    static const struct {
        const char *text;
        double value;
    } want[] = {{"1 + 2 * 3", 7},
                {"(1 + 2) * 3", 9},
                {"7 % 4", 3},
                {"3-1", 2},
                {"3e-1 + 3E+1", 30.3},
                {"sqrt(16) / 2", 2},
                {"-3 - -5", 2},
                {"2 < 3", 1},
                {"3 <= 3", 1},
                {"3 > 3", 0},
                {"3 >= 4", 0},
                {"3 == 3", 1},
                {"3 != 3", 0},
                {"not(2 < 1)", 1},
                {"2 < 1 | 1 < 2", 1},
                {"2 < 1 | 3 < 2", 0},
                /* a division by 0 is no number: nothing is above it */
                {"1 / 0 > 3", 0},
                {"1 / 0 == 1 / 0", 0},
                {"5 % 0 == 0", 0},
                {"1 < 2 | 1 / 0 > 3", 1},
                {"not(1 / 0 > 3)", 1},
                {"1 / 0 != 3", 1},
                {"0 / 4", 0}};
    struct formula f;
    struct text_origin origin = {&condition_file, 1, 1};
    cr_assert(formula_parse(&f, &arena, NULL, STR("out = exp(a)"), origin, &diags));
    struct evaluation e = {.formula = &f, .arena = &arena};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct number *n;
        cr_assert(condition_parse(&n, &f, &arena, str_of(want[i].text), origin, NULL, &diags), "%s", want[i].text);
        cr_assert_eq(evaluate(&e, n), want[i].value, "%s is %g", want[i].text, evaluate(&e, n));
    }
}

/* ---- the loader ---- */

static const char *path_of(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static const char *file(const char *name, const char *text) {
    const char *path = path_of(name);
    FILE *f = fopen(path, "wb");
    cr_assert_not_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

#define HEAD "name: p\nfused_op: ttnn.p\nsource: ttnn\n"

static void loads(const char *text) {
    cr_assert(patterns_load(&set, file("p.yml", text), &diags), "%s: %s", text, diags.n ? last()->message : "");
    cr_assert_eq(diags.n, 0);
}

static void refuses(const char *text, const char *place, const char *message) {
    uint32_t before = set.n;
    const char *path = file("wrong.yml", text);
    cr_assert_not(patterns_load(&set, path, &diags), "%s", text);
    is_last(text, place, message, NULL);
    cr_assert_str_eq(last()->file, path);
    cr_assert_eq(set.n, before, "a wrong file adds nothing");
}

static const struct pattern *only(void) {
    cr_assert_eq(set.n, 1);
    return set.items[0];
}

Test(pattern, forms_are_read_with_the_pattern) {
    loads(HEAD "match: out = exp(x)\nfused: exp(x)\nholds: {x: abs(x)}\n---\nname: q\nlike: p\n");
    cr_assert(set.items[0]->fused->formula->root && set.items[0]->holds[0].form->formula->root);
    cr_assert_eq(set.items[0]->fused, set.items[1]->fused);
}

Test(pattern, a_pattern_file_with_all_keys) {
    loads("name: linear\nsummary: a product and a sum\nfused_op: ttnn.linear\nsource: torch\nmatch: |\n"
          "  product = matmul(a, b)\n  out = product + bias\nwhere:\n  - row_vector(bias, product)\n  - matrix(b)\n"
          "unless: one_location()\nnotes:\n  - always\n  - {when: present(bias), say: \"{bias}\"}\nlocate: [bias, b]\n"
          "torch: nn.Linear\nfused: linear(a, b, bias)\nstatus: {level: ttir}\ntests: []\n");
    const struct pattern *p = only();
    cr_assert(str_is(p->name, "linear"));
    cr_assert(str_is(p->summary, "a product and a sum"));
    cr_assert(str_is(p->fused_op, "ttnn.linear"));
    cr_assert(str_is(p->source, "torch"));
    cr_assert(p->ntorch == 1 && !p->torch[0].when && str_is(p->torch[0].say, "nn.Linear"));
    cr_assert_eq(p->nwhere, 2);
    cr_assert_eq(p->nunless, 1);
    cr_assert_eq(p->nnotes, 2);
    cr_assert_null(p->notes[0].when);
    cr_assert_not_null(p->notes[1].when);
    cr_assert_eq(p->nlocate, 2);
    cr_assert_eq(p->locate[0], formula_slot(&p->formula, STR("bias")));
    cr_assert(p->selected);
}

/* A call of a condition has room for four names (search/match/conditions.h). */
Test(pattern, no_condition_is_of_more_than_four_names) {
    for (uint32_t i = 0; i < CONDITIONS; i++)
        cr_expect(condition_table[i].arguments == ARGUMENTS_NUMBERS || condition_table[i].most <= 4, "%s",
                  condition_table[i].name);
}

Test(pattern, several_documents_are_several_patterns_and_the_last_of_a_name_counts) {
    loads("name: a\nfused_op: f\nsource: ttnn\nmatch: out = exp(x)\n---\n"
          "name: b\nfused_op: f\nsource: ttnn\nmatch: out = neg(x)\n");
    cr_assert_eq(set.n, 2);
    loads("name: a\nfused_op: g\nsource: cuda\nmatch: out = abs(x)\n");
    cr_assert_eq(set.n, 2);
    cr_assert(str_is(set.items[0]->name, "a"));
    cr_assert(str_is(set.items[0]->fused_op, "g"));
    cr_assert_eq(set.items[0]->order, 0);
}

Test(pattern, a_pattern_like_another_has_its_formula) {
    loads("name: a\nfused_op: f\nsource: ttnn\nmatch: out = exp(x)\nwhere: scalar(x)\nlocate: [x]\n"
          "outside: [{what: ties, say: t}]\nholds: {x: x * x}\n---\n"
          "name: b\nfused_op: g\nsource: torch\nlike: a\nrequire: constant(x)\n");
    cr_assert_eq(set.n, 2);
    cr_assert_eq(set.items[1]->formula.root, set.items[0]->formula.root);
    cr_assert_eq(set.items[1]->nwhere, 1);
    cr_assert_eq(set.items[1]->nlocate, 1);
    cr_assert_eq(set.items[1]->nrequire, 1);
    cr_assert_eq(set.items[1]->noutside, 1);
    cr_assert_eq(set.items[1]->nholds, 1);
    cr_assert_eq(set.items[0]->variant, set.items[1]);
}

Test(pattern, a_file_says_once_what_its_patterns_share) {
    loads("name: before\nfused_op: triton.f\nmatch: out = exp(x)\n---\n"
          "defaults: {source: cuda, decomposed: one_location(), notes: [plain, known]}\n"
          "rules: {known: {when: constant(x), say: a}, plain: b}\n---\n"
          "name: p\nfused_op: f\nmatch: out = exp(x)\n---\n"
          "name: q\nfused_op: f\nsource: torch\nmatch: out = abs(x)\nnotes: known\ndecomposed: []\n");
    const struct pattern *before = set.items[0], *p = set.items[1], *q = set.items[2];
    cr_assert_str_eq(before->source.p, "triton");
    cr_assert(before->nnotes == 0 && before->shared.n == 0);
    cr_assert(str_is(p->source, "cuda") && p->ndecomposed == 1 && p->nnotes == 2);
    cr_assert(str_is(p->notes[0].say, "b") && !p->notes[0].when);
    cr_assert(str_is(p->notes[1].say, "a") && p->notes[1].when);
    cr_assert(str_is(q->source, "torch") && q->ndecomposed == 0 && q->nnotes == 1 && q->notes[0].when);
    cr_assert(str_starts(q->shared, STR("defaults:")));
}

/* But for what is like a wrong one: nobody knows what would be wrong with that. */
Test(pattern, every_document_tells_its_first_mistake) {
    uint32_t before = diags.n;
    cr_assert_not(patterns_load(&set,
                                file("wrong.yml", HEAD "match: out = foo(x)\nwhen: x\n---\n"
                                                       "name: q\nlike: p\nfused_op: ttnn.q\nwhen: x\n---\n"
                                                       "name: r\nfused_op: ttnn.r\nmatch: out = bar(x)\n---\n"
                                                       "name: s\nfused_op: ttnn.s\nmatch: out = exp(x)\n---\n"
                                                       "name: t: u\n"),
                                &diags));
    cr_assert_eq(diags.n, before + 3);
    cr_expect_eq(diags.items[before].line, 5);
    cr_expect_eq(diags.items[before + 1].line, 14);
    cr_expect_eq(diags.items[before + 2].line, 20);
}

Test(pattern, a_wrong_file_adds_nothing) {
    refuses(HEAD "match: out = exp(x)\nwhen: x\n", "5:1", "unknown key: when");
}

/* Only names of formulas and conditions are series. */
Test(pattern, a_regular_expression_holds_no_series) {
    loads(HEAD "match: out = concat(w1.., dim=-1)\nwhere: has_op(\"max_pool2..*\") & not(same(w1.., out))\n");
    cr_assert_eq(set.items[0]->nwhere, 16);
    cr_assert_eq(set.items[0]->formula.root->args[0]->nargs, 16);
    cr_assert_str_eq(set.items[0]->where[0]->a->key, "max_pool2..*");
}

Test(pattern, a_fused_form_begins_as_a_formula_does) {
    static const char *const forms[] = {"# what it computes\nout = exp(x)", "also k = abs(x)\nout = exp(x)",
                                        "# what it computes\nexp(x)", "exp(x)"};
    struct text_origin origin = {&formula_file, 1, 1};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct formula f;
        cr_assert(form_parse(&f, &arena, NULL, NULL, str_of(forms[i]), origin, &diags), "%s", forms[i]);
        cr_assert_eq(f.root->args[0]->op, K_EXP);
    }
}

/* Optional parts share what they are added to: the formula grows with their number, and has a limit. */
Test(pattern, many_optional_parts) {
    struct formula f;
    struct text_origin origin = {&formula_file, 1, 1};
    struct buf text = {0};
    buf_printf(&text, "out = abs(x)");
    for (int i = 1; i <= 12; i++)
        buf_printf(&text, " [+ a%d]", i);
    cr_assert(formula_parse(&f, &arena, NULL, buf_str(&text), origin, &diags));
    for (int i = 13; i <= 30; i++)
        buf_printf(&text, " [+ a%d]", i);
    cr_assert_not(formula_parse(&f, &arena, NULL, buf_str(&text), origin, &diags));
    cr_assert(strstr(last()->message, "too large"));
    buf_free(&text);
}

Test(pattern, a_line_that_begins_with_a_sign_goes_on) {
    static const char *const signs[] = {"%", "<", "==", ">=", "!=", "|"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        struct formula f;
        struct str text = arena_printf(&arena, "out = abs(x)\n  %s exp(y)", signs[i]);
        cr_assert(formula_parse(&f, &arena, NULL, text, (struct text_origin){&formula_file, 1, 1}, &diags), "%s",
                  signs[i]);
    }
}

Test(pattern, a_file_or_directory_that_is_not_there) {
    cr_assert_not(patterns_load(&set, path_of("missing.yml"), &diags));
    cr_assert_not_null(strstr(last()->message, "No such file"));
    cr_assert_str_eq(last()->file, path_of("missing.yml"));
}

Test(pattern, directories_are_read_in_order_of_name_idioms_first) {
    file("b.yml", "name: b\nfused_op: f\nsource: ttnn\nmatch: out = twice(x)\n");
    file("a.yml", "name: a\nfused_op: f\nsource: ttnn\nmatch: out = twice(exp(x))\n");
    file("z.yml", "define:\n  - \"twice(x): x + x\"\n");
    file(".hidden.yml", "not: a pattern\n");
    file("README.md", "not a pattern\n");
    cr_assert(patterns_load(&set, dir, &diags), "%s", diags.n ? last()->message : "");
    cr_assert_eq(set.n, 2);
    cr_assert(str_is(set.items[0]->name, "a"));
    cr_assert(str_is(set.items[1]->name, "b"));
}

Test(pattern, rules_for_locations) {
    loads("locations:\n  - strip: '[.]weight$'\n  - match: 'layer[.](\\d+)'\n    say: 'layer $1'\n");
    cr_assert_eq(set.nlocations, 2);
    cr_assert(set.locations[0].strip);
    cr_assert_not(set.locations[1].strip);
    cr_assert(str_is(set.locations[1].say, "layer $1"));
}

static void three(void) {
    loads("name: linear\nfused_op: ttnn.linear\nsource: ttnn\nmatch: out = exp(x)\n---\n"
          "name: linear_gelu\nfused_op: ttnn.linear\nsource: ttnn\nmatch: out = neg(x)\n---\n"
          "name: norm\nfused_op: ttnn.layer_norm\nsource: ttnn\nmatch: out = abs(x)\n");
}

static void selected(const char *globs, const char *skip, bool a, bool b, bool c) {
    struct str bad;
    cr_assert(patterns_select(&set, globs, skip, &bad));
    cr_assert_eq(set.items[0]->selected, a, "%s / %s", globs, skip);
    cr_assert_eq(set.items[1]->selected, b, "%s / %s", globs, skip);
    cr_assert_eq(set.items[2]->selected, c, "%s / %s", globs, skip);
}

Test(pattern, globs_choose_by_name_and_by_fused_op) {
    three();
    selected(NULL, NULL, true, true, true);
    selected("linear", NULL, true, false, false);
    selected("linear*", NULL, true, true, false);
    selected("ttnn.linear", NULL, true, true, false);
    selected("norm, linear", NULL, true, false, true);
    selected(NULL, "*norm*", true, true, false);
    selected("linear*", "*gelu", true, false, false);
    selected("n?rm", NULL, false, false, true);
    struct str bad = {0};
    cr_assert_not(patterns_select(&set, "linear,typo*", NULL, &bad));
    cr_assert(str_is(bad, "typo*"));
    cr_assert_not(patterns_select(&set, NULL, "typo", &bad));
    cr_assert(str_is(bad, "typo"));
}
