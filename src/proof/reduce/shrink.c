/* Collects the constraints of a subgraph and searches small extents that satisfy them: depth first over the variables,
 * smallest values first, with propagation of constraints that have one variable left. Relations beyond those that ops
 * need (multiples, tiles, different extents) are kept on the first level that has a small solution. */
#include "proof/reduce/shrink.h"

#include <math.h>
#include <string.h>

#include "proof/reduce/constraints.h"
#include "proof/value/tensor.h"

enum {
    LEAST = 2,            /* of one element much is equal that is not of two: an extent of 1 broadcasts */
    LARGEST = 64,         /* values of a variable that are tried, beside its extent itself */
    MAX_TRIES = 2000,     /* assignments on one level: bounds the time where there is no solution */
    SMALL_COST = 1 << 15, /* extents_cost at which no further level is tried */
    TILE = 32             /* rows and columns of a tile of the hardware; SMALL_TILE stands for it */
};

/* Relations that are kept beyond the constraints of ops, from all to none. */
enum { KEEP_MULTIPLES = 1, KEEP_TILES = 2, KEEP_DIFFERENT = 4, LEVELS = 4 };
static const unsigned levels[LEVELS] = {KEEP_MULTIPLES | KEEP_TILES | KEEP_DIFFERENT, KEEP_TILES | KEEP_DIFFERENT,
                                        KEEP_DIFFERENT, 0};

struct extent_search {
    const struct constraints *c;
    struct extents *e;          /* the variables of the constraints */
    int64_t least[MAX_EXTENTS]; /* by variable: values from here on are tried before smaller ones */
    unsigned kept;              /* relations of the level */
    uint32_t tries;
    uint32_t skip; /* solutions still to be passed over */
};

/* ---- collecting ---- */

static void ask_all(struct constraints *c) {
    const struct subgraph *s = c->subgraph;
    for (uint32_t i = 0; i < s->nops; i++)
        constraints_of_op(c, s->ops[i]);
}

static bool collect_extents(struct constraints *c, const struct subgraph *s, struct extents *out, struct reason *why) {
    *c = (struct constraints){.subgraph = s, .e = out, .collecting = true};
    *out = (struct extents){0};
    for (uint32_t i = 0; i < s->ninputs; i++)
        constraints_add_shape(c, s->inputs[i]);
    for (uint32_t i = 0; i < s->nops; i++) {
        const struct mlir_op *op = &s->graph->m->ops[s->ops[i]];
        for (uint32_t r = 0; r < op->nresults; r++)
            constraints_add_shape(c, op->first_result + r);
    }
    ask_all(c);
    if (c->crowded)
        *why = (struct reason){STR("too many different extents"), REASON_TOO_MANY};
    c->collecting = c->full = false;
    c->n = 0;
    return !c->crowded;
}

/* ---- search ---- */

/* The value of a side as far as its variables are assigned; INT64_MIN: it overflows. `open`: the variable that is not,
 * which occurs `times` times; SEVERAL: there is more than one. */
enum { SEVERAL = UINT8_MAX };

static int64_t side_value(const struct extents *e, const struct constraint *r, int side, uint32_t *open,
                          uint32_t *times) {
    const struct constraint_side *x = &r->side[side];
    int64_t v = x->k;
    *open = NONE;
    *times = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        int64_t to = e->to[x->variable[i]];
        if (!to) {
            *open = *open == NONE || *open == x->variable[i] ? x->variable[i] : SEVERAL;
            ++*times;
        } else if (r->kind == PRODUCT ? __builtin_mul_overflow(v, to, &v) : __builtin_add_overflow(v, to, &v)) {
            return INT64_MIN;
        }
    }
    return v;
}

/* Where a is a multiple of b, what a becomes is a multiple of what b becomes. */
static bool keeps_multiple(int64_t a, int64_t b, int64_t to_a, int64_t to_b) {
    return a % b != 0 || to_a % to_b == 0;
}

/* The level allows this value for a variable beside those that are assigned. */
static bool may_be(const struct extent_search *s, uint32_t i, int64_t to) {
    const struct extents *e = s->e;
    if (to < LEAST || to > e->from[i] || (s->c->fixed[i] && to != e->from[i]))
        return false;
    if (s->kept & KEEP_TILES && !s->c->fixed[i] && (e->from[i] % TILE == 0) != (to % SMALL_TILE == 0))
        return false;
    for (uint32_t k = 0; k < e->n; k++) {
        if (k == i || !e->to[k])
            continue;
        if ((s->kept & KEEP_DIFFERENT || s->c->cut[i] || s->c->cut[k]) && e->to[k] == to)
            return false;
        if (s->kept & KEEP_MULTIPLES && !s->c->fixed[i] && !s->c->fixed[k] &&
            !(keeps_multiple(e->from[i], e->from[k], to, e->to[k]) &&
              keeps_multiple(e->from[k], e->from[i], e->to[k], to)))
            return false;
    }
    return true;
}

