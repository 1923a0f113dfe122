#include "compile/pass/writer.h"

#include <stdarg.h>

#include "compile/pass/cpp.h"
#include "ir/graph/movement.h"

struct str pass_word(const struct graph *g, uint32_t op) {
    struct str name = mlir_op_name(g->m, op);
    enum { LONG = 20 };
    str_part(&name, '.');
    while (name.n > LONG)
        str_part(&name, '_');
    return str_is(name, "dot_general") ? STR("dot") : str_is(name, "slice_static") ? STR("slice") : name;
}

struct str pass_class(struct pass_writer *w, const struct graph *g, uint32_t op) {
    return cpp_class(mlir_op_name(g->m, op), w->arena);
}

struct str pass_variable(struct pass_writer *w, struct str name, const char *end) {
    struct str base = cpp_camel(name, false, w->arena), full = {0};
    for (unsigned i = 1; i < MAX_NAMES && !full.n; i++) {
        full = i == 1 ? arena_printf(w->arena, "%.*s%s", (int)base.n, base.p, end)
                      : arena_printf(w->arena, "%.*s%s%u", (int)base.n, base.p, end, i);
        for (uint32_t k = 0; k < w->nnames && full.n; k++)
            full = str_eq(w->names[k], full) ? STR("") : full;
    }
    if (w->nnames < MAX_NAMES)
        w->names[w->nnames++] = full;
    return full;
}

/* The name that the formula has for a value, or for what movement made of it; empty: none. */
struct str pass_formula_name(const struct pass_writer *w, uint32_t value, bool moved) {
    const struct formula *f = &w->match->pattern->formula;
    for (uint32_t i = 0; i < w->detail.nslots; i++) {
        uint32_t v = w->detail.slots[i].value;
        bool same = (v == value && (moved || w->detail.slots[i].op == place_def(&w->place, value))) ||
                    (moved && v != NONE && movement_source(w->place.g, v) == movement_source(w->place.g, value));
        if (same && f->slots[i].name.n && !str_is(f->slots[i].name, "out"))
            return f->slots[i].name;
    }
    return STR("");
}

void pass_condition(struct buf *to, const char *fmt, ...) {
    va_list args;
    buf_add(to, to->n ? STR(" || ") : STR(""));
    va_start(args, fmt);
    buf_vprintf(to, fmt, args);
    va_end(args);
}

struct str pass_anchor(const struct pass_writer *w) {
    return w->expr[w->place.g->m->ops[w->place.roots[0]].first_result];
}

void pass_refuse(struct pass_writer *w, struct buf *conditions, const char *fmt, ...) {
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    struct str all = buf_take(conditions, w->arena);
    if (!all.n)
        return;
    cpp_put(&w->guards, INDENT, "if (%s) {", all.p);
    cpp_put(&w->guards, INDENT + 2, "return rewriter.notifyMatchFailure(%s, \"%s\");", pass_anchor(w).p, text);
    cpp_put(&w->guards, INDENT, "}");
    buf_addc(&w->guards, '\n');
}

void pass_shape_matters(struct pass_writer *w, uint32_t value) {
    for (uint32_t i = 0; i < w->nshapes; i++)
        if (w->shapes[i] == value)
            return;
    if (w->nshapes < MAX_NAMES)
        w->shapes[w->nshapes++] = value;
}
