/* What ops say of extents becomes rules over their numbers; a search with propagation finds small numbers that obey. */
#include "prove/shrink.h"

#include <math.h>

#include "numeric/tensor.h"

enum { MAX_RULES = 192, MAX_SIDE = 14, MAX_TRIES = 20000, SMALL_COST = 1 << 15, TILE = 32 };

/* Which relations are kept beyond those of the ops; the first level that has a solution counts. */
enum level { KEEP_MULTIPLES, KEEP_TILES, KEEP_DIFFERENT, KEEP_OPS, LEVELS };

enum rule_kind { PRODUCT, SUM, AT_MOST };

/* k times (or plus) the numbers on the left, compared with the same on the right. */
struct side {
    int64_t k;
    uint32_t n;
    uint8_t number[MAX_SIDE];
};

struct rule {
    enum rule_kind kind;
    struct side side[2];
};

struct shrinker {
    const struct part *part;
    struct extents *e; /* `to` is 0 until it is chosen */
    bool fixed[MAX_EXTENTS];
    struct rule rules[MAX_RULES];
    uint32_t nrules, tries, skip;
    enum level level;
    bool full; /* too many numbers or rules */
};

/* ---- numbers ---- */

int64_t extent_to(const struct extents *e, int64_t from) {
    uint32_t lo = 0, hi = e->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (e->from[mid] < from)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < e->n && e->from[lo] == from ? e->to[lo] : from;
}

static void add_number(struct shrinker *s, int64_t x) {
    struct extents *e = s->e;
    uint32_t at = 0;
    while (at < e->n && e->from[at] < x)
        at++;
    if (x < 2 || (at < e->n && e->from[at] == x))
        return;
    if (e->n == MAX_EXTENTS) {
        s->full = true;
        return;
    }
    memmove(e->from + at + 1, e->from + at, (e->n - at) * sizeof *e->from);
    e->from[at] = x;
    e->n++;
}

static void add_shape(struct shrinker *s, uint32_t value) {
    uint32_t rank;
    const int64_t *dims = value == NONE ? NULL : graph_shape(s->part->graph, value, &rank);
    for (uint32_t d = 0; dims && d < rank; d++)
        add_number(s, dims[d]);
}

static void add_bounds(struct shrinker *s, uint32_t op) {
    struct slice_bounds b;
    if (!slice_bounds(s->part->graph, op, &b))
        return;
    for (uint32_t d = 0; d < b.rank; d++) {
        add_number(s, b.begin[d]);
        add_number(s, b.end[d]);
    }
}

static void add_numbers(struct shrinker *s) {
    const struct graph *g = s->part->graph;
    for (uint32_t i = 0; i < s->part->nouter; i++)
        add_shape(s, s->part->outer[i]);
    for (uint32_t i = 0; i < s->part->nops; i++) {
        const struct mlir_op *op = &g->m->ops[s->part->ops[i]];
        for (uint32_t r = 0; r < op->nresults; r++)
            add_shape(s, op->first_result + r);
        add_bounds(s, s->part->ops[i]);
    }
}

static uint32_t index_of(const struct shrinker *s, int64_t x) {
    for (uint32_t i = 0; i < s->e->n; i++)
        if (s->e->from[i] == x)
            return i;
    return NONE;
}

static void fix(struct shrinker *s, int64_t x) {
    uint32_t i = index_of(s, x);
    if (i != NONE)
        s->fixed[i] = true;
}

static void fix_shape(struct shrinker *s, uint32_t value) {
    uint32_t rank;
    const int64_t *dims = value == NONE ? NULL : graph_shape(s->part->graph, value, &rank);
    for (uint32_t d = 0; dims && d < rank; d++)
        fix(s, dims[d]);
}

/* ---- rules ---- */

static struct rule *new_rule(struct shrinker *s, enum rule_kind kind) {
    int64_t neutral = kind == PRODUCT ? 1 : 0;
    s->full |= s->nrules == MAX_RULES;
    struct rule *r = &s->rules[s->full ? 0 : s->nrules++];
    *r = (struct rule){.kind = kind, .side = {{.k = neutral}, {.k = neutral}}};
    return r;
}