/* The value that the one unassigned variable of a constraint has to have; 0: no such value exists. False where the
 * constraint leaves it a choice. */
static bool forced_value(const struct constraint *r, int64_t known, int64_t rest, uint32_t times, int64_t *to) {
    int64_t left;
    *to = 0;
    if (r->kind == PRODUCT && times == 1 && rest != 0 && known % rest == 0)
        *to = known / rest;
    if (r->kind == SUM && !__builtin_sub_overflow(known, rest, &left) && left % times == 0)
        *to = left / times;
    return r->kind != AT_MOST && (r->kind == SUM || times == 1);
}

/* Assigns variables whose value is forced until none is left; `chosen` collects them. False: a constraint is violated.
 */
static bool propagate(struct extent_search *s, uint32_t *chosen, uint32_t *n) {
    for (uint32_t i = 0; i < s->c->n; i++) {
        const struct constraint *r = &s->c->items[i];
        uint32_t open[2], times[2];
        int64_t v[2] = {side_value(s->e, r, 0, &open[0], &times[0]), side_value(s->e, r, 1, &open[1], &times[1])}, to;
        if (v[0] == INT64_MIN || v[1] == INT64_MIN)
            return false;
        if (times[0] + times[1] == 0) {
            if (r->kind == AT_MOST ? v[0] > v[1] : v[0] != v[1])
                return false;
            continue;
        }
        int side = times[0] ? 0 : 1;
        if ((times[0] && times[1]) || open[side] == SEVERAL || !forced_value(r, v[!side], v[side], times[side], &to))
            continue;
        if (!may_be(s, open[side], to))
            return false;
        s->e->to[open[side]] = to;
        chosen[(*n)++] = open[side];
        i = NONE; /* from the first constraint again */
    }
    return true;
}

static bool choose_next(struct extent_search *s);

static bool try_value(struct extent_search *s, uint32_t i, int64_t to) {
    uint32_t chosen[MAX_EXTENTS + 1], n = 0;
    s->tries++;
    s->e->to[i] = to;
    if (propagate(s, chosen, &n) && choose_next(s))
        return true;
    while (n > 0)
        s->e->to[chosen[--n]] = 0;
    s->e->to[i] = 0;
    return false;
}

static bool try_values(struct extent_search *s, uint32_t i, int64_t from, int64_t to) {
    for (int64_t x = from; x <= to && s->tries < MAX_TRIES; x++)
        if (may_be(s, i, x) && try_value(s, i, x))
            return true;
    return false;
}

/* Assigns the first unassigned variable, which is the smallest: values from `least` up, then those below. */
static bool choose_next(struct extent_search *s) {
    uint32_t i = 0;
    while (i < s->e->n && s->e->to[i])
        i++;
    if (i == s->e->n && s->skip > 0) {
        s->skip--; /* a later solution is wanted */
        return false;
    }
    if (i == s->e->n)
        return true;
    int64_t from = s->e->from[i], most = from < LARGEST ? from : LARGEST;
    int64_t below = s->least[i] - 1 < most ? s->least[i] - 1 : most;
    return try_values(s, i, s->least[i], most) || (from > most && try_values(s, i, from, from)) ||
           try_values(s, i, LEAST, below);
}

static bool search_level(struct extent_search *s, unsigned kept, uint32_t which) {
    uint32_t chosen[MAX_EXTENTS + 1], n = 0;
    s->kept = kept;
    s->tries = 0;
    s->skip = which;
    for (uint32_t i = 0; i < s->e->n; i++)
        s->e->to[i] = s->c->fixed[i] ? s->e->from[i] : 0;
    return propagate(s, chosen, &n) && choose_next(s);
}

/* The solution of the first level on which it is cheap; else the cheapest of all levels. */
static bool search(struct extent_search *s, uint32_t which) {
    struct extents best = {0};
    double least = INFINITY;
    for (int level = 0; level < LEVELS && least > SMALL_COST; level++) {
        double cost = search_level(s, levels[level], which) ? extents_cost(s->c->subgraph, s->e) : INFINITY;
        if (cost < least) {
            least = cost;
            best = *s->e;
            best.given_up = level > 0;
        }
    }
    if (least < INFINITY)
        *s->e = best;
    return least < INFINITY;
}

