/* A table of kinds of needless work, each a question about one op. What a finding takes is not asked. Only what the
 * compile can leave out counts: how arguments lie is as it is. */
#include "report/needless/needless.h"

#include <stdlib.h>

#include "report/place/notes.h"

struct search {
    const struct timed_graph *timed;
    const struct graph *g;
    struct pricer flat; /* as if tensors had no dimensions of 1 before the last */
    bool *flattened;    /* per op: it could work without them */
    bool *counted;      /* per op, by one of the kinds */
};

static double us_of(const struct search *s, uint32_t op) {
    return s->counted[op] ? 0 : s->timed->of_ops[op];
}

static uint32_t definer(const struct search *s, uint32_t op) {
    uint32_t v = graph_noperands(s->g, op) ? graph_operands(s->g, op)[0] : NONE;
    return v == NONE ? NONE : s->g->m->values[v].def;
}

static uint32_t result_of(const struct search *s, uint32_t op) {
    return s->g->m->ops[op].first_result;
}

/* ---- ops that change nothing ---- */

static bool changes_nothing(struct search *s, uint32_t op, double *us) {
    *us = us_of(s, op);
    return graph_looks_through(s->g, op) && !class_moves(graph_class(s->g, op)) && *us > 0 &&
           graph_numel(s->g, graph_through(s->g, op)) == graph_numel(s->g, result_of(s, op));
}

/* Bits that a type keeps, of a fraction; 0: it is no float. */
static int fraction_bits(enum dtype t) {
    return t == DT_F32 ? 24 : t == DT_BF16 ? 8 : 0;
}

/* A cast to more bits, movement of what it yields alone, and a cast back. */
static bool casts_cancel(struct search *s, uint32_t op, double *us) {
    const struct graph *g = s->g;
    uint32_t at = op;
    if (graph_class(g, op) != OP_CAST)
        return false;
    do
        at = definer(s, at);
    while (at != NONE && graph_class(g, at) == OP_MOVE && graph_noperands(g, at) == 1);
    if (at == NONE || graph_class(g, at) != OP_CAST)
        return false;
    uint32_t first = graph_operands(g, at)[0], wide = result_of(s, at);
    int bits = fraction_bits(graph_dtype(g, first));
    if (!bits || bits > fraction_bits(graph_dtype(g, wide)) ||
        graph_dtype(g, first) != graph_dtype(g, result_of(s, op)))
        return false;
    *us = us_of(s, op) + (graph_nuses(g, wide) == 1 ? us_of(s, at) : 0);
    s->counted[at] |= graph_nuses(g, wide) == 1;
    return *us > 0;
}

/* A cast, and others behind it, of a table that is read only where it is looked up. */
static bool casts_table(struct search *s, uint32_t op, double *us) {
    const struct graph *g = s->g;
    uint32_t v = result_of(s, op), user = op;
    while (graph_class(g, user) == OP_CAST) {
        v = result_of(s, user);
        if (graph_nuses(g, v) != 1)
            return false;
        user = g->uses[g->first_use[v]];
    }
    uint32_t index = op_operand_of_role((enum op_kind)g->kind[user], STR("index"));
    if (user == op || !graph_op_is(g, user, LOOKS_UP) || index >= graph_noperands(g, user) ||
        graph_operands(g, user)[index] == v)
        return false;
    double part = (double)graph_numel(g, result_of(s, user)) / (double)graph_numel(g, v);
    *us = us_of(s, op) * (1 - part);
    return part > 0 && *us > 0;
}

/* ---- tensors that lie as they lay before ---- */

static bool is_from_device(const struct graph *g, uint32_t op) {
    return str_ends(mlir_op_name(g->m, op), STR(".from_device"));
}

/* Sums what the ops take up to the one that yields `op`'s operands; an op whose result has other users stays. */
static double chain_us(struct search *s, uint32_t op, uint32_t first) {
    double us = us_of(s, op);
    s->counted[op] = true;
    while (op != first && graph_nuses(s->g, graph_operands(s->g, op)[0]) == 1) {
        op = definer(s, op);
        us += us_of(s, op);
        s->counted[op] = true;
    }
    return us;
}

