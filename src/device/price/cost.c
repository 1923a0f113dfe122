/* How each class of operators uses a chip. Kernels of norms, softmax and reductions give each core whole rows of tiles,
 * all others any tiles (tt-metal tech_reports/Gemma4PrefillChunkSize). */
#include "device/price/cost.h"

#include <stdlib.h>

#include "ir/graph/index.h"
#include "ir/graph/mesh.h"
#include "ir/ops/scalar.h"

enum { MOST_CHUNK = 8 /* rows of tiles of queries that a kernel of attention takes at a time */ };

/* What is known of a type. */
struct priced_type {
    bool asked, known;
    struct layout layout;
    int64_t bytes, tiles;
};

void pricer_begin(struct pricer *p, const struct graph *g, const struct device *d, const double *cycles) {
    *p = (struct pricer){.graph = g, .device = d, .cycles = cycles, .ntypes = g->m->ntypes};
    p->types = xcalloc(p->ntypes + (size_t)1, sizeof *p->types);
}

void pricer_end(struct pricer *p) {
    free(p->types);
    *p = (struct pricer){0};
}

static int64_t tiles_along(int64_t extent) {
    return (extent + TILE - 1) / TILE;
}

/* The dimension before those of 1 is the one that is padded to tiles. */
static void drop_units(const struct mlir *m, const struct mlir_type *type, struct priced_type *t) {
    const int64_t *dims = m->dims + type->first_dim;
    if (type->rank < 3 || t->layout.tile_height != TILE || layout_is_sharded(&t->layout))
        return;
    uint32_t rows = type->rank - 2;
    while (rows > 0 && dims[rows] == 1)
        rows--;
    int64_t tiles = tiles_along(dims[rows]) * tiles_along(dims[type->rank - 1]);
    for (uint32_t i = 0; i < rows; i++)
        tiles *= dims[i];
    if (tiles > 0 && tiles < t->tiles) {
        t->bytes = t->bytes / t->tiles * tiles;
        t->tiles = tiles;
    }
}

static const struct priced_type *type_of(struct pricer *p, uint32_t value) {
    const struct mlir *m = p->graph->m;
    uint32_t id = m->values[value].type;
    struct priced_type *t = &p->types[id];
    if (!t->asked) {
        const struct mlir_type *type = &m->types[id];
        t->asked = true;
        t->known = layout_of_type(m, type, &t->layout) || layout_by_default(m, type, &t->layout);
        t->bytes = t->known ? layout_bytes(&t->layout, p->device->chip.dram_align) : -1;
        t->tiles = t->known ? layout_tiles(&t->layout) : -1;
        t->known = t->bytes > 0 && t->bytes < (int64_t)1 << 40 && /* no mesh holds more */ t->tiles > 0;
        if (p->flat && t->known)
            drop_units(m, type, t);
    }
    return t->known ? t : NULL;
}

const struct layout *value_layout(struct pricer *p, uint32_t value) {
    const struct priced_type *t = type_of(p, value);
    return t ? &t->layout : NULL;
}

bool work_reads(struct pricer *p, uint32_t value, struct work *w) {
    const struct priced_type *t = type_of(p, value);
    if (!t)
        return false;
    if (t->layout.memory == MEMORY_L1)
        w->l1_read += t->bytes;
    else if (t->layout.memory != MEMORY_HOST)
        w->dram_read += t->bytes;
    return true;
}

bool work_writes(struct pricer *p, uint32_t value, struct work *w) {
    struct work read = {0};
    bool known = work_reads(p, value, &read);
    w->dram_written += read.dram_read;
    w->l1_written += read.l1_read;
    return known;
}

int64_t cores_for(const struct pricer *p, int64_t pieces) {
    int64_t cores = chip_cores(&p->device->chip);
    return pieces < 1 ? 1 : pieces < cores ? pieces : cores;
}

/* ---- which ops run ---- */

static bool same_rows(const struct graph *g, uint32_t a, uint32_t b, int64_t multiple) {
    uint32_t ra, rb;
    const int64_t *x = graph_shape(g, a, &ra), *y = graph_shape(g, b, &rb);
    if (!x || !y || ra < 1 || rb < 1 || x[ra - 1] != y[rb - 1])
        return false;
    int64_t rows = ra > 1 ? x[ra - 2] : 1, others = rb > 1 ? y[rb - 2] : 1;
    return rows == others || (rows % multiple == 0 && others % multiple == 0);
}

