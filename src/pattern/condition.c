/* Numbers and conditions over a match. A condition on a part that is absent holds: there is nothing
 * to object to. A condition that only the user can settle holds and states a precondition. */
#include "pattern/condition.h"
#include "pattern/matcher.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SAME = 8 }; /* movement that is looked through */

static void state(const struct evaluation *e, struct str text) {
    for (uint32_t i = 0; i < *e->npreconditions; i++)
        if (str_eq(e->preconditions[i], text))
            return;
    if (*e->npreconditions < e->max_preconditions)
        e->preconditions[(*e->npreconditions)++] = text;
}

void evaluation_tie(const struct evaluation *e, uint32_t value, double number, bool stated) {
    for (uint32_t i = 0; e->ties && i < *e->nties; i++)
        if (e->ties[i].value == value)
            return;
    if (e->ties && *e->nties < e->max_ties)
        e->ties[(*e->nties)++] = (struct tie){value, number, stated};
}

static bool present(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)e;
    (void)n;
    return b[0].value != NONE;
}

static bool constant(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    return b[0].value == NONE || graph_constant(e->graph, b[0].value).known;
}

static bool parameter(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    return b[0].value == NONE || graph_is_parameter(e->graph, b[0].value) || constant(e, b, 1);
}

/* A parameter, or an argument of which nothing says what it is. */
static bool stored(const struct evaluation *e, const struct binding *b, uint32_t n) {
    if (parameter(e, b, n))
        return true;
    uint32_t argument = graph_argument(e->graph, b[0].value);
    return argument != NONE && !str_is(graph_argument_type(e->graph, argument), "input");
}

enum { MAX_NAMES = 16, MATCH_LIMIT = 100000 };

bool condition_regex_finds(const pcre2_code *re, struct str s) {
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    pcre2_match_context *limits = pcre2_match_context_create(NULL);
    int found = -1;
    if (data && limits && re) {
        pcre2_set_match_limit(limits, MATCH_LIMIT);
        pcre2_set_depth_limit(limits, MATCH_LIMIT);
        found = pcre2_match(re, (PCRE2_SPTR)s.p, s.n, 0, 0, data, limits);
    }
    pcre2_match_data_free(data);
    pcre2_match_context_free(limits);
    return found >= 0;
}

/* Some op that uses the value is of an operator whose name the expression finds. */
static bool used_by(const struct evaluation *e, const struct binding *b, uint32_t n) {
    const struct graph *g = e->graph;
    (void)n;
    if (b[0].value == NONE)
        return false;
    for (uint32_t u = g->first_use[b[0].value]; u < g->first_use[b[0].value + 1]; u++)
        if (condition_regex_finds(e->regex, str_of(op_table[g->kind[g->uses[u]]].name)))
            return true;
    return false;
}

/* One number for the whole tensor. */
static bool scalar(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    return b[0].value == NONE || graph_constant(e->graph, b[0].value).known || graph_numel(e->graph, b[0].value) == 1;
}

/* A known number; or an argument that may hold one number everywhere, which is then stated. */
static bool stated_constant(const struct evaluation *e, const struct binding *b, uint32_t n) {
    if (constant(e, b, n))
        return true;
    uint32_t argument = graph_argument(e->graph, b[0].value);
    if (argument == NONE || graph_argument_is_input(e->graph, argument))
        return false;
    struct str label = precondition_label(e, argument);
    evaluation_tie(e, b[0].value, NAN, true);
    state(e, e->brief ? label
                      : arena_printf(e->arena, "%.*s holds one known number in every element", (int)label.n, label.p));
    return true;
}

/* Varies along the last axis only, element for element: what a kernel reads as one row. */
static bool row_vector(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)e;
    if (b[0].value == NONE)
        return true;
    struct imap axis, map = *b[0].map;
    axes_axis(n > 1 ? b[1].axes : b[0].axes, -1, &axis);
    imap_canonical(&map);
    return imap_equal(&map, &axis);
}

/* A matrix: varies along the last two axes only. */
static bool matrix(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)e;
    (void)n;
    struct imap last, before;
    if (b[0].value == NONE)
        return true;
    axes_axis(b[0].axes, -1, &last);
    axes_axis(b[0].axes, -2, &before);
    if (last.n + before.n > MAX_TERMS)
        return false;
    memcpy(last.t + last.n, before.t, before.n * sizeof *before.t);
    last.n += before.n;
    return imap_within(b[0].map, &last);
}

/* Stored with its last axis innermost. */
static bool contiguous(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)e;
    (void)n;
    return b[0].value == NONE || last_axis_innermost(b[0].map, b[0].axes);
}

/* Number of combinations of the digits of `axis` that `m` tells apart. */
static int64_t shared_size(const struct imap *m, const struct imap *axis) {
    int64_t size = 1;
    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t j = 0; j < axis->n; j++) {
            const struct term *a = &m->t[i], *b = &axis->t[j];
            int64_t lo = a->lo > b->lo ? a->lo : b->lo;
            int64_t end = a->lo * a->size < b->lo * b->size ? a->lo * a->size : b->lo * b->size;
            if (a->space == b->space && lo < end)
                size *= end / lo;
        }
    return size;
}

