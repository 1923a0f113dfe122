/* Constants are evaluated like any other part of the graph, once it is known that no argument is among what they are
 * made of. */
#include "reduce/payload.h"

#include "reduce/subgraph.h"

enum { MAX_OPS = 48, SLACK = 16 }; /* ops that a constant is made of; elements inside, for each of its own */

/* ---- made of constants alone ---- */

struct origin {
    const struct graph *g;
    uint32_t left; /* ops that may still be looked at */
};

static bool is_source(const struct graph *g, uint32_t op) {
    return graph_class(g, op) == OP_CONSTANT || g->kind[op] == K_ARANGE;
}

static bool is_made_of_constants(struct origin *o, uint32_t value) {
    const struct graph *g = o->g;
    uint32_t op = value == NONE ? NONE : g->m->values[value].def;
    if (o->left == 0)
        return false;
    o->left--;
    if (op == NONE)
        return value != NONE && is_made_of_constants(o, graph_caller_value(g, value));
    if (g->kind[op] == K_CALL)
        return is_made_of_constants(o, graph_callee_value(g, value));
    bool good = is_source(g, op) || (graph_noperands(g, op) > 0 && interpretable((enum op_kind)g->kind[op]));
    for (uint32_t i = 0; i < graph_noperands(g, op) && good; i++)
        good = !part_takes(g, graph_operands(g, op)[i]) || is_made_of_constants(o, graph_operands(g, op)[i]);
    return good;
}

static const struct tensor *read_value(const struct graph *g, uint32_t value, struct arena *a) {
    struct origin o = {g, MAX_OPS};
    int64_t n = graph_numel(g, value);
    struct bench b = {.arena = a, .max_elements = (uint64_t)n * SLACK, .max_steps = (uint64_t)n * SLACK};
    struct program program = {.graph = g};
    const struct tensor *t;
    return is_made_of_constants(&o, value) && interpret_values(&b, &program, &value, 1, &t) && t->n == n ? t : NULL;
}

/* ---- those whose beginning is like the whole ---- */

/* The numbers from 0 along one dimension. */
static bool counts_along(const struct tensor *t, uint32_t along) {
    struct index_walk w;
    int64_t i = 0;
    for (walk_begin(&w, &t->shape); walk_more(&w); walk_next(&w))
        if (t->x[i++] != (double)w.at[along])
            return false;
    return true;
}

/* One number where column - row is `from` at least, another elsewhere; the same for each of the matrices. */
static bool is_cut_by_diagonal(const struct tensor *t, int64_t from) {
    uint32_t rank = t->shape.rank;
    struct index_walk w;
    int64_t i = 0, row = t->shape.dim[rank - 1];
    double above = t->x[row - 1], below = t->x[(t->shape.dim[rank - 2] - 1) * row];
    for (walk_begin(&w, &t->shape); walk_more(&w); walk_next(&w))
        if (t->x[i++] != (w.at[rank - 1] - w.at[rank - 2] >= from ? above : below))
            return false;
    return true;
}

/* Positions go on alike, unless something is to happen at one of them. */
static bool begins_alike(const struct part *p, const struct tensor *t) {
    bool found = false, counts = !part_has_limits(p);
    for (uint32_t d = 0; d < t->shape.rank && counts && !found; d++)
        found = counts_along(t, d);
    for (int64_t from = 0; from < 2 && t->shape.rank >= 2 && !found; from++)
        found = is_cut_by_diagonal(t, from);
    return found;
}

bool payload_read(const struct part *p, int64_t max, struct arena *a, struct held *out) {
    *out = (struct held){.alike = true};
    for (uint32_t i = 0; i < p->nouter; i++) {
        int64_t n = graph_numel(p->graph, p->outer[i]);
        if (n < 2 || n > max - out->elements || graph_constant(p->graph, p->outer[i]).known ||
            !(out->of[i] = read_value(p->graph, p->outer[i], a)))
            continue;
        out->n++;
        out->elements += n;
        out->alike &= begins_alike(p, out->of[i]);
    }
    return out->n > 0;
}
