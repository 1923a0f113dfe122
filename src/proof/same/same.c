#include "proof/same/same.h"

#include "proof/numeric/interpret_graph.h"
#include "proof/same/draw.h"
#include "proof/value/evaluate.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_ELEMENTS = 128, SOME_ELEMENTS = 24, ROWS = 4, EVALUATIONS = 4 /* at least */ };

/* Relative to an element, or to so much of the largest. */
static const double tolerance = 1e-6, floor_of_largest_element = 1e-3, smallest = 1e-37, size_of_jitter = 1e-13;
static const double cheap = 2e4; /* elements that are read for some: then more are asked for */

struct same_run {
    const struct same_question *q;
    struct same_answer *answer;
    struct eval_context ctx;
    struct lazies all;
    const struct tensor *sides[2];
    double bends[MAX_BENDS];
    uint32_t nbends, ninputs;
    int64_t at[MOST_ELEMENTS];
    uint32_t n;
    double read;     /* elements that were computed, of all tensors */
    uint32_t finite; /* elements of results that were numbers, of all trials */
    bool tests_nan;
    const struct lazy *shifted; /* a constant that stands for a number so far from it; or NULL */
    double shift;
    /* of one trial */
    struct drawing_numbers numbers;
    double x[2][MOST_ELEMENTS], slack[MOST_ELEMENTS], out[2][MOST_ELEMENTS];
    struct wanted_elements asked[2];
    struct lazy_demand *demand; /* of the elements that are compared */
};

/* ---- the two functions ---- */

static void give_inputs(struct same_run *r, struct given *given) {
    const struct graph *g = r->q->graph;
    for (uint32_t v = 0; v < g->m->nvalues; v++) {
        struct shape s;
        uint32_t def = g->m->values[v].def;
        bool arbitrary = def == NONE ? graph_caller_value(g, v) == NONE : graph_op_is(g, def, ARBITRARY);
        if (!arbitrary || !shape_in_graph(g, v, &s) || shape_count(&s) < 1)
            continue;
        given[r->ninputs] = (struct given){v, lazy_input(&r->ctx, r->ninputs, &s, graph_dtype(g, v))};
        r->ninputs++;
    }
}

static void make_sides(struct eval_context *ctx, void *self) {
    struct same_run *r = self;
    struct given *given = arena_alloc(ctx->arena, (r->q->graph->m->nvalues + (size_t)1) * sizeof *given);
    give_inputs(r, given);
    struct program p = {.graph = r->q->graph, .given = given, .ngiven = r->ninputs};
    if (!interpret_values(ctx, &p, r->q->values, 2, r->sides))
        eval_reason(ctx, ctx->why, "%s", ctx->error.p);
    for (int k = 0; k < 2; k++)
        r->sides[k] = view_copy(ctx, view_of(r->sides[k]));
    if (!shape_eq(&r->sides[0]->shape, &r->sides[1]->shape))
        eval_fail(ctx, "results of shape %s and %s", shape_text(ctx->arena, &r->sides[0]->shape).p,
                  shape_text(ctx->arena, &r->sides[1]->shape).p);
    lazies_settle(&r->all);
}

/* ---- numbers at which ops bend ---- */

static void add_bend(struct same_run *r, double x) {
    bool known = !isfinite(x);
    for (uint32_t i = 0; i < r->nbends && !known; i++)
        known = r->bends[i] == x;
    if (!known && r->nbends < MAX_BENDS)
        r->bends[r->nbends++] = x;
}

static void find_bends(struct same_run *r) {
    add_bend(r, 0);
    add_bend(r, 1);
    add_bend(r, -1);
    for (uint32_t i = 0; i < r->all.n; i++) {
        const struct lazy *l = r->all.all[i];
        r->tests_nan |= l->tests_nan;
        if (l->kind != LAZY_TABLE || l->n != 1)
            continue;
        double x = l->x[0], step = fmax(fabs(x) / 64, 1e-15);
        add_bend(r, x);
        add_bend(r, x + step);
        add_bend(r, x - step);
        add_bend(r, -x);
    }
}

