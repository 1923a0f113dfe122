/* Depth first from the values asked for, on a stack of its own. Values that are known are kept by id. */
#include "reduce/subgraph.h"

/* ---- one op ---- */

struct op_text {
    const struct program *program;
    uint32_t op;
};

static bool op_attribute(const void *self, const char *key, struct str *text) {
    const struct op_text *t = self;
    if (t->program->attribute)
        return t->program->attribute(t->program->self, t->op, key, text);
    return mlir_attr(t->program->graph->m, t->op, key, text);
}

static bool shape_of_value(const struct program *p, uint32_t v, struct shape *s) {
    if (p->shape)
        return p->shape(p->self, v, s);
    uint32_t rank;
    const int64_t *dims = graph_shape(p->graph, v, &rank);
    if (!dims || rank > TENSOR_RANK || graph_numel(p->graph, v) < 0)
        return false;
    *s = (struct shape){.rank = rank};
    memcpy(s->dim, dims, rank * sizeof *dims);
    return true;
}

static bool is_ttnn(const struct graph *g, uint32_t op) {
    return str_starts(mlir_op_name(g->m, op), STR("ttnn."));
}

bool interpret_op(struct bench *b, const struct program *p, uint32_t op, const struct tensor *const *operands,
                  const struct tensor *results[MAX_RESULTS]) {
    const struct graph *g = p->graph;
    const struct mlir_op *o = &g->m->ops[op];
    struct shape shapes[MAX_RESULTS];
    enum dtype types[MAX_RESULTS];
    enum dtype *from = arena_alloc(b->arena, (graph_noperands(g, op) + 1) * sizeof *from);
    struct op_text text = {p, op};
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        from[i] = graph_operands(g, op)[i] == NONE ? DT_NONE : graph_dtype(g, graph_operands(g, op)[i]);
    bool told = o->nresults > 0;
    for (uint32_t i = 0; i < o->nresults && i < MAX_RESULTS; i++) {
        told &= shape_of_value(p, o->first_result + i, &shapes[i]);
        types[i] = graph_dtype(g, o->first_result + i);
    }
    struct str name = mlir_op_name(g->m, op);
    if (g->kind[op] == K_UNKNOWN)
        return bench_beyond(b, "no evaluator for %.*s", (int)name.n, name.p);
    struct call c = {.kind = (enum op_kind)g->kind[op],
                     .ttnn = is_ttnn(g, op),
                     .noperands = graph_noperands(g, op),
                     .operands = operands,
                     .operand_types = from,
                     .nresults = o->nresults,
                     .shapes = told ? shapes : NULL,
                     .types = types,
                     .attribute = op_attribute,
                     .self = &text};
    return interpret(b, &c, results);
}

/* ---- many ---- */

/* Tensors by value id: open addressing, twice as many places as values at least. */
struct known {
    struct arena *arena;
    uint32_t n, cap; /* a power of two */
    struct given *at;
};

static struct given *place_of(const struct known *k, uint32_t value) {
    uint32_t i = value * 2654435761u & (k->cap - 1);
    while (k->at[i].tensor && k->at[i].value != value)
        i = (i + 1) & (k->cap - 1);
    return &k->at[i];
}

static const struct tensor *find(const struct known *k, uint32_t value) {
    return k->cap ? place_of(k, value)->tensor : NULL;
}

static void know(struct known *k, uint32_t value, const struct tensor *t) {
    if (2 * (k->n + 1) > k->cap) {
        struct known more = {k->arena, 0, k->cap ? 2 * k->cap : 64, NULL};
        more.at = arena_alloc(k->arena, more.cap * sizeof *more.at);
        for (uint32_t i = 0; i < k->cap; i++)
            if (k->at[i].tensor)
                know(&more, k->at[i].value, k->at[i].tensor);
        *k = more;
    }
    struct given *g = place_of(k, value);
    k->n += g->tensor == NULL;
    *g = (struct given){value, t};
}

struct evaluation_run {
    struct bench *bench;
    const struct program *program;
    struct known known;
    uint32_t *stack, n, cap; /* values that are wanted */
};

static void want(struct evaluation_run *r, uint32_t value) {
    if (r->n == r->cap) {
        uint32_t cap = r->cap ? 2 * r->cap : 64, *more = arena_alloc(r->bench->arena, cap * sizeof *more);
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
    if (p->nops == 0 || graph_class(g, op) == OP_CONSTANT || g->kind[op] == K_ARANGE ||
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
    return bench_fail(r->bench, "%.*s is not given", (int)name.n, name.p);
}

/* The value whose tensor a call's result or an argument has. */
static uint32_t same_as(const struct graph *g, uint32_t value) {
    uint32_t op = g->m->values[value].def;
    if (op == NONE)
        return graph_caller_value(g, value);
    return g->kind[op] == K_CALL ? graph_callee_value(g, value) : NONE;
}

static bool evaluate_op(struct evaluation_run *r, uint32_t op) {
    const struct graph *g = r->program->graph;
    uint32_t n = graph_noperands(g, op);
    const struct tensor **operands = arena_alloc(r->bench->arena, (n + 1) * sizeof(const struct tensor *)),
                        *results[MAX_RESULTS] = {NULL};
    for (uint32_t i = 0; i < n; i++)
        operands[i] = graph_operands(g, op)[i] == NONE ? NULL : find(&r->known, graph_operands(g, op)[i]);
    if (!interpret_op(r->bench, r->program, op, operands, results))
        return false;
    for (uint32_t i = 0; i < g->m->ops[op].nresults && i < MAX_RESULTS; i++)
        know(&r->known, g->m->ops[op].first_result + i, results[i]);
    return true;
}

enum { MAX_WANTED = 1 << 20 }; /* a cycle of calls ends here */

/* One step for the value on top of the stack: what it needs is put on top, or it is evaluated. */
static bool step(struct evaluation_run *r) {
    const struct graph *g = r->program->graph;
    uint32_t value = r->stack[r->n - 1], op = g->m->values[value].def, before = r->n;
    if (find(&r->known, value)) {
        r->n--;
        return true;
    }
    if (r->n > MAX_WANTED)
        return bench_fail(r->bench, "values depend on one another without end");
    uint32_t same = same_as(g, value);
    if (same != NONE) {
        const struct tensor *t = find(&r->known, same);
        if (t)
            know(&r->known, value, t);
        else
            want(r, same);
        return true;
    }
    if (op == NONE || !allowed(r->program, op))
        return not_given(r, value);
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t v = graph_operands(g, op)[i];
        if (v != NONE && !find(&r->known, v))
            want(r, v);
    }
    return r->n > before || evaluate_op(r, op);
}

bool interpret_values(struct bench *b, const struct program *p, const uint32_t *values, uint32_t n,
                      const struct tensor **out) {
    struct evaluation_run r = {.bench = b, .program = p, .known = {.arena = b->arena}};
    for (uint32_t i = 0; i < p->ngiven; i++)
        know(&r.known, p->given[i].value, p->given[i].tensor);
    for (uint32_t i = 0; i < n; i++) {
        for (want(&r, values[i]); r.n > 0;)
            if (!step(&r))
                return false;
        out[i] = find(&r.known, values[i]);
    }
    return true;
}
