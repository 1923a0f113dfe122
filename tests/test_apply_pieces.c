/* Pieces of `apply`: changes of a text, numbers and ops as text, movement between layouts, shapes of
 * fused ops. */
#include <criterion/criterion.h>
#include <math.h>

#include "compile/apply/rearrange.h"
#include "compile/apply/text_edit.h"
#include "ir/ops/infer.h"

static struct arena arena;

#define expect_text(got, want) cr_expect(str_is(got, want), "%.*s", (int)(got).n, (got).p)

/* ---- texts ---- */

Test(apply_pieces, edits_leave_all_other_bytes) {
    struct str text = STR("one\n  two\r\nthree");
    struct text_edits e = {0};
    text_edits_add(&e, (struct span){11, 16}, STR("3"));
    text_edits_add(&e, (struct span){0, 0}, STR("zero "));
    text_edits_add(&e, whole_lines(text, (struct span){6, 9}), STR(""));
    struct str out = text_edited(text, &e, &arena);
    expect_text(out, "zero one\n3");
    text_edits_free(&e);
}

Test(apply_pieces, a_line_with_something_else_on_it_stays) {
    struct str text = STR("a b\nc\n");
    struct span whole = whole_lines(text, (struct span){4, 5}), part = whole_lines(text, (struct span){2, 3});
    cr_expect_eq(whole.begin, 4);
    cr_expect_eq(whole.end, 6);
    cr_expect_eq(part.begin, 2);
    cr_expect_eq(part.end, 3);
}

/* ---- ops ---- */

Test(apply_pieces, a_number_is_the_shortest_text_of_its_f32) {
    expect_text(float_property(&arena, 1e-5), "1.0e-05");
    expect_text(float_property(&arena, 0.125), "1.25e-01");
    expect_text(float_property(&arena, -INFINITY), "0xFF800000");
    cr_expect_eq(strtof(float_property(&arena, 1 / 3.0).p, NULL), (float)(1 / 3.0));
}

struct written_form {
    struct eval_context eval;
    struct emitter emitter;
    uint32_t next;
};

static void begin(struct written_form *f) {
    *f = (struct written_form){.eval = {.arena = &arena}};
    f->emitter = (struct emitter){.eval = &f->eval, .prefix = STR("%n"), .next = &f->next};
}

static struct written value(struct str type, const struct shape *s) {
    return (struct written){
        .name = STR("%x"), .type = type, .stored = *s, .shape = *s, .factor = 1, .element = DT_BF16};
}

Test(apply_pieces, movement_waits_until_an_op_wants_the_value) {
    struct written_form f;
    begin(&f);
    struct shape s = {2, {4, 8}}, flat = {1, {32}};
    struct written v = value(STR("tensor<4x8xbf16>"), &s);
    v = emit_reshape(&f.emitter, emit_reshape(&f.emitter, v, &flat), &s);
    cr_expect_eq(f.emitter.nlines, 0);
    v.swapped = true;
    v.factor = 2;
    v = emit_plain(&f.emitter, v, DT_BF16);
    cr_expect_eq(f.emitter.nlines, 3);
    expect_text(f.emitter.lines[0]->spelling, "ttir.permute");
    expect_text(f.emitter.lines[2]->spelling, "ttir.multiply");
    expect_text(v.type, "tensor<8x4xbf16>");
}

Test(apply_pieces, layouts_are_joined_by_permute_and_broadcast) {
    struct written_form f;
    begin(&f);
    struct shape from_shape = {3, {2, 3, 4}}, to_shape = {4, {4, 5, 2, 3}};
    struct digits from = {{{0, 12, 2}, {0, 4, 3}, {0, 1, 4}}, 3},
                  to = {{{0, 1, 4}, {1, 1, 5}, {0, 12, 2}, {0, 4, 3}}, 4};
    struct written v = value(STR("tensor<2x3x4xbf16>"), &from_shape);
    v = emit_plain(&f.emitter, rearrange(&f.emitter, v, &from, &to, &to_shape), DT_BF16);
    expect_text(v.type, "tensor<4x5x2x3xbf16>");
    unsigned permutes = 0, broadcasts = 0;
    for (uint32_t i = 0; i < f.emitter.nlines; i++) {
        permutes += f.emitter.lines[i]->kind == K_PERMUTE;
        broadcasts += f.emitter.lines[i]->kind == K_BROADCAST;
    }
    cr_expect_eq(permutes, 1);
    cr_expect_eq(broadcasts, 1);
    begin(&f);
    v = value(STR("tensor<2x3x4xbf16>"), &from_shape);
    rearrange(&f.emitter, v, &from, &from, &from_shape);
    cr_expect_eq(f.emitter.nlines, 0);
}