/* ---- which elements ---- */

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 20;
}

static void add_element(struct same_run *r, int64_t at) {
    bool known = at < 0 || at >= r->sides[0]->n || r->n == MOST_ELEMENTS;
    for (uint32_t i = 0; i < r->n && !known; i++)
        known = r->at[i] == at;
    if (!known)
        r->at[r->n++] = at;
}

static void choose_elements(struct same_run *r, uint32_t most) {
    uint64_t state = r->q->seed + 77;
    int64_t n = r->sides[0]->n;
    r->n = 0;
    for (int64_t i = 0; n <= MOST_ELEMENTS && i < n; i++)
        add_element(r, i);
    add_element(r, 0);
    add_element(r, n - 1);
    const struct shape *s = &r->sides[0]->shape;
    int64_t row = s->rank ? s->dim[s->rank - 1] : 1, rows[ROWS];
    for (int i = 0; i < ROWS; i++)
        rows[i] = (int64_t)(next_random(&state) % (uint64_t)(n / row)) * row;
    for (uint32_t tries = 0; r->n < most && r->n < n && tries < 4 * most; tries++)
        add_element(r, tries % 8 == 7 ? (int64_t)(next_random(&state) % (uint64_t)n)
                                      : rows[tries % ROWS] + (int64_t)(next_random(&state) % (uint64_t)row));
}

/* ---- one trial ---- */

/* Of the loose constant that the number is; 0: it is none. */
static double error_of_constant(const struct same_question *q, double number) {
    for (uint32_t i = 0; i < q->nloose; i++)
        if (fabs(q->loose[i].number - number) < q->loose[i].error)
            return q->loose[i].error;
    return 0;
}

/* `jitter`: the how many-th; 0: none. */
static bool evaluate_sides(struct same_run *r, uint32_t jitter, double out[2][MOST_ELEMENTS]) {
    struct evaluating how = {.draw = draw_numbers,
                             .self = &r->numbers,
                             .jitter = jitter ? size_of_jitter : 0,
                             .jitter_seed = jitter,
                             .shifted = r->shifted,
                             .shift = r->shift};
    r->read += demand_size(r->demand);
    if (r->read > r->q->most)
        return eval_reason(&r->ctx, REASON_TOO_LARGE, "it is made of more than %.0f elements", r->q->most);
    bool good = demand_compute(r->demand, &how);
    memcpy(out, r->out, sizeof r->out);
    return good;
}

static double difference(double x, double y) {
    if (x == y || (isnan(x) && isnan(y)))
        return 0;
    return isfinite(x) && isfinite(y) ? fabs(x - y) : INFINITY;
}

/* How far changes of the arithmetic move each element: of two, lest one by chance moves both sides alike. */
static bool find_slack(struct same_run *r) {
    double moved[2][MOST_ELEMENTS];
    for (uint32_t sample = 1; sample <= 2; sample++) {
        if (!evaluate_sides(r, sample, moved))
            return false;
        for (uint32_t i = 0; i < r->n; i++)
            r->slack[i] = fmax(r->slack[i], difference(moved[0][i], r->x[0][i]) + difference(moved[1][i], r->x[1][i]));
    }
    return true;
}

static bool differ(const struct same_run *r) {
    double largest = 0, sum = 0, of = 0;
    bool found = false, unbounded = false;
    for (uint32_t i = 0; i < r->n; i++)
        largest = isfinite(r->x[0][i]) ? fmax(largest, fabs(r->x[0][i])) : largest;
    for (uint32_t i = 0; i < r->n; i++) {
        double x = isfinite(r->x[0][i]) ? fabs(r->x[0][i]) : 0, own = difference(r->x[0][i], r->x[1][i]);
        double unit = fmax(fmax(x, floor_of_largest_element * largest), smallest);
        found |= own > smallest && own - (isfinite(r->slack[i]) ? r->slack[i] : 0) > tolerance * unit;
        unbounded |= own == INFINITY;
        sum += own * own;
        of += x * x;
    }
    return found && (unbounded || r->q->bound == 0 || sqrt(sum) > r->q->bound * sqrt(of));
}

