/* The end of a match: nobody else uses what the fused op would not yield, the conditions hold, and
 * what was found is kept for the report. */
#include "lang/condition.h"
#include "match/matcher.h"

#include <string.h>

static bool in_match(const struct matcher *m, uint32_t op) {
    for (uint32_t i = 0; i < m->nmatched; i++)
        if (m->matched[i].op == op)
            return true;
    for (uint32_t i = 0; i < m->nlooked_through; i++)
        if (m->looked_through[i].inner && m->looked_through[i].op == op)
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
    for (uint32_t i = 0; i < m->nmatched; i++)
        if (m->matched[i].op == op && m->matched[i].parent == NONE)
            return true;
    return false;
}

/* What the fused op yields too. */
static bool may_escape(const struct matcher *m, uint32_t op) {
    for (uint32_t i = 0; i < m->pattern->nescapes; i++)
        if (m->slots[m->pattern->escapes[i]].op == op)
            return true;
    return false;
}

/* Inner values have no users outside, else the fused op could not leave them out. */
bool match_outside_user(const struct matcher *m, uint32_t *op, uint32_t *user) {
    for (uint32_t i = 0; i < m->nmatched; i++) {
        *op = m->matched[i].op;
        if (!is_root(m, *op) && !may_escape(m, *op) && (*user = user_outside(m, *op)) != NONE)
            return true;
    }
    for (uint32_t i = 0; i < m->nlooked_through; i++) {
        *op = m->looked_through[i].op;
        if (m->looked_through[i].inner && (*user = user_outside(m, *op)) != NONE)
            return true;
    }
    return false;
}

/* same(n, n2) in `where`: the variable is another reading of a value of the match. */
static bool another_reading(const struct pattern *p, uint32_t slot) {
    for (uint32_t i = 0; i < p->nwhere; i++) {
        const struct number *n = p->where[i];
        if (n->op == NUM_CALL && strcmp(condition_table[n->call].name, "same") == 0 &&
            (n->args[0] == slot || n->args[1] == slot))
            return true;
    }
    return false;
}

/* Casts and movement between a value of the match and another reading of it belong to the match. */
static void pass_readings(struct matcher *m) {
    const struct graph *g = m->g;
    for (uint32_t i = 0; i < m->pattern->formula.nslots; i++) {
        uint32_t way[MAX_CHAIN], n = 0, v = m->slots[i].value;
        if (v == NONE || !m->pattern->formula.slot_is_variable[i] || !another_reading(m->pattern, i))
            continue;
        uint32_t op = g->m->values[v].def;
        for (; n < MAX_CHAIN && op != NONE && graph_looks_through(g, op); op = g->m->values[graph_through(g, op)].def)
            way[n++] = op;
        for (uint32_t k = 0; k < n && op != NONE && in_match(m, op); k++)
            matcher_look_through(m, way[k], true);
    }
}

/* A variable is what the fused op is given: it cannot be what the match itself computes and nobody else sees. */
static bool variables_fit(const struct matcher *m) {
    const struct formula *f = &m->pattern->formula;
    for (uint32_t i = 0; i < f->nslots; i++) {
        uint32_t v = f->slot_is_variable[i] ? m->slots[i].value : NONE;
        uint32_t op = v == NONE ? NONE : m->g->m->values[v].def;
        for (uint32_t step = 0; step < MAX_CHAIN && op != NONE && graph_looks_through(m->g, op); step++)
            op = m->g->m->values[graph_through(m->g, op)].def;
        for (uint32_t k = 0; k < m->nmatched && op != NONE; k++)
            if (m->matched[k].op == op && !may_escape(m, op) && !another_reading(m->pattern, i))
                return false;
    }
    return true;
}

static bool all_hold(const struct evaluation *e, const struct number *const *conditions, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (!(evaluate(e, conditions[i]) != 0))
            return false;
    return true;
}

static bool none_holds(const struct evaluation *e, const struct number *const *conditions, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (evaluate(e, conditions[i]) != 0)
            return false;
    return true;
}

