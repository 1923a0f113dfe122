/* An op says of each operand what it does with it, from what is known of its result. Where several ops take a value the
 * first one decides, and the smallest number of indices. */
#include "proof/trials/facts.h"

#include <math.h>
#include <stdlib.h>

#include "ir/pair/signature.h"
#include "proof/numeric/interpret_graph.h"
#include "proof/reduce/subgraph.h"
#include "proof/value/format.h"

/* The bound of masks that patterns use, and of what makes them of 0 and 1: -10000 in bf16, whose exponential is 0 in
 * f64, too. Epsilons are at most 1e-3. The square of a number beyond 1e18 is near the largest f32 (3.4e38): it stands
 * for infinity. Beside 1e9 times a number a difference of what is added to it is below the tolerance (proof/elements).
 */
static const double low = -9984, largest_epsilon = 1e-3, far = 1e18, covers = 1e9;

/* ---- integers ---- */

static bool is_signed(enum dtype t) {
    return dtype_table[t].is_signed;
}

static int integer_bits(enum dtype t) {
    return format_is_integer(t) && t != DT_I1 ? dtype_table[t].bits : 0;
}

/* Of a narrower type, or a signed one of as many bits. 64 bits become 32 in every program of the device, which says
 * nothing. */
double narrowed_at(const struct graph *g, uint32_t op) {
    enum dtype rounded = rounds_whole(g, op);
    if (rounded != DT_NONE)
        return ldexp(1, dtype_table[rounded].precision) + 1;
    if (graph_class(g, op) != OP_CAST || graph_noperands(g, op) == 0 || graph_operands(g, op)[0] == NONE)
        return 0;
    enum dtype from = graph_dtype(g, graph_operands(g, op)[0]), to = graph_dtype(g, g->m->ops[op].first_result);
    int from_bits = integer_bits(from), bits = integer_bits(to);
    bool narrows = bits && bits < 32 && bits < from_bits,
         turns = bits == from_bits && is_signed(to) && !is_signed(from);
    return narrows || (bits && turns) ? ldexp(1, bits - is_signed(to)) : 0;
}

bool op_bounds(const struct graph *g, uint32_t op) {
    enum op_kind k = (enum op_kind)g->kind[op];
    bool constant = k == K_CLAMP;
    for (uint32_t i = 0; i < graph_noperands(g, op) && op_is(k, PIECEWISE); i++)
        constant |= operand_constant(g, graph_operands(g, op)[i]).known;
    double narrowed = narrowed_at(g, op); /* no tensor has 2^31 places */
    return (op_is(k, PIECEWISE) && constant) || (narrowed > 0 && narrowed < 0x1p31);
}

/* The operand whose rows are numbered: a table, or a cache that has no pages. NONE: it is another op. */
static uint32_t numbered_rows(const struct graph *g, uint32_t op) {
    enum op_kind k = (enum op_kind)g->kind[op];
    bool cache = (k == K_UPDATE_CACHE || k == K_PAGED_UPDATE_CACHE) && graph_noperands(g, op) == 3;
    return k == K_EMBEDDING ? graph_operands(g, op)[1] : cache ? graph_operands(g, op)[0] : NONE;
}

/* A cache in pages has positions on those of one user; 0: it is another op. */
static int64_t indices_of_pages(const struct graph *g, uint32_t op, uint32_t operand) {
    bool paged = g->kind[op] == K_PAGED_UPDATE_CACHE && graph_noperands(g, op) == 4;
    uint32_t rank = 0, each = 0;
    const int64_t *cache = paged ? graph_shape(g, graph_operands(g, op)[0], &rank) : NULL,
                  *pages = paged ? graph_shape(g, graph_operands(g, op)[3], &each) : NULL;
    if (rank != 4 || each != 2)
        return 0;
    return operand == 3 ? cache[0] : pages[1] * cache[2];
}

