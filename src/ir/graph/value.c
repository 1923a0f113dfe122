/* Constants and dependence, computed once for all values, each after what it is made of; calls are
 * followed into their functions. A constant is known only when every element is the same known number. */
#include "ir/graph/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/graph/mesh.h"

enum { F_DONE = 1, F_CONSTANT = 2, F_PARAMETER = 4, F_BUSY = 8, F_INPUT = 16 };
enum { MAX_WALK = 256 };

uint32_t graph_callee_value(const struct graph *g, uint32_t v) {
    uint32_t def = g->m->values[v].def;
    if (def == NONE || graph_class(g, def) != OP_CALL || g->m->ops[def].callee == NONE)
        return NONE;
    uint32_t f = mlir_find_func(g->m, g->m->ops[def].callee), index = g->m->values[v].index;
    uint32_t end = f == NONE ? NONE : g->return_op[f];
    return end != NONE && index < graph_noperands(g, end) ? graph_operands(g, end)[index] : NONE;
}

bool graph_argument_of(const struct graph *g, uint32_t v, uint32_t *func, uint32_t *number) {
    if (g->m->values[v].def != NONE)
        return false;
    uint32_t lo = 0, hi = g->narg_funcs; /* the last one whose arguments begin at v or before */
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (g->m->funcs[g->arg_funcs[mid]].first_arg <= v)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == 0)
        return false;
    const struct mlir_func *f = &g->m->funcs[g->arg_funcs[lo - 1]];
    *func = g->arg_funcs[lo - 1];
    *number = v - f->first_arg;
    return *number < f->nargs;
}

uint32_t graph_caller_value(const struct graph *g, uint32_t v) {
    uint32_t f, n;
    if (!g->has_call_sites || !graph_argument_of(g, v, &f, &n) || g->call_site[f] == NONE)
        return NONE;
    uint32_t site = g->call_site[f];
    return n < graph_noperands(g, site) ? graph_operands(g, site)[n] : NONE;
}

static struct str argument_attr(const struct graph *g, uint32_t v, const char *key) {
    uint32_t f, n;
    struct str text = {"", 0};
    if (graph_argument_of(g, v, &f, &n))
        mlir_arg_attr(g->m, f, n, key, &text);
    return text;
}

struct str graph_argument_type(const struct graph *g, uint32_t v) {
    uint32_t f, n;
    struct str text = STR("");
    if (graph_argument_of(g, v, &f, &n) && !mlir_arg_attr(g->m, f, n, "ttcore.argument_type", &text))
        mlir_arg_attr(g->m, f, n, "tt.argument_type", &text);
    const char *open = text.n ? memchr(text.p, '<', text.n) : NULL;
    const char *close = open ? memchr(open, '>', text.n - (size_t)(open - text.p)) : NULL;
    return close ? (struct str){open + 1, (size_t)(close - open - 1)} : STR("");
}

struct str graph_argument_name(const struct graph *g, uint32_t v) {
    struct str name, text = argument_attr(g, v, "ttir.name");
    return mlir_string(text, &name) ? name : STR("");
}

static struct constant unknown(void) {
    return (struct constant){false, 0, 53};
}

/* A number as a type of integers holds it, which is how the compiler folds it. */
static double held(enum dtype t, double x) {
    double end = ldexp(1, dtype_table[t].bits - dtype_table[t].is_signed), low = dtype_table[t].is_signed ? -end : 0;
    return format_is_integer(t) && t != DT_I1 ? fmin(fmax(trunc(x), low), end - 1) : x;
}

/* The number that a constant op holds in every element. */
static struct constant constant_op(const struct graph *g, uint32_t op, uint32_t v) {
    struct constant c = {true, 0, dtype_table[graph_dtype(g, v)].precision};
    const struct attr *value = attrs_find(graph_attributes(g, op), "value"), *filled = value;
    switch (g->kind[op]) {
    case K_ZEROS:
        return c;
    case K_ONES:
        c.value = 1;
        return c;
    case K_FULL:
        if (attrs_find(graph_attributes(g, op), "fill_value"))
            filled = attrs_find(graph_attributes(g, op), "fill_value");
        c.known = filled && (filled->is_number || mlir_splat(filled->text, &c.value));
        if (c.known && filled->is_number)
            c.value = filled->number;
        c.value = held(graph_dtype(g, v), c.value);
        return c;
    case K_CONSTANT:
        c.known = value && mlir_splat(value->text, &c.value);
        return c;
    default:
        return unknown();
    }
}