/* It broadcasts its operands itself. */
static bool broadcasts(const struct graph *g, uint32_t op) {
    return graph_class(g, op) == OP_ELTWISE && graph_noperands(g, op) > 1;
}

static bool all_broadcast(const struct graph *g, uint32_t value) {
    for (uint32_t i = g->first_use[value]; i < g->first_use[value + 1]; i++)
        if (!broadcasts(g, g->uses[i]))
            return false;
    return true;
}

/* A reshape is a view where neither the last dimension nor the padding of the rows changes. */
static bool is_view(struct pricer *p, uint32_t op) {
    const struct graph *g = p->graph;
    uint32_t from = graph_operands(g, op)[0], to = g->m->ops[op].first_result;
    const struct layout *a = value_layout(p, from), *b = value_layout(p, to);
    if (graph_movement(g, op) == MOVEMENT_BROADCAST)
        return all_broadcast(g, to);
    if (graph_movement(g, op) != MOVEMENT_RESHAPE || !a || !b || a->memory != b->memory ||
        a->tile_height != b->tile_height)
        return false;
    return same_rows(g, from, to, a->tile_height ? a->tile_height : 1);
}

/* An op of TTIR that leaves its operand as it is: the compiler folds it (foldIdentityPermute and others of TTIROps.cpp
 * at tt-mlir 19c86fca45ae). */
static bool is_folded(const struct graph *g, uint32_t op) {
    const struct mlir_value *values = g->m->values;
    uint32_t from = graph_operands(g, op)[0], rank = 0;
    const int64_t *shape = graph_shape(g, from, &rank), *order;
    enum op_class class = graph_class(g, op);
    if (graph_is_ttnn(g, op) || (class != OP_MOVE && class != OP_CAST) ||
        values[from].type != values[g->m->ops[op].first_result].type)
        return false;
    if (graph_movement(g, op) != MOVEMENT_PERMUTE)
        return true;
    bool same = shape && attrs_list(graph_attributes(g, op), "permutation", &order) == (int32_t)rank;
    for (uint32_t d = 0; d < rank && same; d++)
        same = order[d] == (int64_t)d ||
               (shape[d] == 1 && order[d] >= 0 && order[d] < (int64_t)rank && shape[order[d]] == 1);
    return same;
}

bool op_is_launched(struct pricer *p, uint32_t op) {
    const struct graph *g = p->graph;
    const struct mlir_op *o = &g->m->ops[op];
    enum op_class class = graph_class(g, op);
    struct placement placed; /* in place: handed on (tt-mlir runtime/lib/ttnn/operations/ccl/mesh_shard.cpp) */
    if (class == OP_CONSTANT || class == OP_CALL || class == OP_RETURN || class == OP_NO_USE || class == OP_STRUCTURE ||
        g->kind[op] == K_TO_DEVICE || (mesh_placement(g, op, &placed) && placed.in_place))
        return false;
    if (o->nresults == 0 || graph_is_parameter(g, o->first_result))
        return graph_writes_in_place(g, op);
    return !(class_moves(class) && graph_noperands(g, op) > 0 && graph_operands(g, op)[0] != NONE &&
             (is_view(p, op) || is_folded(g, op)));
}

/* ---- computing ---- */

/* Passes of the matrix unit over a pair of tiles, 16 cycles each: the more, the more bits of both factors count. Where
 * nothing is printed, TTNN takes HiFi2; LoFi for two block floats, HiFi3 for f32 on Wormhole. */
static double fidelity_passes(const struct pricer *p, uint32_t op, uint32_t result) {
    const struct graph *g = p->graph;
    const struct attr *config = attrs_find(graph_attributes(g, op), "compute_config");
    unsigned passes = math_fidelity(config ? config : attrs_find(graph_attributes(g, op), "compute_kernel_config"));
    if (passes)
        return passes;
    if (graph_dtype(g, result) == DT_F32)
        return str_is(p->device->chip.arch, "wormhole_b0") ? 3 : 4;
    for (uint32_t i = 0; i < 2 && i < graph_noperands(g, op); i++) {
        enum dtype t = graph_dtype(g, graph_operands(g, op)[i]);
        if (t != DT_BFP8 && t != DT_BFP4)
            return 2;
    }
    return 1;
}