/* One more factor or summand; what is no number of its own counts as it is. */
static void put(struct shrinker *s, struct rule *r, int side, int64_t x) {
    struct side *to = &r->side[side];
    uint32_t i = index_of(s, x);
    if (i == NONE)
        s->full |=
            r->kind == PRODUCT ? __builtin_mul_overflow(to->k, x, &to->k) : __builtin_add_overflow(to->k, x, &to->k);
    else if (to->n < MAX_SIDE)
        to->number[to->n++] = (uint8_t)i;
    else
        s->full = true;
}

/* The smallest groups of dimensions whose products are equal. */
static void rules_of_reshape(struct shrinker *s, const int64_t *a, uint32_t na, const int64_t *b, uint32_t nb) {
    uint32_t i = 0, j = 0;
    while (i < na || j < nb) {
        struct rule *r = new_rule(s, PRODUCT);
        int64_t left = 1, right = 1;
        do {
            bool take_left = i < na && (left <= right || j >= nb);
            int64_t x = take_left ? a[i++] : b[j++];
            put(s, r, take_left ? 0 : 1, x);
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
        add_number(s, to / from);
    }
}

static void times_rules(struct shrinker *s, const int64_t *a, uint32_t na, const int64_t *b, uint32_t nb) {
    for (uint32_t d = 0; d < na && d < nb; d++) {
        int64_t from = a[na - 1 - d], to = b[nb - 1 - d];
        if (from == to || from < 1 || to % from != 0)
            continue;
        struct rule *r = new_rule(s, PRODUCT);
        put(s, r, 0, from);
        put(s, r, 0, to / from);
        put(s, r, 1, to);
    }
}

static void rules_of_slice(struct shrinker *s, uint32_t op, const int64_t *a, const int64_t *b) {
    struct slice_bounds bounds;
    if (!slice_bounds(s->part->graph, op, &bounds)) {
        fix_shape(s, graph_operands(s->part->graph, op)[0]);
        fix_shape(s, s->part->graph->m->ops[op].first_result);
        return;
    }
    for (uint32_t d = 0; d < bounds.rank; d++) {
        int64_t begin = bounds.begin[d], end = bounds.end[d], step = bounds.step[d];
        if (!bounds.cut[d])
            continue;
        if (step > 1 && (begin >= step || end > a[d] || b[d] * step != a[d])) {
            fix(s, a[d]); /* every so many from the first ones on is understood, nothing else */
            fix(s, b[d]);
            fix(s, begin);
            fix(s, end);
            continue;
        }
        struct rule *r = new_rule(s, step > 1 ? PRODUCT : SUM);
        put(s, r, 0, step > 1 ? step : begin);
        put(s, r, 0, b[d]);
        put(s, r, 1, step > 1 ? a[d] : end);
        fix(s, step > 1 ? step : 1);
        fix(s, step > 1 ? begin : 1);
        r = new_rule(s, AT_MOST);
        put(s, r, 0, end);
        put(s, r, 1, a[d]);
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
        struct rule *rule = new_rule(s, SUM);
        for (uint32_t i = 0; i < graph_noperands(g, op); i++)
            put(s, rule, 0, graph_shape(g, graph_operands(g, op)[i], &rank)[d]);
        put(s, rule, 1, to[d]);
    }
}

/* How an op of a class without rules of its own is treated. */
static bool is_free(enum op_kind k) {
    static const enum op_kind kinds[] = {
        K_SORT, K_ARGMAX, K_EMBEDDING, K_SDPA, K_SDPA_DECODE, K_ARANGE, K_BATCH_NORM_INFERENCE, K_ROTARY_EMBEDDING};
    enum op_class c = op_table[k].class;
    if (c == OP_ELTWISE || c == OP_REDUCE || c == OP_AXISWISE || c == OP_CONTRACT || c == OP_ALIKE || c == OP_CAST ||
        c == OP_LAYOUT || c == OP_CONSTANT || k == K_PERMUTE || k == K_TRANSPOSE)
        return true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i] == k)
            return true;
    return false;
}

static bool has_window(enum op_kind k) {
    return k == K_CONV1D || k == K_CONV2D || k == K_CONV3D || k == K_CONV_TRANSPOSE2D || k == K_MAX_POOL2D ||
           k == K_AVG_POOL2D || k == K_GLOBAL_AVG_POOL2D;
}

static int64_t dim_attr(const struct graph *g, uint32_t op, const char *key) {
    struct str text;
    int64_t d = -1;
    return mlir_attr(g->m, op, key, &text) && mlir_int(text, &d) ? d : -1;
}