/* True when the condition speaks of `slot` and of bound names only. */
static bool decidable(const struct matcher *m, const struct number *n, uint32_t slot, bool *mentions) {
    if (!n)
        return true;
    if (n->op == NUM_EXTENT && n->slot == NONE)
        return false;
    if (n->slot != NONE && (n->op == NUM_EXTENT || n->op == NUM_VALUE_OF || n->op == NUM_MEASURE)) {
        *mentions |= n->slot == slot;
        return m->slots[n->slot].value != NONE;
    }
    for (uint32_t i = 0; n->op == NUM_CALL && i < n->nargs; i++) {
        *mentions |= n->args[i] == slot;
        if (m->slots[n->args[i]].value == NONE)
            return false;
    }
    if (n->op == NUM_CALL)
        return n->nargs > 0;
    return decidable(m, n->a, slot, mentions) && decidable(m, n->b, slot, mentions);
}

bool match_still_fits(struct matcher *m, uint32_t slot) {
    struct evaluation e = matcher_evaluation(m, m->root_axes);
    uint32_t stated = m->npreconditions, tied = m->nties;
    for (uint32_t i = 0; i < m->pattern->nwhere; i++) {
        bool mentions = false;
        if (!decidable(m, m->pattern->where[i], slot, &mentions) || !mentions)
            continue;
        bool holds = evaluate(&e, m->pattern->where[i]) != 0;
        m->npreconditions = stated; /* stated again at the end */
        m->nties = tied;
        if (!holds && m->diagnosis)
            diagnose_condition(m->diagnosis, m->pattern->where[i]);
        if (!holds)
            return false;
    }
    return true;
}

/* What can be said of the lines so far, before further ones are looked for. */
bool match_lines_fit(struct matcher *m) {
    struct evaluation e = matcher_evaluation(m, m->root_axes);
    uint32_t stated = m->npreconditions, tied = m->nties;
    bool fits = true;
    for (uint32_t i = 0; i < m->pattern->nwhere && fits; i++) {
        bool mentions = false;
        if (decidable(m, m->pattern->where[i], NONE, &mentions))
            fits = evaluate(&e, m->pattern->where[i]) != 0;
        if (!fits && m->diagnosis)
            diagnose_condition(m->diagnosis, m->pattern->where[i]);
    }
    m->npreconditions = stated;
    m->nties = tied;
    return fits;
}

static bool some_rule_holds(const struct evaluation *e, const struct note_rule *rules, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (!rules[i].when || evaluate(e, rules[i].when) != 0)
            return true;
    return false;
}

/* What is known only of a whole match. */
static void whole(const struct matcher *m, struct evaluation *e, const uint32_t *ops, uint32_t nops) {
    e->ops = ops;
    e->nops = nops;
    e->looked_through = m->looked_through;
    e->nlooked_through = m->nlooked_through;
}

/* Not to be reported unless asked for: taken apart on purpose, or known to be unsafe. */
static bool hidden(const struct evaluation *e, const struct pattern *p) {
    return (!p->show_decomposed && !none_holds(e, p->decomposed, p->ndecomposed)) ||
           (!p->show_blocked && some_rule_holds(e, p->block, p->nblock));
}

/* What only a whole match can be judged by: the first of the patterns that share the formula whose verdict is for it.
 * A verdict against the first match is final. */
static bool accepted(struct matcher *m, const uint32_t *ops, uint32_t nops) {
    struct evaluation e = matcher_evaluation(m, m->root_axes);
    uint32_t stated = m->npreconditions, tied = m->nties;
    m->far |= m->told.n > 0; /* by other ops than these: what it tells elsewhere says nothing of these */
    whole(m, &e, ops, nops);
    for (const struct pattern *p = m->pattern; p; p = p->variant) {
        m->npreconditions = stated;
        m->nties = tied;
        if (!p->selected || p->replaced)
            continue;
        if (m->diagnosis)
            diagnose_verdict(m, &e, p);
        if (!all_hold(&e, p->where, p->nwhere))
            return false;
        if (all_hold(&e, p->require, p->nrequire) && none_holds(&e, p->unless, p->nunless) && !hidden(&e, p)) {
            m->pattern = p;
            return true;
        }
    }
    m->refused = true;
    return false;
}

/* Operands before the op that uses them, in the formula's order. */
static uint32_t in_order(const struct matcher *m, uint32_t at, uint32_t *ops, uint32_t n) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < m->nmatched; i++)
        if (m->matched[i].parent == at && m->matched[i].arg >= most)
            most = m->matched[i].arg + 1;
    for (uint32_t arg = 0; arg < most && arg < 8; arg++)
        for (uint32_t i = 0; i < m->nmatched; i++)
            if (m->matched[i].parent == at && m->matched[i].arg == arg && i != at)
                n = in_order(m, i, ops, n);
    for (uint32_t i = 0; i < n; i++)
        if (ops[i] == m->matched[at].op)
            return n;
    ops[n] = m->matched[at].op;
    return n + 1;
}