int64_t extent_from_end(const struct graph *g, uint32_t value, uint32_t back) {
    uint32_t rank;
    const int64_t *dims = graph_shape(g, value, &rank);
    return dims && rank > back && dims[rank - 1 - back] > 0 ? dims[rank - 1 - back] : 1;
}

/* How many products each element of a result is the sum of; 0: it is no product. */
static int64_t summed(const struct graph *g, uint32_t op) {
    const uint32_t *in = graph_operands(g, op);
    enum op_kind k = (enum op_kind)g->kind[op];
    uint32_t rank;
    if (graph_noperands(g, op) < 2 || in[0] == NONE || in[1] == NONE)
        return 0;
    if (op_table[k].class == OP_CONTRACT && !op_is(k, NAMES_AXES))
        return extent_from_end(g, in[0], attrs_flag(graph_attributes(g, op), "transpose_a"));
    if (op_convolves(k)) {
        struct window w;
        int64_t weights = graph_numel(g, in[1]);
        return graph_window(g, op, &w) == NULL && weights > 0 ? weights / w.out_channels : 0;
    }
    if (op_is(k, NAMES_AXES)) {
        const int64_t *dims, *shape = graph_shape(g, in[0], &rank);
        int count = attrs_list(graph_attributes(g, op), "contract_dims_lhs", &dims);
        int64_t n = 1;
        for (int i = 0; i < count; i++)
            n *= shape && dims[i] >= 0 && dims[i] < rank && shape[dims[i]] > 0 ? shape[dims[i]] : 1;
        return n;
    }
    return 0;
}

int64_t tiles_of(struct pricer *p, uint32_t value) {
    const struct priced_type *t = type_of(p, value);
    return t ? t->tiles : 0;
}

static int64_t most_tiles(struct pricer *p, uint32_t op) {
    const struct graph *g = p->graph;
    int64_t most = tiles_of(p, g->m->ops[op].first_result);
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        int64_t n = graph_operands(g, op)[i] == NONE ? 0 : tiles_of(p, graph_operands(g, op)[i]);
        most = n > most ? n : most;
    }
    return most;
}

int64_t tile_rows(struct pricer *p, uint32_t value) {
    int64_t columns = tiles_along(extent_from_end(p->graph, value, 0));
    return columns > 0 ? tiles_of(p, value) / columns : 1;
}

/* ---- kernels of attention ---- */

/* Bytes of a tile of the result, and how many tiles its rows are wide. */
static int64_t tile_of_result(struct pricer *p, uint32_t result, int64_t *width) {
    const struct layout *l = value_layout(p, result);
    *width = tiles_along(extent_from_end(p->graph, result, 0));
    return l && l->tile_height ? tile_bytes(l->dtype, l->tile_height, l->tile_width) : 0;
}

/* Rows of tiles of queries for which L1 holds what a kernel of attention keeps there: of queries one chunk, of keys,
 * values and results two each, and two of scores. */
static int64_t chunk_of_queries(struct pricer *p, uint32_t result) {
    int64_t width, tile = tile_of_result(p, result, &width), n = MOST_CHUNK;
    while (n > 1 && tile * n * (7 * width + 2 * n) > chip_l1(&p->device->chip))
        n /= 2;
    return n;
}

void work_attends(struct pricer *p, const struct attention *a, uint32_t result, struct work *w) {
    int64_t chunk = chunk_of_queries(p, result), rows = tiles_along(a->rows), chunks = (rows + chunk - 1) / chunk;
    double scores = (double)a->heads * (double)rows * (double)tiles_along(a->keys);
    struct work written = {0};
    work_writes(p, result, &written);
    w->again = 2.0 * (double)(chunks - 1) * (double)written.dram_written / (double)a->rows * (double)a->keys;
    w->matrix_cycles = 2 * scores * (double)tiles_along(a->width) * 16 * fidelity_passes(p, a->product, result);
    w->vector_cycles = scores * p->cycles[K_SDPA];
    w->cores = cores_for(p, a->one_query ? INT64_MAX : a->heads * chunks);
}

