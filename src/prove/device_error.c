/* Estimates how far a device is from f64, unfused and fused, on the inputs of TRIAL_PLAIN rounded to their element
 * types. The reference is both sides in f64 on the same inputs; the arithmetic of the device is that of
 * numeric/tensor.h. */
#include "prove/device_error.h"

#include <math.h>

#include "prove/compare.h"
#include "prove/devices.h"

static void round_inputs(struct device_run *run) {
    struct device_run *other;
    for (uint32_t i = 1; (other = devices_other(run, i)); i++)
        round_inputs(other);
    for (uint32_t i = 0; i < run->ref->ninputs; i++) {
        struct tensor *t = tensor_copy(&run->eval, run->given[i].tensor);
        if (!t)
            return;
        tensor_round(t, graph_dtype(reference_graph(run->ref), run->given[i].value), ROUND_EVEN);
        run->given[i].tensor = t;
    }
}

/* Products inside of the fused op are taken to use the math fidelity and accumulator of the first matched product. */
static void set_product(struct device_run *run) {
    const struct match *m = run->ref->match;
    for (uint32_t i = 0; i < m->nops; i++)
        if (graph_class(m->graph, m->ops[i]) == OP_CONTRACT) {
            run->eval.product_type = graph_dtype(m->graph, graph_operands(m->graph, m->ops[i])[0]);
            mlir_attr(m->graph->m, m->ops[i], "compute_config", &run->eval.product_config);
            return;
        }
}

/* The output of the root: the match in one arithmetic, the form in another. */
static bool evaluate_root(struct device_run *run, enum arithmetic match, enum arithmetic form, struct output *out) {
    struct output all[MAX_OUTPUTS];
    run->eval.arithmetic = match;
    if (!devices_evaluate_match(run) || !form_bind(run))
        return false;
    run->eval.arithmetic = form;
    if (!devices_evaluate_form(run, all))
        return false;
    *out = all[0];
    return true;
}

static void measure(struct device_run *run, struct device_error *e) {
    struct output exact, device;
    if (!devices_make_numbers(run, TRIAL_PLAIN, NONE))
        return;
    set_product(run);
    round_inputs(run);
    if (!evaluate_root(run, ARITHMETIC_EXACT, ARITHMETIC_EXACT, &exact) ||
        !evaluate_root(run, ARITHMETIC_DEVICE, ARITHMETIC_INSIDE, &device))
        return;
    struct tensor *stored = tensor_copy(&run->eval, device.got);
    if (!stored)
        return;
    tensor_round(stored, e->type, ROUND_PACKER);
    const struct tensor *both[] = {device.want, stored};
    for (int i = 0; i < 2; i++) {
        e->pcc[i] = compare_pcc(both[i], exact.want);
        e->relative_l2[i] = compare_relative_l2(both[i], exact.want);
        e->ulp[i] = compare_ulp(both[i], exact.want, e->type);
    }
    e->known = isfinite(e->pcc[1]) && isfinite(e->relative_l2[0]) && isfinite(e->relative_l2[1]);
}

struct device_error device_error_of(struct device_run *run, bool blackhole) {
    const struct graph *g = reference_graph(run->ref);
    struct device_error e = {.type = graph_dtype(g, form_root(run->form)), .blackhole = blackhole};
    struct arena scratch = {0};
    if (e.type == DT_NONE || e.type == DT_OTHER || format_is_integer(e.type))
        return e;
    run->eval =
        (struct eval_context){.arena = &scratch, .lowerings = run->ref->set, .mesh = run->mesh, .blackhole = blackhole};
    measure(run, &e);
    arena_free(&scratch);
    return e;
}
