#include "verify/mesh.h"

#include "prove/devices.h"

enum { MAX_ELEMENTS = 1 << 23, MAX_STEPS = 1 << 27 };

uint32_t devices_of_circuit(const struct circuit *c, struct str *why) {
    const struct graph *g = &c->module.graph;
    struct str axis = STR(""), text;
    int64_t count = 0;
    bool any = false;
    for (uint32_t i = 0; i < c->match.nops; i++) {
        uint32_t op = c->match.ops[i];
        if (!op_is((enum op_kind)g->kind[op], COLLECTIVE) || graph_noperands(g, op) == 0)
            continue;
        int64_t stated = devices_stated(g, op);
        bool has_axis = mlir_attr(g->m, op, "cluster_axis", &text);
        if ((has_axis && axis.n && !str_eq(axis, text)) || (stated > 0 && count > 0 && stated != count) ||
            stated > MAX_DEVICES) {
            *why = STR("collectives along several axes of the mesh, or of many devices");
            return 0;
        }
        any = true;
        axis = has_axis ? text : axis;
        count = stated > count ? stated : count;
    }
    return !any ? 1 : count > 0 ? (uint32_t)count : DEFAULT_DEVICES;
}

static bool gather(struct eval_context *b, const struct tensor *x, const struct tensor *all[MAX_DEVICES]) {
    struct device_lockstep *l = (struct device_lockstep *)b->mesh;
    uint32_t number = l->reached[b->device]++;
    const struct tensor *out[2];
    struct str why = STR("");
    if (number >= MAX_COLLECTIVES_OF_CIRCUIT)
        return eval_beyond(b, "more than %d collectives", MAX_COLLECTIVES_OF_CIRCUIT);
    l->operands[number][b->device] = x;
    for (uint32_t i = 0; i < l->mesh.devices; i++) {
        if (!l->operands[number][i] && b->device > 0)
            return eval_fail(b, "a collective waits for other devices");
        if (!l->operands[number][i])
            lockstep_evaluate(l, i, out, &why);
        if (!l->operands[number][i])
            return eval_fail(b, "%.*s", (int)why.n, why.p);
    }
    memcpy(all, l->operands[number], l->mesh.devices * sizeof *all);
    return true;
}

/* Truth values, indices and masks are the same on all devices. */
static const struct given *inputs_of(const struct device_lockstep *l, uint32_t device, const struct given *first) {
    struct eval_context b = {.arena = l->arena};
    struct given *mine = arena_alloc(l->arena, (l->ngiven + (size_t)1) * sizeof *mine);
    memcpy(mine, first, l->ngiven * sizeof *mine);
    for (uint32_t i = 0; i < l->circuit->reference.ninputs; i++) {
        const struct proof_input *in = &l->circuit->reference.inputs[i];
        const struct tensor *t = first[i].tensor;
        struct tensor *u = tensor_copy(&b, t);
        if (!u || in->mask_sign || in->predicate ||
            format_is_integer(graph_dtype(&l->circuit->module.graph, in->value)))
            continue;
        for (int64_t k = 0; k < u->n; k++)
            u->x[k] = t->x[(k + device) % t->n] * (1 + 0.25 * device);
        mine[i].tensor = u;
    }
    return mine;
}

void lockstep_begin(struct device_lockstep *l, const struct circuit *c, uint32_t devices, const struct given *given,
                    uint32_t ngiven, struct evaluation_mode how, struct arena *a) {
    *l = (struct device_lockstep){.mesh = {devices, gather}, .circuit = c, .ngiven = ngiven, .how = how, .arena = a};
    for (uint32_t d = 0; d < devices; d++)
        l->given[d] = d ? inputs_of(l, d, given) : given;
}

bool lockstep_evaluate(struct device_lockstep *l, uint32_t device, const struct tensor *out[2], struct str *why) {
    struct eval_context b = {.arena = l->arena,
                             .lowerings = l->circuit->reference.set,
                             .equals = l->how.equals,
                             .arithmetic = l->how.arithmetic,
                             .blackhole = l->how.blackhole,
                             .exact_products = l->how.exact_products,
                             .max_elements = MAX_ELEMENTS,
                             .max_steps = MAX_STEPS,
                             .mesh = l->mesh.devices > 1 ? &l->mesh : NULL,
                             .device = device};
    struct program p = {.graph = &l->circuit->module.graph, .given = l->given[device], .ngiven = l->ngiven};
    l->reached[device] = 0;
    bool good = interpret_values(&b, &p, l->circuit->result, 2, out);
    *why = b.error;
    return good;
}
