#include "proof/trials/device_error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "proof/trials/compare.h"
#include "proof/trials/drawn.h"

double device_error_ratio(const struct device_error *e) {
    char digit[32];
    snprintf(digit, sizeof digit, "%.0e", e->relative_l2[1] / e->relative_l2[0]);
    return strtod(digit, NULL);
}

bool device_error_tells(const struct device_error *e) {
    return e->known && isfinite(e->pcc[1]) && !format_is_integer(e->type);
}

bool device_errors_agree(const struct device_error *x, const struct device_error *y) {
    return x->known && y->known && x->relative_l2[0] > 0 && y->relative_l2[0] > 0 &&
           device_error_ratio(x) == device_error_ratio(y);
}

/* Elements of the first output, of which most are read at most for one set of numbers. */
enum { MOST_ELEMENTS = 192, FEW_ELEMENTS = 24 };

static const double most_read = 2e5;

/* The first output in f64, and of both sides on the device. */
struct measuring {
    const struct problem *p;
    struct eval_context ctx;
    struct lazies all;
    struct lockstep *l;
    struct device_error *error;
    const struct tensor *results[3];
    struct wanted_elements asked[3];
    int64_t at[MOST_ELEMENTS];
    double x[3][MOST_ELEMENTS];
    struct drawn numbers;
    bool fixed; /* as in struct effort */
};

/* Of all results of the program. */
static void set_exact_products(struct lockstep *l, bool exact) {
    for (uint32_t i = 0; i < l->p->devices; i++)
        l->eval[i].exact_products = exact;
}

/* Products inside of the other side use the math fidelity and accumulator of an op of the program. */
static void set_product(const struct problem *p, struct eval_context *how) {
    const struct graph *g = p->program.graph;
    if (p->product_op == NONE)
        return;
    how->product_type = graph_dtype(g, graph_operands(g, p->product_op)[0]);
    how->product_config = attrs_find(graph_attributes(g, p->product_op), "compute_config");
}

/* The first output of both sides on the device. False where something cannot be evaluated. */
static bool evaluate_on_device(struct lockstep *l, const struct tensor *results[2]) {
    const struct tensor *want[MAX_OUTPUTS], *got[MAX_OUTPUTS];
    bool within = l->p->other == NULL; /* results of one evaluation have one arithmetic */
    l->arithmetic[SIDE_PROGRAM] = ARITHMETIC_DEVICE;
    l->arithmetic[SIDE_OTHER] = ARITHMETIC_INSIDE;
    set_exact_products(l, within);
    if (!lockstep_program(l) || !lockstep_outputs(l, 0, want, got))
        return false;
    results[0] = want[0];
    results[1] = got[0];
    if (!within)
        return true;
    set_exact_products(l, false);
    bool good = lockstep_program(l) && lockstep_outputs(l, 0, want, got);
    results[1] = got[0];
    return good;
}

/* All results are nodes of one set, so that they ask for the same numbers. */
static bool make_results(struct measuring *m) {
    const struct tensor *want[MAX_OUTPUTS], *got[MAX_OUTPUTS];
    if (!drawn_give(m->l, &m->ctx, &(struct giving){.rounded = true, .fixed = m->fixed}) || !lockstep_program(m->l) ||
        !lockstep_outputs(m->l, 0, want, got))
        return false;
    m->results[0] = want[0];
    return evaluate_on_device(m->l, m->results + 1) && shape_eq(&want[0]->shape, &m->results[1]->shape) &&
           shape_eq(&want[0]->shape, &m->results[2]->shape);
}

static void store_results(struct eval_context *ctx, void *self) {
    struct measuring *m = self;
    m->results[2] = lazy_rounded(ctx, m->results[2], m->error->type, false);
    for (int i = 0; i < 3; i++)
        m->results[i] = lazy_of_view(ctx, view_of(m->results[i]));
}

