/* Secondary roots of a formula: `also k = slice(y)`. The first root has bound y; the op of such a line is looked for
 * behind y (among its users, and theirs), in textual order. Where no name of the line is bound, it is looked for beside
 * the first root: before the other operands of a product or an attention that this goes into, as queries are that meet
 * keys in scores. Its index space is its own, so a name of another line has to be the same value there, and nothing is
 * said about which element. */
#include "search/match/matcher.h"

#include <string.h>

enum { MAX_BEHIND = 128, MAX_CANDIDATES = 64, MAX_BESIDE = 512 };

static void add_once(uint32_t *list, uint32_t *n, uint32_t max, uint32_t v) {
    if (!has_id(list, *n, v) && *n < max)
        list[(*n)++] = v;
}

/* Values that are computed from a value, with the number of ops between that are no movement. */
struct values_behind {
    uint32_t values[MAX_BEHIND], depth[MAX_BEHIND];
    uint32_t n;
};

static void add_behind(struct values_behind *b, uint32_t value, uint32_t depth) {
    uint32_t n = b->n;
    add_once(b->values, &b->n, MAX_BEHIND, value);
    if (b->n > n)
        b->depth[n] = depth;
}

/* One of the users of a value, which are in textual order: those behind the root first. Where there are more of them
 * than there is room for, what is next to the root is what belongs to it. */
static uint32_t nth_user(const struct graph *g, uint32_t value, uint32_t first_behind, uint32_t i) {
    uint32_t from = g->first_use[value], end = g->first_use[value + 1];
    return g->uses[i < end - first_behind ? first_behind + i : from + i - (end - first_behind)];
}

