/* The matcher: a list of goals (this part of the formula at that value), worked off depth first with
 * backtracking. What a goal binds, matches or looks through is kept on stacks that are cut back when
 * an alternative fails, so the cost is bounded by the step limit and not by what was tried. */
#include "match/matcher.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Operators below the one at hand: more before a search begins than at each of its steps. */
enum { ROOT_AHEAD = 3, STEP_AHEAD = 0 };

struct mark matcher_mark(const struct matcher *m) {
    return (struct mark){m->at, m->spaces, m->nmatched, m->nlooked_through, m->ntrail, m->npreconditions, m->nties};
}

void matcher_undo(struct matcher *m, struct mark k) {
    while (m->ntrail > k.ntrail) {
        m->ntrail--;
        m->slots[m->trail[m->ntrail].slot] = m->trail[m->ntrail].before;
    }
    m->at = k.at;
    m->spaces = k.spaces;
    m->nmatched = k.nmatched;
    m->nlooked_through = k.nlooked_through;
    m->npreconditions = k.npreconditions;
    m->nties = k.nties;
}

void *matcher_scratch(struct matcher *m, size_t n) {
    n = (n + 15) & ~(size_t)15;
    if (m->at + n > SCRATCH) {
        m->full = true;
        return NULL;
    }
    void *p = m->scratch + m->at;
    m->at += n;
    return p;
}

void matcher_bind(struct matcher *m, uint32_t slot, struct binding b) {
    if (m->ntrail == MAX_TRAIL) {
        m->full = true;
        return;
    }
    m->trail[m->ntrail++] = (struct undo){slot, m->slots[slot]};
    b.line = m->slots[slot].value == NONE ? m->line : m->slots[slot].line;
    m->slots[slot] = b;
}

void matcher_look_through(struct matcher *m, uint32_t op, bool inner) {
    for (uint32_t i = 0; i < m->nlooked_through; i++)
        if (m->looked_through[i].op == op && m->looked_through[i].inner >= inner)
            return;
    if (m->nlooked_through == MAX_THROUGH)
        m->full = true;
    else
        m->looked_through[m->nlooked_through++] = (struct looked_through){op, inner};
}

void matcher_reach(struct matcher *m, uint32_t op) {
    m->lowest = op < m->lowest ? op : m->lowest;
    m->highest = op > m->highest ? op : m->highest;
    m->far |= m->highest - m->lowest > HASH_SPAN;
}

uint32_t matcher_take(struct matcher *m, uint32_t op, const struct goal *g) {
    if (m->nmatched == MAX_MATCHED) {
        m->full = true;
        return 0;
    }
    uint32_t depth = g->parent == NONE ? 0 : m->matched[g->parent].depth + 1;
    m->far |= depth + 2 >= HASH_DEPTH;
    matcher_reach(m, op);
    m->matched[m->nmatched] = (struct matched){op, g->parent, g->arg, depth};
    return m->nmatched++;
}

struct goal *matcher_goal(struct matcher *m, const struct goal *of, const struct node *node, uint32_t value,
                          const struct imap *map, const struct axes *axes, const struct goal *next) {
    struct goal *c = matcher_scratch(m, sizeof *c);
    if (c)
        *c = (struct goal){.node = node,
                           .value = value,
                           .map = map,
                           .axes = axes,
                           .outer = of->outer,
                           .slot = NONE,
                           .parent = of->parent,
                           .turned = of->turned,
                           .inside = of->inside,
                           .next = next};
    return c;
}

/* ---- a look ahead, before any index is computed ---- */

static bool value_plausible(const struct matcher *m, const struct node *node, uint32_t value, int ahead);

static bool operands_plausible(const struct matcher *m, const struct node *n, uint32_t op, int ahead) {
    const uint32_t *v = graph_operands(m->g, op);
    uint32_t have = graph_noperands(m->g, op);
    bool either_way = n->kind == N_OUTER || (op_table[n->op].flags & COMMUTES);
    bool straight = true, crossed = n->nargs == 2 && have == 2 && either_way;
    for (uint32_t i = 0; straight && i < n->nargs && i < have; i++)
        straight = v[i] != NONE && value_plausible(m, n->args[i], v[i], ahead);
    if (straight)
        return true;
    for (uint32_t i = 0; crossed && i < 2; i++)
        crossed = v[1 - i] != NONE && value_plausible(m, n->args[i], v[1 - i], ahead);
    return crossed;
}

