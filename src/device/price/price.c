#include "device/price/price.h"

#include <stdlib.h>

#include "device/price/perf.h"

/* The ops that a match is about, in textual order. */
struct parts {
    struct pricer *pricer;
    const struct match *match;
    const struct match_detail *detail;
    struct arena *arena;
    uint32_t *ops, n;
    bool *stays;        /* it runs all the same */
    bool *moves;        /* it stays only to move the result */
    enum op_kind fused; /* NO_OPERATOR where TTNN has no such op */
    uint32_t operand;   /* the largest that the fused op takes and is computed at run time, a value; or NONE */
    uint32_t product;   /* the largest contraction among them, an op; NONE: there is none */
    uint32_t scores;    /* of an attention, the product before its softmax; NONE: none is */
    uint32_t unmoved;   /* what the fused op yields where the result is moved behind it, a value; or NONE */
    bool attention;     /* two products around a softmax */
};

static const struct graph *graph_of(const struct parts *s) {
    return s->pricer->graph;
}

/* Zeroed, one for each part. */
static void *for_parts(const struct parts *s, size_t size) {
    return memset(arena_alloc(s->arena, (s->n + (size_t)1) * size), 0, (s->n + (size_t)1) * size);
}

static uint32_t part_of(const struct parts *s, uint32_t op) {
    return find_id(s->ops, s->n, op);
}

static uint32_t maker(const struct parts *s, uint32_t value) {
    uint32_t def = value == NONE ? NONE : graph_of(s)->m->values[value].def;
    return def == NONE ? NONE : part_of(s, def);
}

/* Used by an op that is no part. */
static bool used_outside(const struct parts *s, uint32_t value) {
    const struct graph *g = graph_of(s);
    for (uint32_t i = g->first_use[value]; i < g->first_use[value + 1]; i++)
        if (part_of(s, g->uses[i]) == NONE)
            return true;
    return false;
}

static bool is_matched(const struct parts *s, uint32_t op) {
    if (find_id(s->match->through, s->match->nthrough, op) == NONE)
        return true;
    for (uint32_t i = 0; i < s->match->nops; i++)
        if (s->match->ops[i] == op)
            return true;
    return false;
}

/* A result of the fused op: inner ops of a match have no users outside, but its roots and what it yields besides. */
static bool yields(const struct parts *s, uint32_t op) {
    const struct mlir_op *o = &graph_of(s)->m->ops[op];
    bool used = op == s->match->root;
    for (uint32_t v = o->first_result; v < o->first_result + o->nresults; v++)
        used |= used_outside(s, v);
    return used && is_matched(s, op);
}

static bool is_softmax(enum op_kind k) {
    return k == K_SOFTMAX || k == K_EXP;
}

static bool is_attention(enum op_kind k) {
    return k == K_SDPA || k == K_SDPA_DECODE;
}

static bool is_product(enum op_kind k) {
    return op_table[k].class == OP_CONTRACT || op_convolves(k);
}

static void classify_parts(struct parts *s) {
    const struct graph *g = graph_of(s);
    uint32_t products = 0, last = NONE;
    int64_t most = 0;
    s->product = s->scores = NONE;
    for (uint32_t i = 0; i < s->n; i++) {
        enum op_kind k = (enum op_kind)g->kind[s->ops[i]];
        int64_t size = graph_numel(g, g->m->ops[s->ops[i]].first_result);
        if (is_softmax(k) && s->scores == NONE)
            s->scores = last;
        products += is_product(k);
        if (is_product(k))
            last = s->ops[i];
        if (is_product(k) && size > most) {
            s->product = s->ops[i];
            most = size;
        }
    }
    s->attention = is_attention(s->fused) || (products >= 2 && s->scores != NONE);
}

/* Rows and columns change places, and no other dimensions. */
static bool transposes(const struct graph *g, uint32_t op) {
    uint32_t rank = 0, order[MAX_RANK];
    if (!graph_shape(g, g->m->ops[op].first_result, &rank) || rank < 2 || rank > MAX_RANK ||
        !permutation_of(g, op, rank, order))
        return false;
    bool others = true;
    for (uint32_t d = 0; d + 2 < rank; d++)
        others &= order[d] == d;
    return others && order[rank - 1] == rank - 2 && order[rank - 2] == rank - 1;
}

