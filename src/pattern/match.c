/* The matcher: a list of goals (this part of the formula at that value), worked off depth first with
 * backtracking. What a goal binds, matches or looks through is kept on stacks that are cut back when
 * an alternative fails, so the cost is bounded by the step limit and not by what was tried. */
#include "pattern/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_STEPS = 20000,      /* goals per anchor and pattern */
    SCRATCH = 4 << 20,      /* bytes for goals and maps of one anchor */
    MAX_MATCHED = 128,
    MAX_THROUGH = 256,
    MAX_TRAIL = 1024,
    MAX_CHAIN = 48,
    MAX_PRECONDITIONS = 16,
    MAX_FRESH = 64
};

struct goal {
    const struct node *node;
    uint32_t value;
    const struct imap *map;
    const struct axes *axes;
    uint32_t slot;   /* named value that this is the definition of, or NONE */
    uint32_t parent; /* index of the matched op that asks for it, or NONE */
    uint32_t arg;
    bool inside;     /* an operand of a contraction: its axes are exact */
    const struct goal *next;
};

struct matched {
    uint32_t op, parent, arg;
};

struct passed {
    uint32_t op;
    bool inner; /* between two matched ops: its result may have no other user */
};

struct undo {
    uint32_t slot;
    struct binding before;
};

struct matcher {
    const struct graph *g;
    const struct pattern *pattern;
    uint32_t func;
    char *scratch;
    size_t at;
    uint64_t steps;
    uint32_t spaces;
    struct binding slots[MAX_SLOTS];
    struct matched matched[MAX_MATCHED];
    uint32_t nmatched;
    struct passed passed[MAX_THROUGH];
    uint32_t npassed;
    struct undo trail[MAX_TRAIL];
    uint32_t ntrail;
    struct str preconditions[MAX_PRECONDITIONS];
    uint32_t npreconditions;
    const struct axes *root_axes;
    struct arena *arena;
    struct match *found;
    bool full; /* a fixed limit was reached */
};

struct mark {
    size_t at;
    uint32_t spaces, nmatched, npassed, ntrail, npreconditions;
};

static struct mark mark(const struct matcher *m) {
    return (struct mark){m->at, m->spaces, m->nmatched, m->npassed, m->ntrail, m->npreconditions};
}

static void undo(struct matcher *m, struct mark k) {
    while (m->ntrail > k.ntrail) {
        m->ntrail--;
        m->slots[m->trail[m->ntrail].slot] = m->trail[m->ntrail].before;
    }
    m->at = k.at;
    m->spaces = k.spaces;
    m->nmatched = k.nmatched;
    m->npassed = k.npassed;
    m->npreconditions = k.npreconditions;
}

static void *scratch(struct matcher *m, size_t n) {
    n = (n + 15) & ~(size_t)15;
    if (m->at + n > SCRATCH) {
        m->full = true;
        return NULL;
    }
    void *p = m->scratch + m->at;
    m->at += n;
    return p;
}

static void set_slot(struct matcher *m, uint32_t slot, struct binding b) {
    if (m->ntrail == MAX_TRAIL) {
        m->full = true;
        return;
    }
    m->trail[m->ntrail++] = (struct undo){slot, m->slots[slot]};
    m->slots[slot] = b;
}

static void add_passed(struct matcher *m, uint32_t op, bool inner) {
    for (uint32_t i = 0; i < m->npassed; i++)
        if (m->passed[i].op == op && m->passed[i].inner >= inner)
            return;
    if (m->npassed == MAX_THROUGH)
        m->full = true;
    else
        m->passed[m->npassed++] = (struct passed){op, inner};
}

static uint32_t add_matched(struct matcher *m, uint32_t op, const struct goal *g) {
    if (m->nmatched == MAX_MATCHED) {
        m->full = true;
        return 0;
    }
    m->matched[m->nmatched] = (struct matched){op, g->parent, g->arg};
    return m->nmatched++;
}

static bool solve(struct matcher *m, const struct goal *g);

static bool transparent(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    return (c == OP_MOVE || c == OP_CAST || c == OP_LAYOUT) && graph_noperands(g, op) == 1 &&
           graph_operands(g, op)[0] != NONE;
}

static struct goal *child(struct matcher *m, const struct goal *of, const struct node *node, uint32_t value,
                          const struct imap *map, const struct axes *axes, const struct goal *next) {
    struct goal *c = scratch(m, sizeof *c);
    if (c)
        *c = (struct goal){node, value, map, axes, NONE, of->parent, 0, of->inside, next};
    return c;
}

/* A quick look behind movement, before any index is computed: can this value be what the node stands for at all? */
static bool plausible(const struct matcher *m, const struct node *node, uint32_t value) {
    const struct graph *g = m->g;
    if (node->kind == N_NUMBER)
        return node->given || graph_constant(g, value).known;
    if (node->any || (node->kind == N_NAMED && m->slots[node->slot].value != NONE))
        return true;
    for (uint32_t step = 0; step < MAX_CHAIN; step++) {
        uint32_t op = g->m->values[value].def;
        if (op == NONE)
            return false;
        if (!transparent(g, op))
            return node_may_be(node, (enum op_kind)g->kind[op]);
        value = graph_operands(g, op)[0];
    }
    return true;
}