static uint32_t first_user_behind(const struct graph *g, uint32_t value, uint32_t root) {
    uint32_t lo = g->first_use[value], hi = g->first_use[value + 1];
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (g->uses[middle] < root)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* Those behind the root in textual order, then those before it from there on: of pairs that share an operand over many
 * layers each finds its own partner first. */
static void sort_from(uint32_t *ops, uint32_t n, uint32_t root) {
    uint32_t sorted[MAX_CANDIDATES], before = 0;
    sort_ids(ops, n);
    memcpy(sorted, ops, n * sizeof *ops);
    while (before < n && ops[before] < root)
        before++;
    for (uint32_t i = before; i < n; i++)
        ops[i - before] = sorted[i];
    for (uint32_t i = 0; i < before; i++)
        ops[n - 1 - i] = sorted[i];
}

/* Ops behind a value that the line's root may be, at most as many operators behind it as the line has. */
static uint32_t candidates(struct matcher *m, const struct secondary_root *line, uint32_t slot, uint32_t *out) {
    const struct graph *g = m->g;
    struct values_behind b;
    uint32_t found = 0, op = m->state.slots[slot].op, most = line->deep, root = m->state.matched[0].op;
    b.n = 0;
    for (uint32_t v = op == NONE ? m->state.slots[slot].value : NONE; v != NONE && b.n < MAX_CHAIN;
         v = g->m->values[v].def == NONE ? NONE : graph_through(g, g->m->values[v].def))
        add_behind(&b, v, 0); /* and behind what it was moved from */
    for (uint32_t r = 0; op != NONE && r < g->m->ops[op].nresults; r++)
        add_behind(&b, g->m->ops[op].first_result + r, 0);
    for (uint32_t i = 0; i < b.n; i++) {
        uint32_t nusers = g->first_use[b.values[i] + 1] - g->first_use[b.values[i]];
        uint32_t behind = first_user_behind(g, b.values[i], root);
        for (uint32_t u = 0; u < nusers && (found < MAX_CANDIDATES || b.n < MAX_BEHIND); u++) {
            uint32_t user = nth_user(g, b.values[i], behind, u), depth = b.depth[i] + !graph_looks_through(g, user);
            if (g->m->ops[user].func != m->func || g->m->ops[user].nresults == 0 || depth > most)
                continue;
            if (g->m->ops[user].nresults == 1 && !matcher_took(m, user) && matcher_root_plausible(m, line->node, user))
                add_once(out, &found, MAX_CANDIDATES, user);
            add_behind(&b, g->m->ops[user].first_result, depth);
        }
    }
    sort_from(out, found, root);
    return found;
}

/* What the op moves, or takes times a number, as queries and keys on their way into scores; NONE: neither. */
static uint32_t moved_or_scaled(const struct graph *g, uint32_t op) {
    const uint32_t *of = graph_operands(g, op);
    if (graph_looks_through(g, op) || !graph_op_is(g, op, SCALES) || graph_noperands(g, op) != 2)
        return graph_through(g, op);
    if (graph_constant(g, of[1]).known)
        return of[0];
    return graph_op_is(g, op, COMMUTES) && graph_constant(g, of[0]).known ? of[1] : NONE;
}

static void add_plausible(const struct matcher *m, const struct node *line, uint32_t op, uint32_t *out, uint32_t *n) {
    if (m->g->m->ops[op].nresults == 1 && !matcher_took(m, op) && matcher_root_plausible(m, line, op))
        add_once(out, n, MAX_CANDIDATES, op);
}

/* Ops before the value, an operand of what the root goes into, that the line's root may be. */
static void add_before(const struct matcher *m, const struct node *line, uint32_t value, uint32_t *out, uint32_t *n) {
    for (uint32_t step = 0; step < MAX_CHAIN && value != NONE; step++) {
        uint32_t op = m->g->m->values[value].def;
        if (op == NONE || m->g->m->ops[op].func != m->func)
            return;
        add_plausible(m, line, op, out, n);
        value = moved_or_scaled(m->g, op);
    }
}

/* No op of the function takes it. */
static bool is_only_returned(const struct graph *g, uint32_t op) {
    uint32_t v = g->m->ops[op].first_result;
    bool only = g->m->ops[op].nresults == 1;
    for (uint32_t u = g->first_use[v]; only && u < g->first_use[v + 1]; u++)
        only = graph_class(g, g->uses[u]) == OP_RETURN;
    return only;
}

/* How many of its operands meet in a product: of an attention the queries and the keys. */
static uint32_t meeting_operands(const struct graph *g, uint32_t op) {
    if (graph_class(g, op) == OP_CONTRACT)
        return graph_noperands(g, op);
    return op_table[g->kind[op]].flow == FLOW_ATTENTION && graph_noperands(g, op) > 1 ? 2 : 0;
}

/* Ops that the root of a line without bound names may be. Of a piece of a model, which what they go into is not in,
 * those near it that are returned as the first root is. */
static uint32_t candidates_beside(const struct matcher *m, const struct node *line, uint32_t *out) {
    const struct graph *g = m->g;
    struct values_behind b = {.n = 0};
    uint32_t found = 0, root = m->state.nmatched ? m->state.matched[0].op : NONE; /* an observer may go on without */
    bool piece = root != NONE && is_only_returned(g, root);
    for (uint32_t op = root > MAX_BESIDE ? root - MAX_BESIDE : 0; piece && op < g->m->nops && op <= root + MAX_BESIDE;
         op++)
        if (g->m->ops[op].func == m->func && is_only_returned(g, op))
            add_plausible(m, line, op, out, &found);
    if (root != NONE)
        add_behind(&b, g->m->ops[root].first_result, 0);
    for (uint32_t i = 0; i < b.n; i++)
        for (uint32_t u = g->first_use[b.values[i]]; u < g->first_use[b.values[i] + 1]; u++) {
            uint32_t user = g->uses[u], n = meeting_operands(g, user);
            for (uint32_t o = 0; o < n && has_id(graph_operands(g, user), n, b.values[i]); o++)
                if (graph_operands(g, user)[o] != b.values[i])
                    add_before(m, line, graph_operands(g, user)[o], out, &found);
            if (n == 0 && moved_or_scaled(g, user) == b.values[i])
                add_behind(&b, g->m->ops[user].first_result, 0);
        }
    sort_ids(out, found);
    return found;
}

/* One of the ops as the line's root, and all that follows. */
static enum search_outcome match_line(struct matcher *m, const struct secondary_root *line, const uint32_t *ops,
                                      uint32_t n) {
    for (uint32_t i = 0; i < n && !m->refused; i++) {
        struct mark k = matcher_mark(m);
        struct goal *c = matcher_root_goal(m, line->node, ops[i], ++m->state.spaces);
        m->state.optional = line->optional;
        if (c && matcher_solve(m, c) == MATCHED)
            return MATCHED;
        m->state.optional = false;
        matcher_undo(m, k);
    }
    if (line->optional && !m->refused && match_secondary(m) == MATCHED)
        return MATCHED;
    return line->optional || m->refused ? MISSED : matcher_failed(m, FAILED_LINE, NULL, NONE);
}

static enum search_outcome match_next_line(struct matcher *m) {
    const struct formula *f = &m->pattern->formula;
    if (m->state.line == f->nsecondary)
        return match_finish(m);
    const struct secondary_root *line = &f->also[m->state.line];
    uint32_t before = m->state.line ? line[-1].node->slot : NONE; /* conditions without that were asked before it */
    if (m->state.edits == 0 && !match_where_holds(m, before))     /* behind an edit names are unbound */
        return matcher_failed(m, FAILED_WHERE, NULL, NONE);
    uint32_t ops[MAX_CANDIDATES], slot = matcher_bound_name(m, line->node);
    uint32_t n = line->beside   ? candidates_beside(m, line->node, ops)
                 : slot == NONE ? 0
                                : candidates(m, line, slot, ops);
    m->state.line++;
    enum search_outcome outcome = match_line(m, line, ops, n);
    m->state.line -= outcome == MISSED;
    return outcome;
}

/* Behind the goals of one line. */
enum search_outcome match_secondary(struct matcher *m) {
    bool optional = m->state.optional;
    m->state.optional = false;
    enum search_outcome outcome = match_next_line(m);
    m->state.optional = optional;
    return outcome;
}
