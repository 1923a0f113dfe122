#include "compile/pass/writer.h"

#include "compile/pass/cpp.h"

struct str pass_word(const struct graph *g, uint32_t op) {
    struct str name = mlir_op_name(g->m, op);
    str_part(&name, '.');
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
