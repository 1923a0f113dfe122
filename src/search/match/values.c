/* The nodes of a formula that are no operators: names, numbers, alternatives, further results. */
#include "search/match/matcher.h"

#include <math.h>

/* The first n links were looked through. */
static void look_through_links(struct matcher *m, const struct link *links, uint32_t n, bool inner) {
    for (uint32_t i = 1; i <= n; i++)
        matcher_look_through(m, links[i].op, inner);
}

static const struct imap *keep_map(struct matcher *m, const struct imap *map) {
    struct imap *copy = matcher_scratch(m, sizeof *copy);
    if (copy)
        imap_copy(copy, map);
    return copy;
}

/* Below an op that nothing is known of, a map runs over the value's own index: the value as a whole is meant. */
static bool is_whole(const struct imap *map) {
    return map->n == 1 && map->t[0].space >= WHOLE_SPACE;
}

/* Without the axes of the formula along which the value is the same. What is printed along one axis only stays: a row
 * of one number is a row. */
const struct imap *matcher_needed_map(struct matcher *m, const struct goal *g, uint32_t value, const struct imap *map) {
    struct imap needed, equal, axis;
    uint32_t naxes = 0;
    if (is_whole(map) || !imap_split(m->g, value, map, &needed, &equal))
        return map;
    bool varies = needed.n > 0;
    bool stays[MAX_TERMS] = {false};
    for (int i = 0; i < (int)g->axes->n; i++) {
        axes_axis(g->axes, i, &axis);
        naxes += imap_touches(map, &axis);
        for (uint32_t k = 0; k < equal.n && imap_touches(&needed, &axis); k++)
            stays[k] |= imap_touches(&(struct imap){1, {equal.t[k]}}, &axis);
    }
    if (!varies && naxes == 1)
        return map;
    for (uint32_t k = 0; k < equal.n && needed.n < MAX_TERMS; k++)
        if (stays[k])
            needed.t[needed.n++] = equal.t[k];
    imap_canonical(&needed);
    return keep_map(m, &needed);
}

/* The name stands for the value from here on. */
static void bind_variable(struct matcher *m, const struct goal *g, uint32_t slot, struct binding b) {
    b.needed = matcher_needed_map(m, g, b.value, b.map);
    if (b.needed)
        matcher_bind(m, slot, b);
}

/* A name that occurs again has to be the same element of the same value. Both occurrences are followed up through
 * movement to a common value; the name of a variable then stands for that. */
static bool same_value(struct matcher *m, const struct goal *g, uint32_t slot) {
    struct binding b = m->state.slots[slot];
    if (g->value == b.value && match_same_elements(m->g, b.value, g->map, g->axes, b.map, b.axes))
        return true;
    struct link *here = matcher_scratch(m, MAX_CHAIN * sizeof *here),
                *there = matcher_scratch(m, MAX_CHAIN * sizeof *there);
    if (!here || !there)
        return false;
    uint32_t n = movement_chain(m->g, g->value, g->map, here, MAX_CHAIN),
             k = movement_chain(m->g, b.value, b.map, there, MAX_CHAIN);
    bool variable = m->pattern->formula.slots[slot].is_variable;
    bool may_move = variable || b.op == NONE; /* a name for another name is no op either */
    bool by_index = b.line == m->state.line && !is_whole(b.map) && !is_whole(g->map);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < k; j++) {
            if (here[i].value != there[j].value ||
                (by_index && !match_same_elements(m->g, here[i].value, &here[i].map, g->axes, &there[j].map, b.axes)))
                continue;
            if (!may_move && j > 0)
                continue; /* a named value is an op's result and stays: this occurrence has to lead to it */
            look_through_links(m, here, i, !variable);
            if (may_move) {
                look_through_links(m, there, j, !variable);
                const struct imap *map = keep_map(m, &there[j].map);
                if (map)
                    bind_variable(m, g, slot,
                                  (struct binding){.value = there[j].value, .op = b.op, .map = map, .axes = b.axes});
            }
            return !m->full;
        }
    return false;
}

