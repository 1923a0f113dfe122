/* A match priced: without the fusion, with it, and where the compiler takes the fused op apart again. */
#include "device/price/parts.h"
#include "device/price/perf.h"

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
        if (until > i && op_is_launched(s->pricer, s->ops[i]) && !is_used_outside(s, result) &&
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

/* A value of that many elements is the result of an addition. */
static bool has_sum(const struct parts *s, int64_t numel) {
    bool found = false;
    for (uint32_t i = 0; i < s->n; i++)
        found |= op_is_all((enum op_kind)graph_of(s)->kind[s->ops[i]], ADDS | COMMUTES) &&
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
    mark_parts_made_of(s, scores, made);
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

/* The casts that go, each once. */
static double widened_us(const struct parts *s) {
    const struct graph *g = graph_of(s);
    const struct binding *slots = s->detail->slots;
    struct cost saved = {0};
    for (uint32_t i = 0, before; i < s->detail->nslots; i++) {
        uint32_t v = slots[i].value;
        for (before = 0; before < i && slots[before].value != v;)
            before++;
        if (before == i && part_reads(s, v) && taken_by_fused(s, v) != v)
            (void)cost_add_op(s->pricer, g->m->values[v].def, &saved);
    }
    if (s->narrow != NONE)
        (void)cost_add_op(s->pricer, g->m->values[s->narrow].def, &saved);
    return saved.estimated.us;
}

/* A permute that brings a value from the order that the fused op takes goes, and so does one back to it. */
static double demanded_us(const struct parts *s) {
    uint32_t result = graph_of(s)->m->ops[s->match->root].first_result;
    double us = 0;
    for (uint32_t i = 0; i < s->detail->nmoved; i++) {
        uint32_t v = s->detail->moved[i];
        if (v == result || (part_reads(s, v) && !is_used_outside(s, v)))
            us += moved_for_us(s->pricer, v, v == result);
    }
    return us;
}

/* The rows of a product with one matrix may be grouped in any way: where the reshape behind it has them in fewer tiles,
 * it computes and writes these, and the reshape goes. */
static double regrouped_us(const struct parts *s, const struct cost *with) {
    const struct graph *g = graph_of(s);
    struct pricer *p = s->pricer;
    uint32_t result = g->m->ops[s->match->root].first_result;
    if (op_table[s->fused].class != OP_CONTRACT || s->product == NONE || graph_nuses(g, result) != 1 ||
        with->counted.launches != 1)
        return 0;
    uint32_t user = g->uses[g->first_use[result]], weight = graph_operands(g, s->product)[1];
    if (graph_movement(g, user) != MOVEMENT_RESHAPE || !op_is_launched(p, user) ||
        graph_numel(g, weight) != extent_from_end(g, weight, 0) * extent_from_end(g, weight, 1))
        return 0;
    uint32_t behind = g->m->ops[user].first_result;
    const struct layout *wide = value_layout(p, result), *narrow = value_layout(p, behind);
    struct work before = {0}, after = {0};
    struct cost reshaped = {0}, regrouped = {0};
    if (!wide || !narrow || extent_from_end(g, result, 0) != extent_from_end(g, behind, 0) ||
        layout_bytes(narrow, 1) >= layout_bytes(wide, 1) || !work_writes(p, result, &before) ||
        !work_writes(p, behind, &after) || !cost_add_op(p, user, &reshaped))
        return 0;
    double part = (double)layout_tiles(narrow) / (double)layout_tiles(wide);
    struct work w = {.dram_read = with->counted.dram_read,
                     .dram_written = with->counted.dram_written - before.dram_written + after.dram_written,
                     .l1_read = with->counted.l1_read,
                     .l1_written = with->counted.l1_written - before.l1_written + after.l1_written,
                     .matrix_cycles = with->estimated.matrix_cycles * part,
                     .vector_cycles = with->estimated.vector_cycles * part,
                     .cores = with->estimated.cores};
    cost_add(p, &w, &regrouped);
    return reshaped.estimated.us + with->estimated.us - regrouped.estimated.us;
}

static double price_around(const struct parts *s, const struct cost *with) {
    uint32_t result = graph_of(s)->m->ops[s->match->root].first_result;
    struct cost moving = {0};
    double widened = widened_us(s) + demanded_us(s) + regrouped_us(s, with);
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
    parts_of_match(&s, p, m, detail, &arena);
    out.known = has_layouts(&s) && price_without(&s, &out.without) && price_fused(&s, &out) && price_undone(&s, &out);
    if (out.known)
        out.around_us = price_around(&s, &out.with);
    if (out.known && p->measured)
        out.measured_us = measure(&s);
    arena_free(&arena);
    return out;
}
