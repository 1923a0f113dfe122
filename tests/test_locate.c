/* Model locations, which come from names of parameters and modules, and the lines of the notes. */
#include "pattern_text.h"
#include "report/finding.h"
#include "report/place/locate.h"
#include "report/place/notes.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(locate, .init = search_setup, .fini = search_teardown, .timeout = 30);

#define RULES                                                                                                          \
    "locations:\n  - strip: '[.](weight|bias)$'\n  - match: 'layers[.](\\d+)'\n    say: 'layer $1'\n"                  \
    "  - match: 'lm_head'\n    say: 'head of $1'\n---\n"
#define LINEAR                                                                                                         \
    "name: linear\nsummary: a product and a sum.\nfused_op: ttnn.linear\nsource: ttnn\n"                               \
    "match: |\n  p = matmul(a, b)\n  out = p + c\nlocate: [c, b]\ntorch: \"linear {extent(a, -1)} {extent(-1)}\"\n"

static const struct match *match(const char *args, const char *ops) {
    cr_assert_eq(search_all(args, ops), 1, "%u places in\n%s", list.n, ir.text);
    return &list.items[0];
}

static struct str place_of(const struct match *m, const struct match_detail *d) {
    struct flow *flow = flow_new(&ir.g);
    struct str_list names;
    struct str place = locate_match(&set, flow, m, d, &names, &arena);
    flow_free(flow);
    return place;
}

static void says(const char *args, const char *ops, const char *want) {
    const struct match *m = match(args, ops);
    struct match_detail d;
    match_details(m, &arena, &d);
    struct str place = place_of(m, &d);
    cr_assert(str_is(place, want), "'%.*s', not '%s'", (int)place.n, place.p ? place.p : "", want);
}

#define PLAIN "p = ttnn.matmul a b -> 2x3; o = ttnn.add p c -> 2x3; return o"

Test(locate, names_of_parameters_say_the_place) {
    pattern_file(RULES LINEAR);
    says("a:2x4 b:4x3!parameter!model.layers.7.mlp.up.weight c:3!parameter!model.layers.7.mlp.up.bias", PLAIN,
         "layer 7 (model.layers.7.mlp.up)");
    says("a:2x4 b:4x3!parameter!model.layers.7.mlp.up.weight c:3!parameter!model.layers.7.mlp.shift.bias", PLAIN,
         "layer 7 (model.layers.7.mlp: shift, up)");
    says("a:2x4 b:4x3!parameter!alpha.weight c:3!parameter!beta.bias", PLAIN, "beta, alpha");
    says("a:2x4 b:4x3 c:3!parameter!model.norm.bias", PLAIN, "model.norm");
}

Test(locate, where_no_name_says_anything_nothing_is_said) {
    pattern_file(RULES LINEAR);
    says("a:2x4 b:4x3 c:3", PLAIN, "");
    says("a:2x4 b:4x3!parameter c:3!parameter", PLAIN, "");
    says("a:2x4 b:4x3!input!tokens c:3!input!mask", PLAIN, "");
    says("a:2x4 b:4x3!parameter!.weight c:3", PLAIN, "");
}

/* A rule whose text refers to a group that its regular expression does not have. */
Test(locate, a_group_that_is_not_there_is_not_made_up) {
    pattern_file(RULES LINEAR);
    says("a:2x4 b:4x3!parameter!lm_head.weight c:3", PLAIN, "head of $1 (lm_head)");
    says("a:2x4 b:4x3!parameter!layers.12345.lm_head.weight c:3", PLAIN,
         "layer 12345, head of $1 (layers.12345.lm_head)");
}

