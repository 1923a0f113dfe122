#include "report/explain/bound.h"

static void add_kind(struct bound *b, enum op_kind k) {
    b->kinds[k / 64] |= 1ull << (k % 64);
}

void bound_begin(struct bound *b, const struct pattern_set *set, const struct automaton_run *ops, const struct graph *g,
                 uint32_t first, uint32_t end, struct arena *a) {
    *b = (struct bound){.g = g, .ops = ops, .first = first, .end = end};
    b->functions = arena_alloc(a, (set ? set->net.n : 0) + (size_t)1);
    for (uint32_t op = first; op < end; op++)
        add_kind(b, (enum op_kind)g->kind[op]);
}

static struct open_ops join(struct open_ops x, struct open_ops y) {
    x.n = x.n + y.n < MAX_MATCHED ? x.n + y.n : MAX_MATCHED;
    for (uint32_t w = 0; w < SLOT_WORDS; w++)
        x.names[w] |= y.names[w];
    return x;
}

/* Some op is the last of those that compute the function. */
static bool has_function(const struct bound *b, const struct subformula *s) {
    if (!b->ops || !s)
        return true;
    bool has = b->functions[s->id] == 'y';
    for (uint32_t op = b->first; op < b->end && !b->functions[s->id] && !has; op++)
        has = b->g->m->ops[op].nresults == 1 && automaton_finds(b->ops, s, b->g->m->ops[op].first_result);
    b->functions[s->id] = has ? 'y' : 'n';
    return has;
}

static bool has_op(const struct bound *b, const struct node *n) {
    uint64_t here = 0;
    for (uint32_t w = 0; w < (OPERATORS + 63) / 64; w++)
        here |= n->kinds[w] & b->kinds[w];
    return here;
}

uint32_t bound_own(struct bound *b, const struct node *n) {
    if (n->kind == N_FUNCTION)
        return has_function(b, n->sub) ? MAX_MATCHED : 0;
    return (n->kind == N_OP || n->kind == N_OUTER) && has_op(b, n) ? 1 : 0;
}

static struct open_ops open_of(struct bound *b, const struct node *n);

static struct open_ops find(struct bound *b, const struct node *n) {
    struct open_ops all = {.n = bound_own(b, n)};
    if (n->kind == N_NAMED) {
        all = open_of(b, n->args[0]);
        all.n = 0;
        all.names[n->slot / 64] |= 1ull << (n->slot % 64);
        return all;
    }
    for (uint32_t i = 0; i < n->nargs; i++) {
        struct open_ops of = open_of(b, n->args[i]), before = all;
        all = join(all, of);
        if (n->kind == N_EITHER)
            all.n = of.n > before.n ? of.n : before.n;
    }
    return all;
}

static struct open_ops open_of(struct bound *b, const struct node *n) {
    size_t at = ((uintptr_t)n * 0x9E3779B97F4A7C15u >> 40) % (sizeof b->known / sizeof *b->known);
    if (b->known[at].of == n)
        return b->known[at].most;
    struct open_ops found = find(b, n);
    b->known[at].of = n;
    b->known[at].most = found;
    return found;
}

uint32_t bound_most(struct bound *b, const struct matcher *m, const struct goal *g) {
    const struct formula *f = &m->pattern->formula;
    struct open_ops all = {0};
    for (; g; g = g->next)
        if (g->node->kind != N_VARIABLE && g->node->kind != N_NUMBER)
            all = join(all, open_of(b, g->node));
    for (uint32_t line = m->state.line; line < f->nsecondary; line++)
        all = join(all, open_of(b, f->also[line].node));
    for (uint32_t w = 0; w < SLOT_WORDS; w++)
        for (uint64_t left = all.names[w]; left; left &= left - 1) {
            uint32_t slot = 64 * w + (uint32_t)__builtin_ctzll(left);
            if (m->state.slots[slot].value == NONE)
                all.n += open_of(b, f->named[slot]->args[0]).n;
        }
    return all.n;
}