/* Movement between ops of the match of the whole result: the fused op comes before it. What an attention or a norm
 * moves inside is its own, and a product is transposed by exchanging what is multiplied. */
static bool moves_result(const struct parts *s, uint32_t op) {
    const struct graph *g = graph_of(s);
    uint32_t result = g->m->ops[op].first_result, from = graph_through(g, op);
    int64_t whole = graph_numel(g, g->m->ops[s->match->root].first_result);
    return graph_class(g, op) == OP_MOVE && !s->attention && op_table[s->fused].class != OP_AXISWISE &&
           !(op_table[s->fused].class == OP_CONTRACT && transposes(g, op)) && maker(s, from) != NONE &&
           graph_numel(g, from) == whole && graph_numel(g, result) == whole;
}

/* A norm, an attention or an elementwise op. */
static bool takes_any_order(const struct parts *s) {
    enum op_class class = op_table[s->fused].class;
    return s->attention || class == OP_AXISWISE || class == OP_ELTWISE;
}

/* Other dimensions than the last two change places, as where heads are split. */
static bool moves_rows(const struct parts *s, uint32_t op) {
    const struct graph *g = graph_of(s);
    uint32_t rank = 0, order[MAX_RANK];
    if (!graph_shape(g, g->m->ops[op].first_result, &rank) || rank > MAX_RANK || !permutation_of(g, op, rank, order))
        return false;
    for (uint32_t d = 0; d + 2 < rank; d++)
        if (order[d] != d)
            return true;
    return false;
}

/* Movement into a pool or a product of the match that the fused op is: its operand is moved all the same. Of other ops
 * permute_operands charges it, but for what an attention computes before it splits heads, such as a scaled query. */
static bool moves_operand(const struct parts *s, uint32_t op) {
    const struct graph *g = graph_of(s);
    enum op_class class = graph_class(g, op);
    bool rows = false;
    if ((takes_any_order(s) && (!s->attention || op > s->scores)) || (class != OP_MOVE && class != OP_LAYOUT) ||
        maker(s, graph_operands(g, op)[0]) == NONE)
        return false;
    for (uint32_t at = op, user;; at = user) {
        uint32_t result = g->m->ops[at].first_result;
        rows |= moves_rows(s, at);
        user = g->first_use[result] < g->first_use[result + 1] ? g->uses[g->first_use[result]] : NONE;
        if (user == NONE || part_of(s, user) == NONE)
            return false;
        if (s->attention && (is_product((enum op_kind)g->kind[user]) || is_attention((enum op_kind)g->kind[user])))
            return rows;
        if (g->kind[user] == s->fused)
            return graph_operands(g, user)[0] == result;
        if (class == OP_LAYOUT || !graph_looks_through(g, user))
            return false;
    }
}

/* A value from outside that the fused op reads: a number in all elements becomes an attribute, and so does an argument
 * that is assumed to hold one. */
static bool is_read(const struct parts *s, uint32_t value) {
    for (uint32_t i = 0; i < s->detail->nconstants; i++)
        if (s->detail->constants[i].value == value)
            return false;
    return value != NONE && maker(s, value) == NONE && !graph_constant(graph_of(s), value).known;
}

static void find_operand(struct parts *s) {
    const struct graph *g = graph_of(s);
    s->operand = NONE;
    for (uint32_t i = 0; i < s->detail->nslots; i++) {
        uint32_t v = s->detail->slots[i].value;
        if (s->match->pattern->formula.slot_is_variable[i] && is_read(s, v) && !graph_is_parameter(g, v) &&
            (s->operand == NONE || graph_numel(g, v) > graph_numel(g, s->operand)))
            s->operand = v;
    }
}

/* Which parts have a value made of this one; `value` may be the result of a part. */
static void mark_made_of(const struct parts *s, uint32_t value, bool *made) {
    const struct graph *g = graph_of(s);
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < graph_noperands(g, s->ops[i]) && !made[i]; k++) {
            uint32_t v = graph_operands(g, s->ops[i])[k], from = maker(s, v);
            made[i] = v == value || (from != NONE && from < i && made[from]);
        }
}

/* What a norm takes as its weight and has to be computed, such as 1 + scale. */
static void mark_weights(struct parts *s) {
    const struct graph *g = graph_of(s);
    bool *made = for_parts(s, sizeof *made);
    if (op_table[s->fused].class != OP_AXISWISE || s->operand == NONE)
        return;
    mark_made_of(s, s->operand, made);
    for (uint32_t i = 0; i < s->n; i++)
        s->stays[i] |= !made[i] && graph_class(g, s->ops[i]) == OP_ELTWISE;
}