static bool fold(enum op_kind k, const double *x, double *out) {
    switch (k) {
    case K_ADD:
        *out = x[0] + x[1];
        return true;
    case K_SUBTRACT:
        *out = x[0] - x[1];
        return true;
    case K_MULTIPLY:
        *out = x[0] * x[1];
        return true;
    case K_DIVIDE:
        *out = x[0] / x[1];
        return true;
    case K_POW:
        *out = pow(x[0], x[1]);
        return true;
    case K_NEG:
        *out = -x[0];
        return true;
    case K_SQRT:
        *out = sqrt(x[0]);
        return true;
    case K_RSQRT:
        *out = 1 / sqrt(x[0]);
        return true;
    case K_RECIPROCAL:
        *out = 1 / x[0];
        return true;
    default:
        return false;
    }
}

/* Bits of the numbers that an integer format holds; those of more than 31 are not computed with. */
static int integer_bits(enum dtype t) {
    int bits = dtype_table[t].bits - dtype_table[t].is_signed;
    return bits < 31 ? bits : 31;
}

/* Whether a number stays what it is in a format; a cast to integers drops the fraction first. */
static bool fits(enum dtype t, bool cast, double *x) {
    if (t == DT_I1 && cast)
        *x = *x != 0;
    if (t == DT_F16 && fabs(*x) >= 65520)
        *x = copysign(INFINITY, *x);
    if (!format_is_integer(t))
        return true;
    if (cast)
        *x = trunc(*x);
    return *x == trunc(*x) && fabs(*x) < ldexp(1, integer_bits(t)) && (*x >= 0 || dtype_table[t].is_signed);
}

static struct constant folded(const struct graph *g, uint32_t op, uint32_t v) {
    double x[2] = {0, 0}; /* both are set for a kind of two operands: it has them */
    uint32_t n = graph_noperands(g, op);
    struct constant c = {true, 0, dtype_table[graph_dtype(g, v)].precision};
    if (n < 1 || n > 2)
        return unknown();
    for (uint32_t k = 0; k < n; k++) {
        struct constant o = graph_operands(g, op)[k] == NONE ? unknown() : graph_constant(g, graph_operands(g, op)[k]);
        if (!o.known)
            return unknown();
        x[k] = o.value;
        if (o.bits < c.bits)
            c.bits = o.bits;
    }
    const struct attr *rhs = attrs_find(graph_attributes(g, op), "rhs");
    if (g->kind[op] == K_POW && n == 1 && !(rhs && rhs->is_number))
        return unknown();
    if (n == 1 && rhs)
        x[1] = rhs->number;
    c.known = fold((enum op_kind)g->kind[op], x, &c.value) && fits(graph_dtype(g, v), false, &c.value);
    return c;
}

static struct constant looked_through(const struct graph *g, uint32_t from, uint32_t v, bool cast) {
    struct constant c = from == NONE ? unknown() : graph_constant(g, from);
    int bits = dtype_table[graph_dtype(g, v)].precision;
    if (c.known && bits < c.bits)
        c.bits = bits;
    if (cast && c.known)
        c.known = fits(graph_dtype(g, v), true, &c.value);
    return c;
}

static struct constant constant_of(const struct graph *g, uint32_t v) {
    uint32_t op = g->m->values[v].def;
    if (op == NONE)
        return looked_through(g, graph_caller_value(g, v), v, false);
    switch (graph_class(g, op)) {
    case OP_CONSTANT:
        return constant_op(g, op, v);
    case OP_MOVE:
    case OP_CAST:
    case OP_LAYOUT:
        return looked_through(g, graph_operands(g, op)[0], v, graph_class(g, op) == OP_CAST);
    case OP_CALL:
        return looked_through(g, graph_callee_value(g, v), v, false);
    case OP_ELTWISE:
        return folded(g, op, v);
    default:
        return unknown();
    }
}

struct constant graph_constant(const struct graph *g, uint32_t v) {
    if (!(g->value_flags[v] & F_CONSTANT))
        return unknown();
    return (struct constant){true, g->constants[v], g->constant_bits[v]};
}

/* The number that changes nothing as the second operand of an operator; of one that commutes also as the first. */
static const struct {
    enum op_kind kind;
    double number;
} neutral_numbers[] = {{K_ADD, 0}, {K_SUBTRACT, 0},        {K_MULTIPLY, 1},      {K_DIVIDE, 1},
                       {K_POW, 1}, {K_MAXIMUM, -INFINITY}, {K_MINIMUM, INFINITY}};

/* The operand that such a number leaves as it is, perhaps repeated. */
static uint32_t unchanged(const struct graph *g, uint32_t op) {
    const uint32_t *v = graph_operands(g, op);
    enum op_kind k = (enum op_kind)g->kind[op];
    for (size_t i = 0; i < sizeof neutral_numbers / sizeof *neutral_numbers; i++)
        for (uint32_t of = 2; k == neutral_numbers[i].kind && of-- > (op_is(k, COMMUTES) ? 0u : 1u);)
            if (v[0] != NONE && v[1] != NONE && graph_constant(g, v[of]).known &&
                graph_constant(g, v[of]).value == neutral_numbers[i].number)
                return v[1 - of];
    return NONE;
}