/* False: not evaluated. */
static bool try_numbers(struct same_run *r, bool *different) {
    memset(r->slack, 0, sizeof r->slack);
    if (!evaluate_sides(r, 0, r->x))
        return false;
    for (uint32_t i = 0; i < r->n; i++)
        r->finite += isfinite(r->x[0][i]) != 0;
    *different = differ(r);
    if (!*different)
        return true;
    if (!find_slack(r))
        return false;
    *different = differ(r);
    return true;
}

/* ---- a constant that was rounded ---- */

/* By least squares, the difference of both sides taken as linear: how much farther to shift the constant. NAN: none. */
static double next_shift(struct same_run *r, double step) {
    double at[2][MOST_ELEMENTS], beside[2][MOST_ELEMENTS], along = 0, length = 0;
    double was = r->shift;
    bool good = evaluate_sides(r, 0, at);
    r->shift = was + step;
    good = good && evaluate_sides(r, 0, beside);
    r->shift = was;
    for (uint32_t i = 0; i < r->n && good; i++) {
        double off = at[1][i] - at[0][i], slope = (beside[1][i] - beside[0][i] - off) / step;
        if (isfinite(off) && isfinite(slope)) {
            along += off * slope;
            length += slope * slope;
        }
    }
    return good && length > 0 ? -along / length : NAN;
}

/* Whether both sides are equal, on the numbers that showed a difference, with another number in place of one constant
 * that rounds to it: a number that is compared is that number. */
static bool fit_constant(struct same_run *r) {
    enum { STEPS = 4 };
    for (uint32_t i = 0; i < r->all.n; i++)
        if (r->all.all[i]->compares)
            return false;
    for (uint32_t i = 0; i < r->all.n; i++) {
        const struct lazy *l = r->all.all[i];
        double error = l->kind == LAZY_TABLE && l->n == 1 ? error_of_constant(r->q, l->x[0]) : 0;
        bool different = true;
        if (error == 0)
            continue;
        r->shifted = l;
        r->shift = 0;
        for (int step = 0; step < STEPS && isfinite(r->shift); step++)
            r->shift += next_shift(r, error / 64);
        if (isfinite(r->shift) && fabs(r->shift) <= error && try_numbers(r, &different) && !different) {
            r->answer->rounding = fabs(r->shift / l->x[0]);
            return true;
        }
    }
    return false;
}

/* ---- all trials ---- */

static bool ask_for(struct same_run *r, uint32_t most) {
    choose_elements(r, most);
    for (int k = 0; k < 2; k++)
        r->asked[k] = (struct wanted_elements){r->sides[k], r->at, r->n, r->out[k]};
    demand_free(r->demand);
    r->demand = demand_of(&r->ctx, &r->all, r->asked, 2, r->q->most / EVALUATIONS);
    return r->demand;
}

/* More where they are had for a low price. */
static bool settle_elements(struct same_run *r) {
    if (!ask_for(r, SOME_ELEMENTS))
        return false;
    bool more = demand_size(r->demand) < cheap || r->sides[0]->n <= MOST_ELEMENTS;
    return !more || ask_for(r, MOST_ELEMENTS);
}

static bool is_used(const struct same_run *r, uint32_t input, bool *is_float) {
    for (uint32_t i = 0; i < r->all.n; i++)
        for (uint32_t k = 0; k < r->all.all[i]->nin + r->all.all[i]->nparts; k++) {
            const struct lazy *l = r->all.all[i];
            const struct lazy *of = k < l->nin ? l->in[k].lazy : l->parts[k - l->nin].lazy;
            if (of->kind == LAZY_INPUT && of->input == input) {
                *is_float = format_is_float(of->type);
                return true;
            }
        }
    return false;
}

