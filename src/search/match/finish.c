/* The end of a match: nobody else uses what the fused op would not yield, the conditions of the pattern hold, and what
 * was found is kept for the report. */
#include "patterns/lang/condition.h"
#include "search/match/matcher.h"

#include <string.h>

static bool in_match(const struct matcher *m, uint32_t op) {
    if (matcher_took(m, op))
        return true;
    for (uint32_t i = 0; i < m->state.nlooked_through; i++)
        if (m->state.looked_through[i].inner && m->state.looked_through[i].op == op)
            return true;
    return false;
}

/* A user outside of what is matched, or NONE. */
static uint32_t user_outside(const struct matcher *m, uint32_t op) {
    const struct graph *g = m->g;
    for (uint32_t r = 0; r < g->m->ops[op].nresults; r++) {
        uint32_t v = g->m->ops[op].first_result + r;
        for (uint32_t u = g->first_use[v]; u < g->first_use[v + 1]; u++)
            if (!in_match(m, g->uses[u]))
                return g->uses[u];
    }
    return NONE;
}

static bool is_root(const struct matcher *m, uint32_t op) {
    for (uint32_t i = 0; i < m->state.nmatched; i++)
        if (m->state.matched[i].op == op && m->state.matched[i].parent == NONE)
            return true;
    return false;
}

static bool is_one_of(const struct matcher *m, const uint32_t *slots, uint32_t n, uint32_t op) {
    for (uint32_t i = 0; i < n; i++)
        if (m->state.slots[slots[i]].op == op)
            return true;
    return false;
}

/* A result of the op that the fused op has too, or that others may take. */
static bool may_escape(const struct matcher *m, uint32_t op) {
    return is_one_of(m, m->pattern->escapes, m->pattern->nescapes, op) ||
           is_one_of(m, m->pattern->beside, m->pattern->nbeside, op);
}

/* Others take what it yields, or what such an op or one that is looked through makes of it, or it stands in a function
 * that runs once: it runs beside the fused op. */
static bool stands_beside(const struct matcher *m, uint32_t op) {
    const struct mlir_op *o = &m->g->m->ops[op];
    bool shared = !matcher_took(m, op) || is_one_of(m, m->pattern->beside, m->pattern->nbeside, op);
    bool beside = (m->func != NONE && o->func != m->func) || (shared && user_outside(m, op) != NONE);
    uint32_t end = m->g->first_use[o->first_result + o->nresults];
    for (uint32_t u = m->g->first_use[o->first_result]; u < end && shared && !beside; u++)
        beside = m->g->uses[u] > op && in_match(m, m->g->uses[u]) && stands_beside(m, m->g->uses[u]);
    return beside;
}

/* An op that is looked through moves what the fused op yields: it can do so behind that. */
static bool moves_result(const struct matcher *m, uint32_t op) {
    bool found = false;
    for (uint32_t step = 0; step < MAX_CHAIN && op != NONE && !found; step++) {
        found = is_root(m, op) || may_escape(m, op);
        uint32_t from = graph_through(m->g, op);
        op = from == NONE ? NONE : m->g->m->values[from].def;
    }
    return found;
}

/* Inner values have no users outside, else the fused op could not leave them out. */
bool match_outside_user(const struct matcher *m, uint32_t *op, uint32_t *user) {
    for (uint32_t i = 0; i < m->state.nmatched; i++) {
        *op = m->state.matched[i].op;
        if (!is_root(m, *op) && !may_escape(m, *op) && (*user = user_outside(m, *op)) != NONE)
            return true;
    }
    for (uint32_t i = 0; i < m->state.nlooked_through; i++) {
        *op = m->state.looked_through[i].op;
        if (m->state.looked_through[i].inner && !moves_result(m, *op) && (*user = user_outside(m, *op)) != NONE)
            return true;
    }
    return false;
}