/* Can this op be what the node stands for, by the kinds of the ops that it is made of, `ahead` of them deep? */
static bool op_plausible(const struct matcher *m, const struct node *n, uint32_t op, int ahead) {
    if (n->kind == N_NAMED && m->slots[n->slot].value != NONE)
        return true;
    if (!node_may_be(n, (enum op_kind)m->g->kind[op]))
        return false;
    if (n->kind == N_NAMED || n->kind == N_EITHER || n->kind == N_TRANSPOSED || n->kind == N_RESULT) {
        for (uint32_t i = 0; i < n->nargs; i++)
            if (op_plausible(m, n->args[i], op, ahead))
                return true;
        return false;
    }
    /* the operands of a contraction may be swapped: see there */
    return ahead == 0 || graph_class(m->g, op) == OP_CONTRACT || operands_plausible(m, n, op, ahead - 1);
}

static bool value_plausible(const struct matcher *m, const struct node *node, uint32_t value, int ahead) {
    const struct graph *g = m->g;
    if (node->kind == N_NUMBER)
        return node->given || graph_constant(g, value).known;
    if (node->any || (node->kind == N_NAMED && m->slots[node->slot].value != NONE))
        return true;
    for (uint32_t step = 0; step <= MAX_CHAIN; step++) {
        uint32_t op = g->m->values[value].def;
        if (op == NONE)
            return false;
        uint32_t next = graph_through(g, op);
        if (next == NONE || (graph_class(g, op) == OP_ELTWISE && op_plausible(m, node, op, ahead)))
            return next != NONE || op_plausible(m, node, op, ahead);
        value = next;
    }
    return false; /* so much movement is not looked through */
}

bool matcher_plausible(const struct matcher *m, const struct node *node, uint32_t value) {
    return m->diagnosis || value_plausible(m, node, value, STEP_AHEAD); /* a probe wants to know where it fails */
}

/* ---- values seen through movement ---- */

uint32_t matcher_chain(const struct graph *g, uint32_t value, const struct imap *map, struct link *out, uint32_t max) {
    uint32_t n = 0;
    out[n].value = value;
    out[n].op = NONE;
    imap_copy(&out[n].map, map);
    imap_canonical(&out[n++].map);
    while (n < max) {
        uint32_t op = g->m->values[out[n - 1].value].def;
        if (op == NONE || !graph_looks_through(g, op) || !imap_through(g, op, &out[n - 1].map, &out[n].map))
            break;
        imap_canonical(&out[n].map);
        out[n].value = graph_through(g, op);
        out[n++].op = op;
    }
    return n;
}

static void pass_links(struct matcher *m, const struct link *links, uint32_t n, bool inner) {
    for (uint32_t i = 1; i <= n; i++)
        matcher_look_through(m, links[i].op, inner);
}

static const struct imap *keep_map(struct matcher *m, const struct imap *map) {
    struct imap *copy = matcher_scratch(m, sizeof *copy);
    if (copy)
        imap_copy(copy, map);
    return copy;
}

/* A map over an index of its own, below an op that nothing is known of: the value as a whole is meant. */
static bool is_whole(const struct imap *map) {
    return map->n == 1 && map->t[0].space > FRESH_SPACE + MAX_FRESH;
}

/* The second occurrence of a name: the same element of the same value, seen from both. The name moves down to
 * where the two roads part. */
static bool same_value(struct matcher *m, const struct goal *g, uint32_t slot) {
    struct binding b = m->slots[slot];
    if (g->value == b.value && imap_equal(g->map, b.map))
        return true;
    struct link *here = matcher_scratch(m, MAX_CHAIN * sizeof *here),
                *there = matcher_scratch(m, MAX_CHAIN * sizeof *there);
    if (!here || !there)
        return false;
    uint32_t n = matcher_chain(m->g, g->value, g->map, here, MAX_CHAIN),
             k = matcher_chain(m->g, b.value, b.map, there, MAX_CHAIN);
    bool variable = m->pattern->formula.slot_is_variable[slot];
    bool may_move = variable || b.op == NONE; /* a name for another name stands where it was met */
    bool by_index = b.line == m->line && !is_whole(b.map) && !is_whole(g->map);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < k; j++) {
            if (here[i].value != there[j].value || (by_index && !imap_equal(&here[i].map, &there[j].map)))
                continue;
            if (!may_move && j > 0)
                continue; /* a named value is an op's result: the other road must lead to it */
            pass_links(m, here, i, !variable);
            if (may_move) {
                pass_links(m, there, j, !variable);
                const struct imap *map = keep_map(m, &there[j].map);
                if (map)
                    matcher_bind(m, slot, (struct binding){there[j].value, b.op, map, b.axes, 0});
            }
            return !m->full;
        }
    return false;
}