Test(locate, parameters_are_seen_through_const_eval_and_movement) {
    pattern_file(RULES LINEAR);
    says(
        "a:2x4 b:4x3 c:3!parameter!model.layers.3.out.bias",
        "p = ttnn.matmul a b -> 2x3; t = ttnn.typecast c -> 3; r = ttnn.reshape t {shape = [1 : i32, 3 : i32]} -> 1x3\n"
        "o = ttnn.add p r -> 2x3; return o",
        "layer 3 (model.layers.3.out)");
    forget_ir();
    ir_read(
        &ir,
        "module {\nfunc.func @main(%a: tensor<2x4xf32>, %b: tensor<4x3xf32>, %w: tensor<3xf32> {ttcore.argument_type = "
        "#ttcore.argument_type<parameter>, ttir.name = \"layers.5.x.bias\"}, %v: tensor<3xf32> {ttcore.argument_type = "
        "#ttcore.argument_type<parameter>, ttir.name = \"layers.5.y.bias\"}) {\n"
        "  %c = ttcore.load_cached(@main_const_eval_0, [%w, %v]) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>\n"
        "  %p = \"ttnn.matmul\"(%a, %b) : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>\n"
        "  %o = \"ttnn.add\"(%p, %c) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>\n  return\n}\n"
        "func.func private @main_const_eval_0(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> attributes "
        "{tt.function_type = \"const_eval\"} {\n"
        "  %s = \"ttnn.add\"(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>\n  return %s : "
        "tensor<3xf32>\n}\n}\n");
    match_function(&set, &ir.g, ir_func(&ir, "main"), &arena, &list);
    cr_assert_eq(list.n, 1);
    struct match_detail d;
    match_details(&list.items[0], &arena, &d);
    struct str place = place_of(&list.items[0], &d);
    cr_assert(str_is(place, "layer 5 (layers.5: x, y)"), "%.*s", (int)place.n, place.p);
}

/* Nothing says whether it is a parameter: its name counts, unless it is an input. */
Test(locate, names_of_arguments_of_no_type) {
    static const char *const types[] = {"", "ttcore.argument_type = #ttcore.argument_type<input>, "};
    static const char *const places[] = {"layer 5 (layers.5.x.gain)", ""};
    pattern_file(RULES LINEAR);
    for (size_t i = 0; i < 2; i++) {
        struct match_detail d;
        forget_ir();
        ir_main(&ir,
                arena_printf(&arena,
                             "%%a: tensor<2x4xf32>, %%b: tensor<4x3xf32>, %%w: tensor<3xf32> {%sttir.name = "
                             "\"layers.5.x.gain\"}",
                             types[i])
                    .p,
                "%p = \"ttnn.matmul\"(%a, %b) : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>\n"
                "%o = \"ttnn.add\"(%p, %w) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>\nreturn\n");
        match_function(&set, &ir.g, ir_func(&ir, "main"), &arena, &list);
        cr_assert_eq(list.n, 1);
        match_details(&list.items[0], &arena, &d);
        struct str place = place_of(&list.items[0], &d);
        cr_assert(str_is(place, places[i]), "%.*s", (int)place.n, place.p);
    }
}

/* A value that is no parameter is located by the weights of the op that defines it. */
Test(locate, computed_values_are_located_by_the_nearest_weights) {
    pattern_file(RULES "name: p\nfused_op: f\nsource: ttnn\nmatch: out = exp(x) + y\nlocate: [x]\n");
    says("a:2x4!input w:4x3!parameter!layers.2.q.weight v:3x3!parameter!layers.1.k.weight y:2x3",
         "f = ttnn.matmul a w -> 2x3; m = ttnn.neg f -> 2x3; e = ttnn.exp m -> 2x3; o = ttnn.add e y -> 2x3; return o",
         "layer 2 (fed by layers.2.q)");
    says("a:2x4!input w:4x3!parameter!layers.2.q.weight v:3x3!parameter!layers.9.k.weight y:2x3",
         "f = ttnn.matmul a w -> 2x3; g = ttnn.matmul f v -> 2x3; e = ttnn.exp g -> 2x3; o = ttnn.add e y -> 2x3; "
         "return o",
         "layer 9 (fed by layers.9.k)");
    /* the parameter was visited before, as an operand of an op without weights */
    says("i:3x3!input w:3x3!parameter!layers.4.v.weight y:3x3",
         "g = ttnn.matmul i w -> 3x3; h = ttnn.add w g -> 3x3; e = ttnn.exp h -> 3x3\n"
         "o = ttnn.add e y -> 3x3; return o",
         "layer 4 (fed by layers.4.v)");
}

