#include "verify/loss.h"

#include <math.h>

#include "prove/compare.h"
#include "verify/region.h"
#include "verify/shapes.h"

/* As extents_cost says: products in the device's arithmetic take some fifty times as long as in f64. */
static const double most_cost = 1 << 21;

static bool round_inputs(const struct circuit *c, struct eval_context *b, struct given *given) {
    for (uint32_t i = 0; i < c->reference.ninputs; i++) {
        struct tensor *t = tensor_copy(b, given[i].tensor);
        if (!t)
            return false;
        tensor_round(t, graph_dtype(&c->module.graph, given[i].value), ROUND_EVEN);
        given[i].tensor = t;
    }
    return true;
}

static struct loss measure(const struct circuit *c, bool blackhole, struct arena *a) {
    struct loss l = {.known = false};
    struct eval_context b = {.arena = a};
    struct given given[MAX_INPUTS];
    const struct tensor *exact[2], *rounded[2], *device[2];
    struct evaluation_mode on_device = {.arithmetic = ARITHMETIC_DEVICE, .blackhole = blackhole}, by_types = on_device;
    by_types.exact_products = true;
    uint32_t n = c->reference.ninputs;
    struct str why;
    if (!circuit_fill(c, TRIAL_PLAIN, 0, &b, given) || !round_inputs(c, &b, given) ||
        !circuit_evaluate(c, given, n, (struct evaluation_mode){0}, a, exact, &why) ||
        !circuit_evaluate(c, given, n, by_types, a, rounded, &why) ||
        !circuit_evaluate(c, given, n, on_device, a, device, &why))
        return l;
    l.by_types = compare_relative_l2(rounded[BEFORE], exact[BEFORE]);
    l.on_device = compare_relative_l2(device[AFTER], exact[BEFORE]);
    l.pcc = compare_pcc(device[AFTER], exact[BEFORE]);
    l.known = isfinite(l.by_types) && isfinite(l.on_device);
    return l;
}

struct loss miter_loss(struct str text, const struct pattern_set *lowerings, bool blackhole) {
    struct arena scratch = {0};
    struct miter_shapes *m = arena_alloc(&scratch, sizeof *m);
    struct circuit *c = arena_alloc(&scratch, sizeof *c);
    struct loss l = {.known = false};
    struct str why;
    double cost;
    if (shapes_read(m, text, lowerings, &scratch, &why)) {
        bool made = shapes_reduced(m, most_cost, c, &why);
        if (!made) {
            circuit_free(c);
            made = shapes_small(m, 0, false, &cost, c, &why);
        }
        if (made)
            l = measure(c, blackhole, &scratch);
        circuit_free(c);
    }
    shapes_free(m);
    arena_free(&scratch);
    return l;
}