/* What a value is stored like: the last axis of the formula innermost. */
bool last_axis_innermost(const struct imap *map, const struct axes *axes) {
    struct imap last;
    axes_axis(axes, -1, &last);
    for (uint32_t i = 0; i < map->n; i++)
        if (map->t[i].stride == 1)
            return imap_within(&(struct imap){1, {map->t[i]}}, &last);
    return true;
}

/* Number of links that belong to the formula rather than to the variable: an expansion, and under transposed() the
 * movement that turned the axes. Only what nobody else uses. */
static uint32_t own_links(const struct matcher *m, const struct goal *g, const struct link *links, uint32_t n) {
    uint32_t take = 0;
    bool turned = g->turned && !last_axis_innermost(&links[0].map, g->axes);
    for (uint32_t i = 1; i < n && graph_nuses(m->g, links[i - 1].value) == 1; i++) {
        bool expands = graph_numel(m->g, links[i].value) < graph_numel(m->g, links[i - 1].value);
        bool turns = turned && last_axis_innermost(&links[i].map, g->axes);
        if (expands || turns)
            take = i;
        turned &= !turns;
    }
    return take;
}

/* How many links may be the formula's own, told without their maps: most variables have none. */
static uint32_t own_reach(const struct matcher *m, const struct goal *g) {
    bool turned = g->turned && !last_axis_innermost(g->map, g->axes);
    uint32_t value = g->value, reach = 0;
    for (uint32_t i = 1; i < MAX_CHAIN && graph_nuses(m->g, value) == 1; i++) {
        uint32_t op = m->g->m->values[value].def;
        if (op == NONE || !graph_looks_through(m->g, op))
            break;
        uint32_t next = graph_through(m->g, op);
        if (turned || graph_numel(m->g, next) < graph_numel(m->g, value))
            reach = i;
        value = next;
    }
    return reach;
}

static bool bound_again(struct matcher *m, const struct goal *g, uint32_t slot) {
    return same_value(m, g, slot) ? matcher_solve(m, g->next) : matcher_failed(m, FAILED_SAME, g, g->value);
}

static bool newly_bound(struct matcher *m, const struct goal *g, uint32_t slot) {
    return match_still_fits(m, slot) ? matcher_solve(m, g->next) : matcher_failed(m, FAILED_WHERE, g, g->value);
}

/* A variable stands for the value at hand, or for what was there before it was repeated, broadcast or turned. */
static bool bind_variable(struct matcher *m, const struct goal *g) {
    uint32_t slot = g->node->slot;
    if (m->slots[slot].value != NONE)
        return bound_again(m, g, slot);
    uint32_t reach = own_reach(m, g);
    if (reach == 0) {
        matcher_bind(m, slot, (struct binding){g->value, NONE, g->map, g->axes, 0});
        return newly_bound(m, g, slot);
    }
    struct link *links = matcher_scratch(m, (reach + 1) * sizeof *links);
    if (!links)
        return false;
    uint32_t n = matcher_chain(m->g, g->value, g->map, links, reach + 1), take = own_links(m, g, links, n);
    pass_links(m, links, take, false);
    const struct imap *map = keep_map(m, &links[take].map);
    if (!map)
        return false;
    matcher_bind(m, slot, (struct binding){links[take].value, NONE, map, g->axes, 0});
    return newly_bound(m, g, slot);
}

static bool named_value(struct matcher *m, const struct goal *g) {
    uint32_t slot = g->node->slot;
    if (m->slots[slot].value != NONE)
        return bound_again(m, g, slot);
    struct goal *c = matcher_goal(m, g, g->node->args[0], g->value, g->map, g->axes, g->next);
    if (!c)
        return false;
    c->arg = g->arg;
    c->slot = slot;
    matcher_bind(m, slot, (struct binding){g->value, NONE, g->map, g->axes, 0});
    return !m->full && matcher_solve(m, c);
}

/* ---- numbers ---- */