/* ---- values seen through movement ---- */

struct link {
    uint32_t value, op; /* op: what was looked through to get here; NONE for the first */
    struct imap map;
};

static uint32_t chain(const struct graph *g, uint32_t value, const struct imap *map, struct link *out, uint32_t max) {
    uint32_t n = 0;
    out[n] = (struct link){value, NONE, *map};
    imap_canonical(&out[n++].map);
    while (n < max) {
        uint32_t op = g->m->values[out[n - 1].value].def;
        if (op == NONE || !transparent(g, op) || !imap_through(g, op, &out[n - 1].map, &out[n].map))
            break;
        imap_canonical(&out[n].map);
        out[n].value = graph_operands(g, op)[0];
        out[n++].op = op;
    }
    return n;
}

static void pass_links(struct matcher *m, const struct link *links, uint32_t n, bool inner) {
    for (uint32_t i = 1; i <= n; i++)
        add_passed(m, links[i].op, inner);
}

static const struct imap *keep_map(struct matcher *m, const struct imap *map) {
    struct imap *copy = scratch(m, sizeof *copy);
    if (copy)
        *copy = *map;
    return copy;
}

/* The second occurrence of a name: the same element of the same value, seen from both. The name moves down to
 * where the two roads part. */
static bool same_value(struct matcher *m, const struct goal *g, uint32_t slot) {
    struct binding b = m->slots[slot];
    if (g->value == b.value && imap_equal(g->map, b.map))
        return true;
    struct link *here = scratch(m, MAX_CHAIN * sizeof *here), *there = scratch(m, MAX_CHAIN * sizeof *there);
    if (!here || !there)
        return false;
    uint32_t n = chain(m->g, g->value, g->map, here, MAX_CHAIN), k = chain(m->g, b.value, b.map, there, MAX_CHAIN);
    bool variable = m->pattern->formula.slot_is_variable[slot];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < k; j++) {
            if (here[i].value != there[j].value || !imap_equal(&here[i].map, &there[j].map))
                continue;
            pass_links(m, here, i, !variable);
            if (variable) {
                pass_links(m, there, j, false);
                const struct imap *map = keep_map(m, &there[j].map);
                if (map)
                    set_slot(m, slot, (struct binding){there[j].value, b.op, map, b.axes});
            } else if (j > 0) {
                continue; /* a named value is an op's result: the other road must lead to it */
            }
            return !m->full;
        }
    return false;
}

/* A variable stands for the value at hand, or for what was there before it was repeated or broadcast, when nobody
 * else uses the expanded form. */
static bool bind_variable(struct matcher *m, const struct goal *g) {
    uint32_t slot = g->node->slot;
    if (m->slots[slot].value != NONE)
        return same_value(m, g, slot) && solve(m, g->next);
    struct link *links = scratch(m, MAX_CHAIN * sizeof *links);
    if (!links)
        return false;
    uint32_t n = chain(m->g, g->value, g->map, links, MAX_CHAIN), take = 0;
    for (uint32_t i = 1; i < n && graph_nuses(m->g, links[i - 1].value) == 1; i++)
        if (graph_numel(m->g, links[i].value) < graph_numel(m->g, links[i - 1].value))
            take = i;
    pass_links(m, links, take, false);
    const struct imap *map = keep_map(m, &links[take].map);
    if (!map)
        return false;
    set_slot(m, slot, (struct binding){links[take].value, NONE, map, g->axes});
    return solve(m, g->next);
}

static bool named_value(struct matcher *m, const struct goal *g) {
    uint32_t slot = g->node->slot;
    if (m->slots[slot].value != NONE)
        return same_value(m, g, slot) && solve(m, g->next);
    struct goal *c = child(m, g, g->node->args[0], g->value, g->map, g->axes, g->next);
    if (!c)
        return false;
    c->arg = g->arg;
    c->slot = slot;
    set_slot(m, slot, (struct binding){g->value, NONE, g->map, g->axes});
    return !m->full && solve(m, c);
}

/* ---- numbers ---- */

static struct evaluation evaluation(struct matcher *m, const struct axes *axes) {
    return (struct evaluation){.graph = m->g, .formula = &m->pattern->formula, .bindings = m->slots, .axes = axes,
                               .arena = m->arena, .preconditions = m->preconditions,
                               .npreconditions = &m->npreconditions, .max_preconditions = MAX_PRECONDITIONS};
}

/* Equal up to the rounding of the narrowest format on the constant's way (half a unit in the last place, doubled for
 * a computation in between). */
static bool close_to(double actual, double expected, int bits) {
    if (actual == expected)
        return true;
    return isfinite(actual) && isfinite(expected) && fabs(actual - expected) <= fabs(expected) * ldexp(2, -bits);
}