/* same(n, n2) in `where`: the variable is a value of the match under another name. */
static bool is_said_to_be_same(const struct pattern *p, uint32_t slot) {
    for (uint32_t i = 0; i < p->nwhere; i++) {
        const struct number *n = p->where[i];
        if (n->op == NUM_CALL && n->call == CONDITION_same && (n->args[0] == slot || n->args[1] == slot))
            return true;
    }
    return false;
}

/* A variable is an operand of the fused op: it cannot be a value that only the match computes. */
static bool variables_fit(const struct matcher *m) {
    const struct formula *f = &m->pattern->formula;
    for (uint32_t i = 0; i < f->nslots; i++) {
        uint32_t v = f->slots[i].is_variable ? m->state.slots[i].value : NONE;
        uint32_t op = v == NONE ? NONE : m->g->m->values[v].def;
        for (uint32_t step = 0; step < MAX_CHAIN && op != NONE && graph_looks_through(m->g, op); step++)
            op = m->g->m->values[graph_through(m->g, op)].def;
        if (op != NONE && matcher_took(m, op) && !is_said_to_be_same(m->pattern, i))
            return false;
    }
    return true;
}

static bool all_hold(struct evaluation *e, const struct number *const *conditions, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (!evaluates_to_true(e, conditions[i]))
            return false;
    return true;
}

bool match_none_holds(struct evaluation *e, const struct number *const *conditions, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (evaluates_to_true(e, conditions[i]))
            return false;
    return true;
}

/* The name is bound, or the line that it names was tried and is absent. */
static bool is_settled(const struct matcher *m, uint32_t slot) {
    const struct formula *f = &m->pattern->formula;
    bool settled = m->state.slots[slot].value != NONE || m->state.slots[slot].is_number;
    for (uint32_t i = 0; i + 1 < m->state.line && !settled; i++)
        settled = f->also[i].node->slot == slot;
    return settled;
}

static bool is_decidable(const struct matcher *m, const struct asked_names *names) {
    for (uint32_t i = 0; i < sizeof names->slots / sizeof *names->slots; i++)
        for (uint64_t left = names->slots[i]; left; left &= left - 1)
            if (!is_settled(m, i * 64 + (uint32_t)__builtin_ctzll(left)))
                return false;
    return !names->late;
}

/* An observer is told of whole conditions, once all of their names are bound. */
bool match_where_holds(struct matcher *m, uint32_t slot) {
    struct evaluation e = matcher_evaluation(m, m->root_axes);
    struct mark k = matcher_mark(m);
    bool holds = true;
    for (uint32_t i = 0; i < m->pattern->nconjuncts && holds; i++) {
        const struct conjunct *c = &m->pattern->conjuncts[i];
        const struct asked_names *names = m->observer ? &c->of_condition : &c->of_part;
        if ((slot != NONE && !(names->slots[slot / 64] >> slot % 64 & 1)) || !is_decidable(m, names))
            continue;
        holds = evaluates_to_true(&e, c->part);
        m->failed_condition = c->condition;
    }
    matcher_undo(m, k); /* preconditions are stated again at the end */
    return holds;
}

static bool some_rule_holds(struct evaluation *e, const struct note_rule *rules, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (!rules[i].when || evaluates_to_true(e, rules[i].when))
            return true;
    return false;
}

struct evaluation match_evaluation(struct matcher *m, const uint32_t *ops, uint32_t nops) {
    struct evaluation e = matcher_evaluation(m, m->root_axes);
    e.ops = ops;
    e.nops = nops;
    e.prefix = m->prefix;
    return e;
}

/* Not to be reported unless asked for: decomposed on purpose, or known to be unsafe. */
static bool is_hidden(struct evaluation *e, const struct pattern *p) {
    return (!p->show_decomposed && !match_none_holds(e, p->decomposed, p->ndecomposed)) ||
           (!p->show_blocked && some_rule_holds(e, p->block, p->nblock));
}

/* Conditions that need a whole match. Of the patterns that share the formula, the first one whose conditions hold takes
 * it. Where none does, the root has no match: others with the same root are not tried. */