/* The operand of an op that changes nothing. */
static uint32_t kept_operand(const struct graph *g, uint32_t op) {
    uint32_t x = graph_operands(g, op)[0];
    switch (g->kind[op]) {
    case K_MAXIMUM:
    case K_MINIMUM:
        return unchanged(g, op);
    case K_SUM: /* of single elements */
    case K_MEAN:
    case K_MAX:
    case K_MIN:
    case K_PROD:
    case K_SLICE: /* of all elements */
        return graph_numel(g, x) >= 0 && graph_numel(g, x) == graph_numel(g, g->m->ops[op].first_result) ? x : NONE;
    default:
        return graph_noperands(g, op) == 2 ? unchanged(g, op) : NONE;
    }
}

/* A table of one row, which is that row for each id. */
static uint32_t only_row(const struct graph *g, uint32_t op) {
    uint32_t table = graph_noperands(g, op) == 2 ? graph_operands(g, op)[1] : NONE, rank = 0;
    const int64_t *shape = table == NONE ? NULL : graph_shape(g, table, &rank);
    return shape && rank > 0 && graph_numel(g, table) == shape[rank - 1] ? table : NONE;
}

static uint32_t through(const struct graph *g, uint32_t op) {
    uint32_t n = graph_noperands(g, op);
    switch (graph_class(g, op)) {
    case OP_MOVE:
    case OP_CAST:
    case OP_LAYOUT:
        return n == 1 ? graph_operands(g, op)[0] : NONE;
    case OP_ELTWISE:
    case OP_REDUCE:
    case OP_SLICE:
        return n == 0 ? NONE : kept_operand(g, op);
    default:
        return g->kind[op] == K_EMBEDDING ? only_row(g, op) : mesh_repeated(g, op);
    }
}

/* What is computed of parameters alone is moved into functions that run once: nothing else is passed to them. */
static bool is_cached(const struct graph *g, uint32_t v) {
    for (uint32_t u = g->first_use[v]; u < g->first_use[v + 1]; u++) {
        uint32_t op = g->uses[u], f = NONE;
        if (graph_class(g, op) == OP_CALL && g->m->ops[op].callee != NONE)
            f = mlir_find_func(g->m, g->m->ops[op].callee);
        if (f != NONE && g->func_kind[f] == FUNC_CONST_EVAL)
            return true;
    }
    return false;
}

/* The last word of the name of what torch and flax store with a model. */
static bool is_name_of_parameter(struct str name) {
    static const char *const words[] = {"weight", "bias", "kernel", "running_mean", "running_var"};
    bool is = false;
    for (size_t i = 0; i < sizeof words / sizeof *words && !is; i++) {
        struct str word = str_of(words[i]);
        is = str_ends(name, word) && name.n > word.n && strchr("._/", name.p[name.n - word.n - 1]);
    }
    return is;
}

/* Flags of an argument: those of the value that its only caller passes, else what ttcore.argument_type says, else its
 * use and its name; none of them: nothing says what it is. */
static unsigned argument_flags(const struct graph *g, uint32_t v) {
    uint32_t caller = graph_caller_value(g, v);
    if (caller != NONE)
        return graph_is_parameter(g, caller) ? F_PARAMETER : 0;
    struct str t = graph_argument_type(g, v);
    if (t.n)
        return str_is(t, "parameter") || str_is(t, "constant") ? F_PARAMETER : str_is(t, "input") ? F_INPUT : 0;
    return is_cached(g, v) || is_name_of_parameter(graph_argument_name(g, v)) ? F_PARAMETER : 0;
}

/* Without operands, yet the same at every run: not rand or load_tensor. */
static bool always_the_same(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    return op_generates((enum op_kind)g->kind[op]) || c == OP_CALL || c == OP_STRUCTURE;
}

/* Whether the result of an op depends on parameters only. */
static bool parameter_of(const struct graph *g, uint32_t v) {
    const struct mlir *m = g->m;
    uint32_t op = m->values[v].def;
    if (v != m->ops[op].first_result)
        return graph_is_parameter(g, m->ops[op].first_result);
    if (graph_noperands(g, op) == 0)
        return always_the_same(g, op);
    for (uint32_t k = 0; k < graph_noperands(g, op); k++)
        if (graph_operands(g, op)[k] != NONE && !graph_is_parameter(g, graph_operands(g, op)[k]))
            return false;
    return true;
}

/* Values that wait for what they are made of. */
struct waiting {
    uint32_t *v, n, cap;
};

