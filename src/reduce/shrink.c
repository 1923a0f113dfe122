/* What ops say of extents becomes rules over their numbers (shrink_rules.c); a search with propagation finds small
 * numbers that obey. */
#include "reduce/shrinker.h"

#include <math.h>

#include "numeric/tensor.h"

enum { LEAST = 2, MAX_TRIES = 20000, SMALL_COST = 1 << 15, STRICT_COST = 1 << 20, TILE = 32 };

/* Which relations are kept beyond those of the ops; the first level that has a small solution counts. */
enum { KEEP_MULTIPLES = 1, KEEP_TILES = 2, KEEP_DIFFERENT = 4, LEVELS = 4 };
static const unsigned levels[2][LEVELS] = {
    {KEEP_MULTIPLES | KEEP_TILES | KEEP_DIFFERENT, KEEP_TILES | KEEP_DIFFERENT, KEEP_DIFFERENT, 0},
    {KEEP_MULTIPLES | KEEP_TILES | KEEP_DIFFERENT, KEEP_MULTIPLES | KEEP_DIFFERENT, KEEP_MULTIPLES, 0}};

/* ---- numbers ---- */

int64_t extent_to(const struct extents *e, int64_t from) {
    uint32_t lo = 0, hi = e->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (e->from[mid] < from)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < e->n && e->from[lo] == from ? e->to[lo] : from;
}

void shrink_number(struct shrinker *s, int64_t x) {
    struct extents *e = s->e;
    uint32_t at = 0;
    while (at < e->n && e->from[at] < x)
        at++;
    if (x < 2 || (at < e->n && e->from[at] == x))
        return;
    if (e->n == MAX_EXTENTS) {
        s->full = true;
        return;
    }
    memmove(e->from + at + 1, e->from + at, (e->n - at) * sizeof *e->from);
    e->from[at] = x;
    e->n++;
}

static void add_shape(struct shrinker *s, uint32_t value) {
    uint32_t rank;
    const int64_t *dims = value == NONE ? NULL : graph_shape(s->part->graph, value, &rank);
    for (uint32_t d = 0; dims && d < rank; d++)
        shrink_number(s, dims[d]);
}

static void add_bounds(struct shrinker *s, uint32_t op) {
    struct slice_bounds b;
    if (!slice_bounds(s->part->graph, op, &b))
        return;
    for (uint32_t d = 0; d < b.rank; d++) {
        shrink_number(s, b.begin[d]);
        shrink_number(s, b.end[d]);
    }
}

static void add_numbers(struct shrinker *s) {
    const struct graph *g = s->part->graph;
    for (uint32_t i = 0; i < s->part->nouter; i++)
        add_shape(s, s->part->outer[i]);
    for (uint32_t i = 0; i < s->part->nops; i++) {
        const struct mlir_op *op = &g->m->ops[s->part->ops[i]];
        for (uint32_t r = 0; r < op->nresults; r++)
            add_shape(s, op->first_result + r);
        add_bounds(s, s->part->ops[i]);
    }
}

static uint32_t index_of(const struct shrinker *s, int64_t x) {
    for (uint32_t i = 0; i < s->e->n; i++)
        if (s->e->from[i] == x)
            return i;
    return NONE;
}

void shrink_fix(struct shrinker *s, int64_t x) {
    uint32_t i = index_of(s, x);
    if (i != NONE)
        s->fixed[i] = true;
}

void shrink_fix_shape(struct shrinker *s, uint32_t value) {
    uint32_t rank;
    const int64_t *dims = value == NONE ? NULL : graph_shape(s->part->graph, value, &rank);
    for (uint32_t d = 0; dims && d < rank; d++)
        shrink_fix(s, dims[d]);
}

/* ---- rules ---- */

struct rule *shrink_rule(struct shrinker *s, enum rule_kind kind) {
    int64_t neutral = kind == PRODUCT ? 1 : 0;
    s->full |= s->nrules == MAX_RULES;
    struct rule *r = &s->rules[s->full ? 0 : s->nrules++];
    *r = (struct rule){.kind = kind, .side = {{.k = neutral}, {.k = neutral}}};
    return r;
}

void shrink_put_constant(struct shrinker *s, struct rule *r, int side, int64_t x) {
    int64_t *k = &r->side[side].k;
    s->full |= r->kind == PRODUCT ? __builtin_mul_overflow(*k, x, k) : __builtin_add_overflow(*k, x, k);
}

void shrink_put(struct shrinker *s, struct rule *r, int side, int64_t x) {
    struct side *to = &r->side[side];
    uint32_t i = index_of(s, x);
    if (i == NONE)
        shrink_put_constant(s, r, side, x);
    else if (to->n < MAX_SIDE)
        to->number[to->n++] = (uint8_t)i;
    else
        s->full = true;
}

/* ---- search ---- */

/* What is known of a side; `open`: the number that is not, `times` it occurs; MANY when there are several. */
enum { MANY = UINT8_MAX };

