/* Source of the days: history of TTIROps.td and TTNNOps.td of tt-mlir up to 19c86fca45ae (2026-08-21). */
#include "ir/graph/version.h"

#include <string.h>

#include "ir/graph/attributes.h"

static bool is_ttir(const struct graph *g, uint32_t op) {
    return str_starts(mlir_op_name(g->m, op), STR("ttir."));
}

static bool has_attribute(const struct graph *g, uint32_t op, const char *key) {
    return graph_is_ttnn(g, op) && attrs_find(graph_attributes(g, op), key);
}

static bool has_destination(const struct graph *g, uint32_t op) {
    return is_ttir(g, op) && graph_class(g, op) == OP_ELTWISE && g->m->ops[op].nresults == 1 &&
           g->m->ops[op].noperands > graph_noperands(g, op);
}

static bool has_segments(const struct graph *g, uint32_t op) {
    return has_destination(g, op) && attrs_find(graph_attributes(g, op), "operandSegmentSizes");
}

static bool has_none(const struct graph *g, uint32_t op) {
    return is_ttir(g, op) && graph_class(g, op) == OP_ELTWISE && g->m->ops[op].nresults == 1 &&
           g->m->ops[op].noperands == graph_noperands(g, op);
}

static bool is_general(const struct graph *g, uint32_t op) {
    struct str name = mlir_op_name(g->m, op);
    return str_is(name, "ttir.convolution") || str_is(name, "ttir.pooling");
}

static bool writes_cache(const struct graph *g, uint32_t op) {
    return op_is((enum op_kind)g->kind[op], IN_PLACE) && str_find(mlir_op_name(g->m, op), STR("_cache"));
}

static bool returns_cache(const struct graph *g, uint32_t op) {
    return writes_cache(g, op) && g->m->ops[op].nresults == 1;
}

static bool returns_no_cache(const struct graph *g, uint32_t op) {
    return writes_cache(g, op) && g->m->ops[op].nresults == 0;
}

static bool has_memory_config(const struct graph *g, uint32_t op) {
    return has_attribute(g, op, "memory_config") && graph_class(g, op) == OP_ELTWISE;
}

static bool has_dtype(const struct graph *g, uint32_t op) {
    return has_attribute(g, op, "dtype") && graph_class(g, op) == OP_ELTWISE;
}

static bool has_activation(const struct graph *g, uint32_t op) {
    return has_attribute(g, op, "activation") && graph_class(g, op) == OP_CONTRACT;
}

/* Each kind in the order of its days: of `before` the earliest tells most, of `since` the latest. */
static const struct {
    const char *day, *what;
    bool (*has)(const struct graph *g, uint32_t op);
} before[] = {{"2025-05-01", "destination operands with segment sizes", has_segments},
              {"2025-11-27", "destination operands", has_destination},
              {"2026-01-21", "general convolutions and pools", is_general},
              {"2026-05-16", "memory_config of ops", has_memory_config},
              {"2026-06-02", "dtype of ops", has_dtype},
              {"2026-07-29", "results of writes into caches", returns_cache}},
  since[] = {{"2026-07-29", "writes into caches without results", returns_no_cache},
             {"2025-11-27", "no destination operands", has_none},
             {"2025-11-07", "activations of products", has_activation}};

void version_of(const struct graph *g, struct version *out) {
    size_t nbefore = sizeof before / sizeof *before, nsince = sizeof since / sizeof *since;
    *out = (struct version){.since = {.op = NONE}, .before = {.op = NONE}};
    for (uint32_t op = 0; op < g->m->nops; op++) {
        for (size_t i = 0; i < nbefore; i++)
            if (before[i].has(g, op)) {
                out->before = (struct version_sign){before[i].day, before[i].what, op};
                nbefore = i;
            }
        for (size_t i = 0; i < nsince; i++)
            if (since[i].has(g, op)) {
                out->since = (struct version_sign){since[i].day, since[i].what, op};
                nsince = i;
            }
    }
    if (out->since.day && out->before.day && strcmp(out->since.day, out->before.day) >= 0)
        *out = (struct version){.since = {.op = NONE}, .before = {.op = NONE}}; /* no compiler printed it */
}
