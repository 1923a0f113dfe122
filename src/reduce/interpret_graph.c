/* Depth first from the values asked for, with an explicit stack: chains of ops in a module may be longer than the C
 * stack allows. Tensors of values that were evaluated are kept in a hash table by value id. */
#include "reduce/interpret_graph.h"

/* ---- one op ---- */

/* The attributes of one op, for the interpreter's callback. */
struct op_attributes {
    const struct program *program;
    uint32_t op;
};

static bool op_attribute(const void *self, const char *key, struct str *text) {
    const struct op_attributes *t = self;
    if (t->program->attribute)
        return t->program->attribute(t->program->self, t->op, key, text);
    return mlir_attr(t->program->graph->m, t->op, key, text);
}

bool shape_in_graph(const struct graph *g, uint32_t value, struct shape *s) {
    uint32_t rank;
    const int64_t *dims = graph_shape(g, value, &rank);
    if (!dims || rank > TENSOR_RANK || graph_numel(g, value) < 0)
        return false;
    *s = (struct shape){.rank = rank};
    memcpy(s->dim, dims, rank * sizeof *dims);
    return true;
}

static bool shape_of_value(const struct program *p, uint32_t v, struct shape *s) {
    return p->shape ? p->shape(p->self, v, s) : shape_in_graph(p->graph, v, s);
}

static bool is_ttnn(const struct graph *g, uint32_t op) {
    return str_starts(mlir_op_name(g->m, op), STR("ttnn."));
}

/* Evaluates one op on operands by role (NULL where absent). False with a reason in the context. */
static bool interpret_op(struct eval_context *b, const struct program *p, uint32_t op,
                         const struct tensor *const *operands, const struct tensor *results[MAX_RESULTS]) {
    const struct graph *g = p->graph;
    const struct mlir_op *o = &g->m->ops[op];
    struct shape shapes[MAX_RESULTS];
    enum dtype types[MAX_RESULTS];
    enum dtype *from = arena_alloc(b->arena, (graph_noperands(g, op) + 1) * sizeof *from);
    struct op_attributes attributes = {p, op};
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        from[i] = graph_operands(g, op)[i] == NONE ? DT_NONE : graph_dtype(g, graph_operands(g, op)[i]);
    bool shaped = o->nresults > 0;
    for (uint32_t i = 0; i < o->nresults && i < MAX_RESULTS; i++) {
        shaped &= shape_of_value(p, o->first_result + i, &shapes[i]);
        types[i] = graph_dtype(g, o->first_result + i);
    }
    struct str name = mlir_op_name(g->m, op);
    if (g->kind[op] == K_UNKNOWN)
        return eval_beyond(b, "no evaluator for %.*s", (int)name.n, name.p);
    struct call c = {.kind = (enum op_kind)g->kind[op],
                     .ttnn = is_ttnn(g, op),
                     .noperands = graph_noperands(g, op),
                     .operands = operands,
                     .operand_types = from,
                     .nresults = o->nresults,
                     .shapes = shaped ? shapes : NULL,
                     .types = types,
                     .attribute = op_attribute,
                     .self = &attributes};
    return interpret(b, &c, results);
}

/* ---- values ---- */

/* Tensors by value id: open addressing, at most half full. */
struct value_table {
    struct arena *arena;
    uint32_t n, cap; /* a power of two */
    struct given *slots;
};

static struct given *slot_of(const struct value_table *k, uint32_t value) {
    uint32_t i = value * 2654435761u & (k->cap - 1);
    while (k->slots[i].tensor && k->slots[i].value != value)
        i = (i + 1) & (k->cap - 1);
    return &k->slots[i];
}

static const struct tensor *tensor_at(const struct value_table *k, uint32_t value) {
    return k->cap ? slot_of(k, value)->tensor : NULL;
}

static void remember(struct value_table *k, uint32_t value, const struct tensor *t) {
    if (2 * (k->n + 1) > k->cap) {
        struct value_table more = {k->arena, 0, k->cap ? 2 * k->cap : 64, NULL};
        more.slots = arena_alloc(k->arena, more.cap * sizeof *more.slots);
        for (uint32_t i = 0; i < k->cap; i++)
            if (k->slots[i].tensor)
                remember(&more, k->slots[i].value, k->slots[i].tensor);
        *k = more;
    }
    struct given *g = slot_of(k, value);
    k->n += g->tensor == NULL;
    *g = (struct given){value, t};
}

struct evaluation_run {
    struct eval_context *eval;
    const struct program *program;
    struct value_table known;
    uint32_t *stack, n, cap; /* values to evaluate, the next one last */
};

static void push(struct evaluation_run *r, uint32_t value) {
    if (r->n == r->cap) {
        uint32_t cap = r->cap ? 2 * r->cap : 64, *more = arena_alloc(r->eval->arena, cap * sizeof *more);
        if (r->n)
            memcpy(more, r->stack, r->n * sizeof *more);
        r->stack = more;
        r->cap = cap;
    }
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

static bool not_given(struct evaluation_run *r, uint32_t value) {
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

static bool evaluate_op(struct evaluation_run *r, uint32_t op) {
    const struct graph *g = r->program->graph;
    uint32_t n = graph_noperands(g, op);
    const struct tensor **operands = arena_alloc(r->eval->arena, (n + 1) * sizeof(const struct tensor *)),
                        *results[MAX_RESULTS] = {NULL};
    for (uint32_t i = 0; i < n; i++)
        operands[i] = graph_operands(g, op)[i] == NONE ? NULL : tensor_at(&r->known, graph_operands(g, op)[i]);
    if (!interpret_op(r->eval, r->program, op, operands, results))
        return false;
    for (uint32_t i = 0; i < g->m->ops[op].nresults && i < MAX_RESULTS; i++)
        remember(&r->known, g->m->ops[op].first_result + i, results[i]);
    return true;
}

enum { MAX_STACK = 1 << 20 }; /* ends functions that call one another in a cycle */

/* Evaluates the value on top of the stack, or pushes the operands that it still needs. */
static bool step(struct evaluation_run *r) {
    const struct graph *g = r->program->graph;
    uint32_t value = r->stack[r->n - 1], op = g->m->values[value].def, before = r->n;
    if (tensor_at(&r->known, value)) {
        r->n--;
        return true;
    }
    if (r->n > MAX_STACK)
        return eval_fail(r->eval, "values depend on one another without end");
    uint32_t alias = alias_of(g, value);
    if (alias != NONE) {
        const struct tensor *t = tensor_at(&r->known, alias);
        if (t)
            remember(&r->known, value, t);
        else
            push(r, alias);
        return true;
    }
    if (op == NONE || !allowed(r->program, op))
        return not_given(r, value);
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t v = graph_operands(g, op)[i];
        if (v != NONE && !tensor_at(&r->known, v))
            push(r, v);
    }
    return r->n > before || evaluate_op(r, op);
}

bool interpret_values(struct eval_context *b, const struct program *p, const uint32_t *values, uint32_t n,
                      const struct tensor **out) {
    struct evaluation_run r = {.eval = b, .program = p, .known = {.arena = b->arena}};
    for (uint32_t i = 0; i < p->ngiven; i++)
        remember(&r.known, p->given[i].value, p->given[i].tensor);
    for (uint32_t i = 0; i < n; i++) {
        for (push(&r, values[i]); r.n > 0;)
            if (!step(&r))
                return false;
        out[i] = tensor_at(&r.known, values[i]);
    }
    return true;
}