/* ---- windows ---- */

/* What a convolution over images says: the window stays, the image shrinks with what it yields. */
struct window {
    int64_t n;                                         /* images of a flattened operand; 0: it is not flattened */
    int64_t in[2], out[2], span[2], pad[2], stride[2]; /* height, width */
};

/* Numbers of windows that may be computed with. */
static bool is_sane(int64_t x) {
    return x >= 0 && x <= 1 << 20;
}

/* An attribute of two numbers, or of one that counts for both. */
static bool pair_attr(const struct graph *g, uint32_t op, const char *key, int64_t otherwise, int64_t out[2]) {
    struct str text;
    int64_t list[2] = {otherwise, otherwise};
    int n = mlir_attr(g->m, op, key, &text) ? mlir_ints(text, list, 2) : 0;
    if (n == 1)
        list[1] = list[0];
    memcpy(out, list, sizeof list);
    return n >= 0 && n <= 2 && is_sane(list[0]) && is_sane(list[1]);
}

static int64_t window_yields(const struct window *w, int d, int64_t in) {
    return (in + w->pad[d] - w->span[d]) / w->stride[d] + 1;
}

/* Padding of all sides; of four numbers the order differs between dialects, and the extents tell which it is. */
static bool window_pads_of(const struct graph *g, uint32_t op, struct window *w) {
    struct str text;
    int64_t p[4] = {0};
    int n = mlir_attr(g->m, op, "padding", &text) ? mlir_ints(text, p, 4) : 0;
    if (n < 0 || n == 3 || n > 4 || !is_sane(p[0]) || !is_sane(p[1]) || !is_sane(p[2]) || !is_sane(p[3]))
        return false;
    const int64_t orders[][2] = {{2 * p[0], 2 * p[n > 1]}, {p[0] + p[2], p[1] + p[3]}, {p[0] + p[1], p[2] + p[3]}};
    for (int i = n == 4 ? 1 : 0; i < (n == 4 ? 3 : 1); i++) {
        memcpy(w->pad, orders[i], sizeof w->pad);
        if (w->out[0] == 0 ||
            (window_yields(w, 0, w->in[0]) == w->out[0] && window_yields(w, 1, w->in[1]) == w->out[1]))
            return true;
    }
    return false;
}

/* Height and width of the window itself: an attribute, else the last dimensions of the weights. */
static bool kernel_of(const struct graph *g, uint32_t op, int64_t out[2]) {
    uint32_t rank;
    const int64_t *weight;
    if (!pair_attr(g, op, "kernel_size", 0, out) || (!out[0] && !pair_attr(g, op, "kernel", 0, out)))
        return false;
    if (out[0] > 0 && out[1] > 0)
        return true;
    if (graph_noperands(g, op) < 2 || graph_operands(g, op)[1] == NONE)
        return false;
    weight = graph_shape(g, graph_operands(g, op)[1], &rank);
    if (!weight || rank != 4 || !is_sane(weight[2]) || !is_sane(weight[3]))
        return false;
    memcpy(out, weight + 2, 2 * sizeof *out);
    return true;
}

static bool slides(const struct graph *g, uint32_t op) {
    enum op_kind k = (enum op_kind)g->kind[op];
    struct str text;
    bool ceils = mlir_attr(g->m, op, "ceil_mode", &text) && !str_is(text, "false");
    return (k == K_CONV2D || k == K_MAX_POOL2D || k == K_AVG_POOL2D) && !ceils;
}

