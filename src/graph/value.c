/* Constants and dependence, computed once for all values in textual order; calls are followed into
 * their functions. A constant is known only when every element is the same known number. */
#include "graph/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { F_DONE = 1, F_CONSTANT = 2, F_PARAMETER = 4, F_BUSY = 8 };
enum { MAX_DEPTH = 64, MAX_WALK = 256 };

/* Significant bits of a format; 53 where values are exact. */
static int significant_bits(enum dtype t) {
    switch (t) {
    case DT_F32:
        return 24;
    case DT_TF32:
    case DT_F16:
        return 11;
    case DT_BF16:
        return 8;
    case DT_BFP8:
        return 7; /* device model: 7 magnitude bits under a shared exponent */
    case DT_BFP4:
        return 3;
    case DT_BFP2:
        return 1;
    default:
        return 53;
    }
}

static uint32_t returned_value(const struct graph *g, uint32_t func, uint32_t index) {
    const struct mlir_func *f = &g->m->funcs[func];
    for (uint32_t i = f->end_op; i-- > f->first_op;) {
        if (g->kind[i] != K_RETURN || g->m->ops[i].func != func)
            continue;
        return index < graph_noperands(g, i) ? graph_operands(g, i)[index] : NONE;
    }
    return NONE;
}

uint32_t graph_callee_value(const struct graph *g, uint32_t v) {
    uint32_t def = g->m->values[v].def;
    if (def == NONE || g->kind[def] != K_CALL || g->m->ops[def].callee == NONE)
        return NONE;
    uint32_t f = mlir_find_func(g->m, g->m->ops[def].callee);
    return f == NONE ? NONE : returned_value(g, f, g->m->values[v].index);
}

bool graph_argument_of(const struct graph *g, uint32_t v, uint32_t *func, uint32_t *number) {
    if (g->m->values[v].def != NONE)
        return false;
    /* argument ranges of functions are increasing: binary search */
    uint32_t lo = 0, hi = g->m->nfuncs;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (g->m->funcs[mid].first_arg <= v)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (lo-- > 0) {
        const struct mlir_func *f = &g->m->funcs[lo];
        if (v >= f->first_arg && v < f->first_arg + f->nargs) {
            *func = lo;
            *number = v - f->first_arg;
            return true;
        }
        if (f->nargs > 0)
            return false;
    }
    return false;
}

uint32_t graph_caller_value(const struct graph *g, uint32_t v) {
    uint32_t f, n;
    if (!graph_argument_of(g, v, &f, &n) || g->call_site[f] == NONE)
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
    struct str text = argument_attr(g, v, "ttcore.argument_type");
    if (!text.n)
        text = argument_attr(g, v, "tt.argument_type");
    const char *open = text.n ? memchr(text.p, '<', text.n) : NULL;
    const char *close = open ? memchr(open, '>', text.n - (size_t)(open - text.p)) : NULL;
    return close ? (struct str){open + 1, (size_t)(close - open - 1)} : STR("");
}

struct str graph_argument_name(const struct graph *g, uint32_t v) {
    struct str name, text = argument_attr(g, v, "ttir.name");
    return mlir_string(text, &name) ? name : STR("");
}

static struct constant unknown(void) { return (struct constant){false, 0, 53}; }