/* The same all along an axis on which the formula has more than one element: a broadcast there. */
static bool repeated(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)e;
    (void)n;
    struct imap all;
    int64_t size = 1;
    if (b[0].value == NONE)
        return true;
    if (!axes_join(b[0].axes, 0, b[0].axes->n, &all))
        return false;
    for (uint32_t i = 0; i < all.n; i++)
        size *= all.t[i].size;
    return shared_size(b[0].map, &all) < size;
}

/* One number for each row. */
static bool rowwise(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)e;
    (void)n;
    struct imap last;
    if (b[0].value == NONE)
        return true;
    axes_axis(b[0].axes, -1, &last);
    return shared_size(b[0].map, &last) == 1;
}

/* k and v are expanded alike, and as the heads of a group are: each of theirs serves neighbouring heads of q. Of the
 * digits of q before its last two axes they lack the least significant ones, or none. */
static bool grouped(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)e;
    (void)n;
    struct imap batch, lost[2];
    uint32_t naxes = b[0].axes->n;
    if (naxes < 2 || !axes_join(b[0].axes, 0, naxes - 2, &batch))
        return false;
    for (int k = 0; k < 2; k++) {
        struct axes all, missing;
        axes_clear(&all);
        int64_t lacking = 1;
        for (uint32_t i = 0; i < batch.n; i++)
            lacking *= batch.t[i].size;
        lacking = lacking / shared_size(b[1 + k].map, &batch);
        if (lacking < 1 || !axes_add(&all, batch.t, batch.n) ||
            !imap_complement(&all, b[1 + k].map, &lacking, 1, &missing))
            return false;
        axes_axis(&missing, 0, &lost[k]);
        if (lost[k].n > 1 || (lost[k].n == 1 && lost[k].t[0].lo != batch.t[0].lo))
            return false;
    }
    return imap_equal(&lost[0], &lost[1]);
}

/* Equal up to the names of the spaces that only one of them depends on: axes that two products sum, each its own. */
static bool equal_renamed(const struct imap *a, const struct imap *b) {
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct term *x = &a->t[i], *y = &b->t[i];
        if (x->lo != y->lo || x->size != y->size || x->stride != y->stride)
            return false;
        for (uint32_t j = 0; j < a->n; j++) {
            bool shared = a->t[j].space == y->space || b->t[j].space == x->space;
            bool alike = (a->t[j].space == x->space) == (b->t[j].space == y->space);
            if (!alike || (shared && x->space != y->space))
                return false;
        }
    }
    return true;
}

/* One value, read in the same way in two places, as two products read one operand. */
static bool same(const struct evaluation *e, const struct binding *b, uint32_t n) {
    struct link x[MAX_SAME], y[MAX_SAME];
    (void)n;
    if (b[0].value == NONE || b[1].value == NONE)
        return true;
    uint32_t nx = matcher_chain(e->graph, b[0].value, b[0].map, x, MAX_SAME);
    uint32_t ny = matcher_chain(e->graph, b[1].value, b[1].map, y, MAX_SAME);
    for (uint32_t i = 0; i < nx; i++)
        for (uint32_t j = 0; j < ny; j++)
            if (x[i].value == y[j].value && equal_renamed(&x[i].map, &y[j].map))
                return true;
    return false;
}

static bool same_dtype(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    return b[0].value == NONE || b[1].value == NONE ||
           graph_dtype(e->graph, b[0].value) == graph_dtype(e->graph, b[1].value);
}

/* All ops carry one location: what is left of a fused op that the compiler took apart again. */
static bool one_location(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)b;
    (void)n;
    const struct mlir *m = e->graph->m;
    struct str first = {"", 0}, name;
    for (uint32_t i = 0; i < e->nops; i++) {
        if (mlir_loc_names(m, e->ops[i], &name, 1) < 1)
            return false;
        if (i == 0)
            first = name;
        else if (!str_eq(first, name))
            return false;
    }
    return e->nops > 1;
}

static bool floating(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    enum dtype t = b[0].value == NONE ? DT_F32 : graph_dtype(e->graph, b[0].value);
    return t >= DT_F64 && t <= DT_BFP2;
}

/* How many elements the reduction sums into each of its own; NaN when the value is no reduction. */
static double summed(const struct graph *g, uint32_t op) {
    if (op == NONE || graph_class(g, op) != OP_REDUCE)
        return NAN;
    return (double)graph_numel(g, graph_operands(g, op)[0]) / (double)graph_numel(g, g->m->ops[op].first_result);
}

/* Of a count of elements: 1/199 is not 1/200 in bf16 either. */
static bool holds_number(const struct evaluation *e, uint32_t value, double expected, double count) {
    struct constant c = graph_constant(e->graph, value);
    if (!c.known || !counts_as(c.value, expected, count, c.bits > 24 ? 24 : c.bits))
        return false;
    evaluation_tie(e, value, expected, false);
    return true;
}

static bool count_of(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    double count = summed(e->graph, b[1].op);
    return b[0].value == NONE || b[1].value == NONE || holds_number(e, b[0].value, count, count);
}

