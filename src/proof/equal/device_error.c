#include "proof/equal/device_error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "proof/equal/compare.h"
#include "proof/equal/mesh.h"

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

static bool round_inputs(struct lockstep *l) {
    for (uint32_t device = 0; device < l->p->devices; device++)
        for (uint32_t i = 0; i < l->p->ninputs; i++) {
            struct given *given = &l->given[device][i];
            struct tensor *t = tensor_copy(&l->eval[device], given->tensor);
            if (!t)
                return false;
            tensor_round(t, graph_dtype(l->p->program.graph, given->value), ROUND_EVEN);
            given->tensor = t;
        }
    return true;
}

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

static void measure(struct lockstep *l, struct device_error *e) {
    const struct tensor *want[MAX_OUTPUTS], *got[MAX_OUTPUTS], *results[2];
    if (!lockstep_numbers(l, (struct draw){TRIAL_PLAIN, 0, 0}) || !round_inputs(l) || !lockstep_program(l) ||
        !lockstep_outputs(l, 0, want, got))
        return;
    const struct tensor *exact = want[0];
    if (!evaluate_on_device(l, results))
        return;
    struct tensor *stored = tensor_copy(&l->eval[0], results[1]);
    if (!stored)
        return;
    tensor_round(stored, e->type, ROUND_PACKER);
    results[1] = stored;
    for (int i = 0; i < 2; i++) {
        e->pcc[i] = compare_pcc(results[i], exact);
        e->relative_l2[i] = compare_relative_l2(results[i], exact);
        e->ulp[i] = compare_ulp(results[i], exact, e->type);
    }
    e->known = isfinite(e->relative_l2[0]) && isfinite(e->relative_l2[1]);
}

struct device_error device_error_of(const struct problem *p, bool blackhole) {
    struct device_error e = {.type = graph_dtype(p->program.graph, p->values[p->outputs[0].want]),
                             .blackhole = blackhole};
    struct arena scratch = {0};
    struct eval_context how = {.arena = &scratch, .lowerings = p->lowerings, .blackhole = blackhole};
    if (e.type == DT_NONE || e.type == DT_OTHER)
        return e;
    struct lockstep *l = arena_alloc(&scratch, sizeof *l);
    set_product(p, &how);
    lockstep_begin(l, p, &how);
    measure(l, &e);
    arena_free(&scratch);
    return e;
}