static bool number(struct matcher *m, const struct goal *g) {
    struct evaluation e = evaluation(m, g->axes);
    double expected = evaluate(&e, g->node->number);
    struct constant c = graph_constant(m->g, g->value);
    if (isnan(expected))
        return false;
    if (c.known)
        return close_to(c.value, expected, c.bits > 24 ? 24 : c.bits) && solve(m, g->next);
    uint32_t argument = g->node->given ? graph_argument(m->g, g->value) : NONE;
    if (argument == NONE || str_is(graph_argument_type(m->g, argument), "input") ||
        m->npreconditions == MAX_PRECONDITIONS)
        return false;
    struct str label = value_label(m->g, argument, m->arena);
    m->preconditions[m->npreconditions++] =
        arena_printf(m->arena, "every element of %.*s is %.9g", (int)label.n, label.p, expected);
    return solve(m, g->next);
}

/* An operand that is printed as an attribute. */
static bool attribute_is(struct matcher *m, const struct goal *g, uint32_t op, uint32_t role, const struct node *node) {
    const char *r = op_table[m->g->kind[op]].roles;
    for (uint32_t i = 0; i < role && r; i++) {
        r = strchr(r, ',');
        r += r != NULL;
    }
    size_t n = r ? strcspn(r, ",") : 0;
    const char *eq = r ? memchr(r, '=', n) : NULL;
    char key[32];
    if (!eq || node->kind != N_NUMBER || n - (size_t)(eq + 1 - r) >= sizeof key)
        return false;
    size_t len = n - (size_t)(eq + 1 - r);
    memcpy(key, eq + 1, len);
    key[len] = '\0';
    struct str text;
    double actual;
    struct evaluation e = evaluation(m, g->axes);
    return mlir_attr(m->g->m, op, key, &text) && mlir_float(text, &actual) &&
           close_to(actual, evaluate(&e, node->number), 24);
}

/* ---- operators ---- */

static bool attributes_fit(const struct matcher *m, const struct node *node, uint32_t op) {
    for (uint32_t i = 0; i < node->nattrs; i++) {
        const struct attr_spec *a = &node->attrs[i];
        struct str text, inner;
        bool there = mlir_attr(m->g->m, op, a->key, &text);
        if (a->test == ATTR_ABSENT) {
            if (there)
                return false;
            continue;
        }
        double x, y;
        bool same = there && (str_eq(text, a->value) || (mlir_string(text, &inner) && str_eq(inner, a->value)) ||
                              (mlir_float(text, &x) && mlir_float(a->value, &y) && x == y));
        if (!same)
            return false;
    }
    return true;
}

/* Goals for the operands in the formula's order; `order` maps a formula's argument to an operand. */
static bool operands(struct matcher *m, const struct goal *g, uint32_t op, const uint32_t *order, const struct imap *map) {
    const struct node *node = g->node;
    const uint32_t *v = graph_operands(m->g, op);
    uint32_t n = graph_noperands(m->g, op), result = m->g->m->ops[op].first_result;
    const struct goal *next = g->next;
    for (uint32_t i = 0; i < node->nargs; i++)
        if (order[i] < n && (v[order[i]] == NONE || !plausible(m, node->args[i], v[order[i]])))
            return false;
    uint32_t me = add_matched(m, op, g);
    for (uint32_t i = node->nargs; i-- > 0;) {
        if (order[i] >= n) {
            if (!attribute_is(m, g, op, order[i], node->args[i]))
                return false;
            continue;
        }
        struct imap *mapped = scratch(m, sizeof *mapped);
        if (!mapped || !imap_operand(m->g, result, v[order[i]], map, mapped))
            return false;
        imap_canonical(mapped);
        struct goal *c = child(m, g, node->args[i], v[order[i]], mapped, g->axes, next);
        if (!c)
            return false;
        c->parent = me;
        c->arg = i;
        next = c;
    }
    return !m->full && solve(m, next);
}

static uint32_t present(const struct graph *g, uint32_t op) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        n += graph_operands(g, op)[i] != NONE;
    return n;
}

static bool elementwise(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    uint32_t order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    if (g->node->nargs > 8 || present(m->g, op) > g->node->nargs)
        return false;
    struct mark k = mark(m);
    if (operands(m, g, op, order, map))
        return true;
    undo(m, k);
    if (!(op_table[m->g->kind[op]].flags & COMMUTES) || g->node->nargs != 2 || graph_noperands(m->g, op) != 2)
        return false;
    order[0] = 1;
    order[1] = 0;
    return operands(m, g, op, order, map);
}

static uint32_t reduced_dims(const struct graph *g, uint32_t op, uint32_t rank, bool *reduced) {
    struct str text;
    int64_t dims[MAX_RANK];
    bool listed = mlir_attr(g->m, op, "dim_arg", &text) || mlir_attr(g->m, op, "dim", &text) ||
                  mlir_attr(g->m, op, "dim_args", &text);
    int n = listed ? mlir_ints(text, dims, MAX_RANK) : 0;
    memset(reduced, 0, MAX_RANK * sizeof *reduced);
    if (n < 0 || n > MAX_RANK)
        return NONE;
    for (uint32_t d = 0; d < rank && n == 0; d++)
        reduced[d] = true;
    for (int i = 0; i < n; i++) {
        int64_t d = dims[i] < 0 ? dims[i] + (int64_t)rank : dims[i];
        if (d < 0 || d >= (int64_t)rank)
            return NONE;
        reduced[d] = true;
    }
    uint32_t count = 0;
    for (uint32_t d = 0; d < rank; d++)
        count += reduced[d];
    return count;
}