/* `n` elements spread over a few rows. NULL where they cost too much. */
static struct lazy_demand *ask_for(struct measuring *m, uint32_t n) {
    const struct tensor *t = m->results[0];
    int64_t row = t->shape.rank ? t->shape.dim[t->shape.rank - 1] : 1, rows = t->n / row;
    uint32_t count = 0, each = row < n ? (uint32_t)row : n / 4;
    for (uint32_t i = 0; count < n && i < t->n; i++) {
        uint64_t random = seed_of(i / each, i);
        int64_t from = t->n <= n ? i : (int64_t)(seed_of(0, i / each) % (uint64_t)rows) * row;
        m->at[count++] = t->n <= n ? i : from + (row <= each ? i % each : (int64_t)(random % (uint64_t)row));
    }
    for (int i = 0; i < 3; i++)
        m->asked[i] = (struct wanted_elements){m->results[i], m->at, count, m->x[i]};
    return demand_of(&m->ctx, &m->all, m->asked, 3, most_read);
}

/* Where few cost too much, which is soon found, more do, too. */
static struct lazy_demand *ask(struct measuring *m) {
    struct lazy_demand *d = ask_for(m, FEW_ELEMENTS);
    if (!d)
        return NULL;
    demand_free(d);
    d = ask_for(m, MOST_ELEMENTS);
    m->ctx.error = STR("");
    return d ? d : ask_for(m, FEW_ELEMENTS);
}

static bool compute(struct measuring *m, struct lazy_demand *d, uint32_t sample) {
    drawn_begin(&m->numbers, (struct draw){TRIAL_PLAIN, 0, sample}, &m->all);
    return demand_compute(d, &(struct evaluating){.draw = drawn_numbers, .self = &m->numbers});
}

static void measure(struct measuring *m, struct device_error *e) {
    struct tensor t[3];
    for (int i = 0; i < 3; i++)
        t[i] = (struct tensor){.shape = {1, {m->asked[i].n}}, .n = m->asked[i].n, .x = m->x[i]};
    for (int i = 0; i < 2; i++) {
        e->pcc[i] = compare_pcc(&t[i + 1], &t[0]);
        e->relative_l2[i] = compare_relative_l2(&t[i + 1], &t[0]);
        e->ulp[i] = compare_ulp(&t[i + 1], &t[0], e->type);
    }
    e->known = isfinite(e->relative_l2[0]) && isfinite(e->relative_l2[1]);
}

/* On two sets of numbers. */
static void measure_all(struct measuring *m) {
    struct device_error other = *m->error;
    if (!make_results(m) || !eval_attempt(&m->ctx, store_results, m))
        return;
    struct lazy_demand *d = ask(m);
    if (d && compute(m, d, 1)) {
        measure(m, &other);
        if (compute(m, d, 0))
            measure(m, m->error);
        m->error->steady = device_errors_agree(m->error, &other);
    }
    demand_free(d);
}

struct device_error device_error_of(const struct problem *p, bool blackhole, bool fixed) {
    struct device_error e = {.type = graph_dtype(p->program.graph, p->values[p->outputs[0].want]),
                             .blackhole = blackhole};
    if (e.type == DT_NONE || e.type == DT_OTHER)
        return e;
    struct arena scratch = {0};
    struct measuring *m = xcalloc(1, sizeof *m);
    *m = (struct measuring){.p = p, .error = &e, .numbers.p = p, .fixed = fixed};
    m->ctx =
        (struct eval_context){.arena = &scratch, .lowerings = p->lowerings, .blackhole = blackhole, .nodes = &m->all};
    m->l = arena_alloc(&scratch, sizeof *m->l);
    set_product(p, &m->ctx);
    lockstep_begin(m->l, p, &m->ctx);
    measure_all(m);
    lazies_free(&m->all);
    arena_free(&m->numbers.arena);
    arena_free(&scratch);
    free(m);
    return e;
}