/* The heads of queries, as all spellings of an attention have them: [..., rows, width]. */
struct attention attention_of_op(const struct graph *g, uint32_t op) {
    const uint32_t *in = graph_operands(g, op);
    struct attention a = {.rows = extent_from_end(g, in[0], 1), .width = extent_from_end(g, in[0], 0), .product = op};
    a.keys = extent_from_end(g, in[1], 1);
    a.heads = graph_numel(g, in[0]) / (a.rows * a.width);
    a.one_query = a.rows == 1 || g->kind[op] == K_SDPA_DECODE;
    return a;
}

void work_by_rows(struct pricer *p, enum op_kind k, uint32_t result, struct work *w) {
    int64_t width, tile = tile_of_result(p, result, &width);
    if (op_table[k].class == OP_AXISWISE && tile * width * (k == K_SOFTMAX ? 4 : 6) > chip_l1(&p->device->chip))
        w->again = (double)w->dram_read;
}

/* ---- ops of the graph ---- */

/* The activation that is folded into an op; NO_OPERATOR: none is. */
static enum op_kind activation_in(const struct graph *g, uint32_t op) {
    struct str name = graph_activation(g, op);
    return str_is(name, "gelu_approx") ? K_GELU : op_kind_of_name(name);
}

uint32_t product_bias(const struct graph *g, uint32_t op) {
    bool biased = graph_class(g, op) == OP_CONTRACT || op_convolves((enum op_kind)g->kind[op]);
    return biased && graph_noperands(g, op) > 2 ? graph_operands(g, op)[2] : NONE;
}

static void compute(struct pricer *p, uint32_t op, struct work *w) {
    const struct graph *g = p->graph;
    enum op_kind k = (enum op_kind)g->kind[op], activation = activation_in(g, op);
    enum op_class class = op_table[k].class;
    uint32_t result = graph_writes_in_place(g, op) ? graph_operands(g, op)[1] : g->m->ops[op].first_result;
    const struct layout *layout = value_layout(p, result);
    bool of_result = graph_writes_in_place(g, op) || op_is(k, LOOKS_UP); /* nothing is done to the rest of a table */
    int64_t products = summed(g, op), tiles = of_result ? tiles_of(p, result) : most_tiles(p, op);
    int64_t pieces = class == OP_AXISWISE ? tile_rows(p, result) : tiles_of(p, result);
    if (class == OP_REDUCE && tile_rows(p, graph_operands(g, op)[0]) > pieces)
        pieces = tile_rows(p, graph_operands(g, op)[0]);
    w->cores = cores_for(p, pieces);
    if (layout && layout_is_sharded(layout))
        w->cores = cores_for(p, layout->cores);
    if (k == K_SDPA || k == K_SDPA_DECODE) {
        struct attention a = attention_of_op(g, op);
        work_attends(p, &a, result, w);
    } else if (products) {
        int64_t deep = tiles_along(products);
        w->matrix_cycles = (double)tiles_of(p, result) * (double)deep * 16 * fidelity_passes(p, op, result);
        w->vector_cycles = (double)tiles_of(p, result) * ((product_bias(g, op) != NONE ? p->cycles[K_ADD] : 0) +
                                                          (activation != NO_OPERATOR ? p->cycles[activation] : 0));
    } else {
        w->vector_cycles = (double)tiles * p->cycles[k];
        work_by_rows(p, k, result, w);
    }
}

uint32_t read_of(const struct pricer *p, uint32_t op, uint32_t operand) {
    const struct graph *g = p->graph;
    uint32_t v = graph_operands(g, op)[operand], result = g->m->ops[op].first_result, def = g->m->values[v].def;
    bool part = graph_class(g, op) == OP_SLICE || graph_op_is(g, op, LOOKS_UP);
    if (def != NONE && graph_movement(g, def) == MOVEMENT_BROADCAST && all_broadcast(g, v))
        return graph_operands(g, def)[0];
    return part && graph_numel(g, v) > graph_numel(g, result) ? result : v;
}