/* Its elements of stride 1 lie along another axis than the last one along which it varies; a run over several axes is
 * in order. */
static bool is_turned(const struct binding *b) {
    struct imap axis;
    bool varies = false;
    for (int d = -1; d >= -(int)b->axes->n; d--) {
        axes_axis(b->axes, d, &axis);
        for (uint32_t i = 0; i < b->map->n && varies; i++)
            if (b->map->t[i].stride == 1 && imap_within(&(struct imap){1, {b->map->t[i]}}, &axis))
                return true;
        varies |= imap_touches(b->map, &axis);
    }
    return false;
}

/* The digits of the last dimension of the result; false where they are not known. */
static bool row_of_result(const struct parts *s, struct imap *row) {
    const struct graph *g = graph_of(s);
    uint32_t result = g->m->ops[s->match->root].first_result, rank = 0;
    const int64_t *shape = graph_shape(g, result, &rank);
    for (uint32_t i = 0; shape && i < s->detail->nslots; i++) {
        const struct binding *b = &s->detail->slots[i];
        struct axes axes;
        if (b->value != result || !b->map || !imap_coordinates(b->map, shape, rank, &axes))
            continue;
        axes_axis(&axes, -1, row);
        return true;
    }
    return false;
}

/* What of it lies along the rows of the result is not its last dimension: a reshape, which fills other tiles. */
static bool has_other_rows(const struct graph *g, const struct binding *b, const struct imap *row) {
    struct imap own, others;
    int64_t n = 1;
    if (!imap_part(b->map, row, &own, &others))
        return false;
    for (uint32_t i = 0; i < own.n; i++)
        n *= own.t[i].size;
    return n != extent_from_end(g, b->value, 0);
}

/* An operand that is computed at run time and stored in another order than the result, or for an elementwise op in
 * other rows, from slot `from` on; NULL: there is none. */
static const struct binding *next_turned(const struct parts *s, uint32_t from) {
    const struct match_detail *d = s->detail;
    const struct graph *g = graph_of(s);
    struct imap row;
    bool by_rows = op_table[s->fused].class == OP_ELTWISE && row_of_result(s, &row);
    for (uint32_t i = from; i < d->nslots; i++) {
        const struct binding *b = &d->slots[i];
        if (s->match->pattern->formula.slot_is_variable[i] && b->value != NONE && b->map && b->axes &&
            is_read(s, b->value) && !graph_is_parameter(g, b->value) &&
            (is_turned(b) || (by_rows && has_other_rows(g, b, &row))))
            return b;
    }
    return NULL;
}

/* Ops that are looked through and used elsewhere, and what they are made of; movement of the result, which an
 * elementwise op does without where all its operands have the order that it is moved to. */
static void mark_staying(struct parts *s) {
    const struct graph *g = graph_of(s);
    for (uint32_t i = s->n; i-- > 0;) {
        const struct mlir_op *o = &g->m->ops[s->ops[i]];
        for (uint32_t r = 0; r < o->nresults && !yields(s, s->ops[i]); r++)
            s->stays[i] |= used_outside(s, o->first_result + r);
        for (uint32_t k = 0; s->stays[i] && k < graph_noperands(g, s->ops[i]); k++) {
            uint32_t from = maker(s, graph_operands(g, s->ops[i])[k]);
            if (from != NONE && !yields(s, s->ops[from]))
                s->stays[from] = true;
        }
    }
    s->unmoved = NONE;
    bool in_order = op_table[s->fused].class == OP_ELTWISE && !next_turned(s, 0);
    for (uint32_t i = 0; i < s->n; i++) {
        s->moves[i] = !s->stays[i] && !in_order && !is_matched(s, s->ops[i]) && moves_result(s, s->ops[i]);
        s->stays[i] |= s->moves[i] || (!is_matched(s, s->ops[i]) && moves_operand(s, s->ops[i]));
        if (s->moves[i] && s->unmoved == NONE)
            s->unmoved = graph_through(g, s->ops[i]);
    }
}