/* Dimensions of small shapes may have two elements only; a table has its rows, and what slices are taken of as many. */
static int64_t indices_of_op(const struct graph *g, uint32_t op, uint32_t operand) {
    int64_t paged = indices_of_pages(g, op, operand);
    if (paged > 0)
        return paged;
    const struct attr *map = g->kind[op] == K_GATHER ? attrs_find(graph_attributes(g, op), "start_index_map") : NULL;
    if (map && map->n == 1) {
        uint32_t n = 0;
        const int64_t *x = graph_shape(g, graph_operands(g, op)[0], &n);
        return x && map->list[0] >= 0 && map->list[0] < n ? x[map->list[0]] : 2;
    }
    uint32_t rank = 0, table = numbered_rows(g, op);
    const int64_t *shape = table == NONE ? NULL : graph_shape(g, table, &rank);
    return shape && rank >= 2 ? shape[rank - 2] : 2;
}

/* The whole number that is the other operand of an op; 0: it is none, or none that counts. */
static int64_t whole_beside(const struct graph *g, uint32_t op, uint32_t operand) {
    static const double most = 1 << 20;
    struct constant c = graph_noperands(g, op) == 2 ? operand_constant(g, graph_operands(g, op)[1 - operand])
                                                    : (struct constant){.known = false};
    return c.known && c.value >= 1 && c.value <= most && c.value == rint(c.value) ? (int64_t)c.value : 0;
}

/* By another whole number, as parts of a position are. */
static bool makes_no_larger(enum op_kind k, uint32_t operand) {
    return k == K_BITWISE_AND || (operand == 0 && (k == K_REMAINDER || k == K_DIVIDE || k == K_RIGHT_SHIFT));
}

/* How many whole numbers such an op makes those below n of: as many more as are divided by, and of a remainder some
 * that are beyond it. */
static int64_t wholes_before(const struct graph *g, uint32_t op, uint32_t operand, int64_t n) {
    enum { MOST_BITS = 20 };
    enum op_kind k = (enum op_kind)g->kind[op];
    int64_t by = n < INT32_MAX ? whole_beside(g, op, operand) : 0, most = n;
    if (by > 0 && k == K_BITWISE_AND)
        most = 2 * (by + 1);
    else if (by > 0 && k == K_REMAINDER)
        most = 2 * by;
    else if (by > 0 && k == K_DIVIDE)
        most = n * by;
    else if (k == K_RIGHT_SHIFT && by <= MOST_BITS)
        most = n << by;
    return most < INT32_MAX ? most : n;
}

/* Of an operand of an elementwise op that makes `indices` of it. */
static int64_t indices_before(const struct graph *g, uint32_t op, uint32_t operand, int64_t indices) {
    enum op_kind k = (enum op_kind)g->kind[op];
    if (class_moves(graph_class(g, op)) || k == K_ABS || k == K_MINIMUM || k == K_MAXIMUM || k == K_CLAMP)
        return indices;
    if (makes_no_larger(k, operand))
        return wholes_before(g, op, operand, indices);
    struct constant c = k == K_ADD ? operand_constant(g, graph_operands(g, op)[1 - operand]) : (struct constant){0};
    if (c.known && c.value > 0 && c.value < (double)indices)
        return indices - (int64_t)c.value;
    return indices < 2 ? indices : 2;
}

/* The numbers of a row: constants that are not all the same. 0: it is none. */
static int64_t row_length(const struct graph *g, uint32_t value) {
    value = signature_source(g, value);
    uint32_t def = g->m->values[value].def, rank = 0;
    bool constant = def != NONE && (graph_op_is(g, def, COUNTS) || g->kind[def] == K_CONSTANT);
    const int64_t *x = constant && !graph_constant(g, value).known ? graph_shape(g, value, &rank) : NULL;
    int64_t most = 0;
    for (uint32_t d = 0; x && d < rank; d++)
        most = x[d] > most ? x[d] : most;
    return most;
}

