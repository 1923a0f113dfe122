/* Which ops a diagnostic search could match at a root, by operators alone: more than it does, since no index map, axis
 * or condition is looked at, and at far less cost. Where these are too few, or all reported, nothing is searched. */
#include "report/explain/diagnose.h"

#include <stdlib.h>

enum { VISITS = 1024 };

/* A node of the formula at a value. Behind a detour less is reached, as the search makes only one. */
struct visit {
    const struct node *node;
    uint32_t value, search;
    bool behind_detour;
};

struct near_bound {
    const struct matcher *m;
    const struct near_query *query;
    struct visit visits[VISITS]; /* the last ones, by a hash */
    uint32_t search;             /* its number, from 1 */
    uint32_t op;                 /* the first one that is reached; NONE: none is */
    bool several, unreported;    /* more than one; one that is not reported */
    bool unknown;                /* ops are found by their values, or by an order of elements */
};

struct near_bound *near_bound_new(const struct matcher *m, const struct near_query *query) {
    struct near_bound *b = xcalloc(1, sizeof *b);
    b->m = m;
    b->query = query;
    return b;
}

void near_bound_free(struct near_bound *b) {
    free(b);
}

static bool may_be_operand(const struct matcher *m, const struct node *node, uint32_t op) {
    bool may = false;
    for (uint32_t i = 0; i < graph_noperands(m->g, op) && !may; i++) {
        uint32_t value = graph_operands(m->g, op)[i];
        may = value != NONE && matcher_may_match(m, node, value);
    }
    return may;
}

bool near_bound_stands_in(const struct matcher *m, const struct node *node, uint32_t op) {
    bool may = node->nargs == graph_count_operands(m->g, op);
    for (uint32_t i = 0; m->ops && i < node->nargs && may; i++)
        may = may_be_operand(m, node->args[i], op);
    return may;
}

static bool is_decided(const struct near_bound *b) {
    return b->unknown || (b->several && b->unreported);
}

static void add(struct near_bound *b, uint32_t op) {
    b->several |= b->op != NONE && b->op != op;
    b->op = b->op == NONE ? op : b->op;
    b->unreported |= !b->query->reported || !b->query->reported[op];
}

static bool was_visited(struct near_bound *b, const struct node *n, uint32_t value, bool behind_detour) {
    struct visit *v = &b->visits[hash_mix((uintptr_t)n, value) % VISITS];
    if (v->search == b->search && v->node == n && v->value == value && v->behind_detour <= behind_detour)
        return true;
    *v = (struct visit){n, value, b->search, behind_detour};
    return false;
}

static void reach(struct near_bound *b, const struct node *n, uint32_t value, bool root, bool behind_detour);

static void reach_operands(struct near_bound *b, const struct node *n, uint32_t op, bool behind_detour) {
    const uint32_t *v = graph_operands(b->m->g, op);
    for (uint32_t i = 0; i < n->nargs; i++)
        for (uint32_t k = 0; k < graph_noperands(b->m->g, op); k++)
            if (v[k] != NONE)
                reach(b, n->args[i], v[k], false, behind_detour);
}

/* The operator at the value, or at one before it that movement leads to; else the op there in its place, its operand
 * without it, or it without the op. */
static void reach_operator(struct near_bound *b, const struct node *n, uint32_t value, bool root, bool behind_detour) {
    const struct graph *g = b->m->g;
    uint32_t last = NONE, at = value;
    for (uint32_t step = 0; step <= MAX_CHAIN && at != NONE && g->m->values[at].def != NONE; step++) {
        last = g->m->values[at].def;
        bool fits = match_kind_fits(n, (enum op_kind)g->kind[last]);
        if (fits)
            add(b, last);
        if (fits || (!root && !behind_detour && near_bound_stands_in(b->m, n, last)))
            reach_operands(b, n, last, behind_detour || !fits);
        at = root ? NONE : graph_through(g, last);
    }
    if (root || behind_detour || last == NONE)
        return;
    if (n->nargs == 1) {
        reach(b, n->args[0], value, false, true);
        reach(b, n->args[0], g->m->ops[last].first_result, false, true); /* behind the longest movement */
    }
    if (graph_noperands(g, last) == 1 && graph_operands(g, last)[0] != NONE)
        reach(b, n, graph_operands(g, last)[0], false, true);
}

static void reach(struct near_bound *b, const struct node *n, uint32_t value, bool root, bool behind_detour) {
    if (n->nargs == 0 || is_decided(b) || was_visited(b, n, value, behind_detour))
        return;
    if (n->kind == N_OP || n->kind == N_OUTER) {
        reach_operator(b, n, value, root, behind_detour);
    } else if (n->kind == N_FUNCTION || n->kind == N_REARRANGED) {
        b->unknown |= n->kind == N_REARRANGED || matcher_may_match(b->m, n, value);
    } else {
        for (uint32_t i = 0; i < n->nargs; i++)
            reach(b, n->args[i], value, root, behind_detour);
    }
}

bool near_bound_allows(struct near_bound *b, const struct pattern *p, uint32_t op) {
    if (b->query->least < LEAST_OPS || p->formula.nsecondary)
        return true; /* roots of further lines may be anywhere */
    b->search++;
    b->op = NONE;
    b->several = b->unreported = b->unknown = false;
    reach(b, p->formula.root, b->m->g->m->ops[op].first_result, true, false);
    return is_decided(b);
}
