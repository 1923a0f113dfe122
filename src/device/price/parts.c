/* Which ops a match is about, and which of them run all the same beside the fused op. */
#include "device/price/parts.h"

const struct graph *graph_of(const struct parts *s) {
    return s->pricer->graph;
}

/* Zeroed, one for each part. */
void *for_parts(const struct parts *s, size_t size) {
    return memset(arena_alloc(s->arena, (s->n + (size_t)1) * size), 0, (s->n + (size_t)1) * size);
}

uint32_t part_of(const struct parts *s, uint32_t op) {
    return find_id(s->ops, s->n, op);
}

uint32_t part_that_makes(const struct parts *s, uint32_t value) {
    uint32_t def = value == NONE ? NONE : graph_of(s)->m->values[value].def;
    return def == NONE ? NONE : part_of(s, def);
}

/* Used by an op that is no part. */
bool is_used_outside(const struct parts *s, uint32_t value) {
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
bool part_yields(const struct parts *s, uint32_t op) {
    const struct mlir_op *o = &graph_of(s)->m->ops[op];
    bool used = op == s->match->root;
    for (uint32_t v = o->first_result; v < o->first_result + o->nresults; v++)
        used |= is_used_outside(s, v);
    return used && is_matched(s, op);
}

static bool is_softmax(enum op_kind k) {
    return k == K_SOFTMAX || k == K_EXP;
}

bool is_attention(enum op_kind k) {
    return k == K_SDPA || k == K_SDPA_DECODE;
}

bool is_product(enum op_kind k) {
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

uint32_t value_before_moves(const struct parts *s, uint32_t value) {
    uint32_t from;
    while ((from = part_that_makes(s, value)) != NONE && graph_looks_through(graph_of(s), s->ops[from]))
        value = graph_through(graph_of(s), s->ops[from]);
    return value;
}

/* Movement between ops of the match of the whole result: the fused op comes before it. What an attention or a norm
 * moves inside is its own, and a product is transposed by exchanging what is multiplied. What is as large as the rows
 * that are looked up are the positions of their elements. */
static bool moves_result(const struct parts *s, uint32_t op) {
    const struct graph *g = graph_of(s);
    uint32_t result = g->m->ops[op].first_result, from = graph_through(g, op);
    int64_t whole = graph_numel(g, g->m->ops[s->match->root].first_result);
    return graph_class(g, op) == OP_MOVE && !s->attention && op_table[s->fused].class != OP_AXISWISE &&
           !op_is(s->fused, LOOKS_UP) && !(op_table[s->fused].class == OP_CONTRACT && transposes(g, op)) &&
           part_that_makes(s, value_before_moves(s, from)) != NONE && graph_numel(g, from) == whole &&
           graph_numel(g, result) == whole;
}

/* A norm, an attention or an elementwise op. */
bool takes_any_order(const struct parts *s) {
    enum op_class class = op_table[s->fused].class;
    return s->attention || class == OP_AXISWISE || class == OP_ELTWISE;
}

/* Other dimensions than the last two change places, as where heads are split. */
bool op_moves_rows(const struct parts *s, uint32_t op) {
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
 * permute_operands charges it, but for what an attention computes before it splits heads, such as a scaled query. What
 * looks rows up has other positions than what looks up their elements. */
static bool moves_operand(const struct parts *s, uint32_t op) {
    const struct graph *g = graph_of(s);
    enum op_class class = graph_class(g, op);
    bool rows = false;
    if ((takes_any_order(s) && (!s->attention || op > s->scores)) || op_is(s->fused, LOOKS_UP) ||
        (class != OP_MOVE && class != OP_LAYOUT) || part_that_makes(s, graph_operands(g, op)[0]) == NONE)
        return false;
    for (uint32_t at = op, user;; at = user) {
        uint32_t result = g->m->ops[at].first_result;
        rows |= op_moves_rows(s, at);
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
bool part_reads(const struct parts *s, uint32_t value) {
    for (uint32_t i = 0; i < s->detail->nconstants; i++)
        if (s->detail->constants[i].value == value)
            return false;
    return is_tensor_operand(graph_of(s), value) && part_that_makes(s, value) == NONE &&
           !graph_constant(graph_of(s), value).known;
}

static void find_operand(struct parts *s) {
    const struct graph *g = graph_of(s);
    s->operand = NONE;
    for (uint32_t i = 0; i < s->detail->nslots; i++) {
        uint32_t v = value_before_moves(s, s->detail->slots[i].value);
        if (s->match->pattern->formula.slots[i].is_variable && part_reads(s, v) && !graph_is_parameter(g, v) &&
            (s->operand == NONE || graph_numel(g, v) > graph_numel(g, s->operand)))
            s->operand = v;
    }
}

/* Which parts have a value made of this one; `value` may be the result of a part. */
void mark_parts_made_of(const struct parts *s, uint32_t value, bool *made) {
    const struct graph *g = graph_of(s);
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < graph_noperands(g, s->ops[i]) && !made[i]; k++) {
            uint32_t v = graph_operands(g, s->ops[i])[k], from = part_that_makes(s, v);
            made[i] = v == value || (from != NONE && from < i && made[from]);
        }
}

/* What a norm takes as its weight and has to be computed, such as 1 + scale. */
static void mark_weights(struct parts *s) {
    const struct graph *g = graph_of(s);
    bool *made = for_parts(s, sizeof *made);
    if (op_table[s->fused].class != OP_AXISWISE || s->operand == NONE)
        return;
    mark_parts_made_of(s, s->operand, made);
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
const struct binding *next_turned_operand(const struct parts *s, uint32_t from) {
    const struct match_detail *d = s->detail;
    const struct graph *g = graph_of(s);
    struct imap row;
    bool by_rows = op_table[s->fused].class == OP_ELTWISE && row_of_result(s, &row);
    for (uint32_t i = from; i < d->nslots; i++) {
        const struct binding *b = &d->slots[i];
        if (s->match->pattern->formula.slots[i].is_variable && b->value != NONE && b->map && b->axes &&
            part_reads(s, b->value) && !graph_is_parameter(g, b->value) &&
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
        for (uint32_t r = 0; r < o->nresults && !part_yields(s, s->ops[i]); r++)
            s->stays[i] |= is_used_outside(s, o->first_result + r);
        for (uint32_t k = 0; s->stays[i] && k < graph_noperands(g, s->ops[i]); k++) {
            uint32_t from = part_that_makes(s, graph_operands(g, s->ops[i])[k]);
            if (from != NONE && !part_yields(s, s->ops[from]))
                s->stays[from] = true;
        }
    }
    s->unmoved = NONE;
    bool in_order = op_table[s->fused].class == OP_ELTWISE && !next_turned_operand(s, 0);
    for (uint32_t i = 0; i < s->n; i++) {
        s->moves[i] = !s->stays[i] && !in_order && !is_matched(s, s->ops[i]) && moves_result(s, s->ops[i]);
        s->stays[i] |= s->moves[i] || (!is_matched(s, s->ops[i]) && moves_operand(s, s->ops[i]));
        if (s->moves[i] && s->unmoved == NONE)
            s->unmoved = graph_through(g, s->ops[i]);
    }
}

bool is_norm(const struct parts *s) {
    return (s->fused == K_LAYER_NORM || s->fused == K_RMS_NORM) && s->operand != NONE;
}

bool spells_norm(const struct parts *s) {
    bool spelled = is_norm(s);
    for (uint32_t i = 0; i < s->n; i++)
        spelled &= graph_of(s)->kind[s->ops[i]] != (uint32_t)s->fused;
    return spelled;
}

static bool is_wider(const struct parts *s, uint32_t value, uint32_t than) {
    const struct layout *a = value_layout(s->pricer, value), *b = value_layout(s->pricer, than);
    return a && b && layout_bytes(b, 1) < layout_bytes(a, 1);
}

/* What the value is cast from, for parts alone; itself where it is not widened. */
static uint32_t before_widening(const struct parts *s, uint32_t value) {
    const struct graph *g = graph_of(s);
    uint32_t def = g->m->values[value].def;
    bool cast = def != NONE && graph_class(g, def) == OP_CAST && part_of(s, def) == NONE && !is_used_outside(s, value);
    return cast && is_wider(s, value, graph_operands(g, def)[0]) ? graph_operands(g, def)[0] : value;
}

/* Heads are split behind what the match computes with it, such as a scale. */
static bool is_split_behind(const struct parts *s, uint32_t value) {
    const struct graph *g = graph_of(s);
    uint32_t user = g->uses[g->first_use[value]];
    bool splits = false;
    for (uint32_t i = 0; i < s->n; i++)
        splits |= s->stays[i] && !s->moves[i] && op_moves_rows(s, s->ops[i]);
    return splits && !is_product((enum op_kind)g->kind[user]) && !graph_looks_through(g, user);
}

uint32_t taken_by_fused(const struct parts *s, uint32_t value) {
    uint32_t narrow = is_attention(s->fused) || s->narrow != NONE ? before_widening(s, value) : value;
    return narrow != value && !is_split_behind(s, value) ? narrow : value;
}

uint32_t yielded_by_fused(const struct parts *s) {
    return s->narrow != NONE ? s->narrow : graph_of(s)->m->ops[s->match->root].first_result;
}

/* Weights behind the cast: the compiler makes a norm of its own with each of them. */
static bool is_weighted(const struct graph *g, uint32_t value) {
    for (uint32_t i = g->first_use[value]; i < g->first_use[value + 1]; i++)
        if (g->kind[g->uses[i]] == K_MULTIPLY)
            return true;
    return false;
}

/* Behind a norm it may be moved first, as by a reshape. */
static void find_narrow(struct parts *s) {
    const struct graph *g = graph_of(s);
    uint32_t result = g->m->ops[s->match->root].first_result, v = result, op;
    bool norm = spells_norm(s), attention = is_attention(s->fused) && s->operand != NONE;
    s->narrow = NONE;
    while ((norm || (attention && v == result)) && graph_nuses(g, v) == 1 &&
           graph_looks_through(g, op = g->uses[g->first_use[v]])) {
        uint32_t cast = g->m->ops[op].first_result;
        if (graph_class(g, op) == OP_CAST) {
            bool alike = graph_dtype(g, before_widening(s, s->operand)) == graph_dtype(g, cast);
            s->narrow = alike && is_wider(s, v, cast) && !(norm && is_weighted(g, cast)) ? cast : NONE;
            return;
        }
        v = cast;
    }
}

void parts_of_match(struct parts *s, struct pricer *p, const struct match *m, const struct match_detail *d,
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
    find_narrow(s);
    mark_staying(s);
    mark_weights(s);
}
