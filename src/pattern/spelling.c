/* Conditions about how a match is written: names and texts of its ops, what was looked through between them, which
 * operand a value is. What the formula makes no difference of, the compiler's patterns often do. */
#include "pattern/condition.h"
#include "pattern/matcher.h"

#include <string.h>

enum { MAX_TEXT = 4096 }; /* of an op that an expression is tried on: constants can be long */

static bool found(const struct evaluation *e, uint32_t op) {
    if (e->found)
        *e->found = op;
    return true;
}

static bool is_called(const struct evaluation *e, uint32_t op) {
    return condition_regex_finds(e->regex, mlir_op_name(e->graph->m, op)) && found(e, op);
}

static uint32_t op_of(const struct graph *g, const struct binding *b) {
    return b->op != NONE || b->value == NONE ? b->op : g->m->values[b->value].def;
}

/* Some matched op has such a name. */
bool condition_has_op(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)b;
    (void)n;
    for (uint32_t i = 0; i < e->nops; i++)
        if (is_called(e, e->ops[i]))
            return true;
    return false;
}

/* The op that x is the result of has such a name; for what is no op of the formula: the first one below movement and
 * casts, also where a function that runs once makes it. */
bool condition_made_by(const struct evaluation *e, const struct binding *b, uint32_t n) {
    const struct graph *g = e->graph;
    (void)n;
    if (b[0].value == NONE)
        return false;
    uint32_t op = op_of(g, &b[0]);
    for (int hops = 0; op != NONE && hops < MAX_CHAIN; hops++) {
        uint32_t next = graph_callee_value(g, g->m->ops[op].first_result);
        if (b[0].op == NONE && looks_through(g, op))
            next = graph_through(g, op);
        if (next == NONE)
            return is_called(e, op);
        op = g->m->values[next].def;
    }
    return false;
}

/* The text of the op that x is the result of has such a piece. */
bool condition_spelled(const struct evaluation *e, const struct binding *b, uint32_t n) {
    const struct mlir *m = e->graph->m;
    (void)n;
    uint32_t op = op_of(e->graph, &b[0]);
    if (op == NONE)
        return false;
    struct str text = mlir_span(m, m->ops[op].text);
    text.n = text.n > MAX_TEXT ? MAX_TEXT : text.n;
    return condition_regex_finds(e->regex, text) && found(e, op);
}

static bool was_passed(const struct evaluation *e, uint32_t op) {
    for (uint32_t i = 0; i < e->npassed; i++)
        if (e->passed[i].op == op)
            return true;
    return false;
}

/* From an operand of an op down to the op `to`, or, where that is NONE, as far as the match looked through. */
static bool on_the_way(const struct evaluation *e, uint32_t value, uint32_t to) {
    const struct graph *g = e->graph;
    uint32_t first = NONE;
    for (int step = 0; value != NONE && step < MAX_CHAIN; step++) {
        uint32_t op = g->m->values[value].def;
        if (op == to || op == NONE || !looks_through(g, op) || (to == NONE && !was_passed(e, op)))
            return first != NONE && (to == NONE || op == to) && found(e, first);
        if (first == NONE && condition_regex_finds(e->regex, mlir_op_name(g->m, op)))
            first = op;
        value = graph_through(g, op);
    }
    return false;
}

/* between("r"): something of such a name was looked through; between(y, "r"): between the op y and its operands;
 * between(x, y, "r"): between the op x and the op y that uses it. */
bool condition_between(const struct evaluation *e, const struct binding *b, uint32_t n) {
    const struct graph *g = e->graph;
    for (uint32_t i = 0; n == 0 && i < e->npassed; i++)
        if (is_called(e, e->passed[i].op))
            return true;
    uint32_t below = n == 2 ? b[0].op : NONE, op = n > 0 ? b[n - 1].op : NONE;
    if (op == NONE || (n == 2 && below == NONE))
        return false;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        if (on_the_way(e, graph_operands(g, op)[i], below))
            return true;
    return false;
}

/* x is the operand of this number, seen through movement and casts. */
bool condition_operand(const struct evaluation *e, const struct binding *b, uint32_t n) {
    const struct graph *g = e->graph;
    int i = e->number->given[0];
    (void)n;
    if (b[0].value == NONE || b[1].op == NONE || i < 0 || i >= (int)graph_noperands(g, b[1].op))
        return false;
    uint32_t value = graph_operands(g, b[1].op)[i];
    for (int step = 0; value != NONE && step < MAX_CHAIN; step++) {
        uint32_t op = g->m->values[value].def;
        if (value == b[0].value)
            return true;
        if (op == NONE || !looks_through(g, op))
            return false;
        value = graph_through(g, op);
    }
    return false;
}

/* ---- texts ---- */

/* The name in "type(name)". */
static uint32_t typed_slot(const struct formula *f, struct str inner) {
    struct str name = {inner.p + 5, inner.n - 6};
    bool typed = inner.n > 6 && memcmp(inner.p, "type(", 5) == 0 && inner.p[inner.n - 1] == ')';
    return typed ? formula_slot(f, name) : NONE;
}

bool template_word(const struct formula *f, struct str inner) {
    return str_is(inner, "found") || typed_slot(f, inner) != NONE;
}

static void say_type(const struct graph *g, uint32_t value, struct buf *out) {
    uint32_t rank;
    const int64_t *shape = value == NONE ? NULL : graph_shape(g, value, &rank);
    for (uint32_t d = 0; shape && d < rank; d++)
        buf_printf(out, "%lldx", (long long)shape[d]);
    buf_add(out, value == NONE ? STR("none") : str_of(dtype_name(graph_dtype(g, value))));
}

void template_say(const struct evaluation *e, struct str inner, struct buf *out) {
    const struct mlir *m = e->graph->m;
    if (!str_is(inner, "found")) {
        say_type(e->graph, e->bindings[typed_slot(e->formula, inner)].value, out);
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
