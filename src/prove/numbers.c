/* What a proof gives the leaves of a match. A constant that the pattern ties to a number is that number, not what is
 * left of it in its format. */
#include "prove/numbers.h"

#include <math.h>
#include <string.h>

enum { SMALL_INDEX = 2 };

/* ---- what numbers are for ---- */

static bool is_matched(const struct proof *p, uint32_t op) {
    const struct match *m = p->match;
    enum op_class c = graph_class(m->graph, op);
    if (c == OP_CONSTANT || m->graph->kind[op] == K_ARANGE || c == OP_MOVE || c == OP_CAST || c == OP_LAYOUT)
        return true;
    for (uint32_t i = 0; i < m->nops; i++)
        if (m->ops[i] == op)
            return true;
    for (uint32_t i = 0; i < m->nthrough; i++)
        if (m->through[i] == op)
            return true;
    return false;
}

static bool is_inside(const struct proof *p, uint32_t op) {
    for (uint32_t i = 0; i < p->ninside; i++)
        if (p->inside[i] == op)
            return true;
    return false;
}

/* A constant that a name stands for is the number that is printed, as attributes have it. */
static bool is_named_number(const struct proof *p, uint32_t value) {
    bool named = false;
    for (uint32_t i = 0; i < p->bound.nslots && !named; i++)
        named = p->bound.slots[i].value == value;
    return named && graph_constant(p->match->graph, value).known;
}

static const struct tie *tie_of(const struct proof *p, uint32_t value) {
    for (uint32_t i = 0; i < p->bound.nties; i++)
        if (p->bound.ties[i].value == value)
            return &p->bound.ties[i];
    if (!is_named_number(p, value))
        return NULL;
    struct tie *t = arena_alloc(p->arena, sizeof *t);
    *t = (struct tie){value, graph_constant(p->match->graph, value).value, false};
    return t;
}

/* What a constant holds is not always in the text. */
static bool is_unreadable(const struct proof *p, uint32_t op) {
    const struct graph *g = p->match->graph;
    if (graph_class(g, op) != OP_CONSTANT)
        return false;
    struct arena scratch = {0};
    struct bench b = {.arena = &scratch};
    struct program program = {.graph = g};
    const struct tensor *t;
    bool read = interpret_values(&b, &program, &g->m->ops[op].first_result, 1, &t);
    arena_free(&scratch);
    return !read;
}

void numbers_find(struct proof *p, uint32_t value) {
    const struct graph *g = p->match->graph;
    const struct tie *tie = tie_of(p, value);
    uint32_t op = tie ? NONE : g->m->values[value].def;
    if (op != NONE && is_inside(p, op))
        return;
    if (op != NONE && is_matched(p, op) && !is_unreadable(p, op) && p->ninside < MAX_INSIDE) {
        p->inside[p->ninside++] = op;
        for (uint32_t i = 0; i < graph_noperands(g, op); i++)
            if (graph_operands(g, op)[i] != NONE)
                numbers_find(p, graph_operands(g, op)[i]);
        return;
    }
    for (uint32_t i = 0; i < p->nleaves; i++)
        if (p->leaves[i].value == value)
            return;
    p->too_many |= p->nleaves == MAX_LEAVES || p->ninside == MAX_INSIDE;
    if (p->nleaves < MAX_LEAVES)
        p->leaves[p->nleaves++] = (struct leaf){.value = value, .tie = tie};
}

