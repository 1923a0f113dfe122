/* What each kind of op says of the extents of its operands and results. */
#include "numeric/tensor.h"
#include "reduce/shrinker.h"

int64_t shrink_attr(const struct graph *g, uint32_t op, const char *key) {
    struct str text;
    int64_t d = -1;
    return mlir_attr(g->m, op, key, &text) && mlir_int(text, &d) ? d : -1;
}

/* The smallest groups of dimensions whose products are equal. */
static void rules_of_reshape(struct shrinker *s, const int64_t *a, uint32_t na, const int64_t *b, uint32_t nb) {
    uint32_t i = 0, j = 0;
    while (i < na || j < nb) {
        struct rule *r = shrink_rule(s, PRODUCT);
        int64_t left = 1, right = 1;
        do {
            bool take_left = i < na && (left <= right || j >= nb);
            int64_t x = take_left ? a[i++] : b[j++];
            shrink_put(s, r, take_left ? 0 : 1, x);
            if (x <= 0 || __builtin_mul_overflow(take_left ? left : right, x, take_left ? &left : &right)) {
                s->full = true;
                return;
            }
        } while (left != right && (i < na || j < nb));
        s->nrules -= !s->full && r->side[0].n + r->side[1].n == 0 && r->side[0].k == r->side[1].k;
    }
}

/* Repeated: dimensions from the right, each a multiple. What does not change says nothing. */
static void rules_of_repeat(struct shrinker *s, const int64_t *a, uint32_t na, const int64_t *b, uint32_t nb) {
    for (uint32_t d = 0; d < na && d < nb; d++) {
        int64_t from = a[na - 1 - d], to = b[nb - 1 - d];
        if (from == to || from < 1 || to % from != 0)
            continue;
        shrink_number(s, to / from);
    }
}

static void times_rules(struct shrinker *s, const int64_t *a, uint32_t na, const int64_t *b, uint32_t nb) {
    for (uint32_t d = 0; d < na && d < nb; d++) {
        int64_t from = a[na - 1 - d], to = b[nb - 1 - d];
        if (from == to || from < 1 || to % from != 0)
            continue;
        struct rule *r = shrink_rule(s, PRODUCT);
        shrink_put(s, r, 0, from);
        shrink_put(s, r, 0, to / from);
        shrink_put(s, r, 1, to);
    }
}

static void rules_of_slice(struct shrinker *s, uint32_t op, const int64_t *a, const int64_t *b) {
    struct slice_bounds bounds;
    if (!slice_bounds(s->part->graph, op, &bounds)) {
        shrink_fix_shape(s, graph_operands(s->part->graph, op)[0]);
        shrink_fix_shape(s, s->part->graph->m->ops[op].first_result);
        return;
    }
    for (uint32_t d = 0; d < bounds.rank; d++) {
        int64_t begin = bounds.begin[d], end = bounds.end[d], step = bounds.step[d];
        if (!bounds.cut[d])
            continue;
        if (step > 1 && (begin >= step || end > a[d] || b[d] * step != a[d])) {
            shrink_fix(s, a[d]); /* every so many from the first ones on is understood, nothing else */
            shrink_fix(s, b[d]);
            shrink_fix(s, begin);
            shrink_fix(s, end);
            continue;
        }
        struct rule *r = shrink_rule(s, step > 1 ? PRODUCT : SUM);
        shrink_put(s, r, 0, step > 1 ? step : begin);
        shrink_put(s, r, 0, b[d]);
        shrink_put(s, r, 1, step > 1 ? a[d] : end);
        shrink_fix(s, step > 1 ? step : 1);
        shrink_fix(s, step > 1 ? begin : 1);
        r = shrink_rule(s, AT_MOST);
        shrink_put(s, r, 0, end);
        shrink_put(s, r, 1, a[d]);
    }
}

static void rules_of_concat(struct shrinker *s, uint32_t op) {
    const struct graph *g = s->part->graph;
    uint32_t rank;
    const int64_t *to = graph_shape(g, g->m->ops[op].first_result, &rank);
    for (uint32_t d = 0; to && d < rank; d++) {
        int64_t sum = 0;
        bool along = true;
        for (uint32_t i = 0; i < graph_noperands(g, op) && along; i++) {
            uint32_t r;
            const int64_t *dims =
                graph_operands(g, op)[i] == NONE ? NULL : graph_shape(g, graph_operands(g, op)[i], &r);
            along = dims && r == rank && !__builtin_add_overflow(sum, dims[d], &sum);
        }
        if (!along || sum != to[d] || graph_noperands(g, op) < 2)
            continue;
        struct rule *rule = shrink_rule(s, SUM);
        for (uint32_t i = 0; i < graph_noperands(g, op); i++)
            shrink_put(s, rule, 0, graph_shape(g, graph_operands(g, op)[i], &rank)[d]);
        shrink_put(s, rule, 1, to[d]);
    }
}