/* The weight of a convolution of TTIR is no tensor in tiles: TTNN lays it out as a matrix, once. */
bool work_reads_operand(struct pricer *p, uint32_t op, uint32_t operand, uint32_t value, struct work *w) {
    const struct graph *g = p->graph;
    const int64_t tile = (int64_t)TILE * TILE;
    int64_t n = graph_numel(g, value), bytes = tile_bytes(graph_dtype(g, value), TILE, TILE);
    bool weight = op_convolves((enum op_kind)g->kind[op]) && operand == 1 && !graph_is_ttnn(g, op);
    if (!weight || n < 0 || bytes <= 0)
        return work_reads(p, value, w);
    w->dram_read += (n + tile - 1) / tile * bytes;
    return true;
}

/* What a collective sends over one link: what it gathers or scatters, else its operand, as between two chips. */
static int64_t sent_by(const struct pricer *p, uint32_t op, const struct work *w) {
    int64_t read = w->dram_read + w->l1_read, written = w->dram_written + w->l1_written;
    if (!op_is((enum op_kind)p->graph->kind[op], COLLECTIVE) || p->graph->kind[op] == K_MESH_PARTITION)
        return 0;
    return read == written ? read : read < written ? written - read : read - written;
}

bool work_of_op(struct pricer *p, uint32_t op, struct work *out) {
    const struct graph *g = p->graph;
    const struct mlir_op *o = &g->m->ops[op];
    bool known = true, in_place = graph_writes_in_place(g, op);
    *out = (struct work){0};
    for (uint32_t i = in_place; i < graph_noperands(g, op); i++)
        if (is_tensor_operand(g, graph_operands(g, op)[i]))
            known &= work_reads_operand(p, op, i, read_of(p, op, i), out);
    for (uint32_t i = 0; i < o->nresults && !in_place; i++)
        known &= work_writes(p, o->first_result + i, out);
    if (in_place)
        known &= work_writes(p, graph_operands(g, op)[1], out);
    if (known)
        compute(p, op, out);
    out->sent = sent_by(p, op, out);
    return known;
}

/* ---- time ---- */

void cost_add(const struct pricer *p, const struct work *w, struct cost *to) {
    const struct chip *c = &p->device->chip;
    struct counted *n = &to->counted;
    struct estimated *e = &to->estimated;
    double cores = (double)(w->cores > 0 ? w->cores : 1);
    double l1_rate = cores * c->core_bytes * c->clock_mhz; /* bytes a us */
    double dram_rate = c->dram_rate * 1e3 < l1_rate ? c->dram_rate * 1e3 : l1_rate;
    double dram = ((double)(w->dram_read + w->dram_written) + w->again) / dram_rate;
    double l1 = (double)(w->l1_read + w->l1_written) / l1_rate;
    double computing = (w->matrix_cycles / c->matrix_use + w->vector_cycles) / (cores * c->clock_mhz);
    double moving = dram + l1, sending = (double)w->sent / (c->link_rate * 1e3);
    enum bound bound = computing > moving ? BOUND_COMPUTE : dram >= l1 ? BOUND_DRAM : BOUND_L1;
    double busy = computing > moving ? computing : moving;
    if (sending > busy) {
        bound = BOUND_LINK;
        busy = sending;
    }
    n->launches++;
    n->dram_read += w->dram_read;
    n->dram_written += w->dram_written;
    n->l1_read += w->l1_read;
    n->l1_written += w->l1_written;
    e->spent[BOUND_LAUNCH] += c->gap_us + c->startup_us;
    e->spent[bound] += busy;
    e->us += c->gap_us + c->startup_us + busy;
    e->matrix_cycles += w->matrix_cycles;
    e->vector_cycles += w->vector_cycles;
    if (!e->cores || w->cores < e->cores)
        e->cores = w->cores;
}

bool cost_add_pass(struct pricer *p, uint32_t from, uint32_t to, double cycles, struct cost *out) {
    struct work w = {.vector_cycles = cycles};
    if (!work_reads(p, from, &w) || !work_writes(p, to, &w))
        return false;
    w.cores = cores_for(p, tiles_of(p, to));
    cost_add(p, &w, out);
    return true;
}

/* ---- what TTNN runs beside a product ---- */

