/* The diagnostic search: the search of an audit without its look ahead, which goes on after the first failure in each
 * way that may make sense. So a single difference is found wherever it is, and what still matches after it counts. Of
 * all ends of such a search the one with the best score is described. */
#include "report/explain/diagnose.h"

#include <stdlib.h>
#include <string.h>

enum { DIAGNOSIS_STEPS = 20000 };

/* ---- the closest end so far ---- */

/* Each once, in textual order, without one that was matched as if it were another. */
static uint32_t matched_ops(const struct matcher *m, const struct failure *first, uint32_t *ops) {
    uint32_t n = 0, none = NONE;
    if (first->detour == DETOUR_AS_IF)
        none = first->why == FAILED_OPERATOR ? m->g->m->values[first->at].def : first->at;
    for (uint32_t i = 0; i < m->state.nmatched; i++)
        ops[i] = m->state.matched[i].op;
    sort_ids(ops, m->state.nmatched);
    for (uint32_t i = 0; i < m->state.nmatched; i++)
        if (ops[i] != none && (n == 0 || ops[n - 1] != ops[i]))
            ops[n++] = ops[i];
    return n;
}

/* Another operator, or a computed value instead of a number, may just mean the wrong one of two operands. */
static bool is_telling(const struct matcher *m, const struct failure *s) {
    return s->why > FAILED_LINE && (s->why != FAILED_NUMBER || graph_constant(m->g, s->at).known);
}

/* In quarters of an op. */
enum { ONE_OP = 4, WHOLE = 6, CONDITION = 2, VERDICT = 3, TELLING = 1 };

/* More is closer: ops that match; all other goals met, less for each of up to two conditions that fail; only the
 * conditions of the whole match against it; a telling difference. */
static uint32_t score_of(const struct matcher *m, uint32_t nops, const struct failure *first, bool complete,
                         uint32_t others) {
    uint32_t whole = complete ? WHOLE - CONDITION * (others < 2 ? others : 2) : 0;
    uint32_t verdict = complete && first->why >= FAILED_USER && !reason_is_absence(m, first) ? VERDICT : 0;
    return ONE_OP * nops + whole + verdict + (is_telling(m, first) ? TELLING : 0);
}

static struct diagnosis *diagnosis_of(const struct matcher *m) {
    return m->observer->self;
}

/* The first pattern of those with this formula that the user selected. */
static const struct pattern *shown(const struct matcher *m) {
    const struct pattern *p = m->pattern;
    if (diagnosis_of(m)->only)
        return diagnosis_of(m)->only;
    while (p->variant && (!p->selected || p->replaced))
        p = p->variant;
    return p;
}

static bool objects_too(const struct matcher *m, struct evaluation *e, const struct failure *first,
                        const struct number *condition) {
    return condition != first->condition && reason_is_decidable(m, condition) && !(evaluate(e, condition) != 0);
}

/* Conditions of the pattern that do not hold either. */
static uint32_t objections(struct matcher *m, const struct failure *first) {
    const struct pattern *p = shown(m);
    struct evaluation e = matcher_evaluation(m, m->root_axes);
    struct mark k = matcher_mark(m);
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->nwhere; i++)
        n += objects_too(m, &e, first, p->where[i]);
    for (uint32_t i = 0; i < p->nrequire; i++)
        n += objects_too(m, &e, first, p->require[i]);
    matcher_undo(m, k);
    return n;
}

/* Matched movement alone says nothing: it is everywhere. */
static bool computes(const struct near_miss *c) {
    bool any = false;
    for (uint32_t i = 0; i < c->nops && !any; i++) {
        enum op_class class = graph_class(c->graph, c->ops[i]);
        any = !class_moves(class) && class != OP_SLICE && class != OP_JOIN;
    }
    return any;
}

/* At least half of the ops, and more than the root; or nothing is known (the step limit). */
static bool is_close(const struct near_miss *c) {
    if (c->nops < LEAST_OPS)
        return c->nops == 0;
    return c->nops == c->total || (2 * c->nops >= c->total && computes(c));
}

static const char *const hints[] = {
    [DETOUR_NONE] = NULL,
    [DETOUR_AS_IF] = "all else matches",
    [DETOUR_ABSENT] = "all else matches: the op is missing",
    [DETOUR_EXTRA] = "all else matches: the op is one too many",
};

