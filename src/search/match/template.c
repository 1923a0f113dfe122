/* Text of patterns with {...} in it, filled in for a match, and how values are called in it. */
#include "patterns/lang/template.h"
#include "ir/graph/movement.h"
#include "ir/ops/scalar.h"
#include "search/match/evaluate.h"

#include <string.h>

struct str value_label(const struct graph *g, uint32_t value, struct arena *a) {
    struct str name = mlir_span(g->m, g->m->values[value].name), model = graph_argument_name(g, value);
    if (!model.n)
        return arena_str(a, name);
    return arena_printf(a, "%.*s (%.*s)", (int)name.n, name.p, (int)model.n, model.p);
}

static struct str label_of(const struct evaluation *e, uint32_t value) {
    struct str label = value_label(e->graph, value, e->arena);
    return e->prefix ? arena_printf(e->arena, "%s%.*s", e->prefix, (int)label.n, label.p) : label;
}

void value_add_type(const struct graph *g, uint32_t value, struct buf *out) {
    uint32_t rank;
    const int64_t *shape = value == NONE ? NULL : graph_shape(g, value, &rank);
    for (uint32_t d = 0; shape && d < rank; d++) {
        buf_int(out, shape[d]);
        buf_addc(out, 'x');
    }
    buf_add(out, value == NONE ? STR("none") : str_of(dtype_table[graph_dtype(g, value)].name));
}

/* The op that was matched for a value: what moves, casts or changes nothing may stand behind it. */
static uint32_t op_of(const struct graph *g, const struct binding *b) {
    if (b->op != NONE)
        return b->op;
    return b->value == NONE ? NONE : g->m->values[movement_source(g, b->value)].def;
}

static void say_op(const struct graph *g, const struct binding *b, struct buf *out) {
    uint32_t op = op_of(g, b);
    enum op_kind kind = op == NONE ? NO_OPERATOR : (enum op_kind)g->kind[op];
    buf_add(out, kind == NO_OPERATOR ? STR("none") : str_of(op_table[kind].name));
}

/* Of a constant operand, which stands first in what is then a reversed op: 1 - x is ("rsubtract", 1). */
static void say_activation(struct evaluation *e, const struct binding *b, struct buf *out) {
    const struct graph *g = e->graph;
    uint32_t op = op_of(g, b);
    struct buf numbers = {0};
    bool reversed = false;
    for (uint32_t i = 0; op != NONE && i < graph_noperands(g, op); i++) {
        uint32_t v = graph_operands(g, op)[i];
        struct constant c = {0};
        if (v != NONE)
            c = graph_constant(g, v);
        if (c.known)
            buf_printf(&numbers, ", %.*g", c.bits > 24 ? 10 : 7, c.value);
        reversed |= c.known && i == 0 && graph_op_is(g, op, ADDS | SCALES) && !graph_op_is(g, op, COMMUTES);
    }
    for (const char *const *key = activation_numbers; op != NONE && *key; key++) {
        const struct attr *x = attrs_find(graph_attributes(g, op), *key);
        if (x && x->is_number)
            buf_printf(&numbers, ", %.10g", x->number);
    }
    struct str all = buf_take(&numbers, e->arena);
    enum op_kind kind = op == NONE ? NO_OPERATOR : (enum op_kind)g->kind[op];
    buf_printf(out, all.n ? "(\"%s%s" : "\"%s%s", reversed ? "r" : "",
               kind == NO_OPERATOR ? "none" : op_table[kind].name);
    buf_printf(out, all.n ? "\"%.*s)" : "\"%.*s", (int)all.n, all.p);
}

/* The type of a value, or the op that makes it. */
static void say_word(struct evaluation *e, struct str inner, struct buf *out) {
    uint32_t made = template_op_slot(e->formula, inner, "op");
    uint32_t folded = template_op_slot(e->formula, inner, "activation");
    if (made != NONE) {
        say_op(e->graph, &e->bindings[made], out);
        return;
    }
    if (folded != NONE) {
        say_activation(e, &e->bindings[folded], out);
        return;
    }
    struct str view;
    uint32_t slot = template_typed_slot(e->formula, inner, &view);
    enum value_view seen = str_is(view, "source") ? VIEW_SOURCE : view.n ? VIEW_PRINTED : VIEW_BOUND;
    value_add_type(e->graph, bound_to(e, slot, seen).value, out);
}

/* One {…} of a template: an expression, or the name of a value. */
static void fill_one(struct evaluation *e, struct str inner, struct buf *out) {
    uint32_t slot = formula_slot(e->formula, inner);
    if (slot == NONE && template_word(e->formula, inner)) {
        say_word(e, inner, out);
        return;
    }
    if (slot != NONE) {
        uint32_t v = e->bindings[slot].value;
        if (e->bindings[slot].is_number) {
            buf_printf(out, "%.10g", e->bindings[slot].number);
            return;
        }
        if (e->python) {
            *e->python &= v != NONE && operand_in_python(e, &e->bindings[slot], out);
            return;
        }
        /* an argument of the model says more than a name inside of it */
        uint32_t argument = v == NONE ? NONE : graph_argument(e->graph, v);
        struct str label = v == NONE ? STR("none") : label_of(e, argument == NONE ? v : argument);
        buf_add(out, label);
        return;
    }
    struct diags quiet = {.arena = e->arena};
    const struct number *n;
    if (condition_parse(&n, e->formula, e->arena, inner, (struct text_origin){"", 0, 0}, NULL, &quiet))
        buf_printf(out, "%.10g", evaluate(e, n));
    else
        buf_printf(out, "{%.*s}", (int)inner.n, inner.p);
    diags_free(&quiet);
}

struct str fill_in(struct evaluation *e, struct str text) {
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
    return buf_take(&out, e->arena);
}
