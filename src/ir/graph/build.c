/* Builds the graph of a module in linear passes, each over what the ones before have set: the kind of each op, its data
 * operands, functions, uses, then what is known of values. All arrays belong to the graph; graph_free frees them. */
#include "ir/graph/attributes.h"
#include "ir/graph/depend.h"
#include "ir/graph/elements.h"
#include "ir/graph/operands.h"
#include "ir/graph/siblings.h"
#include "ir/graph/value.h"

#include <stdlib.h>
#include <string.h>

/* An operand that is the op's own result or comes behind it, in text that is no program or in blocks in an order of
 * their own; NONE. */
static uint32_t early_operand(const struct mlir *m, uint32_t op) {
    const uint32_t *v = m->operands + m->ops[op].first_operand;
    for (uint32_t k = 0; k < m->ops[op].noperands; k++)
        if (v[k] != NONE && m->values[v[k]].def != NONE && m->values[v[k]].def >= op)
            return v[k];
    return NONE;
}

/* The kind of each op by its name, looked up once for each name. Ops with early operands have none, so that no way up
 * through ops of known kinds goes round. */
static void set_kinds(struct graph *g, struct diags *d) {
    const struct mlir *m = g->m;
    uint16_t *kinds = xcalloc(m->nnames, sizeof *kinds);
    for (uint32_t i = 0; i < m->nnames; i++)
        if (memchr(m->names[i].p, '.', m->names[i].n)) /* other names are of functions */
            kinds[i] = (uint16_t)op_kind_of_spelling(m->names[i]);
    g->kind = xcalloc(m->nops, sizeof *g->kind);
    for (uint32_t i = 0; i < m->nops; i++) {
        g->kind[i] = m->ops[i].bad ? NO_OPERATOR : kinds[m->ops[i].name];
        uint32_t v = g->kind[i] == NO_OPERATOR ? NONE : early_operand(m, i);
        struct str name = v == NONE ? STR("") : mlir_span(m, m->values[v].name);
        if (v != NONE)
            bad_op(g, i, d, "uses %.*s, which is not defined before it", (int)name.n, name.p);
    }
    free(kinds);
}

static void set_operands(struct graph *g, struct diags *d) {
    const struct mlir *m = g->m;
    struct arity arities[OPERATORS] = {0};
    uint32_t cap = 0, n = 0;
    g->first_operand = xcalloc((size_t)m->nops + 1, sizeof *g->first_operand);
    g->operands = grow(NULL, &cap, m->noperands + MAX_ROLES, sizeof *g->operands);
    for (uint32_t i = 0; i < m->nops; i++) {
        g->operands = grow(g->operands, &cap, n + m->ops[i].noperands + MAX_ROLES, sizeof *g->operands);
        g->first_operand[i] = n;
        n += data_operands(g, i, &arities[g->kind[i]], g->operands + n, d);
    }
    g->first_operand[m->nops] = n;
    g->nedges = n;
}

/* It may be left out where nothing uses its results. */
static bool only_computes(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    bool computes = c != OP_CALL && c != OP_RETURN && c != OP_STRUCTURE && c != OP_NO_USE;
    return computes && g->m->ops[op].nresults > 0 && !graph_op_is(g, op, IN_PLACE) && !graph_op_is(g, op, OVERWRITES);
}

/* By op: it uses nothing. What nothing uses is no user, in functions that return something. */
static bool *unused_ops(const struct graph *g) {
    const struct mlir *m = g->m;
    bool *returns = xcalloc(m->nfuncs + (size_t)1, sizeof *returns);
    bool *used = xcalloc(m->nvalues + (size_t)1, sizeof *used), *unused = xcalloc(m->nops + (size_t)1, sizeof *unused);
    for (uint32_t i = 0; i < m->nops; i++)
        if (graph_class(g, i) == OP_RETURN && graph_noperands(g, i) > 0 && m->ops[i].func != NONE)
            returns[m->ops[i].func] = true;
    for (uint32_t i = m->nops; i-- > 0;) {
        bool any = m->ops[i].func == NONE || !returns[m->ops[i].func] || !only_computes(g, i);
        for (uint32_t r = 0; r < m->ops[i].nresults && !any; r++)
            any = used[m->ops[i].first_result + r];
        unused[i] = !any || graph_class(g, i) == OP_NO_USE;
        for (uint32_t k = g->first_operand[i]; k < g->first_operand[i + 1] && !unused[i]; k++)
            if (g->operands[k] != NONE)
                used[g->operands[k]] = true;
    }
    free(used);
    free(returns);
    return unused;
}