static int64_t evaluated(const struct shrinker *s, const struct rule *r, int side, uint32_t *open, uint32_t *times) {
    const struct side *x = &r->side[side];
    int64_t v = x->k;
    *open = NONE;
    *times = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        int64_t to = s->e->to[x->number[i]];
        if (!to) {
            *open = *open == NONE || *open == x->number[i] ? x->number[i] : MANY;
            ++*times;
        } else if (r->kind == PRODUCT ? __builtin_mul_overflow(v, to, &v) : __builtin_add_overflow(v, to, &v)) {
            return INT64_MIN;
        }
    }
    return v;
}

static bool divides_alike(int64_t a, int64_t b, int64_t to_a, int64_t to_b) {
    return a % b != 0 || to_a % to_b == 0;
}

static bool may_be(const struct shrinker *s, uint32_t i, int64_t to) {
    const struct extents *e = s->e;
    if (to < 2 || to > e->from[i] || (s->fixed[i] && to != e->from[i]))
        return false;
    if (s->kept & KEEP_TILES && !s->fixed[i] && (e->from[i] % TILE == 0) != (to % SMALL_TILE == 0))
        return false;
    for (uint32_t k = 0; k < e->n; k++) {
        if (k == i || !e->to[k])
            continue;
        if (s->kept & KEEP_DIFFERENT && e->to[k] == to)
            return false;
        if (s->kept & KEEP_MULTIPLES && !s->fixed[i] && !s->fixed[k] &&
            !(divides_alike(e->from[i], e->from[k], to, e->to[k]) &&
              divides_alike(e->from[k], e->from[i], e->to[k], to)))
            return false;
    }
    return true;
}

/* The only number that is left open in a rule, and what it has to be. False: none, or more than one. */
static bool only_choice(const struct rule *r, int64_t known, int64_t rest, uint32_t times, int64_t *to) {
    int64_t left;
    *to = 0;
    if (r->kind == PRODUCT && times == 1 && rest != 0 && known % rest == 0)
        *to = known / rest;
    if (r->kind == SUM && !__builtin_sub_overflow(known, rest, &left) && left % times == 0)
        *to = left / times;
    return r->kind != AT_MOST && (r->kind == SUM || times == 1);
}

/* Chooses what is the only choice left, again and again. `chosen` collects it. False: a rule is broken. */
static bool propagate(struct shrinker *s, uint32_t *chosen, uint32_t *n) {
    for (uint32_t i = 0; i < s->nrules; i++) {
        const struct rule *r = &s->rules[i];
        uint32_t open[2], times[2];
        int64_t v[2] = {evaluated(s, r, 0, &open[0], &times[0]), evaluated(s, r, 1, &open[1], &times[1])}, to;
        if (v[0] == INT64_MIN || v[1] == INT64_MIN)
            return false;
        if (times[0] + times[1] == 0) {
            if (r->kind == AT_MOST ? v[0] > v[1] : v[0] != v[1])
                return false;
            continue;
        }
        int side = times[0] ? 0 : 1;
        if ((times[0] && times[1]) || open[side] == MANY || !only_choice(r, v[!side], v[side], times[side], &to))
            continue;
        if (!may_be(s, open[side], to))
            return false;
        s->e->to[open[side]] = to;
        chosen[(*n)++] = open[side];
        i = NONE; /* from the first rule again */
    }
    return true;
}

static bool choose_next(struct shrinker *s);