static bool try_kind(struct same_run *r, enum draw_kind kind, uint32_t input, uint32_t sample, bool *different) {
    r->numbers = (struct drawing_numbers){kind, input, r->q->seed * 31 + kind + 1 + (uint64_t)sample * 0x10001,
                                          sample < r->nbends ? r->bends[sample] : 0};
    return try_numbers(r, different);
}

static bool try_input(struct same_run *r, uint32_t input, bool is_float, bool *different) {
    bool good = true;
    enum draw_kind last = !is_float ? DRAW_BENDS : r->tests_nan ? DRAW_NAN : DRAW_SMALL;
    for (enum draw_kind kind = DRAW_ZERO; kind <= last && good && !*different; kind++) {
        uint32_t samples = kind == DRAW_BENDS ? r->nbends : 1;
        for (uint32_t i = 0; i < samples && good && !*different; i++)
            good = try_kind(r, kind, input, i, different);
    }
    return good;
}

static bool try_all(struct same_run *r, bool *different) {
    bool good = true, is_float;
    for (enum draw_kind kind = DRAW_PLAIN; kind <= DRAW_COARSE && good && !*different; kind++)
        good = try_kind(r, kind, NONE, 0, different);
    for (uint32_t input = 0; input < r->ninputs && good && !*different; input++)
        if (is_used(r, input, &is_float))
            good = try_input(r, input, is_float, different);
    return good;
}

/* What a few elements on a few numbers do not show. */
static const char *hidden_by(const struct same_run *r, const struct lazy *l) {
    bool whole = l->kind == LAZY_INPUT && !format_is_float(l->type) && l->type != DT_I1;
    bool parts = l->kind == LAZY_JOIN || l->kind == LAZY_PLACE || (l->kind == LAZY_TABLE && l->n > 1);
    return whole                                     ? "whole numbers"
           : parts && r->sides[0]->n > MOST_ELEMENTS ? "parts that are not the same function"
           : l->jumps                                ? "a jump where numbers are equal"
                                                     : NULL;
}

static bool is_judged_by_few(struct same_run *r) {
    for (uint32_t i = 0; i < r->all.n; i++)
        if (hidden_by(r, r->all.all[i]))
            return eval_reason(&r->ctx, REASON_OTHER, "%s", hidden_by(r, r->all.all[i]));
    return true;
}

/* Equal elements tell nothing of what no trial chose, nor of what is no number. */
static bool tells(struct same_run *r) {
    if (r->finite < r->n)
        return eval_reason(&r->ctx, REASON_OTHER, "hardly an element is a number");
    for (uint32_t i = 0; i < r->all.n; i++)
        if (lazy_has_one_way(r->all.all[i]))
            return eval_reason(&r->ctx, REASON_OTHER, "a choice was the same on all numbers");
    return true;
}

struct same_answer same_function(const struct same_question *q, struct arena *a) {
    struct same_answer answer = {.is = SAME};
    struct arena scratch = {0};
    struct same_run *r = xcalloc(1, sizeof *r);
    *r = (struct same_run){.q = q, .answer = &answer};
    r->ctx = (struct eval_context){.arena = &scratch, .lowerings = q->lowerings, .lazy = &lazy_maker};
    r->ctx.lazy_state = &r->all;
    bool different = false, good = eval_attempt(&r->ctx, make_sides, r);
    if (good) {
        find_bends(r);
        good = r->nbends < MAX_BENDS && is_judged_by_few(r) && settle_elements(r) && try_all(r, &different);
        if (good && different && fit_constant(r)) {
            different = false;
            good = try_all(r, &different);
        }
        good = good && (different || tells(r));
    }
    answer.is = !good ? NOT_COMPARED : different ? DIFFERENT : SAME;
    if (!good)
        answer.why = (struct reason){arena_str(a, r->ctx.error), r->ctx.why};
    demand_free(r->demand);
    lazies_free(&r->all);
    free(r);
    arena_free(&scratch);
    return answer;
}
