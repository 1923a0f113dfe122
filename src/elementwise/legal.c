/* Rules for the tensors of one op. Types are looked at once. */
#include "elementwise/legal.h"

#include <stdlib.h>

struct tensor_type {
    bool asked, known;
    struct layout layout;
    enum dtype dtype;
    enum region_fault fault; /* FAULT_NONE, FAULT_LAYOUT or FAULT_ALIGNED */
};

void legality_begin(struct legality *l, const struct graph *g, const struct region_rules *r) {
    const struct mlir *m = g->m;
    *l = (struct legality){.graph = g, .rules = r};
    l->listed = xcalloc(m->nnames + (size_t)1, sizeof(const struct region_op *));
    l->types = xcalloc(m->ntypes + (size_t)1, sizeof *l->types);
    for (uint32_t i = 0; i < m->nnames; i++)
        for (uint32_t k = 0; k < r->nops && str_starts(m->names[i], STR("ttnn.")); k++)
            if (str_eq(m->names[i], r->ops[k].name))
                l->listed[i] = &r->ops[k];
}

void legality_end(struct legality *l) {
    free(l->listed);
    free(l->types);
    *l = (struct legality){0};
}

/* ---- tensors ---- */

/* In L1 height, width or block sharded; in DRAM interleaved. */
static bool is_readable(const struct layout *l) {
    if (l->memory == MEMORY_L1)
        return l->sharding == SHARDING_HEIGHT || l->sharding == SHARDING_WIDTH || l->sharding == SHARDING_BLOCK;
    return l->memory == MEMORY_DRAM && (l->sharding == SHARDING_NONE || l->sharding == SHARDING_INTERLEAVED);
}

static bool is_aligned(const struct mlir *m, const struct mlir_type *t) {
    if (!t->ranked || t->rank < 2)
        return false;
    const int64_t *last = m->dims + t->first_dim + t->rank - 2;
    return last[0] > 0 && last[1] > 0 && last[0] % TILE == 0 && last[1] % TILE == 0;
}

static const struct tensor_type *type_of(struct legality *l, uint32_t value) {
    const struct mlir *m = l->graph->m;
    uint32_t id = m->values[value].type;
    struct tensor_type *t = &l->types[id];
    if (t->asked)
        return t;
    const struct mlir_type *type = &m->types[id];
    t->asked = true;
    t->known = type->kind == TYPE_TENSOR && layout_of_type(m, type, &t->layout);
    t->dtype = t->known && t->layout.dtype != DT_NONE ? t->layout.dtype : type->dtype;
    bool tiled = t->known && t->layout.tile_height == TILE && t->layout.tile_width == TILE;
    t->fault = !tiled || !is_readable(&t->layout) ? FAULT_LAYOUT : !is_aligned(m, type) ? FAULT_ALIGNED : FAULT_NONE;
    return t;
}

static bool same_place(const struct layout *a, const struct layout *b) {
    return a->memory == b->memory && layout_is_sharded(a) == layout_is_sharded(b);
}

/* The same cores hold the same tiles. */
static bool same_shards(const struct layout *a, const struct layout *b) {
    return a->sharding == b->sharding && a->rank == b->rank && a->cores == b->cores &&
           memcmp(a->grid, b->grid, a->rank * sizeof *a->grid) == 0 &&
           memcmp(a->shard, b->shard, a->rank * sizeof *a->shard) == 0;
}

static bool same_layout(const struct tensor_type *a, const struct tensor_type *b) {
    return same_place(&a->layout, &b->layout) &&
           (!layout_is_sharded(&a->layout) || same_shards(&a->layout, &b->layout));
}

static bool same_extents(const struct graph *g, uint32_t a, uint32_t b) {
    uint32_t ra, rb;
    const int64_t *x = graph_shape(g, a, &ra), *y = graph_shape(g, b, &rb);
    return x && y && ra == rb && memcmp(x, y, ra * sizeof *x) == 0;
}

bool legal_grid_known(struct legality *l, uint32_t value) {
    return layout_is_sharded(&type_of(l, value)->layout);
}

/* ---- users ---- */

/* Counted up to `most`. Uses of one op stand side by side. */
static uint32_t count_users(const struct graph *g, uint32_t value, uint32_t most) {
    uint32_t n = 0, last = NONE;
    for (uint32_t i = g->first_use[value]; i < g->first_use[value + 1] && n < most; i++) {
        n += g->uses[i] != last;
        last = g->uses[i];
    }
    return n;
}

uint32_t only_user(const struct graph *g, uint32_t value) {
    return count_users(g, value, 2) == 1 ? g->uses[g->first_use[value]] : NONE;
}

/* ---- ops ---- */

