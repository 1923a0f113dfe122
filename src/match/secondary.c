/* Further lines of a formula: `also k = slice(y)`. The root's line has bound y; the line is looked for among
 * the ops that lie behind y, in textual order, and is a root of its own: its index is its own, so a name
 * of another line is the same value without a word about which element. */
#include "match/matcher.h"

enum { MAX_BEHIND = 128, MAX_CANDIDATES = 64 };

/* The first name of the line that is bound already. */
static uint32_t bound_name(const struct matcher *m, const struct node *n) {
    if ((n->kind == N_NAMED || n->kind == N_VARIABLE) && m->slots[n->slot].value != NONE)
        return n->slot;
    for (uint32_t i = 0; i < n->nargs; i++) {
        uint32_t slot = bound_name(m, n->args[i]);
        if (slot != NONE)
            return slot;
    }
    return NONE;
}

static bool taken(const struct matcher *m, uint32_t op) {
    for (uint32_t i = 0; i < m->nmatched; i++)
        if (m->matched[i].op == op)
            return true;
    return false;
}

static void add_once(uint32_t *list, uint32_t *n, uint32_t max, uint32_t v) {
    for (uint32_t i = 0; i < *n; i++)
        if (list[i] == v)
            return;
    if (*n < max)
        list[(*n)++] = v;
}

static bool may_be(const struct matcher *m, const struct node *root, uint32_t op) {
    return m->diagnosis ? node_is(root, (enum op_kind)m->g->kind[op]) : matcher_root_plausible(m, root, op);
}

struct behind {
    uint32_t values[MAX_BEHIND], deep[MAX_BEHIND]; /* deep: ops passed on the way that are no movement */
    uint32_t n;
};

static void add_behind(struct behind *b, uint32_t value, uint32_t deep) {
    for (uint32_t i = 0; i < b->n; i++)
        if (b->values[i] == value)
            return;
    if (b->n == MAX_BEHIND)
        return;
    b->values[b->n] = value;
    b->deep[b->n++] = deep;
}

/* The search depends on what stands there. */
static void see(struct matcher *m, uint32_t op, uint32_t slot) {
    for (uint32_t i = 0; i < m->nseen; i++)
        if (m->seen[i].op == op && m->seen[i].slot == slot)
            return;
    if (m->nseen < MAX_SEEN)
        m->seen[m->nseen++] = (struct seen){op, slot};
    else
        m->far = true;
}

/* A value is the same operand of a matched op wherever the place is alike. */
static bool see_operand(struct matcher *m, uint32_t op, uint32_t value) {
    for (uint32_t i = 0; i < graph_noperands(m->g, op); i++)
        if (graph_operands(m->g, op)[i] == value) {
            see(m, op, i);
            return true;
        }
    return false;
}

/* Who uses the value that a line begins from: its op tells, where it has one that does. */
static void see_users(struct matcher *m, uint32_t value) {
    uint32_t def = m->g->m->values[value].def;
    bool told = def != NONE && hash_covers_users(m->g, def);
    for (uint32_t i = 0; i < m->nmatched && !told; i++)
        told = see_operand(m, m->matched[i].op, value);
    for (uint32_t i = 0; i < m->nlooked_through && !told; i++)
        told = see_operand(m, m->looked_through[i].op, value);
    m->far |= !told;
}

/* An op behind it. What is behind that is told by its own number. */
static void see_behind(struct matcher *m, uint32_t user) {
    matcher_reach(m, user);
    if (hash_covers_users(m->g, user))
        see(m, user, NONE);
    else
        m->far = true;
}

/* Ops behind a value that the line's root may be: no further than the line is deep. */
static uint32_t candidates(struct matcher *m, const struct secondary_root *line, uint32_t slot, uint32_t *out) {
    const struct graph *g = m->g;
    struct behind b;
    uint32_t found = 0, op = m->slots[slot].op, most = line->deep;
    b.n = 0;
    if (op == NONE)
        add_behind(&b, m->slots[slot].value, 0);
    for (uint32_t r = 0; op != NONE && r < g->m->ops[op].nresults; r++)
        add_behind(&b, g->m->ops[op].first_result + r, 0);
    uint32_t first = b.n;
    for (uint32_t i = 0; i < first; i++)
        see_users(m, b.values[i]);
    for (uint32_t i = 0; i < b.n; i++)
        for (uint32_t u = g->first_use[b.values[i]]; u < g->first_use[b.values[i] + 1]; u++) {
            uint32_t user = g->uses[u], deep = b.deep[i] + !graph_looks_through(g, user);
            m->far |= g->m->ops[user].func != m->func;
            if (g->m->ops[user].func != m->func || g->m->ops[user].nresults == 0)
                continue;
            if (deep <= most || i < first)
                see_behind(m, user);
            if (deep > most)
                continue;
            if (g->m->ops[user].nresults == 1 && !taken(m, user) && may_be(m, line->node, user))
                add_once(out, &found, MAX_CANDIDATES, user);
            add_behind(&b, g->m->ops[user].first_result, deep);
        }
    sort_ids(out, found);
    return found;
}

static struct goal *root_goal(struct matcher *m, const struct node *root, uint32_t op) {
    uint32_t rank, value = m->g->m->ops[op].first_result;
    const int64_t *shape = graph_shape(m->g, value, &rank);
    struct imap *map = matcher_scratch(m, sizeof *map);
    struct axes *axes = matcher_scratch(m, sizeof *axes);
    struct goal *c = matcher_scratch(m, sizeof *c);
    if (!shape || rank > MAX_RANK || graph_numel(m->g, value) < 1 || !map || !axes || !c)
        return NULL;
    imap_identity(map, ++m->spaces, graph_numel(m->g, value));
    if (!matcher_root_axes(map, shape, rank, axes))
        return NULL;
    *c = (struct goal){.node = root, .value = value, .map = map, .axes = axes, .slot = NONE, .parent = NONE};
    return c;
}

bool match_secondary(struct matcher *m) {
    const struct formula *f = &m->pattern->formula;
    if (m->line == f->nsecondary)
        return match_finish(m);
    const struct secondary_root *line = &f->also[m->line];
    if (!match_lines_fit(m) && !(m->diagnosis && diagnosis_is_off(m->diagnosis)))
        return matcher_failed(m, FAILED_WHERE, NULL, NONE);
    uint32_t ops[MAX_CANDIDATES], slot = bound_name(m, line->node);
    uint32_t n = slot == NONE ? 0 : candidates(m, line, slot, ops);
    m->line++;
    for (uint32_t i = 0; i < n && !m->refused; i++) {
        struct mark k = matcher_mark(m);
        struct goal *c = root_goal(m, line->node, ops[i]);
        if (c && matcher_solve(m, c))
            return true;
        matcher_undo(m, k);
    }
    if (line->optional && !m->refused && match_secondary(m))
        return true;
    if (!line->optional && !m->refused && matcher_failed(m, FAILED_LINE, NULL, NONE))
        return true;
    m->line--;
    return false;
}
