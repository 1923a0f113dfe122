/* Text of patterns with {...} in it, filled in for a match, and how values are called in it. */
#include "patterns/lang/template.h"
#include "ir/graph/movement.h"
#include "ir/ops/scalar.h"
#include "search/match/evaluate.h"

#include <string.h>

/* The value's own name, and what the model calls the argument. */
static struct str label(const struct graph *g, uint32_t value, uint32_t argument, struct arena *a) {
    struct str name = mlir_span(g->m, g->m->values[value].name), model = graph_argument_name(g, argument);
    if (!model.n)
        return arena_str(a, name);
    return arena_printf(a, "%.*s (%.*s)", (int)name.n, name.p, (int)model.n, model.p);
}

struct str value_label(const struct graph *g, uint32_t value, struct arena *a) {
    return label(g, value, value, a);
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

static void add_number(struct buf *out, double x) {
    buf_add(out, out->n ? STR(", ") : STR(""));
    buf_number(out, x);
}

/* As tt-metal's UnaryOpType has it, where that is not the name of the operator. */
static void add_unary_op_type(enum op_kind kind, bool reversed, struct buf *out) {
    static const struct {
        const char *op, *name, *reversed;
    } others[] = {{"reciprocal", "RECIP", NULL},        {"pow", "POWER", NULL},
                  {"clamp", "CLAMP_TSS", NULL},         {"add", "ADD_UNARY_SFPU", NULL},
                  {"multiply", "MUL_UNARY_SFPU", NULL}, {"subtract", "SUB_UNARY_SFPU", "RSUB"},
                  {"divide", "DIV_UNARY_SFPU", "RDIV"}};
    const char *op = kind == NO_OPERATOR ? "none" : op_table[kind].name, *name = op;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].op, op) == 0)
            name = reversed && others[i].reversed ? others[i].reversed : others[i].name;
    for (; *name; name++)
        buf_addc(out, *name >= 'a' && *name <= 'z' ? (char)(*name - 'a' + 'A') : *name);
}

/* Of a constant operand, which stands first in what is then a reversed op: 1 - x is RSUB of 1. */
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
            add_number(&numbers, c.value);
        reversed |= c.known && i == 0 && graph_op_is(g, op, ADDS | SCALES) && !graph_op_is(g, op, COMMUTES);
    }
    for (const char *const *key = activation_numbers; op != NONE && *key; key++) {
        const struct attr *x = attrs_find(graph_attributes(g, op), *key);
        if (x && x->is_number)
            add_number(&numbers, x->number);
    }
    struct str all = buf_take(&numbers, e->arena);
    enum op_kind kind = op == NONE ? NO_OPERATOR : (enum op_kind)g->kind[op];
    buf_add(out, all.n ? STR("ttnn.UnaryWithParam(ttnn.UnaryOpType.") : STR("ttnn.UnaryOpType."));
    add_unary_op_type(kind, reversed, out);
    if (all.n)
        buf_printf(out, ", %.*s)", (int)all.n, all.p);
}

/* The value whose type this is; NONE: it is no type. */
static uint32_t typed_value(const struct evaluation *e, const struct braced *of) {
    switch (of->kind) {
    case BRACED_TYPE:
        return bound_to(e, of->slot, VIEW_BOUND).value;
    case BRACED_SOURCE:
        return bound_to(e, of->slot, VIEW_SOURCE).value;
    case BRACED_PRINTED:
        return bound_to(e, of->slot, VIEW_PRINTED).value;
    default:
        return NONE;
    }
}

/* The value that the name stands for where a text says its type; NONE: it does not. */
static uint32_t value_beside_type(const struct evaluation *e, struct str text, uint32_t slot) {
    struct str before, inner;
    uint32_t value = NONE;
    while (str_find(text, STR("{type(")) && value == NONE && next_braced(&text, &before, &inner)) {
        struct braced braced = braced_read(e->formula, inner, e->arena);
        value = braced.slot == slot ? typed_value(e, &braced) : NONE;
    }
    return value;
}

static void say_name(struct evaluation *e, struct str text, uint32_t slot, struct buf *out) {
    const struct binding *b = &e->bindings[slot];
    struct constant c = binding_constant(e->graph, b);
    if (b->is_number || (e->python && c.known && b->map && b->map->n == 0)) {
        buf_number(out, c.value);
        return;
    }
    if (e->python) {
        *e->python &= operand_in_python(e, b, out);
        return;
    }
    uint32_t typed = value_beside_type(e, text, slot), argument = graph_argument(e->graph, b->value);
    /* an argument of the model says more than a name inside of it */
    uint32_t value = typed != NONE ? typed : argument != NONE ? argument : b->value;
    buf_add(out, str_of(e->prefix ? e->prefix : ""));
    buf_add(out, label(e->graph, value, argument != NONE ? argument : value, e->arena));
}

/* The match does not have one of these names. */
static bool lacks_any(const struct evaluation *e, const struct asked_names *names) {
    for (uint32_t i = 0; i < e->formula->nslots; i++)
        if ((names->slots[i / 64] >> i % 64 & 1) && e->bindings[i].value == NONE && !e->bindings[i].is_number)
            return true;
    return false;
}

/* A piece of a text. False where it speaks of a name that the match does not have. */
static bool fill_one(struct evaluation *e, struct str text, struct str inner, struct buf *out) {
    struct braced braced = braced_read(e->formula, inner, e->arena);
    if (lacks_any(e, &braced.names))
        return false;
    switch (braced.kind) {
    case BRACED_NAME:
        say_name(e, text, braced.slot, out);
        break;
    case BRACED_OP:
        say_op(e->graph, &e->bindings[braced.slot], out);
        break;
    case BRACED_ACTIVATION:
        say_activation(e, &e->bindings[braced.slot], out);
        break;
    case BRACED_NUMBER:
        buf_number(out, evaluate(e, braced.number));
        break;
    case BRACED_TEXT:
        buf_printf(out, "{%.*s}", (int)inner.n, inner.p);
        break;
    default:
        value_add_type(e->graph, typed_value(e, &braced), out);
    }
    return true;
}

bool fill_in(struct evaluation *e, struct str text, struct str *filled) {
    struct buf out = {0};
    struct str all = text, before, inner;
    bool whole = true;
    while (next_braced(&text, &before, &inner)) {
        buf_add(&out, before);
        whole &= fill_one(e, all, inner, &out);
    }
    buf_add(&out, before);
    *filled = buf_take(&out, e->arena);
    return whole;
}