static double uniform(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

/* Rows are of different size, one is 0, and a few numbers are far out: limits of a clamp are met, and a softmax is not
 * of one element only. One trial has positive numbers, for roots and logarithms; one has larger ones with many equals,
 * as far as an exponential in f64 goes; in two a mask is -inf here and there. */
struct filling {
    uint64_t seed;
    uint32_t leaf;
    enum trial trial;
    bool positive, distinct, mask;
};

/* True and false in each row: what a mask leaves nothing of is outside of the claim, and the notes say so. */
static void mix_rows(struct tensor *t, int64_t row, uint32_t leaf) {
    for (int64_t at = 0; row > 1 && at + row <= t->n; at += row) {
        int64_t one = (at / row + leaf) % row;
        t->x[at + one] = 1;
        t->x[at + (one + 1) % row] = 0;
    }
}

/* Some of each row, not all. */
static void hide(struct tensor *t, int64_t row, uint64_t *state) {
    for (int64_t at = 0; at + row <= t->n; at += row) {
        int64_t kept = (int64_t)(uniform(state) * (double)row);
        for (int64_t i = 0; i < row; i++)
            if (i != kept && uniform(state) < 0.4)
                t->x[at + i] = -INFINITY;
    }
}

static void fill(struct filling f, struct tensor *t, enum dtype type) {
    static const double sizes[] = {0.25, 1, 0.5, 2};
    uint64_t state = (f.leaf + 1) * 0x2545f4914f6cdd1du + f.trial * 0x632be59bd9b4e019u + f.seed * 0xd1342543de82ef95u;
    int64_t row = t->shape.rank ? t->shape.dim[t->shape.rank - 1] : 1;
    double size = 1;
    for (int64_t i = 0; i < t->n; i++) {
        if (row > 1 && i % row == 0)
            size = sizes[(int)(uniform(&state) * 4)];
        double x = 2 * uniform(&state) - 1, far = uniform(&state) < 0.03 ? 8 : 1;
        if (format_is_integer(type))
            t->x[i] = floor(uniform(&state) * SMALL_INDEX);
        else if (f.positive)
            t->x[i] = (0.01 + fabs(x)) * size * far;
        else if (!f.distinct && row > 1 && i / row == 2)
            t->x[i] = 0;
        else if (f.trial == TRIAL_COARSE)
            t->x[i] = (f.distinct ? 4 * x : rint(4 * x)) * fmin(size, 1);
        else
            t->x[i] = x * size * far;
    }
    if (f.mask && f.trial >= TRIAL_HIDDEN && row > 1)
        hide(t, row, &state);
    if (type == DT_I1)
        mix_rows(t, row, f.leaf);
}

/* What a pattern ties to a number holds that; what it only states to hold it, unless `violated`. */
static void impose(const struct tie *tie, bool violated, struct tensor *t) {
    if (!tie || (tie->stated && violated))
        return;
    for (int64_t i = 0; i < t->n; i++)
        t->x[i] = isnan(tie->number) ? t->x[0] : tie->number;
}

/* What the pattern says of a name: the notes state it. */
static bool is_positive(const struct proof *p, uint32_t value) {
    const struct pattern *pattern = p->match->pattern;
    bool found = false;
    for (uint32_t i = 0; i < pattern->npositive; i++)
        found |= p->bound.slots[pattern->positive[i]].value == value;
    return found;
}

/* Among equal elements no order is promised, so that there is nothing to compare. */
static bool is_sorted(const struct match *m) {
    bool found = false;
    for (uint32_t i = 0; i < m->nops; i++)
        found |= m->graph->kind[m->ops[i]] == K_SORT || m->graph->kind[m->ops[i]] == K_TOPK;
    return found;
}

/* A value that decides, whatever its element type is. */
static bool is_truth(const struct proof *p, uint32_t value, int depth) {
    enum { DEEP = 16 };
    const struct graph *g = p->match->graph;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && depth < DEEP; u++) {
        uint32_t op = g->uses[u];
        enum op_class c = graph_class(g, op);
        if (!is_inside(p, op))
            continue;
        if (g->kind[op] == K_LOGICAL_NOT || g->kind[op] == K_LOGICAL_AND || g->kind[op] == K_LOGICAL_OR ||
            (g->kind[op] == K_WHERE && graph_operands(g, op)[0] == value))
            return true;
        if ((c == OP_MOVE || c == OP_CAST || c == OP_LAYOUT) && is_truth(p, g->m->ops[op].first_result, depth + 1))
            return true;
    }
    return false;
}

/* What a pattern calls a mask, seen through movement. */
static bool is_mask(const struct proof *p, uint32_t value, int depth) {
    enum { DEEP = 16 };
    const struct graph *g = p->match->graph;
    const struct formula *f = form_pattern(p);
    for (uint32_t i = 0; i < f->nslots; i++)
        if (f->slot_is_variable[i] && p->bound.slots[i].value == value && str_find(f->slot_name[i], STR("mask")))
            return true;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && depth < DEEP; u++) {
        enum op_class c = graph_class(g, g->uses[u]);
        if (is_inside(p, g->uses[u]) && (c == OP_MOVE || c == OP_CAST || c == OP_LAYOUT) &&
            is_mask(p, g->m->ops[g->uses[u]].first_result, depth + 1))
            return true;
    }
    return false;
}

void numbers_roles(struct proof *p) {
    for (uint32_t i = 0; i < p->nleaves; i++) {
        struct leaf *l = &p->leaves[i];
        l->positive = is_positive(p, l->value);
        l->truth = is_truth(p, l->value, 0);
        l->mask = is_mask(p, l->value, 0);
    }
    p->sorts = is_sorted(p->match);
}

bool numbers_stated(const struct proof *p, uint32_t leaf) {
    const struct leaf *l = &p->leaves[leaf];
    bool can_fail = l->tie && l->tie->stated;
    can_fail &= can_fail && (!isnan(l->tie->number) || graph_numel(p->match->graph, l->value) > 1);
    return can_fail || l->positive;
}

static struct tensor *room_for(struct proof *p, uint32_t value) {
    struct shape s = {0};
    uint32_t rank;
    const int64_t *dims = graph_shape(p->match->graph, value, &rank);
    if (!dims || rank > TENSOR_RANK || graph_numel(p->match->graph, value) < 0) {
        bench_fail(&p->bench, "an operand has no static shape");
        return NULL;
    }
    s.rank = rank;
    memcpy(s.dim, dims, rank * sizeof *dims);
    return tensor_new(&p->bench, &s);
}

bool numbers_make(struct proof *p, enum trial trial, uint32_t violated) {
    for (uint32_t i = 0; i < p->nleaves; i++) {
        const struct leaf *l = &p->leaves[i];
        struct tensor *t = room_for(p, l->value);
        if (!t)
            return false;
        bool positive = trial == TRIAL_POSITIVE || (l->positive && i != violated);
        enum dtype type = l->truth ? DT_I1 : graph_dtype(p->match->graph, l->value);
        fill((struct filling){p->prover->seed, i, trial, positive, p->sorts, l->mask}, t, type);
        impose(l->tie, i == violated, t);
        p->given[i] = (struct given){l->value, t};
    }
    return true;
}
