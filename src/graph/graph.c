/* Builds the graph of a module in a few linear passes: kinds, data operands, uses, functions. */
#include "graph/graph.h"
#include "base/work.h"
#include "graph/value.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ROLES = 8, MAX_RANGES = 64, LEAST_OPS = 10000 /* for which a second thread pays off */ };

static void *zeroed(size_t n, size_t size) {
    return xcalloc(n ? n : 1, size);
}

/* How many data operands a kind has; `all` is -1 for any number. */
struct arity {
    int all, required;
};

static struct arity arity_of(const char *roles) {
    if (*roles == '*')
        return (struct arity){-1, 0};
    struct arity n = {*roles != '\0', *roles != '\0'};
    for (; *roles; roles++) {
        n.all += *roles == ',';
        n.required += (*roles == ',') - (*roles == '?' || *roles == '=');
    }
    return n;
}

/* Also by name, of those that name an op. */
static uint16_t *set_kinds(struct graph *g) {
    const struct mlir *m = g->m;
    uint16_t *by_name = zeroed(m->nnames, sizeof *by_name);
    bool *known = zeroed(m->nnames, sizeof *known);
    for (uint32_t i = 0; i < m->nops; i++) {
        uint32_t name = m->ops[i].name;
        if (!known[name]) {
            known[name] = true;
            by_name[name] = (uint16_t)op_kind_of_spelling(m->names[name]);
        }
        g->kind[i] = by_name[name];
    }
    free(known);
    return by_name;
}

static bool is_device(const struct mlir *m, uint32_t v) {
    return m->types[m->values[v].type].kind == TYPE_DEVICE;
}

/* Old text is destination-passing: the last operand is a fresh *.empty that the op writes to. */
static bool is_destination(const struct graph *g, uint32_t v) {
    uint32_t def = g->m->values[v].def;
    return def != NONE && g->kind[def] == K_EMPTY;
}

/* operandSegmentSizes as 0/1 per role; a dialect may lack the last roles, which are absent then. */
static bool segments(const struct graph *g, uint32_t op, struct arity arity, int64_t *sizes) {
    struct str text;
    if (!mlir_attr(g->m, op, "operandSegmentSizes", &text))
        return false;
    int n = mlir_ints(text, sizes, MAX_ROLES);
    if (n < arity.required || n > MAX_ROLES)
        return false;
    for (int i = n; i < arity.all; i++)
        sizes[i] = 0;
    for (int i = 0; i < n; i++)
        if (sizes[i] != 0 && sizes[i] != 1)
            return false;
    return true;
}

/* Written operands that hold data. */
static uint32_t written_operands(struct graph *g, uint32_t i, uint32_t *out) {
    const struct mlir *m = g->m;
    const struct mlir_op *op = &m->ops[i];
    enum op_class class = graph_class(g, i);
    bool by_place = class == OP_CALL || class == OP_RETURN || class == OP_NO_USE;
    uint32_t n = 0;
    for (uint32_t k = 0; k < op->noperands; k++) {
        uint32_t v = m->operands[op->first_operand + k];
        if (by_place || !is_device(m, v))
            out[n++] = v;
    }
    if (n > 0 && !by_place && is_destination(g, out[n - 1])) {
        n--;
        g->ndestinations++;
    }
    return n;
}

/* Data operands of an op by role into `out` (room for all written operands, at least MAX_ROLES). */
static uint32_t data_operands(struct graph *g, uint32_t i, uint32_t *out) {
    uint32_t n = written_operands(g, i, out);
    const char *roles = op_table[g->kind[i]].roles;
    struct arity arity = arity_of(roles);
    if ((int64_t)n < arity.required) {
        g->kind[i] = K_UNKNOWN;
        return n;
    }
    if (arity.all < 0 || n >= (uint32_t)arity.all || !strchr(roles, '?'))
        return n;
    int64_t sizes[MAX_ROLES];
    if (!segments(g, i, arity, sizes)) {
        while (n < (uint32_t)arity.all)
            out[n++] = NONE;
        return n;
    }
    uint32_t from[MAX_ROLES] = {0}, at = 0;
    for (int r = 0; r < arity.all; r++)
        from[r] = sizes[r] && at < n ? out[at++] : NONE;
    memcpy(out, from, (size_t)arity.all * sizeof *out);
    return (uint32_t)arity.all;
}