/* Interleaved in DRAM, as a tensor without a layout is taken to be. */
static bool in_dram(struct pricer *p, uint32_t value) {
    const struct layout *l = value_layout(p, value);
    return l && l->memory == MEMORY_DRAM && !layout_is_sharded(l);
}

/* More than one number for each column of the product, which may be several dimensions of its result. */
static bool has_rows(const struct graph *g, uint32_t bias, uint32_t product) {
    struct contraction c;
    uint32_t rank;
    int64_t columns = 1;
    const int64_t *shape = graph_shape(g, g->m->ops[product].first_result, &rank);
    if (!shape || !contraction_of(g, product, &c))
        return extent_from_end(g, bias, 1) > 1;
    for (uint32_t d = 0; d < rank; d++)
        columns *= c.role[d] == ROLE_COLUMNS ? shape[d] : 1;
    return extent_from_end(g, bias, 1) > 1 && graph_numel(g, bias) > columns;
}

bool bias_is_apart(struct pricer *p, uint32_t product, uint32_t bias, uint32_t result) {
    const uint32_t *in = graph_operands(p->graph, product);
    const struct layout *left = value_layout(p, in[0]);
    bool from_shards = left && layout_is_sharded(left) && in_dram(p, result);
    return has_rows(p->graph, bias, product) ||
           !(from_shards || (in_dram(p, in[0]) && in_dram(p, in[1]) && in_dram(p, result)));
}

bool product_is_configured(const struct graph *g, uint32_t product) {
    const struct attrs *a = graph_attributes(g, product);
    return attrs_find(a, "matmul_program_config") || attrs_find(a, "program_config") || attrs_find(a, "core_grid");
}

/* The operands that have the width of the heads, and the result. */
static bool pad_heads(struct pricer *p, uint32_t op, struct cost *to) {
    const struct graph *g = p->graph;
    uint32_t result = g->m->ops[op].first_result;
    for (uint32_t i = 0; i < graph_noperands(g, op) && i < 3; i++)
        if (!cost_add_pass(p, graph_operands(g, op)[i], graph_operands(g, op)[i], 0, to))
            return false;
    return cost_add_pass(p, result, result, 0, to);
}

static struct apart apart_of_op(struct pricer *p, uint32_t op) {
    const struct graph *g = p->graph;
    struct apart out = {.bias = false};
    uint32_t bias = product_bias(g, op), result = g->m->ops[op].first_result;
    if (graph_class(g, op) != OP_CONTRACT || graph_op_is(g, op, NAMES_AXES) || product_is_configured(g, op))
        return out;
    enum op_kind activation = activation_in(g, op);
    out.bias = bias != NONE && bias_is_apart(p, op, bias, result);
    out.activation = activation != NO_OPERATOR;
    out.cycles = out.activation ? (double)tiles_of(p, result) * p->cycles[activation] : 0;
    return out;
}

bool cost_add_launch(struct pricer *p, struct work *w, const struct apart *apart, uint32_t result, struct cost *to) {
    w->vector_cycles -= apart->cycles;
    cost_add(p, w, to);
    return (!apart->bias || cost_add_pass(p, result, result, 0, to)) &&
           (!apart->activation || cost_add_pass(p, result, result, apart->cycles, to));
}

bool cost_add_op(struct pricer *p, uint32_t op, struct cost *to) {
    const struct graph *g = p->graph;
    struct work w;
    if (!op_is_launched(p, op))
        return true;
    if (!work_of_op(p, op, &w))
        return false;
    struct apart apart = apart_of_op(p, op);
    return cost_add_launch(p, &w, &apart, g->m->ops[op].first_result, to) &&
           (g->kind[op] != K_SDPA || !attention_is_padded(attention_of_op(g, op)) || pad_heads(p, op, to));
}

enum bound cost_bound(const struct estimated *e) {
    enum bound most = BOUND_LAUNCH;
    for (int b = 0; b < BOUNDS; b++)
        if (e->spent[b] > e->spent[most])
            most = (enum bound)b;
    return most;
}

const char *bound_name(enum bound b) {
    static const char *const names[BOUNDS] = {"launch", "DRAM", "L1", "compute", "link"};
    return names[b];
}