static bool comes_from_host(struct search *s, uint32_t op, double *us) {
    uint32_t at = op;
    if (s->g->kind[op] != K_TO_DEVICE || is_from_device(s->g, op))
        return false;
    do
        at = definer(s, at);
    while (at != NONE && graph_class(s->g, at) == OP_LAYOUT && !is_from_device(s->g, at));
    if (at == NONE || !is_from_device(s->g, at))
        return false;
    *us = chain_us(s, op, at);
    return true;
}

/* What is moved out of L1 may make room there. */
static bool makes_room(struct search *s, uint32_t before, uint32_t between) {
    const struct layout *a = value_layout(s->timed->pricer, before), *b = value_layout(s->timed->pricer, between);
    return !a || !b || (a->memory == MEMORY_L1 && b->memory != MEMORY_L1);
}

static bool comes_back(struct search *s, uint32_t op, double *us) {
    const struct graph *g = s->g;
    const struct mlir *m = g->m;
    uint32_t type = m->values[result_of(s, op)].type;
    if (graph_class(g, op) != OP_LAYOUT || !layout_is_one(m, m->types[type].encoding))
        return false;
    for (uint32_t at = definer(s, op); at != NONE && graph_class(g, at) == OP_LAYOUT; at = definer(s, at)) {
        uint32_t before = graph_operands(g, at)[0];
        if (makes_room(s, before, result_of(s, at)) || graph_dtype(g, before) != graph_dtype(g, result_of(s, at)))
            return false;
        if (m->values[before].type != type)
            continue;
        *us = chain_us(s, op, at);
        return *us > 0;
    }
    return false;
}

static bool same_shape(const struct graph *g, uint32_t a, uint32_t b) {
    struct shape x, y;
    return shape_in_graph(g, a, &x) && shape_in_graph(g, b, &y) && shape_eq(&x, &y);
}

/* A state that a step takes and returns is moved as a whole: cut into the parts of the devices and gathered again, or
 * laid out or turned around a write into it. */
static bool moves_state(struct search *s, uint32_t op, double *us) {
    enum { MOST = 16 };
    const struct graph *g = s->g;
    uint32_t way[MOST], n = 0, v = result_of(s, op), part = NONE;
    bool written = false, gathered = g->kind[op] == K_ALL_GATHER, returned = g->first_use[v] < g->first_use[v + 1];
    for (uint32_t i = g->first_use[v]; returned && i < g->first_use[v + 1]; i++)
        returned = graph_class(g, g->uses[i]) == OP_RETURN;
    for (uint32_t at = op; returned && at != NONE; at = v == NONE ? NONE : g->m->values[v].def) {
        bool gathers = g->kind[at] == K_ALL_GATHER, cuts = g->kind[at] == K_MESH_PARTITION;
        part = cuts ? result_of(s, at) : part;
        written |= graph_op_is(g, at, IN_PLACE) || g->kind[at] == K_SCATTER;
        if (n == MOST)
            return false;
        way[n++] = gathers || cuts || graph_looks_through(g, at) ? at : NONE;
        v = graph_noperands(g, at) ? graph_operands(g, at)[0] : NONE;
    }
    if (!returned || v == NONE || graph_is_parameter(g, v) || !(written || (gathered && part != NONE)) ||
        !(same_shape(g, result_of(s, op), v) || (part != NONE && same_shape(g, result_of(s, op), part))))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (way[i] != NONE && !s->timed->taken[way[i]]) {
            *us += us_of(s, way[i]);
            s->counted[way[i]] = true;
        }
    return *us > 0;
}

/* ---- padding ---- */

static bool is_padded(struct search *s, uint32_t v) {
    return v != NONE && tiles_of(&s->flat, v) < tiles_of(s->timed->pricer, v);
}

/* It puts a dimension of 1 before the last, or what has one into tiles, which it could be without as it lies in rows.
 */
static bool begins_padding(struct search *s, uint32_t op) {
    uint32_t from = graph_noperands(s->g, op) ? graph_operands(s->g, op)[0] : NONE, to = result_of(s, op);
    return (graph_movement(s->g, op) == MOVEMENT_RESHAPE || graph_class(s->g, op) == OP_LAYOUT) && from != NONE &&
           is_padded(s, to) && !is_padded(s, from) && tiles_of(s->timed->pricer, from) < tiles_of(s->timed->pricer, to);
}