/* The digits that a reduction runs over: those of the formula's axes that its result does not depend on, so that
 * x inside the sum and x outside it speak of the same axis; else digits of their own. */
static bool summed_digits(struct matcher *m, const struct goal *g, const struct imap *map, const int64_t *extents,
                          uint32_t n, struct axes *out, bool *own) {
    *own = !imap_complement(g->axes, map, extents, n, out);
    if (!*own)
        return true;
    uint32_t space = ++m->spaces;
    axes_clear(out);
    int64_t lo = 1;
    for (uint32_t i = 0; i < n; i++)
        lo *= extents[i];
    for (uint32_t i = 0; i < n; i++) {
        lo /= extents[i];
        struct term t = {space, lo, extents[i], 1};
        if (!axes_add(out, &t, extents[i] > 1))
            return false;
    }
    return true;
}

static bool axis_fits(const struct goal *g, const struct imap *axis) {
    if (!g->node->dim.given)
        return true;
    struct imap meant;
    axes_axis(g->axes, g->node->dim.axis, &meant);
    return imap_equal(axis, &meant);
}

static bool reduction(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    const struct graph *gr = m->g;
    uint32_t result = gr->m->ops[op].first_result, x = graph_operands(gr, op)[0], rank, out_rank;
    const int64_t *shape = graph_shape(gr, x, &rank), *out_shape = graph_shape(gr, result, &out_rank);
    bool reduced[MAX_RANK], own;
    struct axes c, sum, mapped;
    if (!shape || !out_shape || rank > MAX_RANK || g->node->nargs != 1 || !plausible(m, g->node->args[0], x))
        return false;
    uint32_t count = reduced_dims(gr, op, rank, reduced);
    bool kept = out_rank == rank;
    if (count == NONE || (!kept && out_rank + count != rank) || !imap_coordinates(map, out_shape, out_rank, &c))
        return false;
    int64_t extents[MAX_RANK];
    uint32_t n = 0;
    bool last_only = true;
    for (uint32_t d = 0; d < rank; d++) {
        if (!reduced[d])
            continue;
        if (shape[d] < 1)
            return false;
        extents[n++] = shape[d];
        last_only &= d + 1 == rank || shape[d] == 1;
    }
    if (!summed_digits(m, g, map, extents, n, &sum, &own))
        return false;
    axes_clear(&mapped);
    uint32_t from = 0, of_sum = 0;
    for (uint32_t d = 0; d < rank; d++) {
        const struct axes *src = reduced[d] ? &sum : &c;
        uint32_t at = reduced[d] ? of_sum++ : from;
        from += !reduced[d] || kept;
        uint32_t begin = axes_begin(src, at);
        if (!axes_add(&mapped, src->t + begin, src->end[at] - begin))
            return false;
    }
    struct imap axis, *x_map = scratch(m, sizeof *x_map);
    if (!x_map || !axes_join(&sum, 0, sum.n, &axis) || !imap_of_coordinates(&mapped, shape, rank, x_map))
        return false;
    if (own ? g->node->dim.given && !(g->node->dim.axis == -1 && last_only) : !axis_fits(g, &axis))
        return false;
    uint32_t me = add_matched(m, op, g);
    struct goal *ch = child(m, g, g->node->args[0], x, x_map, g->axes, g->next);
    if (!ch)
        return false;
    ch->parent = me;
    return !m->full && solve(m, ch);
}

/* The axis along which softmax or a norm works, as digits. */
static bool own_axis(const struct matcher *m, uint32_t op, const struct imap *map, struct imap *axis) {
    uint32_t rank;
    const int64_t *shape = graph_shape(m->g, m->g->m->ops[op].first_result, &rank);
    struct axes c;
    struct str text;
    int64_t dims[MAX_RANK], dim = -1;
    if (!shape || !imap_coordinates(map, shape, rank, &c))
        return false;
    uint32_t count = 1;
    if (mlir_attr(m->g->m, op, "dimension", &text) && !mlir_int(text, &dim))
        return false;
    if (mlir_attr(m->g->m, op, "normalized_shape", &text)) {
        int n = mlir_ints(text, dims, MAX_RANK);
        if (n < 1 || n > (int)rank)
            return false;
        count = (uint32_t)n;
        dim = -(int64_t)n;
    }
    dim += dim < 0 ? (int64_t)rank : 0;
    return dim >= 0 && dim < (int64_t)rank && axes_join(&c, (uint32_t)dim, count, axis);
}

static bool axiswise(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    struct imap axis;
    if (!own_axis(m, op, map, &axis) || !axis_fits(g, &axis))
        return false;
    return elementwise(m, g, op, map);
}

/* Inside an attention the axes are exact: scores have one row for each query and one column for each key. At the
 * formula's outside a result may have been reshaped: then rows must not vary along the last axis. */