static void begin(struct parts *s, struct pricer *p, const struct match *m, const struct match_detail *d,
                  struct arena *a) {
    *s = (struct parts){.pricer = p, .match = m, .detail = d, .arena = a, .fused = m->pattern->makes};
    uint32_t all = m->nops + m->nthrough;
    s->ops = arena_alloc(a, (all + (size_t)1) * sizeof *s->ops);
    for (uint32_t i = 0; i < all; i++)
        s->ops[i] = i < m->nops ? m->ops[i] : m->through[i - m->nops];
    sort_ids(s->ops, all);
    for (uint32_t i = 0; i < all; i++) /* each once */
        if (i == 0 || s->ops[i] != s->ops[s->n - 1])
            s->ops[s->n++] = s->ops[i];
    s->stays = for_parts(s, sizeof *s->stays);
    s->moves = for_parts(s, sizeof *s->moves);
    classify_parts(s);
    find_operand(s);
    mark_staying(s);
    mark_weights(s);
}

/* ---- without the fusion ---- */

/* The last part that uses a result of part i; i itself where none does. */
static uint32_t last_use(const struct parts *s, uint32_t i) {
    const struct graph *g = graph_of(s);
    const struct mlir_op *o = &g->m->ops[s->ops[i]];
    uint32_t last = i;
    for (uint32_t v = o->first_result; v < o->first_result + o->nresults; v++)
        for (uint32_t u = g->first_use[v]; u < g->first_use[v + 1]; u++) {
            uint32_t at = part_of(s, g->uses[u]);
            last = at != NONE && at > last ? at : last;
        }
    return last;
}

/* The most bytes of results at one time that nothing outside uses. */
static int64_t held_at_once(const struct parts *s) {
    int64_t *released = for_parts(s, sizeof *released), held = 0, most = 0; /* released: behind the part */
    for (uint32_t i = 0; i < s->n; i++) {
        struct work w = {0};
        uint32_t result = graph_of(s)->m->ops[s->ops[i]].first_result, until = last_use(s, i);
        if (until > i && op_is_launched(s->pricer, s->ops[i]) && !used_outside(s, result) &&
            work_writes(s->pricer, result, &w)) {
            held += w.dram_written + w.l1_written;
            released[until] += w.dram_written + w.l1_written;
        }
        most = held > most ? held : most;
        held -= released[i];
    }
    return most;
}

static bool price_without(const struct parts *s, struct cost *out) {
    for (uint32_t i = 0; i < s->n; i++)
        if (!cost_add_op(s->pricer, s->ops[i], out))
            return false;
    out->counted.held = held_at_once(s);
    return true;
}

/* ---- with it ---- */

/* What an op that writes in place writes: the largest that it is given beside the value that it changes. */
static uint32_t written_in_place(const struct parts *s) {
    const struct graph *g = graph_of(s);
    int64_t whole = graph_numel(g, g->m->ops[s->match->root].first_result);
    uint32_t most = NONE;
    for (uint32_t i = 0; i < s->detail->nslots && op_is(s->fused, IN_PLACE); i++) {
        uint32_t v = s->detail->slots[i].value;
        if (s->match->pattern->formula.slot_is_variable[i] && is_read(s, v) && graph_numel(g, v) < whole &&
            (most == NONE || graph_numel(g, v) > graph_numel(g, most)))
            most = v;
    }
    return most;
}

static bool is_changed_in_place(const struct parts *s, uint32_t value) {
    const struct graph *g = graph_of(s);
    return op_is(s->fused, IN_PLACE) && graph_numel(g, value) == graph_numel(g, g->m->ops[s->match->root].first_result);
}

/* Of a table that is larger than the result a fused op that looks rows up reads these. */
static uint32_t read_by_fused(const struct parts *s, uint32_t op, uint32_t k) {
    const struct graph *g = graph_of(s);
    uint32_t v = graph_operands(g, op)[k], result = g->m->ops[s->match->root].first_result;
    if (op_is(s->fused, LOOKS_UP) && graph_numel(g, v) > graph_numel(g, result))
        return result;
    return read_of(s->pricer, op, k);
}

static bool read_inputs(const struct parts *s, struct work *w) {
    const struct graph *g = graph_of(s);
    uint32_t *seen = NULL, n = 0, cap = 0;
    bool known = true;
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < graph_noperands(g, s->ops[i]); k++) {
            uint32_t v = graph_operands(g, s->ops[i])[k], at = 0;
            if (!is_read(s, v) || is_changed_in_place(s, v))
                continue;
            while (at < n && seen[at] != v)
                at++;
            if (at < n)
                continue;
            seen = grow(seen, &cap, n + 1, sizeof *seen);
            seen[n++] = v;
            known &= work_reads(s->pricer, read_by_fused(s, s->ops[i], k), w);
        }
    free(seen);
    return known;
}

