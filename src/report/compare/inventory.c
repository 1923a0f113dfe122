#include "report/compare/inventory.h"

#include <stdlib.h>

#include "patterns/library/signs.h"
#include "report/place/flow.h"
#include "report/place/locate.h"

static uint32_t present_operands(const struct graph *g, uint32_t op) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        n += graph_operands(g, op)[i] != NONE;
    return n;
}

static struct str result_type(const struct graph *g, uint32_t op, struct arena *a) {
    const struct mlir_op *o = &g->m->ops[op];
    uint32_t rank = 0;
    const int64_t *shape = o->nresults ? graph_shape(g, o->first_result, &rank) : NULL;
    struct buf out = {0};
    buf_add(&out, mlir_op_name(g->m, op));
    for (uint32_t i = 0; shape && i < rank; i++)
        buf_printf(&out, " %lld", (long long)shape[i]);
    return buf_take(&out, a);
}

static void add_attributes(struct fused_op *f, const struct graph *g, uint32_t op, struct arena *a) {
    struct attribute_hash own[OWN_ATTRIBUTES];
    f->nattributes = own_attributes(g->m, op, own);
    f->attributes = arena_alloc(a, OWN_ATTRIBUTES * sizeof *own);
    for (uint32_t i = 0; i < f->nattributes; i++)
        f->attributes[i] = (struct attribute_hash){arena_str(a, own[i].name), own[i].hash};
}

static void add(struct inventory *v, const struct pattern_set *set, const struct flow *flow, uint32_t op,
                const struct ranks *ranks, bool fused, struct arena *a) {
    static const struct pattern none = {.nlocate = 0};
    const struct graph *g = flow->g;
    struct match m = {.pattern = &none, .graph = g, .ops = &op, .func = g->m->ops[op].func, .root = op, .nops = 1};
    struct match_detail detail = {.slots = NULL};
    struct str_list names;
    struct fused_op f = {.op = arena_str(a, mlir_op_name(g->m, op)),
                         .place = locate_match(set, flow, &m, &detail, &names, a),
                         .rest = structure_hash(g, STR(""), &op, 1, a),
                         .operands = present_operands(g, op),
                         .fused = fused,
                         .active = !graph_plain(g, op)};
    add_attributes(&f, g, op, a);
    f.fingerprint.structure = structure_hash(g, result_type(g, op, a), NULL, 0, a);
    f.fingerprint.place = place_hash(&names);
    ranks_of(ranks, op, &f.fingerprint);
    v->items = grow(v->items, &v->cap, v->n + 1, sizeof *v->items);
    v->items[v->n++] = f;
}

void inventory_add(struct inventory *v, const struct pattern_set *set, const struct graph *g, struct arena *a) {
    struct sign_reader *signs = sign_reader_new(set, g);
    struct ranks *ranks = ranks_new(g);
    struct flow *flow = flow_new(g);
    for (uint32_t op = 0; op < g->m->nops; op++) {
        bool fused = is_sign_of_fusing(signs, op);
        if ((fused || is_named_sign(signs, op)) && graph_is_audited(g, op))
            add(v, set, flow, op, ranks, fused, a);
    }
    flow_free(flow);
    ranks_free(ranks);
    sign_reader_free(signs);
}