/* Of two differences what is said: any other one, rather than a condition on what is there. */
static const struct failure *to_say(const struct failure *first, const struct failure *second) {
    return second && first->why == FAILED_WHERE && second->why != FAILED_WHERE ? second : first;
}

static void describe(struct matcher *m, const struct failure *first, const struct failure *second, const uint32_t *ops,
                     uint32_t n) {
    const struct near_query *query = diagnosis_of(m)->query;
    const struct failure *said = to_say(first, second);
    *diagnosis_of(m)->best = (struct near_miss){.op = NONE};
    if (n < query->least)
        return; /* words, and how much is missing, cost more than the search */
    uint32_t more = ops_missing(m, first, second) + reason_is_absence(m, first);
    uint32_t *kept = arena_alloc(m->arena, n * sizeof *kept);
    memcpy(kept, ops, n * sizeof *kept);
    *diagnosis_of(m)->best = (struct near_miss){.pattern = said->pattern ? said->pattern : shown(m),
                                                .graph = m->g,
                                                .func = m->func,
                                                .root = diagnosis_of(m)->root,
                                                .ops = kept,
                                                .nops = n,
                                                .total = n + more,
                                                .others = objections(m, said),
                                                .excluded = reason_is_presence(said),
                                                .op = reason_op(m, said),
                                                .whole = !second && first->why >= FAILED_USER};
    if ((query->least == LEAST_OPS && !is_close(diagnosis_of(m)->best)) ||
        (query->wants && !query->wants(query->self, diagnosis_of(m)->best)))
        return;
    reason_of(m, said, diagnosis_of(m)->best);
    if (!second && !diagnosis_of(m)->best->hint)
        diagnosis_of(m)->best->hint = hints[first->detour];
}

/* `second`: where the search ended after the first difference; NULL: it met all other goals. */
static void record(struct matcher *m, const struct failure *first, const struct failure *second) {
    struct diagnosis *d = diagnosis_of(m);
    uint32_t ops[MAX_MATCHED], n;
    if ((m->state.nmatched == 0 && d->query->least) || score_of(m, m->state.nmatched, first, !second, 0) <= d->score)
        return;
    n = matched_ops(m, first, ops);
    uint32_t score = score_of(m, n, first, !second, second ? 0 : objections(m, first));
    if ((n == 0 && d->query->least) || score <= d->score)
        return;
    d->score = score;
    describe(m, first, second, ops, n);
}

/* ---- the observer ---- */

static const struct failure *first_of(const struct matcher *m) {
    return m->state.edits ? &diagnosis_of(m)->edit : NULL;
}

/* The search goes on from a failure: until it is undone. */
static void edit(struct matcher *m, const struct failure *s, enum detour how) {
    diagnosis_of(m)->edit = *s;
    diagnosis_of(m)->edit.detour = how;
    m->state.edits = 1;
}

/* Goes on without the goal and all below it. A difference after the first one ends the search there. */
static void skip_goal(struct matcher *m, const struct failure *s) {
    const struct goal *next = s->goal ? s->goal->next : NULL;
    struct mark k = matcher_mark(m);
    if (m->state.edits) {
        record(m, first_of(m), s);
        return;
    }
    record(m, s, s);
    edit(m, s, DETOUR_NONE);
    if (!m->full)
        matcher_solve(m, next);
    matcher_undo(m, k);
}

/* The goal's op is missing: its operand stands where it should be. */
static enum search_outcome match_absent(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    if (g->node->kind != N_OP || g->node->nargs != 1 || g->slot != NONE)
        return MISSED;
    struct goal *c = matcher_goal(m, g, g->node->args[0], m->g->m->ops[op].first_result, map, g->axes, g->next);
    return c ? matcher_solve(m, c) : MISSED;
}

/* The op is another one: its operands are those of the goal's. */
static enum search_outcome match_other(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    return near_bound_stands_in(m, g->node, op) ? match_stand_in(m, g, op, map) : MISSED;
}

/* The op is one too many: what is expected stands before it. */
static enum search_outcome match_extra(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    enum op_class class = graph_class(m->g, op);
    bool elementwise = class == OP_ELTWISE || class == OP_ALIKE || class == OP_AXISWISE;
    const struct imap *mapped =
        elementwise && graph_noperands(m->g, op) == 1 ? matcher_operand_map(m, op, 0, map) : NULL;
    if (!mapped)
        return MISSED;
    struct goal *c = matcher_goal(m, g, g->node, graph_operands(m->g, op)[0], mapped, g->axes, g->next);
    if (!c)
        return MISSED;
    c->slot = g->slot;
    return matcher_solve(m, c);
}

