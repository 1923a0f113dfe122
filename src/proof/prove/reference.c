/* Walks from the values of a match to its inputs. A constant of one number is an input too: it gets the number that it
 * was meant to be, not what is left of it in its element type, because attributes have it so. */
#include "proof/prove/reference.h"

#include "ir/graph/movement.h"
#include "proof/reduce/scale_constant.h"
#include "proof/value/lazy.h"

/* ---- ops and inputs ---- */

static bool is_matched(const struct reference *r, uint32_t op) {
    bool found = false;
    for (uint32_t i = 0; i < r->match->nops; i++)
        found |= r->match->ops[i] == op;
    return found;
}

/* A function of no values: TTNN makes the constants in it that TTIR has in their places. */
static bool makes_constants(const struct graph *g, uint32_t op) {
    return graph_class(g, op) == OP_CALL && graph_noperands(g, op) == 0;
}

static bool may_evaluate(const struct reference *r, uint32_t op) {
    const struct match *m = r->match;
    if (op_generates((enum op_kind)m->graph->kind[op]) || class_moves(graph_class(m->graph, op)) || is_matched(r, op) ||
        makes_constants(m->graph, op))
        return true;
    for (uint32_t i = 0; i < m->nthrough; i++)
        if (m->through[i] == op)
            return true;
    return false;
}

static const struct assumed_constant *assumed_constant_of(struct reference *r, uint32_t value) {
    const struct match *m = r->match;
    struct constant c = graph_constant(reference_graph(r), value);
    for (uint32_t i = 0; i < r->bound.nconstants; i++)
        if (r->bound.constants[i].value == value)
            return &r->bound.constants[i];
    if (!c.known)
        return NULL;
    struct assumed_constant *t = arena_alloc(r->arena, sizeof *t);
    double number = r->as_printed ? c.value : meant_constant(m->graph, m->ops, m->nops, m->pattern, c);
    *t = (struct assumed_constant){value, number, false};
    r->meant |= number != c.value;
    return t;
}

static const struct holding *holding_of(const struct reference *r, uint32_t value) {
    const struct pattern *pattern = r->match->pattern;
    for (uint32_t i = 0; i < pattern->nholds; i++)
        if (r->bound.slots[pattern->holds[i].slot].value == value)
            return &pattern->holds[i];
    return NULL;
}

/* Constants whose elements are not in the text (dense_resource), or are not evaluated. */
static bool is_unreadable(const struct reference *r, uint32_t op) {
    const struct graph *g = reference_graph(r);
    if (graph_class(g, op) != OP_CONSTANT && !makes_constants(g, op))
        return false;
    struct arena scratch = {0};
    struct lazies all = {0};
    struct eval_context b = {.arena = &scratch, .nodes = &all};
    struct program program = {.graph = g};
    const struct tensor *t;
    bool read = interpret_values(&b, &program, &g->m->ops[op].first_result, 1, &t);
    arena_free(&scratch);
    lazies_free(&all);
    return !read;
}

static bool is_input(const struct reference *r, uint32_t value) {
    bool found = false;
    for (uint32_t i = 0; i < r->problem.ninputs; i++)
        found |= r->problem.inputs[i].value == value;
    return found;
}

void reference_give(struct reference *r, uint32_t value) {
    const struct graph *g = reference_graph(r);
    uint32_t op = g->m->values[value].def;
    if (op != NONE && is_matched(r, op) && !interpretable((enum op_kind)g->kind[op]))
        r->full |= !problem_add_input(&r->problem, value, NULL);
}

void reference_add(struct reference *r, uint32_t value) {
    const struct graph *g = reference_graph(r);
    if (is_input(r, value))
        return;
    const struct assumed_constant *constant = assumed_constant_of(r, value);
    uint32_t op = constant || holding_of(r, value) ? NONE : g->m->values[value].def;
    if (op != NONE && reference_evaluates(r, op))
        return;
    if (op == NONE || !may_evaluate(r, op) || is_unreadable(r, op) || r->nops == MAX_REFERENCE_OPS) {
        r->full |= !problem_add_input(&r->problem, value, constant) || r->nops == MAX_REFERENCE_OPS;
        return;
    }
    r->ops[r->nops++] = op;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        if (graph_operands(g, op)[i] != NONE)
            reference_add(r, graph_operands(g, op)[i]);
}

/* ---- what is known of inputs ---- */

/* The value is one of those that a list of the pattern's names stands for. */
static bool is_listed(const struct reference *r, const uint32_t *slots, uint32_t n, uint32_t value) {
    bool found = false;
    for (uint32_t i = 0; i < n; i++)
        found |= r->bound.slots[slots[i]].value == value;
    return found;
}

void reference_inputs(struct reference *r) {
    const struct pattern *pattern = r->match->pattern;
    for (uint32_t i = 0; i < r->problem.ninputs; i++) {
        struct input *in = &r->problem.inputs[i];
        const struct holding *h = holding_of(r, in->value);
        in->holds = h ? h->form->formula : NULL;
        in->positive = is_listed(r, pattern->positive, pattern->npositive, in->value);
        in->replicated = is_listed(r, pattern->replicated, pattern->nreplicated, in->value);
    }
}