/* Several results of one product are parts of it, which a slice each takes out. */
static bool write_outputs(const struct parts *s, struct work *w, struct cost *slices) {
    const struct graph *g = graph_of(s);
    uint32_t n = 0, *outputs = for_parts(s, sizeof *outputs), written = written_in_place(s);
    if (written != NONE)
        return work_writes(s->pricer, written, w);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct mlir_op *o = &g->m->ops[s->ops[i]];
        for (uint32_t r = 0; r < o->nresults && yields(s, s->ops[i]); r++) {
            uint32_t v = o->first_result + r;
            if (s->ops[i] != s->match->root && !used_outside(s, v))
                continue;
            if (!work_writes(s->pricer, s->ops[i] == s->match->root && s->unmoved != NONE ? s->unmoved : v, w))
                return false;
            if (n < s->n)
                outputs[n++] = v;
        }
    }
    for (uint32_t i = 0; i < n && n > 1 && op_table[s->fused].class == OP_CONTRACT; i++)
        cost_add_pass(s->pricer, outputs[i], outputs[i], 0, slices);
    return true;
}

/* Of the scores that the parts make; of an attention that is one of them its own. False: there is neither. */
static bool attention_of(const struct parts *s, struct attention *a) {
    const struct graph *g = graph_of(s);
    uint32_t result = g->m->ops[s->match->root].first_result;
    for (uint32_t i = 0; i < s->n && s->attention; i++)
        if (is_attention((enum op_kind)g->kind[s->ops[i]])) {
            *a = attention_of_op(g, s->ops[i]);
            return true;
        }
    if (!s->attention || s->scores == NONE)
        return false;
    uint32_t scores = g->m->ops[s->scores].first_result;
    *a = (struct attention){
        .rows = extent_from_end(g, scores, 1), .keys = extent_from_end(g, scores, 0), .product = s->scores};
    a->width = extent_from_end(g, result, 0);
    a->one_query = a->rows == 1;
    if (s->fused == K_SDPA_DECODE && a->one_query) /* its heads are the rows */
        a->rows = extent_from_end(g, scores, 2);
    a->heads = graph_numel(g, scores) / (a->rows * a->keys);
    return true;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* What scales each channel of a convolution, or each column of a product, by parameters scales its weight, once: of a
 * convolution the compiler does it itself (tt-mlir TTIRFusing). */
static bool goes_into_weight(const struct parts *s, uint32_t op) {
    static const enum op_kind scaling[] = {K_MULTIPLY, K_DIVIDE, K_BATCH_NORM_INFERENCE};
    const struct graph *g = graph_of(s);
    uint32_t computed = 0;
    bool scales = false;
    for (size_t i = 0; i < sizeof scaling / sizeof *scaling; i++)
        scales |= g->kind[op] == scaling[i];
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t v = graph_operands(g, op)[i];
        computed += v != NONE && !graph_is_parameter(g, v) && !graph_constant(g, v).known;
    }
    return scales && (op_convolves(s->fused) || s->fused == K_LINEAR || s->fused == K_MATMUL) && computed == 1;
}

/* A product of which it takes a slice. */
static bool takes_slice(const struct parts *s) {
    enum op_kind made = s->match->pattern->makes;
    return (made == K_MATMUL || made == K_LINEAR) && graph_class(graph_of(s), s->match->root) == OP_SLICE;
}

/* The part of a product that is computed where the match takes a slice of it. */
static double part_computed(const struct parts *s, uint32_t op) {
    const struct graph *g = graph_of(s);
    uint32_t root = s->match->root;
    int64_t all = tiles_of(s->pricer, g->m->ops[op].first_result);
    int64_t wanted = tiles_of(s->pricer, g->m->ops[root].first_result);
    bool slices = takes_slice(s) && is_product((enum op_kind)g->kind[op]);
    return slices && wanted < all ? (double)wanted / (double)all : 1;
}