/* ---- notes ---- */

static const char *notes(const struct match *m, const struct segment *shown, bool unpaired) {
    struct flow *flow = flow_new(&ir.g);
    struct note_context c = {.set = &set, .flow = flow};
    struct match_detail detail;
    struct note_lines out = {0};
    cr_assert(match_details(m, &arena, &detail));
    struct claim claim = claim_of(&c, m, NULL, &detail, &arena);
    struct finding f = {.pattern = m->pattern,
                        .notes = notes_of(&c, m, &detail, shown, NULL, &claim, &arena),
                        .graph = 2,
                        .ngraphs = 3,
                        .unpaired = unpaired};
    f.place = f.notes.place;
    const char *text = arena_strdup(&arena, finding_notes(&f, &(struct notes_of_entry){.first = true}, &out));
    note_lines_free(&out);
    flow_free(flow);
    return text;
}

static struct segment all_of(const struct match *m) {
    uint32_t *ops = arena_alloc(&arena, m->nops * sizeof *ops);
    memcpy(ops, m->ops, m->nops * sizeof *ops);
    return (struct segment){&ir.m, ops, m->nops};
}

Test(locate, notes_hold_what_is_known_line_by_line) {
    pattern_file(RULES LINEAR);
    const struct match *m =
        match("a:2x4 b:4x3!parameter!layers.7.up.weight c:3",
              "p = ttnn.matmul a b -> 2x3 @mm_linear>mm.1; o = ttnn.add p c -> 2x3 @add.2; return o");
    struct segment s = all_of(m);
    cr_assert_str_eq(notes(m, &s, false),
                     "a product and a sum; collapses to ttnn.linear.\nmodel location: layer 7 (layers.7.up)\n"
                     "source torch ops: linear 4 3\nlocations: mm.1, add.2\n"
                     "graph: 2 of 3\n");
    cr_assert(str_is(ir_loc_of(m, &arena), "\"mm_linear\"(\"mm.1\"), \"add.2\""), "%s", ir_loc_of(m, &arena).p);
}