/* A position that keys are seen up to: from the last one on all of them are. */
static int64_t places_of(const struct graph *g, uint32_t op, uint32_t operand, const struct facts *to) {
    enum op_kind k = (enum op_kind)g->kind[op];
    enum op_class c = graph_class(g, op);
    bool keeps =
        class_moves(c) || c == OP_SLICE || c == OP_JOIN || k == K_ADD || k == K_ABS || (k == K_WHERE && operand > 0);
    uint32_t other = graph_noperands(g, op) == 2 ? graph_operands(g, op)[1 - operand] : NONE;
    int64_t by = whole_beside(g, op, operand);
    if (op_is(k, COMPARES) && other != NONE)
        return row_length(g, other);
    if (to->places && by > 0 && makes_no_larger(k, operand))
        return wholes_before(g, op, operand, to->places);
    if (to->places && to->places < INT32_MAX && by > 0 && operand == 0 && k == K_SUBTRACT)
        return to->places + by;
    return keeps ? to->places : 0;
}

/* ---- masks ---- */

static bool is_low(const struct graph *g, uint32_t value) {
    struct constant c = graph_constant(g, value);
    return c.known && c.value <= low;
}

static enum predicate_use negated(enum predicate_use c) {
    return c == PREDICATE_HIDES_FALSE ? PREDICATE_HIDES_TRUE : c == PREDICATE_HIDES_TRUE ? PREDICATE_HIDES_FALSE : c;
}

/* The condition of a choice between scores and a large negative number hides. */
static enum predicate_use predicate_of(const struct graph *g, uint32_t op, uint32_t operand, const struct facts *to) {
    const uint32_t *v = graph_operands(g, op);
    switch ((enum op_kind)g->kind[op]) {
    case K_WHERE:
        return operand > 0       ? PREDICATE_NONE
               : is_low(g, v[1]) ? PREDICATE_HIDES_TRUE
               : is_low(g, v[2]) ? PREDICATE_HIDES_FALSE
                                 : PREDICATE_SELECTS;
    case K_LOGICAL_NOT:
        return to->predicate ? negated(to->predicate) : PREDICATE_SELECTS;
    case K_LOGICAL_AND:
    case K_LOGICAL_OR:
        return to->predicate ? to->predicate : PREDICATE_SELECTS;
    default:
        return class_moves(graph_class(g, op)) ? to->predicate : PREDICATE_NONE;
    }
}

/* The sign of a factor; a single number that is not known is taken to be positive, since scales are. 0: it is no single
 * number. */
static int sign_of_factor(const struct graph *g, uint32_t value) {
    struct constant c = graph_constant(g, value);
    return c.known ? (c.value > 0) - (c.value < 0) : graph_numel(g, value) == 1;
}

/* How the result of an op changes with an operand, as a term of a sum: 1, -1; 0: it is none. */
static int sign_of_operand(const struct graph *g, uint32_t op, uint32_t operand) {
    const uint32_t *v = graph_operands(g, op);
    switch ((enum op_kind)g->kind[op]) {
    case K_ADD:
    case K_MAXIMUM:
    case K_MINIMUM:
        return 1;
    case K_SUBTRACT:
        return operand == 1 ? -1 : 1;
    case K_MULTIPLY:
        return sign_of_factor(g, v[1 - operand]);
    case K_DIVIDE:
        return operand == 1 ? 0 : sign_of_factor(g, v[1]);
    case K_LINEAR:
        return operand == 2;
    case K_WHERE:
        return operand > 0;
    default:
        return class_moves(graph_class(g, op)) || graph_class(g, op) == OP_SLICE || graph_class(g, op) == OP_JOIN;
    }
}

/* A mask is added to the operand of a softmax, decomposed or not, by whatever name: it does not make the scores alone.
 */
static void find_mask(const struct graph *g, uint32_t op, uint32_t operand, const struct facts *to, struct facts *f) {
    enum op_kind k = (enum op_kind)g->kind[op];
    bool attends = (k == K_SDPA || k == K_SDPA_DECODE) && operand == 3;
    bool added = k == K_ADD || k == K_LINEAR || (k == K_SUBTRACT && operand == 1);
    if (attends || k == K_SOFTMAX || (k == K_EXP && to->summed)) {
        f->score = 1;
        f->mask_sign = attends;
        return;
    }
    int sign = to->score ? sign_of_operand(g, op, operand) : 0;
    f->score = sign * to->score;
    f->mask_sign = added ? f->score : sign * to->mask_sign;
}

/* ---- numbers that decide ---- */