static void set_uses(struct graph *g) {
    const struct mlir *m = g->m;
    bool *unused = unused_ops(g);
    g->first_use = xcalloc((size_t)m->nvalues + 2, sizeof *g->first_use);
    for (uint32_t i = 0; i < m->nops; i++)
        for (uint32_t k = g->first_operand[i]; k < g->first_operand[i + 1] && !unused[i]; k++)
            if (g->operands[k] != NONE)
                g->first_use[g->operands[k] + 2]++;
    for (uint32_t v = 0; v < m->nvalues; v++)
        g->first_use[v + 2] += g->first_use[v + 1];
    g->uses = xcalloc(g->first_use[m->nvalues + 1], sizeof *g->uses);
    for (uint32_t i = 0; i < m->nops; i++)
        for (uint32_t k = g->first_operand[i]; k < g->first_operand[i + 1] && !unused[i]; k++)
            if (g->operands[k] != NONE)
                g->uses[g->first_use[g->operands[k] + 1]++] = i;
    free(unused);
}

static bool mentions(struct str text, const char *what) {
    return str_find(text, str_of(what)) != NULL;
}

/* Marks by which the compiler tells its functions apart: tt.function_type and the names it gives them. */
static enum func_kind kind_of_function(const struct mlir *m, const struct mlir_func *f) {
    struct str name = m->names[f->name];
    struct str attributes = mlir_span(m, f->attributes);
    if (f->in_cpu_module || mentions(name, "cpu_hoisted") || mentions(attributes, "\"forward_cpu"))
        return FUNC_CPU;
    if (f->declaration)
        return FUNC_DECLARATION;
    if (mentions(attributes, "\"const_eval\"") || mentions(name, "_const_eval_"))
        return FUNC_CONST_EVAL;
    if (mentions(attributes, "composite_decomposition") || mentions(attributes, "d2m_subgraph") ||
        mentions(attributes, "\"kernel\""))
        return FUNC_COMPOSITE;
    return f->traces ? FUNC_TRACE : FUNC_MAIN;
}

#define SEVERAL (NONE - 1) /* an op id while functions are set: more than one call or return */

enum { SEEN_TTIR = 1, SEEN_TTNN = 2 };

static uint8_t dialect_of(struct str name) {
    return str_starts(name, STR("ttir.")) ? SEEN_TTIR : str_starts(name, STR("ttnn.")) ? SEEN_TTNN : 0;
}

static void mark_call(struct graph *g, uint32_t op) {
    uint32_t f = mlir_find_func(g->m, g->m->ops[op].callee);
    if (f == NONE)
        return;
    struct str name = mlir_op_name(g->m, op);
    if (str_is(name, "ttcore.composite") || str_is(name, "ttnn.d2m_subgraph"))
        g->func_kind[f] = FUNC_COMPOSITE;
    g->call_site[f] = g->call_site[f] == NONE ? op : SEVERAL;
}

/* Calls, returns and the dialects met in each function; `seen` has one more entry for ops outside of all. */
static void mark_functions(struct graph *g, uint8_t *seen) {
    const struct mlir *m = g->m;
    uint8_t *dialects = xcalloc(m->nnames, sizeof *dialects);
    for (uint32_t i = 0; i < m->nnames; i++)
        dialects[i] = dialect_of(m->names[i]);
    for (uint32_t i = 0; i < m->nops; i++) {
        const struct mlir_op *op = &m->ops[i];
        uint32_t f = op->func;
        seen[f == NONE ? m->nfuncs : f] |= dialects[op->name];
        if (op->callee != NONE && graph_class(g, i) != OP_STRUCTURE && (f == NONE || g->func_kind[f] != FUNC_TRACE))
            mark_call(g, i);
        if (graph_class(g, i) == OP_RETURN && f != NONE)
            g->return_op[f] = g->return_op[f] == NONE ? i : SEVERAL;
    }
    free(dialects);
}

