#include "search/match/fingerprint.h"

#include <string.h>

static uint64_t mix_shape(uint64_t h, const struct graph *g, uint32_t v) {
    uint32_t rank;
    const int64_t *shape = graph_shape(g, v, &rank);
    h = hash_mix(h, shape ? rank : NONE);
    for (uint32_t d = 0; shape && d < rank; d++)
        h = hash_mix(h, (uint64_t)shape[d]);
    return h;
}

/* What a search can ask of a value without looking at its op. */
static uint64_t mix_value(uint64_t h, const struct graph *g, uint32_t v) {
    struct constant c = graph_constant(g, v);
    h = mix_shape(hash_mix(h, (uint64_t)graph_nuses(g, v) << 32 | g->varies[v]), g, v);
    h = hash_mix(h, (uint64_t)graph_dtype(g, v) | (uint64_t)graph_is_parameter(g, v) << 8 | (uint64_t)c.known << 9);
    return c.known ? hash_mix(hash_mix(h, (uint64_t)c.bits), bits_of_double(c.value)) : h;
}

/* Whether it is an argument of the model, also one of a call that returns it, and an input. */
static uint64_t mix_origin(uint64_t h, const struct graph *g, uint32_t v) {
    uint32_t argument = graph_argument(g, v);
    return hash_mix(h, argument == NONE ? 0 : 1 + graph_argument_is_input(g, argument));
}

/* An alias may mean something else in another module. */
static uint64_t mix_attributes(uint64_t h, const struct graph *g, struct span s, uint64_t aliases) {
    struct str text = mlir_span(g->m, s);
    return hash_mix(hash_mix(h, str_hash(text)), text.n && memchr(text.p, '#', text.n) ? aliases : 0);
}

/* False: the value is made in another function, or is no argument of this one. */
static bool mix_operand(uint64_t *h, const struct graph *g, const struct mlir_func *f, uint32_t op, uint32_t v) {
    uint32_t def = v == NONE ? NONE : g->m->values[v].def;
    if (v == NONE)
        *h = hash_mix(*h, NONE);
    else if (def != NONE)
        *h = hash_mix(*h, (uint64_t)(op - def) << 32 | g->m->values[v].index);
    else
        *h = hash_mix(*h, ~(uint64_t)(v - f->first_arg));
    return v == NONE || (def == NONE ? v - f->first_arg < f->nargs : def >= f->first_op && def < f->end_op);
}

static bool is_used_elsewhere(const struct graph *g, const struct mlir_func *f, uint32_t v) {
    uint32_t first = g->first_use[v], end = g->first_use[v + 1];
    return first < end && (g->uses[first] < f->first_op || g->uses[end - 1] >= f->end_op);
}

static bool mix_op(uint64_t *h, const struct graph *g, const struct mlir_func *f, uint32_t op, uint64_t aliases) {
    const struct mlir_op *o = &g->m->ops[op];
    uint32_t n = graph_noperands(g, op), through = graph_through(g, op);
    bool inside = o->func == (uint32_t)(f - g->m->funcs);
    *h = hash_mix(hash_mix(*h, str_hash(g->m->names[o->name])), (uint64_t)g->kind[op] << 32 | n);
    *h = hash_mix(*h, (uint64_t)o->nresults << 32 | (through != NONE && n > 1 && through == graph_operands(g, op)[1]));
    if (graph_class(g, op) != OP_CONSTANT) /* whose number is in its value, and whose text can be long */
        *h = mix_attributes(mix_attributes(*h, g, o->props, aliases), g, o->attrs, aliases);
    for (uint32_t i = 0; i < n; i++)
        inside &= mix_operand(h, g, f, op, graph_operands(g, op)[i]);
    for (uint32_t v = o->first_result; v < o->first_result + o->nresults; v++) {
        *h = mix_value(*h, g, v);
        if (graph_class(g, op) == OP_CALL)
            *h = hash_mix(mix_origin(*h, g, v), graph_callee_value(g, v) != NONE);
        inside &= !is_used_elsewhere(g, f, v);
    }
    return inside;
}

uint64_t function_fingerprint(const struct graph *g, uint32_t func, uint64_t aliases) {
    const struct mlir_func *f = &g->m->funcs[func];
    uint64_t h = hash_mix(f->nargs, f->end_op - f->first_op);
    for (uint32_t v = f->first_arg; v < f->first_arg + f->nargs; v++) {
        h = mix_origin(mix_value(h, g, v), g, v);
        if (is_used_elsewhere(g, f, v))
            return 0;
    }
    for (uint32_t op = f->first_op; op < f->end_op; op++)
        if (!mix_op(&h, g, f, op, aliases))
            return 0;
    return h ? h : 1;
}

uint64_t function_alike(const struct graph *g, uint32_t func, uint64_t fingerprint) {
    const struct mlir_func *f = &g->m->funcs[func];
    uint64_t h = fingerprint;
    for (uint32_t v = f->first_arg; v < f->first_arg + f->nargs; v++)
        h = hash_mix(h, g->m->values[v].type);
    for (uint32_t op = f->first_op; op < f->end_op; op++)
        h = hash_mix(h, str_hash(mlir_op_spelling(g->m, op)));
    return h ? h : 1;
}

uint64_t match_alike(const struct match *m, uint64_t alike) {
    uint32_t first = match_first_op(m);
    uint64_t h = hash_mix(alike, (uint64_t)m->pattern->order << 32 | m->nops);
    for (uint32_t i = 0; i < m->nops; i++)
        h = hash_mix(h, m->ops[i] - first);
    for (uint32_t i = 0; i < m->nthrough; i++)
        h = hash_mix(h, m->through[i] - first);
    return h ? h : 1;
}
