#include "ir_text.h"

#include "patterns/library/shorthand.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ir_read_bad(struct ir *ir, const char *text) {
    memset(ir, 0, sizeof *ir);
    ir->text = strdup(text);
    struct str s = str_of(ir->text);
    ir->diags.arena = &ir->arena;
    ir->source = (struct source){.path = "test", .data = s.p, .size = s.n};
    ir->block = (struct log_block){.text = s};
    mlir_parse(&ir->m, &ir->source, &ir->block, &ir->diags);
    graph_build(&ir->g, &ir->m, &ir->diags);
}

void ir_read(struct ir *ir, const char *text) {
    ir_read_bad(ir, text);
    cr_assert_eq(ir->diags.n, 0, "line %d: %s in\n%s", ir->diags.n ? (int)ir->diags.items[0].line : 0,
                 ir->diags.n ? ir->diags.items[0].message : "", text);
    cr_assert_eq(ir->m.bad_ops, 0, "%s", text);
    cr_assert_eq(ir->m.undefined_values, 0, "undefined value in\n%s", text);
}

void ir_main(struct ir *ir, const char *args, const char *body) {
    struct buf b = {0};
    buf_printf(&b, "func.func @main(%s) {\n%s\n}\n%c", args, body, '\0');
    ir_read(ir, b.p);
    buf_free(&b);
}

void ir_short(struct ir *ir, const char *args, const char *ops) {
    struct arena a = {0};
    struct shorthand_error error = {0};
    struct str all = arena_printf(&a, "func main %s\n%s", args, ops), text;
    bool good = shorthand_expand(all, "ttir", "f32", &a, &text, &error);
    cr_assert(good, "%.*s in\n%s", (int)error.message.n, error.message.p ? error.message.p : "", all.p);
    ir_read(ir, text.p);
    arena_free(&a);
}

void ir_free(struct ir *ir) {
    graph_free(&ir->g);
    mlir_free(&ir->m);
    diags_free(&ir->diags);
    arena_free(&ir->arena);
    free(ir->text);
}

uint32_t ir_value(const struct ir *ir, const char *name) {
    struct str n = str_of(name);
    uint32_t result = 0;
    const char *hash = strchr(name, '#');
    if (hash) {
        n.n = (size_t)(hash - name);
        result = (uint32_t)atoi(hash + 1);
    }
    for (uint32_t v = 0; v < ir->m.nvalues; v++)
        if (str_eq(mlir_span(&ir->m, ir->m.values[v].name), n) && (!hash || ir->m.values[v].index == result))
            return v;
    cr_assert_fail("no value %s in\n%s", name, ir->text);
    return NONE;
}

uint32_t ir_op(const struct ir *ir, const char *result) {
    uint32_t op = ir->m.values[ir_value(ir, result)].def;
    cr_assert_neq(op, NONE, "%s is no result", result);
    return op;
}

uint32_t ir_op_named(const struct ir *ir, const char *name, uint32_t n) {
    for (uint32_t op = 0; op < ir->m.nops; op++)
        if (str_is(mlir_op_name(&ir->m, op), name) && n-- == 0)
            return op;
    cr_assert_fail("no op %s in\n%s", name, ir->text);
    return NONE;
}

uint32_t ir_func(const struct ir *ir, const char *name) {
    for (uint32_t f = 0; f < ir->m.nfuncs; f++)
        if (str_is(ir->m.names[ir->m.funcs[f].name], name))
            return f;
    cr_assert_fail("no function %s in\n%s", name, ir->text);
    return NONE;
}

enum op_kind ir_kind(const struct ir *ir, const char *result) {
    return (enum op_kind)ir->g.kind[ir_op(ir, result)];
}