static bool one_over_count_of(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    double count = summed(e->graph, b[1].op);
    return b[0].value == NONE || b[1].value == NONE || holds_number(e, b[0].value, 1 / count, count);
}

static bool root_count_of(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    double count = summed(e->graph, b[1].op);
    return b[0].value == NONE || b[1].value == NONE || holds_number(e, b[0].value, sqrt(count), count);
}

static int64_t combinations(const struct term *t, uint32_t n) {
    int64_t size = 1;
    for (uint32_t i = 0; i < n; i++)
        size *= t[i].size;
    return size;
}

/* Varies along what the reduction reduces only, element for element. */
static bool along_reduced(const struct evaluation *e, const struct binding *b, uint32_t n) {
    struct axes missing;
    struct imap axis, map;
    (void)e;
    (void)n;
    if (b[0].value == NONE || b[1].value == NONE)
        return true;
    int64_t kept = combinations(b[1].map->t, b[1].map->n);
    int64_t size = combinations(b[1].axes->t, b[1].axes->n ? b[1].axes->end[b[1].axes->n - 1] : 0) / kept;
    if (size < 2 || !imap_complement(b[1].axes, b[1].map, &size, 1, &missing))
        return false;
    axes_axis(&missing, 0, &axis);
    map = *b[0].map;
    imap_canonical(&map);
    return imap_equal(&map, &axis);
}

/* All vary along one and the same axis of the formula only, element for element. */
static bool same_axis(const struct evaluation *e, const struct binding *b, uint32_t n) {
    struct imap first = {0}, axis, map;
    bool any = false, one = false;
    for (uint32_t i = 0; i < n; i++) {
        if (b[i].value == NONE)
            continue;
        map = *b[i].map;
        imap_canonical(&map);
        if (any && !imap_equal(&map, &first))
            return false;
        first = map;
        any = true;
    }
    for (uint32_t i = 0; any && i < e->axes->n; i++) {
        axes_axis(e->axes, (int)i, &axis);
        one |= axis.n > 0 && imap_equal(&axis, &first);
    }
    return !any || one;
}

/* Nothing but casts and layout changes lies between x and the op that `of` names. */
static bool adjacent(const struct evaluation *e, const struct binding *b, uint32_t n) {
    const struct graph *g = e->graph;
    (void)n;
    if (b[0].value == NONE || b[1].value == NONE)
        return true;
    for (uint32_t i = 0; b[1].op != NONE && i < graph_noperands(g, b[1].op); i++) {
        uint32_t v = graph_operands(g, b[1].op)[i];
        for (int step = 0; v != NONE && step < MAX_CHAIN; step++) {
            uint32_t op = g->m->values[v].def;
            if (v == b[0].value)
                return true;
            if (op == NONE || !looks_through(g, op) || graph_class(g, op) == OP_MOVE)
                break;
            v = graph_through(g, op);
        }
    }
    return false;
}

/* All of it is indexed by axes of the formula: what was cut from it is put together again. */
static bool aligned(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)e;
    (void)n;
    for (uint32_t i = 0; b[0].value != NONE && i < b[0].map->n; i++)
        if (b[0].map->t[i].space >= FRESH_SPACE)
            return false;
    return true;
}

static bool rows_of_positions(const struct axes *axes, const struct imap *map) {
    struct imap last;
    axes_axis(axes, -1, &last);
    if (!imap_within(&last, map))
        return false;
    if (imap_within(map, &last))
        return axes_extent(axes, -2) == 1;
    for (uint32_t i = 0; i + 1 < axes->n; i++) {
        struct imap both, axis;
        struct axes two;
        axes_axis(axes, (int)i, &axis);
        axes_clear(&two);
        if (axes_add(&two, axis.t, axis.n) && axes_add(&two, last.t, last.n) && axes_join(&two, 0, 2, &both) &&
            imap_within(map, &both) && imap_within(&both, map))
            return true;
    }
    return false;
}

/* Angles of positions: varies along the last axis, element for element, and along one axis more; or along the last
 * alone, where there is one position. Whether it was expanded before it is used makes no difference. */
static bool positions(const struct evaluation *e, const struct binding *b, uint32_t n) {
    struct link links[MAX_CHAIN];
    (void)n;
    if (b[0].value == NONE)
        return true;
    uint32_t value = b[0].value;
    struct imap map = *b[0].map;
    for (int hops = 0; value != NONE && hops < 4; hops++) {
        uint32_t k = matcher_chain(e->graph, value, &map, links, MAX_CHAIN);
        for (uint32_t i = 0; i < k; i++)
            if (rows_of_positions(b[0].axes, &links[i].map))
                return true;
        value = graph_callee_value(e->graph, links[k - 1].value); /* expanded in a function that runs once */
        if (e->far && value != NONE)
            *e->far = true;
        map = links[k - 1].map;
    }
    return false;
}

/* From the map of an op's result to that of the operand that it carries on: movement, one operand of elementwise ops
 * and norms, what a slice was cut from. NONE where nothing of the kind comes before. */