/* What the result of an op says of its operand: that of ==, !=, and of a large number times what is a mask then, or
 * what covers other terms of a sum. */
static void find_level(const struct graph *g, uint32_t op, const struct constant *other, const struct facts *to,
                       struct facts *f) {
    enum op_kind k = (enum op_kind)g->kind[op];
    enum predicate_use use = to->predicate ? to->predicate : PREDICATE_SELECTS;
    if ((k == K_EQ || k == K_NE) && (other->known ? fabs(other->value) < far : predicate_hides(use))) {
        f->beside = k == K_NE ? use : negated(use);
        f->level = other->known ? other->value : 0;
    } else if (k == K_MULTIPLY && other->known && fabs(other->value) >= (to->mask_sign ? -low : covers)) {
        f->beside = to->mask_sign ? PREDICATE_HIDES_TRUE : PREDICATE_SELECTS;
        f->level = 0;
    }
}

/* The number is moved by ops with constants; what is not constant is taken to be at 0, or at 1. */
static void move_level(const struct graph *g, uint32_t op, uint32_t operand, const struct constant *other,
                       const struct facts *to, struct facts *f) {
    enum op_kind k = (enum op_kind)g->kind[op];
    enum op_class class = graph_class(g, op);
    double c = other->known ? other->value : 0, level = to->level;
    bool moves = class_moves(class) || class == OP_SLICE || class == OP_JOIN;
    if (!to->beside || !(moves || k == K_ADD || k == K_SUBTRACT || (k == K_MULTIPLY && other->known && c != 0)))
        return;
    f->beside = to->beside;
    f->level = moves                           ? level
               : k == K_MULTIPLY               ? level / c
               : !other->known && operand == 1 ? 0
               : k == K_ADD                    ? level - c
               : operand == 1                  ? c - level
                                               : level + c;
}

/* ---- counts ---- */

/* Along the first dimension that the op reduces or adds up along. */
static int64_t counted_by(const struct graph *g, uint32_t op) {
    bool along[MAX_RANK] = {false};
    uint32_t rank = 0, v = graph_noperands(g, op) ? graph_operands(g, op)[0] : NONE, d = 0;
    const int64_t *x = v == NONE ? NULL : graph_shape(g, v, &rank);
    bool counts = graph_class(g, op) == OP_REDUCE || graph_op_is(g, op, TOTALS);
    if (!x || !counts || graph_reduced_dims(g, op, rank, along) == NONE)
        return 0;
    while (d < rank && !along[d])
        d++;
    return d < rank ? x[d] : 0;
}

/* ---- the pass ---- */

/* The operand may not be negative. */
static bool takes_root(const struct graph *g, uint32_t op, uint32_t operand) {
    enum op_kind k = (enum op_kind)g->kind[op];
    uint32_t variance = graph_is_ttnn(g, op) ? 2 : 4;
    return k == K_SQRT || k == K_RSQRT || k == K_LOG || (k == K_BATCH_NORM_INFERENCE && operand == variance);
}

/* What is made of operands that are not negative is not negative: those of an op whose result may not be. A square is
 * none of them. */
static bool keeps_sign(const struct graph *g, uint32_t op) {
    enum op_kind k = (enum op_kind)g->kind[op];
    const uint32_t *v = graph_operands(g, op);
    bool product = k == K_MULTIPLY || k == K_DIVIDE;
    return k == K_ADD || k == K_MAXIMUM || k == K_SUM || k == K_MEAN || (product && v[0] != v[1]);
}

/* Of two numbers, of which 0 is none. */
static double smaller(double a, double b) {
    return a == 0 || (b > 0 && b < a) ? b : a;
}