static bool roles_fit(const struct goal *g, const struct operand_maps *maps, bool *swapped) {
    struct imap rows, columns, last, before;
    axes_axis(&maps->result_axes, -2, &rows);
    axes_axis(&maps->result_axes, -1, &columns);
    axes_axis(g->axes, -1, &last);
    axes_axis(g->axes, -2, &before);
    *swapped = false;
    if (g->inside) {
        if (imap_equal(&columns, &last) && imap_equal(&rows, &before))
            return true;
        *swapped = true;
        return imap_equal(&rows, &last) && imap_equal(&columns, &before);
    }
    return !imap_touches(&maps->a, &last);
}

static bool contraction(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    struct contraction c;
    struct operand_maps *maps = scratch(m, sizeof *maps);
    bool swapped;
    if (!maps || g->node->nargs != present(m->g, op) || g->node->nargs != 2 || !contraction_of(m->g, op, &c) ||
        !contraction_maps(m->g, &c, map, ++m->spaces, maps) || !roles_fit(g, maps, &swapped))
        return false;
    if (g->slot != NONE) {
        struct binding b = m->slots[g->slot];
        b.axes = &maps->result_axes;
        set_slot(m, g->slot, b);
    }
    uint32_t me = add_matched(m, op, g);
    struct goal *b, *a;
    if (swapped) { /* the transposed product: (B^T A^T) */
        struct axes *left = scratch(m, sizeof *left), *right = scratch(m, sizeof *right);
        if (!left || !right)
            return false;
        struct imap s, t;
        uint32_t batch = maps->a_axes.n - 2;
        *left = *right = maps->a_axes;
        left->n = right->n = batch;
        axes_axis(&maps->b_axes, -1, &t);
        axes_axis(&maps->b_axes, -2, &s);
        if (!axes_add(left, t.t, t.n) || !axes_add(left, s.t, s.n))
            return false;
        axes_axis(&maps->a_axes, -2, &t);
        if (!axes_add(right, s.t, s.n) || !axes_add(right, t.t, t.n))
            return false;
        b = child(m, g, g->node->args[1], c.a, &maps->a, right, g->next);
        a = b ? child(m, g, g->node->args[0], c.b, &maps->b, left, b) : NULL;
    } else {
        b = child(m, g, g->node->args[1], c.b, &maps->b, &maps->b_axes, g->next);
        a = b ? child(m, g, g->node->args[0], c.a, &maps->a, &maps->a_axes, b) : NULL;
    }
    if (!a)
        return false;
    a->parent = b->parent = me;
    b->arg = 1;
    a->inside = b->inside = true;
    return !m->full && solve(m, a);
}

/* outer(p, v): matmul over an axis of one element is printed as a multiply that broadcasts p along v's columns. */
static bool outer_order(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map, uint32_t p_at) {
    const uint32_t *v = graph_operands(m->g, op);
    uint32_t result = m->g->m->ops[op].first_result;
    struct operand_maps *maps = scratch(m, sizeof *maps);
    if (!maps || !imap_operand(m->g, result, v[p_at], map, &maps->a) ||
        !imap_operand(m->g, result, v[1 - p_at], map, &maps->b))
        return false;
    imap_canonical(&maps->a);
    imap_canonical(&maps->b);
    /* p may be expanded by an op of its own before the multiply: what it depends on is known at its source */
    struct link *links = scratch(m, MAX_CHAIN * sizeof *links);
    if (!links)
        return false;
    uint32_t n = chain(m->g, v[p_at], &maps->a, links, MAX_CHAIN);
    const struct imap *source = &links[n - 1].map;
    struct axes columns, batch;
    struct imap column = {0}, row = {0};
    int64_t size = 1;
    (void)batch;
    for (uint32_t i = 0; i < maps->b.n; i++)
        size *= maps->b.t[i].size;
    for (uint32_t i = 0; i < source->n; i++)
        size = source->t[i].size && size % source->t[i].size == 0 ? size / source->t[i].size : 0;
    if (size <= 1 || !imap_complement(g->axes, source, &size, 1, &columns) || !axes_join(&columns, 0, 1, &column) ||
        !imap_within(source, &maps->b))
        return false;
    axes_clear(&maps->a_axes);
    if (!axes_add(&maps->a_axes, source->t, source->n))
        return false;
    maps->b_axes = maps->a_axes;
    if (!axes_add(&maps->a_axes, row.t, 0) || !axes_add(&maps->a_axes, row.t, 0) || !axes_add(&maps->b_axes, row.t, 0) ||
        !axes_add(&maps->b_axes, column.t, column.n))
        return false;
    uint32_t me = add_matched(m, op, g);
    struct goal *b = child(m, g, g->node->args[1], v[1 - p_at], &maps->b, &maps->b_axes, g->next);
    struct goal *a = b ? child(m, g, g->node->args[0], v[p_at], &maps->a, &maps->a_axes, b) : NULL;
    if (!a)
        return false;
    a->parent = b->parent = me;
    b->arg = 1;
    a->inside = b->inside = true;
    return !m->full && solve(m, a);
}

static bool outer(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    if (graph_noperands(m->g, op) != 2)
        return false;
    struct mark k = mark(m);
    if (outer_order(m, g, op, map, 0))
        return true;
    undo(m, k);
    return outer_order(m, g, op, map, 1);
}