static uint32_t upstream(const struct graph *g, uint32_t value, struct imap *map) {
    uint32_t op = g->m->values[value].def, rank;
    struct imap next;
    struct axes c, kept;
    struct slice_bounds s;
    if (op == NONE || g->m->ops[op].nresults != 1 || graph_noperands(g, op) < 1 || graph_operands(g, op)[0] == NONE)
        return NONE;
    uint32_t x = graph_operands(g, op)[0];
    if (looks_through(g, op) && imap_through(g, op, map, &next)) {
        *map = next;
        return graph_through(g, op);
    }
    if (graph_class(g, op) == OP_ELTWISE || graph_class(g, op) == OP_AXISWISE || graph_class(g, op) == OP_ALIKE) {
        for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
            x = graph_operands(g, op)[i];
            if (x != NONE && graph_numel(g, x) == graph_numel(g, value) && !graph_is_parameter(g, x))
                return x;
        }
        return NONE;
    }
    const int64_t *shape = graph_shape(g, value, &rank);
    if (!slice_bounds(g, op, &s) || !imap_coordinates(map, shape, rank, &c))
        return NONE;
    axes_clear(&kept);
    for (uint32_t d = 0; d < rank; d++)
        if (!axes_add(&kept, c.t + axes_begin(&c, d), s.cut[d] ? 0 : c.end[d] - axes_begin(&c, d)))
            return NONE;
    return imap_of_coordinates(&kept, graph_shape(g, x, &rank), s.rank, map) ? x : NONE;
}

/* This axis of x is made of the columns of a product: of its features, so of heads, not of positions. */
static bool columns(const struct evaluation *e, const struct binding *b, uint32_t n) {
    const struct graph *g = e->graph;
    struct imap axis, map;
    (void)n;
    if (b[0].value == NONE)
        return true;
    uint32_t value = b[0].value;
    map = *b[0].map;
    axes_axis(b[0].axes, e->number->given[0], &axis);
    for (int hops = 0; axis.n > 0 && value != NONE && hops < MAX_CHAIN; hops++) {
        uint32_t op = g->m->values[value].def, rank;
        const int64_t *shape = graph_shape(g, value, &rank);
        struct axes c;
        struct imap last;
        if (op != NONE && graph_class(g, op) == OP_CONTRACT) {
            if (!shape || !imap_coordinates(&map, shape, rank, &c))
                return false;
            axes_axis(&c, -1, &last);
            return imap_within(&axis, &last);
        }
        value = upstream(g, value, &map);
    }
    return false;
}

/* One number for each batch element (axis 0) and group of neighbouring channels; all else was reduced. Over one
 * row of one channel it would be another norm. */
static bool channel_groups(const struct evaluation *e, const struct binding *b, uint32_t n) {
    struct imap batch, channel, map;
    int64_t rows = 1, long_axes = 0;
    (void)n;
    if (b[0].value == NONE || e->axes->n < 3)
        return false;
    map = *b[0].map;
    imap_canonical(&map);
    axes_axis(e->axes, 0, &batch);
    axes_axis(e->axes, e->number->given[0], &channel);
    for (uint32_t i = 0; i < e->axes->n; i++) {
        rows *= axes_extent(e->axes, (int)i);
        long_axes += axes_extent(e->axes, (int)i) > 1;
    }
    long_axes -= (batch.n > 0) + (channel.n > 0);
    int64_t groups = combinations(map.t, map.n) / combinations(batch.t, batch.n);
    int64_t channels = combinations(channel.t, channel.n);
    if (batch.n > 1 || channel.n != 1 || groups < 1 || channels % groups != 0)
        return false;
    struct imap expected = batch;
    for (uint32_t i = 0; i < expected.n; i++)
        expected.t[i].stride *= groups;
    int64_t of_group = channels / groups;
    expected.t[expected.n++] = (struct term){channel.t[0].space, channel.t[0].lo * of_group, groups, 1};
    imap_canonical(&expected);
    return (of_group > 1 || long_axes > 1) && rows > channels && imap_equal(&expected, &map);
}

static bool changes_rows(const struct graph *g, uint32_t op) {
    uint32_t rank, of_rank;
    const int64_t *shape = graph_shape(g, g->m->ops[op].first_result, &rank),
                  *of = graph_shape(g, graph_operands(g, op)[0], &of_rank);
    return g->kind[op] == K_RESHAPE && shape && of && rank > 0 && of_rank > 0 && shape[rank - 1] != of[of_rank - 1];
}

/* What x is made of, through movement and the subtraction of a mean. */
static uint32_t moved_from(const struct graph *g, uint32_t v) {
    uint32_t op = g->m->values[v].def;
    if (op == NONE || (!looks_through(g, op) && g->kind[op] != K_SUBTRACT))
        return NONE;
    return op;
}

/* The rows of x are made by a reshape of other rows, and those of `out` are taken apart by one: groups of channels
 * rather than rows that a kernel is meant for. */
