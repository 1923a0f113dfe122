/* What the result of a search depends on, noted while it runs, for the match cache. The structural hash of a root
 * covers the ops before it, HASH_DEPTH operators deep and HASH_SPAN ops apart. What a search looks at behind a value
 * is noted here as a dependency, with a hash of its own; where there is none, the result may not be cached. */
#include "match/matcher.h"
#include "match/structural_hash.h"

void record_begin(struct search_record *r, uint32_t root) {
    r->lowest = r->highest = root;
    r->uncacheable = false;
    r->ndependencies = r->predicates.n = 0;
}

void record_op(struct search_record *r, uint32_t op) {
    r->lowest = op < r->lowest ? op : r->lowest;
    r->highest = op > r->highest ? op : r->highest;
    r->uncacheable |= r->highest - r->lowest > HASH_SPAN;
}

/* The hash has to cover the operands of the deepest op, and what makes them, too. */
void record_depth(struct search_record *r, uint32_t depth) {
    r->uncacheable |= depth + 2 >= HASH_DEPTH;
}

void record_predicate(struct search_record *r, const struct number *condition, bool holds) {
    struct recorded_predicates *p = &r->predicates;
    if (p->n == MAX_PREDICATES) {
        r->uncacheable = true;
        return;
    }
    p->condition[p->n] = condition;
    p->holds[p->n++] = holds;
}

static void add_dependency(struct search_record *r, uint32_t op, uint32_t operand) {
    for (uint32_t i = 0; i < r->ndependencies; i++)
        if (r->dependencies[i].op == op && r->dependencies[i].operand == operand)
            return;
    if (r->ndependencies < MAX_DEPENDENCIES)
        r->dependencies[r->ndependencies++] = (struct dependency){op, operand};
    else
        r->uncacheable = true;
}

/* Two roots with one hash have matched ops with the same operands: so a value can be named as an operand of one. */
static bool add_as_operand(struct search_record *r, const struct graph *g, uint32_t op, uint32_t value) {
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        if (graph_operands(g, op)[i] == value) {
            add_dependency(r, op, i);
            return true;
        }
    return false;
}

void record_users(struct matcher *m, uint32_t value) {
    const struct search_state *s = &m->state;
    uint32_t def = m->g->m->values[value].def;
    bool covered = def != NONE && hash_covers_users(m->g, def);
    for (uint32_t i = 0; i < s->nmatched && !covered; i++)
        covered = add_as_operand(&m->record, m->g, s->matched[i].op, value);
    for (uint32_t i = 0; i < s->nlooked_through && !covered; i++)
        covered = add_as_operand(&m->record, m->g, s->looked_through[i].op, value);
    m->record.uncacheable |= !covered;
}

void record_user(struct search_record *r, const struct graph *g, uint32_t op) {
    record_op(r, op);
    if (hash_covers_users(g, op))
        add_dependency(r, op, NONE);
    else
        r->uncacheable = true;
}