static bool kind_fits(const struct node *node, enum op_kind kind) {
    if (node->kind == N_OUTER)
        return kind == K_MULTIPLY;
    if (node->op == kind)
        return true;
    /* three spellings of one product */
    return node->op == K_MATMUL && (kind == K_DOT_GENERAL || kind == K_LINEAR);
}

static bool try_op(struct matcher *m, const struct goal *g, uint32_t op, const struct imap *map) {
    const struct graph *gr = m->g;
    if (!kind_fits(g->node, (enum op_kind)gr->kind[op]) || gr->m->ops[op].nresults != 1 || !graph_plain(gr, op) ||
        !attributes_fit(m, g->node, op) || gr->m->ops[op].func != m->func)
        return false;
    if (g->slot != NONE) {
        struct binding b = m->slots[g->slot];
        b.op = op;
        b.value = gr->m->ops[op].first_result;
        b.map = map;
        set_slot(m, g->slot, b);
    }
    if (g->node->kind == N_OUTER)
        return outer(m, g, op, map);
    switch (graph_class(gr, op)) {
    case OP_ELTWISE:
        return elementwise(m, g, op, map);
    case OP_REDUCE:
        return reduction(m, g, op, map);
    case OP_AXISWISE:
        return axiswise(m, g, op, map);
    case OP_CONTRACT:
        return contraction(m, g, op, map);
    default:
        return false; /* the language has no meaning for other operators yet */
    }
}

static bool operation(struct matcher *m, const struct goal *g) {
    const struct graph *gr = m->g;
    uint32_t value = g->value;
    const struct imap *map = g->map;
    for (uint32_t step = 0; step < MAX_CHAIN; step++) {
        uint32_t op = gr->m->values[value].def;
        if (op == NONE)
            return false;
        struct mark k = mark(m);
        if (try_op(m, g, op, map))
            return true;
        undo(m, k);
        bool anchor = g->parent == NONE;
        struct imap *next = scratch(m, sizeof *next);
        if (anchor || !transparent(gr, op) || !next || !imap_through(gr, op, map, next))
            return false;
        imap_canonical(next);
        add_passed(m, op, true);
        value = graph_operands(gr, op)[0];
        map = next;
    }
    return false;
}

static bool either(struct matcher *m, const struct goal *g) {
    for (uint32_t i = 0; i < g->node->nargs; i++) {
        if (!plausible(m, g->node->args[i], g->value))
            continue;
        struct mark k = mark(m);
        struct goal *c = child(m, g, g->node->args[i], g->value, g->map, g->axes, g->next);
        if (!c)
            return false;
        c->slot = g->slot;
        c->arg = g->arg;
        if (solve(m, c))
            return true;
        undo(m, k);
    }
    return false;
}

static bool transposed(struct matcher *m, const struct goal *g) {
    struct axes *axes = scratch(m, sizeof *axes);
    struct imap last, before;
    if (!axes || g->axes->n < 2)
        return false;
    *axes = *g->axes;
    axes_axis(g->axes, -1, &last);
    axes_axis(g->axes, -2, &before);
    axes->n -= 2;
    if (!axes_add(axes, last.t, last.n) || !axes_add(axes, before.t, before.n))
        return false;
    struct goal *c = child(m, g, g->node->args[0], g->value, g->map, axes, g->next);
    if (!c)
        return false;
    c->arg = g->arg;
    return solve(m, c);
}

/* ---- the end of a match ---- */

static bool in_match(const struct matcher *m, uint32_t op) {
    for (uint32_t i = 0; i < m->nmatched; i++)
        if (m->matched[i].op == op)
            return true;
    for (uint32_t i = 0; i < m->npassed; i++)
        if (m->passed[i].inner && m->passed[i].op == op)
            return true;
    return false;
}

static bool only_used_inside(const struct matcher *m, uint32_t op) {
    const struct graph *g = m->g;
    for (uint32_t r = 0; r < g->m->ops[op].nresults; r++) {
        uint32_t v = g->m->ops[op].first_result + r;
        for (uint32_t u = g->first_use[v]; u < g->first_use[v + 1]; u++)
            if (!in_match(m, g->uses[u]))
                return false;
    }
    return true;
}

/* Inner values have no users outside, else the fused op could not leave them out. */
static bool uses_fit(const struct matcher *m) {
    for (uint32_t i = 1; i < m->nmatched; i++)
        if (m->matched[i].op != m->matched[0].op && !only_used_inside(m, m->matched[i].op))
            return false;
    for (uint32_t i = 0; i < m->npassed; i++)
        if (m->passed[i].inner && !only_used_inside(m, m->passed[i].op))
            return false;
    return true;
}

static bool conditions_hold(struct matcher *m, const uint32_t *ops, uint32_t nops) {
    struct evaluation e = evaluation(m, m->root_axes);
    e.ops = ops;
    e.nops = nops;
    for (uint32_t i = 0; i < m->pattern->nwhere; i++)
        if (!(evaluate(&e, m->pattern->where[i]) != 0))
            return false;
    for (uint32_t i = 0; i < m->pattern->nunless; i++)
        if (evaluate(&e, m->pattern->unless[i]) != 0)
            return false;
    return true;
}