/* ---- shapes ---- */

static uint32_t inferred(enum op_kind k, struct attr *at, uint32_t n, const struct shape *x, struct shape *out) {
    return infer_results(k, &(struct attrs){.at = at, .n = n}, &x, 1, out);
}

static struct attr whole(const char *key, int64_t x) {
    return (struct attr){
        .key = str_of(key), .whole = x, .number = (double)x, .is_whole = true, .is_number = true, .n = -1};
}

Test(apply_pieces, results_of_fused_ops_have_their_shapes) {
    struct shape out[MOST_INFERRED], heads = {4, {2, 8, 32, 64}}, rows = {3, {2, 32, 768}};
    cr_expect_eq(inferred(K_CONCATENATE_HEADS, NULL, 0, &heads, out), 1);
    cr_expect(shape_eq(&out[0], &(struct shape){3, {2, 32, 512}}));
    cr_expect_eq(inferred(K_CONCATENATE_HEADS, NULL, 0, &rows, out), 0);
    struct attr groups[] = {whole("num_heads", 8), whole("num_kv_heads", 2)};
    cr_expect_eq(inferred(K_SPLIT_QUERY_KEY_VALUE_AND_SPLIT_HEADS, groups, 2, &rows, out), 3);
    cr_expect(shape_eq(&out[0], &(struct shape){4, {2, 8, 32, 64}}));
    cr_expect(shape_eq(&out[1], &(struct shape){4, {2, 2, 32, 64}}));
    cr_expect_eq(inferred(K_SPLIT_QUERY_KEY_VALUE_AND_SPLIT_HEADS, groups, 1, &(struct shape){3, {2, 32, 1537}}, out),
                 0);
    const struct shape *two[] = {&(struct shape){3, {2, 32, 512}}, &(struct shape){3, {2, 77, 256}}};
    struct attrs a = {.at = groups, .n = 2};
    cr_expect_eq(infer_results(K_SPLIT_QUERY_KEY_VALUE_AND_SPLIT_HEADS, &a, two, 2, out), 3);
    cr_expect(shape_eq(&out[0], &(struct shape){4, {2, 8, 32, 64}}));
    cr_expect(shape_eq(&out[2], &(struct shape){4, {2, 2, 77, 64}}));
    two[1] = &(struct shape){3, {2, 77, 320}};
    cr_expect_eq(infer_results(K_SPLIT_QUERY_KEY_VALUE_AND_SPLIT_HEADS, &a, two, 2, out), 0);
    struct attr some[] = {whole("dim", -1), whole("k", 8)};
    cr_expect_eq(inferred(K_TOPK, some, 2, &rows, out), 2);
    cr_expect(shape_eq(&out[1], &(struct shape){3, {2, 32, 8}}));
    struct attr beyond[] = {whole("dim", 3), whole("repeats", 4)}, within[] = {whole("dim", 1), whole("repeats", 4)};
    cr_expect_eq(inferred(K_REPEAT_INTERLEAVE, beyond, 2, &rows, out), 0);
    cr_expect_eq(inferred(K_REPEAT_INTERLEAVE, within, 2, &rows, out), 1);
    cr_expect(shape_eq(&out[0], &(struct shape){3, {2, 128, 768}}));
    cr_expect_eq(inferred(K_SOFTMAX, NULL, 0, &rows, out), 0);
}