static bool regrouped(const struct evaluation *e, const struct binding *b, uint32_t n) {
    const struct graph *g = e->graph;
    (void)n;
    if (b[0].value == NONE || b[1].op == NONE)
        return false;
    uint32_t v = b[0].value, op = moved_from(g, v), deep = 0;
    for (int step = 0; op != NONE && step < MAX_CHAIN && !changes_rows(g, op); step++) {
        deep += !looks_through(g, op);
        if (deep > 1 && e->far)
            *e->far = true;
        v = looks_through(g, op) ? graph_through(g, op) : graph_operands(g, op)[0];
        op = v == NONE ? NONE : moved_from(g, v);
    }
    if (op == NONE || !changes_rows(g, op))
        return false;
    v = g->m->ops[b[1].op].first_result;
    for (int step = 0; step < MAX_CHAIN && graph_nuses(g, v) == 1; step++) {
        op = g->uses[g->first_use[v]];
        if (!looks_through(g, op))
            return false;
        if (changes_rows(g, op))
            return true;
        v = g->m->ops[op].first_result;
    }
    return false;
}

/* Some op's location has a name that the expression finds. */
static bool located(const struct evaluation *e, const struct binding *b, uint32_t n) {
    struct str names[MAX_NAMES];
    (void)b;
    (void)n;
    for (uint32_t i = 0; i < e->nops; i++) {
        int k = mlir_loc_names(e->graph->m, e->ops[i], names, MAX_NAMES);
        for (int j = 0; j < k && j < MAX_NAMES; j++)
            if (condition_regex_finds(e->regex, names[j]))
                return true;
    }
    return false;
}

/* The value is an argument, seen through movement and calls, whose name the expression finds. */
static bool named(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    uint32_t argument = b[0].value == NONE ? NONE : graph_argument(e->graph, b[0].value);
    return argument != NONE && condition_regex_finds(e->regex, graph_argument_name(e->graph, argument));
}

/* No op that uses the value, seen through movement and casts, has a name that the expression finds. */
static bool no_user(const struct evaluation *e, const struct binding *b, uint32_t n) {
    const struct graph *g = e->graph;
    uint32_t seen[MAX_CHAIN], count = 0;
    (void)n;
    if (b[0].value != NONE)
        seen[count++] = b[0].value;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t u = g->first_use[seen[i]]; u < g->first_use[seen[i] + 1]; u++) {
            uint32_t op = g->uses[u];
            if (condition_regex_finds(e->regex, mlir_op_name(g->m, op)) || count == MAX_CHAIN)
                return false;
            if (looks_through(g, op))
                seen[count++] = g->m->ops[op].first_result;
        }
    return true;
}

/* Row-major strides of a tensor; false when it is dynamic. */
static bool strides_of(const struct graph *g, uint32_t value, const int64_t **shape, uint32_t *rank, int64_t *strides) {
    int64_t stride = 1;
    *shape = graph_shape(g, value, rank);
    if (!*shape || *rank > MAX_RANK || graph_numel(g, value) < 1)
        return false;
    for (uint32_t d = *rank; d-- > 0; stride *= (*shape)[d])
        strides[d] = stride;
    return true;
}

/* The space that a map runs over one to one; NONE when it is no such map. */
static uint32_t own_space(const struct graph *g, const struct binding *b) {
    int64_t numel = graph_numel(g, b->value);
    bool own = b->map->n == 1 && b->map->t[0].lo == 1 && b->map->t[0].stride == 1 && b->map->t[0].size == numel;
    return own ? b->map->t[0].space : NONE;
}

/* read_as(whole, split, 0, 2, 1, 3): the elements of `whole` in row-major order run over the dimensions of `split` in
 * this order, the last one fastest: heads merged or split. */
static bool read_as(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    uint32_t rank, whole_space = own_space(e->graph, &b[0]), split_space = own_space(e->graph, &b[1]);
    int64_t strides[MAX_RANK];
    const int64_t *shape;
    if (b[0].value == NONE || b[1].value == NONE || !strides_of(e->graph, b[1].value, &shape, &rank, strides) ||
        rank != e->number->ngiven || graph_numel(e->graph, b[0].value) != graph_numel(e->graph, b[1].value))
        return false;
    struct imap expected = {0};
    bool outward = whole_space != NONE; /* `split` is found below `whole`, or the other way round */
    int64_t lo = 1;
    for (uint32_t i = rank; i-- > 0;) {
        int d = e->number->given[i];
        if (d < 0 || d >= (int)rank)
            return false;
        struct term t = {whole_space, lo, shape[d], strides[d]};
        if (!outward)
            t = (struct term){split_space, strides[d], shape[d], lo};
        expected.t[expected.n++] = t;
        lo *= shape[d];
    }
    imap_canonical(&expected);
    struct imap actual = *b[outward].map;
    imap_canonical(&actual);
    return (outward || split_space != NONE) && imap_equal(&expected, &actual);
}