static void *copied(struct arena *a, const void *p, size_t n) {
    void *c = arena_alloc(a, n ? n : 1);
    if (n)
        memcpy(c, p, n);
    return c;
}

static void keep_through(const struct matcher *m, struct match *out) {
    uint32_t *through = arena_alloc(m->arena, (m->nlooked_through + 1) * sizeof *through), n = 0;
    for (uint32_t i = 0; i < m->nlooked_through; i++) {
        bool seen = false;
        for (uint32_t j = 0; j < n; j++)
            seen |= through[j] == m->looked_through[i].op;
        for (uint32_t j = 0; j < m->nmatched; j++)
            seen |= m->matched[j].op == m->looked_through[i].op;
        if (!seen)
            through[n++] = m->looked_through[i].op;
    }
    sort_ids(through, n);
    out->through = through;
    out->nthrough = n;
}

/* The rules that hold here, filled in. */
static const struct str *said(struct matcher *m, const struct evaluation *e, const struct note_rule *rules, uint32_t n,
                              uint32_t *count) {
    struct str *lines = arena_alloc(m->arena, (n + 1) * sizeof *lines);
    *count = 0;
    for (uint32_t i = 0; i < n; i++) {
        *e->found = NONE;
        if (!rules[i].when || evaluate(e, rules[i].when) != 0)
            lines[(*count)++] = fill_in(e, rules[i].say);
    }
    return lines;
}

static void keep_remarks(struct matcher *m, struct match_detail *out, const uint32_t *ops, uint32_t nops) {
    struct evaluation e = matcher_evaluation(m, m->root_axes);
    const struct pattern *p = m->pattern;
    uint32_t found = NONE, n;
    whole(m, &e, ops, nops);
    e.found = &found;
    out->remarks = said(m, &e, p->notes, p->nnotes, &out->nremarks);
    out->outside = said(m, &e, p->outside, p->noutside, &out->noutside);
    out->blocked = said(m, &e, p->block, p->nblock, &out->nblocked);
    out->compiler = said(m, &e, p->compiler, p->ncompiler, &out->ncompiler);
    out->decomposed = !none_holds(&e, p->decomposed, p->ndecomposed);
    const struct str *torch = said(m, &e, p->torch, p->ntorch, &n);
    if (n)
        out->torch = torch[0];
}

static void keep_detail(struct matcher *m, const uint32_t *ops, uint32_t nops) {
    struct match_detail *out = m->detail;
    uint32_t n = m->pattern->formula.nslots, *values = arena_alloc(m->arena, (n + 1) * sizeof *values);
    for (uint32_t i = 0; i < n; i++)
        values[i] = m->slots[i].value;
    *out = (struct match_detail){.values = values, .npreconditions = m->npreconditions};
    out->preconditions = copied(m->arena, m->preconditions, m->npreconditions * sizeof *m->preconditions);
    keep_remarks(m, out, ops, nops);
}

static uint64_t number_of_names(const struct graph *g, const uint32_t *ops, uint32_t n) {
    uint64_t h = n;
    for (uint32_t i = 0; i < n; i++)
        h = h * 0x9E3779B97F4A7C15u + str_hash(mlir_op_name(g->m, ops[i]));
    return h;
}

bool match_finish(struct matcher *m) {
    uint32_t ops[MAX_MATCHED], op, user, nops = 0;
    if (m->diagnosis && diagnose_complete(m))
        return false;
    pass_readings(m);
    if (match_outside_user(m, &op, &user))
        return matcher_failed(m, FAILED_USER, NULL, op);
    if (!variables_fit(m))
        return false;
    for (uint32_t i = m->nmatched; i-- > 0;) /* further roots first: the root is the last */
        if (m->matched[i].parent == NONE)
            nops = in_order(m, i, ops, nops);
    bool good = accepted(m, ops, nops);
    if (!good && m->told.n == 0)
        return false;
    if (m->detail && good)
        keep_detail(m, ops, nops);
    if (m->detail)
        return good;
    struct match *out = &m->found;
    *out = (struct match){.pattern = good ? m->pattern : NULL, .graph = m->g, .func = m->func, .nops = nops};
    out->root = nops ? ops[nops - 1] : NONE;
    out->names = number_of_names(m->g, ops, nops);
    out->ops = copied(m->arena, ops, nops * sizeof *ops);
    keep_through(m, out);
    return good;
}