static void set_operands(struct graph *g) {
    const struct mlir *m = g->m;
    uint32_t cap = 0;
    g->first_operand = zeroed((size_t)m->nops + 1, sizeof *g->first_operand);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->nops; i++) {
        g->operands = grow(g->operands, &cap, n + m->ops[i].noperands + MAX_ROLES, sizeof *g->operands);
        g->first_operand[i] = n;
        n += data_operands(g, i, g->operands + n);
    }
    g->first_operand[m->nops] = n;
    g->nedges = n;
}

static void set_uses(struct graph *g) {
    const struct mlir *m = g->m;
    g->first_use = zeroed((size_t)m->nvalues + 2, sizeof *g->first_use);
    for (uint32_t i = 0; i < m->nops; i++) {
        if (graph_class(g, i) == OP_NO_USE)
            continue;
        for (uint32_t k = g->first_operand[i]; k < g->first_operand[i + 1]; k++)
            if (g->operands[k] != NONE)
                g->first_use[g->operands[k] + 2]++;
    }
    for (uint32_t v = 0; v < m->nvalues; v++)
        g->first_use[v + 2] += g->first_use[v + 1];
    g->uses = zeroed(g->first_use[m->nvalues + 1], sizeof *g->uses);
    for (uint32_t i = 0; i < m->nops; i++) {
        if (graph_class(g, i) == OP_NO_USE)
            continue;
        for (uint32_t k = g->first_operand[i]; k < g->first_operand[i + 1]; k++)
            if (g->operands[k] != NONE)
                g->uses[g->first_use[g->operands[k] + 1]++] = i;
    }
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
    return FUNC_MAIN;
}

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
    g->call_site[f] = g->call_site[f] == NONE ? op : NONE - 1;
}

/* Calls, returns and the dialects met in each function; `seen` has one more entry for ops outside of all. Kinds are
 * those of names: that of an op may change meanwhile. */
static void mark_functions(struct graph *g, const uint16_t *kinds, uint8_t *seen) {
    const struct mlir *m = g->m;
    uint8_t *dialects = zeroed(m->nnames, sizeof *dialects);
    for (uint32_t i = 0; i < m->nnames; i++)
        dialects[i] = dialect_of(m->names[i]);
    for (uint32_t i = 0; i < m->nops; i++) {
        const struct mlir_op *op = &m->ops[i];
        uint32_t f = op->func;
        seen[f == NONE ? m->nfuncs : f] |= dialects[op->name];
        if (op->callee != NONE && kinds[op->name] != K_FUNC)
            mark_call(g, i);
        if (kinds[op->name] == K_RETURN && f != NONE)
            g->return_op[f] = g->return_op[f] == NONE ? i : NONE - 1;
    }
    free(dialects);
}

static void set_functions(struct graph *g, const uint16_t *kinds) {
    const struct mlir *m = g->m;
    uint8_t *seen = zeroed((size_t)m->nfuncs + 1, sizeof *seen), all = 0;
    g->func_kind = zeroed(m->nfuncs, sizeof *g->func_kind);
    g->call_site = zeroed(m->nfuncs, sizeof *g->call_site);
    g->return_op = zeroed(m->nfuncs, sizeof *g->return_op);
    g->arg_funcs = zeroed(m->nfuncs, sizeof *g->arg_funcs);
    for (uint32_t f = 0; f < m->nfuncs; f++) {
        g->func_kind[f] = (uint8_t)kind_of_function(m, &m->funcs[f]);
        g->call_site[f] = g->return_op[f] = NONE;
        if (m->funcs[f].nargs > 0)
            g->arg_funcs[g->narg_funcs++] = f;
    }
    mark_functions(g, kinds, seen);
    for (uint32_t f = 0; f <= m->nfuncs; f++)
        if (f == m->nfuncs || g->func_kind[f] == FUNC_MAIN)
            all |= seen[f];
    for (uint32_t f = 0; f < m->nfuncs; f++) { /* NONE - 1: several */
        g->call_site[f] = g->call_site[f] == NONE - 1 ? NONE : g->call_site[f];
        g->has_call_sites |= g->call_site[f] != NONE;
        g->return_op[f] = g->return_op[f] == NONE - 1 ? NONE : g->return_op[f];
    }
    g->has_ttir = all & SEEN_TTIR;
    g->has_ttnn = all & SEEN_TTNN;
    free(seen);
}