/* Each dimension of `out` is that of x some times: `whole` times along (tile), or each element times (interleave). */
static bool times_fit(const struct evaluation *e, const struct binding *b, bool interleave) {
    uint32_t rank, out_rank, space, more = 0;
    int64_t strides[MAX_RANK], out_strides[MAX_RANK];
    const int64_t *shape, *out_shape;
    if (b[0].value == NONE || b[1].value == NONE || (space = own_space(e->graph, &b[0])) == NONE ||
        !strides_of(e->graph, b[0].value, &out_shape, &out_rank, out_strides) ||
        !strides_of(e->graph, b[1].value, &shape, &rank, strides) || rank != out_rank)
        return false;
    struct imap expected = {0}, actual = *b[1].map;
    for (uint32_t d = 0; d < rank; d++) {
        if (out_shape[d] % shape[d] != 0)
            return false;
        int64_t times = out_shape[d] / shape[d];
        more += times > 1 && shape[d] > 1;
        expected.t[expected.n++] =
            (struct term){space, out_strides[d] * (interleave ? times : 1), shape[d], strides[d]};
    }
    imap_canonical(&expected);
    imap_canonical(&actual);
    return more == 1 && imap_equal(&expected, &actual);
}

static bool interleaved(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    return times_fit(e, b, true);
}

static bool tiled(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    return times_fit(e, b, false);
}

/* Varies along one axis of another value only, element for element: row_vector for any axis. */
static bool along_axis(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    if (b[0].value == NONE || b[1].value == NONE)
        return true;
    struct imap axis, map = *b[0].map;
    axes_axis(b[1].axes, e->number->given[0], &axis);
    imap_canonical(&map);
    return imap_equal(&map, &axis);
}

/* The same all along this axis of y. */
static bool same_along(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    if (b[0].value == NONE || b[1].value == NONE)
        return true;
    struct imap axis;
    axes_axis(b[1].axes, e->number->given[0], &axis);
    return shared_size(b[0].map, &axis) == 1;
}

const struct condition_info condition_table[] = {
    {present, "present", 1, 1, false, false, "present(x): the optional part x is there"},
    {constant, "constant", 1, 1, false, false, "constant(x): one known number in every element"},
    {parameter, "parameter", 1, 1, false, false, "parameter(x): depends on parameters and constants only"},
    {stored, "stored", 1, 1, false, false, "stored(x): a parameter, or an argument of which nothing says what it is"},
    {used_by, "used_by", 2, 2, true, false, "used_by(x, \"regex\"): some op that uses x has such a name"},
    {scalar, "scalar", 1, 1, false, false, "scalar(x): one element, or one known number in every element"},
    {stated_constant, "stated_constant", 1, 1, false, false,
     "stated_constant(x): a known number, or an argument with that as a precondition"},
    {row_vector, "row_vector", 1, 2, false, false, "row_vector(x, of): varies along the last axis only"},
    {matrix, "matrix", 1, 1, false, false, "matrix(x): varies along the last two axes only"},
    {contiguous, "contiguous", 1, 1, false, false, "contiguous(x): stored with its last axis innermost"},
    {grouped, "grouped", 3, 3, false, false,
     "grouped(q, k, v): k and v are expanded as the heads of a group are, or not at all"},
    {repeated, "repeated", 1, 1, false, false, "repeated(x): the same all along some axis, a broadcast there"},
    {rowwise, "rowwise", 1, 1, false, false, "rowwise(x): the same all along the last axis"},
    {same, "same", 2, 2, false, false, "same(x, y): one value, read in the same way in both places"},
    {same_dtype, "same_dtype", 2, 2, false, false, "same_dtype(x, y)"},
    {one_location, "one_location", 0, 0, false, false, "one_location(): all ops carry the same location"},
    {located, "located", 1, 1, true, false, "located(\"regex\"): a location of the ops has such a name"},
    {named, "named", 2, 2, true, false, "named(x, \"regex\"): x is an argument of such a name"},
    {aligned, "aligned", 1, 1, false, false, "aligned(x): all of x is indexed by the axes of the formula"},
    {columns, "columns", 2, 2, false, true, "columns(x, -2): this axis of x is made of the columns of a product"},
    {positions, "positions", 1, 1, false, false, "positions(c): varies along the last axis and one other"},
    {no_user, "no_user", 2, 2, true, false, "no_user(x, \"regex\"): no op of such a name uses x"},
    {read_as, "read_as", 2, 8, false, true,
     "read_as(out, x, 0, 2, 1, 3): out runs over the dimensions of x in this order"},
    {interleaved, "interleaved", 2, 2, false, false,
     "interleaved(out, x): each element along one dimension of x is repeated"},
    {tiled, "tiled", 2, 2, false, false, "tiled(out, x): one dimension of x is repeated as a whole"},
    {along_axis, "along_axis", 3, 3, false, true, "along_axis(bias, y, -1): bias varies along this axis of y only"},
    {floating, "floating", 1, 1, false, false, "floating(x): its elements are floating point numbers"},
    {count_of, "count_of", 2, 2, false, false, "count_of(n, s): n is how many elements the reduction s sums"},
    {one_over_count_of, "one_over_count_of", 2, 2, false, false,
     "one_over_count_of(c, s): c is 1/n, n being how many elements s sums"},
    {root_count_of, "root_count_of", 2, 2, false, false,
     "root_count_of(c, s): c is the square root of how many elements s sums"},
    {same_along, "same_along", 3, 3, false, true, "same_along(x, y, -2): x is the same all along this axis of y"},
    {same_axis, "same_axis", 1, 4, false, false, "same_axis(x, y, ...): all vary along one and the same axis only"},
    {adjacent, "adjacent", 2, 2, false, false,
     "adjacent(x, out): casts and layout changes at most lie between x and the op out"},
    {along_reduced, "along_reduced", 2, 2, false, false,
     "along_reduced(x, s): x varies only along the axes that the reduction s reduces"},
    {channel_groups, "channel_groups", 2, 2, false, true,
     "channel_groups(m, 1): m is one number for each group of channels, axis 1"},
    {regrouped, "regrouped", 2, 2, false, false,
     "regrouped(x, out): the rows of x are made by a reshape and taken apart after out"},
    {condition_pads_window, "pads_window", 2, 2, false, false,
     "pads_window(p, c): the pad p adds nothing that the padding of the convolution or pool c could not"},
    {condition_same_window, "same_window", 2, 2, false, false,
     "same_window(c, d): the windows of two convolutions move alike"},
    {condition_normalizes_channels, "normalizes_channels", 2, 2, false, false,
     "normalizes_channels(n, c): the batch norm n normalises along the channels of the convolution c"},
    {condition_cuts_along, "cuts_along", 2, 2, false, false,
     "cuts_along(out, s): the slice out cuts the dimension that s sorts"},
    {condition_turned, "turned", 1, 1, false, false, "turned(p): p exchanges the last two dimensions of its operand"},
    {condition_has_op, "has_op", 1, 1, true, false, "has_op(\"regex\"): a matched op has such a name"},
    {condition_made_by, "made_by", 2, 2, true, false, "made_by(x, \"regex\"): the op that makes x has such a name"},
    {condition_spelled, "spelled", 2, 2, true, false, "spelled(x, \"regex\"): the text of the op x has such a piece"},
    {condition_between, "between", 1, 3, true, false,
     "between(x, y, \"regex\"): something of such a name was looked through between the op x and the op y"},
    {condition_operand, "operand", 3, 3, false, true, "operand(x, y, 0): x is the first operand of the op y"},
};

