/* What the fused op costs, with what stays beside it. */
#include "device/price/parts.h"

#include <stdlib.h>

/* What an op that writes in place writes: of its operands, bound to variables, the largest that is smaller than the
 * value that it changes. NONE: it does not write in place. */
static uint32_t written_in_place(const struct parts *s) {
    const struct graph *g = graph_of(s);
    int64_t whole = graph_numel(g, g->m->ops[s->match->root].first_result);
    uint32_t most = NONE;
    for (uint32_t i = 0; i < s->detail->nslots && op_is(s->fused, IN_PLACE); i++) {
        uint32_t v = s->detail->slots[i].value;
        if (s->match->pattern->formula.slots[i].is_variable && part_reads(s, v) && graph_numel(g, v) < whole &&
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

/* Of the positions by which a fused op looks rows up these parts are known before the run. */
static bool is_known_position(const struct parts *s, uint32_t value) {
    const struct graph *g = graph_of(s);
    return op_is(s->fused, LOOKS_UP) && graph_is_parameter(g, value) && format_is_integer(graph_dtype(g, value));
}

/* Known before the run: a parameter, or an argument of which nothing is said, as patterns have it (`stored`). */
static bool is_stored(const struct graph *g, uint32_t value) {
    uint32_t argument = graph_argument(g, value);
    return graph_is_parameter(g, value) || (argument != NONE && !str_is(graph_argument_type(g, argument), "input"));
}

/* A number for each channel of what a convolution makes goes into its weight and its bias, once. */
static bool goes_in_once(const struct parts *s, uint32_t op, uint32_t value) {
    const struct graph *g = graph_of(s);
    uint32_t rank;
    const int64_t *shape = graph_shape(g, g->m->ops[s->match->root].first_result, &rank);
    bool channels = false;
    for (uint32_t i = 0; i < rank; i++)
        channels |= graph_numel(g, value) == shape[i];
    return channels && op_convolves(s->fused) && !op_convolves((enum op_kind)g->kind[op]) && is_stored(g, value);
}

static bool read_inputs(const struct parts *s, struct work *w) {
    const struct graph *g = graph_of(s);
    uint32_t *seen = NULL, n = 0, cap = 0;
    bool known = true;
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < graph_noperands(g, s->ops[i]); k++) {
            uint32_t v = graph_operands(g, s->ops[i])[k], at = 0;
            bool changed = k == 0 && graph_writes_in_place(g, s->ops[i]);
            if (!part_reads(s, v) || changed || is_changed_in_place(s, v) || is_known_position(s, v) ||
                goes_in_once(s, s->ops[i], v))
                continue;
            while (at < n && seen[at] != v)
                at++;
            if (at < n)
                continue;
            seen = grow(seen, &cap, n + 1, sizeof *seen);
            seen[n++] = v;
            v = taken_by_fused(s, read_by_fused(s, s->ops[i], k));
            known &= work_reads_operand(s->pricer, s->ops[i], k, v, w);
        }
    free(seen);
    return known;
}

/* Adds what the fused op writes: what it changes in place, or else each value of the match that is used outside of it
 * (of the root, where only movement stands before its users, the value before that). Of a product with several of them
 * each is a part, which a slice takes out: `slices`. False: some layout is not known. */
static bool write_outputs(const struct parts *s, struct work *w, struct cost *slices) {
    const struct graph *g = graph_of(s);
    uint32_t n = 0, *outputs = for_parts(s, sizeof *outputs), written = written_in_place(s);
    if (written != NONE)
        return work_writes(s->pricer, written, w);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct mlir_op *o = &g->m->ops[s->ops[i]];
        for (uint32_t r = 0; r < o->nresults && part_yields(s, s->ops[i]); r++) {
            uint32_t v = o->first_result + r;
            if (s->ops[i] != s->match->root && !is_used_outside(s, v))
                continue;
            uint32_t what = s->ops[i] == s->match->root && s->unmoved != NONE ? s->unmoved : v;
            what = s->ops[i] == s->match->root && s->narrow != NONE ? s->narrow : what;
            if (!work_writes(s->pricer, graph_writes_in_place(g, s->ops[i]) ? graph_operands(g, s->ops[i])[1] : what,
                             w))
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
        computed += v != NONE && !is_stored(g, v) && !graph_constant(g, v).known;
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

/* Of a kernel that gives each core its rows and columns of tiles: the longer side of the grid has the more of them. */
static int64_t cores_of_grid(const struct parts *s, int64_t products) {
    const struct chip *c = &s->pricer->device->chip;
    int64_t rows = larger(tile_rows(s->pricer, graph_of(s)->m->ops[s->product].first_result), 1);
    int64_t columns = products / rows;
    int64_t longer = larger(c->rows, c->columns), shorter = c->rows + c->columns - longer;
    int64_t most = larger(rows, columns), least = rows + columns - most;
    return (most < longer ? most : longer) * (least < shorter ? least : shorter);
}

/* Heads are split and merged by ops that only move them: products and norms of the match are ops beside them. */
static bool splits_heads(const struct parts *s) {
    return op_table[s->fused].shrink == SHRINK_HEADS;
}

static bool moves_heads(const struct parts *s) {
    return splits_heads(s) || s->fused == K_CONCATENATE_HEADS;
}

/* Products grow whose weights are padded in place of heads: of those that are padded behind them, or to whole tiles, or
 * whose padding is cut off in front of them. */
static void widen_products(const struct parts *s, struct work *w) {
    const struct graph *g = graph_of(s);
    struct work weights = {0};
    int64_t width = extent_from_end(g, g->m->ops[s->match->root].first_result, 0);
    int64_t padded = (width + TILE - 1) / TILE * TILE;
    double by = splits_heads(s) ? (double)padded / (double)width : 1;
    for (uint32_t i = 0; i < s->n && moves_heads(s); i++) {
        double from = (double)graph_numel(g, graph_operands(g, s->ops[i])[0]);
        double to = (double)graph_numel(g, g->m->ops[s->ops[i]].first_result);
        if (is_product((enum op_kind)g->kind[s->ops[i]]))
            (void)work_reads(s->pricer, graph_operands(g, s->ops[i])[1], &weights);
        else if (splits_heads(s) && g->kind[s->ops[i]] == K_PAD)
            by = to / from;
        else if (!splits_heads(s) && graph_class(g, s->ops[i]) == OP_SLICE)
            by = from / to;
    }
    w->matrix_cycles *= by;
    w->dram_read += (int64_t)((by - 1) * (double)weights.dram_read);
}

/* What a norm works along are not the rows of its operand: that is moved there, and the result back. */
static bool is_moved_to_rows(const struct parts *s) {
    const struct graph *g = graph_of(s);
    bool reduced[MAX_RANK];
    uint32_t rank;
    if (!is_norm(s))
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

/* The op computes its parts one after the other: it is one of them, or a chain. */
static bool takes_activations(const struct parts *s) {
    bool takes = s->fused == K_UNARY_CHAIN;
    for (uint32_t i = 0; i < s->n && !takes; i++)
        takes = graph_of(s)->kind[s->ops[i]] == s->fused;
    return takes;
}

/* Cycles and cores of the fused op: those of its parts, but where TTNN has an elementwise op or a norm for them. */
static void compute(const struct parts *s, struct work *w) {
    const struct graph *g = graph_of(s);
    enum op_class class = op_table[s->fused].class;
    uint32_t result = g->m->ops[s->match->root].first_result;
    int64_t tiles = 0, any = 0, products = 0, most = 0;
    double by_row = 0; /* cycles of each core that computes rows beside a product */
    int64_t held = w->dram_read + w->l1_read;
    bool by_rows = class == OP_AXISWISE, spread = false, exchanges = false;
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
        if (c == OP_AXISWISE && moves_heads(s)) /* behind it */
            continue;
        if (s->product != NONE && (c == OP_AXISWISE || c == OP_REDUCE) && part.cores)
            by_row += part.vector_cycles / (double)part.cores;
        else
            w->vector_cycles += goes_into_weight(s, s->ops[i]) ? 0 : part.vector_cycles;
        w->sent += part.sent;
        exchanges |= graph_op_is(g, s->ops[i], PARTIAL);
        tiles = larger(n, tiles);
        any = larger(part.cores, any);
        products += is_product((enum op_kind)g->kind[s->ops[i]]) ? (int64_t)((double)n * computed) : 0;
        if (is_product((enum op_kind)g->kind[s->ops[i]])) /* what a layout leaves: others are no gain of the fused op */
            most = larger(part.cores < cores_for(s->pricer, n) ? part.cores : INT64_MAX, most);
        by_rows |= c == OP_AXISWISE || c == OP_REDUCE;
        spread |= class == OP_ALIKE && op_is((enum op_kind)g->kind[s->ops[i]], COLLECTIVE);
    }
    if (exchanges) /* all devices send at once what each of them has */
        w->sent = held;
    if (class == OP_AXISWISE && s->operand != NONE && !is_moved_to_rows(s)) /* its rows, not those of a reshape */
        tiles = larger(tiles_of(s->pricer, s->operand), tiles_of(s->pricer, result));
    if (class == OP_AXISWISE || (class == OP_ELTWISE && !takes_activations(s)))
        w->vector_cycles = (double)tiles * s->pricer->cycles[s->fused];
    w->cores = class == OP_CONTRACT ? larger(any, cores_for(s->pricer, products)) : any;
    if (s->product == NONE && by_rows && !spread && s->operand != NONE) /* a norm over devices cuts its rows, too */
        w->cores = cores_for(s->pricer, larger(tile_rows(s->pricer, s->operand), tile_rows(s->pricer, result)));
    if (s->match->pattern->gridded && s->product != NONE && products)
        w->cores = cores_of_grid(s, products);
    if (!w->cores)
        w->cores = cores_for(s->pricer, tiles_of(s->pricer, result));
    w->cores = most && most < w->cores ? most : w->cores;
    w->vector_cycles += by_row * (double)w->cores;
    struct attention a;
    double multiplying = w->matrix_cycles;
    if (attention_of(s, &a)) {
        work_attends(s->pricer, &a, yielded_by_fused(s), w);
        w->matrix_cycles = is_attention(s->fused) ? w->matrix_cycles : multiplying;
    } else
        work_by_rows(s->pricer, s->fused, yielded_by_fused(s), w);
}

enum { TILE_ELEMENTS = 32 * 32 };

static bool permutes(const struct graph *g, uint32_t op) {
    uint32_t rank = 0, order[MAX_RANK];
    bool moves = false;
    const int64_t *shape = graph_shape(g, g->m->ops[op].first_result, &rank);
    for (uint32_t d = 0; shape && rank <= MAX_RANK && permutation_of(g, op, rank, order) && d < rank; d++)
        moves |= order[d] != d && shape[d] > 1;
    return moves;
}

/* A permute beside the match makes it, or takes it: with the fused op that moves it from or to the order that this has,
 * or goes. */
static bool is_moved_anyway(const struct parts *s, uint32_t value) {
    const struct graph *g = graph_of(s);
    bool moved = false;
    uint32_t v = value, op;
    while (!moved && v != NONE && (op = g->m->values[v].def) != NONE && graph_looks_through(g, op)) {
        moved = permutes(g, op);
        v = graph_through(g, op);
    }
    for (v = value; !moved && graph_nuses(g, v) == 1 && graph_looks_through(g, op = g->uses[g->first_use[v]]) &&
                    part_of(s, op) == NONE;
         v = g->m->ops[op].first_result)
        moved = permutes(g, op);
    return moved;
}

/* What the fused op demands in another order is read and written once more, in tiles that it fills. */
static bool move_demanded(const struct parts *s, struct cost *out) {
    const struct graph *g = graph_of(s);
    for (uint32_t i = 0; i < s->detail->nmoved; i++) {
        uint32_t v = s->detail->moved[i];
        struct work w = {0};
        int64_t tiles = tiles_of(s->pricer, v), filled = (graph_numel(g, v) + TILE_ELEMENTS - 1) / TILE_ELEMENTS;
        if (is_moved_anyway(s, v))
            continue;
        if (!work_reads(s->pricer, v, &w) || !work_writes(s->pricer, v, &w))
            return false;
        int64_t *bytes[] = {&w.dram_read, &w.dram_written, &w.l1_read, &w.l1_written};
        for (size_t k = 0; k < sizeof bytes / sizeof *bytes && tiles > filled; k++)
            *bytes[k] = *bytes[k] / tiles * filled;
        w.cores = cores_for(s->pricer, filled);
        cost_add(s->pricer, &w, out);
    }
    return true;
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
    for (const struct binding *b = next_turned_operand(s, 0); b;
         b = next_turned_operand(s, (uint32_t)(b - s->detail->slots) + 1))
        if (!cost_add_pass(s->pricer, b->value, b->value, 0, out))
            return false;
    return true;
}

/* An output of the match that is made of this value of a part. */
static uint32_t output_of(const struct parts *s, uint32_t value) {
    const struct graph *g = graph_of(s);
    while (!is_used_outside(s, value) && g->first_use[value] < g->first_use[value + 1])
        value = g->m->ops[g->uses[g->first_use[value]]].first_result;
    return value;
}

/* Beside a product: what it makes is split, or what it takes was merged; a norm of each head comes behind. */
static bool move_heads(const struct parts *s, struct cost *out) {
    const struct graph *g = graph_of(s);
    struct work w = {0};
    bool known = true;
    for (uint32_t i = 0; i < s->n && moves_heads(s) && s->product != NONE; i++) {
        enum op_kind k = (enum op_kind)g->kind[s->ops[i]];
        uint32_t v = splits_heads(s) ? output_of(s, g->m->ops[s->ops[i]].first_result) : s->operand;
        if (is_product(k)) {
            known &= work_reads(s->pricer, v, &w) && work_writes(s->pricer, v, &w);
            w.cores = larger(w.cores, cores_for(s->pricer, tiles_of(s->pricer, v)));
        } else if (op_table[k].class == OP_AXISWISE) {
            double cycles = (double)tiles_of(s->pricer, v) * s->pricer->cycles[k];
            known &= cost_add_pass(s->pricer, v, v, cycles, out);
        }
    }
    if (w.cores)
        cost_add(s->pricer, &w, out);
    return known;
}

/* The operand of an op that is no row of tiles of the norm: the factor or the term of its columns. NONE: both are. */
static uint32_t row_beside(const struct parts *s, uint32_t op, uint32_t norm, const bool *made) {
    const struct graph *g = graph_of(s);
    for (uint32_t k = 0; k < graph_noperands(g, op); k++) {
        uint32_t v = graph_operands(g, op)[k], from = part_that_makes(s, v);
        if (v != NONE && (from == NONE || (s->ops[from] != norm && !made[from])))
            return v;
    }
    return NONE;
}

/* A norm of the match may have rows of its own, a weight and a bias: those behind it multiply both, and are added to
 * the bias, in each run unless all of them are stored. A sum with what was not scaled takes a scale more by one. */
static bool join_rows(const struct parts *s, struct cost *out) {
    const struct graph *g = graph_of(s);
    bool *made = for_parts(s, sizeof *made), known = true;
    uint32_t norm = NONE, last = NONE, own = 0;
    for (uint32_t i = 0; i < s->n && op_table[s->fused].class == OP_AXISWISE; i++)
        if (g->kind[s->ops[i]] == (uint32_t)s->fused)
            norm = s->ops[i];
    if (norm == NONE)
        return true;
    for (uint32_t k = 1; k < graph_noperands(g, norm); k++)
        own += graph_operands(g, norm)[k] != NONE;
    mark_parts_made_of(s, g->m->ops[norm].first_result, made);
    for (uint32_t i = 0; i < s->n; i++) {
        bool adds = op_is((enum op_kind)g->kind[s->ops[i]], ADDS);
        uint32_t row = made[i] ? row_beside(s, s->ops[i], norm, made) : NONE, joined = adds ? own > 1 : own;
        if (!made[i] || graph_class(g, s->ops[i]) != OP_ELTWISE || graph_looks_through(g, s->ops[i]))
            continue;
        if (row == NONE)
            joined = adds && last != NONE;
        else
            last = row;
        for (uint32_t k = 0; k < joined && !graph_is_parameter(g, last) && !graph_constant(g, last).known; k++)
            known &= cost_add_pass(s->pricer, last, last, 0, out);
    }
    return known;
}

static bool pads_heads(const struct parts *s) {
    struct attention a;
    return s->fused == K_SDPA && attention_of(s, &a) && attention_is_padded(a);
}

/* Padded between the cast that widens it and the one to 16 bits it keeps both, as the compiler has it. Us of that. */
static double padded_wide_us(const struct parts *s, uint32_t wide, uint32_t narrow, uint32_t cast) {
    struct cost as_wide = {0}, as_narrow = {0};
    if (wide == narrow || !cost_add_pass(s->pricer, wide, wide, 0, &as_wide) ||
        !cost_add_pass(s->pricer, wide, narrow, 0, &as_wide) ||
        !cost_add_op(s->pricer, graph_of(s)->m->values[cast].def, &as_wide) ||
        !cost_add_pass(s->pricer, narrow, narrow, 0, &as_narrow))
        return 0;
    return as_wide.estimated.us - as_narrow.estimated.us;
}

static bool pad_heads(const struct parts *s, struct price *out) {
    const struct graph *g = graph_of(s);
    uint32_t wide = g->m->ops[s->match->root].first_result, result = yielded_by_fused(s);
    int64_t width = extent_from_end(g, result, 0);
    if (!pads_heads(s))
        return true;
    for (uint32_t i = 0; i < s->detail->nslots; i++) {
        uint32_t v = s->detail->slots[i].value;
        if (!s->match->pattern->formula.slots[i].is_variable || !part_reads(s, v) || extent_from_end(g, v, 0) != width)
            continue;
        uint32_t taken = taken_by_fused(s, v);
        out->casts_us += padded_wide_us(s, v, taken, v);
        if (!cost_add_pass(s->pricer, taken, taken, 0, &out->with))
            return false;
    }
    out->casts_us += padded_wide_us(s, wide, result, result);
    return cost_add_pass(s->pricer, result, result, 0, &out->with);
}

/* Norms and attentions yield the type of what they are given. */
static bool cast_result(const struct parts *s, struct cost *out) {
    const struct graph *g = graph_of(s);
    uint32_t result = yielded_by_fused(s), operand = s->operand == NONE ? NONE : taken_by_fused(s, s->operand);
    if ((!s->attention && op_table[s->fused].class != OP_AXISWISE) || operand == NONE ||
        graph_numel(g, operand) != graph_numel(g, result) || graph_dtype(g, operand) == graph_dtype(g, result))
        return true;
    return cost_add_pass(s->pricer, operand, result, 0, out);
}

/* The operand of an addition that is not made of the product, before it was moved; NONE: both are. */
static uint32_t bias_of(const struct parts *s, uint32_t add, const bool *made) {
    const struct graph *g = graph_of(s);
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t v = graph_operands(g, add)[k], from = part_that_makes(s, v);
        if (from == NONE || (s->ops[from] != s->product && !made[from]))
            return value_before_moves(s, v);
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
    mark_parts_made_of(s, g->m->ops[s->product].first_result, made);
    for (uint32_t i = 0; i < s->n; i++) {
        enum op_kind k = (enum op_kind)g->kind[s->ops[i]];
        struct work w;
        if (!made[i] || graph_class(g, s->ops[i]) != OP_ELTWISE || graph_looks_through(g, s->ops[i]) ||
            goes_into_weight(s, s->ops[i]))
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

/* A norm of few rows of tiles keeps few cores busy, three times as many where its columns are sharded over them, for
 * which its operand and its result are moved (tt-mlir Dialect/TTNN/Analysis/OpRules/NormalizationRules.h). A norm that
 * is there may have that without the fusion. Us that this saves, if it does; 0. */
static double shard_columns(const struct parts *s, struct work *w, struct cost *out) {
    uint32_t result = graph_of(s)->m->ops[s->match->root].first_result;
    struct work sharded = *w;
    struct cost plain = {0}, all = {0};
    if (!spells_norm(s) || !cost_add_pass(s->pricer, s->operand, s->operand, 0, &all) ||
        !cost_add_pass(s->pricer, result, result, 0, &all))
        return 0;
    sharded.cores = cores_for(s->pricer, 3 * w->cores);
    cost_add(s->pricer, w, &plain);
    cost_add(s->pricer, &sharded, &all);
    double saved = plain.estimated.us - all.estimated.us;
    if (saved <= 0)
        return 0;
    w->cores = sharded.cores;
    (void)cost_add_pass(s->pricer, s->operand, s->operand, 0, out);
    (void)cost_add_pass(s->pricer, result, result, 0, out);
    return saved;
}

bool price_fused(const struct parts *s, struct price *out) {
    struct work w = {0};
    if (!read_inputs(s, &w) || !write_outputs(s, &w, &out->with))
        return false;
    compute(s, &w);
    widen_products(s, &w);
    out->apart = find_apart(s);
    out->sharding_us = shard_columns(s, &w, &out->with);
    if (!cost_add_launch(s->pricer, &w, &out->apart, graph_of(s)->m->ops[s->match->root].first_result, &out->with))
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->stays[i] && !cost_add_op(s->pricer, s->ops[i], &out->with))
            return false;
    return permute_operands(s, &out->with) && move_demanded(s, &out->with) && pad_heads(s, out) &&
           move_heads(s, &out->with) && join_rows(s, &out->with) && cast_result(s, &out->with);
}