/* Cycles and cores of the fused op: those of its parts, but where TTNN has an elementwise op or a norm for them. */
static void compute(const struct parts *s, struct work *w) {
    const struct graph *g = graph_of(s);
    enum op_class class = op_table[s->fused].class;
    uint32_t result = g->m->ops[s->match->root].first_result;
    int64_t tiles = 0, any = 0, products = 0;
    bool by_rows = class == OP_AXISWISE, spread = false;
    uint32_t written = written_in_place(s);
    struct work part;
    if (written != NONE) {
        tiles = tiles_of(s->pricer, written);
        w->vector_cycles = (double)tiles * s->pricer->cycles[s->fused];
        w->cores = cores_for(s->pricer, tiles);
        return;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        enum op_class c = graph_class(g, s->ops[i]);
        int64_t n = tiles_of(s->pricer, g->m->ops[s->ops[i]].first_result);
        if (graph_looks_through(g, s->ops[i]) || !op_is_launched(s->pricer, s->ops[i]) ||
            !work_of_op(s->pricer, s->ops[i], &part))
            continue;
        double computed = part_computed(s, s->ops[i]);
        w->matrix_cycles += computed * part.matrix_cycles;
        w->vector_cycles += goes_into_weight(s, s->ops[i]) ? 0 : part.vector_cycles;
        w->sent += part.sent;
        tiles = larger(n, tiles);
        any = larger(part.cores, any);
        products += is_product((enum op_kind)g->kind[s->ops[i]]) ? (int64_t)((double)n * computed) : 0;
        by_rows |= c == OP_AXISWISE || c == OP_REDUCE;
        spread |= class == OP_ALIKE && op_is((enum op_kind)g->kind[s->ops[i]], COLLECTIVE);
    }
    if (class == OP_ELTWISE || class == OP_AXISWISE)
        w->vector_cycles = (double)tiles * s->pricer->cycles[s->fused];
    w->cores = class == OP_CONTRACT ? larger(any, cores_for(s->pricer, products)) : any;
    if (s->product == NONE && by_rows && !spread && s->operand != NONE) /* a norm over devices cuts its rows, too */
        w->cores = cores_for(s->pricer, larger(tile_rows(s->pricer, s->operand), tile_rows(s->pricer, result)));
    if (!w->cores)
        w->cores = cores_for(s->pricer, tiles_of(s->pricer, result));
    struct attention a;
    double multiplying = w->matrix_cycles;
    if (attention_of(s, &a)) {
        work_attends(s->pricer, &a, result, w);
        w->matrix_cycles = is_attention(s->fused) ? w->matrix_cycles : multiplying;
    } else
        work_by_rows(s->pricer, s->fused, result, w);
}

/* What a norm works along are not the rows of its operand: that is moved there, and the result back. */
static bool is_moved_to_rows(const struct parts *s) {
    const struct graph *g = graph_of(s);
    bool reduced[MAX_RANK];
    uint32_t rank;
    if ((s->fused != K_LAYER_NORM && s->fused != K_RMS_NORM) || s->operand == NONE)
        return false;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t x = graph_class(g, s->ops[i]) == OP_REDUCE ? graph_operands(g, s->ops[i])[0] : NONE;
        if (x == NONE || graph_numel(g, x) != graph_numel(g, s->operand) || !graph_shape(g, x, &rank) || rank < 1 ||
            rank > MAX_RANK)
            continue;
        if (graph_reduced_dims(g, s->ops[i], rank, reduced) == NONE)
            return false;
        bool moved = !reduced[rank - 1];
        for (uint32_t d = 0; d + 1 < rank; d++)
            moved |= reduced[d] && extent_from_end(g, x, rank - 1 - d) > 1;
        return moved;
    }
    return false;
}

/* An operand of a norm, an attention or an elementwise op that is stored in another order has to be permuted, unless
 * the result is moved instead. */
static bool permute_operands(const struct parts *s, struct cost *out) {
    uint32_t result = graph_of(s)->m->ops[s->match->root].first_result;
    if (!takes_any_order(s) || s->unmoved != NONE)
        return true;
    if (is_moved_to_rows(s))
        return cost_add_pass(s->pricer, s->operand, s->operand, 0, out) &&
               cost_add_pass(s->pricer, result, result, 0, out);
    for (const struct binding *b = next_turned(s, 0); b; b = next_turned(s, (uint32_t)(b - s->detail->slots) + 1))
        if (!cost_add_pass(s->pricer, b->value, b->value, 0, out))
            return false;
    return true;
}