struct evaluation matcher_evaluation(struct matcher *m, const struct axes *axes) {
    return (struct evaluation){.graph = m->g,
                               .formula = &m->pattern->formula,
                               .bindings = m->slots,
                               .axes = axes,
                               .arena = m->arena,
                               .templates = m->templates.arena ? &m->templates : NULL,
                               .brief = !m->detail,
                               .preconditions = m->preconditions,
                               .npreconditions = &m->npreconditions,
                               .ties = m->detail ? m->ties : NULL,
                               .nties = &m->nties,
                               .max_ties = MAX_TIES,
                               .far = &m->far,
                               .told = &m->told,
                               .slices = &m->slices,
                               .max_preconditions = MAX_PRECONDITIONS};
}

/* Equal up to the rounding of the narrowest format on the constant's way (half a unit in the last place, doubled for
 * a computation in between), and as near as people print a number. */
bool close_to(double actual, double expected, int bits) {
    if (actual == expected)
        return true;
    double tolerance = ldexp(1, bits < 1 + AS_PRINTED ? 1 - bits : -AS_PRINTED);
    return isfinite(actual) && isfinite(expected) && fabs(actual - expected) <= fabs(expected) * tolerance;
}

static double rounded(double x, int bits) {
    int exponent;
    double fraction = frexp(x, &exponent);
    return ldexp(nearbyint(ldexp(fraction, bits)), exponent - bits);
}

/* The next whole number is often within the error of a narrow format: here it has to be another number. So what is
 * printed with more digits than the format has is taken at its word. */
bool counts_as(double actual, double expected, double count, int bits) {
    if (!isfinite(actual) || !isfinite(expected))
        return false;
    double near = fmin(ldexp(1, -AS_PRINTED), 1 / (16 * count));
    if (fabs(actual - expected) <= fabs(expected) * near)
        return true;
    if (bits < 8) /* a shared exponent: what it rounds to depends on other elements */
        return fabs(actual - expected) <= fabs(expected) * ldexp(1, -bits);
    double kept = rounded(actual, bits);
    return fabs(actual - kept) <= fabs(kept) * near && kept == rounded(expected, bits);
}

/* A number of a formula; what may be `given` counts elements. */
static bool number_is(const struct node *n, struct constant c, double expected) {
    int bits = c.bits > 24 ? 24 : c.bits;
    if (!c.known)
        return false;
    return n->given ? counts_as(c.value, expected, fmax(expected, 1 / expected), bits)
                    : close_to(c.value, expected, bits);
}

static bool number(struct matcher *m, const struct goal *g) {
    struct evaluation e = matcher_evaluation(m, g->axes);
    double expected = evaluate(&e, g->node->number);
    struct constant c = graph_constant(m->g, g->value);
    if (number_is(g->node, c, expected)) {
        evaluation_tie(&e, g->value, expected, false);
        return matcher_solve(m, g->next);
    }
    uint32_t argument = g->node->given ? graph_argument(m->g, g->value) : NONE;
    if (isnan(expected) || c.known || argument == NONE || graph_argument_is_input(m->g, argument) ||
        m->npreconditions == MAX_PRECONDITIONS)
        return matcher_failed(m, FAILED_NUMBER, g, g->value);
    struct str text = precondition_label(&e, argument);
    evaluation_tie(&e, g->value, expected, true);
    if (!e.brief)
        text = arena_printf(m->arena, "every element of %.*s is %.9g", (int)text.n, text.p, expected);
    bool stated = false;
    for (uint32_t i = 0; i < m->npreconditions; i++)
        stated |= str_eq(m->preconditions[i], text);
    if (!stated)
        m->preconditions[m->npreconditions++] = text;
    return matcher_solve(m, g->next);
}

static bool operation(struct matcher *m, const struct goal *g) {
    const struct graph *gr = m->g;
    uint32_t value = g->value;
    const struct imap *map = g->map;
    for (uint32_t step = 0; step <= MAX_CHAIN; step++) {
        uint32_t op = gr->m->values[value].def;
        if (op == NONE)
            return m->diagnosis && diagnose_operator(m, g, value, map);
        struct mark k = matcher_mark(m);
        if (match_op(m, g, value, map))
            return true;
        matcher_undo(m, k);
        bool anchor = g->parent == NONE;
        struct imap *next = matcher_scratch(m, sizeof *next);
        if (anchor || !graph_looks_through(gr, op) || !next || !imap_through(gr, op, map, next))
            return m->diagnosis && diagnose_operator(m, g, value, map);
        imap_canonical(next);
        matcher_look_through(m, op, true);
        value = graph_through(gr, op);
        map = next;
    }
    return false;
}