uint32_t condition_find(struct str name) {
    for (uint32_t i = 0; i < sizeof condition_table / sizeof *condition_table; i++)
        if (str_is(name, condition_table[i].name))
            return i;
    return NONE;
}

const char *condition_nearest(struct str misspelt) {
    enum { N = sizeof condition_table / sizeof *condition_table };
    const char *words[N + 4] = {"not", "value", "extent", "sqrt"};
    for (uint32_t i = 0; i < N; i++)
        words[4 + i] = condition_table[i].name;
    return str_nearest(misspelt, words, N + 4);
}

static double extent(const struct evaluation *e, const struct number *n) {
    const struct axes *axes = e->axes;
    if (n->slot != NONE) {
        if (e->bindings[n->slot].value == NONE)
            return NAN;
        axes = e->bindings[n->slot].axes;
    }
    return axes ? (double)axes_extent(axes, n->axis) : NAN;
}

/* NaN when it is absent or not known: every comparison with it is false. */
static double value_of(const struct evaluation *e, const struct number *n) {
    uint32_t v = e->bindings[n->slot].value;
    struct constant c = {false, 0, 0};
    if (v != NONE)
        c = graph_constant(e->graph, v);
    return c.known ? c.value : v != NONE && e->number_of ? e->number_of(e->self, v) : NAN;
}

/* Conditions that ask for no more than the number of a place covers (alike.h): what the names are bound to, and, where
 * that is the result of an op, who uses it. */
static bool looks_near(const struct condition_info *c, const struct binding *b) {
    static bool (*const near[])(const struct evaluation *, const struct binding *,
                                uint32_t) = {no_user,
                                             used_by,
                                             present,
                                             constant,
                                             scalar,
                                             row_vector,
                                             matrix,
                                             contiguous,
                                             grouped,
                                             same_dtype,
                                             floating,
                                             count_of,
                                             one_over_count_of,
                                             root_count_of,
                                             along_reduced,
                                             same_axis,
                                             read_as,
                                             interleaved,
                                             tiled,
                                             along_axis,
                                             aligned,
                                             channel_groups,
                                             parameter,
                                             stored,
                                             stated_constant,
                                             adjacent,
                                             repeated,
                                             rowwise,
                                             same,
                                             regrouped,
                                             condition_pads_window,
                                             condition_same_window,
                                             condition_normalizes_channels,
                                             condition_cuts_along,
                                             condition_turned,
                                             same_along,
                                             positions};
    for (size_t i = 0; i < sizeof near / sizeof *near; i++)
        if (c->holds == near[i])
            return i > 1 || b[0].op != NONE || b[0].value == NONE;
    return false;
}