static void set_functions(struct graph *g) {
    const struct mlir *m = g->m;
    uint8_t *seen = xcalloc((size_t)m->nfuncs + 1, sizeof *seen), all = 0;
    g->func_kind = xcalloc(m->nfuncs, sizeof *g->func_kind);
    g->call_site = xcalloc(m->nfuncs, sizeof *g->call_site);
    g->return_op = xcalloc(m->nfuncs, sizeof *g->return_op);
    g->arg_funcs = xcalloc(m->nfuncs, sizeof *g->arg_funcs);
    for (uint32_t f = 0; f < m->nfuncs; f++) {
        g->func_kind[f] = (uint8_t)kind_of_function(m, &m->funcs[f]);
        g->call_site[f] = g->return_op[f] = NONE;
        if (m->funcs[f].nargs > 0)
            g->arg_funcs[g->narg_funcs++] = f;
    }
    mark_functions(g, seen);
    for (uint32_t f = 0; f <= m->nfuncs; f++)
        if (f == m->nfuncs || g->func_kind[f] == FUNC_MAIN)
            all |= seen[f];
    for (uint32_t f = 0; f < m->nfuncs; f++) {
        g->call_site[f] = g->call_site[f] == SEVERAL ? NONE : g->call_site[f];
        g->has_call_sites |= g->call_site[f] != NONE;
        g->return_op[f] = g->return_op[f] == SEVERAL ? NONE : g->return_op[f];
    }
    g->has_ttir = all & SEEN_TTIR;
    g->has_ttnn = all & SEEN_TTNN;
    free(seen);
}

uint32_t graph_callee(const struct graph *g, uint32_t op) {
    uint32_t name = g->m->ops[op].callee, func = name == NONE ? NONE : mlir_find_func(g->m, name);
    return func != NONE && !g->m->funcs[func].declaration && g->return_op[func] != NONE ? func : NONE;
}

static void set_lone_calls(struct graph *g) {
    uint32_t cap = 0;
    for (uint32_t op = 0; op < g->m->nops; op++)
        if (g->m->ops[op].callee != NONE && graph_callee(g, op) == NONE) {
            g->lone_calls = grow(g->lone_calls, &cap, g->nlone_calls + 1, sizeof *g->lone_calls);
            g->lone_calls[g->nlone_calls++] = op;
        }
}

/* What a function without arguments returns that is a sequence, moved: a pattern sees it where it is used. NONE. */
static uint32_t sequence_of_call(const struct graph *g, uint32_t v) {
    uint32_t call = g->m->values[v].def, returned = graph_callee_value(g, v), at = returned;
    if (returned == NONE || g->m->values[returned].type != g->m->values[v].type ||
        g->m->funcs[mlir_find_func(g->m, g->m->ops[call].callee)].nargs > 0)
        return NONE;
    for (uint32_t op; (op = g->m->values[at].def) != NONE && op < call; at = graph_operands(g, op)[0]) {
        if (graph_op_is(g, op, COUNTS))
            return returned;
        if (!class_moves(graph_class(g, op)) || graph_noperands(g, op) < 1 || graph_operands(g, op)[0] == NONE)
            return NONE;
    }
    return NONE;
}

static void see_sequences(struct graph *g) {
    for (uint32_t i = 0; i < g->m->nops; i++)
        for (uint32_t k = g->first_operand[i]; k < g->first_operand[i + 1] && graph_class(g, i) != OP_NO_USE; k++) {
            uint32_t v = g->operands[k], def = v == NONE ? NONE : g->m->values[v].def;
            uint32_t sequence = def != NONE && graph_class(g, def) == OP_CALL ? sequence_of_call(g, v) : NONE;
            g->operands[k] = sequence == NONE ? v : sequence;
        }
}

static void set_ops_before(struct graph *g) {
    uint32_t n = 0;
    g->ops_before = xcalloc((size_t)g->m->nops + 1, sizeof *g->ops_before);
    for (uint32_t i = 0; i < g->m->nops; i++) {
        enum op_class c = graph_class(g, i);
        g->ops_before[i] = n;
        n += c != OP_NO_USE && c != OP_STRUCTURE && c != OP_CONSTANT && c != OP_CALL && c != OP_RETURN;
    }
    g->ops_before[g->m->nops] = n;
}

void graph_build(struct graph *g, const struct mlir *m, struct diags *d) {
    *g = (struct graph){.m = m};
    attributes_build(g);
    set_kinds(g, d);
    set_operands(g, d);
    check_ops(g, d);
    set_functions(g);
    set_lone_calls(g);
    see_sequences(g);
    set_uses(g);
    set_ops_before(g);
    values_build(g);
    dependence_build(g);
    siblings_build(g);
    elements_build(g);
}

void graph_free(struct graph *g) {
    values_free(g);
    elements_free(g);
    free(g->varies);
    free(g->kind);
    free(g->first_operand);
    free(g->operands);
    free(g->first_use);
    free(g->uses);
    free(g->func_kind);
    free(g->call_site);
    free(g->return_op);
    free(g->lone_calls);
    free(g->arg_funcs);
    free(g->ops_before);
    free(g->siblings);
    free(g->attributes);
    arena_free(&g->arena);
    *g = (struct graph){0};
}
