/* Elements that are computed on demand: of each op what NumPy computes (fixtures/numeric), whether all elements are
 * asked for or a few. */
#include "numeric_fixtures.h"
#include "patterns/library/pattern.h"
#include "proof/value/evaluate.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static struct arena arena;
static struct eval_context context;
static struct lazies all;
static struct pattern_set patterns;

static void setup(void) {
    struct diags diags = {.arena = &arena};
    cr_assert(patterns_load_bundled(&patterns, getenv("FA_PATTERNS"), &diags));
}

static void forget(void) {
    free(all.all);
    all = (struct lazies){0};
    arena_free(&arena);
    context = (struct eval_context){.arena = &arena, .lowerings = &patterns, .nodes = &all};
}

static void teardown(void) {
    forget();
    patterns_free(&patterns);
}

TestSuite(value, .init = setup, .fini = teardown);

static void check_elements(const struct fixture_op *f, const struct tensor *got, const struct tensor *want,
                           int64_t from, int64_t step) {
    enum { MOST = 4096 };
    int64_t at[MOST];
    double x[MOST];
    uint32_t n = 0;
    struct evaluating how = {0};
    for (int64_t i = from; i < want->n && n < MOST; i += step)
        at[n++] = i;
    struct wanted_elements asked = {got, at, n, x};
    cr_assert(shape_eq(&got->shape, &want->shape), "%s", f->label);
    struct lazy_demand *demand = demand_of(&context, &all, &asked, 1, 1e9);
    cr_assert(demand && demand_compute(demand, &how), "%s: %s", f->label, context.error.p);
    demand_free(demand);
    double largest = 0;
    for (int64_t i = 0; i < want->n; i++)
        largest = isfinite(want->x[i]) ? fmax(largest, fabs(want->x[i])) : largest;
    for (uint32_t i = 0; i < n; i++) {
        double w = want->x[at[i]];
        bool same = x[i] == w || (isnan(w) && isnan(x[i])) || fabs(x[i] - w) <= 1e-12 * fmax(fabs(w), 1e-3 * largest);
        cr_assert(same, "%s: %.17g for %.17g at %lld", f->label, x[i], w, (long long)at[i]);
    }
}

static void check_op(const struct fixture_op *f) {
    const struct tensor *got[MAX_RESULTS];
    uint32_t values[MAX_RESULTS];
    for (uint32_t i = 0; i < f->nresults; i++)
        values[i] = f->ir.m.ops[f->op].first_result + i;
    struct program p = {.graph = &f->ir.g, .given = f->given, .ngiven = f->ngiven};
    cr_assert(interpret_values(&context, &p, values, f->nresults, got), "%s: %s", f->label, context.error.p);
    for (uint32_t i = 0; i < f->nresults; i++) {
        const struct tensor *t = lazy_of_view(&context, view_of(got[i]));
        check_elements(f, t, f->want[i], 0, 1);
        check_elements(f, t, f->want[i], f->want[i]->n / 2, 3);
        check_elements(f, t, f->want[i], f->want[i]->n - 1, 1);
    }
}

static size_t run_file(const char *name) {
    struct fixture_file file;
    size_t n = 0;
    forget();
    fixture_open(&file, name);
    for (struct fixture_op f; fixture_next(&file, &context, &f); n++) {
        check_op(&f);
        ir_free(&f.ir);
    }
    fixture_close(&file);
    return n;
}

#define AGREES(file, least)                                                                                            \
    Test(value, file##_agree_with_numpy) {                                                                             \
        cr_assert_geq(run_file(#file), least);                                                                         \
    }

AGREES(elementwise, 100)
AGREES(reductions, 25)
AGREES(products, 20)
AGREES(norms, 20)
AGREES(movement, 40)
AGREES(selection, 15)
AGREES(windows, 30)
AGREES(attention, 20)