/* A condition on nothing but the locations of the ops is remembered with what it told; others may look far. */
static void remember(const struct evaluation *e, const struct number *n, const struct binding *args, bool holds) {
    const struct condition_info *c = &condition_table[n->call];
    bool of_locations = c->holds == located || c->holds == one_location;
    if (of_locations && e->told && e->told->n < MAX_TOLD) {
        e->told->condition[e->told->n] = n;
        e->told->holds[e->told->n++] = holds;
    } else if (e->far && !*e->far) {
        *e->far = !looks_near(c, args);
    }
}

static double call(const struct evaluation *e, const struct number *n) {
    struct binding args[4];
    for (uint32_t i = 0; i < n->nargs; i++)
        args[i] = e->bindings[n->args[i]];
    struct evaluation with = *e;
    with.regex = n->regex;
    with.number = n;
    bool holds = condition_table[n->call].holds(&with, args, n->nargs);
    remember(e, n, args, holds);
    return holds;
}

static double binary(enum number_op op, double a, double b) {
    switch (op) {
    case NUM_ADD:
        return a + b;
    case NUM_SUB:
        return a - b;
    case NUM_MUL:
        return a * b;
    case NUM_DIV:
        return a / b;
    case NUM_MOD:
        return fmod(a, b);
    case NUM_EQ:
        return a == b;
    case NUM_NE:
        return a != b;
    case NUM_LT:
        return a < b;
    case NUM_LE:
        return a <= b;
    case NUM_GT:
        return a > b;
    case NUM_GE:
        return a >= b;
    default:
        return NAN;
    }
}

double evaluate(const struct evaluation *e, const struct number *n) {
    switch (n->op) {
    case NUM_VALUE:
        return n->value;
    case NUM_EXTENT:
        return extent(e, n);
    case NUM_NEG:
        return -evaluate(e, n->a);
    case NUM_SQRT:
        return sqrt(evaluate(e, n->a));
    case NUM_NOT:
        return evaluate(e, n->a) == 0;
    case NUM_AND:
        return evaluate(e, n->a) != 0 && evaluate(e, n->b) != 0;
    case NUM_OR:
        return evaluate(e, n->a) != 0 || evaluate(e, n->b) != 0;
    case NUM_VALUE_OF:
        return value_of(e, n);
    case NUM_CALL:
        return call(e, n);
    case NUM_MEASURE:
        return measure(e, n);
    default:
        return binary(n->op, evaluate(e, n->a), evaluate(e, n->b));
    }
}

struct str value_label(const struct graph *g, uint32_t value, struct arena *a) {
    struct str name = mlir_span(g->m, g->m->values[value].name), model = graph_argument_name(g, value);
    if (!model.n)
        return arena_str(a, name);
    return arena_printf(a, "%.*s (%.*s)", (int)name.n, name.p, (int)model.n, model.p);
}

struct str precondition_label(const struct evaluation *e, uint32_t argument) {
    return e->brief ? mlir_span(e->graph->m, e->graph->m->values[argument].name)
                    : value_label(e->graph, argument, e->arena);
}

/* The number that {…} stands for; NULL when it is none. */
static const struct number *template_number(const struct evaluation *e, struct str inner) {
    const struct number *n = NULL;
    struct text_origin nowhere = {"", 0, 0};
    struct templates *t = e->templates;
    size_t at = t ? (uintptr_t)inner.p % (sizeof t->slots / sizeof *t->slots) : 0;
    if (t && t->slots[at].text == inner.p)
        return t->slots[at].number;
    struct diags quiet = {.arena = t ? t->arena : e->arena};
    if (!number_parse(&n, e->formula, quiet.arena, inner, nowhere, NULL, &quiet))
        n = NULL;
    diags_free(&quiet);
    if (t) {
        t->slots[at].text = inner.p;
        t->slots[at].number = n;
    }
    return n;
}

/* One {…} of a template: an expression, or the name of a value. */
static void fill_one(const struct evaluation *e, struct str inner, struct buf *out) {
    uint32_t slot = formula_slot(e->formula, inner);
    if (slot == NONE && template_word(e->formula, inner)) {
        template_say(e, inner, out);
        return;
    }
    if (slot != NONE) {
        uint32_t v = e->bindings[slot].value;
        uint32_t argument = v == NONE ? NONE : graph_argument(e->graph, v); /* says more than a name in the middle */
        struct str label = v == NONE ? STR("none") : value_label(e->graph, argument == NONE ? v : argument, e->arena);
        buf_add(out, label);
        return;
    }
    const struct number *n = template_number(e, inner);
    if (n)
        buf_printf(out, "%.10g", evaluate(e, n));
    else
        buf_printf(out, "{%.*s}", (int)inner.n, inner.p);
}

struct str fill_in(const struct evaluation *e, struct str text) {
    struct buf out = {0};
    for (size_t i = 0; i < text.n; i++) {
        const char *close = text.p[i] == '{' ? memchr(text.p + i, '}', text.n - i) : NULL;
        if (!close) {
            buf_addc(&out, text.p[i]);
            continue;
        }
        fill_one(e, (struct str){text.p + i + 1, (size_t)(close - text.p) - i - 1}, &out);
        i = (size_t)(close - text.p);
    }
    struct str kept = arena_str(e->arena, buf_str(&out));
    buf_free(&out);
    return kept;
}