static void wait_for(const struct graph *g, struct waiting *w, uint32_t v) {
    if (v == NONE || (g->value_flags[v] & (F_DONE | F_BUSY)))
        return;
    w->v = grow(w->v, &w->cap, w->n + 1, sizeof *w->v);
    w->v[w->n++] = v;
}

/* What must be known before `v` is. */
static void wait_for_sources(const struct graph *g, struct waiting *w, uint32_t v) {
    uint32_t op = g->m->values[v].def;
    if (op == NONE) {
        wait_for(g, w, graph_caller_value(g, v));
        return;
    }
    wait_for(g, w, graph_callee_value(g, v));
    if (v != g->m->ops[op].first_result) {
        wait_for(g, w, g->m->ops[op].first_result);
        return;
    }
    for (uint32_t k = 0; k < graph_noperands(g, op); k++)
        wait_for(g, w, graph_operands(g, op)[k]);
}

static void compute(struct graph *g, uint32_t v) {
    struct constant c = constant_of(g, v);
    unsigned flags = F_DONE | (c.known ? F_CONSTANT : 0u);
    if (g->m->values[v].def == NONE)
        flags |= argument_flags(g, v);
    if (g->m->types[g->m->values[v].type].kind == TYPE_DEVICE || (g->m->values[v].def != NONE && parameter_of(g, v)))
        flags |= F_PARAMETER;
    if (c.known) {
        g->constants[v] = c.value;
        g->constant_bits[v] = (uint8_t)c.bits;
    }
    g->value_flags[v] = (uint8_t)flags;
}

/* Fast path: all operands are done, as they are where definitions precede uses. */
static bool sources_are_done(const struct graph *g, uint32_t v) {
    uint32_t op = g->m->values[v].def;
    if (op == NONE)
        return !g->has_call_sites;
    if (graph_class(g, op) == OP_CALL || v != g->m->ops[op].first_result)
        return false;
    for (uint32_t k = g->first_operand[op]; k < g->first_operand[op + 1]; k++)
        if (g->operands[k] != NONE && !(g->value_flags[g->operands[k]] & F_DONE))
            return false;
    return true;
}

/* Depth first with an explicit stack: chains may be as long as the text. A value that is asked for while it is computed
 * is part of a cycle (a function that calls itself) and stays unknown. */
static void compute_values(struct graph *g) {
    struct waiting w = {0};
    for (uint32_t v = 0; v < g->m->nvalues; v++) {
        if (!(g->value_flags[v] & F_DONE) && sources_are_done(g, v)) {
            compute(g, v);
            continue;
        }
        for (wait_for(g, &w, v); w.n > 0;) {
            uint32_t top = w.v[w.n - 1], before = w.n;
            uint8_t *flags = &g->value_flags[top];
            if (!(*flags & (F_DONE | F_BUSY))) {
                *flags |= F_BUSY;
                wait_for_sources(g, &w, top);
            }
            if (w.n > before)
                continue;
            w.n--;
            if (!(*flags & F_DONE))
                compute(g, top);
        }
    }
    free(w.v);
}

void values_build(struct graph *g) {
    size_t n = (size_t)g->m->nvalues + 1;
    g->value_flags = xcalloc(n, 1);
    g->constants = xrealloc(NULL, n * sizeof *g->constants);
    g->constant_bits = xrealloc(NULL, n);
    compute_values(g);
    g->through = xrealloc(NULL, ((size_t)g->m->nops + 1) * sizeof *g->through);
    for (uint32_t op = 0; op < g->m->nops; op++)
        g->through[op] = through(g, op);
}

void values_free(struct graph *g) {
    free(g->value_flags);
    free(g->constants);
    free(g->constant_bits);
    free(g->through);
}

bool graph_is_parameter(const struct graph *g, uint32_t v) {
    return (g->value_flags[v] & F_PARAMETER) != 0;
}

bool graph_argument_is_input(const struct graph *g, uint32_t v) {
    return (g->value_flags[v] & F_INPUT) != 0;
}

uint32_t graph_argument(const struct graph *g, uint32_t v) {
    for (int step = 0; v != NONE && step < MAX_WALK; step++) {
        uint32_t op = g->m->values[v].def;
        if (op == NONE) {
            uint32_t caller = graph_caller_value(g, v), f, number;
            if (caller == NONE)
                return graph_argument_of(g, v, &f, &number) && g->func_kind[f] == FUNC_MAIN ? v : NONE;
            v = caller;
            continue;
        }
        enum op_class c = graph_class(g, op);
        if (c == OP_CALL)
            v = graph_callee_value(g, v);
        else if (class_moves(c) || graph_op_is(g, op, SHARDS)) /* what a device has of it, too */
            v = graph_operands(g, op)[0];
        else
            return NONE;
    }
    return NONE;
}