bool extents_merged(const struct extents *e) {
    for (uint32_t i = 0; i < e->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (e->to[i] == e->to[k])
                return true;
    return false;
}

/* A second solution in which each extent is larger than in the first: two elements along a dimension do not show what
 * three do, and the next solution in search order would differ in the largest extents only. Where extents became equal,
 * up to three such solutions, each with other extents made different. */
static bool search_larger(struct extent_search *s, uint32_t which) {
    if (!search(s, 0))
        return false;
    bool merged = extents_merged(s->e);
    if (which > (merged ? 3 : 1))
        return false;
    for (uint32_t i = 0; i < s->e->n; i++)
        s->least[i] = s->e->to[i] + 1 + (merged ? i >> (which - 1) & 1 : 0);
    return search(s, 0) && extents_cost(s->c->subgraph, s->e) <= SMALL_COST;
}

/* The solution number `which`: larger ones first, then those after the first in search order. */
static bool search_one(struct extent_search *s, uint32_t which) {
    for (uint32_t i = 0; i < s->e->n; i++)
        s->least[i] = LEAST;
    if (which && search_larger(s, which))
        return true;
    for (uint32_t i = 0; i < s->e->n; i++)
        s->least[i] = LEAST;
    return search(s, which > 1 ? which - 1 : which);
}

bool extents_unchanged(const struct subgraph *s, struct extents *out, struct reason *why) {
    struct constraints c;
    if (!collect_extents(&c, s, out, why))
        return false;
    memcpy(out->to, out->from, sizeof out->to);
    return true;
}

bool extents_shrink(const struct subgraph *s, const struct shrink_options *how, struct extents *out,
                    struct reason *why) {
    struct constraints c;
    if (!collect_extents(&c, s, out, why))
        return false;
    for (uint32_t i = 0; i < s->ninputs; i++)
        if (how->keep[i])
            constraints_fix_shape(&c, s->inputs[i]);
    for (uint32_t i = 0; i < how->nfixed; i++)
        constraints_fix(&c, how->fixed[i]);
    ask_all(&c);
    struct extent_search search = {.c = &c, .e = out};
    if (!c.full && search_one(&search, how->which))
        return true;
    *why = c.full ? (struct reason){STR("too many relations between extents"), REASON_TOO_MANY}
                  : (struct reason){.text = STR("no smaller shapes keep all relations")};
    return false;
}

/* ---- cost ---- */

static double elements(const struct subgraph *s, const struct extents *e, uint32_t value) {
    uint32_t rank;
    const int64_t *dims = value == NONE ? NULL : graph_shape(s->graph, value, &rank);
    double n = dims ? 1 : 0;
    for (uint32_t d = 0; dims && d < rank; d++)
        n *= (double)extent_to(e, dims[d]);
    return n;
}

/* Multiplications of a product or convolution, and numbers in the windows of a pool; of another op the elements of its
 * result. */
static double op_cost(const struct subgraph *s, const struct extents *e, uint32_t op) {
    const struct graph *g = s->graph;
    struct contraction c;
    uint32_t rank;
    double n = elements(s, e, g->m->ops[op].first_result);
    if (graph_class(g, op) == OP_CONTRACT && contraction_of(g, op, &c)) {
        const int64_t *dims = graph_shape(g, c.a, &rank);
        for (uint32_t i = 0; i < c.nsummed; i++)
            n *= (double)extent_to(e, dims[c.a_summed[i]]);
        return n;
    }
    struct window w;
    struct shape weight;
    if (op_table[g->kind[op]].window.kind == WINDOW_NONE || graph_window(g, op, &w) != NULL)
        return n;
    if (!op_convolves((enum op_kind)g->kind[op])) {
        for (uint32_t d = 0; d < w.n; d++)
            n *= (double)extent_to(e, w.size[d]);
    } else if (shape_in_graph(g, graph_operands(g, op)[1], &weight)) {
        /* each result element takes one filter: the weights over the channels that they are for */
        int64_t filters = window_takes_prepared(&w, &weight) ? w.out_channels : weight.dim[w.weight_dims[0]];
        n *= elements(s, e, graph_operands(g, op)[1]) / (double)extent_to(e, filters);
    }
    return n;
}

double extents_cost(const struct subgraph *s, const struct extents *e) {
    const struct graph *g = s->graph;
    double n = 0;
    for (uint32_t i = 0; i < s->ninputs; i++)
        n += elements(s, e, s->inputs[i]);
    for (uint32_t i = 0; i < s->nops; i++)
        if (g->m->ops[s->ops[i]].nresults)
            n += op_cost(s, e, s->ops[i]);
    return n;
}