static void set_ops_before(struct graph *g) {
    uint32_t n = 0;
    g->ops_before = zeroed((size_t)g->m->nops + 1, sizeof *g->ops_before);
    for (uint32_t i = 0; i < g->m->nops; i++) {
        enum op_class c = graph_class(g, i);
        g->ops_before[i] = n;
        n += c != OP_NO_USE && c != OP_STRUCTURE && c != OP_CONSTANT && c != OP_CALL && c != OP_RETURN;
    }
    g->ops_before[g->m->nops] = n;
}

struct build {
    struct graph *graph;
    uint16_t *kinds;                      /* by name */
    uint32_t at[MAX_RANGES + 1], nranges; /* of values */
};

enum { BUILD_OPERANDS, BUILD_FUNCTIONS, FIRST_BUILT };

/* What does not ask for each other once kinds are known, and then once operands and functions are. */
static void build_first(void *context, uint32_t i, uint32_t slot) {
    struct build *b = context;
    (void)slot;
    if (i == BUILD_OPERANDS)
        set_operands(b->graph);
    else
        set_functions(b->graph, b->kinds);
}

static void build_rest(void *context, uint32_t i, uint32_t slot) {
    struct build *b = context;
    (void)slot;
    if (i < b->nranges) {
        values_build(b->graph, b->at[i], b->at[i + 1]);
        return;
    }
    set_uses(b->graph);
    set_ops_before(b->graph);
}

void graph_build(struct graph *g, const struct mlir *m) {
    graph_build_jobs(g, m, 1);
}

void graph_build_jobs(struct graph *g, const struct mlir *m, uint32_t jobs) {
    memset(g, 0, sizeof *g);
    g->m = m;
    g->kind = zeroed(m->nops, sizeof *g->kind);
    struct build b = {.graph = g, .kinds = set_kinds(g)};
    if (m->nops < LEAST_OPS)
        jobs = 1;
    work_run(FIRST_BUILT, jobs, build_first, &b);
    free(b.kinds);
    b.nranges = values_begin(g, jobs == 1 ? 1 : jobs < MAX_RANGES / 4 ? 4 * jobs : MAX_RANGES, b.at);
    work_run(b.nranges + 1, jobs, build_rest, &b);
}

void graph_free(struct graph *g) {
    values_free(g);
    free(g->kind);
    free(g->first_operand);
    free(g->operands);
    free(g->first_use);
    free(g->uses);
    free(g->func_kind);
    free(g->call_site);
    free(g->return_op);
    free(g->arg_funcs);
    free(g->ops_before);
    memset(g, 0, sizeof *g);
}

int64_t graph_numel(const struct graph *g, uint32_t value) {
    uint32_t rank;
    const int64_t *shape = graph_shape(g, value, &rank);
    if (!shape)
        return -1;
    int64_t n = 1;
    for (uint32_t d = 0; d < rank; d++)
        if (shape[d] < 0 || __builtin_mul_overflow(n, shape[d], &n))
            return -1;
    return n;
}

enum dtype graph_dtype(const struct graph *g, uint32_t value) {
    return g->m->types[g->m->values[value].type].dtype;
}

/* One clause of `strict`: "attr", "attr=value" or "attr~text". */
static bool clause_holds(const struct graph *g, uint32_t op, struct str clause) {
    char key[64];
    size_t n = 0;
    while (n < clause.n && clause.p[n] != '=' && clause.p[n] != '~')
        n++;
    if (n >= sizeof key)
        return false;
    memcpy(key, clause.p, n);
    key[n] = 0;
    struct str value;
    if (!mlir_attr(g->m, op, key, &value))
        return true;
    if (n == clause.n)
        return false;
    struct str rest = {clause.p + n + 1, clause.n - n - 1};
    return clause.p[n] == '=' ? str_eq(value, rest) : str_find(value, rest) == NULL;
}

bool graph_plain(const struct graph *g, uint32_t op) {
    for (const char *p = op_table[g->kind[op]].strict; *p;) {
        size_t n = strcspn(p, ",");
        if (!clause_holds(g, op, (struct str){p, n}))
            return false;
        p += n;
        p += *p == ',';
    }
    return true;
}