/* Operands before the op that uses them, in the formula's order. */
static uint32_t in_order(const struct matcher *m, uint32_t at, uint32_t *ops, uint32_t n) {
    for (uint32_t arg = 0; arg < 8; arg++)
        for (uint32_t i = 0; i < m->nmatched; i++)
            if (m->matched[i].parent == at && m->matched[i].arg == arg && i != at)
                n = in_order(m, i, ops, n);
    for (uint32_t i = 0; i < n; i++)
        if (ops[i] == m->matched[at].op)
            return n;
    ops[n] = m->matched[at].op;
    return n + 1;
}

static int by_id(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void *copied(struct arena *a, const void *p, size_t n) {
    void *c = arena_alloc(a, n ? n : 1);
    if (n)
        memcpy(c, p, n);
    return c;
}

static const struct binding *keep_bindings(const struct matcher *m) {
    uint32_t n = m->pattern->formula.nslots;
    struct binding *out = copied(m->arena, m->slots, n * sizeof *out);
    for (uint32_t i = 0; i < n; i++) {
        if (out[i].value == NONE)
            continue;
        out[i].map = copied(m->arena, out[i].map, sizeof *out[i].map);
        out[i].axes = copied(m->arena, out[i].axes, sizeof *out[i].axes);
    }
    return out;
}

static void keep_through(const struct matcher *m, struct match *out) {
    uint32_t *through = arena_alloc(m->arena, (m->npassed + 1) * sizeof *through), n = 0;
    for (uint32_t i = 0; i < m->npassed; i++) {
        bool seen = false;
        for (uint32_t j = 0; j < n; j++)
            seen |= through[j] == m->passed[i].op;
        for (uint32_t j = 0; j < m->nmatched; j++)
            seen |= m->matched[j].op == m->passed[i].op;
        if (!seen)
            through[n++] = m->passed[i].op;
    }
    qsort(through, n, sizeof *through, by_id);
    out->through = through;
    out->nthrough = n;
}

static void keep_remarks(struct matcher *m, struct match *out) {
    struct evaluation e = evaluation(m, m->root_axes);
    e.ops = out->ops;
    e.nops = out->nops;
    e.bindings = out->bindings;
    struct str *remarks = arena_alloc(m->arena, (m->pattern->nnotes + 1) * sizeof *remarks);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->pattern->nnotes; i++) {
        const struct note_rule *r = &m->pattern->notes[i];
        if (!r->when || evaluate(&e, r->when) != 0)
            remarks[n++] = fill_in(&e, r->say);
    }
    out->remarks = remarks;
    out->nremarks = n;
}

static bool finish(struct matcher *m) {
    uint32_t ops[MAX_MATCHED];
    uint32_t nops = in_order(m, 0, ops, 0);
    if (!uses_fit(m) || !conditions_hold(m, ops, nops))
        return false;
    struct match *out = m->found;
    *out = (struct match){.pattern = m->pattern, .graph = m->g, .func = m->func, .nops = nops};
    out->ops = copied(m->arena, ops, nops * sizeof *ops);
    out->bindings = keep_bindings(m);
    keep_through(m, out);
    keep_remarks(m, out);
    out->npreconditions = m->npreconditions;
    out->preconditions = copied(m->arena, m->preconditions, m->npreconditions * sizeof *m->preconditions);
    return true;
}

static bool solve(struct matcher *m, const struct goal *g) {
    if (m->full || ++m->steps > MAX_STEPS) {
        m->full = true;
        return false;
    }
    if (!g)
        return finish(m);
    switch (g->node->kind) {
    case N_OP:
    case N_OUTER:
        return operation(m, g);
    case N_VARIABLE:
        return bind_variable(m, g);
    case N_NAMED:
        return named_value(m, g);
    case N_NUMBER:
        return number(m, g);
    case N_EITHER:
        return either(m, g);
    case N_TRANSPOSED:
        return transposed(m, g);
    }
    return false;
}

/* The root op and its operands, looked at before a search is set up. */
static bool root_plausible(const struct matcher *m, const struct node *n, uint32_t op) {
    const struct graph *g = m->g;
    if (n->kind == N_NAMED || n->kind == N_EITHER || n->kind == N_TRANSPOSED) {
        for (uint32_t i = 0; i < n->nargs; i++)
            if (root_plausible(m, n->args[i], op))
                return true;
        return false;
    }
    if (!node_may_be(n, (enum op_kind)g->kind[op]) || n->kind != N_OP)
        return n->kind == N_OUTER;
    const uint32_t *v = graph_operands(g, op);
    uint32_t have = graph_noperands(g, op);
    bool straight = true, crossed = n->nargs == 2 && have == 2 && (op_table[n->op].flags & COMMUTES);
    for (uint32_t i = 0; i < n->nargs && i < have; i++)
        straight &= v[i] != NONE && plausible(m, n->args[i], v[i]);
    for (uint32_t i = 0; crossed && i < 2; i++)
        crossed = v[1 - i] != NONE && plausible(m, n->args[i], v[1 - i]);
    return straight || crossed;
}