static uint32_t rank_of(const struct matcher *m, const struct link *l) {
    uint32_t rank = 0;
    return graph_shape(m->g, l->value, &rank) ? rank : 0;
}

/* What the second link is made of has no more dimensions than the first one: the one that is broadcast was added. */
static bool adds_dimension(const struct matcher *m, const struct link *first, const struct link *at) {
    return graph_nuses(m->g, at[0].value) == 1 && rank_of(m, at) > rank_of(m, first) &&
           rank_of(m, at + 1) == rank_of(m, first) && graph_numel(m->g, at[0].value) == graph_numel(m->g, at[1].value);
}

/* How many links belong to the formula rather than to the variable: a broadcast, and under transposed() the movement
 * that exchanged the axes; only as long as nobody else uses the values between. */
static uint32_t own_links(const struct matcher *m, const struct goal *g, const struct link *links, uint32_t n) {
    uint32_t take = 0;
    bool expanded = false;
    bool turned = g->turned && !last_axis_innermost(&links[0].map, g->axes);
    for (uint32_t i = 1; i < n && graph_nuses(m->g, links[i - 1].value) == 1; i++) {
        bool expands = graph_numel(m->g, links[i].value) < graph_numel(m->g, links[i - 1].value);
        bool turns = turned && last_axis_innermost(&links[i].map, g->axes);
        if (expands || turns)
            take = i;
        expanded = take == i ? expands : expanded;
        turned &= !turns;
    }
    return take + (expanded && take + 1 < n && adds_dimension(m, links, links + take));
}

static enum search_outcome bound_again(struct matcher *m, const struct goal *g, uint32_t slot) {
    return same_value(m, g, slot) ? matcher_solve(m, g->next) : matcher_failed(m, FAILED_SAME, g, g->value);
}

/* A variable stands for the value at hand, or for what was there before it was broadcast or transposed. */
static const struct imap *variable_value(struct matcher *m, const struct goal *g, uint32_t *value) {
    struct link links[MAX_CHAIN];
    uint32_t n = movement_chain(m->g, g->value, g->map, links, MAX_CHAIN), take = own_links(m, g, links, n);
    look_through_links(m, links, take, false);
    *value = links[take].value;
    return take ? keep_map(m, &links[take].map) : g->map;
}

enum search_outcome match_variable(struct matcher *m, const struct goal *g) {
    uint32_t slot = g->node->slot, value;
    if (m->state.slots[slot].value != NONE)
        return bound_again(m, g, slot);
    const struct imap *map = variable_value(m, g, &value);
    if (!map)
        return MISSED;
    bind_variable(m, g, slot, (struct binding){.value = value, .op = NONE, .map = map, .axes = g->axes});
    return match_where_holds(m, slot) ? matcher_solve(m, g->next) : matcher_failed(m, FAILED_WHERE, g, g->value);
}

enum search_outcome match_named(struct matcher *m, const struct goal *g) {
    uint32_t slot = g->node->slot;
    if (m->state.slots[slot].value != NONE)
        return bound_again(m, g, slot);
    struct goal *c = matcher_goal(m, g, g->node->args[0], g->value, g->map, g->axes, g->next);
    if (!c)
        return MISSED;
    c->slot = slot;
    matcher_bind(m, slot,
                 (struct binding){.value = g->value, .op = NONE, .map = g->map, .needed = g->map, .axes = g->axes});
    return matcher_solve(m, c);
}

/* The op that the goal is an operand of has a known constant: then an argument beside it is no number. */
static bool is_beside_constant(const struct matcher *m, const struct goal *g) {
    uint32_t op = g->parent == NONE ? NONE : m->state.matched[g->parent].op;
    bool beside = false;
    for (uint32_t i = 0; op != NONE && i < graph_noperands(m->g, op); i++) {
        uint32_t v = graph_operands(m->g, op)[i];
        beside |= v != NONE && graph_constant(m->g, v).known;
    }
    return beside;
}