static bool pads_heads(const struct parts *s) {
    struct attention a;
    return s->fused == K_SDPA && attention_of(s, &a) && attention_is_padded(a);
}

static bool pad_heads(const struct parts *s, struct cost *out) {
    const struct graph *g = graph_of(s);
    uint32_t result = g->m->ops[s->match->root].first_result;
    int64_t width = extent_from_end(g, result, 0);
    if (!pads_heads(s))
        return true;
    for (uint32_t i = 0; i < s->detail->nslots; i++) {
        uint32_t v = s->detail->slots[i].value;
        if (s->match->pattern->formula.slot_is_variable[i] && is_read(s, v) && extent_from_end(g, v, 0) == width &&
            !cost_add_pass(s->pricer, v, v, 0, out))
            return false;
    }
    return cost_add_pass(s->pricer, result, result, 0, out);
}

/* Norms and attentions yield the type of what they are given. */
static bool cast_result(const struct parts *s, struct cost *out) {
    const struct graph *g = graph_of(s);
    uint32_t result = g->m->ops[s->match->root].first_result, operand = s->operand;
    if ((!s->attention && op_table[s->fused].class != OP_AXISWISE) || operand == NONE ||
        graph_numel(g, operand) != graph_numel(g, result) || graph_dtype(g, operand) == graph_dtype(g, result))
        return true;
    return cost_add_pass(s->pricer, operand, result, 0, out);
}

/* The operand of an addition that is not made of the product, before it was moved; NONE: both are. */
static uint32_t bias_of(const struct parts *s, uint32_t add, const bool *made) {
    const struct graph *g = graph_of(s);
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t v = graph_operands(g, add)[k], from = maker(s, v);
        if (from != NONE && (s->ops[from] == s->product || made[from]))
            continue;
        while (from != NONE && graph_looks_through(g, s->ops[from])) {
            v = graph_through(g, s->ops[from]);
            from = maker(s, v);
        }
        return v;
    }
    return NONE;
}

static struct apart find_apart(const struct parts *s) {
    const struct graph *g = graph_of(s);
    struct apart out = {.bias = false};
    uint32_t result = g->m->ops[s->match->root].first_result;
    bool *made = for_parts(s, sizeof *made), biased;
    if (s->product == NONE || (s->fused != K_LINEAR && s->fused != K_MATMUL) || product_is_configured(g, s->product))
        return out;
    biased = product_bias(g, s->product) != NONE;
    out.bias = biased && bias_is_apart(s->pricer, s->product, product_bias(g, s->product), result);
    mark_made_of(s, g->m->ops[s->product].first_result, made);
    for (uint32_t i = 0; i < s->n; i++) {
        enum op_kind k = (enum op_kind)g->kind[s->ops[i]];
        struct work w;
        if (!made[i] || graph_looks_through(g, s->ops[i]) || goes_into_weight(s, s->ops[i]) ||
            (takes_slice(s) && s->ops[i] == s->match->root))
            continue;
        uint32_t bias = !biased && k == K_ADD ? bias_of(s, s->ops[i], made) : NONE;
        if (bias != NONE) {
            out.bias = bias_is_apart(s->pricer, s->product, bias, result);
            biased = true;
        } else if (work_of_op(s->pricer, s->ops[i], &w)) {
            out.activation = true;
            out.cycles += w.vector_cycles;
        }
    }
    return out;
}

static bool price_with(const struct parts *s, struct price *out) {
    struct work w = {0};
    if (!read_inputs(s, &w) || !write_outputs(s, &w, &out->with))
        return false;
    compute(s, &w);
    out->apart = find_apart(s);
    if (!cost_add_launch(s->pricer, &w, &out->apart, graph_of(s)->m->ops[s->match->root].first_result, &out->with))
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->stays[i] && !cost_add_op(s->pricer, s->ops[i], &out->with))
            return false;
    return permute_operands(s, &out->with) && pad_heads(s, &out->with) && cast_result(s, &out->with);
}

/* A value of that many elements is the result of an addition. */
static bool has_sum(const struct parts *s, int64_t numel) {
    bool found = false;
    for (uint32_t i = 0; i < s->n; i++)
        found |= graph_of(s)->kind[s->ops[i]] == K_ADD &&
                 graph_numel(graph_of(s), graph_of(s)->m->ops[s->ops[i]].first_result) == numel;
    return found;
}

