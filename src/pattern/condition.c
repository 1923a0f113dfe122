/* Numbers and conditions over a match. A condition on a part that is absent holds: there is nothing
 * to object to. A condition that only the user can settle holds and states a precondition. */
#include "pattern/condition.h"
#include "pattern/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef bool condition(const struct evaluation *e, const struct binding *args, uint32_t n);

static void state(const struct evaluation *e, struct str text) {
    for (uint32_t i = 0; i < *e->npreconditions; i++)
        if (str_eq(e->preconditions[i], text))
            return;
    if (*e->npreconditions < e->max_preconditions)
        e->preconditions[(*e->npreconditions)++] = text;
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
    if (argument == NONE || str_is(graph_argument_type(e->graph, argument), "input"))
        return false;
    struct str label = value_label(e->graph, argument, e->arena);
    state(e, arena_printf(e->arena, "%.*s holds one known number in every element", (int)label.n, label.p));
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

enum { MAX_NAMES = 16, MATCH_LIMIT = 100000 };

static bool regex_finds(const pcre2_code *re, struct str s) {
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

/* Some op's location has a name that the expression finds. */
static bool located(const struct evaluation *e, const struct binding *b, uint32_t n) {
    struct str names[MAX_NAMES];
    (void)b;
    (void)n;
    for (uint32_t i = 0; i < e->nops; i++) {
        int k = mlir_loc_names(e->graph->m, e->ops[i], names, MAX_NAMES);
        for (int j = 0; j < k && j < MAX_NAMES; j++)
            if (regex_finds(e->regex, names[j]))
                return true;
    }
    return false;
}

/* The value is an argument, seen through movement and calls, whose name the expression finds. */
static bool named(const struct evaluation *e, const struct binding *b, uint32_t n) {
    (void)n;
    uint32_t argument = b[0].value == NONE ? NONE : graph_argument(e->graph, b[0].value);
    return argument != NONE && regex_finds(e->regex, graph_argument_name(e->graph, argument));
}

static condition *const functions[] = {present,      constant, parameter,  scalar,  stated_constant,
                                       row_vector,   matrix,   contiguous, grouped, same_dtype,
                                       one_location, located,  named};

const struct condition_info condition_table[] = {
    {"present", 1, 1, false, "present(x): the optional part x is there"},
    {"constant", 1, 1, false, "constant(x): one known number in every element"},
    {"parameter", 1, 1, false, "parameter(x): depends on parameters and constants only"},
    {"scalar", 1, 1, false, "scalar(x): one element, or one known number in every element"},
    {"stated_constant", 1, 1, false, "stated_constant(x): a known number, or an argument with that as a precondition"},
    {"row_vector", 1, 2, false, "row_vector(x, of): varies along the last axis only"},
    {"matrix", 1, 1, false, "matrix(x): varies along the last two axes only"},
    {"contiguous", 1, 1, false, "contiguous(x): stored with its last axis innermost"},
    {"grouped", 3, 3, false, "grouped(q, k, v): k and v are expanded as the heads of a group are, or not at all"},
    {"same_dtype", 2, 2, false, "same_dtype(x, y)"},
    {"one_location", 0, 0, false, "one_location(): all ops carry the same location"},
    {"located", 1, 1, true, "located(\"regex\"): a location of the ops has such a name"},
    {"named", 2, 2, true, "named(x, \"regex\"): x is an argument of such a name"},
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
    return c.known ? c.value : NAN;
}

static double call(const struct evaluation *e, const struct number *n) {
    struct binding args[4];
    for (uint32_t i = 0; i < n->nargs; i++)
        args[i] = e->bindings[n->args[i]];
    struct evaluation with = *e;
    with.regex = n->regex;
    return functions[n->call](&with, args, n->nargs);
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

/* One {…} of a template: an expression, or the name of a value. */
static void fill_one(const struct evaluation *e, struct str inner, struct buf *out) {
    uint32_t slot = formula_slot(e->formula, inner);
    if (slot != NONE) {
        uint32_t v = e->bindings[slot].value;
        uint32_t argument = v == NONE ? NONE : graph_argument(e->graph, v); /* says more than a name in the middle */
        struct str label = v == NONE ? STR("none") : value_label(e->graph, argument == NONE ? v : argument, e->arena);
        buf_add(out, label);
        return;
    }
    struct diags quiet = {.arena = e->arena};
    const struct number *n;
    struct text_origin nowhere = {"", 0, 0};
    if (number_parse(&n, e->formula, e->arena, inner, nowhere, NULL, &quiet))
        buf_printf(out, "%.10g", evaluate(e, n));
    else
        buf_printf(out, "{%.*s}", (int)inner.n, inner.p);
    diags_free(&quiet);
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