static bool is_main(const struct graph *g, uint32_t op) {
    uint32_t func = g->m->ops[op].func;
    return func == NONE || (g->func_kind[func] == FUNC_MAIN && g->m->funcs[func].complete);
}

const struct region_op *legal_op(const struct legality *l, uint32_t op) {
    const struct graph *g = l->graph;
    const struct mlir_op *o = &g->m->ops[op];
    const struct region_op *rule = l->listed[o->name];
    uint32_t n = graph_noperands(g, op);
    if (!rule || o->nresults != 1 || o->bad || g->kind[op] == NO_OPERATOR || n < 1 || n > 3 || !is_main(g, op))
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        if (graph_operands(g, op)[i] == NONE)
            return NULL;
    return rule;
}

static void add_fault(struct region_faults *f, enum region_fault fault, uint32_t value) {
    if (!f->kinds)
        f->value = value;
    f->kinds |= 1u << fault;
}

/* Of one tensor the first thing that is wrong. */
static enum region_fault fault_of(struct legality *l, const struct region_op *rule, uint32_t op, uint32_t value) {
    const struct graph *g = l->graph;
    uint32_t result = g->m->ops[op].first_result;
    const struct tensor_type *t = type_of(l, value);
    bool reduced = rule->kind == REGION_REDUCTION && value == result;
    if (!(rule->types >> t->dtype & 1))
        return FAULT_TYPE;
    if (t->fault == FAULT_LAYOUT || (rule->kind == REGION_REDUCTION && t->layout.memory != MEMORY_L1))
        return FAULT_LAYOUT;
    if (t->fault && !reduced)
        return t->fault;
    if (value == result || g->m->values[value].def == NONE)
        return FAULT_NONE;
    if (count_users(g, value, (uint32_t)l->rules->other_users + 2) > l->rules->other_users + 1)
        return FAULT_USERS;
    return FAULT_NONE;
}

/* The result is laid out as the first operand, and sharded operands alike. */
static bool is_unlike(struct legality *l, uint32_t op, uint32_t operand) {
    const struct graph *g = l->graph;
    const struct tensor_type *out = type_of(l, g->m->ops[op].first_result);
    const struct tensor_type *in = type_of(l, graph_operands(g, op)[operand]);
    return operand == 0 ? !same_layout(in, out)
                        : layout_is_sharded(&in->layout) && layout_is_sharded(&out->layout) && !same_layout(in, out);
}

static bool reduces_one(const struct graph *g, uint32_t op) {
    enum { MOST_DIMS = 16 };
    bool reduced[MOST_DIMS];
    uint32_t rank;
    return graph_shape(g, graph_operands(g, op)[0], &rank) && rank <= MOST_DIMS &&
           graph_reduced_dims(g, op, rank, reduced) == 1;
}

struct region_faults legal_faults(struct legality *l, uint32_t op) {
    const struct graph *g = l->graph;
    const struct region_op *rule = legal_op(l, op);
    uint32_t result = g->m->ops[op].first_result, n = graph_noperands(g, op);
    struct region_faults f = {.kinds = 0, .value = NONE};
    for (uint32_t i = 0; i <= n; i++) {
        uint32_t value = i < n ? graph_operands(g, op)[i] : result;
        enum region_fault fault = fault_of(l, rule, op, value);
        if (fault == FAULT_NONE && i < n && rule->kind == REGION_ELEMENTWISE && is_unlike(l, op, i))
            fault = FAULT_UNLIKE;
        if (fault != FAULT_NONE)
            add_fault(&f, fault, value);
    }
    if (rule->kind == REGION_REDUCTION && !reduces_one(g, op))
        add_fault(&f, FAULT_REDUCES, result);
    return f;
}

static bool is_wide(struct legality *l, uint32_t value) {
    return tile_bytes(type_of(l, value)->dtype, TILE, TILE) > 2L * TILE * TILE;
}

bool legal_is_wide(struct legality *l, uint32_t op) {
    const struct graph *g = l->graph;
    bool wide = is_wide(l, g->m->ops[op].first_result);
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        wide |= is_wide(l, graph_operands(g, op)[i]);
    return wide;
}

enum region_fault legal_pair(struct legality *l, uint32_t producer, uint32_t consumer) {
    const struct graph *g = l->graph;
    uint32_t a = g->m->ops[producer].first_result, b = g->m->ops[consumer].first_result;
    if (l->listed[g->m->ops[consumer].name]->kind == REGION_REDUCTION)
        return FAULT_NONE;
    return !same_layout(type_of(l, a), type_of(l, b)) ? FAULT_UNLIKE
           : !same_extents(g, a, b)                   ? FAULT_SHAPE
                                                      : FAULT_NONE;
}