/* Of an operand that is an image, or a flattened one with its size in attributes. */
static bool image_of(const struct graph *g, uint32_t op, struct window *w) {
    uint32_t rank, out_rank;
    const int64_t *x = graph_shape(g, graph_operands(g, op)[0], &rank),
                  *y = graph_shape(g, g->m->ops[op].first_result, &out_rank);
    int64_t h = dim_attr(g, op, "height_dim"), v = dim_attr(g, op, "width_dim");
    int64_t n = dim_attr(g, op, "batch_size"), in[] = {dim_attr(g, op, "input_height"), dim_attr(g, op, "input_width")};
    if (!x || !y || rank != 4 || out_rank != 4)
        return false;
    if (n > 0 && in[0] > 0 && in[1] > 0 && is_sane(n) && is_sane(in[0]) && is_sane(in[1]) && x[0] == 1 && x[1] == 1 &&
        x[2] == n * in[0] * in[1]) {
        w->n = n;
        memcpy(w->in, in, sizeof in);
        if (!window_pads_of(g, op, w))
            return false;
        for (int d = 0; d < 2; d++)
            w->out[d] = window_yields(w, d, in[d]);
        return w->out[0] > 0 && w->out[1] > 0 && y[2] == n * w->out[0] * w->out[1];
    }
    if (h < 0 || h > 3 || v < 0 || v > 3 || h == v) {
        h = 1; /* channels last */
        v = 2;
    }
    memcpy(w->in, (int64_t[]){x[h], x[v]}, sizeof w->in);
    memcpy(w->out, (int64_t[]){y[h], y[v]}, sizeof w->out);
    return is_sane(x[h]) && is_sane(x[v]) && y[h] > 0 && y[v] > 0 && window_pads_of(g, op, w);
}

static bool window_of(const struct graph *g, uint32_t op, struct window *w) {
    int64_t kernel[2], dilation[2];
    *w = (struct window){0};
    if (!slides(g, op) || !pair_attr(g, op, "stride", 1, w->stride) || !pair_attr(g, op, "dilation", 1, dilation) ||
        !kernel_of(g, op, kernel) || w->stride[0] < 1 || w->stride[1] < 1 || w->stride[0] > MAX_SIDE ||
        w->stride[1] > MAX_SIDE)
        return false;
    for (int d = 0; d < 2; d++)
        w->span[d] = dilation[d] * (kernel[d] - 1) + 1;
    return image_of(g, op, w);
}

/* in + pad - span = stride * (out - 1) + what is left over at the end, which stays. */
static void rule_of_window(struct shrinker *s, const struct window *w, int d) {
    struct rule *r = new_rule(s, SUM);
    int64_t over = (w->in[d] + w->pad[d] - w->span[d]) % w->stride[d];
    put(s, r, 0, w->in[d]);
    r->side[0].k += w->pad[d] - w->span[d] + w->stride[d] - over;
    for (int64_t i = 0; i < w->stride[d]; i++)
        put(s, r, 1, w->out[d]);
}

static void fix_window(struct shrinker *s, uint32_t op) {
    const struct graph *g = s->part->graph;
    uint32_t rank;
    int64_t batch_dim = dim_attr(g, op, "batch_dim"), channel_dim = dim_attr(g, op, "channel_dim");
    fix(s, dim_attr(g, op, "input_height"));
    fix(s, dim_attr(g, op, "input_width"));
    fix(s, dim_attr(g, op, "batch_size"));
    for (int k = 0; k < 2; k++) {
        const int64_t *dims = graph_shape(g, k ? g->m->ops[op].first_result : graph_operands(g, op)[0], &rank);
        for (uint32_t d = 0; dims && d < rank; d++)
            if ((int64_t)d != (batch_dim < 0 ? 0 : batch_dim) &&
                (int64_t)d != (channel_dim < 0 ? (int64_t)rank - 1 : channel_dim))
                fix(s, dims[d]);
    }
}

/* Each group of the operand's channels has weights for as many. */
static void rule_of_groups(struct shrinker *s, uint32_t op) {
    const struct graph *g = s->part->graph;
    int64_t groups = dim_attr(g, op, "groups"), channel_dim = dim_attr(g, op, "channel_dim");
    uint32_t rank, weight_rank;
    const int64_t *x = graph_shape(g, graph_operands(g, op)[0], &rank), *weight = NULL;
    if (groups < 2)
        return;
    if (graph_noperands(g, op) > 1 && graph_operands(g, op)[1] != NONE)
        weight = graph_shape(g, graph_operands(g, op)[1], &weight_rank);
    channel_dim = channel_dim < 0 ? (int64_t)rank - 1 : channel_dim;
    if (!x || !weight || weight_rank < 2 || channel_dim < 0 || channel_dim >= rank ||
        weight[1] != x[channel_dim] / groups || g->kind[op] == K_CONV_TRANSPOSE2D) {
        fix(s, groups);
        fix_shape(s, graph_operands(g, op)[0]);
        return;
    }
    struct rule *r = new_rule(s, PRODUCT);
    put(s, r, 0, groups);
    put(s, r, 0, weight[1]);
    put(s, r, 1, x[channel_dim]);
}

