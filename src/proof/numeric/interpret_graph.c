/* Depth first from the values asked for, with an explicit stack: chains of ops in a module may be longer than the C
 * stack allows. */
#include "proof/numeric/interpret_graph.h"

#include <stdlib.h>

#include "proof/value/lazy.h"

/* ---- one op ---- */

bool program_shape(const struct program *p, uint32_t value, struct shape *s) {
    return p->shape ? p->shape(p->self, value, s) : shape_in_graph(p->graph, value, s);
}

enum { DEPTH = 8 }; /* ops that are looked past */

static bool adds_up(const struct graph *g, uint32_t op) {
    return graph_op_is(g, op, ADDS) || graph_op_is(g, op, TOTALS);
}

static bool holds_whole_within(const struct graph *g, uint32_t value, int depth) {
    uint32_t def = g->m->values[value].def;
    bool whole = format_is_integer(graph_dtype(g, value));
    if (whole || def == NONE || depth == 0)
        return whole;
    bool passes = class_moves(graph_class(g, def)) || adds_up(g, def);
    for (uint32_t i = 0; passes && i < graph_noperands(g, def); i++)
        passes = graph_operands(g, def)[i] != NONE && holds_whole_within(g, graph_operands(g, def)[i], depth - 1);
    return passes || graph_op_is(g, def, COUNTS);
}

bool holds_whole(const struct graph *g, uint32_t value) {
    return holds_whole_within(g, value, DEPTH);
}

/* Integers are made of the value again, it numbers the rows of a table, or it is compared as it is. */
static bool is_read_whole(const struct graph *g, uint32_t value, bool as_it_is, int depth) {
    bool whole = false;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && !whole && depth > 0; u++) {
        uint32_t op = g->uses[u];
        enum op_kind k = (enum op_kind)g->kind[op];
        if (g->m->ops[op].nresults == 0)
            continue;
        uint32_t result = g->m->ops[op].first_result;
        bool moves = class_moves(graph_class(g, op)), same = as_it_is && (moves || op_is(k, ADDS));
        bool passes = moves || (graph_class(g, op) == OP_ELTWISE && op_is(k, WRAPS));
        whole = op_is(k, LOOKS_UP)   ? graph_operands(g, op)[op_operand_of_role(k, STR("index"))] == value
                : op_is(k, COMPARES) ? as_it_is
                                     : passes && (format_is_integer(graph_dtype(g, result)) ||
                                                  is_read_whole(g, result, same, depth - 1));
    }
    return whole;
}

enum dtype rounds_whole(const struct graph *g, uint32_t op) {
    enum { FEW_BITS = 24 }; /* what an f32 does not hold no model counts to */
    uint32_t result = g->m->ops[op].nresults ? g->m->ops[op].first_result : NONE;
    enum dtype to = result == NONE ? DT_NONE : graph_dtype(g, result);
    if (!format_is_float(to) || dtype_table[to].precision >= FEW_BITS)
        return DT_NONE;
    bool loses = false;
    if (graph_op_is(g, op, COUNTS)) {
        loses = attrs_int(graph_attributes(g, op), "end", 0) >> dtype_table[to].precision;
    } else if (graph_class(g, op) == OP_CAST && graph_noperands(g, op) == 1 && graph_operands(g, op)[0] != NONE) {
        enum dtype from = graph_dtype(g, graph_operands(g, op)[0]);
        uint32_t bits = format_is_float(from) ? dtype_table[from].precision : dtype_table[from].bits;
        loses = bits > dtype_table[to].precision && holds_whole(g, graph_operands(g, op)[0]);
    } else if (adds_up(g, op)) {
        loses = holds_whole(g, result);
    }
    return loses && is_read_whole(g, result, true, DEPTH) ? to : DT_NONE;
}

/* Evaluates one op on operands by role (NULL where absent). False with a reason in the context. */
static bool interpret_op(struct eval_context *b, const struct program *p, uint32_t op,
                         const struct tensor *const *operands, const struct tensor *results[MAX_RESULTS]) {
    const struct graph *g = p->graph;
    const struct mlir_op *o = &g->m->ops[op];
    struct shape shapes[MAX_RESULTS];
    enum dtype types[MAX_RESULTS];
    enum dtype *from = arena_alloc(b->arena, (graph_noperands(g, op) + 1) * sizeof *from);
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        from[i] = graph_operands(g, op)[i] == NONE ? DT_NONE : graph_dtype(g, graph_operands(g, op)[i]);
    bool shaped = o->nresults > 0;
    for (uint32_t i = 0; i < o->nresults && i < MAX_RESULTS; i++) {
        shaped &= program_shape(p, o->first_result + i, &shapes[i]);
        types[i] = graph_dtype(g, o->first_result + i);
    }
    struct str name = mlir_op_name(g->m, op);
    if (g->kind[op] == NO_OPERATOR)
        return eval_reason(b, REASON_NO_EVALUATOR, "no evaluator for %.*s", (int)name.n, name.p);
    struct call c = {.kind = (enum op_kind)g->kind[op],
                     .ttnn = graph_is_ttnn(g, op),
                     .noperands = graph_noperands(g, op),
                     .operands = operands,
                     .operand_types = from,
                     .nresults = o->nresults,
                     .shapes = shaped ? shapes : NULL,
                     .types = types,
                     .attributes = graph_attributes(g, op)};
    if (!interpret(b, &c, results))
        return false;
    enum dtype rounded = rounds_whole(g, op);
    if (rounded != DT_NONE)
        results[0] = lazy_rounded(b, results[0], rounded, false);
    return true;
}

