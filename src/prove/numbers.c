/* What a proof gives the leaves of a match. A constant that the pattern ties to a number is that number, not what is
 * left of it in its format. */
#include "prove/numbers.h"

#include "prove/devices.h"

#include <math.h>
#include <string.h>

enum { SMALL_INDEX = 2, FEW = 3 }; /* FEW: different numbers where many are equal */

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

static bool is_named(const struct proof *p, uint32_t value) {
    bool named = false;
    for (uint32_t i = 0; i < p->bound.nslots && !named; i++)
        named = p->bound.slots[i].value == value;
    return named;
}

/* A constant that a name stands for is the number that is printed, as attributes have it. */
static bool is_named_number(const struct proof *p, uint32_t value) {
    return is_named(p, value) && graph_constant(p->match->graph, value).known;
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

static const struct holding *holding_of(const struct proof *p, uint32_t value) {
    const struct pattern *pattern = p->match->pattern;
    for (uint32_t i = 0; i < pattern->nholds; i++)
        if (p->bound.slots[pattern->holds[i].slot].value == value)
            return &pattern->holds[i];
    return NULL;
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
    uint32_t op = tie || holding_of(p, value) ? NONE : g->m->values[value].def;
    if (op != NONE && proof_evaluates(p, op))
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
 * as far as an exponential in f64 goes; from TRIAL_HIDDEN on a mask is infinite here and there, in TRIAL_SHUT in whole
 * rows. */
struct filling {
    uint64_t seed;
    uint32_t leaf;
    enum trial trial;
    bool positive, distinct;
    int mask;
    enum truth truth;
    const struct limits *limits;
    bool index;
};

/* The last two dimensions, along one of which a softmax runs. */
struct plane {
    int64_t rows, row;
};

static struct plane plane_of(const struct tensor *t) {
    uint32_t rank = t->shape.rank;
    return (struct plane){rank > 1 ? t->shape.dim[rank - 2] : 1, rank ? t->shape.dim[rank - 1] : 1};
}

/* The index along a dimension of so many elements at which no mask hides anything, the same for all masks: so each line
 * along the last dimension and along the one before has an element that is seen. */
static int64_t open_index(const struct filling *f, int64_t extent) {
    uint64_t state = f->trial * 0x632be59bd9b4e019u + f->seed * 0xd1342543de82ef95u;
    return (int64_t)(uniform(&state) * (double)extent);
}

static bool is_open(const struct filling *f, struct plane p, int64_t i) {
    return (p.row > 1 && i % p.row == open_index(f, p.row)) ||
           (p.rows > 1 && i / p.row % p.rows == open_index(f, p.rows));
}

/* Every second row, the first one among them, and the first column are hidden as a whole. */
static bool is_shut(const struct filling *f, struct plane p, int64_t i) {
    return f->trial == TRIAL_SHUT && (i / p.row % 2 == 0 || (p.row > 1 && i % p.row == 0));
}

static void fill_truth(const struct filling *f, struct tensor *t) {
    struct plane p = plane_of(t);
    bool opens = f->truth == TRUTH_OPENS, decides = opens || f->truth == TRUTH_HIDES;
    for (int64_t i = 0; i < t->n; i++) {
        int64_t beyond = decides ? open_index(f, p.row) + 1 : i / p.row + f->leaf; /* false and true in each row */
        if (is_shut(f, p, i))
            t->x[i] = decides ? !opens : i / p.row % 4 == 2;
        else if (decides && is_open(f, p, i))
            t->x[i] = opens;
        else if (p.row > 1 && i % p.row == beyond % p.row)
            t->x[i] = decides && !opens;
        else if (p.row > 1 && !decides && i % p.row == (beyond + 1) % p.row)
            t->x[i] = 1;
    }
}

/* Some of each row, not all, unless it is one that is hidden as a whole. */
static void hide(const struct filling *f, struct tensor *t, uint64_t *state) {
    struct plane p = plane_of(t);
    for (int64_t i = 0; i < t->n; i++)
        if (is_shut(f, p, i) || (p.row > 1 && !is_open(f, p, i) && uniform(state) < 0.5))
            t->x[i] = f->mask > 0 ? -INFINITY : INFINITY;
}

static double around(const struct filling *f, enum dtype type, double otherwise, uint64_t *state) {
    double u[3];
    for (int i = 0; i < 3; i++)
        u[i] = uniform(state);
    if (type == DT_I1 || f->distinct || f->mask || f->truth || f->index)
        return otherwise;
    double x = limits_number(f->limits, type, otherwise, u);
    return f->positive ? fabs(x) : x;
}

static double number_of(const struct filling *f, enum dtype type, double size, bool zero, uint64_t *state) {
    double x = 2 * uniform(state) - 1, far = uniform(state) < 0.03 ? 8 : 1;
    if (format_is_integer(type))
        return floor(uniform(state) * SMALL_INDEX);
    if (f->trial == TRIAL_TIES)
        return floor(uniform(state) * FEW);
    if (f->positive)
        return (0.01 + fabs(x)) * size * far;
    if (zero)
        return 0;
    if (f->trial == TRIAL_COARSE)
        return (f->distinct ? 4 * x : rint(4 * x)) * fmin(size, 1);
    return x * size * far;
}

/* Well below it, so that a line of several is, or of the size of its root where no index of the last two is odd: there
 * are lines of either along each dimension. */
static double beside_epsilon(double epsilon, struct plane p, int64_t i) {
    bool odd = i % p.row % 2 || i / p.row % p.rows % 2;
    return odd ? epsilon / 64 : sqrt(epsilon);
}

static void fill(const struct filling *f, struct tensor *t, enum dtype type) {
    static const double sizes[] = {0.25, 1, 0.5, 2};
    uint64_t state =
        (f->leaf + 1) * 0x2545f4914f6cdd1du + f->trial * 0x632be59bd9b4e019u + f->seed * 0xd1342543de82ef95u;
    int64_t row = t->shape.rank ? t->shape.dim[t->shape.rank - 1] : 1;
    double size = 1;
    for (int64_t i = 0; i < t->n; i++) {
        if (row > 1 && i % row == 0)
            size = sizes[(int)(uniform(&state) * 4)];
        t->x[i] = number_of(f, type, size, !f->distinct && row > 1 && i / row == 2, &state);
        if (f->trial == TRIAL_LIMITS)
            t->x[i] = around(f, type, t->x[i], &state);
        if (f->trial == TRIAL_SMALL && !format_is_integer(type))
            t->x[i] *= beside_epsilon(f->limits->epsilon, plane_of(t), i);
    }
    if (f->mask && !format_is_integer(type) && (f->trial == TRIAL_SHUT || (f->trial >= TRIAL_HIDDEN && row > 1)))
        hide(f, t, &state);
    if (type == DT_I1)
        fill_truth(f, t);
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

/* Among equal elements no order is promised: they are in a trial of their own. */
static bool is_sorted(const struct match *m) {
    bool found = false;
    for (uint32_t i = 0; i < m->nops; i++)
        found |= m->graph->kind[m->ops[i]] == K_SORT || m->graph->kind[m->ops[i]] == K_TOPK;
    return found;
}

bool numbers_roles(struct proof *p) {
    bool good = true;
    for (uint32_t i = 0; i < p->nleaves; i++) {
        struct leaf *l = &p->leaves[i];
        const struct holding *h = holding_of(p, l->value);
        l->holds = h ? form_read(p, h->formula) : NULL;
        good &= !h || l->holds;
        l->positive = is_positive(p, l->value);
        l->replicated = devices_replicate(p, l->value);
        l->truth = mask_truth(p, l->value, 0);
        l->mask = mask_sign(p, l->value);
        l->index = limits_is_index(p, l->value, 0);
    }
    p->sorts = is_sorted(p->match);
    p->limits = limits_find(p);
    return good;
}

bool numbers_stated(const struct proof *p, uint32_t leaf) {
    const struct leaf *l = &p->leaves[leaf];
    bool can_fail = l->tie && l->tie->stated;
    can_fail &= can_fail && (!isnan(l->tie->number) || graph_numel(p->match->graph, l->value) > 1);
    bool fixed = l->tie && !l->tie->stated;
    return can_fail || (l->positive && !fixed) || l->holds || (l->replicated && p->devices);
}

/* Some op takes the value, seen through movement: any, or one that does not just move it. */
static bool is_taken(const struct proof *p, uint32_t value, bool moved_too, int depth) {
    enum { DEEP = 16 };
    const struct graph *g = p->match->graph;
    bool taken = false;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && depth < DEEP && !taken; u++) {
        uint32_t op = g->uses[u];
        enum op_class c = graph_class(g, op);
        bool moves = c == OP_MOVE || c == OP_CAST || c == OP_LAYOUT || c == OP_SLICE || c == OP_JOIN;
        if (proof_evaluates(p, op))
            taken = moved_too || !moves || is_taken(p, g->m->ops[op].first_result, false, depth + 1);
    }
    return taken;
}

bool numbers_show_order(const struct proof *p) {
    const struct match *m = p->match;
    bool shown = false;
    for (uint32_t i = 0; i < m->nops && !shown; i++) {
        const struct mlir_op *op = &m->graph->m->ops[m->ops[i]];
        struct str stable = STR("");
        bool sorts = m->graph->kind[m->ops[i]] == K_SORT || m->graph->kind[m->ops[i]] == K_TOPK;
        if (!sorts || op->nresults < 2)
            continue;
        mlir_attr(m->graph->m, m->ops[i], "stable", &stable);
        bool promised = str_is(stable, "true");
        shown = is_taken(p, op->first_result + 1, promised, 0) || (promised && is_named(p, op->first_result + 1));
    }
    return shown;
}

bool numbers_differ(const struct proof *p, enum trial trial) {
    bool masks = false, hides = false;
    for (uint32_t i = 0; i < p->nleaves; i++) {
        masks |= p->leaves[i].mask != 0;
        hides |= p->leaves[i].truth == TRUTH_HIDES || p->leaves[i].truth == TRUTH_OPENS;
    }
    switch (trial) {
    case TRIAL_HIDDEN:
        return masks;
    case TRIAL_SHUT:
        return masks || hides;
    case TRIAL_TIES:
        return p->sorts;
    case TRIAL_LIMITS:
        return p->limits.n > 0 || p->limits.integers;
    case TRIAL_SMALL:
        return p->limits.epsilon > 0;
    default:
        return true;
    }
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

/* Such a value as the pattern says, of any. */
static const struct tensor *as_held(struct proof *p, const struct leaf *l, const struct tensor *t) {
    const struct tensor *slots[MAX_SLOTS] = {NULL}, *results[MAX_RESULTS] = {NULL};
    for (uint32_t i = 0; i < l->holds->nslots; i++)
        slots[i] = l->holds->slot_is_variable[i] ? t : NULL;
    if (!formula_value(&p->bench, p->prover->set, l->holds, slots, results))
        return NULL;
    return tensor_reshape(&p->bench, results[0], &t->shape);
}

/* What is replicated is that of the first device. */
static bool make_on(struct proof *p, const struct proof *first, enum trial trial, uint32_t violated) {
    for (uint32_t i = 0; i < p->nleaves; i++) {
        const struct leaf *l = &p->leaves[i];
        struct tensor *t = room_for(p, l->value);
        if (!t)
            return false;
        bool positive = trial == TRIAL_POSITIVE || (l->positive && i != violated);
        enum dtype type = l->truth ? DT_I1 : graph_dtype(p->match->graph, l->value);
        struct filling f = {p->prover->seed, i, trial, positive, p->sorts, l->mask, l->truth, &first->limits, l->index};
        fill(&f, t, type);
        impose(l->tie, i == violated, t);
        const struct tensor *payloads = l->holds && i != violated ? as_held(p, l, t) : t;
        if (!payloads)
            return false;
        bool same = p != first && l->replicated && i != violated;
        p->given[i] = same ? first->given[i] : (struct given){l->value, payloads};
    }
    return true;
}

bool numbers_make(struct proof *p, enum trial trial, uint32_t violated) {
    struct proof *q;
    devices_join(p);
    bool good = make_on(p, p, trial, violated);
    for (uint32_t i = 1; good && (q = devices_other(p, i)); i++)
        good = make_on(q, p, trial, violated);
    return good;
}