static bool has_gone_on(const struct matcher *m, const struct goal *g) {
    const struct gone_on *at = &diagnosis_of(m)->gone_on;
    return at->value == g->value && at->next == g->next && at->ntrail == m->state.ntrail && !m->state.edits;
}

/* The op is wrong, missing or one too many. */
static void observe_other_op(struct matcher *m, const struct goal *g, uint32_t value, const struct imap *map) {
    static const struct {
        enum detour detour;
        enum search_outcome (*step)(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map);
    } ways[] = {{DETOUR_AS_IF, match_other}, {DETOUR_ABSENT, match_absent}, {DETOUR_EXTRA, match_extra}};
    const struct failure s = {.why = FAILED_OPERATOR, .goal = g, .at = value};
    uint32_t op = m->g->m->values[value].def;
    if (g->parent == NONE || (op != NONE && match_kind_fits(g->node, (enum op_kind)m->g->kind[op])))
        return; /* a root is of the right kind for another alternative; an op that does not match has said why */
    if (!has_gone_on(m, g))
        skip_goal(m, &s);
    if (m->state.edits)
        return;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (op == NONE || value != m->g->m->ops[op].first_result || m->full)
            return;
        struct mark k = matcher_mark(m);
        edit(m, &s, ways[i].detour);
        ways[i].step(m, g, op, map);
        matcher_undo(m, k);
    }
}

/* Operators that alternatives may have at a value: of the ops that are looked through from it, of what is before one
 * that may be too many. */
struct kinds {
    enum op_kind kind[2 * MAX_CHAIN + 1];
    uint32_t n;
};

static struct kinds kinds_at(const struct matcher *m, uint32_t value) {
    const struct graph *g = m->g;
    struct kinds all;
    bool extra = true;
    all.n = 0;
    for (uint32_t op; all.n <= 2 * MAX_CHAIN && value != NONE && (op = g->m->values[value].def) != NONE;) {
        all.kind[all.n++] = (enum op_kind)g->kind[op];
        value = graph_through(g, op);
        if (value == NONE && extra && graph_noperands(g, op) == 1) {
            value = graph_operands(g, op)[0];
            extra = false;
        }
    }
    return all;
}

/* None of the ops there is of the node's operators, and no name stands in for one. */
static bool is_other(const struct matcher *m, const struct node *n, const struct kinds *there) {
    bool op = n->kind == N_OP || n->kind == N_OUTER,
         other =
             !n->any && (op || n->kind == N_EITHER || (n->kind == N_NAMED && m->state.slots[n->slot].value == NONE));
    for (uint32_t i = 0; i < there->n && other; i++)
        other = !node_is(n, there->kind[i]);
    for (uint32_t i = 0; i < n->nargs && other && !op; i++)
        other = is_other(m, n->args[i], there);
    return other;
}

/* They differ in their operator alone. */
static bool same_operands(const struct node *a, const struct node *b) {
    bool same = a->kind == N_OP && b->kind == N_OP && a->nargs == b->nargs && axis_spec_equal(&a->dim, &b->dim);
    for (uint32_t i = 0; i < a->nargs && same; i++) {
        const struct node *x = a->args[i], *y = b->args[i];
        same = x == y || (x->kind == y->kind && (x->kind == N_NAMED || x->kind == N_VARIABLE) && x->slot == y->slot);
    }
    return same;
}

/* Those that cannot match; after a difference they are a second one. Where none of their operators is there, searches
 * end alike without the goal, and as if the op were theirs, so that the first one says it for all with these operands.
 */
static void observe_other_alternatives(struct matcher *m, const struct goal *g) {
    const struct node *const *args = (const struct node *const *)g->node->args;
    const struct failure s = {.why = FAILED_OPERATOR, .goal = g, .at = g->value};
    bool root = g->parent == NONE, said = root;
    struct gone_on *gone_on = &diagnosis_of(m)->gone_on, before = *gone_on;
    if (m->state.edits) {
        skip_goal(m, &s);
        return;
    }
    struct kinds there = kinds_at(m, g->value);
    for (uint32_t i = 0; i < g->node->nargs; i++) {
        if (matcher_may_match(m, args[i], g->value))
            continue;
        bool other = is_other(m, args[i], &there), again = other && root && said;
        for (uint32_t k = 0; k < i && other && !again; k++)
            again = same_operands(args[i], args[k]) && is_other(m, args[k], &there);
        if (!again)
            match_alternative(m, g, args[i]);
        said |= other;
        if (other && !root && (args[i]->kind == N_OP || args[i]->kind == N_OUTER))
            *gone_on = (struct gone_on){g->next, g->value, m->state.ntrail};
    }
    *gone_on = before;
}