static bool either(struct matcher *m, const struct goal *g) {
    for (uint32_t i = 0; i < g->node->nargs; i++) {
        if (!matcher_plausible(m, g->node->args[i], g->value))
            continue;
        struct mark k = matcher_mark(m);
        struct goal *c = matcher_goal(m, g, g->node->args[i], g->value, g->map, g->axes, g->next);
        if (!c)
            return false;
        c->slot = g->slot;
        c->arg = g->arg;
        if (matcher_solve(m, c))
            return true;
        matcher_undo(m, k);
    }
    return false;
}

static bool transposed(struct matcher *m, const struct goal *g) {
    struct axes *axes = matcher_scratch(m, sizeof *axes);
    struct imap last, before;
    if (!axes || g->axes->n < 2)
        return false;
    axes_copy(axes, g->axes);
    axes_axis(g->axes, -1, &last);
    axes_axis(g->axes, -2, &before);
    axes->n -= 2;
    if (!axes_add(axes, last.t, last.n) || !axes_add(axes, before.t, before.n))
        return false;
    struct goal *c = matcher_goal(m, g, g->node->args[0], g->value, g->map, axes, g->next);
    if (!c)
        return false;
    c->arg = g->arg;
    c->turned = !g->turned;
    return matcher_solve(m, c);
}

/* result(s, k): result k of the op that s is the first result of. */
static bool further_result(struct matcher *m, const struct goal *g) {
    const struct graph *gr = m->g;
    uint32_t value = g->value, op = gr->m->values[value].def;
    const struct imap *map = g->map;
    for (uint32_t step = 0; step < MAX_CHAIN && op != NONE && graph_looks_through(gr, op); step++) {
        struct imap *next = matcher_scratch(m, sizeof *next);
        if (!next || !imap_through(gr, op, map, next))
            return false;
        imap_canonical(next);
        matcher_look_through(m, op, true);
        value = graph_through(gr, op);
        op = gr->m->values[value].def;
        map = next;
    }
    if (op == NONE || value != gr->m->ops[op].first_result + g->node->result)
        return matcher_failed(m, FAILED_RESULT, g, value);
    const struct node *of = g->node->args[0];
    if (of->kind == N_NAMED && m->slots[of->slot].value != NONE)
        return m->slots[of->slot].op == op && matcher_solve(m, g->next);
    struct goal *c = matcher_goal(m, g, of, gr->m->ops[op].first_result, map, g->axes, g->next);
    if (!c)
        return false;
    c->arg = g->arg;
    return matcher_solve(m, c);
}

bool matcher_solve(struct matcher *m, const struct goal *g) {
    if (m->full || m->refused)
        return false;
    if (++m->steps > m->max_steps) {
        m->full = true;
        return false;
    }
    if (!g)
        return match_secondary(m);
    switch (g->node->kind) {
    case N_OP:
    case N_OUTER:
        return operation(m, g);
    case N_VARIABLE:
        return bind_variable(m, g);
    case N_NAMED:
        return named_value(m, g);
    case N_NUMBER:
        return number(m, g);
    case N_EITHER:
        return either(m, g);
    case N_RESULT:
        return further_result(m, g);
    case N_TRANSPOSED:
        return transposed(m, g);
    }
    return false;
}

/* The root op and its operands, looked at before a search is set up. */
bool matcher_root_plausible(const struct matcher *m, const struct node *n, uint32_t op) {
    if (n->kind == N_NAMED || n->kind == N_EITHER || n->kind == N_TRANSPOSED || n->kind == N_RESULT) {
        for (uint32_t i = 0; i < n->nargs; i++)
            if (matcher_root_plausible(m, n->args[i], op))
                return true;
        return false;
    }
    if (n->kind != N_OP && n->kind != N_OUTER)
        return false;
    return node_is(n, (enum op_kind)m->g->kind[op]) && operands_plausible(m, n, op, ROOT_AHEAD);
}

/* The formula's axes at a root are the dimensions of its tensor. Trailing ones of a single element, which a reshape put
 * there, count as leading ones: the last axis is one along which something varies. */