static bool accepted(struct matcher *m, const uint32_t *ops, uint32_t nops) {
    struct evaluation e = match_evaluation(m, ops, nops);
    struct mark k = matcher_mark(m);
    for (const struct pattern *p = m->pattern; p; p = p->variant) {
        matcher_undo(m, k);
        if (!p->selected || p->replaced)
            continue;
        if (m->observer)
            m->observer->verdict(m, &e, p);
        if (!all_hold(&e, p->where, p->nwhere))
            return false;
        if (all_hold(&e, p->require, p->nrequire) && match_none_holds(&e, p->unless, p->nunless) && !is_hidden(&e, p)) {
            m->pattern = p;
            return true;
        }
    }
    m->refused = true;
    return false;
}

/* Appends the matched op `at` after its operands, which were matched after it in the formula's order; not those that
 * stand beside the fused op. */
static uint32_t append_in_order(const struct matcher *m, uint32_t at, uint32_t *ops, uint32_t n) {
    for (uint32_t i = at + 1; i < m->state.nmatched; i++)
        if (m->state.matched[i].parent == at)
            n = append_in_order(m, i, ops, n);
    for (uint32_t i = 0; i < n; i++)
        if (ops[i] == m->state.matched[at].op)
            return n;
    ops[n] = m->state.matched[at].op;
    return n + !stands_beside(m, ops[n]);
}

static uint32_t add_once(uint32_t *ops, uint32_t n, uint32_t op) {
    for (uint32_t i = 0; i < n; i++)
        if (ops[i] == op)
            return n;
    ops[n] = op;
    return n + 1;
}

/* The ops that were looked through and are not matched themselves, and those that stand beside the fused op. */
static void keep_through(const struct matcher *m, struct match *out) {
    uint32_t n = 0, most = m->state.nlooked_through + m->state.nmatched;
    uint32_t *through = arena_alloc(m->arena, (most + (size_t)1) * sizeof *through);
    for (uint32_t i = 0; i < m->state.nlooked_through; i++)
        if (!matcher_took(m, m->state.looked_through[i].op))
            n = add_once(through, n, m->state.looked_through[i].op);
    for (uint32_t i = 0; i < m->state.nmatched; i++)
        if (stands_beside(m, m->state.matched[i].op))
            n = add_once(through, n, m->state.matched[i].op);
    sort_ids(through, n);
    out->through = through;
    out->nthrough = n;
}

/* One of the ops is to be run on the host. */
static bool leaves_device(const struct matcher *m) {
    bool leaves = false;
    for (uint32_t i = 0; i < m->state.nmatched && !leaves; i++)
        leaves = attrs_find(graph_attributes(m->g, m->state.matched[i].op), "ttir.should_hoist") != NULL;
    return leaves;
}

enum search_outcome match_finish(struct matcher *m) {
    uint32_t ops[MAX_MATCHED], op, user, nops = 0;
    if (m->state.edits > 0) {
        m->observer->complete(m);
        return MISSED;
    }
    if (match_outside_user(m, &op, &user))
        return matcher_failed(m, FAILED_USER, NULL, op);
    if (!variables_fit(m) || leaves_device(m))
        return MISSED;
    for (uint32_t i = m->state.nmatched; i-- > 0;) /* secondary roots first: the root is the last op */
        if (m->state.matched[i].parent == NONE)
            nops = append_in_order(m, i, ops, nops);
    bool good = accepted(m, ops, nops);
    if (assumptions_are_full(&m->state.assumed)) {
        m->full = true;
        return MISSED;
    }
    if (!good)
        return MISSED;
    struct match *out = &m->found;
    *out = (struct match){.pattern = m->pattern, .graph = m->g, .func = m->func, .nops = nops};
    out->by_values = m->state.functions > 0;
    out->root = nops ? ops[nops - 1] : NONE;
    uint32_t *kept = arena_alloc(m->arena, (nops + 1) * sizeof *kept);
    memcpy(kept, ops, nops * sizeof *kept);
    out->ops = kept;
    keep_through(m, out);
    return MATCHED;
}