/* Of a part of the summary that hangs on names, only where one of them is bound. */
Test(locate, the_sentence_is_true_of_the_place) {
    pattern_file("name: p\nsummary: 'exp(x)[y|z: + y][z:, twice]'\nfused_op: ttnn.f\nsource: ttnn\n"
                 "match: |\n  e = exp(x)\n  out = log((e + y) * z) | log(e + y) | log(e)\n");
    static const struct {
        const char *code, *says;
    } cases[] = {
        {"e = ttnn.exp x -> 2; o = ttnn.log e -> 2; return o", "exp(x); collapses to ttnn.f.\n"},
        {"e = ttnn.exp x -> 2; s = ttnn.add e y -> 2; o = ttnn.log s -> 2; return o",
         "exp(x) + y; collapses to ttnn.f.\n"},
        {"e = ttnn.exp x -> 2; s = ttnn.add e y -> 2; t = ttnn.multiply s z -> 2; o = ttnn.log t -> 2; return o",
         "exp(x) + y, twice; collapses to ttnn.f.\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct match *m = match("x:2 y:2 z:2", cases[i].code);
        struct segment s = all_of(m);
        const char *text = notes(m, &s, false);
        cr_expect(str_starts(str_of(text), str_of(cases[i].says)), "%s", text);
    }
}

/* The innermost line of the model itself. */
Test(locate, lines_of_python) {
    static const struct {
        const char *locations[2], *says;
    } cases[] = {
        {{"\"436|A[a]|/x/site-packages/t/modeling_a.py:188|forward|200|aten__mm\"",
          "\"437|A[a]|/x/site-packages/t/modeling_a.py:188|forward|202|aten__add\""},
         "modeling_a.py:188 (forward), lines 200 to 202"},
        {{"\"1|/x/a.py:9|f|12|m\"", "\"2|/x/b.py:3|g|4|m\""}, "a.py:9 (f), line 12; b.py:3 (g), line 4"},
        {{"\"/x/a.py\":12:4", "\"/x/a.py\":14:4"}, "a.py:12 to 14"},
        {{"callsite(\"Dense.__call__\"(\"/y/dist-packages/flax/linear.py\":278:6) at "
          "\"M.__call__\"(\"/x/m.py\":29:12))",
          "unknown"},
         "m.py:29 (M.__call__)"},
        {{"\"1|/x/overrides.py:9|__torch_function__|22|m\"", "unknown"}, ""},
        {{"\"dot.3\"", "\"/x/model.mlir\":12:4"}, ""},
    };
    pattern_file("name: p\nfused_op: f\nsource: ttnn\nmatch: out = exp(x) + y\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "func.func @main(%%x: tensor<2xf32>, %%y: tensor<2xf32>) {\n"
                 "%%e = \"ttnn.exp\"(%%x) : (tensor<2xf32>) -> tensor<2xf32> loc(%s)\n"
                 "%%o = \"ttnn.add\"(%%e, %%y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc(%s)\n"
                 "return %%o : tensor<2xf32>\n}\n",
                 cases[i].locations[0], cases[i].locations[1]);
        list.n = 0;
        ir_read(&ir, text);
        match_function(&set, &ir.g, 0, &arena, &list);
        cr_assert_eq(list.n, 1, "%s", text);
        struct segment ops = matched_ops(&list.items[0], &arena);
        struct str said = source_of(&ops, &arena);
        cr_expect(str_is(said, cases[i].says), "%s: %.*s", cases[i].says, (int)said.n, said.p);
    }
}

Test(locate, notes_say_what_is_not_known) {
    pattern_file("name: p\nfused_op: f\nsource: ttnn\nmatch: out = exp(x) + y\n");
    const struct match *m =
        match("x:2 y:2", "e = ttnn.exp x -> 2; n = ttnn.neg y -> 2; ttnn.deallocate y; q = ttnn.abs n -> 2\n"
                         "o = ttnn.add e y -> 2; return o q");
    struct segment s = all_of(m);
    cr_assert_str_eq(notes(m, &s, true),
                     "model location: not stated in the input (no parameter name nearby)\n"
                     "source torch ops: not stated in the input\n"
                     "graph: 2 of 3\n"
                     "not contiguous: 2 other ops stand between these; reordering may be required.\n"
                     "TTIR: no pair established for these ops.\n");
    cr_assert_eq(ir_loc_of(m, &arena).n, 0);
}

Test(locate, notes_of_distant_ops) {
    enum { N = 200 };
    struct buf b = {0};
    pattern_file("name: p\nfused_op: f\nsource: ttnn\nmatch: out = exp(x) + y\n");
    buf_printf(&b, "func.func @main(%%x: tensor<2xf32>, %%y: tensor<2xf32>) {\n");
    for (int i = 0; i < N; i++)
        buf_printf(&b, "%%e%d = \"ttnn.exp\"(%%x) : (tensor<2xf32>) -> tensor<2xf32>\n", i);
    for (int i = 0; i < N; i++)
        buf_printf(&b, "%%o%d = \"ttnn.add\"(%%e%d, %%y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n", i, i);
    buf_printf(&b, "return\n}\n%c", '\0');
    ir_read(&ir, b.p);
    buf_free(&b);
    match_function(&set, &ir.g, 0, &arena, &list);
    cr_assert_eq(list.n, N);
    struct flow *flow = flow_new(&ir.g);
    struct note_context c = {.set = &set, .flow = flow};
    for (uint32_t i = 0; i < N; i++) {
        struct arena a = {0};
        uint32_t ops[2] = {list.items[i].ops[0], list.items[i].ops[1]};
        struct segment s = {&ir.m, ops, 2};
        struct match_detail detail;
        cr_assert(match_details(&list.items[i], &a, &detail));
        struct claim claim = claim_of(&c, &list.items[i], NULL, &detail, &a);
        cr_assert_eq(notes_of(&c, &list.items[i], &detail, &s, NULL, &claim, &a).between, 199);
        arena_free(&a);
    }
    flow_free(flow);
}