/* Of an attention both products are left, the scale, the mask, which is repeated for all heads, and a softmax of one op
 * (tt-mlir TTNN/Transforms/Workarounds/Decomposition, ScaledDotProductAttention); of others as many ops as there were.
 */
static bool price_undone(const struct parts *s, struct price *out) {
    const struct graph *g = graph_of(s);
    struct cost undone = {0};
    out->undone_us = out->without.estimated.us;
    if (!s->attention || s->scores == NONE)
        return true;
    uint32_t scores = g->m->ops[s->scores].first_result;
    bool *made = for_parts(s, sizeof *made); /* of the scores */
    mark_made_of(s, scores, made);
    for (uint32_t i = 0; i < s->n; i++) {
        if (!is_product((enum op_kind)g->kind[s->ops[i]]) && (made[i] || !class_moves(graph_class(g, s->ops[i]))))
            continue;
        if (!cost_add_op(s->pricer, s->ops[i], &undone))
            return false;
    }
    for (int launches = has_sum(s, graph_numel(g, scores)) ? 4 : 2; launches > 0; launches--)
        if (!cost_add_pass(s->pricer, scores, scores, 0, &undone))
            return false;
    out->undone_us = undone.estimated.us;
    return true;
}

/* Heads are split behind what the match computes with it, such as a scale. */
static bool is_split_behind(const struct parts *s, uint32_t value) {
    const struct graph *g = graph_of(s);
    uint32_t user = g->uses[g->first_use[value]];
    bool splits = false;
    for (uint32_t i = 0; i < s->n; i++)
        splits |= s->stays[i] && !s->moves[i] && moves_rows(s, s->ops[i]);
    return splits && !is_product((enum op_kind)g->kind[user]) && !graph_looks_through(g, user);
}

/* Kernels of attention take 16 bits. What is widened for the match alone is not, where nothing stands in between. */
static double widened_us(const struct parts *s) {
    const struct graph *g = graph_of(s);
    struct cost saved = {0};
    for (uint32_t i = 0; i < s->detail->nslots && is_attention(s->fused) && !pads_heads(s); i++) {
        uint32_t v = s->detail->slots[i].value, def = is_read(s, v) ? g->m->values[v].def : NONE;
        if (!s->match->pattern->formula.slot_is_variable[i] || def == NONE || graph_class(g, def) != OP_CAST ||
            graph_nuses(g, v) != 1 || is_split_behind(s, v))
            continue;
        const struct layout *narrow = value_layout(s->pricer, graph_operands(g, def)[0]);
        const struct layout *wide = value_layout(s->pricer, v);
        if (narrow && wide && layout_bytes(narrow, 1) < layout_bytes(wide, 1))
            (void)cost_add_op(s->pricer, def, &saved);
    }
    return saved.estimated.us;
}

static double price_around(const struct parts *s) {
    uint32_t result = graph_of(s)->m->ops[s->match->root].first_result;
    struct cost moving = {0};
    double widened = widened_us(s);
    for (uint32_t i = 0; i < s->n; i++)
        if (s->moves[i])
            (void)cost_add_op(s->pricer, s->ops[i], &moving);
    if (moving.counted.launches == 0)
        return widened;
    return widened + around_us(s->pricer, s->unmoved, result, moving.estimated.us);
}

static double measure(const struct parts *s) {
    uint32_t *ops = for_parts(s, sizeof *ops), n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (op_is_launched(s->pricer, s->ops[i]))
            ops[n++] = s->ops[i];
    return perf_of_ops(s->pricer->measured, ops, n);
}

/* Of a type or size that nothing is known of there is no layout. */
static bool has_layouts(const struct parts *s) {
    for (uint32_t i = 0; i < s->n; i++)
        if (!value_layout(s->pricer, graph_of(s)->m->ops[s->ops[i]].first_result))
            return false;
    return true;
}

struct price price_match(struct pricer *p, const struct match *m, const struct match_detail *detail) {
    struct price out = {.known = false};
    struct arena arena = {0};
    struct parts s;
    begin(&s, p, m, detail, &arena);
    out.known = has_layouts(&s) && price_without(&s, &out.without) && price_with(&s, &out) && price_undone(&s, &out);
    if (out.known)
        out.around_us = price_around(&s);
    if (out.known && p->measured)
        out.measured_us = measure(&s);
    arena_free(&arena);
    return out;
}
