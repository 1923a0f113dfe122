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

/* By name; what has no dot in it names no op. */
static uint16_t *kinds_by_name(const struct mlir *m) {
    uint16_t *kinds = zeroed(m->nnames, sizeof *kinds);
    for (uint32_t i = 0; i < m->nnames; i++)
        if (memchr(m->names[i].p, '.', m->names[i].n))
            kinds[i] = (uint16_t)op_kind_of_spelling(m->names[i]);
    return kinds;
}

/* A run of ops whose operands are set apart from those of others, and put together when all are. */
struct range {
    uint32_t begin, end; /* ops */
    uint32_t *operands, n;
    uint32_t ndestinations;
};

struct build {
    struct graph *graph;
    uint16_t *kinds; /* by name */
    struct range ranges[MAX_RANGES];
    uint32_t nranges;
    uint32_t at[MAX_RANGES + 1], nvalue_ranges; /* of values */
};

static bool is_device(const struct mlir *m, uint32_t v) {
    return m->types[m->values[v].type].kind == TYPE_DEVICE;
}

/* Old text is destination-passing: the last operand is a fresh *.empty that the op writes to. */
static bool is_destination(const struct build *b, uint32_t v) {
    const struct mlir *m = b->graph->m;
    uint32_t def = m->values[v].def;
    return def != NONE && b->kinds[m->ops[def].name] == K_EMPTY;
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
static uint32_t written_operands(const struct build *b, struct range *r, uint32_t i, uint32_t *out) {
    const struct graph *g = b->graph;
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
    if (n > 0 && !by_place && is_destination(b, out[n - 1])) {
        n--;
        r->ndestinations++;
    }
    return n;
}

/* Data operands of an op by role into `out` (room for all written operands, at least MAX_ROLES). */
static uint32_t data_operands(const struct build *b, struct range *range, uint32_t i, uint32_t *out) {
    struct graph *g = b->graph;
    uint32_t n = written_operands(b, range, i, out);
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

static uint32_t operands_before(const struct mlir *m, uint32_t op) {
    return op < m->nops ? m->ops[op].first_operand : m->noperands;
}

static void set_operands(struct build *b, struct range *r) {
    struct graph *g = b->graph;
    uint32_t cap = 0, from = operands_before(g->m, r->begin), to = operands_before(g->m, r->end);
    r->operands = grow(NULL, &cap, (to > from ? to - from : 0) + MAX_ROLES, sizeof *r->operands); /* mostly enough */
    for (uint32_t i = r->begin; i < r->end; i++) {
        g->kind[i] = b->kinds[g->m->ops[i].name];
        r->operands = grow(r->operands, &cap, r->n + g->m->ops[i].noperands + MAX_ROLES, sizeof *r->operands);
        g->first_operand[i] = r->n;
        r->n += data_operands(b, r, i, r->operands + r->n);
    }
}

static void join_operands(struct build *b) {
    struct graph *g = b->graph;
    uint32_t n = b->ranges[0].n, all = 0, cap = n;
    g->operands = b->ranges[0].operands;
    for (uint32_t i = 0; i < b->nranges; i++) {
        g->ndestinations += b->ranges[i].ndestinations;
        all += b->ranges[i].n;
    }
    g->operands = grow(g->operands, &cap, all, sizeof *g->operands);
    for (uint32_t i = 1; i < b->nranges; i++) {
        struct range *r = &b->ranges[i];
        memcpy(g->operands + n, r->operands, r->n * sizeof *g->operands);
        for (uint32_t op = r->begin; op < r->end; op++)
            g->first_operand[op] += n;
        n += r->n;
        free(r->operands);
    }
    g->first_operand[g->m->nops] = n;
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
        g->has_loose_ops |= f == NONE && (op->nresults > 0 || op->noperands > 0);
        if (op->callee != NONE && kinds[op->name] != K_FUNC) {
            g->has_calls = true;
            mark_call(g, i);
        }
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

/* What does not ask for each other once the kinds of names are known. */
static void build_first(void *context, uint32_t i, uint32_t slot) {
    struct build *b = context;
    (void)slot;
    if (i < b->nranges)
        set_operands(b, &b->ranges[i]);
    else
        set_functions(b->graph, b->kinds);
}

/* And once operands and functions are. The uses first: they take longest. */
static void build_rest(void *context, uint32_t i, uint32_t slot) {
    struct build *b = context;
    (void)slot;
    if (i == 0) {
        set_uses(b->graph);
        set_ops_before(b->graph);
        return;
    }
    values_build(b->graph, b->at[i - 1], b->at[i]);
}

static void cut_ranges(struct build *b, uint32_t n) {
    uint32_t nops = b->graph->m->nops;
    b->nranges = n;
    for (uint32_t i = 0; i < n; i++) {
        b->ranges[i].begin = (uint32_t)((uint64_t)nops * i / n);
        b->ranges[i].end = (uint32_t)((uint64_t)nops * (i + 1) / n);
    }
}

void graph_build(struct graph *g, const struct mlir *m) {
    graph_build_jobs(g, m, 1);
}

void graph_build_jobs(struct graph *g, const struct mlir *m, uint32_t jobs) {
    memset(g, 0, sizeof *g);
    g->m = m;
    g->kind = zeroed(m->nops, sizeof *g->kind);
    g->first_operand = zeroed((size_t)m->nops + 1, sizeof *g->first_operand);
    struct build b = {.graph = g, .kinds = kinds_by_name(m)};
    if (m->nops < LEAST_OPS)
        jobs = 1;
    uint32_t ranges = work_pieces(jobs, MAX_RANGES);
    cut_ranges(&b, ranges);
    work_run(b.nranges + 1, jobs, build_first, &b);
    join_operands(&b);
    free(b.kinds);
    b.nvalue_ranges = values_begin(g, ranges, b.at);
    work_run(b.nvalue_ranges + 1, jobs, build_rest, &b);
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