/* The number that a constant op holds in every element. */
static struct constant constant_op(const struct graph *g, uint32_t op, uint32_t v) {
    struct constant c = {true, 0, significant_bits(graph_dtype(g, v))};
    struct str text;
    switch (g->kind[op]) {
    case K_ZEROS:
        return c;
    case K_ONES:
        c.value = 1;
        return c;
    case K_FULL:
        c.known = (mlir_attr(g->m, op, "fill_value", &text) || mlir_attr(g->m, op, "value", &text)) &&
                  (mlir_float(text, &c.value) || mlir_splat(text, &c.value));
        return c;
    case K_CONSTANT:
        c.known = mlir_attr(g->m, op, "value", &text) && mlir_splat(text, &c.value);
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

static struct constant constant_of(struct graph *g, uint32_t v, int depth);

static struct constant folded(struct graph *g, uint32_t op, uint32_t v, int depth) {
    double x[3];
    uint32_t n = graph_noperands(g, op);
    struct constant c = {true, 0, significant_bits(graph_dtype(g, v))};
    if (n < 1 || n > 2)
        return unknown();
    for (uint32_t k = 0; k < n; k++) {
        struct constant o = graph_operands(g, op)[k] == NONE ? unknown() : constant_of(g, graph_operands(g, op)[k], depth);
        if (!o.known)
            return unknown();
        x[k] = o.value;
        if (o.bits < c.bits)
            c.bits = o.bits;
    }
    struct str text;
    if (g->kind[op] == K_POW && n == 1 && !(mlir_attr(g->m, op, "rhs", &text) && mlir_float(text, &x[1])))
        return unknown();
    c.known = fold((enum op_kind)g->kind[op], x, &c.value);
    return c;
}

static struct constant passed(struct graph *g, uint32_t from, uint32_t v, int depth) {
    struct constant c = from == NONE ? unknown() : constant_of(g, from, depth);
    int bits = significant_bits(graph_dtype(g, v));
    if (c.known && bits < c.bits)
        c.bits = bits;
    return c;
}

static struct constant compute_constant(struct graph *g, uint32_t v, int depth) {
    uint32_t op = g->m->values[v].def;
    if (op == NONE)
        return passed(g, graph_caller_value(g, v), v, depth);
    switch (graph_class(g, op)) {
    case OP_CONSTANT:
        return constant_op(g, op, v);
    case OP_MOVE:
    case OP_CAST:
    case OP_LAYOUT:
        return graph_noperands(g, op) ? passed(g, graph_operands(g, op)[0], v, depth) : unknown();
    case OP_CALL:
        return passed(g, graph_callee_value(g, v), v, depth);
    case OP_ELTWISE:
        return folded(g, op, v, depth);
    default:
        return unknown();
    }
}

static struct constant constant_of(struct graph *g, uint32_t v, int depth) {
    uint8_t *flags = &g->value_flags[v];
    if (*flags & F_DONE)
        return *flags & F_CONSTANT ? (struct constant){true, g->constants[v], g->constant_bits[v]} : unknown();
    if ((*flags & F_BUSY) || depth > MAX_DEPTH)
        return unknown();
    *flags |= F_BUSY;
    struct constant c = compute_constant(g, v, depth + 1);
    *flags = (uint8_t)((*flags & ~F_BUSY) | F_DONE);
    if (c.known) {
        *flags |= F_CONSTANT;
        g->constants[v] = c.value;
        g->constant_bits[v] = (uint8_t)c.bits;
    }
    return c;
}

struct constant graph_constant(const struct graph *g, uint32_t v) {
    if (!(g->value_flags[v] & F_CONSTANT))
        return unknown();
    return (struct constant){true, g->constants[v], g->constant_bits[v]};
}

static bool argument_is_parameter(const struct graph *g, uint32_t v) {
    uint32_t caller = graph_caller_value(g, v);
    if (caller != NONE)
        return (g->value_flags[caller] & F_PARAMETER) != 0;
    struct str t = graph_argument_type(g, v);
    return str_is(t, "parameter") || str_is(t, "constant");
}

static bool op_is_parameter(const struct graph *g, uint32_t op) {
    for (uint32_t k = 0; k < graph_noperands(g, op); k++) {
        uint32_t v = graph_operands(g, op)[k];
        if (v != NONE && !(g->value_flags[v] & F_PARAMETER))
            return false;
    }
    return true;
}

void values_build(struct graph *g) {
    const struct mlir *m = g->m;
    size_t n = (size_t)m->nvalues + 1;
    g->value_flags = xrealloc(NULL, n);
    memset(g->value_flags, 0, n);
    g->constants = xrealloc(NULL, n * sizeof *g->constants);
    g->constant_bits = xrealloc(NULL, n);
    for (uint32_t v = 0; v < m->nvalues; v++)
        constant_of(g, v, 0);
    for (uint32_t f = 0; f < m->nfuncs; f++)
        for (uint32_t a = m->funcs[f].first_arg; a < m->funcs[f].first_arg + m->funcs[f].nargs; a++)
            if (argument_is_parameter(g, a))
                g->value_flags[a] |= F_PARAMETER;
    for (uint32_t i = 0; i < m->nops; i++) {
        if (!op_is_parameter(g, i))
            continue;
        for (uint32_t r = 0; r < m->ops[i].nresults; r++)
            g->value_flags[m->ops[i].first_result + r] |= F_PARAMETER;
    }
}

void values_free(struct graph *g) {
    free(g->value_flags);
    free(g->constants);
    free(g->constant_bits);
}

bool graph_is_parameter(const struct graph *g, uint32_t v) { return (g->value_flags[v] & F_PARAMETER) != 0; }

uint32_t graph_argument(const struct graph *g, uint32_t v) {
    for (int step = 0; v != NONE && step < MAX_WALK; step++) {
        uint32_t op = g->m->values[v].def;
        if (op == NONE) {
            uint32_t caller = graph_caller_value(g, v);
            if (caller == NONE) {
                uint32_t f, number;
                return graph_argument_of(g, v, &f, &number) ? v : NONE;
            }
            v = caller;
            continue;
        }
        enum op_class c = graph_class(g, op);
        if (c == OP_CALL)
            v = graph_callee_value(g, v);
        else if ((c == OP_MOVE || c == OP_CAST || c == OP_LAYOUT) && graph_noperands(g, op))
            v = graph_operands(g, op)[0];
        else
            return NONE;
    }
    return NONE;
}