static bool try_number(struct shrinker *s, uint32_t i, int64_t to) {
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

/* The smallest number that is open, its smallest candidates first, but for those below `least`. */
static bool choose_next(struct shrinker *s) {
    enum { LARGEST = 4096 };
    uint32_t i = 0;
    while (i < s->e->n && s->e->to[i])
        i++;
    if (i == s->e->n && s->skip > 0) {
        s->skip--; /* another solution than the first is wanted */
        return false;
    }
    if (i == s->e->n)
        return true;
    for (int64_t to = s->least[i]; to <= s->e->from[i] && to <= LARGEST && s->tries < MAX_TRIES; to++)
        if (may_be(s, i, to) && try_number(s, i, to))
            return true;
    for (int64_t to = LEAST; to < s->least[i] && s->tries < MAX_TRIES; to++)
        if (may_be(s, i, to) && try_number(s, i, to))
            return true;
    return false;
}

static bool search_level(struct shrinker *s, unsigned kept, uint32_t which) {
    uint32_t chosen[MAX_EXTENTS + 1], n = 0;
    s->kept = kept;
    s->tries = 0;
    s->skip = which;
    for (uint32_t i = 0; i < s->e->n; i++)
        s->e->to[i] = s->fixed[i] ? s->e->from[i] : 0;
    return propagate(s, chosen, &n) && choose_next(s);
}

/* The first level whose extents are small; else the smallest that there are. */
static bool search(struct shrinker *s, uint32_t which, bool strict) {
    struct extents best = {0};
    double least = INFINITY;
    for (int level = 0; level < LEVELS && least > SMALL_COST; level++) {
        if (strict && least <= STRICT_COST && !(levels[strict][level] & KEEP_MULTIPLES))
            break;
        double cost = search_level(s, levels[strict][level], which) ? extents_cost(s->part, s->e) : INFINITY;
        if (cost < least) {
            least = cost;
            best = *s->e;
        }
    }
    if (least < INFINITY)
        *s->e = best;
    return least < INFINITY;
}

/* Different numbers became equal. */
static bool is_merged(const struct extents *e) {
    for (uint32_t i = 0; i < e->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (e->to[i] == e->to[k])
                return true;
    return false;
}

/* Of two elements much is the same that is not of three, and further solutions leave the smallest numbers as they are:
 * in the second one each is larger than in the first, as far as there is such a one. Where numbers became equal, the
 * same goes for those after it, and each makes others different. */
static bool search_larger(struct shrinker *s, uint32_t which, bool strict) {
    if (!search(s, 0, strict))
        return false;
    bool merged = is_merged(s->e);
    if (which > (merged ? 3 : 1))
        return false;
    for (uint32_t i = 0; i < s->e->n; i++)
        s->least[i] = s->e->to[i] + 1 + (merged ? i >> (which - 1) & 1 : 0);
    return search(s, 0, strict) && extents_cost(s->part, s->e) <= SMALL_COST;
}

static bool search_one(struct shrinker *s, uint32_t which, bool strict) {
    for (uint32_t i = 0; i < s->e->n; i++)
        s->least[i] = LEAST;
    if (which && search_larger(s, which, strict))
        return true;
    for (uint32_t i = 0; i < s->e->n; i++)
        s->least[i] = LEAST;
    return search(s, which > 1 ? which - 1 : which, strict);
}

static bool collect(struct shrinker *s, const struct part *p, struct extents *out, struct str *why) {
    *s = (struct shrinker){.part = p, .e = out};
    *out = (struct extents){0};
    add_numbers(s);
    for (uint32_t i = 0; i < p->nops; i++)
        numbers_of_op(s, p->ops[i]);
    if (s->full)
        *why = STR("too many different extents");
    return !s->full;
}

bool extents_of(const struct part *p, struct extents *out, struct str *why) {
    struct shrinker s;
    if (!collect(&s, p, out, why))
        return false;
    memcpy(out->to, out->from, sizeof out->to);
    return true;
}

bool extents_shrink(const struct part *p, uint32_t which, struct extents *out, struct str *why) {
    return extents_shrink_as(p, &(struct shrinking){.which = which}, out, why);
}

bool extents_shrink_as(const struct part *p, const struct shrinking *how, struct extents *out, struct str *why) {
    struct shrinker s;
    if (!collect(&s, p, out, why))
        return false;
    for (uint32_t i = 0; i < p->nouter; i++)
        if (how->whole[i])
            shrink_fix_shape(&s, p->outer[i]);
    for (uint32_t i = 0; i < p->nops; i++)
        rules_of_op(&s, p->ops[i]);
    if (!s.full && search_one(&s, how->which, how->strict))
        return true;
    *why = s.full ? STR("too many relations between extents") : STR("no smaller shapes keep all relations");
    return false;
}

/* ---- cost ---- */

static double elements(const struct part *p, const struct extents *e, uint32_t value) {
    uint32_t rank;
    const int64_t *dims = value == NONE ? NULL : graph_shape(p->graph, value, &rank);
    double n = dims ? 1 : 0;
    for (uint32_t d = 0; dims && d < rank; d++)
        n *= (double)extent_to(e, dims[d]);
    return n;
}

static double products(const struct part *p, const struct extents *e, uint32_t op) {
    const struct graph *g = p->graph;
    struct contraction c;
    uint32_t rank;
    double n = elements(p, e, g->m->ops[op].first_result);
    if (graph_class(g, op) == OP_CONTRACT && contraction_of(g, op, &c)) {
        const int64_t *dims = graph_shape(g, c.a, &rank);
        for (uint32_t i = 0; i < c.nsummed; i++)
            n *= (double)extent_to(e, dims[c.a_summed[i]]);
        return n;
    }
    if (has_window((enum op_kind)g->kind[op]) && graph_noperands(g, op) > 1 && graph_operands(g, op)[1] != NONE) {
        const int64_t *dims = graph_shape(g, graph_operands(g, op)[1], &rank); /* of each output channel */
        n *= elements(p, e, graph_operands(g, op)[1]) / (double)(dims && rank && dims[0] ? extent_to(e, dims[0]) : 1);
    }
    return n;
}

double extents_cost(const struct part *p, const struct extents *e) {
    const struct graph *g = p->graph;
    double n = 0;
    for (uint32_t i = 0; i < p->nouter; i++)
        n += elements(p, e, p->outer[i]);
    for (uint32_t i = 0; i < p->nops; i++)
        if (g->m->ops[p->ops[i]].nresults)
            n += products(p, e, p->ops[i]);
    return n;
}