/* An elementwise op or a reduction of what is padded since an op of the graph made it so, or a reshape that ends it. */
static bool works_on_padding(struct search *s, uint32_t op) {
    const struct graph *g = s->g;
    enum op_class class = graph_class(g, op);
    bool any = false, ends = graph_movement(g, op) == MOVEMENT_RESHAPE && !is_padded(s, result_of(s, op));
    if (class != OP_ELTWISE && class != OP_CAST && class != OP_REDUCE && !ends)
        return false;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t v = graph_operands(g, op)[i];
        if (!is_padded(s, v))
            continue;
        uint32_t def = g->m->values[v].def;
        if (def == NONE || !s->flattened[def])
            return false;
        any = true;
    }
    return any;
}

/* Both have the same dimensions but for those of 1. */
static bool adds_units(const struct graph *g, uint32_t op) {
    uint32_t n, k, i = 0, j = 0;
    const int64_t *from = graph_shape(g, graph_operands(g, op)[0], &n),
                  *to = graph_shape(g, g->m->ops[op].first_result, &k);
    while (from && to && (i < n || j < k)) {
        if (i < n && from[i] == 1)
            i++;
        else if (j < k && to[j] == 1)
            j++;
        else if (i < n && j < k && from[i] == to[j])
            i++, j++;
        else
            return false;
    }
    return true;
}

/* What a reshape behind these ops takes where their result is used as it is. */
static double reshaped_us(struct search *s, uint32_t op) {
    const struct graph *g = s->g;
    uint32_t v = result_of(s, op);
    struct work w = {0};
    struct cost cost = {0};
    bool leaves = false;
    for (uint32_t i = g->first_use[v]; i < g->first_use[v + 1]; i++) {
        uint32_t u = g->uses[i];
        leaves |= !s->flattened[u] && !(graph_movement(g, u) == MOVEMENT_RESHAPE && !is_padded(s, result_of(s, u)));
    }
    if (!leaves || !is_padded(s, v) || !work_reads(&s->flat, v, &w) || !work_writes(s->timed->pricer, v, &w))
        return 0;
    w.cores = cores_for(s->timed->pricer, tiles_of(s->timed->pricer, v));
    cost_add(s->timed->pricer, &w, &cost);
    return cost.estimated.us;
}

static bool pads(struct search *s, uint32_t op, double *us) {
    struct cost now = {0}, flat = {0};
    if (!s->flattened[op] || us_of(s, op) <= 0 || !cost_add_op(s->timed->pricer, op, &now) ||
        !cost_add_op(&s->flat, op, &flat) || now.estimated.us <= 0)
        return false;
    double part = begins_padding(s, op) && adds_units(s->g, op) ? 1 : 1 - flat.estimated.us / now.estimated.us;
    *us = part * us_of(s, op) - reshaped_us(s, op);
    return true;
}

/* ---- constants ---- */

/* What a value that is computed once repeats; NONE. */
static uint32_t repeated_in(const struct graph *g, uint32_t v) {
    uint32_t inner = graph_is_parameter(g, v) ? graph_callee_value(g, v) : NONE, n, k;
    uint32_t def = inner == NONE ? NONE : g->m->values[inner].def;
    if (def == NONE || (graph_movement(g, def) != MOVEMENT_REPEAT && graph_movement(g, def) != MOVEMENT_BROADCAST))
        return NONE;
    const int64_t *from = graph_shape(g, graph_operands(g, def)[0], &n), *to = graph_shape(g, v, &k);
    for (uint32_t i = 0; from && to && n == k && i < n; i++)
        if (from[i] != to[i] && from[i] != 1)
            return NONE;
    return from && to && n == k ? graph_operands(g, def)[0] : NONE;
}