/* Batch and channels are free, the window stays, and so does the image where it is not understood. */
static void rules_of_window(struct shrinker *s, uint32_t op) {
    const struct graph *g = s->part->graph;
    struct window w;
    uint32_t rank;
    const int64_t *dims;
    if (graph_noperands(g, op) > 1 && graph_operands(g, op)[1] != NONE &&
        (dims = graph_shape(g, graph_operands(g, op)[1], &rank)))
        for (uint32_t d = 2; d < rank; d++)
            fix(s, dims[d]);
    rule_of_groups(s, op);
    if (!window_of(g, op, &w)) {
        fix_window(s, op);
        return;
    }
    for (int d = 0; d < 2; d++)
        rule_of_window(s, &w, d);
    for (int k = 0; k < 2 && w.n > 0; k++) {
        dims = graph_shape(g, k ? g->m->ops[op].first_result : graph_operands(g, op)[0], &rank);
        struct rule *r = new_rule(s, PRODUCT);
        put(s, r, 0, w.n);
        put(s, r, 0, k ? w.out[0] : w.in[0]);
        put(s, r, 0, k ? w.out[1] : w.in[1]);
        put(s, r, 1, dims[2]);
    }
}

/* Numbers that only appear between others: how often something is repeated, how many heads there are. */
static void add_hidden_numbers(struct shrinker *s, uint32_t op) {
    const struct graph *g = s->part->graph;
    uint32_t na = 0, nb = 0, x = graph_noperands(g, op) ? graph_operands(g, op)[0] : NONE;
    const int64_t *a = x == NONE ? NULL : graph_shape(g, x, &na);
    const int64_t *b = g->m->ops[op].nresults ? graph_shape(g, g->m->ops[op].first_result, &nb) : NULL;
    if (a && b && (g->kind[op] == K_REPEAT || g->kind[op] == K_REPEAT_INTERLEAVE))
        rules_of_repeat(s, a, na, b, nb);
    static const char *const keys[] = {"batch_size", "input_height", "input_width", "num_heads", "num_kv_heads",
                                       "k",          "num_groups",   "groups"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        add_number(s, dim_attr(g, op, keys[i]));
    struct window w;
    if (window_of(g, op, &w))
        for (int d = 0; d < 2; d++)
            add_number(s, w.out[d]);
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
    struct rule *r = new_rule(s, SUM);
    put(s, r, 0, from);
    put(s, r, 1, to);
    s->full |= __builtin_add_overflow(r->side[0].k, to - from, &r->side[0].k);
}

static void rules_of_op(struct shrinker *s, uint32_t op) {
    const struct graph *g = s->part->graph;
    enum op_kind k = (enum op_kind)g->kind[op];
    uint32_t na = 0, nb = 0, x = graph_noperands(g, op) ? graph_operands(g, op)[0] : NONE;
    const int64_t *a = x == NONE ? NULL : graph_shape(g, x, &na);
    const int64_t *b = g->m->ops[op].nresults ? graph_shape(g, g->m->ops[op].first_result, &nb) : NULL;
    if (k == K_DISTRIBUTED_RMS_NORM || k == K_DISTRIBUTED_LAYER_NORM)
        rules_of_folded_rows(s, op, a, na);
    if (k == K_BROADCAST || is_free(k))
        return;
    if (a && b && k == K_RESHAPE) {
        rules_of_reshape(s, a, na, b, nb);
    } else if (a && b && (k == K_REPEAT || k == K_REPEAT_INTERLEAVE)) {
        times_rules(s, a, na, b, nb);
    } else if (a && b && k == K_SLICE) {
        rules_of_slice(s, op, a, b);
    } else if (k == K_CONCAT) {
        rules_of_concat(s, op);
    } else if (a && b && k == K_TOPK) {
        struct rule *r = new_rule(s, AT_MOST);
        put(s, r, 0, dim_attr(g, op, "k"));
        put(s, r, 1, na ? a[na - 1] : 1);
    } else if (a && b && k == K_PAD) {
        for (uint32_t d = 0; d < na && d < nb; d++)
            if (a[d] != b[d])
                rule_of_pad(s, a[d], b[d]);
    } else if (a && b && has_window(k)) {
        rules_of_window(s, op);
    } else {
        for (uint32_t i = 0; i < graph_noperands(g, op); i++)
            fix_shape(s, graph_operands(g, op)[i]);
        for (uint32_t r = 0; r < g->m->ops[op].nresults; r++)
            fix_shape(s, g->m->ops[op].first_result + r);
    }
}

/* ---- search ---- */

/* What is known of a side; `open`: the number that is not, `times` it occurs; MANY when there are several. */
enum { MANY = UINT8_MAX };

static int64_t evaluated(const struct shrinker *s, const struct rule *r, int side, uint32_t *open, uint32_t *times) {
    const struct side *x = &r->side[side];
    int64_t v = x->k;
    *open = NONE;
    *times = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        int64_t to = s->e->to[x->number[i]];
        if (!to) {
            *open = *open == NONE || *open == x->number[i] ? x->number[i] : MANY;
            ++*times;
        } else if (r->kind == PRODUCT ? __builtin_mul_overflow(v, to, &v) : __builtin_add_overflow(v, to, &v)) {
            return INT64_MIN;
        }
    }
    return v;
}

