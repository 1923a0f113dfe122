/* Text of patterns with {…} in it, filled in for a match, and how values are called in it. */
#include "lang/template.h"
#include "match/matcher.h"

#include <string.h>

struct str value_label(const struct graph *g, uint32_t value, struct arena *a) {
    struct str name = mlir_span(g->m, g->m->values[value].name), model = graph_argument_name(g, value);
    if (!model.n)
        return arena_str(a, name);
    return arena_printf(a, "%.*s (%.*s)", (int)name.n, name.p, (int)model.n, model.p);
}

struct str precondition_label(const struct evaluation *e, uint32_t argument) {
    return e->brief ? mlir_span(e->graph->m, e->graph->m->values[argument].name)
                    : value_label(e->graph, argument, e->arena);
}

static void say_type(const struct graph *g, uint32_t value, struct buf *out) {
    uint32_t rank;
    const int64_t *shape = value == NONE ? NULL : graph_shape(g, value, &rank);
    for (uint32_t d = 0; shape && d < rank; d++)
        buf_printf(out, "%lldx", (long long)shape[d]);
    buf_add(out, value == NONE ? STR("none") : str_of(dtype_name(graph_dtype(g, value))));
}

/* What is a word. */
static void say_word(const struct evaluation *e, struct str inner, struct buf *out) {
    const struct mlir *m = e->graph->m;
    if (!str_is(inner, "found")) {
        say_type(e->graph, e->bindings[template_typed_slot(e->formula, inner)].value, out);
        return;
    }
    if (!e->found || *e->found == NONE) {
        buf_add(out, STR("another op"));
        return;
    }
    const struct mlir_op *op = &m->ops[*e->found];
    struct str name = mlir_op_name(m, *e->found);
    struct str label = op->nresults ? value_label(e->graph, op->first_result, e->arena) : STR("");
    buf_printf(out, "%.*s%s%.*s", (int)label.n, label.p, label.n ? " (" : "", (int)name.n, name.p);
    buf_printf(out, " at line %llu%s", (unsigned long long)mlir_place(m, op->text.begin).line, label.n ? ")" : "");
}

/* The number that {…} stands for; NULL when it is none. */
static const struct number *template_number(const struct evaluation *e, struct str inner) {
    const struct number *n = NULL;
    struct text_origin nowhere = {"", 0, 0};
    struct templates *t = e->templates;
    size_t at = t ? (uintptr_t)inner.p % (sizeof t->slots / sizeof *t->slots) : 0;
    if (t && t->slots[at].text == inner.p)
        return t->slots[at].number;
    struct diags quiet = {.arena = t ? t->arena : e->arena};
    if (!condition_parse(&n, e->formula, quiet.arena, inner, nowhere, NULL, &quiet))
        n = NULL;
    diags_free(&quiet);
    if (t) {
        t->slots[at].text = inner.p;
        t->slots[at].number = n;
    }
    return n;
}

/* One {…} of a template: an expression, or the name of a value. */
static void fill_one(const struct evaluation *e, struct str inner, struct buf *out) {
    uint32_t slot = formula_slot(e->formula, inner);
    if (slot == NONE && template_word(e->formula, inner)) {
        say_word(e, inner, out);
        return;
    }
    if (slot != NONE) {
        uint32_t v = e->bindings[slot].value;
        uint32_t argument = v == NONE ? NONE : graph_argument(e->graph, v); /* says more than a name in the middle */
        struct str label = v == NONE ? STR("none") : value_label(e->graph, argument == NONE ? v : argument, e->arena);
        buf_add(out, label);
        return;
    }
    const struct number *n = template_number(e, inner);
    if (n)
        buf_printf(out, "%.10g", evaluate(e, n));
    else
        buf_printf(out, "{%.*s}", (int)inner.n, inner.p);
}

struct str fill_in(const struct evaluation *e, struct str text) {
    struct buf out = {0};
    const char *p = text.p, *end = text.p + text.n;
    while (p < end) {
        const char *open = memchr(p, '{', (size_t)(end - p));
        const char *close = open ? memchr(open, '}', (size_t)(end - open)) : NULL;
        buf_add(&out, (struct str){p, (size_t)((close ? open : end) - p)});
        if (close)
            fill_one(e, (struct str){open + 1, (size_t)(close - open) - 1}, &out);
        p = close ? close + 1 : end;
    }
    struct str kept = arena_str(e->arena, buf_str(&out));
    buf_free(&out);
    return kept;
}