/* ---- values ---- */

struct graph_run {
    struct eval_context *eval;
    const struct program *program;
    const struct tensor **known; /* by value; NULL: not evaluated yet */
    uint32_t *stack, n, cap;     /* values to evaluate, the next one last */
};

static void push(struct graph_run *r, uint32_t value) {
    r->stack = grow(r->stack, &r->cap, r->n + 1, sizeof *r->stack);
    r->stack[r->n++] = value;
}

static bool allowed(const struct program *p, uint32_t op) {
    const struct graph *g = p->graph;
    uint32_t func = g->m->ops[op].func;
    if (p->nops == 0 || op_generates((enum op_kind)g->kind[op]) ||
        (func != NONE && g->func_kind[func] == FUNC_CONST_EVAL))
        return true;
    for (uint32_t i = 0; i < p->nops; i++)
        if (p->ops[i] == op)
            return true;
    return false;
}

static bool not_given(struct graph_run *r, uint32_t value) {
    const struct mlir *m = r->program->graph->m;
    struct str name = mlir_span(m, m->values[value].name);
    return eval_fail(r->eval, "%.*s is not given", (int)name.n, name.p);
}

/* The value that has the same tensor: of the result of a call what the callee returns, of an argument what the caller
 * passes. NONE: neither. */
static uint32_t alias_of(const struct graph *g, uint32_t value) {
    uint32_t op = g->m->values[value].def;
    if (op == NONE)
        return graph_caller_value(g, value);
    return graph_class(g, op) == OP_CALL ? graph_callee_value(g, value) : NONE;
}

static bool evaluate_op(struct graph_run *r, uint32_t op) {
    const struct graph *g = r->program->graph;
    uint32_t n = graph_noperands(g, op);
    const struct tensor **operands = arena_alloc(r->eval->arena, (n + 1) * sizeof(const struct tensor *)),
                        *results[MAX_RESULTS] = {NULL};
    for (uint32_t i = 0; i < n; i++)
        operands[i] = graph_operands(g, op)[i] == NONE ? NULL : r->known[graph_operands(g, op)[i]];
    if (!interpret_op(r->eval, r->program, op, operands, results))
        return false;
    for (uint32_t i = 0; i < g->m->ops[op].nresults && i < MAX_RESULTS; i++)
        r->known[g->m->ops[op].first_result + i] = results[i];
    return true;
}

enum { MAX_STACK = 1 << 20 }; /* ends functions that call one another in a cycle */

/* Evaluates the value on top of the stack, or pushes the operands that it still needs. */
static bool step(struct graph_run *r) {
    const struct graph *g = r->program->graph;
    uint32_t value = r->stack[r->n - 1], op = g->m->values[value].def, before = r->n;
    if (r->known[value]) {
        r->n--;
        return true;
    }
    if (r->n > MAX_STACK)
        return eval_fail(r->eval, "values depend on one another without end");
    uint32_t alias = alias_of(g, value);
    if (alias != NONE) {
        r->known[value] = r->known[alias];
        if (!r->known[alias])
            push(r, alias);
        return true;
    }
    if (op == NONE || !allowed(r->program, op))
        return not_given(r, value);
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t v = graph_operands(g, op)[i];
        if (v != NONE && !r->known[v])
            push(r, v);
    }
    return r->n > before || evaluate_op(r, op);
}

bool interpret_values(struct eval_context *b, const struct program *p, const uint32_t *values, uint32_t n,
                      const struct tensor **out) {
    struct graph_run r = {.eval = b, .program = p};
    bool good = true;
    r.known = xcalloc(p->graph->m->nvalues, sizeof(const struct tensor *));
    for (uint32_t i = 0; i < p->ngiven; i++)
        r.known[p->given[i].value] = p->given[i].tensor;
    for (uint32_t i = 0; i < n && good; i++) {
        for (push(&r, values[i]); r.n > 0 && good;)
            good = step(&r);
        out[i] = r.known[values[i]];
    }
    free(r.stack);
    free(r.known);
    return good;
}