/* A constant of this number; a number of elements may be an argument, too, which is then a precondition. */
enum search_outcome match_number(struct matcher *m, const struct goal *g) {
    struct assumptions *assumed = &m->state.assumed;
    struct evaluation e = matcher_evaluation(m, g->axes);
    double expected = evaluate(&e, g->node->number);
    struct constant c = graph_constant(m->g, g->value);
    if (node_number_is(g->node, c, expected)) {
        assume_constant(assumed, g->value, expected, false);
        return matcher_solve(m, g->next);
    }
    uint32_t argument = g->node->counts ? graph_argument(m->g, g->value) : NONE;
    if (isnan(expected) || c.known || argument == NONE || graph_argument_is_input(m->g, argument) ||
        is_beside_constant(m, g) || assumed->npreconditions == MAX_PRECONDITIONS)
        return matcher_failed(m, FAILED_NUMBER, g, g->value);
    assume_constant(assumed, g->value, expected, true);
    assume_precondition(assumed, (struct precondition){argument, expected, false});
    return matcher_solve(m, g->next);
}

enum search_outcome match_alternative(struct matcher *m, const struct goal *g, const struct node *node) {
    struct mark k = matcher_mark(m);
    struct goal *c = matcher_goal(m, g, node, g->value, g->map, g->axes, g->next);
    if (!c)
        return MISSED;
    c->slot = g->slot;
    if (matcher_solve(m, c) == MATCHED)
        return MATCHED;
    matcher_undo(m, k);
    return MISSED;
}

/* An observer sees those that cannot match, too: after the others, where an automaton tells them apart. */
enum search_outcome match_either(struct matcher *m, const struct goal *g) {
    const struct node *n = g->node;
    bool all = matcher_observer(m) && !m->ops;
    for (uint32_t i = 0; i < n->nargs; i++)
        if ((all || matcher_may_match(m, n->args[i], g->value)) && match_alternative(m, g, n->args[i]) == MATCHED)
            return MATCHED;
    if (matcher_observer(m) && !all)
        m->observer->other_alternatives(m, g);
    return MISSED;
}

/* transposed(x): x with the last two axes of the formula exchanged. */
enum search_outcome match_transposed(struct matcher *m, const struct goal *g) {
    struct axes *axes = matcher_scratch(m, sizeof *axes);
    struct imap last, before;
    if (!axes || g->axes->n < 2)
        return MISSED;
    axes_copy(axes, g->axes);
    axes_axis(g->axes, -1, &last);
    axes_axis(g->axes, -2, &before);
    axes->n -= 2;
    axes_add(axes, last.t, last.n); /* there is room */
    axes_add(axes, before.t, before.n);
    struct goal *c = matcher_goal(m, g, g->node->args[0], g->value, g->map, axes, g->next);
    if (!c)
        return MISSED;
    c->turned = !g->turned;
    return matcher_solve(m, c);
}

/* result(s, k): result k of the op that s is the first result of. */
enum search_outcome match_result(struct matcher *m, const struct goal *g) {
    const struct graph *gr = m->g;
    uint32_t value = g->value, op = gr->m->values[value].def;
    const struct imap *map = g->map;
    for (uint32_t step = 0; step < MAX_CHAIN && op != NONE && graph_looks_through(gr, op); step++) {
        map = matcher_map_through(m, op, map);
        if (!map)
            return MISSED;
        value = graph_through(gr, op);
        op = gr->m->values[value].def;
    }
    if (op == NONE || value != gr->m->ops[op].first_result + g->node->result)
        return matcher_failed(m, FAILED_RESULT, g, value);
    const struct node *of = g->node->args[0];
    if (of->kind == N_NAMED && m->state.slots[of->slot].value != NONE)
        return m->state.slots[of->slot].op == op ? matcher_solve(m, g->next) : MISSED;
    struct goal *c = matcher_goal(m, g, of, gr->m->ops[op].first_result, map, g->axes, g->next);
    if (!c)
        return MISSED;
    return matcher_solve(m, c);
}