static bool divides_alike(int64_t a, int64_t b, int64_t to_a, int64_t to_b) {
    return a % b != 0 || to_a % to_b == 0;
}

static bool may_be(const struct shrinker *s, uint32_t i, int64_t to) {
    const struct extents *e = s->e;
    if (to < 2 || to > e->from[i] || (s->fixed[i] && to != e->from[i]))
        return false;
    if (s->level <= KEEP_TILES && !s->fixed[i] && (e->from[i] % TILE == 0) != (to % SMALL_TILE == 0))
        return false;
    for (uint32_t k = 0; k < e->n; k++) {
        if (k == i || !e->to[k])
            continue;
        if (s->level <= KEEP_DIFFERENT && e->to[k] == to)
            return false;
        if (s->level == KEEP_MULTIPLES && !s->fixed[i] && !s->fixed[k] &&
            !(divides_alike(e->from[i], e->from[k], to, e->to[k]) &&
              divides_alike(e->from[k], e->from[i], e->to[k], to)))
            return false;
    }
    return true;
}

/* The only number that is left open in a rule, and what it has to be. False: none, or more than one. */
static bool only_choice(const struct rule *r, int64_t known, int64_t rest, uint32_t times, int64_t *to) {
    int64_t left;
    *to = 0;
    if (r->kind == PRODUCT && times == 1 && rest != 0 && known % rest == 0)
        *to = known / rest;
    if (r->kind == SUM && !__builtin_sub_overflow(known, rest, &left) && left % times == 0)
        *to = left / times;
    return r->kind != AT_MOST && (r->kind == SUM || times == 1);
}

/* Chooses what is the only choice left, again and again. `chosen` collects it. False: a rule is broken. */
static bool propagate(struct shrinker *s, uint32_t *chosen, uint32_t *n) {
    for (uint32_t i = 0; i < s->nrules; i++) {
        const struct rule *r = &s->rules[i];
        uint32_t open[2], times[2];
        int64_t v[2] = {evaluated(s, r, 0, &open[0], &times[0]), evaluated(s, r, 1, &open[1], &times[1])}, to;
        if (v[0] == INT64_MIN || v[1] == INT64_MIN)
            return false;
        if (times[0] + times[1] == 0) {
            if (r->kind == AT_MOST ? v[0] > v[1] : v[0] != v[1])
                return false;
            continue;
        }
        int side = times[0] ? 0 : 1;
        if ((times[0] && times[1]) || open[side] == MANY || !only_choice(r, v[!side], v[side], times[side], &to))
            continue;
        if (!may_be(s, open[side], to))
            return false;
        s->e->to[open[side]] = to;
        chosen[(*n)++] = open[side];
        i = NONE; /* from the first rule again */
    }
    return true;
}

static bool choose_next(struct shrinker *s);

static bool try_number(struct shrinker *s, uint32_t i, int64_t to) {
    uint32_t chosen[MAX_EXTENTS + 1], n = 0;
    s->tries++;
    s->e->to[i] = to;
    if (propagate(s, chosen, &n) && choose_next(s))
        return true;
    while (n > 0)
        s->e->to[chosen[--n]] = 0;
    s->e->to[i] = 0;
    return false;
}