/* The part of a condition that does not hold, where all parts have to. */
static const struct number *failing_part(struct evaluation *e, const struct number *n) {
    while (n && n->op == NUM_AND)
        n = evaluates_to_true(e, n->a) ? n->b : n->a;
    return n;
}

static void observe_failure(struct matcher *m, enum failure_kind why, const struct goal *g, uint32_t at) {
    struct failure s = {.why = why, .goal = g, .at = at};
    if (why == FAILED_WHERE) {
        struct evaluation e = matcher_evaluation(m, m->root_axes);
        s.condition = m->failed_condition;
        s.part = failing_part(&e, s.condition);
    }
    if (why == FAILED_LINE)
        s.line = m->pattern->formula.also[m->state.line - 1].node;
    skip_goal(m, &s);
}

/* The op is of the right operator, but something of it is wrong. Notes what the rest of the formula comes to without
 * this goal (skip_goal), then lets the search go on at the op's operands as if it fitted. At most one goal is excused
 * in this way: where it is this one again it goes on, beside another one it stops. */
static enum after_failure observe_wrong(struct matcher *m, enum failure_kind why, const struct goal *g, uint32_t op) {
    const struct failure s = {.why = why, .goal = g, .at = op}, *first = first_of(m);
    if (first && first->detour == DETOUR_AS_IF && first->why == why && first->at == op)
        return SEARCH_GOES_ON;
    skip_goal(m, &s);
    if (first || m->full)
        return SEARCH_STOPS;
    edit(m, &s, DETOUR_AS_IF);
    return SEARCH_GOES_ON;
}

static void observe_end(struct matcher *m) {
    record(m, first_of(m), NULL);
}

/* Conditions of one key of a pattern. */
struct condition_list {
    enum failure_kind why;
    const struct number *const *list;
    uint32_t n;
    bool must_hold;
};

static bool objects(struct matcher *m, struct evaluation *e, const struct pattern *p, const struct condition_list *c) {
    for (uint32_t i = 0; i < c->n; i++)
        if ((evaluate(e, c->list[i]) != 0) != c->must_hold) {
            const struct number *part = c->must_hold ? failing_part(e, c->list[i]) : c->list[i];
            struct failure s = {.why = c->why, .at = NONE, .condition = c->list[i], .part = part, .pattern = p};
            record(m, &s, NULL);
            return true;
        }
    return false;
}