/* Tries one pattern with its root at one op. */
static bool match_at(struct matcher *m, const struct pattern *p, uint32_t op) {
    uint32_t root = m->g->m->ops[op].first_result, rank;
    const int64_t *shape = graph_shape(m->g, root, &rank);
    int64_t numel = graph_numel(m->g, root);
    if (!shape || numel < 1 || rank > MAX_RANK)
        return false;
    undo(m, (struct mark){0, 0, 0, 0, 0, 0});
    m->pattern = p;
    m->steps = 0;
    m->full = false;
    for (uint32_t i = 0; i < p->formula.nslots; i++)
        m->slots[i] = (struct binding){NONE, NONE, NULL, NULL};
    if (!root_plausible(m, p->formula.root, op))
        return false;
    struct imap *map = scratch(m, sizeof *map);
    struct axes *axes = scratch(m, sizeof *axes);
    imap_identity(map, 0, numel);
    if (!imap_coordinates(map, shape, rank, axes))
        return false;
    m->root_axes = axes;
    struct goal first = {p->formula.root, root, map, axes, NONE, NONE, 0, false, NULL};
    return solve(m, &first);
}

void match_function(const struct pattern_set *set, const struct graph *g, uint32_t func, struct arena *a,
                    struct match_list *out) {
    struct matcher *m = xrealloc(NULL, sizeof *m);
    memset(m, 0, sizeof *m);
    m->g = g;
    m->func = func;
    m->arena = a;
    m->scratch = xrealloc(NULL, SCRATCH);
    uint32_t first = func == NONE ? 0 : g->m->funcs[func].first_op;
    uint32_t end = func == NONE ? g->m->nops : g->m->funcs[func].end_op;
    for (uint32_t op = first; op < end; op++) {
        if (g->kind[op] == K_UNKNOWN || g->m->ops[op].func != func || g->m->ops[op].nresults != 1)
            continue;
        for (uint32_t i = 0; i < set->n; i++) {
            const struct pattern *p = set->items[i];
            bool plausible = p->roots[g->kind[op]] || (p->roots[K_MATMUL] && graph_class(g, op) == OP_CONTRACT);
            if (!p->selected || !plausible)
                continue;
            struct match found;
            m->found = &found;
            bool ok = match_at(m, p, op);
            out->steps += m->steps;
            out->gave_up += m->full;
            if (!ok)
                continue;
            out->items = grow(out->items, &out->cap, out->n + 1, sizeof *out->items);
            out->items[out->n++] = found;
        }
    }
    free(m->scratch);
    free(m);
}

/* ---- overlaps ---- */

static uint32_t root_of(const struct match *m) { return m->ops[m->nops - 1]; }

static int by_size(const void *pa, const void *pb) {
    const struct match *a = pa, *b = pb;
    if (a->nops != b->nops)
        return a->nops > b->nops ? -1 : 1;
    if (root_of(a) != root_of(b))
        return root_of(a) < root_of(b) ? -1 : 1;
    return a->pattern->order < b->pattern->order ? -1 : a->pattern->order > b->pattern->order;
}

static int by_root(const void *pa, const void *pb) {
    const struct match *a = pa, *b = pb;
    if (root_of(a) != root_of(b))
        return root_of(a) < root_of(b) ? -1 : 1;
    return a->pattern->order < b->pattern->order ? -1 : a->pattern->order > b->pattern->order;
}

/* Bit of a source in the marks of an op. */
static uint8_t source_bit(struct str source) {
    static const char *const names[] = {"ttnn", "torch", "triton", "cuda"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(source, names[i]))
            return (uint8_t)(1u << i);
    return 0;
}

enum { DIRECT = 1 };

static void settle_source(struct match_list *list, uint8_t *marks, bool direct, bool *keep) {
    for (uint32_t i = 0; i < list->n; i++) {
        const struct match *m = &list->items[i];
        uint8_t mine = source_bit(m->pattern->source);
        if ((mine == DIRECT) != direct)
            continue;
        bool overlaps = false, more = direct;
        for (uint32_t k = 0; k < m->nops; k++) {
            overlaps |= (marks[m->ops[k]] & mine) != 0;
            more |= !(marks[m->ops[k]] & DIRECT);
        }
        keep[i] = !overlaps && more;
        for (uint32_t k = 0; keep[i] && k < m->nops; k++)
            marks[m->ops[k]] |= mine;
    }
}

void match_settle(struct match_list *list) {
    if (list->n == 0)
        return;
    uint32_t nops = list->items[0].graph->m->nops, n = 0;
    uint8_t *marks = xrealloc(NULL, nops);
    bool *keep = xrealloc(NULL, list->n);
    memset(marks, 0, nops);
    memset(keep, 0, list->n);
    qsort(list->items, list->n, sizeof *list->items, by_size);
    settle_source(list, marks, true, keep);
    settle_source(list, marks, false, keep);
    for (uint32_t i = 0; i < list->n; i++)
        if (keep[i])
            list->items[n++] = list->items[i];
    list->n = n;
    qsort(list->items, n, sizeof *list->items, by_root);
    free(keep);
    free(marks);
}
