/* How many ops a formula asks for beside those that a search has matched: what tells a near miss from a far one. */
#include "report/explain/diagnose.h"

#include <limits.h>

enum { SLOT_WORDS = (MAX_SLOTS + 63) / 64 };

/* A bit for each slot. */
struct slot_set {
    uint64_t bits[SLOT_WORDS];
};

/* What a name needs, where of those that this asks about the same are counted already. */
struct name_need {
    bool known;
    int ops;
    struct slot_set asked, counted, added;
};

struct fewest_ops {
    const struct matcher *m;
    struct slot_set counted, asked; /* names whose ops are counted; those of which it was asked whether they are */
    struct name_need *names;        /* by slot */
};

static bool holds_again(const struct name_need *k, const struct slot_set *counted) {
    for (uint32_t w = 0; w < SLOT_WORDS; w++)
        if ((counted->bits[w] ^ k->counted.bits[w]) & k->asked.bits[w])
            return false;
    return k->known;
}

static int least(struct fewest_ops *need, const struct node *n);

static void find_need(struct fewest_ops *need, const struct node *n, struct name_need *k) {
    struct slot_set asked = need->asked, counted = need->counted;
    need->asked = (struct slot_set){0};
    need->counted.bits[n->slot / 64] |= 1ull << (n->slot % 64);
    k->ops = least(need, n->args[0]);
    k->known = true;
    k->asked = need->asked;
    k->counted = counted;
    for (uint32_t w = 0; w < SLOT_WORDS; w++)
        k->added.bits[w] = need->counted.bits[w] & ~counted.bits[w];
    need->asked = asked;
    need->counted = counted;
}

static int least_of_name(struct fewest_ops *need, const struct node *n) {
    struct name_need *k = &need->names[n->slot];
    uint64_t bit = 1ull << (n->slot % 64);
    need->asked.bits[n->slot / 64] |= bit;
    if (need->m->state.slots[n->slot].value != NONE || need->counted.bits[n->slot / 64] & bit)
        return 0;
    if (!holds_again(k, &need->counted))
        find_need(need, n, k);
    for (uint32_t w = 0; w < SLOT_WORDS; w++) {
        need->asked.bits[w] |= k->asked.bits[w];
        need->counted.bits[w] |= k->added.bits[w];
    }
    return k->ops;
}

/* The fewest ops that a node can match, without names that are bound already. Each name counts once. */
static int least(struct fewest_ops *need, const struct node *n) {
    int sum = n->kind == N_OP || n->kind == N_OUTER;
    if (n->kind == N_NAMED)
        return least_of_name(need, n);
    if (n->kind != N_EITHER) {
        for (uint32_t i = 0; i < n->nargs; i++)
            sum += least(need, n->args[i]);
        return sum;
    }
    struct slot_set before = need->counted, best = before;
    sum = INT_MAX;
    for (uint32_t i = 0; i < n->nargs; i++) {
        need->counted = before;
        int k = least(need, n->args[i]);
        if (k < sum) {
            sum = k;
            best = need->counted;
        }
    }
    need->counted = best;
    return sum;
}

static int least_of_failure(struct fewest_ops *need, const struct failure *s) {
    const struct node *n = s->line ? s->line : s->goal ? s->goal->node : NULL;
    int sum = n ? least(need, n) : 0;
    if (s->detour)
        return s->detour != DETOUR_EXTRA;
    return s->why == FAILED_SETTING && sum ? sum - 1 : sum; /* the op itself counts as matched */
}

static int least_after(struct fewest_ops *need, const struct goal *g) {
    int sum = 0;
    for (; g; g = g->next)
        sum += least(need, g->node);
    for (uint32_t i = need->m->state.line; i < need->m->pattern->formula.nsecondary; i++)
        if (!need->m->pattern->formula.also[i].optional)
            sum += least(need, need->m->pattern->formula.also[i].node);
    return sum;
}

static struct fewest_ops fewest_ops_of(const struct matcher *m) {
    uint32_t nslots = m->pattern->formula.nslots;
    return (struct fewest_ops){.m = m, .names = arena_alloc(m->arena, (nslots + (size_t)1) * sizeof(struct name_need))};
}

uint32_t ops_missing(const struct matcher *m, const struct failure *first, const struct failure *second) {
    struct fewest_ops need = fewest_ops_of(m);
    int sum = least_of_failure(&need, first);
    if (second)
        sum += (second != first ? least_of_failure(&need, second) : 0) +
               least_after(&need, second->goal ? second->goal->next : NULL);
    return (uint32_t)sum;
}