bool matcher_root_axes(const struct imap *map, const int64_t *shape, uint32_t rank, struct axes *out) {
    struct axes c;
    uint32_t last = rank;
    if (!imap_coordinates(map, shape, rank, &c))
        return false;
    while (last > 0 && shape[last - 1] == 1)
        last--;
    axes_clear(out);
    for (uint32_t d = last; d < rank; d++)
        if (!axes_add(out, NULL, 0))
            return false;
    for (uint32_t d = 0; d < last; d++)
        if (!axes_add(out, c.t + axes_begin(&c, d), c.end[d] - axes_begin(&c, d)))
            return false;
    return true;
}

/* Tries one pattern with its root at one op. */
bool match_at(struct matcher *m, const struct pattern *p, uint32_t op) {
    matcher_undo(m, (struct mark){0, 0, 0, 0, 0, 0, 0});
    m->pattern = p;
    m->steps = 0;
    m->full = m->refused = false;
    m->far = false;
    m->told.n = 0;
    m->line = m->nfresh = m->nseen = 0;
    m->lowest = m->highest = op;
    m->found.nops = 0;
    if (!m->diagnosis && !matcher_root_plausible(m, p->formula.root, op)) /* whose op is of the right kind anyway */
        return false;
    uint32_t root = m->g->m->ops[op].first_result, rank;
    const int64_t *shape = graph_shape(m->g, root, &rank);
    int64_t numel = graph_numel(m->g, root);
    if (!shape || numel < 1 || rank > MAX_RANK)
        return false;
    struct imap *map = matcher_scratch(m, sizeof *map);
    struct axes *axes = matcher_scratch(m, sizeof *axes);
    imap_identity(map, 0, numel);
    if (!matcher_root_axes(map, shape, rank, axes))
        return false;
    m->root_axes = axes;
    struct goal first = {
        .node = p->formula.root, .value = root, .map = map, .axes = axes, .slot = NONE, .parent = NONE};
    return matcher_solve(m, &first);
}

struct matcher *matcher_new(const struct graph *g, uint32_t func, uint64_t max_steps, struct arena *a) {
    struct matcher *m = xrealloc(NULL, sizeof *m);
    memset(m, 0, offsetof(struct matcher, slots));
    m->g = g;
    m->func = func;
    m->arena = a;
    m->max_steps = max_steps ? max_steps : MAX_STEPS;
    m->scratch = xrealloc(NULL, SCRATCH);
    memset(m->contraction_ops, 0xff, sizeof m->contraction_ops);
    slice_memo_clear(&m->slices);
    for (uint32_t i = 0; i < MAX_SLOTS; i++) /* and so they are again when a search is undone */
        m->slots[i] = (struct binding){NONE, NONE, NULL, NULL, 0};
    return m;
}

void matcher_free(struct matcher *m) {
    hashes_free(m->alike);
    free(m->scratch);
    free(m);
}

static void add_match(struct match_list *out, const struct match *found) {
    out->items = grow(out->items, &out->cap, out->n + 1, sizeof *out->items);
    out->items[out->n++] = *found;
}

struct matcher *match_searcher_new(const struct graph *g, struct match_cache *memory, struct arena *a) {
    struct matcher *m = matcher_new(g, NONE, 0, a);
    m->alike = hashes_new(g, memory);
    return m;
}

/* One pattern at one op, unless a place that is alike has told what comes of it. */
static void match_root(struct matcher *m, struct cache_bucket *place, const struct pattern *p, uint32_t index,
                       uint32_t op, struct match_list *out) {
    struct match again = {.graph = m->g, .func = m->func};
    uint64_t bit = 1ull << index % 64;
    bool kept = index < CACHE_PATTERNS && !m->forget;
    enum cache_answer known = kept ? cache_lookup(m->alike, place, index, op, m->arena, &again) : CACHE_UNKNOWN;
    if (known == CACHE_FOUND)
        add_match(out, &again);
    if (known != CACHE_UNKNOWN)
        return;
    bool ok = match_at(m, p, op);
    out->steps += m->steps;
    out->gave_up += m->full;
    kept &= !m->far && !m->full;
    if (ok)
        add_match(out, &m->found);
    const struct match *found = m->found.nops ? &m->found : NULL;
    if (!kept || (!found && m->told.n > 0))
        return;
    if (found || m->nseen > 0)
        cache_store(m->alike, place, &(struct search_result){index, op, found, &m->told, m->seen, m->nseen});
    else
        place->failed[index / 64] |= bit;
}