static struct facts facts_of_operand(const struct graph *g, uint32_t op, uint32_t operand, const struct facts *to) {
    enum op_kind k = (enum op_kind)g->kind[op];
    enum op_class c = graph_class(g, op);
    bool moves = class_moves(c), takes = !moves && c != OP_SLICE && c != OP_JOIN;
    bool divides = (k == K_DIVIDE || k == K_QUANTIZE || k == K_QUANTIZE_UNROLLED) && operand == 1;
    struct facts f = {.used = true,
                      .taken = takes || to->taken,
                      .predicate = predicate_of(g, op, operand, to),
                      .places = places_of(g, op, operand, to),
                      .divides = divides || (moves && to->divides),
                      .bounded = op_bounds(g, op) || ((moves || c == OP_ELTWISE) && to->bounded),
                      .narrowed = smaller(narrowed_at(g, op), moves || c == OP_ELTWISE ? to->narrowed : 0),
                      .summed = k == K_SUM || (moves && to->summed),
                      .counted = moves || k == K_LOGICAL_NOT ? to->counted : counted_by(g, op),
                      .rooted = takes_root(g, op, operand) || ((moves || keeps_sign(g, op)) && to->rooted)};
    if (c == OP_OPAQUE &&
        (operand > 0 || op_operand_of_role(k, STR("index")) == 0)) /* the first one is data elsewhere */
        f.indices = indices_of_op(g, op, operand);
    else if (to->indices)
        f.indices = indices_before(g, op, operand, to->indices);
    find_mask(g, op, operand, to, &f);
    struct constant other = {0};
    if (c == OP_ELTWISE && graph_noperands(g, op) == 2)
        other = operand_constant(g, graph_operands(g, op)[1 - operand]);
    move_level(g, op, operand, &other, to, &f);
    find_level(g, op, &other, to, &f);
    return f;
}

/* Adds what an op in front of those before says of a value. */
static void join(struct facts *all, const struct facts *f) {
    all->predicate = f->predicate ? f->predicate : all->predicate;
    all->mask_sign = f->mask_sign ? f->mask_sign : all->mask_sign;
    all->score = f->score ? f->score : all->score;
    if (f->beside) {
        all->beside = f->beside;
        all->level = f->level;
    }
    if (f->indices && (!all->indices || f->indices < all->indices))
        all->indices = f->indices;
    all->counted = f->counted > all->counted ? f->counted : all->counted;
    all->places = f->places > all->places ? f->places : all->places;
    all->narrowed = smaller(all->narrowed, f->narrowed);
    all->used |= f->used;
    all->taken |= f->taken;
    all->divides |= f->divides;
    all->bounded |= f->bounded;
    all->summed |= f->summed;
    all->rooted |= f->rooted;
}

/* Rows of a table may be numbered by floats, which are whole numbers then unless they are cast. */
static bool may_select(const struct graph *g, uint32_t op, uint32_t operand, uint32_t value) {
    enum dtype t = graph_dtype(g, value);
    bool numbers = g->kind[op] == K_EMBEDDING && operand == 0;
    bool moves = class_moves(graph_class(g, op)) && graph_dtype(g, g->m->ops[op].first_result) == t;
    return t != DT_I1 && (numbers || moves || holds_whole(g, value));
}

/* Of all that the ops take and make, each once. */
static struct fact_table table_of(const struct graph *g, const uint32_t *ops, uint32_t nops) {
    uint32_t n = 0, most = 0;
    for (uint32_t i = 0; i < nops; i++)
        most += graph_noperands(g, ops[i]) + g->m->ops[ops[i]].nresults;
    uint32_t *values = xcalloc(most + (size_t)1, sizeof *values);
    for (uint32_t i = 0; i < nops; i++) {
        const struct mlir_op *o = &g->m->ops[ops[i]];
        for (uint32_t k = 0; k < graph_noperands(g, ops[i]); k++)
            values[n++] = graph_operands(g, ops[i])[k];
        for (uint32_t k = 0; k < o->nresults; k++)
            values[n++] = o->first_result + k;
    }
    sort_ids(values, n);
    struct fact_table t = {.values = values};
    for (uint32_t i = 0; i < n; i++)
        if (t.n == 0 || values[t.n - 1] != values[i])
            values[t.n++] = values[i];
    t.of = xcalloc(t.n + (size_t)1, sizeof *t.of);
    return t;
}

const struct facts *facts_at(const struct fact_table *t, uint32_t value) {
    static const struct facts nothing = {0};
    uint32_t at = find_id(t->values, t->n, value);
    return at == NONE ? &nothing : &t->of[at];
}