static bool reads_repeated(struct search *s, uint32_t op, double *us) {
    const struct graph *g = s->g;
    struct pricer *p = s->timed->pricer;
    struct cost now = {0}, row = {0};
    struct work w;
    bool any = false;
    if (graph_class(g, op) != OP_ELTWISE || us_of(s, op) <= 0 || !work_of_op(p, op, &w))
        return false;
    cost_add(p, &w, &now);
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t v = graph_operands(g, op)[i], from = v == NONE ? NONE : repeated_in(g, v);
        struct work all = {0}, part = {0};
        if (from == NONE || !work_reads(p, v, &all) || !work_reads(p, from, &part))
            continue;
        w.dram_read -= all.dram_read - part.dram_read;
        w.l1_read -= all.l1_read - part.l1_read;
        any = true;
    }
    cost_add(p, &w, &row);
    *us = us_of(s, op) * (1 - row.estimated.us / now.estimated.us);
    return any && *us > 0;
}

/* ---- the table ---- */

static const struct {
    const char *kind, *change;
    bool of_findings; /* it stays where a finding takes the op */
    bool (*is)(struct search *s, uint32_t op, double *us);
} kinds[] = {
    {"op without effect", "every element stays as it is (a division by ones, an addition of zeros): leave it out",
     false, changes_nothing},
    {"casts that cancel", "a cast to more bits and back around ops that only move: leave out both", false,
     casts_cancel},
    {"table cast", "all of a table is cast before a few of its rows are looked up: cast these", false, casts_table},
    {"host round trip", "a tensor leaves the device and comes back: keep it there (transfers are not priced)", false,
     comes_from_host},
    {"layout round trip", "a tensor is laid out as it lay before: leave out what is between", false, comes_back},
    {"state moved",
     "a state is taken, moved whole and returned: keep it in the parts and the layout that the step works in", false,
     moves_state},
    {"tile padding",
     "a dimension of 1 before the last is padded to the rows of a tile: drop it, and reshape behind these "
     "ops",
     true, pads},
    {"repeated constant", "a row of a constant is repeated to a matrix before it is used: use the row", false,
     reads_repeated},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

struct hits {
    uint32_t *ops, n, cap;
    double us;
};

static void ask(struct search *s, uint32_t op, struct hits *hits) {
    for (int k = 0; k < KINDS; k++) {
        double us = 0;
        if (s->counted[op] || (s->timed->taken[op] && !kinds[k].of_findings) || !kinds[k].is(s, op, &us))
            continue;
        s->counted[op] = true;
        hits[k].us += us;
        hits[k].ops = grow(hits[k].ops, &hits[k].cap, hits[k].n + 1, sizeof *hits[k].ops);
        hits[k].ops[hits[k].n++] = op;
    }
}

static void keep(struct needless *all, int kind, const struct hits *h, const struct search *s, struct arena *a) {
    struct segment ops = {s->g->m, h->ops, h->n};
    struct buf lines = {0};
    if (!h->n || (h->us < NO_TIME_US && kinds[kind].is != comes_from_host))
        return;
    segment_lines(&ops, &lines);
    all->items = grow(all->items, &all->cap, all->n + 1, sizeof *all->items);
    all->items[all->n++] = (struct needless_work){.kind = kinds[kind].kind,
                                                  .change = kinds[kind].change,
                                                  .source = source_of(&ops, a),
                                                  .lines = buf_take(&lines, a),
                                                  .n = h->n,
                                                  .graph = s->timed->number,
                                                  .us = h->us};
}

void needless_add(struct needless *all, const struct timed_graph *g, struct arena *a) {
    const struct graph *graph = g->pricer->graph;
    size_t n = graph->m->nops + (size_t)1;
    struct search s = {
        .timed = g, .g = graph, .flattened = xcalloc(n, sizeof(bool)), .counted = xcalloc(n, sizeof(bool))};
    struct hits hits[KINDS] = {{0}};
    pricer_begin(&s.flat, graph, g->pricer->device, g->pricer->cycles);
    s.flat.flat = true;
    for (uint32_t op = 0; op < graph->m->nops; op++)
        if (graph_is_audited(graph, op) && graph->m->ops[op].nresults)
            s.flattened[op] = begins_padding(&s, op) || works_on_padding(&s, op);
    for (uint32_t op = 0; op < graph->m->nops; op++)
        if (graph_is_audited(graph, op) && graph->m->ops[op].nresults)
            ask(&s, op, hits);
    for (int k = 0; k < KINDS; k++) {
        keep(all, k, &hits[k], &s, a);
        free(hits[k].ops);
    }
    pricer_end(&s.flat);
    free(s.flattened);
    free(s.counted);
}