static void match_place(struct matcher *m, struct pattern *const *patterns, uint32_t n, uint32_t op,
                        struct match_list *out) {
    struct cache_bucket *place = cache_bucket(m->alike, op);
    for (uint32_t from = 0; from < n; from += 64) {
        uint64_t left = n - from < 64 ? (1ull << (n - from)) - 1 : ~0ull;
        if (from < CACHE_PATTERNS && !m->forget)
            left &= ~place->failed[from / 64];
        for (; left; left &= left - 1) {
            uint32_t i = from + (uint32_t)__builtin_ctzll(left);
            match_root(m, place, patterns[i], i, op, out);
        }
    }
}

void match_search(struct matcher *m, const struct pattern_set *set, uint32_t func, struct match_list *out) {
    const struct graph *g = m->g;
    uint32_t first = func == NONE ? 0 : g->m->funcs[func].first_op;
    uint32_t end = func == NONE ? g->m->nops : g->m->funcs[func].end_op;
    m->func = func;
    m->forget = set->forget;
    m->max_steps = set->max_steps ? set->max_steps : MAX_STEPS;
    hashes_function(m->alike, first, end);
    for (uint32_t op = first; op < end; op++) {
        uint32_t i = set->first_rooted[g->kind[op]], n = set->first_rooted[g->kind[op] + 1] - i;
        if (n > 0 && g->m->ops[op].func == func && g->m->ops[op].nresults == 1)
            match_place(m, set->rooted + i, n, op, out);
    }
}

void match_function(const struct pattern_set *set, const struct graph *g, uint32_t func, struct arena *a,
                    struct match_list *out) {
    struct matcher *m = match_searcher_new(g, NULL, a);
    match_search(m, set, func, out);
    binding_query_free(m);
}

struct matcher *binding_query_new(const struct graph *g, struct arena *a) {
    struct matcher *m = matcher_new(g, NONE, UINT64_MAX, a);
    m->templates.arena = a;
    return m;
}

void binding_query_run(struct matcher *query, const struct match *match, struct arena *a, struct match_detail *out) {
    memset(out, 0, sizeof *out);
    query->func = match->func;
    query->arena = a;
    query->detail = out;
    match_at(query, match->pattern->is_variant ? match->pattern->variant_of : match->pattern, match->root);
}

void binding_query_free(struct matcher *query) {
    if (query)
        matcher_free(query);
}

void match_details(const struct match *match, struct arena *a, struct match_detail *out) {
    struct matcher *m = binding_query_new(match->graph, a);
    binding_query_run(m, match, a, out);
    binding_query_free(m);
}

bool match_axis_is_cut(const struct imap *axis) {
    bool cut = axis->n > 0;
    for (uint32_t i = 0; i < axis->n; i++)
        cut &= axis->t[i].space >= FRESH_SPACE && axis->t[i].space <= FRESH_SPACE + MAX_FRESH;
    return cut;
}

static const struct imap *kept_map(struct arena *a, const struct imap *map) {
    struct imap *copy = map ? arena_alloc(a, sizeof *copy) : NULL;
    if (copy)
        imap_copy(copy, map);
    return copy;
}

static const struct axes *kept_axes(struct arena *a, const struct axes *axes) {
    struct axes *copy = axes ? arena_alloc(a, sizeof *copy) : NULL;
    if (copy)
        axes_copy(copy, axes);
    return copy;
}

/* A search that succeeded leaves what it bound in place. */
bool match_bindings(const struct match *match, struct arena *a, struct match_bound *out) {
    struct match_detail detail;
    struct matcher *m = binding_query_new(match->graph, a);
    const struct pattern *p = match->pattern->is_variant ? match->pattern->variant_of : match->pattern;
    m->func = match->func;
    m->detail = &detail;
    bool found = match_at(m, p, match->root);
    struct binding *slots = arena_alloc(a, MAX_SLOTS * sizeof *slots);
    struct tie *ties = arena_alloc(a, MAX_TIES * sizeof *ties);
    for (uint32_t i = 0; found && i < p->formula.nslots; i++) {
        slots[i] = m->slots[i];
        slots[i].map = kept_map(a, m->slots[i].map);
        slots[i].axes = kept_axes(a, m->slots[i].axes);
    }
    memcpy(ties, m->ties, m->nties * sizeof *ties);
    *out = (struct match_bound){slots, found ? p->formula.nslots : 0, ties, m->nties};
    binding_query_free(m);
    return found;
}