void facts_free(struct fact_table *t) {
    free(t->values);
    free(t->of);
}

struct fact_table facts_of(const struct graph *g, const uint32_t *ops, uint32_t nops) {
    struct fact_table t = table_of(g, ops, nops);
    uint32_t *sorted = xcalloc(nops + (size_t)1, sizeof *sorted);
    memcpy(sorted, ops, nops * sizeof *ops);
    sort_ids(sorted, nops);
    for (uint32_t n = nops; n-- > 0;) {
        uint32_t op = sorted[n];
        const struct facts *to = facts_at(&t, g->m->ops[op].nresults ? g->m->ops[op].first_result : NONE);
        for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
            uint32_t value = graph_operands(g, op)[i];
            if (value == NONE)
                continue;
            struct facts f = facts_of_operand(g, op, i, to);
            f.indices = may_select(g, op, i, value) ? f.indices : 0;
            join(&t.of[find_id(t.values, t.n, value)], &f);
        }
    }
    free(sorted);
    return t;
}

/* ---- thresholds ---- */

static void add_threshold(struct thresholds *t, double x) {
    for (uint32_t i = 0; i < t->n; i++)
        if (t->at[i] == x)
            return;
    if (fabs(x) > largest_epsilon && fabs(x) < far && t->n < MAX_THRESHOLDS)
        t->at[t->n++] = x;
}

static void add_epsilon(struct thresholds *t, double x) {
    if (x > 0 && x <= largest_epsilon && (t->epsilon == 0 || x < t->epsilon))
        t->epsilon = x;
}

static void add_attribute(const struct graph *g, uint32_t op, const char *key, struct thresholds *t) {
    double x = attrs_number(graph_attributes(g, op), key, 0);
    if (op_is((enum op_kind)g->kind[op], PIECEWISE))
        add_threshold(t, x);
    add_epsilon(t, x);
}

static void add_op(const struct graph *g, uint32_t op, struct thresholds *t) {
    enum op_kind k = (enum op_kind)g->kind[op];
    if ((k == K_QUANTIZE || k == K_QUANTIZE_UNROLLED) && operand_constant(g, graph_operands(g, op)[1]).known)
        add_threshold(t, ldexp(operand_constant(g, graph_operands(g, op)[1]).value,
                               integer_bits(graph_dtype(g, g->m->ops[op].first_result)) - 1));
    if (k == K_RELU6 || k == K_HARDSIGMOID) /* of max(0, x), 6; of x + 3, 0 and 6 */
        add_threshold(t, k == K_RELU6 ? 6 : 3);
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        struct constant c = operand_constant(g, graph_operands(g, op)[i]);
        if (c.known && op_is(k, PIECEWISE))
            add_threshold(t, c.value);
        if (c.known && (k == K_ADD || k == K_MAXIMUM))
            add_epsilon(t, c.value);
    }
    if (k == K_CLAMP) {
        add_attribute(g, op, "min", t);
        add_attribute(g, op, "max", t);
    }
    add_attribute(g, op, "epsilon", t);
    add_threshold(t, narrowed_at(g, op));
}

/* A threshold t of x * c is t / c for x, and t * c of x / c: both are added, one of them is met. */
static void add_scaled(const struct graph *g, uint32_t op, struct thresholds *t) {
    uint32_t n = t->n;
    if (g->kind[op] != K_MULTIPLY && g->kind[op] != K_DIVIDE)
        return;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        struct constant c = operand_constant(g, graph_operands(g, op)[i]);
        for (uint32_t k = 0; k < n && c.known && c.value != 0 && fabs(c.value) != 1; k++) {
            add_threshold(t, t->at[k] / c.value);
            add_threshold(t, t->at[k] * c.value);
        }
    }
}

struct thresholds thresholds_of(const struct graph *g, const uint32_t *ops, uint32_t nops) {
    struct thresholds t = {0};
    for (uint32_t i = 0; i < nops; i++)
        add_op(g, ops[i], &t);
    for (uint32_t i = 0; i < nops; i++)
        add_scaled(g, ops[i], &t);
    return t;
}
