/* What a search has done so far, as stacks that are cut back when an alternative fails: undoing costs what was done
 * since, whatever was tried before. A matcher has room of a fixed size; what does not fit ends the search (`full`). */
#include "search/match/matcher.h"

#include <stdlib.h>
#include <string.h>

struct mark matcher_mark(const struct matcher *m) {
    const struct search_state *s = &m->state;
    return (struct mark){s->used,
                         s->spaces,
                         s->nmatched,
                         s->nlooked_through,
                         s->ntrail,
                         s->edits,
                         s->functions,
                         s->assumed.npreconditions,
                         s->assumed.nconstants,
                         s->assumed.nsliced};
}

void matcher_undo(struct matcher *m, struct mark k) {
    struct search_state *s = &m->state;
    s->edits = k.edits;
    s->functions = k.functions;
    while (s->ntrail > k.ntrail) {
        s->ntrail--;
        s->slots[s->trail[s->ntrail].slot] = s->trail[s->ntrail].before;
    }
    s->used = k.used;
    s->spaces = k.spaces;
    s->nmatched = k.nmatched;
    s->nlooked_through = k.nlooked_through;
    s->assumed.npreconditions = k.npreconditions;
    s->assumed.nconstants = k.nconstants;
    s->assumed.nsliced = k.nsliced;
}

void *matcher_scratch(struct matcher *m, size_t n) {
    n = (n + 15) & ~(size_t)15;
    if (m->state.used + n > SCRATCH_BYTES) {
        m->full = true;
        return NULL;
    }
    void *p = m->scratch + m->state.used;
    m->state.used += n;
    return p;
}

/* A name that is bound again keeps the line where it was bound first. */
void matcher_bind(struct matcher *m, uint32_t slot, struct binding b) {
    struct search_state *s = &m->state;
    if (s->ntrail == MAX_TRAIL) {
        m->full = true;
        return;
    }
    s->trail[s->ntrail++] = (struct trail_entry){slot, s->slots[slot]};
    b.line = s->slots[slot].value == NONE ? s->line : s->slots[slot].line;
    s->slots[slot] = b;
}

uint32_t matcher_bound_name(const struct matcher *m, const struct node *n) {
    if ((n->kind == N_NAMED || n->kind == N_VARIABLE) && m->state.slots[n->slot].value != NONE)
        return n->slot;
    for (uint32_t i = 0; i < n->nargs; i++) {
        uint32_t slot = matcher_bound_name(m, n->args[i]);
        if (slot != NONE)
            return slot;
    }
    return NONE;
}

void matcher_look_through(struct matcher *m, uint32_t op, bool inner) {
    struct search_state *s = &m->state;
    for (uint32_t i = 0; i < s->nlooked_through; i++)
        if (s->looked_through[i].op == op && s->looked_through[i].inner >= inner)
            return;
    if (s->nlooked_through == MAX_THROUGH)
        m->full = true;
    else
        s->looked_through[s->nlooked_through++] = (struct looked_through){op, inner};
}

void matcher_take(struct matcher *m, uint32_t op, const struct goal *g) {
    struct search_state *s = &m->state;
    if (s->nmatched == MAX_MATCHED) {
        m->full = true;
        return;
    }
    s->matched[s->nmatched++] = (struct matched){op, g->parent};
}

bool matcher_took(const struct matcher *m, uint32_t op) {
    for (uint32_t i = 0; i < m->state.nmatched; i++)
        if (m->state.matched[i].op == op)
            return true;
    return false;
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

struct goal *matcher_operand(struct matcher *m, const struct goal *g, uint32_t arg, uint32_t value,
                             const struct imap *map, const struct axes *axes, const struct goal *next) {
    struct goal *c = matcher_goal(m, g, g->node->args[arg], value, map, axes, next);
    if (c)
        c->parent = m->state.nmatched - 1;
    return c;
}

struct evaluation matcher_evaluation(struct matcher *m, const struct axes *axes) {
    return (struct evaluation){.graph = m->g,
                               .formula = &m->pattern->formula,
                               .bindings = m->state.slots,
                               .axes = axes,
                               .arena = m->arena,
                               .assumed = &m->state.assumed,
                               .record = m->record};
}

struct matcher *matcher_new(const struct graph *g, uint32_t func, uint64_t max_steps, struct arena *a) {
    struct matcher *m = xrealloc(NULL, sizeof *m);
    memset(m, 0, offsetof(struct matcher, state));
    m->state.ntrail = 0;
    m->g = g;
    m->func = func;
    m->arena = a;
    m->max_steps = search_steps(max_steps);
    m->scratch = xrealloc(NULL, SCRATCH_BYTES);
    for (uint32_t i = 0; i < MAX_SLOTS; i++) /* and so they are again when a search is undone */
        m->state.slots[i] = (struct binding){.value = NONE, .op = NONE};
    return m;
}

void matcher_free(struct matcher *m) {
    if (!m)
        return;
    free(m->scratch);
    free(m);
}