static void observe_verdict(struct matcher *m, struct evaluation *e, const struct pattern *p) {
    const struct condition_list all[] = {
        {FAILED_WHERE, p->where, p->nwhere, true},
        {FAILED_REQUIRE, p->require, p->nrequire, true},
        {FAILED_UNLESS, p->unless, p->nunless, false},
        {FAILED_DECOMPOSED, p->decomposed, p->show_decomposed ? 0 : p->ndecomposed, false},
    };
    const struct pattern *only = diagnosis_of(m)->only;
    if (only && only != p) { /* of the patterns that share a formula only the first one's `where` is searched with */
        objects(m, e, only, &all[0]);
        return;
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (objects(m, e, p, &all[i]))
            return;
    for (uint32_t i = 0; !p->show_blocked && i < p->nblock; i++)
        if (!p->block[i].when || evaluate(e, p->block[i].when) != 0) {
            const struct number *when = p->block[i].when;
            struct failure s = {.why = FAILED_BLOCKED, .at = NONE, .condition = when, .part = when, .pattern = p};
            s.why_blocked = p->block[i].say;
            record(m, &s, NULL);
            return;
        }
}

/* ---- searches ---- */

static bool may_be_root(const struct pattern *p, const struct graph *g, uint32_t op, uint32_t func) {
    return node_is(p->formula.root, (enum op_kind)g->kind[op]) && g->m->ops[op].func == func &&
           g->m->ops[op].nresults == 1;
}

/* Of a search that hit its step limit nothing else is known. */
static void given_up(struct matcher *m, uint32_t op, struct near_miss *out) {
    struct failure s = {.why = FAILED_LIMIT, .at = op};
    *out = (struct near_miss){.pattern = shown(m), .graph = m->g, .func = m->func, .op = NONE};
    reason_of(m, &s, out);
}

/* What is different at `d->root` where a search has just failed; false where that is not wanted. */
static bool diagnose(struct matcher *m, const struct pattern *p, struct diagnosis *d, struct arena *a) {
    struct search_observer observer = {
        observe_failure, observe_other_op, observe_wrong, observe_end, observe_verdict, observe_other_alternatives, d};
    struct arena *before = m->arena;
    uint64_t limit = m->max_steps;
    bool unknown = m->full;
    *d->best = (struct near_miss){.op = NONE};
    d->gone_on.value = NONE;
    m->observer = &observer;
    m->arena = a;
    if (unknown) {
        given_up(m, d->root, d->best);
    } else {
        m->max_steps = DIAGNOSIS_STEPS;
        match_at(m, p, d->root);
    }
    m->max_steps = limit;
    m->arena = before;
    m->observer = NULL;
    d->best->root = d->root;
    return d->best->reason.n > 0;
}

static void keep(struct near_misses *list, const struct near_miss *c, struct arena *a) {
    struct near_miss *kept;
    uint32_t *ops = arena_alloc(a, (c->nops + 1) * sizeof *ops);
    list->items = grow(list->items, &list->cap, list->n + 1, sizeof *list->items);
    kept = &list->items[list->n++];
    *kept = *c;
    if (c->nops)
        memcpy(ops, c->ops, c->nops * sizeof *ops);
    kept->ops = ops;
    kept->part = arena_str(a, c->part);
    kept->reason = arena_str(a, c->reason);
}

/* An audit finds nothing there, for all that is known. */
static bool has_match(struct matcher *m, const uint64_t *roots, uint32_t i, const struct pattern *p, uint32_t op) {
    m->full = false;
    return (!roots || roots[i / 64] >> (i % 64) & 1) && match_at(m, p, op);
}

/* Of one formula, by what the ops of a graph are. */
struct absence {
    const uint64_t *kinds; /* as struct node has them */
    bool visited[MAX_SLOTS], far[MAX_SLOTS];
};

/* It stands for an op that is no arithmetic along axes, such as a convolution or a collective, and no such op is there.
 */
static bool is_nowhere(const struct absence *s, const struct node *n) {
    enum op_class class = op_table[n->op].class;
    bool there = false;
    if (n->kind != N_OP || (class != OP_OPAQUE && class != OP_CONTRACT && class != OP_ALIKE))
        return false;
    for (size_t k = 0; k < sizeof n->kinds / sizeof *n->kinds; k++)
        there |= (n->kinds[k] & s->kinds[k]) != 0;
    return !there;
}

/* However it is matched it needs one of those. */
static bool is_far(struct absence *s, const struct node *n) {
    if (n->kind == N_NAMED && s->visited[n->slot])
        return s->far[n->slot];
    uint32_t nfar = 0;
    for (uint32_t i = 0; i < n->nargs; i++)
        nfar += is_far(s, n->args[i]);
    bool far = is_nowhere(s, n) || (nfar > 0 && (n->kind != N_EITHER || nfar == n->nargs));
    if (n->kind == N_NAMED) {
        s->visited[n->slot] = true;
        s->far[n->slot] = far;
    }
    return far;
}

const bool *near_misses_far(const struct pattern_set *set, const struct graph *g, struct arena *a) {
    uint64_t kinds[(OPERATORS + 63) / 64] = {0};
    bool *far = arena_alloc(a, set->nread + (size_t)1);
    for (uint32_t op = 0; op < g->m->nops; op++)
        if (g->kind[op] < OPERATORS)
            kinds[g->kind[op] / 64] |= 1ull << (g->kind[op] % 64);
    for (uint32_t i = 0; i < set->n; i++) {
        struct absence s = {.kinds = kinds};
        const struct formula *f = &set->items[i]->formula;
        bool needs = set->items[i]->variant_of == NULL && is_far(&s, f->root);
        for (uint32_t k = 0; k < f->nsecondary && !needs; k++)
            needs = !f->also[k].optional && is_far(&s, f->also[k].node);
        far[set->items[i]->order] = needs;
    }
    return far;
}

static void search_at(struct matcher *m, const struct pattern_set *set, uint32_t op, const struct near_query *query,
                      struct near_bound *bound, struct arena *scratch, struct arena *a, struct near_misses *near) {
    uint32_t k = m->g->kind[op], first = set->first_rooted[k];
    const uint64_t *roots = m->ops ? automaton_roots(m->ops, op) : NULL;
    for (uint32_t i = first; i < set->first_rooted[k + 1]; i++) {
        const struct pattern *p = set->rooted[i];
        struct near_miss close = {.op = NONE};
        struct diagnosis d = {.best = &close, .query = query, .root = op};
        if (!(query->far && query->far[p->order]) && node_is(p->formula.root, (enum op_kind)k) &&
            !has_match(m, roots, i - first, p, op) && (m->full || near_bound_allows(bound, p, op)) &&
            diagnose(m, p, &d, scratch))
            keep(near, &close, a);
        arena_reset(scratch);
    }
}

void near_misses_find(const struct pattern_set *set, struct automaton_run *ops, const struct graph *g, uint32_t func,
                      const struct near_query *query, struct arena *a, struct near_misses *near) {
    struct matcher *m = matcher_new(g, func, set->max_steps, a);
    struct near_bound *bound = near_bound_new(m, query);
    struct arena scratch = {0};
    uint32_t first = func == NONE ? 0 : g->m->funcs[func].first_op;
    uint32_t end = func == NONE ? g->m->nops : g->m->funcs[func].end_op;
    m->ops = ops;
    if (ops)
        automaton_run(ops, first, end);
    for (uint32_t op = first; op < end; op++)
        if (g->kind[op] < OPERATORS && g->m->ops[op].func == func && g->m->ops[op].nresults == 1)
            search_at(m, set, op, query, bound, &scratch, a, near);
    arena_free(&scratch);
    near_bound_free(bound);
    matcher_free(m);
}

double near_miss_rank(const struct near_miss *c) {
    return c->total ? (double)c->nops * c->nops / c->total : 0;
}

int near_miss_compare(const void *pa, const void *pb) {
    const struct near_miss *a = pa, *b = pb;
    double x = near_miss_rank(a), y = near_miss_rank(b);
    if (x != y)
        return x > y ? -1 : 1;
    if (a->others != b->others)
        return a->others < b->others ? -1 : 1;
    if (a->whole != b->whole)
        return a->whole ? -1 : 1;
    if (a->root != b->root)
        return a->root < b->root ? -1 : 1;
    return a->pattern->order < b->pattern->order ? -1 : a->pattern->order > b->pattern->order;
}

static bool better(const struct near_miss *a, const struct near_miss *b) {
    double x = near_miss_rank(a), y = near_miss_rank(b);
    if (x != y)
        return x > y;
    return a->others != b->others ? a->others < b->others : a->whole > b->whole;
}

bool near_miss_of(const struct pattern *leader, const struct pattern *p, const struct graph *g, uint32_t func,
                  uint64_t max_steps, struct arena *a, struct near_miss *out) {
    struct matcher *m = matcher_new(g, func, max_steps, a);
    uint32_t first = g->m->funcs[func].first_op, end = g->m->funcs[func].end_op, n = end > first ? end - first : 0;
    bool any = false;
    for (uint32_t i = 0; n > 0 && i / n < 2 && !(any && i >= n); i++) { /* the second time: where no op matches */
        struct near_miss close = {.op = NONE};
        uint32_t op = first + i % n;
        const struct near_query query = {.least = i < n};
        struct diagnosis d = {.best = &close, .only = p, .query = &query, .root = op};
        if (!may_be_root(leader, g, op, func) || match_at(m, leader, op) || !diagnose(m, leader, &d, a))
            continue;
        if (!any || !better(out, &close)) /* of equals the last one: what a function ends with is the likeliest root */
            *out = close;
        any = true;
    }
    matcher_free(m);
    for (uint32_t op = end; !any && op-- > first;)
        if (g->m->ops[op].nresults) { /* the last one is the likeliest root */
            *out = (struct near_miss){.pattern = p, .graph = g, .func = func, .root = op, .op = op, .kind = "operator"};
            out->reason = reason_root(leader, g, op, a);
            any = true;
        }
    return any;
}