/* How an op of a class without rules of its own is treated. */
static bool is_free(enum op_kind k) {
    static const enum op_kind kinds[] = {K_SORT,
                                         K_ARGMAX,
                                         K_EMBEDDING,
                                         K_SDPA,
                                         K_SDPA_DECODE,
                                         K_ARANGE,
                                         K_BATCH_NORM_INFERENCE,
                                         K_ROTARY_EMBEDDING,
                                         K_GLOBAL_AVG_POOL2D,
                                         K_COLLECTIVE_BROADCAST,
                                         K_COLLECTIVE_PERMUTE};
    enum op_class c = op_table[k].class;
    if (c == OP_ELTWISE || c == OP_REDUCE || c == OP_AXISWISE || c == OP_CONTRACT || c == OP_ALIKE || c == OP_CAST ||
        c == OP_LAYOUT || c == OP_CONSTANT || k == K_PERMUTE || k == K_TRANSPOSE)
        return true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i] == k)
            return true;
    return false;
}

void numbers_of_op(struct shrinker *s, uint32_t op) {
    const struct graph *g = s->part->graph;
    uint32_t na = 0, nb = 0, x = graph_noperands(g, op) ? graph_operands(g, op)[0] : NONE;
    const int64_t *a = x == NONE ? NULL : graph_shape(g, x, &na);
    const int64_t *b = g->m->ops[op].nresults ? graph_shape(g, g->m->ops[op].first_result, &nb) : NULL;
    if (a && b && (g->kind[op] == K_REPEAT || g->kind[op] == K_REPEAT_INTERLEAVE || g->kind[op] == K_ALL_GATHER))
        rules_of_repeat(s, a, na, b, nb);
    if (a && b && (g->kind[op] == K_REDUCE_SCATTER || g->kind[op] == K_MESH_PARTITION))
        rules_of_repeat(s, b, nb, a, na);
    static const char *const keys[] = {"batch_size",  "input_length", "input_height", "input_width",
                                       "input_depth", "num_heads",    "num_kv_heads", "k",
                                       "num_groups",  "groups"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        shrink_number(s, shrink_attr(g, op, keys[i]));
    numbers_of_window(s, op);
}

/* A row of weights that is folded into several. */
static void rules_of_folded_rows(struct shrinker *s, uint32_t op, const int64_t *x, uint32_t rank) {
    const struct graph *g = s->part->graph;
    uint32_t n;
    for (uint32_t i = 1; x && rank && i < graph_noperands(g, op) && i < 3; i++) {
        uint32_t v = graph_operands(g, op)[i];
        const int64_t *dims = part_takes(g, v) ? graph_shape(g, v, &n) : NULL;
        if (dims && graph_numel(g, v) == x[rank - 1])
            rules_of_reshape(s, dims, n, x + rank - 1, 1);
    }
}

/* What is added stays. */
static void rule_of_pad(struct shrinker *s, int64_t from, int64_t to) {
    struct rule *r = shrink_rule(s, SUM);
    shrink_put(s, r, 0, from);
    shrink_put(s, r, 1, to);
    s->full |= __builtin_add_overflow(r->side[0].k, to - from, &r->side[0].k);
}

void rules_of_op(struct shrinker *s, uint32_t op) {
    const struct graph *g = s->part->graph;
    enum op_kind k = (enum op_kind)g->kind[op];
    uint32_t na = 0, nb = 0, x = graph_noperands(g, op) ? graph_operands(g, op)[0] : NONE;
    const int64_t *a = x == NONE ? NULL : graph_shape(g, x, &na);
    const int64_t *b = g->m->ops[op].nresults ? graph_shape(g, g->m->ops[op].first_result, &nb) : NULL;
    if (k == K_DISTRIBUTED_RMS_NORM || k == K_DISTRIBUTED_LAYER_NORM)
        rules_of_folded_rows(s, op, a, na);
    if (k == K_ARANGE && part_has_limits(s->part))
        shrink_fix_shape(s, g->m->ops[op].first_result);
    if (k == K_BROADCAST || is_free(k))
        return;
    if (a && b && k == K_RESHAPE) {
        rules_of_reshape(s, a, na, b, nb);
    } else if (a && b && (k == K_REPEAT || k == K_REPEAT_INTERLEAVE || k == K_ALL_GATHER)) {
        times_rules(s, a, na, b, nb);
    } else if (a && b && (k == K_REDUCE_SCATTER || k == K_MESH_PARTITION)) {
        times_rules(s, b, nb, a, na);
    } else if (a && b && k == K_SLICE) {
        rules_of_slice(s, op, a, b);
    } else if (k == K_CONCAT) {
        rules_of_concat(s, op);
    } else if (a && b && k == K_TOPK) {
        struct rule *r = shrink_rule(s, AT_MOST);
        shrink_put(s, r, 0, shrink_attr(g, op, "k"));
        shrink_put(s, r, 1, na ? a[na - 1] : 1);
    } else if (a && b && k == K_PAD) {
        for (uint32_t d = 0; d < na && d < nb; d++)
            if (a[d] != b[d])
                rule_of_pad(s, a[d], b[d]);
    } else if (a && b && has_window(k)) {
        rules_of_window(s, op);
    } else {
        for (uint32_t i = 0; i < graph_noperands(g, op); i++)
            shrink_fix_shape(s, graph_operands(g, op)[i]);
        for (uint32_t r = 0; r < g->m->ops[op].nresults; r++)
            shrink_fix_shape(s, g->m->ops[op].first_result + r);
    }
}