/* The smallest number that is open, its smallest candidates first. */
static bool choose_next(struct shrinker *s) {
    enum { LARGEST = 4096 };
    uint32_t i = 0;
    while (i < s->e->n && s->e->to[i])
        i++;
    if (i == s->e->n)
        return true;
    for (int64_t to = 2; to <= s->e->from[i] && to <= LARGEST && s->tries < MAX_TRIES; to++) {
        if (!may_be(s, i, to))
            continue;
        if (s->skip > 0) { /* for another solution than the first */
            s->skip--;
            continue;
        }
        if (try_number(s, i, to))
            return true;
    }
    return false;
}

static bool search_level(struct shrinker *s, enum level level, uint32_t which) {
    uint32_t chosen[MAX_EXTENTS + 1], n = 0;
    s->level = level;
    s->tries = 0;
    s->skip = which;
    for (uint32_t i = 0; i < s->e->n; i++)
        s->e->to[i] = s->fixed[i] ? s->e->from[i] : 0;
    return propagate(s, chosen, &n) && choose_next(s);
}

/* The first level whose extents are small; else the smallest that there are. */
static bool search(struct shrinker *s, uint32_t which) {
    struct extents best = {0};
    double least = INFINITY;
    for (int level = 0; level < LEVELS && least > SMALL_COST; level++) {
        double cost = search_level(s, (enum level)level, which) ? extents_cost(s->part, s->e) : INFINITY;
        if (cost < least) {
            least = cost;
            best = *s->e;
        }
    }
    if (least < INFINITY)
        *s->e = best;
    return least < INFINITY;
}

static bool collect(struct shrinker *s, const struct part *p, struct extents *out, struct str *why) {
    *s = (struct shrinker){.part = p, .e = out};
    *out = (struct extents){0};
    add_numbers(s);
    for (uint32_t i = 0; i < p->nops; i++)
        add_hidden_numbers(s, p->ops[i]);
    if (s->full)
        *why = STR("too many different extents");
    return !s->full;
}

bool extents_of(const struct part *p, struct extents *out, struct str *why) {
    struct shrinker s;
    if (!collect(&s, p, out, why))
        return false;
    memcpy(out->to, out->from, sizeof out->to);
    return true;
}

bool extents_shrink(const struct part *p, uint32_t which, struct extents *out, struct str *why) {
    struct shrinker s;
    if (!collect(&s, p, out, why))
        return false;
    for (uint32_t i = 0; i < p->nops; i++)
        rules_of_op(&s, p->ops[i]);
    if (!s.full && search(&s, which))
        return true;
    *why = s.full ? STR("too many relations between extents") : STR("no smaller shapes keep all relations");
    return false;
}

/* ---- cost ---- */

static double elements(const struct part *p, const struct extents *e, uint32_t value) {
    uint32_t rank;
    const int64_t *dims = value == NONE ? NULL : graph_shape(p->graph, value, &rank);
    double n = dims ? 1 : 0;
    for (uint32_t d = 0; dims && d < rank; d++)
        n *= (double)extent_to(e, dims[d]);
    return n;
}

static double products(const struct part *p, const struct extents *e, uint32_t op) {
    const struct graph *g = p->graph;
    struct contraction c;
    uint32_t rank;
    double n = elements(p, e, g->m->ops[op].first_result);
    if (graph_class(g, op) == OP_CONTRACT && contraction_of(g, op, &c)) {
        const int64_t *dims = graph_shape(g, c.a, &rank);
        for (uint32_t i = 0; i < c.nsummed; i++)
            n *= (double)extent_to(e, dims[c.a_summed[i]]);
        return n;
    }
    if (has_window((enum op_kind)g->kind[op]) && graph_noperands(g, op) > 1 && graph_operands(g, op)[1] != NONE) {
        const int64_t *dims = graph_shape(g, graph_operands(g, op)[1], &rank); /* of each output channel */
        n *= elements(p, e, graph_operands(g, op)[1]) / (double)(dims && rank && dims[0] ? extent_to(e, dims[0]) : 1);
    }
    return n;
}

double extents_cost(const struct part *p, const struct extents *e) {
    const struct graph *g = p->graph;
    double n = 0;
    for (uint32_t i = 0; i < p->nouter; i++)
        n += elements(p, e, p->outer[i]);
    for (uint32_t i = 0; i < p->nops; i++)
        if (g->m->ops[p->ops[i]].nresults)
            n += products(p, e, p->ops[i]);
    return n;
}
