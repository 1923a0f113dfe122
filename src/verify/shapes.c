#include "verify/shapes.h"

enum { MAX_FIXED = 32, MAX_PAYLOAD = 1 << 14 };

/* Of extents_cost. */
static const double small_cost = 1 << 18;

bool shapes_read(struct miter_shapes *m, struct str text, const struct pattern_set *lowerings, struct arena *a,
                 struct str *why) {
    *m = (struct miter_shapes){.a = a};
    if (!circuit_read(&m->own, text, lowerings, a, why))
        return false;
    payload_read(&m->own.subgraph, MAX_PAYLOAD, a, &m->payloads);
    return true;
}

void shapes_free(struct miter_shapes *m) {
    circuit_free(&m->own);
}

static bool resize(struct miter_shapes *m, struct shrink_options *how, double most, bool scale, double *cost,
                   struct circuit *out, struct str *why) {
    struct extents *e = arena_alloc(m->a, sizeof *e);
    for (uint32_t i = 0; i < m->own.subgraph.ninputs; i++)
        how->keep[i] = m->payloads.of[i] && !m->payloads.regular;
    *out = (struct circuit){0};
    if (!extents_shrink(&m->own.subgraph, how, e, why))
        return false;
    *cost = extents_cost(&m->own.subgraph, e);
    if (*cost > most) {
        *why = STR("no shapes that are small enough keep all relations");
        return false;
    }
    return circuit_resize(&m->own, e, &m->payloads, scale, m->a, out, why);
}

static uint32_t fix(int64_t *fixed, uint32_t n, int64_t extent) {
    if (n < MAX_FIXED)
        fixed[n++] = extent;
    return n;
}

/* The extents over which something is reduced: constants may be tied to them. */
static uint32_t reduced_extents(const struct subgraph *s, int64_t fixed[MAX_FIXED]) {
    const struct graph *g = s->graph;
    uint32_t n = 0, rank;
    for (uint32_t i = 0; i < s->nops; i++) {
        uint32_t op = s->ops[i];
        bool reduced[MAX_RANK] = {false};
        const int64_t *dims = graph_noperands(g, op) ? graph_shape(g, graph_operands(g, op)[0], &rank) : NULL;
        struct contraction c;
        if (!dims || rank == 0)
            continue;
        if (graph_class(g, op) == OP_REDUCE && graph_reduced_dims(g, op, rank, reduced) != NONE)
            for (uint32_t d = 0; d < rank; d++)
                n = reduced[d] ? fix(fixed, n, dims[d]) : n;
        else if (graph_class(g, op) == OP_CONTRACT && contraction_of(g, op, &c))
            for (uint32_t k = 0; k < c.nsummed; k++)
                n = fix(fixed, n, dims[c.a_summed[k]]);
        else if (graph_class(g, op) != OP_ELTWISE && !class_moves(graph_class(g, op)))
            n = fix(fixed, n, dims[rank - 1]);
    }
    return n;
}

bool shapes_small(struct miter_shapes *m, uint32_t which, bool scale, double *cost, struct circuit *out,
                  struct str *why) {
    struct shrink_options how = {.which = which};
    return resize(m, &how, small_cost, scale, cost, out, why);
}

bool shapes_reduced(struct miter_shapes *m, double most, struct circuit *out, struct str *why) {
    int64_t fixed[MAX_FIXED];
    struct shrink_options how = {.fixed = fixed, .nfixed = reduced_extents(&m->own.subgraph, fixed)};
    double cost;
    return resize(m, &how, most, false, &cost, out, why);
}

bool shapes_own(struct miter_shapes *m, struct circuit *out, struct str *why) {
    struct extents *e = arena_alloc(m->a, sizeof *e);
    *out = (struct circuit){0};
    if (!extents_unchanged(&m->own.subgraph, e, why))
        return false;
    if (extents_cost(&m->own.subgraph, e) > shapes_own_cost) {
        *why = STR("its shapes are too large");
        return false;
    }
    return circuit_resize(&m->own, e, &m->payloads, false, m->a, out, why);
}
